"""What a model may ask about documents."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field

from mcpshape import Chars, Handle, Shape
from mcpshape.encoders import Toon
from search_server import dtos
from search_server.catalogue import Catalogue
from search_server.query import LONGEST
from search_server.samples import HANDBOOK, sample_catalogue
from search_server.update import Gap

shape = Shape(encoder=Toon(), structured=True)
"""Programs read `structuredContent` here, and models of hosts that show text get the shorter one."""

DocumentId = Annotated[str, Handle("document", among=lambda tools: tools.document_ids())]
Query = Annotated[str, Field(max_length=LONGEST, description="Words that a document should have.")]
Limit = Annotated[int, Field(ge=1, le=50, description="The most results of an answer.")]
FolderLabel = Annotated[str | None, Field(description="Only what is in the folder with this label, where paths begin.")]


def sampled(tool: str, **arguments: Any) -> Callable[[], Any]:
    """What a tool returns for the sample documents."""
    return lambda: shape.tools[tool].function(SearchTools(sample_catalogue()), **arguments)


class SearchTools:
    """The tools of one catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    @shape.tool(
        ask={"format"},
        empty="No results and a total of 0 mean that no document fits: ask for fewer or other words, or for prefixes.",
        example=sampled("search_content", query="tide OR crane", limit=3),
    )
    def search_content(self, query: Query, limit: Limit = 10, folder: FolderLabel = None) -> dtos.Results:
        """Search the documents, the best first, one {entry} per document.

        A document has to have all words of the query; case and accents make no difference. "two words" have to stand
        next to each other, plan* is any word that begins so, tide OR flood is one of the two, -draft leaves out what
        has that word. Any other sign only separates words.

        count is the number of results in the answer, total that of all documents that fit.
        """
        found = self._catalogue.search(query, limit, folder)
        results = [
            dtos.Result(id=each.identity, title=each.title, path=each.path, snippet=each.excerpt, score=each.score)
            for each in found.best
        ]
        return dtos.Results(total=found.total, results=results, incomplete=_missing(self._catalogue.gaps()))

    @shape.tool(
        ask={"format", "limit"},
        page="parts",
        budget=Chars(8000),
        empty="No parts means that the document has no text.",
        example=sampled("get_document", document_id=HANDBOOK),
    )
    def get_document(self, document_id: DocumentId) -> dtos.Document:
        """Get a document with its text in parts, by an id from search_content.

        The parts one after the other are the text, and heading is the one that a part begins under; length is in
        characters. Pages in which changed differs are of different texts: get the first one again.
        """
        found = self._catalogue.document(document_id)
        return dtos.Document(
            id=found.identity,
            title=found.title,
            path=found.path,
            format=found.format,
            changed=datetime.fromtimestamp(found.changed, UTC),
            length=found.length,
            undecodable_bytes=found.undecodable or None,
            # Checked when they were indexed: a long document has tens of thousands of them.
            parts=[dtos.Part.model_construct(heading=heading, text=text) for heading, text in found.passages],
            incomplete=_missing(self._catalogue.gaps()),
        )

    def document_ids(self) -> list[str]:
        """The ids that a model may ask for."""
        return self._catalogue.identities()


def _missing(gaps: Iterable[Gap]) -> list[dtos.Missing]:
    return [dtos.Missing(**gap._asdict()) for gap in gaps]
