"""`acptap replay`: play a cassette to the client on our standard input and output."""

import heapq
import math
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from acptap.errors import UsageError
from acptap.replay.lanes import build
from acptap.replay.matching import Level, Matcher
from acptap.replay.player import Player
from acptap.replay.release import Release
from acptap.replay.report import Report
from acptap.replay.script import Ending, Lane, Script, Step
from acptap.storage import Recording
from acptap.transports.peer import ClientWantsEnd, Silence, StdioPeer
from acptap.transports.stderr import Stderr
from acptap.wire import jsontext
from acptap.wire.lines import LineSplitter, Unit

SIGNALLED = 128
"""Added to a signal's number to make an exit code, as shells do."""

LONGEST_LINE = 256 * 1024 * 1024
"""Bytes of a client's line that are read as one message; it has to be understood to be answered."""


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What the user asked for.

    Attributes:
        level: How closely messages must match.
        ignore: JSON pointers to leave out of the comparison.
        speed: 0 for instant, 1 for the recorded pace, 2 for twice as fast.
        patience: Seconds a live request may wait for what the client does not send; 0 for ever.
        allow_unplayed: Fine although not everything was played.
        report: Where to write the report as JSON, or None.
        quiet: Say nothing if all is fine.
    """

    level: Level = Level.METHOD
    ignore: Sequence[str] = ()
    speed: float = 0.0
    patience: float = 30.0
    allow_unplayed: bool = False
    report: Path | None = None
    quiet: bool = False


def replay_stdio(cassette: Path, options: ReplayOptions) -> int:
    """Play a cassette; return 0 if the client asked all that was recorded and nothing else.

    If the recorded agent left before its client did, that is played too, and its exit code is
    returned.

    Raises:
        CassetteError: The cassette can't be played.
        UsageError: The report can't be written.
    """
    stderr = Stderr()
    with Recording(cassette) as recording:
        recording.require_entries()
        script = build(recording)
        if recording.torn is not None:
            stderr.say(f"line {recording.torn} was cut off by a crash and is left out")
        if not options.quiet:
            stderr.say(f"playing {recording.name}")

        def read(step: Step) -> bytes:
            return recording.fetch(step.offset)

        matcher = Matcher(options.level, tuple(options.ignore))
        player = Player(script, read=read, matcher=matcher)
        delivered = Performance(player, StdioPeer(), options).run()
    report = player.report()
    if not delivered:
        stderr.say("the client stopped reading before all was said")
    _tell(report, options, stderr)
    return _verdict(report, script, player, options) if delivered else 1


class Performance:
    """Brings a player and its client together, in time.

    Args:
        player: Says what to send.
        peer: The client.
        options: What the user asked for.
    """

    def __init__(self, player: Player, peer: StdioPeer, options: ReplayOptions) -> None:
        self._player = player
        self._peer = peer
        self._speed = options.speed
        self._patience = options.patience or None
        self._delayed: list[tuple[float, int, Release]] = []  # a heap: when, in which order, what
        self._count = 0
        self._last_due: dict[Lane | None, float] = {}
        self._heard = time.monotonic()

    def run(self) -> bool:
        """Play until the client has closed its side, or the recorded agent left before it.

        Returns:
            False if the client stopped reading before all was said.
        """
        splitter = LineSplitter(LONGEST_LINE)
        try:
            self._plan(self._player.start(), 0.0)
            while self._send_due():
                if self._is_over():
                    return True
                arrived = self._peer.receive(self._wait())
                if arrived is Silence.YET:
                    self._lose_patience()
                elif isinstance(arrived, bytes):
                    self._take(splitter.feed(arrived))
                else:
                    self._take(splitter.end())
                    self._plan(self._player.client_ended(), None)
                    self._hurry(math.inf)
                    return self._send_due()
        except ClientWantsEnd:
            return True
        return False

    def _take(self, units: Iterable[Unit]) -> None:
        for unit in units:
            self._heard = time.monotonic()
            releases = self._player.receive(unit if isinstance(unit, bytes) else unit.raw)
            matched_at = max(self._player.moved.values(), default=None)
            if matched_at is not None:
                self._hurry(matched_at)
            self._plan(releases, matched_at)

    def _is_over(self) -> bool:
        return (
            self._player.finished and not self._delayed and self._player.script.ending.before_client
        )

    # Time

    def _plan(self, releases: Iterable[Release], since: float | None) -> None:
        """Have releases sent when their time has come.

        Args:
            releases: What to send, in order.
            since: The recorded time of what set them free; None to send them now.
        """
        now = time.monotonic()
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
        now = time.monotonic()
        self._delayed = [
            (due if release.at is not None and release.at > recorded else now, count, release)
            for due, count, release in self._delayed
        ]
        heapq.heapify(self._delayed)
        self._last_due = {}
        for due, _, release in self._delayed:
            self._last_due[release.lane] = max(due, self._last_due.get(release.lane, due))

    def _send_due(self) -> bool:
        """Send what is due, one write for each recorded read; return False if nobody takes it."""
        now = time.monotonic()
        together: list[bytes] = []
        while self._delayed and self._delayed[0][0] <= now:
            release = heapq.heappop(self._delayed)[2]
            together.append(release.data)
            if release.ends_read:
                if not self._peer.send(b"".join(together)):
                    return False
                together.clear()
        return not together or self._peer.send(b"".join(together))

    def _wait(self) -> float | None:
        """Return how long to wait for the client, in seconds; None for ever."""
        now = time.monotonic()
        if self._delayed:
            return max(0.0, self._delayed[0][0] - now)
        if self._patience is not None and self._player.waiting():
            return max(0.0, self._heard + self._patience - now)
        return None

    def _lose_patience(self) -> None:
        if self._delayed or self._patience is None:
            return
        if time.monotonic() >= self._heard + self._patience:
            for waiting in self._player.waiting():
                self._plan(self._player.give_up(waiting.lane), None)


def _tell(report: Report, options: ReplayOptions, stderr: Stderr) -> None:
    if not (options.quiet and _is_fine(report, options)):
        for line in report.lines():
            stderr.say(line)
    stderr.drain(2.0)
    if options.report is not None:
        try:
            options.report.write_bytes(jsontext.dump(report.as_json()) + b"\n")
        except OSError as error:
            raise UsageError(
                f"the report can't be written ({error.strerror})",
                where=str(options.report),
                fix="name another file with --report",
            ) from error


def _is_fine(report: Report, options: ReplayOptions) -> bool:
    return report.matched if options.allow_unplayed else report.clean


def _verdict(report: Report, script: Script, player: Player, options: ReplayOptions) -> int:
    if not _is_fine(report, options):
        return 1
    if player.finished and script.ending.before_client:
        return _exit_code(script.ending)
    return 0


def _exit_code(ending: Ending) -> int:
    """Return the code that the recorded agent's end looks like from outside."""
    if ending.signal is not None:
        return SIGNALLED + getattr(signal, ending.signal, 0)
    return ending.code or 0
