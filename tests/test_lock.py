"""The disclosure lock: what leaves at each level as a file, and every widening found in words."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import combinations
from types import GenericAlias
from typing import Annotated, Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from generated import FieldSpec, RecordSpec, decided, policies, records, rules
from mcpshape import (
    Always,
    Clip,
    Coarsen,
    DefinitionError,
    Derived,
    Drop,
    Grant,
    Handle,
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
from mcpshape._coarse import coarsener
from mcpshape.encoders import Json
from mcpshape.lock import Lock, compare, lock_shape, read_lock
from mcpshape.lock._outcome import WHOLE, Outcome, join

WIDTH = ("drop", "mask", "clip", "show")
Told = Mapping[str, str]


def shape_of(policy: Policy | None, answers: Mapping[str, Any], **options: Any) -> Shape:
    """A shape with a tool for each declared answer."""
    shape = Shape(policy, encoder=Json())
    for name, declared in answers.items():

        def tool() -> None: ...

        tool.__name__ = name
        tool.__annotations__["return"] = declared
        shape.tool(**options)(tool)
    return shape


def dto(**fields: Any) -> type[BaseModel]:
    given: dict[str, Any] = {name: (annotation, ...) for name, annotation in fields.items()}
    return create_model("Answer", **given)


def lock_of(policy: Policy | None, /, **fields: Any) -> Lock:
    """The lock of one tool `get`, whose DTO has these fields."""
    return lock_shape(shape_of(policy, {"get": dto(**fields)}))


def sentences(locked: Lock, now: Lock) -> list[str]:
    return [str(each) for each in compare(locked, now)]


def every_grant(policy: Policy) -> Iterator[Grant]:
    """Every level with every choice of toggles that somebody can make there."""
    for level in policy.levels:
        offered = sorted(policy.widest(level).toggles)
        for size in range(len(offered) + 1):
            for chosen in combinations(offered, size):
                flips = {name: name in chosen for name in offered}
                try:
                    yield policy.grant(level, toggles=flips)
                except DefinitionError:
                    continue


def told(spec: RecordSpec, grant: Grant | None, path: str = "") -> dict[str, str]:
    """What becomes of each path, by the account of the rules that is kept apart from the package."""
    found = {}
    for each in spec.fields:
        outcome = decided(spec, each, grant)
        if outcome == "drop":
            continue
        key = f"{path}{each.key}"
        found[key] = outcome
        for child in each.children:
            place = f"{key}({child.cls.__name__})" if each.kind == "either" else key
            found |= told(child, grant, f"{place}.")
    return found


def is_wider(now: Told, before: Told) -> bool:
    return any(WIDTH.index(outcome) > WIDTH.index(before.get(path, "drop")) for path, outcome in now.items())


def changed(spec: RecordSpec, places: list[int], rule: Any) -> RecordSpec:
    """The same DTO with another rule for one of its fields, at a path of places."""
    fields = list(spec.fields)
    place, rest = places[0], places[1:]
    old = fields[place]
    if rest:
        children = list(old.children)
        children[rest[0]] = changed(children[rest[0]], rest[1:], rule)
        fields[place] = FieldSpec(old.name, old.kind, old.rule, old.alias, tuple(children), old.is_notice)
    else:
        fields[place] = FieldSpec(old.name, old.kind, rule, old.alias, old.children, old.is_notice)
    made = RecordSpec(tuple(fields), spec.allows_extra)
    made.cls.__name__ = spec.cls.__name__
    return made


@st.composite
def changes(draw: st.DrawFn) -> tuple[Policy, RecordSpec, RecordSpec]:
    """A policy, a DTO under it, and the same DTO with one rule changed."""
    policy = draw(policies())
    spec = draw(records(policy))
    owner, places = spec, []
    while True:
        place = draw(st.integers(0, len(owner.fields) - 1))
        places.append(place)
        children = owner.fields[place].children
        if not children or draw(st.booleans()):
            break
        child = draw(st.integers(0, len(children) - 1))
        places.append(child)
        owner = children[child]
    each = owner.fields[place]
    is_text = each.kind in {"text", "maybe_text", "computed"}
    names = tuple(other.name for other in owner.fields[:place])
    rule = draw(rules(policy, names, is_text=is_text))
    return policy, spec, changed(spec, places, rule)


@given(changes())
def test_a_widening_is_found_and_nothing_else_is(change: tuple[Policy, RecordSpec, RecordSpec]) -> None:
    """The lock finds a change of one rule exactly where more leaves under some grant, and at that level."""
    policy, before, after = change
    try:
        locked, now = (lock_shape(shape_of(policy, {"get": spec.cls})) for spec in (before, after))
    except DefinitionError:
        assume(False)
        return
    wider = [grant for grant in every_grant(policy) if is_wider(told(after, grant), told(before, grant))]
    found = compare(locked, now)
    assert bool(found) == bool(wider)
    if wider:
        first = min(found, key=lambda each: policy.rank(each.level or ""))
        assert policy.rank(first.level or "") == min(policy.rank(grant.level) for grant in wider)
        assert (first.where, str(first)) == ("get", f"get: {first.message}")
    assert compare(locked, locked) == []
    assert read_lock(now.text()) == now


@given(st.data())
def test_a_wider_policy_is_found(data: st.DataObject) -> None:
    """Whatever changes in levels, toggles and the setting, no call of a level gets more unnoticed."""
    before, after = data.draw(policies()), data.draw(policies())
    spec = data.draw(records(before))
    setting = data.draw(st.sampled_from(after.levels))
    try:
        locked = lock_shape(shape_of(before, {"get": spec.cls}))
        shape = shape_of(after, {"get": spec.cls})
    except DefinitionError:
        assume(False)
        return
    now = lock_shape(shape.using(grant=after.grant(setting)))
    is_wide = any(
        is_wider(told(spec, after.grant(level)), told(spec, before.grant(peer)))
        for level, peer in zip(after.levels, (*before.levels, *4 * before.levels[-1:]), strict=False)
    )
    assert compare(locked, now) or not (is_wide or setting != after.levels[0])


@given(st.permutations(["one", "two", "three"]), st.lists(records(None, 1), min_size=3, max_size=3))
def test_the_order_of_registration_makes_no_difference(names: list[str], specs: list[RecordSpec]) -> None:
    """Sorted, so that a diff shows what has changed and nothing else."""
    answers: dict[str, Any] = dict(zip(("one", "two", "three"), (spec.cls for spec in specs), strict=True))
    text = lock_shape(shape_of(None, answers)).text()
    assert lock_shape(shape_of(None, {name: answers[name] for name in names})).text() == text
    assert text.splitlines()[2:] == sorted(text.splitlines()[2:])


strange = st.sampled_from(["-", "when", "a b", '"', "\n", "\ud800", "é", "\u202e", "\u2028", "x" * 999])
names = st.text(min_size=1, max_size=6) | strange


@given(st.lists(names, min_size=2, max_size=4, unique=True), names, names)
def test_a_text_is_read_as_what_it_was_written_from(levels: list[str], toggle: str, key: str) -> None:
    """One line for each thing, whatever the names are, and nothing in it that cannot be seen."""
    policy = Policy(levels=tuple(levels), toggles={toggle: Toggle(on_since=levels[1], offered_since=levels[0])})
    assume(key != "b" and "\ud800" not in key)
    field = Field(serialization_alias=key)
    lock = lock_of(policy, a=Annotated[str, When(toggle, otherwise=Mask("[a  b]")), field], b=Annotated[int, Always()])
    text = lock.text()
    assert read_lock(text) == lock
    assert read_lock(text.replace("\n", "\r\n") + "\n# a comment\n\n") == lock
    assert all(line.isprintable() for line in text.split("\n"))
    assert len(text.split("\n")) == 10


moments = st.datetimes(min_value=datetime(2020, 1, 1), max_value=datetime(2021, 12, 31))
steps = st.sampled_from(["month", "week", "day", "hour", "60min", "30min", "20min", "15min", "5min", "1min"])


@given(steps, steps, moments, st.integers(0, 90) | st.integers(0, 60_000))
@example("week", "month", datetime(2020, 1, 1), 14 * 24 * 60)
@example("month", "week", datetime(2020, 1, 31), 24 * 60)
def test_a_coarser_step_follows_from_a_finer_one(coarse: str, fine: str, one: datetime, minutes: int) -> None:
    """Where a step tells no more than another one, moments that are alike in this one are so in the former."""
    other = one + timedelta(minutes=minutes)
    if Outcome(Coarsen(coarse)).tells_no_more_than(Outcome(Coarsen(fine))):
        assert coarsener(fine)(one) != coarsener(fine)(other) or coarsener(coarse)(one) == coarsener(coarse)(other)


numbers = st.sampled_from([1, 2, 3, 5, 10, 0.1, 0.5, 2.5, 1e-9, 1e300, float("inf")])
outcomes = st.builds(
    Outcome,
    st.sampled_from([Show(), Drop(), Mask("a"), Mask(1), Handle("a"), Handle("b"), Clip(1), Clip(9)])
    | st.builds(Coarsen, steps | numbers),
    st.sampled_from([None, "a", "b"]),
    st.sampled_from([None, "a", "b"]),
)


@given(outcomes, outcomes, outcomes)
def test_what_tells_more_is_an_order(one: Outcome, other: Outcome, third: Outcome) -> None:
    """Nothing is wider than itself, wider than wider is wider, and a join tells no less than its parts."""
    assert one.tells_no_more_than(one)
    assert one.tells_no_more_than(WHOLE)
    assert Outcome(Drop()).tells_no_more_than(one)
    if one.tells_no_more_than(other) and other.tells_no_more_than(third):
        assert one.tells_no_more_than(third)
    assert all(each.tells_no_more_than(join(one, other)) for each in (one, other))


LEVELS = ("strict", "minimal", "standard")
POLICY = Policy(
    levels=LEVELS,
    toggles={
        "names": Toggle(on_since="standard", offered_since="minimal"),
        "mails": Toggle(on_since="standard", offered_since="minimal", requires="names"),
        "notes": Toggle(on_since="standard", offered_since="standard"),
    },
)


class Row(BaseModel):
    title: Annotated[str, Always()]
    is_private: Annotated[bool, Always()]


class Capped(Row):
    held: Annotated[str | None, RowCap()]


class Held(Row):
    held: Annotated[str | None, Since("minimal")]


class LikeCapped(Held):
    """What `Capped` would be without its cap."""


LikeCapped.__name__ = "Capped"
Text = Annotated[str, Always()]
Changes = dict[str, tuple[Any, Any, str | None]]
CHANGES: Changes = {
    "a mask becomes the value": (
        Annotated[str, Since("minimal", below=Mask("[x]"))],
        Text,
        "now leaves at strict; the lock has it masked there and shown from minimal on.",
    ),
    "withheld becomes a mask": (
        Annotated[str, Since("minimal")],
        Annotated[str, Since("minimal", below=Mask("[x]"))],
        'is now masked as "[x]" at strict; the lock has it withheld there and shown from minimal on.',
    ),
    "another mask": (Annotated[str, Mask("a")], Annotated[str, Mask("b")], None),
    "never shown before": (
        Annotated[str, Never()],
        Annotated[str, Since("standard")],
        "now leaves at standard; the lock does not have it.",
    ),
    "a toggle is no longer needed": (
        Annotated[str, When("notes")],
        Annotated[str, Since("standard")],
        "now leaves at standard; the lock has it withheld there unless notes is on.",
    ),
    "another toggle": (
        Annotated[str, When("notes", otherwise=Clip(3))],
        Annotated[str, When("names")],
        (
            "now leaves at minimal while names is on; "
            "the lock has it cut to 3 characters there and shown from standard on while notes is on."
        ),
    ),
    "a required toggle is enough": (
        Annotated[str, When("mails")],
        Annotated[str, When("names")],
        "now leaves at minimal while names is on; the lock has it withheld there unless mails is on.",
    ),
    "none of two is needed": (
        Annotated[str, When("mails")],
        Annotated[str, Since("minimal")],
        "now leaves at minimal; the lock has it withheld there unless mails and names are on.",
    ),
    "a toggle is needed": (Annotated[str, Since("standard")], Annotated[str, When("notes")], None),
    "a longer clip": (
        Annotated[str, Clip(60)],
        Annotated[str, Clip(61)],
        "now leaves cut to 61 characters at strict; the lock has it cut to 60 characters there.",
    ),
    "a shorter clip": (Annotated[str, Clip(60)], Annotated[str, Clip(59)], None),
    "another kind of handle": (
        Annotated[str, Handle("event")],
        Annotated[str, Handle("task")],
        "now leaves as a handle of the kind task at strict; the lock has it as a handle of the kind event there.",
    ),
    "finer steps": (
        Annotated[datetime, Ladder({"strict": Coarsen("day"), "minimal": Coarsen("hour"), "standard": Show()})],
        Annotated[datetime, Ladder({"strict": Coarsen("30min"), "standard": Show()})],
        (
            "now leaves rounded down to 30min at strict; the lock has it rounded down to day there "
            "and shown from standard on."
        ),
    ),
    "coarser steps": (Annotated[int, Coarsen(5)], Annotated[int, Coarsen(10)], None),
    "steps that are neither": (
        Annotated[int, Coarsen(10)],
        Annotated[int, Coarsen(15)],
        "now leaves rounded down to 15 at strict; the lock has it rounded down to 10 there.",
    ),
    "rows are there earlier": (
        Annotated[list[Row], Rows("standard", when="is_private")],
        Annotated[list[Row], Rows("minimal", when="is_private")],
        (
            "now leaves at minimal; "
            "the lock has it shown without the rows marked is_private there and shown from standard on."
        ),
    ),
    "rows are there later": (list[Row], Annotated[list[Row], Rows("minimal", when="is_private")], None),
    "rows lose their cap": (
        list[Capped],
        list[Held],
        "now leaves at minimal; the lock has it shown with rows capped by held there.",
    ),
    "rows get a cap": (list[Held], list[Capped], None),
    "rows of one class of a union lose their cap": (
        list[Row | Capped],
        list[Row | LikeCapped],
        "(Capped) now leaves at minimal; the lock has it shown with rows capped by held there.",
    ),
    "a class of a union is another one": (
        list[Row | Capped],
        list[Row | Held],
        "(Held) now leaves at strict; the lock does not have it.",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_a_rule_is_told(change: str) -> None:
    """The sentence names tool, field and level, what the lock has there and from where it has as much."""
    before, after, told = CHANGES[change]
    other = Annotated[str, Always()]
    found = sentences(lock_of(POLICY, it=before, other=other), lock_of(POLICY, it=after, other=other))
    assert found[:1] == ([] if told is None else [f"get: it{'' if told[0] == '(' else ' '}{told}"])


def test_what_stands_in_for_others_ends_where_they_begin() -> None:
    """`Until`: a drop after something shown is a line, and keeping it is a widening."""
    time, start = Annotated[str, Since("minimal")], Annotated[str, Until("minimal", then="time")]
    lock = lock_of(POLICY, time=time, start=start)
    assert lock.text().splitlines()[-4:] == [
        "tool get . strict show",
        "tool get start strict show",
        "tool get start minimal drop",
        "tool get time minimal show",
    ]
    assert sentences(lock, lock_of(POLICY, time=time, start=Annotated[str, Always()])) == [
        "get: start now leaves at minimal; the lock has it withheld there."
    ]


def test_what_is_made_of_others_follows_them() -> None:
    """Counts and derived fields are asked for, not reckoned: a change of their source is a change of theirs."""
    before = lock_of(POLICY, note=Annotated[str, When("notes")], has=Annotated[bool, Derived("note")])
    assert "tool get has standard show when notes\n" in before.text()
    found = sentences(before, lock_of(POLICY, note=Annotated[str, Always()], has=Annotated[bool, Derived("note")]))
    assert [each.split(";")[0] for each in found] == [
        "get: has now leaves at strict",
        "get: note now leaves at strict",
    ]


class Person(BaseModel):
    name: Annotated[str, When("names")]
    note: Annotated[str, When("notes")]
    friends: list["Person"]


def test_a_list_is_there_while_anything_in_it_is() -> None:
    """One line for each of the smallest choices of toggles; a class that holds itself is followed once."""
    lines = lock_of(POLICY, people=list[Person]).text().splitlines()
    assert lines[-8:] == [
        "tool get people minimal show when names",
        "tool get people standard show when names",
        "tool get people standard show when notes",
        "tool get people.friends minimal show when names",
        "tool get people.friends standard show when names",
        "tool get people.friends standard show when notes",
        "tool get people.name minimal show when names",
        "tool get people.note standard show when notes",
    ]


POLICIES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a toggle is on earlier": (
        {"toggles": {"names": Toggle(on_since="minimal", offered_since="minimal")}},
        ["the toggle names is now on at minimal; the lock has it on from standard on."],
    ),
    "a toggle is offered earlier": (
        {"toggles": {"notes": Toggle(on_since="standard", offered_since="strict")}},
        [
            "the toggle notes is now offered at strict; the lock has it offered from standard on.",
            (
                "it now leaves at strict while notes is on; "
                "the lock has it withheld there and shown from standard on while notes is on."
            ),
        ],
    ),
    "a toggle loses what it requires": (
        {"toggles": {"mails": Toggle(on_since="standard", offered_since="minimal")}},
        ["the toggle mails no longer requires names, as the lock has it."],
    ),
    "a toggle requires it by way of another one": (
        {
            "toggles": {
                "more": Toggle(on_since="standard", offered_since="minimal", requires="names"),
                "mails": Toggle(on_since="standard", offered_since="minimal", requires="more"),
            }
        },
        [],
    ),
    "a toggle comes later": ({"toggles": {"names": Toggle(on_since="standard", offered_since="standard")}}, []),
    "another narrowest level": (
        {"levels": ("minimal", "standard")},
        [
            "the narrowest level is now minimal; the lock has strict.",
            "the setting is now minimal; the lock has strict.",
        ],
    ),
    "a new narrowest level": ({"levels": ("closed", *LEVELS)}, []),
    "a level between two": ({"levels": ("strict", "some", "minimal", "standard")}, []),
    "a level under another name": ({"levels": ("closed", "minimal", "standard")}, []),
    "a level less": ({"levels": ("strict", "minimal", "standard", "all")}, []),
    "levels in another order": (
        {"levels": ("minimal", "strict", "standard")},
        [
            "the levels are in another order, minimal, strict and standard; the lock has strict, minimal and standard.",
            "the toggle mails is now offered at strict; the lock has it offered from minimal on.",
            "the toggle names is now offered at strict; the lock has it offered from minimal on.",
        ],
    ),
}


@pytest.mark.parametrize("change", POLICIES)
def test_a_change_of_the_policy_is_told(change: str) -> None:
    """Toggles on or offered earlier, levels, and what is the narrowest."""
    changes, expected = POLICIES[change]
    toggles = {**POLICY.toggles, **changes.get("toggles", {})}
    policy = Policy(levels=changes.get("levels", LEVELS), toggles=toggles)
    locked, now = (lock_of(each, it=Annotated[str, When("notes")]) for each in (POLICY, policy))
    assert [each.message for each in compare(locked, now)] == expected


@pytest.mark.parametrize(
    ("level", "toggles", "expected"),
    [
        ("minimal", {}, []),
        ("minimal", {"names": True}, ["policy: the setting is now minimal with names; the lock has minimal."]),
        ("strict", {}, []),
        ("standard", {"names": False, "notes": False}, ["policy: the setting is now standard; the lock has minimal."]),
    ],
)
def test_a_wider_setting_is_told(level: str, toggles: dict[str, bool], expected: list[str]) -> None:
    """The level and the toggles that hold unless somebody sets others."""
    shape = shape_of(POLICY, {"get": Row})
    locked, now = (
        lock_shape(shape.using(grant=grant))
        for grant in (POLICY.grant("minimal"), POLICY.grant(level, toggles=toggles))
    )
    assert sentences(locked, now) == expected


def test_a_level_between_two_tells_no_more_than_the_narrower_one() -> None:
    """What nobody has agreed to at a level, nobody has agreed to at one that is new; at a wider one it may be."""
    policies = [Policy(levels=levels) for levels in (("a", "c"), ("a", "b", "c"), ("b", "a", "c"))]
    locked = lock_of(policies[0], it=Annotated[str, Since("c", below=Mask("[x]"))])
    middle, narrow = (lock_of(each, it=Annotated[str, Since("b", below=Mask("[x]"))]) for each in policies[1:])
    assert sentences(locked, middle) == ["get: it now leaves at b; the lock has it masked at a and shown from c on."]
    assert [each.level for each in compare(locked, narrow)] == ["b"]
    assert sentences(locked, lock_of(policies[2], it=Annotated[str, Since("c", below=Mask("[x]"))])) == []


def test_with_levels_and_without() -> None:
    """A policy that goes away is a widening, one that comes is none."""
    plain, strict = lock_of(None, it=str), lock_of(POLICY, it=Annotated[str, Since("minimal")])
    assert plain.text().splitlines()[2:] == ["tool get . - show", "tool get it - show"]
    assert read_lock(plain.text()) == plain
    assert sentences(strict, plain) == [
        "policy: there are no levels any more; the lock has strict, minimal and standard.",
        "get: it now leaves; the lock has it withheld at strict and shown from minimal on.",
    ]
    assert sentences(plain, strict) == []
    clipped = lock_of(None, it=Annotated[str, Clip(5)])
    assert sentences(clipped, plain) == ["get: it now leaves; the lock has it cut to 5 characters."]
    assert sentences(clipped, strict) == ["get: it now leaves at minimal; the lock has it cut to 5 characters."]


def test_a_new_tool_is_one_sentence() -> None:
    """A tool that the lock does not have, unless it lets out nothing."""
    row = dto(**dict.fromkeys("abcde", Annotated[str, Since("minimal")]))
    nothing = dto(a=Annotated[str, Never()])
    locked, empty = lock_of(POLICY, it=Text), shape_of(POLICY, {"list": row})
    assert sentences(locked, lock_shape(empty)) == [
        "list: the lock does not have this tool, of which a, b, c and 2 more leave at minimal."
    ]
    assert sentences(lock_shape(empty), locked) == [
        "get: the lock does not have this tool, of which it leaves at strict."
    ]
    assert sentences(locked, lock_shape(shape_of(POLICY, {"other": nothing}))) == []


@pytest.mark.parametrize("declared", [str, list[int], dict[str, str], Row | str])
def test_values_in_no_field_are_a_path(declared: Any) -> None:
    """Without a policy a tool may answer with values alone, which is a widening like any other."""
    before, after = (lock_shape(shape_of(None, {"get": each})) for each in (dto(it=str), declared))
    assert "get: * now leaves; the lock does not have it." in sentences(before, after)
    assert sentences(lock_shape(shape_of(None, {"other": dto(it=str)})), after)[0].startswith(
        "get: the lock does not have this tool, of which *"
    )


def test_the_level_of_a_tool_counts() -> None:
    """A tool with `privacy=` tells no more than that level at any; without, it is wider."""
    answer = dto(it=Annotated[str, When("notes")], name=Annotated[str, Since("minimal")])
    capped, free = (
        lock_shape(shape_of(POLICY, {"get": answer}, **options)) for options in ({"privacy": "minimal"}, {})
    )
    assert capped.text().splitlines()[-2:] == ["tool get . strict show", "tool get name minimal show"]
    assert sentences(capped, free) == ["get: it now leaves at standard while notes is on; the lock does not have it."]
    assert sentences(free, capped) == []


def test_resources_are_locked_as_tools_are() -> None:
    """What a resource tells is in the lock; two functions of one name count as one that tells what either does."""
    shape = Shape(POLICY, encoder=Json())

    def make(declared: Any) -> Any:
        def rows() -> None: ...

        rows.__annotations__["return"] = declared
        return rows

    shape.resource(make(Row))
    before = lock_shape(shape)
    assert "resource rows title strict show\n" in before.text()
    shape.resource(make(dto(title=Annotated[str, Never()], more=Text)))
    assert sentences(before, lock_shape(shape.using())) == [
        "resource rows: more now leaves at strict; the lock does not have it."
    ]
    assert sentences(lock_of(POLICY, it=Text), before) == [
        "resource rows: the lock does not have this resource, of which is_private and title leave at strict."
    ]


def test_of_two_classes_of_one_name_the_wider_counts() -> None:
    """Where nothing tells two classes of a union apart, their fields are one path, and of no common width all of it."""
    one, two, three = (dto(it=Annotated[int, Coarsen(step)]) for step in (10, 5, 15))
    text = lock_of(None, it=GenericAlias(list, one | two)).text()
    assert "tool get it(Answer).it - coarsen 5\n" in text
    assert "tool get it(Answer).it - show\n" in lock_of(None, it=GenericAlias(list, one | three)).text()


def test_every_smallest_choice_of_toggles_is_a_line() -> None:
    """Any two of three toggles: what each of them shows is found, whichever of the others is off."""
    toggles = {name: Toggle(on_since="open", offered_since="open") for name in "abc"}
    policy = Policy(levels=("open",), toggles=toggles)
    pairs = [
        dto(outer=Annotated[GenericAlias(list, dto(inner=Annotated[str, When(one)])), When(other)])
        for one, other in combinations("abc", 2)
    ]
    lines = lock_of(policy, it=GenericAlias(list, pairs[0] | pairs[1] | pairs[2])).text().splitlines()
    assert [line for line in lines if ".inner" in line] == [
        f"tool get it(Answer).outer.inner open show when {pair}" for pair in ("a b", "a c", "b c")
    ]


HEAD = "mcpshape-lock 1\nlevels strict open\nsetting strict\ntoggle notes on open offered open\n"
CANNOT = "a lock has no such line there"
BROKEN = {
    "": "line 1: it is no lock, which begins with mcpshape-lock 1.",
    "\ufeffmcpshape-lock 1": "line 1: it is no lock",
    "mcpshape-lock x": "line 1: it is no lock",
    "mcpshape-lock 2\nwhatever": "line 1: it is of format 2, and this mcpshape reads 1. Install a newer mcpshape.",
    HEAD + "<<<<<<< HEAD": f"line 5: {CANNOT}",
    HEAD + "levels strict open": f"line 5: {CANNOT}",
    HEAD + "setting strict": f"line 5: {CANNOT}",
    HEAD + "toggle notes on open offered open": f"line 5: {CANNOT}",
    HEAD + "toggle more on open offered open requires": "line 5: it has words too many",
    HEAD + "tool get it open": "line 5: it has no action that a lock can have",
    HEAD + "tool get it open shows": "line 5: it has no action that a lock can have",
    HEAD + "tool get it open show more": "line 5: it has words too many",
    HEAD + "tool get it open show when": "line 5: it has words too many",
    HEAD + "tool get it open show when more": "line 5: its toggle is not among the toggles of the lock",
    HEAD + "tool get it wide show": "line 5: its level is not among the levels of the lock",
    HEAD + "tool get it - show": "line 5: its level is not among the levels of the lock",
    HEAD + "tool get it open show\ntool get it open drop": "line 6: an earlier line is about the same",
    HEAD + 'tool "get it open show': "line 5: it has a quote without an end",
    HEAD + 'tool "\\x" it open show': "line 5: it has a value that is no JSON",
    HEAD + 'tool "a"b it open show': "line 5: it has a value that is no JSON",
    HEAD + "tool get() it open show": "line 5: it has a name that is none",
    HEAD + "tool get it open mask [x": "line 5: it has a value that is no JSON",
    HEAD + "tool get it open mask " + "[" * 100_000: "line 5: it has a value that is no JSON",
    HEAD + "tool get it open mask " + "1" * 10_000: "line 5: it has a value that is no JSON",
    HEAD + "tool get it open mask []": "line 5: it has no action that a lock can have",
    HEAD + "tool get it open mask": "line 5: it has no action that a lock can have",
    HEAD + "tool get it open clip 0": "line 5: it has no action that a lock can have",
    HEAD + "tool get it open coarsen 0min": "line 5: it has no action that a lock can have",
    HEAD + "tool get it open coarsen year": "line 5: it has no action that a lock can have",
    "mcpshape-lock 1\nlevels strict open": "the policy: its levels or its setting are missing.",
    "mcpshape-lock 1\nsetting strict": "the policy: its levels or its setting are missing.",
    "mcpshape-lock 1\ntoggle notes on open offered open": "the policy: its levels or its setting are missing.",
    "mcpshape-lock 1\nlevels strict strict\nsetting strict": "the policy: it does not hold together (levels).",
    "mcpshape-lock 1\nlevels strict\nsetting open": "the policy: it does not hold together (default).",
    "mcpshape-lock 1\nlevels strict\nsetting strict notes": "setting: its toggle is not among the toggles of the lock.",
    HEAD.replace("offered open", "offered strict requires more"): "it does not hold together (toggles.notes.requires).",
}


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[-40:])
def test_a_broken_lock_is_refused_with_its_line(text: str) -> None:
    """Bad input: of a newer format, cut, merged badly or written by hand; which line, and what to do."""
    with pytest.raises(DefinitionError) as caught:
        read_lock(text)
    (problem,) = caught.value.problems
    assert BROKEN[text] in str(problem)
    assert problem.remedy


@given(st.data())
def test_a_lock_that_was_changed_anywhere_is_read_or_refused(data: st.DataObject) -> None:
    """Bad input: whatever an editor or a merge has done to it."""
    text = LOCKED.text()
    place, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 30))
    mended = text[:place] + data.draw(st.text(max_size=9) | st.sampled_from(text.split())) + text[place + length :]
    with suppress(DefinitionError):
        lock = read_lock(mended)
        compare(lock, LOCKED)
        compare(LOCKED, lock)
        assert read_lock(lock.text()) == lock


LOCKED = lock_of(
    POLICY,
    **{str(place): annotation for place, (annotation, _, _) in enumerate(CHANGES.values())},
)


def test_the_words_of_a_toggle_are_no_part_of_a_lock() -> None:
    """A lock that was just written is up to date, and stays so when the words change."""

    def lock(about: str) -> Lock:
        toggle = Toggle(on_since="open", offered_since="open", about=about)
        return lock_shape(Shape(Policy(levels=("strict", "open"), toggles={"notes": toggle}), encoder=Json()))

    assert lock("Notes of people.") == lock("") == read_lock(lock("Notes of people.").text())
