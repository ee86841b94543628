"""TLS to the upstream: both ways of ending it, what is cut, and who is believed."""

import ssl
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from acptap.errors import UsageError
from acptap.transports import tls
from acptap.transports.relay import Ending, Relay
from acptap.transports.tls import Trust
from acptap.wire.http1 import Body, End
from acptap.wire.target import Upstream
from tests.relay.conformance import BIG, CHUNKED, OK, SWITCH
from tests.relay.conftest import Certified
from tests.relay.stage import Running, Stage
from tests.relay.test_pitfalls import ASK, UP, Pipe, deliver, read_all, read_to_reset, read_until
from tests.relay.test_relay import sends_more_than_is_read
from tests.relay.wires import Listener, TlsWire, Wire, listening


@pytest.fixture
def upstream(certified: Certified) -> Iterator[Listener]:
    with listening(certified.server) as upstream:
        yield upstream


@pytest.fixture
def relay(stage: Stage, upstream: Listener, certified: Certified) -> Iterator[Running]:
    with stage.relay(upstream.url, trust=Trust(certified.ca)) as relay:
        yield relay


def cut(wire: Wire) -> None:
    assert isinstance(wire, TlsWire)
    wire.cut()


def test_a_late_answer_to_a_client_that_half_closed(relay: Running, upstream: Listener) -> None:
    pipe = Pipe(relay, upstream)
    pipe.client.fin()
    assert read_all(pipe.agent) == b""  # close_notify, not a cut
    pipe.agent.send(OK)
    pipe.agent.fin()
    assert read_all(pipe.client) == OK
    pipe.close()
    assert relay.diary().endings() == [("client", Ending.FIN), ("agent", Ending.FIN)]


@pytest.fixture
def tls_1_2(stage: Stage, upstream: Listener, certified: Certified) -> Iterator[Running]:
    certified.server.maximum_version = ssl.TLSVersion.TLSv1_2
    with stage.relay(upstream.url, trust=Trust(certified.ca)) as relay:
        yield relay
    certified.server.maximum_version = ssl.TLSVersion.MAXIMUM_SUPPORTED


def test_half_closing_over_TLS_1_2(tls_1_2: Running, upstream: Listener) -> None:  # noqa: N802
    first = Pipe(tls_1_2, upstream)
    first.client.fin()
    assert read_all(first.agent) == b""
    first.agent.send(OK)
    first.agent.fin()
    assert read_all(first.client) == OK
    first.close()
    second = Pipe(tls_1_2, upstream)
    second.agent.send(OK)
    second.agent.fin()
    assert read_all(second.client) == OK
    second.client.send(ASK)
    second.client.fin()
    assert read_all(second.agent).startswith(ASK[:10])
    second.close()


def test_what_comes_with_the_end_of_the_handshake_is_read(
    tls_1_2: Running, upstream: Listener
) -> None:
    upstream.greeting = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"
    pipe = Pipe(tls_1_2, upstream)
    assert read_until(pipe.client, upstream.greeting)
    pipe.close()


UNFINISHED = {
    "chunks": (ASK, CHUNKED + b"3\r\nabc\r\n"),
    "a head": (ASK, b"HTTP/1.1 200 OK\r\nX-"),
    "a length": (ASK, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"),
    "a body that ends with the connection": (ASK, b"HTTP/1.1 200 OK\r\n\r\nabc"),
    "a WebSocket": (UP, SWITCH + b"\x81\x05abc"),
}


@pytest.mark.parametrize(("request_", "answer"), UNFINISHED.values(), ids=UNFINISHED)
def test_3_5_what_is_cut_short_ends_in_a_reset(
    relay: Running, upstream: Listener, request_: bytes, answer: bytes
) -> None:
    pipe = Pipe(relay, upstream, request_)
    pipe.agent.send(answer)
    read_until(pipe.client, answer)
    cut(pipe.agent)
    assert read_to_reset(pipe.client) == 0
    pipe.close()
    diary = relay.diary()
    assert diary.endings() == [("agent", Ending.CUT)]
    assert [event for _, event in diary.events if isinstance(event, End)][1:] in (
        [End(is_complete=False, trailers=[])],
        [],
    )


@pytest.mark.parametrize("answer", [OK, b""], ids=["between answers", "before an answer"])
def test_3_5_what_is_not_cut_short_ends_in_order(
    relay: Running, upstream: Listener, answer: bytes
) -> None:
    pipe = Pipe(relay, upstream)
    pipe.agent.send(answer)
    cut(pipe.agent)
    assert read_all(pipe.client) == answer
    pipe.client.fin()
    assert read_all(pipe.agent) == b""
    pipe.close()
    assert relay.diary().endings() == [("agent", Ending.CUT), ("client", Ending.FIN)]


def test_megabytes_each_way(relay: Running, upstream: Listener) -> None:
    pipe = Pipe(relay, upstream)
    request = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(BIG)
    sender = threading.Thread(target=pipe.client.send, args=(request + BIG,))
    sender.start()
    assert read_until(pipe.agent, BIG).endswith(BIG)
    sender.join()
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BIG)
    sender = threading.Thread(target=pipe.agent.send, args=(OK + head + BIG,))
    sender.start()
    assert read_until(pipe.client, BIG) == OK + head + BIG
    sender.join()
    pipe.close()
    relay.diary()


