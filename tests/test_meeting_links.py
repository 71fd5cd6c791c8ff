"""The link that opens the video meeting of an event, out of whatever stands around it."""

import re
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calendar_server.links import OTHER, Link, find_link, service_of

pytestmark = pytest.mark.no_cover


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ZOOM = "https://us02web.zoom.us/j/85512340000?pwd=xY9"
MEET = "https://meet.google.com/abc-defg-hij"
TEAMS = "https://teams.microsoft.com/l/meetup-join/19%3ameeting_abc%40thread.v2/0?context=%7b%7d"
WEBEX = "https://acme.webex.com/acme/j.php?MTID=m0123456789abcdef"
SELF_HOSTED = "https://bbb.example.org/b/ada-4xk-9pq"
DOMAINS = words(
    """
    zoom.us zoom.com zoom.com.cn zoomgov.com zoom-x.de meet.google.com teams.microsoft.com teams.live.com
    teams.cloud.microsoft teams.microsoft.us teams.microsoftonline.cn webex.com
    """
)
JOINS = {
    "Zoom": words(
        """
        https://zoom.us/j/85512340000 https://ZOOM.us/j/85512340000 https://zoom.us:443/j/85512340000
        https://acme.zoom.com/j/92313847288?pwd=cY792Kdy4js92JA90kas.1 https://acme.zoom.com.cn/j/92313847288
        https://acme.zoomgov.com/j/1600000000 https://uni.zoom-x.de/j/61000000000?pwd=a&b=1
        https://zoom.us/my/team.room https://us02web.zoom.us/w/85512340000?tk=abc&pwd=xY9
        https://us02web.zoom.us/s/85512340000 https://zoom.us/wc/join/85512340000
        https://app.zoom.us/wc/85512340000/join?fromPWA=1 https://app.zoom.us/wc/85512340000/start
        https://events.zoom.us/ejl/AgxPBq1
        """
    ),
    "Google Meet": words(
        """
        https://meet.google.com/abc-defg-hij https://meet.google.com/abc-defg-hij?authuser=1&hs=122#chat
        https://meet.google.com/_meet/abc-defg-hij https://meet.google.com/lookup/abc123?authuser=0
        https://stream.meet.google.com/stream/0b1e6a2c
        """
    ),
    "Microsoft Teams": words(
        """
        https://teams.microsoft.com/l/meetup-join/19%3ameeting_abc%40thread.v2/0?context=%7b%7d
        https://teams.microsoft.com/l/meetup-join/19:meeting_abc@thread.v2/0
        https://teams.microsoft.com/meet/1234567890123?p=abc https://teams.live.com/meet/9444802028296?p=N4Iz
        https://teams.cloud.microsoft/meet/1234567890123 https://gov.teams.microsoft.us/l/meetup-join/19%3agcch/0
        https://dod.teams.microsoft.us/l/meetup-join/19%3adod/0
        https://teams.microsoft.com/l/meeting/details?eventId=AAMk
        https://teams.microsoft.com/_#/l/meetup-join/19%3ameeting_abc/0
        https://teams.microsoft.com/v2/#/meet/1234567890123
        https://teams.microsoft.com/dl/launcher/launcher.html?url=%2F_%23%2Fl%2Fmeetup-join%2F19&type=meetup-join
        https://teams.microsoft.com/light-meetings/launch?agent=web&coords=eyJj
        https://events.teams.microsoft.com/event/0b1e6a2c@5f6c
        """
    ),
    "Webex": words(
        """
        https://acme.webex.com/acme/j.php?MTID=m0123456789abcdef https://acme.webex.com/acme/k2/j.php?AT=JM&MTID=m01
        https://acme.webex.com/acme/j.php?AT=JM&MK=123456789 https://acme.webex.com/acme/onstage/g.php?MTID=e01
        https://acme.webex.com/meet/ada.lovelace https://acme.my.webex.com/join/ada
        https://acme.webex.com/m/0b1e6a2c-0000-4000-8000-000000000000
        https://acme.webex.com/wbxmjs/joinservice/sites/acme/meeting/download/0b1e6a2c
        https://acme.webex.com/webappng/sites/acme/meeting/info/0b1e6a2c?siteurl=acme
        """
    ),
}
# What invitations and signatures hold beside the link of the meeting.
OTHER_PAGES = words(
    """
    https://zoom.us https://zoom.us/ https://zoom.us/j/ https://zoom.us/pricing https://zoom.us/join
    https://support.zoom.us/hc/en-us/articles/201362193 https://us02web.zoom.us/u/kdXYZ
    https://us02web.zoom.us/meeting/register/tZ0 https://us02web.zoom.us/rec/share/abc https://app.zoom.us/wc/home
    https://meet.google.com/ https://meet.google.com/landing https://meet.google.com/new https://meet.google.com/the-best-meetings
    https://tel.meet/abc-defg-hij?pin=1 https://support.google.com/a/users/answer/9282720
    https://teams.microsoft.com/meetingOptions/?organizerId=1 https://teams.microsoft.com/l/meeting/new?subject=a
    https://teams.microsoft.com/l/channel/19%3aabc/General https://dialin.teams.microsoft.com/8781314-dca4?id=1
    https://aka.ms/JoinTeamsMeeting https://www.microsoft.com/microsoft-teams/join-a-meeting
    https://acme.webex.com/acme/globalcallin.php?MTID=m01 https://acme.webex.com/acme/j.php
    https://acme.webex.com/weblink/register/r01 https://acme.webex.com/webappng/sites/acme/recording/play/01
    https://acme.webex.com/webappng/sites/acme/meeting/register/01 https://help.webex.com/en-us/article/n01
    https://bbb.example.org/b/ada-4xk-9pq
    """
)
LOOKALIKES = (
    "https://zo\tom.us/j/1",
    *words(
        """
        https://zoom.us.evil.example/j/1 https://evilzoom.us/j/1 https://zoom.us@evil.example/j/1
        https://evil.example@zoom.us/j/1 https://a:b@zoom.us/j/1 https://zoom.us\\@evil.example/j/1
        https://zoom.us%2Fj%2F1@evil.example/ https://evil.example/zoom.us/j/1 https://evil.example?zoom.us/j/1
        https://evil.example#@zoom.us/j/1 https://evil.example/?next=https://zoom.us/j/1
        https://evil.example\\.zoom.us/j/1 https://xn--zom-uqa.us/j/1 https://xn--e1awd7f.zoom.us/j/1
        https://zo\N{CYRILLIC SMALL LETTER O}m.us/j/1 https://zoom\N{FULLWIDTH FULL STOP}us/j/1
        https://zoom\N{IDEOGRAPHIC FULL STOP}us/j/1 https://zoom.u\N{LATIN SMALL LETTER LONG S}/j/1
        https://te\N{ZERO WIDTH SPACE}ams.microsoft.com/meet/1 https://zo\N{SOFT HYPHEN}om.us/j/1
        http\N{LATIN SMALL LETTER LONG S}://zoom.us/j/1 https://zoom.us./j/1 https://zoom.us:8443/j/1 https://zoom.us:/j/1
        https://zoom.us:0443/j/1 https://zoom.us:443:443/j/1 https://[zoom.us]/j/1 https://zo\x00om.us/j/1
        https:/zoom.us/j/1 https:///zoom.us/j/1 http://zoom.us/j/1 javascript:location='//zoom.us/j/1'
        data:text/html,zoom.us/j/1 //zoom.us/j/1 zoom.us/j/1
        """
    ),
)
SAFELINK = "https://eur01.safelinks.protection.outlook.com/?url={}&data=05%7C01&reserved=0"
GOOGLE = "https://www.google.com/url?q={}&sa=D&source=calendar&usg=AOv"
SURROUNDINGS = (
    ("", ""),
    ("Join here<", ">"),
    ("<", ">\nPasscode: 1"),
    ('<a href="', '">Join</a>'),
    ("<a href='", "'>Join</a>"),
    ("<a href=", ">Join</a>"),
    ("<p>", "</p>"),
    ("&lt;", "&gt;"),
    ("&quot;", "&quot;"),
    ("&nbsp;", "&nbsp;now"),
    ("Room 4 (", ")."),
    ("Room 4 (", "), second floor"),
    ("[Join](", ")"),
    ("[Join](", ").Then"),
    ("[", "]"),
    ("{", "}"),
    ("`", "`"),
    ("**", "**"),
    ("*", "*, or"),
    ("|", "|"),
    ("«", "»"),
    ("“", "”"),
    ("„", "“"),
    ("「", "」"),
    ("（", "）"),
    ("点击", "加入会议"),
    ("会议:", "。"),
    ("see ", "&#1;1"),
    ("see ", "\\n\\nDial"),
    *(
        ("see ", f"{each}x")
        for each in "，！？…；：\N{ZERO WIDTH SPACE}\N{SOFT HYPHEN}\N{ZERO WIDTH NO-BREAK SPACE}\xa0\x00\x1f\r\n\t"
    ),
    ("is it ", "?"),
    ("now: ", "!!!"),
    ("see ", "..."),
    ("see ", ", or call"),
    ("see ", "; or call"),
    ("see ", ": the room"),
    ("URL:", ""),
)
_WORD = st.text("abcXYZ0189", min_size=1, max_size=9)
_VALUE = st.lists(
    st.sampled_from(("a", "Z", "0", "-", ".", "_", "~", "%7b", "%22", "%40", "(1)", "/", ":")), max_size=6
)


