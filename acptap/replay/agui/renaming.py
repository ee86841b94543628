"""Tell a recorded run with live names: whatever is not replaced keeps its bytes (agui.md 7.3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import assert_never

from acptap.replay.agui import dates, frames
from acptap.replay.agui.slots import Slot, place_of, slot_at
from acptap.replay.renaming import core
from acptap.wire import jsontext, sse
from acptap.wire.spans import Edit, splice, walk

_QUOTE = ord('"')
_EXPIRY = b"expiresAt"

Ids = Mapping[str, str]
"""Recorded ids to live ones."""


@dataclass(frozen=True, slots=True)
class Names:
    """The live names of what a recorded run speaks of.

    Attributes:
        threads: Of its thread.
        runs: Of the run itself.
        parents: Of the thread's earlier runs.
        messages: Of the messages in its request.
        suffix: What the server's own ids get behind them, for a client that knows them already.
        later: How much later interrupts expire; None to leave that.
    """

    threads: Ids = field(default_factory=dict)
    runs: Ids = field(default_factory=dict)
    parents: Ids = field(default_factory=dict)
    messages: Ids = field(default_factory=dict)
    suffix: str = ""
    later: timedelta | None = None

    def new(self, slot: Slot, text: str) -> str | None:
        """Return what is to stand in a slot; None for what is there."""
        match slot:
            case Slot.THREAD:
                return self.threads.get(text)
            case Slot.RUN:
                return self.runs.get(text)
            case Slot.PARENT:
                return self.parents.get(text)
            case Slot.EMBEDDED:
                return self.messages.get(text)
            case Slot.MESSAGE if text in self.messages:
                return self.messages[text]
            case Slot.MESSAGE | Slot.SERVER:
                return text + self.suffix if text else None
            case Slot.EXPIRY:
                return None if self.later is None else dates.shifted(text, self.later)
            case _:
                assert_never(slot)

    @property
    def needles(self) -> tuple[bytes, ...]:
        """What a unit must hold, one of them at least, to be worth a closer look."""
        maps = (self.threads, self.runs, self.parents, self.messages)
        ids = {old for ids in maps for old, new in ids.items() if old != new}
        found = [core(old) for old in sorted(ids)]
        if self.suffix:
            found.append(b"")
        return (*found, *((_EXPIRY,) * (self.later is not None)))


class Renaming:
    """Puts live names into units of one run.

    Args:
        names: The live names.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._needles = names.needles

    def block(self, block: bytes) -> bytes:
        """Return a block of an event stream with live names."""
        if not any(needle in block for needle in self._needles):
            return block
        text = sse.payload_of(block)
        new = None if text is None else self._text(text)
        return block if new is None else sse.with_data(block, new)

    def frame(self, frame: bytes) -> bytes:
        """Return a protobuf frame with live names."""
        if self._names.later is None and not any(needle in frame for needle in self._needles):
            return frame  # a field has no name there
        try:
            return frames.renamed(frame, self._names.new)
        except (ValueError, RecursionError):  # no client can read it either
            return frame

    def _text(self, text: bytes) -> bytes | None:
        """Return the JSON text of an event with live names; None if there is nothing to replace."""
        try:
            event = jsontext.parse(text)
            if not isinstance(event, dict) or not isinstance(event.get("type"), str):
                return None
            edits = list(self._edits(text, event["type"]))
        except ValueError:
            return None
        return splice(text, edits) if edits else None

    def _edits(self, text: bytes, type_: str) -> list[Edit]:
        edits: list[Edit] = []
        for path, start, end in walk(text):
            slot = slot_at(type_, place_of(path)) if text[start] == _QUOTE else None
            if slot is None:
                continue
            old = str(jsontext.parse(text[start:end]))
            new = self._names.new(slot, old)
            if new is not None and new != old:
                edits.append(Edit(start, end, jsontext.dump(new)))
        return edits
