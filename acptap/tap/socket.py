"""Writes a WebSocket: its messages as units, its control frames as events."""

from collections.abc import Iterator
from typing import assert_never

from acptap.acp.rules import note
from acptap.cassette import Annotations, encode_binary, encode_front
from acptap.http import HttpResponse
from acptap.jsonrpc import Side
from acptap.redact import Redactor
from acptap.tap.exchange import ExchangeTap
from acptap.tap.scribe import Frame
from acptap.wire import websocket
from acptap.wire.lines import Piece
from acptap.wire.websocket import Control, FrameReader, Lost, Message, Raw
from acptap.witness.remarks import Kind, remarks

_TEXT = Frame()
_PINGS = {websocket.PING: "ping", websocket.PONG: "pong"}


class SocketTap:
    """Turns both directions of a WebSocket into lines.

    Args:
        exchange: The exchange that it began with.
        response: The answer that agreed to it.
        redactor: Takes secrets out; None keeps them.
    """

    def __init__(
        self, exchange: ExchangeTap, response: HttpResponse, redactor: Redactor | None
    ) -> None:
        said = [value.encode("latin-1") for value in response.values("sec-websocket-extensions")]
        deflate = websocket.deflate_of(said) or {}
        self._exchange = exchange
        self._redactor = redactor
        self._readers = {
            Side.CLIENT: FrameReader(deflate.get("client")),
            Side.AGENT: FrameReader(deflate.get("server")),
        }
        self._ended: set[Side] = set()

    def feed(self, side: Side, at: bytes, data: bytes) -> list[bytes]:
        """Take in bytes of one direction."""
        events = self._readers[side].feed(data)
        texts = [event.data for event in events if isinstance(event, Message) and event.is_text]
        if not texts or len(texts) < len(events) or _mark(b"\n".join(texts)):
            return [self._entry(side, at, event) for event in events]
        exchange = self._exchange
        scribe = exchange.scribe(side, Kind.TEXT)
        return scribe.units(side, exchange.head(side, at), texts, _TEXT)

    def end(self, side: Side, at: bytes, reason: str) -> Iterator[bytes]:
        """Take in that a side ended its stream; without a reason, in order."""
        if side in self._ended:
            return
        self._ended.add(side)
        for event in self._readers[side].end():
            yield self._entry(side, at, event)
        exchange = self._exchange
        if reason:
            yield exchange.event(side, at, "abort", reason=reason)
        else:
            yield exchange.event(side, at, "end")

    def _entry(self, side: Side, at: bytes, event: websocket.Event) -> bytes:
        match event:
            case Message(is_text=True, data=text):
                return self._text(side, at, text)
            case Message(data=data):
                said = remarks(Kind.BINARY, data, self._exchange.known, side)
                return self._binary(side, at, data, said)
            case websocket.Piece():
                return self._piece(side, at, event)
            case Control():
                return self._control(side, at, event)
            case Lost(why=why):
                return self._exchange.event(side, at, "opaque", why=why)
            case Raw(data=data):
                return self._exchange.raw(side, at, data)
            case _:
                assert_never(event)

    def _control(self, side: Side, at: bytes, frame: Control) -> bytes:
        if frame.opcode in _PINGS:
            return self._exchange.raw(side, at, frame.data, _PINGS[frame.opcode])
        code, reason = websocket.close_of(frame.data)
        facts: dict[str, object] = {} if code is None else {"code": code}
        if reason:
            facts["reason"] = reason.decode("utf-8", "replace")
        return self._exchange.event(side, at, "close", **facts)

    def _text(self, side: Side, at: bytes, text: bytes) -> bytes:
        exchange = self._exchange
        head = exchange.head(side, at) + _mark(text)
        scribe = exchange.scribe(side, Kind.TEXT)
        quiet = scribe.is_quiet(text)
        return scribe.unit(side, head, text, _TEXT, clean=False, quiet=quiet)

    def _binary(
        self, side: Side, at: bytes, data: bytes, said: Annotations, *, more: bool = False
    ) -> bytes:
        clear = data if self._redactor is None else self._redactor.plain(data)
        front = encode_front(more=more, redacted=clear is not data, annotations=said)
        return self._exchange.head(side, at) + front + encode_binary(clear) + b"}\n"

    def _piece(self, side: Side, at: bytes, piece: websocket.Piece) -> bytes:
        exchange = self._exchange
        if not piece.is_text:
            said = Annotations(notes=[note("http/oversize")])
            return self._binary(side, at, piece.data, said, more=piece.more)
        said = exchange.known.channel.piece(side, Piece(piece.data, piece.more))
        scribe = exchange.scribe(side, Kind.TEXT)
        head = exchange.head(side, at) + _mark(piece.data)
        return scribe.unread(head, piece.data, said, more=piece.more)


def _mark(text: bytes) -> bytes:
    """Return the member that tells text that is not UTF-8 from a binary message."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return b',"frame":"text"'
    return b""
