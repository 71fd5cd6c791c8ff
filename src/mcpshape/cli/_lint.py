"""The command `mcpshape lint`: what works and is still a mistake, one line each."""

import asyncio
import inspect
import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from mcpshape.cli._place import load, load_shape, refuse, refusing
from mcpshape.lint import LintConfig, find_project, is_server, lint_shape, read_config


def lint(
    shape: str,
    /,
    *,
    server: Annotated[str | None, Parameter(help="The server as module:name, or a function that builds it.")] = None,
    ignore: Annotated[tuple[str, ...], Parameter(help="A rule to ignore; may be repeated.", negative="")] = (),
    output: Annotated[Literal["text", "json"], Parameter(name="--format", help="How findings are printed.")] = "text",
) -> None:
    """Find mistakes in descriptions, DTOs, examples and policy; exit code 1 where there are some.

    Rules are ignored by [tool.mcpshape.lint] in pyproject.toml as well, everywhere or for one tool.

    Parameters
    ----------
    shape
        Where the shape is, as module:name, such as calendar_server:shape.
    """
    found = load_shape(shape)
    with refusing():
        project = find_project(_folder())
        config = read_config(project, shape) if project else LintConfig()
        config = config.with_more(LintConfig(ignore=frozenset(ignore), server=server))
        findings = lint_shape(found, server=_load_server(config.server) if config.server else None, config=config)
    if output == "json":
        lines = [json.dumps({"findings": [each.to_dict() for each in findings]}, indent=2)]
    else:
        lines = [str(each) for each in findings]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    if findings:
        raise SystemExit(1)


def _folder() -> Path:
    try:
        return Path.cwd()
    except OSError:
        refuse("the working directory is gone; run this in another one")


def _load_server(place: str) -> Any:
    found = load(place, "Server")
    if not is_server(found) and callable(found):
        found = _build(found, place)
    if not is_server(found):
        refuse(f"{place} is no server but {type(found).__name__}; name an MCPServer, a Server or a FastMCP")
    return found


def _build(make: Any, place: str) -> Any:
    try:
        made = make()
        return asyncio.run(made) if inspect.iscoroutine(made) else made
    except (Exception, SystemExit) as error:
        refuse(f"{place} cannot be built: {type(error).__name__}: {' '.join(str(error).split())}")
