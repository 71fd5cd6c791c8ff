"""Ways around the door that were tried and are closed, each a kind of its own."""

import functools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path, PurePosixPath
from types import GenericAlias, MappingProxyType
from typing import Annotated, Any, Literal, NotRequired

import pytest
from jsonschema import Draft202012Validator
from pydantic import (
    AnyUrl,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    SecretStr,
    Tag,
    computed_field,
    create_model,
    field_serializer,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypeAliasType, TypedDict

from clients import KINDS, ask, list_tools, make_server
from mcpshape import (
    Always,
    Clip,
    Coarsen,
    Count,
    DefinitionError,
    Derived,
    Drop,
    Mask,
    Never,
    Policy,
    RowCap,
    Rows,
    Shape,
    Show,
    Since,
    UserError,
    When,
)
from mcpshape._plan import compile_plan
from mcpshape._schema import publish_schema
from mcpshape.encoders import Json, Markdown, Toon

POLICY = Policy(levels=("strict", "open"))
STRICT = Shape(POLICY, encoder=Json())
PLAIN = Shape(encoder=Json())


class Inner(BaseModel):
    id: Annotated[str, Always()] = "1"
    secret: Annotated[str, Never()] = "CANARY"


class First(TypedDict):
    a: Annotated[str | None, Always()]


class Second(TypedDict):
    a: Annotated[str | None, Never()]
    b: Annotated[str | None, Always()]


class Quiet(RootModel[Annotated[str, Never()]]):
    pass


class QuietRows(RootModel[Annotated[list[Inner], Never()]]):
    pass


Alias = TypeAliasType("Alias", Annotated[str, Never()])
RowsAlias = TypeAliasType("RowsAlias", Annotated[list[Inner], Never()])


def dto(annotation: Any) -> Any:
    return create_model("Dto", value=(annotation, ...))


def written(annotation: Any, value: Any, shape: Shape = PLAIN) -> Any:
    """The value as it is written, or `refused`."""
    model = dto(annotation)
    shaped = shape.render(model.model_construct(value=value))
    assert "CANARY" not in shaped.text
    return "refused" if shaped.is_error else (shaped.structured or {})["value"]


@pytest.mark.parametrize("action", [Drop, None, "[hidden]", Never(), Mask, Since("open")])
def test_what_is_no_action_is_refused(action: Any) -> None:
    """Rule 2: default deny, for what stands in place of a value as well."""
    for rule in (Since("open", below=action), When("notes", otherwise=action)):
        with pytest.raises(DefinitionError, match="is no action"):
            compile_plan(dto(Annotated[str, rule]), POLICY, "tool")


@pytest.mark.parametrize("rule", [Never, Always, "x", None])
def test_what_is_no_rule_is_refused_from_a_policy(rule: Any) -> None:
    """Rule 2: for types that are not ours as well."""
    model = dto(str)
    with pytest.raises(DefinitionError, match="no rule"):
        compile_plan(model, POLICY.rules({model: {"value": rule}}), "tool")


def test_an_action_alone_is_a_rule_for_every_level() -> None:
    """Dropped or shown at every level."""
    assert STRICT.view(dto(Annotated[str, Drop()])(value="x")).data == {}
    assert STRICT.view(dto(Annotated[str, Show()])(value="x")).data == {"value": "x"}
    assert PLAIN.view(dto(Annotated[str, Drop()])(value="x")).data == {}


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[list[Alias], Always()],
        Annotated[Quiet, Always()],
        RowsAlias,
        QuietRows,
        Annotated[dict[str, Alias], Always()],
    ],
)
def test_a_rule_behind_an_alias_or_a_root_model_is_not_ignored(annotation: Any) -> None:
    """Rule 2: a rule that nothing reads is a mistake, wherever it hides."""
    with pytest.raises(DefinitionError, match="guards nothing"):
        compile_plan(dto(annotation), POLICY, "tool")


