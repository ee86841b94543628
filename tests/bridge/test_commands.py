"""Both bridges as commands: what they say, how they end, and that what they record is played."""

import asyncio
import signal
import socket
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import orjson
import pytest

from acptap.demo.agent import SESSION
from tests.bridge.clients import CLIENTS, HttpClient
from tests.bridge.editor import INITIALIZE, request, result
from tests.bridge.server import INITIALIZED, LIMIT, Server, serve
from tests.proxy.client import PROXY, ROOT, Tape, environment

DEMO = (sys.executable, "-m", "acptap.demo.agent")
NEW = request(1, "session/new", cwd="/", mcpServers=[])
PROMPT = request(
    2, "session/prompt", sessionId=SESSION, prompt=[{"type": "text", "text": "remove"}]
)
ALLOW = result("ask-1", outcome={"outcome": "selected", "optionId": "yes"})


class Command:
    """A bridge in a process of its own."""

    def __init__(self, folder, *arguments, pipes=("stderr",)):
        self.path = folder / "tape.jsonl"
        pipe: dict[str, Any] = dict.fromkeys(pipes, subprocess.PIPE)
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            [*PROXY, "-w", str(self.path), *arguments], cwd=ROOT, env=environment(), **pipe
        )

    async def hear(self) -> str:
        """Return the next line of what it says to the human."""
        assert self.process.stderr is not None
        async with asyncio.timeout(LIMIT):
            line: bytes = await asyncio.to_thread(self.process.stderr.readline)
        return line.decode().rstrip()

    async def end(self, data=b"") -> tuple[int, bytes, bytes]:
        out, err = await asyncio.to_thread(self.process.communicate, data, LIMIT)
        return self.process.returncode, out or b"", err or b""

    def tape(self) -> Tape:
        return Tape(self.path)


@asynccontextmanager
async def start(folder, *arguments, **options):
    command = Command(folder, *arguments, **options)
    try:
        yield command
    finally:
        command.process.kill()
        await command.end()


async def converse(client):
    """Talk to the demo's agent; return all that it says."""
    heard = [await client.open()]
    await client.send(NEW)
    heard.append(await client.read())
    if isinstance(client, HttpClient):
        client.listen(**{"Acp-Session-Id": SESSION})
    await client.send(PROMPT)
    heard += [await client.read() for _ in range(2)]
    assert b"request_permission" in heard[-1]
    if isinstance(client, HttpClient):
        client.headers["Acp-Session-Id"] = SESSION
    await client.send(ALLOW)
    heard += [await client.read() for _ in range(3)]
    return heard


