"""Checks the store, the key and every metadata folder, and shows what a host would see of them."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from mcpshape import UserError
from releases_server.choice import Folder
from releases_server.config import Config
from releases_server.drafts import read_drafts
from releases_server.keys import Tokens
from releases_server.server import build
from serving.arguments import resolved
from serving.doctor import Doctor, Line, Question

_METADATA = "--metadata"


def examine(config: Config, arguments: Sequence[str]) -> int:
    """Print all that is to be known before the server is used; 1 where something cannot be read, else 0."""
    apps = [each.app for each in config.known_folders[:1]]
    doctor = Doctor(
        name="releases",
        command="mcpshape-releases",
        module="releases_server.cli",
        build=lambda: build(config),
        questions=[Question("list_apps", {}), *(Question("get_diff", {"app": app}) for app in apps)],
        heading="Releases",
        read=lambda: [*_lines(config)],
    )
    return doctor.examine(whole_paths(arguments))


def whole_paths(arguments: Sequence[str]) -> list[str]:
    """The same arguments with whole paths: hosts start a server in folders of their own."""
    return [*_whole(resolved(arguments, ("--store", "--config")))]


def _lines(config: Config) -> Iterator[Line]:
    yield _store_line(config)
    if config.key:
        yield _key_line(config)
    for each in config.known_folders:
        yield _folder_line(each)


def _store_line(config: Config) -> Line:
    if not config.store and not config.is_sample:
        return Line("store", "ok", "there is none; drafts are compared with nothing")
    try:
        account, apps = config.pulled.account(), config.pulled.apps()
    except UserError as error:
        return _trouble("store", error)
    if not apps and account.pulled_at is None:
        return Line("store", "empty", "Run mcpshape-releases pull.")
    return Line("store", "ok", f"{_counted(len(apps), 'app')}, pulled {account.pulled_at or 'by hand'}")


def _key_line(config: Config) -> Line:
    try:
        if config.key:
            Tokens(config.key, time.time).current()
    except UserError as error:
        return _trouble("key", error)
    return Line("key", "ok", "makes tokens; nothing was sent")


def _folder_line(folder: Folder) -> Line:
    try:
        drafts = read_drafts(folder.path)
    except UserError as error:
        return _trouble(folder.app, error)
    ignored = f", {len(drafts.ignored)} ignored" if drafts.ignored else ""
    return Line(folder.app, "ok", f"drafts in {_counted(len(drafts.locales), 'locale')}{ignored}")


def _trouble(label: str, error: UserError) -> Line:
    return Line(label, error.code or "unusable", f"{error} {error.hint}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _whole(arguments: Sequence[str]) -> Iterator[str]:
    """The same arguments with whole paths of metadata folders."""
    before = ""
    for each in arguments:
        option, given, text = each.partition("=") if each.startswith(f"{_METADATA}=") else ("", "", each)
        app, equals, path = text.partition("=")
        is_folder = equals and (given or before == _METADATA)
        yield f"{option}{given}{app}={Path(path).resolve()}" if is_folder else each
        before = each