def test_a_rule_inside_a_computed_return_or_on_a_whole_answer_is_not_ignored() -> None:
    """Rule 2: likewise."""

    class Dto(BaseModel):
        @computed_field  # type: ignore[prop-decorator]
        @property
        def names(self) -> Annotated[list[Annotated[str, Never()]], Always()]:
            return ["CANARY"]

    with pytest.raises(DefinitionError, match="Dto.names: a rule inside its type"):
        compile_plan(Dto, POLICY, "tool")
    with pytest.raises(DefinitionError, match="a rule on a whole answer guards nothing"):
        compile_plan(Annotated[list[Inner], Never()], POLICY, "tool")


def test_a_grant_of_another_policy_opens_nothing() -> None:
    """Rule 4: its levels mean something else."""
    other = Policy(levels=("open", "strict")).grant("strict")
    for use in (STRICT.render, STRICT.view):
        with pytest.raises(DefinitionError, match="no grant of this policy"):
            use(Inner(), grant=other)


def test_a_view_in_the_body_of_a_tool_is_no_wider_than_the_call() -> None:
    """Rule 4: `render` and `view` obey the call under way, as `say` does."""

    class Titled(BaseModel):
        title: Annotated[str, Since("open")] = "CANARY"

    base = Shape(POLICY, encoder=Json(), grant=POLICY.grant("open"))

    @base.tool()
    def tool() -> Titled:
        told = [base.view(Titled()).to_json(), base.view(Titled(), grant=POLICY.grant("open")).to_json()]
        raise UserError(" ".join([*told, base.render(Titled()).text, base.say("{it.title}", it=Titled())]))

    strict = base.using(grant=POLICY.grant("strict"))
    assert strict.tools["tool"].served().content[0].text == "Error: {} {} {} (not shown)"


@pytest.mark.parametrize(
    "annotation",
    [First | Second, list[First] | list[Second], dict[str, str] | First, dict[str, First] | dict[str, Second]],
)
def test_dicts_of_several_kinds_need_a_discriminator(annotation: Any) -> None:
    """Rule 2: or the laxer rules would be read for the stricter value."""
    with pytest.raises(DefinitionError, match="several kinds of dicts without a discriminator"):
        compile_plan(dto(Annotated[annotation, Always()]), POLICY, "tool")


def test_tagged_dicts_with_withheld_fields_are_written() -> None:
    """A discriminator tells which rules hold."""

    class One(TypedDict):
        kind: Annotated[Literal["a"], Always()]
        more: Annotated[str, Since("open")]

    class Two(TypedDict):
        kind: Annotated[Literal["b"], Always()]
        more: Annotated[str, Always()]

    model = dto(Annotated[One | Two, Field(discriminator="kind")])
    told = [STRICT.view(model(value={"kind": kind, "more": "m"})).data["value"] for kind in "ab"]
    assert told == [{"kind": "a"}, {"kind": "b", "more": "m"}]


def test_a_dataclass_has_its_own_markers_and_not_those_of_a_parent() -> None:
    """Rule 2: an override that withholds is obeyed."""

    @pydantic_dataclass
    class Parent:
        title: Annotated[str, Always()] = "x"

    @dataclass
    class Child(Parent):
        title: Annotated[str, Never()] = "CANARY"
        more: Annotated[str, Always()] = "m"

    assert STRICT.view(Child()).data == {"more": "m"}


