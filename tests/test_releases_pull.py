"""Pulling from App Store Connect, spoken by a real server on this machine."""

import gzip
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from app_store import (
    ISSUER,
    KEY_ID,
    Account,
    AppStore,
    Reply,
    app,
    app_store,
    info,
    limit,
    phase,
    refusal,
    small_account,
    version,
    version_texts,
    write_key,
)
from mcpshape import UserError
from releases_server.cli import COMMAND
from releases_server.connect import Connect, Patience
from releases_server.fields import FIELDS
from releases_server.keys import Key, Tokens
from releases_server.pull import Report, pull
from releases_server.pulled import Pulled
from releases_server.store import Store
from serving.whole_files import alone

pytestmark = pytest.mark.no_cover

APPS = "/v1/apps"


def key_of(tmp_path: Path, server: AppStore) -> Key:
    issuer = None if server.is_personal else ISSUER
    return Key(write_key(tmp_path / "AuthKey.p8", server.private), KEY_ID, issuer)


async def no_wait(_seconds: float) -> None:
    """What is waited in tests that are not about waiting."""


def pull_from(tmp_path: Path, server: AppStore, **patience: Any) -> Report:
    """Pull as the command does; waits are skipped unless a test has its own."""
    options = {"wait": no_wait, **patience}

    async def pulled() -> Report:
        async with Connect(key_of(tmp_path, server), api=server.url, patience=Patience(**options)) as connect:
            return await pull(Store(tmp_path / "store"), connect, issuer_id=ISSUER)

    return anyio.run(pulled)


def ask_one(key: Key, api: str) -> tuple[Connect, object]:
    """One request, and the client that it was made with."""

    async def asked() -> tuple[Connect, object]:
        async with Connect(key, api=api) as connect:
            return connect, await connect.one("/v1/apps")

    return anyio.run(asked)


class Waits(list[float]):
    """The waits that were asked for, none of which is waited."""

    async def add(self, seconds: float) -> None:
        self.append(seconds)


def refused(tmp_path: Path, server: AppStore, **patience: Any) -> UserError:
    with pytest.raises(UserError) as caught:
        pull_from(tmp_path, server, **patience)
    assert caught.value.hint
    return caught.value


def numbers(tmp_path: Path) -> list[str | None]:
    return [version.number for app in Pulled(Store(tmp_path / "store")).apps() for version in app.versions]


def at(path: str, *replies: Reply) -> Callable[[str, int], Reply | None]:
    """Reply to the first requests for a path with these, to all others as usual."""
    left = list(replies)
    return lambda asked, _number: left.pop(0) if asked == path and left else None


def test_a_pull_brings_everything_in_pages(tmp_path: Path) -> None:
    """Lists are followed by links.next to their end; the answers are kept as they came."""
    account = small_account(v1__apps=[app(f"{place}", f"App {place}", f"com.example.{place}") for place in range(1, 6)])
    for place in range(2, 6):
        account.lists |= {f"v1/apps/{place}/appStoreVersions": [], f"v1/apps/{place}/appInfos": []}
    with app_store(account) as server:
        report = pull_from(tmp_path, server)
    assert (report.apps, report.versions, report.localizations) == (5, 2, 3)
    assert report.requests == len(server.asked)
    assert report.remaining == 3000
    pulled = Pulled(Store(tmp_path / "store"))
    assert [each.name for each in pulled.apps()] == [f"App {place}" for place in range(1, 6)]
    assert pulled.account().issuer_id == ISSUER
    generation = Store(tmp_path / "store").current()
    assert generation
    pages = [json.loads(each.file.read_bytes()) for each in generation.documents() if each.path == ("v1", "apps")]
    assert [len(page["data"]) for page in pages] == [2, 2, 1]
    assert pages[0]["links"]["next"].startswith(server.url)
    assert pages[0]["meta"]["paging"]["total"] == 5


