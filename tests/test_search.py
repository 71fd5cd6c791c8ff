"""The search server, asked by a real client: in memory, and over stdio for the command."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult

from mcpshape.testing import decode
from search_server import Config, build, shape
from search_server.config import labelled
from search_server.folders import Folder
from search_server.samples import SAMPLE

pytestmark = [pytest.mark.anyio, pytest.mark.no_cover]
FORMATS = ("toon", "markdown", "json")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def serving(*folders: Path, **settings: Any) -> Client:
    """A client of a server that looks at its folders at each question."""
    served: Sequence[Folder] = labelled(folders) or [SAMPLE]
    return Client(build(Config(folders=served, **{"every": 0.0, "patience": None, **settings})))


async def ask(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    return result


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The data of an answer that is no error."""
    result = await ask(client, tool, **arguments)
    assert not result.is_error, result.content
    data: dict[str, Any] | None = result.structured_content
    assert data is not None
    return data


async def paths(client: Client, query: str, **arguments: Any) -> set[str]:
    return {each["path"] for each in (await answer(client, "search_content", query=query, **arguments))["results"]}


async def complaint(client: Client, tool: str, **arguments: Any) -> str:
    """The text of an answer that is an error."""
    result = await ask(client, tool, **arguments)
    assert result.is_error
    assert result.structured_content is None
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    (text,) = [block.text for block in result.content if block.type == "text"]
    return text


async def whole(client: Client, document_id: str, **arguments: Any) -> str:
    """The text of a document, page by page."""
    page = await answer(client, "get_document", document_id=document_id, **arguments)
    text = "".join(part["text"] for part in page["parts"])
    while cursor := page["page"]["next"]:
        page = await answer(client, "get_document", document_id=document_id, cursor=cursor, **arguments)
        text += "".join(part["text"] for part in page["parts"])
    return text


async def test_an_answer_has_count_total_and_results() -> None:
    """C1: one typed value, whose count is that of its entries and whose total that of all documents that fit."""
    async with serving() as client:
        data = await answer(client, "search_content", query="crane", limit=2)
    assert list(data) == ["count", "total", "results"]
    assert (data["count"], data["total"], len(data["results"])) == (2, 4, 2)
    assert [list(each) for each in data["results"]] == [["id", "title", "path", "snippet", "score"]] * 2
    assert data["results"][0]["score"] == 1.0
    assert data["results"][0]["score"] >= data["results"][1]["score"] > 0


async def test_nothing_found_is_a_value() -> None:
    """C5, C2, A12: no results are an empty list in both channels, and the description says what to do then."""
    async with serving() as client:
        result = await ask(client, "search_content", query="submarine")
        tools = (await client.list_tools()).tools
    assert result.structured_content == {"count": 0, "total": 0, "results": []} == decode(text_of(result))
    assert all("No results" in (tool.description or "") for tool in tools if tool.name == "search_content")


HIDDEN = (
    "<p hidden>eel<br>eel</p>",
    '<div style="color: red; display : NONE"><p>eel<p>eel</div>',
    '<span style="visibility:hidden">eel</span>',
    '<b style="opacity:0">eel</b>',
    '<i style="font-size: 0px; top: 0">eel</i>',
    "<dialog>eel</dialog>",
    "<ul><li hidden>eel<li>oar</ul>",
    "<video>eel</video><noembed>eel</noembed><datalist><option>eel</datalist>",
    "<input hidden><!-- eel --><img alt=eel title=eel>",
)


@pytest.mark.parametrize("hidden", HIDDEN)
async def test_what_html_hides_is_not_told(tmp_path: Path, hidden: str) -> None:
    """Hostile input: text that no reader of a page sees is no place for words to a model; what follows it is there."""
    (tmp_path / "a.html").write_text(f"<h1>Keel</h1>{hidden}<p>plank")
    async with serving(tmp_path) as client:
        assert not await paths(client, "eel")
        (found,) = (await answer(client, "search_content", query="plank"))["results"]
        text = await whole(client, found["id"])
    assert text.replace("oar", "").split() == ["Keel", "plank"]


@pytest.mark.parametrize(
    "shown",
    [
        "<dialog open>oar</dialog>",
        "<p hidden=until-found>oar",
        '<p style="opacity:0.5; font-size:0.8em; backface-visibility:hidden">oar',
    ],
)
async def test_what_html_shows_or_will_show_is_told(tmp_path: Path, shown: str) -> None:
    """Losing nothing: what looks as if it were hidden is not, and a page that a script shows later is read."""
    (tmp_path / "a.html").write_text(f'<body style="opacity:0">{shown}')
    async with serving(tmp_path) as client:
        assert len(await paths(client, "oar")) == 1