def test_what_is_derived_from_a_part_is_not_shown() -> None:
    """B7: clipped, coarsened, or a list with withheld fields or hidden rows, none of them is whole."""

    class Row(BaseModel):
        title: Annotated[str, Since("open")]
        is_hidden: Annotated[bool, Always()] = False

    class Dto(BaseModel):
        notes: Annotated[str, Since("open", below=Clip(4))]
        about_notes: Annotated[str, Derived("notes")] = "CANARY"
        rows: Annotated[list[Row], Always(), Rows(visible_since="open", when="is_hidden")]
        about_rows: Annotated[str, Derived("rows")] = "CANARY"
        number: Annotated[int, Since("open", below=Coarsen(10))] = 7
        about_number: Annotated[str, Derived("number")] = "CANARY"

    value = Dto(notes="abcdefg", rows=[Row(title="x")])
    assert STRICT.view(value).data == {"notes": "abc…", "rows": [{"is_hidden": False}], "number": 0}
    assert len(STRICT.view(value, grant=POLICY.grant("open")).data) == 6


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (Literal["a"], Inner(), "refused"),
        (Literal["a"], "CANARY", "refused"),
        (Literal["a"] | None, ["CANARY"], "refused"),
        (Literal[1], True, "refused"),
        (list[AnyUrl] | list[Inner], [Inner()], [{"id": "1"}]),
        (dict[str, Path] | list[Inner], {"a": PurePosixPath("/x")}, "refused"),
        (AnyUrl, None, "refused"),
        (AnyUrl, Inner(), "refused"),
        (Path, ["CANARY"], "refused"),
        (SecretStr, "CANARY", "refused"),
        (IPv4Address | IPv6Address, IPv6Address("::1"), "::1"),
        (Path | str, Path("/a"), "/a"),
        (AnyUrl | str, AnyUrl("https://a.b/"), "https://a.b/"),
        (SecretStr | int, SecretStr("CANARY"), "**********"),
        (list[SecretStr] | list[str], ["a"], ["a"]),
        (float | list[float], float("nan"), "refused"),
        (float | list[float], 1.5, 1.5),
        (int | list[int], 2**60, "1152921504606846976"),
        (str | list[str], "a\ud800\x1b[31m", "a\ufffd"),
        (str | Inner, "a\u202e", "a"),
        (Decimal | int, Decimal("1.5"), "1.5"),
        (Decimal, 0, "0"),
        (Decimal, 0.5, "refused"),
        (float, True, "refused"),
        (float, Decimal("1.5"), "refused"),
        (list[int] | list[bool], [True], [True]),
        (tuple[str, ...] | str, "abc", "abc"),
        (Sequence[str] | str, "abc", "abc"),
        (tuple[str, ...] | dict[str, str], {"a": "b"}, {"a": "b"}),
        (Sequence[str], (each for each in "ab"), "refused"),
        (Sequence[tuple[str, str]] | Inner, Inner(), {"id": "1"}),
        (Mapping[str, int], MappingProxyType({"a": 1}), {"a": 1}),
        (Mapping[str, int], [1], "refused"),
    ],
)  # fmt: skip
def test_a_value_is_written_as_its_declared_type_or_refused(annotation: Any, value: Any, expected: Any) -> None:
    """Rules 2 and 8: nothing is written by what it happens to be."""
    assert written(annotation, value) == expected


def test_a_default_of_none_has_to_be_declared() -> None:
    """Rule 3: null means that there is none, and the schema says where that can be."""
    refused: list[Any] = [str, int | str, RootModel[str], Literal["a"], list[int], Inner]
    for annotation in refused:
        model = create_model("Dto", value=(annotation, None))
        with pytest.raises(DefinitionError, match="Dto.value: its default is None, which its type does not allow"):
            compile_plan(model, None, "tool")
    allowed: list[Any] = [
        Wrapped,
        Literal["a"] | None,
        None,
        str | None,
        RootModel[int | str | None],
        list[None] | None,
    ]
    for annotation in allowed:
        compile_plan(create_model("Dto", value=(annotation, None)), None, "tool")


def test_two_fields_do_not_share_a_name_on_the_wire() -> None:
    """Rule 8: one would be lost."""

    class Dto(BaseModel):
        a: str = Field("one", serialization_alias="x")
        b: str = Field("two", serialization_alias="x")

    with pytest.raises(DefinitionError, match="Dto.a: another field is written as 'x' too"):
        compile_plan(Dto, None, "tool")


class Colour(Enum):
    RED = "red"


class Stored(BaseModel):
    model_config = ConfigDict(use_enum_values=True)
    colour: Colour
    maybe: Colour | None = None
    many: list[Colour] = [Colour.RED]


def test_enums_that_are_stored_as_values_are_written() -> None:
    """`use_enum_values` is a common configuration."""
    assert PLAIN.view(Stored(colour=Colour.RED)).data == {"colour": "red", "maybe": None, "many": ["red"]}


class Wrapped(RootModel[str | None]):
    pass


class Doubled(RootModel[RootModel[list[Inner]]]):
    pass


class Optional(TypedDict):
    a: NotRequired[Annotated[str, Clip(3)]]


