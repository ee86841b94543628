"""What an event loop and a network do to a relay; each was seen to go wrong once."""

import asyncio
import fcntl
import select
import socket
import termios
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from acptap.transports import legs, pair
from acptap.transports.legs import Leg
from acptap.transports.relay import Ending
from acptap.wire.http1 import Body, End, Lost, Raw, RequestHead, ResponseHead
from tests.relay.conformance import BIG, CHUNKED, GET, OK, SWITCH, UPGRADE
from tests.relay.stage import Diary, Running, Stage
from tests.relay.wires import Listener, Wire, listening

ASK = GET.replace(b"{base}", b"").replace(b"{host}", b"a")
UP = UPGRADE.replace(b"{base}", b"").replace(b"{host}", b"a")


@pytest.fixture
def upstream() -> Iterator[Listener]:
    with listening() as upstream:
        yield upstream


@pytest.fixture
def relay(stage: Stage, upstream: Listener) -> Iterator[Running]:
    with stage.relay(upstream.url) as relay:
        yield relay


def read_until(wire: Wire, end: bytes) -> bytes:
    heard = b""
    while not heard.endswith(end):
        data = wire.receive()
        assert data, heard
        heard += data
    return heard


def read_all(wire: Wire) -> bytes:
    heard = b""
    while data := wire.receive():
        heard += data
    return heard


def read_to_reset(wire: Wire) -> int:
    """Return how many bytes came before a reset."""
    size = 0
    try:
        while data := wire.receive():
            size += len(data)
    except ConnectionResetError:
        return size
    pytest.fail("it ended in order")


def send_in_vain(wire: Wire) -> None:
    """Send until that fails."""
    try:
        while True:
            wire.send(b"3\r\nabc\r\n")
    except (ConnectionResetError, BrokenPipeError):
        pass


def deliver(wire: Wire, data: bytes) -> None:
    """Send something and wait until the peer's kernel has it; only then may a reset follow."""
    wire.send(data)
    waiting = bytearray(4)
    while not fcntl.ioctl(wire.sock.fileno(), termios.TIOCOUTQ, waiting) and any(waiting):
        select.select([], [], [], 0.001)


def is_silent(sock: socket.socket) -> bool:
    return not select.select([sock], [], [], 0)[0]


class Pipe:
    """A client and the upstream's end of its connection, with one request relayed."""

    def __init__(self, relay: Running, upstream: Listener, request: bytes = ASK) -> None:
        self.client = Wire(relay.connect())
        self.client.send(request)
        self.agent = upstream.accept()
        read_until(self.agent, b"\r\n\r\n")

    def close(self) -> None:
        self.client.sock.close()
        self.agent.sock.close()


# 3.1


def test_3_1_the_end_is_told_once_although_reading_stops_and_goes_on(
    relay: Running, upstream: Listener
) -> None:
    client = Wire(relay.connect())
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(BIG)
    client.send(head)
    agent = upstream.accept()

    def send() -> None:
        client.send(BIG)
        client.fin()

    sender = threading.Thread(target=send)
    sender.start()
    assert read_all(agent).endswith(BIG)
    sender.join()
    agent.send(OK)
    agent.close()
    assert read_all(client) == OK
    client.close()
    assert relay.diary().endings() == [("client", Ending.FIN), ("agent", Ending.FIN)]


class Transport(asyncio.Transport):
    """A transport that does nothing, and writes down what it was asked for."""

    def __init__(self, sock: Any = None) -> None:
        super().__init__({"socket": sock})
        self.asked: list[str] = []
        self.refuses = False

    def write_eof(self) -> None:
        self.asked.append("write_eof")
        if self.refuses:
            raise OSError(107, "Transport endpoint is not connected")

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.asked.append("write")

    def pause_reading(self) -> None:
        self.asked.append("pause")

    def resume_reading(self) -> None:
        self.asked.append("resume")

    def get_write_buffer_size(self) -> int:
        return 7

    def close(self) -> None:
        self.asked.append("close")

    def is_closing(self) -> bool:
        return "close" in self.asked


