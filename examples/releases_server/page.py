"""The store page that a question is about: what was pulled of it, its drafts, and both side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from mcpshape import UserError
from releases_server.choice import Chosen, Folder, choose, find_app, folder_of
from releases_server.comparison import Row, compare
from releases_server.drafts import Drafts, read_drafts
from releases_server.fields import find_field
from releases_server.locales import LOCALES, locale_of, suggest_locale
from releases_server.pulled import Pulled, Texts


@dataclass(frozen=True, slots=True)
class Page:
    """What was chosen, the drafts if a folder of the app is known, and the fields that were asked for."""

    chosen: Chosen
    drafts: Drafts | None
    texts: Texts
    rows: Sequence[Row]
    is_one_field: bool

    @property
    def one(self) -> Row | None:
        """The one field in one locale that was asked for."""
        return self.rows[0] if self.is_one_field and len(self.rows) == 1 else None

    @property
    def new_locales(self) -> list[str]:
        """The locales that have a folder, and no page yet."""
        if self.drafts is None or not self.texts.read:
            return []
        return [each for each in self.drafts.locales if each not in self.texts.locales]


def open_page(
    pulled: Pulled,
    folders: Sequence[Folder],
    app: str,
    *,
    locale: str | None,
    field: str | None,
    platform: str | None,
    version: str | None,
) -> Page:
    """Find a page and compare it with its drafts.

    Raises:
        UserError: There is no such app, platform, version, locale or field, its texts were not pulled, or its drafts
            cannot be read.
    """
    pulled = pulled.pinned()
    chosen = choose(find_app(pulled.apps(), app, folders), platform, version)
    texts = pulled.texts(chosen.version, chosen.info)
    if version is not None and "version_text" not in texts.read:
        raise UserError(
            "The texts of this version were not pulled.",
            hint="Ask without version; a pull brings the texts of versions that are live or worked on.",
            code="not_pulled",
        )
    folder = folder_of(folders, chosen.app, chosen.platform)
    drafts = read_drafts(folder, texts.locales) if folder else None
    rows = compare(texts, drafts or Drafts(), is_first=chosen.is_first)
    return Page(chosen, drafts, texts, _asked(rows, texts, locale, field), field is not None)


def _asked(rows: Sequence[Row], texts: Texts, locale: str | None, name: str | None) -> list[Row]:
    field = find_field(name) if name is not None else None
    wanted = _locale(locale, texts) if locale is not None else None
    if field and not field.is_localized:
        wanted = None
    return [row for row in rows if field in {None, row.field} and wanted in {None, row.locale}]


def _locale(wanted: str, texts: Texts) -> str:
    if found := locale_of(wanted, texts.locales):
        return found
    meant = suggest_locale(wanted)
    hint = f"Ask for {meant}." if meant else f"Ask for one of {', '.join(LOCALES)}."
    raise UserError("There is no such locale.", hint=hint, code="unknown_locale")
