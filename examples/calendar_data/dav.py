"""Calendars of a CalDAV account: only what changed is read again, and objects are changed where that is allowed."""

import hashlib
import logging
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from urllib.parse import urljoin, urlsplit

from pydantic import SecretStr

from calendar_data.asking import LARGEST, Asking, RefusedError, TooLongError, asking, is_calendar
from calendar_data.bounded import Access, origin
from calendar_data.changing import change
from calendar_data.multistatus import Resource
from calendar_data.names import label_of
from calendar_data.readings import AccountRead, CalendarRead, Read, Work
from calendar_data.sources import Edit, Piece, SourceError, Tell, UnsureError
from calendar_data.wire import Limits
from mcpshape import UserError
from serving.whole_files import NotWrittenError

_LOG = logging.getLogger("calendar_data")
_TOKEN = re.compile(r"[\x21-\x7e]+")
_GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


@dataclass(frozen=True, slots=True, kw_only=True)
class CalDav:
    """A CalDAV account as a source: each object of its calendars is a piece.

    Args:
        label: All that is shown of it, and how calendars without a name of their own are called.
        url: The account, its principal, the home of its calendars, or one calendar; without a user name in it.
        user: Who reads, with a `password`; or nobody, with a `token` for the scheme Bearer, or for what is public.
        only: Calendars by display name or by the last part of their address; those that hold `components` if empty.
        ca_file: Authorities (PEM) to trust instead of those of the machine.
        origins: Further origins, such as `https://p34-caldav.example.com`, that get the credentials too.
        allow_http: Whether other hosts than loopback may be asked without encryption.
        may_write: Whether its pieces can be changed.
        limits: What one refresh may take.

    Raises:
        ValueError: The arguments make no account; the text holds none of them.
    """

    label: str
    url: str = field(repr=False)
    user: str = field(default="", repr=False)
    password: SecretStr | None = None
    token: SecretStr | None = None
    only: tuple[str, ...] = field(default=(), repr=False)
    components: tuple[str, ...] = ("VEVENT",)
    ca_file: Path | None = field(default=None, repr=False)
    origins: tuple[str, ...] = field(default=(), repr=False)
    allow_http: bool = False
    may_write: bool = False
    limits: Limits = field(default=Limits(), repr=False)
    _account: AccountRead = field(init=False, repr=False, compare=False, default_factory=AccountRead)

    def __post_init__(self) -> None:
        problems = "\n".join(_problems(self))
        if problems:
            raise ValueError(problems)

    def pieces(self, tell: Tell) -> Sequence[Piece]:
        """What the account holds now; `tell` hears of the objects that are read.

        Raises:
            SourceError: It cannot be read; what was read of it is kept for the next time.
        """
        with self._questions() as questions:
            return self._refreshed(questions, tell)

    @contextmanager
    def _questions(self) -> Iterator[Asking]:
        with _alone(self._account.lock, self.limits.refresh):
            try:
                with asking(self.url, _access(self), self.limits) as questions:
                    yield questions
            except (UserError, NotWrittenError, UnsureError):
                raise
            except Exception as error:
                self._account.places.clear()
                raise _explained(error, self.label) from None

    def _change(self, url: str, edit: Edit) -> bool:
        with self._questions() as questions:
            return change(questions, url, edit)

    def _refreshed(self, questions: Asking, tell: Tell) -> Sequence[Piece]:
        account = self._account
        account.places = account.places or questions.places(self.url)
        listed = self._chosen([found for place in account.places for found in questions.about(*place)])
        account.calendars = {found.path: account.calendars.get(found.path, CalendarRead()) for _, found in listed}
        works = [_changed(questions, url, account.calendars[found.path], found) for url, found in listed]
        self._read(questions, works, tell)
        return [
            Piece(
                name,
                label_of(found.text("D:displayname") or "", self.label),
                read.state,
                partial(bytes, read.data),
                change=partial(self._change, read.url) if self.may_write else None,
            )
            for _, found in listed
            for name, read in account.calendars[found.path].objects.items()
            if read.data is not None
        ]

    def _chosen(self, listed: Sequence[tuple[str, Resource]]) -> list[tuple[str, Resource]]:
        wanted = set(self.components)
        held = [each for each in listed if is_calendar(each[1]) and wanted & (each[1].components() or wanted)]
        if not self.only:
            return held
        named = [each for each in held if _names(each[1]) & set(self.only)]
        missing = set(self.only).difference(*(_names(found) for _, found in named))
        if not named:
            raise SourceError("missing", "None of the calendars that are named is there; check their names.")
        if missing:
            _LOG.warning("%s: %d of the calendars that are named are not there", self.label, len(missing))
        return named

    def _read(self, questions: Asking, works: Sequence[Work], tell: Tell) -> None:
        done, total = 0, sum(len(work.wanted) for work in works)
        for work in works:
            for batch in work.batches():
                self._keep(questions, work, batch)
                done += len(batch)
                tell(done, total)
            work.finish()

    def _keep(self, questions: Asking, work: Work, batch: Sequence[Resource]) -> None:
        fitting = [each for each in batch if not self._is_left_out(work, each, _length(each))]
        try:
            found = questions.contents(work.url, [each.href for each in fitting]) if fitting else []
        except TooLongError as error:
            self._keep_one_by_one(questions, work, fitting, error.size)
            return
        given = {each.path: each for each in found if each.is_there}
        refused = [each for each in found if not each.is_there and each.status not in _GONE]
        if refused:
            _LOG.warning("%s: the server does not give %d objects", self.label, len(refused))
        for each in fitting:
            work.calendar.objects.pop(each.path, None)
            data = given[each.path].calendar_data() if each.path in given else None
            if data is not None and not self._is_left_out(work, each, len(data)):
                state, url = _state(given[each.path], each, data), urljoin(work.url, each.href)
                work.calendar.objects[each.path] = Read(state, data, url)

    def _keep_one_by_one(self, questions: Asking, work: Work, batch: Sequence[Resource], size: int) -> None:
        if len(batch) == 1:
            self._is_left_out(work, batch[0], size)
        else:
            for each in batch:
                self._keep(questions, work, [each])

    def _is_left_out(self, work: Work, found: Resource, size: int) -> bool:
        if size <= LARGEST:
            return False
        _LOG.warning("%s: an object of %d bytes is left out", self.label, size)
        work.calendar.objects[found.path] = Read(found.etag, None)
        return True


