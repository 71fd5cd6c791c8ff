"""The command `mcpshape-search`."""

import argparse
from pathlib import Path

from search_server.config import Config, labelled, read_own, require_usable
from search_server.doctor import examine
from search_server.samples import SAMPLE
from search_server.server import PREFIX, build
from search_server.store import has_fts5
from serving.arguments import add_answers, folder
from serving.command import Command, UnusableError


def main() -> None:
    """Serve documents over stdio or HTTP until the client goes away, or examine them."""
    COMMAND.run()


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--docs",
        type=folder,
        action="append",
        default=[],
        help="a folder of Markdown, HTML and text; may be repeated (default: sample documents)",
    )
    parser.add_argument(
        "--index", type=Path, help="a file to keep the index in from one start to the next (default: a temporary one)"
    )
    add_answers(parser)


def _config(options: argparse.Namespace) -> Config:
    if not has_fts5():
        raise UnusableError("the SQLite of this Python has no FTS5; use a Python that has it")
    own = read_own(options.config)
    index = options.index or own.kept_at()
    require_usable(index)
    return Config(
        folders=labelled(options.docs, own.listed()) or [SAMPLE],
        index=index,
        index_mb=own.index_mb,
        settings=options.config,
        format=options.format,
        structured=options.structured,
        warm=True,
    )


COMMAND = Command(
    name="mcpshape-search",
    description=(
        "A folder of documents as an MCP server: full-text search, and documents in pages. With doctor, it reads every "
        "folder, shows what a host would see, and how to add the server to a host."
    ),
    epilog=(
        f"Options go before environment variables ({PREFIX}FORMAT and so on), and these before the settings file. "
        f"{PREFIX}SECRET keeps document ids the same across restarts and replicas."
    ),
    add_options=_add_options,
    configure=_config,
    build=build,
    verbs={"doctor": examine},
)

if __name__ == "__main__":
    main()