@st.composite
def joins(draw: st.DrawFn) -> str:
    """A join URL of any service, with a query and a fragment or without."""
    url = draw(st.sampled_from([url for urls in JOINS.values() for url in urls]))
    query = "&".join(f"{draw(_WORD)}={''.join(draw(_VALUE))}{draw(_WORD)}" for _ in range(draw(st.integers(0, 3))))
    fragment = draw(st.one_of(st.just(""), _WORD.map("#{}".format)))
    if "#" in url:
        return url
    return url + (f"{'&' if '?' in url else '?'}{query}" if query else "") + fragment


@st.composite
def hostile(draw: st.DrawFn) -> str:
    """Text made of the parts that links and lookalikes are made of."""
    parts = words(
        """
        https:// http:// zoom.us meet.google.com evil.example www.google.com/url?q= /j/1 /b/1 /abc-defg-hij zoom . us @
        https%3A%2F%2F : 443 80 / \\ ? # = & &amp; &lt; &#1; ( ) [ ] < > " ' x.safelinks.protection.outlook.com/?url=
        xn-- ſ é %0a 。 _ * \N{SOFT HYPHEN} \N{ZERO WIDTH SPACE}
        """
    )
    parts += (" ", "\n", "\t", "\x00")
    return "".join(draw(st.lists(st.sampled_from(parts), max_size=14)))


