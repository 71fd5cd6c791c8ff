"""What is read before a call: descriptions and instructions, in the words of the format."""

from types import GenericAlias
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, create_model

from mcpshape import Always, Coarsen, DefinitionError, Mask, Never, Policy, Shape, Since
from mcpshape.encoders import Json, Markdown, Toon
from mcpshape.explain import explain_tool

POLICY = Policy(levels=("strict", "open"))
NULL = "null means that there is none."
ABSENT = "A key that is not there was not told, which says nothing about whether there is a value."
PAGES = "Where page.next holds a cursor, more is left: call the same tool with the same arguments and that cursor."


class Item(BaseModel):
    id: Annotated[int, Always()]
    title: Annotated[str, Since("open", below=Mask("[Item]"))]
    price: Annotated[float, Since("open")]
    secret: Annotated[str, Never()] = ""


class Items(BaseModel):
    day: Annotated[str, Always()] = ""
    items: list[Item]


def described(level: str = "open", doc: str = "Items with {keys:items} in {keys}.", **options: object) -> str:
    shape = Shape(POLICY, encoder=Toon(), grant=POLICY.grant(level))

    def list_items() -> Items:
        return Items(items=[])

    list_items.__doc__ = doc
    shape.tool(**options)(list_items)  # type: ignore[call-overload]
    return shape.tools["list_items"].description


def test_a_description_names_the_keys_that_the_setting_lets_out() -> None:
    """A6, A13: the keys follow from the DTO, and a level that withholds one does not name it."""
    assert described() == "Items with id, title, price in day, items."
    assert described("strict") == "Items with id, title in day, items."
    assert described(privacy="strict") == "Items with id, title in day, items."


def test_a_field_added_once_appears_everywhere() -> None:
    """A6, A13: one line in the DTO, and it is in every format, the schema, the description and the explanation."""
    fields: dict[str, Any] = {"id": (Annotated[int, Always()], 1), "title": (Annotated[str, Always()], "t")}
    added = {**fields, "place": (Annotated[str | None, Always()], "Room A")}

    def told(row_fields: dict[str, Any]) -> dict[str, str]:
        row: Any = create_model("Row", **row_fields)
        rows: Any = GenericAlias(list, row)
        table: Any = create_model("Table", rows=(rows, [row()]))
        shape = Shape(POLICY, encoder=Toon(), structured=True)

        def list_rows() -> None:
            """List rows, each with {keys:rows}."""

        list_rows.__annotations__["return"] = table
        shape.tool(example=table)(list_rows)
        tool = shape.tools["list_rows"]
        texts = {name: shape.answer("list_rows", table(), encoder=name).text for name in ("toon", "markdown", "json")}
        explained = explain_tool(shape, "list_rows").levels[0].formats
        assert {name: cost.characters for name, cost in explained.items()} == {
            name: len(text) for name, text in texts.items()
        }
        return {**texts, "schema": str(tool.output_schema), "description": tool.description}

    before, after = told(fields), told(added)
    assert not [where for where, text in before.items() if "place" in text]
    assert [where for where, text in after.items() if "place" in text] == list(after)
    assert after["toon"] == "rows[1]{id,title,place}:\n  1,t,Room A"
    assert after["markdown"].endswith("| id | title | place |\n| --- | --- | --- |\n| 1 | t | Room A |")
    assert after["json"] == '{"rows":[{"id":1,"title":"t","place":"Room A"}]}'


@pytest.mark.parametrize("doc", ["{keys:nothing}", "{keys:items.id}", "{keys:items.items}", "{entry:items}", "{key}"])
def test_a_placeholder_that_names_nothing_is_refused(doc: str) -> None:
    """Rule 7, A11: all of them together, with the words there are."""
    with pytest.raises(DefinitionError) as caught:
        described(doc=f"{doc} and {{word}}")
    assert doc in str(caught.value)
    assert "there is no word {word}. Use one of entry, entries, field, fields, listing, null, keys" in str(caught.value)


def test_a_text_of_the_author_gets_the_words_of_the_format() -> None:
    """A11, A12: outside of a tool as well."""
    texts = [
        Shape(encoder=encoder).describe(
            "One {entry} each, {{}}.", empty="No {entries}: {field} and {fields}, {listing}."
        )
        for encoder in (Toon(), Markdown(), Json())
    ]
    assert texts == [
        "One entry each, {}.\n\nNo entries: field and fields, list.",
        "One row each, {}.\n\nNo rows: column and columns, table.",
        "One object each, {}.\n\nNo objects: key and keys, array.",
    ]
    with pytest.raises(DefinitionError, match="there is no word {reading}"):
        Shape(encoder=Toon()).describe("{reading}")


def test_instructions_say_what_is_needed_to_read_the_answers_and_no_more() -> None:
    """How to read the format where models may not know it, what null and no key mean, how to go on."""
    assert Shape(encoder=Json()).instructions() == NULL
    assert Shape(encoder=Markdown()).instructions() == "*none* or an empty cell means that there is none."
    toon = Shape(encoder=Toon()).instructions()
    assert toon == f"{Toon().vocabulary.reading} {NULL}"
    assert "name[N]{a,b}:" in toon
    shape = Shape(POLICY, encoder=Json())
    assert shape.instructions() == f"{NULL} {ABSENT}"

    @shape.tool(page="items", limit=5, encoder=Toon())
    def list_items() -> Items:
        return Items(items=[])

    assert shape.instructions() == f"{Toon().vocabulary.reading} {NULL} {ABSENT} {PAGES}"
    coarse = Shape(POLICY, encoder=Json())

    class Priced(BaseModel):
        price: Annotated[float, Coarsen(50)]

    @coarse.tool()
    def get_price() -> Priced:
        return Priced(price=12.5)

    assert coarse.instructions() == f"{NULL} {ABSENT} Some times and numbers are rounded down."
    chosen = Shape(encoder=Json())

    @chosen.tool(ask={"fields"})
    def list_numbers() -> list[int]:
        return []

    assert chosen.instructions() == f"{NULL} {ABSENT}"