class Told:
    """What a leg's owner is told."""

    def __init__(self) -> None:
        self.calls: list[object] = []
        self.leg = Leg(
            lambda: self.calls.append("made"),
            self.calls.append,
            self.calls.append,
            lambda: self.calls.append("gone"),
        )
        self.transport = Transport()


def test_3_1_a_leg_tells_one_end_and_does_not_read_behind_it() -> None:
    told = Told()
    told.leg.connection_made(told.transport)
    assert told.leg.eof_received()
    assert told.leg.eof_received()
    told.leg.hold()
    told.leg.go_on()
    assert told.calls == ["made", Ending.FIN]
    assert told.transport.asked == []


# 3.2


def test_3_2_a_reset_while_we_end_what_we_send_stays_on_its_own_leg() -> None:
    told = Told()
    told.leg.connection_made(told.transport)
    told.transport.refuses = True
    told.leg.finish()
    told.leg.finish()
    told.leg.write(b"too late")
    told.leg.eof_received()
    assert told.transport.asked == ["write_eof", "close"]
    told.leg.finish()
    told.leg.write(b"too late")
    assert told.transport.asked == ["write_eof", "close"]


def test_3_2_a_leg_that_is_gone_does_nothing() -> None:
    told = Told()
    told.leg.connection_made(told.transport)
    told.leg.connection_lost(None)
    for act in (told.leg.hold, told.leg.go_on, told.leg.finish, told.leg.reset, told.leg.abort):
        act()
    told.leg._reset_when_delivered()
    told.leg.write(b"x")
    assert not told.leg.is_open
    assert told.calls == ["made", "gone"]
    assert told.transport.asked == []


# 3.3


def test_3_3_a_reset_behind_an_end_is_noticed_by_writing(
    relay: Running, upstream: Listener
) -> None:
    pipe = Pipe(relay, upstream)
    pipe.client.fin()
    assert pipe.agent.receive() == b""
    pipe.agent.send(CHUNKED)
    read_until(pipe.client, b"\r\n\r\n")
    pipe.client.rst()
    send_in_vain(pipe.agent)
    pipe.close()
    assert relay.diary().endings() == [("client", Ending.FIN), ("client", Ending.RESET)]


# 3.4


