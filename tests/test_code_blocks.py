"""What follows the pages of the documentation passes no page that does not do what it says."""

from pathlib import Path

import pytest

from code_blocks import Follower, patched, read_blocks, read_commands

FENCE = "```"


def page(folder: Path, *blocks: tuple[str, str]) -> Path:
    """A page of blocks: what stands beside the fence, and the text."""
    path = folder / "page.md"
    path.write_text("# Page\n\n" + "\n\n".join(f"{FENCE}{info}\n{text}\n{FENCE}" for info, text in blocks) + "\n")
    return path


GOOD = {
    "printed": [("python", "print(1)"), ("text", "1")],
    "one namespace": [("python", "a = 1"), ("python", "print(a)"), ("text", "1")],
    "a command": [("sh", "python -c 'print(2)'  # two"), ("text", "2")],
    "two commands": [("sh", "python -c 'print(2)'\npython -c \\\n  'print(3)'"), ("text", "2\n3")],
    "a command over lines": [("sh", 'python -c "\nprint(2)\nprint(3)"'), ("text", "2\n3")],
    "a file": [('python title="a.py"', "print(3)"), ("sh", "python a.py"), ("text", "3")],
    "a file that is imported": [
        ('python title="apart.py"', "x = 3"),
        ("python", "import apart\nprint(apart.x)"),
        ("text", "3"),
    ],
    "a changed file": [
        ('python title="a.py"', "a = 1\nprint(a)"),
        ('diff title="a.py"', "-a = 1\n+a = 2\n print(a)"),
        ("sh", "python a.py"),
        ("text", "2"),
        ('python title="a.py"', "a = 2\nprint(a)"),
    ],
    "a mistake": [("sh", "python -c 'exit(\"no\")'"), ("text", "no")],
    "data": [("toml", "a = 1"), ("json", '{"a": 1}'), ("yaml", "a: 1")],
    "printed data": [("python", "print('{\"a\": 1}')"), ("json", '{\n  "a": 1\n}')],
    "a named command": [("sh", "docker run it")],
    "a named text": [("text", "shown: elsewhere")],
}

BAD = {
    "something else": [("python", "print(1)"), ("text", "2")],
    "more": [("python", "print(1)"), ("text", "1\n2")],
    "nothing": [("python", "a = 1"), ("text", "1")],
    "not shown at the end": [("python", "print(1)")],
    "not shown": [("python", "print(1)"), ("python", "print(2)"), ("text", "2")],
    "shown twice": [("python", "print(1)"), ("text", "1"), ("text", "1")],
    "an exception": [("python", "1 / 0")],
    "another command": [("sh", "curl example.com")],
    "an installation": [("sh", "python -m pip install it")],
    "an open quote": [("sh", "python -c 'print(1)")],
    "a command that crashes": [("sh", "python -c 'import os; os._exit(3)'")],
    "a broken file": [('python title="a.py"', "def")],
    "another file than it became": [('python title="a.py"', "a = 1"), ('python title="a.py"', "a = 2")],
    "no place for a change": [('python title="a.py"', "a = 1"), ('diff title="a.py"', "-b = 1\n+b = 2")],
    "two places for a change": [('python title="a.py"', "a\na"), ('diff title="a.py"', "-a\n+b")],
    "a change of no file": [('diff title="a.py"', "-a\n+b")],
    "a change of no name": [("diff", "-a\n+b")],
    "broken data": [("toml", "a = ")],
    "other data": [("python", "print('{\"a\": 1}')"), ("json", '{"a": 2}')],
    "a language that nobody reads": [("console", "$ ls")],
    "no language": [("", "print(1)")],
}


@pytest.mark.parametrize("name", GOOD)
def test_a_page_that_does_what_it_says_passes(name: str, tmp_path: Path) -> None:
    """Python, commands, files and their changes, data."""
    Follower(tmp_path, ("docker ",), ("shown: elsewhere",)).follow(page(tmp_path, *GOOD[name]))


@pytest.mark.parametrize("name", BAD)
def test_a_page_that_does_not_fails(name: str, tmp_path: Path) -> None:
    """Nothing is passed over in silence; what fails is said with the page."""
    with pytest.raises(AssertionError, match=r"page\.md"):
        Follower(tmp_path, ("docker ",), ("shown: elsewhere",)).follow(page(tmp_path, *BAD[name]))


def test_blocks_are_found_wherever_they_stand(tmp_path: Path) -> None:
    """In lists and quotes, behind longer fences and tildes, and where four spaces make one."""
    path = tmp_path / "page.md"
    path.write_text(
        "- a\n\n  ```python\n  1\n  ```\n\n> ~~~sh\n> make a\n> ~~~\n\n````text\n```\n````\n\nb\n\n    code\n"
    )
    assert [(block.language, block.text) for block in read_blocks(path)] == [
        ("python", "1\n"),
        ("sh", "make a\n"),
        ("text", "```\n"),
        ("", "code\n"),
    ]


def test_commands_are_read_as_a_shell_reads_them(tmp_path: Path) -> None:
    """Comments, continued lines and quotes."""
    (block,) = read_blocks(page(tmp_path, ("sh", "# first\nmake a  # b\n\nrun 'c # d' \\\n  e\nsay \"f\ng\"")))
    assert read_commands(block) == [["make", "a"], ["run", "c # d", "e"], ["say", "f\ng"]]


def test_a_change_is_made_at_its_places() -> None:
    """What is between two places stays."""
    assert patched("a\nb\nc\nd\n", "-a\n+A\n...\n c\n+C\n") == "A\nb\nc\nC\nd\n"
