"""The shape of the package: who may import whom, how long things are, and what an import costs."""

import ast
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

import mcpshape

PACKAGE = Path(mcpshape.__file__).parent
# Lower never imports higher, and modules of one layer do not import each other.
LAYERS = (
    {"_holding", "errors", "_nodes", "_shaped", "_hosts", "encoders._prose"},
    {"_caller", "encoders._meter"},
    {"_budget", "_values", "_cleaning", "_coarse", "_tokens", "rules", "encoders._escaping"},
    {"_scan", "_telling", "_markers", "_foreign", "_plain", "_constants", "_scope", "policy", "encoders._filters"},
    {"_declared", "_guards", "_narrowing", "encoders._rewriter"},
    {"_leaves", "_classes", "_layout", "encoders._sandbox"},
    {"_problems", "encoders._places", "encoders._findings", "encoders._sources"},
    {"_plan", "_writer"},
    {"_project", "_schema", "_describe", "_paths", "_tables", "encoders._reading"},
    {"_fields", "encoders._encoder", "encoders._check", "encoders._document"},
    {"encoders.toon", "encoders.json", "encoders.markdown", "encoders.fallback"}
    | {"_failure", "_say", "_arguments", "_result"},
    {"_page"},
    {"encoders"},
    {"_decisions", "_options", "_encodable", "_pinned"},
    {"_call"},
    {"_tool", "_resource"},
    {"shape", "disclosure"},
    {"_request", "_example", "_live"},
    {"_changes", "_settings", "_file", "explain"},
    {"_applied"},
    {"settings"},
    {"lock._outcome"},
    {"lock._lock"},
    {"lock._index", "lock._reading", "lock._tracing"},
    {"lock._sentences"},
    {"lock._comparison"},
    {"lock"},
    {"mcpserver", "fastmcp"},
    {"lowlevel"},
    {"lint._finding", "lint._formats", "lint._inspected"},
    {"lint._config", "lint._descriptions", "lint._fields", "lint._answers", "lint._policies", "lint._servers"},
    {"lint._rules"},
    {"lint"},
    {"testing._canaries", "testing._decode", "testing._schemas"},
    {"testing._leaks", "testing._noninterference"},
    {"testing"},
    {"_whole_file"},
    {"preview._choice", "preview._contrast", "preview._rendering", "preview._gate", "preview._revision"},
    {"preview._answer", "preview._form", "preview._saving"},
    {"preview"},
    {"preview._app"},
    {"preview._server"},
    {"cli._place"},
    {"cli._demo", "cli._explain", "cli._lint", "cli._lock", "cli._preview"},
    {"cli"},
    {"__main__"},
)
MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def layer_of(name: str) -> int:
    return next(place for place, layer in enumerate(LAYERS) if name in layer)


def imports_of(path: Path) -> set[str]:
    """The modules of the package that a file imports, at its top or inside a function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    found += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return {name.removeprefix("mcpshape").removeprefix(".") for name in found if name.split(".")[0] == "mcpshape"}


@pytest.mark.parametrize("path", [path for path in MODULES if name_of(path)], ids=name_of)
def test_a_module_imports_only_from_lower_layers(path: Path) -> None:
    """Lazy imports count, and nothing inside imports the root package."""
    assert not [name for name in imports_of(path) if not name or layer_of(name) >= layer_of(name_of(path))]


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_file_has_less_than_300_lines(path: Path) -> None:
    """A module has one job."""
    assert len(path.read_text(encoding="utf-8").splitlines()) < 300


def test_functions_are_short() -> None:
    """The median function has less than 8 lines, none more than 40 without its docstring."""
    lengths = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lengths.append((body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0)
    assert median(lengths) < 8
    assert max(lengths) <= 40


def printed_by(code: str) -> str:
    """What a process of its own prints, in which nothing has been imported."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_package_loads_no_framework() -> None:
    """With all of its names it costs little to import: no MCP SDK, no template engine, no web framework."""
    heavy = "{'mcp', 'jinja2', 'starlette', 'fastmcp', 'regex'}"
    assert printed_by(f"import sys; from mcpshape import *; print({heavy} & {{*sys.modules}})") == "set()"


def test_declaring_dtos_loads_rules_alone() -> None:
    """What answers are made with is loaded on first use, so that a module of DTOs costs little to import."""
    code = "import sys; from mcpshape import *; print(*[name for name in sys.modules if name.startswith('mcpshape.')])"
    alone = printed_by(code.replace("*;", "Policy, Since, UserError;"))
    assert alone.split() == ["mcpshape.errors", "mcpshape.rules", "mcpshape.policy"]
    assert {"mcpshape.shape", "mcpshape._project"} < {*printed_by(code).split()}


def test_the_package_looks_into_no_other_package() -> None:
    """What pydantic loads for the first DTO class waits for it: importing the package reads no metadata of others."""
    code = "import sys; from mcpshape import *; print({'importlib.metadata', 'pydantic.fields'} & {*sys.modules})"
    assert printed_by(code) == "set()"


def test_a_name_is_there_before_it_is_loaded() -> None:
    """Whoever lists the package or takes all of it sees every name, and the modules that are its own."""
    missing = "{*mcpshape.__all__, 'encoders', 'shape'} - {*dir(mcpshape)}"
    assert printed_by(f"import mcpshape; print({missing})") == "set()"
    assert printed_by("import mcpshape; from mcpshape import *; print({*mcpshape.__all__} - {*dir()})") == "set()"
    assert printed_by("import mcpshape; print(mcpshape.shape.Shape is mcpshape.Shape)") == "True"


def test_a_name_that_the_package_lacks_is_an_attribute_error() -> None:
    """As in any other module."""
    find = vars(mcpshape)["__getattr__"]
    assert find("Shape") is find("shape").Shape
    assert "Shapes" not in dir(mcpshape)
    with pytest.raises(AttributeError, match="module 'mcpshape' has no attribute 'Shapes'"):
        find("Shapes")


def test_the_installed_wheel_is_what_is_tested() -> None:
    """The tests import the installed distribution, which is typed, and not the source tree."""
    assert "site-packages" in str(PACKAGE)
    assert (PACKAGE / "py.typed").exists()


EXAMPLES = Path(__file__).parents[1] / "examples"
# What several servers share knows none of them, and no server knows another one.
EXAMPLE_LAYERS = {"serving": set[str](), "calendar_data": {"serving"}}
SERVERS = sorted(each.name for each in EXAMPLES.glob("*_server"))


@pytest.mark.parametrize("package", [*EXAMPLE_LAYERS, *SERVERS])
def test_an_example_imports_only_what_is_shared(package: str) -> None:
    """What two servers share lives in one place, and their files are short."""
    known = EXAMPLE_LAYERS.get(package, set(EXAMPLE_LAYERS)) | {package}
    for path in (EXAMPLES / package).glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        ours = {name.partition(".")[0] for name in modules} & {*EXAMPLE_LAYERS, *SERVERS}
        assert ours <= known, path
        assert len(path.read_text(encoding="utf-8").splitlines()) < 300


@pytest.mark.parametrize("package", [each for each in SERVERS if each != "calendar_server"])
def test_the_tools_of_a_server_fit_in_a_file(package: str) -> None:
    """A server is thin: its tools have under 150 lines, and format nothing."""
    assert len((EXAMPLES / package / "tools.py").read_text(encoding="utf-8").splitlines()) < 150
