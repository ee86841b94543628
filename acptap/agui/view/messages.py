"""The messages of a thread, in order."""

from collections.abc import Iterable

from acptap.agui.values import Message, ToolCall

ACTIVITY = "activity"


class Messages:
    """The messages of a thread.

    Args:
        values: Where they are, in order; shared with whoever shows them.
    """

    def __init__(self, values: list[Message]) -> None:
        self._values = values
        self._places: dict[str, int] = {}
        self._calls: dict[str, tuple[str, ToolCall]] = {}

    def find(self, id_: str) -> tuple[int, Message] | None:
        """Return a message and its place, or None."""
        place = self._places.get(id_)
        return None if place is None else (place, self._values[place])

    def append(self, message: Message) -> int:
        """Take in a message at the end and return its place; of two with one id the first stays."""
        place = len(self._values)
        self._values.append(message)
        self._register(place, message)
        return place

    def call(self, id_: str) -> tuple[str, ToolCall] | None:
        """Return a tool call and its message's id, or None."""
        return self._calls.get(id_)

    def attach(self, message: Message, call: ToolCall) -> None:
        """Take in a tool call of a message."""
        message.calls.append(call)
        self._calls[call.id] = message.id, call

    def restate(self, stated: Iterable[Message]) -> None:
        """Take in that the conversation was restated (agui.md 4.5).

        What is known stays in its place and takes the new content; what is not stated goes; what is
        new comes last. Activities stay where none is stated: servers don't know of them.
        """
        fresh = {message.id: message for message in stated}
        spared = not any(message.role == ACTIVITY for message in fresh.values())
        kept = []
        for message in self._values:
            if spared and message.role == ACTIVITY:
                fresh.pop(message.id, None)
                kept.append(message)
            elif message.id in fresh:
                fresh[message.id].line = message.line
                kept.append(fresh.pop(message.id))
        self._values[:] = [*kept, *fresh.values()]
        self._places.clear()
        self._calls.clear()
        for place, message in enumerate(self._values):
            self._register(place, message)

    def _register(self, place: int, message: Message) -> None:
        self._places.setdefault(message.id, place)
        for call in message.calls:
            self._calls.setdefault(call.id, (message.id, call))
