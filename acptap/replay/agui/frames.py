"""Put live names into a protobuf frame."""

from collections.abc import Callable

from acptap.agui.retexting import Place, retext
from acptap.replay.agui.slots import Slot, leads_on, slot_at

Rename = Callable[[Slot, str], str | None]
"""Returns the new text for a slot; None for the one that is there."""

_PREFIX = 4


def renamed(frame: bytes, rename: Rename) -> bytes:
    """Return a frame with other texts in it; every other byte stays, but for lengths.

    Raises:
        ValueError: It can't be read.
        RecursionError: It is nested too deeply.
    """
    if len(frame) - _PREFIX != int.from_bytes(frame[:_PREFIX], "big"):
        raise ValueError("the frame is not as long as it says")

    def replace(type_: str, place: Place, data: bytes) -> bytes | None:
        slot = slot_at(type_, place)
        new = None if slot is None else rename(slot, data.decode())
        return None if new is None else new.encode()

    return retext(frame, replace, leads_on)
