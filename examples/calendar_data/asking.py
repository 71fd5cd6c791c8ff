"""What is asked of a CalDAV server, through the library `caldav`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from calendar_data import multistatus
from calendar_data.bounded import Access, BoundedSession
from calendar_data.multistatus import Resource
from calendar_data.sources import SourceError
from calendar_data.wire import Limits

_STORED = frozenset({HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.NO_CONTENT})
LARGEST = 8 * 2**20
"""Bytes of one object; larger ones are left out."""


class RefusedError(Exception):
    """A server says no, with a status of HTTP that is no reason to stop yet."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class TooLongError(Exception):
    """An answer of so many characters cannot be read as XML: libxml2 takes up to 10,000,000 in one text."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class Place(NamedTuple):
    """Where calendars are listed: a home with some of them, or one of them."""

    url: str
    depth: int


@dataclass(frozen=True, slots=True)
class Asking:
    """The questions of one refresh.

    Raises:
        SourceError: All of its methods, where the server cannot be read.
        RefusedError: All of its methods, where the server says no to the one question.
    """

    client: Any
    session: BoundedSession

    def about(self, url: str, depth: int = 0) -> list[tuple[str, Resource]]:
        """What a collection and those in it are, with their absolute addresses."""
        found = multistatus.resources(self._tree("PROPFIND", url, multistatus.ABOUT, depth))
        return [(urljoin(self.session.url, each.href), each) for each in found]

    def members(self, url: str) -> list[Resource]:
        return multistatus.resources(self._tree("PROPFIND", url, multistatus.MEMBERS, 1))

    def changes(self, url: str, token: str) -> tuple[list[Resource], str] | None:
        """What changed since a token, and the next one; nothing where the token is of no use any more."""
        changed: list[Resource] = []
        while True:
            try:
                tree = self._tree("REPORT", url, multistatus.changes(token), 0)
            except RefusedError:
                return None
            found, following = multistatus.resources(tree), multistatus.token(tree)
            is_whole = all(each.status != HTTPStatus.INSUFFICIENT_STORAGE for each in found)
            changed += found
            if is_whole:
                return (changed, following) if following else None
            # RFC 6578, section 3.6: 507 says that the rest comes with the next token.
            if following in {"", token}:
                return None
            token = following

    def contents(self, url: str, hrefs: Sequence[str]) -> list[Resource]:
        """The objects with what is in them.

        Raises:
            TooLongError: They are too much for one answer.
        """
        return multistatus.resources(self._tree("REPORT", url, multistatus.contents(hrefs), None))

    def content(self, url: str) -> tuple[bytes, str]:
        """An object as it is now, with its entity tag, which is empty where the server has none."""
        # Servers give what they compress another tag, under which they do not know it any more.
        headers = {"Accept": "text/calendar", "Accept-Encoding": "identity"}
        answer = self.session.request("GET", url, headers=headers)
        if answer.status_code != HTTPStatus.OK:
            raise RefusedError(answer.status_code)
        return answer.content, answer.etag

    def put(self, url: str, content: bytes, etag: str) -> bool:
        """Store an object if it is still what has the entity tag (RFC 4791, section 5.3.2); whether it was."""
        # A weak tag matches nothing (RFC 9110, 13.1.1); most are strong ones that something in between weakened.
        headers = {"Content-Type": "text/calendar; charset=utf-8", "If-Match": etag.removeprefix("W/")}
        status = self.session.request("PUT", url, data=content, headers=headers).status_code
        if status not in {*_STORED, HTTPStatus.PRECONDITION_FAILED}:
            raise RefusedError(status)
        return status in _STORED

    def places(self, url: str) -> list[Place]:
        """Where the calendars of an account are, by the address of any part of it (RFC 4791, section 6.2)."""
        [(address, found), *_] = self._entrance(url)
        if is_calendar(found):
            return [Place(address, 0)]
        homes = self._homes(address, found)
        inside = [each for each in homes if _path(each).startswith(_path(address))]
        if inside or not self._has_calendars(address):
            return [Place(each, 1) for each in homes or [address]]
        return [Place(address, 1)]

    def _entrance(self, url: str) -> list[tuple[str, Resource]]:
        try:
            return self.about(url)
        except (RefusedError, SourceError) as error:
            reason = getattr(error, "reason", "unreadable")
            if _path(url) != "/" or reason != "unreadable":
                raise
        return self.about(urljoin(url, "/.well-known/caldav"))

    def _homes(self, address: str, found: Resource) -> list[str]:
        homes = found.hrefs("C:calendar-home-set")
        for principal in found.hrefs("D:current-user-principal")[:1] if not homes else []:
            [(address, person), *_] = self.about(urljoin(address, principal))
            homes = person.hrefs("C:calendar-home-set")
        return [urljoin(address, home) for home in homes]

    def _has_calendars(self, url: str) -> bool:
        try:
            return any(is_calendar(found) for _, found in self.about(url, 1))
        except RefusedError:
            return False

    def _tree(self, method: str, url: str, body: str, depth: int | None) -> Any:
        from caldav.lib.error import AuthorizationError

        headers = {} if depth is None else {"Depth": str(depth)}
        try:
            response = self.client.request(url, method, body, headers)
        except AuthorizationError as error:
            raise RefusedError(error.status or HTTPStatus.FORBIDDEN) from None
        if response.status not in {HTTPStatus.OK, HTTPStatus.MULTI_STATUS}:
            raise RefusedError(response.status)
        if response.tree is None and len(response.raw) > LARGEST:
            raise TooLongError(len(response.raw))
        return response.tree


@contextmanager
def asking(url: str, access: Access, limits: Limits) -> Iterator[Asking]:
    """Questions to one account, for one refresh."""
    # The library and what it needs are imported by those who have an account.
    from caldav.davclient import DAVClient

    session = BoundedSession(access, limits)
    client: Any = DAVClient(url, enable_rfc6764=False)
    client.session.close()
    client.session = session
    try:
        yield Asking(client, session)
    finally:
        session.close()


def is_calendar(found: Resource) -> bool:
    return found.has("D:resourcetype", "C:calendar")


def _path(url: str) -> str:
    return unquote(urlsplit(url).path).rstrip("/") + "/"
