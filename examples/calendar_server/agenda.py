"""All calendars of one person together: read when they change, and asked by time."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from threading import Event, Lock, Thread

from calendar_data.feeds import Feed, Feeds, Labelled, Outage
from calendar_data.recurrence import midnight
from calendar_data.sources import SourceError
from calendar_server.courses import Course, Found
from calendar_server.timeline import Timeline
from mcpshape import UserError

YEARS = range(1900, 2200)
"""The years that can be asked about."""
_AHEAD = 20
_QUARTER, _YEAR = timedelta(days=91), timedelta(days=366)
_LOOKS_AHEAD = (timedelta(days=1), timedelta(days=7), timedelta(days=31), _YEAR)


def require_range(first: date, last: date, longest: timedelta) -> None:
    """Check that the days from one to another can be asked about.

    Raises:
        UserError: They cannot.
    """
    if first.year not in YEARS or last.year not in YEARS:
        raise UserError(f"Only the years {YEARS[0]} to {YEARS[-1]} are known.", hint="Ask for another day.")
    if not timedelta() <= last - first <= longest:
        raise UserError(
            f"The last day has to be 0 to {longest.days} days after the first.", hint="Ask for another last day."
        )


class Agenda:
    """The events of several sources, as the person with the addresses `owners` sees them in one time zone."""

    def __init__(self, feeds: Sequence[Feed], zone: tzinfo, owners: Collection[str] = ()) -> None:
        self.zone, self.feeds = zone, Feeds(feeds)
        self._owners = frozenset(owner.lower() for owner in owners)
        self._timeline = Timeline((), zone, self._owners)
        self._courses: dict[tuple[str, str], Course] = {}
        self._lock, self._is_quiet = Lock(), Event()
        self._warmth: Callable[[], datetime] | None = None

    def between(self, first: date, last: date) -> list[Found]:
        """The events that touch the days from `first` to `last`, in order.

        Raises:
            UserError: Working them out takes too long.
        """
        start, end = midnight(first, self.zone), midnight(last + timedelta(days=1), self.zone)
        try:
            return self.now().between(start, end, self.feeds.progress.tell)
        except SourceError as error:
            raise UserError("The calendars repeat too much to be worked out in time.", hint=error.remedy) from error

    def around(self, now: datetime) -> list[Found]:
        """The events of a year before and after a moment, which are those that can be asked for by their ids."""
        return self.between((now - _YEAR).date(), (now + _YEAR).date())

    def find(self, identity: str, now: datetime) -> Found:
        """One of the events around a moment.

        Raises:
            UserError: It is not there any more.
        """
        found = next((each for each in self.around(now) if each.identity == identity), None)
        if found is None:
            raise UserError("This event is not in the calendar any more.", hint="Take another id from another answer.")
        return found

    def following(self, now: datetime) -> Found | None:
        """The next event that keeps its owner busy and begins within a year."""
        for ahead in _LOOKS_AHEAD:
            found = self.between(now.astimezone(self.zone).date(), (now + ahead).date())
            coming = (each for each in found if each.facts.is_busy and each.happening.start >= now)
            if following := next(coming, None):
                return following
        return None

    def now(self) -> Timeline:
        """The events as the sources have them now."""
        with self._lock:
            self._is_quiet.clear()
            try:
                if self.feeds.refresh():
                    self._arrange()
            finally:
                self._is_quiet.set()
            return self._timeline

    def outages(self) -> list[Outage]:
        """The calendars that cannot be read now."""
        self.now()
        return self.feeds.outages()

    def labels(self) -> list[str]:
        """The labels of all calendars."""
        self.now()
        return self.feeds.labels()

    def warm(self, clock: Callable[[], datetime]) -> None:
        """Read everything, and work out some years around now, beside all other work; again whenever it changes."""
        self._warmth = clock
        Thread(target=self.now, daemon=True).start()

    def _warm(self, timeline: Timeline, around: datetime) -> None:
        for number in range(2 * _AHEAD):
            quarters = (number + 1) // 2 * (1 if number % 2 else -1)
            if timeline is not self._timeline:
                return
            with suppress(SourceError):
                timeline.warm(around + quarters * _QUARTER, self._pause)

    def _pause(self, done: int, total: int) -> None:
        """Let a look at the sources go first: each of its many files would wait for this thread."""
        self.feeds.progress.tell(done, total)
        self._is_quiet.wait()

    def _arrange(self) -> None:
        """Put together what belongs to one UID of one source, and keep what was read of it."""
        groups: dict[tuple[str, str], list[Labelled]] = {}
        for feed in self.feeds:
            for labelled in feed.labelled():
                groups.setdefault((feed.source.label, labelled.block.uid), []).append(labelled)
        known, self._courses = self._courses, {}
        for key, group in groups.items():
            course = known.get(key)
            is_same = course is not None and list(course.labelled) == group
            self._courses[key] = course if course is not None and is_same else Course(*key, group)
        self._timeline = Timeline(list(self._courses.values()), self.zone, self._owners)
        if self._warmth:
            Thread(target=self._warm, args=(self._timeline, self._warmth()), daemon=True).start()