def _changed(questions: Asking, url: str, kept: CalendarRead, listed: Resource) -> Work:
    """Forgets what is gone, and says what is new or other than before."""
    mark = listed.text("S:getctag"), listed.text("D:sync-token")
    if any(mark) and mark == kept.mark:
        return Work(url, kept, (), mark, kept.token)
    synced = questions.changes(url, kept.token) if kept.token else None
    found, token = synced or (questions.members(url), mark[1])
    members = {each.path: each for each in found if _is_member(each, listed)}
    there = {path: each for path, each in members.items() if each.is_there}
    gone = {path for path, each in members.items() if each.status in _GONE} if synced else kept.objects.keys() - there
    for path in gone:
        kept.objects.pop(path, None)
    return Work(url, kept, [each for each in there.values() if _is_new(each, kept)], mark, token)


def _is_member(found: Resource, calendar: Resource) -> bool:
    is_collection = found.has("D:resourcetype", "D:collection") or found.path.endswith("/")
    return not is_collection and found.path != calendar.path


def _is_new(found: Resource, kept: CalendarRead) -> bool:
    state, read = found.etag, kept.objects.get(found.path)
    return state is None or read is None or read.state != state


def _names(found: Resource) -> set[str]:
    return {found.text("D:displayname") or "", found.path.rstrip("/").rpartition("/")[2]} - {""}


def _length(found: Resource) -> int:
    said = found.text("D:getcontentlength") or ""
    return int(said) if said.isdecimal() else 0


def _state(given: Resource, listed: Resource, data: bytes) -> str:
    return given.etag or listed.etag or hashlib.sha256(data).hexdigest()


def _access(account: CalDav) -> Access:
    origins = frozenset(map(origin, (account.url, *account.origins)))
    authorization = None
    if account.token:
        authorization = f"Bearer {account.token.get_secret_value()}"
    elif account.user:
        password = account.password.get_secret_value() if account.password else ""
        authorization = f"Basic {b64encode(f'{account.user}:{password}'.encode()).decode()}"
    return Access(
        origins=origins,
        authorization=authorization,
        ca_file=account.ca_file,
        allow_http=account.allow_http,
        may_write=account.may_write,
    )


def _problems(account: CalDav) -> Iterator[str]:
    try:
        is_allowed, parts = _access(account).allows(account.url), urlsplit(account.url)
    except ValueError:
        is_allowed, parts = False, urlsplit("")
    if not is_allowed or not parts.hostname:
        yield "The URL of a calendar account begins with https://, or with http:// where the server is this machine."
    if parts.username is not None or parts.password is not None:
        yield "The user name and the password of a calendar account go apart from its URL."
    if account.token and (account.user or account.password):
        yield "A calendar account has a token, or a user name and a password, but not both."
    if account.password and not account.user:
        yield "A calendar account with a password needs a user name."
    if ":" in account.user:
        yield "The user name of a calendar account holds no colon."
    if account.token and not _TOKEN.fullmatch(account.token.get_secret_value()):
        yield "The token of a calendar account is of visible ASCII characters."


@contextmanager
def _alone(lock: Lock, seconds: float) -> Iterator[None]:
    if not lock.acquire(timeout=seconds):
        raise SourceError("too_slow", "The calendar account is still being read; try again later.")
    try:
        yield
    finally:
        lock.release()


def _explained(error: Exception, label: str) -> SourceError:
    """What stopped a refresh, in words that hold nothing of what the server said."""
    match error:
        case SourceError():
            return error
        case RefusedError(status=HTTPStatus.FORBIDDEN):
            return SourceError("denied", "The server does not let this user read these calendars.")
        case RefusedError(status=HTTPStatus.NOT_FOUND | HTTPStatus.GONE):
            return SourceError("missing", "There are no calendars at the URL of the calendar account; check it.")
        case RefusedError():
            pass
        case _:
            _LOG.error("%s: %s while it was read", label, type(error).__name__)
    return SourceError("unreadable", "The server does not answer as CalDAV; check the URL of the calendar account.")
