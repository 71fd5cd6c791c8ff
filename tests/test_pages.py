"""Size: whole rows, true counts, and cursors that any replica takes and nobody else can make."""

import json
import random
import sys
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, RootModel

from clients import KINDS, ask, list_tools, make_server
from mcpshape import (
    Always,
    Chars,
    Clip,
    Count,
    DefinitionError,
    Keyring,
    Policy,
    Rows,
    Shape,
    Since,
    Tokens,
)
from mcpshape._budget import estimate, find_counter
from mcpshape._caller import Caller, calling
from mcpshape._tokens import WEEK
from mcpshape.encoders import Encoder, Json, Markdown, Toon
from mcpshape.mcpserver import attach
from mcpshape.testing import decode

pytestmark = pytest.mark.anyio

SECRET = b"0123456789abcdef0123456789abcdef"
ENCODERS: dict[str, Encoder] = {"toon": Toon(), "markdown": Markdown(), "json": Json()}
POLICY = Policy(levels=("strict", "open"))


class Row(BaseModel):
    id: int
    title: str = ""
    notes: str | None = None


class Table(BaseModel):
    name: str = "all"
    total: Annotated[int, Count("rows")] = 0
    rows: list[Row]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def paged(rows: list[Row], *, encoder: Encoder | None = None, **options: Any) -> Shape:
    """A replica with one tool, `list_rows`."""
    shape = Shape(encoder=encoder or Json(), keyring=Keyring(SECRET))
    chosen: dict[str, Any] = {"page": "rows", **options}

    @shape.tool(**chosen)
    def list_rows(topic: str = "all") -> Table:
        return Table(rows=rows)

    return shape


def call(shape: Shape, **arguments: Any) -> Any:
    return shape.tools["list_rows"].served(**arguments)


def data(result: Any) -> Any:
    assert not result.is_error, result.content[0].text
    return decode(result)


def pages(*replicas: Shape, **arguments: Any) -> list[dict[str, Any]]:
    """All pages of an answer, each asked of any of the replicas."""
    chosen = random.Random(1)
    found = [data(call(chosen.choice(replicas), **arguments))]
    while (cursor := found[-1]["page"]["next"]) is not None:
        found.append(data(call(chosen.choice(replicas), cursor=cursor, **arguments)))
    return found


MANY = [
    Row(id=place, title=f"row {place}", notes=None if place % 3 else "n" * (place % 50)) for place in range(100_000)
]


@pytest.mark.no_cover  # Tracing doubles the time of so many rows, and no line is run by them alone.
@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
@pytest.mark.parametrize("options", [{"limit": 5000}, {"budget": Chars(300_000)}], ids=str)
def test_a_long_list_pages_through_on_any_mix_of_replicas(encoder: Encoder, options: dict[str, Any]) -> None:
    """Rule 9: 100,000 rows, two replicas with one secret, every row seen once; counts and `[N]` are true."""
    found = pages(paged(MANY, encoder=encoder, **options), paged(MANY, encoder=encoder, **options))
    assert [row["id"] for page in found for row in page["rows"]] == list(range(len(MANY)))
    assert {page["total"] for page in found} == {page["page"]["total"] for page in found} == {len(MANY)}
    assert all(page["page"]["shown"] == len(page["rows"]) for page in found)
    assert len(found) < 60


@pytest.mark.parametrize("kind", KINDS)
async def test_a_client_pages_by_the_added_argument(kind: str) -> None:
    """The cursor is an optional argument that the function of the author does not know, on either server."""
    shape = paged(MANY[:25], encoder=Toon(), limit=10, ask={"limit", "format"})
    server = make_server(kind)
    server.add_tool(shape.tools["list_rows"].served)
    schema = (await list_tools(server))["list_rows"]["inputSchema"]
    assert set(schema["properties"]) == {"topic", "cursor", "format", "limit"}
    assert "required" not in schema
    first = await ask(server, "list_rows")
    assert first.text.startswith("name: all\ntotal: 25\npage:\n  shown: 10\n  total: 25\n  next: ")
    assert "\nrows[10]{id,title,notes}:\n" in first.text
    second = await ask(server, "list_rows", cursor=decode(first.text)["page"]["next"], limit=3, format="json")
    assert [row["id"] for row in json.loads(second.text)["rows"]] == [10, 11, 12]
    third = await ask(server, "list_rows", cursor=json.loads(second.text)["page"]["next"], limit=1000)
    assert [row["id"] for row in decode(third.text)["rows"]] == list(range(13, 23))
    last = await ask(server, "list_rows", cursor=decode(third.text)["page"]["next"], format="markdown")
    assert decode(last.text)["page"] == {"shown": 2, "total": 25, "next": None}


