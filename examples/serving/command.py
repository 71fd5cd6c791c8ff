"""A command that serves over stdio or HTTP, and has verbs such as `doctor` beside that."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from mcp.server.mcpserver import MCPServer

from mcpshape import DefinitionError
from serving.arguments import Parser, add_transport, require_http

Config = TypeVar("Config")


class UnusableError(Exception):
    """A server cannot be started as it is set up; the one line says what to do, and is read at the terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(Generic[Config]):
    """A server's command line.

    Args:
        name: What is typed.
        description: What it is for, in one or two sentences.
        epilog: Where else options come from.
        add_options: Adds the options that are its own.
        configure: Makes the configuration of what was given; may raise `DefinitionError` or `UnusableError`.
        build: Makes the server.
        verbs: What it does instead of serving, with the arguments behind the verb; each gives an exit code.
    """

    name: str
    description: str
    epilog: str
    add_options: Callable[[argparse.ArgumentParser], None]
    configure: Callable[[argparse.Namespace], Config]
    build: Callable[[Config], MCPServer]
    verbs: Mapping[str, Callable[[Config, Sequence[str]], int]] = field(default_factory=dict)

    def run(self, arguments: Sequence[str] | None = None) -> None:
        """Serve until the client goes away, or do what a verb says and end."""
        given = list(sys.argv[1:] if arguments is None else arguments)
        verb = self.verbs.get(given[0]) if given else None
        rest = given[1:] if verb else given
        parser = self._parser()
        options = parser.parse_args(rest)
        require_http(parser, options)
        try:
            config = self.configure(options)
            if verb:
                sys.exit(_printed(lambda: verb(config, rest)))
            server = self.build(config)
        except DefinitionError as error:
            parser.error(" ".join(str(problem) for problem in error.problems))
        except UnusableError as error:
            parser.error(str(error))
        _serve(server, options)

    def _parser(self) -> Parser:
        verbs = f"[{' | '.join(self.verbs)}] " if self.verbs else ""
        parser = Parser(
            prog=self.name,
            usage=f"%(prog)s {verbs}[options]",
            description=self.description,
            epilog=self.epilog,
            allow_abbrev=False,
        )
        self.add_options(parser)
        add_transport(parser)
        return parser


def _serve(server: MCPServer, options: argparse.Namespace) -> None:
    if options.transport == "stdio":
        server.run("stdio")
    else:
        host, port = options.host or "127.0.0.1", options.port or 8000
        server.run("streamable-http", host=host, port=port, stateless_http=options.stateless)


def _printed(work: Callable[[], int]) -> int:
    try:
        code = work()
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough; what is left must not be written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
