"""Recorded HTTP answers, given again: to what is no ACP, and to messages that were turned down."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from aiohttp import web
from multidict import CIMultiDict

from acptap.jsonrpc import Malformed, Request, read_all
from acptap.replay.exchanges import CONNECTION_ID, Exchange
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
_EVENT_STREAM = "text/event-stream"


class PlainAnswers:
    """Answers requests with what was recorded for them, if they are no ACP.

    Args:
        exchanges: What was recorded.
        recording: Where the bodies are.
        speed: 0 for instant, 1 for the recorded pace, 2 for twice as fast.
        begun: Tells how many live connections have begun.

    Attributes:
        noted: What was asked for and is not in the cassette, with how often.
        closing: Set when the server goes; streams that have no end of their own wait for it.
    """

    def __init__(
        self,
        exchanges: PlainExchanges,
        recording: Recording,
        speed: float,
        begun: Callable[[], int],
    ) -> None:
        self.noted: Counter[str] = Counter()
        self.closing = asyncio.Event()
        self._exchanges = exchanges
        self._recording = recording
        self._speed = speed
        self._begun = begun

    async def answer(self, request: web.Request) -> web.StreamResponse | None:
        """Return the answer to a request; None if it is for ACP to answer.

        Args:
            request: The request. If it is for a connection, then for one that nobody knows.
        """
        purpose, is_acp = await _purpose(request)
        exchange = self._exchanges.take(purpose, request.method, request.raw_path, self._begun())
        if exchange is not None:
            return await self._play(exchange, request)
        if is_acp:
            return None
        self.noted[f"{request.method} {request.raw_path} is not in the cassette"] += 1
        sentence = f"acptap: {request.method} {request.raw_path} is neither ACP nor in the cassette"
        return web.Response(status=404, text=f"{sentence}\n")

    def refuse(self, refused: Refused) -> web.Response:
        """Return the answer to a message that was turned down in the recording."""
        body = b"".join([self._recording.fetch(offset) for offset in refused.body])
        headers = _kept(refused.headers)
        return web.Response(
            status=refused.status, reason=refused.reason, headers=headers, body=body
        )

    async def _play(self, exchange: Exchange, request: web.Request) -> web.StreamResponse:
        recorded = exchange.response
        assert recorded is not None
        headers = _kept(recorded.headers)
        if exchange.is_inflated:
            headers.popall("content-encoding", None)
        response = web.StreamResponse(
            status=recorded.status, reason=recorded.reason, headers=headers
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


def _kept(headers: Iterable[tuple[str, str]]) -> CIMultiDict[str]:
    """Return recorded headers without those that only their own connection was meant by."""
    return CIMultiDict((name, value) for name, value in headers if name.lower() not in _OURS)
