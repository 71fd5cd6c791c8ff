"""The page served on loopback, for whoever was given its address."""

import secrets
import socket
from collections.abc import Callable

from uvicorn import Config, Server

from mcpshape.errors import DefinitionError, Problem
from mcpshape.preview._app import Desk, make_app

_HOST = "127.0.0.1"
_PATIENCE = 2
"""Seconds that a client which is slow to send or to read can hold up the end."""


def serve(desk: Desk, *, port: int, tell: Callable[[str], object]) -> None:
    """Serve the page until the process is interrupted.

    Args:
        desk: What is looked at.
        port: The port; 0 for one that is free.
        tell: Is given the address once it answers; the token in it is made anew each time.

    Raises:
        DefinitionError: The port cannot be had; mostly because it is taken.
    """
    try:
        listening = socket.create_server((_HOST, port))
    except OSError as error:
        remedy = "Choose another with --port, or leave it out for one that is free."
        raise DefinitionError(
            "preview", [Problem(f"port {port}", f"it cannot be had ({error.strerror}).", remedy)]
        ) from error
    with listening:
        token = secrets.token_urlsafe(24)
        server = prepare(desk, listening, token)
        tell(f"http://{_HOST}:{listening.getsockname()[1]}/{token}/")
        server.run(sockets=[listening])


def prepare(desk: Desk, listening: socket.socket, token: str) -> Server:
    """A server of the page for a socket; it speaks HTTP alone and writes no log, which would hold the token."""
    app = make_app(desk, port=listening.getsockname()[1], token=token)
    return Server(
        Config(
            app,
            access_log=False,
            log_level="warning",
            lifespan="off",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_PATIENCE,
        )
    )
