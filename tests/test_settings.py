"""Settings from a file and the environment: what they hold good for, how they change, and what they never do."""

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from fastmcp import FastMCP
from fastmcp.tools import Tool as FastTool
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.types import Implementation, ToolListChangedNotification
from pydantic import BaseModel

import mcpshape.fastmcp
import mcpshape.lowlevel
import mcpshape.mcpserver
from mcpshape import Always, Chars, DefinitionError, Keyring, Mask, Policy, Shape, Since, Toggle, Tokens, When
from mcpshape._caller import Caller, calling
from mcpshape._shaped import Record
from mcpshape.encoders import Json, Markdown
from mcpshape.settings import Live, follow

pytestmark = pytest.mark.anyio

POLICY = Policy(
    levels=("strict", "minimal", "open"),
    toggles={
        "names": Toggle(on_since="open", offered_since="minimal"),
        "mails": Toggle(on_since="open", offered_since="open", requires="names"),
    },
)
KINDS = ("MCPServer", "Server", "FastMCP")
SECRET = "SECRET-0123456789-SECRET"


class Row(BaseModel):
    title: Annotated[str, Since("minimal", below=Mask("[Event]"))]
    name: Annotated[str, When("names")]
    mail: Annotated[str, When("mails")]
    place: Annotated[str, Since("open")]


class Table(BaseModel):
    day: Annotated[str, Always()] = "Monday"
    rows: list[Row]


def rows(number: int = 2) -> Table:
    return Table(rows=[Row(title=f"title {each}", name="Ann", mail="a@b.c", place="Room A") for each in range(number)])


class Kept:
    def __init__(self) -> None:
        self.records: list[Record] = []

    def write(self, record: Record) -> None:
        self.records.append(record)


def make_shape(**options: Any) -> Shape:
    shape = Shape(POLICY, **{"encoder": Json(), "grant": POLICY.grant("open"), **options})

    @shape.tool(ask={"privacy", "format"}, empty="None means that it is free.")
    def list_events() -> Table:
        """List the events with {keys:rows}."""
        return rows()

    @shape.tool(privacy="minimal", encoder=Markdown(), structured=False)
    async def capped() -> Table:
        """List them at most at minimal."""
        return rows()

    @shape.tool(page="rows", limit=3)
    def in_pages() -> Table:
        """List them in pages, one {entry} per event."""
        return rows(9)

    return shape


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def write(path: Path, text: str) -> None:
    """Replace a file as editors do, so that nobody sees half of it."""
    new = path.with_suffix(".new")
    new.write_text(f"{text}\n", encoding="utf-8")
    new.replace(path)


def live_for(path: Path, text: str, **options: Any) -> Live:
    write(path, text)
    return follow(make_shape(**options), path)


def mistakes(path: Path, text: str, **options: Any) -> list[str]:
    with pytest.raises(DefinitionError) as caught:
        live_for(path, text, **options)
    return str(caught.value).splitlines()[1:]


def call(live: Live | Shape, tool: str = "list_events", caller: Caller | None = None, **arguments: Any) -> Any:
    with calling(caller or Caller()):
        return live.tools[tool].served(**arguments)


def first(result: Any) -> dict[str, Any]:
    assert not result.is_error, result.content
    row: dict[str, Any] = json.loads(result.content[0].text)["rows"][0]
    return row


def level_of(result: Any) -> str:
    row = first(result)
    return "open" if "place" in row else "strict" if row["title"] == "[Event]" else "minimal"


LEVELS = st.none() | st.sampled_from(POLICY.levels)
TOGGLES = st.dictionaries(st.sampled_from(["names", "mails"]), st.just(value=False))
ENTRIES = st.fixed_dictionaries({"level": LEVELS, "toggles": TOGGLES}).map(
    lambda entry: {key: each for key, each in entry.items() if each is not None}
)
NAMES = st.sampled_from(["a", "b"])
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "level": st.sampled_from(POLICY.levels),
        "tools": st.dictionaries(
            st.just("list_events"), st.fixed_dictionaries({"level": st.sampled_from(POLICY.levels)})
        ),
        "principals": st.dictionaries(NAMES, ENTRIES),
        "scopes": st.dictionaries(NAMES, ENTRIES),
        "clients": st.dictionaries(NAMES, ENTRIES),
    },
)
CALLERS = st.none() | st.builds(
    Caller, principal=st.none() | NAMES | st.just("x"), client=st.none() | NAMES, scopes=st.frozensets(NAMES)
)


def is_within(record: Record, entry: dict[str, Any]) -> bool:
    """Whether what was told is no more than an entry allows."""
    allowed = POLICY.widest(entry.get("level", "open"), without=list(entry.get("toggles", {})))
    return POLICY.rank(record.level or "") <= POLICY.rank(allowed.level) and set(record.toggles) <= allowed.toggles