def test_a_client_that_does_not_read_stops_the_upstream(relay: Running, upstream: Listener) -> None:
    pipe = Pipe(relay, upstream)
    stopped = threading.Event()

    def send() -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (32 * len(BIG))
        pipe.agent.sock.settimeout(0.5)
        try:
            pipe.agent.send(head + BIG * 32)
        except TimeoutError:
            stopped.set()

    sender = threading.Thread(target=send)
    sender.start()
    assert stopped.wait(10)
    sender.join()
    pipe.agent.rst()
    assert read_to_reset(pipe.client) < 32 * len(BIG)
    pipe.close()
    relay.diary()


def test_an_upstream_that_does_not_read_stops_the_client(
    relay: Running, upstream: Listener
) -> None:
    sends_more_than_is_read(relay, upstream)


def test_what_is_no_TLS_any_more_is_a_reset(  # noqa: N802
    relay: Running, upstream: Listener
) -> None:
    pipe = Pipe(relay, upstream)
    pipe.agent.send(OK)
    read_until(pipe.client, OK)
    pipe.agent.sock.sendall(b"no TLS\r\n" * 10)
    assert read_to_reset(pipe.client) == 0
    pipe.close()
    assert relay.diary().endings() == [("agent", Ending.RESET)]


def test_what_came_before_a_write_failed_is_read(
    stage: Stage, relay: Running, upstream: Listener
) -> None:
    pipe = Pipe(relay, upstream)
    stage.call(next(iter(relay.relay._pairs))._agent.hold)  # so that the answer stays unread
    deliver(pipe.agent, OK)
    pipe.agent.rst()
    pipe.client.send(ASK)
    assert read_until(pipe.client, OK) == OK
    assert read_to_reset(pipe.client) == 0
    pipe.close()
    assert relay.diary().endings() == [("agent", Ending.RESET)]


def test_only_http_1_1_is_offered_and_the_host_is_named(stage: Stage, certified: Certified) -> None:
    names: list[str | None] = []

    def note(_: ssl.SSLObject, name: str | None, __: ssl.SSLContext) -> None:
        names.append(name)

    certified.server.sni_callback = note
    try:
        with listening(certified.server) as upstream:
            port = upstream.sock.getsockname()[1]
            url = f"https://localhost:{port}"
            with stage.relay(url, trust=Trust(certified.ca)) as relay:
                pipe = Pipe(relay, upstream)
                assert isinstance(pipe.agent, TlsWire)
                assert pipe.agent._tls.selected_alpn_protocol() == "http/1.1"
                assert names == ["localhost"]
                pipe.close()
    finally:
        certified.server.sni_callback = None


def test_an_IPv6_address(stage: Stage, certified: Certified) -> None:  # noqa: N802
    with (
        listening(certified.server, "::1") as upstream,
        stage.relay(upstream.url, trust=Trust(certified.ca)) as relay,
    ):
        pipe = Pipe(relay, upstream)
        pipe.agent.send(OK)
        assert read_until(pipe.client, OK) == OK
        pipe.close()


