"""An endpoint on a free port, peers that do as they are told, and clients that speak bytes."""

import asyncio
import base64
import os
import struct
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import cycle

import orjson

from acptap.transports.endpoint import Endpoint, Outlet
from acptap.transports.listening import DEFAULT, Admission, Listen, address_of, open_sockets

LIMIT = 10.0  # seconds until a test that waits in vain fails

INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}'
INITIALIZED = b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'
JSON = ("Content-Type", "application/json")
EVENTS = ("Accept", "text/event-stream")


async def until(condition):
    """Wait for what nobody tells."""
    async with asyncio.timeout(LIMIT):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


class Puppet:
    """A peer that answers `initialize` and otherwise says what the test says through it."""

    def __init__(self, outlet: Outlet):
        self.outlet = outlet
        self.heard: list[bytes] = []
        self.ends = 0
        self.news = asyncio.Event()
        self.room = asyncio.Event()
        self.room.set()
        self.begin()

    def begin(self):
        """Do something before anything is heard."""

    def hear(self, text: bytes):
        self.heard.append(text)
        self.news.set()
        if len(self.heard) == 1:
            self.answer()

    def answer(self):
        self.outlet.send(INITIALIZED)

    async def drain(self):
        await self.room.wait()

    def hear_end(self):
        self.ends += 1
        self.news.set()

    async def until(self, *, heard=0, ends=0):
        async with asyncio.timeout(LIMIT):
            while len(self.heard) < heard or self.ends < ends:
                self.news.clear()
                await self.news.wait()


class Silent(Puppet):
    def answer(self):
        """Leave `initialize` without an answer."""


@dataclass
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes = b""

    def get(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass
class Client:
    """One TCP connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    chunk: bytes = b""

    async def send(self, method, *headers, body=None, target="/acp", host="127.0.0.1"):
        lines = [f"{method} {target} HTTP/1.1"]
        if host is not None:
            lines.append(f"Host: {host}")
        lines += [f"{name}: {value}" for name, value in headers]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + (body or b""))
        await self.writer.drain()

    async def head(self) -> Answer:
        async with asyncio.timeout(LIMIT):
            status, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
        headers = [(name, value.strip()) for name, _, value in (x.partition(":") for x in lines)]
        return Answer(int(status.split()[1]), headers)

    async def answer(self) -> Answer:
        answer = await self.head()
        length = answer.get("Content-Length")
        async with asyncio.timeout(LIMIT):
            answer.body = await self.reader.readexactly(int(length or 0))
        return answer

    async def stall(self):
        """Wait until something has come that nobody reads."""
        await until(lambda: self.reader._buffer)  # type: ignore[attr-defined]

    async def block(self) -> bytes:
        """Return the next block of an event stream; empty at its proper end."""
        async with asyncio.timeout(LIMIT):
            while b"\n\n" not in self.chunk:
                size = int(await self.reader.readuntil(b"\r\n"), 16)
                self.chunk += (await self.reader.readexactly(size + 2))[:-2]
                if not size:
                    return b""
        block, end, self.chunk = self.chunk.partition(b"\n\n")
        return block + end

    async def rest(self) -> bytes:
        async with asyncio.timeout(LIMIT):
            return await self.reader.read()

    async def upgrade(self, *headers, host="127.0.0.1") -> Answer:
        await self.send(
            "GET",
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", base64.b64encode(os.urandom(16)).decode()),
            *headers,
            host=host,
        )
        return await self.head()

    def frame(self, opcode: int, data: bytes):
        """Write a masked frame."""
        mask = os.urandom(4)
        size = (
            bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
        )
        masked = bytes(a ^ b for a, b in zip(data, cycle(mask), strict=False))
        self.writer.write(bytes([0x80 | opcode]) + size + mask + masked)

    def say(self, text: bytes):
        self.frame(1, text)

    async def hear(self) -> tuple[int, bytes]:
        """Return the opcode and the content of the next frame."""
        async with asyncio.timeout(LIMIT):
            first, size = await self.reader.readexactly(2)
            if size == 126:
                (size,) = struct.unpack(">H", await self.reader.readexactly(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", await self.reader.readexactly(8))
            return first & 0x0F, await self.reader.readexactly(size)

    async def close(self):
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


class Stage:
    """A running endpoint."""

    def __init__(self, endpoint: Endpoint, address: Listen):
        self.endpoint = endpoint
        self.port = address.port
        self.peers: list[Puppet] = []
        self.clients: list[Client] = []

    async def connect(self) -> Client:
        client = Client(*await asyncio.open_connection("127.0.0.1", self.port))
        self.clients.append(client)
        return client

    async def ask(self, method, *headers, **more) -> Answer:
        client = await self.connect()
        await client.send(method, *headers, **more)
        answer = await client.answer()
        await client.close()
        return answer

    async def initialize(self) -> tuple[tuple[str, str], Puppet]:
        """Begin a connection over HTTP; return the header that names it, and its peer."""
        answer = await self.ask("POST", JSON, body=INITIALIZE)
        assert (answer.status, answer.body) == (200, INITIALIZED)
        return ("Acp-Connection-Id", answer.get("Acp-Connection-Id")), self.peers[-1]

    async def post(self, *headers, **message) -> Answer:
        return await self.ask("POST", JSON, *headers, body=orjson.dumps(message))

    async def listen(self, *headers) -> Client:
        client = await self.connect()
        await client.send("GET", EVENTS, *headers)
        answer = await client.head()
        assert answer.status == 200
        return client

    async def upgrade(self, *headers) -> Client:
        client = await self.connect()
        assert (await client.upgrade(*headers)).status == 101
        return client

    async def websocket(self) -> tuple[Client, Puppet]:
        """Begin a connection over a WebSocket."""
        client = await self.upgrade()
        client.say(INITIALIZE)
        assert await client.hear() == (1, INITIALIZED)
        return client, self.peers[-1]


@asynccontextmanager
async def serving(peer=Puppet, admission=None, **options):
    stage: Stage

    def make_peer(outlet):
        stage.peers.append(made := peer(outlet))
        return made

    sockets = open_sockets(DEFAULT._replace(port=0))
    endpoint = Endpoint(make_peer, admission or Admission(), **options)
    stage = Stage(endpoint, address_of(sockets))
    await endpoint.start(sockets)
    try:
        yield stage
    finally:
        for client in stage.clients:
            await client.close()
        await endpoint.close()


def request(id_, method, **params) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})


def notice(method, **params) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "method": method, "params": params})


def result(id_, **value) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": id_, "result": value})


def data(text: bytes) -> bytes:
    return b"data: " + text + b"\n\n"
