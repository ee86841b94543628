"""Updates of what stands in a conversation: one row each, with the function that reads it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from acptap.acp.view.beside import parted
from acptap.acp.view.items import Of, Place, Thread, identity
from acptap.acp.view.things import Fields, ToolCall
from acptap.updates import Change, Update

Updates = tuple[Update, ...]

FINAL = frozenset({"completed", "failed", "cancelled"})
"""Statuses of a tool call that has ended; any other one means it is at work (2.3, rule 9)."""


MESSAGE = "messageId"
"""The member that names a message. It may be left out, and that of other things may not."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """An update on its way into a session.

    Attributes:
        thread: The session.
        update: The update.
        line: The number of its line in the cassette; 0 for the tap.
        nulls: Whether null clears a tool call's field, as from version 2 on.
    """

    thread: Thread
    update: Fields
    line: int
    nulls: bool


@dataclass(frozen=True, slots=True)
class Entity:
    """A row: an update of something that stands in the conversation.

    Attributes:
        read: What to do with it.
        of: What it is an update of.
        key: The member that has the id.
    """

    read: "Reader"
    of: Of
    key: str = MESSAGE


Reader = Callable[[Entity, Arrival], Updates]


def _arrived(row: Entity, new: Arrival) -> tuple[Place, bool]:
    """Return the place that an update is for, and whether it is new."""
    id_ = identity(new.update.get(row.key))
    place = new.thread.find(row.of, id_)
    if place is not None:
        return place, False
    return new.thread.add(row.of, id_, new.line), True


def _append(row: Entity, new: Arrival) -> Updates:
    place, fresh = _arrived(row, new)
    new.thread.last = place  # a chunk without an id goes on with it
    if place.value is not None:
        place.value.append(new.update)
    return (place.first(new.thread),) if fresh else place.more(new.thread)


def _echo(row: Entity, new: Arrival) -> Updates:
    """Read a chunk of the user's message, which may be the prompt that the client has shown."""
    last, id_ = new.thread.last, identity(new.update.get(row.key))
    if last is None or not last.prompt or last.id not in (None, id_):
        return _append(row, new)
    last.prompt = False
    new.thread.name(last, id_)
    if last.value is not None:
        last.value.clear()
        last.value.append(new.update)
    return (new.thread.told(last, Change.REPLACED),)


def _speech(row: Entity, new: Arrival) -> Updates:
    """Read a whole message; without `content` it leaves the content alone (rule 2)."""
    place, fresh = _arrived(row, new)
    if place.value is not None:
        place.value.patch(new.update)
    if fresh:
        return (place.first(new.thread),)
    return (new.thread.told(place, Change.REPLACED),) if "content" in new.update else ()


def _compaction(row: Entity, new: Arrival) -> Updates:
    place, _ = _arrived(row, new)
    if place.value is not None:
        place.value.patch(new.update)
    return (place.first(new.thread),)


def _notice(row: Entity, new: Arrival) -> Updates:
    place = new.thread.add(row.of, None, new.line)
    new.thread.last = None  # it has no lifecycle, so nothing belongs to it
    if place.value is not None:
        place.value.patch(new.update)
    return (place.first(new.thread),)


def _new_tool(row: Entity, new: Arrival) -> Updates:
    """Read a tool call of version 1: all of it, also when the id is known."""
    known = new.thread.find(row.of, identity(new.update.get(row.key)))
    if known is None:
        return _tool(row, new)
    if known.value is not None:
        known.value.clear()
        known.value.patch(new.update)
    known.final = known.final and "status" in new.update
    return (new.thread.told(known, Change.REPLACED), *_ended(known, new, "status"))


TOOL_CHANGES: dict[Change, tuple[str, ...]] = {
    # what is told when an update of a tool call has one of these members
    Change.TOOL_ARGS: ("rawInput",),
    Change.TOOL_RESULT: ("content", "rawOutput"),
}


