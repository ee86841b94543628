"""Runs servers, acptap, and clients, for the tests over HTTP and WebSocket."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import orjson

from tests.peers.peers import PEERS, ensure_node_peers, node_command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.peers.scripts import Script

LIMIT = 60
ROOT = PEERS.parents[1]
ACPTAP = [sys.executable, "-m", "acptap"]
READY = re.compile(rb"acptap: listening on (http://127\.0\.0\.1:\d+)/")
DIRECTLY = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}  # httpx asks the environment

Lines = list[bytes]
Lanes = dict[str, Lines]  # by the stream that carried them


def client_command(kind: str) -> list[str]:
    """Return the command of a client: of the TypeScript SDK in `v1` or `v2`, or of the `Python`."""
    if kind == "Python":
        return [sys.executable, str(PEERS / "pyclient.py")]
    ensure_node_peers()
    return [*node_command(), str(PEERS / "client.mjs"), "--version", kind.removeprefix("v")]


def agent_command(sdk: str) -> list[str]:
    """Return the command of the agent on stdio, on the `TypeScript` SDK or the `Python`."""
    if sdk == "Python":
        return [sys.executable, str(PEERS / "pyagent.py")]
    ensure_node_peers()
    return [*node_command(), str(PEERS / "agent.mjs")]


def server_command(sdk: str) -> list[str]:
    """Return the command of the same agent as a server."""
    if sdk == "Python":
        return [sys.executable, "-m", "tests.peers.pyserver"]
    ensure_node_peers()
    return [*node_command(), str(PEERS / "server.mjs")]


class Run(NamedTuple):
    """What a client saw, script by script, its exit status, and what was said on stderr."""

    transcripts: dict[str, Lines]
    status: int
    talk: str

    def ordered(self) -> dict[str, Lines]:
        """Return what was seen, in the order in which it came."""
        return {name: lines[:-1] for name, lines in self.transcripts.items()}

    def by_stream(self) -> dict[str, Lanes]:
        """Return what was seen, for each event stream of HTTP."""
        return {name: lanes(lines) for name, lines in self.transcripts.items()}

    def ends(self) -> dict[str, bytes]:
        """Return how the connections ended: in other words on every transport."""
        return {name: lines[-1] for name, lines in self.transcripts.items()}

    def only(self, names: Iterable[str]) -> Run:
        """Return the run of some scripts."""
        return self._replace(transcripts={name: self.transcripts[name] for name in names})


def converse(client: list[str], scripts: Mapping[str, Script], where: list[str]) -> Run:
    """Play scripts, each over a connection of its own.

    Args:
        client: The client's command.
        scripts: What to play, by name.
        where: The client's last arguments: `--url URL`, or `--` and an agent's command.
    """
    asked = [part for script in scripts.values() for part in ("--script", orjson.dumps(script))]
    done = subprocess.run(
        [*client, *asked, *where],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT,
        check=False,
        env=os.environ | DIRECTLY,
    )
    talk = done.stderr.decode(errors="replace")
    transcripts = list(split(done.stdout))
    assert len(transcripts) == len(scripts), talk
    return Run(dict(zip(scripts, transcripts, strict=True)), done.returncode, talk)


def split(output: bytes) -> Iterator[Lines]:
    """Yield what a client printed, script by script: only a script's last line is no event."""
    lines: Lines = []
    for line in output.splitlines():
        lines.append(line)
        if "event" not in orjson.loads(line):
            yield lines
            lines = []


def lanes(lines: Lines) -> Lanes:
    """Sort a transcript by the streams of HTTP: only within one of them is there an order.

    What a session shows is on the stream of that session, but for the answer that (re)opens it:
    which of the two carries that differs between servers. The last line, how the connection
    ended, is no part of it.
    """
    sorted_: Lanes = {}
    for line in lines[:-1]:
        front = orjson.loads(line)
        opens = front.get("method") in ("session/load", "session/resume")
        sorted_.setdefault("" if opens else front.get("session", ""), []).append(line)
    return sorted_


def server(sdk: str) -> AbstractContextManager[str]:
    """Run the server of an SDK and yield its authority."""
    return serving(server_command(sdk))


@contextmanager
def serving(command: list[str]) -> Iterator[str]:
    """Run a server and yield its authority. It ends with its standard input, also if we die."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline())
            yield f"127.0.0.1:{port}"
        finally:
            process.stdin.close()
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()


class Ending(NamedTuple):
    """How a run of acptap ended."""

    code: int
    talk: str


class Running:
    """An acptap that listens: where, and how it ends."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.url = ""
        self._talk: list[bytes] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def authority(self) -> str:
        """Host and port."""
        return self.url.removeprefix("http://")

    def wait_ready(self) -> None:
        """Wait for the line that says where it listens."""
        assert self._ready.wait(LIMIT), self.talk
        assert self.url, self.talk

    @property
    def talk(self) -> str:
        """What it has said on stderr."""
        return b"".join(self._talk).decode()

    def wait(self) -> Ending:
        """Wait until it ends by itself."""
        code = self.process.wait(timeout=LIMIT)
        self._reader.join(timeout=LIMIT)
        return Ending(code, self.talk)

    def stop(self) -> Ending:
        """End it as a service manager would."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._talk.append(line)
            if found := READY.search(line):
                self.url = found[1].decode()
                self._ready.set()
        self._ready.set()  # it ended without having been ready


@contextmanager
def acptap(*arguments: str | Path) -> Iterator[Running]:
    """Run acptap and yield when it listens. Whatever is still running at the end is killed."""
    with subprocess.Popen(
        [*ACPTAP, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        try:
            running = Running(process)
            running.wait_ready()
            yield running
        finally:
            if process.poll() is None:
                process.kill()
