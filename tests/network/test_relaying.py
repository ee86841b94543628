"""`acptap proxy --upstream`, from outside."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import time

import pytest

from tests.network.proxied import proxy, serving

HELLO = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}'


def ask(running, method="GET", target="/", body=None, headers=None):
    host = running.url.split("//")[1].rsplit(":", 1)[0].strip("[]")
    connection = http.client.HTTPConnection(host, running.port, timeout=20)
    connection.request(method, target, body, headers or {})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, data


def url(address, path="/"):
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    return f"http://{host}:{address[1]}{path}"


def test_what_passes_is_recorded(tmp_path):
    with serving() as address, proxy(tmp_path, "--upstream", url(address, "/acp"), "-p", "0") as p:
        status, data = ask(p, "POST", "/", HELLO)
        assert status == 200
        seen = json.loads(data)
        assert seen["path"] == "/acp"
        assert seen["body"] == HELLO
        assert seen["headers"]["host"] == f"127.0.0.1:{address[1]}"
        assert p.end() == 0
        header, *entries = p.entries()
    assert (header["protocol"], header["transport"]) == ("auto", "http")
    assert header["upstream"] == url(address, "/acp")
    assert header["redaction"] == "done"
    assert [e.get("event", "unit") for e in entries] == ["request", "unit", "response", "unit"]
    assert entries[0]["http"]["target"] == "/"
    assert p.said[0] == f"acptap: listening on {p.url}"
    assert p.said[1] == f"acptap: recording to {p.cassette}"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_the_cassette(tmp_path, number):
    with serving() as address, proxy(tmp_path, "--upstream", url(address), "-p", "0") as p:
        with socket.create_connection(("127.0.0.1", p.port)) as idle:
            idle.sendall(b"GET / HTTP/1.1\r\n")
            assert p.end(number) == 0
        header, *half = p.entries()
        assert header["redaction"] == "done"
        assert [entry["event"] for entry in half] in ([], ["request", "raw"])  # if it was read yet


def test_headers_are_added_and_the_host_is_kept(tmp_path):
    options = ("--header", "X-One: 1", "--header", "authorization:Bearer 0123456789", "--keep-host")
    with (
        serving() as address,
        proxy(tmp_path, "--upstream", url(address), "-p", "0", *options) as p,
    ):
        seen = json.loads(ask(p)[1])["headers"]
        assert p.end() == 0
        tape = p.cassette.read_text()
    assert (seen["x-one"], seen["authorization"]) == ("1", "Bearer 0123456789")
    assert seen["host"] == f"127.0.0.1:{p.port}"
    assert "X-One" not in p.entries()[1]["http"]["headers"][0][0]
    assert tape.count("\n") == 4


def test_ipv6_on_both_sides(tmp_path):
    with (
        serving(("::1", 0)) as address,
        proxy(tmp_path, "--upstream", url(address[:2], "/pre/fix"), "-p", "[::1]:0") as p,
    ):
        target = "/base/a%2Fb%21%28c%29//x/?sig=Ab%2Fc%3D&sp=a+b%20c&empty=&y&q=%C3%A9"
        status, data = ask(p, "GET", target)
        assert status == 200
        assert json.loads(data)["path"] == "/pre/fix" + target
        assert json.loads(data)["headers"]["host"] == f"[::1]:{address[1]}"
        assert p.url == f"http://[::1]:{p.port}/"


def test_upstream_is_down(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        down = url(unused.getsockname())
        with proxy(tmp_path, "--upstream", down, "-p", "0") as p:
            status, data = ask(p, "POST", "/", HELLO)
            assert status == 502
            assert b"refused" in data
            assert p.end() == 0
            assert [e.get("event", "unit") for e in p.entries()[1:]] == [
                "request", "unit", "unreachable", "response", "unit",
            ]  # fmt: skip


def test_it_is_not_its_own_agent(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(AssertionError, match="acptap would be its own agent"):
        proxy(tmp_path, "--upstream", f"http://localhost:{port}/", "-p", str(port)).__enter__()
    assert not (tmp_path / "tape.jsonl").exists()


def test_the_port_is_taken(tmp_path):
    with serving() as address:
        options = ("--upstream", "http://127.0.0.1:9/", "-p", str(address[1]))
        with pytest.raises(AssertionError, match=f"port {address[1]} is in use"):
            proxy(tmp_path, *options).__enter__()


def test_a_full_disk_does_not_stop_the_traffic(tmp_path):
    with (
        serving() as address,
        proxy(tmp_path, "--upstream", url(address), "-p", "0", room=600) as p,
    ):
        assert [ask(p)[0] for _ in range(4)] == [200] * 4
        assert p.end() == 74
    assert [line.partition(":")[2][:19] for line in p.said].count(" recording stopped:") == 1


def test_under_nohup_a_hang_up_is_nothing(tmp_path):
    with (
        serving() as address,
        proxy(tmp_path, "--upstream", url(address), "-p", "0", nohup=True) as p,
    ):
        p.process.send_signal(signal.SIGHUP)
        assert ask(p)[0] == 200
        assert p.end() == 0


def test_http_2_passes_unread(tmp_path):
    with (
        serving() as address,
        proxy(tmp_path, "--upstream", url(address), "-p", "0") as p,
    ):
        with socket.create_connection(("127.0.0.1", p.port)) as client:
            client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            client.shutdown(socket.SHUT_WR)
            while client.recv(4096):
                pass
        assert p.end() == 0
        rules = [note["rule"] for entry in p.entries() for note in entry.get("notes", [])]
    assert "http/opaque" in rules


SECRETS = ("s3cr3t-Token-1234", "abcdefgh12345678", "split-over-events-0123456789")


def test_a_cassette_of_the_network_is_redacted_afterwards(tmp_path):
    options = ("-p", "0", "--no-redact")
    with serving() as address, proxy(tmp_path, "--upstream", url(address), *options) as p:
        ask(
            p, "POST", "/x?token=abcdefgh12345678", HELLO, {"Authorization": f"Bearer {SECRETS[0]}"}
        )
        assert p.end() == 0
        before = p.cassette.read_text()
    assert SECRETS[0] in before
    command = [sys.executable, "-m", "acptap", "redact", str(p.cassette)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    after = p.cassette.read_text()
    assert not any(secret in after for secret in SECRETS)
    assert after.count("[redacted:") == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_more_signals_change_nothing(tmp_path, number):
    with serving() as address, proxy(tmp_path, "--upstream", url(address), "-p", "0") as p:
        assert ask(p)[0] == 200
        while p.process.poll() is None:
            p.process.send_signal(number)
            time.sleep(0.001)
        assert p.end(number) == 0
        assert p.entries()[0]["redaction"] == "done"
    assert p.said[2:] == []


FINISHING = """
import sys, time
from acptap.app.record import take
from acptap.cli.main import main
def finish(*_):  # as the real one it is never long in one call to the system
    while True:
        time.sleep(0.001)
