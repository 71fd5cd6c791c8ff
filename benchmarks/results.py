"""The figures of one run, as they are kept in JSON and read by what makes the page of the documentation."""

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from pydantic import BaseModel

from timing import Spread

PACKAGES = (
    "mcpshape-output",
    "pydantic",
    "pydantic-core",
    "mcp",
    "fastmcp",
    "toons",
    "python-toon",
    "toon-format",
    "toony",
    "pii-mcp",
    "splintr-rs",
)
_DIGITS = 4


class Figure(BaseModel):
    """A median, with the quarters around it."""

    figure: float
    low: float
    high: float


class Timed(BaseModel):
    """A subject with a workload: milliseconds, and what that is of the first subject's in the same rounds."""

    workload: str
    subject: str
    ms: Figure
    ratio: Figure


class Size(BaseModel):
    """The length of one text; `tokens` of the tokenizer that the versions name."""

    workload: str
    level: str | None
    format: str
    characters: int
    size: int
    tokens: int


class HostSize(BaseModel):
    """The tokens that the model of a host reads of one answer, by how it is sent."""

    host: str
    tokens: Mapping[str, int]


class Results(BaseModel):
    """One run. Times differ from machine to machine; ratios much less; sizes not at all."""

    date: str
    python: str
    system: str
    cores: int
    is_quick: bool
    versions: Mapping[str, str]
    targets: Mapping[str, Figure]
    times: Sequence[Timed]
    codecs: Sequence[Timed]
    sizes: Sequence[Size]
    instructions: int
    hosts: Sequence[HostSize]
    scrubber: Mapping[str, str]
    left_out: Sequence[str]


def figure(spread: Spread) -> Figure:
    """A spread with as many digits as mean something."""
    low, middle, high = (float(f"{each:.{_DIGITS}g}") for each in (spread.low, spread.figure, spread.high))
    return Figure(figure=middle, low=low, high=high)


def installed() -> dict[str, str]:
    """The versions of all packages that take part and are there."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def surroundings() -> dict[str, str | int]:
    """When and where, without a name of the machine."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{sys.platform} {platform.machine()}",
        "cores": os.cpu_count() or 1,
    }