def assert_plain(url: str) -> None:
    """An https URL of printable ASCII, with no user and no unusual port."""
    parts = urlsplit(url)
    assert url.startswith("https://")
    assert re.fullmatch(r"[!-~]+", url)
    assert "@" not in parts.netloc
    assert parts.port in {None, 443}


def is_known(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return any(host == domain or host.endswith(f".{domain}") for domain in DOMAINS)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (f"Join here<{TEAMS}>", TEAMS),
        (f'<a href="{ZOOM}">Join</a>', ZOOM),
        ("Room 4 (https://zoom.us/my/team.room).", "https://zoom.us/my/team.room"),
        (
            "https://teams.microsoft.com/meet/1234567890123?p=abc",
            "https://teams.microsoft.com/meet/1234567890123?p=abc",
        ),
        ("https://uni.zoom-x.de/j/61000000000?pwd=a&amp;b=1", "https://uni.zoom-x.de/j/61000000000?pwd=a&b=1"),
    ],
)
def test_link_is_found_without_what_stands_around_it(text: str, url: str) -> None:
    """C11: newer forms and regional hosts are found, with no trailing bracket, quote or dot, entities decoded."""
    found = find_link([], [text])
    assert found
    assert found.url == url


@pytest.mark.parametrize("url", [MEET, "https://teams.microsoft.com/l/meetup-join/19%3ameeting_x/0"])
def test_properties_made_for_links_win_over_text(url: str) -> None:
    """C11: structured properties win over free text, and CONFERENCE over the others."""
    assert find_link([url, WEBEX], [ZOOM]) == Link(url, service_of(url) or "")
    assert find_link([WEBEX], [ZOOM], conferences=[url]) == Link(url, service_of(url) or "")


def test_first_link_of_the_best_text_is_found() -> None:
    assert find_link([], ["Room 4", f"{MEET} or {ZOOM}", WEBEX]) == Link(MEET, "Google Meet")
    assert find_link(["", "https://intranet.example"], [ZOOM]) == Link(ZOOM, "Zoom")
    assert find_link([], []) is None


