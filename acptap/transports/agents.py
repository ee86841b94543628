"""Agents' processes behind an endpoint: one for each ACP connection, on a stdio proxy of its own.

client ══HTTP, WebSocket══ endpoint ──pipe──▶ link ──▶ agent's stdin
◀──pipe── link ◀── agent's stdout
"""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from sys import maxsize

from acptap.transports.endpoint.peer import Kind, Outlet
from acptap.transports.pipes import Sink, Source
from acptap.transports.process import Agent
from acptap.transports.stderr import Stderr
from acptap.transports.stdio import StdioProxy, Witness
from acptap.wire import jsontext, spans
from acptap.wire.lines import LineSplitter, Unterminated

Pipes = tuple[tuple[int, int], tuple[int, int]]
"""Two pipes, as `os.pipe` makes them: to the agent, and back."""

_LAST_WORDS = 1.0
"""Seconds from the end of an agent's output to its exit, whose code the client is told."""

_LINE_ENDS = bytes.maketrans(b"\r\n", b"  ")


class ServedAgent:
    """The peer behind a connection: an agent, which is ended when its client has left.

    Must be made on the event loop of the endpoint, and `run` there.

    Args:
        outlet: The client.
        agent: The agent, just started.
        witness: Is shown what passes.
        stderr: Where the agent's standard error goes, and what there is to say about it.
        name: What the agent is called when something is said about it.
        grace: Seconds it may take to leave.
        pipes: What it is connected by.
    """

    def __init__(
        self,
        outlet: Outlet,
        agent: Agent,
        witness: Witness,
        stderr: Stderr,
        *,
        name: str,
        grace: float,
        pipes: Pipes,
    ) -> None:
        (from_client, sink), (source, to_client) = pipes
        self._loop = asyncio.get_running_loop()
        self._outlet = outlet
        self._agent = agent
        self._say = stderr.say
        self._name = name
        self._grace = grace
        self._sink, self._source = Sink(sink), Source(source)
        self._client = (from_client, to_client)
        self._proxy = StdioProxy(agent, witness, stderr, (), grace=grace, client=self._client)
        self._left = asyncio.Event()
        self._exited: asyncio.Future[int] = self._loop.create_future()
        self._is_noisy = False
        self._has_room = asyncio.Event()
        outlet.on_drain = self._has_room.set

    # What the endpoint calls

    def hear(self, text: bytes) -> None:
        """Take in what the client said: it becomes a line."""
        self._sink.write(text.translate(_LINE_ENDS) + b"\n")

    async def drain(self) -> None:
        """Wait while the agent does not read."""
        await self._sink.drain()

    def hear_end(self) -> None:
        """Take in that the client is gone."""
        self._left.set()

    # Life

    async def run(self) -> None:
        """Let the two talk until the agent has ended and is forgotten."""
        threading.Thread(target=self._attend, name=self._name, daemon=True).start()
        async with asyncio.TaskGroup() as links:
            links.create_task(self._see_client_out(links.create_task(self._sink.run())))
            with closing(self._source):
                await self._pass_on()
            await asyncio.wait([self._exited], timeout=_LAST_WORDS)
            self._finish()
            await self._exited

    def kill(self) -> None:
        """End the agent at once."""
        self._agent.send(signal.SIGKILL)

    def _attend(self) -> None:
        """Run the stdio proxy, on a thread."""
        status = self._proxy.run()
        self._loop.call_soon_threadsafe(self._see_exit, status)
        self._proxy.join()
        for fd in self._client:
            os.close(fd)
        self._agent.close()

    def _see_exit(self, status: int) -> None:
        self._exited.set_result(status)
        self._source.end()  # others may hold the agent's own pipe, and have nothing to say to us

    def _finish(self) -> None:
        """The agent says no more: tell the client, and the agent that there is none now."""
        how = _end_of(self._exited.result()) if self._exited.done() else "closed its output"
        if not self._left.is_set() and how != _WELL:
            self._say(f"{self._name} {how}")
        self._outlet.finish(reason=f"the agent {how}")
        self._left.set()

    async def _see_client_out(self, writing: asyncio.Task[None]) -> None:
        """Give the agent what the client said last, and then the end, even if it does not read."""
        await self._left.wait()
        self._sink.end()
        await asyncio.wait([writing], timeout=self._grace)
        writing.cancel()

    # What the agent says

    async def _pass_on(self) -> None:
        splitter = LineSplitter(maxsize)  # a message has to be whole before it can be framed
        while data := await self._source.read():
            for line in splitter.feed(data):
                assert isinstance(line, bytes)
                await self._pass_line(line)
        for rest in splitter.end():
            assert isinstance(rest, Unterminated)
            await self._pass_line(rest.raw)

    async def _pass_line(self, line: bytes) -> None:
        text = jsontext.bare(line)
        for message in self._messages(text):
            self._outlet.send(message)
        if self._outlet.is_full:
            self._has_room.clear()
            await self._has_room.wait()

    def _messages(self, text: bytes) -> Iterator[bytes]:
        """Yield the messages of a line: none if it is blank or noise."""
        if not text:
            return
        value = _read(text)
        if isinstance(value, dict):
            yield text
        elif isinstance(value, list):  # each message has an event stream where it belongs
            yield from [text] if self._outlet.kind is Kind.WEBSOCKET else members(text)
        elif not self._is_noisy:
            self._is_noisy = True
            self._say(
                f"{self._name} wrote what is no message on its standard output; "
                "such lines are recorded and not passed on"
            )


def members(text: bytes) -> list[bytes]:
    """Return the JSON texts of an array's values."""
    return [text[span.start : span.end] for span in spans.walk(text) if len(span.path) == 1]


def _read(text: bytes) -> object:
    """Return what a text spells, None if it is no JSON."""
    try:
        return jsontext.parse(text)
    except ValueError:
        return None


_WELL = "exited with code 0"


def _end_of(status: int) -> str:
    return f"exited with code {status}" if status >= 0 else f"was ended by signal {-status}"
