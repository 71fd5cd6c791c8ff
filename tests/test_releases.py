"""The releases server, asked by a real client about stores and metadata folders."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer

from app_store import (
    Account,
    app,
    info,
    info_texts,
    phase,
    small_account,
    version,
    version_texts,
)
from mcpshape.testing import decode
from releases_server import Config, build
from releases_server.choice import Folder
from releases_server.samples import LUMEN

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]

APP = "com.example.lumen"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def config(store: Path, metadata: Path | None = None, **options: Any) -> Config:
    folders = (Folder(APP, metadata),) if metadata else ()
    return Config(store=store, folders=folders, **options)


@cache
def server(configured: Config) -> MCPServer:
    return build(configured)


async def call(configured: Config, tool: str, **arguments: Any) -> Any:
    async with Client(server(configured)) as client:
        return await client.call_tool(tool, arguments)


async def ask(configured: Config, tool: str, **arguments: Any) -> Any:
    result = await call(configured, tool, **arguments)
    assert not result.is_error, result.content
    return decode(result)


async def pages(configured: Config, tool: str, rows: str, **arguments: Any) -> list[Any]:
    """All rows of a list, from all of its pages."""
    found: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await ask(configured, tool, **arguments, **cursor)
        found += answer[rows]
        if not answer["page"]["next"]:
            assert len(found) == answer["total"]
            return found
        cursor = {"cursor": answer["page"]["next"]}


async def refused(configured: Config, tool: str, **arguments: Any) -> str:
    result = await call(configured, tool, **arguments)
    assert result.is_error
    assert result.structured_content is None
    (block,) = result.content
    return str(block.text)


async def metadata(tmp_path: Path, files: Mapping[str, str | bytes], account: Account, **asked: Any) -> Any:
    """What get_metadata says of some files beside an account."""
    configured = config(account.write(tmp_path / "store"), write(tmp_path / "metadata", files))
    return await ask(configured, "get_metadata", app=APP, **asked)


async def diff(tmp_path: Path, files: Mapping[str, str | bytes], account: Account, **asked: Any) -> Any:
    """What get_diff says of some files beside an account."""
    configured = config(account.write(tmp_path / "store"), write(tmp_path / "metadata", files))
    return await ask(configured, "get_diff", app=APP, **asked)


def entry(answer: Any, locale: str | None, field: str) -> Any:
    (found,) = [each for each in answer["entries"] if (each["locale"], each["field"]) == (locale, field)]
    return found


def one_app(versions: list[Any], included: list[Any] | None = None) -> Account:
    """An app that has these versions, and nothing else."""
    path = "v1/apps/1/appStoreVersions"
    return Account({"v1/apps": [app("1", "Lumen", APP)], path: versions}, {path: included or []})


async def versions_of(tmp_path: Path, account: Account) -> list[Any]:
    answer = await ask(config(account.write(tmp_path / "store")), "list_apps")
    return list(answer["apps"][0]["versions"])


# The cases that were given.


async def test_an_empty_file_is_no_absent_file_and_clears_nothing(tmp_path: Path) -> None:
    """F01: deliver strips what it reads and skips what is then empty."""
    files = {"en-US/subtitle.txt": "", "en-US/promotional_text.txt": " \n", "en-US/name.txt": "App\n"}
    account = small_account(
        v1__appInfos__i1__appInfoLocalizations=info_texts(en_US={"name": "App", "subtitle": "Old"}),
        v1__appStoreVersions__v2__appStoreVersionLocalizations=version_texts(en_US={"promotionalText": "Old promo"}),
    )
    answer = await metadata(tmp_path, files, account)
    name = entry(answer, "en-US", "name")
    assert (name["draft"], name["file"], name["dirty"], name["length"]) == ("App", "text", None, 3)
    for field, pulled in (("subtitle", "Old"), ("promotional_text", "Old promo")):
        empty = entry(answer, "en-US", field)
        assert (empty["pulled"], empty["draft"], empty["file"], empty["dirty"]) == (pulled, None, "empty", None)
    changes = await diff(tmp_path, files, account)
    assert changes["changes"] == []
    assert changes["skipped"] == [
        {"locale": "en-US", "field": "subtitle", "reason": "empty_file"},
        {"locale": "en-US", "field": "promotional_text", "reason": "empty_file"},
    ]


async def test_folders_that_are_no_locales_are_named_and_never_read_as_one(tmp_path: Path) -> None:
    """F03: wrong codes are told with the right one; the letter case does not count; other folders are no locales."""
    files = {
        "ar/name.txt": "a",
        "ar-SA/name.txt": "b",
        "EN-us/name.txt": "c",
        "en_US/name.txt": "d",
        "appleTV/en-US/x.txt": "",
        "iMessage/en-US/x.txt": "",
        "android/en-US/title.txt": "e",
        "trade_representative_contact_information/city.txt": "f",
        "copyright.txt": "2026 Co",
    }
    answer = await metadata(tmp_path, files, small_account())
    assert answer["draft_locales"] == ["ar-SA", "en-US"]
    assert answer["ignored"] == [
        {"name": "android", "reason": "google_play", "instead": None},
        {"name": "ar", "reason": "no_locale", "instead": "ar-SA"},
        {"name": "en_US", "reason": "no_locale", "instead": "en-US"},
    ]
    drafts = {(each["locale"], each["field"]): each["draft"] for each in answer["entries"] if each["draft"]}
    assert drafts == {("ar-SA", "name"): "b", ("en-US", "name"): "c", (None, "copyright"): "2026 Co"}


async def test_lengths_are_those_a_person_counts_and_doubt_is_said(tmp_path: Path) -> None:
    """F05: keywords are counted in characters, bytes are told beside them; emoji near a limit may be over."""
    arabic = "تقويم,مهام,تذكير,اجتماع,مواعيد,عائلة,مشاركة,يومي,عمل,جدول,وقت,تنظيم,خصوصية\n"
    files = {"ar-SA/keywords.txt": arabic, "en-US/name.txt": "👨‍👩‍👧 Family Planner for all of us"}
    answer = await metadata(tmp_path, files, small_account())
    keywords = entry(answer, "ar-SA", "keywords")
    assert (keywords["length"], keywords["limit"], keywords["bytes"], keywords["over"]) == (74, 100, 136, None)
    name = entry(answer, "en-US", "name")
    assert (name["length"], name["limit"], name["over"]) == (30, 30, "may_be_over")
    assert name["draft"] == "👨‍👩‍👧 Family Planner for all of us"


LIMITS = {
    "ar-SA/name": ("x" * 30, None),
    "ca/name": ("x" * 31, "over"),
    "cs/subtitle": ("é" * 30, None),
    "da/subtitle": ("e\u0301" * 30, "may_be_over"),
    "de-DE/promotional_text": ("x" * 170, None),
    "el/promotional_text": ("👍🏽" * 170, "may_be_over"),
    "en-AU/keywords": ("日本" * 50, None),
    "en-CA/keywords": ("x" * 101, "over"),
    "fi/description": ("👍" * 22 + "x" * 3956, "may_be_over"),
    "fr-CA/description": ("x" * 3978, None),
    "fr-FR/description": ("x\n" * 1999 + "xx", "may_be_over"),
    "he/release_notes": ("x" * 4001, "over"),
}


async def test_a_limit_is_over_may_be_over_or_kept(tmp_path: Path) -> None:
    """F05, fastlane#19130: what fits only in one way of counting is said to be in doubt. Nothing is cut."""
    files = {f"{name}.txt": text for name, (text, _) in LIMITS.items()}
    answer = await metadata(tmp_path, files, small_account())
    drafts = {f"{each['locale']}/{each['field']}": each for each in answer["entries"] if each["file"] == "text"}
    assert {name: each["over"] for name, each in drafts.items()} == {name: over for name, (_, over) in LIMITS.items()}
    answer = await metadata(tmp_path, files, small_account(), locale="he", field="release_notes")
    assert answer["whole"]["draft"] == LIMITS["he/release_notes"][0]


