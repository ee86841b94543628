"""Clients on the network: the same three words for HTTP and for WebSocket."""

import asyncio
import contextlib

import aiohttp
import orjson
from aiohttp import WSMsgType

from acptap.wire.sse import BlockSplitter, payload_of
from tests.bridge.editor import request
from tests.bridge.server import LIMIT


def initialize(*deeds) -> bytes:
    """Return an `initialize` before whose answer the agent does something."""
    return request(0, "initialize", protocolVersion=1, deeds=deeds)


class HttpClient:
    """A client of one ACP connection over HTTP.

    Attributes:
        ended: Set when the connection's stream has.
    """

    def __init__(self, url: str, http: aiohttp.ClientSession):
        self.url = url
        self.http = http
        self.headers: dict[str, str] = {}
        self.ended = asyncio.Event()
        self._heard: asyncio.Queue[bytes] = asyncio.Queue()
        self._streams: list[asyncio.Task[None]] = []

    async def open(self, *deeds) -> bytes:
        """Initialize; return the answer."""
        async with self.http.post(
            self.url, data=initialize(*deeds), headers={"Content-Type": "application/json"}
        ) as answer:
            body = await answer.read()
            self.status = answer.status
        if answer.ok:
            self.headers = {"Acp-Connection-Id": answer.headers["Acp-Connection-Id"]}
            self.listen()
        return body

    def listen(self, **headers):
        self._streams.append(asyncio.ensure_future(self._listen(headers)))

    async def send(self, text: bytes) -> int:
        headers = self.headers | {"Content-Type": "application/json"}
        if session := (orjson.loads(text).get("params") or {}).get("sessionId"):
            headers["Acp-Session-Id"] = session
        async with self.http.post(self.url, data=text, headers=headers) as answer:
            await answer.read()
        return answer.status

    async def read(self) -> bytes:
        """Return the next message of any stream."""
        async with asyncio.timeout(LIMIT):
            return await self._heard.get()

    async def leave(self):
        async with self.http.delete(self.url, headers=self.headers) as answer:
            assert answer.status == 202

    async def close(self):
        for stream in self._streams:
            stream.cancel()
            with contextlib.suppress(asyncio.CancelledError, aiohttp.ClientError):
                await stream

    async def _listen(self, headers):
        headers = {"Accept": "text/event-stream"} | self.headers | headers
        async with self.http.get(self.url, headers=headers) as answer:
            if answer.status != 200:  # the bridge is ending
                return
            splitter = BlockSplitter()
            while data := await answer.content.readany():
                for block in splitter.feed(data):
                    assert isinstance(block, bytes)
                    if text := payload_of(block):
                        self._heard.put_nowait(text)
        if len(headers) == 2:
            self.ended.set()


class WebSocketClient:
    """A client of one ACP connection over WebSocket.

    Attributes:
        ended: Set when the server has closed it.
    """

    def __init__(self, url: str, http: aiohttp.ClientSession):
        self.url = url
        self.http = http
        self.ended = asyncio.Event()

    async def open(self, *deeds) -> bytes:
        """Initialize; return the answer."""
        self.socket = await self.http.ws_connect(self.url, max_msg_size=0)
        await self.send(initialize(*deeds))
        return await self.read()

    async def send(self, text: bytes):
        await self.socket.send_str(text.decode())

    async def read(self) -> bytes:
        """Return the next message; nothing at the end."""
        async with asyncio.timeout(LIMIT):
            message = await self.socket.receive()
        if message.type is WSMsgType.TEXT:
            text: str = message.data
            return text.encode()
        self.ended.set()
        return b""

    async def leave(self):
        await self.socket.close()

    async def close(self):
        await self.socket.close()


CLIENTS = {"http": HttpClient, "websocket": WebSocketClient}
