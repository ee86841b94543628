"""Where ids stand in events, and whose they are (agui.md 7.3).

Threads, runs and the messages of the client are named by the client, so these names follow the live
ones. All other ids are the server's: they stay, or else a client that repeats them would not be
understood by the rest of the recording. Nothing is replaced in raw events and metadata.
"""

from enum import StrEnum

from acptap.agui.retexting import Place
from acptap.wire.spans import Path


class Slot(StrEnum):
    """What stands somewhere."""

    THREAD = "thread"
    RUN = "run"
    PARENT = "parent"
    """The run that another one branches off."""
    MESSAGE = "message"
    """The id of a message, the client's or the server's."""
    SERVER = "server"
    """Any other id that the server made."""
    EMBEDDED = "embedded"
    """Any text at all, and if it is the id of a message of the client, then that."""
    EXPIRY = "expiry"
    """When an interrupt can't be answered any more."""


_OF_ANY_EVENT = {
    "messageId": Slot.MESSAGE, "parentMessageId": Slot.MESSAGE, "toolCallId": Slot.SERVER,
    "parentToolCallId": Slot.SERVER, "subagentRunId": Slot.SERVER,
    "parentSubagentRunId": Slot.SERVER, "entityId": Slot.SERVER,
}  # fmt: skip

_INTERRUPT = {
    "id": Slot.SERVER, "toolCallId": Slot.SERVER, "subagentRunId": Slot.SERVER,
    "expiresAt": Slot.EXPIRY,
}  # fmt: skip

_MESSAGE = {
    "id": Slot.MESSAGE, "toolCallId": Slot.SERVER, "subagentRunId": Slot.SERVER,
    "toolCalls/*/id": Slot.SERVER,
}  # fmt: skip


def _below(above: str, slots: dict[str, Slot]) -> dict[str, Slot]:
    return {f"{above}/{path}": slot for path, slot in slots.items()}


_SLOTS: dict[str, dict[str, Slot]] = {
    # by event type; what JSON has in `outcome`, protobuf has beside it
    "RUN_STARTED": {
        "threadId": Slot.THREAD, "runId": Slot.RUN, "parentRunId": Slot.PARENT,
        "input/threadId": Slot.THREAD, "input/runId": Slot.RUN, "input/parentRunId": Slot.PARENT,
        **_below("input/messages/*", _MESSAGE),
    },
    "RUN_FINISHED": {
        "threadId": Slot.THREAD, "runId": Slot.RUN,
        "outcome/pendingToolCallIds/*": Slot.SERVER, "pendingToolCallIds/*": Slot.SERVER,
        **_below("outcome/interrupts/*", _INTERRUPT), **_below("interrupts/*", _INTERRUPT),
    },
    "SUBAGENT_FINISHED": {
        "outcome/interruptIds/*": Slot.SERVER, "interruptIds/*": Slot.SERVER,
    },
    "MESSAGES_SNAPSHOT": _below("messages/*", _MESSAGE),
    "STATE_SNAPSHOT": {"snapshot/**": Slot.EMBEDDED},
    "STATE_DELTA": {"delta/*/value/**": Slot.EMBEDDED},
}  # fmt: skip

_DEEP = "**"


def _place(path: str) -> Place:
    return tuple(None if step == "*" else step for step in path.split("/") if step != _DEEP)


_ANY = {_place(path): slot for path, slot in _OF_ANY_EVENT.items()}
_PLACES = {
    type_: {_place(path): slot for path, slot in slots.items()} for type_, slots in _SLOTS.items()
}
_DEPTHS = {
    # how many steps lead to a value in which all texts count
    type_: len(_place(path))
    for type_, slots in _SLOTS.items()
    for path in slots
    if _DEEP in path
}
_WAYS = {
    type_: {place[:size] for place in places for size in range(len(place))}
    for type_, places in _PLACES.items()
}


def place_of(path: Path) -> Place:
    """Return the place that a path leads to."""
    return tuple(None if isinstance(step, int) else step for step in path)


def slot_at(type_: str, place: Place) -> Slot | None:
    """Return what stands at a place of an event; None if it is none of these."""
    places = _PLACES.get(type_, {})
    depth = _DEPTHS.get(type_)
    if depth is not None and len(place) >= depth:
        place = place[:depth]
    return places.get(place) or _ANY.get(place)


def leads_on(type_: str, place: Place) -> bool:
    """Return whether there is anything of that kind below a place."""
    depth = _DEPTHS.get(type_)
    if depth is not None and len(place) >= depth:
        return place[:depth] in _PLACES[type_]
    return not place or place in _WAYS.get(type_, ())
