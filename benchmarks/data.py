"""What is answered with: DTOs of several shapes under one policy, and by hand what each level lets out of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from typing import Annotated, Any

from pydantic import BaseModel

from mcpshape import Always, Count, Keyring, Mask, Policy, Prose, Shape, Since
from mcpshape._example import make_example
from mcpshape.policy import Grant

policy = Policy(levels=("strict", "minimal", "standard", "detailed"))
LEVEL = "standard"
"""The level of all subjects that have one, unless they say another; it lets out every field."""

KEYRING = Keyring(b"a secret that protects nothing", clock=lambda: 0)
"""Makes the same ids each time, so that answers can be compared."""

MASK = "[Event]"
_AT_MINIMAL = frozenset({"organizer", "notes", "text"})
WITHHELD: Mapping[str, frozenset[str]] = {
    "strict": _AT_MINIMAL | {"attendees", "location", "name", "bundle"},
    "minimal": _AT_MINIMAL,
    "standard": frozenset(),
    "detailed": frozenset(),
}
"""The keys that each level keeps back; at strict a title is a mask as well. Written beside the rules, to check them."""


class Row(BaseModel):
    id: Annotated[str, Always()]
    title: Annotated[str, Since("minimal", below=Mask(MASK))]
    start: Annotated[datetime, Always()]
    end: Annotated[datetime, Always()]
    is_busy: Annotated[bool, Always()]
    attendees: Annotated[int, Since("minimal")]
    location: Annotated[str | None, Since("minimal")]
    organizer: Annotated[str | None, Since("standard")]
    notes: Annotated[str | None, Since("standard")]


class Rows(BaseModel):
    total: Annotated[int, Count("rows")] = 0
    rows: list[Row]


class Day(BaseModel):
    date: Annotated[date, Always()]
    total: Annotated[int, Count("events")] = 0
    events: list[Row]


class Days(BaseModel):
    days: list[Day]


class Version(BaseModel):
    number: Annotated[str, Always()]
    state: Annotated[str, Always()]
    released: Annotated[date | None, Always()]


class App(BaseModel):
    id: Annotated[int, Always()]
    name: Annotated[str, Since("minimal")]
    bundle: Annotated[str, Since("minimal")]
    versions: list[Version]


class Apps(BaseModel):
    apps: list[App]


class Note(BaseModel):
    id: Annotated[str, Always()]
    title: Annotated[str, Since("minimal", below=Mask(MASK))]
    text: Annotated[str, Since("standard"), Prose()]


@dataclass(frozen=True, slots=True)
class Workload:
    """One DTO to answer with, and the policy that it has rules of; `is_own` where its levels are known by hand."""

    name: str
    dto: BaseModel
    policy: Policy | None = policy
    is_own: bool = True

    @property
    def plain(self) -> dict[str, Any]:
        """All of its data, as pydantic writes it."""
        data: dict[str, Any] = self.dto.model_dump(mode="json")
        return data

    def grant(self, level: str | None = None) -> Grant | None:
        """A level, or the usual one: that of all subjects for the own workloads, the widest of an example server."""
        if self.policy is None:
            return None
        return self.policy.grant(level or (LEVEL if self.is_own else self.policy.levels[-1]))


def visible(data: Any, level: str) -> Any:
    """What a level lets out of plain data, worked out without mcpshape."""
    if isinstance(data, list):
        return [visible(each, level) for each in data]
    if not isinstance(data, dict):
        return data
    told = {key: visible(value, level) for key, value in data.items() if key not in WITHHELD[level]}
    return told | {"title": MASK} if level == "strict" and "title" in told else told


def row(place: int) -> Row:
    """Nine mixed fields: nulls, times with a zone, text beyond ASCII."""
    start = datetime(2026, 7, 13, 9, tzinfo=UTC) + timedelta(hours=place)
    return Row(
        id=f"e{place:06d}",
        title=f"Besprechung Größe {place}",
        start=start,
        end=start + timedelta(hours=1),
        is_busy=place % 3 > 0,
        attendees=place % 7,
        location=None if place % 2 else f"Raum {place % 20}",
        organizer=None if place % 5 else "Ada Moreau",
        notes=None if place % 4 else f"bring the draft, ask ada{place}@example.com",
    )


def rows(number: int) -> Rows:
    """A table."""
    return Rows(rows=[row(place) for place in range(number)], total=number)


def days(number: int) -> Days:
    """Tables inside of groups, of 0 to 8 rows."""
    lengths = [place * 5 % 9 for place in range(number)]
    first = date(2026, 7, 13)
    events = ([row(9 * place + each) for each in range(length)] for place, length in enumerate(lengths))
    return Days(
        days=[
            Day(date=first + timedelta(days=place), total=len(each), events=each) for place, each in enumerate(events)
        ]
    )


def apps(number: int) -> Apps:
    """Records that each own a list."""
    return Apps(
        apps=[
            App(
                id=1200000000 + place,
                name=f"Überblick {place}",
                bundle=f"com.example.app{place}",
                versions=[
                    Version(number=f"2.{each}", state="live" if each else "draft", released=_released(each))
                    for each in range(1 + place % 4)
                ],
            )
            for place in range(number)
        ]
    )


def _released(each: int) -> date | None:
    return date(2026, 1 + each, 5) if each else None


def note(paragraphs: int) -> Note:
    """Prose that people wrote in Markdown."""
    prose = (
        "Die Größe steht noch aus: **bitte** bis Freitag prüfen, danach ist der Entwurf fertig.\n\n"
        "- the numbers of May\n- a room for *twelve*, see [the plan](https://example.com/plan)"
    )
    return Note(id="n1", title="Protokoll", text="\n\n".join([prose] * paragraphs))


def workloads(*, is_quick: bool = False) -> Iterator[Workload]:
    """All of them; quick ones are small, and only there to see that the harness works."""
    sizes = {"20 rows": 5, "1,000 rows": 20, LARGE: 200} if is_quick else dict(SIZES)
    makers: Mapping[str, Callable[[int], BaseModel]] = {"days": days, "apps": apps, "note": note}
    yield Workload("1 record", row(20))
    yield from (Workload(name, rows(size)) for name, size in sizes.items())
    yield from (Workload(name, maker(4 if is_quick else 20)) for name, maker in makers.items())
    for module, name in EXAMPLES.items():
        shape: Shape = import_module(module).shape
        server, dto = module.removesuffix("_server"), make_example(shape.tools[name])
        yield Workload(f"{server}: {name}", dto, shape.policy, is_own=False)


LARGE = "100,000 rows"
SIZES = {"20 rows": 20, "1,000 rows": 1000, LARGE: 100_000}
EXAMPLES = {
    "calendar_server": "list_events",
    "tasks_server": "list_tasks",
    "releases_server": "list_apps",
    "search_server": "search_content",
}
"""A tool of each example server."""