@pytest.mark.parametrize(("service", "url"), [(service, url) for service, urls in JOINS.items() for url in urls])
def test_every_form_of_a_join_link_is_known(service: str, url: str) -> None:
    """C11: no form of a join link is missed, in whichever kind of property."""
    assert service_of(url) == service
    assert find_link([url], []) == find_link([], [url]) == find_link([], [], conferences=[url]) == Link(url, service)


@pytest.mark.parametrize("url", OTHER_PAGES)
def test_other_pages_are_no_meetings(url: str) -> None:
    assert service_of(url) is None
    assert find_link([url], [url, f'<a href="{url}">{url}</a>']) is None
    assert find_link([], [f"{url} {ZOOM}"]) == Link(ZOOM, "Zoom")


@pytest.mark.parametrize("url", LOOKALIKES)
def test_lookalikes_are_refused(url: str) -> None:
    assert service_of(url) is None
    assert find_link([url], [url, f"<{url}>", f"[{url}]({url})"]) is None


@pytest.mark.parametrize("url", LOOKALIKES)
def test_conference_says_no_lookalike_is_a_known_service(url: str) -> None:
    found = find_link([], [], conferences=[url])
    assert found is None or (
        found.service == OTHER and not any(domain in urlsplit(found.url).netloc for domain in DOMAINS)
    )


@pytest.mark.parametrize("value", [SELF_HOSTED, f" {SELF_HOSTED}\n", SAFELINK.format(quote(SELF_HOSTED, safe=""))])
def test_conference_of_an_unknown_service_is_other(value: str) -> None:
    """C11: a self-hosted meeting is offered where a property says that it is one."""
    assert find_link([], [ZOOM], conferences=["tel:+1-555-0100", value]) == Link(SELF_HOSTED, OTHER)
    assert find_link([MEET], [], conferences=[value]) == Link(MEET, "Google Meet")
    assert find_link([value], [value]) is None


@pytest.mark.parametrize(
    "value",
    [
        "",
        f"{SELF_HOSTED} or call",
        SAFELINK.format("x"),
        SAFELINK.format(quote(SAFELINK.format(quote(SELF_HOSTED, safe="")), safe="")),
        *words(
            """
            http://bbb.example.org/b/1 https://user@bbb.example.org/b/1 https://bbb.example.org:8443/b/1
            https://bbb.example.org/b/é https://bücher.example/b/1 https://xn--bcher-kva.example/b/1
            https://192.0.2.1/b/1 https://[2001:db8::1]/b/1 https://localhost/b/1 https://www.google.com/url?q=x
            https://zoom.us/pricing https://support.zoom.us/hc https://zoom.us.evil.example/j/1
            """
        ),
    ],
)
def test_conference_that_could_mislead_is_refused(value: str) -> None:
    assert find_link([], [], conferences=[value]) is None


@pytest.mark.parametrize("wrapper", [SAFELINK, GOOGLE, GOOGLE.replace("?q=", "?sa=t&q=&url=")])
@pytest.mark.parametrize("url", [ZOOM, MEET, TEAMS, WEBEX])
def test_wrapped_link_is_unwrapped_once(wrapper: str, url: str) -> None:
    wrapped = wrapper.format(quote(url, safe=""))
    assert find_link([], [f'<a href="{wrapped.replace("&", "&amp;")}">Join</a>']) == Link(url, service_of(url) or "")
    assert find_link([wrapper.format(quote(wrapped, safe=""))], []) is None
    assert service_of(wrapped) is None


def test_target_of_a_wrapper_may_stand_there_as_it_is() -> None:
    assert find_link([], [GOOGLE.format(ZOOM)]) == Link(ZOOM, "Zoom")


@pytest.mark.parametrize("wrapper", [SAFELINK, GOOGLE, "https://safelinks.protection.outlook.com.evil.example/?url={}"])
@pytest.mark.parametrize("url", [*LOOKALIKES, "https://zoom.us/j/1\n", "https://zoom.us/j/1 x"])
def test_wrapped_lookalike_is_refused(wrapper: str, url: str) -> None:
    assert find_link([], [wrapper.format(quote(url, safe=""))]) is None


