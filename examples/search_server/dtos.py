"""What the tools of the search answer."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from mcpshape import Clip, Count, Handle, Notice, Prose
from search_server.extracts import Format
from search_server.folders import Reason

Number = Annotated[int, Field(ge=0, le=2**53 - 1)]
Id = Annotated[str, Handle("document")]


class Missing(BaseModel):
    """Documents that are not in the answer, or as they were when they could last be read; one of them as an example."""

    folder: str
    reason: Reason
    documents: Number | None
    example: Annotated[str | None, Clip(300)]


class Answer(BaseModel):
    """What every answer can say of itself: that it does not know all documents as they are now."""

    incomplete: Annotated[list[Missing], Notice()] = []


class Result(BaseModel):
    """A document that was found. The best one has the score 1, and others what they have beside it."""

    id: Id
    title: Annotated[str, Clip(200)]
    path: Annotated[str, Clip(300)]
    snippet: str | None
    score: float


class Results(Answer):
    count: Annotated[int, Count("results")] = 0
    total: Number
    results: list[Result]


class Part(BaseModel):
    """A piece of a document, and the heading that it begins under."""

    heading: str | None
    text: Annotated[str, Prose()]


class Document(Answer):
    """A document. Its parts one after the other are its text; bytes that could not be decoded stand as U+FFFD in it."""

    id: Id
    title: str
    path: str
    format: Format
    changed: datetime
    length: Number
    undecodable_bytes: Number | None
    parts: list[Part]
