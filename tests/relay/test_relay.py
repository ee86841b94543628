"""A relay from its first client to its last: addresses, leaving, and what is left over."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from acptap.transports.legs import Leg
from acptap.transports.listening import Listen, open_sockets
from acptap.transports.relay import Ending, Relay
from acptap.wire.http1 import Body, End
from acptap.wire.target import Upstream
from tests.relay.conformance import BIG, CHUNKED, OK
from tests.relay.stage import Diary, Running, Stage
from tests.relay.test_pitfalls import ASK, Pipe, deliver, read_all, read_to_reset, read_until
from tests.relay.wires import Listener, Wire, listening


@pytest.fixture
def upstream() -> Iterator[Listener]:
    with listening() as upstream:
        yield upstream


@pytest.fixture
def relay(stage: Stage, upstream: Listener) -> Iterator[Running]:
    with stage.relay(upstream.url) as relay:
        yield relay


def exchange(client: Wire, upstream: Listener) -> None:
    """Have one request answered, and both sides end in order."""
    client.send(ASK)
    agent = upstream.accept()
    read_until(agent, b"\r\n\r\n")
    agent.send(OK)
    agent.close()
    assert read_all(client) == OK
    client.close()


# Addresses


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_clients_come_by_any_address(stage: Stage, upstream: Listener, host: str) -> None:
    sockets = open_sockets(Listen(host, 0))
    addresses = [sock.getsockname()[:2] for sock in sockets]
    with stage.relay(upstream.url, sockets=sockets):
        for address in addresses:
            sock = socket.create_connection(address, timeout=10)
            exchange(Wire(sock), upstream)


@pytest.mark.parametrize(("host", "name"), [("::1", "[::1]"), ("127.0.0.1", "localhost")])
def test_upstreams_by_name_and_by_IPv6(stage: Stage, host: str, name: str) -> None:  # noqa: N802
    with listening(host=host) as upstream:
        authority = f"{name}:{upstream.sock.getsockname()[1]}"
        with stage.relay(f"http://{authority}/pre/fix") as relay:
            client = Wire(relay.connect())
            client.send(ASK)
            agent = upstream.accept()
            assert read_until(agent, b"\r\n\r\n") == (
                f"GET /pre/fix/acp HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode()
            )
            agent.close()
            client.close()


def test_an_address_is_not_looked_up(
    stage: Stage, relay: Running, upstream: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage.loop, "getaddrinfo", None)
    exchange(Wire(relay.connect()), upstream)


NOWHERE = {
    "no such name": ("http://nowhere.invalid", "acptap can't reach http://nowhere.invalid: "),
    "no name at all": (
        f"http://{'x' * 64}.example",
        "its name is none that a host can have\n",
    ),
}


@pytest.mark.parametrize(("url", "words"), NOWHERE.values(), ids=NOWHERE)
def test_an_upstream_that_is_nowhere(stage: Stage, url: str, words: str) -> None:
    with stage.relay(url) as relay:
        client = Wire(relay.connect())
        client.send(ASK)
        assert words.encode() in read_all(client)
        client.close()


# Leaving


def test_leaving_resets_what_is_left(stage: Stage, upstream: Listener) -> None:
    with stage.relay(upstream.url) as relay:
        pipe = Pipe(relay, upstream)
        pipe.agent.send(CHUNKED + b"3\r\nabc\r\n")
        read_until(pipe.client, b"abc\r\n")
        idle = Wire(relay.connect())
        half = Pipe(relay, upstream)
        half.client.fin()
        assert half.agent.receive() == b""
    for wire in (pipe.client, pipe.agent, idle, half.client, half.agent):
        if wire is not half.agent:
            assert read_to_reset(wire) == 0
        wire.close()
    busy, unused, halved = (relay.diary(number) for number in range(3))
    assert busy.calls[-4:] == [
        ("client", Ending.CLOSED),
        ("agent", End(is_complete=False, trailers=[])),
        ("agent", Ending.CLOSED),
        ("closed",),
    ]
    assert unused.calls == [("client", Ending.CLOSED), ("closed",)]
    assert halved.endings() == [("client", Ending.FIN), ("agent", Ending.CLOSED)]


def test_leaving_while_the_upstream_is_called(stage: Stage, upstream: Listener) -> None:
    called = threading.Event()

    async def never(_: Leg) -> None:
        called.set()
        await asyncio.Event().wait()

    with stage.relay(upstream.url) as relay:
        relay.relay._wiring = replace(relay.relay._wiring, dial=never)
        client = Wire(relay.connect())
        client.send(ASK)
        assert called.wait(10)
    assert read_to_reset(client) == 0
    client.close()
    assert relay.diary().endings() == [("client", Ending.CLOSED)]


def test_a_client_that_is_accepted_while_leaving(stage: Stage, upstream: Listener) -> None:
    diary = Diary()

    def leave() -> Diary:
        running[0].relay.close()
        return diary

    running: list[Running] = []
    with stage.relay(upstream.url, leave) as relay:
        running.append(relay)
        with suppress(ConnectionResetError):  # which may come before it is connected
            client = Wire(relay.connect())
            assert read_to_reset(client) == 0
            client.close()
        relay.served.result(10)
    assert diary.calls == [("client", Ending.CLOSED), ("closed",)]


def test_a_relay_that_was_closed_before_it_began(stage: Stage) -> None:
    relay = Relay(Upstream.parse("http://127.0.0.1:9"), Diary, print)
    relay.close()
    relay.close()
    sock = socket.create_server(("127.0.0.1", 0))
    asyncio.run_coroutine_threadsafe(relay.serve([sock]), stage.loop).result(10)
    assert sock.fileno() == -1


def test_a_relay_that_is_cancelled_leaves_in_the_same_way(stage: Stage, upstream: Listener) -> None:
    with stage.relay(upstream.url) as relay:
        pipe = Pipe(relay, upstream)
        relay.served.cancel()
        assert relay.diary().endings() == [("client", Ending.CLOSED), ("agent", Ending.CLOSED)]
        read_to_reset(pipe.client)
        pipe.close()


# How fast it goes


def test_an_upstream_that_is_slow_from_the_first_makes_the_client_wait(
    stage: Stage, upstream: Listener
) -> None:
    """The first write fills what the kernel takes in."""

    async def narrow(leg: Leg) -> None:
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        sock.connect(upstream.sock.getsockname())
        await asyncio.get_running_loop().create_connection(lambda: leg, sock=sock)

    upstream.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with stage.relay(upstream.url) as relay:
        relay.relay._wiring = replace(relay.relay._wiring, dial=narrow)
        client = Wire(relay.connect())
        name = b"X-Long: " + b"l" * 500_000
        client.send(b"GET / HTTP/1.1\r\n%b\r\n\r\n" % name)
        client.fin()
        agent = upstream.accept()
        begin = agent.receive()
        transport = next(iter(relay.relay._pairs)).client._transport
        assert transport
        assert not stage.call(transport.is_reading)
        assert begin + read_all(agent) == b"GET / HTTP/1.1\r\n%b\r\n\r\n" % name
        agent.send(OK)
        agent.close()
        assert read_all(client) == OK
        client.close()


def test_an_upstream_that_does_not_read_stops_the_client(
    relay: Running, upstream: Listener
) -> None:
    sends_more_than_is_read(relay, upstream)


def sends_more_than_is_read(relay: Running, upstream: Listener) -> None:
    client = Wire(relay.connect())
    client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (32 * len(BIG)))
    agent = upstream.accept()
    read_until(agent, b"\r\n\r\n")
    sent = send_until_stopped(client.sock)
    assert sent < 32 * len(BIG)
    rest = threading.Thread(target=lambda: client.send(bytes(32 * len(BIG) - sent)))
    rest.start()
    heard = 0
    while heard < 32 * len(BIG):
        heard += len(agent.receive())
    rest.join()
    agent.close()
    client.close()
    relay.diary()


def send_until_stopped(sock: socket.socket) -> int:
    """Send at most 64 MiB to a peer that does not read; return how much of it went."""
    sock.settimeout(0.5)
    sent = 0
    with suppress(TimeoutError):
        while sent < 32 * len(BIG):
            sent += sock.send(BIG)
    sock.settimeout(10)
    return sent


# What is left over


def fds() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def in_order(relay: Running, upstream: Listener) -> None:
    exchange(Wire(relay.connect()), upstream)


def reset_by_client(relay: Running, upstream: Listener) -> None:
    pipe = Pipe(relay, upstream)
    pipe.client.rst()
    read_to_reset(pipe.agent)
    pipe.close()


def reset_by_agent(relay: Running, upstream: Listener) -> None:
    pipe = Pipe(relay, upstream)
    pipe.agent.rst()
    read_to_reset(pipe.client)
    pipe.close()


def half_closed(relay: Running, upstream: Listener) -> None:
    pipe = Pipe(relay, upstream)
    pipe.client.fin()
    assert pipe.agent.receive() == b""
    pipe.agent.send(OK)
    pipe.agent.close()
    assert read_all(pipe.client) == OK
    pipe.close()


def given_up(relay: Running, _: Listener) -> None:
    client = Wire(relay.connect())
    client.send(ASK[:9])
    client.close()


WAYS: tuple[Callable[[Running, Listener], None], ...] = (
    in_order,
    reset_by_client,
    reset_by_agent,
    half_closed,
    given_up,
)


def test_three_hundred_connections_that_end_in_five_ways_leave_nothing(
    stage: Stage, relay: Running, upstream: Listener
) -> None:
    before = fds()
    for number in range(300):
        WAYS[number % len(WAYS)](relay, upstream)
    for number in range(300):
        relay.diary(number)
    stage.call(lambda: None)
    assert fds() == before
    assert not relay.relay._pairs


def test_memory_is_flat_when_a_client_does_not_read(
    stage: Stage, relay: Running, upstream: Listener
) -> None:
    pipe = Pipe(relay, upstream)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (32 * len(BIG))
    deliver(pipe.agent, head)
    pair = next(iter(relay.relay._pairs))
    sent = send_until_stopped(pipe.agent.sock)
    assert sent < 32 * len(BIG)  # what the kernel takes in for two connections
    transport = pair.client._transport
    assert transport
    assert stage.call(transport.get_write_buffer_size) < 1024 * 1024
    rest = threading.Thread(target=lambda: pipe.agent.send(bytes(32 * len(BIG) - sent)))
    rest.start()
    heard = 0
    while heard < len(head) + 32 * len(BIG):
        heard += len(pipe.client.receive())
    rest.join()
    pipe.close()
    bodies = [event for _, event in relay.diary().events if isinstance(event, Body)]
    assert sum(len(body.data) for body in bodies) == 32 * len(BIG)


def test_nothing_waits_for_a_clock_while_a_stream_is_silent(
    stage: Stage, relay: Running, upstream: Listener
) -> None:
    """H7: a timeout would be a timer of the loop."""
    pipe = Pipe(relay, upstream)
    pipe.agent.send(CHUNKED)
    read_until(pipe.client, b"\r\n\r\n")
    timers = stage.call(lambda: list(vars(stage.loop)["_scheduled"]))
    assert [timer for timer in timers if not timer.cancelled()] == []
    pipe.close()
