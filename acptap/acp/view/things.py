"""Things that stand in a conversation, as a correct client shows them.

All of them are plain data. `fields` has what the peer said of a thing, by its name on the wire;
what has a meaning of its own is a property beside it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from acptap.acp.view import merging

Fields = dict[str, object]


@dataclass(slots=True)
class Item:
    """A thing in a conversation.

    Attributes:
        id: Its id, or None if it has none.
        line: The number of the cassette's line that brought it.
        fields: What was said of it.
        content: Its content blocks.
    """

    TYPE: ClassVar[str] = "item"

    id: str | None
    line: int
    fields: Fields = field(default_factory=dict)
    content: list[object] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its text: the text blocks, joined."""
        return merging.text_of(self.content)

    def patch(self, update: Fields, *, nulls: bool = True) -> None:
        """Take in an upsert; content that it brings replaces all there was."""
        rest = {name: update[name] for name in update if name != "content"}
        merging.patch(self.fields, rest, nulls=nulls)
        if "content" in update and (nulls or update["content"] is not None):
            self.content = merging.blocks(update["content"])

    def append(self, update: Fields) -> None:
        """Take in a chunk."""
        self.content += merging.blocks(update.get("content"))

    def clear(self) -> None:
        """Forget all that was said of it."""
        self.fields, self.content = {}, []

    def word(self, name: str, default: str = "") -> str:
        """Return a field that is a text."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else default

    def as_json(self) -> Fields:
        """Return it as JSON values."""
        ours: Fields = {"type": self.TYPE, "id": self.id, "line": self.line, **self._ours()}
        return ours | {name: self.fields[name] for name in self.fields if name not in ours}

    def _ours(self) -> Fields:
        return {"text": self.text, "content": self.content}


@dataclass(slots=True)
class Message(Item):
    """What somebody said.

    Attributes:
        role: `user`, `agent`, or `session` for what another session said.
    """

    TYPE: ClassVar[str] = "message"

    role: str = "agent"

    def _ours(self) -> Fields:
        return {"role": self.role, "text": self.text, "content": self.content}


@dataclass(slots=True)
class Reasoning(Item):
    """What the agent thinks."""

    TYPE: ClassVar[str] = "reasoning"


@dataclass(slots=True)
class ToolCall(Item):
    """A tool call. Of its `fields`: `rawInput`, `rawOutput`, `locations`, `name` and others.

    Attributes:
        beside: The ids of terminals that were told of beside it, in its `_meta`.
    """

    TYPE: ClassVar[str] = "tool_call"

    beside: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """What it does, for people; its name or id, if nothing was said."""
        return self.word("title") or self.word("name") or self.id or ""

    @property
    def kind(self) -> str:
        """What sort of tool it is."""
        return self.word("kind", "other")

    @property
    def status(self) -> str:
        """How far it is; a status that is not known means it is still at work."""
        return self.word("status", "pending")

    def show(self, terminals: Iterable[str]) -> None:
        """Take in that terminals were told of beside it."""
        self.beside = list(dict.fromkeys([*self.beside, *terminals]))

    @property
    def terminals(self) -> list[str]:
        """The ids of the terminals in its content, then of those that were told beside it."""
        ids = [block.get("terminalId") for block in self.content if isinstance(block, dict)]
        inside = [id_ for id_ in ids if isinstance(id_, str)]
        return inside + [id_ for id_ in self.beside if id_ not in inside]

    def _ours(self) -> Fields:
        return {"title": self.title, "kind": self.kind, "status": self.status, "text": self.text,
                "content": self.content, "terminals": self.terminals}  # fmt: skip


@dataclass(slots=True)
class Terminal(Item):
    """A terminal."""

    TYPE: ClassVar[str] = "terminal"

    _output: bytearray = field(default_factory=bytearray)

    @property
    def output(self) -> bytes:
        """The bytes it has put out. They may end inside a character."""
        return bytes(self._output)

    @property
    def text(self) -> str:
        """Its output as text."""
        return self._output.decode("utf-8", "replace")

    @property
    def exited(self) -> bool:
        """Whether its process has ended."""
        return isinstance(self.fields.get("exitStatus"), dict)

    def patch(self, update: Fields, *, nulls: bool = True) -> None:
        """Take in an upsert; output that it brings replaces all there was."""
        rest = {name: update[name] for name in update if name != "output"}
        merging.patch(self.fields, rest, nulls=nulls)
        if "output" in update:
            self._output = bytearray(merging.output_of(update["output"]))

    def append(self, update: Fields) -> None:
        """Take in a chunk: base64 of its own."""
        self._output += merging.decoded(update.get("data"))

    def _ours(self) -> Fields:
        return {"text": self.text, "exited": self.exited}


@dataclass(slots=True)
class Activity(Item):
    """A notice, or a compaction of the conversation; a compaction's summary is its content.

    Attributes:
        name: `notice` or `compaction`.
    """

    TYPE: ClassVar[str] = "activity"

    name: str = "notice"

    def _ours(self) -> Fields:
        return {"name": self.name, "text": self.text, "content": self.content}
