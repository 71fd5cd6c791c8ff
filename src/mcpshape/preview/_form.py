"""The form of the page: what it offers for a shape, and the choice that it sends back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from starlette.datastructures import FormData, QueryParams

from mcpshape._caller import Caller
from mcpshape.errors import DefinitionError, Problem
from mcpshape.policy import Grant
from mcpshape.preview._choice import ANOTHER, IN_FORCE, Choice, Switch, choose, flip, list_switches, offered_formats
from mcpshape.shape import Shape

NOBODY = "nobody"
"""What stands for a caller without a name."""

_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What can be chosen: names of tools, levels and so on. What there is nothing to choose from is empty.

    `bare` holds the tools without an example, `questions` what levels answer, `later` the toggles of wider levels.
    """

    tools: Sequence[str]
    bare: Sequence[str]
    levels: Sequence[str]
    questions: Mapping[str, str]
    switches: Sequence[Switch]
    later: Mapping[str, Sequence[str]]
    formats: Sequence[str]
    signed_in: Sequence[str]
    clients: Sequence[str]
    against: Sequence[str]


def list_offer(shape: Shape, choice: Choice) -> Offer:
    """What the form offers, beside a choice that was made."""
    entries, levels = shape.decisions.entries, shape.policy.levels if shape.policy else ()
    known = [f"principal {name}" for name in entries.principals] + [f"scope {name}" for name in entries.scopes]
    clients = [f"client {name}" for name in entries.clients]
    return Offer(
        tools=[name for name, tool in shape.tools.items() if tool.options.example],
        bare=[name for name, tool in shape.tools.items() if not tool.options.example],
        levels=levels,
        questions=shape.policy.questions if shape.policy else {},
        switches=list_switches(choice.grant) if choice.grant else (),
        later=_list_later(choice.grant) if choice.grant else {},
        formats=offered_formats(shape),
        signed_in=[*known, f"principal {ANOTHER}"] if known else (),
        clients=[f"client {ANOTHER}", *clients] if clients else (),
        against=[IN_FORCE, *levels] if levels else (),
    )


def _list_later(grant: Grant) -> dict[str, list[str]]:
    """The toggles that the level of a grant does not offer, by the level that does."""
    found: dict[str, list[str]] = {}
    for name, toggle in grant.policy.toggles.items():
        if not grant.reaches(toggle.offered_since):
            found.setdefault(toggle.offered_since, []).append(name)
    return found


def read_choice(shape: Shape, sent: QueryParams | FormData) -> Choice:
    """The choice that a form has sent; what it does not hold is as it is in force.

    A level that was not the one of the toggles beside it brings its own.

    Raises:
        DefinitionError: Something of it is not there.
    """
    texts = {key: value for key, value in sent.items() if isinstance(value, str) and value}
    level, on = texts.get("level"), [value for value in sent.getlist("toggle") if isinstance(value, str)]
    chosen = choose(
        shape,
        tool=texts.get("tool"),
        level=level,
        format=texts.get("format"),
        caller=_read_caller(texts),
        against=texts.get("against", IN_FORCE),
    )
    if shape.policy is None or level is None or texts.get("toggles_of") != level:
        return chosen
    return replace(chosen, grant=flip(shape.policy, level, on))


def _read_caller(texts: Mapping[str, str]) -> Caller | None:
    if not {"signed_in", "client"} & texts.keys():
        return None
    return read_caller(texts.get("signed_in", NOBODY), texts.get("client", f"client {ANOTHER}"))


def read_caller(signed_in: str, client: str) -> Caller:
    """The caller that `principal NAME` or `scope NAME`, and `client NAME`, stand for; `NOBODY` is one without a name.

    Raises:
        DefinitionError: They begin with another word.
    """
    kind, _, name = signed_in.partition(" ")
    word, _, client_name = client.partition(" ")
    if kind not in {NOBODY, "principal", "scope"} or word not in {NOBODY, "client"}:
        remedy = "Write principal NAME, scope NAME or client NAME."
        raise DefinitionError("preview", [Problem("caller", "it is no caller.", remedy)])
    return make_caller(
        principal=name if kind == "principal" else None,
        scope=name if kind == "scope" else None,
        client=client_name if word == "client" else None,
    )


def make_caller(*, principal: str | None = None, scope: str | None = None, client: str | None = None) -> Caller:
    """A caller by what is known of it; whoever has a scope has a token, and so is some principal.

    Raises:
        DefinitionError: A name is no Unicode.
    """
    if any(_SURROGATES.search(name or "") for name in (principal, scope, client)):
        raise DefinitionError("preview", [Problem("caller", "its name is no Unicode.", "Write it as UTF-8.")])
    principal = ANOTHER if principal is None and scope is not None else principal
    return Caller(principal=principal, scopes=frozenset({scope} if scope else ()), client=client)


def write_choice(choice: Choice) -> dict[str, str | Sequence[str]]:
    """The fields of the form that stand for a choice, as `read_choice` takes them."""
    caller, grant = choice.caller, choice.grant
    scope = next(iter(caller.scopes), None)
    principal = f"principal {caller.principal}" if caller.principal else NOBODY
    fields: Mapping[str, str | None] = {
        "tool": choice.tool,
        "level": grant.level if grant else None,
        "toggles_of": grant.level if grant else None,
        "format": choice.format,
        "against": choice.against,
        "signed_in": f"scope {scope}" if scope else principal,
        "client": f"client {caller.client}" if caller.client else NOBODY,
    }
    told = {name: value for name, value in fields.items() if value}
    return {**told, "toggle": sorted(grant.toggles) if grant else []}


def address(choice: Choice) -> str:
    """The query of the page's address that stands for a choice."""
    return f"?{urlencode(write_choice(choice), doseq=True)}"
