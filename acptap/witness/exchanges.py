"""What HTTP exchanges mean: to which ACP connection each belongs, and what its ends say.

ACP over HTTP has no connection of its own: `initialize` is answered with an `Acp-Connection-Id`,
and whatever carries that header belongs to it (acp.md 5.2). A WebSocket is a connection by itself.
AG-UI has no connections: an exchange is a run, or it is none (`acptap.witness.runs`).
What is neither passes for what it is: HTTP that nobody here reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from acptap.acp.rules import note
from acptap.agui.proto import MEDIA_TYPE
from acptap.agui.run import Run
from acptap.agui.threads import Threads
from acptap.cassette import NOTHING, Annotations
from acptap.http import CONNECTION_ID, SESSION_ID, Exchanged, HttpRequest, HttpResponse, encode
from acptap.jsonrpc import Message, Request, Side, read_all
from acptap.notes import Note
from acptap.wire import jsontext
from acptap.wire.inflating import Inflater
from acptap.wire.target import Upstream, points_at
from acptap.witness.channels import Bystander, Channel
from acptap.witness.messages import Witness
from acptap.witness.runs import RunChannel

_KEPT = 1024
"""Exchanges that are remembered although they look finished."""

_SECOND_RECEIVER = 409
_FATAL = {
    # acp.md 5.2.6: what the TypeScript client gives the connection up at
    "post": frozenset({401, 403, 404, 410}),
    "stream": frozenset(range(400, 600)) - {_SECOND_RECEIVER},
}
_FAULTS = frozenset({1002, 1003, 1007, 1008, 1009, 1010, 1011})
"""Codes a WebSocket is closed with because something went wrong (RFC 6455, 7.4.1)."""


@dataclass(slots=True)
class Connection:
    """An ACP connection over the network.

    Attributes:
        number: Its number in the recording, from 1.
        witness: Understands it.
        is_leaving: Whether the client has asked to end it.
        is_over: Whether it has ended, or broke.
    """

    number: int
    witness: Witness
    is_leaving: bool = False
    is_over: bool = False


@dataclass(slots=True, eq=False)
class Exchange(Exchanged):
    """One request and its answer; behind a 101, all of a WebSocket.

    Attributes:
        number: Its number in the recording, from 1.
        request: The request's head.
        response: The final answer's head, once it is there.
        connection: The ACP connection it belongs to, or None.
        channel: Understands the units of this exchange.
        posted: The messages that the client posted.
        is_done: Whether nothing more can come.
    """

    number: int
    request: HttpRequest
    response: HttpResponse | None = None
    connection: Connection | None = None
    channel: Channel | RunChannel | Bystander = field(default_factory=Bystander)
    posted: list[Message] = field(default_factory=list)
    is_done: bool = False

    @property
    def conn(self) -> int:
        """The number of its connection; 1 if it belongs to none."""
        return 1 if self.connection is None else self.connection.number

    @property
    def run(self) -> Run | None:
        """The AG-UI run that it is, if it is one."""
        return self.channel.run if isinstance(self.channel, RunChannel) else None

    @property
    def is_framed(self) -> bool:
        """Whether its answer comes in protobuf frames."""
        return (
            isinstance(self.channel, RunChannel)
            and self.channel.is_stream
            and self.response is not None
            and self.response.media_type == MEDIA_TYPE
        )

    @property
    def stream(self) -> str:
        """Which event stream its answer is: `connection`, `session`, `events`; empty if none."""
        if isinstance(self.channel, RunChannel) and self.channel.is_stream:
            return "events"
        if self.response is None or not self.response.is_event_stream:
            return ""
        if self.connection is None or self.request.method != "GET":
            return "events"
        return "connection" if self.request.value(SESSION_ID) is None else "session"


_RETIRED = Witness()


class Exchanges:
    """The exchanges of a recording, told in the order things happened. Never raises.

    Args:
        upstream: The agent's URL.
        keep: Whether views keep their values, and connections that are over.
        protocol: What to take the traffic for: `acp`, `ag-ui`, or by what it looks like, `auto`.

    Attributes:
        connections: The ACP connections, if they are kept.
        threads: The AG-UI threads.
    """

    def __init__(self, upstream: str = "", *, keep: bool = False, protocol: str = "auto") -> None:
        self.threads = Threads(keep=keep)
        self._upstream = _read(upstream)
        self._keep = keep
        self._heeds_acp = protocol != "ag-ui"
        self._heeds_runs = protocol != "acp"
        self._ids: dict[str, Connection] = {}
        self._open: dict[int, Exchange] = {}
        self._count = 0
        self.connections: list[Connection] = []

    def find(self, number: int) -> Exchange | None:
        """Return an exchange that is still known."""
        return self._open.get(number)

    # What happens, in this order

    def request(self, number: int, request: HttpRequest) -> Exchange:
        """Take in the head of a request."""
        exchange = Exchange(number, request)
        self._tidy()
        self._open[number] = exchange
        if self._heeds_runs:
            is_post = request.method == "POST"
            exchange.channel = RunChannel(self.threads, is_post=is_post, keep=self._keep)
        if not self._heeds_acp:
            return exchange
        id_ = request.value(CONNECTION_ID)
        if id_ is not None:
            known = self._ids.get(id_)
            if known is None:  # it began before the recording did
                known = self._ids[id_] = self._connect()
            self._join(exchange, known)
            known.is_leaving = known.is_leaving or request.method == "DELETE"
        elif exchange.asks_socket:
            self._join(exchange, self._connect())
        return exchange

    def post(self, exchange: Exchange, text: bytes) -> None:
        """Take in what the client posted, before its meaning is asked for."""
        try:
            value = jsontext.parse(text)
        except ValueError:
            return
        exchange.posted = read_all(value, text)
        if not self._heeds_acp:
            return
        if exchange.connection is None and any(map(_is_initialize, exchange.posted)):
            self._join(exchange, self._connect())

    def response(self, exchange: Exchange, response: HttpResponse) -> Annotations:
        """Take in the head of an answer."""
        if response.is_interim:
            return NOTHING
        exchange.response = response
        notes = list(self._judge(exchange, response))
        known = exchange.connection
        if isinstance(exchange.channel, RunChannel):
            return _joined(notes, exchange.channel.response(response))
        if known is None:
            return Annotations(notes=notes)
        id_ = response.value(CONNECTION_ID)
        if id_:
            self._ids.setdefault(id_, known)
        if response.has_failed and not known.is_over:
            exchange.channel = Bystander()
            return _joined(notes, known.witness.refuse(exchange.posted))
        if exchange.request.method == "DELETE":
            return _joined(notes, self._over(known))
        return Annotations(notes=notes)

    def ended(
        self, exchange: Exchange, side: Side, event: str, reason: object = None
    ) -> Annotations:
        """Take in that a side ended the exchange: `end`, as it should be, or `abort`.

        Of a WebSocket, that the side ended its half of the connection.
        """
        exchange.is_done = True
        known, notes = exchange.connection, []
        is_asked_for = known is not None and known.is_leaving
        if event == "abort" and side is Side.AGENT and not (exchange.is_socket or is_asked_for):
            notes.append(note("http/cut"))
        if isinstance(exchange.channel, RunChannel):
            return _joined(notes, exchange.channel.end(side, event, reason))
        if known is None or known.is_over:
            return Annotations(notes=notes)
        if exchange.is_socket:
            return _joined(notes, self._over(known))
        if side is Side.CLIENT or is_asked_for or exchange.stream in ("", "events"):
            return Annotations(notes=notes)
        notes.append(note("http/stream-lost", stream=exchange.stream))
        if exchange.stream == "session":
            return Annotations(notes=notes)
        return _joined(notes, self._over(known))

    def event(
        self, exchange: Exchange, side: Side, event: str, facts: Mapping[str, object]
    ) -> Annotations:
        """Take in another fact of the transport.

        Args:
            exchange: Where it happened.
            side: Whose doing it is.
            event: Its name.
            facts: What else is known of it.
        """
        match event:
            case "end" | "abort":
                return self.ended(exchange, side, event, facts.get("reason"))
            case "close" if facts.get("code") in _FAULTS:
                return _noted("websocket/abnormal-close", code=facts["code"])
            case "damaged":
                if side is Side.AGENT and isinstance(exchange.channel, RunChannel):
                    exchange.channel.damaged()
                return _noted("http/coding")
            case "opaque":
                return _noted("http/opaque", why=facts.get("why"))
            case "unreachable":
                return _noted("http/unreachable")
            case _:
                return NOTHING

    # Inside

    def _connect(self) -> Connection:
        self._count += 1
        connection = Connection(self._count, Witness(keep=self._keep, conn=self._count))
        if self._keep:
            self.connections.append(connection)
        return connection

    def _join(self, exchange: Exchange, connection: Connection) -> None:
        exchange.connection = connection
        if connection.is_over:  # what comes late is not let through
            exchange.channel = Bystander()
            return
        request = exchange.request
        is_marked = exchange.asks_socket or request.value(SESSION_ID) is not None
        exchange.channel = Channel(
            connection.witness, exchange.number, is_ordered=is_marked, is_marked=is_marked
        )

    def _over(self, connection: Connection) -> Annotations:
        if connection.is_over:  # deleted once more
            return NOTHING
        connection.is_over = True
        told = connection.witness.gone()
        if not self._keep:
            connection.witness = _RETIRED  # so that a long recording needs no more memory
        return told

    def _leads_past(self, location: str) -> bool:
        return self._upstream is not None and points_at(encode(location), self._upstream)

    def _judge(self, exchange: Exchange, response: HttpResponse) -> list[Note]:
        """Return what is to be said of an answer's head."""
        status, location = response.status, response.value("location")
        notes = []
        if response.is_redirect and location and self._leads_past(location):
            notes.append(note("http/past-proxy"))
        codings = [coding.encode() for coding in response.codings]
        if codings and Inflater.of(codings) is None:
            notes.append(note("http/coding"))
        if exchange.connection is None:
            return notes
        method = exchange.request.method
        if method == "POST" and response.has_failed:
            notes.append(note("http/refused", status=status))
        role = {"POST": "post", "GET": "stream"}.get(method, "")
        if status in _FATAL.get(role, ()):
            notes.append(note("http/fatal-status", status=status))
        if method == "GET" and status == _SECOND_RECEIVER:
            notes.append(note("http/second-receiver"))
        is_new = any(map(_is_initialize, exchange.posted))
        if is_new and not response.has_failed and not response.value(CONNECTION_ID):
            notes.append(note("http/no-connection-id"))
        return notes

    def _tidy(self) -> None:
        if len(self._open) < _KEPT:
            return
        over = [
            number
            for number, exchange in self._open.items()
            if exchange.is_done or (exchange.response is not None and not exchange.is_socket
                                    and not exchange.stream)
        ]  # fmt: skip
        for number in over[: _KEPT // 2]:
            del self._open[number]


def _is_initialize(message: Message) -> bool:
    return isinstance(message, Request) and message.method == "initialize"


def _read(url: str) -> Upstream | None:
    try:
        return Upstream.parse(url)
    except ValueError:  # it is unknown, or the agent is a command
        return None


def _noted(rule: str, **detail: object) -> Annotations:
    return Annotations(notes=[note(rule, **detail)])


def _joined(notes: list[Note], more: Annotations) -> Annotations:
    return more._replace(notes=[*notes, *more.notes])
