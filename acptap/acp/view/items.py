"""A session as its view is followed: which things are in it, and at which place.

The tap follows conversations that may last for days, so nothing here holds what was said: a thing
has a `value` only where somebody asked for values.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from acptap.acp.view.things import (
    Activity,
    Item,
    Message,
    Reasoning,
    Terminal,
    ToolCall,
)
from acptap.acp.view.values import SessionView
from acptap.updates import LONGEST, Change, Update, UpdateKind

REMEMBERED = 20_000
"""Things in a session that are found again by their ids; beyond that the oldest are forgotten."""


class Of(StrEnum):
    """What a thing is. Each has ids of its own: `m1` can be a message and a thought (2.3)."""

    USER = "user"
    AGENT = "agent"
    SESSION = "session"
    THOUGHT = "thought"
    TOOL = "tool"
    TERMINAL = "terminal"
    NOTICE = "notice"
    COMPACTION = "compaction"


VALUES: dict[Of, Callable[[str | None, int], Item]] = {
    Of.USER: lambda id_, line: Message(id_, line, role="user"),
    Of.AGENT: Message,
    Of.SESSION: lambda id_, line: Message(id_, line, role="session"),
    Of.THOUGHT: Reasoning,
    Of.TOOL: ToolCall,
    Of.TERMINAL: Terminal,
    Of.NOTICE: Activity,
    Of.COMPACTION: lambda id_, line: Activity(id_, line, name="compaction"),
}

CHANGES: dict[Of, tuple[Change, Change]] = {
    # what is told when the first chunk, or all at once, comes; and when more comes
    Of.TOOL: (Change.TOOL_STARTED, Change.TOOL_RESULT),
    Of.NOTICE: (Change.ACTIVITY, Change.ACTIVITY),
    Of.COMPACTION: (Change.ACTIVITY, Change.ACTIVITY),
}
_SPOKEN = (Change.STARTED, Change.CONTENT)


class Place:
    """A thing's place in a session.

    Attributes:
        of: What it is.
        id: Its id, if it has one.
        index: Its place.
        value: What was said of it; None where nobody wants to know.
        final: Whether it is a tool call or a terminal that has ended.
        prompt: Whether it is the user's prompt as the client sent it, which the agent may repeat.
    """

    __slots__ = ("_more", "final", "id", "index", "of", "prompt", "value")

    def __init__(self, of: Of, id_: str | None, index: int, value: Item | None) -> None:
        self.of = of
        self.id = id_
        self.index = index
        self.value = value
        self.final = False
        self.prompt = False
        self._more: tuple[Update, ...] = ()

    def more(self, thread: "Thread") -> tuple[Update, ...]:
        """Return what is told when more comes: the same object every time."""
        if not self._more:
            self._more = (thread.told(self, CHANGES.get(self.of, _SPOKEN)[1]),)
        return self._more

    def move(self, by: int) -> None:
        """Move to a place further behind."""
        self.index += by
        self._more = ()

    def first(self, thread: "Thread") -> Update:
        """Return what is told when it comes."""
        return thread.told(self, CHANGES.get(self.of, _SPOKEN)[0])


@dataclass(slots=True, eq=False)
class Start:
    """What begins a turn: a prompt, or work that the agent begins.

    Attributes:
        line: The number of the cassette's line it stands in.
    """

    line: int


class Thread:
    """A session's conversation.

    Attributes:
        id: The session's id.
        value: What a client shows of it; None where nobody wants to know.
        subagent: The id again, if it is a child session.
        prompts: Prompts that wait for an answer, and are not part of a turn that ended.
        began: What began the turn under way, or None.
        resuming: Whether a resume is not answered.
        count: How many things are in it.
        last: The last of them, as long as a chunk without an id may belong to it.
    """

    __slots__ = ("_before", "_places", "began", "count", "id", "last", "prompts", "resuming",
                 "subagent", "value")  # fmt: skip

    def __init__(self, id_: str, value: SessionView | None) -> None:
        self.id = id_
        self.value = value
        self.subagent: str | None = None
        self.prompts: list[Start] = []
        self.began: Start | None = None
        self.resuming = False
        self.count = 0
        self.last: Place | None = None
        self._places: dict[tuple[Of, str], Place] = {}
        self._before: _Before | None = None

    def find(self, of: Of, id_: str | None) -> Place | None:
        """Return a thing by its id; without one, the last thing, if it is of that sort."""
        if id_ is not None:
            return self._places.get((of, id_))
        return self.last if self.last is not None and self.last.of is of else None

    def add(self, of: Of, id_: str | None, line: int) -> Place:
        """Put a thing at the end."""
        value = None
        if self.value is not None:
            value = VALUES[of](id_, line)
            self.value.messages.append(value)
        place = Place(of, id_, self.count, value)
        self.count += 1
        self.last = place
        self.name(place, id_)
        return place

    def name(self, place: Place, id_: str | None) -> None:
        """Let a thing be found by an id."""
        if id_ is None:
            return
        place.id = id_
        if place.value is not None:
            place.value.id = id_
        self._places[place.of, id_] = place
        if len(self._places) > REMEMBERED:
            del self._places[next(iter(self._places))]

    def told(self, place: Place, change: Change) -> Update:
        """Return the update that a thing has changed."""
        kind = UpdateKind.REASONING if place.of is Of.THOUGHT else UpdateKind.MESSAGE
        return Update(kind, self.id, place.index, place.id, change, self.subagent)

    # A history that is told again

    def restate(self) -> None:
        """Begin anew: what comes next is the conversation from its start."""
        items: list[Item] = []
        if self.value is not None:
            items, self.value.messages = self.value.messages, []
        if self._before is None:
            self._before = _Before(self.count, self._places, items)
        self.count, self.last, self._places = 0, None, {}

    def restated(self, *, failed: bool) -> bool:
        """End that. A history that was not told after all leaves the old one in its place.

        Returns:
            Whether the conversation has to be drawn again.
        """
        before, self._before = self._before, None
        if before is not None and (failed or not self.count):
            self._go_on_from(before)
        self.last = None
        return not failed or (before is not None and self.count > 0)

    def _go_on_from(self, before: "_Before") -> None:
        for place in self._places.values():
            place.move(before.count)
        self.count += before.count
        self._places = before.places | self._places
        if self.value is not None:
            self.value.messages = before.items + self.value.messages


@dataclass(slots=True)
class _Before:
    """A conversation until it was told again."""

    count: int
    places: dict[tuple[Of, str], Place]
    items: list[Item]


def identity(value: object) -> str | None:
    """Return an id that a peer gave a thing, shortened if it is no sane one."""
    if not isinstance(value, str):
        return None
    if len(value) <= LONGEST:
        return value
    return f"{value[:LONGEST]}~{zlib.crc32(value.encode('utf-8', 'surrogatepass')):08x}"
