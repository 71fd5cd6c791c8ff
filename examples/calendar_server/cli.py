"""The command `mcpshape-calendar`."""

import argparse

from mcp.server.mcpserver import MCPServer

from calendar_data.components import EVENTS
from calendar_data.health import require_readable
from calendar_server.config import Config, read_own
from calendar_server.doctor import examine
from calendar_server.dtos import policy
from calendar_server.samples import OWNER, SAMPLE
from calendar_server.server import PREFIX, build
from serving.arguments import add_answers, add_clock, add_ics, clock
from serving.command import Command


def main() -> None:
    """Serve calendars over stdio or HTTP until the client goes away, or examine them."""
    COMMAND.run()


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_ics(parser, "a sample week from 2026-07-13")
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
    add_answers(parser)
    add_clock(parser)
    parser.add_argument(
        "--allow-open",
        action="store_true",
        help="let open_video_meeting open links of known video services in the browser of this machine",
    )


def _config(options: argparse.Namespace) -> Config:
    own = read_own(options.config)
    zone, now = clock(options, own.zone)
    sources = own.looked()
    is_sample = not options.ics and not sources
    return Config(
        ics=[SAMPLE] if is_sample else options.ics,
        sources=sources,
        zone=zone,
        me=[OWNER] if is_sample and not options.me else [*options.me, *own.me],
        now=now,
        settings=options.config,
        privacy=options.privacy,
        toggles=dict(options.toggle),
        format=options.format,
        structured=options.structured,
        allow_open=options.allow_open,
        warm=True,
    )


def _served(config: Config) -> MCPServer:
    require_readable(config.looked(), EVENTS)
    return build(config)


def _toggle(text: str) -> tuple[str, bool]:
    name, _, state = text.partition("=")
    if state not in {"on", "off"}:
        raise argparse.ArgumentTypeError(
            f"{text} is no toggle; write one of {', '.join(policy.toggles)} with =on or =off"
        )
    return name, state == "on"


COMMAND = Command(
    name="mcpshape-calendar",
    description=(
        "Calendars as an MCP server, with four privacy levels. With doctor, it checks every calendar, shows what a "
        "host would see of them, and how to add the server to a host."
    ),
    epilog=(
        f"Options go before environment variables ({PREFIX}LEVEL and so on), and these before the settings file. "
        f"{PREFIX}SECRET keeps event ids the same across restarts and replicas. CalDAV accounts stand in the "
        "settings file, or in CALDAV_URL, CALDAV_USERNAME and CALDAV_PASSWORD or CALDAV_TOKEN."
    ),
    add_options=_add_options,
    configure=_config,
    build=_served,
    verbs={"doctor": examine},
)

if __name__ == "__main__":
    main()
