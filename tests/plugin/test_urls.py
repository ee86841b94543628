"""An agent that a test reaches over HTTP or WebSocket."""

import sys

import pytest

from acptap.app.play.recording import RecordingServer
from acptap.storage import Recording
from tests.plugin import tapes
from tests.plugin.test_recorded import AGENT
from tests.replay_network.tapes import HttpTape

HEADER = """
import http.client, os, socket, subprocess, sys, threading, time
from urllib.parse import urlsplit
import pytest
from client import *

JSON = {"Content-Type": "application/json"}


class Client:
    def __init__(self, url):
        self.authority = urlsplit(url).netloc
        self.headers = JSON

    def ask(self, method, body=None):
        connection = http.client.HTTPConnection(self.authority)
        headers = self.headers
        if body and '"s1"' in body:
            headers = headers | {"Acp-Session-Id": "s1"}
        connection.request(method, "/acp", body, headers)
        answer = connection.getresponse()
        if "Acp-Connection-Id" in answer.headers:
            self.headers = self.headers | {"Acp-Connection-Id": answer.headers["Acp-Connection-Id"]}
        try:
            return answer.read().decode()
        finally:
            connection.close()

    def say(self, lines=SAID):
        return [self.ask("POST", line) for line in lines]

    def end(self):
        self.ask("DELETE")


async def over_websocket(url, said=SAID):
    import aiohttp
    heard = []
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as ws:
        for line, answers in zip(said, (1, 1, 2)):
            await ws.send_str(line)
            heard += [await ws.receive_str() for _ in range(answers)]
    return heard
"""


def run(suite, body, *arguments):
    suite.makepyfile(HEADER + body)
    return suite.runpytest("-p", "no:cacheprovider", *arguments)


PASSING = {
    "over HTTP": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    client = Client(acptap_agent.url)
    assert client.say() == [HEARD[0], "", ""]
    client.end()
""",
    "a client that stays": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    Client(acptap_agent.url).say()
""",
    "over WebSocket": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    assert acptap_agent.ws_url == acptap_agent.url.replace("http", "ws")
    assert asyncio.run(over_websocket(acptap_agent.ws_url)) == HEARD
""",
    "what was said and what it meant": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    client = Client(acptap_agent.url)
    client.say(SAID[:2])
    assert [message["method"] for message in acptap_agent.sent] == ["initialize", "session/new"]
    assert acptap_agent.states == {}
    client.say(SAID[2:])
    assert acptap_agent.states == {"s1": ["running", "idle"]}
    [session] = acptap_agent.folded.sessions
    assert [message.text for message in session.messages] == ["hello", "hi"]
    assert acptap_agent.report.clean
""",
    "what a recording of the network meant": """
@pytest.mark.acptap("network.jsonl")
def test_it(acptap_agent):
    client = Client(acptap_agent.url)
    client.say(SAID)
    [session] = acptap_agent.folded.sessions
    assert [message.text for message in session.messages] == ["hello", "hi"]
""",
    "by a program that asks its environment": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    program = "import os; print(os.environ['ACPTAP_URL'], os.environ['ACPTAP_WS_URL'])"
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | acptap_agent.env,
                          capture_output=True, text=True)
    assert done.stdout.split() == [acptap_agent.url, acptap_agent.ws_url]
    converse(acptap_agent.command)
""",
    "in three ways at once": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    client = Client(acptap_agent.url)
    client.say(SAID[:2])
    assert converse(acptap_agent.command) == HEARD
    assert asyncio.run(over_websocket(acptap_agent.ws_url)) == HEARD
    client.say(SAID[2:])
    assert len(acptap_agent.sent) == 9
""",
    "asynchronously": """
@pytest.mark.asyncio
@pytest.mark.acptap("hello.jsonl")
async def test_it(acptap_agent):
    assert await over_websocket(acptap_agent.ws_url) == HEARD
""",
    "a client that is left to itself": """
UPGRADE = [
    "GET /acp HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade",
    "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", "",
]

@pytest.fixture
def keep():
    kept = []
    yield kept.append
    kept[0].close()

@pytest.mark.acptap("hello.jsonl")
def test_it(keep, acptap_agent):
    address = urlsplit(acptap_agent.url)
    client = socket.create_connection((address.hostname, address.port))
    keep(client)
    client.sendall("\\r\\n".join(UPGRADE).encode())
    for line in SAID:
        client.sendall(bytes([0x81, 0xfe]) + len(line).to_bytes(2) + bytes(4) + line.encode())
""",
}  # fmt: skip


NOTHING_LEFT = """
@pytest.fixture(autouse=True, scope="module")
def nothing_left():
    yield
    assert [thread.name for thread in threading.enumerate() if "acptap" in thread.name] == []
"""


@pytest.fixture
def network(cassettes):
    said = [(side.value, text) for side, text in tapes.HELLO]
    tape = HttpTape().connect(tapes.INITIALIZE, tapes.AGREED).say(said[2:]).delete()
    tape.write(cassettes / "network.jsonl")


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("body", PASSING.values(), ids=PASSING)
def test_passes_and_leaves_nothing_behind(suite, body):
    run(suite, body + NOTHING_LEFT).assert_outcomes(passed=1)


