"""What is given on a command line: options that all servers have, and values that are checked as they are read."""

import argparse
import re
from collections.abc import Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tzlocal import get_localzone

_PORTS = range(1, 65536)
_FORMATS = ("toon", "markdown", "json")
_OF_HTTP = ("host", "port", "stateless")


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, without the usage in front of it."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong, and end with exit code 2."""
        self.exit(2, f"{self.prog}: {message}\n")


def add_answers(parser: argparse.ArgumentParser, *, default: str = "toon") -> None:
    """The options about settings and about how answers read."""
    parser.add_argument(
        "--config", type=settings_file, help="a settings file (TOML), which may change while the server runs"
    )
    parser.add_argument("--format", choices=_FORMATS, help=f"how answers read (default: {default})")
    parser.add_argument("--structured", action=argparse.BooleanOptionalAction, help="send structuredContent as well")


def add_clock(parser: argparse.ArgumentParser) -> None:
    """The options about time."""
    parser.add_argument("--tz", type=zone, help="an IANA time zone; the machine's unless said")
    parser.add_argument("--now", type=moment, help="a fixed date and time, for runs that can be repeated")


def clock(options: argparse.Namespace, named: str | None) -> tuple[tzinfo, datetime | None]:
    """The time zone, which a settings file may have named, and the fixed time in it."""
    around = options.tz or (ZoneInfo(named) if named else get_localzone())
    return around, options.now and (options.now if options.now.tzinfo else options.now.replace(tzinfo=around))


def add_ics(parser: argparse.ArgumentParser, default: str) -> None:
    """The option that names files and folders of calendar data."""
    parser.add_argument(
        "--ics",
        type=ics,
        action="append",
        default=[],
        help=f"an .ics file, or a folder of them; may be repeated (default: {default})",
    )


def add_transport(parser: argparse.ArgumentParser) -> None:
    """The options about how clients reach the server."""
    parser.add_argument("--transport", choices=("stdio", "http"), default="stdio", help="(default: stdio)")
    parser.add_argument(
        "--host", help="of --transport http (default: 127.0.0.1; any other one leaves checks of the Host to a proxy)"
    )
    parser.add_argument("--port", type=port, help="of --transport http (default: 8000)")
    parser.add_argument(
        "--stateless", action="store_true", help="of --transport http: no sessions, for replicas behind one address"
    )


def require_http(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse what goes with HTTP where that is not served."""
    for name in _OF_HTTP:
        if getattr(options, name) and options.transport != "http":
            parser.error(f"--{name} needs --transport http")


def resolved(given: Sequence[str], names: Sequence[str]) -> list[str]:
    """The same arguments with whole paths behind the options `names`: hosts start a server in folders of their own."""
    pattern = f"({'|'.join(map(re.escape, names))})"
    alone = [re.fullmatch(pattern, each) is not None for each in ["", *given]]
    return [
        str(Path(each).resolve())
        if follows
        else re.sub(f"^{pattern}=(.+)$", lambda match: f"{match[1]}={Path(match[2]).resolve()}", each)
        for each, follows in zip(given, alone, strict=False)
    ]


def settings_file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text}; name a settings file")
    return path


def ics(text: str) -> Path:
    path = Path(text)
    if not path.is_file() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no file {text}; name an .ics file or a folder")
    return path


def folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}; name one that is there")
    return path


def zone(text: str) -> ZoneInfo:
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise argparse.ArgumentTypeError(f"there is no time zone {text}; write one such as Europe/Berlin") from None


def moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no date and time; write one such as 2026-07-13T10:20") from None


def port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) in _PORTS):
        raise argparse.ArgumentTypeError(f"{text} is no port; choose one from 1 to 65535")
    return int(text)
