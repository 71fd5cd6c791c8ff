"""Templates of DTO classes in Markdown: escaping, what they can reach, their limits, and the check at registration."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import DictLoader, FileSystemLoader, PackageLoader
from pydantic import BaseModel, Field

from mcpshape import (
    Count,
    DefinitionError,
    EncodingError,
    Mask,
    Policy,
    Prose,
    RowCap,
    Shape,
    Since,
    Toggle,
    View,
    When,
)
from mcpshape._layout import _grants
from mcpshape.encoders import Layout, Markdown, Toon
from test_encoders import NOTE, PIECES, cells, html, tokens


class Text(BaseModel):
    x: str | None
    y: str | None = None


def rendered(source: str, data: Mapping[str, Any], dto: type = Text, /, *, parts: Any = None, **options: Any) -> str:
    """A template rendered from a view, without the check at registration."""
    encoder = Markdown(templates={dto: "t"}, loader=DictLoader({"t": source, **(parts or {})}), **options)
    return encoder.encode(View(data, Layout(dto=dto, form="object")))


def shaped(source: str, value: BaseModel, **options: Any) -> str:
    """The same through a shape, with its check."""
    encoder = Markdown(templates={type(value): "t"}, loader=DictLoader({"t": source, **options}))
    return Shape(encoder=encoder).render(value).text


texts = st.lists(st.sampled_from([*PIECES, "a", "\x0b", "javascript:x", '"', "'", "[x]", "!["]), max_size=25).map(
    "".join
)
PLACES = {
    "at the start": "{{ x }}{{ y }}",
    "in a list": "- {{ x }}{% if y %}{{ y }}{% endif %} end",
    "in a quote": "> {{ x }}\n> {{ y }}\n",
    "in brackets": "a [{{ x }}] ({{ y }}) b",
    "after a heading": "word\n{{ x }}\n{{ y }}\n\nmore",
    "in line": "{{ x | inline }}{{ y | inline }}",
    "joined": "{{ x ~ y }}{{ [x, y] | join('!') }}",
    "from a macro": "{% macro m(t) %}{{ t }}{% endmacro %}{{ m(x) }}{{ m(y) }}!",
    "in code": "{{ x | code }}{{ y | code }}",
    "in a fence": "- {{ x | fence }}{{ y | fence }}",
    "in a quote of its own": "word {{ x | quote }}{{ y | quote }}",
    "as prose": "> {{ x | prose(2) }}{{ y | prose(2) }}",
    "as a link": "{{ x }}{{ y | link('https://example.com') }}{{ x | link(y) }}{{ y }}",
    "in a heading": "{{ x | heading(2) }}{{ y }}",
    "in a table": "{{ [{'a': x, 'b': y}] | table }}",
    "as capitals": "{{ x | upper }}{{ y | trim }}",
}


@pytest.mark.parametrize("place", PLACES)
@given(x=texts, y=texts)
def test_no_text_gets_out_of_its_place(place: str, x: str, y: str) -> None:
    """E01, E03, E05, E07, E11, whatever the text is: no HTML, image, heading of its own or link to anywhere else."""
    found = tokens(rendered(PLACES[place], {"x": x, "y": y}))
    assert not [token for token in found if token.type == "html_block"]
    assert all(token.content == "<br>" for token in found if token.type == "html_inline")
    assert "image" not in {token.type for token in found}
    links = [str(token.attrs["href"]).lower() for token in found if token.type == "link_open"]
    assert all(link.startswith(("http:", "https:", "mailto:")) for link in links)
    headings = [token for token in found if token.type == "heading_open" and token.level == 0]
    assert len(headings) == (place == "in a heading")


@pytest.mark.parametrize(
    "row",
    ["{{ x | cell }} | {{ y | cell }}", "{{ x }} | {{ y }}", "{{ x | code }}|{{ y | link('https://e.example/|') }}"],
)
@given(x=texts, y=texts)
def test_no_text_adds_a_cell(row: str, x: str, y: str) -> None:
    """E01: two rows of two cells for a GFM parser, whatever the text is."""
    found = tokens(rendered(f"| a | b |\n| --- | --- |\n| {row} |\n", {"x": x, "y": y}))
    assert [token.type for token in found].count("tr_open") == 2
    assert [token.type for token in found].count("td_open") == 2


@given(x=texts)
def test_a_fence_holds_its_text_and_nothing_else(x: str) -> None:
    """E03: one block of code, without an info string, with the text as it was."""
    (block,) = tokens(rendered("{{ x | fence }}", {"x": x}))
    assert (block.type, block.info) == ("fence", "")
    lines = [line.rstrip() for line in re.split("\r\n|[\r\n\x0b\u2028]", x)]
    assert [line.rstrip() for line in block.content.split("\n")[:-1]] == lines


def test_a_cell_holds_pipes_and_line_breaks() -> None:
    """E01, by a template: two cells in every row, an empty text is seen, none is nothing."""
    rows = [{"title": "small | large", "note": "first\nsecond\r\nthird"}, {"title": "x", "note": ""}]
    source = (
        "| title | note |\n| --- | --- |\n"
        "{% for row in rows %}\n| {{ row.title | cell }} | {{ row.note | cell }} |\n{% endfor %}"
    )
    for written in (rendered(source, {"rows": rows}), rendered("{{ rows | table }}", {"rows": rows})):
        assert "small \\| large" in written
        assert cells(written) == [["title", "note"], ["small | large", "first<br>second<br>third"], ["x", '""']]
    assert rendered("| {{ x | cell }} |{{ x | inline }}", {"x": None}) == "|  |*none*"


def test_a_fence_is_longer_than_any_inside() -> None:
    """E03, by a template: five backticks around text that has four, and a code span around one."""
    text = "Steps:\n```sh\nmake all\n```\nThen wait.\n````\nAll events were sent."
    assert rendered("Note: {{ x | fence }}", {"x": text}) == f"Note: \n\n`````\n{text}\n`````"
    assert rendered("{{ x | code }} {{ y | code }}", {"x": "a``b", "y": "c"}) == "``` a``b ``` `c`"
    assert rendered("{{ x | code }}{{ x | fence }}{{ x | quote }}{{ x | prose }}", {"x": None}).count("*none*") == 4
    assert rendered("{{ x | fence }}", {"x": "a\n\n\n\nb"}) == "```\na\n\n\n\nb\n```"


def test_headings_of_a_note_stay_below_the_template() -> None:
    """E05, by a template: the note's headings move, the template's own are the only ones at their level."""
    task = {"title": "Move", "notes": "# Plan\ntext\n\nStatus: done\n===\n- [ ] box"}
    shown = html(rendered("{{ task.title | heading(1) }}\n{{ task.notes | prose(1) }}\n", {"task": task}))
    assert shown.count("<h1>") == 1
    assert "<h2>Plan</h2>" in shown
    assert "<h2>Status: done</h2>" in shown
    quoted = rendered("{{ x | quote }}", {"x": "# Plan\n\n*a*"})
    assert quoted == "> \\# Plan  \n>\n> \\*a\\*"
    raw = rendered("{{ x | prose(1) }}", {"x": "# a ![b](c)"}, raw_prose=True)
    assert raw == "> # a ![b](c)"


def test_text_is_escaped_for_markdown_and_not_for_html() -> None:
    """E07, by a template: what a reader sees is the value, without entities that Markdown does not need."""
    assert rendered("- {{ title }}", {"title": 'Tom & Ann\'s "1:1" <draft>'}) == '- Tom & Ann\'s "1:1" &lt;draft>'


class Ticket(BaseModel):
    due: str | None
    location: str


class Board(BaseModel):
    t: Ticket


def test_none_is_never_None_and_a_misspelt_field_is_found() -> None:  # noqa: N802
    """E09, by a template: a definition error names the template, the line, the field and what mends it."""
    board = Board(t=Ticket(due=None, location="HQ"))
    assert shaped("Due: {{ t.due }} | Place: {{ t.location }}", board) == "Due: *none* | Place: HQ"
    with pytest.raises(DefinitionError) as caught:
        shaped("Due: {{ t.due }} | Place: {{ t.locaton }}", board)
    assert str(caught.value) == (
        "Board:\n  template t, line 1: 't.locaton' is no field of Board. "
        "Mend the name; fields have the names that they have in JSON."
    )
    for source in ("{{ x | upper }}", "{{ x ~ '' }}", "{{ [x] | join }}", "{{ x | string }}", "{{ x }}"):
        assert "none" in rendered(source, {"x": None}).replace("None", "")


def test_prose_of_a_template_makes_no_host_fetch_anything() -> None:
    """E11, by a template: as prose, as a quote and as a line, images and HTML are text or links."""
    for source in ("{{ x | prose(2) }}", "{{ x | quote }}", "{{ x }}", "{{ x | link('https://a.example') }}"):
        assert not {"image", "html_inline"} & {
            token.type for token in tokens(rendered(source, {"x": NOTE})) if token.content != "<br>"
        }


@pytest.mark.parametrize(
    ("text", "url", "written"),
    [
        ("a", "https://example.com/b", "[a](https://example.com/b)"),
        ("a]b[", "HTTP://e.example/(c) d<e>", "[a\\]b\\[](HTTP://e.example/%28c%29%20d%3Ce%3E)"),
        ("a\\", "mailto:b@example.com", "[a\\\\](mailto:b@example.com)"),
        ("a", "https://e.example/?a=1&copy;=2", "[a](https://e.example/?a=1&amp;copy;=2)"),
        ("a", "javascript:alert(1)", "a"),
        ("a", " https://e.example", "a"),
        ("a", "//e.example", "a"),
        ("*a*", None, "\\*a\\*"),
        (None, "https://e.example", "[*none*](https://e.example)"),
    ],
)
def test_a_link_leads_to_the_web_or_to_mail(text: str | None, url: str | None, written: str) -> None:
    """E11: anything else is the text alone; no address ends early."""
    assert rendered("{{ x | link(y) }}", {"x": text, "y": url}) == written


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("{{ n * 2 }} {{ n ** 2 }} {{ n % 2 }} {{ n + 0.5 }} {{ n > 2 }}", "6 9 1 3.5 true"),
        ("{{ tags | join(', ') }}; {{ tags | length }}; {{ tags | first }}", "a\\*, b; 2; a\\*"),
        ("{{ tags }} {{ {} }} {{ [] }}", '["a\\*","b"] *nothing shown* *empty list*'),
        ("{{ rows | sum(attribute='n') }} {{ rows | sum(attribute='n', start=1) }}", "3 4"),
        ("{% for n, g in rows | groupby('n') %}{{ n }}{{ g | length }} {% endfor %}", "11 21"),
        ("{% for g in rows | groupby('n') %}{{ g.grouper }}{{ g.list | length }}{% endfor %}", "1121"),
        ("{% for b in range(5) | batch(2) %}{{ b | join }} {% endfor %}", "01 23 4"),
        ("{% for b in range(5) | slice(2) %}{{ b | join }} {% endfor %}", "012 34"),
        ("{{ 2.345 | round(2) }} {{ 2.5 | round(0, 'floor') }} {{ 2.1 | round(method='ceil') }}", "2.35 2.0 3.0"),
        ("{{ rows | map(attribute='n') | join('-') }} {{ tags | map('upper') | join(' ') }}", "1-2 A\\* B"),
        ("{{ items.keys }} {{ items['values'] }}", "k v"),
        ("{% for k, v in items | items %}{{ k }}={{ v }} {% endfor %}", "keys=k values=v"),
        ("{% for k, v in items | dictsort %}{{ k }}={{ v }} {% endfor %}", "keys=k values=v"),
        ("{% set ns = namespace(t='') %}{% for t in tags %}{% set ns.t = ns.t ~ t %}{% endfor %}{{ ns.t }}", "a\\*b"),
        ("{% for t in tags %}{{ loop.index }}/{{ loop.length }}{{ loop.cycle('-', '+') }}{% endfor %}", "1/2-2/2+"),
        ("{% set c = cycler('x', 'y') %}{{ c.next() }}{{ c.next() }}{{ c.current }}", "xyx"),
        ("{% set j = joiner(', ') %}{% for t in tags %}{{ j() }}{{ t }}{% endfor %}", "a\\*, b"),
        ("{{ 'long words here' | truncate(9) | title }} {{ ' a ' | trim }} {{ 'a b' | wordcount }}", "Long... a 2"),
        ("{{ tags[0] }} {{ tags[-1:] | first }} {{ 'abc'[1] }} {{ range(3)[2] }}", "a\\* b b 2"),
        ("{{ n | string }} {{ '5' | int }} {{ '5' | float }} {{ -n | abs }}", "3 5 5.0 3"),
        ("{% for n in tree recursive %}{{ n.v }}{% if n.c %}({{ loop(n.c) }}){% endif %}{% endfor %}", "1(2\\*)"),
        (
            "{% macro m(t) %}({{ t }} {{ caller() }}){% endmacro %}{% call m(1) %}{{ tags[0] }}{% endcall %}",
            "(1 a\\*)",
        ),
        ("{% macro m(t) %}{{ t }}{% endmacro %}{{ m(tags[0]) | inline }}", "a\\\\\\*"),
        ("| {{ tags[0] | code }}{% macro m(t) %}{{ t | cell }}{% endmacro %}{{ m('a|b') }} |", "| `a*` a\\|b |"),
        ("{{ missing | default('-') }} {{ 'x' if missing is defined else 'y' }}", "\\- y"),
        ("{% with a = tags %}{{ a | last }}{% endwith %}{# no #}{% raw %}{{ x }}{% endraw %}", "b{{ x }}"),
        ("{{ [] | table }}{{ rows | table('n', 'no') }}", "*empty list*\n\n| n |\n| --- |\n| 1 |\n| 2 |"),
        ("{{ 'a #' | heading(9) }}", "###### a \\#"),
        ("{{ ('{:>9}' ~ 1) }}", "{:>9}1"),
        ("{{ ', ' if n > 5 }}{{ 'y' if n }}", "y"),
        ("{{ (tags[0] | cell) ~ (tags[0] | inline) }} {{ none | cell ~ '|' }}", "a\\\\\\*a\\\\\\* \\|"),
    ],
)
def test_what_templates_can_do(source: str, written: str) -> None:
    """A7: data, loops, macros and the filters that make sense on data; a field may be called like a method."""
    data = {"n": 3, "tags": ["a*", "b"], "rows": [{"n": 1}, {"n": 2}], "items": {"keys": "k", "values": "v"}}
    assert rendered(source, {**data, "tree": [{"v": 1, "c": [{"v": "2*", "c": []}]}]}) == written


def test_templates_build_on_one_another() -> None:
    """A7: includes, imports and inheritance within the loader; text of a macro, a block or a parent is finished."""
    parts = {
        "base": "{{ self.top() }}{% block top %}[{{ x }}]{% endblock %}",
        "child": "{% extends 'base' %}{% block top %}({{ super() }}{{ x }}){% endblock %}",
        "grandchild": "{% extends 'child' %}{% block top %}{{ super.super() }}{% endblock %}",
        "macros": "{% macro bold(t) %}**{{ t }}**{% endmacro %}",
    }
    data = {"x": "a*"}
    assert rendered("{% extends 'child' %}", data, parts=parts) == "([a\\*]a\\*)" * 2
    assert rendered("{% extends 'grandchild' %}", data, parts=parts) == "[a\\*]" * 2
    source = "{% import 'macros' as m %}{% from 'macros' import bold as b %}{{ m.bold(x) }}{{ b(x) }}"
    assert rendered(source, data, parts=parts) == "**a\\***" * 2
    assert rendered("{% include ['no', 'part'] %}!", data, parts={"part": "{{ x }}"}) == "a\\*\n!"
    assert rendered("a{% include 'no' ignore missing %}", data) == "a"


ATTACKS = [
    "{{ x.__class__ }}",
    "{{ x.upper() }}",
    "{{ x.format() }}",
    "{{ ''.join }}",
    "{{ x['__class__'] }}",
    "{{ [].append }}",
    "{{ self._TemplateReference__context }}",
    "{{ self['__init__'] }}",
    "{{ self.__init__ }}",
    "{{ self }}",
    "{% for i in [1] %}{{ loop._iterable }}{% endfor %}",
    "{% for i in [1] %}{{ loop }}{% endfor %}",
    "{{ namespace()._Namespace__attrs }}",
    "{{ namespace }}",
    "{{ namespace().__class__ }}",
    "{{ namespace()['x'] }}",
    "{{ [x] | map(' text') | first }}",
    "{% set f = ' put' %}{{ [x] | map(f, '') | first }}",
    "{{ environment }}",
    "{{ context }}",
    "{{ caller }}",
    "{{ caller() }}",
    "{{ config }}",
    "{{ lipsum() }}",
    "{{ dict() }}",
    "{{ range.__self__ }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ cycler('a').items }}{{ cycler('a').__init__ }}",
    "{% macro m() %}{% endmacro %}{{ m.name }}",
    "{% macro m() %}{{ caller.arguments }}{% endmacro %}{% call m() %}{% endcall %}",
    "{% block b %}{{ self.b._context }}{% endblock %}",
    "{% block b %}{{ self.b.name }}{% endblock %}",
    "{% import 'part' as p %}{{ p.__dict__ }}",
    "{% import 'part' as p %}{{ p._body_stream }}",
    "{% import 'part' as p %}{{ p }}",
    "{{ x | attr('upper') }}",
    "{{ x | map('attr', '__class__') | list }}",
    "{{ [x] | map(attribute='__class__') | list }}",
    "{{ [x] | map(attribute='upper') | list }}",
    "{{ [x, x] | sort(attribute='__class__') }}",
    "{{ [x] | groupby('__class__') }}",
    "{{ range(3) }}",
    "{{ [x] | map('upper') }}",
    "{{ x is escaped }}",
    "{{ x | tojson }}",
    "{{ x() }}",
    "{{ [x][namespace()] }}",
    "{% call namespace() %}{% endcall %}",
    "{% call cycler() %}{% endcall %}",
    "{{ 'secret' | include }}",
    "{{ missing }}",
    "{{ x.missing }}",
    "{{ missing.x }}",
    "{{ missing['x'] }}",
    "{{ [1] | join(missing) }}",
    "{{ missing | cell }}",
    "{{ missing ~ x }}",
    "{{ loop }}",
    "{{ varargs }}",
    "{{ kwargs }}",
    "{{ range | string }}",
    "{{ 1 | fence(2, 3) }}",
    "{{ missing() }}",
]


@pytest.mark.parametrize("source", ATTACKS)
def test_a_template_reaches_its_view_and_nothing_else(source: str) -> None:
    """Rule 1: no attribute of Python, no context, no environment and no global leads out of the view."""
    with pytest.raises(EncodingError, match="Markdown: the template failed with "):
        rendered(source, {"x": "text"}, parts={"part": "{{ 1 }}"})


def test_what_a_value_holds_is_never_rendered() -> None:
    """A7: braces in a value are text, in whatever way they get into the page."""
    value = "{{ y }}{% include 'part' %}{# no #}"
    assert (
        rendered("{{ x }} {{ x | cell }}", {"x": value, "y": "SECRET"}, parts={"part": "SECRET"}) == f"{value} {value}"
    )


REPEATED = "{% set ns = namespace(x=START) %}{% for i in range(60) %}{% set ns.x = NEXT %}{% endfor %}{{ ns.x }}"


def repeated(start: str, following: str) -> str:
    return REPEATED.replace("START", start).replace("NEXT", following)


ENDLESS = {
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "loops in a macro": "{% macro m() %}{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}"
    "{% endmacro %}{{ m() }}",
    "a macro that branches": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}"
    "{{ m(60) }}",
    "a macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "an include of itself": "{% include 't' %}",
    "includes that branch": "{% set n = n | default(60) - 1 %}{% if n %}{% include 't' %}{% include 't' %}{% endif %}",
    "a power": "{{ 10 ** 10 ** 10 }}",
    "a power of a power": repeated("3", "ns.x * ns.x"),
    "a float": "{{ 10.0 ** 400 }}",
    "a long text": "{{ 'x' * 10 ** 10 }}",
    "a long list": "{{ [1] * 10 ** 10 }}",
    "a format": "{{ '%9999999999d' % 1 }}",
    "doubled text": repeated("'ab'", "ns.x ~ ns.x"),
    "doubled sums": repeated("'ab'", "ns.x + ns.x"),
    "doubled lists": repeated("[]", "[ns.x, ns.x]"),
    "doubled dicts": repeated("{}", "{1: ns.x, 2: ns.x}"),
    "doubled tuples": repeated("1", "(ns.x, ns.x)"),
    "joins": "{% set a = range(99999) | join('xxxxxxxxxx') %}{% set b = range(99999) | join(a) %}",
    "fills": "{{ 'a' | batch(9999999999, 'x') | list }}",
    "slices": "{{ 'a' | slice(9999999999) | list }}",
    "texts": "{% for a in range(99999) %}" + "x" * 9999 + "{% endfor %}",
    "a long range": "{{ range(10 ** 9) | list }}",
    "another folder": "{% include '../../etc/passwd' %}",
    "an absolute path": "{% include '/etc/passwd' %}",
    "an import": "{% import '/etc/passwd' as p %}",
}


@pytest.mark.parametrize("what", ENDLESS)
def test_a_template_ends_soon(what: str, tmp_path: Path) -> None:
    """A7: whatever it does, an answer comes within the time that it may take, and it is a failure."""
    (tmp_path / "t").write_text(ENDLESS[what], encoding="utf-8")
    encoder = Markdown(templates={Text: "t"}, loader=FileSystemLoader(tmp_path), max_seconds=0.3)
    started = monotonic()
    with pytest.raises(EncodingError, match="Markdown: the template (failed with|was stopped, because it) "):
        encoder.encode(View({"x": "a"}, Layout(dto=Text, form="object")))
    assert monotonic() - started < 4


def test_limits_are_options_and_say_what_they_stopped() -> None:
    """A7: both limits hold for the templates of one answer together, and not for the built-in rendering."""
    with pytest.raises(EncodingError, match="because it writes more than it may"):
        rendered("{{ x }}", {"x": "a" * 99}, max_characters=50)
    with pytest.raises(EncodingError, match="because it takes longer than it may"):
        rendered("{% for i in range(99999) %}{% endfor %}", {"x": ""}, max_seconds=1e-9)
    rows = Layout(fields={"rows": Layout(fields={"*": Layout(dto=Text, form="object")}, form="array")})
    encoder = Markdown(templates={Text: "t"}, loader=DictLoader({"t": "{{ x }}"}), max_characters=50)
    assert encoder.encode(View({"rows": [{"x": "a" * 20}] * 2}, rows)).count("a" * 20) == 2
    with pytest.raises(EncodingError):
        encoder.encode(View({"rows": [{"x": "a" * 20}] * 3}, rows))
    many = View({"rows": [{"x": "a" * 20, "y": place} for place in range(100_000)]})
    assert Markdown(max_seconds=1e-9, max_characters=1).encode(many).count("\n") == 100_003


@pytest.mark.parametrize("limits", [{"max_seconds": 0}, {"max_seconds": -1.0}, {"max_characters": 0}], ids=str)
def test_limits_that_leave_no_room_are_refused(limits: dict[str, Any]) -> None:
    """Rule 7."""
    with pytest.raises(DefinitionError, match="nothing is left to write in"):
        Markdown(**limits)


def test_a_template_that_is_no_text_is_refused_by_its_name(tmp_path: Path) -> None:
    """Rule 7: a file in another encoding, or a folder in place of a file."""
    (tmp_path / "latin").write_bytes("größe".encode("latin-1"))
    encoder = Markdown(templates={Event: "latin"}, loader=FileSystemLoader(tmp_path))
    with pytest.raises(DefinitionError, match="template latin: it cannot be read: UnicodeDecodeError. Save"):
        Shape(encoder=encoder).render(Event(title="t"))


class Event(BaseModel):
    title: str
    place: str | None = None


class Calendar(BaseModel):
    name: str
    next: Event | None
    events: list[Event]
    weeks: list[list[Event]] = []
    by_room: dict[str, Event] = {}


CALENDAR = Calendar(
    name="Work",
    next=Event(title="A"),
    events=[Event(title="B", place="Room *1*"), Event(title="C")],
    weeks=[[Event(title="D")], []],
    by_room={"R": Event(title="E")},
)


def test_a_template_stands_wherever_its_class_does() -> None:
    """A7: at the root, in a field, for each entry of an array, of nested arrays and of a dict."""
    encoder = Markdown(templates={Event: "e"}, loader=DictLoader({"e": "- {{ title }}: {{ place }}\n"}))
    assert Shape(encoder=encoder).render(CALENDAR.next).text == "- A: *none*"
    assert Shape(encoder=encoder).render(CALENDAR).text == (
        "- name: Work\n\n## next\n\n- A: *none*\n\n## events\n\n- B: Room \\*1\\*\n- C: *none*\n\n## weeks\n\n"
        "### weeks 1 of 2\n\n- D: *none*\n\n### weeks 2 of 2\n\n*empty list*\n\n## by_room\n\n### R\n\n- E: *none*"
    )
    whole = Markdown(templates={Calendar: "c"}, loader=DictLoader({"c": "# {{ name }} ({{ events | length }})"}))
    assert Shape(encoder=whole).render(CALENDAR).text == "# Work (2)"
    listed = Shape(encoder=encoder).render([None, Event(title="A")], declared=list[Event | None]).text
    assert listed == "## result\n\n*none*\n\n- A: *none*"


def test_entries_that_are_no_list_stand_apart() -> None:
    """A7: blank lines between entries of several lines; what a template leaves empty is left out."""
    source = "{% if title != 'C' %}**{{ title }}**{% endif %}"
    encoder = Markdown(templates={Event: "e"}, loader=DictLoader({"e": source}))
    page = Shape(encoder=encoder).render([Event(title=each) for each in "BCD"], declared=list[Event]).text
    assert page == "## result\n\n**B**\n\n**D**"
    assert Shape(encoder=encoder).render(Event(title="C")).text == "*nothing shown*"


class Before(BaseModel):
    title: str


class After(Before):
    priority: int = 1


def test_a_field_is_added_once() -> None:
    """A6, A13: one DTO; a new field is in TOON and in the built-in Markdown without another line of code."""
    for encoder in (Toon(), Markdown()):
        assert "priority" not in Shape(encoder=encoder).render(Before(title="a")).text
        assert "priority: 1" in Shape(encoder=encoder).render(After(title="a")).text


POLICY = Policy(
    levels=("strict", "minimal", "standard"),
    toggles={
        "notes": Toggle(on_since="standard", offered_since="minimal"),
        "names": Toggle(on_since="standard", offered_since="standard"),
        "mails": Toggle(on_since="standard", offered_since="standard", requires="names"),
    },
)


class Person(BaseModel):
    name: Annotated[str, When("names")]
    mail: Annotated[str, When("mails")]


class Meeting(BaseModel):
    held: Annotated[str | None, RowCap()] = None
    title: Annotated[str, Since("minimal", below=Mask("[Event]"))]
    place: Annotated[str | None, Since("minimal")]
    notes: Annotated[str, When("notes"), Prose()]
    people: list[Person]


class Agenda(BaseModel):
    total: Annotated[int, Count("meetings")] = 0
    meetings: list[Meeting]


AGENDA = Agenda(
    meetings=[
        Meeting(title="Plan", place="R1", notes="# CANARY-notes", people=[Person(name="Ada", mail="a@example.com")]),
        Meeting(title="CANARY-own", place="R2", notes="", people=[], held="strict"),
    ]
)
HANDLED = """\
- {{ title }}{% if place is defined %} in {{ place }}{% endif %}{% if held is defined and held %} (private){% endif %}
{% if people is defined and people %}
  {% for person in people %}
 {{ person.name | default("somebody") }}{% if person.mail is defined %} {{ person.mail }}{% endif %}
  {% endfor %}
{% endif %}
{% if notes is not defined %}{% else %}{{ notes | prose(2) }}{% endif %}
"""


def meetings(source: str, dto: type = Meeting, **parts: str) -> Shape:
    return Shape(POLICY, encoder=Markdown(templates={dto: "t"}, loader=DictLoader({"t": source, **parts})))


def problems(source: str, dto: type = Meeting, **parts: str) -> list[str]:
    """What registration says against a template."""
    with pytest.raises(DefinitionError) as caught:
        meetings(source, dto, **parts).tool(list_meetings)
    return [str(problem) for problem in caught.value.problems]


def list_meetings() -> Agenda:
    """List the {entries}."""
    return AGENDA


def test_a_template_that_handles_what_is_withheld_works_at_every_level() -> None:
    """E09, rule 3: each grant of the policy gives an answer, with no more than it lets out."""
    shape = meetings(HANDLED)
    shape.tool(list_meetings)
    strict = shape.render(AGENDA, grant=POLICY.grant("strict")).text
    assert strict == "- total: 2\n\n## meetings\n\n- [Event]\n- [Event]"
    minimal = shape.render(AGENDA, grant=POLICY.grant("minimal")).text
    assert "- Plan in R1\n- [Event] in *none* (private)" in minimal
    bare = shape.render(AGENDA, grant=POLICY.grant("standard", toggles={"mails": False, "notes": False})).text
    assert "Ada" in bare
    assert "example.com" not in bare
    full = shape.render(AGENDA, grant=POLICY.grant("standard")).text
    assert "- Plan in R1 Ada a@example.com\n\n> ### CANARY-notes" in full
    assert not [text for text in (strict, minimal, bare) if "CANARY" in text]
    assert "CANARY-own" not in full
    answers = [shape.render(AGENDA, grant=grant) for _, grant in _grants(POLICY)]
    assert len(answers) == 9
    assert not [answer.text for answer in answers if answer.is_error or "CANARY-own" in answer.text]


HINT = "Put it inside {% if NAME is defined %}, or write {{ NAME | default('...') }}."


@pytest.mark.parametrize(
    ("source", "name", "said"),
    [
        ("{{ place }}", "place", "'place' is withheld at strict."),
        ("{{ notes }}", "notes", "'notes' is withheld at strict, minimal, standard without notes."),
        ("{{ held }}", "held", "'held' is withheld at strict."),
        ("{{ 1 if place else 2 }}", "place", "'place' is withheld at strict."),
        ("{% if place %}{% endif %}", "place", "'place' is withheld at strict."),
        ("{% if not place is defined or 1 %}{{ place }}{% endif %}", "place", "'place' is withheld at strict."),
        ("{{ place if title is defined }}", "place", "'place' is withheld at strict."),
        ("{% set p = place %}{{ p }}", "place", "'place' is withheld at strict."),
        ("{% macro m(a=place) %}{% endmacro %}{{ title }}", "place", "'place' is withheld at strict."),
        ("{% macro m() %}{{ place }}{% endmacro %}", "place", "'place' is withheld at strict."),
        ("{% with p = place %}{% endwith %}", "place", "'place' is withheld at strict."),
        ("{% block b %}{{ place }}{% endblock %}", "place", "'place' is withheld at strict."),
        ("{{ ['a', place] | join }}", "place", "'place' is withheld at strict."),
        ("{{ title is in place }}", "place", "'place' is withheld at strict."),
    ],
)
def test_a_withheld_field_that_is_not_handled_is_found(source: str, name: str, said: str) -> None:
    """E09, rule 7: the levels are named, each once, with what mends it; one problem for one place."""
    assert problems(source) == [f"template t, line 1: {said} {HINT.replace('NAME', name)}"]


def test_a_key_that_only_some_answers_have_is_found() -> None:
    """Rule 7: the mark of held rows, and a field that only one class of a union has."""
    handled = "{% if held is defined %}{{ held }}{% endif %}{% if held is not defined %}{% else %}{{ held }}{% endif %}"
    meetings(handled + "{{ held if held is defined }}{{ held | default('') }}").tool(list_meetings)
    either = "{% if place is not defined or held is not defined %}{% else %}{{ held }}{{ place }}{% endif %}"
    meetings(either).tool(list_meetings)
    found = problems("{% if title is defined or held is defined %}{{ held | default(1) }}{% endif %}\n{{ held or 1 }}")
    assert found == [f"template t, line 2: 'held' is withheld at strict. {HINT.replace('NAME', 'held')}"]

    class Cat(BaseModel):
        name: str
        lives: int

    class Dog(BaseModel):
        name: str

    class Home(BaseModel):
        pet: Cat | Dog
        other: Cat | str = ""
        by_name: dict[str, Dog] = {}

    home = Home(pet=Dog(name="a"))
    assert shaped("{{ pet.name }}{% if other is mapping %}{{ other.name }}{{ other.what }}{% endif %}", home) == "a"
    with pytest.raises(DefinitionError, match=r"'pet.lives' is not in every answer. Put it inside .*pet.lives is def"):
        shaped("{{ pet.lives }}", home)
    with pytest.raises(DefinitionError, match=r"'by_name.rex' is not in every answer. .*by_name\['rex'\] is def"):
        shaped("{{ by_name['rex'] }}", home)
    with pytest.raises(DefinitionError, match=r"'by_name.\*.age' is no field of Home"):
        shaped("{% for key, dog in by_name | dictsort %}{{ dog.age }}{% endfor %}", home)
    kept = "{% set a = 1 %}{% if true %}{% endif %}"
    kept += "{% for d in [pet] if a is not defined and total is not defined %}{% endfor %}"
    kept += "{% for d in [pet] if other is not defined %}{{ total }}{% endfor %}{{ (pet, 1)[0:1] | first }}"
    with pytest.raises(DefinitionError, match=r"'total' is no field of Home"):
        shaped(kept + "{{ [pet] | sort(attribute=a) | length }}", home)


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("{{ titel }}", "titel"),
        ("{{ titel | default('') }}", "titel"),
        ("{% if titel is defined %}{{ titel }}{% endif %}", "titel"),
        ("{% for m in meetings %}{{ m.titel }}{% endfor %}", "meetings.titel"),
        ("{% for m in meetings | sort(attribute='titel') | list %}{% endfor %}", "meetings.titel"),
        ("{% for m in meetings | selectattr('titel') | reverse %}{% endfor %}", "meetings.titel"),
        ("{% for m in meetings | rejectattr('titel', 'defined') | reverse %}{% endfor %}", "meetings.titel"),
        ("{{ meetings | map(attribute='titel') | join }}", "meetings.titel"),
        ("{{ meetings | map(attribute='titel', default=1) | join }}", "meetings.titel"),
        ("{{ meetings | sum('titel') }}", "meetings.titel"),
        ("{{ meetings | join(', ', 'titel') }}", "meetings.titel"),
        ("{{ meetings | table('title', 'titel') }}", "meetings.titel"),
        ("{{ (meetings | first).titel }}", "meetings.titel"),
        ("{{ meetings[0].titel }}", "meetings.titel"),
        ("{{ meetings['titel'] }}", "meetings.titel"),
        ("{{ meetings.titel }}", "meetings.titel"),
        ("{{ total.titel }}", "total.titel"),
        ("{% for t, g in meetings | groupby('title') %}{{ t }}{% for m in g %}{{ m.titel }}{% endfor %}{% endfor %}",
         "meetings.titel"),
        ("{% for g in meetings | groupby('title') %}{{ (g.list | first).titel }}{% endfor %}", "meetings.titel"),
        ("{% macro m(e, f=1) %}{{ e.titel }}{% endmacro %}{% for e in meetings %}{{ m(e, f=e) }}{% endfor %}",
         "meetings.titel"),
        ("{% for m in meetings if m.titel %}{% endfor %}", "meetings.titel"),
        ("{% set m = meetings | last %}{% if total %}{% set k = m %}{% endif %}{{ k.x }}{{ m.titel }}",
         "meetings.titel"),
        ("{% for k in meetings | map(attribute='people', default=[]) %}{{ k[0].nam }}{% endfor %}",
         "meetings.people.nam"),
        ("{% for a in total %}{% endfor %}{% for p in meetings[0].title %}{% endfor %}", "meetings.title"),
        ("{% if total > 1 %}{% elif titel %}{% else %}{% endif %}", "titel"),
        ("{{ caller() }}{% call(a) range(total) %}{{ a.b }}{{ titel }}{% endcall %}", "titel"),
        ("{% set titel = 1 %}{{ titel }}{{ tytel }}", "tytel"),
    ],
)  # fmt: skip
def test_a_name_that_is_no_field_is_found(source: str, path: str) -> None:
    """E09, rule 7: through loops, filters, macros and conditions, at the root and inside."""
    found = problems(source, Agenda)
    assert found[0].startswith(f"template t, line 1: {path!r} is ")
    assert "'meetings.titel' is" not in found[0] or "no field of Agenda" in found[0]


def test_a_name_in_an_included_template_is_found() -> None:
    """Rule 7: includes, imports and parents are read with the names that they see, once each."""
    assert problems("{% include 'p' %}", p="\n{{ titel }}")[0].startswith("template p, line 2: 'titel' is no field")
    assert problems("{% include 'p' without context %}", p="{{ title }}{{ titel }}") != []
    assert problems("{% extends 'p' %}{% block b %}{{ titel }}{{ super() }}{% endblock %}{{ ignored }}",
                    p="{% block b %}{{ tytel }}{% endblock %}") == [
        f"template {name}, line 1: {path!r} is no field of Meeting. "
        "Mend the name; fields have the names that they have in JSON."
        for name, path in (("p", "tytel"), ("t", "titel"))
    ]  # fmt: skip
    used = "{% for e in meetings %}{{ m.show(e) }}{{ s(e) }}{{ u.x }}{% endfor %}"
    imports = "{% import 'p' as m %}{% from 'p' import show as s %}{% from 'p' import nothing %}{% import 'no' as u %}"
    found = problems(imports + used, Agenda, p="{% macro show(e) %}{{ e.titel }}{% endmacro %}{% include 't' %}")
    assert [each.split(" is ")[0] for each in found] == [
        "template no: the loader has none of that name. Mend the name, or add it.",
        "template p, line 1: 'meetings.titel'",
    ]
    meetings("{% include ['no', 'p'] %}{% include 'no' ignore missing %}", p="{{ title }}").tool(list_meetings)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("a\n{% if %}", "template t, line 2: it cannot be read: Expected an expression, got 'end of statement block'"),
        ("{{ title | tojson }}", "template t, line 1: there is no filter 'tojson'."),
        ("{% if 0 %}{{ title | safe }}{% endif %}", "template t, line 1: there is no filter 'safe'."),
        ("{{ [title] | map('escape') | join }}", "template t, line 1: there is no filter 'escape'."),
        ("{{ [title] | map(' text') | join }}", "template t, line 1: there is no filter ' text'."),
        ("{{ title is escaped }}", "template t, line 1: there is no test 'escaped'."),
        ("{% filter upper %}{{ title }}{% endfilter %}", "a filter block changes text that is escaped already."),
        ("{% set a %}{{ title }}{% endset %}", "a set block holds text that would be escaped again."),
        ("{% autoescape true %}{{ title }}{% endautoescape %}", "values are escaped for Markdown, not for HTML."),
        ("{% include title %}", "it names another template by a value."),
        ("[a]({{ title }})", "a value stands in an address or a tag."),
        ("<{{ title }}>", "a value stands in an address or a tag."),
        ('<a href="x{{ title }}">', "a value stands in an address or a tag."),
        ("[a]: b{{ title }}{{ title }}", "a value stands in an address or a tag."),
    ],
)
def test_a_construct_that_would_not_be_escaped_is_refused(source: str, said: str) -> None:
    """Rule 7: at registration, with a remedy; and where nobody asked, when it is rendered."""
    assert said in problems(source)[0]
    if " if 0 " not in source:
        with pytest.raises(EncodingError):
            rendered(source, {"title": "a"})


def test_a_template_that_is_missing_is_found() -> None:
    """Rule 7: for a tool, and for a type that is only rendered."""
    encoder = Markdown(templates={Event: "no.md.j2"}, loader=DictLoader({}))
    with pytest.raises(DefinitionError, match="template no.md.j2: the loader has none of that name"):
        Shape(encoder=encoder).render(CALENDAR)
    assert Shape(encoder=encoder).render(Before(title="a")).text == "- title: a"
    with pytest.raises(DefinitionError, match="template no.md.j2"):
        Shape(encoder=Toon()).using(encoder=encoder).view(CALENDAR)


def test_templates_need_classes_and_a_loader() -> None:
    """Rule 7: what `Markdown` is given wrong is told when it is made."""
    wrong: Any = {"Event": "e", Event: 1}
    with pytest.raises(DefinitionError) as caught:
        Markdown(templates=wrong)
    assert [problem.path for problem in caught.value.problems] == ["templates", "templates", "loader"]
    assert hash(Markdown()) == hash(Markdown())
    assert Markdown(templates={Event: "e"}, loader=DictLoader({})) != Markdown()


class Node(BaseModel):
    name: str
    children: list["Node"] = []
    parent: "Node | None" = None


def test_a_type_that_contains_itself_is_read_to_an_end() -> None:
    """A7: a macro that calls itself for the rows inside, and a field path of any depth."""
    source = (
        "{% macro show(node) %}\n- {{ node.name }}\n{% for each in node.children %}{{ show(each) }}{% endfor %}\n"
        "{% endmacro %}{{ name }}{% for each in children %}{{ show(each) }}{% endfor %}{{ parent.parent.parent }}"
    )
    with pytest.raises(DefinitionError, match="line 3: 'children.nam' is no field"):
        shaped(source.replace("}\n{% endm", "}{{ node.nam }}\n{% endm"), Node(name="a"))
    tree = Node(name="a", children=[Node(name="b", children=[Node(name="c")])])
    assert shaped(source.replace("{{ parent.parent.parent }}", ""), tree).split() == ["a-", "b", "-", "c"]


class Circle(BaseModel):
    r: int


class Square(BaseModel):
    a: int


class Drawing(BaseModel):
    shapes: list[Circle | Square]
    one: Circle | str = ""
    other: Circle | dict[str, int] = {}


def test_a_class_inside_a_union_of_classes_gets_no_template() -> None:
    """Rule 7: the view does not tell which class a row is of; the class that holds the union can have one."""
    encoder = Markdown(templates={Circle: "c"}, loader=DictLoader({"c": "{{ r }}"}))
    with pytest.raises(DefinitionError, match=r"templates\[Circle\]: it stands in a union.*the class that holds the"):
        Shape(encoder=encoder).render(Drawing(shapes=[]))
    holder = Markdown(templates={Drawing: "d", Circle: "c"}, loader=DictLoader({"d": "{{ one }}!", "c": "{{ r }}"}))
    assert Shape(encoder=holder).render(Drawing(shapes=[Circle(r=1)], one="b")).text == "b!"


def test_a_choice_of_fields_goes_around_the_template() -> None:
    """Rule 9: a template needs all fields of its class; with fewer the built-in rendering answers."""
    shape = Shape(encoder=Markdown(templates={Event: "e"}, loader=DictLoader({"e": "- {{ title }} at {{ place }}"})))

    @shape.tool(ask={"fields"})
    def list_events() -> Calendar:
        """List."""
        return CALENDAR

    assert list_events(fields=["events.title"]).content[0].text == "## events\n\n| title |\n| --- |\n| B |\n| C |"  # type: ignore[call-arg,attr-defined]
    assert list_events(fields=["events"]).content[0].text.endswith("- B at Room \\*1\\*\n- C at *none*")  # type: ignore[call-arg,attr-defined]


class Trip(BaseModel):
    stops: list[str]
    more: list[str] | None = None


def test_a_template_tells_how_an_answer_goes_on() -> None:
    """Rule 9: `page` is a variable where a tool answers in pages, and may be asked for where it does not."""
    source = "{{ stops | join(', ') }}{% if page is defined %}, {{ page.shown }} of {{ page.total }}"
    source += "{% if page.next %}, more{% endif %}{% endif %}"
    shape = Shape(encoder=Markdown(templates={Trip: "t"}, loader=DictLoader({"t": source})))

    @shape.tool(page="stops", limit=2)
    def list_stops() -> Trip:
        """List."""
        return Trip(stops=["a", "b", "c"])

    assert list_stops().content[0].text == "a, b, 2 of 3, more"  # type: ignore[attr-defined]
    assert shape.render(Trip(stops=["a"])).text == "a"
    careless = Shape(encoder=Markdown(templates={Trip: "t"}, loader=DictLoader({"t": "{{ page.next }}"})))
    careless.tool(page="stops", limit=2)(list_trip)
    with pytest.raises(DefinitionError, match="'page' is not in every answer"):
        careless.tool(page="more", limit=2)(list_more)
    with pytest.raises(DefinitionError, match="'page' is no field of Trip"):
        careless.render(Trip(stops=[]))
    silent = Shape(encoder=Markdown(templates={Trip: "t"}, loader=DictLoader({"t": "{{ stops | length }}"})))
    with pytest.raises(
        DefinitionError, match=r"template of Trip: it does not tell page.next, .* Write {{ page.next }}."
    ):
        silent.tool(page="stops", limit=2)(list_trip)
    listed = Shape(encoder=Markdown(templates={Trip: "t"}, loader=DictLoader({"t": "{{ stops | length }}"})))
    assert listed.tool(page="result", limit=2)(list_trips)().content[0].text.endswith("## result\n\n0")  # type: ignore[attr-defined]


def list_trip() -> Trip:
    """List."""
    return Trip(stops=[])


def list_more() -> Trip:
    """List."""
    return Trip(stops=[])


def list_trips() -> list[Trip]:
    """List."""
    return [Trip(stops=[])]


def test_templates_come_from_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A7: a server ships its templates in its own package."""
    folder = tmp_path / "some_server" / "templates"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "event.md.j2").write_text("- {{ title }}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    encoder = Markdown(templates={Event: "event.md.j2"}, loader=PackageLoader("some_server"))
    shape = Shape(encoder=encoder)
    assert shape.view(Event(title="A & B")).data["title"] == "A & B"
    (folder / "event.md.j2").write_text("changed {{ oops }}", encoding="utf-8")
    assert shape.render(Event(title="A & B")).text == "- A & B"
    monkeypatch.delitem(sys.modules, "some_server")


def test_a_third_encoder_need_not_check_anything() -> None:
    """An encoder without `find_problems` is taken as it is; one with it is asked with every grant in words."""
    asked: list[str] = []

    class Picky(Toon):
        def find_problems(self, layouts: Any) -> list[Any]:
            asked.extend(words for words, _ in layouts)
            return []

    Shape(POLICY, encoder=Picky()).tool(list_meetings)
    assert asked[:4] == ["strict", "minimal", "minimal with notes", "standard"]
    assert set(asked[4:]) == {
        "standard without mails, names, notes", "standard without mails, notes", "standard without notes",
        "standard without mails, names", "standard without mails",
    }  # fmt: skip


def test_aliases_are_the_names_of_a_template() -> None:
    """A7: the wire names, as in the view."""

    class Aliased(BaseModel):
        first_name: str = Field(serialization_alias="firstName")

    assert shaped("{{ firstName }}", Aliased(first_name="a")) == "a"
    with pytest.raises(DefinitionError, match="'first_name' is no field"):
        shaped("{{ first_name }}", Aliased(first_name="a"))
