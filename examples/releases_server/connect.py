"""A client of the App Store Connect API that only reads: one origin, bounded in size and time, patient with limits."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Self

import httpx2

from mcpshape import UserError
from releases_server.keys import Key, Tokens
from releases_server.replies import Reply, exhausted, listed, parsed, refused, seconds, total, unusable

API = "https://api.appstoreconnect.apple.com"
_LARGEST = 16 * 2**20
_MOST_PAGES = 200
_MOST_TRIES = 5
_LONGEST_WAIT = 120.0
_LONGEST_ANSWER = 120.0
_TIMEOUT = httpx2.Timeout(30.0, connect=10.0)
_TRY_AGAIN = frozenset({429, 500, 502, 503, 504})
_REMAINING = re.compile(r"user-hour-rem:\s*(\d+)")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the API, as it came and as what it says."""

    raw: bytes = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How time passes: for a pull as a whole in `seconds`, and for a wait before one more try."""

    seconds: float = 3600.0
    clock: Callable[[], float] = time.time
    wait: Callable[[float], object] = time.sleep


class Connect:
    """The API for one key. Tokens go to one origin, in a header, and nowhere else."""

    def __init__(self, key: Key, *, api: str = API, patience: Patience | None = None) -> None:
        self._patience = patience or Patience()
        self._origin = require_origin(api)
        self._tokens = Tokens(key, self._patience.clock)
        self._ends = self._patience.clock() + self._patience.seconds
        is_local = _is_loopback(self._origin.host)
        self._client = httpx2.Client(timeout=_TIMEOUT, follow_redirects=False, trust_env=not is_local)
        self.requests = 0
        self.remaining: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def pages(self, path: str, **query: str) -> Iterator[Answer]:
        """All pages of a list.

        Raises:
            UserError: They cannot be had whole.
        """
        url = self._origin.join(path).copy_merge_params({"limit": "200", **query})
        seen: set[str] = set()
        count = 0
        while True:
            seen.add(str(url))
            answer = self._get(url)
            count += len(listed(answer.data))
            yield answer
            following = self._following(answer.data)
            if following is None:
                break
            if str(following) in seen or len(seen) >= _MOST_PAGES:
                raise unusable("The pages of a list do not end.")
            url = following
        if count < total(answer.data):
            raise unusable("A list ended before all of it was there.")

    def one(self, path: str) -> Answer | None:
        """What is at an address, or `None` where the API says that there is nothing.

        Raises:
            UserError: It cannot be had.
        """
        return self._get_or_none(self._origin.join(path))

    def _following(self, data: Mapping[str, Any]) -> httpx2.URL | None:
        links = data.get("links")
        following = links.get("next") if isinstance(links, dict) else None
        if following is None:
            return None
        try:
            url = self._origin.join(following)
        except (httpx2.InvalidURL, TypeError, ValueError) as error:
            raise unusable("The link to the next page is none.") from error
        if _origin_of(url) != _origin_of(self._origin) or not url.path.startswith("/v1/"):
            raise unusable("The next page is said to be at another address.")
        return url

    def _get(self, url: httpx2.URL) -> Answer:
        answer = self._get_or_none(url)
        if answer is None:
            raise refused(404, b"")
        return answer

    def _get_or_none(self, url: httpx2.URL) -> Answer | None:
        """What is at an address, with more tries where the API asks for patience; `None` where there is nothing."""
        for attempt in range(_MOST_TRIES):
            reply = self._try(url)
            if reply is None or reply.status in _TRY_AGAIN:
                self._pause(attempt, reply)
            elif reply.status == httpx2.codes.UNAUTHORIZED and attempt == 0:
                self._tokens.renew()
            elif reply.status == httpx2.codes.NOT_FOUND:
                return None
            elif reply.status != httpx2.codes.OK:
                raise refused(reply.status, reply.raw)
            else:
                return Answer(reply.raw, parsed(reply.raw))
        raise refused(httpx2.codes.UNAUTHORIZED, b"")

    def _try(self, url: httpx2.URL) -> Reply | None:
        """One try; `None` where nobody answered."""
        self.requests += 1
        headers = {"Authorization": f"Bearer {self._tokens.current()}", "Accept": "application/json"}
        try:
            with self._client.stream("GET", url, headers=headers) as response:
                if found := _REMAINING.search(response.headers.get("X-Rate-Limit", "")):
                    self.remaining = int(found[1])
                return Reply(response.status_code, response.headers.get("Retry-After"), self._body(response))
        except httpx2.HTTPError:
            self._require_time(self._ends)
            return None

    def _body(self, response: httpx2.Response) -> bytes:
        found = bytearray()
        ends = min(self._ends, self._patience.clock() + _LONGEST_ANSWER)
        for chunk in response.iter_bytes():
            found += chunk
            self._require_time(ends)
            if len(found) > _LARGEST:
                raise unusable("An answer is larger than any that App Store Connect gives.")
        return bytes(found)

    def _pause(self, attempt: int, reply: Reply | None) -> None:
        """Wait as long as the API asks for, or longer with each try.

        Raises:
            UserError: That is too long, or the tries are used up.
        """
        asked = seconds(reply.retry_after, self._patience.clock()) if reply else None
        is_spent = reply is not None and reply.status == httpx2.codes.TOO_MANY_REQUESTS and self.remaining == 0
        pause = 2.0**attempt if asked is None else asked
        is_over = self._patience.clock() + pause > self._ends
        if attempt == _MOST_TRIES - 1 or pause > _LONGEST_WAIT or is_over or (asked is None and is_spent):
            raise exhausted(reply, asked)
        self._patience.wait(pause)

    def _require_time(self, ends: float) -> None:
        if self._patience.clock() > ends:
            raise UserError("App Store Connect took too long.", hint="Pull again later.", code="too_slow")


def require_origin(api: str) -> httpx2.URL:
    """The address of the API, which is https unless it is on this machine.

    Raises:
        UserError: It is no such address.
    """
    try:
        url = httpx2.URL(api)
    except (httpx2.InvalidURL, ValueError):
        url = httpx2.URL("")
    is_encrypted = url.scheme == "https" or (url.scheme == "http" and _is_loopback(url.host))
    if not is_encrypted or not url.host or url.path not in {"", "/"} or url.query or url.userinfo:
        raise UserError(
            "The address of the API cannot be used.", hint=f"Leave out api, or write {API}.", code="bad_api"
        )
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _origin_of(url: httpx2.URL) -> tuple[str, str, int | None, bytes]:
    return url.scheme, url.host, url.port, url.userinfo