@given(
    st.lists(st.integers(0, 900), max_size=60),
    st.integers(320, 2000),
    st.sampled_from(sorted(ENCODERS)),
    st.sampled_from([None, 1, 3, 40]),
    st.booleans(),
)
def test_every_page_fits_and_no_row_is_lost(
    lengths: list[int], most: int, name: str, limit: int | None, is_structured: bool
) -> None:
    """Rule 9: whole rows in order; one that is too long by itself is refused with a way around it."""
    rows = [Row(id=place, title="x" * length) for place, length in enumerate(lengths)]
    shape = paged(rows, encoder=ENCODERS[name], budget=Chars(most), limit=limit, structured=is_structured)
    seen: list[int] = []
    cursor: str | None = None
    for _ in range(len(rows) + 1):
        result = call(shape, cursor=cursor)
        text = result.content[0].text
        if result.is_error:
            assert "Its longest field is rows.title" in text
            assert lengths[len(seen)] > most - 320
            seen.append(len(seen))
            if len(seen) == len(rows):
                break
            cursor = text.split("cursor ")[1].removesuffix(".")
            continue
        assert len(text) <= most
        page = decode(result)
        if is_structured:
            assert len(json.dumps(page, separators=(",", ":"), ensure_ascii=False)) <= most
        seen += [row["id"] for row in page["rows"]]
        cursor = page["page"]["next"]
        if cursor is None:
            break
    assert seen == list(range(len(rows)))


def test_a_page_makes_good_use_of_its_budget() -> None:
    """A page of alike rows is well filled, whatever the format."""
    for encoder in ENCODERS.values():
        text = call(paged(MANY, encoder=encoder, budget=Chars(8000))).content[0].text
        assert 0.6 * 8000 <= len(text) <= 8000


def test_rows_that_grow_shrink_the_page() -> None:
    """The first rows say little of the others: the text fits all the same."""
    rows = [Row(id=place, title="x" * (3 if place < 16 else 3000 if place % 7 else 9)) for place in range(500)]
    for encoder in ENCODERS.values():
        found = pages(paged(rows, encoder=encoder, budget=Chars(8000)))
        assert [row["id"] for page in found for row in page["rows"]] == list(range(500))


def test_a_budget_in_tokens_holds() -> None:
    """Tokens are counted by the installed tokenizer."""
    assert find_counter().source == "o200k_base"
    text = call(paged(MANY, encoder=Toon(), budget=Tokens(2000))).content[0].text
    assert 1500 <= Tokens(2000).measure(text) <= 2000
    assert Tokens(2000).unit == "tokens"
    words = Tokens(50, count=lambda text: len(text.split()))
    assert len(call(paged(MANY, encoder=Toon(), budget=words)).content[0].text.split()) <= 50


