"""The sample week: what is served without a calendar of one's own, and what previews show."""

from datetime import date, datetime
from importlib.resources import files
from pathlib import Path
from zoneinfo import ZoneInfo

from calendar_server.reading import Source

SAMPLE = Path(str(files("calendar_server") / "sample.ics"))
OWNER = "ada@example.com"
ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 7, 13, 10, 20, tzinfo=ZONE)
PLANNING = "sprint-planning-7f3@calendar.example.com|2026-07-13 10:00:00+02:00"
MONDAY, SUNDAY = date(2026, 7, 13), date(2026, 7, 19)


def sample_source() -> Source:
    """The events of the sample week."""
    return Source([SAMPLE], ZONE, OWNER)
