"""Bodies of HTTP/1 messages: how each framing is taken off, and which one a head announces.

RFC 9112, sections 6 and 7. As with heads, requests are read strictly and responses leniently.
"""

import re
from enum import Enum, auto
from http import HTTPStatus

from acptap.wire.heads import (
    HEAD_LIMIT,
    Doubt,
    Headers,
    RequestHead,
    ResponseHead,
    read_fields,
)

_CODINGS = {b"gzip", b"x-gzip", b"deflate", b"compress", b"x-compress"}
_NO_BODY = {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}
_LENGTH = re.compile(rb"[0-9]{1,18}")
# A size may have leading zeros, and no more than 15 digits behind them. int() alone would take
# signs, underscores and blanks as well.
_SIZE = rb"(?=[0-9A-Fa-f])(0*+[0-9A-Fa-f]{0,15}+)"
_PLAIN_CHUNK = re.compile(_SIZE + rb"\r\n")
_CHUNK_LINE = re.compile(_SIZE + rb"[ \t]*+(?:;[^\n]*+|\r)?\n")


class Length:
    """A body of so many bytes.

    Attributes:
        is_over: Whether it is complete.
    """

    is_open_ended = False
    fault = ""
    unread = b""

    def __init__(self, left: int) -> None:
        self._left = left
        self.is_over = not left
        self.trailers: Headers = []

    def read(self, data: bytes, pos: int, parts: list[bytes]) -> int:
        """Append the content from `data[pos]` on to `parts` and return where it ends."""
        part = data[pos : pos + self._left]
        parts.append(part)
        self._left -= len(part)
        self.is_over = not self._left
        return pos + len(part)


class UntilEnd:
    """A body that goes on until its stream ends."""

    is_open_ended = True
    is_over = False
    fault = ""
    unread = b""

    def __init__(self) -> None:
        self.trailers: Headers = []

    def read(self, data: bytes, pos: int, parts: list[bytes]) -> int:
        """Append all from `data[pos]` on to `parts`."""
        parts.append(data[pos:])
        return len(data)


class _Next(Enum):
    """What comes next in a chunked body."""

    SIZE = auto()
    CONTENT = auto()
    LINE_END = auto()
    TRAILER = auto()


class Chunked:
    """A body in chunks.

    Args:
        strict: Whether to refuse bare LFs, and trailers others may read otherwise.

    Attributes:
        is_over: Whether it is complete.
        fault: Why it can't be read on; empty as long as it can.
        trailers: The fields behind the last chunk.
    """

    is_open_ended = False

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._line_ends = {b"\r\n"} if strict else {b"\r\n", b"\n"}
        self._next = _Next.SIZE
        self._left = 0  # bytes of the chunk
        self._line = bytearray()  # of framing, not ended
        self._lines: list[bytes] = []  # of the trailers
        self._size = 0  # of the trailers
        self.is_over = False
        self.fault = ""
        self.trailers: Headers = []

    @property
    def unread(self) -> bytes:
        """Framing that has begun; with a fault, the beginning of what can't be read."""
        return b"".join(self._lines) + self._line

    def read(self, data: bytes, pos: int, parts: list[bytes]) -> int:
        """Append the content from `data[pos]` on to `parts` and return where reading stopped.

        It stops at the end of `data`, where the body is over, or at a fault.
        """
        size = len(data)
        while pos < size and not self.is_over and not self.fault:
            if self._next is _Next.CONTENT:
                pos = self._content(data, pos, parts)
            elif self._next is _Next.SIZE and not self._line:
                pos = _whole_chunks(data, pos, parts)
                if pos < size:
                    pos = self._framing(data, pos)
            else:
                pos = self._framing(data, pos)
        return pos

    def _content(self, data: bytes, pos: int, parts: list[bytes]) -> int:
        """Read on in a chunk that came in several reads."""
        part = data[pos : pos + self._left]
        parts.append(part)
        self._left -= len(part)
        if not self._left:
            self._next = _Next.LINE_END
        return pos + len(part)

    def _framing(self, data: bytes, pos: int) -> int:
        """Read a line that is no content, or as much of it as is there."""
        limit = 2 if self._next is _Next.LINE_END else HEAD_LIMIT - self._size
        room = limit - len(self._line)
        end = data.find(b"\n", pos, pos + room) + 1
        if not end and len(data) - pos < room:
            self._line += memoryview(data)[pos:]
            return len(data)
        self.fault = self._take(bytes(self._line) + data[pos:end]) if end else _TOO_LONG[self._next]
        if self.fault:
            return pos
        self._line.clear()
        return end

    def _take(self, line: bytes) -> str:
        """Take in a line; return what is wrong with it."""
        if self._next is _Next.LINE_END:
            self._next = _Next.SIZE
            return "" if line in self._line_ends else _TOO_LONG[_Next.LINE_END]
        if self._strict and (b"\r" in line[:-2] or not line.endswith(b"\r\n")):
            return "a chunked body with a bare CR or LF in its framing"
        return self._take_size(line) if self._next is _Next.SIZE else self._take_trailer(line)

    def _take_size(self, line: bytes) -> str:
        found = _CHUNK_LINE.fullmatch(line)
        if not found:
            return "a chunk without a proper size"
        self._left = int(found[1], 16)
        self._next = _Next.CONTENT if self._left else _Next.TRAILER
        return ""

    def _take_trailer(self, line: bytes) -> str:
        if line in self._line_ends:
            lines = [known.removesuffix(b"\n").removesuffix(b"\r") for known in self._lines]
            try:
                self.trailers = read_fields(lines, strict=self._strict)
            except Doubt as doubt:
                return str(doubt)
            self.is_over = True
        else:
            self._lines.append(line)
            self._size += len(line)
        return ""


