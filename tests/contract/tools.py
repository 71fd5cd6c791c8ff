"""The shape that every server of the contract serves, and what its tools return."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Annotated

import anyio
from mcp import MCPError
from pydantic import BaseModel

from mcpshape import Always, Count, Handle, Keyring, Mask, Policy, Shape, Since, Toggle, UserError, When
from mcpshape._caller import Caller, current_caller
from mcpshape.disclosure import Record
from mcpshape.encoders import Json, Markdown, Toon

POLICY = Policy(
    levels=("strict", "minimal", "open"), toggles={"notes": Toggle(on_since="open", offered_since="minimal")}
)
IDS = [f"meeting-{place}@example.com" for place in range(5)]
SECRET = b"0123456789abcdef0123456789abcdef"
INVISIBLE = "\x1b[31mred\x1b[0m\u200b \u202eevil\u202c \U000e0041tag\x07"


class Event(BaseModel):
    id: Annotated[str, Handle("event")]
    start: Annotated[datetime, Always()]
    title: Annotated[str, Since("minimal", below=Mask("[Event]"))]
    place: Annotated[str | None, Since("minimal")] = None
    notes: Annotated[str | None, When("notes")] = None


class Secretive(Event):
    secret: str = "CANARY-subclass"


class Events(BaseModel):
    day: Annotated[date, Always()]
    total: Annotated[int, Count("events")] = 0
    events: list[Event]


class Filter(BaseModel):
    words: list[int]


class Named(BaseModel):
    name: Annotated[str, Always()]


class Seen(BaseModel):
    """What the server saw of a caller."""

    client: Annotated[str | None, Always()]
    client_version: Annotated[str | None, Always()]
    protocol: Annotated[str | None, Always()]
    principal: Annotated[str | None, Always()]
    subject: Annotated[str | None, Always()]
    scopes: Annotated[list[str], Always()]
    identity: Annotated[str, Always()]


class Headers(BaseModel):
    """What the server saw of the headers of a request."""

    team: Annotated[str | None, Always()]
    longest: Annotated[int, Always()]


class Waits(BaseModel):
    started: Annotated[int, Always()] = 0
    cancelled: Annotated[int, Always()] = 0


class Told(BaseModel):
    """The record of the last call before this one."""

    tool: Annotated[str, Always()]
    level: Annotated[str | None, Always()]
    format: Annotated[str, Always()]
    client: Annotated[str | None, Always()]
    principal: Annotated[str | None, Always()]
    disclosed: Annotated[list[str], Always()]
    masked: Annotated[list[str], Always()]
    withheld: Annotated[list[str], Always()]
    rows: Annotated[int, Always()]
    error: Annotated[str | None, Always()]


class Kept:
    """A sink that keeps the last record."""

    last: Record | None = None

    def write(self, record: Record) -> None:
        self.last = record


def events(ids: Sequence[str] = IDS) -> list[Event]:
    start = datetime(2026, 7, 13, 10, tzinfo=UTC)
    return [Secretive(id=each, start=start, title=f"title of {each[:9]}", notes="a, b") for each in ids]


def make_shape(level: str = "open", *, principals: bool = False) -> Shape:
    """The shape with its tools; strangers are told apart from principals on demand."""
    kept, waits = Kept(), Waits()
    shape = Shape(
        POLICY,
        encoder=Toon(),
        grant=POLICY.grant(level),
        keyring=Keyring(SECRET, clock=lambda: 0),
        principals={"trusted": POLICY.grant("open"), "guest": POLICY.grant("minimal")} if principals else None,
        clients={"noisy": POLICY.grant("strict")},
        sinks=[kept],
    )
    add_answers(shape)
    add_failures(shape)
    add_observers(shape, kept, waits)
    return shape


def add_answers(shape: Shape) -> None:
    def answer(day: date) -> Events:
        if day.year < 2000:
            raise UserError("The calendar starts in 2000.", hint="Ask for a later day.")
        return Events(day=day, events=events(IDS[:2]))

    @shape.tool(empty="No {entries}: the day is free.")
    def as_toon(day: date) -> Events:
        """List events, one {entry} each."""
        return answer(day)

    @shape.tool(encoder=Markdown(), empty="No {entries}: the day is free.")
    def as_markdown(day: date) -> Events:
        """List events, one {entry} each."""
        return answer(day)

    @shape.tool(encoder=Json(), empty="No {entries}: the day is free.")
    async def as_json(day: date) -> Events:
        """List events, one {entry} each."""
        return answer(day)

    @shape.tool(structured=True, ask={"format", "fields", "privacy"})
    def asked(day: date = date(2026, 7, 13)) -> Events:
        """List events as asked."""
        return answer(day)

    @shape.tool(encoder=Json(), page="events", limit=2, ask={"limit"})
    async def paged() -> Events:
        """List all events in pages."""
        return Events(day=date(2026, 7, 13), events=events())

    @shape.tool(encoder=Json())
    def get_event(event_id: Annotated[str, Handle("event", among=lambda: IDS)]) -> Event:
        """Get one event."""
        return events([event_id])[0]

    @shape.tool(encoder=Json())
    def dirty() -> Named:
        """Say what nobody sees."""
        return Named(name=INVISIBLE)


def add_failures(shape: Shape) -> None:
    @shape.tool(encoder=Json())
    def search(day: date, by: Filter, most: int) -> Named:
        """Search."""
        return Named(name=f"{day} {by.words} {most}")

    @shape.tool(encoder=Json())
    def crash(title: str) -> Named:
        """Fail."""
        raise KeyError(title)

    @shape.tool()
    async def crash_later(title: str) -> Named:
        """Fail after a while."""
        await anyio.lowlevel.checkpoint()
        raise KeyError(title)

    @shape.tool()
    def complain() -> Named:
        """Complain in characters that nobody sees."""
        raise UserError(f"No {INVISIBLE}")

    @shape.tool()
    async def refuse() -> Named:
        """Refuse by an error of the protocol."""
        raise MCPError(-32001, "not now", {"reason": "closed"})


def add_observers(shape: Shape, kept: Kept, waits: Waits) -> None:
    @shape.tool(encoder=Json())
    async def whoami() -> Seen:
        """Say who calls."""
        return look(current_caller() or Caller())

    @shape.tool(encoder=Json())
    def whoami_in_a_thread() -> Seen:
        """Say who calls, from a function that is not async."""
        return look(current_caller() or Caller())

    @shape.tool(encoder=Json())
    async def headers() -> Headers:
        """Say what headers came."""
        found = (current_caller() or Caller()).headers
        return Headers(team=found.get("x-team"), longest=max(map(len, found.values()), default=0))

    @shape.tool(encoder=Json())
    def last_record() -> Told:
        """Say what was recorded of the call before."""
        assert kept.last
        return Told.model_validate(kept.last.to_dict())

    @shape.tool()
    async def wait() -> Named:
        """Wait until nobody waits for the answer any more."""
        waits.started += 1
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            waits.cancelled += 1
            raise
        return Named(name="nobody waits that long")

    @shape.tool(encoder=Json())
    async def waited() -> Waits:
        """Say how many calls have waited, and how many were cancelled."""
        return waits


def look(caller: Caller) -> Seen:
    return Seen(
        client=caller.client,
        client_version=caller.client_version,
        protocol=caller.protocol,
        principal=caller.principal,
        subject=caller.subject,
        scopes=sorted(caller.scopes),
        identity=caller.identity,
    )
