"""The server side of ACP over Streamable HTTP and WebSocket: one port, any path."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator
from socket import socket

from aiohttp import web

from acptap.errors import AcptapError
from acptap.jsonrpc import read_all
from acptap.transports.endpoint import answers
from acptap.transports.endpoint.answers import Ask, Refusal, Unreadable
from acptap.transports.endpoint.connection import HttpConnection
from acptap.transports.endpoint.handler import Handler
from acptap.transports.endpoint.mailbox import LIMIT
from acptap.transports.endpoint.peer import MakePeer
from acptap.transports.endpoint.stream import KEEP_ALIVE, EventStream
from acptap.transports.endpoint.websocket import WebSocketConnection
from acptap.transports.listening import BACKLOG, Admission
from acptap.wire import jsontext

CONNECTION, SESSION = "Acp-Connection-Id", "Acp-Session-Id"
"""The headers of ACP."""

Other = Callable[[web.Request], Awaitable[web.StreamResponse | None]]
"""Answers what is no ACP, or not as the endpoint would; None leaves it to the endpoint."""

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_SHUTDOWN, _LAST_CHANCE = 3.0, 0.5
"""Seconds that clients may take to leave when the endpoint closes, and that the rest may take."""

_GOING_AWAY = 1001
_PREFLIGHT_AGE = "600"  # seconds
_EXPOSED = "Access-Control-Expose-Headers"
_DAMAGED = Refusal(400, b"acptap: the body of this request is damaged\n")


class Endpoint:
    """Serves ACP connections, each with a peer of its own.

    Args:
        make_peer: Makes what is behind a new connection.
        admission: Who is let in.
        batches: Whether arrays of messages are passed on; the official servers refuse them.
        keep_alive: Seconds of silence on an event stream until a comment is written.
        limit: Bytes that may wait for one client before its peer should stop.
        other: Asked first about every request that is let in.
    """

    def __init__(
        self,
        make_peer: MakePeer,
        admission: Admission,
        *,
        batches: bool = False,
        keep_alive: float = KEEP_ALIVE,
        limit: int = LIMIT,
        other: Other | None = None,
    ) -> None:
        self._make_peer = make_peer
        self._admission = admission
        self._batches = batches
        self._keep_alive = keep_alive
        self._limit = limit
        self._other = other
        self._connections: dict[str, HttpConnection] = {}
        self._websockets: set[WebSocketConnection] = set()
        self._open = 0  # event streams and WebSockets
        self._departure = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._servers: list[asyncio.Server] = []

    async def start(self, sockets: Iterable[socket]) -> None:
        """Serve whoever connects to some listening sockets, which the endpoint will close."""

        @web.middleware
        async def admit(request: web.Request, handler: _Handler) -> web.StreamResponse:
            return await self._admit(request)  # there are no routes; any path will do

        app = web.Application(middlewares=[admit], client_max_size=0)
        app.on_response_prepare.append(self._sign)
        self._runner = runner = web.AppRunner(
            app,
            handler_cancellation=True,  # a stream whose client has gone is free for the next one
            shutdown_timeout=_LAST_CHANCE,
        )
        await runner.setup()
        loop, server = asyncio.get_running_loop(), runner.server
        assert server is not None
        for listener in sockets:
            self._servers.append(
                await loop.create_server(
                    lambda: Handler(server, loop), sock=listener, backlog=BACKLOG
                )
            )

    async def close(self) -> None:
        """Stop listening and end all connections, when clients have taken what waits for them.

        Those that don't take it are cut off after some seconds.
        """
        runner, self._runner = self._runner, None
        if runner is None:
            return
        for server in self._servers:
            server.close()
        for connection in self._connections.values():
            connection.close()
        for websocket in self._websockets:
            websocket.end(_GOING_AWAY, "Server shutting down")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SHUTDOWN):
                while self._open:  # the runner would not let them answer our close frames
                    self._departure.clear()
                    await self._departure.wait()
        for connection in self._connections.values():
            connection.end()
        await runner.cleanup()

    async def _admit(self, request: web.Request) -> web.StreamResponse:
        why = self._admission.refusal(
            request.headers.getall("Host", []), request.headers.getall("Origin", [])
        )
        if why is not None:
            return _refused(Refusal(403, f"{why}\n".encode(errors="replace")))
        if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
            return _preflight(request)
        try:
            answer = None if self._other is None else await self._other(request)
        except web.RequestPayloadError:
            return _refused(_DAMAGED)
        return await self._answer(request) if answer is None else answer

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        ask = Ask(
            request.method,
            connection=request.headers.get(CONNECTION) or None,
            session=request.headers.get(SESSION) or None,
            takes_batches=self._batches,
            is_closing=self._runner is None,
        )
        if request.headers.get("Upgrade", "").strip().lower() == "websocket":
            ask.is_upgrade = True
            if web.WebSocketResponse().can_prepare(request) and not ask.is_closing:
                return await self._serve_websocket(request)
        text = await _read_body(request, ask)
        connection = self._connections.get(ask.connection or "")
        if connection is not None:
            ask.is_known = True
            ask.is_heard = not connection.is_over
            ask.is_open = connection.is_open(ask.session)
            ask.is_taken = connection.is_taken(ask.session)
            ask.asked_on = connection.asked_on
        ask.accept = request.headers.get("Accept", "").lower()
        refusal = answers.refusal(ask)
        if refusal is not None:
            return _refused(refusal)
        if ask.initialize is not None:
            return await self._initialize(text, ask)
        assert connection is not None
        return await self._serve(request, connection, text, ask)

    async def _serve(
        self, request: web.Request, connection: HttpConnection, text: bytes, ask: Ask
    ) -> web.StreamResponse:
        match request.method:
            case "POST":
                refused = connection.hear(text, ask.messages, ask.session)
                if refused is not None:
                    return refused
                await connection.peer.drain()
            case "GET":
                stream = EventStream(request, connection, self._keep_alive)
                with self._counted():
                    return await stream.serve(ask.session)
            case _:
                self._forget(connection)
        return web.Response(status=202)

    async def _initialize(self, text: bytes, ask: Ask) -> web.StreamResponse:
        assert ask.initialize is not None
        connection = HttpConnection(ask.initialize, self._limit)
        try:
            connection.peer = self._make_peer(connection)
        except AcptapError as error:
            return _json(answers.failed(answers.id_in(ask.value), str(error)), 500)
        self._connections[connection.id] = connection
        try:
            refused = connection.hear(text, ask.messages, ask.session)
            if refused is not None:
                self._forget(connection)
                return refused
            answer = await connection.answer
        except asyncio.CancelledError:  # the client has gone
            self._forget(connection)
            raise
        if answer is None:
            self._forget(connection)
            return _json(answers.failed(answers.id_in(ask.value), connection.reason), 500)
        response = _json(answer, 200)
        response.headers[CONNECTION] = connection.id
        return response

    async def _sign(self, request: web.Request, response: web.StreamResponse) -> None:
        """Add what every answer has: our name, and for an admitted page the right to read it."""
        response.headers["Server"] = "acptap"
        if not response.headers.get("Content-Type", "unsaid"):  # an empty one stands for none,
            del response.headers["Content-Type"]  # for which aiohttp would say what it is
        origins = request.headers.getall("Origin", [])
        if origins and self._admission.refusal((), origins) is None:
            response.headers["Access-Control-Allow-Origin"] = origins[0]
            response.headers["Access-Control-Allow-Credentials"] = "true"
            response.headers[_EXPOSED] = _exposed(response.headers.getall(_EXPOSED, []))
            response.headers.add("Vary", "Origin")

    def _forget(self, connection: HttpConnection) -> None:
        self._connections.pop(connection.id, None)
        connection.end()

    async def _serve_websocket(self, request: web.Request) -> web.StreamResponse:
        websocket = WebSocketConnection(
            self._make_peer, takes_batches=self._batches, limit=self._limit
        )
        self._websockets.add(websocket)
        try:
            with self._counted():
                return await websocket.serve(request)
        finally:
            self._websockets.discard(websocket)

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
            self._departure.set()


async def _read_body(request: web.Request, ask: Ask) -> bytes:
    """Read a request's body, and what it is, into what the rules ask."""
    if request.method != "POST":
        return b""
    ask.media = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    try:
        text = await request.read()
        ask.value = jsontext.parse(text)
    except (ValueError, web.RequestPayloadError):
        ask.value = Unreadable()
        return b""
    ask.messages = read_all(ask.value, text)
    return text


