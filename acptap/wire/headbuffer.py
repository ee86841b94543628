"""Where the head of an HTTP/1 message ends in a stream."""

import re

from acptap.wire.heads import HEAD_LIMIT, Doubt, FirstLine

_EMPTY_LINES = re.compile(rb"(?:\r?\n)*+")
_END = re.compile(rb"\n\r?\n")
_HTTP2 = b"PRI * HTTP/2"
_START = 64  # bytes of a first line that are looked at before all of it is there


class HeadBuffer:
    """Finds the end of a head in a stream, in linear time however the stream comes.

    Args:
        first: What the head's first line is to be.
    """

    def __init__(self, first: FirstLine) -> None:
        self._first = first
        self._held = bytearray()  # of a head that has not ended
        self._begun = 0  # where its first line begins
        self._seen = 0  # up to where its end has been looked for
        self._is_checked = False  # its first line has been found good

    def take(self, data: bytes, pos: int) -> tuple[bytes, int]:
        """Read on at `data[pos]`.

        Returns:
            The head and where in `data` it ends. As long as it has not ended it is empty, and all
            of `data` is held.

        Raises:
            Doubt: This is no head. All there is of it, up to the end of `data`, is held.
        """
        if self._held:
            before = len(self._held)
            self._held += memoryview(data)[pos:]
            end = self._find(self._held, 0)
            if not end:
                return b"", len(data)
            head = bytes(memoryview(self._held)[:end])
            self.release()
            return head, pos + end - before
        self._begun = self._seen = pos
        try:
            end = self._find(data, pos)
        except Doubt:
            self._held += memoryview(data)[pos:]
            raise
        if end:
            self._is_checked = False
            return data[pos:end], end
        self._held += memoryview(data)[pos:]
        self._begun -= pos
        self._seen -= pos
        return b"", len(data)

    def release(self) -> bytes:
        """Return what is held and forget it."""
        held = bytes(self._held)
        self._held = bytearray()
        self._begun = self._seen = 0
        self._is_checked = False
        return held

    def _find(self, source: bytes | bytearray, base: int) -> int:
        """Return where the head ends that begins at `source[base]`; 0 if it does not.

        What comes first in the stream decides, so that it can't matter in which reads it comes.
        """
        limit = base + HEAD_LIMIT
        if not self._is_checked:
            self._check(source, limit)
        seen = max(self._begun, self._seen)
        found = _END.search(source, seen)
        if found and found.end() <= limit:
            return found.end()
        if len(source) > limit:
            raise Doubt("a head of more than 1 MiB")
        self._seen = max(self._begun, len(source) - 2)
        return 0

    def _check(self, source: bytes | bytearray, limit: int) -> None:
        """Look at as much of the first line as is there."""
        empty = _EMPTY_LINES.match(source, self._begun)
        assert empty, "there may be none of them"
        self._begun = empty.end()
        is_good = self._first.start.match(source[self._begun : min(self._begun + _START, limit)])
        end = source.find(b"\n", max(self._begun, self._seen), limit)
        if is_good and end >= 0:
            line = bytes(source[self._begun : end]).removesuffix(b"\r")
            is_good = self._first.whole.fullmatch(line)
            self._is_checked = True
            if line.startswith(_HTTP2):
                raise Doubt("HTTP/2, of which acptap reads nothing")
        if not is_good:
            raise Doubt(f"no HTTP/1 {self._first.name}")
