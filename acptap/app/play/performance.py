"""A player and its client, brought together in time. The edge asks what to write, and when."""

import heapq
import math
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from acptap.app.play.journal import Journal
from acptap.app.play.options import ReplayOptions
from acptap.replay.player import Player
from acptap.replay.release import Release
from acptap.wire.lines import LineSplitter, Unit

if TYPE_CHECKING:
    from acptap.replay.report import Report
    from acptap.replay.script import Ending, Lane, Refused

LONGEST_LINE = 256 * 1024 * 1024
"""Bytes of a client's line that are read as one message; it has to be understood to be answered."""

_LONGEST_WAIT = 3600.0  # seconds; locks refuse to wait for centuries


class Performance:
    """One connection being played. It neither reads nor writes nor waits: the edge does.

    Args:
        player: Says what to send.
        journal: Told all that the player is told, before anything follows from it.
        options: What the user asked for.
        clock: Returns seconds that never go back.
    """

    def __init__(
        self,
        player: Player,
        journal: Journal,
        options: ReplayOptions,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._player = player
        self._journal = journal
        self._speed = options.speed
        self._patience = options.patience or None
        self._clock = clock
        self._splitter = LineSplitter(LONGEST_LINE)
        self._delayed: list[tuple[float, int, Release]] = []  # a heap: when, in which order, what
        self._count = 0
        self._last_due: dict[Lane | None, float] = {}
        self._heard = clock()
        self._plan(player.start(), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether all was played, and the recorded agent left before its client did."""
        ending = self._player.script.ending
        return self._player.finished and not self._delayed and ending.before_client

    @property
    def is_delayed(self) -> bool:
        """Whether something is still to be said."""
        return bool(self._delayed)

    @property
    def ending(self) -> "Ending":
        """How the recorded agent left."""
        return self._player.script.ending

    @property
    def report(self) -> "Report":
        """What has become of the recording so far."""
        return self._player.report()

    def take(self, data: bytes) -> None:
        """Take in what the client sent: a stretch of lines."""
        for unit in self._splitter.feed(data):
            self._take(unit)

    def hear(self, unit: bytes) -> "Refused | None":
        """Take in one message that the client sent.

        Returns:
            How it was turned down in the recording, and is to be turned down again; else None.
        """
        self._take(unit)
        return self._player.refused

    def turn_away(self, session: str | None) -> "Refused | None":
        """Return how who asks for the event stream of a session, or the connection's, is refused.

        None if he is not.
        """
        return self._player.turn_away(session)

    def end(self, *, at_once: bool) -> None:
        """Take in that the client sends no more. It still hears what is to be said.

        Args:
            at_once: Say it now, whatever the pace.
        """
        for unit in self._splitter.end():
            self._take(unit)
        self._journal.ended()
        self._plan(self._player.client_ended(), None)
        if at_once:
            self._hurry(math.inf)

    def next_due(self) -> list[Release]:
        """Return what is due and is to be written in one go: what one read of the recording held.

        Nothing if nothing is due.
        """
        now = self._clock()
        together: list[Release] = []
        while self._delayed and self._delayed[0][0] <= now:
            together.append(heapq.heappop(self._delayed)[2])
            if together[-1].ends_read:
                break
        return together

    def next_write(self) -> bytes | None:
        """Return the bytes of what is due, or None if nothing is."""
        due = self.next_due()
        return b"".join([release.data for release in due]) if due else None

    def wait(self) -> float | None:
        """Return how long to wait for the client, in seconds; None for ever."""
        now = self._clock()
        if self._delayed:
            return min(max(0.0, self._delayed[0][0] - now), _LONGEST_WAIT)
        if self._patience is not None and self._player.waiting():
            return max(0.0, self._heard + self._patience - now)
        return None

    def lose_patience(self) -> None:
        """Give up what waits for the client, if it has been silent for too long."""
        if self._delayed or self._patience is None:
            return
        if self._clock() >= self._heard + self._patience:
            for waiting in self._player.waiting():
                self._journal.gave_up(waiting.lane)
                self._plan(self._player.give_up(waiting.lane), None)

    def undelivered(self) -> None:
        """Take in that the client reads no more, and was to be told something."""
        self._journal.undelivered()

    def close(self) -> None:
        """Take in that nothing more can be heard."""
        self._journal.close()

    def _take(self, unit: Unit) -> None:
        self._heard = self._clock()
        raw = unit if isinstance(unit, bytes) else unit.raw
        self._journal.heard(raw)
        releases = self._player.receive(raw)
        matched_at = max(self._player.moved.values(), default=None)
        if matched_at is not None:
            self._hurry(matched_at)
        self._plan(releases, matched_at)

    def _plan(self, releases: Iterable[Release], since: float | None) -> None:
        """Have releases sent when their time has come.

        Args:
            releases: What to send, in order.
            since: The recorded time of what set them free; None to send them now.
        """
        now = self._clock()
        for release in releases:
            due = now
            if self._speed and since is not None and release.at is not None:
                due += max(0.0, release.at - since) / self._speed
            due = max(due, self._last_due.get(release.lane, 0.0))
            self._last_due[release.lane] = due
            self._count += 1
            heapq.heappush(self._delayed, (due, self._count, release))

    def _hurry(self, recorded: float) -> None:
        """Send now what is delayed and was recorded before a time: the client has gone on."""
        if not self._delayed:
            return
        now = self._clock()
        self._delayed = [
            (due if release.at is not None and release.at > recorded else now, count, release)
            for due, count, release in self._delayed
        ]
        heapq.heapify(self._delayed)
        self._last_due = {}
        for due, _, release in self._delayed:
            self._last_due[release.lane] = max(due, self._last_due.get(release.lane, due))
