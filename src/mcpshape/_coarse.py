"""Coarser values: moments and numbers rounded down to a step."""

import math
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

_MINUTES = re.compile(r"(\d+)min")
_DAYS = {"day", "week", "month"}


def fits(step: str | float, kind: str) -> bool:
    """Whether a value of that core-schema kind can be rounded to `step`."""
    if not isinstance(step, str):
        return step > 0 and (kind in {"float", "decimal"} or (kind == "int" and step == int(step)))
    minutes = _MINUTES.fullmatch(step)
    if step == "hour" or (minutes and 0 < int(minutes[1]) <= 60 and 60 % int(minutes[1]) == 0):  # noqa: PLR2004
        return kind in {"datetime", "time"}
    return step in _DAYS and kind in {"datetime", "date"}


def coarsener(step: str | float) -> Callable[[Any], Any]:
    """The function that rounds a value down to `step`; it keeps the type and the zone."""
    if not isinstance(step, str):
        return lambda value: _number(value, step)
    if step in _DAYS:
        return lambda value: _day(value, step)
    minutes = 60 if step == "hour" else int(step.removesuffix("min"))
    return lambda value: _minute(value, minutes)


def _number(value: Any, step: float) -> Any:
    if not math.isfinite(value):
        return value
    if isinstance(value, int):
        return value // int(step) * int(step)
    # In decimals, because 0.3 / 0.1 is less than 3 in binary.
    unit = Decimal(str(step))
    return type(value)(math.floor(Decimal(str(value)) / unit) * unit)


def _minute(value: Any, minutes: int) -> Any:
    return value.replace(minute=value.minute - value.minute % minutes, second=0, microsecond=0)


def _day(value: date | datetime, step: str) -> date | datetime:
    day = value.replace(hour=0, minute=0, second=0, microsecond=0) if isinstance(value, datetime) else value
    if step == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if step == "month" else day
