"""Read AG-UI's protobuf messages by their table, and the JSON values that stand in them."""

import math
import struct
from collections.abc import Callable
from typing import NamedTuple

from acptap.agui.reshaping import ABSENT, Members, reshape
from acptap.agui.schema import MESSAGES, Field
from acptap.wire import protobuf as wire
from acptap.wire.protobuf import BYTES, EIGHT_BYTES, VARINT, fields_of, joined, signed

DEEPEST = 100
"""Values within values; more are refused, as protobuf's own readers do."""

_SAFE = 2**53  # up to here every integer is a double of its own


def unpack(name: str, message: bytes) -> object:
    """Return the JSON that a message stands for, or `ABSENT`.

    Raises:
        ValueError: It is no such message, or stands for nothing.
    """
    table = MESSAGES[name]
    found: dict[int, list[wire.Field]] = {}
    for field in fields_of(message):
        if field.number in table and field.wire_type == table[field.number].wire_type:
            found.setdefault(field.number, []).append(field)
    members: Members = {}
    for number, entry in table.items():
        member = _member(entry, found.get(number, []))
        if member is not ABSENT:
            members[entry.name] = member
    return reshape(name, members)


def _member(entry: Field, found: list[wire.Field]) -> object:
    if entry.is_repeated:
        items = [item for field in found if (item := _item(entry, [field])) is not ABSENT]
        return items if items or entry.mark == "*" else ABSENT
    if not found and entry.mark:
        return ABSENT
    return _item(entry, found)


def _item(entry: Field, found: list[wire.Field]) -> object:
    """Return what a field stands for that was found once, or in parts, or not at all."""
    if entry.wire_type == VARINT:
        return _NUMBERS[entry.kind](found[-1].varint if found else 0)
    if entry.kind == "text":
        return _text(found)
    read = _VALUES.get(entry.kind)
    return unpack(entry.kind, joined(found)) if read is None else read(joined(found), 0)


def _text(found: list[wire.Field]) -> str:
    return joined(found[-1:]).decode("utf-8", "replace")


def _value(message: bytes, depth: int) -> object:
    """Return the value in a `google.protobuf.Value`: that of its last arm."""
    if depth > DEEPEST:
        raise ValueError("values are nested too deeply")
    found: list[wire.Field] = []
    for field in fields_of(message):
        if field.number in _ARMS and field.wire_type == _ARMS[field.number].wire_type:
            if found and found[-1].number != field.number:
                found.clear()
            found.append(field)
    return _ARMS[found[-1].number].read(found, depth) if found else ABSENT


def _double(data: bytes) -> float | int | None:
    number: float = struct.unpack("<d", data)[0]
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) <= _SAFE else number


def _struct(message: bytes, depth: int) -> Members:
    members: Members = {}
    for entry in _messages(message):
        parts: dict[int, list[wire.Field]] = {1: [], 2: []}
        for field in fields_of(entry.data):
            if field.number in parts and field.wire_type == BYTES:
                parts[field.number].append(field)
        value = _value(joined(parts[2]), depth + 1)
        if value is not ABSENT:
            members[_text(parts[1])] = value
    return members


def _list(message: bytes, depth: int) -> list[object]:
    items = [_value(field.data, depth + 1) for field in _messages(message)]
    return [None if item is ABSENT else item for item in items]


def _messages(message: bytes) -> list[wire.Field]:
    """Return the entries of a struct, or the items of a list."""
    return [f for f in fields_of(message) if f.number == 1 and f.wire_type == BYTES]


_NUMBERS: dict[str, Callable[[int], object]] = {
    "int32": lambda varint: signed(varint, 32),
    "int64": lambda varint: signed(varint, 64),
    "bool": bool,
}
_VALUES: dict[str, Callable[[bytes, int], object]] = {"Value": _value, "Struct": _struct}


class _Arm(NamedTuple):
    wire_type: int
    read: Callable[[list[wire.Field], int], object]


_ARMS = {
    1: _Arm(VARINT, lambda _found, _depth: None),
    2: _Arm(EIGHT_BYTES, lambda found, _depth: _double(found[-1].data)),
    3: _Arm(BYTES, lambda found, _depth: _text(found)),
    4: _Arm(VARINT, lambda found, _depth: found[-1].varint != 0),
    5: _Arm(BYTES, lambda found, depth: _struct(joined(found), depth)),
    6: _Arm(BYTES, lambda found, depth: _list(joined(found), depth)),
}
"""What a value may be, by the number of its field."""
