"""Recorded HTTP answers, given again: to what is no ACP, and to what was turned down."""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from aiohttp import web
from multidict import CIMultiDict

from acptap.app.play.journal import Journal
from acptap.app.play.served import ServedConnection
from acptap.errors import AcptapError
from acptap.http import CONNECTION_ID, SESSION_ID
from acptap.jsonrpc import Malformed, Request, read_all
from acptap.replay.exchanges import Exchange
from acptap.replay.plain import PlainExchanges, Purpose
from acptap.replay.script import Refused
from acptap.storage import Recording
from acptap.wire import jsontext

_OURS = frozenset(
    # what belongs to one hop (RFC 9110, 7.6.1), or is counted anew
    {
        "connection", "content-length", "date", "keep-alive", "proxy-connection", "server", "te",
        "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
_ENDS = re.compile(r"[\r\n\0]")
_EVENT_STREAM = "text/event-stream"


class PlainAnswers:
    """Answers requests with what was recorded for them, if they are no ACP or were turned down.

    Args:
        exchanges: What was recorded.
        recording: Where the bodies are.
        speed: 0 for instant, 1 for the recorded pace, 2 for twice as fast.
        begin: Begins the journal, when the first request comes.

    Attributes:
        live: The connections there are, by their ids.
        begun: How many there have been.
        requests: How many requests came.
        closing: Set when the server goes; streams that have no end of their own wait for it.
    """

    def __init__(
        self,
        exchanges: PlainExchanges,
        recording: Recording,
        speed: float,
        begin: Callable[[], Journal],
    ) -> None:
        self.live: dict[str, ServedConnection] = {}
        self.begun = 0
        self.requests = 0
        self.closing = asyncio.Event()
        self._exchanges = exchanges
        self._recording = recording
        self._speed = speed
        self._begin = begin
        self._journal: Journal | None = None

    def close(self) -> None:
        """Take in that nothing more can be asked for."""
        if self._journal is not None:
            self._journal.close()

    def turn_away(self) -> None:
        """Take in that a client began a connection, and there is none to be played."""
        assert self._journal is not None, "it came with a request"
        self._journal.turned_away()
        self._exchanges.turned_away()

    async def answer(self, request: web.Request) -> web.StreamResponse | None:
        """Return the answer to a request; None if it is for ACP to answer."""
        self.requests += 1
        connection = self.live.get(request.headers.get(CONNECTION_ID, ""))
        if connection is not None:
            return self._turn_away(request, connection)
        purpose, is_acp = await _purpose(request)
        target = request.raw_path.encode(errors="surrogateescape").decode("iso-8859-1")
        asked = purpose, request.method, target, self.begun
        try:
            self._journal = self._journal or self._begin()
        except AcptapError as error:
            return web.Response(status=500, text=f"acptap: {error}\n")
        self._journal.requested(*asked)
        exchange = self._exchanges.take(*asked)
        if exchange is not None:
            return await self._play(exchange, request)
        if is_acp:
            return None
        sentence = f"acptap: {request.method} {request.raw_path} is neither ACP nor in the cassette"
        return web.Response(status=404, text=f"{sentence}\n")

    def refuse(self, refused: Refused) -> web.StreamResponse:
        """Return the answer to a request that was turned down in the recording."""
        body = b"".join([self._recording.fetch(offset) for offset in refused.body])
        headers = kept(refused.headers)
        return web.Response(
            status=refused.status, reason=plain(refused.reason), headers=headers, body=body
        )

    def _turn_away(
        self, request: web.Request, connection: ServedConnection
    ) -> web.StreamResponse | None:
        away: Refused | None = None
        if request.method == "GET":
            away = connection.performance.turn_away(request.headers.get(SESSION_ID))
        elif request.method == "DELETE":
            connection.take_leave()
        return None if away is None else self.refuse(away)

    async def _play(self, exchange: Exchange, request: web.Request) -> web.StreamResponse:
        recorded = exchange.response
        assert recorded is not None
        headers = kept(recorded.headers)
        if exchange.is_inflated:
            headers.popall("content-encoding", None)
        response = web.StreamResponse(
            status=recorded.status, reason=plain(recorded.reason), headers=headers
        )
        if not (recorded.is_event_stream or exchange.is_cut):
            response.content_length = sum(map(len, self._fetched(exchange)))
        await response.prepare(request)
        await self._write(exchange, response)
        if exchange.is_cut:
            assert request.transport is not None
            request.transport.close()
        elif recorded.is_event_stream and not exchange.is_over:
            await self.closing.wait()  # it was the client who left
        return response

    async def _write(self, exchange: Exchange, response: web.StreamResponse) -> None:
        """Write a body, what one read of the recording held in one go."""
        before: float | None = None
        for at, places in groupby(exchange.body, key=lambda place: place.at):
            if before is not None and self._speed:
                await asyncio.sleep((at - before) / self._speed)
            before = at
            await response.write(b"".join([self._recording.fetch(one.offset) for one in places]))

    def _fetched(self, exchange: Exchange) -> Iterator[bytes]:
        return (self._recording.fetch(place.offset) for place in exchange.body)


async def _purpose(request: web.Request) -> tuple[Purpose, bool]:
    """Return what a request is for, and whether ACP has an answer to it."""
    if request.headers.get("Upgrade", "").strip().lower() == "websocket":
        return Purpose.SOCKET, True
    if CONNECTION_ID in request.headers:
        return Purpose.STALE, True
    if request.method != "POST":
        return Purpose.OTHER, request.method == "DELETE" or _wants_events(request)
    text = await request.read()
    try:
        messages = read_all(jsontext.parse(text), text)
    except ValueError:
        messages = []
    if any(isinstance(message, Request) and message.method == "initialize" for message in messages):
        return Purpose.INITIALIZE, True
    return Purpose.OTHER, any(not isinstance(message, Malformed) for message in messages)


def _wants_events(request: web.Request) -> bool:
    return request.method == "GET" and _EVENT_STREAM in request.headers.get("Accept", "").lower()


def kept(headers: Iterable[tuple[str, str]]) -> CIMultiDict[str]:
    """Return recorded headers without those that only their own connection was meant by."""
    rest = ((name, value) for name, value in headers if name.lower() not in _OURS)
    return CIMultiDict((name, plain(value)) for name, value in rest)


def plain(words: str) -> str:
    """Return words of a head without what ends one; blanks stand there (RFC 9110, 5.5)."""
    return _ENDS.sub(" ", words)
