"""The network proxy, next to no proxy, the relay alone and mitmdump: how fast.

All clients run in this process, everything else in processes of their own. A ratio is the median
of rounds in which all ways took turns.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from zlib import crc32

import aiohttp

from tests.bench import through
from tests.bench.row import Row, text_of
from tests.bench.through import Proxy

_COUNT = 100_000
_RUNS = 5
_WARM = 1
_TOLD = b',"session":"sess-0123456789","updates":[{"kind":"message","index":1,"change":"content"}],'

Way = Callable[[], float]
"""Makes one run and returns the seconds that it took."""


def events() -> Iterator[Row]:
    """Server-Sent Events that a server has ready, to an aiohttp client."""
    with through.behind("prepared") as (server, proxy):
        taken = _race(
            {(kind, name): _fetching(port, kind)
             for kind in ("plain", "acp")
             for name, port in (("direct", server), ("taped", proxy.port))}
        )  # fmt: skip
        _check(proxy, "plain", "acp")
        work = {kind: _work(proxy, _fetching(proxy.port, kind)) for kind in ("plain", "acp")}
    yield _ratio("SSE, prepared: recorded, next to direct", taken, "plain", 0.8)
    yield _ratio("SSE, prepared: and annotated, next to direct", taken, "acp", 0.4)
    # The same as the time of processors, which others that run on the machine change less.
    what = "SSE, prepared: work of the client, by that of the proxy"
    yield Row(f"{what}: recorded", statistics.median(work["plain"]), 0.8, "x", work["plain"], True)
    yield Row(f"{what}: and annotated", statistics.median(work["acp"]), 0.4, "x", work["acp"], True)


def events_aiohttp() -> Iterator[Row]:
    """The same, sent one by one from an aiohttp server, next to the relay alone."""
    with through.behind("aiohttp") as (server, proxy), _tapeless(server) as relay:
        taken = _race(
            {(kind, name): _fetching(port, kind)
             for kind in ("plain", "acp")
             for name, port in (("direct", relay), ("taped", proxy.port))}
        )  # fmt: skip
        _check(proxy, "plain", "acp")
    yield _ratio("SSE, aiohttp: recorded, next to the relay alone", taken, "plain", 0.85)


def mitmdump() -> Iterator[Row]:
    """The same, next to mitmdump, which streams and records."""
    with (
        through.behind("prepared") as (server, proxy),
        through.mitmdump(server, proxy.tape.parent) as other,
    ):
        if other is None:
            sys.stderr.write("mitmdump is not installed: its row is left out\n")
            return
        taken = _race(
            {("plain", "direct"): _fetching(other, "plain"),
             ("plain", "taped"): _fetching(proxy.port, "plain")}
        )  # fmt: skip
        _check(proxy, "plain")
    yield _ratio("SSE, prepared: recorded, next to mitmdump", taken, "plain", 3)


def messages() -> Iterator[Row]:
    """Messages of a WebSocket, aiohttp at both ends."""
    whats = {"plain": ("recorded", "ag-ui", 0.8), "acp": ("and annotated", "acp", 0.35)}
    for kind, (what, protocol, budget) in whats.items():  # with AG-UI there is no WebSocket
        with through.behind("aiohttp", protocol) as (server, proxy):
            taken = _race(
                {(kind, "direct"): _hearing(server, kind),
                 (kind, "taped"): _hearing(proxy.port, kind)}
            )  # fmt: skip
            _check(proxy, kind)
        yield _ratio(f"WebSocket, aiohttp: {what}, next to direct", taken, kind, budget)


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "sse": events,
    "sse-aiohttp": events_aiohttp,
    "sse-mitmdump": mitmdump,
    "websocket": messages,
}


def _tapeless(server: int) -> AbstractContextManager[int]:
    return through.serving("tapeless", f"http://127.0.0.1:{server}")


def _race(ways: dict[tuple[str, str], Way]) -> dict[tuple[str, str], list[float]]:
    """Run all ways in turns, after a run of each that does not count."""
    for way in ways.values():
        way()
    taken: dict[tuple[str, str], list[float]] = {name: [] for name in ways}
    for _ in range(_RUNS):
        for name, way in ways.items():
            taken[name].append(way())
    return taken


def _work(proxy: Proxy, way: Way) -> tuple[float, ...]:
    """Return how much longer than the proxy the client, which is this process, computed."""
    ratios = []
    for _ in range(_RUNS):
        theirs, ours = through.spent(proxy.pid), time.process_time()
        way()
        ratios.append((time.process_time() - ours) / (through.spent(proxy.pid) - theirs))
    return tuple(ratios)


def _ratio(what: str, taken: dict[tuple[str, str], list[float]], kind: str, budget: float) -> Row:
    pairs = zip(taken[kind, "direct"], taken[kind, "taped"], strict=True)
    ratios = tuple(direct / taped for direct, taped in pairs)
    return Row(what, statistics.median(ratios), budget, "x", ratios, at_least=True)


def _check(proxy: Proxy, *kinds: str) -> None:
    """Make sure that the tape has all that passed, and says what it means."""
    lines = proxy.tape.read_bytes().split(b"\n")
    for kind in kinds:
        last = b'"msg":%b}' % text_of(kind, _COUNT - 1)
        found = [line for line in lines if line.endswith(last)]
        assert len(found) == _RUNS + _WARM
        if kind == "acp":
            assert all(_TOLD in line for line in found)


# Clients


def _fetching(port: int, kind: str) -> Way:
    expected = crc32(b"".join(text_of(kind, number) for number in range(_COUNT)))

    async def fetch(headers: dict[str, str]) -> float:
        url = f"http://127.0.0.1:{port}/events?kind={kind}&count={_COUNT}"
        async with aiohttp.ClientSession() as client:
            begin = time.perf_counter()
            async with client.get(url, headers=headers) as response:
                got = 0
                async for line in response.content:
                    if line.startswith(b"data: "):
                        got = crc32(line[6:-1], got)
            took = time.perf_counter() - begin
        assert got == expected
        return took

    return lambda: asyncio.run(fetch(through.session(port) if kind == "acp" else {}))


def _hearing(port: int, kind: str) -> Way:
    expected = [text_of(kind, number).decode() for number in range(_COUNT)]
    many = {"many": kind, "count": _COUNT}

    async def hear() -> float:
        async with (
            aiohttp.ClientSession() as client,
            client.ws_connect(f"http://127.0.0.1:{port}/ws", max_msg_size=0) as agent,
        ):
            if kind == "acp":
                *opening, asking = through.requests(many)
                for request in opening:
                    await agent.send_str(request.decode())
                    await agent.receive_str()
            else:
                asking = through.other(many)
            begin = time.perf_counter()
            await agent.send_str(asking.decode())
            got = [await agent.receive_str() for _ in range(_COUNT)]
            took = time.perf_counter() - begin
            await agent.receive_str()
        assert got == expected
        return took

    return lambda: asyncio.run(hear())
