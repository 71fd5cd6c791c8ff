"""What a model may ask about releases."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field as Argument

from mcpshape import Chars, Shape
from mcpshape.encoders import Toon
from releases_server.choice import Folder, choose, find_app
from releases_server.dtos import Apps, Diff, Metadata, Versions
from releases_server.page import Page, open_page
from releases_server.pulled import Pulled
from releases_server.releases import make_apps, make_diff, make_metadata, make_version
from releases_server.samples import LUMEN, sample_folders, sample_pulled

_BUDGET, _TEXT_BUDGET = Chars(8000), Chars(20000)

shape = Shape(encoder=Toon())

Id = Annotated[str, Argument(min_length=1, description="An app by id, bundle id or name, from list_apps.")]
Platform = Annotated[str | None, Argument(description="IOS unless said, where the app is on several.")]
Number = Annotated[
    str | None,
    Argument(description="A version number, or live. Unless said, the one that is worked on, else the live."),
]
Locale = Annotated[str | None, Argument(description="Such as en-US. Without it also what is not localized.")]
Name = Annotated[str | None, Argument(description="Such as description, release_notes or keywords.")]


def sampled(tool: str, **arguments: Any) -> Callable[[], Any]:
    """What a tool returns for the sample account."""
    return lambda: shape.tools[tool].function(ReleaseTools(sample_pulled(), sample_folders()), **arguments)


@dataclass(frozen=True, slots=True)
class ReleaseTools:
    """The tools of one store and its metadata folders."""

    pulled: Pulled
    folders: Sequence[Folder] = ()

    @shape.tool(
        page="apps",
        budget=_BUDGET,
        ask={"format"},
        empty=(
            "No apps and no pulled_at mean that none have been pulled yet: ask the user to run `mcpshape-releases "
            "pull`. No apps with a pulled_at mean that the key of the user may see none."
        ),
        example=sampled("list_apps"),
    )
    def list_apps(self) -> Apps:
        """List all apps as of pulled_at, each with its versions by platform, newest first.

        State is live, or as App Store Connect spells it. Phased is how a version goes out to users over 7 days:
        planned, active, paused or complete, with the day and the percentage of users while under way; {null} means to
        all at once, unknown that it was not pulled. Versions that are not listed are counted as older_versions.
        """
        pulled = self.pulled.pinned()
        return make_apps(pulled.account(), pulled.apps(), self.folders)

    @shape.tool(
        page="versions",
        budget=_BUDGET,
        ask={"format"},
        empty="No versions mean that the app has none on that platform.",
        example=sampled("list_versions", app=LUMEN),
    )
    def list_versions(self, app: Id, platform: Platform = None) -> Versions:
        """List all versions of an app, newest first, with the {fields} that list_apps has of them."""
        found = find_app(self.pulled.apps(), app)
        wanted = choose(found, platform, None).platform if platform else None
        versions = [make_version(each) for each in found.versions if wanted in {None, each.platform}]
        return Versions(app=found.bundle_id or found.id, versions=versions)

    @shape.tool(
        page="entries",
        limit=30,
        budget=_TEXT_BUDGET,
        ask={"format"},
        empty="No {entries} mean that neither side has anything for what was asked.",
        example=sampled("get_metadata", app=LUMEN),
    )
    def get_metadata(
        self, app: Id, locale: Locale = None, field: Name = None, platform: Platform = None, version: Number = None
    ) -> Metadata:
        """Get the texts of a store page: one {entry} for each locale and field, pulled value and draft.

        Texts are cut to 60 characters; with locale and field, whole has both in full. Draft is the file for fastlane
        deliver, without space around it. File is text, empty (deliver skips it; nothing is cleared), absent, default
        (the text of the folder default stands in), or unreadable. Dirty means that the draft differs. Length counts
        what a person sees as one character, in the draft if there is one; may_be_over means that Apple, whose counting
        is not documented, may count more than the limit. Without draft_locales no metadata folder of the app is known.
        Ignored names what is in the folder and is not read, and the name it should probably have; folders for Google
        Play (android) are not supported and never read.
        """
        return make_metadata(self._page(app, locale, field, platform, version))

    @shape.tool(
        page="changes",
        limit=30,
        budget=_TEXT_BUDGET,
        ask={"format"},
        empty="No changes mean that an upload would change nothing; skipped says which files it passes over, and why.",
        example=sampled("get_diff", app=LUMEN),
    )
    def get_diff(
        self, app: Id, locale: Locale = None, field: Name = None, platform: Platform = None, version: Number = None
    ) -> Diff:
        """Get what fastlane deliver would upload: one {entry} for each text that it would add or change.

        An upload never clears a text: empty and absent files change nothing. Before and after are cut to 60 characters,
        from the first line on that differs; with locale and field, lines has all lines that change. Without is_editable
        there is no version that takes an upload now, without draft_locales no metadata folder. New_locales are pages
        that an upload would open.
        """
        return make_diff(self._page(app, locale, field, platform, version))

    def _page(self, app: str, locale: str | None, field: str | None, platform: str | None, version: str | None) -> Page:
        return open_page(self.pulled, self.folders, app, locale=locale, field=field, platform=platform, version=version)
