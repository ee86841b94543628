"""Read one direction of a WebSocket connection as it passes: frames to messages (RFC 6455).

The reader is a spectator. It refuses nothing that has framing: close codes of any number, pings of
any length, text that isn't UTF-8, frames behind a close. Only where no frame can be made out it
says so, once, and everything from there on comes as it stands on the wire.
"""

from collections.abc import Iterator
from typing import NamedTuple

from acptap.wire.deflate import Deflate, MessageInflater, deflate_of
from acptap.wire.frames import (
    BINARY,
    CLOSE,
    COMPRESSED,
    EIGHT_MORE,
    FIN,
    KEY,
    LENGTH,
    MASKED,
    PING,
    PONG,
    TEXT,
    TWO_MORE,
    Head,
    Incoming,
    head_of,
    unmask,
)
from acptap.wire.lines import PIECE_LIMIT

__all__ = [
    "CLOSE",
    "PING",
    "PONG",
    "Control",
    "Deflate",
    "Event",
    "FrameReader",
    "Lost",
    "Message",
    "Piece",
    "Raw",
    "close_of",
    "deflate_of",
]

_WHOLE = {FIN | TEXT: True, FIN | BINARY: False}
_CONTROLS = {FIN | CLOSE, FIN | PING, FIN | PONG}
_CONTINUATIONS = {0, FIN}
_BEGINNINGS = {TEXT, BINARY, *_WHOLE}
_COMPRESSED_BEGINNINGS = {COMPRESSED | first for first in _BEGINNINGS}

_LONGEST = 2**63 - 1
_LONGEST_CONTROL = 64 * 1024  # 125 by the book, but longer pings have been seen
_PART = 8 * 1024  # compressed bytes taken at a time: they hold up to 1,032 times as many
_SHORT_HEAD = 4
_CODE = 2


class Message(NamedTuple):
    """A message: unmasked, inflated, its fragments joined."""

    is_text: bool
    data: bytes


class Piece(NamedTuple):
    """A part of a message longer than the limit, or of one that was cut.

    The last one of a message has `more` false; a message without a last one was cut.
    """

    is_text: bool
    data: bytes
    more: bool


class Control(NamedTuple):
    """A control frame: `CLOSE`, `PING` or `PONG`."""

    opcode: int
    data: bytes


class Lost(NamedTuple):
    """The framing is lost; all that follows is raw."""

    why: str


class Raw(NamedTuple):
    """Bytes as they stand on the wire."""

    data: bytes


Event = Message | Piece | Control | Lost | Raw

_make = tuple.__new__  # what a named tuple's own constructor calls, at half its cost


def close_of(data: bytes) -> tuple[int | None, bytes]:
    """Return the code and the reason in the payload of a close frame; the code may be missing."""
    if len(data) < _CODE:
        return None, data
    return int.from_bytes(data[:_CODE], "big"), data[_CODE:]


def _take_whole(data: bytes, place: int, events: list[Event]) -> int:
    """Append the messages from `place` on that stand in one frame each; return where they end.

    Nearly all messages do, and are neither long nor compressed: this loop has to be fast.
    """
    size = len(data)
    while place + _SHORT_HEAD <= size:
        is_text = _WHOLE.get(data[place])
        second = data[place + 1]
        length = second & LENGTH
        start = place + 2
        if length >= TWO_MORE:
            if length == EIGHT_MORE:
                break
            length = data[start] << 8 | data[start + 1]
            start += 2
        if second >= MASKED:
            start += KEY
        end = start + length
        if is_text is None or end > size:
            break
        payload = data[start:end]
        if second >= MASKED:
            payload = unmask(payload, data[start - KEY : start])
        events.append(_make(Message, (is_text, payload)))
        place = end
    return place


class _Assembly:
    """A message whose end has not come."""

    __slots__ = ("_data", "_is_text", "_limit", "in_pieces", "is_compressed")

    def __init__(self, head: Head, limit: int) -> None:
        self.is_compressed = bool(head.first & COMPRESSED)
        self.in_pieces = False
        self._is_text = head.opcode == TEXT
        self._limit = limit
        self._data = bytearray()

    def add(self, part: bytes) -> list[Piece]:
        """Take a part; return all that has come if it is too much to be kept."""
        self._data += part
        if len(self._data) <= self._limit:
            return []
        self.in_pieces = True
        return self.cut()

    def cut(self) -> list[Piece]:
        """Return what has come, if anything, as a piece that is not the last."""
        return [Piece(self._is_text, self._take(), more=True)] if self._data else []

    def finish(self, part: bytes) -> Message | Piece:
        """Return the message that ends with `part`, or its last piece."""
        self._data += part
        if self.in_pieces:
            return Piece(self._is_text, self._take(), more=False)
        return Message(self._is_text, self._take())

    def _take(self) -> bytes:
        taken = bytes(self._data)
        self._data.clear()
        return taken


