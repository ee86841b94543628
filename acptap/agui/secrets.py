"""Where secrets stand in AG-UI requests and events (agui.md 8), and which values are no text.

Texts that people, models and tools write need no row: key shapes and secrets already learnt are
looked for in every string.
"""

from typing import Final, NamedTuple

from acptap.slots import Slot

METHOD: Final = "ag-ui"
"""Stands where ACP has a method: for everything in an exchange that is a run."""

SLOTS: list[tuple[str, Slot]] = [
    # Names on the way to a value, in this order but with gaps, the last one its own; `*` is any.
    # The first row that fits counts.
    ("forwardedProps headers|env|secrets|credentials|cookies *", Slot.WHOLE),
    ("encryptedValue", Slot.WHOLE),  # what a provider hides from its own clients
    ("source value", Slot.URL),
    ("url|uri|href", Slot.URL),
    ("*", Slot.NAMED),  # `apiKey` in forwardedProps, in state, in what an error quotes…
]

MARKS = (b"encryptedValue", b"://")
"""What a text holds if a row fits but the last; that one counts only beside telling names."""

KEPT = frozenset(
    {"type", "role", "subtype", "op", "path", "from", "status", "mimeType", "protocolVersion"}
    | {"id", "threadId", "runId", "parentRunId", "messageId", "parentMessageId", "entityId"}
    | {"toolCallId", "toolCallName", "parentToolCallId", "pendingToolCallIds", "activityType"}
    | {"subagentRunId", "parentSubagentRunId", "interruptId", "interruptIds", "stepName"}
    | {"expiresAt", "encryptedValueType"}
)
"""Members whose values are ids or words of the protocol; a replay is lost without them."""

FREE = frozenset(
    {"forwardedProps", "state", "snapshot", "value", "event", "rawEvent", "metadata", "payload"}
    | {"result", "responseSchema", "parameters"}
)
"""Members whose contents are nobody's vocabulary: in them nothing is kept."""

BESIDE = ("name", "description", "path")
"""Members that say what a `value` beside them is: of a context, of a patch."""


class Row(NamedTuple):
    """A row of the table, ready to be applied.

    Attributes:
        names: The names on the way; of each the ones allowed, none for any.
        slot: What is secret.
    """

    names: tuple[frozenset[str], ...]
    slot: Slot

    def fits(self, path: tuple[str, ...]) -> bool:
        """Return whether a path fits: names only, without indexes."""
        *above, last = self.names
        if last and path[-1] not in last:
            return False
        steps = iter(path[:-1])
        return all(any(step in names for step in steps) for names in above)


ROWS = [
    Row(tuple(frozenset(name.split("|")) - {"*"} for name in names.split()), slot)
    for names, slot in SLOTS
]


def slot_of(path: tuple[str, ...]) -> Slot | None:
    """Return what is secret in a value, or None if it is an id or a word of the protocol.

    Args:
        path: The names on the way to it, its own last.
    """
    if path[-1] in KEPT and FREE.isdisjoint(path[:-1]):
        return None
    return next(row.slot for row in ROWS if row.fits(path))
