"""`acptap replay --listen`, from outside."""

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import orjson
import pytest

from acptap.app.play import serving
from acptap.cli import main
from tests.plugin import tapes as stdio
from tests.replay_network.tapes import JSON, SocketTape, Tape
from tests.replay_network.test_http import over_http

REPLAY = [sys.executable, "-m", "acptap", "replay"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "ACPTAP_RUN"}


class Server:
    """A server in a process of its own, and a plain client of it."""

    def __init__(self, *arguments, **how):
        self.process = subprocess.Popen(
            [*REPLAY, *map(str, arguments), "--listen", "0"],
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            **({"env": ENVIRONMENT} | how),
        )  # fmt: skip
        assert self.process.stderr is not None
        self.said: list[str] = []
        while not (self.said and "listening on" in self.said[-1]):
            line = self.process.stderr.readline()
            assert line, self.said
            self.said.append(line)
        self.ready = self.said.pop()
        [port] = re.findall(r"listening on http://127\.0\.0\.1:(\d+)/ ", self.ready)
        self.port = int(port)
        self.id = None

    def ask(self, method, body=None, session=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Content-Type": "application/json"}
        headers |= {"Acp-Connection-Id": self.id} if self.id else {}
        headers |= {"Acp-Session-Id": session} if session else {}
        with contextlib.closing(connection):
            connection.request(method, "/acp", body, headers)
            answer = connection.getresponse()
            self.id = self.id or answer.headers["Acp-Connection-Id"]
            return answer.status, answer.read().decode()

    def converse(self, texts=stdio.SAID, session="s1"):
        """Say something, without a look at what is answered; return the first answer."""
        first, *others = texts
        _, answer = self.ask("POST", first)
        for text in others:
            status, _ = self.ask("POST", text, session if session in text else None)
            assert status == 202
        assert self.ask("DELETE") == (202, "")
        self.id = None
        return answer

    def end(self, number=signal.SIGINT):
        """End it with a signal; return its exit code and what it said since it was ready."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self):
        _, said = self.process.communicate(timeout=30)
        return self.process.returncode, said


@pytest.fixture
def begin():
    servers = []

    def begin(*arguments, **how):
        servers.append(Server(*arguments, **how))
        return servers[-1]

    yield begin
    for server in servers:
        if server.process.poll() is None:
            server.process.kill()
            server.process.communicate()


@pytest.fixture
def hello(tmp_path):
    return over_http(tmp_path / "hello.jsonl")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_all_was_played(begin, hello, number):
    server = begin(hello)
    url = f"http://127.0.0.1:{server.port}/"
    assert server.ready == f"acptap: listening on {url} for HTTP and WebSocket, playing {hello}\n"
    assert server.converse() == stdio.AGREED
    assert server.end(number) == (0, "acptap: all of it was played\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_more_signals_change_nothing(begin, hello, number):
    server = begin(hello)
    server.converse()
    while server.process.poll() is None:
        server.process.send_signal(number)
        time.sleep(0.001)
    assert server.end(number) == (0, "acptap: all of it was played\n")


def test_a_body_that_is_damaged(begin, hello):
    server = begin(hello, "--allow-unplayed", "-q")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    with contextlib.closing(connection):
        connection.request("POST", "/acp", b"abc", {"Content-Encoding": "gzip"})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (
            400, b"acptap: the body of this request is damaged\n",
        )  # fmt: skip
    assert "Traceback" not in server.end()[1]


def test_not_all_was_played(begin, hello, tmp_path):
    report = tmp_path / "report.json"
    server = begin(hello, "-q", "--report", report)
    assert server.said == []
    server.converse(stdio.SAID[:1])
    code, said = server.end()
    assert (code, said.startswith("acptap: never played: lines ")) == (1, True)
    assert orjson.loads(report.read_bytes())["clean"] is False


def test_quiet_and_well(begin, hello):
    server = begin(hello, "-q")
    server.converse()
    assert server.end() == (0, "")


def test_nobody_came(begin, hello):
    server = begin(hello, "--allow-unplayed")
    assert server.end()[0] == 0


def test_once(begin, hello):
    server = begin(hello, "--once")
    server.converse()
    assert server.wait() == (0, "acptap: all of it was played\n")


def test_a_signal_that_is_ignored_stays_ignored(begin, hello):
    server = begin(hello, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    server.process.send_signal(signal.SIGHUP)
    server.converse()
    assert server.end()[0] == 0


def test_a_cassette_that_was_cut_off(begin, hello):
    with hello.open("ab") as tape:
        tape.write(b'{"at":')
    server = begin(hello)
    [said] = server.said
    assert said.endswith("was cut off by a crash and is left out\n")
    assert server.end()[0] == 1


def test_another_page_is_not_let_in(begin, hello):
    server = begin(hello, "--allow-host", "box.example", "--allow-origin", "https://app.example")
    for headers, status in (
        ({"Host": "evil.example"}, 403), ({"Host": "box.example"}, 404),
        ({"Origin": "https://evil.example"}, 403), ({"Origin": "https://app.example"}, 404),
    ):  # fmt: skip
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        with contextlib.closing(connection):
            connection.request("GET", "/x", headers=headers)
            assert connection.getresponse().status == status


def test_as_part_of_a_run(begin, hello):
    program = (
        "import os, subprocess, sys\n"
        "from tests.replay_network.test_command import Server\n"
        "server = Server(sys.argv[1], env=dict(os.environ))\n"
        "server.converse()\n"
        "assert server.end() == (0, '')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "acptap", "exec", hello, "--", sys.executable, "-c", program, hello],
        capture_output=True, text=True, timeout=60, check=False, env=ENVIRONMENT,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


# Which transport


@pytest.fixture
def replays(monkeypatch):
    """What was asked of the server, instead of serving."""
    asked: list[tuple[Any, ...]] = []

    def replay(*said):
        asked.append(said)
        return 0

    monkeypatch.delenv("ACPTAP_RUN", raising=False)
    monkeypatch.setattr(serving, "replay_network", replay)
    return asked


def run(*arguments):
    with pytest.raises(SystemExit) as exit_:
        main(["replay", *map(str, arguments)])
    return exit_.value.code


def test_the_recorded_transport_is_the_default(replays, hello):
    assert run(hello, "--once") == 0
    [(cassette, _, serve)] = replays
    assert (cassette, serve.listen, serve.once) == (hello, None, True)


def test_a_stdio_cassette_on_the_network(replays, tmp_path):
    cassette = stdio.write(tmp_path / "c.jsonl")
    said = ("--allow-remote", "--allow-host", "a", "--allow-host", "b", "--allow-origin", "c")
    assert run(cassette, "-p", "*:9", *said) == 0
    [(_, _, serve)] = replays
    assert (serve.listen, serve.allow_remote) == ("*:9", True)
    assert (serve.hosts, serve.origins) == (("a", "b"), ("c",))


def on_stdio(cassette, *options):
    return subprocess.run(
        [*REPLAY, cassette, *options], input="".join(f"{text}\n" for text in stdio.SAID),
        capture_output=True, text=True, timeout=60, check=False, env=ENVIRONMENT,
    )  # fmt: skip


def test_a_network_cassette_on_standard_input_and_output(hello):
    done = on_stdio(hello, "--stdio", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == stdio.HEARD


def test_how_a_websocket_was_closed_is_no_exit_code(tmp_path):
    tape = SocketTape().connect().say([(side.value, text) for side, text in stdio.HELLO])
    cassette = tape.fact("agent", "close", code=4404, reason="x").write(tmp_path / "c.jsonl")
    done = on_stdio(cassette, "--stdio", "-q")
    assert (done.returncode, done.stdout.splitlines()) == (0, stdio.HEARD)


def test_where_there_is_no_conversation_there_is_none_on_stdio(tmp_path):
    tape = Tape()
    tape.response(tape.request("GET", "/health"), 200, JSON, body="{}")
    done = on_stdio(tape.write(tmp_path / "c.jsonl"), "--stdio")
    assert done.returncode == 2
    assert "the cassette holds no ACP connection, only HTTP" in done.stderr


# What can't be


def test_two_transports(replays, hello, capsys):
    assert run(hello, "--listen", "0", "--stdio") == 2
    assert "--listen and --stdio exclude each other" in capsys.readouterr().err


WRONG = {
    "no address": (["--listen", "here"], "this is no address to listen on"),
    "beyond this machine": (["--listen", "*:0"], "other machines could connect there"),
    "no origin": (["--listen", "0", "--allow-origin", "x"], "this is no origin"),
    "no address at all": (["--listen", ""], "this is no address to listen on"),
}


@pytest.mark.parametrize(("options", "sentence"), WRONG.values(), ids=WRONG)
def test_what_is_refused(hello, capsys, options, sentence):
    assert run(hello, *options) == 2
    assert sentence in capsys.readouterr().err


def test_a_port_in_use(hello, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run(hello, "--listen", port) == 2
    assert f"port {port} is in use" in capsys.readouterr().err


def test_no_cassette(tmp_path, capsys):
    assert run(tmp_path / "none.jsonl", "--listen", "0") == 2
    assert "the cassette can't be read" in capsys.readouterr().err
