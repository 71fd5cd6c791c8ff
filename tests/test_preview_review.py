"""The list before a choice is saved: nothing that would newly leave is missing, whatever a DTO is made of."""

from datetime import date, datetime
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, RootModel

from generated import MASK, Case, cases
from mcpshape import (
    Always,
    Clip,
    Coarsen,
    Count,
    DefinitionError,
    Ladder,
    Mask,
    Never,
    Policy,
    RowCap,
    Rows,
    Shape,
    Show,
    Since,
    Toggle,
    Until,
    When,
)
from mcpshape._example import still
from mcpshape._paths import list_paths
from mcpshape._telling import tells_no_more
from mcpshape.encoders import Json, Toon
from mcpshape.preview import choose, preview_tool
from mcpshape.preview._contrast import Change, collect_values, compare_lines, list_changes
from mcpshape.preview._saving import Review, SettingsFile, find_changes

POLICY = Policy(levels=("strict", "minimal", "open"))


def review(tmp_path: Any, shape: Shape, level: str, now: str = "strict", **chosen: Any) -> Review:
    """What saving a level says where another one is in force."""
    path = tmp_path / "settings.toml"
    path.write_text(f'level = "{now}"\n', encoding="utf-8")
    file = SettingsFile(path, "REVIEWED_")
    return file.review(shape, choose(file.apply(shape), level=level, **chosen))


def listed(found: Review) -> list[tuple[str, str, Any]]:
    return [(each.change.path, each.change.here, each.example) for each in found.widened]


def serve(returned: Any, value: Any, **options: Any) -> Shape:
    """A shape with one tool that answers with a value."""
    shape = Shape(POLICY, encoder=Toon())

    def get_it() -> None:
        """Get it."""

    get_it.__annotations__["return"] = returned
    shape.tool(example=lambda: value, **options)(get_it)
    return shape


class Event(BaseModel):
    title: Annotated[str, Always()]
    is_private: Annotated[bool, Never()] = False


class Day(BaseModel):
    total: Annotated[int, Count("events")] = 0
    events: Annotated[list[Event], Rows("minimal", when="is_private")]


DAY = Day(events=[Event(title="Standup"), Event(title="Dentist", is_private=True)])


def test_rows_that_would_no_longer_be_gone_are_listed(tmp_path: Any) -> None:
    """No key changes where whole rows come in, and yet more leaves: the first of them is shown."""
    shape = serve(Day, DAY)
    found = review(tmp_path, shape, "minimal")
    assert listed(found) == [("events", "all rows", {"title": "Dentist"})]
    assert found.widened[0].change.there == "without rows where is_private is true"
    back = review(tmp_path, shape, "strict", "minimal")
    assert not back.widens
    assert [(tool, change.here) for tool, change in back.narrowed] == [
        ("get_it", "without rows where is_private is true")
    ]
    seen = preview_tool(shape, choose(shape, level="open", against="strict"))
    assert seen.contrast
    assert [change.path for change in seen.contrast.changes] == ["events"]


class Mixed(BaseModel):
    events: Annotated[list[Event] | None, Rows("open", when="is_private")]
    note: Annotated[str, Since("open")]


class Outer(BaseModel):
    inner: Mixed


def test_rows_are_listed_beside_keys_that_change_as_well(tmp_path: Any) -> None:
    """And a list that is told for the first time is listed by its keys."""
    shape = serve(Outer, Outer(inner=Mixed(events=DAY.events, note="a note")))
    assert listed(review(tmp_path, shape, "open")) == [
        ("inner.events", "all rows", {"title": "Dentist"}),
        ("inner.note", "told", "a note"),
    ]


class Person(BaseModel):
    name: Annotated[str, Since("open")]
    id: Annotated[int, Always()]


class Room(BaseModel):
    name: Annotated[str, Always()]


@pytest.mark.parametrize("union", [list[Person | Room], list[Room | Person]])
def test_classes_that_share_a_key_are_told_apart(tmp_path: Any, union: Any) -> None:
    """Whichever class comes last in a union, a key that one of them would newly tell is listed."""
    shape = serve(union, [Room(name="Blue"), Person(name="Ada", id=1)])
    assert listed(review(tmp_path, shape, "open")) == [("name", "told", "Ada")]
    paths = list_paths(shape.tools["get_it"].plan, POLICY.grant("strict"))
    assert (paths.disclosed, paths.withheld) == (("id", "name"), ())


class Node(BaseModel):
    name: Annotated[str, Since("minimal")]
    children: "list[Node]"


