"""Texts that come bit by bit in events: a table of their types."""

from typing import NamedTuple

from acptap.agui.events import Event, optional, owner_of

ROWS = {
    # type: what the text is, and the member that names it
    "TEXT_MESSAGE_CONTENT": ("message", "messageId"),
    "TEXT_MESSAGE_CHUNK": ("message", "messageId"),
    "TOOL_CALL_ARGS": ("arguments", "toolCallId"),
    "TOOL_CALL_CHUNK": ("arguments", "toolCallId"),
    "REASONING_MESSAGE_CONTENT": ("reasoning", "messageId"),
    "REASONING_MESSAGE_CHUNK": ("reasoning", "messageId"),
    "THINKING_TEXT_MESSAGE_CONTENT": ("thinking", "messageId"),
}

MARK = b'"delta"'
"""This is in every event that matters here."""


class Bit(NamedTuple):
    """What an event holds of a text.

    Attributes:
        whose: Tells the texts of a stream apart.
        text: What it says.
        is_named: Whether the event says whose it is; else it goes on with the last one.
    """

    whose: tuple[str, str | None]
    text: str
    is_named: bool


class Deltas:
    """Finds the bits in the events of one stream."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str | None], str | None] = {}  # of each kind and subagent

    def bit(self, event: Event) -> Bit | None:
        """Return the bit in an event, if there is one."""
        row = ROWS.get(str(event.get("type")))
        if row is None:
            return None
        what, member = row
        lane, id_, text = owner_of(event), optional(event, member), optional(event, "delta")
        is_named = id_ is not None
        if is_named:
            self._last[what, lane] = id_
        else:
            id_ = self._last.get((what, lane))
        return None if text is None else Bit((what, id_), text, is_named)
