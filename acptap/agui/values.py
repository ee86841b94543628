"""What a correct client shows of a thread. All of it is plain data.

Names and shapes are those of the protocol (agui.md 1.1, 5); `line` is the number of the cassette's
line that brought a thing.
"""

from dataclasses import dataclass, field

from acptap.agui.events import optional
from acptap.agui.things import Fields, Message, Reasoning, Text, ToolCall
from acptap.session import SessionState
from acptap.updates import End

__all__ = [
    "Done", "Failure", "Interrupt", "Message", "Reasoning", "Subagent", "Text", "ThreadView",
    "ToolCall",
]  # fmt: skip


@dataclass(slots=True)
class Subagent:
    """A subagent, as far as it was told of.

    Attributes:
        id: Its run's id.
        name: Its name; its id if it was never announced.
        line: Where it was told of first.
        status: `running`, `finished`, `suspended` or `failed`.
        fields: What else was said: of its beginning, then of its end.
    """

    id: str
    name: str
    line: int
    status: str = "running"
    fields: Fields = field(default_factory=dict)

    @property
    def parent(self) -> str | None:
        """The subagent that it is one of, if it is one of any."""
        return optional(self.fields, "parentSubagentRunId")

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        ours: Fields = {"id": self.id, "name": self.name, "line": self.line, "status": self.status}
        return ours | {name: self.fields[name] for name in self.fields if name not in ours}


@dataclass(slots=True)
class Interrupt:
    """Something a human is asked.

    Attributes:
        id: Its id.
        line: The line that asks.
        fields: What is asked: `reason`, `message`, `toolCallId` and others.
        outcome: `resolved` or `cancelled` as answered, `dropped` if the next run did not answer;
            None as long as it waits.
        answer: The payload of the answer.
        ended: The number of the line that ended it.
    """

    id: str
    line: int
    fields: Fields = field(default_factory=dict)
    outcome: str | None = None
    answer: object = None
    ended: int | None = None

    @property
    def pending(self) -> bool:
        """Whether it still waits for an answer."""
        return self.outcome is None

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        ours: Fields = {
            "id": self.id, "line": self.line, "outcome": self.outcome, "answer": self.answer,
            "ended": self.ended,
        }  # fmt: skip
        return ours | {name: self.fields[name] for name in self.fields if name not in ours}


@dataclass(slots=True)
class Failure:
    """Something that went wrong.

    Attributes:
        line: The line that told.
        kind: `protocol`, `decode`, `patch`, `run`, `http` or `transport`.
        message: What was said about it.
        code: The code of a failed run, or an HTTP status.
        rule: The rule that was broken, if that is what went wrong.
        fatal: Whether it ended the run.
    """

    line: int
    kind: str
    message: str = ""
    code: str | int | None = None
    rule: str | None = None
    fatal: bool = False

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class Done:
    """The end of a run.

    Attributes:
        line: The line that told.
        began: The line of the request.
        run: The run's id.
        end: How it ended.
        result: What came out of it.
        pending: The tool calls that the application is to answer.
        aborted: Whether the client left.
        usage: The tokens it took, as the agent counts them.
    """

    line: int
    began: int
    run: str
    end: End
    result: object = None
    pending: list[str] = field(default_factory=list)
    aborted: bool = False
    usage: object = None

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class ThreadView:
    """A thread, as a correct client shows it.

    Attributes:
        id: Its id.
        line: The line of its first request.
        session_state: Its state.
        confirmed: Whether the state is certain.
        messages: The conversation, without what the agent thinks.
        state: The application state.
        reasoning: What the agent thinks.
        subagents: The subagents, in order of appearance.
        interrupts: What a human was asked.
        errors: What went wrong.
        done: The runs that ended.
    """

    id: str
    line: int
    session_state: SessionState = SessionState.IDLE
    confirmed: bool = True
    messages: list[Message] = field(default_factory=list)
    state: object = field(default_factory=dict)
    reasoning: list[Reasoning] = field(default_factory=list)
    subagents: list[Subagent] = field(default_factory=list)
    interrupts: list[Interrupt] = field(default_factory=list)
    errors: list[Failure] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)

    @property
    def pending(self) -> list[Interrupt]:
        """What waits for the user's answer."""
        return [interrupt for interrupt in self.interrupts if interrupt.pending]

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The tool calls of all messages."""
        return [call for message in self.messages for call in message.calls]

    @property
    def text(self) -> str:
        """All that the agent said."""
        return "".join(
            str(message.text) for message in self.messages if message.role == "assistant"
        )

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        lists = ("messages", "reasoning", "subagents", "interrupts", "errors", "done")
        return {
            "id": self.id,
            "line": self.line,
            "session_state": self.session_state.value,
            "confirmed": self.confirmed,
            "state": self.state,
            **{name: [item.as_json() for item in getattr(self, name)] for name in lists},
        }
