"""An ACP server that answers by the book, except where a test says otherwise."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager

import orjson
from aiohttp import WSMsgType, web

LIMIT = 30.0
"""Seconds after which something is taken for hanging; nothing here needs a tenth of it."""

INITIALIZED = b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Cut:
    """Put on a stream: the TCP connection is torn."""


def refuse(status, text="", **headers) -> Answer:
    async def answer(_):
        return web.Response(status=status, text=text, headers=headers)

    return answer


def accept(body: bytes, **headers) -> Answer:
    async def answer(_):
        return web.Response(body=body, headers=headers)

    return answer


class Server:
    """What a client may see of a server, and what the server sees of it.

    Attributes:
        on: Answers that are not by the book, by what they answer: the HTTP method, and the
            JSON-RPC method ("POST session/new", "POST answer") or the session ("GET s1").
        log: What was asked for, as such words, in order.
        seen: The requests.
        bodies: What was posted.
    """

    def __init__(self):
        self.on: dict[str, Answer] = {}
        self.log: list[str] = []
        self.seen: list[web.Request] = []
        self.bodies: list[bytes] = []
        self.busy = self.most_busy = 0
        self.url = ""
        self._news = asyncio.Condition()
        self._streams: dict[str | None, asyncio.Queue[bytes | type[Cut] | None]] = {}

    def say(self, session: str | None, block: bytes | type[Cut] | None):
        """Put something on a session's stream, or the connection's; None is its end."""
        self._streams.setdefault(session, asyncio.Queue()).put_nowait(block)

    def tell(self, session: str | None, message: bytes):
        self.say(session, b"data: " + message + b"\n\n")

    async def until(self, word: str, times: int = 1):
        """Wait until something was asked for."""
        async with asyncio.timeout(LIMIT), self._news:
            await self._news.wait_for(lambda: self.log.count(word) >= times)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        word = request.method + _word(request, body)
        self.seen.append(request)
        self.bodies.append(body)
        async with self._news:
            self.log.append(word)
            self._news.notify_all()
        if word in self.on:
            return await self.on[word](request)
        match request.method:
            case "POST":
                return await self._post(word)
            case "GET":
                return await self.listen(request)
            case _:
                return web.Response(status=202)

    async def _post(self, word: str) -> web.StreamResponse:
        self.busy += 1
        self.most_busy = max(self.busy, self.most_busy)
        for _ in range(10):
            await asyncio.sleep(0)  # another one would be let in
        self.busy -= 1
        if word != "POST initialize":
            return web.Response(status=202)
        answer = web.Response(body=INITIALIZED, headers={"Acp-Connection-Id": "c1"})
        answer.set_cookie("route", "seven")
        return answer

    async def listen(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        session = request.headers.get("Acp-Session-Id")
        stream = self._streams.setdefault(session, asyncio.Queue())
        while (block := await stream.get()) is not None:
            if isinstance(block, bytes):
                await response.write(block)
            else:
                assert request.transport is not None
                request.transport.abort()
        return response


def _word(request: web.Request, body: bytes) -> str:
    if body:
        value = orjson.loads(body)
        named = value.get("method", "answer") if isinstance(value, dict) else "something"
    else:
        named = request.headers.get("Acp-Session-Id", "")
    return f" {named}" if named else ""


class Socket:
    """The same over WebSocket: does what a test says with it."""

    def __init__(self):
        self.url = ""
        self.opened: asyncio.Future[web.WebSocketResponse] = asyncio.Future()
        self.heard: asyncio.Queue[str] = asyncio.Queue()
        self.closed: asyncio.Future[int | None] = asyncio.Future()
        self.done = asyncio.Event()
        self.request: web.Request

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.request = request
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        self.opened.set_result(socket)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                self.heard.put_nowait(message.data)
        self.closed.set_result(socket.close_code)
        return socket


@asynccontextmanager
async def serve(server, handle=None, ssl=None):
    """Have a server listen on a free port of loopback."""
    app = web.Application(client_max_size=2**40)
    app.router.add_route("*", "/{path:.*}", handle or server.handle)
    runner = web.AppRunner(app, shutdown_timeout=1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=ssl)
    await site.start()
    port = runner.addresses[0][1]
    server.url = f"http{'s' if ssl else ''}://127.0.0.1:{port}/acp"
    try:
        yield server
    finally:
        await runner.cleanup()
