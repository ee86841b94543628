"""A recording's entries, and what each of them means: every connection by itself."""

from acptap.acp.rules import note
from acptap.agui.values import ThreadView
from acptap.cassette import NOTHING, Annotations, Entry, Header
from acptap.http import HttpRequest, HttpResponse
from acptap.jsonrpc import Side
from acptap.wire.lines import Piece
from acptap.witness.channels import meaning
from acptap.witness.exchanges import Exchange, Exchanges
from acptap.witness.messages import Witness
from acptap.witness.remarks import Kind, on_end, remarks
from acptap.witness.runs import RunChannel


class Traffic:
    """Takes in the entries of a cassette, in order. Never raises on any content.

    Args:
        header: The cassette's first line.
        keep: Whether views keep their values.
    """

    def __init__(self, header: Header | None = None, *, keep: bool = False) -> None:
        upstream = "" if header is None else header.upstream
        self._keep = keep
        self._exchanges = Exchanges(
            upstream if isinstance(upstream, str) else "",
            keep=keep,
            protocol="auto" if header is None else header.protocol,
        )
        self._lines: dict[int, Witness] = {}  # of connections over stdio
        self._in_pieces: set[tuple[int, Side]] = set()

    def annotate(self, entry: Entry) -> Annotations:
        """Return what an entry means."""
        number = entry.front.get("exchange")
        if not isinstance(number, int):
            witness = self._line(entry.conn)
            witness.view.line = entry.number
            return witness.annotate(entry)
        exchange = self._exchanges.find(number)
        if entry.event == "request":
            exchange = self._exchanges.request(number, HttpRequest.from_json(entry.front["http"]))
        if exchange is None:  # its request was lost
            return NOTHING
        _set_line(exchange, entry.number)
        return self._annotate(entry, exchange)

    def witnesses(self) -> list[Witness]:
        """Return those who understand a connection each, in the order of the connections."""
        return [*self._lines.values(), *(known.witness for known in self._exchanges.connections)]

    def threads(self) -> list[ThreadView]:
        """Return what a client shows of each AG-UI thread, in order of appearance."""
        return self._exchanges.threads.fold()

    def _line(self, conn: int) -> Witness:
        witness = self._lines.get(conn)
        if witness is None:
            witness = self._lines[conn] = Witness(keep=self._keep, conn=conn)
        return witness

    def _annotate(self, entry: Entry, exchange: Exchange) -> Annotations:
        match entry.event:
            case None:
                return self._unit(entry, exchange)
            case "response":
                response = HttpResponse.from_json(entry.front.get("http"))
                return self._exchanges.response(exchange, response)
            case event:
                return self._exchanges.event(exchange, entry.side, event, entry.front)

    def _unit(self, entry: Entry, exchange: Exchange) -> Annotations:
        side, key = entry.side, (exchange.number, entry.side)
        kind = _kind_of(entry, exchange)
        if kind is Kind.FRAME:
            return self._frame(entry, exchange)
        if entry.more or key in self._in_pieces:
            self._in_pieces.add(key)
            if not entry.more:
                self._in_pieces.discard(key)
            if kind is Kind.BINARY:
                return Annotations(notes=[note("http/oversize")])
            return exchange.channel.piece(side, Piece(entry.unit(), entry.more))
        if side is Side.CLIENT and not exchange.is_socket:
            self._exchanges.post(exchange, entry.reading())
            _set_line(exchange, entry.number)
        said = None if kind is Kind.BINARY else meaning(exchange.channel, side, entry.reading())
        if said is None:
            said = remarks(kind, entry.unit(b""), exchange, side)
        if kind is Kind.BLOCK and entry.key != "msg":
            return said._replace(notes=[*said.notes, *on_end(entry.unit(b""), exchange)])
        return said

    def _frame(self, entry: Entry, exchange: Exchange) -> Annotations:
        channel, key = exchange.channel, (exchange.number, entry.side)
        if not isinstance(channel, RunChannel) or channel.run is None:
            return NOTHING
        if not entry.more and key not in self._in_pieces:
            return channel.frame(entry.unit())
        self._in_pieces.add(key)
        if not entry.more:
            self._in_pieces.discard(key)
        return channel.frame_piece(Piece(entry.unit(), entry.more))


def _kind_of(entry: Entry, exchange: Exchange) -> Kind:
    """Return how a unit was delimited; see cassettes/README.md."""
    if entry.is_frame:
        return Kind.FRAME
    if "stream" in entry.front:
        return Kind.BLOCK
    if not exchange.is_socket:
        return Kind.BODY
    is_binary = entry.key == "b64" and entry.front.get("frame") != "text"
    return Kind.BINARY if is_binary else Kind.TEXT


def _set_line(exchange: Exchange, number: int) -> None:
    if isinstance(exchange.channel, RunChannel):
        exchange.channel.line = number
    elif exchange.connection is not None:
        exchange.connection.witness.view.line = number
