"""Arguments of a tool call: validated here, so that what is wrong with them is said the same way on every server."""

import inspect
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import GetCoreSchemaHandler, PydanticSchemaGenerationError, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUndefinedAnnotation
from pydantic_core import CoreSchema, core_schema, to_jsonable_python

from mcpshape.errors import DefinitionError, Problem, UserError
from mcpshape.rules import FindReal, Handle, Resolving

_HINT = "Correct the arguments and call again."
# Packages whose contexts and markers (`Resolve(...)`, `Depends(...)`) say that a server fills a parameter.
_FRAMEWORKS = {"mcp", "fastmcp", "uncalled_for"}


@dataclass(frozen=True, slots=True)
class _AsSent:
    """An annotation under which a framework publishes a parameter's schema but hands its value over as it was sent."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(lambda value, _: value, handler(source))


Bound = tuple[list[Any], dict[str, Any]]
"""The arguments that were passed by place, and those by name."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The signature that a framework sees, and the types that its values are validated with.

    Beside them: the parameters that have to be passed, the author's defaults of the others, and those that were added.
    """

    signature: inspect.Signature
    adapters: Mapping[str, TypeAdapter[Any]]
    added: frozenset[str]
    needed: frozenset[str]
    defaults: Mapping[str, Any]
    schemas: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False, compare=False)

    def asked(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of one call that the shape added, validated.

        Raises:
            UserError: Some are of another type.
        """
        asked = {name: kwargs[name] for name in self.added if name in kwargs}
        return self._validate(asked) if asked else {}

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], find: FindReal) -> Bound:
        """The author's arguments of one call as they were passed, validated, with handles resolved by `find`.

        Raises:
            UserError: Some are missing, unknown or of another type; all of them are named, none of their values.
        """
        given = self._named(args, kwargs)
        own = {name: value for name, value in given.items() if name not in self.added}
        sent = {name: value for name, value in own.items() if name in self.adapters}
        named = {**self.defaults, **own, **self._validate(sent, Resolving(find, own.get("self")))}
        return [named.pop(name) for name in list(self.signature.parameters)[: len(args)]], named

    def _named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        """What was passed, by name. Servers pass names, which are quicker looked at than bound."""
        if not args and self.needed <= kwargs.keys() <= self.signature.parameters.keys():
            return kwargs
        try:
            return self.signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            filled = self.signature.parameters.keys() - self.adapters
            self.check_names([name for name in kwargs if name not in filled])
            raise UserError(f"The arguments do not fit: {error}.", code="invalid_arguments") from None

    def fingerprint(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """The author's arguments of one call as they were sent, defaults filled in, spelled alike everywhere.

        Raises:
            UserError: They are nested deeper than JSON is written.
        """
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        sent = {name: bound.arguments[name] for name in self.adapters if name not in self.added}
        try:
            return json.dumps(to_jsonable_python(sent, fallback=str, inf_nan_mode="strings"), sort_keys=True)
        except (ValueError, RecursionError):
            raise UserError("The arguments are nested too deep.", code="invalid_arguments", hint=_HINT) from None

    def input_schema(self, tool: str) -> dict[str, Any]:
        """JSON Schema for the arguments, for a server that does not make its own; made once."""
        if tool not in self.schemas:
            self.schemas[tool] = self._make_schema(tool)
        return self.schemas[tool]

    def _make_schema(self, tool: str) -> dict[str, Any]:
        parameters = ((name, self.signature.parameters[name]) for name in self.adapters)
        fields: dict[str, Any] = {
            name: (each.annotation, ... if each.default is inspect.Parameter.empty else each.default)
            for name, each in parameters
        }
        schema: dict[str, Any] = create_model(f"{tool}Arguments", **fields).model_json_schema()
        return schema

    def named_by_type(self, cls: type) -> list[str]:
        """The parameters that are annotated with a class of a framework, which fills them."""
        hints = {name: each.annotation for name, each in self.signature.parameters.items()}
        return [name for name, hint in hints.items() if any(issubclass(each, cls) for each in _classes(hint))]

    def check_names(self, names: Collection[str]) -> None:
        """See that a call names every argument that is needed, and no other than there are.

        Raises:
            UserError: Some are missing or unknown; all of them are named.
        """
        needed = (name for name in self.adapters if name in self.needed)
        problems = [f"{name}: this argument is missing." for name in needed if name not in names]
        known = ", ".join(self.adapters) or "none"
        problems += [
            f"There is no argument {name!r}; there are: {known}." for name in names if name not in self.adapters
        ]
        if problems:
            raise UserError(" ".join(problems), code="invalid_arguments", hint=_HINT)

    def _validate(self, sent: Mapping[str, Any], context: Resolving | None = None) -> dict[str, Any]:
        valid: dict[str, Any] = {}
        problems: list[str] = []
        for name, value in sent.items():
            try:
                valid[name] = self.adapters[name].validate_python(value, context=context)
            except ValidationError as error:
                problems += _word(name, error)
        if problems:
            raise UserError(" ".join(sorted(problems)), code="invalid_arguments", hint=_HINT)
        return valid

    def describe(self, function: Callable[..., Any]) -> None:
        """Make a function look, to whoever inspects it, as if it had this signature."""
        annotations = {name: parameter.annotation for name, parameter in self.signature.parameters.items()}
        function.__signature__ = self.signature  # type: ignore[attr-defined]
        function.__annotations__ = {**annotations, "return": self.signature.return_annotation}


def resolve_hints(function: Callable[..., Any], where: str) -> dict[str, Any]:
    """The annotations of a function, with names resolved.

    Raises:
        DefinitionError: A name cannot be resolved when the tool is registered.
    """
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        told = f"the name {error.name!r} is unknown." if isinstance(error, NameError) else "they cannot be read."
        remedy = "Import it outside of TYPE_CHECKING, or define it before the tool."
        raise DefinitionError(where, [Problem("annotations", told, remedy)]) from None


def read_parameters(
    function: Callable[..., Any], returned: Any, where: str, added: Mapping[str, Any] | None = None
) -> Parameters:
    """The parameters of a tool function, and optional ones that are added to it by name and type.

    Those that only a framework can fill, such as its context, stay untouched.

    Raises:
        DefinitionError: A name that is to be added is taken.
    """
    added = added or {}
    signature = inspect.signature(function)
    if problems := list(_parameter_problems(signature, added)):
        raise DefinitionError(where, problems)
    optional = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in added]
    signature = signature.replace(parameters=[*signature.parameters.values(), *optional])
    hints = {**resolve_hints(function, where), **added}
    signature, hints = _with_plain_defaults(signature, hints)
    found = {
        name: _adapter(hints[name])
        for name, each in signature.parameters.items()
        if name in hints and not _is_injected(each, hints[name])
    }
    adapters = {name: adapter for name, adapter in found.items() if adapter is not None}
    annotations = {**hints, **{name: Annotated[hints[name], _AsSent()] for name in adapters}}
    parameters = [
        parameter.replace(annotation=annotations.get(name, parameter.annotation))
        for name, parameter in signature.parameters.items()
    ]
    defaults = {each.name: each.default for each in parameters if each.default is not inspect.Parameter.empty}
    return Parameters(
        signature=signature.replace(parameters=parameters, return_annotation=returned),
        adapters=adapters,
        added=frozenset(added),
        needed=frozenset(each.name for each in parameters) - defaults.keys(),
        defaults={name: default for name, default in defaults.items() if name not in added},
    )


