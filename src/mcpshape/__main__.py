"""The command `mcpshape`, also as `python -m mcpshape`."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command, or say what it needs."""
    try:
        from mcpshape.cli import main as run
    except ModuleNotFoundError as error:
        print(f"mcpshape: {error.name} is not installed; install mcpshape-output[cli]", file=sys.stderr)  # noqa: T201
        raise SystemExit(2) from None
    run(sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":  # pragma: no cover
    main()
