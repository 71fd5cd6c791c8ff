"""A CalDAV account as a source: a real Radicale, and servers that do what no server should."""

import gzip
import logging
import re
import socket
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pytest
from pydantic import SecretStr

from calendar_data.bounded import METHODS, Access, BoundedSession
from calendar_data.dav import CalDav
from calendar_data.sources import Piece, Reason, SourceError
from calendar_data.wire import Limits
from dav_servers import (
    Answer,
    Asked,
    Given,
    Server,
    calendar,
    certificate,
    in_front_of,
    member,
    multistatus,
    response,
    serving,
    status,
)
from radicale_server import PASSWORD, USER, Account, event, radicale

pytestmark = pytest.mark.no_cover

SAID = "what-only-the-server-said"
SHORT = Limits(connect=2, read=0.3, refresh=5)
HTML = Given(200, f"<html><body>{SAID}<br></body></html>".encode(), {"Content-Type": "text/html; said=" + SAID})
CALENDAR = "/cal/"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    with radicale(tmp_path_factory.mktemp("radicale")) as account:
        yield account


@pytest.fixture
def account(running: Account) -> Iterator[Account]:
    """A Radicale with a calendar of two events, one of one event, and one of tasks."""
    running.calendar("office", "Work & more")
    running.calendar("tasks", component="VTODO")
    for calendar_name, uid in (("office", "standup"), ("office", "review"), ("home", "dinner")):
        running.put(calendar_name, event(uid))
    yield running
    running.send("DELETE", "", "")


def source(url: str, **options: Any) -> CalDav:
    chosen = {"user": USER, "password": SecretStr(PASSWORD), "limits": SHORT, **options}
    return CalDav(label="my account", url=url, **chosen)


def read(dav: CalDav) -> dict[str, str]:
    """The last part of each object's name, with the calendar that it belongs to."""
    return {piece.name.rpartition("/")[2]: piece.label for piece in pieces(dav)}


def pieces(dav: CalDav) -> Sequence[Piece]:
    return dav.pieces(lambda _done, _total: None)


def failure(dav: CalDav, server: Server | None, caplog: pytest.LogCaptureFixture) -> SourceError:
    """How a source fails, which tells nothing of where or who it is, nor what its server says."""
    with caplog.at_level(logging.INFO), pytest.raises(SourceError) as raised:
        pieces(dav)
    told = [str(raised.value), raised.value.remedy, caplog.text, repr(dav), *traceback.format_exception(raised.value)]
    port = str(server.port) if server else SAID
    assert not [word for word in (dav.url, "127.0.0.1", port, USER, PASSWORD, SAID) for each in told if word in each]
    return raised.value


ALL = {"standup.ics": "Work & more", "review.ics": "Work & more", "dinner.ics": "home"}
WORK = {"standup.ics": "Work & more", "review.ics": "Work & more"}


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("", ALL),
        ("astrid%40example.org/", ALL),
        ("astrid@example.org", ALL),
        ("astrid%40example.org/office/", WORK),
        ("astrid%40example.org/office", WORK),
    ],
)
def test_any_address_of_an_account_leads_to_its_calendars(
    account: Account, address: str, found: dict[str, str]
) -> None:
    """The root, the principal, the home and one calendar, with and without the slash at the end."""
    assert read(source(account.url + address)) == found


@pytest.mark.parametrize("only", [("Work & more",), ("office",), ("office", "Work & more")])
def test_calendars_are_chosen_by_display_name_or_last_part_of_the_address(
    account: Account, only: tuple[str, ...]
) -> None:
    """Both are seen by the owner of an account."""
    assert read(source(account.url, only=only)) == WORK


def test_calendar_that_is_named_but_not_there_is_missing(account: Account, caplog: pytest.LogCaptureFixture) -> None:
    """If others are there, a line of the log says how many are not."""
    assert failure(source(account.url, only=(SAID,)), None, caplog).reason == "missing"
    assert read(source(account.url, only=("office", SAID))) == WORK
    assert [record.message for record in caplog.records] == [
        "my account: 1 of the calendars that are named are not there"
    ]


def test_calendars_that_cannot_hold_events_are_not_read(account: Account) -> None:
    """A server for tasks asks for VTODO instead."""
    account.send("PUT", "tasks/buy.ics", event("buy").replace("VEVENT", "VTODO").replace("DTEND", "DUE"))
    assert "buy.ics" not in read(source(account.url))
    assert read(source(account.url, components=("VTODO",))) == {"buy.ics": "tasks"}


