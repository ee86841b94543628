"""How each transport delimits a message, and how one is put on another transport than its own."""

import re
from enum import StrEnum

from acptap.wire import jsontext, sse


class Framing(StrEnum):
    """What a unit is."""

    LINE = "line"
    """Of standard input or output."""
    BLOCK = "block"
    """Of an event stream."""
    BODY = "body"
    """Of an HTTP request or answer."""
    TEXT = "text"
    """A message of a WebSocket."""
    BINARY = "binary"
    """Likewise, and nobody takes it for JSON."""


TRANSPORTS = {
    Framing.LINE: "stdio",
    Framing.BLOCK: "HTTP",
    Framing.BODY: "HTTP",
    Framing.TEXT: "WebSocket",
    Framing.BINARY: "WebSocket",
}
"""The transport, in words for people, on which units of a kind come."""

_LINE_ENDS = bytes.maketrans(b"\r\n", b"  ")
_EMPTY_LINE = re.compile(rb"(?:\A|(?>\r\n?|\n))(?>\r\n?|\n)\Z")


def text_of(unit: bytes, framing: Framing) -> bytes:
    """Return what a reader takes for JSON text in a unit: nothing if there is none."""
    match framing:
        case Framing.BLOCK:
            return jsontext.bare(sse.payload_of(unit) or b"")
        case Framing.BINARY:
            return b""
        case _:
            return jsontext.bare(unit)


def frame(text: bytes, framing: Framing) -> bytes:
    """Return the plain unit that holds a JSON text. Line ends between its tokens become blanks."""
    if b"\n" in text or b"\r" in text:
        text = text.translate(_LINE_ENDS)
    match framing:
        case Framing.LINE:
            return text + b"\n"
        case Framing.BLOCK:
            return sse.framed(text)
        case _:
            return text


def with_text(unit: bytes, framing: Framing, old: bytes, new: bytes) -> bytes:
    """Return a unit with another JSON text in it; all around the text stays.

    Args:
        unit: The unit.
        framing: What it is.
        old: The text that it holds.
        new: What to put there.
    """
    if framing is Framing.BLOCK:
        return sse.with_data(unit, new)
    return unit.replace(old, new, 1)


def is_whole(block: bytes) -> bool:
    """Return whether a block of an event stream has its empty line, so that another may follow."""
    return _EMPTY_LINE.search(block) is not None
