"""The network proxy under strain: clients that do not read, long messages, long waits."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from socket import create_connection, socket

import aiohttp

from tests.bench import through
from tests.bench.row import Row, event
from tests.bench.through import peak, resident

_BIG = 600 << 20
_STALLED = 200
_MANY = 200
_EVENTS = 200
_MESSAGE = 64 << 20
_LOOK = 0.5
_SETTLED = 2.0
_HOUR = 240
"""Comments that a server sends in an hour, one in 15 seconds."""


def rows(stall: float) -> dict[str, Callable[[], Iterator[Row]]]:
    """Return the rows.

    Args:
        stall: Seconds for which a client does not read.
    """
    return {
        "network-memory": lambda: memory(stall),
        "network-stalled": stalled,
        "network-many": many,
        "network-big": big,
        "network-idle": idle,
    }


def memory(stall: float) -> Iterator[Row]:
    """A client that asks for 600 MB, does not read for a while, and then does."""
    with through.behind("prepared") as (_, proxy), _asking(proxy.port, _body(_BIG)) as client:
        time.sleep(_SETTLED)
        begin = resident(proxy.pid)
        most = _watched(proxy.pid, stall)
        waiting = peak(proxy.pid)
        got = 0
        while got < _BIG:
            data = client.recv(1 << 20)
            assert data
            got += len(data)
        yield Row(f"memory: grown in {stall:g} s in which a client does not read",
                  (most - begin) / 1e6, 1, "MB")  # fmt: skip
        yield Row("memory: one stalled client", waiting / 1e6, 60, "MB")
        yield Row("memory: the 600 MB that it reads after that", peak(proxy.pid) / 1e6, 60, "MB")


def stalled() -> Iterator[Row]:
    """200 clients that ask for more than all buffers hold, and do not read."""
    with through.behind("prepared") as (_, proxy), ExitStack() as stack:
        for _ in range(_STALLED):
            stack.enter_context(_asking(proxy.port, _body(_BIG)))
        _settle(proxy.tape)
        yield Row(f"memory: {_STALLED} stalled clients", peak(proxy.pid) / 1e6, 120, "MB")


def many() -> Iterator[Row]:
    """200 connections at once, each of them with two answers of 200 events."""
    with through.behind("aiohttp") as (server, proxy):
        expected = asyncio.run(_fetched(server))
        got = asyncio.run(_fetched(proxy.port))
    equal = sum(one == other for one, other in zip(expected, got, strict=True))
    assert len(set(expected)) == 1
    yield Row(f"{_MANY} connections at once: equal to direct", equal, _MANY, "", at_least=True)


def big() -> Iterator[Row]:
    """One message of 64 MB: a body, and a WebSocket's."""
    with through.behind("prepared") as (server, proxy):
        ratio = _best(lambda: _read(proxy.port)) / _best(lambda: _read(server))
        yield Row("a body of 64 MB: time, next to direct", ratio, 15, "x")
    with through.behind("aiohttp") as (server, proxy):
        direct = _best(lambda: asyncio.run(_received(server)))
        taped = _best(lambda: asyncio.run(_received(proxy.port)))
        yield Row("a WebSocket message of 64 MB: time, next to direct", taped / direct, 15, "x")
        yield Row("a WebSocket message of 64 MB: memory", peak(proxy.pid) / 1e6, 120, "MB")


def idle() -> Iterator[Row]:
    """The comments of an hour on a stream on which nothing else happens, in less time."""
    with through.behind("prepared") as (server, proxy):
        target = f"/idle?count={_HOUR}&every=0.01"
        with _asking(server, target) as client:
            expected = _all_of(client)
        with _asking(proxy.port, target) as client:
            assert _all_of(client) == expected
        tape = proxy.tape
        lines = tape.read_bytes().split(b"\n")
        assert b'"event":"end"' in lines[-2]
        comments = sum(b'"text":": keep-alive\\n\\n"' in line for line in lines)
        assert lines[-3].endswith(event("acp", 0)[6:-2] + b"}")
    yield Row("an idle stream, an hour of comments: recorded", comments, _HOUR, "", at_least=True)


# Clients


def _body(size: int) -> str:
    return f"/body?size={size}"


def _asking(port: int, target: str) -> socket:
    client = create_connection(("127.0.0.1", port))
    client.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return client


def _all_of(client: socket) -> bytes:
    got = b""
    while not got.endswith(b"\r\n0\r\n\r\n"):
        got += client.recv(1 << 16)
    return got


def _watched(pid: int, seconds: float) -> int:
    """Return the most memory that a process has while some time goes by."""
    end, most = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        time.sleep(_LOOK)
        most = max(most, resident(pid))
    return most


def _settle(tape: Path) -> None:
    """Wait until nothing is recorded any more: all buffers are full."""
    size = -1
    while (now := tape.stat().st_size) != size:
        size = now
        time.sleep(_SETTLED)


def _best(way: Callable[[], float]) -> float:
    return min(way() for _ in range(3))


def _read(port: int) -> float:
    begin, got = time.perf_counter(), 0
    with _asking(port, _body(_MESSAGE)) as client:
        while got < _MESSAGE:
            data = client.recv(1 << 20)
            assert data
            got += len(data)
    return time.perf_counter() - begin


async def _received(port: int) -> float:
    asking = through.other({"size": _MESSAGE}).decode()
    async with (
        aiohttp.ClientSession() as client,
        client.ws_connect(f"http://127.0.0.1:{port}/ws", max_msg_size=0) as agent,
    ):
        begin = time.perf_counter()
        await agent.send_str(asking)
        text = await agent.receive_str()
        took = time.perf_counter() - begin
        await agent.receive_str()
    assert len(text) > _MESSAGE
    assert text.count("x") == _MESSAGE + 1
    return took


async def _fetched(port: int) -> list[bytes]:
    """Return the hashes of what many clients get at once."""
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as client, asyncio.TaskGroup() as tasks:
        all_ = [tasks.create_task(_twice(client, port), name="client") for _ in range(_MANY)]
    return [task.result() for task in all_]


async def _twice(client: aiohttp.ClientSession, port: int) -> bytes:
    digest = hashlib.sha256()
    for _ in range(2):
        url = f"http://127.0.0.1:{port}/events?kind=plain&count={_EVENTS}"
        async with client.get(url) as response:
            digest.update(await response.read())
    return digest.digest()
