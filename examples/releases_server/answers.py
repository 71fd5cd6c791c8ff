"""What is read of the answers of App Store Connect: resources of known types, and of them what is named here."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

TYPES = frozenset(
    {
        "apps",
        "appStoreVersions",
        "appStoreVersionPhasedReleases",
        "appStoreVersionLocalizations",
        "appInfos",
        "appInfoLocalizations",
        "appCategories",
    }
)
"""The resources that are kept. Details for App Review, which hold a password, are none of them."""

Resource = Mapping[str, Any]
_HUGE = 10**6
_HUGE_ID = 10**18


def resources(answer: Mapping[str, Any], kind: str, *, among: str = "data") -> Iterator[Resource]:
    """The resources of a type that an answer holds, one or many; what has no id is left out. An id is always a text."""
    held = answer.get(among)
    for each in held if isinstance(held, list) else [held]:
        if isinstance(each, dict) and each.get("type") == kind and (identity := _identity(each)):
            yield {**each, "id": identity}


def text(resource: Resource, name: str) -> str | None:
    """An attribute that is a text. Half of a character, as JSON can have it, is replaced."""
    found = _attributes(resource).get(name)
    return found.encode("utf-8", "replace").decode() if isinstance(found, str) else None


def number(resource: Resource, name: str) -> int | None:
    """An attribute that is a whole number, of a size that makes sense."""
    found = _attributes(resource).get(name)
    return found if type(found) is int and abs(found) < _HUGE else None


def related(resource: Resource, name: str) -> tuple[bool, str | None]:
    """Whether an answer says what is at the other end of a relationship, and the id of it, if there is any."""
    found = resource.get("relationships")
    relationship = found.get(name) if isinstance(found, dict) else None
    if not isinstance(relationship, dict) or "data" not in relationship:
        return False, None
    end = relationship["data"]
    return True, _identity(end) if isinstance(end, dict) else None


def kept(raw: bytes, answer: Mapping[str, Any]) -> bytes:
    """An answer as it is stored: as it came, unless there is something in it that nobody asked for."""
    wanted: dict[str, Any] = {}
    for among in ("data", "included"):
        held = answer.get(among)
        if isinstance(held, list):
            wanted[among] = [each for each in held if _is_wanted(each)]
        elif isinstance(held, dict) and not _is_wanted(held):
            wanted[among] = None
    if all(answer[among] == each for among, each in wanted.items()):
        return raw
    return json.dumps({**answer, **wanted}, ensure_ascii=False).encode()


def _is_wanted(resource: object) -> bool:
    return isinstance(resource, dict) and resource.get("type") in TYPES


def _identity(resource: Resource) -> str | None:
    """An id, which files written by hand may have as a number."""
    found = resource.get("id")
    if type(found) is int and 0 <= found < _HUGE_ID:
        return str(found)
    return found if isinstance(found, str) else None


def _attributes(resource: Resource) -> Mapping[str, Any]:
    found = resource.get("attributes")
    return found if isinstance(found, dict) else {}