def _refused(refusal: Refusal) -> web.Response:
    response = web.Response(status=refusal.status, body=refusal.body)
    response.headers["Content-Type"] = refusal.media
    response.headers.update(_BESIDES.get(refusal.status, {}))
    return response


def _json(text: bytes, status: int) -> web.Response:
    return web.Response(status=status, body=text, content_type="application/json")


_BESIDES: dict[int, dict[str, str]] = {
    405: {"Allow": ", ".join(answers.METHODS)},
    426: {"Sec-WebSocket-Version": "13", "Upgrade": "websocket", "Connection": "Upgrade"},
}
"""Headers that a status asks for (RFC 9110, 15.5.6 and 15.5.22)."""


# Pages of other sites


def _preflight(request: web.Request) -> web.Response:
    """Return the answer to a browser that asks whether a page may send a request."""
    allowed = {
        "Access-Control-Allow-Methods": ", ".join(answers.METHODS),
        "Access-Control-Max-Age": _PREFLIGHT_AGE,
    }
    for asked, answer in (
        ("Access-Control-Request-Headers", "Access-Control-Allow-Headers"),
        ("Access-Control-Request-Private-Network", "Access-Control-Allow-Private-Network"),
    ):
        if asked in request.headers:
            allowed[answer] = request.headers[asked]
    return web.Response(status=204, headers=allowed)


def _exposed(values: Iterable[str]) -> str:
    """Return what a page may read of an answer: what it says itself, and the headers of ACP."""
    names = [name.strip() for value in values for name in value.split(",")]
    return ", ".join(
        {name.lower(): name for name in [*names, CONNECTION, SESSION] if name}.values()
    )
