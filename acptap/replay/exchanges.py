"""What passed over HTTP in a recording: which exchanges carry a conversation, and which do not.

Whether the agent ever got what a client posted, the answer tells, which is recorded later. So a
recording is looked through once for its exchanges before its messages are read.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from acptap.cassette import Entry
from acptap.http import CONNECTION_ID, SESSION_ID, SWITCHING, Exchanged, HttpRequest, HttpResponse
from acptap.jsonrpc import Malformed, Message, Request, Side, read_all
from acptap.replay.framing import Framing
from acptap.replay.script import Refused
from acptap.replay.soundness import check_response, check_unit
from acptap.wire import jsontext

_OF_A_CONNECTION = ("connection", "session")
_TAKEN = 409


class Place(NamedTuple):
    """A unit of an answer's body.

    Attributes:
        at: When it passed, in seconds.
        offset: Where its line starts in the file, in bytes.
    """

    at: float
    offset: int


@dataclass(slots=True, eq=False)
class Exchange(Exchanged):
    """A request and its answer; behind a 101, all of a WebSocket.

    Attributes:
        number: Its number in the recording.
        conn: The number of the connection it may belong to.
        request: The head of the request.
        response: The head of the answer, or None if none came.
        is_initialize: Whether the client posted `initialize`.
        is_inflated: Whether the answer's body is stored decompressed.
        body: The units of the answer's body, as long as it is no stream of a conversation.
        is_over: Whether the agent ended the body as it should.
        is_cut: Whether the agent's side broke off.
        speaks: Whether it carries a conversation.
        begun: How many connections had begun before it.
        lines: The numbers of all its lines in the cassette, if it carries no conversation.
    """

    number: int
    conn: int
    request: HttpRequest
    response: HttpResponse | None = None
    is_initialize: bool = False
    is_inflated: bool = False
    body: list[Place] = field(default_factory=list)
    is_over: bool = False
    is_cut: bool = False
    speaks: bool = False
    begun: int = 0
    lines: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.request.method} {self.request.target}"

    @property
    def is_acp(self) -> bool:
        """Whether its request is one of an ACP connection, whatever came of it."""
        has_id = self.request.value(CONNECTION_ID) is not None
        return has_id or self.is_initialize or self.asks_socket

    @property
    def is_preflight(self) -> bool:
        """Whether a browser asks if a page may send a request."""
        asks = self.request.value("access-control-request-method") is not None
        return asks and self.request.method == "OPTIONS"

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer in HTTP."""
        return self.response is not None and self.response.status != SWITCHING

    @property
    def session(self) -> str | None:
        """The session whose stream it is, or None."""
        return self.request.value(SESSION_ID)

    @property
    def carries_connection(self) -> bool:
        """Whether it is the event stream of a connection, rather than of a session."""
        is_open = self.response is not None and self.response.is_success
        return (
            self.request.method == "GET" and is_open and self.session is None and not self.is_socket
        )

    @property
    def refused(self) -> Refused | None:
        """How what the client posted was turned down; None if it was not."""
        return self._refused if self.request.method == "POST" else None

    @property
    def is_stream(self) -> bool:
        """Whether the client asked for an event stream of its connection."""
        return self.request.method == "GET" and not self.asks_socket

    @property
    def turned_away(self) -> Refused | None:
        """How who asked for an event stream was turned away; None if he was not.

        That somebody has the stream already is not for the recording to say.
        """
        is_taken = self._status == _TAKEN
        return self._refused if self.is_stream and not is_taken else None

    @property
    def got_through(self) -> bool:
        """Whether somebody talked ACP behind it; a missing answer is no refusal."""
        if self.response is None:
            return True
        return self.is_socket if self.asks_socket else self.response.is_success

    def framing_of(self, entry: Entry) -> Framing | None:
        """Return what a unit in it is; None for what is no part of the conversation."""
        if self.is_socket:
            is_binary = entry.key == "b64" and entry.front.get("frame") != "text"
            return Framing.BINARY if is_binary else Framing.TEXT
        if entry.side is Side.CLIENT:
            return Framing.BODY
        if "stream" in entry.front:
            return Framing.BLOCK
        is_answer = self.request.method == "POST" and self.refused is None
        return Framing.BODY if is_answer and _holds_message(entry) else None

    @property
    def _refused(self) -> Refused | None:
        response = self.response
        if response is None or response.is_success:
            return None
        offsets = tuple(place.offset for place in self.body)
        return Refused(response.status, response.reason, tuple(response.headers), offsets)

    @property
    def _status(self) -> int | None:
        return None if self.response is None else self.response.status


