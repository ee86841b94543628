"""How far one lane has been played on one live connection."""

from collections.abc import Callable, Iterator

from acptap.jsonrpc import Side
from acptap.replay.script import Lane, Step, StepKind

Awaited = Callable[[Step], Step | None]
"""The request of the client that a step of the agent still waits for, or None."""


class Progress:
    """A lane on its way.

    Attributes:
        lane: The lane.
        is_open: Whether anything of it may be played.
        failure: Why nothing of it is played any more, or empty.
        open: The live requests that wait for an answer, by the recorded request they match, in
            the order they came.
    """

    __slots__ = ("_ahead", "_ahead_to", "_cursor", "_held", "_loose", "_matched", "failure",
                 "is_open", "lane", "open")  # fmt: skip

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.is_open = not lane.minted
        self.failure = ""
        self.open: dict[Step, bytes] = {}
        self._cursor = 0  # everything before it has been played
        self._matched: set[Step] = set()  # steps of the client from the cursor on
        self._ahead: set[Step] = set()  # steps of the agent from the cursor on, released already
        self._ahead_to = 0  # up to where the agent's steps were looked at for that
        self._held: dict[Step, list[Step]] = {}  # those that wait, by the request they wait for
        self._loose: list[Step] = []  # those whose request comes in another lane, or came too early

    def window(self) -> Iterator[Step]:
        """Yield what the lane awaits of the client: the open window's steps, in recorded order."""
        if not self.is_open or self.failure:
            return
        begun = False
        for place in range(self._cursor, len(self.lane.steps)):
            step = self.lane.steps[place]
            if step.side is Side.AGENT:
                if begun:
                    return
                continue  # it waits for a request in another lane; the client need not
            begun = True
            if not step.optional and step not in self._matched:
                yield step

    def has_played(self, step: Step) -> bool:
        """Return whether a step of this lane was matched, or released."""
        return step.place < self._cursor or step in self._matched or step in self._ahead

    def match(self, step: Step, awaited: Awaited) -> list[Step]:
        """Take in that a step of the client was matched, and return the agent's that may go now.

        A step that is matched ahead of its window counts when the window comes.
        """
        self._matched.add(step)
        released = self.advance(awaited)
        if step.kind is StepKind.REQUEST:
            released += self._run_ahead(step, awaited)
        return released

    def advance(self, awaited: Awaited) -> list[Step]:
        """Go on to the next step that has not come, and return the agent's steps on the way."""
        released: list[Step] = []
        steps = self.lane.steps
        end = len(steps) if self.is_open and not self.failure else self._cursor
        while self._cursor < end:
            step = steps[self._cursor]
            if step.side is Side.CLIENT:
                if step not in self._matched and not step.optional:
                    break
                self._matched.discard(step)
            elif step in self._ahead:
                self._ahead.discard(step)
            elif awaited(step) is None:
                released.append(step)
            else:
                break
            self._cursor += 1
        return released

    def unplayed(self) -> Iterator[Step]:
        """Yield the steps that were not played and should have been."""
        for place in range(self._cursor, len(self.lane.steps)):
            step = self.lane.steps[place]
            if not step.optional and not self.has_played(step):
                yield step

    def _run_ahead(self, request: Step, awaited: Awaited) -> list[Step]:
        """Return what may go although the window is not complete: up to the request's own answer.

        A client may wait for that answer before it sends the rest of the window.
        """
        answer, steps = request.answer, self.lane.steps
        held = self._held.pop(request, [])
        if answer is None or not self._may_run_ahead(request, answer):
            self._loose += held
            return []
        start = max(self._ahead_to, self._cursor)
        self._ahead_to = max(start, answer.place + 1)
        looked_at = self._loose + held + steps[start : self._ahead_to]
        self._loose = []
        released: list[Step] = []
        for step in looked_at:
            if step.side is Side.CLIENT or self.has_played(step):
                continue
            other = awaited(step)
            if other is None:
                released.append(step)
            elif other.lane is self.lane:
                self._held.setdefault(other, []).append(step)
            else:
                self._loose.append(step)
        self._ahead.update(released)
        return released

    def _may_run_ahead(self, request: Step, answer: Step) -> bool:
        if answer.lane is not self.lane or self._cursor == len(self.lane.steps):
            return False
        next_one = self.lane.steps[self._cursor]
        return next_one.side is Side.CLIENT and next_one.phase == request.phase == answer.phase
