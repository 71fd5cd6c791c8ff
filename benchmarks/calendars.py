"""What the calendar server costs with 20,000 events of ten years: in 20 calendars, and as 20,000 files of one event.

Each way of keeping them is asked in a process of its own, through a client in memory, for a day at a time. The server
works out some years beside its answers as soon as it is built, as the command does; times are told for the answers that
it gives meanwhile, and for those after that. They count from the call to the text, and the first one from the building
of the server on, with all that is read for it.
"""

import itertools
import platform
import random
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path
from time import perf_counter
from typing import Any
from zoneinfo import ZoneInfo

import anyio
from mcp import Client

from calendar_server import Config, build
from figures import Sheet
from mcpshape.testing import decode

_SHEET = Sheet(width=33)
EVENTS, REPEATING, CALENDARS = 20_000, 2_000, 20
FIRST_DAY, DAYS = date(2021, 7, 13), 3652
NOW = datetime(2026, 7, 13, 10, 20, tzinfo=ZoneInfo("Europe/Berlin"))
FIRST_ANSWER, LATER_ANSWER, MEMORY = 5.0, 50.0, 400.0
"""The most seconds, milliseconds and MB that are aimed at."""
LAYOUTS = {"calendars": EVENTS // CALENDARS, "files": 1}
ASKED, ASKED_OTHERS = 300, 20
# A file is looked at again after a second.
_LOOKED_AT_AGAIN = 20  # Seconds; a folder is looked at the less often the longer that takes.
_HEAD = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//mcpshape//benchmark//EN
X-WR-CALNAME:{name}
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:DAYLIGHT
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
TZNAME:CEST
DTSTART:19700329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
END:DAYLIGHT
BEGIN:STANDARD
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
TZNAME:CET
DTSTART:19701025T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
END:STANDARD
END:VTIMEZONE
"""
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
# How repeating events go on, and how many in a hundred do so: those without an end first.
_RULES = (
    ("FREQ=YEARLY", 40),
    ("FREQ=WEEKLY;BYDAY={weekday}", 12),
    ("FREQ=MONTHLY", 8),
    ("FREQ=MONTHLY;BYDAY=2TU", 5),
    ("FREQ=DAILY", 1),
    ("FREQ=WEEKLY;BYDAY={weekday};UNTIL={until}", 18),
    ("FREQ=WEEKLY;INTERVAL=2;COUNT=26", 8),
    ("FREQ=MONTHLY;COUNT=12", 5),
    ("FREQ=DAILY;COUNT=10", 3),
)


def main() -> None:
    """Print what each layout costs, and whether that is within what is aimed at."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("icalendar", "recurring-ical-events", "mcp"))
    print(f"{EVENTS:,} events of ten years, {REPEATING:,} of them repeating, most of these without end,")
    print(f"Python {platform.python_version()}, {versions}")
    for layout, together in LAYOUTS.items():
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), together)
            plural = "s" if together > 1 else ""
            print(f"\n{EVENTS // together:,} {layout} with {together:,} event{plural} each", flush=True)
            subprocess.run([sys.executable, __file__, folder], check=True)  # noqa: S603 # It is this file.


