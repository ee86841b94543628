"""Find the part that a live message plays: the recorded step it stands for."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from acptap.acp import methods
from acptap.jsonrpc import RequestId, Response, Side, read
from acptap.replay.difference import Difference
from acptap.replay.framing import Framing, text_of
from acptap.replay.live import Call
from acptap.replay.matching import Asked, Matcher, negotiation
from acptap.replay.progress import Progress
from acptap.replay.renaming import Renaming
from acptap.replay.script import Lane, Script, Step, StepKind, spare_key
from acptap.replay.voice import Voice
from acptap.wire import jsontext, spans

Read = Callable[[Step], bytes]
"""Returns the bytes of a step's unit (or of its first piece), as they were on the wire."""

AHEAD_OF_TURN = frozenset({"session/cancel"})
"""Calls that match wherever in their lane they stand: when a user stops the work is a whim."""

_COMPARED = 100
"""How many candidates are compared in the search for one that is equal."""


@dataclass(slots=True)
class Part:
    """A recorded step that a live message may stand for.

    Attributes:
        step: The step.
        difference: The first difference, or None.
        renaming: The renaming, should it stand for that step.
    """

    step: Step
    difference: Difference | None
    renaming: Renaming


class Casting:
    """Knows which recorded steps are still to be had, and what live names stand for.

    Args:
        script: The recorded connection.
        read: Fetches a unit.
        matcher: Compares messages.

    Attributes:
        renaming: What is known of live names.
    """

    def __init__(self, script: Script, read: Read, matcher: Matcher) -> None:
        self.renaming = Renaming()
        self._script = script
        self._read = read
        self._matcher = matcher
        self._calls: dict[tuple[StepKind, str], dict[Step, None]] = {}  # not matched yet, in order
        self._spare: Counter[object] = Counter()
        self._session_of: dict[str, str] = {}  # live ids to recorded ones, once they were matched
        self._progress: dict[Lane, Progress] = {}
        self._index: dict[Lane, dict[tuple[StepKind, str, str | None], list[Step]]] = {}

    def progress(self, lane: Lane) -> Progress:
        """Return how far a lane has been played."""
        progress = self._progress.get(lane)
        if progress is None:
            progress = self._progress[lane] = Progress(lane)
        return progress

    def recorded_session(self, live: str) -> str | None:
        """Return the recorded session that a live id stands for, or None if that is not known."""
        bound = self._session_of.get(live)
        if bound is not None:
            return bound
        taken = live in self.renaming.sessions.live
        return live if live in self._script.sessions and not taken else None

    def voice(self, ids: Mapping[Step, bytes], framing: Framing) -> Voice:
        """Return the voice that speaks with the names known by now."""
        return Voice(self.unit, self.renaming, ids, framing)

    # Calls

    def candidates(self, call: Call) -> Iterator[Step]:
        """Yield the steps that a call may stand for now, in order of preference."""
        if call.session is None:
            yield from self._free(call)
            return
        recorded = self.recorded_session(call.session)
        sessions = self._unbound() if recorded is None else [recorded]
        for session in sessions:
            for step in self._awaited(session, call):
                if (step.kind, step.method, step.session) == (call.kind, call.method, session):
                    yield step

    def find(self, call: Call) -> tuple[Part | None, Part | None]:
        """Return the part that a call plays, and the nearest that it differs from too much.

        One that is equal is preferred to the first.
        """
        fitting: Part | None = None
        refused: Part | None = None
        for step in islice(self.candidates(call), _COMPARED):
            part = self.compare(step, call)
            if part.difference is None:
                return part, None
            if self._matcher.refuses(part.difference):
                refused = refused or part
            else:
                fitting = fitting or part
        return fitting, refused

    def compare(self, step: Step, call: Call) -> Part:
        """Return a step as the part of a call with the same method."""
        text = self.text(step)
        params = _params(jsontext.parse(text))
        renaming = self.renaming
        if step.session is not None and call.session is not None:
            renaming = renaming.with_session(step.session, call.session)
        renaming = renaming.with_folder(_member(params, "cwd"), _member(call.params, "cwd"))
        if step.method == "initialize":
            refusal = negotiation(params, self._result(step), call.params, self._script.uses)
            if refusal is not None:
                return Part(step, refusal, renaming)
        renamed = renaming.rename(text, folders=self._matcher.follows_folders)
        if renamed is not text:
            params = _params(jsontext.parse(renamed))
        difference = self._matcher.call(step.method, params, call.params, redacted=step.redacted)
        return Part(step, difference, renaming)

    def take(self, part: Part, call: Call) -> None:
        """Take in that a call plays a part."""
        step = part.step
        if step.session is not None and call.session is not None:
            self._session_of[call.session] = step.session
        else:
            self._free(call).pop(step)

    def take_spare(self, kind: StepKind, method: str = "", id_: RequestId = None) -> bool:
        """Take one of the optional messages of a kind; return False if there is none left."""
        key = spare_key(kind, method, id_)
        if self._spare[key] >= self._script.spare[key]:
            return False
        self._spare[key] += 1
        return True

    # Answers

    def compare_answer(self, request: Step, answer: Step, live: Response) -> Part:
        """Return the recorded answer to a request of the agent as the part of a live one."""
        text = self.text(answer)
        renaming = self.renaming
        recorded = _response(text)
        if request.method == "terminal/create":
            renaming = renaming.with_terminal(
                _member(recorded.result, "terminalId"), _member(live.result, "terminalId")
            )
        recorded = _response(renaming.rename(text, folders=self._matcher.follows_folders))
        asked = Asked(request.method, _params(jsontext.parse(self.text(request))))
        difference = self._matcher.answer(asked, recorded, live, redacted=answer.redacted)
        return Part(answer, difference, renaming)

    # What is left

    def steps_like(self, call: Call) -> list[Step]:
        """Return the recorded calls of a method in a call's session, or outside of sessions."""
        if call.session is None:
            return self._script.calls.get((call.kind, call.method), [])
        session = self.recorded_session(call.session)
        if session is None:
            return []
        return self._steps_of(session).get((call.kind, call.method, session), [])

    def next_steps(self, call: Call) -> Iterator[Step]:
        """Yield the steps that might have come instead of a call."""
        if call.session is None:
            for kind_and_method in self._script.calls:
                yield from islice(self._left(kind_and_method), 1)
            return
        recorded = self.recorded_session(call.session)
        for session in self._unbound() if recorded is None else [recorded]:
            yield from islice(self.progress(self._script.sessions[session]).window(), 1)

    def unit(self, step: Step) -> bytes:
        """Return the unit a step stands in, its pieces joined."""
        if not step.pieces:
            return self._read(step)
        return b"".join([self._read(piece) for piece in (step, *step.pieces)])

    def text(self, step: Step) -> bytes:
        """Return the JSON text of a step's message."""
        text = text_of(self.unit(step), step.framing)
        if step.member < 0:
            return text
        span = spans.find(text, (step.member,))[0]
        return text[span.start : span.end]

    # Inside

    def _free(self, call: Call) -> dict[Step, None]:
        """Return the recorded calls of a kind outside of sessions that were not matched yet."""
        return self._left((call.kind, call.method))

    def _left(self, kind_and_method: tuple[StepKind, str]) -> dict[Step, None]:
        left = self._calls.get(kind_and_method)
        if left is None:
            steps = self._script.calls.get(kind_and_method, ())
            left = self._calls[kind_and_method] = dict.fromkeys(steps)
        return left

    def _unbound(self) -> list[str]:
        """Return the sessions that the recorded client brought along and the live one may name."""
        taken = set(self._session_of.values())
        return [session for session in self._script.chosen if session not in taken]

    def _awaited(self, session: str, call: Call) -> Iterable[Step]:
        progress = self.progress(self._script.sessions[session])
        if call.method not in AHEAD_OF_TURN or call.kind is not StepKind.NOTIFICATION:
            return progress.window()
        if not progress.is_open:
            return ()
        steps = self._steps_of(session).get((call.kind, call.method, session), [])
        return (step for step in steps if not progress.has_played(step))

    def _steps_of(self, session: str) -> dict[tuple[StepKind, str, str | None], list[Step]]:
        """Return the calls of the client in a session's lane, by kind, method and session."""
        lane = self._script.sessions[session]
        index = self._index.get(lane)
        if index is None:
            index = self._index[lane] = {}
            for step in lane.steps:
                if _is_call(step):
                    key = step.kind, step.method, step.session
                    index.setdefault(key, []).append(step)
        return index

    def _result(self, request: Step) -> object:
        """Return the recorded result of a request, or None."""
        answers = request.answer.messages if request.answer is not None else ()
        for answer in answers:
            if answer.refers is request:
                return _member(jsontext.parse(self.text(answer)), "result")
        return None


def _is_call(step: Step) -> bool:
    return step.side is Side.CLIENT and step.kind in (StepKind.REQUEST, StepKind.NOTIFICATION)


def _params(value: object) -> object:
    """Return the params of a call, of what it wraps if it wraps another."""
    method = _member(value, "method")
    params = _member(value, "params")
    return methods.unwrap(method, params)[1] if isinstance(method, str) else params


def _response(text: bytes) -> Response:
    message = read(jsontext.parse(text), text)
    assert isinstance(message, Response)
    return message


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
