"""An agent on the network that looks like a process: pipes, signals, an exit code."""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable
from contextlib import closing

import aiohttp

from acptap.transports.acpclient.client import Client
from acptap.transports.acpclient.http import HttpLink
from acptap.transports.acpclient.reach import Reach
from acptap.transports.acpclient.trouble import Gone, Trouble
from acptap.transports.acpclient.websocket import WebSocketLink
from acptap.transports.pipes import Sink, Source

LOST = 1
"""The exit code when the server is out of reach for good."""

_LAST_WORDS = 1.0
"""Seconds in which the server may still answer a client that has no more to say, as one does that
is a script and sends all it has at once."""

_ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})


class NetworkAgent:
    """A connection to an agent's server, run by an event loop on a thread of its own.

    Args:
        reach: Where the server is.
        say: Says a sentence to the human.

    Raises:
        UsageError: The certificates to be believed can't be read.

    Attributes:
        stdin: Descriptor for messages to the agent, a line each; non-blocking.
        stdout: Descriptor for messages from it.
        stderr: Descriptor that has nothing to read.
    """

    def __init__(self, reach: Reach, say: Callable[[str], None]) -> None:
        self._reach = reach
        self._say = say
        self._from_client, self.stdin = os.pipe()
        self.stdout, self._to_client = os.pipe()
        self.stderr = os.open(os.devnull, os.O_RDONLY)
        os.set_blocking(self.stdin, False)
        self._make_connector = reach.connector()
        self._status = 0
        self._has_left = False  # the client
        self._is_ending = False
        self._loop = asyncio.new_event_loop()
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name="the network agent", daemon=True)
        self._thread.start()
        self._begun.wait()

    def wait(self) -> int:
        """Wait until the connection is over; return an exit code, or minus a signal's number."""
        self._thread.join()
        return self._status

    def close_stdin(self) -> None:
        """Say that the client has no more to say: the connection is ended."""
        self._has_left = True
        os.close(self.stdin)

    def close_stdout(self) -> None:
        """Say that the client hears nothing any more."""
        os.close(self.stdout)

    def send(self, number: int) -> None:
        """Take a signal as a process does: the first to end it is polite, the second is not."""
        with contextlib.suppress(RuntimeError):  # all is over
            self._loop.call_soon_threadsafe(self._heed, number)

    def terminate(self) -> None:
        """End the connection, or its ending if that takes too long."""
        self.send(signal.SIGTERM)

    def end_group(self) -> None:
        """Do nothing: nobody is left."""

    # On the thread

    def _run(self) -> None:
        with (
            asyncio.Runner(loop_factory=lambda: self._loop) as runner,
            contextlib.suppress(asyncio.CancelledError),
        ):
            runner.run(self._live())

    def _heed(self, number: int) -> None:
        if number == signal.SIGKILL or (self._is_ending and number in _ENDING):
            self._main.cancel()
        elif number in _ENDING:
            self._is_ending = True
            self._status = 0 if self._has_left else -number
            self._asked.set()

    async def _live(self) -> None:
        main = asyncio.current_task()
        assert main is not None
        self._main = main
        self._asked = asyncio.Event()
        source, sink = Source(self._from_client), Sink(self._to_client)
        client = Client(source, sink, self._say)
        self._begun.set()
        async with asyncio.TaskGroup() as ends:
            ends.create_task(sink.run())
            with closing(source):
                trouble = await self._converse(client)
            if trouble is not None:
                self._status = LOST
                self._say(f"{trouble}; the connection to the agent is over")
                await client.fail(trouble)
            sink.end()

    async def _converse(self, client: Client) -> Trouble | None:
        """Stand between the client and the server to the end; return why there had to be one."""
        trouble = None
        try:
            async with (
                self._reach.session(self._make_connector) as http,
                asyncio.TaskGroup() as tasks,
            ):
                await self._relay(client, self._link(http, client, tasks), tasks)
        except* Gone as group:
            gone = group.exceptions[0]
            assert isinstance(gone, Gone)
            trouble = gone.trouble
        return trouble

    def _link(
        self, http: aiohttp.ClientSession, client: Client, tasks: asyncio.TaskGroup
    ) -> HttpLink | WebSocketLink:
        kind = WebSocketLink if self._reach.is_websocket else HttpLink
        return kind(self._reach.target, http, client, tasks)

    async def _relay(
        self, client: Client, link: HttpLink | WebSocketLink, tasks: asyncio.TaskGroup
    ) -> None:
        """Send what the client says until it has no more to say, or a signal asks for the end."""
        asked = tasks.create_task(self._asked.wait())
        sending = tasks.create_task(_send(client, link))
        await asyncio.wait([asked, sending], return_when=asyncio.FIRST_COMPLETED)
        self._is_ending = True
        for task in (asked, sending):
            task.cancel()
        await link.close()


async def _send(client: Client, link: HttpLink | WebSocketLink) -> None:
    async for text, value in client.messages():
        await link.send(text, value)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LAST_WORDS):
            await client.answered.wait()