@pytest.mark.parametrize("is_personal", [False, True])
def test_tokens_are_signed_as_documented(tmp_path: Path, is_personal: bool) -> None:
    """ES256, kid, aud, at most 20 minutes; iss for keys of a team, sub for those of a person; the server checks."""
    with app_store(small_account(), is_personal=is_personal) as server:
        pull_from(tmp_path, server)
        claims = server.claims(server.tokens[0])
    assert claims["aud"] == "appstoreconnect-v1"
    assert ("sub" in claims, "iss" in claims) == (is_personal, not is_personal)


def test_a_token_is_used_until_shortly_before_it_ends(tmp_path: Path) -> None:
    """A pull may take longer than a token lives; no token lives for more than 20 minutes."""
    now = time.time()
    private = ec.generate_private_key(ec.SECP256R1())
    tokens = Tokens(Key(write_key(tmp_path / "AuthKey.p8", private), KEY_ID, ISSUER), lambda: now)
    first = tokens.current()
    ends = jwt.decode(first, options={"verify_signature": False})["exp"]
    assert now < ends <= now + 1200
    now = ends - 61
    assert tokens.current() == first
    now = ends - 59
    assert tokens.current() != first
    tokens.renew()
    now += 1
    assert jwt.decode(tokens.current(), options={"verify_signature": False})["iat"] == int(now)


def test_a_token_that_is_refused_once_is_made_anew(tmp_path: Path) -> None:
    """The clock of the server may be ahead."""
    with app_store(small_account(), answering=at(APPS, refusal(401, "NOT_AUTHORIZED"))) as server:
        assert pull_from(tmp_path, server).apps == 1


def test_a_pull_can_be_of_some_apps_only(tmp_path: Path) -> None:
    """Accounts may have more apps than a key has requests in an hour."""
    account = small_account()
    account.lists["v1/apps"] += [app(f"{place}", "Other", f"com.example.{place}") for place in range(2, 9)]
    with app_store(account) as server:
        file = settings(tmp_path, server)
        file.write_text(f'{file.read_text()}only = ["com.example.lumen"]\n')
        with pytest.raises(SystemExit) as ended:
            COMMAND.run(["pull", "--config", str(file)])
    assert ended.value.code == 0
    assert [each.name for each in Pulled(Store(tmp_path / "store")).apps()] == ["Lumen"]


def test_only_what_is_shown_is_asked_for(tmp_path: Path) -> None:
    """Texts of versions that are over, and details for App Review, are never asked for."""
    account = small_account(
        v1__apps__1__appStoreVersions=[
            version("v2", "2.0", appVersionState="PREPARE_FOR_SUBMISSION"),
            version("v1", "1.0", appVersionState="READY_FOR_DISTRIBUTION", phase=None),
            version("v0", "0.9", appVersionState="REPLACED_WITH_NEW_VERSION", phase=None),
        ],
        v1__appStoreVersions__v2__appStoreVersionPhasedRelease=phase("p", phasedReleaseState="INACTIVE"),
        v1__apps__1__appInfos=[info("i1"), info("i0", "REPLACED_WITH_NEW_INFO")],
    )
    with app_store(account) as server:
        pull_from(tmp_path, server)
    asked = {each.split("?")[0] for each in server.asked}
    assert asked == {
        "/v1/apps",
        "/v1/apps/1/appStoreVersions",
        "/v1/apps/1/appInfos",
        "/v1/appInfos/i1/appInfoLocalizations",
        "/v1/appStoreVersions/v2/appStoreVersionLocalizations",
        "/v1/appStoreVersions/v2/appStoreVersionPhasedRelease",
        "/v1/appStoreVersions/v1/appStoreVersionLocalizations",
    }
    assert not any("eview" in each for each in server.asked)
    (found,) = Pulled(Store(tmp_path / "store")).apps()
    told = {each.number: each.phase and each.phase.state for each in found.versions}
    assert told == {"2.0": "planned", "1.0": None, "0.9": None}