class Names(RootModel[list[Person]]):
    """People."""


class Teams(BaseModel):
    by_name: Annotated[dict[str, list[Person]], Always()]


class Pair(BaseModel):
    both: tuple[Person, Room]
    maybe: list[Person] | None
    dotted: Annotated[str, Since("open"), Field(serialization_alias="a.b")]


@pytest.mark.parametrize(
    ("returned", "value", "expected"),
    [
        (Node, Node(name="root", children=[]), [("children", []), ("name", "root")]),
        (list[Node], [Node(name="one", children=[])], [("children", []), ("name", "one")]),
        (Teams, Teams(by_name={"x": [Person(name="Ada", id=1)]}), [("by_name.name", "Ada")]),
        (Names, Names([Person(name="Ada", id=1)]), [("name", "Ada")]),
        (
            Pair,
            Pair(both=(Person(name="Ada", id=1), Room(name="Blue")), maybe=[Person(name="Bob", id=2)], dotted="x"),
            [("a.b", "x"), ("both.name", "Ada"), ("maybe.name", "Bob")],
        ),
        (Pair, Pair(both=(Person(name="", id=1), Room(name="Blue")), maybe=None, dotted=""), None),
    ],
)
def test_the_value_in_the_example_is_found_wherever_it_stands(
    tmp_path: Any, returned: Any, value: Any, expected: list[tuple[str, Any]] | None
) -> None:
    """In lists, mappings, tuples, unions, recursive types and under keys with dots."""
    found = review(tmp_path, serve(returned, value), "open")
    if expected is not None:
        assert [(path, example) for path, _, example in listed(found)] == expected
    assert all(each.has_example for each in found.widened)


class Phones(BaseModel):
    by_name: Annotated[dict[str, Room], Since("open")]


class Emails(BaseModel):
    by_name: list[Person]


class Contacts(BaseModel):
    either: list[Phones | Emails]


def test_keys_that_are_data_are_listed_beside_what_they_hold(tmp_path: Any) -> None:
    """They leave as well; and another class with a list of DTOs at the same path does not hide them."""
    value = Contacts(either=[Phones(by_name={"Ada": Room(name="Blue")})])
    assert listed(review(tmp_path, serve(Contacts, value), "open")) == [
        ("either.by_name", "told", {"Ada": {"name": "Blue"}}),
        ("either.by_name.name", "told", "Blue"),
    ]


class Held(BaseModel):
    title: Annotated[str, Since("minimal", below=Mask("[Event]"))]
    held_at: Annotated[str | None, RowCap()] = None


def test_the_example_is_a_value_that_is_new(tmp_path: Any) -> None:
    """A row that stays masked since it is held tells nothing of what would leave."""
    rows = [Held(title="Secret", held_at="strict"), Held(title="Standup")]
    assert ("title", "told", "Standup") in listed(review(tmp_path, serve(list[Held], rows), "open"))


def test_tools_are_listed_whose_example_cannot_be_shown(tmp_path: Any) -> None:
    """Each change is named though nobody made an example of it, or it fails; the example is made once for all."""
    shape, made = Shape(POLICY, encoder=Toon()), list[int]()

    def count() -> Mixed:
        made.append(1)
        return Mixed(events=[], note="x")

    def fail() -> Mixed:
        raise ValueError("hunter2")

    @shape.tool(example=count)
    def get_one() -> Mixed:
        """Get it."""
        raise NotImplementedError

    @shape.tool(example=fail)
    def get_other() -> Mixed:
        """Get it."""
        raise NotImplementedError

    @shape.tool
    def get_third() -> Mixed:
        """Get it."""
        raise NotImplementedError

    found = review(tmp_path, shape, "open")
    assert {(each.tool, each.change.path, each.has_example) for each in found.widened} == {
        (tool, path, tool == "get_one") for tool in ("get_one", "get_other", "get_third") for path in ("events", "note")
    }
    assert len(made) == 2
    with pytest.raises(
        DefinitionError, match=r"failed with ValueError in line \d+ of test_preview_review.py. Mend it."
    ) as e:
        preview_tool(shape, choose(shape, tool="get_other"))
    assert "hunter2" not in str(e.value)


