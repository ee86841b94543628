"""The witness of HTTP clients and their agent: what HTTP delimits goes in, cassette lines come out.

The relay reads the framing (`acptap.wire.http1`), for it has to; here its events become exchanges,
and these become entries. Nothing raises on any traffic.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from acptap.http import HttpRequest, HttpResponse, decode, decode_headers
from acptap.jsonrpc import Side
from acptap.redact import Redactor
from acptap.tap.bodies import Room
from acptap.tap.clock import Clock
from acptap.tap.exchange import ExchangeTap
from acptap.tap.socket import SocketTap
from acptap.wire.http1 import Body, End, Event, Lost, Raw, RequestHead, ResponseHead
from acptap.witness.exchanges import Exchanges

_UNREAD = HttpRequest("", "", [])
"""Stands for the request of a connection that is not HTTP."""


class NetworkTap:
    """Turns what passes on any number of TCP connections into the lines of one cassette.

    Args:
        upstream: The agent's URL.
        redactor: Takes secrets out of what goes on the tape; None keeps them.
        clock: The recording's.
        protocol: What to take the traffic for: `acp`, `ag-ui` or `auto`.
    """

    def __init__(
        self,
        upstream: str,
        redactor: Redactor | None = None,
        clock: Clock | None = None,
        protocol: str = "auto",
    ) -> None:
        self._redactor = redactor
        self._clock = clock or Clock()
        self._exchanges = Exchanges(upstream, protocol=protocol)
        self._room = Room()
        self._count = 0

    def line(self) -> "LineTap":
        """Return the tap of a new TCP connection."""
        return LineTap(self._new, self._clock, self._redactor)

    def _new(self, request: HttpRequest) -> ExchangeTap:
        self._count += 1
        return ExchangeTap(self._count, request, self._exchanges, self._redactor, self._room)


class LineTap:
    """One TCP connection of a client, and the one to the agent that goes with it.

    Args:
        new: Makes the tap of an exchange.
        clock: The recording's.
        redactor: Takes secrets out; None keeps them.
    """

    def __init__(
        self,
        new: Callable[[HttpRequest], ExchangeTap],
        clock: Clock,
        redactor: Redactor | None,
    ) -> None:
        self._new = new
        self._clock = clock
        self._redactor = redactor
        self._open: deque[ExchangeTap] = deque()  # without their whole answer, in order
        self._posting: ExchangeTap | None = None
        self._socket: SocketTap | None = None
        self._unread: ExchangeTap | None = None  # where bytes without framing are put down
        self._has_left = False  # the client sends no more

    # Each of these takes a time in microseconds since the header's instant and returns lines

    def from_client(self, events: Iterable[Event], at: int) -> bytes:
        """Take in what one read of the client's bytes brought."""
        time = self._clock.encode(at)
        return b"".join(line for event in events for line in self._of_client(event, time))

    def from_agent(self, events: Iterable[Event], at: int) -> bytes:
        """Take in what one read of the agent's bytes brought."""
        time = self._clock.encode(at)
        return b"".join(line for event in events for line in self._of_agent(event, time))

    def failed(self, why: str, answer: Iterable[Event], at: int) -> bytes:
        """Take in that the agent can't be reached, and what the client is told instead."""
        time = self._clock.encode(at)
        lines = []
        if self._open:
            exchange = self._open[0]
            lines = [
                *exchange.release(time),
                exchange.event(Side.AGENT, time, "unreachable", why=why),
            ]
        return b"".join(
            [*lines, *(line for event in answer for line in self._of_agent(event, time))]
        )

    def untouched(self, why: str, at: int) -> bytes:
        """Take in that the connection passes unread from here on."""
        time = self._clock.encode(at)
        exchange = self._nameless()
        return b"".join(
            [*exchange.release(time), exchange.event(Side.CLIENT, time, "opaque", why=why)]
        )

    def ended(self, side: Side, reason: str, at: int) -> bytes:
        """Take in that a side ended its stream: in order, or for a reason, `reset` or `cut`."""
        time = self._clock.encode(at)
        if self._socket is not None:
            return b"".join(self._socket.end(side, time, reason))
        if side is Side.AGENT:
            whose = Side.CLIENT if self._has_left else Side.AGENT
            return b"".join(
                self._broke_off(whose, time, reason or ("closed" if self._has_left else "cut"))
            )
        self._has_left = True
        if reason:
            return b"".join(self._broke_off(Side.CLIENT, time, reason))
        return b""

    def closed(self, at: int) -> bytes:
        """Take in that both sides are gone; what is open now was left by the client."""
        time = self._clock.encode(at)
        return b"".join(self._broke_off(Side.CLIENT, time, "closed"))

    # The client

    def _of_client(self, event: Event, at: bytes) -> Iterator[bytes]:
        match event:
            case RequestHead():
                self._posting = self._new(_request_of(event))
                self._open.append(self._posting)
            case Body() | End() if self._posting is not None:
                yield from self._posted(self._posting, event, at)
            case Raw(data=data):
                yield from self._raw(Side.CLIENT, at, data)
            case _:  # of a loss `untouched` tells
                pass

    def _posted(self, posting: ExchangeTap, event: Body | End, at: bytes) -> Iterator[bytes]:
        if isinstance(event, Body):
            yield from posting.body(Side.CLIENT, at, event.data)
            return
        self._posting = None
        yield from posting.end(Side.CLIENT, at, is_complete=event.is_complete)
        if event.trailers:
            yield posting.trailers(Side.CLIENT, at, event.trailers)

    # The agent

    def _of_agent(self, event: Event, at: bytes) -> Iterator[bytes]:
        match event:
            case ResponseHead():
                yield from self._answer(event, at)
            case Body() | End() if self._open:
                yield from self._answered(self._open[0], event, at)
            case Raw(data=data):
                yield from self._raw(Side.AGENT, at, data)
            case Lost(why=why):
                exchange = self._nameless()
                yield from exchange.release(at)
                yield exchange.event(Side.AGENT, at, "opaque", why=why)
            case _:  # the rest of what is told already
                pass

    def _answer(self, head: ResponseHead, at: bytes) -> Iterator[bytes]:
        if not self._open:  # an answer that nobody asked for
            self._open.append(self._new(_UNREAD))
        exchange, response = self._open[0], _response_of(head)
        yield from exchange.answer(at, response)
        if head.switches:
            self._open.popleft()
            self._unread = exchange
        if exchange.known.is_socket:
            self._socket = SocketTap(exchange, response, self._redactor)

    def _answered(self, exchange: ExchangeTap, event: Body | End, at: bytes) -> Iterator[bytes]:
        if isinstance(event, Body):
            yield from exchange.body(Side.AGENT, at, event.data)
            return
        if event.trailers:
            yield exchange.trailers(Side.AGENT, at, event.trailers)
        yield from exchange.end(Side.AGENT, at, is_complete=event.is_complete)
        if event.is_complete:  # else its end is told by who broke it off
            self._open.popleft()

    # Both

    def _raw(self, side: Side, at: bytes, data: bytes) -> Iterator[bytes]:
        if self._socket is not None:
            yield from self._socket.feed(side, at, data)
            return
        exchange = self._nameless()
        yield from exchange.release(at)
        yield exchange.raw(side, at, data)

    def _nameless(self) -> ExchangeTap:
        """Return the exchange that unframed bytes are written down with."""
        if self._unread is None:
            self._unread = self._open[-1] if self._open else self._new(_UNREAD)
        return self._unread

    def _broke_off(self, side: Side, at: bytes, reason: str) -> Iterator[bytes]:
        while self._open:
            exchange = self._open.popleft()
            if exchange is not self._unread:
                yield from exchange.broke_off(side, at, reason)


def _request_of(head: RequestHead) -> HttpRequest:
    version = decode(head.version).rpartition("/")[2]
    return HttpRequest(
        decode(head.method), decode(head.target), decode_headers(head.headers), version
    )


def _response_of(head: ResponseHead) -> HttpResponse:
    version = decode(head.version).rpartition("/")[2]
    return HttpResponse(head.status, decode(head.reason), decode_headers(head.headers), version)