def test_a_phased_release_that_is_not_found_is_none(tmp_path: Path) -> None:
    """F10: the API answers with 404 or with data that is null, by its age."""
    silent = version("v2", "2.0", appVersionState="PREPARE_FOR_SUBMISSION")
    with app_store(small_account(v1__apps__1__appStoreVersions=[silent])) as server:
        pull_from(tmp_path, server)
        assert Pulled(Store(tmp_path / "store")).apps()[0].versions[0].phase is None
        server.account.lists["v1/appStoreVersions/v2/appStoreVersionPhasedRelease"] = None
        pull_from(tmp_path, server)
    assert Pulled(Store(tmp_path / "store")).apps()[0].versions[0].phase is None


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry-After": "3"}, [3.0]),
        ({"Retry-After": "0"}, [0.0]),
        ({}, [1.0]),
        ({"Retry-After": "soon"}, [1.0]),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:10 GMT"}, [0.0]),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_a_limit_is_waited_for_as_long_as_the_server_says(
    headers: dict[str, str], waited: list[float], status: int, tmp_path: Path
) -> None:
    """Retry-After is honoured in both of its forms; without it each wait is twice as long."""
    waits = Waits()
    busy = Reply(status, b"{}", {**limit(100), **headers})
    with app_store(small_account(), answering=at(APPS, busy)) as server:
        assert pull_from(tmp_path, server, wait=waits.add).apps == 1
    assert waits == waited


def test_a_wait_that_is_too_long_is_an_error_that_says_how_long(tmp_path: Path) -> None:
    """Nobody sits in front of a terminal for an hour; the store stays as it was."""
    with app_store(small_account()) as server:
        pull_from(tmp_path, server)
        server.answering = at(APPS, refusal(429, "RATE_LIMIT_EXCEEDED", Retry_After="3600"))
        error = refused(tmp_path, server)
        assert (error.code, error.retry_after) == ("rate_limited", 3600)
        server.answering = at(APPS, Reply(429, b"{}", limit(0)))
        assert refused(tmp_path, server).code == "rate_limited"
    assert numbers(tmp_path) == ["2.0", "1.0"]


def test_tries_come_to_an_end(tmp_path: Path) -> None:
    """Five in all, each after a longer wait."""
    waits = Waits()
    with app_store(small_account(), answering=lambda *_: Reply(500, b"oops")) as server:
        assert refused(tmp_path, server, wait=waits.add).code == "http_500"
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert len(server.asked) == 5


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        (400, "PARAMETER_ERROR.INVALID", "400, PARAMETER_ERROR.INVALID"),
        (401, "NOT_AUTHORIZED", "401, NOT_AUTHORIZED"),
        (403, "FORBIDDEN.REQUIRED_AGREEMENTS_MISSING_OR_EXPIRED", "403, FORBIDDEN.REQUIRED_AGREEMENTS"),
        (404, "NOT_FOUND", "404"),
        (418, "not a code <script>", "(418)"),
    ],
)
def test_a_refusal_is_told_with_its_code_and_no_word_more(status: int, code: str, told: str, tmp_path: Path) -> None:
    """What the API writes in title and detail is nobody's to judge here; its codes are documented words."""
    with app_store(small_account(), answering=lambda *_: refusal(status, code)) as server:
        error = refused(tmp_path, server)
    assert told in str(error)
    assert "detail" not in str(error)
    assert Store(tmp_path / "store").current() is None


def drip(ended: threading.Event) -> Iterator[bytes]:
    """A byte a hundredth of a second, until the test is over."""
    while not ended.wait(0.01):
        yield b" "


def endless() -> Iterator[bytes]:
    while True:
        yield b" " * 2**20


def linked(url: str, data: list[Any] | None = None) -> Reply:
    return Reply(body=json.dumps({"data": data or [], "links": {"next": url}}).encode())