class FrameReader:
    """Reads the frames of one direction.

    Args:
        deflate: How this direction is compressed, if it is.
        limit: Bytes an unfinished message may reach before it is handed on in pieces.
    """

    def __init__(self, deflate: Deflate | None = None, limit: int = PIECE_LIMIT) -> None:
        self._inflater = MessageInflater(takeover=deflate.takeover) if deflate else None
        self._beginnings = _BEGINNINGS | _COMPRESSED_BEGINNINGS if deflate else _BEGINNINGS
        self._limit = limit
        self._rest = b""  # the beginning of a head, or of a control frame
        self._frame: Incoming | None = None
        self._message: _Assembly | None = None
        self._is_lost = False

    def feed(self, data: bytes) -> list[Event]:
        """Return what `data` completes."""
        return list(self.events(data))

    def events(self, data: bytes) -> Iterator[Event]:
        """Yield what `feed` returns, but in bounded memory: few compressed bytes may hold many.

        It has to be taken to its end.
        """
        if self._is_lost:
            if data:
                yield Raw(data)
            return
        data, self._rest = self._rest + data, b""
        place = 0
        while place < len(data):
            events: list[Event] = []
            if self._message is None:
                place = _take_whole(data, place, events)
            try:
                place = self._step(data, place, events)
            except ValueError as error:
                self._is_lost = True
                events += (*self._cut(), Lost(str(error)), Raw(data[place:]))
                place = len(data)
            yield from events
        if self._message is not None and self._message.in_pieces:
            yield from self._message.cut()

    def end(self) -> list[Event]:
        """Return what is left at the end of the stream: parts of a message, or of a frame."""
        events: list[Event] = [*self._cut()]
        if self._rest:
            events.append(Raw(self._rest))
            self._rest = b""
        return events

    def _step(self, data: bytes, place: int, events: list[Event]) -> int:
        """Take what stands at `place`: a frame, or a part of one. Return where it ends."""
        if self._frame is None:
            head = head_of(data, place)
            if head is None:
                self._rest = data[place:]
                return len(data)
            self._check(head)
            if head.opcode >= CLOSE:
                return self._take_control(head, data, place, events)
            self._frame = Incoming(head)
            self._message = self._message or _Assembly(head, self._limit)
            place = head.start
        assert self._message is not None  # a data frame belongs to one
        return self._take_payload(self._frame, self._message, data, place, events)

    def _take_control(self, head: Head, data: bytes, place: int, events: list[Event]) -> int:
        end = head.start + head.length
        if end > len(data):
            self._rest = data[place:]
            return len(data)
        payload = data[head.start : end]
        events.append(Control(head.opcode, unmask(payload, head.key) if head.key else payload))
        return end

    def _take_payload(
        self, frame: Incoming, message: _Assembly, data: bytes, place: int, events: list[Event]
    ) -> int:
        before = frame.left
        part = frame.take(data, place, _PART if message.is_compressed else len(data))
        is_last = frame.is_last and not frame.left
        if message.is_compressed:
            assert self._inflater is not None  # else the frame was refused
            part = self._inflater.inflate(part, is_last=is_last)
        if not frame.left:
            self._frame = None
        if is_last:
            self._message = None
            events.append(message.finish(part))
        else:
            events += message.add(part)
        return place + before - frame.left

    def _check(self, head: Head) -> None:
        """Refuse what nobody who speaks the protocol sends, or takes for a frame."""
        if head.opcode >= CLOSE:
            legal, longest = _CONTROLS, _LONGEST_CONTROL
        else:
            legal, longest = self._beginnings if self._message is None else _CONTINUATIONS, _LONGEST
        if head.first not in legal:
            raise ValueError(f"no frame begins with the byte 0x{head.first:02x} here")
        if head.length > longest:
            raise ValueError(f"a frame says that it is {head.length} bytes long")

    def _cut(self) -> list[Piece]:
        """Give up the message that has begun; return what has come of it."""
        pieces = [] if self._message is None else self._message.cut()
        self._message = self._frame = None
        return pieces