def test_pieces_hold_the_objects_as_the_server_gives_them(account: Account) -> None:
    """Names and states tell objects apart, and nobody sees them."""
    account.put("home", event("dinner", "Räksmörgås & <öl>"))
    found = {piece.name: piece for piece in pieces(source(account.url))}
    dinner = found[f"/{USER}/home/dinner.ics"]
    assert "SUMMARY:Räksmörgås & <öl>" in dinner.load().decode()
    assert len({piece.state for piece in found.values()}) == 3
    assert repr(dinner) == "Piece(label='home')"


def no_tokens(_: Asked, given: Given) -> Given:
    return replace(given, body=re.sub(rb"<(\w+:)?sync-token>.*?</(\w+:)?sync-token>", b"", given.body))


def no_marks(asked: Asked, given: Given) -> Given:
    given = no_tokens(asked, given)
    return replace(given, body=re.sub(rb"<(\w+:)?getctag>.*?</(\w+:)?getctag>", b"", given.body))


def no_states(asked: Asked, given: Given) -> Given:
    given = no_marks(asked, given)
    return replace(given, body=re.sub(rb"<(\w+:)?getetag>.*?</(\w+:)?getetag>", b"", given.body))


def expired(asked: Asked, given: Given) -> Given:
    if "<D:sync-collection" not in asked.body:
        return given
    return Given(403, b'<D:error xmlns:D="DAV:"><D:valid-sync-token/></D:error>')


def same(_: Asked, given: Given) -> Given:
    return given


def untold(asked: Asked, given: Given) -> Given:
    """The answer has no next token."""
    return no_tokens(asked, given) if asked.method == "REPORT" else given


def stuck(asked: Asked, given: Given) -> Given:
    """There would be more, always by the same token."""
    if "<D:sync-collection" not in asked.body:
        return given
    (token,) = re.findall("<D:sync-token>(.*?)</D:sync-token>", asked.body)
    return multistatus(status(asked.path, 507), token=token)


@pytest.mark.parametrize("change", [same, no_tokens, no_marks, expired, untold, stuck])
def test_only_what_changed_is_fetched_again(account: Account, change: Callable[[Asked, Given], Given]) -> None:
    """With sync tokens (RFC 6578), with ctags, with ETags only, and with tokens that are not valid any more."""
    with serving(in_front_of(account, change)) as server:
        dav = source(server.url)
        before = {piece.name: (piece.state, piece.load()) for piece in pieces(dav)}
        assert server.fetched == 3
        assert {piece.name: (piece.state, piece.load()) for piece in pieces(dav)} == before
        assert server.fetched == 0
        account.put("office", event("review", "Moved"))
        account.put("office", event("lunch"))
        account.delete("office", "standup")
        after = {piece.name: (piece.state, piece.load()) for piece in pieces(dav)}
        assert server.fetched == 2
    names = {name.rpartition("/")[2] for name in after}
    assert names == {"review.ics", "lunch.ics", "dinner.ics"}
    changed = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    assert [name.rpartition("/")[2] for name in changed] == ["review.ics"]


def test_calendars_that_did_not_change_cost_one_request(account: Account) -> None:
    """A ctag or a sync token for each comes with the list of calendars."""
    with serving(in_front_of(account)) as server:
        dav = source(server.url)
        pieces(dav)
        server.asked.clear()
        pieces(dav)
        assert [asked.method for asked in server.asked] == ["PROPFIND"]


def test_objects_without_etag_have_their_content_as_state(account: Account) -> None:
    """A server that tells nothing is read whole each time, and still equal states mean equal bytes."""
    with serving(in_front_of(account, no_states)) as server:
        dav = source(server.url)
        before = {piece.name: piece.state for piece in pieces(dav)}
        account.put("office", event("review", "Moved"))
        after = {piece.name: piece.state for piece in pieces(dav)}
        assert server.fetched == 6
    assert [name.rpartition("/")[2] for name in before if before[name] != after[name]] == ["review.ics"]