def test_without_a_tokenizer_tokens_are_estimated_and_named_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The estimate is on the high side, and the unit says what it is."""
    counter = find_counter()
    find_counter.cache_clear()
    monkeypatch.setitem(sys.modules, "splintr", None)
    try:
        assert find_counter().unit == Tokens(5).unit == "estimated tokens"
        result = call(paged([Row(id=1, title="x" * 500)], budget=Tokens(20)))
        assert "estimated tokens, where 20 are the most" in result.content[0].text
    finally:
        find_counter.cache_clear()
    for encoder in ENCODERS.values():
        text = call(paged(MANY[:500], encoder=encoder, limit=500)).content[0].text
        assert counter.count(text) <= estimate(text) <= 2 * counter.count(text)


def changed(cursor: str) -> list[str]:
    """The cursor with each of its characters changed, cut, lengthened or respelled."""
    swapped = [
        cursor[:place] + ("a" if letter != "a" else "b") + cursor[place + 1 :] for place, letter in enumerate(cursor)
    ]
    return [
        *swapped,
        cursor[1:],
        cursor[:-1],
        cursor + "a",
        cursor.upper(),
        cursor + "=",
        " " + cursor,
        "",
        "é",
        "8" * 20,
    ]


def test_an_edited_cursor_is_refused() -> None:
    """Whatever is changed in it; which part was wrong, nobody is told."""
    shape = paged(MANY[:50], limit=10)
    cursor = data(call(shape))["page"]["next"]
    refused = (
        "Error: This cursor does not fit here: it is expired, was changed, or belongs to another call. "
        "Use the cursor of an answer with the same arguments, or call without one to start over."
    )
    assert {call(shape, cursor=each).content[0].text for each in changed(cursor)} == {refused}


def test_a_cursor_holds_no_data_and_is_short() -> None:
    """It is a place and a signature: alike for whatever rows there are."""
    other = [Row(id=1, title="secret")] * 50
    one, two = (data(call(paged(rows, limit=10)))["page"]["next"] for rows in (MANY[:50], other))
    assert one == two
    assert len(one) <= 26


def test_a_cursor_of_another_call_is_refused() -> None:
    """Bound to the tool, the arguments, the grant and the caller."""
    clock = [1_000_000_000.0]
    shape = Shape(POLICY, encoder=Json(), keyring=Keyring(SECRET, clock=lambda: clock[0]), grant=POLICY.grant("open"))

    class Numbers(BaseModel):
        numbers: Annotated[list[int], Always()]

    @shape.tool(page="numbers", limit=2, ask={"privacy", "fields"})
    def list_numbers(start: int = 0, step: int = 1) -> Numbers:
        return Numbers(numbers=list(range(start, 10, step)))

    @shape.tool(page="numbers", limit=2, ask={"privacy"})
    def list_others(start: int = 0, step: int = 1) -> Numbers:
        return Numbers(numbers=list(range(start, 10, step)))

    def goes_on(tool: str = "list_numbers", **arguments: Any) -> bool:
        result = shape.tools[tool].served(cursor=cursor, **arguments)
        assert result.is_error == result.content[0].text.startswith("Error: This cursor does not fit here")
        return not result.is_error

    with calling(Caller(client="a")):
        cursor = decode(shape.tools["list_numbers"].served(step=1))["page"]["next"]
        assert goes_on()
        assert goes_on(start=0, step=1, fields=["numbers"])
        assert not goes_on("list_others")
        assert not goes_on(start=1)
        assert not goes_on(privacy="strict")
    for caller in (Caller(client="b"), Caller(principal="a"), Caller()):
        with calling(caller):
            assert not goes_on()
    with calling(Caller(client="a")):
        clock[0] += WEEK
        assert goes_on()
        clock[0] += WEEK
        assert not goes_on()


def test_a_list_that_became_shorter_ends_the_paging() -> None:
    """C5: a place after the end is an empty page, not a failure."""
    rows = MANY[:30]
    cursor = data(call(paged(rows, limit=20)))["page"]["next"]
    answered = data(call(paged(rows[:5], limit=20), cursor=cursor))
    assert answered == {"name": "all", "total": 5, "page": {"shown": 0, "total": 5, "next": None}, "rows": []}


@pytest.mark.parametrize("kind", KINDS)
async def test_pages_fit_the_published_schema(kind: str) -> None:
    """B01, hosts 5: `page` is in the schema, and there in every answer that holds the list."""
    shape = paged(MANY[:5], limit=2)
    server = make_server(kind)
    server.add_tool(shape.tools["list_rows"].served)
    schema = (await list_tools(server))["list_rows"]["outputSchema"]
    assert "page" in schema["required"]
    structured = (await ask(server, "list_rows")).structured
    Draft202012Validator(schema).validate(structured)
    assert structured["page"]["shown"] == 2


def test_a_list_that_is_the_answer_itself_is_paged_as_result() -> None:
    """A root that is no object stands under `result`, and so does its page."""
    shape = Shape(encoder=Json(), keyring=Keyring(SECRET))

    @shape.tool(page="result", limit=2, ask={"fields"})
    def list_rows() -> list[Row] | None:
        return MANY[:3]

    @shape.tool(page="result", limit=2)
    def list_none() -> list[Row] | None:
        return None

    first = decode(call(shape, fields=["result.id"]))
    assert first == {"page": {"shown": 2, "total": 3, "next": first["page"]["next"]}, "result": [{"id": 0}, {"id": 1}]}
    assert call(shape, fields=["id"]).is_error
    assert [row["id"] for page in pages(shape, fields=["result"]) for row in page["result"]] == [0, 1, 2]
    assert decode(shape.tools["list_none"].served()) == {"result": None}
    for tool in shape.tools.values():
        assert "page" not in (tool.output_schema or {}).get("required", ())


def test_a_list_inside_of_a_root_model_is_paged() -> None:
    """A root model of a DTO is that DTO on the wire."""

    class Wrapped(RootModel[Table]):
        pass

    shape = Shape(encoder=Json(), keyring=Keyring(SECRET))

    @shape.tool(page="rows", limit=2)
    def list_rows() -> Wrapped:
        return Wrapped(Table(rows=MANY[:5]))

    assert [row["id"] for page in pages(shape) for row in page["rows"]] == list(range(5))


def test_pages_hold_visible_rows_only() -> None:
    """A1 to rule 1: what a level hides is neither on a page nor in its counts, and the rows around it are all there."""

    class Item(BaseModel):
        id: Annotated[int, Always()]
        is_private: Annotated[bool, Since("open")]

    class Items(BaseModel):
        total: Annotated[int, Count("items")] = 0
        items: Annotated[list[Item], Always(), Rows(visible_since="open", when="is_private")]

    items = [Item(id=place, is_private=place % 3 == 0) for place in range(20)]
    shape = Shape(POLICY, encoder=Json(), keyring=Keyring(SECRET))

    @shape.tool(page="items", limit=4)
    def list_rows() -> Items:
        return Items(items=items)

    found = pages(shape)
    assert [item["id"] for page in found for item in page["items"]] == [place for place in range(20) if place % 3]
    assert {(page["total"], page["page"]["total"]) for page in found} == {(13, 13)}


def test_a_choice_of_fields_without_the_list_has_no_page() -> None:
    """`fields` only ever leaves out."""
    choices: tuple[dict[str, Any], ...] = ({"limit": 10}, {"budget": Chars(800)})
    for limits in choices:
        shape = paged(MANY[:50], ask={"fields"}, **limits)
        assert data(call(shape, fields=["name"])) == {"name": "all"}
        assert set(data(call(shape, fields=["rows.id"]))) == {"page", "rows"}


@pytest.mark.parametrize("limits", [{"limit": 3}, {"budget": Chars(400)}], ids=str)
def test_rows_of_which_nothing_chosen_is_told_are_left_out(limits: dict[str, Any]) -> None:
    """A page of empty rows would tell nothing, at the price of a page."""

    class Item(BaseModel):
        id: Annotated[int, Always()]
        note: Annotated[str, Since("open")]

    class Items(BaseModel):
        name: Annotated[str, Always()] = "all"
        items: list[Item]

    shape = Shape(POLICY, encoder=Json(), keyring=Keyring(SECRET))

    @shape.tool(page="items", ask={"fields"}, **limits)
    def list_rows() -> Items:
        return Items(items=[Item(id=place, note="n") for place in range(50)])

    assert data(call(shape, fields=["items.note", "name"])) == {"name": "all"}
    assert "Nothing of what was chosen may be told" in call(shape, fields=["items.note"]).content[0].text


def test_a_row_that_is_too_long_names_its_field_and_the_way_on() -> None:
    """Rule 9: never cut by characters of the output; the field is named, and fields or the cursor go around it."""
    rows = [Row(id=0), Row(id=1, notes="n" * 3_000_000), Row(id=2)]
    shape = paged(rows, budget=Chars(1000), ask={"fields"})
    first = data(call(shape))
    assert [row["id"] for row in first["rows"]] == [0]
    refused = call(shape, cursor=first["page"]["next"])
    text = refused.content[0].text
    assert refused.is_error
    assert (
        "3000124 characters, where 1000 are the most. Its longest field is rows.notes with 3000000 characters." in text
    )
    assert "Leave it out with the argument fields" in text
    assert [row["id"] for row in data(call(shape, cursor=text.split("cursor ")[1].removesuffix(".")))["rows"]] == [2]
    assert [row["id"] for row in data(call(shape, fields=["rows.id"]))["rows"]] == [0, 1, 2]


def test_a_clip_keeps_a_row_within_its_budget() -> None:
    """A8, rule 9: a declared clip cuts a text by whole characters, so that its row has room."""

    class Note(BaseModel):
        text: Annotated[str, Clip(100)]

    class Notes(BaseModel):
        notes: list[Note]

    shape = Shape(encoder=Json(), keyring=Keyring(SECRET))

    @shape.tool(page="notes", budget=Chars(300))
    def list_rows() -> Notes:
        return Notes(notes=[Note(text="é" * 5000)] * 3)

    assert [len(note["text"]) for page in pages(shape) for note in page["notes"]] == [100, 100, 100]


def test_a_budget_without_a_list_answers_whole_or_not_at_all() -> None:
    """Rule 9: an answer that cannot be cut by rows is refused, and says by which field."""
    shape = Shape(encoder=Toon())

    @shape.tool(budget=Chars(100))
    def get_row(length: int) -> Row:
        return Row(id=1, title="t", notes="n" * length)

    assert decode(shape.tools["get_row"].served(length=50))["notes"] == "n" * 50
    refused = shape.tools["get_row"].served(length=500)
    assert refused.is_error
    assert refused.content[0].text == (
        "Error: The answer is too long: 522 characters, where 100 are the most. Its longest field is notes with 500 "
        "characters. Ask for less, or tell the user that it is too long to be shown."
    )


def test_a_budget_that_the_rest_of_the_answer_fills_names_that_field() -> None:
    """Even without a row there is no room."""
    shape = Shape(encoder=Json(), keyring=Keyring(SECRET))

    @shape.tool(page="rows", budget=Chars(200))
    def list_rows() -> Table:
        return Table(name="n" * 500, rows=MANY[:3])

    text = call(shape).content[0].text
    assert "Its longest field is name with 500 characters" in text
    assert call(paged([], budget=Chars(5))).is_error


class Own(BaseModel):
    page: int
    rows: list[Row]
    words: set[str]
    inner: "Own | None" = None


class Plain(BaseModel):
    page: int
    rows: list[Row]


@pytest.mark.parametrize(
    ("declared", "options", "message"),
    [
        (Table, {"page": "row", "limit": 5}, "the answer has no list 'row' of its own. Its lists are: rows."),
        (Table, {"page": "name", "limit": 5}, "the answer has no list 'name' of its own."),
        (Own, {"page": "words", "limit": 5}, "Its lists are: its DTO can hold itself; wrap it in one that cannot."),
        (list[Row], {"page": "rows", "limit": 5}, "Its lists are: result."),
        (int, {"page": "rows", "limit": 5}, "Its lists are: none."),
        (Table, {"page": "rows"}, "nothing limits a page. Add limit= or budget=."),
        (Table, {"page": "rows", "limit": 0}, "limit: it is no number of at least 1."),
        (Table, {"page": "rows", "limit": "5"}, "limit: it is no number of at least 1."),
        (Table, {"page": "rows", "budget": 800}, "budget: it is no budget. Use Chars"),
        (Table, {"limit": 5}, "no list is paged. Name the list with page=."),
        (Table, {"ask": {"limit"}}, "no list is paged."),
        (Plain, {"page": "rows", "limit": 5}, "the DTO has a field 'page' of its own. Rename it."),
    ],
)
def test_a_page_that_cannot_be_is_refused_at_registration(declared: Any, options: dict[str, Any], message: str) -> None:
    """Rule 7."""

    def tool() -> None: ...

    tool.__annotations__["return"] = declared
    with pytest.raises(DefinitionError) as caught:
        Shape(encoder=Toon()).tool(**options)(tool)
    assert message in str(caught.value)


@pytest.mark.parametrize("most", [0, -1, 1.5, True, "8000"])
@pytest.mark.parametrize("budget", [Chars, Tokens])
def test_a_budget_of_nothing_is_refused(budget: Any, most: Any) -> None:
    """Rule 7: where it is made."""
    with pytest.raises(DefinitionError, match="it is no number of at least 1"):
        budget(most)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limit": 0}, "limit: Input should be greater than or equal to 1."),
        ({"limit": "many"}, "limit: Input should be a valid integer"),
        ({"format": "xml"}, "format: Input should be 'json', 'markdown' or 'toon'."),
        ({"fields": ["rows.nothing"]}, "There is no field 'rows.nothing'."),
        ({"cursor": 5}, "cursor: Input should be a valid string."),
    ],
)
async def test_a_page_that_cannot_be_asked_for_is_a_user_error(arguments: dict[str, Any], message: str) -> None:
    """C6: named, with what was expected, through a real client."""
    shape = paged(MANY[:5], limit=2, ask={"limit", "format", "fields"})
    server = make_server("MCPServer")
    server.add_tool(shape.tools["list_rows"].served)
    attach(server, shape)
    answer = await ask(server, "list_rows", **arguments)
    assert answer.is_error
    assert message in answer.text
