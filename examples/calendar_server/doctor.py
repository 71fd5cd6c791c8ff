"""Checks every calendar, and shows what a host would see of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from calendar_data.health import feed_lines
from calendar_server.config import Config
from calendar_server.server import build, make_agenda
from serving.arguments import resolved
from serving.doctor import Doctor, Line, Question


def examine(config: Config, arguments: Sequence[str]) -> int:
    """Print all that is to be known before the server is used; 1 where a calendar cannot be read, else 0."""
    config = replace(config, warm=False)
    now = config.now or datetime.now(config.zone)
    doctor = Doctor(
        name="calendar",
        command="mcpshape-calendar",
        module="calendar_server.cli",
        build=lambda: build(config),
        questions=[Question("list_calendars", {}), Question("list_events", {"day": f"{now:%Y-%m-%d}"})],
        heading="Calendars",
        read=lambda: _read(config),
    )
    return doctor.examine(resolved(arguments, ("--ics", "--config")))


def _read(config: Config) -> list[Line]:
    agenda = make_agenda(config)
    agenda.now()
    return [line for feed in agenda.feeds for line in feed_lines(feed, "event")]
