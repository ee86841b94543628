"""Undo the content codings of a body as it comes (RFC 9110, section 8.4.1).

What a sender has flushed is there at once. Brotli and zstd are not read: the standard library of
the oldest Python that is supported has neither.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, Self

_ZLIB = zlib.MAX_WBITS
_BARE = -zlib.MAX_WBITS
_GZIP = 16 + zlib.MAX_WBITS

_PADDING = b"\0"
_METHOD = 0x8F  # of a zlib stream's first byte: the method, and a bit that its window leaves empty
_DEFLATED = 0x08
_HEAD = 2
_CHECK = 31

_PART = 256 * 1024
"""Bytes that come out of a coding at a time: a few that go in may stand for any number."""

_GOES_ON = "a deflate body goes on behind its end"


class Inflater:
    """One body, inflated as it comes."""

    def __init__(self, stages: list["_Stage"]) -> None:
        self._stages = stages

    @classmethod
    def of(cls, codings: Iterable[bytes]) -> Self | None:
        """Return an inflater for a body's codings, or None if one of them is unknown.

        Args:
            codings: The values of its `Content-Encoding` headers.
        """
        names = [name.strip().lower() for name in b",".join(codings).split(b",")]
        if not all(name in _CODINGS for name in names):
            return None
        return cls([_CODINGS[name]() for name in reversed(names)])

    def feed(self, data: bytes) -> bytes:
        """Return what the next bytes of the body hold.

        Raises:
            ValueError: They are damaged.
        """
        return b"".join(self.parts(data))

    def parts(self, data: bytes) -> Iterator[bytes]:
        """Yield what `feed` returns in parts of bounded size; whoever has enough may stop.

        Raises:
            ValueError: They are damaged.
        """
        return _through(self._stages, data)

    def end(self) -> bytes:
        """Return what is left at the end of the body: nothing, with the codings there are.

        Raises:
            ValueError: The body is cut short.
        """
        for stage in self._stages:
            stage.end()
        return b""


class _Stage(Protocol):
    def parts(self, data: bytes) -> Iterator[bytes]: ...
    def end(self) -> None: ...


def _through(stages: list[_Stage], data: bytes) -> Iterator[bytes]:
    """Yield what comes out of the last of some stages."""
    if not stages:
        yield data
        return
    for part in stages[0].parts(data):
        yield from _through(stages[1:], part)


class _Identity:
    def parts(self, data: bytes) -> Iterator[bytes]:
        yield data

    def end(self) -> None:
        pass


class _Gzip:
    """Any number of members, one behind the other, and zeros behind them (RFC 1952)."""

    def __init__(self) -> None:
        self._stream: zlib._Decompress | None = None
        self._has_member = False

    def parts(self, data: bytes) -> Iterator[bytes]:
        if self._stream is None and self._has_member:
            data = data.lstrip(_PADDING)
        while data:
            stream = self._stream = self._stream or zlib.decompressobj(_GZIP)
            yield from _inflate(stream, data)
            data = stream.unused_data.lstrip(_PADDING)
            if stream.eof:
                self._stream = None
                self._has_member = True

    def end(self) -> None:
        if self._stream is not None:
            raise ValueError("a gzip body is cut short")


class _Deflate:
    """A zlib stream, as the word means (RFC 1950), or a bare deflate stream, as some send."""

    def __init__(self) -> None:
        self._stream: zlib._Decompress | None = None
        self._head = b""  # a first byte that may begin either

    def parts(self, data: bytes) -> Iterator[bytes]:
        if self._stream is None:
            data, self._head = self._head + data, b""
            bits = _bits_of(data)
            if bits is None:
                self._head = data
                return
            self._stream = zlib.decompressobj(bits)
        elif data and self._stream.eof:
            raise ValueError(_GOES_ON)
        yield from _inflate(self._stream, data)

    def end(self) -> None:
        if self._head or (self._stream is not None and not self._stream.eof):
            raise ValueError("a deflate body is cut short")
        if self._stream is not None and self._stream.unused_data:
            raise ValueError(_GOES_ON)


def _bits_of(data: bytes) -> int | None:
    """Return what zlib has to know of a stream that begins with `data`; None if it is too little.

    A bare stream could begin like a zlib stream only if its first block were stored and padded
    with other bits than zeros, which no compressor does.
    """
    head = data[:_HEAD]
    if head and head[0] & _METHOD != _DEFLATED:
        return _BARE
    if len(head) < _HEAD:
        return None
    return _BARE if int.from_bytes(head, "big") % _CHECK else _ZLIB


def _inflate(stream: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    is_full = True  # there may be more of what was read already
    while data or is_full:
        try:
            part = stream.decompress(data, _PART)
        except zlib.error as error:
            raise ValueError(f"a compressed body can't be read ({error})") from None
        data, is_full = stream.unconsumed_tail, len(part) == _PART
        if part:
            yield part


_CODINGS: dict[bytes, Callable[[], _Stage]] = {
    b"": _Identity,
    b"identity": _Identity,
    b"gzip": _Gzip,
    b"x-gzip": _Gzip,
    b"deflate": _Deflate,
}