class Stepped(BaseModel):
    text: Annotated[str, Ladder({"strict": Clip(5), "minimal": Clip(50), "open": Clip(9)})]
    day: Annotated[date, Ladder({"strict": Coarsen("month"), "minimal": Coarsen("week"), "open": Coarsen("day")})]
    at: Annotated[datetime, Ladder({"strict": Coarsen("30min"), "minimal": Coarsen("15min"), "open": Coarsen("hour")})]
    price: Annotated[float, Ladder({"strict": Coarsen(0.3), "minimal": Coarsen(0.1), "open": Coarsen(0.4)})]
    mask: Annotated[int, Ladder({"strict": Mask(1), "minimal": Mask(2), "open": Show()})]


def widths(here: str, there: str) -> dict[str, bool]:
    plan = serve(Stepped, None).tools["get_it"].plan
    return {each.path: each.is_wider for each in list_changes(plan, POLICY.grant(here), POLICY.grant(there))}


def test_steps_are_compared_by_what_follows_from_them() -> None:
    """A longer cut and a finer step tell more; where neither follows from the other, both do."""
    assert widths("minimal", "strict") == {"text": True, "day": True, "at": True, "price": True, "mask": False}
    assert widths("strict", "minimal") == {"text": False, "day": True, "at": False, "price": False, "mask": False}
    assert widths("open", "minimal") == {"text": False, "day": True, "at": False, "price": False, "mask": True}
    assert widths("open", "strict") == {"text": True, "day": True, "at": False, "price": True, "mask": True}


@pytest.mark.parametrize(
    ("step", "finer", "follows"),
    [
        ("month", "15min", True),
        ("week", "hour", True),
        ("month", "week", False),
        ("20min", "15min", False),
        ("hour", 5, False),
        (5, "hour", False),
        (float("inf"), 5, False),
        (0.3, 0.1, True),
    ],
)
def test_a_step_follows_from_one_that_ends_where_it_does(step: Any, finer: Any, follows: bool) -> None:
    """Weeks cut months, and what is no time cannot be held against one."""
    assert tells_no_more(Coarsen(step), Coarsen(finer)) == follows


class Taken(BaseModel):
    start: Annotated[str, Until("minimal", then="begins")]
    begins: Annotated[str, Since("minimal"), Clip(4), Field(serialization_alias="from")]
    place: Annotated[str, Until("open", then="where")]
    where: Annotated[str, Since("minimal")]


def test_a_field_that_another_takes_over_from_is_compared_with_that_one() -> None:
    """By the key of the other on the wire; going back tells more where the other is cut."""
    plan = serve(Taken, None).tools["get_it"].plan
    changes = {each.path: each for each in list_changes(plan, POLICY.grant("open"), POLICY.grant("strict"))}
    assert changes["start"] == Change(path="start", here="told as from", there="told", is_wider=False)
    back = {each.path: each.is_wider for each in list_changes(plan, POLICY.grant("strict"), POLICY.grant("open"))}
    assert back == {"start": True, "from": False, "place": False, "where": False}


def test_lines_that_occur_often_cost_little() -> None:
    """Comparing two thousand of them by every pair took a minute."""
    lines = compare_lines("a\nb\n" * 1_000, "b\na\nc\n" * 660)
    assert [line.here for line in lines if line.here is not None] == ["a", "b"] * 1_000
    assert [line.there for line in lines if line.there is not None] == ["b", "a", "c"] * 660


def test_a_format_keeps_its_options_where_it_is_in_force(tmp_path: Any) -> None:
    """Choosing it once more changes nothing; another one is said to be for all tools or for one."""
    shape = serve(Room, Room(name="x,y"))
    shape = shape.using(encoder=Toon(delimiter="tab"))
    chosen = preview_tool(shape, choose(shape, format="toon"))
    assert chosen.text == preview_tool(shape, choose(shape)).text
    same = review(tmp_path, shape, "strict", format="toon")
    assert (same.format, same.format_of) == (None, None)
    other = review(tmp_path, shape, "strict", format="json")
    assert (other.format, other.format_of, other.newly_structured) == ("json", None, ["get_it"])
    own = serve(Room, Room(name="x"), encoder="markdown")
    assert review(tmp_path, own, "strict", format="json").format_of == "get_it"


class Mine:
    """A format that no package offers by name."""

    name = "Mine"
    vocabulary = Json().vocabulary
    structured = False

    def encode(self, view: Any) -> str:
        """The data in angle brackets."""
        return f"<{view.to_json()}>"