async def test_a_version_is_live_whichever_attribute_says_so(tmp_path: Path) -> None:
    """F08: appVersionState and appStoreState spell it in two ways; a state that nobody knows passes as text."""
    account = one_app(
        [
            version("1", "2.4.0", appVersionState="READY_FOR_DISTRIBUTION"),
            version("2", "2.5.0", appStoreState="SOME_NEW_STATE"),
            version("3", "2.3.0", appStoreState="READY_FOR_SALE"),
        ]
    )
    versions = await versions_of(tmp_path, account)
    assert [(each["version"], each["state"]) for each in versions] == [
        ("2.5.0", "SOME_NEW_STATE"),
        ("2.4.0", "live"),
        ("2.3.0", "live"),
    ]
    assert versions[1]["created"] == "2026-02-01T09:00:00-08:00"


async def test_being_removed_from_sale_is_said_of_the_app(tmp_path: Path) -> None:
    """F08: it is no state of a version."""
    account = one_app([version("1", "2.4.0", appStoreState="DEVELOPER_REMOVED_FROM_SALE")])
    (found,) = (await ask(config(account.write(tmp_path)), "list_apps"))["apps"]
    assert found["removed_from_sale"] is True
    assert found["versions"][0]["state"] == "live"


PHASES: list[tuple[Any, tuple[Any, ...]]] = [
    (None, (None, None, None, None)),
    ({"phasedReleaseState": "INACTIVE", "currentDayNumber": None}, ("planned", None, None, None)),
    ({"phasedReleaseState": "INACTIVE"}, ("planned", None, None, None)),
    ({"phasedReleaseState": "ACTIVE", "currentDayNumber": 0}, ("active", None, None, None)),
    ({"phasedReleaseState": "ACTIVE", "currentDayNumber": 7, "totalPauseDuration": 0}, ("active", 7, 100, 0)),
    ({"phasedReleaseState": "PAUSED", "totalPauseDuration": 2, "currentDayNumber": 3}, ("paused", 3, 5, 2)),
    ({"phasedReleaseState": "COMPLETE", "currentDayNumber": 8}, ("complete", None, 100, None)),
    ({"phasedReleaseState": "SOMETHING_NEW", "currentDayNumber": 4}, ("SOMETHING_NEW", None, None, None)),
    ({"phasedReleaseState": "ACTIVE", "currentDayNumber": "4"}, ("active", None, None, None)),
    ({}, ("unknown", None, None, None)),
    *(
        ({"phasedReleaseState": "ACTIVE", "currentDayNumber": day}, ("active", day, percent, None))
        for day, percent in enumerate((1, 2, 5, 10, 20, 50, 100), 1)
    ),
]


