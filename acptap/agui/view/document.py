"""A thread: what all its runs have come to."""

from acptap.agui.events import Event, fields
from acptap.agui.inputs import RunInput
from acptap.agui.patches import copied
from acptap.agui.rules import note
from acptap.agui.values import Interrupt, Message, Reasoning, ThreadView
from acptap.agui.view.messages import Messages
from acptap.notes import Note
from acptap.session import Session

_REASONING = "reasoning"


class Document:
    """A thread, as it is after the last event.

    Args:
        id_: The thread's id.
        line: The line of its first request.
        keep: Whether to keep what is said. Without, only what decides about later events is kept:
            ids, the application state, activities.

    Attributes:
        value: What a client shows of it.
        session: Its state.
        messages: Its messages.
        keep: The same as the argument.
        blocks: The blocks of thinking, in the words of former versions, so far.
        speaker: The run that was the last to change it.
    """

    def __init__(self, id_: str, line: int, *, keep: bool) -> None:
        self.value = ThreadView(id_, line)
        self.session = Session(id_)
        self.messages = Messages(self.value.messages)
        self.keep = keep
        self.blocks = 0
        self.speaker: object = None
        self._thoughts: dict[str, int] = {}
        self._is_known = False  # it may have begun before the recording did

    def seed(self, asked: RunInput, line: int) -> list[Note]:
        """Take in what a request says of the thread (agui.md 4.1), and return the rules it meets.

        A client sends all its messages but activities, and the state.
        """
        self.speaker = None
        self.restate(asked.messages, line)
        self.value.state = copied(asked.state) if asked.has_state else {}
        notes = self._answered(asked, line)
        self._is_known = True
        return notes

    def restate(self, messages: list[Event], line: int) -> None:
        """Take in that the conversation was restated."""
        stated = [
            Message.read(said, line, keep=self.keep)
            for said in messages
            if isinstance(said.get("id"), str)
        ]
        for message in stated:
            if message.role == _REASONING and message.id not in self._thoughts:
                thought = self.think(message.id, message.line)
                thought.text, thought.is_open = message.text, False
                thought.subagent, thought.encrypted = message.subagent, message.encrypted
        self.messages.restate(message for message in stated if message.role != _REASONING)

    def restart(self, line: int) -> None:
        """Take in that a run has started: what was not answered is not asked any more."""
        for interrupt in self.value.pending:
            interrupt.outcome, interrupt.ended = "dropped", line

    def ask(self, said: Event, line: int) -> None:
        """Take in that the user is asked something."""
        asked = Interrupt(str(said["id"]), line, said if self.keep else {})
        self.value.interrupts.append(asked)

    def thought(self, id_: str) -> tuple[int, Reasoning] | None:
        """Return a reasoning and its place, or None."""
        place = self._thoughts.get(id_)
        return None if place is None else (place, self.value.reasoning[place])

    def think(self, id_: str, line: int) -> Reasoning:
        """Take in a new reasoning."""
        thought = Reasoning(id_, line)
        self._thoughts[id_] = len(self.value.reasoning)
        self.value.reasoning.append(thought)
        return thought

    def forget(self) -> None:
        """Drop what only people look at, if it is not to be kept."""
        if not self.keep:
            self.value.errors.clear()
            self.value.done.clear()
            waiting = self.value.pending
            self.value.interrupts[:] = waiting

    def fold(self) -> ThreadView:
        """Return what a client shows, with the state it has now."""
        self.value.session_state = self.session.state
        self.value.confirmed = self.session.confirmed
        return self.value

    def _answered(self, asked: RunInput, line: int) -> list[Note]:
        """Take in what a request answers to interrupts."""
        waiting = {interrupt.id: interrupt for interrupt in self.value.pending}
        if asked.answers is None and _answers_elsewhere(asked):
            return []
        notes = []
        for answer in asked.answers or []:
            interrupt = waiting.pop(answer.interrupt, None)
            if interrupt is None and self._is_known:
                notes.append(note("agui/unknown-interrupt", id=answer.interrupt))
            elif interrupt is not None:
                interrupt.outcome, interrupt.answer = answer.status, answer.payload
                interrupt.ended = line
        return notes + [note("agui/unanswered-interrupt", id=id_) for id_ in waiting]


def _answers_elsewhere(asked: RunInput) -> bool:
    """Return whether a request resumes in the way of LangGraph before 1.0."""
    return "resume" in fields(fields(asked.value.get("forwardedProps")).get("command"))