def narrow(relay: Running) -> Wire:
    """Return a client whose kernel takes little in before it is read."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(10)
    sock.connect(relay.address[:2])
    return Wire(sock)


def reset_behind_much(relay: Running, upstream: Listener, size: int) -> Wire:
    """Return a client that has read nothing of so many bytes and a reset behind them."""
    client = narrow(relay)
    client.send(ASK)
    agent = upstream.accept()
    read_until(agent, b"\r\n\r\n")
    deliver(agent, CHUNKED + b"x" * size)
    agent.rst()
    while ("agent", Ending.RESET) not in relay.diaries[0].calls:
        select.select([], [], [], 0.001)
    return client


def test_3_4_what_came_before_a_reset_arrives(relay: Running, upstream: Listener) -> None:
    client = reset_behind_much(relay, upstream, 300_000)
    assert read_to_reset(client) == len(CHUNKED) + 300_000
    client.close()
    assert relay.diary().endings() == [("agent", Ending.RESET)]


def test_3_4_a_client_that_takes_nothing_gets_its_reset_all_the_same(
    relay: Running, upstream: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(legs, "unsent", lambda _: 1)
    monkeypatch.setattr(legs, "PATIENCE", 0.02)
    client = reset_behind_much(relay, upstream, 100)
    assert relay.diary().calls[-1] == ("closed",)
    assert read_to_reset(client) == len(CHUNKED) + 100
    client.close()


def test_3_4_a_client_that_leaves_while_its_reset_waits(
    relay: Running, upstream: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(legs, "PATIENCE", 1_000)
    client = reset_behind_much(relay, upstream, 300_000)
    client.rst()
    assert relay.diary().calls[-1] == ("closed",)
    assert relay.diary().endings() == [("agent", Ending.RESET)]


async def test_3_4_a_peer_that_resets_while_its_reset_waits_is_no_news(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(legs, "unsent", lambda _: 1)
    told = Told()
    told.leg.connection_made(told.transport)
    told.leg.reset()
    told.leg.reset()
    told.leg.connection_lost(ConnectionResetError())
    assert told.calls == ["made", "gone"]
    assert told.transport.asked == ["pause"]


def test_3_4_a_system_that_can_not_tell_what_is_unsent(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(25, "Inappropriate ioctl for device")

    monkeypatch.setattr("fcntl.ioctl", refuse)
    with socket.socket() as sock:
        assert legs.unsent(Transport(sock)) == 7


def test_3_4_what_a_peer_said_before_our_write_failed_is_read(
    stage: Stage, relay: Running, upstream: Listener
) -> None:
    """The upstream answers early and leaves; the client is still sending."""
    client = Wire(relay.connect())
    client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n")
    agent = upstream.accept()
    read_until(agent, b"\r\n\r\n")
    answer = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"
    stage.call(next(iter(relay.relay._pairs))._agent.hold)  # so that the answer stays unread
    deliver(agent, answer)
    agent.rst()
    client.send(b"x" * 1000)
    assert read_until(client, answer) == answer
    assert read_to_reset(client) == 0
    client.close()
    assert relay.diary().endings() == [("agent", Ending.RESET)]


# 3.6


def test_3_6_a_client_that_asks_nothing_is_not_passed_on(
    relay: Running, upstream: Listener
) -> None:
    client = Wire(relay.connect())
    client.fin()
    assert client.receive() == b""
    client.close()
    assert relay.diary().calls == [("client", Ending.FIN), ("closed",)]
    assert not upstream.is_called()


@pytest.mark.parametrize(
    ("leave", "how"), [(Wire.close, Ending.FIN), (Wire.rst, Ending.RESET)], ids=["fin", "rst"]
)
def test_3_6_a_head_that_is_given_up_is_not_passed_on(
    relay: Running, upstream: Listener, leave: Callable[[Wire], None], how: Ending
) -> None:
    client = Wire(relay.connect())
    client.send(b"POST /acp HTTP/1.1\r\nHos")
    leave(client)
    assert relay.diary().calls == [
        ("client", Raw(b"POST /acp HTTP/1.1\r\nHos")),
        ("client", how),
        ("closed",),
    ]
    assert not upstream.is_called()


def test_3_6_nothing_is_read_while_the_upstream_is_called(stage: Stage, upstream: Listener) -> None:
    goes_on = asyncio.Event()
    with stage.relay(upstream.url) as relay:
        dial = relay.relay._wiring.dial
        called = threading.Event()

        async def slow(leg: Leg) -> None:
            called.set()
            await goes_on.wait()
            await dial(leg)

        relay.relay._wiring = replace(relay.relay._wiring, dial=slow)
        client = Wire(relay.connect())
        head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (16 * len(BIG))
        client.send(head)
        assert called.wait(10)
        client.sock.settimeout(0.3)
        with pytest.raises(TimeoutError):  # 32 MiB are more than the kernel takes in
            client.send(BIG * 16)
        stage.call(goes_on.set)
        agent = upstream.accept()
        assert agent.receive().startswith(b"POST / HTTP/1.1\r\n")
        agent.rst()
        client.close()
        relay.diary()


# 3.7


@pytest.fixture
def nowhere() -> str:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return f"http://127.0.0.1:{sock.getsockname()[1]}"


def test_3_7_a_502_says_why_and_waits_for_the_client(stage: Stage, nowhere: str) -> None:
    with stage.relay(nowhere + "/acp") as relay:
        client = Wire(relay.connect())
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n")
        client.send(b"x" * 10_000_000)
        why = f"acptap can't reach {nowhere}: Connection refused"
        text = f"{why}\n".encode()
        assert read_all(client) == (
            b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain; charset=utf-8\r\n"
            b"Content-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(text), text)
        )
        client.close()
        diary = relay.diary()
        kinds = [type(event) for side, event in diary.events if side == "client"]
        assert kinds[0] is RequestHead
        failed = next(call for call in diary.calls if call[0] == "failed")
        assert failed[1] == why
        head, body, end = failed[2]
        assert (head.status, head.request.target, body, end) == (
            502,
            b"/",
            Body(text),
            End(is_complete=True, trailers=[]),
        )
        assert diary.calls[-2:] == [("client", Ending.FIN), ("closed",)]
        events = [event for side, event in diary.events if side == "client"]
        assert sum(len(event.data) for event in events if isinstance(event, Body)) == 10_000_000


def test_3_7_a_502_to_HEAD_has_no_body(stage: Stage, nowhere: str) -> None:  # noqa: N802
    with stage.relay(nowhere) as relay:
        client = Wire(relay.connect())
        client.send(b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert read_all(client).endswith(b"Connection: close\r\n\r\n")
        client.close()


def test_3_7_a_502_to_no_HTTP(stage: Stage, nowhere: str) -> None:  # noqa: N802
    with stage.relay(nowhere) as relay:
        client = Wire(relay.connect())
        client.send(b"\x16\x03\x01 what is it\r\n")
        assert read_all(client).startswith(b"HTTP/1.1 502 ")
        client.close()


def test_3_7_a_client_that_does_not_leave_is_left(
    stage: Stage, nowhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair, "FAREWELL", 0.01)
    with stage.relay(nowhere) as relay:
        client = Wire(relay.connect())
        client.send(ASK)
        read_all(client)
        assert relay.diary().calls[-1] == ("closed",)
        client.close()


def test_3_7_a_refused_upgrade_and_what_stood_behind_it(stage: Stage, nowhere: str) -> None:
    with stage.relay(nowhere) as relay:
        client = Wire(relay.connect())
        client.send(UP + ASK)
        client.fin()
        assert read_all(client).startswith(b"HTTP/1.1 502 ")
        client.close()
        heads = [event for _, event in relay.diary().events if isinstance(event, RequestHead)]
        assert [head.is_upgrade for head in heads] == [True, False]


# 3.8


def test_3_8_frames_right_behind_the_request_for_an_upgrade_wait_for_the_answer(
    relay: Running, upstream: Listener
) -> None:
    pipe = Pipe(relay, upstream, UP + b"\x81\x80\0\0\0\0")
    assert is_silent(pipe.agent.sock)
    pipe.agent.send(SWITCH + b"\x81\x00")
    assert pipe.agent.receive() == b"\x81\x80\0\0\0\0"
    assert read_until(pipe.client, b"\x81\x00") == SWITCH + b"\x81\x00"
    pipe.close()
    events = [(side, type(event)) for side, event in relay.diary().events]
    assert events[:5] == [
        ("client", RequestHead),
        ("client", End),
        ("agent", ResponseHead),
        ("agent", Raw),
        ("client", Raw),
    ]
    assert not [call for call in relay.diary().calls if call[0] == "untouched"]


def test_3_8_an_upgrade_with_a_body(relay: Running, upstream: Listener) -> None:
    request = b"POST / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\nabc"
    pipe = Pipe(relay, upstream, request[:-3])
    pipe.client.send(b"abc" + ASK)
    assert pipe.agent.receive() == b"abc"
    pipe.agent.send(OK)
    assert b"Host: 127.0.0.1" in read_until(pipe.agent, b"\r\n\r\n")
    pipe.close()


def test_3_8_an_answer_that_can_not_be_read_releases_what_waits(
    relay: Running, upstream: Listener
) -> None:
    pipe = Pipe(relay, upstream, UP + ASK)
    pipe.agent.send(b"what?\r\n\r\n")
    read_until(pipe.client, b"what?\r\n\r\n")
    assert read_until(pipe.agent, b"\r\n\r\n") == ASK
    pipe.client.send(ASK)
    assert read_until(pipe.agent, b"\r\n\r\n") == ASK
    pipe.close()
    assert sum(isinstance(event, Lost) for _, event in relay.diary().events) == 1


def test_3_8_an_answer_whose_end_is_not_known_is_one_all_the_same(
    relay: Running, upstream: Listener
) -> None:
    pipe = Pipe(relay, upstream, UP + ASK)
    pipe.agent.send(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n")
    assert b"Host: 127.0.0.1:" in read_until(pipe.agent, b"\r\n\r\n")
    pipe.close()


def test_3_8_a_later_upgrade_does_not_wait_for_answers_that_can_not_be_read(
    relay: Running, upstream: Listener
) -> None:
    pipe = Pipe(relay, upstream)
    pipe.agent.send(b"what?\r\n\r\n")
    read_until(pipe.client, b"what?\r\n\r\n")
    pipe.client.send(UP + b"frames")
    assert read_until(pipe.agent, b"frames").startswith(b"GET /acp HTTP/1.1\r\nHost: 127.0.0.1")
    pipe.close()
    untouched = [call for call in relay.diary().calls if call[0] == "untouched"]
    assert untouched == [
        ("untouched", "an upgrade was asked for, and the answer to that can't be read")
    ]


def test_3_8_an_end_waits_behind_what_waits(relay: Running, upstream: Listener) -> None:
    pipe = Pipe(relay, upstream, UP + ASK)
    pipe.client.fin()
    pipe.agent.send(OK)
    second = read_all(pipe.agent)
    assert second == ASK.replace(b"Host: a", b"Host: " + upstream.authority.encode())
    pipe.agent.send(OK)
    pipe.agent.close()
    assert read_all(pipe.client) == OK * 2
    pipe.close()
    assert relay.diary().endings() == [("client", Ending.FIN), ("agent", Ending.FIN)]


def test_3_8_an_upstream_that_ends_without_an_answer_gets_what_waits(
    relay: Running, upstream: Listener
) -> None:
    pipe = Pipe(relay, upstream, UP + b"frames")
    pipe.client.fin()
    pipe.agent.fin()
    assert read_all(pipe.agent) == b"frames"
    assert read_all(pipe.client) == b""
    pipe.close()


# 3.9


def test_3_9_a_request_passes_while_the_answer_before_it_runs(
    relay: Running, upstream: Listener
) -> None:
    pipe = Pipe(relay, upstream)
    pipe.agent.send(CHUNKED + b"3\r\nabc\r\n")
    read_until(pipe.client, b"abc\r\n")
    pipe.client.send(ASK.replace(b"/acp", b"/second"))
    read_until(pipe.agent, b"\r\n\r\n")
    pipe.agent.send(b"0\r\n\r\n" + OK)
    read_until(pipe.client, b"ok")
    pipe.close()
    answers = [event for _, event in relay.diary().events if isinstance(event, ResponseHead)]
    assert [answer.request.target for answer in answers if answer.request] == [b"/acp", b"/second"]


# 3.10 and 3.11

TARGETS = {
    b"/": b"/pre/acp",
    b"/?k=1": b"/pre/acp?k=1",
    b"/pre/acp/x": b"/pre/acp/x",
    b"/acp": b"/pre/acp/acp",
    b"*": b"*",
}


@pytest.mark.parametrize(("asked", "passed"), TARGETS.items())
def test_3_10_the_base_path(stage: Stage, upstream: Listener, asked: bytes, passed: bytes) -> None:
    with stage.relay(upstream.url + "/pre/acp") as relay:
        client = Wire(relay.connect())
        client.send(b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n" % asked)
        agent = upstream.accept()
        assert read_until(agent, b"\r\n\r\n").split(b" ")[1] == passed
        client.close()
        agent.close()


HOSTS: dict[str, tuple[dict[str, Any], bytes, bytes]] = {
    "replaced": ({}, b"hOsT:a", b"hOsT:{host}"),
    "none, and none is added": ({}, b"X: y", b"X: y"),
    "left": ({"keep_host": True}, b"Host: a", b"Host: a"),
    "with more headers": (
        {"headers": [(b"Authorization", b"Bearer t"), (b"X", b"1")]},
        b"Host: a",
        b"Host: {host}\r\nAuthorization: Bearer t\r\nX: 1",
    ),
}


@pytest.mark.parametrize(("options", "said", "passed"), HOSTS.values(), ids=HOSTS)
def test_3_11_host(
    stage: Stage, upstream: Listener, options: dict[str, Any], said: bytes, passed: bytes
) -> None:
    with stage.relay(upstream.url, **options) as relay:
        client = Wire(relay.connect())
        client.send(b"GET / HTTP/1.1\r\n%b\r\n\r\n" % said)
        agent = upstream.accept()
        passed = passed.replace(b"{host}", upstream.authority.encode())
        assert read_until(agent, b"\r\n\r\n") == b"GET / HTTP/1.1\r\n%b\r\n\r\n" % passed
        client.close()
        agent.close()
        first = relay.diary().calls[0][1]
        assert first.raw == b"GET / HTTP/1.1\r\n%b\r\n\r\n" % said


# 3.12 and 3.13

DOUBTS = {
    "both lengths": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
    "a length that is no number": b"POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\n",
    "an unknown coding": b"POST / HTTP/1.1\r\nTransfer-Encoding: x\r\n\r\n",
    "a blank before a colon": b"POST / HTTP/1.1\r\nHost : a\r\n\r\n",
    "a first line that is none": b"\xff\xfe nonsense\r\n\r\n",
    "a head without end": b"GET / HTTP/1.1\r\nX: " + b"x" * 1024 * 1024 + b"\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


@pytest.mark.parametrize("request_", DOUBTS.values(), ids=DOUBTS)
def test_3_12_where_in_doubt_nothing_is_touched(
    relay: Running, upstream: Listener, request_: bytes
) -> None:
    client = Wire(relay.connect())
    client.send(request_)
    agent = upstream.accept()
    heard = read_until(agent, request_[-8:])
    client.send(ASK)
    assert heard + read_until(agent, ASK) == request_ + ASK
    agent.send(b"an answer")
    assert client.receive() == b"an answer"
    client.close()
    agent.close()
    assert sum(call[0] == "untouched" for call in relay.diary().calls) == 1


# 3.15


def test_3_15_who_ended_first_is_told_first(relay: Running, upstream: Listener) -> None:
    pipe = Pipe(relay, upstream)
    pipe.agent.send(CHUNKED + b"3\r\nabc\r\n")
    read_until(pipe.client, b"abc\r\n")
    pipe.client.close()
    assert pipe.agent.receive() == b""
    pipe.agent.close()
    assert relay.diary().calls[-4:] == [
        ("client", Ending.FIN),
        ("agent", End(is_complete=False, trailers=[])),
        ("agent", Ending.FIN),
        ("closed",),
    ]


# 3.16


def test_3_16_many_clients_at_once(relay: Running, upstream: Listener) -> None:
    upstream.sock.listen(1024)
    clients = [Wire(relay.connect()) for _ in range(200)]
    for client in clients:
        client.send(ASK)
    agents = [upstream.accept() for _ in clients]
    for agent in agents:
        read_until(agent, b"\r\n\r\n")
        agent.send(OK)
    for client in clients:
        assert read_until(client, b"ok") == OK
    for wire in clients + agents:
        wire.close()


# 3.17


def test_3_17_a_spectator_sees_it_before_it_is_passed_on(stage: Stage, upstream: Listener) -> None:
    shown, goes_on = threading.Event(), threading.Event()

    class Slow(Diary):
        def from_agent(self, events: list[Any]) -> None:
            shown.set()
            assert goes_on.wait(10)

    with stage.relay(upstream.url, spectate=Slow) as relay:
        pipe = Pipe(relay, upstream)
        pipe.agent.send(OK)
        assert shown.wait(10)
        assert is_silent(pipe.client.sock)
        goes_on.set()
        assert read_until(pipe.client, b"ok") == OK
        pipe.close()