def play(path, *said):
    """Play a cassette to a client on stdio that says these messages, one behind another."""
    replay = [
        sys.executable,
        "-m",
        "acptap",
        "replay",
        "-q",
        "--stdio",
        "--allow-unplayed",
        str(path),
    ]
    done = subprocess.run(
        replay,
        check=False,
        input=b"\n".join(said) + b"\n",
        capture_output=True,
        env=environment(),
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


async def test_a_command_is_served_until_a_signal(tmp_path):
    async with (
        start(tmp_path, "--listen", "0", "--", *DEMO) as command,
        aiohttp.ClientSession() as http,
    ):
        said = await command.hear()
        assert said.startswith("acptap: listening on http://127.0.0.1:")
        assert await command.hear() == f"acptap: recording to {command.path}"
        url = said.rpartition(" ")[2]
        heard = [await converse(client(url, http)) for client in CLIENTS.values()]
        assert heard[0] == heard[1]
        command.process.send_signal(signal.SIGINT)
        assert await command.end() == (0, b"", b"")
    tape = command.tape()
    assert tape.header.upstream == list(DEMO)
    assert tape.header.redaction == "done"
    assert {entry.conn for entry in tape.entries} == {1, 2}
    assert play(command.path, INITIALIZE, NEW, PROMPT, ALLOW) == heard[0]


async def test_an_upstream_for_a_client_on_stdio(tmp_path):
    async with serve(Server()) as server:
        arguments = (
            "--stdio",
            "--upstream",
            f"{server.url}?tenant=a%2Fb",
            "--header",
            "X-Key: seven",
        )
        async with start(tmp_path, *arguments, pipes=("stdin", "stdout", "stderr")) as command:
            code, out, err = await command.end(INITIALIZE + b"\n")
    assert (code, out) == (0, INITIALIZED + b"\n")
    assert err == f"acptap: recording to {command.path}\n".encode()
    assert server.seen[0].raw_path == "/acp?tenant=a%2Fb"
    assert server.seen[0].headers["X-Key"] == "seven"
    tape = command.tape()
    assert tape.header.transport == "stdio"
    assert tape.stream("client") == INITIALIZE + b"\n"
    assert tape.stream("agent") == INITIALIZED + b"\n"
    assert tape.events == [
        {"from": "client", "event": "end"},
        {"from": "agent", "event": "end"},
        {"from": "agent", "event": "exit", "code": 0},
    ]
    assert play(command.path, INITIALIZE) == [INITIALIZED]


async def test_an_upstream_that_is_not_there(tmp_path):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"ws://127.0.0.1:{nobody.getsockname()[1]}/"
        arguments = ("--stdio", "--upstream", url)
        async with start(tmp_path, *arguments, pipes=("stdin", "stdout", "stderr")) as command:
            code, out, err = await command.end(INITIALIZE + b"\n")
    assert code == 1
    assert orjson.loads(out)["error"]["code"] == -32603
    assert b"acptap: the agent's server can't be reached (" in err
    assert b"Traceback" not in err
    assert command.tape().stream("agent") == out


async def test_a_signal_to_a_client_of_an_upstream(tmp_path):
    async with serve(Server()) as server:
        arguments = ("--stdio", "--upstream", server.url)
        async with start(tmp_path, *arguments, pipes=("stdin", "stdout", "stderr")) as command:
            assert command.process.stdin is not None
            command.process.stdin.write(INITIALIZE + b"\n")
            command.process.stdin.flush()
            await server.until("GET")
            command.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(LIMIT):
                assert await asyncio.to_thread(command.process.wait) == 128 + signal.SIGTERM
            assert server.log[-1] == "DELETE"
    assert command.tape().events[0] == {"from": "client", "event": "signal", "signal": "SIGTERM"}


REFUSED = {
    "an address": (("--listen", "x:y:z", "--", *DEMO), b"--listen x:y:z: this is no address", 2),
    "beyond this machine": (
        ("--listen", "0.0.0.0:0", "--", *DEMO),
        b"other machines could connect",
        2,
    ),
    "a host": (
        ("--listen", "0", "--allow-host", "a/b", "--", *DEMO),
        b"--allow-host a/b: this is no host name",
        2,
    ),
    "a program": (("--listen", "0", "--", "no-such-agent"), b"program was not found", 127),
    "a URL": (("--stdio", "--upstream", "ftp://host/"), b"the URL can't be used: its scheme", 2),
    "a header": (
        ("--stdio", "--upstream", "http://host/", "--header", "nonsense"),
        b"a header can't be sent: it is no header",
        2,
    ),
    "certificates": (
        ("--stdio", "--upstream", "https://host/", "--ca", "no-such-file"),
        b"--ca no-such-file: there are no certificates to be read",
        2,
    ),
}


@pytest.mark.parametrize(("arguments", "said", "code"), REFUSED.values(), ids=REFUSED)
async def test_what_is_misspelt_leaves_no_cassette(tmp_path, arguments, said, code):
    async with start(tmp_path, *arguments, pipes=("stdin", "stdout", "stderr")) as command:
        ended, out, err = await command.end()
    assert (ended, out) == (code, b"")
    assert said in err
    assert b"Traceback" not in err
    assert not command.path.exists()


async def test_a_port_that_is_taken_leaves_no_cassette(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with start(tmp_path, "--listen", str(port), "--", *DEMO) as command:
            code, _, err = await command.end()
    assert code == 2
    assert b"port %d is in use" % port in err
    assert not command.path.exists()
