"""What stands in a conversation: messages, tool calls, reasoning. All of it is plain data.

Names and shapes are those of the protocol (agui.md 1.1); `line` is the number of the cassette's
line that brought a thing.
"""

from dataclasses import dataclass, field

from acptap.agui.events import Event, items, optional, word

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