async def test_phased_releases_are_told_apart(tmp_path: Path) -> None:
    """F10: none, planned, under way, paused and complete; days have percentages; what is null is null."""
    versions = [
        version(f"{place}", f"1.{place}", phase=None if attributes is None else f"p{place}")
        for place, (attributes, _) in enumerate(PHASES)
    ]
    phases = [phase(f"p{place}", **(attributes or {})) for place, (attributes, _) in enumerate(PHASES)]
    told = reversed(await versions_of(tmp_path, one_app(versions, phases)))
    names = ("phased", "phased_day", "phased_percent", "phased_paused_days")
    assert [tuple(each[name] for name in names) for each in told] == [expected for _, expected in PHASES]


async def test_a_phased_release_that_was_not_pulled_is_unknown(tmp_path: Path) -> None:
    """F10: an answer without the relationship says nothing; without what is included there is one all the same."""
    silent, dangling = version("1", "2.0"), version("2", "1.0", phase="gone")
    assert [each["phased"] for each in await versions_of(tmp_path, one_app([silent, dangling]))] == [
        "unknown",
        "unknown",
    ]


async def test_folders_of_google_play_are_ignored_and_said_to_be(tmp_path: Path) -> None:
    """F12: android is no locale of the App Store, whatever the case of its letters."""
    files = {"Android/en-US/changelogs/14.txt": "x" * 568, "Android/en-US/title.txt": "T"}
    answer = await metadata(tmp_path, files, small_account())
    assert answer["draft_locales"] == []
    assert [each["reason"] for each in answer["ignored"]] == ["google_play"]
    assert not [each for each in answer["entries"] if each["draft"]]
    async with Client(server(Config())) as client:
        described = {tool.name: tool.description or "" for tool in (await client.list_tools()).tools}
    assert "Google Play (android) are not supported" in " ".join(described["get_metadata"].split())


# An empty store, and apps and versions.


async def test_an_empty_store_is_an_empty_list_and_the_description_says_what_to_do(tmp_path: Path) -> None:
    """A12: the same DTO, and a hint that is read before the call."""
    answer = await ask(config(tmp_path / "none"), "list_apps")
    assert answer["apps"] == []
    assert (answer["issuer_id"], answer["pulled_at"], answer["total"]) == (None, None, 0)
    async with Client(server(Config())) as client:
        described = {tool.name: tool.description or "" for tool in (await client.list_tools()).tools}
    assert "mcpshape-releases pull" in described["list_apps"]
    assert "mcpshape-releases pull" in await refused(config(tmp_path / "none"), "get_metadata", app=APP)


async def test_versions_are_sorted_as_versions_by_platform(tmp_path: Path) -> None:
    """2.10 is newer than 2.9, whatever order the API has; what is no number is told as it is."""
    numbers = ["2.9", "2.10", "2.9.1", "10.0", "1.0 beta", None]
    versions = [version(f"{place}", each) for place, each in enumerate(numbers)]
    versions.append(version("mac", "2.10", platform="MAC_OS"))
    told = await versions_of(tmp_path, one_app(versions))
    assert [(each["platform"], each["version"]) for each in told] == [
        *(("IOS", each) for each in ("10.0", "2.10", "2.9.1", "2.9", "1.0 beta", None)),
        ("MAC_OS", "2.10"),
    ]