def _is_injected(parameter: inspect.Parameter, hint: Any) -> bool:
    """Whether a framework fills a parameter, even if its type is one that a client could send."""
    marks = (parameter.default, *getattr(hint, "__metadata__", ()))
    classes = {base for each in (*map(type, marks), *_classes(hint)) for base in each.__mro__}
    return any(each.__module__.partition(".")[0] in _FRAMEWORKS for each in classes)


def _classes(hint: Any) -> Iterator[type]:
    """The classes that a type is made of."""
    kind = get_origin(hint) or hint
    if isinstance(kind, type):
        yield kind
    for part in get_args(hint):
        yield from _classes(part)


def _parameter_problems(signature: inspect.Signature, added: Mapping[str, Any]) -> Iterator[Problem]:
    for name, parameter in signature.parameters.items():
        if name in added:
            yield Problem(name, "the tool has a parameter of that name already.", "Rename it.")
        if parameter.kind not in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
            yield Problem(name, "no client can fill a parameter of this kind.", "Give each argument a name.")


def _with_plain_defaults(
    signature: inspect.Signature, hints: dict[str, Any]
) -> tuple[inspect.Signature, dict[str, Any]]:
    """The same signature where a default such as `Field(5, ge=1)` is the plain 5, and its bounds are in the type."""
    from pydantic.fields import FieldInfo

    parameters = []
    for name, parameter in signature.parameters.items():
        info = parameter.default
        if isinstance(info, FieldInfo) and info.default_factory is None:
            hints = {**hints, name: Annotated[hints.get(name, Any), info]}
            plain = inspect.Parameter.empty if info.is_required() else info.default
            parameters.append(parameter.replace(default=plain))
        else:
            parameters.append(parameter)
    return signature.replace(parameters=parameters), hints


def accepted_kinds(function: Callable[..., Any], where: str) -> set[str]:
    """The kinds of handles that a tool function takes back, in lists and argument models as well."""
    hints = resolve_hints(function, where)
    return {kind for name, hint in hints.items() if name != "return" for kind in _kinds(hint, ())}


def _kinds(hint: Any, seen: tuple[Any, ...]) -> Iterator[str]:
    for part in get_args(hint):
        if isinstance(part, Handle) and part.among is not None:
            yield part.kind
        yield from _kinds(part, seen)
    for name, info in getattr(hint, "model_fields", {}).items() if hint not in seen else ():
        yield from _kinds(Annotated[(info.annotation, *info.metadata, name)], (*seen, hint))


def _adapter(hint: Any) -> TypeAdapter[Any] | None:
    """The validator of a parameter, or `None` where its type is nothing that a client can send."""
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
        adapter.json_schema()
    except (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema, PydanticUndefinedAnnotation):
        return None
    return adapter


def _word(name: str, error: ValidationError) -> list[str]:
    """What is wrong with one argument, path first, without the rejected value."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return [f"{_path(name, detail['loc'])}: {detail['msg']}." for detail in details]


def _path(name: str, location: tuple[int | str, ...]) -> str:
    return name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
