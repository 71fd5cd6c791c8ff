"""What is damaged, locked, hostile or secret: a clear error, nothing lost, nothing told that is no one's business."""

import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app_store import Account, app, phase, small_account, version, version_texts
from mcpshape import UserError
from mcpshape.testing import decode
from releases_server.drafts import read_drafts
from releases_server.lengths import measure
from releases_server.locales import LOCALES, locale_of, suggest_locale
from releases_server.pulled import Pulled, number_key
from releases_server.store import Store
from releases_server.tools import shape
from test_releases import APP, ask, call, config, entry, metadata, pages, refused, write

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]

CANARY = "hunter2-canary"
FORMATS = ("toon", "markdown", "json")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# Secrets.


def account_with_secrets() -> Account:
    """Details for App Review in every place that an answer has."""
    review = {
        "type": "appStoreReviewDetails",
        "id": CANARY,
        "attributes": {"demoAccountPassword": CANARY, "notes": CANARY, "locale": "en-US", "name": CANARY},
    }
    account = small_account()
    account.included = {path: [review] for path in account.lists}
    for data in account.lists.values():
        data.append(review)
        data[0]["attributes"] |= {"demoAccountPassword": CANARY, "contactEmail": CANARY}
        data[0]["relationships"] = {"appStoreReviewDetail": {"data": review}}
    account.lists["v1/appStoreVersions/v2/appStoreReviewDetail"] = [review]
    return account


def files_with_secrets(folder: Path) -> Path:
    """Review information as deliver has it, and all ways that lead to it."""
    names = ("demo_password", "demo_user", "email_address", "notes", "review_demo_password")
    write(folder, {f"review_information/{name}.txt": CANARY for name in names})
    write(folder, {f"Review_Information/{name}.txt": CANARY for name in names})
    write(folder, {f"en-US/{name}.txt": CANARY for name in names})
    write(folder, {"review_demo_password.txt": CANARY, "en-US/name.txt": "Lumen 2"})
    (folder / "en-US/description.txt").symlink_to("../review_information/demo_password.txt")
    (folder / "en-US/keywords.txt").symlink_to("../Review_Information/demo_password.txt")
    (folder / "en-US/subtitle.txt").hardlink_to(folder / "review_information/demo_password.txt")
    (folder / "de-DE").symlink_to("review_information")
    write(folder / "review_information", {"name.txt": CANARY})
    (folder / "copyright.txt").symlink_to(folder / "review_information" / "notes.txt")
    return folder


@pytest.mark.parametrize("written", FORMATS)
async def test_secrets_of_the_review_are_in_no_answer(written: str, tmp_path: Path) -> None:
    """Every answer of every tool in every format, whole texts and errors included."""
    store = account_with_secrets().write(tmp_path / "store")
    configured = config(store, files_with_secrets(tmp_path / "metadata"))
    fields = ("description", "keywords", "subtitle", "name", "copyright", "demo_password", "notes")
    questions: list[tuple[str, dict[str, Any]]] = [("list_apps", {}), ("list_versions", {"app": APP})]
    for tool in ("get_metadata", "get_diff"):
        questions += [(tool, {"app": APP}), (tool, {"app": APP, "version": "live"})]
        questions += [(tool, {"app": APP, "field": name, "locale": "en-US"}) for name in fields]
        questions.append((tool, {"app": APP, "locale": "review_information"}))
    assert {tool for tool, _ in questions} == set(shape.tools)
    for tool, arguments in questions:
        result = await call(configured, tool, **arguments, format=written)
        assert CANARY not in result.model_dump_json(), (tool, arguments)
    answer = await ask(configured, "get_metadata", app=APP)
    assert entry(answer, "en-US", "name")["draft"] == "Lumen 2"
    assert entry(answer, "en-US", "description")["file"] == "unreadable"
    assert {"en-US/description.txt", "en-US/subtitle.txt"} <= {
        each["name"] for each in answer["ignored"] if each["reason"] == "leads_outside"
    }


@pytest.mark.parametrize("named", ["review_information", "trade_representative_contact_information"])
async def test_a_secret_folder_that_is_a_link_keeps_its_secrets(named: str, tmp_path: Path) -> None:
    """Its files have names without the folder then, and other links may lead to these."""
    folder = write(tmp_path / "metadata", {"shared/phone_number.txt": CANARY, "en-US/name.txt": "Lumen 2"})
    (folder / named).symlink_to("shared")
    (folder / "en-US/description.txt").symlink_to("../shared/phone_number.txt")
    (folder / "en-US/keywords.txt").symlink_to(f"../{named}/phone_number.txt")
    answer = await ask(config(small_account().write(tmp_path / "store"), folder), "get_metadata", app=APP)
    assert CANARY not in json.dumps(answer)
    assert entry(answer, "en-US", "description")["file"] == "unreadable"
    assert entry(answer, "en-US", "name")["draft"] == "Lumen 2"


