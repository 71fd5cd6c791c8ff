"""Levels, toggles and grants."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated import policies
from mcpshape import DefinitionError, Grant, Policy, Toggle

POLICY = Policy(
    levels=("strict", "minimal", "standard", "detailed"),
    toggles={
        "names": Toggle(on_since="standard", offered_since="standard"),
        "emails": Toggle(on_since="detailed", offered_since="standard", requires="names"),
        "notes": Toggle(on_since="standard", offered_since="standard"),
    },
)


@st.composite
def grants(draw: st.DrawFn, policy: Policy) -> Grant:
    level = draw(st.sampled_from(policy.levels))
    offered = [name for name, each in policy.toggles.items() if policy.grant(level).reaches(each.offered_since)]
    off = draw(st.lists(st.sampled_from(offered), unique=True)) if offered else []
    return policy.grant(level, toggles=dict.fromkeys(off, False))


@pytest.mark.parametrize(
    ("level", "on"),
    [
        ("strict", set()),
        ("minimal", set()),
        ("standard", {"names", "notes"}),
        ("detailed", {"names", "emails", "notes"}),
    ],
)
def test_a_level_sets_all_toggles(level: str, on: set[str]) -> None:
    """B4: choosing a level sets every switch."""
    assert POLICY.grant(level).toggles == on


def test_a_toggle_can_be_flipped_alone_where_it_is_offered() -> None:
    """B4: after the level is chosen, each switch can be flipped."""
    assert POLICY.grant("standard", toggles={"notes": False}).toggles == {"names"}
    assert POLICY.grant("standard", toggles={"emails": True}).toggles == {"names", "emails", "notes"}


def test_turning_a_toggle_off_turns_off_what_requires_it() -> None:
    """B4: e-mails can only be on while names are on."""
    assert POLICY.grant("detailed", toggles={"names": False}).toggles == {"notes"}


@pytest.mark.parametrize("level", ["strict", "minimal"])
@pytest.mark.parametrize("on", [True, False])
def test_below_its_level_a_toggle_does_not_exist(level: str, on: bool) -> None:
    """B4: at strict and minimal the switches do not exist."""
    with pytest.raises(DefinitionError, match=f"not offered at {level}. It is offered from standard on"):
        POLICY.grant(level, toggles={"notes": on})


def test_the_default_is_the_narrowest_level() -> None:
    """B7: safe for whoever never chooses."""
    assert POLICY.grant().level == "strict"
    assert Policy(levels=("a", "b"), default="b").grant().level == "b"


def test_unknown_names_are_errors_and_name_the_choices() -> None:
    """Rule 4: an unknown level or toggle is an error, never the widest."""
    with pytest.raises(DefinitionError, match="Choose one of: strict, minimal, standard, detailed"):
        POLICY.grant("full")
    with pytest.raises(DefinitionError, match="Choose one of: names, emails, notes"):
        POLICY.grant("standard", toggles={"note": False})


def test_asking_for_what_contradicts_itself_is_an_error() -> None:
    """B4: e-mails on and names off cannot both hold."""
    with pytest.raises(DefinitionError, match="it needs names, which is off"):
        POLICY.grant("standard", toggles={"names": False, "emails": True})


@given(st.data())
def test_the_meet_is_associative_commutative_and_idempotent(data: st.DataObject) -> None:
    """Rule 4: the order in which grants are combined does not matter."""
    policy = data.draw(policies())
    a, b, c = (data.draw(grants(policy)) for _ in range(3))
    assert a & b == b & a
    assert (a & b) & c == a & (b & c)
    assert a & a == a


@given(st.data())
def test_the_meet_never_widens(data: st.DataObject) -> None:
    """Rule 4: what a meet allows, both of its sides allow."""
    policy = data.draw(policies())
    a, b = data.draw(grants(policy)), data.draw(grants(policy))
    assert (a & b).toggles <= a.toggles & b.toggles
    assert policy.rank((a & b).level) == min(policy.rank(a.level), policy.rank(b.level))


def test_grants_of_two_policies_do_not_meet() -> None:
    """Rule 4: levels of different policies cannot be compared."""
    with pytest.raises(DefinitionError, match="of different policies"):
        _ = POLICY.grant() & Policy(levels=("strict",)).grant()


def test_a_grant_explains_itself() -> None:
    """The level, and for each toggle whether it is on, usual or not offered."""
    assert POLICY.grant("standard", toggles={"notes": False}).explain() == (
        "level standard (3 of 4)\nemails: off\nnames: on\nnotes: off (usually on at standard)"
    )
    assert "notes: off (offered from standard)" in POLICY.grant("minimal").explain()


@pytest.mark.parametrize(
    ("levels", "toggles", "default", "message"),
    [
        ((), {}, "", "a policy needs at least one level"),
        (("a", "a"), {}, "", "a level is named twice"),
        ("strict", {}, "", "it is one text. Give a tuple of names"),
        (("a",), {}, "b", "default: there is no level 'b'"),
        (("a",), {"t": Toggle(on_since="b", offered_since="a")}, "", "toggles.t: there is no level 'b'"),
        (("a", "b"), {"t": Toggle(on_since="a", offered_since="b")}, "", "it is on from a but offered only from b"),
        (("a",), {"t": Toggle(on_since="a", offered_since="a", requires="u")}, "", "there is no toggle 'u'"),
        (
            ("a",),
            {
                "t": Toggle(on_since="a", offered_since="a", requires="u"),
                "u": Toggle(on_since="a", offered_since="a", requires="t"),
            },
            "",
            "it requires itself in a circle",
        ),
    ],
)
def test_a_policy_that_cannot_hold_is_refused(
    levels: Any, toggles: dict[str, Toggle], default: str, message: str
) -> None:
    """Rule 7: mistakes in a policy are found when it is made, with what mends them."""
    with pytest.raises(DefinitionError, match=message):
        Policy(levels=levels, toggles=toggles, default=default)


def test_a_level_has_a_question_for_those_who_decide() -> None:
    """B1: levels are defined by the question that they can answer; one for a level that is not there is a mistake."""
    policy = Policy(levels=("strict", "open"), questions={"strict": "Is it taken?"})
    assert policy.rules({}).questions == {"strict": "Is it taken?"}
    with pytest.raises(DefinitionError, match="questions.wide: there is no level 'wide'"):
        Policy(levels=("strict", "open"), questions={"wide": "What?"})
