"""Play recorded AG-UI runs to live clients (agui.md 7).

The player is told what each live request asks for and when, and returns a recorded run and the
names to tell it with, or why there is none. It neither reads nor writes nor waits: the edge does.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from acptap.agui.inputs import RunInput
from acptap.errors import DamagedCassette
from acptap.replay.agui import dates
from acptap.replay.agui.asking import REST, STRICT, Asked, Comparison, Kind, spoken
from acptap.replay.agui.recorded import RecordedRun
from acptap.replay.agui.renaming import Names, Renaming
from acptap.replay.difference import Difference
from acptap.replay.matching import Level, Matcher
from acptap.replay.plain import fits
from acptap.replay.report import Differing, Miss, Report
from acptap.wire import jsontext

CONN = -1
"""Stands for the number of the connection in reports on runs, which have none."""

Read = Callable[[int], bytes]
"""Returns the unit in the line that starts at a byte of the file."""


@dataclass(frozen=True, slots=True)
class Options:
    """How runs are played.

    Attributes:
        matcher: How closely requests must match.
        began: The instant from which the recording counts; None if that is not known.
        once: Play each run once.
        verbatim: Replace nothing.
        shift_expiry: Have interrupts expire as much later as the run is played later.
    """

    matcher: Matcher = field(default_factory=Matcher)
    began: datetime | None = None
    once: bool = False
    verbatim: bool = False
    shift_expiry: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What a live request is answered with.

    Attributes:
        run: The recorded run.
        renaming: Puts live names into it.
        warnings: What should be said at once, in words.
    """

    run: RecordedRun
    renaming: Renaming
    warnings: list[str]


@dataclass(slots=True)
class _Thread:
    """A thread of a live client.

    Attributes:
        recorded: The recorded thread that is played to it; None until a run has matched.
        turns: How many runs were played to it.
        runs: Recorded ids of its runs to the live ones.
        pending: The interrupts that wait for an answer, as the client knows them.
        served: How often each run was played to it.
    """

    recorded: str | None = None
    turns: int = 0
    runs: dict[str, str] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    served: Counter[RecordedRun] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Part:
    """A recorded run that a live request may be answered with.

    Attributes:
        run: The run.
        difference: The first difference between the requests, or None.
    """

    run: RecordedRun
    difference: Difference | None