async def test_addresses_of_a_trade_representative_are_in_no_answer(tmp_path: Path) -> None:
    """They are personal data, and no text of a store page."""
    folder = write(tmp_path / "metadata", {"trade_representative_contact_information/phone_number.txt": CANARY})
    (folder / "en-US").symlink_to("trade_representative_contact_information")
    (folder / "copyright.txt").symlink_to("trade_representative_contact_information/phone_number.txt")
    answer = await ask(config(small_account().write(tmp_path / "store"), folder), "get_metadata", app=APP)
    assert CANARY not in json.dumps(answer)
    assert entry(answer, None, "copyright")["file"] == "unreadable"


async def test_secrets_are_not_in_the_index(tmp_path: Path) -> None:
    """What an answer has beyond the fields of a store page is not taken out of it."""
    store = account_with_secrets().write(tmp_path / "store")
    await ask(config(store), "list_apps")
    assert CANARY.encode() not in (store / "index.sqlite").read_bytes()


@pytest.mark.parametrize("tool", shape.tools)
async def test_formats_tell_the_same(tool: str, tmp_path: Path) -> None:
    """A6: one DTO through all of them."""
    store = small_account().write(tmp_path / "store")
    folder = write(tmp_path / "metadata", {"en-US/description.txt": "# New\n\n| a | b |", "de/name.txt": "x"})
    arguments = {} if tool == "list_apps" else {"app": APP}
    toon, written, plain = [await call(config(store, folder), tool, **arguments, format=each) for each in FORMATS]
    assert decode(toon) == decode(plain)
    (block,) = written.content
    for key in decode(plain):
        assert key in block.text


# Files.


UNREADABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "utf16": (lambda file: file.write_bytes("Name".encode("utf-16")), "not_utf8"),
    "latin1": (lambda file: file.write_bytes("Größe".encode("latin-1")), "not_utf8"),
    "half a character": (lambda file: file.write_bytes("日本".encode()[:-1]), "not_utf8"),
    "folder": (lambda file: file.mkdir(), "not_a_file"),
    "pipe": (os.mkfifo, "not_a_file"),
    "device": (lambda file: file.symlink_to("/dev/zero"), "leads_outside"),
    "outside": (lambda file: file.symlink_to(file.parents[2] / "outside.txt"), "leads_outside"),
    "huge": (lambda file: file.write_bytes(b"x" * 300_000), "too_large"),
}


async def test_files_that_cannot_be_read_are_told_one_by_one(tmp_path: Path) -> None:
    """The other drafts are told all the same, and nothing is an empty text by mistake."""
    (tmp_path / "outside.txt").write_text(CANARY)
    folder = write(tmp_path / "metadata", {"en-US/name.txt": "Lumen 2"})
    locales = dict(zip(UNREADABLE, LOCALES, strict=False))
    for kind, locale in locales.items():
        (folder / locale).mkdir()
        UNREADABLE[kind][0](folder / locale / "description.txt")
    configured = config(small_account().write(tmp_path / "store"), folder)
    answer = await ask(configured, "get_metadata", app=APP)
    assert CANARY not in json.dumps(answer)
    told = {each["name"]: each["reason"] for each in answer["ignored"]}
    assert told == {f"{locales[kind]}/description.txt": reason for kind, (_, reason) in UNREADABLE.items()}
    for locale in locales.values():
        broken = entry(answer, locale, "description")
        assert (broken["draft"], broken["file"], broken["dirty"]) == (None, "unreadable", None)
    assert entry(answer, "en-US", "name")["draft"] == "Lumen 2"
    changes = await ask(configured, "get_diff", app=APP)
    assert [each["field"] for each in changes["changes"]] == ["name"]
    assert {each["reason"] for each in changes["skipped"]} == {"unreadable"}
    text = await refused(configured, "get_metadata", app=APP, locale=locales["utf16"], field="description")
    assert "cannot be read" in text
    assert str(tmp_path) not in text


@contextmanager
def unprivileged() -> Iterator[None]:
    """What root does in here, it does as nobody, to whom files can be forbidden."""
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(mine)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter; those of pytest are open to one alone."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


