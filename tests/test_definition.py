"""Mistakes that are found before a server starts, with tool, field path and remedy."""

from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

import pytest
from mcp.types import CallToolResult
from pydantic import BaseModel, Field, GetPydanticSchema, RootModel, field_serializer, model_serializer
from pydantic_core import core_schema
from typing_extensions import TypeAliasType, TypedDict

from mcpshape import (
    Always,
    Clip,
    Count,
    DefinitionError,
    Derived,
    Mask,
    Never,
    Policy,
    Shape,
    Since,
    Toggle,
    Until,
    When,
)
from mcpshape.encoders import Json, Toon

POLICY = Policy(levels=("strict", "open"), toggles={"notes": Toggle(on_since="open", offered_since="open")})


class Pair(NamedTuple):
    left: int


class Left(TypedDict):
    left: int


class Right(TypedDict):
    right: int


class Guarded(BaseModel):
    text: Annotated[str, Always()] = ""


MIXED = Annotated[
    tuple[Any, ...],
    GetPydanticSchema(lambda *_: core_schema.tuple_schema([core_schema.int_schema()] * 2, variadic_item_index=1)),
]
Nested = TypeAliasType("Nested", "list[Nested]")


def problems_of(returned: Any, policy: Policy | None = None) -> str:
    """What registering a tool with that return type says."""

    def tool() -> Any: ...

    tool.__annotations__["return"] = returned
    with pytest.raises(DefinitionError) as caught:
        Shape(policy, encoder=Json()).tool()(tool)
    return str(caught.value)


def field_of(annotation: Any, default: Any = ...) -> type[BaseModel]:
    """A DTO class `Dto` with that one field."""
    members = {"__annotations__": {"field": annotation, "other": Annotated[str, Always()]}, "__module__": __name__}
    return type("Dto", (BaseModel,), {**members, "field": default} if default is not ... else members)


@pytest.mark.parametrize(
    "returned", [Any, object, dict, dict[str, Any], list, list[Any], list[object], Annotated[Any, 1]]
)
def test_an_untyped_return_is_refused(returned: Any) -> None:
    """C4, rule 7: a bare dict, Any or object is caught at registration."""
    assert "it is untyped" in problems_of(returned)


@pytest.mark.parametrize("annotation", [Any, dict, list[Any], object])
def test_an_untyped_field_is_refused_with_its_path(annotation: Any) -> None:
    """Rule 7: the path names the class and the field."""
    assert "Dto.field" in problems_of(field_of(annotation))


@pytest.mark.parametrize("returned", [Pair, Iterable[int], complex, dict[tuple[int, int], str], MIXED])
def test_a_type_that_is_no_data_is_refused(returned: Any) -> None:
    """Rule 7: what cannot be a JSON value is told with what to declare in its place."""
    assert "Declare" in problems_of(returned)


def test_a_type_that_pydantic_cannot_read_is_refused() -> None:
    """Rule 7: the remedy is named, not pydantic's inner workings."""
    assert "its type cannot be read" in problems_of(type("Opaque", (), {}))


def test_a_recursive_alias_is_refused() -> None:
    """Rule 7: only classes can contain themselves."""
    assert "recursive alias" in problems_of(Nested)


def test_an_untagged_union_of_typed_dicts_is_refused() -> None:
    """Rule 2: a dict does not say which of the two it is, so it could be read under the laxer one's rules."""
    assert "without a discriminator" in problems_of(list[Left | Right])


def test_a_tool_without_a_return_type_is_refused() -> None:
    """C4: there is nothing to hold the answer against."""
    with pytest.raises(DefinitionError, match="declares no return type"):

        @Shape(encoder=Json()).tool()
        def tool():  # type: ignore[no-untyped-def]  # noqa: ANN202
            pass


def test_a_finished_result_is_refused() -> None:
    """Rule 1: a result that the tool makes itself would go around the door."""
    assert "go around the shape" in problems_of(CallToolResult)


def test_an_annotation_that_cannot_be_resolved_is_refused() -> None:
    """Rule 7: the unknown name is told."""
    assert "the name 'Missing' is unknown" in problems_of("Missing")


def test_a_scalar_field_without_a_rule_is_refused_under_a_policy() -> None:
    """Rule 2: default deny."""
    assert "Dto.field: it has no rule." in problems_of(field_of(str), POLICY)