BROKEN: dict[str, tuple[Callable[[AppStore], Reply], str]] = {
    "half": (lambda _: Reply(body=b'{"data": ['), "bad_answer"),
    "nested": (lambda _: Reply(body=b"[" * 100_000), "bad_answer"),
    "no object": (lambda _: Reply(body=b"[]"), "bad_answer"),
    "no data": (lambda _: Reply(body=b"{}"), "bad_answer"),
    "no list": (lambda _: Reply(body=b'{"data": null}'), "bad_answer"),
    "latin": (lambda _: Reply(body=b'{"data": ["\xe9"]}'), "bad_answer"),
    "html": (lambda _: Reply(body=b"<html>"), "bad_answer"),
    "two keys": (
        lambda _: Reply(body=b'{"data": [], "data": [{"type": "appStoreReviewDetails", "id": "1"}]}'),
        "bad_answer",
    ),
    "endless": (lambda _: Reply(body=endless()), "bad_answer"),
    "bomb": (lambda _: Reply(body=gzip.compress(b" " * 2**26), headers={"Content-Encoding": "gzip"}), "bad_answer"),
    "loop": (lambda server: linked(f"{server.url}{APPS}?limit=200"), "bad_answer"),
    "other host": (lambda _: linked("http://127.0.0.2:9/v1/apps"), "bad_answer"),
    "other scheme": (lambda server: linked(server.url.replace("http", "ftp") + APPS), "bad_answer"),
    "other path": (lambda server: linked(f"{server.url}/login"), "bad_answer"),
    "user": (lambda server: linked(server.url.replace("//", "//a:b@") + APPS), "bad_answer"),
    "no link": (lambda _: Reply(body=b'{"data": [], "links": {"next": {"href": "x"}}}'), "bad_answer"),
    "cut": (lambda _: Reply(body=b'{"data": [], "meta": {"paging": {"total": 9}}}'), "bad_answer"),
    "redirect": (lambda _: Reply(302, b"", {"Location": "http://127.0.0.2:9/"}), "http_302"),
    "bad id": (lambda _: Reply(body=b'{"data": [{"type": "apps", "id": "../../x"}]}'), "bad_id"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_what_cannot_be_used_ends_the_pull_and_changes_nothing(broken: str, tmp_path: Path) -> None:
    """Half-written JSON, endless lists, other addresses: an error, and the store is as it was."""
    reply, code = BROKEN[broken]
    with app_store(small_account()) as server:
        pull_from(tmp_path, server)
        before = sorted((tmp_path / "store").rglob("*"))
        server.answering = lambda path, _number: reply(server) if path == APPS else None
        assert refused(tmp_path, server).code == code
    assert sorted((tmp_path / "store").rglob("*")) == before
    assert numbers(tmp_path) == ["2.0", "1.0"]


def test_an_endless_list_of_new_pages_ends(tmp_path: Path) -> None:
    """A link that is new each time is no reason to go on for ever."""
    with app_store(small_account()) as server:
        server.answering = lambda _path, number: linked(f"{server.url}{APPS}?cursor={number}")
        assert refused(tmp_path, server).code == "bad_answer"
    assert len(server.asked) == 200


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nX-Slow: "])
def test_an_answer_that_drips_is_not_waited_for(start: bytes, tmp_path: Path) -> None:
    """The whole pull has an end, wherever the answer drips: in its body or in its head."""
    began, ended = time.monotonic(), threading.Event()
    with app_store(small_account(), answering=lambda *_: Reply(body=drip(ended), start=start)) as server:
        assert refused(tmp_path, server, seconds=0.3).code == "too_slow"
        assert time.monotonic() - began < 5
        ended.set()


def test_nobody_at_the_address_is_an_error_of_its_own(tmp_path: Path) -> None:
    """After some tries."""
    with app_store(small_account()) as server:
        pass
    assert refused(tmp_path, server).code == "unreachable"


@pytest.mark.parametrize(
    "api", ["http://example.com", "ftp://127.0.0.1", "https://u:p@example.com", "https://a/b", "x"]
)
def test_the_address_of_the_api_is_https_or_this_machine(api: str, tmp_path: Path) -> None:
    """A token goes nowhere in the clear."""
    with app_store(small_account()) as server:
        key = key_of(tmp_path, server)
    with pytest.raises(UserError) as caught:
        Connect(key, api=api)
    assert caught.value.code == "bad_api"


@pytest.mark.parametrize(
    "content", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nMIG=\n-----END PRIVATE KEY-----", b"\0" * 99]
)
def test_a_file_without_a_key_is_said_to_be_none(content: bytes, tmp_path: Path) -> None:
    """Neither what is in it nor where it is comes into the text."""
    (tmp_path / "AuthKey.p8").write_bytes(content)
    with pytest.raises(UserError) as caught:
        ask_one(Key(tmp_path / "AuthKey.p8", KEY_ID, ISSUER), "http://127.0.0.1:9")
    assert caught.value.code == "bad_key"
    assert str(tmp_path) not in f"{caught.value} {caught.value.hint}"


def test_an_rsa_key_is_no_key_and_a_missing_file_is_said(tmp_path: Path) -> None:
    """The wrong kind of key fails before anything is sent."""
    write_key(tmp_path / "rsa.p8", rsa.generate_private_key(65537, 2048))
    for name, code in (("rsa.p8", "bad_key"), ("none.p8", "no_key")):
        with pytest.raises(UserError) as caught:
            ask_one(Key(tmp_path / name, KEY_ID), "http://127.0.0.1:9")
        assert caught.value.code == code


def test_keys_and_tokens_are_in_no_repr(tmp_path: Path) -> None:
    """Neither the key, nor where it is, nor what was made with it."""
    with app_store(small_account()) as server:
        key = key_of(tmp_path, server)
        connect, answer = ask_one(key, server.url)
        shown = f"{key!r} {connect!r} {connect.__dict__!r} {answer!r}"
    assert server.tokens[0] not in shown
    assert "PRIVATE" not in shown
    assert str(tmp_path) not in shown


def test_details_for_app_review_are_not_kept(tmp_path: Path) -> None:
    """The password of the demo account never reaches the disk, though it came unasked."""
    review = {"type": "appStoreReviewDetails", "id": "r", "attributes": {"demoAccountPassword": "hunter2-canary"}}
    account = small_account()
    account.included["v1/apps/1/appStoreVersions"] = [review]
    account.lists["v1/apps"].append(review)
    with app_store(account) as server:
        assert pull_from(tmp_path, server).apps == 1
    stored = [each.read_bytes() for each in (tmp_path / "store").rglob("*") if each.is_file()]
    assert stored
    assert not any(b"hunter2-canary" in each for each in stored)


def test_two_pulls_at_once_are_one_and_an_error(tmp_path: Path) -> None:
    """The second one changes nothing and says so."""
    with app_store(small_account()) as server:
        pull_from(tmp_path, server)
        with alone(tmp_path / "store" / "current"):
            assert refused(tmp_path, server).code == "store_busy"
        pull_from(tmp_path, server)
    assert len(generations(tmp_path)) == 2


def test_readers_see_the_old_or_the_new_and_never_half(tmp_path: Path) -> None:
    """While pulls go on, all that one look at the store tells is of one of them."""
    seen, is_over = set(), threading.Event()
    description = FIELDS[5]

    def read() -> None:
        while not is_over.is_set():
            pulled = Pulled(Store(tmp_path / "store")).pinned()
            (found,) = pulled.apps()
            texts = pulled.texts(found.versions[0], found.infos[0])
            seen.add((found.name, texts.of("en-US", description)))

    with app_store(small_account()) as server:
        readers = [threading.Thread(target=read) for _ in range(2)]
        for place in range(8):
            texts = version_texts(en_US={"description": f"Lumen {place}"})
            server.account.lists["v1/apps"] = [app("1", f"Lumen {place}", "com.example.lumen")]
            server.account.lists["v1/appStoreVersions/v2/appStoreVersionLocalizations"] = texts
            pull_from(tmp_path, server)
            if not place:
                for each in readers:
                    each.start()
        is_over.set()
        for each in readers:
            each.join()
    assert seen
    assert all(name == text for name, text in seen)


def test_a_pull_that_is_killed_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    """The next one is not kept waiting, and takes away what was left."""
    is_asked, may_go = threading.Event(), threading.Event()

    def hang(path: str, _number: int) -> None:
        if path.endswith("appStoreVersionLocalizations"):
            is_asked.set()
            may_go.wait(30)

    with app_store(small_account()) as server:
        pull_from(tmp_path, server)
        server.answering = hang
        line = [sys.executable, "-m", "releases_server.cli", "pull", "--config", str(settings(tmp_path, server))]
        with subprocess.Popen(line) as pulling:
            assert is_asked.wait(30)
            pulling.kill()
        may_go.set()
        assert numbers(tmp_path) == ["2.0", "1.0"]
        assert len(generations(tmp_path)) == 2
        assert generations(tmp_path) > {(tmp_path / "store/current").read_text()}
        server.answering = lambda *_: None
        left = generations(tmp_path) - {(tmp_path / "store/current").read_text()}
        pull_from(tmp_path, server)
    assert not generations(tmp_path) & left


def generations(tmp_path: Path) -> set[str]:
    return {each.name for each in (tmp_path / "store").iterdir() if each.name.startswith("pull-")}


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
from releases_server.cli import COMMAND
COMMAND.run(sys.argv[1:])
"""


def limited(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command on a disk that takes no file beyond 2,000 bytes."""
    line = [sys.executable, "-B", "-c", LIMITED, *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_a_full_disk_ends_the_pull_and_loses_nothing(tmp_path: Path) -> None:
    """The command says so, ends with 1, and what was pulled before is still there."""
    with app_store(small_account()) as server:
        pull_from(tmp_path, server)
        long = version_texts(en_US={"description": "x" * 4000})
        server.account.lists["v1/appStoreVersions/v2/appStoreVersionLocalizations"] = long
        ended = limited("pull", "--config", str(settings(tmp_path, server)))
    assert ended.returncode == 1
    assert "The disk is full." in ended.stderr
    assert "Traceback" not in ended.stderr
    assert numbers(tmp_path) == ["2.0", "1.0"]
    assert len(generations(tmp_path)) == 1


def test_a_full_disk_is_no_reason_to_answer_nothing(tmp_path: Path) -> None:
    """The index is made in memory, and nothing half is left of it."""
    ended = limited("doctor", "--store", str(small_account().write(tmp_path / "store")))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "com.example.lumen" in ended.stdout
    assert not [*(tmp_path / "store").glob("index*")]


def settings(tmp_path: Path, server: AppStore) -> Path:
    write_key(tmp_path / "AuthKey.p8", server.private)
    file = tmp_path / "releases.toml"
    file.write_text(
        f'store = "store"\nkey_file = "AuthKey.p8"\nkey_id = "{KEY_ID}"\nissuer_id = "{ISSUER}"\napi = "{server.url}"\n'
    )
    return file


def test_the_command_pulls(tmp_path: Path) -> None:
    """Key and store stand in the settings file; paths are beside it; the token is in no output."""
    with app_store(small_account()) as server:
        line = [sys.executable, "-m", "releases_server.cli", "pull", "--config", str(settings(tmp_path, server))]
        ended = subprocess.run(line, capture_output=True, text=True, check=True)
    assert ended.stdout == (
        f"Pulled 1 app, 2 versions and 3 localizations.\n{len(server.asked)} requests; 3000 are left within the hour.\n"
    )
    assert ended.stderr == ""
    assert numbers(tmp_path) == ["2.0", "1.0"]
    assert jwt.get_unverified_header(server.tokens[0])["kid"] == KEY_ID
    (generation,) = [each for each in (tmp_path / "store").iterdir() if each.is_dir()]
    assert not generation.stat().st_mode & 0o077
    stored = [each.read_bytes() for each in generation.rglob("*") if each.is_file()]
    assert not any(token.encode() in each for token in server.tokens for each in stored)


def test_an_account_without_apps_is_pulled_as_such(tmp_path: Path) -> None:
    """A12: nothing pulled yet and nothing there are told apart by pulled_at."""
    with app_store(Account({"v1/apps": []})) as server:
        assert pull_from(tmp_path, server).apps == 0
    assert Pulled(Store(tmp_path / "store")).apps() == []
    assert Pulled(Store(tmp_path / "store")).account().pulled_at
