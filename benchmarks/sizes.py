"""Characters, bytes and tokens of answers: each format at each level, against JSON, and what each host reads of one."""

from collections.abc import Iterable, Iterator, Mapping

from pydantic_core import to_json
from splintr import Tokenizer

from data import KEYRING, LARGE, LEVEL, Workload
from mcpshape import Shape
from mcpshape._hosts import HOSTS
from mcpshape.encoders import Encoder, Json, Markdown, Toon
from results import HostSize, Size

VOCABULARY = "o200k_base"
TOON, MARKDOWN, COMPACT, PRETTY = "TOON", "Markdown", "compact JSON", "pretty JSON"
_ENCODERS: Mapping[str, Encoder] = {TOON: Toon(), MARKDOWN: Markdown(), COMPACT: Json()}
_encode = Tokenizer.from_pretrained(VOCABULARY).encode


def measure_sizes(workloads: Iterable[Workload]) -> Iterator[Size]:
    """Every text, at each level of its policy; of the longest ones at the usual level, since counting takes long."""
    for workload in workloads:
        levels = workload.policy.levels if workload.policy else (None,)
        for level in [LEVEL] if workload.name == LARGE else levels:
            yield from _at(workload, level)


def _at(workload: Workload, level: str | None) -> Iterator[Size]:
    grant = workload.grant(level)
    shapes = {
        name: Shape(workload.policy, encoder=each, grant=grant, keyring=KEYRING) for name, each in _ENCODERS.items()
    }
    texts = {name: shape.render(workload.dto).text for name, shape in shapes.items()}
    # What MCPServer makes of a model, with what this level lets out.
    texts[PRETTY] = to_json(shapes[COMPACT].view(workload.dto).data, indent=2).decode()
    for name, text in texts.items():
        size = len(text.encode())
        yield Size(
            workload=workload.name, level=level, format=name, characters=len(text), size=size, tokens=count(text)
        )


def measure_hosts(workload: Workload) -> Iterator[HostSize]:
    """What the model of each host reads of one answer, by who made it and how it is sent."""
    shapes = {name: Shape(workload.policy, encoder=each, grant=workload.grant()) for name, each in _ENCODERS.items()}
    texts = {name: shape.render(workload.dto).text for name, shape in shapes.items()}
    data = shapes[COMPACT].view(workload.dto).data
    pretty = to_json(workload.dto, indent=2).decode()
    sent = {
        "TOON": (texts[TOON], None),
        "Markdown": (texts[MARKDOWN], None),
        "TOON, structured": (texts[TOON], data),
        "JSON, structured": (texts[COMPACT], data),
        "MCPServer alone": (pretty, workload.plain),
    }
    for host in HOSTS:
        yield HostSize(host=host.name, tokens={name: count(host.shown(*each)) for name, each in sent.items()})


def instructions() -> int:
    """The tokens of what a model is told once to read TOON of a shape with levels."""
    from data import policy

    return count(Shape(policy, encoder=Toon()).instructions())


def count(text: str) -> int:
    """The tokens of a text."""
    return len(_encode(text))
