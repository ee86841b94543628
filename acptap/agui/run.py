"""One run: a POST with a `RunAgentInput`, and its answer (agui.md 5.2, 5.3, 5.5).

`done` is told exactly once and last, on every path out, and a `failed` one right behind its error.
Of a run that is refused with an HTTP error both are told at the answer's head, for its body is no
part of the run. A redirect tells nothing: the client asks again. Of an answer that can't be read
nothing is told either, for nobody knows how it ended.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Literal

from acptap.agui.course import Course
from acptap.agui.events import ENDS, RETIRED, Event, optional, owner_of, type_of
from acptap.agui.inputs import RunInput
from acptap.agui.meaning import NOTHING, Meaning
from acptap.agui.outcome import STATES, outcome_of
from acptap.agui.repeats import REPEATED, Repeat, repeat_of
from acptap.agui.rules import is_refused, note
from acptap.agui.soundness import judge_head, late, sound
from acptap.agui.values import Done, Failure
from acptap.agui.view.document import Document
from acptap.agui.view.effects import EFFECTS
from acptap.agui.view.scene import Scene
from acptap.notes import Note
from acptap.session import ACTIVE, Basis, SessionState
from acptap.updates import LONGEST, End, UpdateKind

How = Literal["complete", "cut", "reset", "client"]
"""How a body ended: in order, in its middle, with a reset, or because the client left."""

_SUCCESSES = range(200, 300)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BROKEN_OFF: dict[How, str] = {
    "cut": "the stream was cut", "reset": "the connection was reset", "client": "the client left",
}  # fmt: skip


class Hearing(Enum):
    """Who still listens to a run."""

    CLIENT = 1
    NOBODY = 2
    """The client has given up. What the stream says of the thread's state is true all the same."""
    DEAF = 3
    """What comes is no part of the run."""


