"""The command `mcpshape demo`: all answers at a glance."""

import contextlib
import io
import os

import pytest
from pydantic import BaseModel

from calendar_server import shape as calendar
from mcpshape import Shape
from mcpshape._example import still
from mcpshape.cli import main
from mcpshape.encoders import Json
from tasks_server import shape as tasks

bare, accented = Shape(encoder=Json()), Shape(encoder=Json())


class Name(BaseModel):
    name: str


@accented.tool(example=lambda: Name(name="Zoë"))
def get_name() -> Name:
    """Get a name."""
    raise NotImplementedError


def shown(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The answers that were printed, by their headings."""
    printed = capsys.readouterr().out.removesuffix("\n")
    blocks = [block.partition("\n") for block in f"\n\n{printed}".split("\n\n=== ")[1:]]
    return {heading: text for heading, _, text in blocks}


def test_every_tool_is_shown_at_every_level_and_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    """Each text is the one that the tool answers with; levels that tell the same stand in one heading."""
    main(["demo", "calendar_server:shape"])
    printed = shown(capsys)
    for name, tool in calendar.tools.items():
        assert tool.options.example
        value, levels = tool.options.example(), []
        for heading in (each for each in printed if each.startswith(f"{name} at ") and each.endswith(", as TOON")):
            for level in heading.removeprefix(f"{name} at ").removesuffix(", as TOON").split(", "):
                levels.append(level)
                assert calendar.policy
                answered = still(calendar).answer(name, value, grant=calendar.policy.grant(level))
                assert printed[heading] == answered.text
        assert sorted(levels) == ["detailed", "minimal", "standard", "strict"]
        assert printed[f"{name} at strict, as JSON"] == still(calendar).answer(name, value, encoder="json").text


def test_a_server_without_levels_is_shown_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    """B8: the heading names no level."""
    main(["demo", "tasks_server:shape"])
    headings = {heading for heading in shown(capsys) if heading.startswith("list_tasks")}
    assert headings == {f"list_tasks, as {name}" for name in ("TOON", "Markdown", "JSON")}
    assert tasks.policy is None


def test_the_same_answers_read_the_same_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    """Ids do not depend on where a file happens to lie, so what is measured and shown stays."""
    main(["demo", "tasks_server:shape"])
    first = capsys.readouterr().out
    main(["demo", "tasks_server:shape"])
    assert capsys.readouterr().out == first


def test_a_shape_without_examples_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """There would be nothing to show."""
    with pytest.raises(SystemExit) as ended:
        main(["demo", "test_demo:bare"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "mcpshape: no tool has an example; pass example= to shape.tool()\n"


def test_a_reader_who_has_read_enough_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    """As in `mcpshape demo calendar_server:shape | head -1`: the command ends, and says nothing of it."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", encoding="utf-8") as pipe, contextlib.redirect_stdout(pipe):
        with pytest.raises(SystemExit) as ended:
            main(["demo", "calendar_server:shape"])
        assert ended.value.code == 1
    assert capsys.readouterr().err == ""


def test_what_the_output_cannot_hold_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """As where a terminal is set to ASCII: what to set stands in the line."""
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="ascii")):
        with pytest.raises(SystemExit) as ended:
            main(["demo", "test_demo:accented"])
        assert ended.value.code == 2
    assert "not all of the output can be written as ascii; set PYTHONIOENCODING=utf-8" in " ".join(
        capsys.readouterr().err.split()
    )