@pytest.mark.parametrize("name", ["a.md", "a.html", "\u200b.txt"])
async def test_what_nobody_can_see_is_no_title_no_heading_and_no_snippet(tmp_path: Path, name: str) -> None:
    """A2: what is empty without invisible characters is null, and a title is that of the file."""
    unseen = "\u200b \u2060"
    contents = {"md": f"# {unseen}\n\n{unseen}", "html": f"<h1>{unseen}</h1>{unseen}", "txt": unseen}
    (tmp_path / name).write_text(contents[name.rpartition(".")[2]], encoding="utf-8")
    async with serving(tmp_path) as client:
        (found,) = (await answer(client, "search_content", query=name.rpartition(".")[2]))["results"]
        document = await answer(client, "get_document", document_id=found["id"])
    assert found["title"] == document["title"] == ("a" if name.startswith("a") else ".txt")
    assert (found["snippet"] or "#").strip() == "#"
    assert {part["heading"] for part in document["parts"]} == {None}


@pytest.mark.parametrize("form", FORMATS)
async def test_every_tool_tells_the_same_in_every_format(form: str) -> None:
    """A6, C1, C3: text and structuredContent have the same data, which fits the published schema."""
    async with serving() as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        found = await ask(client, "search_content", query="tide OR café", format=form)
        assert found.structured_content is not None
        document_id = found.structured_content["results"][0]["id"]
        read = await ask(client, "get_document", document_id=document_id, format=form)
    for tool, result in (("search_content", found), ("get_document", read)):
        told = decode(text_of(result))
        if form == "markdown":  # It quotes headings of its own, and numbers parts that are no table.
            told.pop("parts", None)
            expected = {key: value for key, value in (result.structured_content or {}).items() if key != "parts"}
        else:
            expected = result.structured_content
        assert told == expected
        jsonschema.validate(result.structured_content, schemas[tool] or {})


async def test_settings_turn_the_structured_part_off(tmp_path: Path) -> None:
    """A15: with structured = false there is neither a schema nor a key, from the command line or from a file."""
    file = tmp_path / "search.toml"
    file.write_text("structured = false\n")
    for settings in ({"structured": False}, {"settings": file}):
        async with serving(**settings) as client:
            result = await ask(client, "search_content", query="tide")
            assert all(tool.output_schema is None for tool in (await client.list_tools()).tools)
        assert "structuredContent" not in result.model_dump(by_alias=True, exclude_none=True)
        assert decode(text_of(result))["total"] == 3


async def test_a_document_is_read_in_pages(tmp_path: Path) -> None:
    """The parts of all pages are the text, however long it is; each page is within its budget."""
    text = "".join(f"# Chapter {number}\n\n{'All that was said. ' * (number % 90)}\n\n" for number in range(150))
    (tmp_path / "long.md").write_text(text)
    async with serving(tmp_path) as client:
        document_id = (await answer(client, "search_content", query="chapter"))["results"][0]["id"]
        first = await ask(client, "get_document", document_id=document_id)
        assert await whole(client, document_id) == text
        assert await whole(client, document_id, limit=1) == text
    assert first.structured_content is not None
    assert first.structured_content["page"]["next"]
    assert len(text_of(first)) <= 8000
    assert first.structured_content["length"] == len(text)
    assert first.structured_content["parts"][0]["heading"] == "Chapter 0"


async def test_html_and_text_are_read(tmp_path: Path) -> None:
    """What a browser shows is found; what it does not, such as a script, is not."""
    head = "<meta charset=latin1><title>Häfen</title>"
    page = f"{head}<h1>One</h1><p>pl<b>an</b>k &amp; mast<script>rigging</script>"
    (tmp_path / "a.html").write_bytes(page.encode("latin-1"))
    (tmp_path / "b.txt").write_text("plank\r\nkeel", encoding="utf-16")
    async with serving(tmp_path) as client:
        assert {path.rpartition("/")[2] for path in await paths(client, "plank")} == {"a.html", "b.txt"}
        assert await paths(client, "rigging") == set()
        by_name = {
            each["path"].rpartition("/")[2]: each
            for each in (await answer(client, "search_content", query="plank"))["results"]
        }
        told = await answer(client, "get_document", document_id=by_name["a.html"]["id"])
        assert await whole(client, by_name["b.txt"]["id"]) == "plank\nkeel"
    assert (by_name["a.html"]["title"], by_name["b.txt"]["title"]) == ("Häfen", "b")
    assert told["parts"] == [{"heading": "One", "text": "One\n\nplank & mast"}]
    assert told["format"] == "html"