@given(SETTINGS, CALLERS, st.sampled_from(POLICY.levels), st.sampled_from(POLICY.levels))
def test_no_call_is_told_more_than_any_entry_that_applies(
    settings: dict[str, Any], caller: Caller | None, code: str, asked: str
) -> None:
    """Rule 4, B7: setting, tool, principal, scopes, client and call meet, for any settings and any caller."""
    kept = Kept()
    live = follow(make_shape(sinks=[kept], grant=POLICY.grant(code)), None, prefix="NONE_", options=settings)
    if caller is None:
        assert not live.tools["list_events"].served(privacy=asked).is_error
    else:
        call(live, caller=caller, privacy=asked)
    (record,) = kept.records
    who = caller or Caller()
    applying: list[dict[str, Any]] = [{"level": settings.get("level", code)}, {"level": asked}]
    applying += settings.get("tools", {}).values()
    principals, scopes, clients = (settings.get(kind, {}) for kind in ("principals", "scopes", "clients"))
    applying += [clients[who.client]] if who.client in clients else []
    if who.principal in principals:
        applying.append(principals[who.principal])
    elif (principals or scopes) and who.principal is None:
        applying.append({"level": "strict"})
    elif scopes:
        held = [scopes[scope] for scope in who.scopes & scopes.keys()]
        assert any(POLICY.rank(record.level or "") <= POLICY.rank(each.get("level", "open")) for each in held) or (
            record.level == "strict"
        )
        applying += held if len(held) == 1 else [] if held else [{"level": "strict"}]
    if clients and who.client is None:
        applying.append({"level": "strict"})
    assert all(is_within(record, entry) for entry in applying)


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.booleans() | st.lists(st.text())), st.booleans())
def test_whatever_is_written_is_obeyed_or_refused(settings: dict[str, Any], is_nested: bool) -> None:
    """Rule 7: nonsense is a `DefinitionError`, never a crash."""
    options = {"tools": {"list_events": settings}, "principals": settings} if is_nested else settings
    problems: tuple[Any, ...] = ()
    try:
        follow(make_shape(), None, prefix="NONE_", options=options)
    except DefinitionError as error:
        problems = error.problems
    assert all(problem.remedy for problem in problems)
    assert problems or not settings or is_nested


def test_scopes_add_up_and_a_principal_entry_goes_before_them(path: Path) -> None:
    """B7: the widest level among the scopes held, with every toggle that one of them leaves on."""
    live = live_for(
        path,
        """[principals.guest]
        level = "strict"
        [scopes.read]
        level = "minimal"
        [scopes.all]
        toggles = { names = false }""",
    )
    read, both = frozenset({"read"}), frozenset({"read", "all"})
    assert level_of(call(live, caller=Caller("app", scopes=read))) == "minimal"
    assert set(first(call(live, caller=Caller("app", scopes=frozenset({"all"}))))) == {"title", "place"}
    assert set(first(call(live, caller=Caller("app", scopes=both)))) == {"title", "place", "name"}
    assert level_of(call(live, caller=Caller("guest", scopes=both))) == "strict"
    assert level_of(call(live, caller=Caller("app"))) == "strict"
    assert level_of(call(live, caller=Caller())) == "strict"


@pytest.mark.parametrize("kind", ["principals", "scopes", "clients"])
def test_callers_that_are_not_recorded_get_the_least_where_some_are_named(path: Path, kind: str) -> None:
    """Rule 4: a server that is not attached fails closed; a low-level one says so before it starts."""
    live = live_for(path, f'[{kind}.app]\nlevel = "minimal"')
    assert level_of(live.tools["list_events"].served()) == "strict"
    server: Server[Any] = Server("test")
    with pytest.raises(DefinitionError, match="callers are told apart and none is recorded. Call attach before"):
        mcpshape.lowlevel.add_tools(server, live)
    mcpshape.lowlevel.attach(server, live)
    mcpshape.lowlevel.add_tools(server, live)


def test_every_mistake_is_named_at_once_with_its_remedy(path: Path) -> None:
    """Rule 7: one line each, path first, and no value of a secret."""
    text = f"""
        level = "wide"
        limi = 3
        structured = "yes"
        limit = 0
        secret = "{SECRET[:9]}"
        secret_file = "gone"
        budget = {{ chars = 1, tokens = 1 }}
        toggles = {{ nams = true }}
        [tools.list_evnts]
        level = "strict"
        [tools.list_events]
        level = "wide"
        limit = 3
        structured = 1
        format = 3
        budget = {{ words = 3 }}
        [tools.capped]
        format = {{ name = "toon", delimiter = "dot" }}
        budget = {{}}
        [tools.in_pages]
        format = {{ delimiter = "tab" }}
        limit = true
        [principals."app-1"]
        toggles = {{ mails = true, names = 1 }}
        level = "minimal"
        [scopes]
        str = 3
        [clients.x]
        level = 3
        toggle = 3"""
    found = mistakes(path, text)
    assert [line.split(": ")[0].strip() for line in found] == [
        "structured",
        "limit",
        "tools.list_events.format",
        "tools.list_events.structured",
        "tools.list_events.budget.words",
        "tools.in_pages.format.name",
        "tools.in_pages.limit",
        "principals.app-1.toggles.names",
        "scopes.str",
        "clients.x.level",
        "clients.x.toggle",
        "limi",
        "level",
        "secret_file",
        "principals.app-1.toggles.mails",
        "tools.list_evnts",
        "tools.list_events.limit",
        "tools.list_events.level",
        "budget",
        "tools.capped.budget",
        "tools.capped.format.delimiter",
    ]
    assert SECRET[:9] not in str(found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("toggles = { nams = true }", "toggles.nams: there is no toggle 'nams'. Choose one of: names, mails."),
        ("toggles = { names = false, mails = true }", "toggles.mails: it needs names, which is off."),
        ('format = "xml"', "format: 'xml' is not installed. Choose one of: json, markdown, toon."),
        ('format = { name = "toon", x = 1 }', "format.x: there is no such option. Choose from: codec, delimiter."),
        ('secret = "short"', "secret: it has less than 16 bytes."),
        ('secret_file = "gone"', "secret_file: it cannot be read (FileNotFoundError)."),
        ("tools = 3", "tools: it is no table."),
        ("budget = { chars = 0 }", "budget.chars: it is less than 1."),
        ("day = 2026-07-13", "day: there is no such setting."),
    ],
)
def test_a_mistake_is_worded_for_the_operator(path: Path, text: str, message: str) -> None:
    """Rule 7: what it is, and what mends it."""
    (found,) = mistakes(path, text)
    assert message in found


