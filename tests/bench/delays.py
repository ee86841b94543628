"""What the network proxy adds to the time that something takes, next to no proxy."""

import asyncio
import json
import re
import statistics
import time
from collections.abc import Callable, Iterator
from socket import IPPROTO_TCP, TCP_NODELAY, create_connection, socket

import aiohttp

from tests.bench import through
from tests.bench.peers import SMALL
from tests.bench.row import SESSION, Row

_RUNS = 3
_EVENTS = 1500
_TIMES = 1000
_PAUSE = 0.001
_STAMP = re.compile(rb'"text":"(\d+)')

Times = list[float]
"""In seconds."""


def events() -> Iterator[Row]:
    """500 events a second, from when each was sent until it is there."""
    with through.behind("prepared") as (server, proxy):
        p50, p99 = _added(lambda: _arriving(server), lambda: _arriving(proxy.port))
    yield Row("SSE, 500 events a second: added, p50", _middle(p50) * 1e6, 150, "µs", p50)
    yield Row("SSE, 500 events a second: added, p99", _middle(p99) * 1e3, 1, "ms", p99)


def messages() -> Iterator[Row]:
    """A request over a WebSocket and its answer, aiohttp at both ends."""
    with through.behind("aiohttp") as (server, proxy):
        p50, p99 = _added(
            lambda: asyncio.run(_prompting(server)), lambda: asyncio.run(_prompting(proxy.port))
        )
    yield Row("WebSocket, there and back: added, p50", _middle(p50) * 1e6, 150, "µs", p50)
    yield Row("WebSocket, there and back: added, p99", _middle(p99) * 1e3, 1, "ms", p99)


def requests() -> Iterator[Row]:
    """A small request and its answer, on a connection that is there, and on a new one."""
    with through.behind("prepared") as (server, proxy):
        reused, _ = _added(lambda: _reusing(server), lambda: _reusing(proxy.port))
        new, _ = _added(lambda: _connecting(server), lambda: _connecting(proxy.port))
    yield Row("a request, same connection: added, p50", _middle(reused) * 1e6, 300, "µs", reused)
    yield Row("a request, new connection: added, p50", _middle(new) * 1e6, 600, "µs", new)


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "sse-delay": events,
    "websocket-delay": messages,
    "request-delay": requests,
}


def _added(
    direct: Callable[[], Times], proxied: Callable[[], Times]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return what each round of both found to be added: to the median, and at the 99th percent."""
    p50, p99 = [], []
    for _ in range(_RUNS):
        plain, taped = sorted(direct()), sorted(proxied())
        p50.append(taped[len(taped) // 2] - plain[len(plain) // 2])
        p99.append(taped[len(taped) * 99 // 100] - plain[len(plain) * 99 // 100])
    return tuple(p50), tuple(p99)


_middle = statistics.median


# Clients


def _arriving(port: int) -> Times:
    headers = through.session(port)
    asking = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    times: Times = []
    with create_connection(("127.0.0.1", port)) as client:
        client.sendall(f"GET /paced?count={_EVENTS} HTTP/1.1\r\nHost: x\r\n{asking}\r\n".encode())
        rest = b""
        while not rest.endswith(b"\r\n0\r\n\r\n"):
            rest += client.recv(65536)
            now = time.perf_counter_ns() / 1000
            *whole, rest = rest.split(b"\n\n\r\n")
            times += [(now - int(_sent(chunk))) / 1e6 for chunk in whole]
            rest = b"\r\n" + rest if whole else rest
    assert len(times) == _EVENTS
    return times


def _sent(chunk: bytes) -> bytes:
    found = _STAMP.search(chunk)
    assert found is not None
    return found[1]


async def _prompting(port: int) -> Times:
    """Ask for an empty turn, again and again; how long it takes until it is over."""
    times: Times = []
    async with (
        aiohttp.ClientSession() as client,
        client.ws_connect(f"http://127.0.0.1:{port}/ws") as agent,
    ):
        for request in through.requests({})[:2]:
            await agent.send_str(request.decode())
            await agent.receive_str()
        for number in range(3, _TIMES + 3):
            asking = json.dumps(
                {"jsonrpc": "2.0", "id": number, "method": "session/prompt",
                 "params": {"sessionId": SESSION, "prompt": [{"type": "text", "text": "{}"}]}}
            )  # fmt: skip
            begin = time.perf_counter()
            await agent.send_str(asking)
            answer = await agent.receive_str()
            times.append(time.perf_counter() - begin)
            assert f'"id": {number}' in answer
            await asyncio.sleep(_PAUSE)
    return times


def _reusing(port: int) -> Times:
    times: Times = []
    with _connected(port) as client:
        for _ in range(_TIMES):
            time.sleep(_PAUSE)
            begin = time.perf_counter()
            _ask(client)
            times.append(time.perf_counter() - begin)
    return times


def _connecting(port: int) -> Times:
    times: Times = []
    for _ in range(_TIMES):
        time.sleep(_PAUSE)
        begin = time.perf_counter()
        with _connected(port) as client:
            _ask(client)
            times.append(time.perf_counter() - begin)
    return times


def _connected(port: int) -> socket:
    client = create_connection(("127.0.0.1", port))
    client.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    return client


def _ask(client: socket) -> None:
    client.sendall(b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n")
    got = b""
    while not got.endswith(SMALL):
        got += client.recv(65536)
