"""Every way to ask a server of the contract, and the servers that are asked over HTTP."""

import subprocess
import sys
from contextlib import ExitStack

from contract.asking import Place, Transport, environment
from contract.differences import NEW, OLD
from contract.serving import KINDS

TRANSPORTS: tuple[Transport, ...] = ("memory", "stdio", "http")
PYTHON = [
    Place(kind=kind, transport=transport, revision=revision, client=client)
    for client in ("python", "fastmcp")
    for kind in KINDS
    for transport in TRANSPORTS
    for revision in OLD + NEW
    # FastMCP's client asks the low-level Server as a process only, since it takes no object of that class.
    if (client, kind, transport) != ("fastmcp", "Server", "memory")
]
# The TypeScript SDK 1 speaks no revision after 2025-11-25, and nothing in another language is asked in memory.
TYPESCRIPT = [
    Place(kind=kind, transport=transport, revision=revision, client="typescript")
    for kind in KINDS
    for transport in TRANSPORTS[1:]
    for revision in OLD
]
PLACES = PYTHON + TYPESCRIPT


class Servers:
    """Servers over HTTP, each started when it is first asked and ended with the session."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._urls: dict[str, tuple[str, str]] = {}

    def urls(self, kind: str) -> tuple[str, str]:
        """Where the open server of a class is, and the one that needs a token."""
        if kind not in self._urls:
            process = subprocess.Popen(
                [sys.executable, "-m", "contract.serving", kind, "http"],
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            self._stack.callback(_end, process)
            assert process.stdout
            first, second = (int(process.stdout.readline()) for _ in range(2))
            self._urls[kind] = (f"http://127.0.0.1:{first}/mcp", f"http://127.0.0.1:{second}/mcp")
        return self._urls[kind]


def _end(process: subprocess.Popen[str]) -> None:
    """End a process that ends with its standard input, or by its id where it does not."""
    with process:
        assert process.stdin
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