def write(folder: Path, together: int) -> None:
    """The events in files of so many events each, always the same ones."""
    chosen = random.Random(1)
    for number in range(EVENTS // together):
        places = range(number * together, (number + 1) * together)
        name = f"Calendar {number * CALENDARS * together // EVENTS + 1}"
        events = "".join(_event(place, chosen) for place in places)
        (folder / f"{number:05}.ics").write_text(_HEAD.format(name=name) + events + "END:VCALENDAR\n")


def _event(place: int, chosen: random.Random) -> str:
    day = FIRST_DAY + timedelta(days=chosen.randrange(DAYS))
    lines = ["BEGIN:VEVENT", f"UID:event-{place}@calendar.example.com", "DTSTAMP:20260701T080000Z"]
    lines += _times(day, chosen)
    lines += [f"RRULE:{_rule(day, chosen)}"] if place % (EVENTS // REPEATING) == 0 else []
    lines += [f"SUMMARY:Besprechung {place}", f"LOCATION:Raum {place % 40}"] if place % 3 else [f"SUMMARY:Task {place}"]
    lines += [f"DESCRIPTION:{'Bring the draft and the numbers. ' * chosen.randint(1, 20)}"] if place % 4 == 0 else []
    lines += [f"X-GOOGLE-CONFERENCE:https://meet.google.com/abc-{place:05}-xyz"] if place % 5 == 0 else []
    people = range(chosen.randint(2, 12) if place % 2 else 0)
    lines += [f"ATTENDEE;CN=Person {each};PARTSTAT=ACCEPTED:mailto:person{each}@example.com" for each in people]
    return "\n".join([*lines, "END:VEVENT", ""])


def _times(day: date, chosen: random.Random) -> list[str]:
    if chosen.random() < 1 / 8:
        return [f"DTSTART;VALUE=DATE:{day:%Y%m%d}", f"DTEND;VALUE=DATE:{day + timedelta(days=1):%Y%m%d}"]
    hour, zone = chosen.randint(7, 19), "Z" if chosen.random() < 1 / 4 else ""
    name = "" if zone else ";TZID=Europe/Berlin"
    return [f"DTSTART{name}:{day:%Y%m%d}T{hour:02}0000{zone}", f"DTEND{name}:{day:%Y%m%d}T{hour:02}4500{zone}"]


def _rule(day: date, chosen: random.Random) -> str:
    (rule,) = chosen.choices([rule for rule, _ in _RULES], [weight for _, weight in _RULES])
    until = day + timedelta(days=chosen.randint(60, 400))
    return rule.format(weekday=_WEEKDAYS[day.weekday()], until=f"{until:%Y%m%d}T220000Z")


class Asker:
    """A client that notes how long it waits."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def ask(self, tool: str, **arguments: Any) -> tuple[float, Any]:
        """The milliseconds that an answer takes, and the answer."""
        began = perf_counter()
        result = await self._client.call_tool(tool, arguments)
        taken = (perf_counter() - began) * 1000
        assert not result.is_error
        return taken, result

    async def times(self, tool: str, asked: Iterable[dict[str, Any]]) -> list[float]:
        """How long each of some answers takes."""
        return [(await self.ask(tool, **arguments))[0] for arguments in asked]


async def measure(folder: Path) -> None:
    """Print what a server of the files in a folder costs."""
    chosen = random.Random(2)
    began = perf_counter()
    server = build(Config(ics=[folder], zone=ZoneInfo("Europe/Berlin"), now=NOW, privacy="detailed", warm=True))
    async with Client(server) as client:
        asker = Asker(client)
        _, today = await asker.ask("list_events", day=f"{NOW:%Y-%m-%d}")
        first, events = perf_counter() - began, decode(today)["events"]
        figures = f"{first:.2f} s, with {len(events)} events"
        _SHEET.tell("the first answer", figures, first <= FIRST_ANSWER, f"{FIRST_ANSWER:g} s")
        meanwhile = takewhile(lambda _: _workers(), _random_days(None, chosen))
        _SHEET.tell_times("a day while years are worked out", await asker.times("list_events", meanwhile))
        for worker in _workers():
            worker.join()
        _SHEET.tell("all is worked out", f"after {perf_counter() - began:.1f} s")
        _SHEET.tell_times(
            "a day after that", await asker.times("list_events", _random_days(ASKED, chosen)), LATER_ANSWER
        )
        await _measure_others(asker, chosen.choice(events)["id"], chosen)
        await _measure_change(asker, folder, chosen)
    # Linux counts in kB, macOS in bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    _SHEET.tell("the most memory", f"{peak:.0f} MB", peak <= MEMORY, f"{MEMORY:g} MB")


async def _measure_others(asker: Asker, event_id: str, chosen: random.Random) -> None:
    taken, _ = await asker.ask("get_event", event_id=event_id)
    _SHEET.tell("get_event, the first time", f"{taken:.0f} ms")
    _SHEET.tell_times("get_event", await asker.times("get_event", [{"event_id": event_id}] * ASKED_OTHERS))
    starts = [date.fromisoformat(each["day"]) for each in _random_days(ASKED_OTHERS, chosen)]
    months = [{"day": f"{day}", "until": f"{day + timedelta(days=30)}"} for day in starts]
    _SHEET.tell_times("find_free_time of 31 days", await asker.times("find_free_time", months))
    weeks = [{"start": f"{day}", "end": f"{day + timedelta(days=6)}"} for day in starts]
    _SHEET.tell_times("list_events_between of a week", await asker.times("list_events_between", weeks))


async def _measure_change(asker: Asker, folder: Path, chosen: random.Random) -> None:
    _change(folder)
    await anyio.sleep(_LOOKED_AT_AGAIN)
    taken, _ = await asker.ask("list_events", day=f"{NOW:%Y-%m-%d}")
    _SHEET.tell("a day after a file has changed", f"{taken:.0f} ms")
    _SHEET.tell_times("other days after that", await asker.times("list_events", _random_days(ASKED, chosen)))


def _change(folder: Path) -> None:
    path = min(folder.iterdir())
    path.write_text(path.read_text().replace("SUMMARY:", "SUMMARY:Changed ", 1))


def _random_days(count: int | None, chosen: random.Random) -> Iterator[dict[str, str]]:
    """Arguments for so many days of the ten years, or for days without end."""
    places = itertools.count() if count is None else range(count)
    return ({"day": f"{FIRST_DAY + timedelta(days=chosen.randrange(DAYS))}"} for _ in places)


def _workers() -> list[threading.Thread]:
    """What works out years beside the answers; a thread has the name of its function."""
    return [thread for thread in threading.enumerate() if "_warm" in thread.name]


if __name__ == "__main__":
    if sys.argv[1:]:
        anyio.run(measure, Path(sys.argv[1]))
    else:
        main()
