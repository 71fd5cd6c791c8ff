"""The sample week: what is served without a calendar of one's own, and what previews show."""

from datetime import date, datetime
from importlib.resources import files
from math import inf
from pathlib import Path
from zoneinfo import ZoneInfo

from calendar_data.feeds import Feed
from calendar_data.files import Files
from calendar_server.agenda import Agenda

SAMPLE = Path(str(files("calendar_server") / "sample.ics"))
OWNER = "ada@example.com"
ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 7, 13, 10, 20, tzinfo=ZONE)
PLANNING = "sample|sprint-planning-7f3@calendar.example.com|2026-07-13T08:00:00+00:00"
MONDAY, SUNDAY = date(2026, 7, 13), date(2026, 7, 19)


def sample_agenda() -> Agenda:
    """The events of the sample week."""
    return Agenda([Feed(Files(SAMPLE), lambda: NOW, every=inf)], ZONE, [OWNER])
