"""Most events append to what the last one appended to: they need not be looked at twice."""

from collections.abc import KeysView
from typing import NamedTuple

from acptap.agui.chunks import CHUNKS
from acptap.agui.events import Event, is_instant
from acptap.agui.meaning import Meaning
from acptap.agui.things import Text
from acptap.agui.view.scene import Scene

REPEATED = CHUNKS.keys() | {
    "TEXT_MESSAGE_CONTENT", "TOOL_CALL_ARGS", "REASONING_MESSAGE_CONTENT",
}  # fmt: skip
"""Types of which most events are more of the same."""

_VARIABLE = frozenset({"delta", "timestamp"})


class Repeat(NamedTuple):
    """An event, if the next ones are likely to be more of the same.

    Attributes:
        keys: The names of its members.
        fixed: Those that have to be the same.
        target: The text it appends to, if it is kept.
        meaning: What it means.
    """

    keys: KeysView[str]
    fixed: list[tuple[str, object]]
    target: Text | None
    meaning: Meaning

    def take(self, value: object) -> bool:
        """Take in an event, if it appends to the same text and does no more."""
        if not (
            type(value) is dict
            and value.keys() == self.keys
            and type(value["delta"]) is str
            and all(value[name] == said for name, said in self.fixed)
            and ("timestamp" not in value or is_instant(value["timestamp"]))
        ):
            return False
        if self.target is not None:
            self.target.append(value["delta"])
        return True


def repeat_of(value: Event, scene: Scene, meaning: Meaning) -> Repeat | None:
    """Return what the next event may repeat, if all that this one did was to append."""
    fixed = [(name, said) for name, said in value.items() if name not in _VARIABLE]
    is_plain = all(isinstance(said, str) for _, said in fixed) and "delta" in value
    if not scene.is_append or not is_plain or meaning.notes or len(meaning.updates) != 1:
        return None
    return Repeat(value.keys(), fixed, scene.target, meaning)
