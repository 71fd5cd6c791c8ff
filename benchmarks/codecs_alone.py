"""TOON codecs alone, on plain data: those of Python and the reference encoder in TypeScript, where Node is."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import toon
import toon_format
import toons
import toony

from timing import Repeat, repeated

REFERENCE = "@toon-format/toon"
_PACKAGE = f"{REFERENCE}@4.4.0"
# Node compiles what is run often, better each time.
_WARM_UP = 200
_FOLDER = Path(__file__).parents[1] / "build" / "toon"
# Answers the data, its first line, with their text; and each number of times to encode them with the seconds of the
# processor that this took.
_SCRIPT = """
import { createInterface } from "node:readline";
import { encode } from "@toon-format/toon";
let data;
for await (const line of createInterface({ input: process.stdin })) {
  if (data === undefined) {
    data = JSON.parse(line);
    console.log(JSON.stringify(encode(data)));
    continue;
  }
  const started = process.cpuUsage();
  for (let place = 0; place < Number(line); place++) encode(data);
  const spent = process.cpuUsage(started);
  console.log((spent.user + spent.system) / 1e6);
}
"""


@contextmanager
def codecs(data: Mapping[str, Any]) -> Iterator[dict[str, Repeat]]:
    """Each codec that is there, once it is seen to write the data; the fastest one of mcpshape first."""
    encoders: Mapping[str, Callable[[Any], str]] = {
        "toons": toons.dumps,
        "python-toon": toon.encode,
        "toon-format": toon_format.dumps,
        "toony": toony.dumps,
    }
    for name, encode in encoders.items():
        _check(name, encode(data), data)
    found = {name: repeated(partial(encode, data)) for name, encode in encoders.items()}
    if folder := reference():
        with _node(folder, data) as encode_in_node:
            yield found | {f"{REFERENCE} in Node": encode_in_node}
    else:
        yield found


def reference() -> Path | None:
    """The folder with the reference encoder, installed on the first call; none where that cannot be."""
    if not (shutil.which("node") and shutil.which("npm")):
        return None
    installed = _FOLDER / "node_modules" / REFERENCE
    if not installed.exists():
        _FOLDER.mkdir(parents=True, exist_ok=True)
        options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(["npm", "install", *options, _PACKAGE], cwd=_FOLDER, check=False)  # noqa: S603, S607 # The npm there is.
    return _FOLDER if installed.exists() else None


def reference_versions() -> dict[str, str]:
    """The versions of the reference encoder and of Node, where they are."""
    if not (folder := reference()):
        return {}
    described = json.loads((folder / "node_modules" / REFERENCE / "package.json").read_text(encoding="utf-8"))
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)  # noqa: S607 # The one there is.
    return {REFERENCE: described["version"], "node": node.stdout.strip().removeprefix("v")}


@contextmanager
def _node(folder: Path, data: Mapping[str, Any]) -> Iterator[Repeat]:
    line = ["node", "--input-type=module", "--eval", _SCRIPT]
    with subprocess.Popen(line, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        sent, said = process.stdin, process.stdout
        if sent is None or said is None:
            raise SystemExit("node cannot be talked to")
        print(json.dumps(data), file=sent, flush=True)
        _check(REFERENCE, json.loads(said.readline()), data)

        def repeat(number: int) -> float:
            print(number, file=sent, flush=True)
            return float(said.readline())

        repeat(_WARM_UP)
        yield repeat
        sent.close()


def _check(name: str, text: str, data: Mapping[str, Any]) -> None:
    if toons.loads(text) != data:
        raise SystemExit(f"{name} does not write the data: {text[:200]}")
