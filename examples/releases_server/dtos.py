"""What the tools answer about releases."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel

from mcpshape import Clip, Count, Notice, Prose
from releases_server.drafts import Reason
from releases_server.drafts import State as DraftState
from releases_server.lengths import Verdict

Preview = Annotated[str | None, Clip(60)]
Flag = Literal[True] | None
Kind = Literal["added", "changed"]
Why = Literal["empty_file", "unreadable", "first_version", "no_category", "same_but_spelling", "not_pulled"]


class Version(BaseModel):
    """One version on one platform.

    `state` is `live`, or as App Store Connect spells it. `phased` is null where it is for all users at once, else
    `planned`, `active`, `paused`, `complete`, or `unknown` where that was not pulled.
    """

    version: str | None
    platform: str | None
    state: str | None
    created: datetime | None
    scheduled: datetime | None
    phased: str | None
    phased_day: int | None
    phased_percent: int | None
    phased_paused_days: int | None
    phased_since: datetime | None


class App(BaseModel):
    """An app. `has_drafts` says that a metadata folder of it is known."""

    id: str
    bundle_id: str | None
    name: str | None
    removed_from_sale: Flag
    has_drafts: Flag
    older_versions: int | None
    versions: list[Version]


class Apps(BaseModel):
    issuer_id: str | None
    pulled_at: datetime | None
    total: Annotated[int, Count("apps")] = 0
    apps: list[App]


class Versions(BaseModel):
    app: str
    total: Annotated[int, Count("versions")] = 0
    versions: list[Version]


class Ignored(BaseModel):
    """Something in the metadata folder that is not read, and the name that it should probably have."""

    name: Annotated[str | None, Clip(100)]
    reason: Reason
    instead: str | None


class Entry(BaseModel):
    """One field in one locale; no locale where it is not localized.

    `length` counts the draft if there is one, else the pulled value; `bytes` are told of keywords alone.
    """

    locale: str | None
    field: str
    pulled: Preview
    draft: Preview
    file: DraftState
    dirty: Flag
    length: int | None
    limit: int | None
    over: Verdict | None
    bytes: int | None


class Whole(BaseModel):
    """One field in one locale, whole. Lengths are those of `draft` if there is one, else of `pulled`."""

    locale: str | None
    field: str
    file: DraftState
    dirty: Flag
    characters: int | None
    utf16_units: int | None
    bytes: int | None
    limit: int | None
    over: Verdict | None
    pulled: Annotated[str | None, Prose()]
    draft: Annotated[str | None, Prose()]


class Compared(BaseModel):
    """What drafts are compared with: a version, and the information that all versions of its app share."""

    app: str
    version: str | None
    platform: str | None
    state: str | None
    app_info_state: str | None
    is_editable: Flag
    draft_locales: list[str] | None
    ignored: Annotated[list[Ignored], Notice()] = []


class Metadata(Compared):
    total: Annotated[int, Count("entries")] = 0
    entries: list[Entry]
    whole: Annotated[Whole | None, Notice()] = None


class Change(BaseModel):
    """A text that deliver would upload."""

    locale: str | None
    field: str
    kind: Kind
    before: Preview
    after: Preview
    length: int
    limit: int | None
    over: Verdict | None


class Skipped(BaseModel):
    """A file that is there and of which nothing would be uploaded."""

    locale: str | None
    field: str
    reason: Why


class Line(BaseModel):
    op: Literal["kept", "removed", "added", "left_out"]
    text: str | None


class Diff(Compared):
    total: Annotated[int, Count("changes")] = 0
    changes: list[Change]
    skipped: list[Skipped]
    new_locales: Annotated[list[str], Notice()] = []
    lines: Annotated[list[Line], Notice()] = []