class Exchanges:
    """The exchanges of a recording.

    Args:
        entries: The recording's entries; facts of no exchange are passed over.

    Raises:
        DamagedCassette: One of them can't be played.

    Attributes:
        silent: Those that carry no conversation, in recorded order.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._all: dict[int, Exchange] = {}
        for entry in entries:
            self._add(entry)
        self._tell_apart()
        self.silent = [
            exchange
            for exchange in self._all.values()
            if not exchange.speaks and not exchange.is_socket
        ]

    @property
    def plain(self) -> list[Exchange]:
        """Those that carry no conversation and were answered, in recorded order.

        Browsers ask by themselves whether a page may send a request; that is not among them.
        """
        return [
            exchange
            for exchange in self.silent
            if exchange.is_answered and not exchange.is_preflight
        ]

    def find(self, entry: Entry) -> Exchange | None:
        """Return the exchange that an entry belongs to, or None."""
        number = entry.front.get("exchange")
        return self._all.get(number) if isinstance(number, int) else None

    def spoken(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, Exchange | None]]:
        """Yield the entries that are part of a conversation, with the exchange they came in."""
        for entry in entries:
            exchange = self.find(entry)
            if exchange.speaks if exchange is not None else "exchange" not in entry.front:
                yield entry, exchange

    def _add(self, entry: Entry) -> None:
        check_unit(entry)
        number = entry.front.get("exchange")
        if not isinstance(number, int):
            return
        if entry.event == "request":
            request = HttpRequest.from_json(entry.front.get("http"))
            self._all[number] = Exchange(number, entry.conn, request, lines=[entry.number])
        elif (exchange := self._all.get(number)) is not None:
            exchange.lines.append(entry.number)
            self._take(exchange, entry)

    def _take(self, exchange: Exchange, entry: Entry) -> None:
        if entry.event is not None:
            _happened(exchange, entry)
        elif entry.side is Side.CLIENT:
            exchange.is_initialize |= _may_initialize(exchange) and _initializes(entry)
        elif entry.front.get("stream") not in _OF_A_CONNECTION and not exchange.is_socket:
            exchange.body.append(Place(entry.at, entry.offset))

    def _tell_apart(self) -> None:
        """Find out which exchanges carry a conversation: those of a connection that came about."""
        mine = [exchange for exchange in self._all.values() if exchange.is_acp]
        begun: dict[int, int] = {}  # the first exchange of each connection
        for exchange in mine:
            if exchange.got_through:
                begun.setdefault(exchange.conn, exchange.number)
        for exchange in mine:
            opens = exchange.is_initialize or exchange.asks_socket
            exchange.speaks = exchange.conn in begun and (exchange.got_through or not opens)
            if exchange.speaks:
                exchange.lines.clear()  # the player knows them better
        firsts = sorted(begun.values())
        for exchange in self._all.values():
            exchange.begun = bisect_left(firsts, exchange.number)


def _happened(exchange: Exchange, entry: Entry) -> None:
    if entry.event == "response":
        response = HttpResponse.from_json(entry.front.get("http"))
        check_response(entry, response, exchange.request)
        if not response.is_interim:
            exchange.response = response
            exchange.is_inflated = "inflated" in entry.front
    elif entry.side is Side.AGENT:
        exchange.is_over |= entry.event == "end"
        exchange.is_cut |= entry.event == "abort"


def _may_initialize(exchange: Exchange) -> bool:
    return exchange.request.method == "POST" and exchange.request.value(CONNECTION_ID) is None


def _initializes(entry: Entry) -> bool:
    return any(
        isinstance(message, Request) and message.method == "initialize"
        for message in _messages(entry)
    )


def _holds_message(entry: Entry) -> bool:
    """Return whether a body is JSON-RPC, rather than a server's acknowledgement."""
    return any(not isinstance(message, Malformed) for message in _messages(entry))


def _messages(entry: Entry) -> list[Message]:
    text = entry.reading()
    try:
        return read_all(jsontext.parse(text), text)
    except ValueError:
        return []
