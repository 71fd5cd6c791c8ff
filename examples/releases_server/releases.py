"""Makes the answers of the tools out of what was pulled and drafted."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TypedDict

from mcpshape import UserError
from releases_server import dtos, pulled
from releases_server.choice import Folder, folder_of
from releases_server.comparison import Row, compare_lines, from_difference
from releases_server.page import Page

_MOST_VERSIONS = 20


class Header(TypedDict):
    """What every answer about texts says of what they belong to."""

    app: str
    version: str | None
    platform: str | None
    state: str | None
    app_info_state: str | None
    is_editable: dtos.Flag
    draft_locales: list[str] | None
    ignored: list[dtos.Ignored]


def make_apps(account: pulled.Account, apps: Sequence[pulled.App], folders: Sequence[Folder]) -> dtos.Apps:
    """All apps of an account."""
    return dtos.Apps(
        issuer_id=account.issuer_id,
        pulled_at=moment(account.pulled_at),
        apps=[_make_app(app, folders) for app in apps],
    )


def _make_app(app: pulled.App, folders: Sequence[Folder]) -> dtos.App:
    """An app with its newest versions, and all those that matter now."""
    shown = [each for place, each in enumerate(app.versions) if place < _MOST_VERSIONS or not each.is_ended]
    return dtos.App(
        id=app.id,
        bundle_id=app.bundle_id,
        name=app.name,
        removed_from_sale=any(each.is_removed for each in app.versions) or None,
        has_drafts=_has_drafts(app, folders) or None,
        older_versions=len(app.versions) - len(shown) or None,
        versions=[make_version(each) for each in shown],
    )


def _has_drafts(app: pulled.App, folders: Sequence[Folder]) -> bool:
    platforms = {each.platform for each in app.versions} or {None}
    return any(folder_of(folders, app, each) for each in platforms)


def make_version(version: pulled.Version) -> dtos.Version:
    """A version with its phased release."""
    phase = version.phase
    return dtos.Version(
        version=version.number,
        platform=version.platform,
        state=version.state,
        created=moment(version.created),
        scheduled=moment(version.scheduled),
        phased=phase.state if phase else None,
        phased_day=phase.day if phase else None,
        phased_percent=phase.percent if phase else None,
        phased_paused_days=phase.paused_days if phase else None,
        phased_since=moment(phase.since) if phase else None,
    )


def moment(text: str | None) -> datetime | None:
    """A time as the API writes it; what is none is not told."""
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return found if found.tzinfo else None


def make_metadata(page: Page) -> dtos.Metadata:
    """All fields of a page, and the one that was asked for whole.

    Raises:
        UserError: It cannot be read.
    """
    one = page.one
    if one and one.draft.state == "unreadable":
        raise UserError("The file of this draft cannot be read.", hint="Ask without field; ignored then says why.")
    return dtos.Metadata(
        **_header(page),
        entries=[_make_entry(row) for row in page.rows],
        whole=_make_whole(one) if one else None,
    )


def make_diff(page: Page) -> dtos.Diff:
    """What an upload would change, and the lines of the field that was asked for."""
    one = page.one
    return dtos.Diff(
        **_header(page),
        changes=[change for row in page.rows for change in _make_changes(row)],
        skipped=[
            dtos.Skipped(locale=row.locale, field=row.field.name, reason=row.skipped)
            for row in page.rows
            if row.skipped
        ],
        new_locales=page.new_locales,
        lines=[*compare_lines(one.pulled or "", one.draft.text or "")] if one and one.kind else [],
    )


def _header(page: Page) -> Header:
    """What an answer about texts says of what they belong to."""
    chosen, drafts = page.chosen, page.drafts
    version = chosen.version
    return {
        "app": chosen.app.bundle_id or chosen.app.id,
        "version": version.number if version else None,
        "platform": chosen.platform,
        "state": version.state if version else None,
        "app_info_state": chosen.info.state if chosen.info else None,
        "is_editable": chosen.is_editable or None,
        "draft_locales": [*drafts.locales] if drafts else None,
        "ignored": [
            dtos.Ignored(name=each.name, reason=each.reason, instead=each.instead)
            for each in (drafts.ignored if drafts else ())
        ],
    }


def _make_entry(row: Row) -> dtos.Entry:
    counted = row.measure
    return dtos.Entry(
        locale=row.locale,
        field=row.field.name,
        pulled=row.pulled,
        draft=row.draft.text,
        file=row.draft.state,
        dirty=row.is_dirty or None,
        length=counted.characters if counted else None,
        limit=row.field.limit,
        over=counted.verdict(row.field.limit) if counted else None,
        bytes=counted.utf8 if counted and row.field.name == "keywords" else None,
    )


def _make_whole(row: Row) -> dtos.Whole:
    counted = row.measure
    return dtos.Whole(
        locale=row.locale,
        field=row.field.name,
        file=row.draft.state,
        dirty=row.is_dirty or None,
        characters=counted.characters if counted else None,
        utf16_units=counted.utf16 if counted else None,
        bytes=counted.utf8 if counted else None,
        limit=row.field.limit,
        over=counted.verdict(row.field.limit) if counted else None,
        pulled=row.pulled,
        draft=row.draft.text,
    )


def _make_changes(row: Row) -> Iterator[dtos.Change]:
    counted = row.measure
    if row.kind and counted and row.draft.text:
        before, after = from_difference(row.pulled or "", row.draft.text)
        yield dtos.Change(
            locale=row.locale,
            field=row.field.name,
            kind=row.kind,
            before=before or None,
            after=after,
            length=counted.characters,
            limit=row.field.limit,
            over=counted.verdict(row.field.limit),
        )