async def test_a_long_history_is_counted_and_can_be_listed(tmp_path: Path) -> None:
    """An answer stays short; all versions come in pages."""
    versions = [version(f"{place}", f"1.{place}", appVersionState="REPLACED_WITH_NEW_VERSION") for place in range(90)]
    configured = config(one_app([*versions, version("live", "1.0.1", appStoreState="READY_FOR_SALE")]).write(tmp_path))
    (found,) = (await ask(configured, "list_apps"))["apps"]
    assert found["older_versions"] == 70
    assert len(found["versions"]) == 21
    assert "live" in {each["state"] for each in found["versions"]}
    numbers = [each["version"] for each in await pages(configured, "list_versions", "versions", app=APP)]
    assert len(numbers) == 91
    assert numbers[0] == "1.89"


async def test_an_app_is_known_by_id_bundle_id_and_name(tmp_path: Path) -> None:
    """Names may be those of several apps, which the error names."""
    account = Account({"v1/apps": [app("1", "Lumen", APP), app("2", "Twin", "b.one"), app("3", "twin", "b.two")]})
    configured = config(account.write(tmp_path))
    for name in ("1", APP.upper(), "lumen"):
        assert (await ask(configured, "get_metadata", app=name))["app"] == APP
    assert "b.one, b.two" in await refused(configured, "get_metadata", app="Twin")
    assert APP in await refused(configured, "get_diff", app="Nobody")


async def test_platforms_with_the_same_version_stay_apart(tmp_path: Path) -> None:
    """Each platform has its own texts, and may have its own folder."""
    account = small_account(
        v1__apps__1__appStoreVersions=[
            version("v2", "2.0", appVersionState="PREPARE_FOR_SUBMISSION"),
            version("m2", "2.0", appVersionState="PREPARE_FOR_SUBMISSION", platform="MAC_OS"),
        ],
        v1__appStoreVersions__m2__appStoreVersionLocalizations=version_texts(en_US={"description": "For the Mac"}),
    )
    folders = (
        Folder(APP, write(tmp_path / "mac", {"en-US/keywords.txt": "mac"}), "MAC_OS"),
        Folder(APP, write(tmp_path / "ios", {"en-US/keywords.txt": "ios"})),
    )
    configured = Config(store=account.write(tmp_path / "store"), folders=folders)
    for platform, told, keywords in ((None, "Old", "ios"), ("IOS", "Old", "ios"), ("mac_os", "For the Mac", "mac")):
        answer = await ask(configured, "get_metadata", app=APP, platform=platform)
        assert entry(answer, "en-US", "description")["pulled"] == told
        assert entry(answer, "en-US", "keywords")["draft"] == keywords
    assert "IOS, MAC_OS" in await refused(configured, "get_metadata", app=APP, platform="TV_OS")


async def test_a_version_of_one_platform_is_found_without_it(tmp_path: Path) -> None:
    """A number that is on iOS and elsewhere is that of iOS."""
    account = small_account()
    account.lists["v1/apps/1/appStoreVersions"] += [
        version("m1", "1.0", platform="MAC_OS"),
        version("m3", "3.0", platform="MAC_OS"),
    ]
    account.lists["v1/appStoreVersions/m3/appStoreVersionLocalizations"] = version_texts(en_US={"description": "Mac"})
    configured = config(account.write(tmp_path))
    for number, platform in (("3.0", "MAC_OS"), ("1.0", "IOS"), (None, "IOS")):
        assert (await ask(configured, "get_metadata", app=APP, version=number))["platform"] == platform


async def test_several_platforms_without_ios_are_told_as_such(tmp_path: Path) -> None:
    """Nobody asked for a platform that the app does not have."""
    platforms = [version("m", platform="MAC_OS"), version("t", platform="TV_OS")]
    configured = config(small_account(v1__apps__1__appStoreVersions=platforms).write(tmp_path))
    text = await refused(configured, "get_metadata", app=APP)
    assert "on several platforms" in text
    assert "MAC_OS, TV_OS" in text
    assert "no such platform" in await refused(configured, "get_metadata", app=APP, platform="IOS")


@pytest.mark.parametrize("spelled", ["MAC_OS", "macos", "osx", "mac"])
async def test_platforms_are_known_as_deliver_spells_them(spelled: str, tmp_path: Path) -> None:
    """fastlane#19908: osx is MAC_OS, in a question and in the settings."""
    account = small_account(v1__apps__1__appStoreVersions=[version("v2", "2.0"), version("m", platform="MAC_OS")])
    folder = Folder(APP, write(tmp_path / "mac", {"en-US/keywords.txt": "mac"}), spelled)
    configured = Config(store=account.write(tmp_path / "store"), folders=(folder,))
    answer = await ask(configured, "get_metadata", app=APP, platform=spelled)
    assert (answer["platform"], answer["draft_locales"]) == ("MAC_OS", ["en-US"])
    assert (await ask(configured, "get_metadata", app=APP))["draft_locales"] is None


