"""Rules about examples, and about what hosts show of the answers that they give."""

from collections.abc import Iterator
from operator import itemgetter

from mcpshape._budget import find_counter
from mcpshape._hosts import HOSTS, Host
from mcpshape.errors import Problem
from mcpshape.lint._inspected import Answer, Found, Inspected, Subject

_SHORTEN = "Name its list with page= and give a budget= below that, or Clip its texts."
_ADD = "Pass example=, a function that makes a DTO, to shape.tool()."


def find_missing_examples(inspected: Inspected) -> Iterator[Found]:
    """Tools without an example, of which much cannot be checked; one finding where no tool has any."""
    missing = [each.name for each in inspected.subjects if each.tool.options.example is None]
    if len(missing) == len(inspected.subjects) > 1:
        yield "", Problem("examples", f"none of its {len(missing)} tools has one.", _ADD)
        return
    for name in missing:
        yield name, Problem("example", "it has none.", _ADD)


def find_failing_examples(subject: Subject) -> Iterator[Problem]:
    """Examples that cannot be made or answered with."""
    if subject.failure:
        yield subject.failure


def find_structured_prices(subject: Subject) -> Iterator[Problem]:
    """Structured parts beside a text that is meant to be read, which hosts then show in place of it."""
    tool = subject.tool
    if tool.output_schema is None or tool.encoder.structured:
        return
    hidden = ", ".join(host.name for host in HOSTS if host.shows == "structured")
    price = f" and costs {_price(subject.usual[-1])}" if subject.usual else ""
    message = f"structuredContent beside {tool.encoder.name} hides the text in {hidden}{price}."
    yield Problem("structured", message, "Leave out structured=True, or ignore this rule where programs read it.")


def _price(answer: Answer) -> str:
    counter = find_counter()
    structured, text = counter.count(answer.page.view.to_json()), counter.count(answer.page.texts[0])
    return f"{structured:,} {counter.unit}, where the text of its example has {text:,}"


def find_long_answers(subject: Subject) -> Iterator[Problem]:
    """Examples that some host would cut, at the level and in the format in which they are longest."""
    for host, most in ((host, host.most) for host in HOSTS if host.most):
        lengths = [(_length(host, subject, answer), answer) for answer in subject.answers]
        length, longest = max(lengths, key=itemgetter(0), default=(0, None))
        if longest and length > most:
            unit = find_counter().unit if host.unit == "tokens" else host.unit
            where = f" at {longest.level}" if longest.level else ""
            message = f"it has {length:,} {unit}{where} as {longest.format}; {host.name} cuts above {most:,}."
            yield Problem("example", message, _SHORTEN)


def _length(host: Host, subject: Subject, answer: Answer) -> int:
    structured = answer.page.view.data if subject.tool.output_schema is not None else None
    shown = host.shown(answer.page.texts[0], structured)
    return len(shown) if host.unit == "characters" else find_counter().count(shown)
