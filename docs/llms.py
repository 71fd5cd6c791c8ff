"""Adds to the built site what programs read: each page as Markdown, `llms.txt` with all of them, and `llms-full.txt`.

`make docs` runs it in the root of the repository, after the site was built.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import griffe

DIRECTIVE = re.compile(r"^::: ([\w.]+)\n(?:    .*\n)*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the navigation: the sections that it is in, its title there, its path, and its text as Markdown."""

    sections: tuple[str, ...]
    title: str
    path: str
    text: str

    @property
    def line(self) -> str:
        """The page as an entry of llms.txt, with the first sentence below its heading."""
        words = " ".join(self.text.split("\n\n")[1].split())
        sentence = re.split(r"(?<=\.) ", re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", words))[0]
        return f"- [{self.title}]({self.path}): {sentence}"


def main() -> None:
    """Write the files beside the pages that they are made of."""
    project = tomllib.loads(Path("zensical.toml").read_text(encoding="utf-8"))["project"]
    source, site = Path(project["docs_dir"]), Path(project["site_dir"])
    pages = list(read_pages(project["nav"], source))
    for page in pages:
        (site / page.path).write_text(page.text, encoding="utf-8")
    head = f"# {project['site_name']}\n\n> {project['site_description']}\n"
    (site / "llms.txt").write_text(head + list_pages(pages), encoding="utf-8")
    whole = "".join(f"\n---\n\n<!-- {page.path} -->\n\n{page.text}" for page in pages)
    (site / "llms-full.txt").write_text(head + whole, encoding="utf-8")


def read_pages(nav: list[dict[str, Any]], source: Path, sections: tuple[str, ...] = ()) -> Iterator[Page]:
    """The pages of a navigation, in its order."""
    for entry in nav:
        for title, target in entry.items():
            if isinstance(target, str):
                text = (source / target).read_text(encoding="utf-8")
                yield Page(sections, title, target, DIRECTIVE.sub(lambda found: describe(found[1]), text))
            else:
                yield from read_pages(target, source, (*sections, title))


def list_pages(pages: list[Page]) -> str:
    """The entries of llms.txt, under a heading for each section."""
    sections = dict.fromkeys(page.sections for page in pages)
    return "".join(
        f"\n## {': '.join(section) or 'Start'}\n\n"
        + "".join(f"{each.line}\n" for each in pages if each.sections == section)
        for section in sections
    )


def describe(name: str) -> str:
    """A public name with its docstring, and with those of what belongs to it."""
    found = load()[name.partition(".")[2]]
    found = found.final_target if isinstance(found, griffe.Alias) else found
    inside = [each for each in found.members.values() if not each.is_alias and each.is_public and each.docstring]
    return f"### {name}\n\n```text\n" + "\n".join(map(write, [found, *inside])) + "```\n"


def write(found: griffe.Object | griffe.Alias) -> str:
    """A signature and a docstring."""
    signature = found.signature() if isinstance(found, griffe.Function | griffe.Class) else found.name
    return f"{signature or found.name}\n{found.docstring.value if found.docstring else ''}\n"


@cache
def load() -> griffe.Object | griffe.Alias:
    """The package, read and not imported."""
    return griffe.load("mcpshape", search_paths=["src"], resolve_aliases=True)


if __name__ == "__main__":
    main()
