"""Chunks, spelled out as the events they stand for (agui.md 4.10).

Each subagent has a lane of its own, and so has the agent. In a lane one thing at a time is streamed
in chunks; what opens another, or speaks of another, ends it.
"""

from dataclasses import dataclass
from typing import NamedTuple

from acptap.agui.events import ENDS, OWNER, Event, optional, owner_of
from acptap.agui.rules import note
from acptap.notes import Note


class Kind(NamedTuple):
    """What a sort of chunk is spelled out as.

    Attributes:
        id: The member that names what is streamed.
        start: The type of its first event.
        content: The type of the events that append to it.
        end: The type of its last event.
        fixed: Members that may not change from chunk to chunk, and what they are by default.
        required: Members that a first chunk needs.
    """

    id: str
    start: str
    content: str
    end: str
    fixed: dict[str, str | None]
    required: tuple[str, ...]


TEXT = Kind(
    "messageId", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
    {"role": "assistant", "name": None}, ("messageId",),
)  # fmt: skip
TOOL = Kind(
    "toolCallId", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END",
    {"toolCallName": None, "parentMessageId": None}, ("toolCallId", "toolCallName"),
)  # fmt: skip
REASONING = Kind(
    "messageId", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END",
    {}, ("messageId",),
)  # fmt: skip

CHUNKS = {
    "TEXT_MESSAGE_CHUNK": TEXT,
    "TOOL_CALL_CHUNK": TOOL,
    "REASONING_MESSAGE_CHUNK": REASONING,
}

_ALOUD = ("TEXT_", "TOOL_CALL_", "REASONING_", "THINKING_")
"""What types begin with that end a stream of chunks in their lane, unless they speak of it."""

_BESIDE = ("STATE_", "CUSTOM", "STEP_")
"""What types begin with that do so for the TypeScript client only."""

_BESIDE_ALL = frozenset({"MESSAGES_SNAPSHOT", "RUN_STARTED"})
"""Types that do so in all lanes, for the same client."""


@dataclass(slots=True)
class Stream:
    """What is streamed in a lane.

    Attributes:
        kind: What sort of thing it is.
        id: Its id.
        lane: The subagent it belongs to, or None.
        opener: The first chunk.
        is_closed: Whether the TypeScript client takes it for closed.
    """

    kind: Kind
    id: str
    lane: str | None
    opener: Event
    is_closed: bool = False

    def event(self, type_: str, **members: object) -> Event:
        """Return an event about it."""
        owner: Event = {} if self.lane is None else {OWNER: self.lane}
        return {"type": type_, self.kind.id: self.id, **members, **owner}

    def end(self) -> Event:
        """Return its last event."""
        return self.event(self.kind.end)


class Expanded(NamedTuple):
    """What an event stands for.

    Attributes:
        events: The events.
        notes: What is wrong with it, to be said after them.
    """

    events: list[Event]
    notes: list[Note]


class Chunks:
    """The chunks of one run."""

    def __init__(self) -> None:
        self._lanes: dict[str | None, Stream] = {}

    def expand(self, event: Event) -> Expanded:
        """Return the events that an event of a known type stands for; of most, itself."""
        kind = CHUNKS.get(str(event["type"]))
        if kind is not None:
            return self._chunk(kind, event)
        if not self._lanes:
            return Expanded([event], [])
        return Expanded([*self._closed_by(event), event], [])

    def finish(self) -> list[Event]:
        """Return the last events that are still owed."""
        owed = [stream.end() for stream in self._lanes.values()]
        self._lanes.clear()
        return owed

    # Events that are no chunks

    def _closed_by(self, event: Event) -> list[Event]:
        type_, lane = str(event["type"]), owner_of(event)
        if type_ in ENDS:
            return self.finish()
        if type_ == "TOOL_CALL_RESULT":
            return self._closed_by_result(event, lane)
        if type_.startswith(_ALOUD):
            return self._closed_aloud(event, type_, lane)
        for place, stream in self._lanes.items():
            if type_ in _BESIDE_ALL or (place == lane and type_.startswith(_BESIDE)):
                stream.is_closed = True
        return []

    def _closed_by_result(self, event: Event, lane: str | None) -> list[Event]:
        over = [
            place
            for place, stream in self._lanes.items()
            if place == lane or (stream.kind is TOOL and stream.id == event.get("toolCallId"))
        ]
        return [self._lanes.pop(place).end() for place in over]

    def _closed_aloud(self, event: Event, type_: str, lane: str | None) -> list[Event]:
        stream = self._lanes.get(lane)
        if stream is None:
            return []
        if _subject(event) != stream.id:
            return [self._lanes.pop(lane).end()]
        if type_ == stream.kind.end:  # it is ended by name
            del self._lanes[lane]
        return []

    # Chunks

    def _chunk(self, kind: Kind, event: Event) -> Expanded:
        id_, lane = optional(event, kind.id), owner_of(event)
        if id_ is None:
            candidates = self._candidates(kind, lane)
            if len(candidates) > 1:
                return Expanded([], [note("agui/chunk-ambiguous")])
            if not candidates:
                return Expanded([], [note("agui/chunk-without-start")])
            return self._go_on(candidates[0], event)
        for stream in self._lanes.values():
            if stream.kind is kind and stream.id == id_:
                if lane not in (None, stream.lane):
                    return Expanded([], [note("agui/chunk-owner", id=id_)])
                return self._go_on(stream, event)
        return self._open(kind, id_, lane, event)

    def _candidates(self, kind: Kind, lane: str | None) -> list[Stream]:
        """Return what a chunk without an id may go on with."""
        own = self._lanes.get(lane)
        if own is not None and own.kind is kind:
            return [own]
        if lane is not None:
            return []
        return [stream for stream in self._lanes.values() if stream.kind is kind]

    def _go_on(self, stream: Stream, event: Event) -> Expanded:
        kind = stream.kind
        if any(event.get(name) not in (None, _opened_with(stream, name)) for name in kind.fixed):
            return Expanded([], [note("agui/chunk-changes", id=stream.id)])
        notes = []
        if stream.is_closed:
            stream.is_closed = False
            if not all(isinstance(event.get(name), str) for name in kind.required):
                notes.append(note("agui/chunk-after-close", id=stream.id))
        return Expanded(_content(stream, event), notes)

    def _open(self, kind: Kind, id_: str, lane: str | None, event: Event) -> Expanded:
        if not all(isinstance(event.get(name), str) for name in kind.required):
            return Expanded([], [note("agui/chunk-without-start", id=id_)])
        former = self._lanes.pop(lane, None)
        closed = [] if former is None else [former.end()]
        stream = self._lanes[lane] = Stream(kind, id_, lane, event)
        fixed = {name: event[name] for name in kind.fixed if event.get(name) is not None}
        start = stream.event(kind.start, **fixed, **_metadata(event))
        return Expanded([*closed, start, *_content(stream, event)], [])


def _subject(event: Event) -> object:
    """Return the id of what an event is about."""
    return event.get("messageId") or event.get("toolCallId") or event.get("entityId")


def _opened_with(stream: Stream, name: str) -> object:
    return stream.opener.get(name) or stream.kind.fixed[name]


def _content(stream: Stream, event: Event) -> list[Event]:
    delta = event.get("delta")
    if not isinstance(delta, str):
        return []
    return [stream.event(stream.kind.content, delta=delta, **_metadata(event))]


def _metadata(event: Event) -> Event:
    said = event.get("metadata")
    return {"metadata": said} if isinstance(said, dict) else {}