async def test_apps_whose_bundle_ids_differ_in_case_are_told_apart(tmp_path: Path) -> None:
    """What an error names can be asked for, and each has its own drafts."""
    account = Account({"v1/apps": [app("1", "One", "b.App"), app("2", "Two", "b.app"), app("3", "b.app", "b.three")]})
    folders = tuple(
        Folder(name, write(tmp_path / f"metadata-{place}", {"en-US/name.txt": name}))
        for place, name in enumerate(("b.App", "b.app"))
    )
    configured = Config(store=account.write(tmp_path / "store"), folders=folders)
    for name in ("b.App", "b.app"):
        answer = await ask(configured, "get_metadata", app=name)
        assert (answer["app"], entry(answer, "en-US", "name")["draft"]) == (name, name)
    assert "b.App, b.app" in await refused(configured, "get_metadata", app="B.APP")


async def test_drafts_are_compared_with_what_is_worked_on_and_not_with_what_is_live(tmp_path: Path) -> None:
    """An app has two versions and two sets of information at once."""
    account = small_account(
        v1__apps__1__appInfos=[
            info("live", "READY_FOR_DISTRIBUTION"),
            info("i1"),
            info("old", "REPLACED_WITH_NEW_INFO"),
        ],
        v1__appInfos__live__appInfoLocalizations=info_texts(en_US={"name": "Live name"}),
    )
    configured = config(account.write(tmp_path))
    now = await ask(configured, "get_metadata", app=APP)
    assert (now["version"], now["state"], now["is_editable"]) == ("2.0", "PREPARE_FOR_SUBMISSION", True)
    assert entry(now, "en-US", "name")["pulled"] == "Lumen"
    assert entry(now, "en-US", "description")["pulled"] == "Old"
    live = await ask(configured, "get_metadata", app=APP, version="live")
    assert (live["version"], live["app_info_state"], live["is_editable"]) == ("1.0", "live", None)
    assert entry(live, "en-US", "name")["pulled"] == "Live name"
    assert entry(live, "en-US", "description")["pulled"] == "Older"
    assert "2.0, 1.0" in await refused(configured, "get_metadata", app=APP, version="3.0")


# Fields.


async def test_fields_of_app_and_version_are_one_list(tmp_path: Path) -> None:
    """One entry for each locale and field, whatever holds it; API names are understood as well."""
    account = small_account(
        v1__apps__1__appInfos=[info("i1", primaryCategory="GAMES")],
        v1__appInfos__i1__appInfoLocalizations=info_texts(
            en_US={"name": "Lumen", "privacyChoicesUrl": "https://a.b/c"}
        ),
    )
    account.lists["v1/apps/1/appStoreVersions"][0]["attributes"]["copyright"] = "2025 Co"
    files = {"copyright.txt": "2026 Co\n", "primary_category.txt": "games", "en-US/privacy_url.txt": "https://a.b/p"}
    answer = await metadata(tmp_path, files, account)
    told = {each["field"]: (each["locale"], each["pulled"], each["draft"], each["dirty"]) for each in answer["entries"]}
    assert told == {
        "name": ("en-US", "Lumen", None, None),
        "privacy_url": ("en-US", None, "https://a.b/p", True),
        "privacy_choices_url": ("en-US", "https://a.b/c", None, None),
        "description": ("en-US", "Old", None, None),
        "copyright": (None, "2025 Co", "2026 Co", True),
        "primary_category": (None, "GAMES", "games", None),
    }
    for name in ("privacyPolicyUrl", "privacy_url", "PRIVACY-URL"):
        found = await metadata(tmp_path, files, account, locale="en-US", field=name)
        assert found["whole"]["draft"] == "https://a.b/p"
    whole = await metadata(tmp_path, files, account, field="copyright", locale="en-US")
    assert whole["whole"]["pulled"] == "2025 Co"


async def test_what_was_not_pulled_is_no_change(tmp_path: Path) -> None:
    """An answer without its relationships does not say that there is no category."""
    account = small_account(v1__apps__1__appInfos=[{"type": "appInfos", "id": "i1", "attributes": {}}])
    changes = await diff(tmp_path, {"primary_category.txt": "GAMES"}, account)
    assert changes["changes"] == []
    assert changes["skipped"] == [{"locale": None, "field": "primary_category", "reason": "not_pulled"}]


async def test_a_subcategory_without_its_category_is_skipped(tmp_path: Path) -> None:
    """Subcategories are uploaded only together with their category; names of old begin with MZGenre."""
    account = small_account(
        v1__apps__1__appInfos=[info("i1", primaryCategory="GAMES", primarySubcategoryOne="GAMES_WORD")]
    )
    files = {"primary_first_sub_category.txt": "GAMES_CARD"}
    changes = await diff(tmp_path, files, account)
    assert changes["changes"] == []
    assert changes["skipped"] == [{"locale": None, "field": "primary_first_sub_category", "reason": "no_category"}]
    changes = await diff(tmp_path, {**files, "primary_category.txt": "MZGenre.Games"}, account)
    assert [(each["field"], each["after"]) for each in changes["changes"]] == [
        ("primary_first_sub_category", "GAMES_CARD")
    ]


