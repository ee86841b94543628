"""A client that only knows stdio, on the pipes of an agent that is on the network."""

import asyncio
import contextlib
import os
from sys import maxsize

import orjson

from acptap.transports.acpclient import NetworkAgent, Reach
from acptap.transports.pipes import Sink, Source
from acptap.wire.lines import LineSplitter
from tests.bridge.server import LIMIT

INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}'


def request(id_, method, **params) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})


def notification(method, **params) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "method": method, "params": params})


def result(id_, **members) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": id_, "result": members})


class Editor:
    """Writes lines to an agent and reads lines from it.

    Attributes:
        said: What the agent told the human.
    """

    def __init__(self, url: str, **reach):
        self.said: list[str] = []
        is_websocket = url.startswith("ws")
        self.agent = NetworkAgent(Reach(url, is_websocket, **reach), self.said.append)
        self._open = [self.agent.stdin, self.agent.stdout, self.agent.stderr]
        self._sink = Sink(os.dup(self.agent.stdin))
        self._source = Source(os.dup(self.agent.stdout))
        self._lines = self._read()
        self._writing = asyncio.ensure_future(self._sink.run())

    async def send(self, *lines: bytes, end: bytes = b"\n"):
        for line in lines:
            self._sink.write(line + end)
            async with asyncio.timeout(LIMIT):
                await self._sink.drain()

    async def read(self) -> bytes:
        """Return the next line, without its LF; nothing at the end."""
        async with asyncio.timeout(LIMIT):
            return await anext(self._lines, b"")

    async def rest(self) -> list[bytes]:
        async with asyncio.timeout(LIMIT):
            return [line async for line in self._lines]

    async def open(self):
        """Initialize."""
        await self.send(INITIALIZE)
        assert orjson.loads(await self.read())["result"] == {"protocolVersion": 1}

    async def error(self, id_):
        """Read a response, which is an error that we gave ourselves; return message and data."""
        response = orjson.loads(await self.read())
        assert response["id"] == id_
        assert response["error"]["code"] == -32603
        return response["error"]["message"], response["error"]["data"]

    async def leave(self) -> int:
        """Close the agent's input; return its exit code."""
        await self.close_input()
        return await self.wait()

    async def close_input(self):
        self._sink.end()
        await self._writing
        self._open.remove(self.agent.stdin)
        self.agent.close_stdin()

    async def wait(self) -> int:
        async with asyncio.timeout(LIMIT):
            return await asyncio.to_thread(self.agent.wait)

    async def close(self):
        self.agent.terminate()
        await self.wait()
        self._writing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._writing
        await self._lines.aclose()
        for fd in self._open:
            os.close(fd)

    async def _read(self):
        splitter = LineSplitter(maxsize)
        with contextlib.closing(self._source):
            while data := await self._source.read():
                for line in splitter.feed(data):
                    yield line
        assert not splitter.end()