def test_levels_are_refused_where_a_server_has_none(path: Path) -> None:
    """B8: a server without levels has other settings all the same."""

    class Plain(BaseModel):
        day: str

    shape = Shape(encoder=Json())

    @shape.tool()
    def get() -> Plain:
        return Plain(day="Monday")

    write(path, 'level = "strict"\n[tools.get]\nlevel = "strict"\n[clients.x]\ntoggles = {}')
    with pytest.raises(DefinitionError) as caught:
        follow(shape, path)
    assert [problem.path for problem in caught.value.problems] == ["level", "clients.x", "tools.get"]
    write(path, 'format = "toon"')
    assert follow(shape, path).tools["get"].served().content[0].text.startswith("day: Monday")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "file: it cannot be read (FileNotFoundError). Name a file that can be."),
        (b"", "file: it is empty."),
        (b"\xff", "file: it is no UTF-8."),
        (f"secret = {SECRET}".encode(), "file: it is no TOML at line 1, column 10. Mend it."),
        (b'secret = "a', "file: it is no TOML"),
    ],
)
def test_a_file_that_cannot_be_read_keeps_a_server_from_starting(
    path: Path, content: bytes | None, message: str
) -> None:
    """Rule 7: missing or broken at the start."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DefinitionError) as caught:
        follow(make_shape(), path)
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)


def test_options_go_before_the_environment_before_the_file_before_the_code(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A15: each beats the next, setting by setting; what is set nowhere is as the code says."""
    write(path, 'level = "strict"\ntoggles = { names = false }\nformat = "markdown"\nbudget = { chars = 9000 }')
    shape = make_shape()
    assert shape.grant == POLICY.grant("open")
    assert follow(shape, path).current().grant == POLICY.grant("strict")
    monkeypatch.setenv("MCPSHAPE_LEVEL", "open")
    monkeypatch.setenv("MCPSHAPE_BUDGET__TOKENS", "8000")
    monkeypatch.setenv("MCPSHAPE_TOOLS__IN_PAGES__LIMIT", "5")
    monkeypatch.setenv("mcpshape_clients", '{"app-1": {"level": "strict"}}')
    now = follow(shape, path).current()
    assert now.grant == POLICY.grant("open", toggles={"names": False})
    assert {name: tool.encoder.name for name, tool in now.tools.items()} == {
        "list_events": "Markdown",
        "capped": "Markdown",
        "in_pages": "Markdown",
    }
    assert now.tools["list_events"].options.budget == Tokens(8000)
    assert now.tools["in_pages"].options.limit == 5
    options = {
        "level": "minimal",
        "toggles": {"names": True},
        "format": "json",
        "tools": {"capped": {"structured": True}},
    }
    now = follow(shape, path, options=options).current()
    assert now.grant == POLICY.grant("minimal", toggles={"names": True})
    assert now.encoder == Json()
    assert now.tools["capped"].output_schema
    assert level_of(call(now, caller=Caller("x", "app-1"))) == "strict"
    monkeypatch.setenv("MCPSHAPE_LEVL", "strict")
    monkeypatch.setenv("MCPSHAPE_LIMIT", "many")
    with pytest.raises(DefinitionError) as caught:
        follow(shape, path, options={"level": "wide"})
    assert [problem.path for problem in caught.value.problems] == [
        "MCPSHAPE_LEVL",
        "MCPSHAPE_LIMIT",
        "option level",
    ]
    monkeypatch.setenv("MCPSHAPE_TOOLS", "{SECRET")
    with pytest.raises(DefinitionError, match="MCPSHAPE_TOOLS: it cannot be read. Write a table as JSON."):
        follow(shape, path)