@pytest.mark.parametrize(
    "annotation", [list[str], dict[str, Guarded], str | Guarded, tuple[int, Guarded], RootModel[int]]
)
def test_a_field_that_holds_values_beside_dtos_needs_a_rule(annotation: Any) -> None:
    """Rule 2: keys of a mapping and scalars in a list are values too."""
    assert "it has no rule" in problems_of(field_of(annotation), POLICY)


@pytest.mark.parametrize(
    "annotation", [Guarded, Guarded | None, list[Guarded], tuple[Guarded, Guarded], list[list[Guarded]]]
)
def test_a_field_that_only_holds_dtos_needs_no_rule(annotation: Any) -> None:
    """The DTOs inside are guarded by their own rules."""
    dto = field_of(annotation | None)
    assert Shape(POLICY, encoder=Json()).view(dto(field=None, other="x")).data == {"field": None, "other": "x"}


def test_a_tool_that_returns_bare_values_is_refused_under_a_policy() -> None:
    """Rule 2: a list of texts has no field that could have a rule."""
    assert "it holds values without a rule" in problems_of(list[str], POLICY)


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (Annotated[str, Since("wide")], "there is no level 'wide'. Choose one of: strict, open."),
        (Annotated[str, Until("wide", then="other")], "there is no level 'wide'"),
        (Annotated[str, When("note")], "there is no toggle 'note'. Choose one of: notes."),
        (Annotated[str, Derived("gone")], "it names the field 'gone', which does not exist"),
        (Annotated[str, Derived()], "it is derived from nothing"),
        (Annotated[str, Derived("field")], "it is derived from itself"),
        (Annotated[int, Count("gone")], "it names the field 'gone'"),
        (Annotated[int, Count("other")], "other is no list"),
        (Annotated[int, Count("other.deeper")], "it names the field 'other.deeper'"),
        (Annotated[str, Until("open", then="gone")], "it names the field 'gone'"),
        (Annotated[str, Until("strict", then="field")], "what takes over is not shown from that level on"),
        (Annotated[int, Since("open", below=Mask("x"))], "its mask does not fit its type"),
        (Annotated[list[str], Since("open", below=Mask("x"))], "its mask does not fit its type"),
        (Annotated[int | bool, When("notes", otherwise=Mask("x"))], "its mask does not fit its type"),
        (Annotated[RootModel[int], Mask("x")], "its mask does not fit its type"),
        (Annotated[str, Clip(0)], "a Clip cuts one text, to at least one character"),
        (Annotated[list[str], Clip(3)], "a Clip cuts one text"),
        (Annotated[str, Always(), Never()], "it has more than one rule"),
        (Annotated[str, Always(), Clip(3), Clip(4)], "it has more than one rule"),
        (list[Annotated[str, Always()]], "a rule inside its type guards nothing"),
    ],
)
def test_a_rule_that_cannot_hold_is_refused(annotation: Any, message: str) -> None:
    """Rule 7: each with its path and its remedy."""
    told = problems_of(field_of(annotation), POLICY)
    assert f"Dto.field: {message}" in told


@pytest.mark.parametrize("rule", [Since("open"), Until("open", then="other"), When("notes")])
def test_a_rule_that_needs_a_policy_is_refused_without_one(rule: Any) -> None:
    """Rule 2: a forgotten policy does not open everything."""
    assert "the shape has no policy" in problems_of(field_of(Annotated[str, rule]))


def test_all_mistakes_are_reported_together() -> None:
    """Rule 7: one line for each, under the name of the tool."""

    class Dto(BaseModel):
        first: str
        second: Annotated[str, Since("wide")]

    lines = problems_of(Dto, POLICY).splitlines()
    assert lines[0] == "tool tool:"
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["Dto.first", "Dto.second"]