def test_calendars_appear_and_vanish(account: Account) -> None:
    """What was read of the others is kept."""
    with serving(in_front_of(account)) as server:
        dav = source(server.url)
        pieces(dav)
        account.put("club", event("match"))
        account.delete("home")
        server.asked.clear()
        assert read(dav) == WORK | {"match.ics": "club"}
        assert server.fetched == 1


def test_progress_is_told_while_objects_are_fetched(account: Account) -> None:
    """The last that is told is that all is done."""
    told: list[tuple[int, int]] = []
    dav = source(account.url)
    dav.pieces(lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3)
    assert all(done <= total == 3 for done, total in told)


def test_whatever_goes_wrong_is_a_source_error(account: Account, caplog: pytest.LogCaptureFixture) -> None:
    """Also a mistake in what is called; the log names its kind, and neither tells its text."""

    def tell(_done: int, _total: int) -> None:
        raise KeyError(SAID)

    with pytest.raises(SourceError, match="unreadable") as raised:
        source(account.url).pieces(tell)
    assert caplog.messages == ["my account: KeyError while it was read"]
    assert SAID not in "".join(traceback.format_exception(raised.value))


def test_what_was_read_before_a_failure_is_not_fetched_again(account: Account) -> None:
    """A big account comes in across several refreshes, if one is not enough."""
    stopped = Event()

    def change(asked: Asked, given: Given) -> Given:
        is_second = "calendar-multiget" in asked.body and "/home/" in asked.path
        return Given(500) if is_second and not stopped.is_set() else given

    with serving(in_front_of(account, change)) as server:
        dav = source(server.url)
        with pytest.raises(SourceError):
            pieces(dav)
        stopped.set()
        server.asked.clear()
        assert read(dav) == ALL
        assert server.fetched in {1, 3}


def test_threads_that_ask_at_once_share_what_is_read(account: Account) -> None:
    """Refreshes go one after the other."""
    with serving(in_front_of(account)) as server, ThreadPoolExecutor(8) as pool:
        dav = source(server.url)
        assert all(found == ALL for found in pool.map(read, repeat(dav, 8)))
        assert server.fetched == 3


def test_second_thread_does_not_wait_longer_than_a_refresh_may_take() -> None:
    """A call takes a bounded time, whoever else reads and however long they take to be told of it."""
    entered, leave = Event(), Event()

    def tell(_done: int, _total: int) -> None:
        entered.set()
        leave.wait(5)

    with serving(one_calendar(lambda _: multistatus(member("/object", "1", ics="data")))) as server:
        dav = source(server.url, limits=Limits(refresh=0.5))
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(dav.pieces, tell)
            assert entered.wait(5)
            with pytest.raises(SourceError, match="too_slow"):
                pieces(dav)
            leave.set()
            assert len(first.result(5)) == 1


def test_wrong_password_is_denied(account: Account, caplog: pytest.LogCaptureFixture) -> None:
    """Neither of the two is told."""
    assert failure(source(account.url, password=SecretStr(SAID)), None, caplog).reason == "denied"


