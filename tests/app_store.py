"""App Store Connect on this machine: its answers for an account, and a server that speaks its API over HTTP."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

KEY_ID, ISSUER = "2X9R4HXF34", "57246542-96fe-1a63-e053-0824d011072a"
Resource = dict[str, Any]


def app(identity: str, name: str, bundle_id: str) -> Resource:
    return {"type": "apps", "id": identity, "attributes": {"name": name, "bundleId": bundle_id}}


def version(identity: str, number: str | None = "1.0", *, phase: Any = "", **attributes: Any) -> Resource:
    """A version; `phase` is the data of its phased release, left out unless said."""
    told = {"platform": "IOS", "versionString": number, "createdDate": "2026-02-01T09:00:00-08:00", **attributes}
    found: Resource = {"type": "appStoreVersions", "id": identity, "attributes": told}
    if phase != "":
        data = phase and {"type": "appStoreVersionPhasedReleases", "id": phase}
        found["relationships"] = {"appStoreVersionPhasedRelease": {"data": data}}
    return found


def phase(identity: str, **attributes: Any) -> Resource:
    return {"type": "appStoreVersionPhasedReleases", "id": identity, "attributes": attributes}


def info(identity: str, state: str = "PREPARE_FOR_SUBMISSION", **relationships: Any) -> Resource:
    related = {name: {"data": {"type": "appCategories", "id": each}} for name, each in relationships.items()}
    return {"type": "appInfos", "id": identity, "attributes": {"state": state}, "relationships": related}


def texts(kind: str, **locales: Mapping[str, Any]) -> list[Resource]:
    """Localizations, by locale with `_` for `-`."""
    return [
        {"type": kind, "id": f"{place}", "attributes": {"locale": locale.replace("_", "-"), **attributes}}
        for place, (locale, attributes) in enumerate(locales.items())
    ]


def version_texts(**locales: Mapping[str, Any]) -> list[Resource]:
    return texts("appStoreVersionLocalizations", **locales)


def info_texts(**locales: Mapping[str, Any]) -> list[Resource]:
    return texts("appInfoLocalizations", **locales)


@dataclass
class Account:
    """What App Store Connect has, by path; `included` goes along with a list."""

    lists: dict[str, Any] = field(default_factory=dict)
    included: dict[str, list[Resource]] = field(default_factory=dict)

    def write(self, store: Path) -> Path:
        """Put the answers into a store by hand."""
        for path, data in self.lists.items():
            file = store / path / "page-1.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"data": data, "included": self.included.get(path, [])}), encoding="utf-8")
        return store


def small_account(**changes: Any) -> Account:
    """One app with one editable version and its texts; `changes` replace lists, by path with `__` for `/`."""
    account = Account(
        {
            "v1/apps": [app("1", "Lumen", "com.example.lumen")],
            "v1/apps/1/appStoreVersions": [
                version("v2", "2.0", appVersionState="PREPARE_FOR_SUBMISSION", phase=None),
                version("v1", "1.0", appVersionState="READY_FOR_DISTRIBUTION", phase=None),
            ],
            "v1/apps/1/appInfos": [info("i1")],
            "v1/appInfos/i1/appInfoLocalizations": info_texts(en_US={"name": "Lumen", "subtitle": "Notes"}),
            "v1/appStoreVersions/v2/appStoreVersionLocalizations": version_texts(en_US={"description": "Old"}),
            "v1/appStoreVersions/v1/appStoreVersionLocalizations": version_texts(en_US={"description": "Older"}),
        }
    )
    account.lists |= {path.replace("__", "/"): data for path, data in changes.items()}
    return account


@dataclass
class Reply:
    """What the server says in place of its usual answer."""

    status: int = 200
    body: bytes | Iterator[bytes] = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    start: bytes = b""
    """What is sent in place of a status and headers, where a body comes in pieces."""


Answering = Callable[[str, int], Reply | None]


@dataclass
class AppStore:
    """A running server. `asked` are the requests it got; `answering` may reply in its place, by path and number."""

    account: Account
    private: ec.EllipticCurvePrivateKey
    is_personal: bool = False
    page_size: int = 2
    answering: Answering = lambda _path, _number: None
    asked: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    url: str = ""

    def claims(self, authorization: str | None) -> Mapping[str, Any]:
        """What a token says that App Store Connect would accept."""
        token = (authorization or "").removeprefix("Bearer ")
        self.tokens.append(token)
        assert jwt.get_unverified_header(token) == {"alg": "ES256", "kid": KEY_ID, "typ": "JWT"}
        required = ["iat", "exp", "aud", "sub" if self.is_personal else "iss"]
        claims: dict[str, Any] = jwt.decode(
            token,
            self.private.public_key(),
            algorithms=["ES256"],
            audience="appstoreconnect-v1",
            issuer=None if self.is_personal else ISSUER,
            options={"require": required},
        )
        assert 0 < claims["exp"] - claims["iat"] <= 1200
        return claims

    def reply(self, target: str, authorization: str | None) -> Reply:
        self.asked.append(target)
        parts = urlsplit(target)
        if given := self.answering(parts.path, len(self.asked)):
            return given
        try:
            self.claims(authorization)
        except (jwt.PyJWTError, AssertionError):
            return refusal(401, "NOT_AUTHORIZED")
        path = parts.path.strip("/")
        if path not in self.account.lists:
            return refusal(404, "NOT_FOUND")
        query = parse_qs(parts.query)
        found = self.account.lists[path]
        if wanted := query.get("filter[bundleId]"):
            found = [each for each in found if each["attributes"]["bundleId"] in wanted[0].split(",")]
        return Reply(body=self._page(path, found, query), headers=limit(3000))

    def _page(self, path: str, data: Any, query: Mapping[str, list[str]]) -> bytes:
        if not isinstance(data, list):
            return json.dumps({"data": data, "links": {"self": f"{self.url}/{path}"}}).encode()
        begin = int(query.get("cursor", ["0"])[0])
        end = begin + self.page_size
        links = {"self": f"{self.url}/{path}"}
        if end < len(data):
            kept = {name: each[0] for name, each in query.items()}
            links["next"] = f"{self.url}/{path}?{urlencode({**kept, 'cursor': end})}"
        answer = {"data": data[begin:end], "links": links, "meta": {"paging": {"total": len(data), "limit": 200}}}
        if "include" in query or self.account.included.get(path):
            answer["included"] = self.account.included.get(path, [])
        return json.dumps(answer).encode()


def refusal(status: int, code: str, **headers: str) -> Reply:
    """An error in the format of the API."""
    told = {"errors": [{"status": str(status), "code": code, "title": "A title", "detail": "A detail."}]}
    return Reply(status, json.dumps(told).encode(), {name.replace("_", "-"): each for name, each in headers.items()})


def limit(remaining: int) -> Mapping[str, str]:
    return {"X-Rate-Limit": f"user-hour-lim:3600;user-hour-rem:{remaining};"}


@contextmanager
def app_store(account: Account, **options: Any) -> Iterator[AppStore]:
    """Serve an account on a free port of this machine."""
    store = AppStore(account, ec.generate_private_key(ec.SECP256R1()), **options)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # Head and body go in one piece, or the second waits for the first to be acknowledged.

        def do_GET(self) -> None:
            reply = store.reply(self.path, self.headers.get("Authorization"))
            if reply.start:
                self._drip(reply.start, reply.body)
                return
            self.send_response(reply.status)
            for name, each in reply.headers.items():
                self.send_header(name, each)
            if isinstance(reply.body, bytes):
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)
                return
            self.send_header("Connection", "close")
            self.end_headers()
            self._drip(b"", reply.body)

        def _drip(self, start: bytes, body: bytes | Iterator[bytes]) -> None:
            self.close_connection = True
            with suppress(OSError):  # Whoever asked may go away.
                self.wfile.write(start)
                for piece in [body] if isinstance(body, bytes) else body:
                    self.wfile.write(piece)
                    self.wfile.flush()

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    store.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def write_key(file: Path, private: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> Path:
    """The key file as App Store Connect hands it out."""
    file.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return file
