"""What a correct client shows of a thread. All of it is plain data.

Names and shapes are those of the protocol (agui.md 1.1, 5); `line` is the number of the cassette's
line that brought a thing, 0 if it was in the request that the thread began with.
"""

from dataclasses import dataclass, field

from acptap.agui.events import Event, items, optional, word
from acptap.session import SessionState
from acptap.updates import End

Fields = dict[str, object]


@dataclass(slots=True)
class Text:
    """A text that grows."""

    _parts: list[str] = field(default_factory=list)

    def append(self, delta: str) -> None:
        """Take in what comes next."""
        self._parts.append(delta)

    def clear(self) -> None:
        """Forget it."""
        self._parts.clear()

    def __str__(self) -> str:
        if len(self._parts) > 1:
            self._parts[:] = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""


@dataclass(slots=True)
class ToolCall:
    """A tool call.

    Attributes:
        id: Its id.
        name: The tool's name.
        line: Where it was started.
        text: Its arguments, as far as they have come; JSON at its end.
        metadata: What was said about it.
        encrypted: What the agent wants back, unread.
    """

    id: str
    name: str
    line: int
    text: Text = field(default_factory=Text)
    metadata: Fields = field(default_factory=dict)
    encrypted: str | None = None

    @property
    def arguments(self) -> str:
        """Its arguments, as far as they have come."""
        return str(self.text)

    def as_json(self) -> Fields:
        """Return it as it stands in a message."""
        said: Fields = {
            "id": self.id, "type": "function", "line": self.line,
            "function": {"name": self.name, "arguments": self.arguments},
        }  # fmt: skip
        return said | _extras(self.metadata, self.encrypted)


@dataclass(slots=True)
class Message:
    """A message of a thread, tool results and activities among them.

    Attributes:
        id: Its id.
        role: `user`, `assistant`, `tool`, `activity` and others.
        line: Where it came.
        body: Its content, if that is no text: parts, or an activity's object.
        text: Its content, if that is text, as far as it has come.
        calls: The tool calls in it.
        name: Who speaks, if that was said.
        subagent: The subagent it comes from.
        call: The tool call that it is the result of.
        activity: The activity's type.
        error: What went wrong with the tool.
        metadata: What was said about it.
        encrypted: What the agent wants back, unread.
    """

    id: str
    role: str
    line: int
    body: object = None
    text: Text = field(default_factory=Text)
    calls: list[ToolCall] = field(default_factory=list)
    name: str | None = None
    subagent: str | None = None
    call: str | None = None
    activity: str | None = None
    error: str | None = None
    metadata: Fields = field(default_factory=dict)
    encrypted: str | None = None

    @property
    def content(self) -> object:
        """Its content: a text, parts, or an activity's object."""
        return str(self.text) if self.body is None else self.body

    def put(self, content: object) -> None:
        """Take in content that replaces what there was."""
        self.text = Text([content] if isinstance(content, str) else [])
        self.body = None if isinstance(content, str) else content

    @classmethod
    def read(cls, said: Event, line: int, *, keep: bool) -> "Message":
        """Return a message as it stands in a request or a snapshot.

        Args:
            said: The message, which has an id.
            line: Where it stands.
            keep: Whether to keep what it says. What is patched later is kept anyhow.
        """
        message = cls(word(said, "id"), word(said, "role"), line)
        message.name, message.subagent = optional(said, "name"), optional(said, "subagentRunId")
        message.call, message.error = optional(said, "toolCallId"), optional(said, "error")
        message.activity = optional(said, "activityType")
        if keep or message.role == "activity":
            message.put(said.get("content", ""))
        if keep:
            message.encrypted, metadata = optional(said, "encryptedValue"), said.get("metadata")
            message.metadata = dict(metadata) if isinstance(metadata, dict) else {}
        message.calls = [
            _call_of(call, line, keep=keep)
            for call in items(said.get("toolCalls"))
            if isinstance(call.get("id"), str)
        ]
        return message

    def as_json(self) -> Fields:
        """Return it with the names it has on the wire."""
        said: Fields = {"id": self.id, "role": self.role, "line": self.line}
        if self.activity is not None:
            said["activityType"] = self.activity
        said["content"] = self.content
        rest = {"name": self.name, "toolCallId": self.call, "error": self.error,
                "subagentRunId": self.subagent}  # fmt: skip
        said |= {name: value for name, value in rest.items() if value is not None}
        if self.calls:
            said["toolCalls"] = [call.as_json() for call in self.calls]
        return said | _extras(self.metadata, self.encrypted)


@dataclass(slots=True)
class Reasoning:
    """What the agent, or a subagent, thinks.

    Attributes:
        id: Its id.
        line: Where it began.
        text: What it says, as far as it has come.
        subagent: The subagent it comes from.
        is_open: Whether more may come.
        encrypted: What the agent wants back, unread.
        metadata: What was said about it.
    """

    id: str
    line: int
    text: Text = field(default_factory=Text)
    subagent: str | None = None
    is_open: bool = True
    encrypted: str | None = None
    metadata: Fields = field(default_factory=dict)

    @property
    def content(self) -> str:
        """What it says."""
        return str(self.text)

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        said: Fields = {"id": self.id, "line": self.line, "content": self.content}
        if self.subagent is not None:
            said["subagentRunId"] = self.subagent
        return said | _extras(self.metadata, self.encrypted)


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


def _call_of(said: Event, line: int, *, keep: bool) -> ToolCall:
    function = said.get("function")
    known = function if isinstance(function, dict) else {}
    call = ToolCall(word(said, "id"), word(known, "name"), line)
    if keep:
        call.text.append(word(known, "arguments"))
        call.encrypted, metadata = optional(said, "encryptedValue"), said.get("metadata")
        call.metadata = dict(metadata) if isinstance(metadata, dict) else {}
    return call


def _extras(metadata: Fields, encrypted: str | None) -> Fields:
    said: Fields = {"metadata": metadata} if metadata else {}
    return said if encrypted is None else said | {"encryptedValue": encrypted}
