"""The command `mcpshape-calendar`."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tzlocal import get_localzone

from calendar_server.config import Config, read_own
from calendar_server.doctor import examine
from calendar_server.documents import read_document
from calendar_server.dtos import policy
from calendar_server.files import Files
from calendar_server.samples import OWNER, SAMPLE
from calendar_server.server import PREFIX, build
from calendar_server.sources import SourceError
from mcpshape import DefinitionError

_PORTS = range(1, 65536)
_FORMATS = ("toon", "markdown", "json")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, without the usage in front of it."""
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve calendars over stdio or HTTP until the client goes away, or examine them."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    is_doctor = given[:1] == ["doctor"]
    parser = _parser()
    options = parser.parse_args(given[1:] if is_doctor else given)
    for name in ("host", "port", "stateless"):
        if getattr(options, name) and options.transport != "http":
            parser.error(f"--{name} needs --transport http")
    try:
        config = _config(options)
        if is_doctor:
            sys.exit(_examined(config, given[1:]))
        _require_readable(config)
        server = build(config)
    except DefinitionError as error:
        parser.error(" ".join(str(problem) for problem in error.problems))
    except SourceError as error:
        parser.error(f"none of the files can be read ({error.reason}). {error.remedy}")
    if options.transport == "stdio":
        server.run("stdio")
    else:
        host, port = options.host or "127.0.0.1", options.port or 8000
        server.run("streamable-http", host=host, port=port, stateless_http=options.stateless)


def _parser() -> _Parser:
    parser = _Parser(
        prog="mcpshape-calendar",
        usage="%(prog)s [doctor] [options]",
        description=(
            "Calendars as an MCP server, with four privacy levels. With doctor, it checks every calendar, shows what a "
            "host would see of them, and how to add the server to a host."
        ),
        epilog=(
            f"Options go before environment variables ({PREFIX}LEVEL and so on), and these before the settings file. "
            f"{PREFIX}SECRET keeps event ids the same across restarts and replicas. CalDAV accounts stand in the "
            "settings file, or in CALDAV_URL, CALDAV_USERNAME and CALDAV_PASSWORD or CALDAV_TOKEN."
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "--ics",
        type=_file,
        action="append",
        default=[],
        help="an .ics file, or a folder of them; may be repeated (default: a sample week from 2026-07-13)",
    )
    parser.add_argument(
        "--config", type=_settings, help="a settings file (TOML), which may change while the server runs"
    )
    parser.add_argument(
        "--me",
        action="append",
        default=[],
        help="your e-mail address, to know your own answers to invitations; may be repeated",
    )
    parser.add_argument("--privacy", help=f"one of {', '.join(policy.levels)} (default: {policy.default})")
    parser.add_argument(
        "--toggle",
        type=_toggle,
        action="append",
        default=[],
        help=f"NAME=on or NAME=off; may be repeated; from {', '.join(policy.toggles)}",
    )
    parser.add_argument("--format", choices=_FORMATS, help="how answers read (default: toon)")
    parser.add_argument("--structured", action=argparse.BooleanOptionalAction, help="send structuredContent as well")
    parser.add_argument("--tz", type=_zone, help="an IANA time zone; the machine's unless said")
    parser.add_argument(
        "--allow-open",
        action="store_true",
        help="let open_video_meeting open links of known video services in the browser of this machine",
    )
    parser.add_argument("--now", type=_moment, help="a fixed date and time, for runs that can be repeated")
    parser.add_argument("--transport", choices=("stdio", "http"), default="stdio", help="(default: stdio)")
    parser.add_argument(
        "--host", help="of --transport http (default: 127.0.0.1; any other one leaves checks of the Host to a proxy)"
    )
    parser.add_argument("--port", type=_port, help="of --transport http (default: 8000)")
    parser.add_argument(
        "--stateless", action="store_true", help="of --transport http: no sessions, for replicas behind one address"
    )
    return parser


def _config(options: argparse.Namespace) -> Config:
    own = read_own(options.config)
    zone = options.tz or (ZoneInfo(own.zone) if own.zone else get_localzone())
    sources = own.looked()
    is_sample = not options.ics and not sources
    return Config(
        ics=[SAMPLE] if is_sample else options.ics,
        sources=sources,
        zone=zone,
        me=[OWNER] if is_sample and not options.me else [*options.me, *own.me],
        now=options.now and (options.now if options.now.tzinfo else options.now.replace(tzinfo=zone)),
        settings=options.config,
        privacy=options.privacy,
        toggles=dict(options.toggle),
        format=options.format,
        structured=options.structured,
        allow_open=options.allow_open,
        warm=True,
    )


def _require_readable(config: Config) -> None:
    """Stop where nothing but files is served and none of them can be read: an empty answer would say: free.

    Raises:
        SourceError: Why the last of them cannot be.
    """
    failure: SourceError | None = None
    for source in (each.source for each in config.looked()):
        if not isinstance(source, Files) or source.path.is_dir():
            return
        try:
            for piece in source.pieces(lambda _done, _total: None):
                read_document(piece.load())
        except SourceError as error:
            failure = error
        else:
            return
    if failure:
        raise failure


def _examined(config: Config, given: Sequence[str]) -> int:
    try:
        code = examine(config, _host_arguments(given))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough; what is left must not be written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _host_arguments(given: Sequence[str]) -> list[str]:
    """The options with which a host has to start the server: hosts start it in folders of their own."""
    names = "(--ics|--config)"
    alone = [re.fullmatch(names, each) is not None for each in ["", *given]]
    return [
        str(Path(each).resolve()) if follows else re.sub(f"^{names}=(.+)$", _resolved, each)
        for each, follows in zip(given, alone, strict=False)
    ]


def _resolved(match: re.Match[str]) -> str:
    return f"{match[1]}={Path(match[2]).resolve()}"


def _file(text: str) -> Path:
    path = Path(text)
    if not path.is_file() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no file {text}; name an .ics file or a folder")
    return path


def _settings(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text}; name a settings file")
    return path


def _toggle(text: str) -> tuple[str, bool]:
    name, _, state = text.partition("=")
    if state not in {"on", "off"}:
        raise argparse.ArgumentTypeError(
            f"{text} is no toggle; write one of {', '.join(policy.toggles)} with =on or =off"
        )
    return name, state == "on"


def _zone(text: str) -> ZoneInfo:
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise argparse.ArgumentTypeError(f"there is no time zone {text}; write one such as Europe/Berlin") from None


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no date and time; write one such as 2026-07-13T10:20") from None


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) in _PORTS):
        raise argparse.ArgumentTypeError(f"{text} is no port; choose one from 1 to 65535")
    return int(text)


if __name__ == "__main__":
    main(sys.argv[1:])
