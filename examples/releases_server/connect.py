"""A client of the App Store Connect API that only reads: one origin, bounded in size and time, patient with limits."""

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Self

import anyio
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
_REMAINING = re.compile(r"user-hour-rem:\s*(\d{1,9})")


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
    wait: Callable[[float], Awaitable[object]] = anyio.sleep


class Connect:
    """The API for one key. Tokens go to one origin, in a header, and nowhere else."""

    def __init__(self, key: Key, *, api: str = API, patience: Patience | None = None) -> None:
        self._patience = patience or Patience()
        self._origin = require_origin(api)
        self._tokens = Tokens(key, self._patience.clock)
        self._ends = self._patience.clock() + self._patience.seconds
        is_local = _is_loopback(self._origin.host)
        self._client = httpx2.AsyncClient(timeout=_TIMEOUT, follow_redirects=False, trust_env=not is_local)
        self.requests = 0
        self.remaining: int | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def pages(self, path: str, **query: str) -> AsyncIterator[Answer]:
        """All pages of a list.

        Raises:
            UserError: They cannot be had whole.
        """
        url = self._origin.join(path).copy_merge_params({"limit": "200", **query})
        seen: set[str] = set()
        count = 0
        while True:
            seen.add(str(url))
            answer = await self._get(url)
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

    async def one(self, path: str) -> Answer | None:
        """What is at an address, or `None` where the API says that there is nothing.

        Raises:
            UserError: It cannot be had.
        """
        return await self._get_or_none(self._origin.join(path))

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

    async def _get(self, url: httpx2.URL) -> Answer:
        answer = await self._get_or_none(url)
        if answer is None:
            raise refused(404, b"")
        return answer

    async def _get_or_none(self, url: httpx2.URL) -> Answer | None:
        """What is at an address, with more tries where the API asks for patience; `None` where there is nothing."""
        for attempt in range(_MOST_TRIES):
            reply = await self._try(url)
            if reply is None or reply.status in _TRY_AGAIN:
                await self._pause(attempt, reply)
            elif reply.status == httpx2.codes.UNAUTHORIZED and attempt == 0:
                self._tokens.renew()
            elif reply.status == httpx2.codes.NOT_FOUND:
                return None
            elif reply.status != httpx2.codes.OK:
                raise refused(reply.status, reply.raw)
            else:
                return Answer(reply.raw, parsed(reply.raw))
        raise refused(httpx2.codes.UNAUTHORIZED, b"")

    async def _try(self, url: httpx2.URL) -> Reply | None:
        """One try; `None` where nobody answered.

        Raises:
            UserError: The answer is too large, or there is no time left.
        """
        self.requests += 1
        left = self._ends - self._patience.clock()
        headers = {"Authorization": f"Bearer {self._tokens.current()}", "Accept": "application/json"}
        try:
            # An answer can also come in drops, each of them in time.
            with anyio.fail_after(min(left, _LONGEST_ANSWER)):
                async with self._client.stream("GET", url, headers=headers) as response:
                    if found := _REMAINING.search(response.headers.get("X-Rate-Limit", "")):
                        self.remaining = int(found[1])
                    return Reply(response.status_code, response.headers.get("Retry-After"), await _body(response))
        except (httpx2.HTTPError, TimeoutError):
            if self._patience.clock() >= self._ends:
                raise UserError("App Store Connect took too long.", hint="Pull again later.", code="too_slow") from None
            return None

    async def _pause(self, attempt: int, reply: Reply | None) -> None:
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
        await self._patience.wait(pause)


async def _body(response: httpx2.Response) -> bytes:
    found = bytearray()
    async for chunk in response.aiter_bytes():
        found += chunk
        if len(found) > _LARGEST:
            raise unusable("An answer is larger than any that App Store Connect gives.")
    return bytes(found)


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