def test_server_that_comes_back_is_read_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A failure is one of the moment."""
    with radicale(tmp_path) as account:
        account.put("home", event("dinner"))
        dav = source(account.url)
        assert read(dav) == {"dinner.ics": "home"}
        account.stop()
        assert failure(dav, None, caplog).reason == "unreachable"
        account.start()
        assert read(dav) == {"dinner.ics": "home"}


def held(**objects: str) -> Answer:
    """A server whose principal, home and calendar are at places of their own, and that wants a token."""
    principal = "<D:current-user-principal><D:href>/people/a/</D:href></D:current-user-principal>"
    home = "<C:calendar-home-set><D:href>/homes/a/</D:href></C:calendar-home-set>"
    about = {
        "/": response("/", principal),
        "/people/a/": response("/people/a/", principal + home),
        "/homes/a/": response("/homes/a/", principal) + calendar("/homes/a/cal/", principal),
        "/homes/a/cal/": calendar("/homes/a/cal/", principal),
    }

    def answer(asked: Asked) -> Given:
        if asked.headers.get("Authorization") != "Bearer a-token":
            return Given(401, SAID.encode(), {"WWW-Authenticate": f'Bearer realm="{SAID}"'})
        if asked.method == "REPORT":
            return multistatus(*(member(f"/homes/a/cal/{each}", each, ics=ics) for each, ics in objects.items()))
        if "getetag" in asked.body:
            return multistatus(*(member(f"/homes/a/cal/{each}", each) for each in objects))
        return multistatus(about[asked.path])

    return answer


@pytest.mark.parametrize("address", ["", "people/a/", "homes/a/", "homes/a/cal/"])
def test_token_goes_as_bearer(address: str, caplog: pytest.LogCaptureFixture) -> None:
    """RFC 6750; and root, principal, home and calendar each lead to the calendar (RFC 4791, section 6.2)."""
    with serving(held(dinner=event("dinner"))) as server:
        dav = source(server.url + address, user="", password=None, token=SecretStr("a-token"))
        assert read(dav) == {"dinner": "my account"}
        assert failure(source(server.url + address), server, caplog).reason == "denied"


def test_address_of_a_host_leads_to_its_well_known_place() -> None:
    """RFC 6764, section 5: where the root of a server is something else, such as a page."""

    def answer(asked: Asked) -> Given:
        moved = {"/": HTML, "/.well-known/caldav": Given(301, b"", {"Location": "/dav/"})}
        return moved.get(asked.path) or multistatus(calendar("/dav/") if asked.method == "PROPFIND" else "")

    with serving(answer) as server:
        dav = source(server.url)
        assert (pieces(dav), server.asked[-1].path) == ([], "/dav/")


@pytest.mark.parametrize("answer_at_depth", ["calendars", "refusal"])
def test_home_of_somebody_else_is_read_where_it_lists_calendars(answer_at_depth: str) -> None:
    """Its principal would lead to one's own home; an address that lists nothing does lead there."""
    own = "<C:calendar-home-set><D:href>/own/</D:href></C:calendar-home-set>"

    def answer(asked: Asked) -> Given:
        if asked.headers.get("Depth") == "0":
            return multistatus(response(asked.path, own))
        if asked.path == "/theirs/" and answer_at_depth == "refusal":
            return Given(403)
        name = asked.path.strip("/")
        if "calendar-home-set" in asked.body:
            return multistatus(calendar(f"{asked.path}{name}/"))
        return multistatus(member(f"{asked.path}object", "1", ics=name))

    with serving(answer) as server:
        (piece,) = pieces(source(f"{server.url}theirs/"))
    assert piece.name == ("/own/own/object" if answer_at_depth == "refusal" else "/theirs/theirs/object")


def test_connection_that_the_server_closed_in_silence_is_opened_again() -> None:
    """Servers close what was idle, and say so to nobody."""

    def answer(asked: Asked) -> Iterator[bytes]:
        if "calendar-home-set" in asked.body:
            given = multistatus(calendar("/"))
        else:
            given = multistatus(member("/object", "1", ics="data" if asked.method == "REPORT" else None))
        yield LINE + b"Content-Length: %d\r\n\r\n" % len(given.body) + given.body

    with serving(answer) as server:
        (piece,) = pieces(source(server.url))
    assert piece.load() == b"data"


def one_calendar(members: Answer, about: str = "") -> Answer:
    """A calendar at the root of a server, whose objects another answer gives."""

    def answer(asked: Asked) -> Given | Any:
        is_about = "calendar-home-set" in asked.body
        return multistatus(calendar("/", about)) if is_about else members(asked)

    return answer


def test_long_list_of_changes_is_read_in_parts() -> None:
    """RFC 6578, section 3.6: 507 for the collection, and a token for the rest."""
    states = {"a": "1", "b": "1"}
    parts = {
        "one": multistatus(member("/a", "2"), status("/", 507), token="two"),
        "two": multistatus(status("/b", 404), member("/c", "1"), token="three"),
    }
    ctag = iter("12")

    def answer(asked: Asked) -> Given:
        if "calendar-home-set" in asked.body:
            mark = f"<S:getctag>{next(ctag)}</S:getctag><D:sync-token>one</D:sync-token>"
            return multistatus(calendar("/", mark))
        if "calendar-multiget" in asked.body:
            hrefs = re.findall("<D:href>(.*?)</D:href>", asked.body)
            return multistatus(*(member(href, states.get(href[1:], "1"), ics=href) for href in hrefs))
        if asked.method == "PROPFIND":
            return multistatus(*(member(f"/{name}", state) for name, state in states.items()))
        (token,) = re.findall("<D:sync-token>(.*?)</D:sync-token>", asked.body)
        return parts[token]

    with serving(answer) as server:
        dav = source(server.url)
        # One request each for the place and the list of calendars: both ask what the root is.
        ctag = iter("1123")
        assert set(read(dav)) == {"a", "b"}
        states["a"] = "2"
        server.asked.clear()
        assert set(read(dav)) == {"a", "c"}
        assert server.fetched == 2


