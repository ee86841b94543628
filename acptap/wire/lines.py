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


class Unfinished:
    """A unit that has begun and not ended. It is joined once, so a long one costs linear time.

    Args:
        limit: Bytes at which its pieces are handed on.

    Attributes:
        in_pieces: Whether pieces of it were handed on.
    """

    def __init__(self, limit: int) -> None:
        self.in_pieces = False
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def has_begun(self) -> bool:
        """Whether there is one."""
        return bool(self._parts) or self.in_pieces

    def hold(self, part: bytes) -> None:
        """Keep a part, however long it gets."""
        self._parts.append(part)
        self._size += len(part)

    def keep(self, part: bytes) -> list[Unit]:
        """Keep a part; return a piece if it is too long to be kept."""
        self.hold(part)
        if not self.in_pieces and self._size <= self._limit:
            return []
        self.in_pieces = True
        return [Piece(self.take(), more=True)]

    def finish(self, end: bytes) -> bytes | Piece:
        """Return it, or its last piece, now that it ends with these bytes."""
        self._parts.append(end)
        if self.in_pieces:
            self.in_pieces = False
            return Piece(self.take(), more=False)
        return self.take()

    def take(self) -> bytes:
        """Return what is kept, and keep it no longer."""
        taken = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return taken


class LineSplitter:
    """One direction of a stream, cut into lines.

    Args:
        limit: Bytes of an unfinished line at which its pieces are handed on unfinished.
    """

    def __init__(self, limit: int = PIECE_LIMIT) -> None:
        self._line = Unfinished(limit)

    @property
    def pending(self) -> bool:
        """Whether a line has begun and not ended."""
        return self._line.has_begun

    def feed(self, data: bytes) -> list[Unit]:
        """Return the units that `data` completes: lines without their LF, and pieces."""
        first, *lines, tail = data.split(b"\n") if b"\n" in data else (None, data)
        units: list[Unit] = []
        if first is not None:
            units.append(self._finish(first) if self.pending else first)
        units += lines
        return units + self._line.keep(tail) if tail else units

    def end(self) -> list[Unit]:
        """Return what is left at the end of the stream: at most one unit."""
        if self._line.in_pieces:
            return [self._line.finish(b"")]
        return [Unterminated(self._line.take())] if self.pending else []

    def _finish(self, end: bytes) -> Unit:
        return self._line.finish(end + b"\n" if self._line.in_pieces else end)
