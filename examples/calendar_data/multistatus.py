"""The XML of CalDAV: what is asked (RFC 4791, RFC 6578), and the multistatus that answers (RFC 4918)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import escape

from calendar_data.sources import SourceError

_SPACES = {"D": "DAV:", "C": "urn:ietf:params:xml:ns:caldav", "S": "http://calendarserver.org/ns/"}
_DECLARED = " ".join(f'xmlns:{prefix}="{space}"' for prefix, space in _SPACES.items())

_ABOUT = (
    "D:resourcetype",
    "D:displayname",
    "D:current-user-principal",
    "C:calendar-home-set",
    "C:supported-calendar-component-set",
    "S:getctag",
    "D:sync-token",
)
_MEMBER = ("D:resourcetype", "D:getetag", "D:getcontentlength")


def _tag(name: str) -> str:
    prefix, _, local = name.partition(":")
    return f"{{{_SPACES[prefix]}}}{local}"


def _document(name: str, inside: str) -> str:
    return f'<?xml version="1.0" encoding="utf-8"?><{name} {_DECLARED}>{inside}</{name}>'


def _asked(names: Iterable[str]) -> str:
    return f"<D:prop>{''.join(f'<{name}/>' for name in names)}</D:prop>"


ABOUT = _document("D:propfind", _asked(_ABOUT))
"""Asks what a collection is."""

MEMBERS = _document("D:propfind", _asked(_MEMBER))
"""Asks what a calendar holds, without what is in it."""


def changes(token: str) -> str:
    """Asks what changed since a token (RFC 6578, section 3.2)."""
    inside = f"<D:sync-token>{escape(token)}</D:sync-token><D:sync-level>1</D:sync-level>{_asked(_MEMBER)}"
    return _document("D:sync-collection", inside)


def contents(hrefs: Iterable[str]) -> str:
    """Asks what is in some objects (RFC 4791, section 7.9)."""
    named = "".join(f"<D:href>{escape(href)}</D:href>" for href in hrefs)
    return _document("C:calendar-multiget", _asked(("D:getetag", "C:calendar-data")) + named)


@dataclass(frozen=True, slots=True)
class Resource:
    """What a server says of one resource; `href` is as it writes it."""

    href: str = field(repr=False)
    status: int
    properties: Mapping[str, Any] = field(repr=False)

    @property
    def path(self) -> str:
        """The same for all ways to write one href."""
        return unquote(urlsplit(self.href).path)

    @property
    def is_there(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def etag(self) -> str | None:
        """The same for one state, however strictly a server quotes."""
        said = self.text("D:getetag")
        return said and said.removeprefix("W/").strip('"')

    def text(self, name: str) -> str | None:
        found = self.properties.get(_tag(name))
        return None if found is None else "".join(found.itertext()).strip() or None

    def calendar_data(self) -> bytes | None:
        found = self.properties.get(_tag("C:calendar-data"))
        return None if found is None else "".join(found.itertext()).encode()

    def hrefs(self, name: str) -> list[str]:
        found = self.properties.get(_tag(name))
        return [] if found is None else [text for each in found.iterfind("{DAV:}href") if (text := _text(each))]

    def has(self, name: str, inside: str) -> bool:
        found = self.properties.get(_tag(name))
        return found is not None and found.find(_tag(inside)) is not None

    def components(self) -> frozenset[str] | None:
        """What a calendar can hold; nothing said is everything (RFC 4791, section 5.2.3)."""
        found = self.properties.get(_tag("C:supported-calendar-component-set"))
        return None if found is None else frozenset(each.get("name", "") for each in found)


def resources(tree: Any) -> list[Resource]:
    """The responses of a multistatus.

    Raises:
        SourceError: It is none, or it has a document type, which could hold entities.
    """
    if tree is None or tree.tag != "{DAV:}multistatus" or tree.getroottree().docinfo.doctype:
        raise SourceError("unreadable", "The server does not answer as CalDAV; check the URL of the calendar account.")
    return [_resource(each) for each in tree.iterfind("{DAV:}response")]


def token(tree: Any) -> str:
    """The token that goes with the changes, or nothing."""
    return _text(tree.find("{DAV:}sync-token"))


def _resource(response: Any) -> Resource:
    status = response.find("{DAV:}status")
    said: Sequence[Any] = response.findall("{DAV:}propstat")
    properties = {
        each.tag: each
        for part in said
        if _code(part.find("{DAV:}status")) == HTTPStatus.OK
        for each in part.iterfind("{DAV:}prop/{*}*")
    }
    return Resource(_text(response.find("{DAV:}href")), _code(status), properties)


def _text(element: Any) -> str:
    return "" if element is None else (element.text or "").strip()


def _code(status: Any) -> int:
    """The number of a status line, where a server gives one."""
    parts = _text(status).split()
    if not parts:
        return HTTPStatus.OK
    return int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else 0