async def test_long_texts_are_previewed_and_given_whole_when_asked_for(tmp_path: Path) -> None:
    """A8, A7: 60 characters in lists, with a mark where they were cut; the whole text, markup and emoji included."""
    text = "# Head\n\n- <b>one</b> 👩‍🚀\n- two | three\n" + "word " * 100
    answer = await metadata(tmp_path, {"en-US/description.txt": text}, small_account())
    preview = entry(answer, "en-US", "description")["draft"]
    assert preview.endswith("…")
    assert text.startswith(preview[:-1])
    assert "whole" not in answer
    whole = await metadata(
        tmp_path, {"en-US/description.txt": text}, small_account(), locale="en-us", field="description"
    )
    assert whole["whole"]["draft"] == text.strip()
    assert whole["whole"]["pulled"] == "Old"


async def test_unknown_names_are_refused_with_the_right_ones(tmp_path: Path) -> None:
    """C6: the model can act on it."""
    configured = config(small_account().write(tmp_path))
    assert "de-DE" in await refused(configured, "get_metadata", app=APP, locale="de")
    assert "zh-Hant" in await refused(configured, "get_metadata", app=APP, locale="zh-TW")
    assert "en-US" in await refused(configured, "get_diff", app=APP, locale="tlh")
    assert "release_notes" in await refused(configured, "get_metadata", app=APP, field="changelog")


# Drafts.


@pytest.mark.parametrize("raw", [b"Old", b"\xef\xbb\xbfOld\r\n", b"\r\n Old \n\n", b"Old\0"])
async def test_space_and_byte_order_marks_are_no_content(raw: bytes, tmp_path: Path) -> None:
    """F01: what deliver strips is no change."""
    changes = await diff(tmp_path, {"en-US/description.txt": raw}, small_account())
    assert (changes["changes"], changes["skipped"]) == ([], [])


@pytest.mark.parametrize(
    ("pulled", "draft"), [("Cafe\u0301", "Café"), ("a\r\nb", "a\nb"), ("Old\n", "Old"), ("日本\u3099", "日本\u3099 ")]
)
async def test_what_only_looks_the_same_is_no_change_and_is_said(pulled: str, draft: str, tmp_path: Path) -> None:
    """Letters composed in two ways and ends of lines are no reason to upload."""
    path = "v1__appStoreVersions__v2__appStoreVersionLocalizations"
    account = small_account(**{path: version_texts(en_US={"description": pulled})})
    changes = await diff(tmp_path, {"en-US/description.txt": draft}, account)
    assert changes["changes"] == []
    assert {each["reason"] for each in changes["skipped"]} <= {"same_but_spelling"}


async def test_space_that_deliver_keeps_is_content(tmp_path: Path) -> None:
    """Ruby strips ASCII space alone."""
    answer = await metadata(tmp_path, {"en-US/name.txt": "\u3000Lumen "}, small_account(), locale="en-US", field="name")
    assert answer["whole"]["draft"] == "\u3000Lumen"
    assert answer["whole"]["dirty"] is True


async def test_the_default_folder_fills_in_for_files_that_are_absent(tmp_path: Path) -> None:
    """The folder gives its texts to each locale that has a folder, and not where there is an empty file."""
    files = {
        "default/release_notes.txt": "Fixes",
        "default/subtitle.txt": "",
        "de-DE/name.txt": "Lumen",
        "en-US/release_notes.txt": "",
        "fr-FR/release_notes.txt": "Correctifs",
        "fr-FR/subtitle.txt": "Notes",
    }
    answer = await metadata(tmp_path, files, small_account())
    told = {
        each["locale"]: (each["draft"], each["file"]) for each in answer["entries"] if each["field"] == "release_notes"
    }
    assert told == {"de-DE": ("Fixes", "default"), "en-US": (None, "empty"), "fr-FR": ("Correctifs", "text")}
    assert answer["draft_locales"] == ["de-DE", "en-US", "fr-FR"]
    changes = await diff(tmp_path, files, small_account())
    assert changes["new_locales"] == ["de-DE", "fr-FR"]


async def test_two_folders_for_one_locale_are_said(tmp_path: Path) -> None:
    """F03: the one that is spelled right is read, nothing is merged."""
    files = {"EN-us/name.txt": "wrong", "EN-us/subtitle.txt": "wrong", "en-US/name.txt": "right"}
    answer = await metadata(tmp_path, files, small_account())
    assert answer["ignored"] == [{"name": "EN-us", "reason": "same_locale", "instead": "en-US"}]
    assert entry(answer, "en-US", "name")["draft"] == "right"
    assert entry(answer, "en-US", "subtitle")["draft"] is None