take._LONG = 0.01
take.finish = finish
main(sys.argv[1:])
"""


def test_who_waits_is_told_why_and_need_not(tmp_path):
    arguments = ["-w", str(tmp_path / "t.jsonl"), "-p", "0", "--upstream", "http://127.0.0.1:9/"]
    with subprocess.Popen(
        [sys.executable, "-c", FINISHING, "proxy", *arguments], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        said = [process.stderr.readline() for _ in range(2)]
        process.send_signal(signal.SIGINT)
        said.append(process.stderr.readline())
        process.send_signal(signal.SIGINT)
        said += process.stderr
        assert process.wait(20) == 0
    assert said[2:] == [
        (
            "acptap: looking for secrets that came in pieces; "
            "another Ctrl-C leaves that to `acptap redact`\n"
        ),
        (
            f"acptap: secrets that came in pieces may still be in {tmp_path}/t.jsonl; "
            f"finish it with: acptap redact {tmp_path}/t.jsonl\n"
        ),
    ]


def test_a_disk_that_was_full_before(tmp_path):
    with serving() as address, proxy(tmp_path, "--upstream", url(address), "-p", "0", room=0) as p:
        assert ask(p)[0] == 200
        assert p.end() == 74
    assert p.said[1] == (
        f"acptap: recording stopped: File too large; the traffic goes on, and {p.cassette} "
        "ends here"
    )
    assert not [line for line in p.said if "recording to" in line]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("host", ["..:1", "a" * 300])
def test_what_no_host_can_be_called(tmp_path, scheme, host):
    with proxy(tmp_path, "--upstream", f"{scheme}://{host}/", "-p", "0") as p:
        status, data = ask(p)
        assert (status, data.endswith(b": its name is none that a host can have\n")) == (502, True)
        assert p.end() == 0
    assert p.said[2:] == []


IN_VAIN = {
    "--ca": ("http", ["--ca", "/nonexistent"], "--ca /nonexistent"),
    "--insecure": ("ws", ["--insecure"], "--insecure"),
}


@pytest.mark.parametrize("way", [["-p", "0"], ["--stdio"]], ids=["relay", "stdio"])
@pytest.mark.parametrize(("scheme", "options", "where"), IN_VAIN.values(), ids=IN_VAIN)
def test_certificates_where_there_are_none(tmp_path, way, scheme, options, where):
    command = [sys.executable, "-m", "acptap", "proxy", "--upstream", f"{scheme}://127.0.0.1:9/"]
    done = subprocess.run(
        [*command, *way, *options], capture_output=True, text=True, timeout=60, check=False,
        cwd=tmp_path, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        2,
        (
            f"acptap: {where}: it means nothing with {scheme}, which has no certificates; leave it "
            "out, or write https or wss in the URL\n"
        ),
    )
    assert list(tmp_path.iterdir()) == []