async def test_undecodable_bytes_are_told(tmp_path: Path) -> None:
    """Bad input: the rest of the document is there, and the answer says how much of it is not."""
    (tmp_path / "old.txt").write_bytes("Der Übergang ist geschloßen".encode("latin-1"))
    async with serving(tmp_path) as client:
        document_id = (await answer(client, "search_content", query="ist"))["results"][0]["id"]
        page = await answer(client, "get_document", document_id=document_id)
    assert page["undecodable_bytes"] == 2
    assert page["parts"][0]["text"] == "Der �bergang ist geschlo�en"


async def test_a_folder_may_say_how_its_files_are_written(tmp_path: Path) -> None:
    """Bad input: with an encoding of the folder, what is not UTF-8 is read with that."""
    (tmp_path / "old.txt").write_bytes("Der Übergang".encode("latin-1"))
    (tmp_path / "new.txt").write_text("Der Übergang")
    async with Client(build(Config(folders=[Folder("notes", tmp_path, "cp1252")]))) as client:
        assert await paths(client, "übergang") == {"notes/old.txt", "notes/new.txt"}


async def test_what_cannot_be_read_is_told_beside_what_can(tmp_path: Path) -> None:
    """Bad input: a missing folder, a binary file and one that may not be read silence nothing else."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "good.txt").write_text("keel")
    (docs / "photo.txt").write_bytes(b"\x89PNG\0\0keel")
    (docs / "big.txt").touch()
    os.truncate(docs / "big.txt", 65 * 2**20)
    async with serving(docs, tmp_path / "gone") as client:
        for _ in range(2):
            data = await answer(client, "search_content", query="keel")
            assert [each["path"] for each in data["results"]] == ["docs/good.txt"]
            told = [(each["folder"], each["reason"], each["documents"], each["example"]) for each in data["incomplete"]]
            assert sorted(told, key=str) == [
                ("docs", "binary", 1, "docs/photo.txt"),
                ("docs", "too_large", 1, "docs/big.txt"),
                ("gone", "missing", None, None),
            ]


async def test_no_answer_holds_a_path_of_the_disk(tmp_path: Path) -> None:
    """Errors and answers name documents by the label of their folder."""
    (tmp_path / "a.txt").write_text("keel")
    async with serving(tmp_path, tmp_path / "gone") as client:
        found = await ask(client, "search_content", query="keel")
        assert found.structured_content is not None
        read = await ask(client, "get_document", document_id=found.structured_content["results"][0]["id"])
        wrong = await ask(client, "search_content", query="keel", folder="elsewhere")
    for result in (found, read, wrong):
        assert str(tmp_path) not in result.model_dump_json()


async def test_links_and_special_files_are_passed_by(tmp_path: Path) -> None:
    """What a link leads to is not in the folder, and a pipe would never end."""
    docs, outside = tmp_path / "docs", tmp_path / "outside"
    docs.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text("keel secret")
    (docs / "link.txt").symlink_to(outside / "secret.txt")
    (docs / "folder").symlink_to(outside)
    (docs / "loop").symlink_to(docs)
    os.mkfifo(docs / "pipe.txt")
    (docs / ".hidden.txt").write_text("keel hidden")
    (docs / ".git").mkdir()
    (docs / ".git" / "x.txt").write_text("keel git")
    (docs / "deep").mkdir()
    (docs / "deep" / "good.txt").write_text("keel")
    async with serving(docs) as client:
        assert await paths(client, "keel") == {"docs/deep/good.txt"}


async def test_changes_are_seen_at_the_next_question(tmp_path: Path) -> None:
    """Documents that are added, changed, renamed and deleted while the server runs."""
    (tmp_path / "a.txt").write_text("one anchor")
    label = tmp_path.name
    async with serving(tmp_path) as client:
        assert await paths(client, "anchor") == {f"{label}/a.txt"}
        (tmp_path / "b.md").write_text("# Two\nanchor")
        assert await paths(client, "anchor") == {f"{label}/a.txt", f"{label}/b.md"}
        (tmp_path / "a.txt").write_text("one buoy and more")
        assert await paths(client, "anchor") == {f"{label}/b.md"}
        assert await paths(client, "buoy") == {f"{label}/a.txt"}
        (tmp_path / "a.txt").rename(tmp_path / "c.txt")
        assert await paths(client, "buoy") == {f"{label}/c.txt"}
        gone = (await answer(client, "search_content", query="two"))["results"][0]["id"]
        (tmp_path / "b.md").unlink()
        assert await paths(client, "anchor") == set()
        assert await complaint(client, "get_document", document_id=gone)
        (tmp_path / "b.md").write_text("# Two\nagain")
        assert (
            await whole(client, gone) == "# Two\nagain"
        )  # The id is that of the path, and nobody had to search first.


async def test_a_file_that_is_written_twice_at_once_is_read_again(tmp_path: Path) -> None:
    """A file that was half written when it was read has the same size and maybe the same time later on."""
    file = tmp_path / "a.txt"
    file.write_text("abaft")
    async with serving(tmp_path) as client:
        assert await paths(client, "abaft")
        seen = file.stat()
        file.write_text("aloft")
        os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        with anyio.fail_after(20):
            while not await paths(client, "aloft"):
                pass
        assert await paths(client, "abaft") == set()


async def test_a_folder_narrows_a_search(tmp_path: Path) -> None:
    """C6: a folder that is none is an error that names those that are."""
    for name in ("north", "south"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("keel")
    async with serving(tmp_path / "north", tmp_path / "south") as client:
        assert await paths(client, "keel", folder="south") == {"south/a.txt"}
        text = await complaint(client, "search_content", query="keel", folder="east")
        assert "north, south" in text


@pytest.mark.parametrize("query", ["", "  ", '"', "***", "-", "-keel", 'NOT "a b"', "OR", "\0", "()", "x" * 10_000])
async def test_a_question_for_nothing_is_an_error_that_says_what_to_ask(query: str) -> None:
    """C6: errors that the model can act on are results, never a crash."""
    async with serving() as client:
        text = await complaint(client, "search_content", query=query)
    assert "reference" not in text


async def test_a_question_with_too_many_words_is_an_error_that_says_how_many() -> None:
    """C6: what a long document is compared with is bounded; the same word twice counts once."""
    async with serving() as client:
        many = " OR ".join(f"word{number}" for number in range(33))
        assert "32" in await complaint(client, "search_content", query=many)
        assert await paths(client, "crane " * 100)


async def test_an_invented_id_is_an_error() -> None:
    """C6."""
    async with serving() as client:
        assert await complaint(client, "get_document", document_id="../../etc/passwd")


async def test_a_wait_that_is_too_long_ends_with_what_is_there(tmp_path: Path) -> None:
    """A first look that takes long does not block: the answer says how much is still to be read."""
    for number in range(150):
        (tmp_path / f"{number}.txt").write_text("keel " * 1000)
    async with serving(tmp_path, patience=0.0) as client:
        data = await answer(client, "search_content", query="keel")
        if data["total"] < 150 and "incomplete" in data:
            assert {each["reason"] for each in data["incomplete"]} == {"not_yet_read"}
        with anyio.fail_after(20):
            while data["total"] < 150:
                data = await answer(client, "search_content", query="keel")
        with anyio.fail_after(20):
            while "incomplete" in data:
                data = await answer(client, "search_content", query="keel")


async def test_the_command_serves_the_samples() -> None:
    """C7: the command as a host or the Inspector starts it, over stdio, without arguments."""
    server = StdioServerParameters(command=sys.executable, args=["-m", "search_server.cli"], env=dict(os.environ))
    with tempfile.TemporaryFile("w+") as log:
        async with Client(stdio_client(server, errlog=log)) as client:
            tools = (await client.list_tools()).tools
            data = await answer(client, "search_content", query='"flood gate"')
        log.seek(0)
        assert log.read() == ""
    assert {tool.name for tool in tools} == set(shape.tools)
    assert data["results"][0]["path"] == "harbour/storm-plan.md"
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)


def test_the_doctor_names_what_cannot_be_read(tmp_path: Path) -> None:
    """Exit code 1 where a document cannot be read, with what to do about it."""
    (tmp_path / "photo.txt").write_bytes(b"\0\0")
    line = [sys.executable, "-m", "search_server.cli", "doctor", "--docs", str(tmp_path)]
    ended = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 1
    assert "photo.txt" in ended.stdout
    assert ended.stderr == ""


def test_a_file_that_is_no_index_is_left_alone(tmp_path: Path) -> None:
    """Nothing is lost: the command refuses a file that is something else, in one line."""
    file = tmp_path / "accounts.db"
    file.write_text("all that I have")
    line = [sys.executable, "-m", "search_server.cli", "--index", str(file)]
    ended = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)
    assert file.read_text() == "all that I have"


def test_the_examples_of_the_tools_can_be_shown() -> None:
    """The shape can be imported and explained without a configuration."""
    for tool in shape.tools.values():
        assert tool.options.example is not None
        shaped = shape.answer(tool.name, tool.options.example())
        assert not shaped.is_error
        json.dumps(shaped.structured)
