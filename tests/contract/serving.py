"""A server of the contract as a process: over stdio, or over HTTP on ports that it prints."""

import socket
import sys
from functools import partial
from typing import Any

import anyio
import uvicorn

from contract import extras

KINDS = ("MCPServer", "Server", "FastMCP")
TOKENS = {
    "token-a": {"client_id": "trusted", "scopes": ["read", "write"], "subject": "ada", "claims": {"iss": "issuer"}},
    "token-b": {"client_id": "guest", "scopes": ["read"]},
    "token-c": {"client_id": "other", "scopes": ["read"]},
}
AUTH = {"issuer_url": "http://127.0.0.1:1/", "resource_server_url": None, "required_scopes": ["read"]}


def build(kind: str, *, principals: bool = False, level: str = "open", is_guarded: bool = False) -> Any:
    """A server of the contract with what its class has of its own."""
    options: dict[str, Any] = {}
    if kind == "MCPServer":
        from contract import on_mcpserver

        options |= {"log_level": "CRITICAL"}
        options |= _guard() if is_guarded else {}
        server, shape = on_mcpserver.build(level, principals=principals, **options)
        extras.add_to_mcpserver(server, shape)
        return server
    if kind == "FastMCP":
        from contract import extras_fastmcp, on_fastmcp

        options |= {"auth": _fast_verifier()} if is_guarded else {}
        fast, shape = on_fastmcp.build(level, principals=principals, **options)
        extras_fastmcp.add_to_fastmcp(fast, shape)
        return fast
    from contract import on_lowlevel

    low, shape = on_lowlevel.build(level, principals=principals)
    extras.add_to_lowlevel(low, shape)
    return low


def _guard() -> dict[str, Any]:
    """The options of the SDK's classes under which a bearer token is needed."""
    from mcp.server.auth.provider import AccessToken
    from mcp.server.auth.settings import AuthSettings

    class Verifier:
        async def verify_token(self, token: str) -> AccessToken | None:
            known: Any = TOKENS.get(token)
            return AccessToken(token=token, **known) if known else None

    return {"token_verifier": Verifier(), "auth": AuthSettings.model_validate(AUTH)}


def _fast_verifier() -> Any:
    from fastmcp.server.auth import AccessToken, TokenVerifier

    class Verifier(TokenVerifier):
        async def verify_token(self, token: str) -> AccessToken | None:
            known: Any = TOKENS.get(token)
            return AccessToken(token=token, **known) if known else None

    return Verifier(required_scopes=["read"])


def app(kind: str, *, is_guarded: bool = False) -> Any:
    """The ASGI application of a server."""
    server = build(kind, principals=is_guarded, is_guarded=is_guarded)
    if kind == "FastMCP":
        return server.http_app()
    return server.streamable_http_app(**_guard() if is_guarded and kind == "Server" else {})


async def serve_stdio(kind: str) -> None:
    from mcp.server.stdio import stdio_server

    server = build(kind)
    if kind == "MCPServer":
        await server.run_stdio_async()
    elif kind == "FastMCP":
        await server.run_stdio_async(show_banner=False)
    else:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


def _listen() -> socket.socket:
    """A socket on a free port. With its protocol named, asyncio turns off the delay that costs 40 ms an answer."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    return listening


async def serve_http(kind: str) -> None:
    """Serve an open and a guarded server, until standard input ends."""
    servers = []
    async with anyio.create_task_group() as tasks:
        for is_guarded in (False, True):
            listening = _listen()
            config = uvicorn.Config(app(kind, is_guarded=is_guarded), log_level="critical", timeout_graceful_shutdown=1)
            servers.append(uvicorn.Server(config))
            tasks.start_soon(partial(servers[-1].serve, sockets=[listening]))
            print(listening.getsockname()[1], flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)
        for server in servers:
            server.should_exit = True


if __name__ == "__main__":
    anyio.run(serve_http if sys.argv[2] == "http" else serve_stdio, sys.argv[1])
