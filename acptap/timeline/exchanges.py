"""HTTP exchanges as a timeline follows them: what was asked, and whether it is ACP or a run."""

from collections import deque
from dataclasses import dataclass, field

from acptap.cassette import Entry
from acptap.http import CONNECTION_ID, SESSION_ID, Exchanged, HttpRequest, HttpResponse
from acptap.jsonrpc import Side
from acptap.timeline.reading import Kind, Reading

_KEPT = 1000
"""Exchanges that are remembered although they look finished: a body may be on its way."""


@dataclass(slots=True, eq=False)
class Run:
    """An AG-UI run.

    Attributes:
        thread: Its thread; None if that is not known.
        is_started: Whether RUN_STARTED was seen.
        is_over: Whether its end was told.
    """

    thread: str | None
    is_started: bool = False
    is_over: bool = False
    _last: dict[tuple[str, str | None], str] = field(default_factory=dict)

    def part_of(self, type_: str, owner: str | None, id_: str | None) -> str | None:
        """Return what an event brings a part of: without an id, the same as the last one."""
        if id_ is not None:
            self._last[type_, owner] = id_
        return self._last.get((type_, owner))


@dataclass(slots=True, eq=False)
class Exchange(Exchanged):
    """One request and its answer; behind a 101, all of a WebSocket.

    Attributes:
        request: The request's head.
        head: How its row reads.
        at: When it came, in seconds; None if it was lost.
        is_acp: Whether it belongs to an ACP connection.
        run: The AG-UI run that it is, if it is one.
        posted: What the client posted, in a few words; empty if that is no message.
        response: The final answer's head.
        closed: Who has sent a close frame.
    """

    request: HttpRequest
    head: Reading
    at: float | None = None
    is_acp: bool = False
    run: Run | None = None
    posted: str = ""
    response: HttpResponse | None = None
    closed: set[Side] = field(default_factory=set)

    @property
    def name(self) -> str:
        """What is asked for."""
        return f"{self.request.method} {self.request.target}".strip()

    @property
    def session(self) -> str | None:
        """The session that its head names, or the thread of a run."""
        if self.run is not None:
            return self.run.thread
        return self.request.value(SESSION_ID) if self.is_acp else None

    def speaks(self, side: Side) -> bool:
        """Return whether what a side sends may be a message of ACP; an error page is none."""
        return self.is_acp and not (self.has_failed and side is Side.AGENT)


def _brings_events(exchange: Exchange) -> bool:
    """Return whether an answer is the events of a run, which may go on for long."""
    return exchange.run is not None and not exchange.has_failed


def is_on_network(entry: Entry) -> bool:
    """Return whether an entry is part of an HTTP exchange."""
    return isinstance(entry.front.get("exchange"), int)


class Exchanges:
    """The exchanges of a cassette that may still go on.

    Attributes:
        ways: Which ways ACP passes: `http`, `websocket`.
        has_runs: Whether there are runs of AG-UI.
    """

    def __init__(self) -> None:
        self.ways: set[str] = set()
        self.has_runs = False
        self._known: dict[object, Exchange] = {}
        self._over: deque[object] = deque()

    def find(self, entry: Entry) -> Exchange:
        """Return the exchange of an entry; one without a name if its request was lost."""
        known = self._known.get(entry.front["exchange"])
        return known or Exchange(HttpRequest("", "", []), Reading(Kind.HTTP))

    def ask(self, entry: Entry) -> Exchange:
        """Take in the head of a request."""
        request = HttpRequest.from_json(entry.front.get("http"))
        exchange = Exchange(request, Reading(Kind.HTTP, request.method or None), entry.at)
        self._known[entry.front["exchange"]] = exchange
        exchange.head.is_aside = True
        exchange.head.is_open = request.method == "POST"
        if exchange.asks_socket or request.value(CONNECTION_ID) is not None:
            self.join(exchange)
        return exchange

    def join(self, exchange: Exchange) -> None:
        """Take in that an exchange is ACP, so that its head says nothing new."""
        head, asks_socket = exchange.head, exchange.asks_socket
        exchange.is_acp = True
        head.is_aside = head.is_open = False
        head.is_routine = head.method in ("GET", "POST") and not asks_socket
        if not asks_socket:
            self.ways.add("http")

    def run(self, exchange: Exchange, thread: str | None) -> Run:
        """Take in that an exchange is a run, so that its head says nothing new."""
        exchange.head.is_open, exchange.head.is_routine = False, True
        exchange.run = Run(thread)
        self.has_runs = True
        return exchange.run

    def answer(self, entry: Entry, response: HttpResponse) -> Exchange:
        """Take in the head of an answer; return what it answers."""
        exchange = self.find(entry)
        if not response.is_interim:
            exchange.response = response
            if exchange.is_socket:
                self.ways.add("websocket")
            elif not (response.is_event_stream or _brings_events(exchange)):
                self.retire(entry)
        return exchange

    def retire(self, entry: Entry) -> None:
        """Take in that not much more can come of an exchange."""
        self._over.append(entry.front["exchange"])
        if len(self._over) > _KEPT:
            self._known.pop(self._over.popleft(), None)
