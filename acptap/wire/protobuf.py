"""Read protobuf's wire format: the fields that stand in a message, whatever they mean.

Groups, which nobody writes any more, are passed over as readers must.
Spec: https://protobuf.dev/programming-guides/encoding/
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

VARINT = 0
EIGHT_BYTES = 1
BYTES = 2
FOUR_BYTES = 5

_GROUP = 3
_GROUP_END = 4

_FIXED = {EIGHT_BYTES: 8, FOUR_BYTES: 4}
_CONTINUES = 0x80
_LONGEST = 10  # bytes of a varint
_LARGEST_TAG = 2**32 - 1
_64_BITS = 2**64 - 1


class Field(NamedTuple):
    """A field as it stands in a message.

    Attributes:
        number: Which one, from 1.
        wire_type: `VARINT`, `BYTES`, `EIGHT_BYTES` or `FOUR_BYTES`.
        varint: The number that it holds, unsigned; 0 if it holds bytes.
        data: The bytes that it holds; none if it holds a number.
    """

    number: int
    wire_type: int
    varint: int
    data: bytes


def fields_of(message: bytes) -> Iterator[Field]:
    """Yield the fields of a message, in the order in which they stand.

    Raises:
        ValueError: It is no message.
    """
    return (field for field, _, _ in placed(message))


def placed(message: bytes) -> Iterator[tuple[Field, int, int]]:
    """Yield the fields of a message with where each starts and ends.

    Raises:
        ValueError: It is no message.
    """
    groups: list[int] = []
    place = 0
    while place < len(message):
        start = place
        tag, place = _varint(message, place)
        number, wire_type = tag >> 3, tag & 7
        if number == 0 or tag > _LARGEST_TAG:
            raise ValueError("no field has such a number")
        if wire_type == _GROUP:
            groups.append(number)
        elif wire_type == _GROUP_END:
            if not groups or groups.pop() != number:
                raise ValueError("a group ends that did not begin")
        else:
            varint, data, place = _content(message, place, wire_type)
            if not groups:
                yield Field(number, wire_type, varint, data), start, place
    if groups:
        raise ValueError("a group does not end")


def signed(value: int, bits: int) -> int:
    """Return the signed number of 32 or 64 bits that a varint stands for."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def joined(fields: Iterable[Field]) -> bytes:
    """Return what fields hold that are one message in parts: to join them is to merge them."""
    return b"".join(field.data for field in fields)


def _content(message: bytes, place: int, wire_type: int) -> tuple[int, bytes, int]:
    """Return the number and the bytes of the field at `place`, and where it ends."""
    if wire_type == VARINT:
        varint, place = _varint(message, place)
        return varint, b"", place
    if wire_type == BYTES:
        size, place = _varint(message, place)
    elif wire_type in _FIXED:
        size = _FIXED[wire_type]
    else:
        raise ValueError(f"there is no wire type {wire_type}")
    end = place + size
    if end > len(message):
        raise ValueError("a field is longer than what it stands in")
    return 0, message[place:end], end


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """Return the number at `place`, and where it ends."""
    if place < len(message) and message[place] < _CONTINUES:
        return message[place], place + 1  # nearly all numbers are small
    number = 0
    for index, byte in enumerate(message[place : place + _LONGEST]):
        number |= (byte & ~_CONTINUES) << (7 * index)
        if byte < _CONTINUES:
            return number & _64_BITS, place + index + 1
    raise ValueError("a number does not end")