async def test_a_file_that_may_not_be_read_is_said(open_folder: Path) -> None:
    """A locked file is neither absent nor empty."""
    folder = write(open_folder / "metadata", {"en-US/name.txt": "x", "de-DE/name.txt": "x"})
    configured = config(small_account().write(open_folder / "store"), folder)
    assert "ignored" not in await ask(configured, "get_metadata", app=APP)
    (folder / "en-US/name.txt").chmod(0)
    (folder / "de-DE").chmod(0)
    with unprivileged():
        answer = await ask(configured, "get_metadata", app=APP)
    (folder / "de-DE").chmod(0o700)
    assert {each["name"]: each["reason"] for each in answer["ignored"]} == {
        "en-US/name.txt": "forbidden",
        "de-DE": "forbidden",
    }


async def test_links_inside_the_folder_are_followed(tmp_path: Path) -> None:
    """Teams share the texts of one locale with another one."""
    folder = write(tmp_path / "metadata", {"en-US/name.txt": "Lumen 2"})
    (folder / "en-GB").symlink_to("en-US")
    (folder / "en-AU").mkdir()
    (folder / "en-AU/name.txt").symlink_to("../en-US/name.txt")
    (folder / "en-CA").symlink_to("nowhere")
    answer = await ask(config(small_account().write(tmp_path / "store"), folder), "get_metadata", app=APP)
    assert answer["draft_locales"] == ["en-AU", "en-GB", "en-US"]
    assert [entry(answer, each, "name")["draft"] for each in answer["draft_locales"]] == ["Lumen 2"] * 3


@pytest.mark.parametrize("missing", ["gone", "file"])
async def test_a_missing_folder_is_an_error_that_says_what_to_do(missing: str, tmp_path: Path) -> None:
    """It may have been there when the server started; its path is not told."""
    (tmp_path / "file").write_text("x")
    configured = config(small_account().write(tmp_path / "store"), tmp_path / missing)
    for tool in ("get_metadata", "get_diff"):
        text = await refused(configured, tool, app=APP)
        assert "metadata folder" in text
        assert str(tmp_path) not in text
    assert (await ask(configured, "list_apps"))["total"] == 1


async def test_hostile_names_are_told_and_do_no_harm(tmp_path: Path) -> None:
    """Names are data as well: control characters are cleaned, and thousands of them are cut short."""
    names = ["\u202eevil", "a\nb: c", "x" * 200, os.fsdecode(b"\xff\xfe"), "# head", "$(id)", "a,b|c"]
    folder = tmp_path / "metadata"
    for name in (*names, *(f"wrong-{place}" for place in range(200))):
        (folder / name).mkdir(parents=True)
    configured = config(small_account().write(tmp_path / "store"), folder)
    for written in FORMATS:
        result = await call(configured, "get_metadata", app=APP, format=written)
        assert not result.is_error
        assert "\u202e" not in result.content[0].text
    answer = await ask(configured, "get_metadata", app=APP)
    assert len(answer["ignored"]) == 51
    assert answer["ignored"][-1] == {"name": None, "reason": "and_more", "instead": None}


# The store.


def become_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def become_link(file: Path) -> None:
    file.unlink()
    file.symlink_to("nowhere/else")


