"""Writes one HTTP exchange: heads, bodies, event streams, and how they ended."""

from collections.abc import Iterable, Iterator
from functools import partial

from acptap.agui.proto import FrameSplitter
from acptap.cassette import Annotations, encode_binary, encode_front, encode_payload
from acptap.http import HttpRequest, HttpResponse, decode_headers
from acptap.jsonrpc import Side
from acptap.redact import Redactor
from acptap.redact.frames import clear_frame
from acptap.redact.heads import clear_headers, clear_request, clear_response
from acptap.tap.bodies import Body, Damaged, Room, Splitter, text_of
from acptap.tap.scribe import Frame, Scribe
from acptap.wire import sse
from acptap.wire.inflating import Inflater
from acptap.wire.lines import Piece, Unit
from acptap.wire.sse import BlockSplitter
from acptap.witness.channels import Bystander
from acptap.witness.exchanges import Exchange, Exchanges
from acptap.witness.remarks import Kind, on_end, remarks
from acptap.witness.runs import RunChannel

_BODY = Frame()
_BLOCK = Frame(*sse.PLAIN)


class ExchangeTap:
    """Turns one exchange into lines. What a client sends is held until its body is complete.

    Only then is it known to which connection an `initialize` belongs. An unfinished request is no
    loss: nobody has answered it.

    Args:
        number: The exchange's number in the recording.
        request: The request's head.
        exchanges: All of the recording.
        redactor: Takes secrets out; None keeps them.
        room: What its bodies share with others.
    """

    def __init__(
        self,
        number: int,
        request: HttpRequest,
        exchanges: Exchanges,
        redactor: Redactor | None,
        room: Room,
    ) -> None:
        self._number = number
        self._request = request
        self._exchanges = exchanges
        self._redactor = redactor
        self._exchange: Exchange | None = None
        self._room = room
        self._bodies = {Side.CLIENT: Body(request.codings, room)}
        self._scribes: dict[Side, Scribe] = {}
        self._stream = b""
        self._frame = b""

    @property
    def known(self) -> Exchange:
        """What the exchange means."""
        assert self._exchange is not None, "the request is still held"
        return self._exchange

    def head(self, side: Side, at: bytes) -> bytes:
        """Return an entry up to what is said of the unit or event."""
        conn = self.known.conn
        numbered = b',"conn":%d' % conn if conn > 1 else b""
        return b'{"at":%b,"from":"%b"%b,"exchange":%d' % (
            at, side.encode(), numbered, self._number,
        )  # fmt: skip

    # What the client sends

    def post(self, at: bytes, units: list[Unit]) -> Iterator[bytes]:
        """Take in units of the request's body; the request's head is written with the first."""
        if not units:
            return
        if self._exchange is None:
            yield from self.release(at, units[0])
        else:  # it was answered before it was complete
            self._read_posted(units[0])
        yield from self._units(Side.CLIENT, at, units)

    def body(self, side: Side, at: bytes, data: bytes) -> Iterator[bytes]:
        """Take in a part of a body."""
        try:
            units = self._bodies[side].feed(data)
        except Damaged:
            yield from self.release(at)
            yield self.event(side, at, "damaged")
            units = self._bodies[side].feed(data)
        if side is Side.CLIENT:
            yield from self.post(at, units)
        else:
            yield from self._units(side, at, units)

    def end(self, side: Side, at: bytes, *, is_complete: bool) -> Iterator[bytes]:
        """Take in the end of a body; why it is incomplete is said by `broke_off`."""
        body = self._bodies.pop(side, None)
        units = [] if body is None else body.end()
        if side is Side.CLIENT:
            yield from self.post(at, units)
            yield from self.release(at)
            return
        yield from self._units(side, at, units)
        if is_complete and self.known.stream:
            yield self.event(side, at, "end")

    def release(self, at: bytes, first: Unit = b"") -> Iterator[bytes]:
        """Write the request's head, if it is still held."""
        if self._exchange is not None:
            return
        request = self._request
        self._exchange = self._exchanges.request(self._number, request)
        self._read_posted(first)
        clear = request if self._redactor is None else clear_request(self._redactor, request)
        yield self._heads(Side.CLIENT, at, "request", clear)

    def _read_posted(self, unit: Unit) -> None:
        if unit and not isinstance(unit, Piece):
            self._exchanges.post(self.known, text_of(unit))

    # What the agent answers

    def answer(self, at: bytes, response: HttpResponse) -> Iterator[bytes]:
        """Take in the head of an answer."""
        yield from self.release(at)
        annotations = self._exchanges.response(self.known, response)
        clear = response if self._redactor is None else clear_response(self._redactor, response)
        yield self._heads(Side.AGENT, at, "response", clear, annotations)
        if response.is_interim:
            return
        stream = self.known.stream
        self._stream = b',"stream":"%b"' % stream.encode() if stream else b""
        splitter: Splitter | None = BlockSplitter() if stream else None
        if self.known.is_framed:
            self._frame, splitter = b',"frame":"proto"', FrameSplitter()
        self._bodies[Side.AGENT] = Body(response.codings, self._room, stream=splitter)

    def broke_off(self, side: Side, at: bytes, reason: str) -> Iterator[bytes]:
        """Take in that a side ended the exchange in its middle."""
        yield from self.release(at)
        for whose in (Side.CLIENT, Side.AGENT):
            body = self._bodies.pop(whose, None)
            yield from self._units(whose, at, [] if body is None else body.end())
        yield self.event(side, at, "abort", reason=reason)

    # Entries

    def event(self, side: Side, at: bytes, event: str, **facts: object) -> bytes:
        """Return the entry of a fact of the transport."""
        annotations = self._exchanges.event(self.known, side, event, facts)
        front = encode_front(event={"event": event, **facts}, annotations=annotations)
        return self.head(side, at) + self._stream + front + b"}\n"

    def trailers(self, side: Side, at: bytes, fields: Iterable[tuple[bytes, bytes]]) -> bytes:
        """Return the entry of the fields behind a chunked body."""
        headers = decode_headers(fields)
        if self._redactor is not None:
            headers = clear_headers(self._redactor, headers)
        return self.event(side, at, "trailers", headers=headers)

    def raw(self, side: Side, at: bytes, data: bytes, event: str = "raw") -> bytes:
        """Return the entry of bytes that are part of an event, or of nothing that is known."""
        clear = data if self._redactor is None else self._redactor.plain(data)
        front = encode_front(event={"event": event}, redacted=clear is not data)
        payload = encode_payload(clear, plain=False) if data else b""
        return self.head(side, at) + front + payload + b"}\n"

    def _heads(
        self, side: Side, at: bytes, event: str, http: HttpRequest | HttpResponse,
        annotations: Annotations = Annotations(),  # noqa: B008 it is a tuple
    ) -> bytes:  # fmt: skip
        facts: dict[str, object] = {"http": http.as_json()}
        codings = http.codings
        if codings and Inflater.of([coding.encode() for coding in codings]) is not None:
            facts["inflated"] = ", ".join(codings)
        front = encode_front(event=facts | {"event": event}, annotations=annotations)
        return self.head(side, at) + front + b"}\n"

    def scribe(self, side: Side, kind: Kind) -> Scribe:
        """Return who writes the units of a side."""
        scribe = self._scribes.get(side)
        if scribe is None:
            known = self.known
            speaker = partial(_remarks, kind, known, side)
            is_other = isinstance(known.channel, RunChannel | Bystander)
            scribe = Scribe(known.channel, speaker, self._redactor, is_other=is_other)
            self._scribes[side] = scribe
        return scribe

    def _units(self, side: Side, at: bytes, units: list[Unit]) -> list[bytes]:
        if not units:
            return []
        is_stream = side is Side.AGENT and bool(self._stream)
        if is_stream and self._frame:
            return list(self._frames(at, units))
        scribe = self.scribe(side, Kind.BLOCK if is_stream else Kind.BODY)
        head = self.head(side, at) + (self._stream if side is Side.AGENT else b"")
        texts = _plain_texts(units) if is_stream else None
        if texts is not None:
            return scribe.units(side, head, texts, _BLOCK)
        return [self._unit(scribe, side, head, unit, is_stream=is_stream) for unit in units]

    def _unit(
        self, scribe: Scribe, side: Side, head: bytes, unit: Unit, *, is_stream: bool
    ) -> bytes:
        if isinstance(unit, Piece):
            meaning = self.known.channel.piece(side, unit)
            return scribe.unread(head, unit.raw, meaning, more=unit.more)
        raw = text_of(unit)
        text, frame = _framed(raw, self.known) if is_stream else (raw, _BODY)
        quiet = scribe.is_quiet(text)
        return scribe.unit(side, head, text, frame, clean=False, quiet=quiet)

    def _frames(self, at: bytes, units: Iterable[Unit]) -> Iterator[bytes]:
        """Yield the entries of protobuf frames."""
        head, channel = self.head(Side.AGENT, at) + self._stream + self._frame, self.known.channel
        assert isinstance(channel, RunChannel)
        for unit in units:
            raw, more = text_of(unit), False
            if isinstance(unit, Piece):
                meaning, more = channel.frame_piece(unit), unit.more
            else:
                meaning = channel.frame(raw)
            clear = self._cleared_frame(raw, is_piece=isinstance(unit, Piece))
            front = encode_front(more=more, redacted=clear is not raw, annotations=meaning)
            yield head + front + encode_binary(clear) + b"}\n"

    def _cleared_frame(self, raw: bytes, *, is_piece: bool) -> bytes:
        if self._redactor is None:
            return raw
        return self._redactor.plain(raw) if is_piece else clear_frame(self._redactor, raw)


def _remarks(kind: Kind, exchange: Exchange, side: Side, _text: bytes, raw: bytes) -> Annotations:
    return remarks(kind, raw, exchange, side)


def _plain_texts(units: list[Unit]) -> list[bytes] | None:
    """Return the texts of a read's units, if all are plain blocks, as most are."""
    blocks = [unit for unit in units if isinstance(unit, bytes)]
    return sse.plain_texts(blocks) if len(blocks) == len(units) else None


def _framed(block: bytes, exchange: Exchange) -> tuple[bytes, Frame]:
    """Return what a block of an event stream says, and what stands around it."""
    text = sse.plain_json(block)
    if text is not None:
        return text, _BLOCK
    text, notes = sse.payload_of(block), tuple(on_end(block, exchange))
    if text is None:  # nobody takes such a block for a message, whatever it looks like
        return b"", Frame(is_plain=False, notes=notes, raw=block)
    rebuild = partial(sse.with_data, block)
    return text, Frame(is_plain=False, notes=notes, raw=block, rebuild=rebuild)