MEANT = {
    "no-NO": "no",
    "nb": "no",
    "de": "de-DE",
    "zh-TW": "zh-Hant",
    "zh_CN": "zh-Hans",
    "pt": "pt-BR",
    "iw-IL": "he",
    "bn": "bn-BD",
    "ja-JP": "ja",
    "en-US.lproj": "en-US",
    "release_notes": None,
    "screenshots": None,
}


async def test_a_wrong_code_is_told_with_the_right_one(tmp_path: Path) -> None:
    """F03, fastlane#29962: nothing is dropped in silence."""
    answer = await metadata(tmp_path, {f"{name}/name.txt": "x" for name in MEANT}, small_account())
    assert {each["name"]: each["instead"] for each in answer["ignored"]} == MEANT
    assert {each["reason"] for each in answer["ignored"]} == {"no_locale"}


async def test_locales_are_known_by_list_or_by_the_account(tmp_path: Path) -> None:
    """fastlane#29962: eleven locales came in 2026; a later one is known as soon as the app has it."""
    account = small_account()
    account.lists["v1/appInfos/i1/appInfoLocalizations"] += info_texts(xx_Future={"name": "Lumen"})
    files = {f"{name}/name.txt": "x" for name in ("bn-BD", "ur-PK", "SL-si", "xx-future")}
    answer = await metadata(tmp_path, files, account)
    assert "ignored" not in answer
    assert answer["draft_locales"] == ["bn-BD", "sl-SI", "ur-PK", "xx-Future"]


async def test_files_that_deliver_does_not_read_are_said(tmp_path: Path) -> None:
    """A misspelled name is otherwise found out after the release."""
    files = {"en-US/descripton.txt": "x", "en-US/Keywords.txt": "x", "en-US/whatsNew.txt": "x", "en-US/notes.md": "x"}
    answer = await metadata(tmp_path, files, small_account())
    assert {each["name"]: each["instead"] for each in answer["ignored"]} == {
        "en-US/descripton.txt": "description.txt",
        "en-US/Keywords.txt": "keywords.txt",
        "en-US/whatsNew.txt": "release_notes.txt",
    }


async def test_a_file_with_two_names_is_read_once(tmp_path: Path) -> None:
    """As on disks that do not tell the case of letters: what deliver reads is not said to be ignored."""
    folder = write(tmp_path / "metadata", {"en-US/name.txt": "Lumen 2"})
    (folder / "en-US/Name.txt").hardlink_to(folder / "en-US/name.txt")
    answer = await ask(config(small_account().write(tmp_path / "store"), folder), "get_metadata", app=APP)
    assert "ignored" not in answer
    assert entry(answer, "en-US", "name")["draft"] == "Lumen 2"


async def test_release_notes_of_a_first_version_are_skipped(tmp_path: Path) -> None:
    """App Store Connect takes none there, so deliver sends none."""
    first = version("v2", "1.0", appVersionState="PREPARE_FOR_SUBMISSION")
    path = "v1__appStoreVersions__v2__appStoreVersionLocalizations"
    account = small_account(
        v1__apps__1__appStoreVersions=[first, version("m", "3.0", platform="MAC_OS")],
        **{path: version_texts(en_US={"description": "Old", "whatsNew": None})},
    )
    changes = await diff(tmp_path, {"en-US/release_notes.txt": "New", "en-US/description.txt": "New"}, account)
    assert [each["field"] for each in changes["changes"]] == ["description"]
    assert changes["skipped"] == [{"locale": "en-US", "field": "release_notes", "reason": "first_version"}]
    first["attributes"]["appVersionState"] = "READY_FOR_DISTRIBUTION"
    changes = await diff(tmp_path, {"en-US/release_notes.txt": "New"}, account, field="release_notes")
    assert [each["kind"] for each in changes["changes"]] == ["added"]


async def test_a_diff_is_what_an_upload_changes(tmp_path: Path) -> None:
    """Added where there was nothing, changed where there was something, never removed."""
    files = {
        "en-US/description.txt": "New",
        "en-US/keywords.txt": "a,b c",
        "en-US/name.txt": "Lumen",
        "ja/name.txt": "ルーメン",
    }
    changes = await diff(tmp_path, files, small_account())
    assert [
        (each["locale"], each["field"], each["kind"], each["before"], each["after"]) for each in changes["changes"]
    ] == [
        ("en-US", "description", "changed", "Old", "New"),
        ("en-US", "keywords", "added", None, "a,b c"),
        ("ja", "name", "added", None, "ルーメン"),
    ]
    assert changes["new_locales"] == ["ja"]
    assert "lines" not in changes


