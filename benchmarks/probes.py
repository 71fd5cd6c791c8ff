"""What is measured in a process of its own: an import, and the most memory of one answer. Prints JSON."""

import json
import sys
from importlib import import_module
from pathlib import Path
from time import process_time

_STATUS = Path("/proc/self/status")


def time_import(what: str) -> dict[str, float]:
    """The seconds of the processor that a first import takes: of a `module`, a `module:name` or, by `module:*`, all."""
    module, _, name = what.partition(":")
    started = process_time()
    imported = import_module(module)
    for each in imported.__all__ if name == "*" else filter(None, [name]):
        getattr(imported, each)
    return {"seconds": process_time() - started}


def measure_memory(number: int, *, is_by_hand: bool) -> dict[str, float]:
    """The most bytes that an answer with so many rows takes beyond its DTOs, and the bytes of its text."""
    import toons

    from data import Rows, policy, rows
    from mcpshape import Shape
    from mcpshape.encoders import Toon

    shape = Shape(policy, encoder=Toon(codec="toons"), grant=policy.grant("standard"))

    def write(table: Rows) -> str:
        return toons.dumps(table.model_dump(mode="json")) if is_by_hand else shape.render(table).text

    write(rows(10))
    table = rows(number)
    before = _peak()
    text = write(table)
    return {"beyond": _peak() - before, "text": len(text.encode())}


def _peak() -> int:
    """The most memory so far, in bytes. What the system tells of a process can be that of the one that started it."""
    if _STATUS.exists():
        lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    kind, what = sys.argv[1:]
    is_by_hand = kind == "memory-by-hand"
    found = time_import(what) if kind == "import" else measure_memory(int(what), is_by_hand=is_by_hand)
    print(json.dumps(found))
