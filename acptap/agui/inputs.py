"""What a client asks a run for: the body of its POST (agui.md 1.1)."""

from dataclasses import dataclass, field

from acptap.agui.events import Event, items, optional, word


@dataclass(frozen=True, slots=True)
class Answer:
    """What the client answers to an interrupt of an earlier run.

    Attributes:
        interrupt: The interrupt's id.
        status: `resolved` or `cancelled`.
        payload: What was answered.
    """

    interrupt: str
    status: str
    payload: object = None


@dataclass(frozen=True, slots=True)
class RunInput:
    """A request for a run.

    Attributes:
        thread: The conversation's id.
        run: The run's id.
        messages: The conversation so far; what is no object is left out.
        state: The application state; None if the request has none.
        has_state: Whether the request has a state.
        answers: What it answers to interrupts; None if it answers nothing.
        parent: The run that this one branches off, if it names one.
        value: The whole request.
    """

    thread: str
    run: str
    messages: list[Event] = field(default_factory=list)
    state: object = None
    has_state: bool = False
    answers: list[Answer] | None = None
    parent: str | None = None
    value: Event = field(default_factory=dict)

    @classmethod
    def read(cls, value: object) -> "RunInput | None":
        """Return the request that a JSON value is, or None if it is none."""
        if not isinstance(value, dict):
            return None
        thread, run, messages = value.get("threadId"), value.get("runId"), value.get("messages")
        if not (isinstance(thread, str) and isinstance(run, str) and isinstance(messages, list)):
            return None
        state = value.get("state")  # null is read as absent
        return cls(
            thread, run, items(messages), state, state is not None, _answers(value.get("resume")),
            optional(value, "parentRunId"), value,
        )  # fmt: skip


def _answers(value: object) -> list[Answer] | None:
    if not isinstance(value, list):
        return None
    return [
        Answer(word(entry, "interruptId"), str(entry.get("status")), entry.get("payload"))
        for entry in items(value)
        if isinstance(entry.get("interruptId"), str)
    ]