def become_database(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE about (fits TEXT)")


DAMAGE: dict[str, Callable[[Path], object]] = {
    "half": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "empty": lambda file: file.write_bytes(b""),
    "zeros": lambda file: file.write_bytes(b"\0" * 100),
    "latin": lambda file: file.write_bytes(b'{"data": ["\xe9"]}'),
    "refusal": lambda file: file.write_bytes(b'{"errors": [{"status": "403", "detail": "hunter2-canary"}]}'),
    "list": lambda file: file.write_bytes(b"[]"),
    "nested": lambda file: file.write_bytes(b"[" * 100_000),
    "folder": become_folder,
    "gone": become_link,
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_answer_is_an_error_that_says_to_pull_again(
    damage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Half-written JSON: neither an empty answer nor an old one, and the file is left as it is."""
    store = small_account().write(tmp_path / "store")
    configured = config(store, write(tmp_path / "metadata", {"en-US/name.txt": "Lumen 2"}))
    await ask(configured, "list_apps")
    DAMAGE[damage](store / "v1/apps/1/appStoreVersions/page-1.json")
    for tool, arguments in (("list_apps", {}), ("get_metadata", {"app": APP}), ("get_diff", {"app": APP})):
        text = await refused(configured, tool, **arguments)
        assert "mcpshape-releases pull" in text
        assert str(tmp_path) not in text
        assert CANARY not in text
    assert not [*store.glob("index.sqlite.*")]
    assert damage == "gone" or "v1/apps/1/appStoreVersions/page-1.json" in caplog.text


INDEX: dict[str, Callable[[Path], object]] = {
    "absent": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "no database": lambda file: file.write_bytes(b"SQLite format 4" + b"x" * 5000),
    "cut": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "holes": lambda file: file.write_bytes(file.read_bytes()[:8192] + b"\0" * (file.stat().st_size - 8192)),
    "folder": become_folder,
    "other": become_database,
    "link": become_link,
}


@pytest.mark.parametrize("damage", INDEX)
async def test_a_damaged_index_is_made_anew(damage: str, tmp_path: Path) -> None:
    """The answers are the truth; the index is never."""
    store = small_account().write(tmp_path / "store")
    before = await ask(config(store), "list_apps")
    INDEX[damage](store / "index.sqlite")
    for _ in range(2):
        assert await ask(config(store), "list_apps") == before


async def test_a_locked_index_is_no_hindrance(tmp_path: Path) -> None:
    """Another program may have it open."""
    store = small_account().write(tmp_path / "store")
    before = await ask(config(store), "list_apps")
    holder = sqlite3.connect(store / "index.sqlite", isolation_level=None)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        assert await ask(config(store), "list_apps") == before
        write(store, {"v1/apps/page-1.json": json.dumps({"data": [app("1", "Lumen 3", APP)]})})
        assert (await ask(config(store), "list_apps"))["apps"][0]["name"] == "Lumen 3"
    finally:
        holder.close()


async def test_a_change_by_hand_is_seen_with_the_next_question(tmp_path: Path) -> None:
    """The index fits the files or is made anew."""
    store = small_account().write(tmp_path / "store")
    assert (await ask(config(store), "list_apps"))["apps"][0]["name"] == "Lumen"
    write(store, {"v1/apps/page-1.json": json.dumps({"data": [app("1", "Lumos", APP)]})})
    assert (await ask(config(store), "list_apps"))["apps"][0]["name"] == "Lumos"


@pytest.mark.parametrize("current", ["pull-0123456789abcdef", "../../etc", "", "\0", "pull-xyz"])
async def test_a_store_that_leads_nowhere_is_damaged(current: str, tmp_path: Path) -> None:
    """And never another folder."""
    write(tmp_path / "store", {"current": current})
    assert "mcpshape-releases pull" in await refused(config(tmp_path / "store"), "list_apps")


ODD: list[Any] = [
    None,
    [],
    {},
    "x",
    [None, 1, "x", [], {}],
    [{"type": "appStoreVersions"}],
    [{"type": "appStoreVersions", "id": 7}],
    [{"type": "appStoreVersions", "id": "v", "attributes": None}],
    [{"type": "appStoreVersions", "id": "v", "attributes": []}],
    [
        {
            "type": "appStoreVersions",
            "id": "v",
            "attributes": {"versionString": 2, "createdDate": "soon", "platform": []},
        }
    ],
    [{"type": "appStoreVersions", "id": "v", "relationships": {"appStoreVersionPhasedRelease": None}}],
    [{"type": "appStoreVersions", "id": "v", "relationships": {"appStoreVersionPhasedRelease": {"data": []}}}],
    [{"type": "appStoreVersions", "id": "v", "attributes": {"versionString": "9" * 5000}}],
    [
        {
            "type": "appStoreVersions",
            "id": "v",
            "attributes": {"versionString": "\ud800", "createdDate": "2026-02-30T00:00:00Z"},
        }
    ],
]


async def test_odd_answers_lose_no_app(tmp_path: Path) -> None:
    """What is not as documented is null; no enum, number or date of the API is a reason to fail."""
    account = Account({"v1/apps": [app(f"{place}", f"App {place:02}", f"b.{place}") for place in range(len(ODD))]})
    account.lists |= {f"v1/apps/{place}/appStoreVersions": data for place, data in enumerate(ODD)}
    account.lists["v1/apps"] += [
        {"type": "apps", "id": "none"},
        {"type": "apps", "id": "null", "attributes": {"name": None}},
    ]
    store = account.write(tmp_path)
    assert len(await pages(config(store), "list_apps", "apps")) == len(ODD) + 2
    for name in ("b.7", "b.13", "null"):
        assert (await ask(config(store), "get_metadata", app=name))["entries"] == []


async def test_ids_that_are_numbers_are_ids(tmp_path: Path) -> None:
    """Other tools write them so; an app is not left out for it."""
    one: Any = app("1", "Lumen", APP) | {"id": 1}
    shown: Any = version("v", "1.0", appStoreState="READY_FOR_SALE", phase=7) | {"id": 2}
    account = Account({"v1/apps": [one], "v1/apps/1/appStoreVersions": [shown]})
    account.included["v1/apps/1/appStoreVersions"] = [phase("7", phasedReleaseState="PAUSED") | {"id": 7}]
    account.lists["v1/appStoreVersions/2/appStoreVersionLocalizations"] = version_texts(en_US={"description": "Old"})
    configured = config(account.write(tmp_path))
    (told,) = (await ask(configured, "list_apps"))["apps"]
    assert (told["id"], told["versions"][0]["phased"]) == ("1", "paused")
    answer = await ask(configured, "get_metadata", app="1")
    assert entry(answer, "en-US", "description")["pulled"] == "Old"


async def test_texts_that_are_no_texts_are_null(tmp_path: Path) -> None:
    """And those of no locale are of none."""
    path = "v1__appStoreVersions__v2__appStoreVersionLocalizations"
    texts = version_texts(en_US={"description": 5, "keywords": ["a"], "whatsNew": "\ud800x", "marketingUrl": ""})
    texts.append(
        {"type": "appStoreVersionLocalizations", "id": "9", "attributes": {"locale": None, "description": "x"}}
    )
    answer = await metadata(tmp_path, {}, small_account(**{path: texts}), locale="en-US")
    pulled = {each["field"]: each["pulled"] for each in answer["entries"]}
    assert pulled == {"name": "Lumen", "subtitle": "Notes", "release_notes": "?x"}


async def test_an_app_without_versions_or_information_is_told(tmp_path: Path) -> None:
    """A new app has nothing to compare with; its drafts are told all the same."""
    store = Account({"v1/apps": [app("1", "Lumen", APP)]}).write(tmp_path / "store")
    configured = config(store, write(tmp_path / "metadata", {"en-US/name.txt": "Lumen"}))
    answer = await ask(configured, "get_metadata", app=APP)
    assert (answer["version"], answer["platform"], answer["is_editable"]) == (None, None, None)
    assert entry(answer, "en-US", "name")["dirty"] is None
    changes = await ask(configured, "get_diff", app=APP)
    assert changes["skipped"] == [{"locale": "en-US", "field": "name", "reason": "not_pulled"}]
    assert "no version yet" in await refused(configured, "get_metadata", app=APP, version="1.0")


async def test_a_version_without_pulled_texts_is_refused(tmp_path: Path) -> None:
    """Not told as one without texts."""
    old = version("v0", "0.9", appVersionState="REPLACED_WITH_NEW_VERSION")
    account = small_account()
    account.lists["v1/apps/1/appStoreVersions"].append(old)
    assert "were not pulled" in await refused(config(account.write(tmp_path)), "get_metadata", app=APP, version="0.9")


async def test_a_huge_draft_is_compared_in_little_time(tmp_path: Path) -> None:
    """Lines that differ in number by thousands, on both sides."""
    path = "v1__appStoreVersions__v2__appStoreVersionLocalizations"
    account = small_account(**{path: version_texts(en_US={"description": "a\nb\n" * 60_000})})
    folder = write(tmp_path / "metadata", {"en-US/description.txt": "b\na\n" * 60_000})
    result = await call(
        config(account.write(tmp_path / "store"), folder), "get_diff", app=APP, locale="en-US", field="description"
    )
    assert result.is_error or decode(result)["changes"][0]["over"] == "over"


async def test_marks_without_end_are_compared_in_little_time(tmp_path: Path) -> None:
    """Composing letters would take minutes for them."""
    marks = "\u0301\u0323" * 20_000
    path = "v1__appStoreVersions__v2__appStoreVersionLocalizations"
    account = small_account(**{path: version_texts(en_US={"description": f"a{marks}"})})
    configured = config(
        account.write(tmp_path / "store"), write(tmp_path / "metadata", {"en-US/description.txt": f"a{marks}"})
    )
    begun = time.monotonic()
    assert (await ask(configured, "get_diff", app=APP))["changes"] == []
    assert time.monotonic() - begun < 5


# Laws.

_NAMES = [
    "data",
    "included",
    "attributes",
    "relationships",
    "id",
    "type",
    "state",
    "locale",
    "versionString",
    "platform",
]
_WORDS = ["apps", "appStoreVersions", "appInfos", "appStoreVersionLocalizations", "1", "en-US", "IOS", "2.0", "\ud800"]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(_WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=5),
    max_leaves=20,
)
_PATHS = [
    "v1/apps",
    "v1/apps/1/appStoreVersions",
    "v1/apps/1/appInfos",
    "v1/appInfos/1/appInfoLocalizations",
    "v1/appStoreVersions/1/appStoreVersionLocalizations",
    "v1/appStoreVersions/1/appStoreVersionPhasedRelease",
]


@given(st.dictionaries(st.sampled_from(_PATHS), st.dictionaries(st.sampled_from(_NAMES), _JSON, max_size=4)))
def test_whatever_json_is_in_the_store_is_told_or_refused(answers: dict[str, Any]) -> None:
    """No shape of an answer is a crash."""
    with tempfile.TemporaryDirectory() as name:
        for path, answer in answers.items():
            write(Path(name) / path, {"page-1.json": json.dumps(answer)})
        pulled = Pulled(Store(Path(name)), is_index_kept=False)
        with suppress(UserError):
            for found in pulled.apps():
                for version in (*found.versions, None):
                    for info in (*found.infos, None):
                        pulled.texts(version, info)


@given(st.text())
def test_no_text_is_shorter_in_units_than_in_characters(text: str) -> None:
    """F05: whoever counts by code points, units or bytes counts at least what a person does."""
    found = measure(text)
    assert found.characters <= len(text) <= found.utf16 <= found.utf8
    assert found.verdict(None) is None
    assert found.verdict(found.characters - 1) == "over"
    assert found.verdict(found.utf8 + found.lines + 1000) is None


@given(st.sampled_from(LOCALES))
def test_locales_are_found_in_any_case_and_meant_with_an_underscore(locale: str) -> None:
    """F03: case does not count, and an underscore is what somebody meant."""
    assert locale_of(locale.upper()) == locale_of(locale.lower()) == locale
    assert suggest_locale(locale.replace("-", "_").lower()) == locale


@given(st.text(max_size=20))
def test_no_name_is_a_locale_and_a_wrong_one_at_once(name: str) -> None:
    """What is suggested is always one."""
    assert suggest_locale(name) in {None, *LOCALES}


@given(st.lists(st.integers(0, 300), min_size=1, max_size=4), st.lists(st.integers(0, 300), min_size=1, max_size=4))
def test_versions_are_ordered_by_their_numbers(one: list[int], other: list[int]) -> None:
    """2.10 comes after 2.9, and zeros at the end say nothing."""
    length = max(len(one), len(other))
    padded = [each + [0] * (length - len(each)) for each in (one, other)]
    keys = [number_key(".".join(map(str, each))) for each in (one, other)]
    assert (keys[0] < keys[1]) == (padded[0] < padded[1])
    assert (keys[0] == keys[1]) == (padded[0] == padded[1])


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from(["en-US", "EN-us", "default", "android", "review_information", "xx", "de-DE"]),
        st.dictionaries(st.sampled_from(["name.txt", "keywords.txt", "odd.txt"]), st.binary(max_size=12)),
    )
)
def test_every_folder_is_told_in_one_way(tmp_path: Path, folders: dict[str, dict[str, bytes]]) -> None:
    """Whatever bytes are in it: drafts of locales, or a name among what is ignored."""
    with tempfile.TemporaryDirectory(dir=tmp_path) as name:
        folder = Path(name)
        for locale, files in folders.items():
            (folder / locale).mkdir()
            for file, content in files.items():
                (folder / locale / file).write_bytes(content)
        found = read_drafts(folder)
    assert set(found.locales) <= {"en-US", "de-DE"}
    assert {locale for locale, _ in found.texts} <= set(found.locales)
    named = {each.name for each in found.ignored}
    assert ("xx" in named) == ("xx" in folders)
    assert ("android" in named) == ("android" in folders)


def test_a_store_of_nothing_has_no_apps(tmp_path: Path) -> None:
    """A12: neither a folder that is not there nor an empty one is an error."""
    for folder in (tmp_path, tmp_path / "none"):
        assert Pulled(Store(folder)).apps() == []
    (tmp_path / "v1").mkdir()
    assert Pulled(Store(tmp_path)).apps() == []
    (tmp_path / "v1" / "apps").mkdir()
    (tmp_path / "v1" / "apps" / "x.json").write_text("{")
    with pytest.raises(UserError):
        Pulled(Store(tmp_path)).apps()
