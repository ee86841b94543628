"""Which subagent messages, tool calls, activities and reasonings of a run belong to (V18 to V21).

Whoever names a thing first owns it, the agent itself included. An event without a subagent may go
on with anything; one that names a subagent only with what that one owns.
"""

from enum import StrEnum

from acptap.agui.events import OWNER, Event, fields, items, owner_of


class Thing(StrEnum):
    """What is owned."""

    MESSAGE = "message"
    REASONING = "reasoning"
    ACTIVITY = "activity"
    CALL = "tool call"


_THINGS = {"activity": Thing.ACTIVITY, "reasoning": Thing.REASONING}
"""What messages of a role are; of other roles, messages."""


class Owners:
    """The owners in one run."""

    def __init__(self) -> None:
        self._owners: dict[Thing, dict[str, str | None]] = {thing: {} for thing in Thing}

    def is_foreign(self, thing: Thing, id_: str, event: Event) -> bool:
        """Return whether an event names another subagent than the owner on record."""
        tag, known = owner_of(event), self._owners[thing]
        return tag is not None and id_ in known and known[id_] != tag

    def find(self, thing: Thing, id_: str) -> tuple[str | None] | None:
        """Return the owner of a thing, or None if nothing is known of it."""
        known = self._owners[thing]
        return (known[id_],) if id_ in known else None

    def claim(self, thing: Thing, id_: str, owner: str | None) -> None:
        """Take in that a thing was named; whoever owns it already keeps it."""
        self._owners[thing].setdefault(id_, owner)

    def move(self, thing: Thing, id_: str, owner: str | None) -> None:
        """Take in that a thing is somebody else's from now on."""
        self._owners[thing][id_] = owner

    def restate(self, messages: object, *, fill: bool = False) -> None:
        """Take in messages that were restated.

        Args:
            messages: An array of messages.
            fill: Whether what is known already stays.
        """
        put = self.claim if fill else self.move
        for message in items(messages):
            id_, owner = message.get("id"), owner_of(message)
            if isinstance(id_, str):
                put(_THINGS.get(str(message.get("role")), Thing.MESSAGE), id_, owner)
            for call in items(message.get("toolCalls")):
                if isinstance(call.get("id"), str):
                    put(Thing.CALL, str(call["id"]), owner)


def nulls_in(event: Event) -> bool:
    """Return whether an event, or what it holds, says null for a subagent (V15)."""
    messages = items(event.get("messages")) + items(fields(event.get("input")).get("messages"))
    interrupts = items(fields(event.get("outcome")).get("interrupts"))
    return any(OWNER in said and said[OWNER] is None for said in (event, *messages, *interrupts))
