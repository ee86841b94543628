"""Put other texts into a protobuf frame; each message around a new text gets its new length."""

from collections.abc import Callable

from acptap.agui.schema import EVENTS, MESSAGES
from acptap.wire.protobuf import BYTES, Field, placed

Place = tuple[str | None, ...]
"""Names of members from an event to a value; None for any item of an array."""

Replace = Callable[[str, Place, bytes], bytes | None]
"""Returns the new text in place of one: told the event's type, where it stands, and its bytes. None
keeps it."""

LeadsOn = Callable[[str, Place], bool]
"""Returns whether a text that may be replaced can stand below a place of an event."""

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


def retext(frame: bytes, replace: Replace, leads_on: LeadsOn = lambda _type, _place: True) -> bytes:
    """Return a frame with other texts in it; every other byte stays, but for lengths.

    All texts of a JSON value stand where the value stands.

    Raises:
        ValueError: It can't be read.
        RecursionError: It is nested too deeply.
    """

    def event(field: Field) -> bytes:
        type_ = EVENTS.get(field.number)
        if type_ is None:
            return field.data
        return _Retexting(type_, replace, leads_on).message(type_, field.data, ())

    new = _with_fields(frame[_PREFIX:], event)
    return len(new).to_bytes(_PREFIX, "big") + new


class _Retexting:
    """Puts other texts into the event of one frame."""

    def __init__(self, type_: str, replace: Replace, leads_on: LeadsOn) -> None:
        self._type = type_
        self._replace = replace
        self._leads_on = leads_on

    def message(self, name: str, message: bytes, place: Place) -> bytes:
        """Return a message at a place of the event, with other texts."""
        table = MESSAGES[name]

        def content(field: Field) -> bytes:
            entry = table.get(field.number)
            if entry is None or entry.wire_type != BYTES:
                return field.data
            inner: Place = (*place, entry.name, *((None,) * entry.is_repeated))
            return self._content(entry.kind, field.data, inner)

        return self._below(message, place, content)

    def _content(self, kind: str, data: bytes, place: Place) -> bytes:
        if kind == _TEXT:
            new = self._replace(self._type, place, data)
            return data if new is None else new
        if kind not in _CONTAINERS:
            return self.message(kind, data, place)
        kinds = _CONTAINERS[kind]

        def content(field: Field) -> bytes:
            inner = kinds.get(field.number)
            return field.data if inner is None else self._content(inner, field.data, place)

        return self._below(data, place, content)

    def _below(self, message: bytes, place: Place, content: Callable[[Field], bytes]) -> bytes:
        return _with_fields(message, content) if self._leads_on(self._type, place) else message


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
