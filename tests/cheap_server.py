"""A server whose calls cost next to nothing, with spans that can be read; a process of its own in tests."""

import argparse
from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from mcpshape import Always, Handle, Mask, Policy, Shape, Since, UserError
from mcpshape.disclosure import CurrentSpan
from mcpshape.encoders import Json
from mcpshape.mcpserver import attach
from mcpshape.settings import follow

POLICY = Policy(levels=("strict", "minimal", "open"))
IDS = [f"CANARY-{each}" for each in range(9)]


class Row(BaseModel):
    id: Annotated[str, Handle("row")]
    title: Annotated[str, Since("minimal", below=Mask("[Row]"))]
    room: Annotated[str, Since("open")]


class Rows(BaseModel):
    day: Annotated[str, Always()] = "Monday"
    rows: list[Row]


shape = Shape(POLICY, encoder=Json(), grant=POLICY.grant("open"), sinks=[CurrentSpan()])
RowId = Annotated[str, Handle("row", among=lambda: IDS)]


def _row(real: str) -> Row:
    return Row(id=real, title=f"CANARY title {real}", room="CANARY room")


@shape.tool(page="rows", limit=2)
def list_rows() -> Rows:
    """List the rows in pages."""
    return Rows(rows=[_row(real) for real in IDS])


@shape.tool()
def get_row(row_id: RowId) -> Row:
    """Get one row."""
    return _row(row_id)


@shape.tool()
def fail(kind: str) -> Row:
    """Fail in one of two ways."""
    if kind == "told":
        raise UserError("CANARY of an error")
    raise ValueError("CANARY of a crash")


def main() -> None:
    """Serve it over HTTP without sessions, under the settings of a file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path)
    parser.add_argument("--port", type=int)
    parser.add_argument("--spans", action="store_true")
    options = parser.parse_args()
    live = follow(shape, options.config)
    server = MCPServer("cheap", log_level="WARNING")
    for tool in live.tools.values():
        server.add_tool(tool.served)
    attach(server, live)
    if options.spans:
        _keep_spans(server)
    server.run("streamable-http", port=options.port, stateless_http=True)


def _keep_spans(server: MCPServer) -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)

    async def spans(request: Request) -> Response:
        return PlainTextResponse(f"[{','.join(span.to_json(indent=None) for span in kept.get_finished_spans())}]")

    server.custom_route("/spans", methods=["GET"])(spans)


if __name__ == "__main__":
    main()