FAILING = {
    "a URL that nobody used": (
        """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    acptap_agent.url
""",
        "*the cassette was never asked for*",
    ),
    "a part": (
        """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    Client(acptap_agent.url).say(SAID[:1])
""",
        "*never played: lines 4-8 (line 4 is session/new)*",
    ),
    "something else": (
        """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    Client(acptap_agent.url).say([*SAID, '{"id":7,"method":"session/list"}'])
""",
        "*session/list is not in the cassette*",
    ),
}


@pytest.mark.parametrize(("body", "said"), FAILING.values(), ids=FAILING)
def test_fails_at_the_end(suite, body, said):
    result = run(suite, body)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([said])


def test_a_failure_is_told_what_became_of_the_cassette(suite):
    body = """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    Client(acptap_agent.url).say(SAID[:1])
    assert 0
"""
    result = run(suite, body)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["never played: lines 4-8 (line 4 is session/new)"])


def test_anyio(suite):
    strict = "asyncio_mode = strict\nasyncio_default_fixture_loop_scope = function\n"
    ini = suite.path / "tox.ini"
    ini.write_text(ini.read_text().replace(strict, ""))
    body = """
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.anyio
@pytest.mark.acptap("hello.jsonl")
async def test_it(acptap_agent, anyio_backend):
    assert await over_websocket(acptap_agent.ws_url) == HEARD
"""
    run(suite, body, "-p", "no:asyncio", "-p", "no:aiohttp").assert_outcomes(passed=1)


def test_xdist(suite):
    body = """
@pytest.mark.parametrize("n", range(6))
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent, n):
    Client(acptap_agent.url).say()
"""
    run(suite, body, "-n", "2").assert_outcomes(passed=6)


# Recording

A_COMMAND = """
@pytest.fixture
def acptap_upstream():
    return [sys.executable, "agent.py"]
"""
A_URL = """
@pytest.fixture
def acptap_upstream():
    command = [sys.executable, "-m", "acptap", "replay", "cassettes/hello.jsonl", "-p", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as replay:
        ready = next(line for line in replay.stderr if "listening" in line)
        yield next(word for word in ready.split() if "://" in word).rstrip(",")
        replay.terminate()
        replay.communicate()
"""
OVER_HTTP = """
@pytest.mark.acptap("new.jsonl")
def test_it(acptap_agent):
    client = Client(acptap_agent.url)
    assert acptap_agent.ws_url == "ws" + acptap_agent.url[4:]
    client.say()
    client.end()
    deadline = time.monotonic() + 10  # a message is accepted before its agent has read it
    while len(acptap_agent.sent) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [message["id"] for message in acptap_agent.sent] == [0, 1, 2]
"""
OVER_WEBSOCKET = """
@pytest.mark.asyncio
@pytest.mark.acptap("new.jsonl")
async def test_it(acptap_agent):
    assert await over_websocket(acptap_agent.ws_url) == HEARD
"""
ON_STDIO = """
@pytest.mark.acptap("new.jsonl")
def test_it(acptap_agent):
    assert converse(acptap_agent.command) == HEARD
"""


@pytest.mark.parametrize("upstream", [A_COMMAND, A_URL], ids=["of a command", "of a URL"])
@pytest.mark.parametrize(
    "test", [OVER_HTTP, OVER_WEBSOCKET, ON_STDIO], ids=["over HTTP", "over WebSocket", "on stdio"]
)
def test_a_recording(suite, cassettes, upstream, test):
    suite.makepyfile(agent=AGENT)
    run(suite, upstream + test, "--acptap-record=once").assert_outcomes(passed=1)
    with Recording(cassettes / "new.jsonl") as recording:
        said = [entry.reading().decode() for entry in recording if entry.event is None]
    assert [text for text in said if text in tapes.SAID] == list(tapes.SAID)
    run(suite, test).assert_outcomes(passed=1)


def test_a_recording_of_nothing_that_is_there(suite):
    body = """
@pytest.mark.acptap("new.jsonl", upstream="http://127.0.0.1:9/acp#x")
def test_it(acptap_agent):
    acptap_agent.url
"""
    result = run(suite, body, "--acptap-record=once")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*it can't be recorded (*"])


def test_a_recording_two_ways_at_once(suite):
    suite.makepyfile(agent=AGENT)
    body = (
        A_COMMAND
        + """
@pytest.mark.acptap("new.jsonl")
def test_it(acptap_agent):
    Client(acptap_agent.url).say()
    assert converse(acptap_agent.command) == HEARD
"""
    )
    result = run(suite, body, "--acptap-record=once")
    result.stdout.fnmatch_lines(["*it was recorded as a command and on a URL; use one of them*"])


def test_a_recorder_that_does_not_end(monkeypatch):
    command = [sys.executable, "-c", STUBBORN]
    server = RecordingServer(command, "stubborn")
    monkeypatch.setattr("acptap.app.play.recording._GRACE", 0.1)
    server.close()
    assert server.ws_url == "ws://x/"


STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("acptap: listening on http://x/", file=sys.stderr, flush=True)
time.sleep(60)
"""
