"""The documentation site, built in a folder of its own, as `make docs` builds it."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def copy(folder: Path) -> Path:
    """What the site is made of."""
    for name in ("docs", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "zensical.toml", folder)
    return folder


def run(folder: Path, *command: str) -> str:
    """What a command says that ends well, with and without warnings.

    Raises:
        AssertionError: It does not end well.
    """
    line = [str(Path(sys.executable).with_name(command[0])), *command[1:]]
    ended = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def build(folder: Path) -> Path:
    """The site, built without a warning."""
    said = run(copy(folder), "zensical", "build", "--strict", "--clean")
    assert "No issues found" in said
    assert "arning" not in said
    run(folder, "python", "docs/llms.py")
    return folder / "build" / "site"