class Many(BaseModel):
    wrapped: Annotated[Wrapped, Clip(3)]
    rows: Doubled
    number: Annotated[int, Count("rows")] = 0
    rounded: Annotated[Annotated[int, Field(ge=3)], Coarsen(5)] = 4
    either: Annotated[datetime | date, Coarsen("month")] = date(2026, 7, 13)
    fraction: Annotated[float, Coarsen(0.1)] = 0.3
    optional: Optional = {}
    weight: int | None = None

    @field_serializer("weight", when_used="unless-none")
    def write_weight(self, weight: int) -> str:
        return f"{weight} kg"


def test_data_fits_the_schema_where_it_is_clipped_rounded_or_converted() -> None:
    """B13: nullable where the value can be, unbounded where it is rounded, counted through every root model."""
    value = Many(wrapped=Wrapped(None), rows=Doubled(RootModel[list[Inner]]([Inner(), Inner()])))
    told = PLAIN.view(value).data
    Draft202012Validator(publish_schema(compile_plan(Many, None, "tool"))).validate(told)
    assert (told["number"], told["rounded"], told["fraction"], told["weight"]) == (2, 0, 0.3, None)
    assert PLAIN.view(value.model_copy(update={"weight": 3})).data["weight"] == "3 kg"


def test_a_choice_of_fields_is_in_the_schema() -> None:
    """Data fits its schema for every choice: nothing is required."""
    shape = Shape(encoder=Json())

    @shape.tool(ask={"fields"})
    def tool() -> Inner:
        return Inner()

    schema = publish_schema(compile_plan(Inner, None, "tool"), has_choice=True)
    result = shape.tools["tool"].served(fields=["id"])
    Draft202012Validator(schema).validate(result.structured_content)
    assert "required" not in schema


def test_a_mask_is_clean() -> None:
    """Rule 10: what an author wrote as well; cleaned in a call, it would not be the mask that the schema names."""
    with pytest.raises(DefinitionError, match="its mask cannot be written as it is"):
        STRICT.view(dto(Annotated[str, Mask("m\x1b[31m")])(value="x"))


@pytest.mark.parametrize("annotation", [dict[Path, int], dict[IPv4Address, int], dict[SecretStr, int]])
def test_keys_of_a_mapping_are_plain(annotation: Any) -> None:
    """Rule 7: refused when the tool is registered, not when it is called."""
    with pytest.raises(DefinitionError, match="its keys are no plain text"):
        compile_plan(dto(annotation), None, "tool")


class Row(TypedDict):
    id: Annotated[str, Always()]
    place: Annotated[str, Since("open")]
    cap: Annotated[str | None, RowCap()]


def test_rows_of_dicts_can_be_held() -> None:
    """Rule 3: at every level, withheld fields or not."""
    policy = Policy(levels=("strict", "middle", "open"))
    value = dto(list[Row])(value=[{"id": "1", "place": "CANARY", "cap": "strict"}])
    told = Shape(policy, encoder=Json()).view(value, grant=policy.grant("middle")).data
    assert told == {"value": [{"id": "1", "cap": "strict"}]}


class BareError(UserError):
    def __init__(self) -> None:
        """Without a word to the base class."""


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("CANARY")


ODD: list[Any] = [ValueError("x"), 42, timedelta(seconds=3)]


@pytest.mark.parametrize(
    "error",
    [UserError(ODD[0]), UserError(ODD[1]), UserError("x", retry_after=ODD[2]), BareError(), MuteError()],
    ids=["message", "number", "delay", "bare", "mute"],
)
def test_a_failure_never_fails(error: Exception) -> None:
    """Rule 6: whatever is raised, there is a text and no traceback."""
    shaped = Shape(encoder=Json(), user_errors=[MuteError]).fail(error)
    assert shaped.is_error
    assert shaped.text.startswith("Error: ")
    assert "CANARY" not in shaped.text


def test_causes_in_a_circle_are_logged_once() -> None:
    """Rule 6: unwrapping a cause is a common idiom."""

    @PLAIN.tool
    def unwrapping() -> Inner:
        try:
            try:
                raise KeyError("x")
            except KeyError as error:
                raise RuntimeError("w") from error
        except RuntimeError as error:
            raise error.__cause__ or error  # noqa: B904 # Without "from": this is what makes the circle.

    assert PLAIN.tools["unwrapping"].served().is_error


