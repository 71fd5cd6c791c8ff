"""Fills the store from App Store Connect: all of it anew, or nothing."""

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mcpshape import UserError
from releases_server import answers
from releases_server.answers import Resource
from releases_server.connect import Answer, Connect
from releases_server.states import is_ended
from releases_server.store import Store, Writing

_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_MOST_VERSIONS = 8
_PHASE = "appStoreVersionPhasedRelease"
_CATEGORIES = (
    "primaryCategory,primarySubcategoryOne,primarySubcategoryTwo,"
    "secondaryCategory,secondarySubcategoryOne,secondarySubcategoryTwo"
)


@dataclass(frozen=True, slots=True)
class Report:
    """What a pull brought. `remaining` are the requests that the key has left within the hour."""

    apps: int
    versions: int
    localizations: int
    requests: int
    remaining: int | None


async def pull(store: Store, connect: Connect, *, issuer_id: str | None, only: Sequence[str] = ()) -> Report:
    """Put what App Store Connect has now in place of what the store holds; `only` are bundle ids, all apps unless said.

    Texts are pulled of versions that are live or worked on. Details for App Review, which hold the password of the demo
    account, are never asked for, and not kept where they come unasked.

    Raises:
        UserError: It failed, and the store holds what it held before.
    """
    with store.replacing() as writing:
        report = await _Pull(connect, writing).everything(only)
        writing.finish({"pulled_at": datetime.now(UTC).isoformat(timespec="seconds"), "issuer_id": issuer_id})
    return report


class _Pull:
    """One way through the account."""

    def __init__(self, connect: Connect, writing: Writing) -> None:
        self._connect, self._writing = connect, writing

    async def everything(self, only: Sequence[str]) -> Report:
        wanted = {"filter[bundleId]": ",".join(only)} if only else {}
        apps = [app async for app, _ in self._listed("apps", "apps", **wanted)]
        versions = localizations = 0
        for app in apps:
            found = self._listed("appStoreVersions", "apps", app, "appStoreVersions", include=_PHASE)
            of_app = [each async for each in found]
            versions += len(of_app)
            for version, resource in _current(of_app):
                localizations += await self._texts("appStoreVersions", version, "appStoreVersionLocalizations")
                if not answers.related(resource, _PHASE)[0]:
                    await self._phase(version)
            async for info, resource in self._listed("appInfos", "apps", app, "appInfos", include=_CATEGORIES):
                if not is_ended(answers.text(resource, "state") or answers.text(resource, "appStoreState")):
                    localizations += await self._texts("appInfos", info, "appInfoLocalizations")
        return Report(len(apps), versions, localizations, self._connect.requests, self._connect.remaining)

    async def _listed(self, kind: str, *path: str, **query: str) -> AsyncIterator[tuple[str, Resource]]:
        """The resources of a list, each with its id, while its pages are kept."""
        page = 0
        async for answer in self._connect.pages("/".join(("/v1", *path)), **query):
            page += 1
            self._keep(("v1", *path), page, answer)
            for each in answers.resources(answer.data, kind):
                yield _usable(each["id"]), each

    async def _texts(self, owners: str, owner: str, kind: str) -> int:
        return len([each async for each in self._listed(kind, owners, owner, kind)])

    async def _phase(self, version: str) -> None:
        """The phased release of a version, for answers that do not say whether it has one; some say 404 for none."""
        path = ("v1", "appStoreVersions", version, _PHASE)
        found = await self._connect.one("/" + "/".join(path))
        self._keep(path, 1, found or Answer(b'{"data": null}', {"data": None}))

    def _keep(self, path: tuple[str, ...], page: int, answer: Answer) -> None:
        self._writing.add(path, page, answers.kept(answer.raw, answer.data))


def _current(versions: list[tuple[str, Resource]]) -> Iterator[tuple[str, Resource]]:
    """The versions of each platform that are live or worked on, the newest few of them."""
    count: dict[str | None, int] = {}
    for version, resource in sorted(
        versions, key=lambda each: answers.text(each[1], "createdDate") or "", reverse=True
    ):
        platform = answers.text(resource, "platform")
        state = answers.text(resource, "appVersionState") or answers.text(resource, "appStoreState")
        if not is_ended(state) and count.setdefault(platform, 0) < _MOST_VERSIONS:
            count[platform] += 1
            yield version, resource


def _usable(identity: str) -> str:
    """An id that can be part of an address and of a name of a file."""
    if not _ID.fullmatch(identity):
        raise UserError(
            "App Store Connect gave an id that cannot be one.", hint="Nothing was changed. Report this.", code="bad_id"
        )
    return identity