def test_a_serializer_without_a_return_type_is_refused() -> None:
    """Rule 2: what a function returns unannounced could be anything."""

    class Dto(BaseModel):
        field: str

        @field_serializer("field")
        def write(self, value: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
            return value

    assert "does not say what it returns" in problems_of(Dto)


def test_a_wrapping_serializer_around_a_dto_is_refused() -> None:
    """Rule 1: it would read fields that its answer must not show."""

    class Dto(BaseModel):
        field: str

        @model_serializer(mode="wrap")
        def write(self, handler: Any) -> str:
            return str(handler(self))

    assert "a wrapping serializer around a DTO" in problems_of(Dto)


def test_a_field_that_drops_its_key_by_value_is_refused() -> None:
    """Rule 3: a key is absent for one reason only."""

    class Dto(BaseModel):
        field: str = Field(default="", exclude_if=lambda value: not value)

    assert "exclude_if drops its key by value" in problems_of(Dto)


def test_a_list_that_drops_entries_in_its_own_way_is_refused() -> None:
    """Rule 3: a schema with a filter of its own would hide what the plan says is shown."""
    dropping = core_schema.list_schema(
        core_schema.str_schema(), serialization=core_schema.filter_seq_schema(exclude={0})
    )
    annotation = Annotated[list[str], GetPydanticSchema(lambda *_: dropping)]
    assert "include or exclude of its own" in problems_of(field_of(annotation))


def test_rules_for_a_foreign_type_compile_to_the_same_plan() -> None:
    """`Policy.rules`: a class that is not ours gets its rules from the policy."""

    class Foreign(BaseModel):
        title: str
        place: str

    policy = POLICY.rules({Foreign: {"title": Always(), "place": Since("open")}})
    shape = Shape(policy, encoder=Json())
    assert shape.view(Foreign(title="a", place="b")).data == {"title": "a"}


def test_foreign_rules_that_name_nothing_or_stand_beside_another_are_refused() -> None:
    """Rule 7: no rule is ignored in silence."""

    class Foreign(BaseModel):
        title: Annotated[str, Always()]

    told = problems_of(Foreign, POLICY.rules({Foreign: {"titel": Always(), "title": Always()}}))
    assert "Foreign.titel: the policy has a rule for it, but no such field." in told
    assert "Foreign.title: it has a rule of its own and one from the policy." in told


@pytest.mark.parametrize("codec", ["xml", "toons2"])
def test_an_unknown_codec_is_refused(codec: Any) -> None:
    """The choices are named."""
    with pytest.raises(DefinitionError, match="Choose auto or one of: toons, python-toon, toon-format"):
        Toon(codec=codec)


def test_an_unknown_word_in_a_description_is_refused() -> None:
    """A11, rule 7: a placeholder is one of the format's words, or a doubled brace."""
    with pytest.raises(DefinitionError, match=r"there is no word \{entrie\}. Use one of entry, entries"):

        @Shape(encoder=Json()).tool()
        def tool() -> Guarded:
            """One {entrie}."""
            return Guarded()


def test_a_tool_name_is_taken_once() -> None:
    """Rule 7: the second of two tools with one name is refused."""
    shape = Shape(encoder=Json())

    def tool() -> Guarded:
        return Guarded()

    shape.tool()(tool)
    with pytest.raises(DefinitionError, match="registered twice"):
        shape.tool()(tool)


def test_a_grant_of_another_policy_is_refused() -> None:
    """Rule 4: a shape and its grant speak of the same levels."""
    with pytest.raises(DefinitionError, match="it is no grant of this policy"):
        Shape(POLICY, encoder=Json(), grant=Policy(levels=("strict",)).grant())


@pytest.mark.parametrize("encoder", [Toon, 5, None])
def test_an_encoder_that_is_none_is_refused(encoder: Any) -> None:
    """Rule 7: a forgotten pair of parentheses is told at once."""
    with pytest.raises(DefinitionError, match=r"encoder: it is no encoder.*Pass an object, such as Toon\(\)"):
        Shape(encoder=encoder)


def test_an_encoder_without_words_is_refused() -> None:
    """Rule 7: what is missing is named."""

    class Mute:
        name, structured, vocabulary = "Mute", False, "words"

        def encode(self, view: Any) -> str:
            return "x"

    mute: Any = Mute()
    with pytest.raises(DefinitionError, match="its vocabulary is none. Make it with mcpshape.encoders.Vocabulary"):
        Shape(encoder=mute)


def test_the_decorator_works_without_parentheses() -> None:
    """`@shape.tool` and `@shape.tool()` are the same."""
    shape = Shape(encoder=Json())

    @shape.tool
    def tool() -> Guarded:
        return Guarded(text="x")

    assert shape.tools["tool"].served().structured_content == {"text": "x"}


def test_a_policy_without_a_grant_is_refused_at_the_door() -> None:
    """Rule 4: no grant is not the widest one."""
    from mcpshape._plan import compile_plan
    from mcpshape._project import project

    class Dto(BaseModel):
        field: Annotated[str, Since("open")]

    with pytest.raises(DefinitionError, match="a grant is needed"):
        project(compile_plan(Dto, POLICY, "tool"), Dto(field="x"), None)


def test_wording_with_an_unknown_placeholder_is_refused() -> None:
    """A9, rule 7: the server's own words for a failed encoding are checked before one fails."""
    with pytest.raises(DefinitionError, match="on_encoding_error"):
        Shape(encoder=Json(), on_encoding_error="It failed: {why}")
