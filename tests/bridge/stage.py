"""A bridge to agents' processes, on the test's own event loop."""

import asyncio
import os
import queue
import signal
import socket
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from acptap.app.record.bridging import Bridge
from acptap.app.record.proxying import ProxyOptions
from acptap.app.record.take import Take
from acptap.transports.listening import Admission, Listen, address_of, open_sockets, url_of
from acptap.transports.stderr import Stderr
from tests.bridge.server import LIMIT
from tests.proxy.client import Tape

AGENT = (sys.executable, "-I", "-S", str(Path(__file__).with_name("agent.py")))


class Stage:
    """A bridge, its clients, and the tether of its agents.

    Attributes:
        url: Where clients connect.
        signals: What the bridge is sent; None ends it.
    """

    def __init__(self, folder: Path, command, options: ProxyOptions):
        self._log = folder / "stderr"
        self._cassette = folder / "tape.jsonl"
        ours, theirs = socket.socketpair()
        theirs.set_inheritable(True)
        self.tether = theirs.fileno()
        self._ours, self._theirs = ours, theirs
        self._reports = ours.makefile("rb")
        ours.settimeout(LIMIT)
        self._stderr = Stderr(os.open(self._log, os.O_CREAT | os.O_WRONLY, 0o600))
        self._take = Take(options, self._stderr.say)
        self._take.begin(protocol="acp", transport="stdio", upstream=list(command))
        self.bridge = Bridge(command[0], command, options, self._take, self._stderr)
        sockets = open_sockets(Listen("127.0.0.1", 0))
        self.url = url_of(address_of(sockets))
        self.signals: queue.Queue[signal.Signals | None] = queue.Queue()
        heard = iter(self.signals.get, None)
        self._serving = asyncio.ensure_future(self.bridge.serve(sockets, Admission(), heard))
        self._clients: list[Any] = []
        self._http = aiohttp.ClientSession()
        self._is_complete = True

    def client(self, kind):
        client = kind(self.url, self._http)
        self._clients.append(client)
        return client

    async def told(self) -> str:
        """Return what the next agent told us of its life."""
        async with asyncio.timeout(LIMIT):
            line = await asyncio.to_thread(self._reports.readline)
        return line.decode().rstrip()

    async def served(self):
        """Wait for the bridge's end."""
        async with asyncio.timeout(LIMIT):
            await self._serving

    async def stop(self):
        """End it as a signal does, and see that nobody is left."""
        self.signals.put(signal.SIGTERM)
        await self.served()
        self.signals.put(None)
        self._is_complete = self._take.close()
        for client in self._clients:
            await client.close()
        await self._http.close()

    def log(self) -> str:
        self._stderr.drain(LIMIT)
        return self._log.read_text()

    def tape(self) -> Tape:
        assert self._is_complete
        return Tape(self._cassette)

    def cut(self):
        """Let go of the tether, which ends who hangs on it."""
        self._theirs.close()
        self._reports.close()
        self._ours.close()


@asynccontextmanager
async def perform(folder: Path, monkeypatch, command=AGENT, **options):
    """Serve an agent's command; end it when the test has done."""
    asked = ProxyOptions(folder / "tape.jsonl", quiet=True, **options)
    stage = Stage(folder, command, asked)
    monkeypatch.setenv("TETHER", str(stage.tether))
    try:
        yield stage
    finally:
        if not stage._serving.done():
            await stage.stop()
        stage.cut()