@pytest.mark.parametrize("between", ["<", ">", "(", ")", "](", ",", ";", "|", " ", "\n", "、", '">', "*", "x"])
def test_link_ends_where_the_next_one_begins(between: str) -> None:
    url = f"{WEBEX}&a=1"
    assert find_link([], [f"{url}{between}{ZOOM}"]) == Link(url + between if between == "x" else url, "Webex")


def test_parentheses_stay_in_pairs() -> None:
    url = f"{ZOOM}&topic=Plan_(2)"
    assert find_link([], [f"({url})"]) == find_link([], [f"[Join]({url})."]) == Link(url, "Zoom")
    assert find_link([], [f"{MEET}(room 4)"]) == Link(MEET, "Google Meet")
    assert find_link([], [f"{WEBEX}({ZOOM})"]) == Link(WEBEX, "Webex")


def test_entities_are_decoded_once_and_only_with_their_semicolon() -> None:
    url = "https://zoom.us/j/1?a=b&region=eu&copy=1&amp=2"
    assert find_link([], [url]) == Link(url, "Zoom")
    assert find_link([], [url.replace("&", "&amp;")]) == find_link([], [url.replace("&", "&#38;")]) == Link(url, "Zoom")
    assert find_link([], ["https:&#x2F;&#x2F;zoom.us/j/1"]) == Link("https://zoom.us/j/1", "Zoom")


def test_scheme_is_written_small() -> None:
    assert find_link([], ["HTTPS://ZOOM.US/j/1"]) == Link("https://ZOOM.US/j/1", "Zoom")


def test_no_url_is_of_no_service() -> None:
    assert service_of(None) is service_of("") is service_of(SELF_HOSTED) is service_of(f" {ZOOM}") is None


@pytest.mark.parametrize(("before", "after"), SURROUNDINGS)
def test_surroundings_are_no_part_of_a_link(before: str, after: str) -> None:
    """C11: each kind of bracket, quote, entity, control character and punctuation, in several scripts."""
    assert find_link([], [f"{before}{ZOOM}{after}"]) == Link(ZOOM, "Zoom")


@given(joins(), st.sampled_from(SURROUNDINGS), st.text("ab \n>.", max_size=5))
def test_join_link_comes_out_exact_whatever_surrounds_it(url: str, surroundings: tuple[str, str], text: str) -> None:
    """C11: in any punctuation, markup or script."""
    before, after = surroundings
    found = find_link([], [f"{text}\n{before}{url}{after}\n{text}"])
    assert found == Link(url, service_of(url) or "")


@given(joins(), st.text("<>\"')]}.,;:!?*»”，。）」…", max_size=6))
def test_join_link_has_no_trailing_punctuation(url: str, after: str) -> None:
    assert find_link([], [url + after]) == Link(url, service_of(url) or "")


@given(hostile(), hostile())
@example("https://zoom.us/j/1\\@evil.example", "")
def test_found_link_is_plain_and_of_a_known_service(one: str, two: str) -> None:
    found = find_link([one], [two])
    assert found is None or (is_known(found.url) and service_of(found.url) == found.service)
    if found:
        assert_plain(found.url)


@given(hostile())
@example(SAFELINK.format(quote(GOOGLE.format("https%3A%2F%2Fzoom.us"), safe="")))
def test_other_link_is_plain_and_looks_like_no_known_service(text: str) -> None:
    found = find_link([], [], conferences=[f"https://{text}"])
    if found:
        assert_plain(found.url)
        assert is_known(found.url) == (found.service != OTHER)
        assert "safelinks" not in urlsplit(found.url).netloc


@pytest.mark.parametrize("start", ["", "https://zoom.us/j/1?("])
@pytest.mark.parametrize(
    "unit",
    words(
        """
        https://zoom.us/ https:// https://zoom.us/j/1?( https://zoom.us?a(b https://zoom.us/j/1) =https:// [a]( < (
        https://zoom.us@ a. / x- &amp; & &#x ? % xn--.
        """
    ),
)
def test_hostile_text_takes_bounded_time(start: str, unit: str) -> None:
    """Three megabytes that go on for hours where a pattern tries every way to read them."""
    text = (start + unit * (3_000_000 // len(unit)))[:3_000_000]
    found = find_link([text], [], conferences=[text])
    assert found is None or len(found.url) < 4096
    assert service_of(text) is None
