"""Who may see the page: a browser on this machine that was given the address, and no other site through it."""

from dataclasses import dataclass
from hmac import compare_digest

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# `same-origin` and not `no-referrer`, with which browsers would send `Origin: null` on the page's own forms.
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
_USUAL_PORT = 80
_OWN_SITES = ("none", "same-origin")
_REFUSED = "Not here. Open the address that the command mcpshape preview has printed.\n"


@dataclass(frozen=True, slots=True)
class Gate:
    """Lets requests through to the page at `/TOKEN/`, and adds to all answers what browsers are to obey.

    The host has to be this machine's own, or another name could be pointed at it (DNS rebinding). What another site
    caused is refused, and whatever changes something needs the page's own origin (Fetch, section 3.2).
    """

    app: ASGIApp
    port: int
    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        answer = self.app if self._admits(scope) else PlainTextResponse(_REFUSED, status_code=403)
        await answer(scope, receive, send_guarded)

    def _admits(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        # Browsers leave out the usual port.
        place = "" if self.port == _USUAL_PORT else f":{self.port}"
        hosts = [f"{name}{place}" for name in ("127.0.0.1", "localhost")]
        if headers.get("host") not in hosts or not self._knows_token(scope["path"]):
            return False
        origin = headers.get("origin")
        if origin is None:
            return scope["method"] in {"GET", "HEAD"} and headers.get("sec-fetch-site", "none") in _OWN_SITES
        return origin == f"http://{headers['host']}"

    def _knows_token(self, path: str) -> bool:
        first = path.removeprefix("/").partition("/")[0]
        return path.startswith("/") and compare_digest(first.encode(), self.token.encode())
