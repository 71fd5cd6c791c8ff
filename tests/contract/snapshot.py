"""Write expected.json: what MCPServer answers in memory, in which all that mcpshape authors is to be read."""

import json
from typing import Any

import anyio

from contract.asking import HERE, Place, asking
from contract.conversation import converse, normal
from contract.differences import DIFFERENCES, NEW, OLD, Difference

FILE = HERE / "expected.json"


def difference(step: str, revision: str) -> Difference | None:
    """The row of the table that a step of the conversation has in a revision."""
    return next((each for each in DIFFERENCES if each.step == step and revision in each.revisions), None)


async def answers() -> dict[str, Any]:
    """What all classes answer alike."""
    found: dict[str, Any] = {}
    for revision in (OLD[-1], *NEW):
        place = Place(kind="MCPServer", transport="memory", revision=revision)
        async with asking(place) as asker:
            heard = await converse(asker)
        alike = {step for step in heard if step != "tools" and not difference(step, revision)}
        found |= {step: normal(heard[step], place) for step in heard if step in alike}
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(anyio.run(answers), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
