"""The command `mcpshape-releases`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from mcpshape import UserError
from releases_server.choice import Folder
from releases_server.config import Config, read_own
from releases_server.connect import Connect
from releases_server.doctor import examine
from releases_server.pull import Report, pull
from releases_server.server import PREFIX, build
from releases_server.store import Store
from serving.arguments import add_answers, folder
from serving.command import Command, UnusableError


def main() -> None:
    """Serve releases over stdio or HTTP until the client goes away, pull them, or examine what there is."""
    COMMAND.run()


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        type=Path,
        help="the folder with what was pulled (default: that of the settings, or a sample account)",
    )
    parser.add_argument(
        "--metadata",
        type=_metadata,
        action="append",
        default=[],
        metavar="APP=FOLDER",
        help="the metadata folder of an app, by bundle id, id or name; may be repeated",
    )
    add_answers(parser)


def _config(options: argparse.Namespace) -> Config:
    own = read_own(options.config)
    return Config(
        store=options.store or own.path(own.store),
        folders=[*options.metadata, *own.folders()],
        key=own.key(),
        api=own.api,
        only=own.only,
        settings=options.config,
        format=options.format,
        structured=options.structured,
    )


def _pull(config: Config, _arguments: Sequence[str]) -> int:
    """Pull, and say what came; 1 where it failed."""
    try:
        report = anyio.run(_pulled, config)
    except UserError as error:
        print(f"{error} {error.hint or ''}".strip(), file=sys.stderr)
        return 1
    found = [(report.apps, "app"), (report.versions, "version"), (report.localizations, "localization")]
    apps, versions, localizations = (f"{count} {what}{'' if count == 1 else 's'}" for count, what in found)
    print(f"Pulled {apps}, {versions} and {localizations}.")
    left = "" if report.remaining is None else f"; {report.remaining} are left within the hour"
    print(f"{report.requests} requests{left}.")
    return 0


async def _pulled(config: Config) -> Report:
    if not config.key:
        raise UnusableError("there is no key; name key_file, key_id and issuer_id in a settings file, with --config")
    if not config.store:
        raise UnusableError("there is no store; name its folder with --store, or with store in the settings file")
    async with Connect(config.key, api=config.api) as connect:
        return await pull(Store(config.store), connect, issuer_id=config.key.issuer_id, only=config.only)


def _metadata(text: str) -> Folder:
    app, equals, path = text.partition("=")
    if not app or not equals:
        raise argparse.ArgumentTypeError(f"{text} names no app; write com.example.app=fastlane/metadata")
    return Folder(app, folder(path))


COMMAND = Command(
    name="mcpshape-releases",
    description=(
        "App Store releases as an MCP server: what App Store Connect has, and what fastlane drafts would change. With "
        "pull, it fills the store from App Store Connect. With doctor, it checks store, key and drafts, shows what a "
        "host would see of them, and how to add the server to a host."
    ),
    epilog=(
        f"Options go before environment variables ({PREFIX}FORMAT and so on), and these before the settings file. The "
        "key of App Store Connect stands in the settings file: key_file, key_id, issuer_id."
    ),
    add_options=_add_options,
    configure=_config,
    build=build,
    verbs={"pull": _pull, "doctor": examine},
)

if __name__ == "__main__":
    main()
