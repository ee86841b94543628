"""Bodies of HTTP messages, cut into the units they are kept as, without their compression."""

from contextlib import suppress

from acptap.agui.proto import FrameSplitter
from acptap.wire.inflating import Inflater
from acptap.wire.lines import PIECE_LIMIT, Piece, Unit, Unterminated
from acptap.wire.sse import BlockSplitter


class Damaged(ValueError):
    """A body can't be decompressed, or is not worth it; `args[0]` is what was not."""


_SHORT = 64 * 1024
_ROOM = 16 * 1024 * 1024
_ALLOWED = 16 * 1024 * 1024
_RATIO = 100
"""Times its size that a body may grow beyond what any may grow to. Text hardly does by twenty."""


class Room:
    """What all bodies of a recording take up that are kept until they are complete.

    Where clients stall by the hundred, that would be a lot.

    Attributes:
        taken: Bytes that are kept.
    """

    def __init__(self) -> None:
        self.taken = 0

    @property
    def is_short(self) -> bool:
        """Whether none but short bodies may be kept any longer."""
        return self.taken > _ROOM


class Whole:
    """Keeps a body until it is complete, or too long for that.

    Args:
        room: What it shares with other bodies.
    """

    def __init__(self, room: Room) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._in_pieces = False
        self._room = room

    def feed(self, data: bytes) -> list[Unit]:
        """Take in the next part; return pieces of what is too long to be kept."""
        self._parts.append(data)
        self._size += len(data)
        self._room.taken += len(data)
        limit = _SHORT if self._room.is_short else PIECE_LIMIT
        if self._size <= limit and not self._in_pieces:
            return []
        self._in_pieces = True
        return [Piece(self._take(), more=True)]

    def end(self) -> list[Unit]:
        """Take in that no more comes; return the body, or its last piece, if there is one."""
        if self._in_pieces:
            return [Piece(self._take(), more=False)]
        return [self._take()] if self._size else []

    def _take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts.clear()
        self._room.taken -= self._size
        self._size = 0
        return taken


Splitter = BlockSplitter | FrameSplitter
"""Cuts what comes into units."""


class Body:
    """A body on its way.

    Args:
        codings: How it is compressed; names in the order it was done.
        room: What it shares with other bodies.
        stream: How it is cut into units as it comes; None if it is one unit.
    """

    def __init__(self, codings: list[str], room: Room, *, stream: Splitter | None = None) -> None:
        self._splitter = Whole(room) if stream is None else stream
        self._inflater = Inflater.of([coding.encode() for coding in codings]) if codings else None
        self._came = self._grown = 0  # bytes, compressed and not

    def feed(self, data: bytes) -> list[Unit]:
        """Return the units that `data` completes.

        Raises:
            Damaged: It can't be decompressed, or it grows beyond all measure. What follows is
                kept as it comes.
        """
        if self._inflater is None:
            return self._splitter.feed(data)
        try:
            parts = self._inflated(self._inflater, data)
        except ValueError as error:
            self._inflater = None
            raise Damaged(data) from error
        return [unit for part in parts for unit in self._splitter.feed(part)]

    def _inflated(self, inflater: Inflater, data: bytes) -> list[bytes]:
        self._came += len(data)
        limit, parts = max(_ALLOWED, _RATIO * self._came), []
        for part in inflater.parts(data):
            self._grown += len(part)
            if self._grown > limit:
                raise ValueError("a body grows beyond all measure")
            parts.append(part)
        return parts

    def end(self) -> list[Unit]:
        """Return what is left at the end."""
        inflater, self._inflater = self._inflater, None
        units: list[Unit] = []
        if inflater is not None:
            with suppress(ValueError):  # it was cut short, which its end says by itself
                units = self._splitter.feed(inflater.end())
        return units + list(self._splitter.end())


def text_of(unit: Unit) -> bytes:
    """Return the bytes of a unit of a body or of an event stream."""
    return unit.raw if isinstance(unit, (Piece, Unterminated)) else unit
