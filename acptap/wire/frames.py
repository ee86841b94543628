"""The frames that WebSocket messages travel in (RFC 6455, section 5): their heads, their masks."""

from typing import NamedTuple

TEXT = 1
BINARY = 2
CLOSE = 8
PING = 9
PONG = 10

FIN = 0x80
COMPRESSED = 0x40  # the first reserved bit, where permessage-deflate is agreed on

MASKED = 0x80
LENGTH = 0x7F
TWO_MORE = 126  # a length that stands for one of two more bytes
EIGHT_MORE = 127
KEY = 4

_OPCODE = 0x0F

_number = int.from_bytes


class Head(NamedTuple):
    """What stands in front of a frame's payload.

    Attributes:
        first: `FIN`, three reserved bits, and the opcode.
        length: Bytes of the payload.
        key: What the payload is masked with; empty if it isn't.
        start: Where the payload begins.
    """

    first: int
    length: int
    key: bytes
    start: int

    @property
    def opcode(self) -> int:
        """What kind of frame it is."""
        return self.first & _OPCODE


def head_of(data: bytes, place: int) -> Head | None:
    """Return the head at `place`, or None if it has not come whole."""
    start = place + 2
    if start > len(data):
        return None
    second = data[place + 1]
    length = second & LENGTH
    if length >= TWO_MORE:
        start += 2 if length == TWO_MORE else 8
        length = _number(data[place + 2 : start], "big")
    key = b""
    if second & MASKED:
        key = data[start : start + KEY]
        start += KEY
    return None if start > len(data) else Head(data[place], length, key, start)


def unmask(payload: bytes, key: bytes) -> bytes:
    """Return a payload without its mask: as one large number, which is quick at any length."""
    size = len(payload)
    mask = (key * (size // KEY + 1))[:size]
    return (_number(payload, "little") ^ _number(mask, "little")).to_bytes(size, "little")


class Incoming:
    """A data frame whose payload is coming.

    Attributes:
        left: Bytes of the payload that are still to come.
        is_last: Whether the frame is the last of its message.
    """

    __slots__ = ("_key", "is_last", "left")

    def __init__(self, head: Head) -> None:
        self.left = head.length
        self.is_last = head.first >= FIN
        self._key = head.key

    def take(self, data: bytes, place: int, most: int) -> bytes:
        """Return what `data` has of the payload at `place`, `most` bytes at most, unmasked."""
        part = data[place : place + min(self.left, most)]
        self.left -= len(part)
        if not self._key:
            return part
        unmasked = unmask(part, self._key)
        turn = len(part) % KEY
        self._key = self._key[turn:] + self._key[:turn]
        return unmasked