def test_object_that_is_too_large_alone_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    """By what the server says of its size, or by what comes; the log names the label and the size."""
    large = 9 * 2**20

    def answer(asked: Asked) -> Given:
        if asked.method == "PROPFIND":
            sizes = {"said": large, "unsaid": None, "longer": None, "small": 4}
            return multistatus(*(member(f"/{name}", "1", size=size) for name, size in sizes.items()))
        assert "/said<" not in asked.body
        texts = {"/unsaid": "x" * large, "/longer": "x" * 11_000_000, "/small": "tiny"}
        asked_for = [href for href in texts if f">{href}<" in asked.body]
        return multistatus(*(member(href, "1", ics=texts[href]) for href in asked_for))

    with serving(one_calendar(answer)) as server:
        dav = source(server.url, limits=Limits())
        assert list(read(dav)) == ["small"]
        assert len(caplog.messages) == 3
        assert all(re.fullmatch(r"my account: an object of \d+ bytes is left out", each) for each in caplog.messages)
        caplog.clear()
        server.asked.clear()
        assert list(read(dav)) == ["small"]
        assert (server.fetched, caplog.messages) == (0, [])


def test_object_that_the_server_does_not_give_does_not_hide_the_others(caplog: pytest.LogCaptureFixture) -> None:
    """One that went away in the meantime is nothing to tell; one that the server cannot give is."""

    def answer(asked: Asked) -> Given:
        if asked.method == "PROPFIND":
            return multistatus(*(member(f"/{name}", "1") for name in ("good", "gone", "broken")))
        return multistatus(member("/good", "1", ics="data"), status("/gone", 404), status("/broken", 500))

    with serving(one_calendar(answer)) as server:
        assert list(read(source(server.url))) == ["good"]
    assert caplog.messages == ["my account: the server does not give 1 objects"]


def forever(first: bytes, then: bytes, ended: Event) -> Iterator[bytes]:
    """Bytes that come slowly for as long as they are read."""
    yield first
    while not ended.wait(0.02):
        yield then


LINE = b"HTTP/1.1 207 Multi-Status\r\n"
BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (n, b"&%c;" % (n - 1) * 10) for n in range(98, 108))
    + b']><D:multistatus xmlns:D="DAV:"><D:response><D:href>&k;</D:href></D:response></D:multistatus>'
)
OUTSIDE = (
    b'<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    b'<D:multistatus xmlns:D="DAV:"><D:response><D:href>&a;</D:href></D:response></D:multistatus>'
)
XML = {"Content-Type": "application/xml; said=" + SAID}

