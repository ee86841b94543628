"""Reasoning in the words of former versions, in those of today (agui.md 2, 4.7)."""

from acptap.agui.events import Event
from acptap.agui.rules import note
from acptap.agui.view.document import Document
from acptap.agui.view.scene import Scene

_TYPES = {
    "THINKING_START": "REASONING_START",
    "THINKING_TEXT_MESSAGE_START": "REASONING_MESSAGE_START",
    "THINKING_TEXT_MESSAGE_CONTENT": "REASONING_MESSAGE_CONTENT",
    "THINKING_TEXT_MESSAGE_END": "REASONING_MESSAGE_END",
    "THINKING_END": "REASONING_END",
}
_BEGIN = ("THINKING_START", "THINKING_TEXT_MESSAGE_START")


class Thinking:
    """The blocks of thinking in one run; they had no ids, so they are given some.

    Args:
        document: The thread, which numbers them.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._began = ""  # the type that the open block began with

    def translate(self, scene: Scene, event: Event) -> Event:
        """Return an event of a former version as one of today."""
        type_ = str(event["type"])
        if type_ in _BEGIN:
            scene.meet(note("agui/retired-event", type=type_))
        if type_ in _BEGIN and not self._began:
            self._began = type_
            self._document.blocks += 1
        if type_ == self._began.replace("_START", "_END"):
            self._began = ""
        rest = {name: value for name, value in event.items() if name != "title"}
        said = {"messageId": f"thinking-{self._document.blocks}", "role": "reasoning"}
        return rest | said | {"type": _TYPES[type_]}
