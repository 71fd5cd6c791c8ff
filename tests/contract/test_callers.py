"""Who calls, as each class finds it out, and what follows from it: less, never more."""

from dataclasses import replace
from typing import Any

import anyio
import httpx2
import pytest

from contract.asking import Place, asking
from contract.conversation import DAY
from contract.differences import NEW, OLD
from contract.places import PLACES, TRANSPORTS, Servers
from contract.serving import KINDS, TOKENS, build

# A process of its own for each question is dear, so the TypeScript SDK asks in its newest revision only.
REMOTE = [
    place
    for place in PLACES
    if place.transport == "http" and (place.client != "typescript" or place.revision == OLD[-1])
]
MEMORY = [Place(kind=kind, transport="memory", revision=revision) for kind in KINDS for revision in OLD + NEW]
# A header may hold bytes that are controls in Latin-1: 0x9b begins an escape sequence.
HEADER = b"red\x9b31mteam " + b"x" * 5000


def ask(place: Place, tool: str, **given: Any) -> dict[str, Any]:
    async def asked() -> dict[str, Any]:
        async with asking(place) as asker:
            return await asker.call(tool, **given)

    return anyio.run(asked)


def event(place: Place) -> dict[str, Any]:
    """The first event that is told there."""
    found: dict[str, Any] = ask(place, "as_json", day=DAY)["structuredContent"]["events"][0]
    return found


@pytest.fixture(params=MEMORY, ids=str)
def near(request: pytest.FixtureRequest) -> Place:
    """A class and a revision, in memory."""
    place: Place = request.param
    return place


def with_client(place: Place, request: pytest.FixtureRequest) -> Place:
    return replace(place, folder=request.getfixturevalue("folder")) if place.client == "typescript" else place


@pytest.fixture(scope="module")
def known() -> dict[Place, list[dict[str, Any]]]:
    return {}


@pytest.fixture(params=REMOTE, ids=str)
def principals(
    request: pytest.FixtureRequest, servers: Servers, known: dict[Place, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """What three principals were told over HTTP, each with a bearer token of its own; asked once."""
    place: Place = request.param
    if place not in known:
        far = replace(with_client(place, request), url=servers.urls(place.kind)[1])
        handle = ""
        known[place] = []
        for token in TOKENS:
            named = replace(far, headers={"Authorization": f"Bearer {token}"})
            known[place].append(anyio.run(_look_around, named, handle))
            handle = handle or known[place][0]["event"]["id"]
    return known[place]


async def _look_around(place: Place, foreign: str) -> dict[str, Any]:
    """Who the server says that one is, its first event, and what comes of its handle and of a foreign one."""
    async with asking(place) as asker:
        (first, *_) = (await asker.call("as_json", day=DAY))["structuredContent"]["events"]
        return {
            "seen": [(await asker.call(tool))["structuredContent"] for tool in ("whoami", "whoami_in_a_thread")],
            "event": first,
            "own": await asker.call("get_event", event_id=first["id"]),
            "foreign": await asker.call("get_event", event_id=foreign),
            "invented": await asker.call("get_event", event_id="x"),
        }


def test_a_token_tells_principal_subject_and_scopes(principals: list[dict[str, Any]]) -> None:
    """Who calls: a real bearer token over HTTP, in functions that are async and in those that run in a thread."""
    for seen in principals[0]["seen"]:
        assert (seen["principal"], seen["subject"], seen["scopes"]) == ("trusted", "issuer ada", ["read", "write"])
        assert seen["identity"] == "principal trusted for issuer ada"
        assert seen["client"] == "contract"
    assert [each["seen"][0]["principal"] for each in principals] == ["trusted", "guest", "other"]


def test_principals_are_narrowed_by_name(principals: list[dict[str, Any]]) -> None:
    """Rule 4: a named principal gets its own grant, whoever has no name there the setting."""
    most = {"id", "start", "title", "place", "notes"}
    assert [set(each["event"]) for each in principals] == [most, most - {"notes"}, most]


def test_a_handle_of_another_principal_is_refused(principals: list[dict[str, Any]]) -> None:
    """Handles: ids differ, and a foreign one gets the same text as one that never was."""
    assert len({each["event"]["id"] for each in principals}) == len(TOKENS)
    assert not [each for each in principals if each["own"].get("isError")]
    for each in principals[1:]:
        assert each["foreign"]["isError"]
        assert each["foreign"]["content"] == each["invented"]["content"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("token", ["", "no-such-token"])
def test_without_a_known_token_nothing_is_answered(kind: str, token: str, servers: Servers) -> None:
    """Each class refuses before any tool is asked."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"} if token else {}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = httpx2.post(servers.urls(kind)[1], json=request, headers=headers)
    assert answer.status_code == 401
    assert "as_json" not in answer.text


def test_strangers_get_the_narrowest_where_principals_are_named(near: Place) -> None:
    """Rule 4: whoever is not authenticated, on any transport."""
    strangers = replace(near, server=build(near.kind, principals=True))
    assert set(event(strangers)) == {"id", "start", "title"}
    assert event(strangers)["title"] == "[Event]"


def test_clients_are_narrowed_by_the_name_that_they_give(near: Place) -> None:
    """Rule 4: by hand, for the ones that are named; the others keep the setting."""
    assert set(event(replace(near, name="noisy"))) == {"id", "start", "title"}
    assert "notes" in event(replace(near, name="quiet"))


def test_handles_and_cursors_of_another_client_are_refused(near: Place) -> None:
    """Both are bound to the name that a client gives, on every class alike."""
    one, two = replace(near, name="one"), replace(near, name="two")
    handle, cursor = event(one)["id"], ask(one, "paged")["structuredContent"]["page"]["next"]
    assert not ask(one, "get_event", event_id=handle)["isError"]
    assert not ask(one, "paged", cursor=cursor)["isError"]
    assert ask(two, "get_event", event_id=handle)["isError"]
    assert ask(two, "paged", cursor=cursor)["isError"]


def test_a_client_name_is_cleaned_and_cut(near: Place) -> None:
    """Rule 10: what a client says of itself goes into logs and records."""
    assert ask(replace(near, name="one\x1b[31m\u202e"), "whoami")["structuredContent"]["client"] == "one"
    assert ask(replace(near, name="x" * 5000), "whoami")["structuredContent"]["client"] == "x" * 200


@pytest.mark.parametrize("place", [place for place in REMOTE if place.client != "fastmcp"], ids=str)
def test_headers_are_cleaned_and_cut(place: Place, servers: Servers, request: pytest.FixtureRequest) -> None:
    """Rule 10: without controls and no longer than 200 characters each; FastMCP's client sends ASCII only."""
    header: Any = HEADER if place.client == "python" else HEADER.decode("latin-1")
    far = replace(with_client(place, request), url=servers.urls(place.kind)[0], headers={"X-Team": header})
    seen = ask(far, "headers")["structuredContent"]
    assert seen["team"].startswith("redteam xxx")
    assert len(seen["team"]) == seen["longest"] == 200


@pytest.mark.parametrize("kind", KINDS)
def test_in_memory_and_over_stdio_there_are_no_headers(kind: str) -> None:
    """Nothing is made up where the transport has none."""
    for transport in TRANSPORTS[:2]:
        place = Place(kind=kind, transport=transport, revision=NEW[0])
        assert ask(place, "headers")["structuredContent"] == {"team": None, "longest": 0}