def test_insecure_believes_everybody(stage: Stage, upstream: Listener) -> None:
    with stage.relay(upstream.url, trust=Trust(insecure=True)) as relay:
        pipe = Pipe(relay, upstream)
        pipe.agent.send(OK)
        assert read_until(pipe.client, OK) == OK
        pipe.close()


def refusal(relay: Running, upstream: Listener) -> str:
    """Return the words of the 502 that a client gets."""
    client = Wire(relay.connect())
    client.send(ASK)
    with pytest.raises((ssl.SSLError, ConnectionError)):
        upstream.accept().receive()
    answer = read_all(client)
    client.close()
    assert answer.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    words = answer.partition(b"\r\n\r\n")[2].decode().removesuffix("\n")
    failed = [call for call in relay.diary().calls if call[0] == "failed"]
    assert [(call[1], call[2][1]) for call in failed] == [(words, Body(f"{words}\n".encode()))]
    return words


def test_an_unknown_authority(stage: Stage, upstream: Listener) -> None:
    with stage.relay(upstream.url) as relay:
        assert refusal(relay, upstream) == (
            f"acptap can't reach {upstream.url}: its certificate is not trusted "
            "(unable to get local issuer certificate); name the file of the authority that "
            "signed it with --ca, or believe everybody with --insecure"
        )


def test_a_certificate_of_somebody_else(
    stage: Stage, upstream: Listener, certified: Certified
) -> None:
    port = upstream.sock.getsockname()[1]
    with stage.relay(f"https://127.1.0.1:{port}", trust=Trust(certified.ca)) as relay:
        elsewhere = Listener(certified.server, "127.1.0.1", port)
        with elsewhere.sock:
            words = refusal(relay, elsewhere)
    assert "(IP address mismatch, certificate is not valid for '127.1.0.1')" in words


def test_an_upstream_without_TLS(stage: Stage, certified: Certified) -> None:  # noqa: N802
    with listening() as upstream:
        upstream.context = None

        def answer() -> None:
            agent = upstream.accept()
            agent.receive()
            agent.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            agent.fin()
            read_all(agent)
            agent.close()

        thread = threading.Thread(target=answer)
        thread.start()
        with stage.relay(f"https://{upstream.authority}") as relay:
            client = Wire(relay.connect())
            client.send(ASK)
            assert b"it refused TLS, or does not speak it (wrong version number)" in read_all(
                client
            )
            client.close()
        thread.join()


def test_an_upstream_that_leaves_in_the_handshake(stage: Stage) -> None:
    with listening() as upstream, stage.relay(f"https://{upstream.authority}") as relay:
        client = Wire(relay.connect())
        client.send(ASK)
        agent = upstream.accept()
        agent.receive()
        agent.close()
        assert b": it closed the connection during the handshake\n" in read_all(client)
        client.close()


def test_leaving_during_a_handshake(stage: Stage) -> None:
    with listening() as upstream:
        with stage.relay(f"https://{upstream.authority}") as relay:
            client = Wire(relay.connect())
            client.send(ASK)
            agent = upstream.accept()
            agent.receive()
        with pytest.raises(ConnectionResetError):
            client.receive()
        assert agent.receive() == b""
        client.close()
        agent.close()


def test_a_name_that_no_certificate_can_have(stage: Stage, relay: Running) -> None:
    async def dial(leg: object) -> None:
        await tls.dial(".example", 443, Trust().context(), leg)  # type: ignore[arg-type]

    relay.relay._wiring = replace(relay.relay._wiring, dial=dial)
    client = Wire(relay.connect())
    client.send(ASK)
    assert b": its name is none that a host can have\n" in read_all(client)
    client.close()


def test_a_file_without_certificates(tmp_path: Path) -> None:
    upstream = Upstream.parse("https://127.0.0.1")
    path = tmp_path / "ca.pem"
    with pytest.raises(UsageError) as missing:
        Relay(upstream, lambda: None, print, trust=Trust(path))  # type: ignore[arg-type, return-value]
    assert str(missing.value) == (
        f"--ca {path}: there are no certificates to be read (No such file or directory); "
        "name a file in PEM format"
    )
    path.write_text("nonsense")
    with pytest.raises(UsageError, match="no certificate or crl found"):
        Relay(upstream, lambda: None, print, trust=Trust(path))  # type: ignore[arg-type, return-value]
