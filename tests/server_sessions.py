"""Write NAME_session.txt for each server without levels: what it says in a session, with its sample."""

import re
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from sessions import Call, Transport, both, connected

REMAKE = "PYTHONPATH=tests python -m server_sessions"


@dataclass(frozen=True, slots=True)
class Script:
    """What a server is asked, which calls what its ids stand for by a noun; `volatile` is what no session repeats."""

    name: str
    noun: str
    options: Sequence[str]
    calls: Sequence[Call]
    volatile: str = r"(?!)"

    @property
    def file(self) -> Path:
        return Path(__file__).with_name(f"{self.name}_session.txt")


SLIDES, REPORT, BREAD, WEEKLY = "task-4", "task-7", "task-3", "task-2"
TASKS = Script(
    name="tasks",
    noun="task",
    options=["--tz", "Europe/Berlin", "--now", "2026-07-13T10:20"],
    calls=(
        ("list_tasks", {}),
        ("list_tasks", {"status": "completed"}),
        ("list_tasks", {"format": "markdown", "limit": 2}),
        ("list_tasks", {"cursor": "cursor-1", "limit": 2}),
        ("list_tasks", {"format": "json", "overdue_only": True}),
        ("list_tasks", {"list_label": "Work", "due_by": "2026-07-16"}),
        ("list_tasks", {"text": "no such thing"}),
        ("list_task_lists", {}),
        ("get_task", {"task_id": BREAD}),
        ("get_task", {"task_id": BREAD, "format": "markdown"}),
        ("get_task", {"task_id": WEEKLY}),
        ("complete_task", {"task_id": WEEKLY}),
        ("complete_task", {"task_id": WEEKLY}),
        ("complete_task", {"task_id": SLIDES, "format": "markdown"}),
        ("reopen_task", {"task_id": REPORT}),
        ("reopen_task", {"task_id": REPORT}),
        ("list_tasks", {"status": "all"}),
        ("get_task", {"task_id": "abcdefghijk"}),
        ("complete_task", {}),
        ("list_tasks", {"status": "late", "due_by": "2026-02-30"}),
        ("list_tasks", {"limit": 0}),
        ("list_tasks", {"cursor": "abcdefgh"}),
        ("list_tasks", {"format": "xml"}),
    ),
)
LUMEN = {"app": "com.example.lumen"}
RELEASES = Script(
    name="releases",
    noun="app",
    options=[],
    calls=(
        ("list_apps", {}),
        ("list_apps", {"format": "markdown"}),
        ("list_versions", LUMEN),
        ("list_versions", {**LUMEN, "platform": "mac_os"}),
        ("list_versions", {**LUMEN, "platform": "TV_OS"}),
        ("get_metadata", LUMEN),
        ("get_metadata", {"app": "app-2"}),
        ("get_metadata", {**LUMEN, "platform": "MAC_OS", "version": "live", "locale": "de-DE"}),
        ("get_metadata", {**LUMEN, "locale": "EN-us", "field": "description"}),
        ("get_metadata", {**LUMEN, "locale": "en-US", "field": "whatsNew", "format": "markdown"}),
        ("get_metadata", {**LUMEN, "locale": "en"}),
        ("get_metadata", {**LUMEN, "field": "demo_password"}),
        ("get_metadata", {**LUMEN, "version": "2.3.10"}),
        ("get_metadata", {"app": "Nobody"}),
        ("get_metadata", {}),
        ("get_diff", LUMEN),
        ("get_diff", {**LUMEN, "format": "json"}),
        ("get_diff", {**LUMEN, "locale": "en-US", "field": "description"}),
        ("get_diff", {**LUMEN, "platform": "MAC_OS"}),
        ("get_diff", {**LUMEN, "cursor": "abcdefgh"}),
    ),
)
HANDBOOK, FIRST = "document-1", {"query": "handbook", "limit": 3}
SEARCH = Script(
    name="search",
    noun="document",
    options=[],
    volatile=r'(?<=changed: )"?2\d{3}-\S+',  # When the sample was installed.
    calls=(
        ("search_content", FIRST),
        ("search_content", {"query": '"flood gate" OR ice'}),
        ("search_content", {"query": "crane -tide", "limit": 1, "format": "markdown"}),
        ("search_content", {"query": "harb*", "folder": "harbour", "limit": 2}),
        ("search_content", {"query": "no-such-thing"}),
        ("search_content", {"query": "harbour", "folder": "attic"}),
        ("search_content", {"query": "-tide"}),
        ("search_content", {"query": "?!"}),
        ("search_content", {"query": "tide", "limit": 51}),
        ("search_content", {}),
        ("get_document", {"document_id": HANDBOOK, "limit": 1}),
        ("get_document", {"document_id": HANDBOOK, "limit": 1, "cursor": "cursor-1"}),
        ("get_document", {"document_id": HANDBOOK, "format": "markdown"}),
        ("get_document", {"document_id": "abcdefghijk"}),
        ("get_document", {"document_id": HANDBOOK, "cursor": "abcdefgh"}),
    ),
)
SCRIPTS = (RELEASES, SEARCH, TASKS)


async def transcript(script: Script, transport: Transport) -> str:
    """The whole file of a server, as heard over one transport."""
    program = str(Path(sys.executable).with_name(f"mcpshape-{script.name}"))
    secret = {f"MCPSHAPE_{script.name.upper()}_SECRET": "0123456789abcdef-of-the-sessions"}

    def connect(mode: Any) -> AbstractAsyncContextManager[Client]:
        return connected(transport, mode, [program, *script.options], **secret)

    heard = await both(connect, script.calls, script.noun)
    sections = "\n\n".join(f">>> {step}\n{answer}" for step, answer in heard.items())
    return re.sub(script.volatile, "…", f"Made by {REMAKE}\n\n{sections}\n")


if __name__ == "__main__":
    for each in SCRIPTS:
        each.file.write_text(anyio.run(transcript, each, "stdio"), encoding="utf-8")
        print(f"Wrote {each.file.name}; read what has changed in it.", file=sys.stderr)
