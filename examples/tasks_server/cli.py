"""The command `mcpshape-tasks`."""

import argparse
import atexit
from contextlib import ExitStack

from mcp.server.mcpserver import MCPServer

from calendar_data.components import TASKS
from calendar_data.health import require_readable
from serving.arguments import add_answers, add_clock, add_ics, clock
from serving.command import Command
from tasks_server.config import Config, read_own
from tasks_server.doctor import examine
from tasks_server.samples import sample_file
from tasks_server.server import PREFIX, build


def main() -> None:
    """Serve task lists over stdio or HTTP until the client goes away, or examine them."""
    COMMAND.run()


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_ics(parser, "a copy of two sample lists")
    add_answers(parser)
    add_clock(parser)


def _config(options: argparse.Namespace) -> Config:
    own = read_own(options.config)
    zone, now = clock(options, own.zone)
    sources = own.looked()
    if not options.ics and not sources:
        # Completing a task of the sample must not change what is installed.
        stack = ExitStack()
        atexit.register(stack.close)
        options.ics = [stack.enter_context(sample_file())]
    return Config(
        ics=options.ics,
        sources=sources,
        zone=zone,
        now=now,
        settings=options.config,
        format=options.format,
        structured=options.structured,
    )


def _served(config: Config) -> MCPServer:
    require_readable(config.looked(), TASKS)
    return build(config)


COMMAND = Command(
    name="mcpshape-tasks",
    description=(
        "Task lists as an MCP server: tasks are listed, read with their notes, completed and reopened, in .ics files "
        "and in CalDAV accounts. With doctor, it checks every list, shows what a host would see of them, and how to "
        "add the server to a host."
    ),
    epilog=(
        f"Options go before environment variables ({PREFIX}FORMAT and so on), and these before the settings file. "
        f"{PREFIX}SECRET keeps ids the same across restarts and replicas. CalDAV accounts stand in the settings file, "
        "or in CALDAV_URL, CALDAV_USERNAME and CALDAV_PASSWORD or CALDAV_TOKEN."
    ),
    add_options=_add_options,
    configure=_config,
    build=_served,
    verbs={"doctor": examine},
)

if __name__ == "__main__":
    main()