class Run:
    """One run.

    Args:
        document: Its thread.
        asked: The request.
        line: The request's line.
        notes: The rules that the request meets.

    Attributes:
        asked: The same as the argument.
        line: The number of the cassette's line that is taken in; 0 while there is none.
    """

    def __init__(
        self, document: Document, asked: RunInput, line: int = 0, notes: Iterable[Note] = ()
    ) -> None:
        self.asked = asked
        self.line = line
        self._document = document
        self._began = line
        self._input = Meaning(notes=tuple(notes))
        self._course = Course(document)
        self._hearing = Hearing.CLIENT
        self._is_heard = False
        self._last: Repeat | None = None

    @property
    def thread(self) -> str:
        """The thread's id."""
        return self.asked.thread

    def input(self) -> Meaning:
        """Return what the request means. It has changed the thread when the run began."""
        return self._input

    def response(self, status: int, media_type: str) -> Meaning:
        """Take in the head of the final answer.

        Args:
            status: Its status.
            media_type: Its `Content-Type`, parameters included.
        """
        if status in _REDIRECTS:
            return self.ignore()
        if status not in _SUCCESSES:
            scene = self._scene()
            scene.notes.append(note("agui/refused", status=status))
            self._break(scene, Failure(self.line, "http", code=status))
            self._hearing = Hearing.DEAF
            return _meaning(scene)
        return Meaning(notes=tuple(judge_head(status, media_type)))

    def ignore(self) -> Meaning:
        """Take in that nothing of the answer is part of the run, or can be read."""
        self._hearing, self._course.is_done = Hearing.DEAF, True
        return NOTHING

    def event(self, value: object) -> Meaning:
        """Take in an event.

        Args:
            value: The JSON value of a block's data, or what a protobuf frame stands for.
        """
        last = self._last
        if last is not None and self._document.speaker is self and last.take(value):
            return last.meaning
        if not isinstance(value, dict):
            return self.garbage("agui/not-object")
        type_ = value.get("type")
        if not isinstance(type_, str) or not type_:
            return self.garbage("agui/no-type")
        scene = self._scene()
        self._is_heard = True
        if self._hearing is Hearing.CLIENT:
            self._take(scene, type_, value)
        elif self._hearing is Hearing.NOBODY:
            self._follow(scene, type_, value)
        meaning = _meaning(scene)
        if type_ in REPEATED:
            self._last = repeat_of(value, scene, meaning)
        return meaning

    def garbage(self, rule: str) -> Meaning:
        """Take in what is no event although it should be one; no client reads on after that.

        Args:
            rule: What is wrong with it, see `acptap.agui.garbage`.
        """
        if self._hearing is Hearing.DEAF:
            return NOTHING
        scene = self._scene()
        self._is_heard = True
        scene.notes.append(note(rule))
        if not self._course.is_done:
            self._break(scene, Failure(self.line, "decode", rule=rule))
        return _meaning(scene)

    def end(self, how: How) -> Meaning:
        """Take in that the answer's body ended, or that there will be none."""
        if self._course.is_done:
            return NOTHING
        scene = self._scene()
        if how == "complete":
            rule = "agui/truncated" if self._is_heard else "agui/no-events"
            scene.notes.append(note(rule))
            self._break(scene, Failure(self.line, "protocol", rule=rule))
        else:
            failure = Failure(self.line, "transport", _BROKEN_OFF[how])
            self._break(scene, failure, is_aborted=how == "client")
        return _meaning(scene)

    # Events

    def _scene(self) -> Scene:
        self._last = None
        self._document.speaker = self
        return Scene(self._document, self.line)

    def _take(self, scene: Scene, type_: str, value: Event) -> None:
        kind = type_of(type_)
        if kind is None:
            scene.meet(note("agui/unknown-event", type=type_[:LONGEST]))
            return
        if self._course.ended and not self._begins_again(scene, type_):
            return
        event = sound(scene, type_, kind, value)
        if event is None:
            return
        if type_ in RETIRED:
            event = self._course.thinking.translate(scene, event)
        expanded = self._course.chunks.expand(event)
        for inner in expanded.events:
            self._apply(scene, inner)
        for said in expanded.notes:
            scene.meet(said)

    def _begins_again(self, scene: Scene, type_: str) -> bool:
        """Take in an event behind the end of a run; return whether it begins another."""
        if type_ != "RUN_STARTED":
            scene.meet(late(self._course.ended, type_))
            return False
        scene.meet(note("agui/second-run"))
        self._course = Course(self._document)
        return True

    def _apply(self, scene: Scene, event: Event) -> None:
        type_ = str(event["type"])
        notes = self._course.verifier.check(event)
        for said in notes:
            scene.meet(said)
        if type_ in ENDS:
            self._course.ended = type_
            self._finish(scene, event) if type_ == "RUN_FINISHED" else self._fail(scene, event)
        elif any(map(is_refused, notes)):
            return
        elif type_ == "RUN_STARTED":
            self._start(scene, event)
        elif type_ in EFFECTS:
            EFFECTS[type_](scene, event)
        elif type_ == "CUSTOM" and event["name"] == "on_interrupt":
            scene.meet(note("agui/legacy-interrupt"))

    def _follow(self, scene: Scene, type_: str, value: Event) -> None:
        """Take in an event that no client reads."""
        if type_ == "RUN_STARTED":
            self._move(scene, SessionState.RUNNING, None)
        elif type_ == "RUN_ERROR":
            self._move(scene, *STATES[End.FAILED])
        elif type_ == "RUN_FINISHED":
            end = outcome_of(value).end
            if end is not None:
                self._move(scene, *STATES[end])

    # The ends of a run

    def _start(self, scene: Scene, event: Event) -> None:
        thread, run = self._course.names = optional(event, "threadId"), optional(event, "runId")
        if (thread, run) != (self.asked.thread, self.asked.run):
            scene.meet(note("agui/other-run"))
        self._document.restart(self.line)
        self._move(scene, SessionState.RUNNING, None)

    def _fail(self, scene: Scene, event: Event) -> None:
        words, code = optional(event, "message"), optional(event, "code")
        failure = Failure(self.line, "run", words or "", code and code[:LONGEST], fatal=True)
        scene.fail(failure)
        self._done(scene, End.FAILED, event)
        self._move(scene, *STATES[End.FAILED])

    def _finish(self, scene: Scene, event: Event) -> None:
        names = optional(event, "threadId"), optional(event, "runId")
        if self._course.verifier.is_started and names != self._course.names:
            scene.meet(note("agui/run-renamed"))
        end, notes, interrupts, pending = outcome_of(event)
        for said in notes:
            scene.meet(said)
        if end is None:  # the Rust client reports it twice, and still waits for an end
            scene.meet(note("agui/no-interrupts"))
            scene.fail(Failure(self.line, "protocol", rule="agui/no-interrupts"))
            return
        for said_one in interrupts:
            self._ask(scene, said_one)
        if end is End.SUCCESS and pending is None:
            pending = self._course.verifier.pending()
        self._done(scene, end, event, pending)
        self._move(scene, *STATES[end])

    def _ask(self, scene: Scene, said: Event) -> None:
        self._document.ask(said, self.line)
        words = {name: optional(said, name) for name in ("reason", "toolCallId")}
        detail: dict[str, object] = {
            name: word[:LONGEST] for name, word in words.items() if word is not None
        }
        scene.tell(UpdateKind.INTERRUPT, id=said["id"], subagent=owner_of(said), detail=detail)

    def _break(self, scene: Scene, failure: Failure, *, is_aborted: bool = False) -> None:
        """Tell that the run failed for its client; what it is still owed comes before that."""
        for owed in self._course.chunks.finish():
            self._apply(scene, owed)
        failure.fatal = True
        scene.fail(failure)
        self._done(scene, End.FAILED, {}, is_aborted=is_aborted)
        self._hearing = Hearing.NOBODY
        if self._document.session.state in ACTIVE:
            self._document.session.lost = True

    def _done(
        self,
        scene: Scene,
        end: End,
        event: Event,
        pending: list[str] | None = None,
        *,
        is_aborted: bool = False,
    ) -> None:
        self._course.is_done = True
        detail: dict[str, object] = {"end": end.value}
        if pending:
            detail["pending"] = pending
        if is_aborted:
            detail["aborted"] = True
        done = Done(self.line, self._began, self._course.names[1] or self.asked.run, end)
        done.result, done.usage = event.get("result"), event.get("usage")
        done.pending, done.aborted = pending or [], is_aborted
        self._document.value.done.append(done)
        scene.tell(UpdateKind.DONE, detail=detail)

    def _move(self, scene: Scene, state: SessionState, reason: str | None) -> None:
        session = self._document.session
        session.lost = False
        step = session.move(state, Basis.REPORTED, reason=reason)
        if step is not None:
            scene.transitions.append(step)


def _meaning(scene: Scene) -> Meaning:
    """Return what a scene comes to; what is wrong with several parts of it is said once."""
    told = scene.notes
    notes = [said for place, said in enumerate(told) if said not in told[:place]]
    return Meaning(tuple(scene.transitions), tuple(notes), tuple(scene.updates))
