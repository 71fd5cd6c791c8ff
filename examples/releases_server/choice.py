"""Which app, version and app information a question is about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcpshape import UserError
from releases_server.pulled import App, Info, Version
from releases_server.states import LIVE, is_editable, is_ended

_USUAL_PLATFORM = "IOS"
_MOST_NAMED = 10
# What deliver calls the platforms, and people do.
_SPELLED = {"mac": "macos", "osx": "macos", "appletvos": "tvos", "xros": "visionos"}


@dataclass(frozen=True, slots=True)
class Folder:
    """A metadata folder, and the app that it is of: an id, a bundle id or a name. Without platform it is of all."""

    app: str
    path: Path = field(repr=False)
    platform: str | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is compared with drafts: a version, if the app has one, and the information of its app."""

    app: App
    platform: str | None
    version: Version | None
    info: Info | None

    @property
    def is_editable(self) -> bool:
        """Whether there is a version that takes texts."""
        return self.version is not None and self.version.is_editable

    @property
    def is_first(self) -> bool:
        """Whether a first version is worked on: there is no other on the platform, and it has no release notes."""
        is_live = self.version is not None and self.version.state == LIVE
        return not is_live and len([each for each in self.app.versions if each.platform == self.platform]) == 1


def find_app(apps: Sequence[App], wanted: str, folders: Sequence[Folder] = ()) -> App:
    """The app with an id, a bundle id or a name; one that has only drafts is known by what its folder is said to be of.

    Raises:
        UserError: There is none, or there are several.
    """
    found = _closest([app for app in apps if _is_called(app, wanted)], wanted)
    drafted = [each.app for each in folders if each.app.casefold() == wanted.casefold()]
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError("Several apps have this name.", hint=f"Ask for one of {_named(found)}.", code="several_apps")
    if drafted:
        return App(drafted[0], None, None, (), ())
    if not apps:
        raise UserError(
            "No apps have been pulled yet.", hint="Ask the user to run `mcpshape-releases pull`.", code="nothing_pulled"
        )
    raise UserError("There is no such app.", hint=f"Ask for one of {_named(apps)}.", code="unknown_app")


def folder_of(folders: Sequence[Folder], app: App, platform: str | None) -> Path | None:
    """The metadata folder of an app, for a platform if there is one for it alone."""
    of_app = [each for each in folders if _is_called(app, each.app)]
    fitting = [each for each in of_app if each.platform is None or _plain(each.platform) == _plain(platform)]
    fitting.sort(key=lambda each: (each.app not in {app.id, app.bundle_id, app.name}, each.platform is None))
    return fitting[0].path if fitting else None


def choose(app: App, platform: str | None, number: str | None) -> Chosen:
    """The version that is asked for, else the one to upload to, else the one under review, else the live one.

    A version that only one platform has is found without that platform being named.

    Raises:
        UserError: The app has no such version or platform.
    """
    platform = _platform(app, platform or _only_platform(app, number))
    versions = [each for each in app.versions if each.platform == platform]
    if number is None:
        version = min(versions, key=_urgency, default=None)
    else:
        asked = [each for each in versions if number.casefold() in _names(each)]
        if not asked:
            known = ", ".join(str(each.number) for each in versions[:_MOST_NAMED])
            hint = f"Ask for one of {known}." if known else "The app has no version yet; ask without one."
            raise UserError("There is no such version.", hint=hint, code="unknown_version")
        version = asked[0]
    return Chosen(app, platform, version, _info(app.infos, version))


def _is_called(app: App, wanted: str) -> bool:
    return wanted.casefold() in {(each or "").casefold() for each in (app.id, app.bundle_id, app.name)} - {""}


def _closest(found: Sequence[App], wanted: str) -> Sequence[App]:
    """Of several apps the one that is called exactly so, by id first; bundle ids may differ in case alone."""
    for names in ([app.id for app in found], [app.bundle_id for app in found]):
        if names.count(wanted) == 1:
            return [found[names.index(wanted)]]
    return found


def _named(apps: Sequence[App]) -> str:
    return ", ".join(app.bundle_id or app.id for app in apps[:_MOST_NAMED])


def _only_platform(app: App, number: str | None) -> str | None:
    """The platform of the only version that has a number."""
    found = [each.platform for each in app.versions if number and (each.number or "").casefold() == number.casefold()]
    return found[0] if len(found) == 1 else None


def _plain(platform: str | None) -> str:
    plain = (platform or "").replace("_", "").casefold()
    return _SPELLED.get(plain, plain)


def _platform(app: App, wanted: str | None) -> str | None:
    known = list(dict.fromkeys(each.platform for each in app.versions))
    if not known:
        return wanted
    if wanted is None:
        if len(known) == 1:
            return known[0]
        if _USUAL_PLATFORM in known:
            return _USUAL_PLATFORM
    for each in known:
        if each and wanted and _plain(each) == _plain(wanted):
            return each
    named = ", ".join(str(each) for each in known if each) or "none yet"
    said = "The app has no such platform." if wanted else "The app is on several platforms."
    raise UserError(said, hint=f"Its platforms: {named}.", code="unknown_platform")


def _names(version: Version) -> set[str]:
    return {each.casefold() for each in (version.number, version.state) if each}


def _urgency(version: Version) -> int:
    ranks: Sequence[Callable[[Version], bool]] = (
        lambda each: each.is_editable,
        lambda each: each.state != LIVE and not each.is_ended,
        lambda each: each.state == LIVE,
    )
    return next((place for place, fits in enumerate(ranks) if fits(version)), len(ranks))


def _info(infos: Sequence[Info], version: Version | None) -> Info | None:
    """The live information for the live version, the one that is being changed for all others."""
    wants_live = version is not None and version.state == LIVE

    def rank(info: Info) -> tuple[bool, bool, bool]:
        is_live = info.state == LIVE
        return is_ended(info.state), is_live != wants_live, not is_editable(info.state)

    return min(infos, key=rank, default=None)