def _tool(row: Entity, new: Arrival) -> Updates:
    place, fresh = _arrived(row, new)
    if place.value is not None:
        place.value.patch(new.update, nulls=new.nulls)
    ended = _ended(place, new, "status")
    if fresh:
        return (place.first(new.thread), *ended)
    changes = [change for change, names in TOOL_CHANGES.items() if _brings(new, names)]
    told = [new.thread.told(place, change) for change in changes]
    return (*told, *ended) if told or ended else (new.thread.told(place, Change.ACTIVITY),)


def _brings(new: Arrival, names: tuple[str, ...]) -> bool:
    return any(name in new.update and (new.nulls or new.update[name] is not None) for name in names)


def _with_terminals(read: Reader) -> Reader:
    """Return a reader of tool calls that first reads what is told of terminals beside them."""

    def both(row: Entity, new: Arrival) -> Updates:
        terminals, rest = ([], new.update) if new.nulls else parted(new.update)
        if not terminals:
            return read(row, new)
        thread, last = new.thread, new.thread.last
        told: Updates = ()
        for name, update in terminals:
            told += ENTITIES[name].read(ENTITIES[name], replace(new, update=update))
        thread.last = last  # a chunk without an id goes on behind it: clients show it in the call
        said = read(row, replace(new, update=rest))
        call = thread.find(row.of, identity(rest.get(row.key)))
        assert call is not None  # it has just been read
        if isinstance(call.value, ToolCall):
            call.value.show(identity(update["terminalId"]) or "" for _, update in terminals)
        if rest.keys() <= _NAMES:
            said = tuple([update for update in said if update.change is not Change.ACTIVITY])
        return told + said

    return both


def _terminal(row: Entity, new: Arrival) -> Updates:
    place, fresh = _arrived(row, new)
    if place.value is not None:
        place.value.patch(new.update)
    ended = _ended(place, new, "exitStatus")
    if fresh:
        return (place.first(new.thread), *ended)
    if "output" in new.update:
        return (new.thread.told(place, Change.REPLACED), *ended)
    return ended or (new.thread.told(place, Change.ACTIVITY),)


ENDS: dict[str, tuple[Change, Callable[[object], bool]]] = {
    # by the member that tells of an end: what is told then, and whether a value means the end
    "status": (Change.TOOL_ENDED, lambda value: isinstance(value, str) and value in FINAL),
    "exitStatus": (Change.ENDED, lambda value: isinstance(value, dict)),
}


def _ended(place: Place, new: Arrival, name: str) -> Updates:
    """Return the update that a tool call or a terminal has ended, if it just has."""
    value = new.update.get(name)
    if name not in new.update or (value is None and not new.nulls):
        return ()
    change, is_final = ENDS[name]
    before, place.final = place.final, is_final(value)
    return (new.thread.told(place, change),) if place.final and not before else ()


_TOOL, _TERMINAL, _SUMMARY = "toolCallId", "terminalId", "compactionId"
_NAMES = frozenset({"sessionUpdate", _TOOL})
"""Members of an update of a tool call that say nothing about it."""

ENTITIES: dict[str, Entity] = {
    "user_message_chunk": Entity(_echo, Of.USER),
    "agent_message_chunk": Entity(_append, Of.AGENT),
    "agent_thought_chunk": Entity(_append, Of.THOUGHT),
    "session_message_chunk": Entity(_append, Of.SESSION),
    "user_message": Entity(_speech, Of.USER),
    "agent_message": Entity(_speech, Of.AGENT),
    "agent_thought": Entity(_speech, Of.THOUGHT),
    "session_message": Entity(_speech, Of.SESSION),
    "tool_call": Entity(_with_terminals(_new_tool), Of.TOOL, _TOOL),
    "tool_call_update": Entity(_with_terminals(_tool), Of.TOOL, _TOOL),
    "tool_call_content_chunk": Entity(_append, Of.TOOL, _TOOL),
    "terminal_update": Entity(_terminal, Of.TERMINAL, _TERMINAL),
    "terminal_output_chunk": Entity(_append, Of.TERMINAL, _TERMINAL),
    "notice": Entity(_notice, Of.NOTICE),
    "compaction_update": Entity(_compaction, Of.COMPACTION, _SUMMARY),
    "compaction_summary_chunk": Entity(_append, Of.COMPACTION, _SUMMARY),
}
