"""The command `mcpshape`, for authors of servers: what their tools answer with, what that costs, and why."""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from cyclopts import App, CycloptsError

from mcpshape.cli._demo import demo
from mcpshape.cli._explain import explain
from mcpshape.cli._lint import lint
from mcpshape.cli._lock import lock
from mcpshape.cli._place import refuse
from mcpshape.cli._preview import preview

__all__ = ["app", "main"]

app = App(
    name="mcpshape",
    help="What the tools of an MCP server answer with.",
    help_format="plaintext",
    version=version("mcpshape-output"),
    result_action="return_value",
)
app.command(demo)
app.command(explain)
app.command(lint)
app.command(lock)
app.command(preview)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; whatever is wrong with it is told in one line, with exit code 2."""
    try:
        app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has read enough; without this, Python complains once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except UnicodeEncodeError as error:
        refuse(f"not all of the output can be written as {error.encoding}; set PYTHONIOENCODING=utf-8")
    except CycloptsError as error:
        refuse(" ".join(str(error).split()))