WRONG: dict[str, tuple[Given, Reason]] = {
    "html": (HTML, "unreadable"),
    "html as multistatus": (replace(HTML, status=207), "unreadable"),
    "nothing": (Given(207), "unreadable"),
    "no content": (Given(204), "unreadable"),
    "no response": (multistatus(), "unreadable"),
    "broken xml": (Given(207, f"<D:multistatus xmlns:D='DAV:'>{SAID}".encode(), XML), "unreadable"),
    "other xml": (Given(207, f"<other>{SAID}</other>".encode(), XML), "unreadable"),
    "entities": (Given(207, BOMB, XML), "unreadable"),
    "outer entity": (Given(207, OUTSIDE, XML), "unreadable"),
    "deep xml": (Given(207, b"<a>" * 100_000, XML), "unreadable"),
    "broken gzip": (Given(207, SAID.encode(), {"Content-Encoding": "gzip"}), "unreadable"),
    "other coding": (Given(207, SAID.encode(), {"Content-Encoding": SAID}), "unreadable"),
    "bomb": (Given(207, gzip.compress(bytes(2**24)), {"Content-Encoding": "gzip"}), "too_large"),
    "long": (Given(207, bytes(2**21)), "too_large"),
    "short": (Given(207, b"<D:multistatus", {"Content-Length": "1000"}), "unreachable"),
    "forbidden": (Given(403, SAID.encode()), "denied"),
    "not found": (Given(404, SAID.encode()), "missing"),
    "no method": (Given(405, SAID.encode()), "unreadable"),
    "too many": (Given(429, SAID.encode(), {"Retry-After": "3600"}), "unreachable"),
    "failed": (Given(500, SAID.encode()), "unreachable"),
    "overloaded": (Given(503, SAID.encode(), {"Retry-After": "3600"}), "unreachable"),
    "circle": (Given(302, SAID.encode(), {"Location": "/account/"}), "unreachable"),
    "nowhere": (Given(301), "unreachable"),
    "no address": (Given(301, b"", {"Location": "http://[" + SAID}), "unreadable"),
    "other answer": (Given(303, b"", {"Location": "/"}), "unreadable"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answer_is_explained_and_not_told(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """Each has a reason and a remedy, and none is waited for or repeated in text or log."""
    given, reason = WRONG[name]
    began = monotonic()
    with serving(lambda _: given) as server:
        limits = replace(SHORT, size=2**20)
        error = failure(source(f"{server.url}account/", limits=limits), server, caplog)
        assert len(server.asked) <= limits.redirects + 1
    assert error.reason == reason
    assert re.fullmatch(r"[A-Z][^\n]*\.", error.remedy)
    assert monotonic() - began < 2


@pytest.mark.parametrize(
    ("first", "then"),
    [(b"", b"H"), (LINE, b"X-Header: more\r\n"), (LINE + b"Content-Length: 1000000\r\n\r\n", b"<"), (b"", LINE)],
)
def test_server_that_never_ends_is_too_slow(first: bytes, then: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """A byte now and then, in the status, in the headers or in the body, does not keep a refresh alive."""
    began, ended = monotonic(), Event()
    with serving(lambda _: forever(first, then, ended)) as server:
        error = failure(source(server.url, limits=replace(SHORT, refresh=0.5)), server, caplog)
        ended.set()
    assert error.reason in ({"too_slow", "unreadable"} if not first and then != b"H" else {"too_slow"})
    assert monotonic() - began < 2


def test_server_that_says_nothing_is_unreachable(caplog: pytest.LogCaptureFixture) -> None:
    """The time between two bytes has a limit of its own."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        assert failure(source(url), None, caplog).reason == "unreachable"
        assert failure(source(url.replace("http:", "https:")), None, caplog).reason == "unreachable"


def test_host_that_cannot_be_looked_up_is_unreachable(caplog: pytest.LogCaptureFixture) -> None:
    """A label of a host name has at most 63 characters, so that no name server is asked."""
    assert failure(source(f"https://{'a' * 64}.example/"), None, caplog).reason == "unreachable"


def test_what_is_no_http_is_unreadable(caplog: pytest.LogCaptureFixture) -> None:
    """Other protocols answer too."""
    with serving(lambda _: [b"220 mail says " + SAID.encode() + b"\r\n"]) as server:
        assert failure(source(server.url), server, caplog).reason == "unreadable"


def test_server_that_hangs_up_is_unreachable(caplog: pytest.LogCaptureFixture) -> None:
    """A new connection that ends without an answer is not tried again."""
    with serving(lambda _: []) as server:
        assert failure(source(server.url), server, caplog).reason == "unreachable"
        assert len(server.asked) == 1


def test_certificate_has_to_be_trusted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is sent to a server that cannot say who it is, unless its authority is named."""
    trusted = certificate(tmp_path / "server.pem")
    with serving(one_calendar(lambda _: multistatus()), certificate=trusted) as server:
        error = failure(source(server.url), server, caplog)
        assert (error.reason, server.asked) == ("unreachable", [])
        assert "certificate" in error.remedy
        assert pieces(source(server.url, ca_file=trusted)) == []
        assert failure(source(server.url, ca_file=tmp_path / "none.pem"), server, caplog).reason == "missing"
        named = source(server.url.replace("127.0.0.1", "localhost"), ca_file=trusted)
        assert failure(named, server, caplog).reason == "unreachable"


def test_redirect_to_another_origin_gets_no_credentials() -> None:
    """Another port is another origin; where a redirect stays in one, the credentials go along."""
    with serving(one_calendar(lambda _: multistatus())) as other:

        def answer(asked: Asked) -> Given:
            return Given(308, b"", {"Location": other.url if asked.path == "/there/" else "/there/"})

        with serving(answer) as server:
            assert pieces(source(server.url)) == []
            assert all("Authorization" in asked.headers for asked in server.asked)
            assert other.asked
            assert not [asked for asked in other.asked if "Authorization" in asked.headers]
            other.asked.clear()
            assert pieces(source(server.url, origins=(other.url,))) == []
            assert all("Authorization" in asked.headers for asked in other.asked)


@pytest.mark.parametrize("location", [f"http://{SAID}.example/", "file:///etc/passwd", "//[::ffff:192.0.2.1]/"])
def test_redirect_to_what_is_not_encrypted_is_refused(location: str, caplog: pytest.LogCaptureFixture) -> None:
    """Only loopback is asked in clear, also on the way."""
    with serving(lambda _: Given(307, b"", {"Location": location})) as server:
        error = failure(source(server.url), server, caplog)
    assert (error.reason, error.remedy) == (
        "unreachable",
        "The server sends on to where nothing is encrypted; check its URL.",
    )


def test_redirect_from_https_to_http_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Even on loopback, and even where plain HTTP is allowed."""
    trusted = certificate(tmp_path / "server.pem")
    with serving(lambda _: HTML) as plain:
        to_plain = Given(301, b"", {"Location": plain.url})
        with serving(lambda _: to_plain, certificate=trusted) as server:
            dav = source(server.url, ca_file=trusted, allow_http=True)
            assert failure(dav, server, caplog).reason == "unreachable"
        assert plain.asked == []


def test_nothing_is_read_from_the_surroundings(
    account: Account, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No .netrc, no proxies, and no settings of the library."""
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login {USER} password {PASSWORD}")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("CALDAV_USERNAME", USER)
    monkeypatch.setenv("CALDAV_PASSWORD", PASSWORD)
    assert read(source(account.url)) == ALL
    with pytest.raises(SourceError, match="denied"):
        pieces(source(account.url, user="", password=None))


def test_only_what_reads_is_ever_sent(account: Account) -> None:
    """The session refuses other methods before it connects."""
    with serving(in_front_of(account)) as server:
        pieces(source(server.url))
        assert {asked.method for asked in server.asked} == {"PROPFIND", "REPORT"} < METHODS
        server.asked.clear()
        session = BoundedSession(Access(origins=frozenset(), authorization=None), SHORT)
        for method in ("PUT", "DELETE", "POST", "PROPPATCH", "MKCALENDAR", "MOVE", "put"):
            with pytest.raises(ValueError, match="not sent"):
                session.request(method, server.url, headers={})
        assert server.asked == []


@pytest.mark.parametrize(
    "options",
    [
        {"url": "http://calendar.example/"},
        {"url": "ftp://127.0.0.1/"},
        {"url": "calendar.example"},
        {"url": "https://"},
        {"url": "https://[calendar"},
        {"url": "https://calendar.example:port/"},
        {"url": f"https://{SAID}@calendar.example/"},
        {"token": SecretStr(SAID)},
        {"token": SecretStr("a-token"), "user": ""},
        {"user": ""},
        {"user": f"{SAID}:{SAID}"},
        {"user": "", "password": None, "token": SecretStr("ü")},
        {"user": "", "password": None, "token": SecretStr("two\r\nlines")},
    ],
)
def test_arguments_that_make_no_account_are_refused(options: dict[str, Any]) -> None:
    """Where a source is made, with texts that hold none of them."""
    with pytest.raises(ValueError, match="calendar account") as raised:
        source(**{"url": "https://calendar.example/", **options})
    assert not [word for word in (SAID, "calendar.example", USER, PASSWORD) if word in str(raised.value)]


def test_plain_http_to_another_machine_has_to_be_allowed() -> None:
    """Nothing is sent where a source is made."""
    assert source("http://calendar.example/", allow_http=True).allow_http
    assert source("http://localhost/") == source("http://localhost/")


def test_source_shows_its_label_only() -> None:
    """Neither an address nor a secret is in its repr."""
    dav = source(f"https://{SAID}.example/", password=SecretStr(SAID), origins=(f"https://{SAID}.example/",))
    assert "my account" in repr(dav)
    assert not [word for word in (SAID, USER) if word in repr(dav)]
