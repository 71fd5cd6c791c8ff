"""What the README of an example server shows, and what its command prints."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def readme(package: str) -> str:
    return (EXAMPLES / package / "README.md").read_text(encoding="utf-8")


def block(text: str, language: str) -> str:
    """The only block of code in a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return str(found)


def printed(command: str, arguments: str) -> str:
    """What an installed command prints, without where it is installed."""
    program = str(Path(sys.executable).with_name(command))
    ended = subprocess.run([program, *arguments.split()], capture_output=True, text=True, check=True)
    return ended.stdout.replace(program, f"bin/{command}")


def plain(text: str) -> str:
    """The text without ids, which are made anew each time, and without times that work takes."""
    return re.sub(r"\d+\.\d s", "0.0 s", re.sub(r"^( +)[a-z][a-z2-7]{10},", r"\1ID,", text, flags=re.MULTILINE)).strip()


def tools(text: str) -> set[str]:
    """What the table of tools names."""
    return set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
