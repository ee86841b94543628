"""Cut a byte stream into lines, as they come, in linear time and bounded memory.

Lines end at LF and nowhere else (Unicode line separators, VT, FF and a lone CR are content).
Concatenating what a splitter returned gives back the stream, whatever the read boundaries were:
a `bytes` unit stands for itself and the LF behind it, the other two for exactly their bytes.
"""

from typing import NamedTuple

PIECE_LIMIT = 8 * 1024 * 1024
"""Bytes an unfinished line may reach before it is handed on in pieces."""


class Unterminated(NamedTuple):
    """The end of a stream whose last line has no LF."""

    raw: bytes


class Piece(NamedTuple):
    """A part of a line longer than the limit; the last one has `more` false."""

    raw: bytes
    more: bool


Unit = bytes | Unterminated | Piece


class LineSplitter:
    """One direction of a stream, cut into lines.

    Args:
        limit: Bytes of an unfinished line at which its pieces are handed on unfinished.
    """

    def __init__(self, limit: int = PIECE_LIMIT) -> None:
        self._limit = limit
        self._pending: list[bytes] = []  # joined once, so a long line costs linear time
        self._size = 0
        self._in_pieces = False

    @property
    def pending(self) -> bool:
        """Whether a line has begun and not ended."""
        return bool(self._pending) or self._in_pieces

    def feed(self, data: bytes) -> list[Unit]:
        """Return the units that `data` completes: lines without their LF, and pieces."""
        first, *lines, tail = data.split(b"\n") if b"\n" in data else (None, data)
        units: list[Unit] = []
        if first is not None:
            units.append(self._finish(first) if self.pending else first)
        units += lines
        if tail:
            self._pending.append(tail)
            self._size += len(tail)
            if self._in_pieces or self._size > self._limit:
                self._in_pieces = True
                units.append(Piece(self._take(), more=True))
        return units

    def end(self) -> list[Unit]:
        """Return what is left at the end of the stream: at most one unit."""
        if self._in_pieces:
            self._in_pieces = False
            return [Piece(b"", more=False)]
        return [Unterminated(self._take())] if self._pending else []

    def _finish(self, end: bytes) -> Unit:
        self._pending.append(end)
        if self._in_pieces:
            self._in_pieces = False
            return Piece(self._take() + b"\n", more=False)
        return self._take()

    def _take(self) -> bytes:
        taken = b"".join(self._pending)
        self._pending.clear()
        self._size = 0
        return taken
