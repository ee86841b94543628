"""Runs in a test suite, under `acptap exec` and on the command line."""

import contextlib
import http.client
import signal
import sys

import orjson
import pytest

from acptap.app.play.options import ReplayOptions
from acptap.app.play.played import PlayedAgent
from acptap.app.play.run import Run
from acptap.cli import main
from acptap.jsonrpc import Side
from tests.replay_agui.tapes import Tape, asked, block, dump, interrupted, spoken, started
from tests.replay_network.test_command import Server
from tests.tap.wires import request, response


@pytest.fixture
def cassette(tmp_path):
    tape = Tape().talk("t1", "r1", "hi", "one").talk("t2", "r2", "ho", "two")
    return tape.write(tmp_path / "c.jsonl")


@pytest.fixture
def played(cassette, tmp_path):
    agents: list[PlayedAgent] = []

    def played(path=cassette, **options):
        folder = tmp_path / f"run{len(agents)}"
        folder.mkdir()
        agents.append(PlayedAgent(path, ReplayOptions(**options), folder))
        return agents[-1]

    yield played
    for agent in agents:
        agent.close()


def post(url, body):
    host = url.split("/")[2]
    connection = http.client.HTTPConnection(host, timeout=30)
    with contextlib.closing(connection):
        connection.request("POST", "/agent", dump(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()


ANSWERS = [
    (200, b"".join(map(block, spoken("T", "R", "one")))),
    (200, b"".join(map(block, spoken("U", "R", "two")))),
]


def test_a_test_that_asks_for_all(played):
    agent = played()
    assert post(agent.url, asked("hi", thread="T", run="R")) == ANSWERS[0]
    assert post(agent.url, asked("ho", thread="U", run="R")) == ANSWERS[1]
    agent.close()
    assert agent.verdict() == []
    assert agent.report.clean
    assert [message["threadId"] for message in agent.sent] == ["T", "U"]
    assert agent.states == {"t1": ["running", "idle"], "t2": ["running", "idle"]}
    assert [update["kind"] for update in agent.updates].count("done") == 2


def test_a_test_that_asks_for_some(played):
    agent = played()
    post(agent.url, asked("hi"))
    assert list(agent.states) == ["t1"]
    agent.close()
    first, hint = agent.verdict()
    assert first == "never played: lines 11-19 (line 11 is run 1 of thread t2)"
    assert "record it anew" in hint


def test_a_test_that_asks_for_another_run(played):
    agent = played()
    assert post(agent.url, asked("hi"))[0] == 200
    assert post(agent.url, asked("ho", resume=[{"interruptId": "i", "status": "x"}]))[0] == 409
    agent.close()
    first, second, _ = agent.verdict()
    assert first.startswith("unmatched: run 2 of thread t, with an answer to interrupts, is not")
    assert "never played" in second


def test_a_test_that_asks_for_nothing(played):
    agent = played()
    agent.close()
    first, hint = agent.verdict()
    assert first == "the cassette was never asked for: no client talked to its agent"
    assert ".url" in hint


def test_a_client_that_stays_is_told_of(played, tmp_path):
    path = Tape().run(asked("hi"), [started()], "client").write(tmp_path / "left.jsonl")
    agent = played(path, patience=0.05)
    with contextlib.suppress(http.client.IncompleteRead):
        post(agent.url, asked("hi"))
    agent.close()
    assert agent.verdict() == []
    assert len(agent.report.noted) == 1


def test_an_interrupt_that_has_expired_is_told_of(played, tmp_path):
    tape = Tape().run(asked("hi"), [interrupted("i", expiresAt="2026-01-02T00:00:00Z")])
    agent = played(tape.write(tmp_path / "old.jsonl"))
    post(agent.url, asked("hi"))
    agent.close()
    assert agent.verdict() == []
    [noted] = agent.report.noted
    assert "expired at 2026-01-02" in noted


def test_the_options_are_passed_on(cassette, tmp_path):
    options = ReplayOptions(verbatim=True, shift_expiry=True)
    run = Run.begin(tmp_path, cassette, options)
    assert "--verbatim" in run.command
    assert "--shift-expiry" in run.command


ASK = """
import os, sys, urllib.request
body = sys.argv[1].encode()
url = os.environ["ACPTAP_URL"] + "agent"
headers = {"Content-Type": "application/json"}
try:
    answer = urllib.request.urlopen(urllib.request.Request(url, body, headers))
except urllib.error.HTTPError as error:
    answer = error
sys.stdout.write(answer.read().decode())
"""


def ask(cassette, body, *options):
    command = [sys.executable, "-c", ASK, dump(body)]
    with pytest.raises(SystemExit) as end:
        main(["exec", str(cassette), *options, "--", *command])
    return end.value.code


def test_exec(tmp_path, capfd):
    path = Tape().talk("t1", "r1", "hi", "one").write(tmp_path / "c.jsonl")
    assert ask(path, asked("hi", thread="T", run="R")) == 0
    said, told = capfd.readouterr()
    assert said.encode() == ANSWERS[0][1]
    assert told == ""
    assert ask(path, asked("hi", thread="T", run="R"), "--verbatim") == 0
    assert capfd.readouterr()[0].encode() == b"".join(map(block, spoken("t1", "r1", "one")))
    assert ask(path, asked("ho"), "--match", "params", "--report", str(tmp_path / "r.json")) == 1
    said, told = capfd.readouterr()
    assert orjson.loads(said)["error"]["data"]["acptap"]["line"] == 3
    assert "unmatched: run 1 of thread t" in told
    report = orjson.loads((tmp_path / "r.json").read_bytes())
    assert report["unplayed"] == list(range(2, 11))


def test_exec_where_something_else_was_not_asked_for(tmp_path, capfd):
    tape = Tape().talk("t1", "r1", "hi", "one")
    line = tape.line()
    line.client(request("GET", "/info"))
    line.agent(response(200, b"ok"))
    line.end(Side.CLIENT)
    line.close()
    assert ask(tape.write(tmp_path / "c.jsonl"), asked("hi", thread="T", run="R")) == 1
    assert "is GET /info" in capfd.readouterr()[1]


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


def test_replay(begin, cassette):
    server = begin(cassette)
    url = f"http://127.0.0.1:{server.port}/"
    assert post(url, asked("hi", thread="T", run="R")) == ANSWERS[0]
    assert server.end() == (1, "acptap: never played: lines 11-19\n")
    server = begin(cassette)
    url = f"http://127.0.0.1:{server.port}/"
    for body, answer in zip([asked("hi", thread="T", run="R"), asked("ho", thread="U", run="R")],
                            ANSWERS, strict=True):  # fmt: skip
        assert post(url, body) == answer
    assert server.end(signal.SIGTERM) == (0, "acptap: all of it was played\n")


def test_replay_once_says_at_once_that_an_interrupt_has_expired(begin, tmp_path):
    tape = Tape().run(asked("hi"), [interrupted("i", expiresAt="2026-01-02T00:00:00Z")])
    server = begin(tape.write(tmp_path / "c.jsonl"), "--once")
    post(f"http://127.0.0.1:{server.port}/", asked("hi"))
    code, told = server.wait()
    assert code == 0
    assert told.count("expired at 2026-01-02T00:00:00Z") == 2  # at once, and in the report


def test_standard_output_is_no_place_for_runs(cassette, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["replay", "--stdio", str(cassette)])
    assert "holds no ACP connection" in capsys.readouterr().err