class RunPlayer:
    """Plays the runs of a recording.

    A request gets the first run that was not played yet and was asked for alike; else, at the
    level `method`, the one at the same place of its thread with news of the same kind. When all
    were played, they are played again.

    Args:
        runs: The runs, in recorded order. They are not changed.
        read: Fetches recorded requests.
        options: How to play.

    Attributes:
        runs: The runs.
    """

    def __init__(
        self, runs: Sequence[RecordedRun], read: Read, options: Options | None = None
    ) -> None:
        self.runs = runs
        self._read = read
        self._options = options or Options()
        self._matcher = self._options.matcher
        self._threads: dict[str, _Thread] = {}
        self._used: set[RecordedRun] = set()
        self._played: set[RecordedRun] = set()
        self._noted: Counter[str] = Counter()
        self._said = Report(CONN)

    @property
    def are_played(self) -> bool:
        """Whether each run was asked for."""
        return len(self._played) == len(self.runs)

    def ask(self, target: str, whole: RunInput, now: datetime) -> Reply | Miss:
        """Take in a live request for a run.

        Args:
            target: The request's target.
            whole: Its body.
            now: When it came.
        """
        thread = self._threads.setdefault(whole.thread, _Thread())
        live = Asked.of(whole, thread.pending)
        part = self._find(target, live, thread)
        if part is None and self._is_over:
            self._used.clear()
            part = self._find(target, live, thread)
            if part is None:
                self._used.update(self.runs)
            else:
                self._noted["all runs were played, and it began anew"] += 1
        if part is None:
            miss = self._explain(target, live, thread)
            self._said.unmatched.append(miss)
            return miss
        return self._play(part, live, thread, now)

    def stayed(self, number: int) -> None:
        """Take in that a client did not leave a run, which the recorded client had left.

        Args:
            number: The number of the run's exchange.
        """
        run = next(run for run in self.runs if run.number == number)
        self._noted[f"the client stayed to the end of {run}, which the recorded one had left"] += 1

    def report(self) -> Report:
        """Return what has become of the runs so far."""
        unplayed = sorted(
            line for run in self.runs if run not in self._played for line in run.lines
        )
        noted = [f"{what}{f', {n} times' * (n > 1)}" for what, n in self._noted.items()]
        said = self._said
        return Report(said.conn, [*said.unmatched], [*said.differing], unplayed, noted)

    @property
    def _is_over(self) -> bool:
        return len(self._used) == len(self.runs) and not self._options.once

    # Finding a run

    def _find(self, target: str, live: Asked, thread: _Thread) -> _Part | None:
        """Return the run that is to be played, if there is one."""
        unused = self._unused(target, thread)
        digest = None if self._matcher.ignore else live.digest()
        for run in unused:
            part = self._alike(run, live, digest)
            if part is not None:
                return part
        if self._matcher.level is not Level.METHOD:
            return None
        return next(
            (
                _Part(run, difference)
                for run in self._in_place(unused, live.kind, thread)
                if (difference := self._stands_for(run, live)) is not None
            ),
            None,
        )

    def _unused(self, target: str, thread: _Thread) -> list[RecordedRun]:
        """Return the runs to choose from, those of the thread first, then of no other's."""
        taken = {other.recorded for other in self._threads.values()}
        unused = [
            run
            for run in self.runs
            if run not in self._used and fits(_sorted(run.request.target), _sorted(target))
        ]
        return sorted(
            unused,
            key=lambda run: 0 if run.thread == thread.recorded else 1 + (run.thread in taken),
        )

    def _in_place(
        self, unused: Iterable[RecordedRun], kind: Kind, thread: _Thread
    ) -> list[RecordedRun]:
        """Return the runs at the place where a live thread is, with news of the same kind."""
        turn = thread.turns + 1
        return [
            run
            for run in unused
            if run.turn == turn and run.kind is kind and thread.recorded in (None, run.thread)
        ]

    def _alike(self, run: RecordedRun, live: Asked, digest: bytes | None) -> _Part | None:
        """Return a run that was asked for alike, as far as it must be; None if it was not."""
        is_exact = self._matcher.level is Level.EXACT
        is_known = run.digest is not None and digest is not None and not is_exact
        if is_known and run.digest != digest:
            return None
        recorded = self._asked(run)
        compare = self._comparison(run, recorded, live)
        if is_exact:
            return None if compare.everything(recorded, live) else _Part(run, None)
        if not is_known and compare.key(recorded, live):
            return None
        if self._matcher.level is Level.PARAMS and compare.rest(recorded, live, STRICT):
            return None
        return _Part(run, compare.rest(recorded, live, REST))

    def _stands_for(self, run: RecordedRun, live: Asked) -> Difference | None:
        """Return how what was asked for a run differs, unless it was another decision."""
        recorded = self._asked(run)
        compare = self._comparison(run, recorded, live)
        return None if compare.decisions(recorded, live) else compare.key(recorded, live)

    def _asked(self, run: RecordedRun) -> Asked:
        """Return the request for a recorded run."""
        text = b"".join([self._read(offset) for offset in run.offsets])
        try:
            whole = RunInput.read(jsontext.parse(text))
        except ValueError:
            whole = None
        if whole is None:
            raise DamagedCassette(
                "the file was changed while it was being read", where=f"line {run.line}",
                fix="start again, and leave it alone meanwhile",
            )  # fmt: skip
        return Asked.of(whole, run.pending)

    def _comparison(self, run: RecordedRun, recorded: Asked, live: Asked) -> Comparison:
        ids = {
            run.thread: live.whole.thread, run.run: live.whole.run,
            **_messages(recorded.whole, live.whole),
        }  # fmt: skip
        return Comparison(ids, self._matcher.ignore, run.is_redacted)

    # Playing it

    def _play(self, part: _Part, live: Asked, thread: _Thread, now: datetime) -> Reply:
        run, whole = part.run, live.whole
        self._used.add(run)
        self._played.add(run)
        if part.difference is not None:
            short = part.difference.shortened()
            self._said.differing.append(Differing(run.line, str(run), short))
        thread.recorded = thread.recorded or run.thread
        thread.turns += 1
        thread.served[run] += 1
        parents = dict(thread.runs)
        thread.runs[run.run] = whole.run
        names = Names()
        if not self._options.verbatim:
            times = thread.served[run]
            names = Names(
                threads={run.thread: whole.thread},
                runs={run.run: whole.run},
                parents=parents,
                messages=_messages(self._asked(run).whole, whole),
                suffix=f"~{times}" if times > 1 else "",
                later=self._later(run, now),
            )
        if run.interrupts is not None:
            thread.pending = [f"{asked['id']}{names.suffix}" for asked in run.interrupts]
        return Reply(run, Renaming(names), self._warnings(run, names, now))

    def _later(self, run: RecordedRun, now: datetime) -> timedelta | None:
        began = self._options.began
        if began is None or not self._options.shift_expiry:
            return None
        return now - began - timedelta(seconds=run.asked_at)

    def _warnings(self, run: RecordedRun, names: Names, now: datetime) -> list[str]:
        """Return what is to be said of interrupts that can't be answered any more."""
        if names.later is not None:
            return []
        warnings = []
        for asked in run.interrupts or []:
            expiry = dates.read(asked.get("expiresAt"))
            if expiry is not None and expiry <= now:
                warnings.append(
                    f"an interrupt of {run} expired at {asked['expiresAt']}; clients may refuse to "
                    "answer it (--shift-expiry has it expire later)"
                )
        self._noted.update(warnings)
        return warnings

    # Failing to find one

    def _explain(self, target: str, live: Asked, thread: _Thread) -> Miss:
        """Return why there is no run for a request."""
        nearest = self._nearest(target, live, thread)
        name = live.whole.thread[:100]
        what = f"run {thread.turns + 1} of thread {name}, with {live.kind}, is not in the cassette"
        if nearest is None:
            return Miss(f"{what}: it holds no run at {target[:100]}")
        if nearest in self._used and self._options.once:
            what = f"{what} once more: all was played"
        recorded = self._asked(nearest)
        compare = self._comparison(nearest, recorded, live)
        level = self._matcher.level
        difference = (
            compare.everything(recorded, live)
            if level is Level.EXACT
            else compare.key(recorded, live) or compare.rest(recorded, live, STRICT)
        )
        short = None if difference is None else difference.shortened()
        return Miss(what, str(nearest), nearest.line, short)

    def _nearest(self, target: str, live: Asked, thread: _Thread) -> RecordedRun | None:
        """Return the run that comes nearest to a request."""
        unused = self._unused(target, thread)
        own = [run for run in unused if run.thread == thread.recorded]
        alike = [run for run in own or unused if run.kind is live.kind]
        played = [run for run in self.runs if fits(_sorted(run.request.target), _sorted(target))]
        return next(iter([*alike, *own, *unused, *reversed(played)]), None)


def _messages(recorded: RunInput, live: RunInput) -> dict[str, str]:
    """Return the recorded ids of a request's messages with the live ones, place by place.

    Places are counted for each role by itself: a live client may send one more message.
    """
    ids: dict[str, str] = {}
    places = _by_place(live)
    for place, old in _by_place(recorded).items():
        if place in places:
            ids[old] = places[place]
    return ids


def _by_place(whole: RunInput) -> dict[tuple[object, int], str]:
    counts: Counter[str] = Counter()
    places: dict[tuple[object, int], str] = {}
    for message in spoken(whole):
        role, id_ = str(message.get("role")), message.get("id")
        counts[role] += 1
        if isinstance(id_, str):
            places[role, counts[role]] = id_
    return places


def _sorted(target: str) -> str:
    """Return a target with its query in order."""
    path, mark, query = target.partition("?")
    return path + mark + "&".join(sorted(query.split("&")))