async def test_a_diff_of_one_field_has_its_lines(tmp_path: Path) -> None:
    """What changes, with two lines around it."""
    old = "\n".join(f"line {place}" for place in range(20))
    path = "v1__appStoreVersions__v2__appStoreVersionLocalizations"
    account = small_account(**{path: version_texts(en_US={"description": old})})
    files = {"en-US/description.txt": old.replace("line 3", "line three").replace("line 15", "")}
    changes = await diff(tmp_path, files, account, locale="en-US", field="description")
    assert [(each["op"], each["text"]) for each in changes["lines"]] == [
        ("kept", "line 1"),
        ("kept", "line 2"),
        ("removed", "line 3"),
        ("added", "line three"),
        ("kept", "line 4"),
        ("kept", "line 5"),
        ("left_out", None),
        ("kept", "line 13"),
        ("kept", "line 14"),
        ("removed", "line 15"),
        ("added", None),
        ("kept", "line 16"),
        ("kept", "line 17"),
    ]


async def test_a_preview_of_a_change_shows_the_change(tmp_path: Path) -> None:
    """From the first line on that differs, however the lines end."""
    path = "v1__appStoreVersions__v2__appStoreVersionLocalizations"
    account = small_account(**{path: version_texts(en_US={"description": "Same\r\n\r\nOne\r\nTwo"})})
    for draft, before, after in (
        ("Same\n\n1\nTwo", "One\nTwo", "1\nTwo"),
        ("Same\n\nOne\nTwo\nThree", "Two", "Two\nThree"),
        ("Same", "Same\n\nOne\nTwo", "Same"),
    ):
        (change,) = (await diff(tmp_path, {"en-US/description.txt": draft}, account))["changes"]
        assert (change["before"], change["after"]) == (before, after)


async def test_drafts_can_stand_alone(tmp_path: Path) -> None:
    """Before anything was pulled, lengths and odd names are told all the same."""
    folder = write(tmp_path / "metadata", {"en-US/name.txt": "x" * 31, "ar/name.txt": "x"})
    for store in (None, tmp_path / "none", small_account().write(tmp_path / "other")):
        configured = Config(store=store, folders=(Folder("com.example.other", folder),))
        answer = await ask(configured, "get_metadata", app="com.example.OTHER", platform="IOS")
        name = entry(answer, "en-US", "name")
        assert (name["pulled"], name["dirty"], name["over"]) == (None, None, "over")
        assert answer["ignored"][0]["instead"] == "ar-SA"
        changes = await ask(configured, "get_diff", app="com.example.other")
        assert (changes["changes"], changes["skipped"][0]["reason"]) == ([], "not_pulled")
    assert (await ask(Config(folders=(Folder(APP, folder),)), "list_apps"))["apps"] == []


async def test_no_folder_and_an_empty_folder_are_told_apart(tmp_path: Path) -> None:
    """Null means that no metadata folder is known, an empty list that it has no locale."""
    store = small_account().write(tmp_path / "store")
    assert (await ask(config(store), "get_metadata", app=APP))["draft_locales"] is None
    (tmp_path / "empty").mkdir()
    assert (await ask(config(store, tmp_path / "empty"), "get_metadata", app=APP))["draft_locales"] == []
    (tmp_path / "empty" / "de-DE").mkdir()
    answer = await ask(config(store, tmp_path / "empty"), "get_diff", app=APP)
    assert (answer["draft_locales"], answer["new_locales"]) == (["de-DE"], ["de-DE"])


async def test_many_entries_come_in_pages(tmp_path: Path) -> None:
    """All of them, each once."""
    locales = ("de-DE", "fr-FR", "ja", "ko", "it", "pl", "sv", "da", "fi", "uk")
    files = {
        f"{each}/{field}.txt": field for each in locales for field in ("name", "subtitle", "keywords", "description")
    }
    configured = config(small_account().write(tmp_path / "store"), write(tmp_path / "metadata", files))
    found = [(each["locale"], each["field"]) for each in await pages(configured, "get_diff", "changes", app=APP)]
    assert len(found) == len(set(found)) == 40


async def test_the_sample_account_answers_without_anything_set_up() -> None:
    """The command runs without arguments."""
    answer = await ask(Config(), "list_apps")
    assert [each["bundle_id"] for each in answer["apps"]] == [LUMEN, "com.example.tidepool"]
    assert (await ask(Config(), "get_diff", app=LUMEN))["total"] == 4


async def test_answers_are_json_as_well(tmp_path: Path) -> None:
    """The same facts in both channels where structured content is wanted."""
    configured = config(small_account().write(tmp_path), structured=True)
    result = await call(configured, "get_metadata", app=APP)
    assert result.structured_content == json.loads(json.dumps(decode(result)))
