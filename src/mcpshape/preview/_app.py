"""The page as a web application: one answer to look at, what saving it would change, and the saving."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, QueryParams
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from mcpshape.errors import DefinitionError
from mcpshape.preview._answer import preview_tool
from mcpshape.preview._form import address, list_offer, read_choice, write_choice
from mcpshape.preview._gate import Gate
from mcpshape.preview._rendering import render
from mcpshape.preview._saving import SettingsFile
from mcpshape.shape import Shape

_FILES = Path(__file__).parent / "files"
# A form of this page has one field for each of a few choices.
_MOST_FIELDS = 200


@dataclass(frozen=True, slots=True)
class Desk:
    """What can be looked at: a shape as its code has it, where it is, and the settings file if there is one."""

    shape: Shape
    place: str
    file: SettingsFile | None = None

    def now(self) -> Shape:
        """The shape under the settings in force.

        Raises:
            DefinitionError: They cannot hold.
        """
        return self.file.apply(self.shape) if self.file else self.shape

    def show(self, sent: QueryParams) -> Response:
        """The page for what was chosen."""
        shape = self.now()
        choice = read_choice(shape, sent)
        page = render(
            "page.html",
            desk=self,
            setting=shape.grant,
            choice=choice,
            chosen=write_choice(choice),
            offer=list_offer(shape, choice),
            preview=preview_tool(shape, choice),
            was_saved="saved" in sent,
        )
        return HTMLResponse(page)

    def review(self, file: SettingsFile, sent: FormData) -> Response:
        """What saving would change; nothing is saved yet."""
        choice = read_choice(self.now(), sent)
        found, chosen = file.review(self.shape, choice), write_choice(choice)
        return HTMLResponse(render("review.html", desk=self, review=found, chosen=chosen, back=f"./{address(choice)}"))

    def save(self, file: SettingsFile, sent: FormData) -> Response:
        """Save, and go back to the page."""
        choice = read_choice(self.now(), sent)
        file.save(self.shape, choice, str(sent.get("seen", "")))
        return RedirectResponse(f"./{address(choice)}&saved=yes", status_code=303)


def make_app(desk: Desk, *, port: int, token: str) -> ASGIApp:
    """The application at `http://127.0.0.1:PORT/TOKEN/`; every other address is refused."""
    routes: list[Route | Mount] = [
        Route("/", _reading(desk), methods=["GET"]),
        Mount("/files", StaticFiles(directory=_FILES)),
    ]
    if desk.file:
        save, review = partial(desk.save, desk.file), partial(desk.review, desk.file)
        routes += [
            Route("/review", _writing(review), methods=["POST"]),
            Route("/save", _writing(save), methods=["POST"]),
        ]
    return Gate(Starlette(routes=[Mount(f"/{token}", routes=routes)]), port, token)


def _reading(desk: Desk) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return await run_in_threadpool(_or_refusal, partial(desk.show, request.query_params))

    return answer


def _writing(act: Callable[[FormData], Response]) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            async with request.form(max_files=0, max_fields=_MOST_FIELDS) as sent:
                return await run_in_threadpool(_or_refusal, partial(act, sent))
        except ClientDisconnect:
            return Response(status_code=400)

    return answer


def _or_refusal(act: Callable[[], Response]) -> Response:
    try:
        return act()
    except DefinitionError as error:
        return HTMLResponse(render("refusal.html", where=error.where, problems=error.problems), status_code=400)
