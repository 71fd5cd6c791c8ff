"""Finds the link that opens the video meeting of an event."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from urllib.parse import parse_qs, unquote, urlsplit

OTHER = "other"
"""The service of a meeting whose host is not known."""

# Without ASCII, the long s (U+017F) and the Kelvin sign (U+212A) match letters of a host.
_FLAGS = re.ASCII | re.IGNORECASE | re.VERBOSE
_LONGEST = 4096
# RFC 3986 without quotes and brackets; parentheses only in pairs and after the path. A link ends where the next one
# begins, other than behind the characters that link wrappers put before their target.
_CHARACTER = r"(?! (?<![=/_]) https?:// ) [\w\-.~%:@/!$&*+,;=]"
_PAIR = r"\( (?!https?://) [\w\-.~%:@/!$&*+,;=?\#]{0,256} \)"
_LINK = re.compile(
    rf"https:// (?: {_CHARACTER} ){{1,{_LONGEST}}} (?: [?\#] (?: {_CHARACTER} | [?\#] | {_PAIR} ){{0,{_LONGEST}}} )?",
    _FLAGS,
)
_TRAILING = ".,;:!?*"
# With its semicolon only: "&region=eu" in a query is no registered sign.
_ENTITY = re.compile(r"& (?: \#\d{1,7} | \#x[\da-f]{1,6} | [a-z][a-z\d]{1,31} );", _FLAGS)
# No user, no port but 443, and no letters beyond ASCII, spelt out or as punycode (RFC 3492).
_NETLOC = re.compile(r"( (?: (?!xn--) [a-z\d-]{1,63} \. )+ [a-z]{2,63} ) (?: :443 )?", _FLAGS)


@dataclass(frozen=True, slots=True)
class Link:
    """Where a meeting is joined: an https URL, and the name of its service."""

    url: str
    service: str


@dataclass(frozen=True, slots=True)
class _Address:
    url: str
    host: str
    page: str


@dataclass(frozen=True, slots=True)
class _Service:
    """Which hosts are a service, subdomains included, and which of their pages are meetings."""

    name: str
    domains: tuple[str, ...]
    meeting: re.Pattern[str]

    def has(self, address: _Address) -> bool:
        return _is_within(address.host, self.domains) and self.meeting.match(address.page) is not None


_SERVICES = (
    _Service(
        "Zoom",
        ("zoom.us", "zoom.com", "zoom.com.cn", "zoomgov.com", "zoom-x.de"),
        re.compile(r"/ (?: (?: j | w | s | my | ejl | wc/join ) /[^/?\#]*\w | wc/[^/?\#]+/(?:join|start)\b )", _FLAGS),
    ),
    _Service(
        "Google Meet",
        ("meet.google.com",),
        re.compile(
            r"/ (?: (?:_meet/)? [a-z]{3,4}-[a-z]{3,4}-[a-z]{3,4} (?![\w-]) | (?:lookup|stream) /[^/?\#]*\w )", _FLAGS
        ),
    ),
    _Service(
        "Microsoft Teams",
        (
            "teams.microsoft.com",
            "teams.live.com",
            "teams.cloud.microsoft",
            "teams.microsoft.us",
            "teams.microsoftonline.cn",
        ),
        re.compile(
            r"""(?: /_\?\# | /v2/?\?\# )? / (?: l/meetup-join | l/meeting (?!/new\b) | meet | event ) /[^/?\#]*\w
            | /dl/launcher/launcher\.html\? .* meet
            | /light-meetings/launch\?""",
            _FLAGS,
        ),
    ),
    _Service(
        "Webex",
        ("webex.com",),
        re.compile(
            r"""/ (?: meet | join | m | wbxmjs ) /[^/?\#]*\w
            | (?: /[^/?\#]+ ){0,3} /[a-z]\.php \? (?: [^\#]*& )? (?:MTID|MK)=\w
            | /webappng/sites/[^/?\#]+/(?:meeting|webinar)/ (?!register)""",
            _FLAGS,
        ),
    ),
)
_DOMAINS = tuple(domain for service in _SERVICES for domain in service.domains)


def find_link(structured: Sequence[str], texts: Sequence[str], *, conferences: Sequence[str] = ()) -> Link | None:
    """The first link that opens a video meeting, without what stands around it.

    `conferences` are the values of CONFERENCE (RFC 7986, 5.11) with video, `structured` those of other properties
    made for links, `texts` plain text or HTML; each the best first, and each before the next. A service that is not
    known counts in `conferences` only, where no known one stands in `conferences` or `structured`.
    """
    return _known([*conferences, *structured]) or _unknown(conferences) or _known(texts)


def service_of(url: str | None) -> str | None:
    """The known service that a whole URL opens a meeting of."""
    address = _address(url or "")
    return _service(address) if address else None


def may_join(text: str) -> bool:
    """Whether a text has the domain of a known service or of a link wrapper in it, however it is written."""
    written = unquote(text).lower()
    return any(domain in written for domain in (*_DOMAINS, "safelinks.protection.outlook.com", "google.com/url"))


def _known(texts: Iterable[str]) -> Link | None:
    addresses = (address for text in texts for address in _addresses(text))
    links = (Link(address.url, service) for address in addresses if (service := _service(address)))
    return next(links, None)


def _unknown(conferences: Iterable[str]) -> Link | None:
    found = (_unwrapped(_address(_decoded(value).strip())) for value in conferences)
    return next((Link(each.url, OTHER) for each in found if each and _is_unknown(each)), None)


def _is_unknown(address: _Address) -> bool:
    """Whether a host neither is nor looks like that of a known service or a link wrapper."""
    return not _holders(address) and not any(domain in address.host for domain in _DOMAINS)


def _service(address: _Address) -> str | None:
    return next((service.name for service in _SERVICES if service.has(address)), None)


def _addresses(text: str) -> Iterator[_Address]:
    for found in _LINK.finditer(_decoded(text)):
        if address := _unwrapped(_address(found[0].rstrip(_TRAILING))):
            yield address


def _decoded(text: str) -> str:
    # An entity of a control character stands for nothing, and shall not join what it divides.
    return _ENTITY.sub(lambda entity: unescape(entity[0]) or " ", text)


def _address(url: str) -> _Address | None:
    """The parts of a URL that may be told at all."""
    if len(url) >= _LONGEST or not _LINK.fullmatch(url):
        return None
    scheme, netloc, path, query, fragment = urlsplit(url)
    named = _NETLOC.fullmatch(netloc)
    return _Address(scheme + url[len(scheme) :], named[1].lower(), f"{path}?{query}#{fragment}") if named else None


def _unwrapped(address: _Address | None) -> _Address | None:
    """What a link wrapper leads to, looked at once; any other address as it is."""
    if address is None or not (names := _holders(address)):
        return address
    query = parse_qs(urlsplit(address.url).query)
    targets = (_address(query[name][0]) for name in names if name in query)
    return next(filter(None, targets), None)


def _holders(address: _Address) -> tuple[str, ...]:
    """The parameters in which a link wrapper holds its target; none for any other address."""
    if _is_within(address.host, ("safelinks.protection.outlook.com",)):
        return ("url",)
    is_google = address.host in {"google.com", "www.google.com"} and address.page.startswith("/url?")
    return ("q", "url") if is_google else ()


def _is_within(host: str, domains: Iterable[str]) -> bool:
    return any(f".{host}".endswith(f".{domain}") for domain in domains)
