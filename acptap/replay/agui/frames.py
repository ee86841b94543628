"""Put other texts into a protobuf frame. Each message around a new text gets its new length."""

from collections.abc import Callable

from acptap.agui.schema import EVENTS, MESSAGES
from acptap.replay.agui.slots import Place, Slot, leads_on, slot_at
from acptap.wire.protobuf import BYTES, Field, placed

Rename = Callable[[Slot, str], str | None]
"""Returns the new text for a slot; None for the one that is there."""

_PREFIX = 4
_CONTINUES = 0x80
_TEXT = "text"
_CONTAINERS = {
    # of JSON values: the kind of each field that holds more than a number, by its number
    "Value": {3: _TEXT, 5: "Struct", 6: "List"},
    "Struct": {1: "Member"},
    "Member": {2: "Value"},
    "List": {1: "Value"},
}


def renamed(frame: bytes, rename: Rename) -> bytes:
    """Return a frame with other texts in it; every other byte stays, but for lengths.

    Raises:
        ValueError: It can't be read.
        RecursionError: It is nested too deeply.
    """
    message = frame[_PREFIX:]
    if len(message) != int.from_bytes(frame[:_PREFIX], "big"):
        raise ValueError("the frame is not as long as it says")

    def event(field: Field) -> bytes:
        type_ = EVENTS.get(field.number)
        if type_ is None:
            return field.data
        return _Renaming(type_, rename).message(type_, field.data, ())

    new = _with_fields(message, event)
    return frame if new == message else len(new).to_bytes(_PREFIX, "big") + new


class _Renaming:
    """Puts other texts into the event of one frame."""

    def __init__(self, type_: str, rename: Rename) -> None:
        self._type = type_
        self._rename = rename

    def message(self, name: str, message: bytes, place: Place) -> bytes:
        """Return a message at a place of the event, with other texts."""
        table = MESSAGES[name]

        def content(field: Field) -> bytes:
            entry = table.get(field.number)
            if entry is None or entry.wire_type != BYTES:
                return field.data
            inner: Place = (*place, entry.name, *((None,) * entry.is_repeated))
            return self._content(entry.kind, field.data, inner)

        return _with_fields(message, content) if leads_on(self._type, place) else message

    def _content(self, kind: str, data: bytes, place: Place) -> bytes:
        if kind == _TEXT:
            return self._text(data, place)
        if kind in _CONTAINERS:
            return self._value(kind, data, place)
        return self.message(kind, data, place)

    def _value(self, kind: str, message: bytes, place: Place) -> bytes:
        """Return a JSON value, or a part of one, with other texts."""
        kinds = _CONTAINERS[kind]

        def content(field: Field) -> bytes:
            inner = kinds.get(field.number)
            if inner is None:
                return field.data
            return self._content(inner, field.data, place)

        return _with_fields(message, content) if leads_on(self._type, place) else message

    def _text(self, data: bytes, place: Place) -> bytes:
        slot = slot_at(self._type, place)
        if slot is None:
            return data
        new = self._rename(slot, data.decode())
        return data if new is None else new.encode()


def _with_fields(message: bytes, content: Callable[[Field], bytes]) -> bytes:
    """Return a message whose fields of bytes hold what a function returns."""
    parts: list[bytes] = []
    done = 0
    for field, start, end in placed(message):
        if field.wire_type != BYTES:
            continue
        new = content(field)
        if new != field.data:
            parts += (message[done:start], _tag(message, start), _varint(len(new)), new)
            done = end
    return b"".join([*parts, message[done:]])


def _tag(message: bytes, start: int) -> bytes:
    end = start
    while message[end] >= _CONTINUES:
        end += 1
    return message[start : end + 1]


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number >= _CONTINUES:
        encoded.append(number & (_CONTINUES - 1) | _CONTINUES)
        number >>= 7
    return bytes([*encoded, number])
