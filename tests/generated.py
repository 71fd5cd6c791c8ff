"""Generated DTO classes, values with a canary in every text, and an independent account of what a grant lets out."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from types import GenericAlias
from typing import Annotated, Any, Literal

from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, computed_field, create_model

from mcpshape import Always, Clip, Derived, Grant, Mask, Never, Notice, Policy, Since, Toggle, When

MASK = "[masked]"
CLIP = 5

_serial = count()


@dataclass(frozen=True)
class FieldSpec:
    name: str
    kind: Literal[
        "text", "maybe_text", "number", "computed", "texts", "mapping", "one", "maybe_one", "many", "either", "same"
    ]
    rule: Any = None
    alias: str | None = None
    children: tuple["RecordSpec", ...] = ()
    is_notice: bool = False

    @property
    def markers(self) -> tuple[Any, ...]:
        return (*((self.rule,) if self.rule is not None else ()), *((Notice(),) if self.is_notice else ()))

    @property
    def key(self) -> str:
        return self.alias or self.name


@dataclass
class RecordSpec:
    fields: tuple[FieldSpec, ...]
    allows_extra: bool
    cls: type[BaseModel] = field(init=False)
    sub: type[BaseModel] = field(init=False)

    def __post_init__(self) -> None:
        name = f"Dto{next(_serial)}"
        base: Any = type(f"{name}Base", (BaseModel,), {"__module__": __name__, **_computed(self.fields)})
        config = ConfigDict(extra="allow" if self.allows_extra else "ignore", defer_build=True)
        configured = create_model(f"{name}Configured", __base__=base, __module__=__name__)
        configured.model_config = config
        annotations: dict[str, Any] = {
            each.name: _annotation(each, name) for each in self.fields if each.kind != "computed"
        }
        self.cls = create_model(name, __base__=configured, __module__=__name__, **annotations)
        self.cls.model_rebuild(_types_namespace={name: self.cls}, force=True)
        secret: dict[str, Any] = {"secret_of_subclass": (str, ...)}
        self.sub = create_model(f"{name}Sub", __base__=self.cls, __module__=__name__, **secret)


@dataclass(frozen=True)
class Case:
    policy: Policy | None
    spec: RecordSpec
    value: BaseModel

    def grants(self) -> Iterator[Grant | None]:
        if self.policy is None:
            yield None
            return
        for level in self.policy.levels:
            full = self.policy.grant(level)
            yield full
            offered = {name for name, each in self.policy.toggles.items() if full.reaches(each.offered_since)}
            yield self.policy.grant(level, toggles=dict.fromkeys(offered, False))

    def expected(self, grant: Grant | None) -> dict[str, Any]:
        return expected_record(self.spec, self.value, grant)


def expected_record(spec: RecordSpec, value: Any, grant: Grant | None) -> dict[str, Any]:
    stored = [each for each in spec.fields if each.kind != "computed"]
    computed = [each for each in spec.fields if each.kind == "computed"]
    shown = {}
    for each in [*stored, *computed]:
        outcome = decided(spec, each, grant)
        if outcome == "drop":
            continue
        raw = getattr(value, each.name)
        if each.is_notice and outcome != "mask" and raw in (None, "", [], {}):
            continue
        shown[each.key] = (
            MASK if outcome == "mask" else _clipped(raw) if outcome == "clip" else _expected(spec, each, raw, grant)
        )
    return shown


def decided(spec: RecordSpec, each: FieldSpec, grant: Grant | None) -> str:
    """drop, mask, clip or show: written apart from the package, in the plainest way."""
    rule = each.rule
    if isinstance(rule, Never):
        return "drop"
    if isinstance(rule, Clip):
        return "clip"
    if isinstance(rule, Derived):
        sources = [next(other for other in spec.fields if other.name == name) for name in rule.sources]
        return "show" if all(is_whole(spec, source, grant) for source in sources) else "drop"
    if grant is None or isinstance(rule, Always):
        return "show"
    if isinstance(rule, Since):
        levels = grant.policy.levels
        return "show" if levels.index(grant.level) >= levels.index(rule.level) else _otherwise(rule.below)
    if isinstance(rule, When):
        return "show" if rule.toggle in grant.toggles else _otherwise(rule.otherwise)
    return "show" if any(shows_anything(child, grant) for child in _held(spec, each)) else "drop"


def is_whole(spec: RecordSpec, each: FieldSpec, grant: Grant | None) -> bool:
    """Whether a source leaves untouched, with all that is inside of it but other derived values."""
    if decided(spec, each, grant) != "show":
        return False
    inner = [] if each.kind == "same" else each.children
    own = [other for other in spec.fields if other is not each and other.kind != "same"] if each.kind == "same" else []
    # A row of the same class holds the other lists of that class again, whose own parts have been seen by then.
    again = (
        [other for other in spec.fields if other is not each and other.kind == "same"] if each.kind == "same" else []
    )
    if any(decided(spec, other, grant) != "show" for other in again if not isinstance(other.rule, Derived)):
        return False
    parts = [(child, part) for child in inner for part in child.fields] + [(spec, part) for part in own]
    return all(is_whole(owner, part, grant) for owner, part in parts if not isinstance(part.rule, Derived))


def shows_anything(spec: RecordSpec, grant: Grant | None) -> bool:
    plain = [each for each in spec.fields if (each.kind != "same" or each.rule) and not isinstance(each.rule, Derived)]
    return any(decided(spec, each, grant) != "drop" for each in plain)


def _held(spec: RecordSpec, each: FieldSpec) -> tuple[RecordSpec, ...]:
    return (spec,) if each.kind == "same" else each.children


def _otherwise(action: Any) -> str:
    return "mask" if isinstance(action, Mask) else "drop"


def _clipped(text: str | None) -> str | None:
    return text or None if text is None or len(text) <= CLIP else text[: CLIP - 1].rstrip() + "…"


def _expected(spec: RecordSpec, each: FieldSpec, raw: Any, grant: Grant | None) -> Any:
    match each.kind:
        case "maybe_text":
            return raw or None
        case "one":
            return expected_record(each.children[0], raw, grant)
        case "maybe_one":
            return None if raw is None else expected_record(each.children[0], raw, grant)
        case "many":
            return [expected_record(each.children[0], row, grant) for row in raw]
        case "same":
            return [expected_record(spec, row, grant) for row in raw]
        case "either":
            owner = next(child for child in each.children if isinstance(raw, child.cls))
            return expected_record(owner, raw, grant)
        case _:
            return raw


def _computed(fields: tuple[FieldSpec, ...]) -> dict[str, Any]:
    members = {}
    for each in fields:
        if each.kind == "computed":
            members[each.name] = computed_field(alias=each.alias)(property(_getter(each)))
    return members


def _getter(each: FieldSpec) -> Any:
    def get(self: Any) -> str:
        return f"CANARY-computed-{each.name}-{type(self).__name__.removesuffix('Sub')}"

    get.__annotations__["return"] = Annotated[str, *each.markers] if each.markers else str
    return get


_PLAIN: dict[str, Any] = {
    "text": str,
    "maybe_text": str | None,
    "number": int,
    "texts": list[str],
    "mapping": dict[str, str],
}


def _annotation(each: FieldSpec, own_name: str) -> tuple[Any, Any]:
    classes = [child.cls for child in each.children]
    held: dict[str, Any] = {
        "one": lambda: classes[0],
        "maybe_one": lambda: classes[0] | None,
        "many": lambda: GenericAlias(list, (classes[0],)),
        "either": lambda: classes[0] | classes[1],
        "same": lambda: GenericAlias(list, (own_name,)),
    }
    annotation = _PLAIN[each.kind] if each.kind in _PLAIN else held[each.kind]()
    marked = Annotated[annotation, *each.markers] if each.markers else annotation
    return marked, Field(default=..., serialization_alias=each.alias)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    levels = tuple(f"level{place}" for place in range(draw(st.integers(1, 4))))
    toggles = {}
    for place in range(draw(st.integers(0, 2))):
        offered = draw(st.integers(0, len(levels) - 1))
        on = draw(st.integers(offered, len(levels) - 1))
        needs = "toggle0" if place and draw(st.booleans()) else None
        toggles[f"toggle{place}"] = Toggle(on_since=levels[on], offered_since=levels[offered], requires=needs)
    return Policy(levels=levels, toggles=toggles)


@st.composite
def rules(draw: st.DrawFn, policy: Policy | None, names: tuple[str, ...], *, is_text: bool) -> Any:
    options: list[Any] = [Always(), Never()]
    options += [Derived(draw(st.sampled_from(names)))] if names else []
    options += [Clip(CLIP)] if is_text else []
    if policy:
        otherwise = Mask(MASK) if is_text and draw(st.booleans()) else None
        level = draw(st.sampled_from(policy.levels))
        options.append(Since(level, below=otherwise) if otherwise else Since(level))
        if policy.toggles:
            toggle = draw(st.sampled_from(sorted(policy.toggles)))
            options.append(When(toggle, otherwise=otherwise) if otherwise else When(toggle))
    return draw(st.sampled_from(options))


@st.composite
def records(draw: st.DrawFn, policy: Policy | None, depth: int = 2) -> RecordSpec:
    kinds = ["text", "maybe_text", "number", "computed", "texts", "mapping"]
    kinds += ["one", "maybe_one", "many", "either", "same"] if depth else []
    fields: list[FieldSpec] = []
    for place in range(draw(st.integers(1, 5))):
        kind: Any = draw(st.sampled_from(kinds))
        needed = {"one": 1, "maybe_one": 1, "many": 1, "either": 2}.get(kind, 0)
        children = tuple(draw(records(policy, depth - 1)) for _ in range(needed))
        names = tuple(each.name for each in fields)
        is_text = kind in {"text", "maybe_text", "computed"}
        needs_rule = policy is not None and kind not in {"one", "maybe_one", "many", "either", "same"}
        rule = draw(rules(policy, names, is_text=is_text)) if needs_rule or draw(st.booleans()) else None
        alias = f"alias{place}" if draw(st.booleans()) else None
        is_notice = kind not in {"number", "one", "either"} and draw(st.integers(0, 3)) == 0
        fields.append(FieldSpec(f"field{place}", kind, rule, alias, children, is_notice))
    return RecordSpec(tuple(fields), draw(st.booleans()))


class _Planter:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw, self.planted = draw, 0

    def text(self, name: str) -> str:
        self.planted += 1
        return f"CANARY-{name}-{self.planted}-x"

    def record(self, spec: RecordSpec, room: int = 2) -> BaseModel:
        values = {each.name: self.value(spec, each, room) for each in spec.fields if each.kind != "computed"}
        extras = {"extra_value": self.text("extra")} if spec.allows_extra else {}
        if self.draw(st.booleans()):
            return spec.sub(**values, **extras, secret_of_subclass=self.text("subclass"))
        return spec.cls(**values, **extras)

    def value(self, spec: RecordSpec, each: FieldSpec, room: int) -> Any:
        some = st.integers(0, 2)
        match each.kind:
            case "text":
                return self.text(each.name)
            case "maybe_text":
                return self.draw(st.sampled_from([None, ""])) if self.draw(st.booleans()) else self.text(each.name)
            case "number":
                return self.draw(st.integers(-(2**53) + 1, 2**53 - 1))
            case "texts":
                return [self.text(each.name) for _ in range(self.draw(some))]
            case "mapping":
                return {self.text(each.name): self.text(each.name) for _ in range(self.draw(some))}
            case "one":
                return self.record(each.children[0], room)
            case "maybe_one":
                return self.record(each.children[0], room) if self.draw(st.booleans()) else None
            case "many":
                return [self.record(each.children[0], room) for _ in range(self.draw(some))]
            case "either":
                return self.record(self.draw(st.sampled_from(each.children)), room)
            case "same":
                return [self.record(spec, room - 1) for _ in range(self.draw(some) if room else 0)]


@st.composite
def cases(draw: st.DrawFn, *, with_policy: bool | None = None) -> Case:
    """A DTO class, a value of it full of canaries, and the policy that it is declared under, if any."""
    has_policy = draw(st.booleans()) if with_policy is None else with_policy
    policy = draw(policies()) if has_policy else None
    spec = draw(records(policy))
    planter = _Planter(draw)
    return Case(policy, spec, planter.record(spec))
