"""What MCP hosts show their model of a result, as reported in public up to October 2026; none of them promises it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_core import to_json

Shown = Literal["text", "structured", "both", "result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One host: what its model reads where a result has text and a structured part, and where it cuts that off."""

    name: str
    shows: Shown
    most: int | None = None
    unit: Literal["characters", "tokens"] = "characters"

    def reads(self, *, has_structured: bool) -> Shown:
        """What its model reads of a result."""
        return "text" if not has_structured and self.shows in {"structured", "both"} else self.shows

    def shown(self, text: str, structured: Mapping[str, Any] | None) -> str:
        """What its model reads of a result with this text and this structured part."""
        match self.reads(has_structured=structured is not None):
            case "text":
                return text
            case "structured":
                return to_json(structured).decode()
            case "both":
                return f"{text}\n{to_json(structured).decode()}"
            case _:
                result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": False}
                whole = result if structured is None else {**result, "structuredContent": structured}
                return json.dumps(whole, ensure_ascii=False)


HOSTS = (
    Host(name="Claude Code", shows="structured", most=25_000, unit="tokens"),
    Host(name="claude.ai, Claude Desktop", shows="text"),
    Host(name="VS Code Copilot", shows="structured"),
    Host(name="Copilot CLI", shows="both"),
    Host(name="Codex CLI", shows="structured"),
    Host(name="Cursor", shows="text"),
    Host(name="ChatGPT apps", shows="text"),
    Host(name="OpenAI Agents SDK", shows="text"),
    Host(name="Gemini CLI", shows="text", most=40_000),
    Host(name="Goose", shows="text", most=200_000),
    Host(name="Cline", shows="result", most=8_000),
    Host(name="Zed, Continue, LibreChat, LangChain", shows="text"),
    Host(name="pydantic-ai", shows="structured"),
)
