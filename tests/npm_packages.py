"""Packages of npm that tests use. They are installed below `build`; nothing of them is kept in the repository."""

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest


def install(package: str, folder: Path) -> Path:
    """The folder, with the package in its `node_modules`; where npm is not there, the test is skipped."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip(f"node and npm are not installed, so {package} took no part")
    folder.mkdir(parents=True, exist_ok=True)
    # Tests run in several processes: the first one installs, and none writes over what another one reads.
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "node_modules" / "@modelcontextprotocol").exists():
            line = ["npm", "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", package]
            done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    return folder
