"""Many calls at once while the settings change and a replica dies."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from cheap_server import POLICY
from mcpshape.testing import decode
from replicas import CHEAP, MODES, Replica, call, replica
from test_settings import write

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]

CALLS, CLIENTS, SECONDS = 2000, 50, 120
# The settings are written after so many answers, and every fifth time they hold another level.
EACH, SAME = 20, 5
LEVELS = ("strict", "open", "strict", "minimal")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass(slots=True)
class Settings:
    """A file, and the times at which the writing of each content began and ended."""

    path: Path
    levels: list[str] = field(default_factory=list)
    began: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)

    def change(self) -> None:
        """Write the next content."""
        number = len(self.levels)
        self.levels.append(LEVELS[number // SAME % len(LEVELS)])
        self.began.append(anyio.current_time())
        write(self.path, f'level = "{self.levels[-1]}"  # {number}')
        self.ended.append(anyio.current_time())

    def between(self, start: float, end: float) -> set[str]:
        """The levels that somebody who read the file between two times may have found."""
        replaced = [*self.ended[1:], end]
        spans = zip(self.levels, self.began, replaced, strict=True)
        return {level for level, since, until in spans if since <= end and until >= start}


@dataclass(slots=True)
class Load:
    """A load under way, and what came of it."""

    settings: Settings
    doomed: Replica
    other: Replica
    pages: dict[str, Any] = field(default_factory=dict)
    asked: int = 0
    seen: list[str] = field(default_factory=list)
    wrong: list[Any] = field(default_factory=list)
    moved: int = 0
    only_strict: int = 0

    async def work(self, number: int) -> None:
        """One client, of the other replica when its own one is gone."""
        mode, at = MODES[number // 2 % 2], (self.doomed if number % 2 else self.other)
        row_id = self.pages[mode]["rows"][number % 2]["id"]
        while self.asked < CALLS:
            try:
                async with Client(at.url, mode=mode) as client:
                    await self.ask(client, row_id)
            except Exception as error:
                if at is self.other or not at.is_gone:
                    self.wrong.append(error)
                    return
                at, self.moved = self.other, self.moved + 1

    async def ask(self, client: Client, row_id: str) -> None:
        """Calls one after another; one without an answer does not count."""
        while self.asked < CALLS:
            self.asked += 1
            began, is_answered = anyio.current_time(), False
            try:
                result = await client.call_tool("get_row", {"row_id": row_id})
                is_answered = True
            finally:
                self.asked -= not is_answered
            self.take(result, began)

    def take(self, result: Any, began: float) -> None:
        """Check one answer, and do what is due after that many."""
        row = {} if result.is_error else decode(result)
        level = "open" if "room" in row else "minimal" if "CANARY" in row.get("title", "") else "strict"
        allowed = self.settings.between(began, anyio.current_time())
        widest = max(map(POLICY.levels.index, allowed))
        if result.is_error or POLICY.levels.index(level) > widest or level not in allowed:
            self.wrong.append((result, allowed))
        self.only_strict += allowed == {"strict"}
        self.seen.append(level)
        if len(self.seen) % EACH == 0:
            self.settings.change()
        if len(self.seen) == CALLS // 2:
            self.doomed.kill()


async def test_under_load_no_answer_is_wider_than_the_settings_in_force(tmp_path: Path) -> None:
    """2,000 calls of 50 clients to two replicas; the settings change all the while, and a replica is killed midway."""
    settings = Settings(tmp_path / "settings.toml")
    settings.change()
    command = [*CHEAP, "--config", str(settings.path)]
    secret = {"MCPSHAPE_SECRET": "0123456789abcdef-of-the-replicas"}
    async with replica(command, **secret) as doomed, replica(command, **secret) as other:
        load = Load(settings, doomed, other)
        for mode in MODES:
            async with Client(doomed.url, mode=mode) as client:
                load.pages[mode] = decode(await call(client, "list_rows"))
        began = anyio.current_time()
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as group:
                for number in range(CLIENTS):
                    group.start_soon(load.work, number)
        seconds = anyio.current_time() - began
        # The figure of docs/how-to/deploy.md.
        print(f"{CALLS} calls in {seconds:.1f} s, {CALLS / seconds:.0f} a second; {load.moved} clients moved")
        assert not load.wrong
        assert len(load.seen) == CALLS
        assert load.moved == CLIENTS // 2
        assert set(load.seen) == set(POLICY.levels)
        assert load.only_strict > CALLS // 20
        # A cursor goes with the level that it was made at.
        write(settings.path, f'level = "{LEVELS[0]}"')
        for mode, page in load.pages.items():
            async with Client(other.url, mode=mode) as client:
                following = decode(await call(client, "list_rows", cursor=page["page"]["next"]))
                assert [row["title"] for row in following["rows"]] == ["[Row]"] * 2