def test_keys_of_the_servers_own_are_nobody_elses_business(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """They hold what they like, and a change of them is none of the settings: same shape, no line in the log."""
    write(path, 'level = "minimal"\n[[calendars]]\nname = "Work"\nsince = 2026-07-13\n[mail]\nlimit = inf')
    live = follow(make_shape(), path, others={"calendars", "mail"})
    before = live.current()
    with caplog.at_level(logging.INFO, "mcpshape"):
        write(path, 'level = "minimal"\n[[calendars]]\nlevel = "strict"')
        assert live.current() is before
        assert level_of(call(live)) == "minimal"
        write(path, 'level = "minimal"\ncalendars = 1 2')
        assert live.current() is before
        write(path, 'level = "minimal"')
        assert live.current() is before
        write(path, 'level = "strict"\ncalendars = []')
        assert level_of(call(live)) == "strict"
    assert [each.getMessage() for each in caplog.records if each.levelno == logging.INFO] == [
        f"settings {path}: changed level"
    ]
    (warning,) = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert "it is no TOML at line 2" in warning


def test_beside_keys_of_the_servers_own_unknown_ones_stay_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A6: they are named among the known keys of the file, where alone they may be."""
    write(path, 'calender = 1\n[Calendars]\n[tools.capped]\ncalendars = 1\n[[calendars]]\nname = "Work"')
    monkeypatch.setenv("MCPSHAPE_CALENDARS", "[]")
    monkeypatch.setenv("MCPSHAPE_CALENDARS__0__NAME", "Work")
    monkeypatch.setenv("MCPSHAPE_CALENDER", "Work")
    known = "level, toggles, format, structured, budget, limit, secret, secret_file, tools, principals, scopes, clients"
    with pytest.raises(DefinitionError) as caught:
        follow(make_shape(), path, others=["mail", "calendars"], options={"calendars": []})
    apart = "the server reads it from the settings file alone. Write it there."
    assert {str(each) for each in caught.value.problems} == {
        f"MCPSHAPE_CALENDARS: {apart}",
        f"MCPSHAPE_CALENDARS__0__NAME: {apart}",
        f"MCPSHAPE_CALENDER: there is no such setting. Choose from: {known}.",
        f"option calendars: {apart}",
        f"calender: there is no such setting. Choose from: {known}, calendars, mail.",
        f"Calendars: there is no such setting. Choose from: {known}, calendars, mail.",
        "tools.capped.calendars: there is no such setting. Choose from: level, format, structured, budget, limit.",
    }


def test_keys_of_the_servers_own_are_no_settings(path: Path) -> None:
    """Rule 7: a name that means two things is refused, and so is a text that would be read letter by letter."""
    with pytest.raises(DefinitionError) as caught:
        follow(make_shape(), path, others={"tools", "calendars", "level"})
    remedy = "it is a setting already. Give the key of the server another name."
    assert [str(each) for each in caught.value.problems] == [f"level: {remedy}", f"tools: {remedy}"]
    with pytest.raises(DefinitionError, match="others: it is one text."):
        follow(make_shape(), path, others="calendars")


def test_what_a_tool_has_of_its_own_goes_before_what_the_server_has(path: Path) -> None:
    """A15: entry, else code of the tool, else setting of the server; caps of file and code meet."""
    live = live_for(
        path,
        """structured = true
        limit = 2
        budget = { chars = 5000 }
        [tools.capped]
        level = "open"
        format = "json"
        [tools.list_events]
        level = "strict"
        budget = { tokens = 3000 }""",
    )
    tools = live.current().tools
    assert tools["capped"].options.privacy == "minimal"
    assert tools["capped"].output_schema is None
    assert tools["capped"].encoder == Json()
    assert tools["capped"].options.limit is None
    assert tools["list_events"].options.privacy == "strict"
    assert tools["list_events"].options.budget == Tokens(3000)
    assert tools["list_events"].output_schema
    assert tools["in_pages"].options.limit == 3
    assert tools["in_pages"].options.budget == Chars(5000)
    narrower = live_for(path, '[tools.capped]\nlevel = "strict"').current()
    assert narrower.tools["capped"].options.privacy == "strict"


def test_toggles_alone_flip_those_of_the_code(path: Path) -> None:
    """B4: a level sets all toggles; without one, those of the code stay but for the flipped ones."""
    grant = POLICY.grant("open", toggles={"mails": False})
    assert live_for(path, "toggles = { names = true }", grant=grant).current().grant == grant
    assert live_for(path, 'level = "open"', grant=grant).current().grant == POLICY.grant("open")


def test_entries_of_the_code_and_of_the_file_meet(path: Path) -> None:
    """Rule 4: a file takes nothing back of what the code withholds from a caller."""
    shape_options = {"principals": {"a": POLICY.grant("minimal"), "b": POLICY.grant("minimal")}}
    live = live_for(path, '[principals.a]\nlevel = "open"\n[principals.c]\nlevel = "strict"', **shape_options)
    levels = {who: level_of(call(live, caller=Caller(who))) for who in ("a", "b", "c", "d")}
    assert levels == {"a": "minimal", "b": "minimal", "c": "strict", "d": "open"}


def test_the_record_and_the_log_say_who_narrowed(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """B7: setting, tool, principal, scope, client and call, each where it took something away."""
    kept = Kept()
    live = live_for(
        path,
        """level = "open"
        toggles = { mails = false }
        [tools.list_events]
        level = "minimal"
        [principals.guest]
        toggles = { names = false }
        [scopes.read]
        level = "strict"
        [clients.noisy]
        level = "strict" """,
        sinks=[kept],
    )
    with caplog.at_level(logging.INFO, "mcpshape"):
        call(live, caller=Caller("app", "calm", scopes=frozenset({"read"})))
        call(live, caller=Caller("guest", "noisy"))
        call(live, "in_pages", Caller("guest", "calm"))
        call(live, caller=Caller("guest", "calm"), privacy="strict")
        call(live, caller=Caller("guest"))
    assert [record.narrowed_by for record in kept.records] == [
        ("setting", "tool", "scope read"),
        ("setting", "tool", "principal guest", "client noisy"),
        ("setting", "principal guest"),
        ("setting", "tool", "principal guest", "call"),
        ("setting", "tool", "principal guest", "client unknown"),
    ]
    assert "tool list_events: narrowed to the level strict by scope read" in caplog.text
    with caplog.at_level(logging.WARNING, "mcpshape"):
        caplog.clear()
        call(live, caller=Caller("guest", "noisy"))
        assert not caplog.text


def test_the_next_call_obeys_a_changed_file(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A15: no restart; the log says in one line which keys changed."""
    live = live_for(path, 'level = "open"')
    assert level_of(call(live)) == "open"
    with caplog.at_level(logging.INFO, "mcpshape"):
        write(path, 'level = "strict"\n[tools.capped]\nformat = "json"')
        assert level_of(call(live)) == "strict"
        path.write_text("# nothing is set\n", encoding="utf-8")
        assert level_of(call(live)) == "open"
        os.utime(path, ns=(1, 1))
        assert level_of(call(live)) == "open"
    assert [each.getMessage() for each in caplog.records] == [
        f"settings {path}: changed level, tools.capped.format",
        f"settings {path}: changed level, tools.capped.format",
    ]


def test_a_change_within_one_tick_of_the_clock_is_seen(path: Path) -> None:
    """Editors are fast: same time, same size, same file, another level."""
    live = live_for(path, 'level = "strict" #')
    before = path.stat()
    path.write_text('level = "open"   #\n', encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert level_of(call(live)) == "open"


def test_an_old_file_is_looked_at_and_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a request pays while nothing changes is one look."""
    live = live_for(path, 'level = "strict"')
    os.utime(path, ns=(10**18, 10**18))
    assert level_of(call(live)) == "strict"
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("it was read"))
    assert level_of(call(live)) == "strict"


@pytest.mark.parametrize(
    "broken",
    [None, b"", b'level = "op', b'level = "wide"\n', b"\xff\xfe", f'secret = "{SECRET}" x'.encode()],
    ids=["gone", "empty", "half", "wide", "bytes", "secret"],
)
def test_a_file_that_breaks_keeps_the_last_good_settings(
    path: Path, broken: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    """Rule 4: it never widens; one warning for each broken content, with path and problem and without secrets."""
    live = live_for(path, 'level = "minimal"')
    with caplog.at_level(logging.INFO, "mcpshape"):
        for _ in range(3):
            path.unlink(missing_ok=True)
            if broken is not None:
                path.write_bytes(broken)
            assert level_of(call(live)) == "minimal"
            assert level_of(call(live)) == "minimal"
        (warning,) = [each for each in caplog.records if each.levelno == logging.WARNING]
        assert f"settings {path}: the last good ones stay in force: " in warning.getMessage()
        assert SECRET not in caplog.text
        assert "\n" not in warning.getMessage()
        write(path, 'level = "strict"')
        assert level_of(call(live)) == "strict"


def test_secrets_are_in_no_text(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """D12: neither in logs nor in what objects and errors say of themselves; a changed one is told by its key."""
    secret_file = path.with_name("secret")
    secret_file.write_text(f"{SECRET}\n", encoding="utf-8")
    with caplog.at_level(logging.DEBUG):
        live = live_for(path, f'secret = "{SECRET}"')
        sealed = live.current().decisions.keyring.seal(3)
        assert Keyring(SECRET.encode()).unseal(sealed) == 3
        write(path, 'secret_file = "secret"')
        assert live.current().decisions.keyring.unseal(sealed) == 3
        secret_file.write_text(f"{SECRET}{SECRET}", encoding="utf-8")
        assert live.current().decisions.keyring.unseal(sealed) is None
        secret_file.write_text("short", encoding="utf-8")
        now = live.current()
        secret_file.unlink()
        assert live.current() is now
        write(path, "# neither")
        assert live.current().decisions.keyring.unseal(sealed) is None
        follow(make_shape(), None, prefix="NONE_", options={"secret": SECRET})
    texts = [caplog.text, repr(live), repr(vars(live)), repr(now.decisions), str(now.tools)]
    assert not [text for text in texts if "SECRET-" in text]
    told = [each.getMessage() for each in caplog.records if each.name == "mcpshape"]
    kept = "the last good ones stay in force: secret_file:"
    assert [text.split(": ", 1)[1] for text in told] == [
        "changed secret, secret_file",
        "changed what secret_file holds",
        f"{kept} it has less than 16 bytes. Make one with secrets.token_bytes(32).",
        f"{kept} it cannot be read (FileNotFoundError). Name a file that can be.",
        "changed secret_file",
    ]


def test_handles_and_cursors_outlive_a_change_where_there_is_no_secret(path: Path) -> None:
    """A page that was begun can be gone on with, as long as its grant and arguments are the same."""
    live = live_for(path, "limit = 2")
    cursor = json.loads(call(live, "in_pages").content[0].text)["page"]["next"]
    write(path, "limit = 2\n[tools.in_pages]\nlimit = 1")
    page = json.loads(call(live, "in_pages", cursor=cursor).content[0].text)
    assert page["page"]["shown"] == 1
    assert page["rows"][0]["title"] == "title 3"


def test_tools_that_are_added_later_are_followed(path: Path) -> None:
    """The settings hold for them too."""
    shape = make_shape()
    write(path, 'level = "strict"')
    live = follow(shape, path)

    @shape.tool()
    def later() -> Table:
        return rows()

    assert level_of(call(live, "later")) == "strict"


def test_a_call_under_way_keeps_what_it_began_with(path: Path) -> None:
    """A15: sentences and texts in the body as well, whatever happens to the file meanwhile."""
    shape = make_shape()

    @shape.tool()
    def change() -> Table:
        write(path, 'level = "open"')
        told = shape.say("{row.title}", row=rows().rows[0]) + shape.text(rows().rows[0])
        return Table(rows=[Row(title=told, name="", mail="", place=shape.render(rows()).text)])

    write(path, 'level = "minimal"\nformat = "toon"')
    result = call(follow(shape, path), "change")
    assert "Room A" not in result.content[0].text
    assert "title 0title: title 0" in result.content[0].text


@pytest.mark.parametrize("is_attached", [True, False])
def test_answers_fit_a_version_that_was_in_force_while_they_were_made(path: Path, is_attached: bool) -> None:
    """A15: with a writer that never rests and callers in several threads, and never a mix of two versions."""
    versions = [
        f'level = "{level}"\nformat = "{written}"' for level in ("strict", "minimal") for written in ("json", "toon")
    ]
    live = live_for(path, versions[0])
    shown = {
        (version.split('"')[1], version.split('"')[3]): follow(make_shape(), None, options=_read(version))
        for version in versions
    }
    texts = {key: call(each).content[0].text for key, each in shown.items()}
    began, done, wrong = [versions[0]], [versions[0]], []
    stop = threading.Event()

    def turn() -> None:
        for number in range(60):
            began.append(versions[number % 4])
            write(path, versions[number % 4])
            done.append(versions[number % 4])
        stop.set()

    def ask() -> None:
        while not stop.is_set():
            first_one = len(done) - 1
            text = call(live).content[0].text
            allowed = {texts[(each.split('"')[1], each.split('"')[3])] for each in began[first_one:]}
            wrong.extend([text] if text not in allowed else [])

    threads = [threading.Thread(target=each) for each in (turn, ask, ask)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert call(live).content[0].text == texts["minimal", "toon"]


def _read(text: str) -> dict[str, Any]:
    parts = text.split('"')
    return {"level": parts[1], "format": parts[3]}


def serve(kind: str, live: Live) -> Any:
    """A server of any class with the tools of a shape, and with more where the test has some."""
    instructions = f"Ask. {live.instructions()}"
    if kind == "Server":
        low: Server[Any] = Server("test", instructions=instructions)
        mcpshape.lowlevel.attach(low, live)
        mcpshape.lowlevel.add_tools(low, live)
        return low
    if kind == "MCPServer":
        server: Any = MCPServer("test", log_level="CRITICAL", instructions=instructions)
        mcpshape.mcpserver.attach(server, live)
        for tool in live.tools.values():
            server.add_tool(tool.served)
        server.add_tool(lambda: "x", name="other", description="No tool of the shape.")
        return server
    server = FastMCP("test", instructions=instructions)
    mcpshape.fastmcp.attach(server, live)
    for tool in live.tools.values():
        server.add_tool(FastTool.from_function(tool.served))
    return server


@asynccontextmanager
async def connected(server: Any, mode: str, **options: Any) -> AsyncIterator[tuple[Client, list[Any]]]:
    """A client of the SDK, and the changes of the tool list that it hears of."""
    heard: list[Any] = []

    async def hear(message: Any) -> None:
        heard.extend([message] if isinstance(message, ToolListChangedNotification) else [])

    target = server._mcp_server if isinstance(server, FastMCP) else server
    async with Client(target, mode=mode, message_handler=hear, **options) as client:
        yield client, heard


async def wire(client: Client) -> dict[str, Any]:
    tools = (await client.list_tools(cache_mode="bypass")).tools
    return {tool.name: tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools}


async def until(claim: Callable[[], Any]) -> None:
    with anyio.fail_after(10):
        while not claim():
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_list_of_tools_is_that_of_now(path: Path, kind: str, mode: str) -> None:
    """A11, hosts 4 and 5: words, keys and schemas follow; every connection is shown the same."""
    server = serve(kind, live_for(path, 'format = "json"\nlevel = "open"'))
    async with connected(server, mode) as (client, _), connected(server, mode) as (other, _):
        before = await wire(client)
        assert before == await wire(other)
        assert "the events with title, name, mail, place." in before["list_events"]["description"]
        assert before["in_pages"]["description"] == "List them in pages, one object per event."
        assert before["list_events"]["outputSchema"]
        assert "in place of json" in before["list_events"]["inputSchema"]["properties"]["format"]["description"]
        write(path, 'format = "markdown"\nlevel = "strict"\n[tools.capped]\nstructured = true')
        after = await wire(other)
        assert after == await wire(client)
        assert "the events with title." in after["list_events"]["description"]
        assert after["in_pages"]["description"] == "List them in pages, one row per event."
        assert "outputSchema" not in after["list_events"]
        assert "in place of markdown" in after["list_events"]["inputSchema"]["properties"]["format"]["description"]
        assert after["capped"]["outputSchema"]
        result = await client.call_tool("capped", {})
        assert result.structured_content == {"day": "Monday", "rows": [{"title": "[Event]"}] * 2}
        text = (await client.call_tool("list_events", {})).content[0]
        assert text.type == "text"
        assert text.text.startswith("- day: Monday")
        assert (await client.call_tool("list_events", {"x": 1})).is_error
        with pytest.raises(MCPError) if kind == "Server" else nullcontext():
            assert (await client.call_tool("gone", {})).is_error
        write(path, 'format = "json"\nlevel = "open"')
        assert await wire(client) == before


@pytest.mark.parametrize("kind", KINDS)
async def test_clients_with_a_handshake_are_told_once_that_the_list_changed(path: Path, kind: str) -> None:
    """MCP 2025-11-25: `notifications/tools/list_changed`, on every open connection, and only where it did."""
    server = serve(kind, live_for(path, 'format = "toon"'))
    async with connected(server, "legacy") as (client, heard), connected(server, "legacy") as (other, others):
        await other.call_tool("list_events", {})
        capabilities = client.server_capabilities.tools
        assert capabilities
        assert capabilities.list_changed
        write(path, 'format = "toon"\nlimit = 7\n[clients.x]\nlevel = "strict"')
        await client.call_tool("list_events", {})
        assert not heard
        write(path, 'format = "markdown"')
        await client.call_tool("list_events", {})
        await client.call_tool("list_events", {})
        await until(lambda: heard and others)
        assert len(heard) == len(others) == 1
        assert "Ask. " in (client.instructions or "")
    async with connected(server, "legacy") as (client, _):
        assert "TOON" not in (client.instructions or "")


@pytest.mark.parametrize("kind", KINDS)
async def test_clients_that_listen_are_told_that_the_list_changed(path: Path, kind: str) -> None:
    """MCP 2026-07-28: through a subscription, and on no other channel."""
    server = serve(kind, live_for(path, 'format = "toon"'))
    async with connected(server, "auto") as (client, heard):
        assert "TOON" in (client.instructions or "")
        async with client.listen(tools_list_changed=True) as events:
            write(path, 'format = "markdown"')
            await client.call_tool("list_events", {})
            with anyio.fail_after(10):
                async for _ in events:
                    break
        assert len(heard) <= 1
    async with connected(server, "auto") as (client, _):
        assert "TOON" not in (client.instructions or "")


async def test_a_low_level_server_has_its_own_bus_or_is_asked_for_it(path: Path) -> None:
    """Rule 7: subscriptions that nobody would publish to are a mistake."""
    bus = InMemorySubscriptionBus()
    live = live_for(path, 'format = "toon"')
    server: Server[Any] = Server("test", on_subscriptions_listen=ListenHandler(bus))
    with pytest.raises(DefinitionError, match="bus: the server has subscriptions from a bus that is not known"):
        mcpshape.lowlevel.attach(server, live)
    mcpshape.lowlevel.attach(server, live, bus=bus)
    mcpshape.lowlevel.add_tools(server, live)
    published: list[Any] = []
    bus.subscribe(published.append)
    async with connected(server, "auto") as (client, _):
        write(path, 'format = "markdown"')
        await client.list_tools()
    assert len(published) == 1


@pytest.mark.parametrize("kind", ["MCPServer", "FastMCP"])
async def test_decorated_functions_follow_once_attached(path: Path, kind: str) -> None:
    """A15: `@server.tool` over `@shape.tool`; a description that the author gave the server stays."""
    shape = make_shape()
    server: Any = MCPServer("test", log_level="CRITICAL") if kind == "MCPServer" else FastMCP("test")

    @shape.tool()
    def decorated() -> Table:
        """List them."""
        return rows()

    @shape.tool()
    async def waiting() -> Table:
        """List them, one {entry} each."""
        return rows()

    @shape.resource
    def everything() -> Table:
        return rows()

    server.tool(description="In my own words.")(decorated)
    server.tool()(waiting)
    server.resource("events://all")(everything)

    write(path, 'level = "strict"\nformat = "toon"')
    adapter = mcpshape.mcpserver if kind == "MCPServer" else mcpshape.fastmcp
    adapter.attach(server, follow(shape, path))
    async with connected(server, "legacy") as (client, _):
        listed = await wire(client)
        assert listed["decorated"]["description"] == "In my own words."
        assert "outputSchema" not in listed["decorated"]
        assert listed["waiting"]["description"] == "List them, one entry each."
        for name in ("decorated", "waiting"):
            result = await client.call_tool(name, {})
            assert "[Event]" in str(result.content)
            assert "Room A" not in str(result.content)
        resource = await client.read_resource("events://all")
        assert "[Event]" in str(resource.contents)
        assert "Room A" not in str(resource.contents)
        write(path, 'level = "open"')
        assert "Room A" in str((await client.call_tool("decorated", {})).content)


def test_a_changed_copy_is_not_followed_in_place_of_the_shape(path: Path) -> None:
    """Rule 4: a narrower copy that is served beside it stays as narrow as it was made."""
    shape = make_shape()
    narrow = shape.using(grant=POLICY.grant("strict"))
    write(path, 'level = "open"')
    with follow(shape, path).begin():
        assert level_of(call(narrow)) == "strict"
        assert level_of(call(shape)) == "open"


def test_a_copy_changes_the_options_of_tools_that_there_are() -> None:
    """Rule 7: `using(tools=)` keeps all else, and refuses an unknown name."""
    changed = make_shape().using(tools={"in_pages": {"limit": 1}})
    assert changed.tools["in_pages"].options.page == "rows"
    assert json.loads(call(changed, "in_pages").content[0].text)["page"]["shown"] == 1
    with pytest.raises(DefinitionError, match="tools.gone: there is no such tool"):
        make_shape().using(tools={"gone": {}})


async def test_methods_follow_as_well(path: Path) -> None:
    """`bind`: the tools of one object."""
    shape = Shape(POLICY, encoder=Json())

    class Tools:
        @shape.tool()
        def get(self) -> Table:
            return rows()

    write(path, 'level = "strict"')
    live = follow(shape, path)
    server = MCPServer("test", log_level="CRITICAL")
    mcpshape.mcpserver.attach(server, live)
    server.add_tool(live.tools["get"].bind(Tools()))
    low: Server[Any] = Server("test")
    mcpshape.lowlevel.attach(low, live)
    mcpshape.lowlevel.add_tools(low, live, owner=Tools())
    for each in (server, low):
        async with connected(each, "auto") as (client, _):
            write(path, 'level = "strict"')
            assert "[Event]" in str((await client.call_tool("get", {})).content)
            write(path, 'level = "open"')
            assert "Room A" in str((await client.call_tool("get", {})).content)


async def test_principals_are_those_of_the_access_token(path: Path) -> None:
    """B7: through a real client; the client name lowers as well."""
    server = serve(
        "MCPServer",
        live_for(path, '[principals.app]\n[scopes.read]\nlevel = "minimal"\n[clients.noisy]\nlevel = "strict"'),
    )
    seen = {}
    for who, scopes, name in (("app", [], "calm"), ("x", ["read"], "calm"), ("app", [], "noisy"), (None, [], "calm")):
        token = AccessToken(token="t", client_id=who or "", scopes=scopes)
        reset = auth_context_var.set(AuthenticatedUser(token) if who else None)
        async with connected(server, "legacy", client_info=Implementation(name=name, version="1")) as (client, _):
            result = await client.call_tool("list_events", {})
            seen[who, name] = level_of(result)
        auth_context_var.reset(reset)
    assert seen == {
        ("app", "calm"): "open",
        ("x", "calm"): "minimal",
        ("app", "noisy"): "strict",
        (None, "calm"): "strict",
    }


def _calendar(path: Path, *options: str) -> StdioServerParameters:
    program = str(Path(sys.executable).parent / "mcpshape-calendar")
    line = ["--tz", "Europe/Berlin", "--now", "2026-07-13T10:20", "--config", str(path), *options]
    return StdioServerParameters(command=program, args=line, env=dict(os.environ))


async def test_the_calendar_obeys_its_file_while_a_client_is_connected(path: Path, tmp_path: Path) -> None:
    """A15: over stdio; the next answer changes, the client is told, the log says what changed."""
    write(path, 'level = "strict"')
    heard: list[Any] = []

    async def hear(message: Any) -> None:
        heard.extend([message] if isinstance(message, ToolListChangedNotification) else [])

    with (tmp_path / "log").open("w+") as log:
        transport = stdio_client(_calendar(path), errlog=log)
        async with Client(transport, mode="legacy", message_handler=hear) as client:
            asked = "list_events", {"day": "2026-07-13"}
            assert "[Event]" in str((await client.call_tool(*asked)).content)
            write(path, 'level = "standard"\nformat = "markdown"\nsecret = "a secret of the test suite"')
            answer = str((await client.call_tool(*asked)).content)
            assert "Sprint planning" in answer
            assert "| " in answer
            await until(lambda: heard)
            os.unlink(path)  # noqa: PTH108
            assert "Sprint planning" in str((await client.call_tool(*asked)).content)
        log.seek(0)
        written = log.read()
    assert "a secret" not in written
    assert "the last good ones" in " ".join(written.split())


async def test_the_command_line_of_the_calendar_goes_before_its_file(path: Path) -> None:
    """A15: options, then environment, then file."""
    write(path, 'level = "strict"\nformat = "json"')
    async with Client(stdio_client(_calendar(path, "--privacy", "minimal"))) as client:
        text = (await client.call_tool("list_events", {"day": "2026-07-13"})).content[0]
        assert text.type == "text"
        assert "Sprint planning" in json.dumps(json.loads(text.text))


@pytest.mark.parametrize(("text", "message"), [("level = ", "it is no TOML"), ('level = "x"', "there is no level 'x'")])
def test_the_calendar_does_not_start_with_a_broken_file(path: Path, text: str, message: str) -> None:
    """Rule 7: one line that says what is wrong."""
    write(path, text)
    parameters = _calendar(path)
    ended = subprocess.run([parameters.command, *parameters.args], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert ended.stderr.count("\n") == 1
    path.unlink()
    ended = subprocess.run([parameters.command, *parameters.args], capture_output=True, text=True, check=False)
    assert "name a settings file" in ended.stderr


def test_the_page_on_settings_tells_callers_apart_as_the_code_does(path: Path) -> None:
    """docs/reference/settings.md: its table of callers."""
    page = (Path(__file__).parents[1] / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    live = live_for(path, page.split('path.write_text("""')[1].split('"""')[0])
    read, both = frozenset({"calendar:read"}), frozenset({"calendar:read", "calendar:all"})
    callers = [
        Caller("trusted", "calm"),
        Caller("x", "calm", scopes=read),
        Caller("x", "calm", scopes=both),
        Caller("x", "calm"),
        Caller("trusted", "noisy"),
    ]
    shown = [line.split("|")[2].split("`")[1] for line in page.splitlines() if line.endswith(("` |", "narrowest |"))]
    assert [level_of(call(live, caller=caller)) for caller in callers] == shown[-5:]


def test_importing_the_package_loads_no_settings() -> None:
    """The extra is needed by those who use it."""
    code = "import sys, mcpshape; print('pydantic_settings' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
