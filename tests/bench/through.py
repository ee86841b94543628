"""Ways from a client to a server: none in between, the proxy, the relay alone, mitmdump."""

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.row import SESSION

_PEERS = (sys.executable, "-m", "tests.bench.peers")
_PROXY = (sys.executable, "-m", "acptap", "proxy", "-q", "--overwrite", "-p", "0")
_READY = re.compile(rb"http://127\.0\.0\.1:(\d+)/")
_OPENING = [
    {"method": "initialize", "params": {"protocolVersion": 1}},
    {"method": "session/new", "params": {"cwd": "/", "mcpServers": []}},
]


def requests(prompt: object) -> list[bytes]:
    """Return what a client says until an agent has something to do."""
    text = {"type": "text", "text": json.dumps(prompt)}
    asking = {"method": "session/prompt", "params": {"sessionId": SESSION, "prompt": [text]}}
    return [
        json.dumps({"jsonrpc": "2.0", "id": number} | request).encode()
        for number, request in enumerate([*_OPENING, asking])
    ]


def other(asked: dict[str, object]) -> bytes:
    """Return a request over a WebSocket that is no ACP."""
    return json.dumps({"id": 0} | asked).encode()


def session(port: int) -> dict[str, str]:
    """Begin a turn over HTTP; return the headers of a request for the session's stream."""
    client = HTTPConnection("127.0.0.1", port)
    headers: dict[str, str] = {}
    for request in requests("go"):
        client.request("POST", "/", request, headers)
        answer = client.getresponse()
        answer.read()
        known = answer.headers["Acp-Connection-Id"]
        headers = headers or {"Acp-Connection-Id": known}
        if b"session/new" in request:
            headers["Acp-Session-Id"] = SESSION
    client.close()
    return headers


@contextmanager
def serving(kind: str, *args: str) -> Iterator[int]:
    """Run a server of `tests.bench.peers`; give its port."""
    with subprocess.Popen([*_PEERS, kind, *args], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


class Proxy:
    """A running proxy.

    Attributes:
        port: Where it listens.
        pid: Its process.
        tape: What it records to.
    """

    def __init__(self, port: int, pid: int, tape: Path) -> None:
        self.port, self.pid, self.tape = port, pid, tape


@contextmanager
def recording(upstream: int, tape: Path, protocol: str = "auto") -> Iterator[Proxy]:
    """Run the proxy in front of a port; it must have been able to record all."""
    url = f"http://127.0.0.1:{upstream}"
    command = [*_PROXY, "-w", str(tape), "--protocol", protocol, "--upstream", url]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as proxy:
        assert proxy.stderr is not None
        try:
            ready = _READY.search(proxy.stderr.readline())
            assert ready is not None
            yield Proxy(int(ready[1]), proxy.pid, tape)
        except BaseException:
            proxy.kill()
            raise
        proxy.send_signal(signal.SIGTERM)
        said = proxy.stderr.read()
    assert (proxy.returncode, said) == (0, b""), (proxy.returncode, said)


@contextmanager
def mitmdump(upstream: int, folder: Path) -> Iterator[int | None]:
    """Run mitmdump, streaming and recording, in front of a port; without it, give None."""
    found = shutil.which("mitmdump")
    if found is None:
        yield None
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    command = [
        found, "--mode", f"reverse:http://127.0.0.1:{upstream}", "--listen-host", "127.0.0.1",
        "-p", str(port), "--set", "stream_large_bodies=1", "--set", f"confdir={folder}",
        "-q", "-w", str(folder / "flows"),
    ]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as proxy:
        try:
            _await(port)
            yield port
        finally:
            proxy.terminate()


def _await(port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        select.select([], [], [], 0.1)
    raise TimeoutError(f"nobody listens on {port}")


@contextmanager
def behind(kind: str, protocol: str = "auto") -> Iterator[tuple[int, Proxy]]:
    """Run a server, and the proxy in front of it; give the ports of both."""
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        server = stack.enter_context(serving(kind))
        tape = Path(folder, "tape.jsonl")
        yield server, stack.enter_context(recording(server, tape, protocol))


def resident(pid: int) -> int:
    """Return the memory that a process has, in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak(pid: int) -> int:
    """Return the most memory that a process has had, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


def spent(pid: int) -> float:
    """Return the seconds that a process has computed so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    assert isinstance(ticks, int)
    return (int(fields[11]) + int(fields[12])) / ticks
