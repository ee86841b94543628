"""What is to be said of a network unit that holds no JSON."""

from enum import StrEnum
from typing import assert_never

from acptap.acp.rules import note
from acptap.cassette import NOTHING, Annotations
from acptap.jsonrpc import Side
from acptap.notes import Note
from acptap.wire import sse
from acptap.wire.jsontext import MARK
from acptap.witness.exchanges import Exchange
from acptap.witness.runs import RunChannel

_FIELDS = frozenset({b"data", b"event", b"id", b"retry", b""})
_EMPTY_LINES = (b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r\n", b"\n\r", b"\r\n\n", b"\r\n\r")
"""What a closed block ends with: two line ends, of whatever kind."""


class Kind(StrEnum):
    """How a unit was delimited."""

    BODY = "a body"
    BLOCK = "a block of an event stream"
    FRAME = "a protobuf frame"
    TEXT = "a text message of a WebSocket"
    BINARY = "a binary message of a WebSocket"


def remarks(kind: Kind, raw: bytes, exchange: Exchange, side: Side) -> Annotations:
    """Return what is to be said of a unit that holds no JSON.

    Args:
        kind: How it was delimited.
        raw: The whole unit.
        exchange: Where it passed.
        side: Who sent it.
    """
    is_acp = exchange.connection is not None
    match kind:
        case Kind.BINARY:
            notes = [note("websocket/binary")] if is_acp else []
        case Kind.TEXT:
            notes = _on_text(raw, is_acp=is_acp)
        case Kind.BLOCK:
            return _on_block(raw, exchange)
        case Kind.BODY | Kind.FRAME:
            notes = [note("http/not-json")] if is_acp and not _failed(exchange, side) else []
        case _:
            assert_never(kind)
    return Annotations(notes=notes) if notes else NOTHING


def on_end(raw: bytes, exchange: Exchange) -> list[Note]:
    """Return what is to be said of how a block ends."""
    is_whole = raw.endswith(_EMPTY_LINES) or raw in (b"\n", b"\r\n", b"\r")
    notes = [] if is_whole else [note("http/half-event")]
    if isinstance(exchange.channel, RunChannel):
        notes += exchange.channel.line_ends(raw)
    return notes


def _failed(exchange: Exchange, side: Side) -> bool:
    """Return whether a body explains a failure, for people."""
    return side is Side.AGENT and exchange.has_failed


def _on_text(raw: bytes, *, is_acp: bool) -> list[Note]:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return [note("websocket/not-utf8")]
    return [note("websocket/not-json")] if is_acp else []


def _on_block(raw: bytes, exchange: Exchange) -> Annotations:
    lines = raw.removeprefix(MARK).replace(b"\r", b"\n").split(b"\n")
    notes = []
    if any(line.partition(b":")[0] not in _FIELDS for line in lines):
        notes.append(note("http/unframed"))
    fields = sse.fields_of(raw)
    if isinstance(exchange.channel, RunChannel):
        said = NOTHING if fields.data is None else exchange.channel.garbage(fields.data)
        return said._replace(notes=[*notes, *said.notes]) if notes else said
    if exchange.connection is not None and fields.data and fields.event in ("", "message"):
        notes.append(note("http/not-json"))
    return Annotations(notes=notes) if notes else NOTHING