def test_a_format_of_the_shape_can_be_saved_by_its_name(tmp_path: Any) -> None:
    """Settings know the formats that a shape has, beside those that packages offer."""
    shape = Shape(encoder="toon", formats=[Mine()])

    class Plain(BaseModel):
        text: str

    @shape.tool(example=lambda: Plain(text="x"))
    def get_it() -> Plain:
        """Get it."""
        raise NotImplementedError

    choice = choose(shape, format="mine")
    assert preview_tool(shape, choice).text == '<{"text":"x"}>'
    file = SettingsFile(tmp_path / "settings.toml", "REVIEWED_")
    file.save(shape, choice, file.review(shape, choice).seen)
    assert file.path.read_text(encoding="utf-8") == 'format = "mine"\n'
    assert preview_tool(file.apply(shape), choose(shape)).text == '<{"text":"x"}>'


def test_a_toggle_that_stays_off_is_refused() -> None:
    """It cannot be turned on alone where it needs another that is off."""
    policy = Policy(
        levels=("strict", "open"),
        toggles={
            "names": Toggle(on_since="open", offered_since="strict"),
            "mails": Toggle(on_since="open", offered_since="strict", requires="names"),
        },
    )

    class Contact(BaseModel):
        mail: Annotated[str, When("mails")]

    shape = Shape(policy, encoder="toon")

    @shape.tool(example=lambda: Contact(mail="ada@example.com"))
    def get_it() -> Contact:
        """Get it."""
        raise NotImplementedError

    with pytest.raises(DefinitionError, match="it needs names, which is off. Turn names on as well"):
        choose(shape, level="strict", toggles={"mails": True})
    both = choose(shape, level="strict", toggles={"names": True, "mails": True})
    assert preview_tool(shape, both).told == ["mail"]


class Wide(Event):
    extra: str = "hunter2"


def test_what_a_subclass_adds_is_in_no_part_of_a_preview(tmp_path: Any) -> None:
    """The fields that were declared are all there is, in text, data, comparison, hosts and the list."""
    shape = serve(Day, Day(events=[Wide(title="Standup", is_private=True)]))
    for name in (None, "json", "markdown"):
        assert "hunter2" not in str(preview_tool(shape, choose(shape, level="open", format=name, against="strict")))
    assert "hunter2" not in str(review(tmp_path, shape, "open"))


def leaves(data: Any) -> set[Any]:
    """All values and keys of some data that are no containers, but for what stands for nothing."""
    if isinstance(data, dict):
        return {*data} | {leaf for each in data.values() for leaf in leaves(each)}
    if isinstance(data, list):
        return {leaf for each in data for leaf in leaves(each)}
    return {data} - {None, ""}


class Leaf(BaseModel):
    name: Annotated[str, Always()]
    extra: Annotated[str, Since("open")]


class Chain(BaseModel):
    key: Annotated[str, Since("open")]
    inner: Annotated["list[Chain]", Since("open")]


class Plain(BaseModel):
    inner: Leaf


class Nest(BaseModel):
    it: Chain | Plain


def test_what_recurs_is_listed_beside_what_does_not() -> None:
    """Where a key holds its own class again in one class of a union, its values are not passed over for another's."""
    shape = Shape(POLICY, encoder=Toon())

    @shape.tool
    def get_it() -> Nest:
        """Get it."""
        raise NotImplementedError

    before, after = (shape.using(grant=POLICY.grant(level)) for level in ("strict", "open"))
    paths = [change.path for change in find_changes("get_it", before, after) if change.is_wider]
    assert paths == ["it.inner", "it.inner.extra", "it.key"]


@settings(max_examples=80)
@given(cases(with_policy=True), st.data())
def test_nothing_leaves_newly_that_is_not_listed(case: Case, data: st.DataObject) -> None:
    """For any DTO class, value and two grants: each value that only the second lets out is at a path of the list."""
    shape = Shape(case.policy, encoder=Toon())

    def get_it() -> None:
        """Get it."""

    get_it.__annotations__["return"] = case.spec.cls
    shape.tool(example=lambda: case.value)(get_it)
    one, other = (data.draw(st.sampled_from(list(case.grants()))) for _ in range(2))
    before, after = (still(shape.using(grant=grant)) for grant in (one, other))
    was, would_be = (shape.view(case.value, declared=case.spec.cls).data for shape in (before, after))
    plan = shape.tools["get_it"].plan
    values = collect_values(plan, would_be)
    wider = [change for change in find_changes("get_it", before, after) if change.is_wider]
    told = [leaf for change in wider for value in values.get(change.path, []) for leaf in leaves(value)]
    keys = {field.key for record in plan.declared.records.values() for field in record.fields}
    assert leaves(would_be) - leaves(was) - keys - {MASK} <= {*told}