_TOO_LONG = {
    _Next.SIZE: "a chunk's first line of more than 1 MiB",
    _Next.LINE_END: "a chunk that is longer than its size",
    _Next.TRAILER: "trailers of more than 1 MiB",
}

Framing = Length | UntilEnd | Chunked


def _whole_chunks(data: bytes, pos: int, parts: list[bytes]) -> int:
    """Take chunks that are all there and have no extensions; most are such, and this is fast."""
    match = _PLAIN_CHUNK.match
    append = parts.append
    found = match(data, pos)
    while found:
        start = found.end()
        end = start + int(found[1], 16)
        if end == start or data[end : end + 2] != b"\r\n":
            break
        append(data[start:end])
        pos = end + 2
        found = match(data, pos)
    return pos


def request_framing(head: RequestHead) -> Framing:
    """Return how a request's body is framed.

    Raises:
        Doubt: Servers may disagree about it.
    """
    codings = _codings(head.values(b"transfer-encoding"))
    lengths = head.values(b"content-length")
    framing: Framing
    if codings:
        _refuse(codings, lengths, head.version)
        framing = Chunked(strict=True)
    else:
        framing = Length(_length(lengths) if lengths else 0)
    if head.method == b"CONNECT" and not framing.is_over:
        raise Doubt("a CONNECT request with a body")
    return framing


def _refuse(codings: list[bytes], lengths: list[bytes], version: bytes) -> None:
    if lengths:
        raise Doubt("both Transfer-Encoding and Content-Length")
    if version == b"1.0":
        raise Doubt("Transfer-Encoding in HTTP/1.0")
    if codings[-1] != b"chunked" or not _CODINGS.issuperset(codings[:-1]):
        raise Doubt("an unknown Transfer-Encoding")


def response_framing(head: ResponseHead) -> Framing:
    """Return how the body of a response that is not interim is framed.

    Raises:
        Doubt: It can't be told.
    """
    if head.status == HTTPStatus.SWITCHING_PROTOCOLS:
        raise Doubt("a switch of protocols that no request asked for")
    request = head.request
    is_head = request is not None and request.method == b"HEAD"
    if is_head or head.status in _NO_BODY:
        return Length(0)
    codings = [
        coding
        for coding in _codings(head.values(b"transfer-encoding"))
        if coding not in (b"", b"identity")
    ]
    if codings:
        return Chunked(strict=False) if codings[-1] == b"chunked" else UntilEnd()
    lengths = head.values(b"content-length")
    return Length(_length(lengths)) if lengths else UntilEnd()


def _codings(values: list[bytes]) -> list[bytes]:
    return [coding.strip(b" \t").lower() for value in values for coding in value.split(b",")]


def _length(values: list[bytes]) -> int:
    """Return the length that all Content-Length fields agree on.

    Raises:
        Doubt: They don't, or one is no number.
    """
    lengths = {text.strip(b" \t") for value in values for text in value.split(b",")}
    if not all(_LENGTH.fullmatch(text) for text in lengths):
        raise Doubt("a Content-Length that is no number")
    numbers = {int(text) for text in lengths}
    if len(numbers) > 1:
        raise Doubt("several Content-Lengths that differ")
    return numbers.pop()