class Fragile(BaseModel):
    hidden: str = Field(default="CANARY", exclude=True)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def number(self) -> int:
        return int(self.hidden)


def test_registered_errors_of_pydantic_and_of_the_door_show_no_value() -> None:
    """Rule 1: a validation error quotes its input, and a computed field can raise one."""
    shape = Shape(encoder=Json(), user_errors=[ValueError])

    @shape.tool()
    def validating() -> Inner:
        return Inner.model_validate({"id": ["CANARY"]})

    for shaped in (shape.tools["validating"].served().content[0], shape.render(Fragile())):
        assert "for a reason of its own" in shaped.text
        assert "CANARY" not in shaped.text


def _yielding() -> Iterator[Inner]:
    yield Inner()


async def _yielding_later() -> AsyncIterator[Inner]:
    yield Inner()


def _many(*values: int) -> Inner:
    return Inner()


def _named(**values: int) -> Inner:
    return Inner()


def _by_place(value: int, /) -> Inner:
    return Inner()


class _Callable:
    def __call__(self) -> Inner:
        return Inner()


@pytest.mark.parametrize(
    "function", [_yielding, _yielding_later, _many, _named, _by_place, _Callable(), functools.partial(_named)]
)
def test_a_function_that_no_client_can_call_is_refused(function: Callable[..., Any]) -> None:
    """Rule 7: at registration."""
    with pytest.raises(DefinitionError):
        Shape(encoder=Json()).tool()(function)


@pytest.mark.parametrize("returned", ["Missing", "typing.Missing", "list["])
def test_annotations_that_cannot_be_read_are_refused(returned: str) -> None:
    """Rule 7: whatever is wrong with them."""

    def tool() -> Any: ...

    tool.__annotations__["return"] = returned
    with pytest.raises(DefinitionError, match="annotations: "):
        Shape(encoder=Json()).tool()(tool)


@pytest.mark.parametrize("annotation", ["list['Nowhere']", "Json"])
def test_types_that_pydantic_cannot_finish_are_refused(annotation: str) -> None:
    """Rule 7: no raw exception of pydantic."""
    from pydantic import Json as AnyJson

    with pytest.raises(DefinitionError):
        compile_plan(GenericAlias(list, ("Nowhere",)) if annotation != "Json" else AnyJson, None, "tool")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_bounds_in_a_default_are_kept(kind: str) -> None:
    """The constraint of `Field(5, ge=1)` is published and checked; the tool receives the plain default."""

    class Number(BaseModel):
        value: int

    server: Any = make_server(kind)
    shape = Shape(encoder=Toon())

    @shape.tool()
    def double(value: int = Field(5, ge=1)) -> Number:
        return Number(value=value * 2)

    server.tool()(double)
    schema = (await list_tools(server))["double"]["inputSchema"]["properties"]["value"]
    assert (schema["default"], schema["minimum"]) == (5, 1)
    assert (await ask(server, "double")).text == "value: 10"
    assert "greater than or equal to 1" in (await ask(server, "double", value=-1)).text


@pytest.mark.anyio
async def test_a_plain_wrapper_around_an_async_tool_is_awaited() -> None:
    """Decorators of the author are often not async themselves."""

    async def get() -> Inner:
        return Inner()

    @functools.wraps(get)
    def wrapper() -> Any:
        return get()

    result = await Shape(encoder=Json()).tool()(wrapper)()
    assert result.structured_content == {"id": "1"}


def _tag(value: Any) -> str:
    return "text" if isinstance(value, str) else "row"


def test_a_callable_discriminator_cleans_its_texts() -> None:
    """Rule 10: in every arm of every union."""
    annotation = Annotated[Annotated[str, Tag("text")] | Annotated[Inner, Tag("row")], Discriminator(_tag)]
    assert written(annotation, "a\x1b[31m", Shape(encoder=Markdown(), structured=True)) == "a"
    assert written(annotation, Inner()) == {"id": "1"}
