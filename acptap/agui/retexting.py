"""Put other texts into a protobuf frame; each message around a new text gets its new length."""

from collections.abc import Callable

from acptap.agui.schema import EVENTS, MESSAGES
from acptap.wire.protobuf import BYTES, Field, placed

Replace = Callable[[str], str | None]
"""Returns the new text in place of a text; None to keep it."""

_PREFIX = 4
_CONTINUES = 0x80
_TEXT = "text"
_CONTAINERS = {
    # of JSON values: what the fields hold that are no numbers, by their numbers
    "Value": {3: _TEXT, 5: "Struct", 6: "List"},
    "Struct": {1: "Member"},
    "Member": {2: "Value"},
    "List": {1: "Value"},
}


def retext(frame: bytes, replace: Replace) -> bytes:
    """Return a frame with other texts in it; every other byte stays, but for lengths.

    Raises:
        ValueError: It can't be read.
        RecursionError: It is nested too deeply.
    """

    def event(field: Field) -> bytes:
        type_ = EVENTS.get(field.number)
        return field.data if type_ is None else _message(type_, field.data, replace)

    new = _with_fields(frame[_PREFIX:], event)
    return len(new).to_bytes(_PREFIX, "big") + new


def _message(name: str, message: bytes, replace: Replace) -> bytes:
    table = MESSAGES[name]

    def content(field: Field) -> bytes:
        entry = table.get(field.number)
        if entry is None or entry.wire_type != BYTES:
            return field.data
        return _content(entry.kind, field.data, replace)

    return _with_fields(message, content)


def _content(kind: str, data: bytes, replace: Replace) -> bytes:
    if kind == _TEXT:
        new = replace(data.decode("utf-8", "replace"))
        return data if new is None else new.encode("utf-8", "replace")
    if kind not in _CONTAINERS:
        return _message(kind, data, replace)
    kinds = _CONTAINERS[kind]

    def content(field: Field) -> bytes:
        inner = kinds.get(field.number)
        return field.data if inner is None else _content(inner, field.data, replace)

    return _with_fields(data, content)


def _with_fields(message: bytes, content: Callable[[Field], bytes]) -> bytes:
    """Return a message whose fields of bytes hold what a function returns."""
    parts: list[bytes] = []
    done = 0
    for field, start, end in placed(message):
        if field.wire_type != BYTES:
            continue
        new = content(field)
        if new != field.data:
            parts += (message[done:start], _varint(field.number << 3 | BYTES), _varint(len(new)))
            parts.append(new)
            done = end
    return b"".join([*parts, message[done:]])


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number >= _CONTINUES:
        encoded.append(number & (_CONTINUES - 1) | _CONTINUES)
        number >>= 7
    return bytes([*encoded, number])
