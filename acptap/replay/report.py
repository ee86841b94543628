"""What became of a cassette in a run: what did not match, what differed, what was never played."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import assert_never

from acptap.replay.difference import Difference
from acptap.replay.script import Step, StepKind

UNMATCHED = -32001
"""The error code of acptap's own answers."""


@dataclass(frozen=True, slots=True)
class Miss:
    """Something that the cassette and the live client do not agree on.

    Attributes:
        what: One sentence without a full stop.
        nearest: The recorded step that comes nearest, in words, or None if there is none.
        line: Its line in the cassette.
        difference: The first difference from it, or None.
    """

    what: str
    nearest: str | None = None
    line: int | None = None
    difference: Difference | None = None

    def as_json(self) -> dict[str, object]:
        """Return it as it stands in error answers and reports; what is not known is left out."""
        said: dict[str, object] = {"what": self.what}
        if self.nearest is not None:
            said |= {"nearest": self.nearest, "line": self.line}
        if self.difference is not None:
            said["difference"] = self.difference.as_json()
        return said

    def as_error(self) -> dict[str, object]:
        """Return it as the error that a client is answered with."""
        said = self.as_json()
        del said["what"]  # the message says it
        return {"code": UNMATCHED, "message": f"acptap: {self}", "data": {"acptap": said}}

    def __str__(self) -> str:
        parts = [self.what]
        if self.nearest is not None:
            parts.append(f"nearest is {self.nearest} at line {self.line}")
        if self.difference is not None and self.difference.path != "/method":  # that was said
            parts.append(str(self.difference))
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Differing:
    """A live message that matched and was not equal.

    Attributes:
        line: The line of the recorded message.
        what: The recorded message, in words.
        difference: The first difference.
    """

    line: int
    what: str
    difference: Difference

    def as_json(self) -> dict[str, object]:
        """Return it as it stands in reports."""
        return {"line": self.line, "what": self.what, "difference": self.difference.as_json()}

    def __str__(self) -> str:
        return f"line {self.line}: {self.what} differs, {self.difference}"


@dataclass(slots=True)
class Report:
    """What became of one recorded connection, or of all of them.

    Attributes:
        conn: The number of the recorded connection; 0 for all of them.
        unmatched: What did not match, in the order it happened.
        differing: What matched and was not equal.
        unplayed: The cassette's lines that were never played.
        noted: What the client sent beyond the cassette, and may.
    """

    conn: int = 1
    unmatched: list[Miss] = field(default_factory=list)
    differing: list[Differing] = field(default_factory=list)
    unplayed: list[int] = field(default_factory=list)
    noted: list[str] = field(default_factory=list)

    @property
    def matched(self) -> bool:
        """Whether the cassette had an answer to everything that the client sent."""
        return not self.unmatched

    @property
    def clean(self) -> bool:
        """Whether everything matched and everything was played."""
        return self.matched and not self.unplayed

    def as_json(self) -> dict[str, object]:
        """Return the report as plain values."""
        return {
            "clean": self.clean,
            "unmatched": [miss.as_json() for miss in self.unmatched],
            "differing": [differing.as_json() for differing in self.differing],
            "unplayed": self.unplayed,
            "noted": self.noted,
        }

    def lines(self) -> list[str]:
        """Return the report for people, a line each; none if there is nothing to say."""
        lines = [f"unmatched: {miss}" for miss in self.unmatched]
        lines += [str(differing) for differing in self.differing]
        if self.unplayed:
            lines.append(f"never played: {_ranges(self.unplayed)}")
        lines += [f"noted: {said}" for said in self.noted]
        return lines


def combine(reports: Iterable[Report]) -> Report:
    """Return one report on a run of several connections.

    A line counts as played if any connection played it. A recorded connection that nobody asked
    for must be reported too (by a player that received nothing), or its lines are not missed.
    """
    whole = Report(conn=0)
    unplayed: dict[int, set[int]] = {}
    for report in reports:
        whole.unmatched += report.unmatched
        whole.differing += report.differing
        whole.noted += report.noted
        left = set(report.unplayed)
        unplayed[report.conn] = unplayed.get(report.conn, left) & left
    whole.unplayed = sorted(set().union(*unplayed.values()))
    return whole


def describe(step: Step) -> str:
    """Return what a recorded step is, in words."""
    match step.kind:
        case StepKind.ANSWER:
            return f"the answer to {step.method}" if step.method else "an answer"
        case StepKind.NOISE:
            return "a line that is no message"
        case StepKind.REQUEST | StepKind.NOTIFICATION:
            return step.method
        case _:
            assert_never(step.kind)


def _ranges(numbers: list[int]) -> str:
    """Return line numbers as people write them: `line 4`, `lines 4-6, 9`."""
    starts = [numbers[0], *(b for a, b in pairwise(numbers) if b != a + 1)]
    ends = [*(a for a, b in pairwise(numbers) if b != a + 1), numbers[-1]]
    spans = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True)]
    return f"line{'s' * (len(numbers) > 1)} {', '.join(spans)}"
