"""`acptap proxy --listen … -- COMMAND`: an agent's command, recorded and served on the network."""

import asyncio
import contextlib
import itertools
import os
import signal
import socket
from collections.abc import Iterable, Sequence

from acptap.app.record.proxying import FAREWELL, ProxyOptions
from acptap.app.record.recorder import Recorder
from acptap.app.record.take import INCOMPLETE, Take
from acptap.errors import AcptapError, CommandError
from acptap.tap import Tap
from acptap.transports import descriptors, listening
from acptap.transports.agents import Pipes, ServedAgent
from acptap.transports.command import NOT_EXECUTABLE, find_program
from acptap.transports.endpoint import Endpoint, Outlet
from acptap.transports.listening import Admission
from acptap.transports.process import Agent, given_environment
from acptap.transports.signals import Signals, call_on_loop
from acptap.transports.stderr import Stderr


def bridge_listen(
    command: Sequence[str],
    options: ProxyOptions,
    *,
    listen: str,
    allow_remote: bool = False,
    allow_hosts: Sequence[str] = (),
    allow_origins: Sequence[str] = (),
) -> int:
    """Serve an agent's command over HTTP and WebSocket until a signal; return our exit code.

    Must be called on the main thread.

    Args:
        command: Started once for each ACP connection.
        options: What the user asked for.
        listen: Where to listen: `[HOST:]PORT`.
        allow_remote: That may be where other machines can connect.
        allow_hosts: Names of ours that clients may use besides those of loopback.
        allow_origins: Web sites whose pages may connect.

    Raises:
        CommandError: The agent's program is not there.
        UsageError: The address can't be used, or the cassette can't be made, or what is allowed
            or a pattern is misspelt.
    """
    descriptors.occupy_standard()
    address = listening.parse_listen(listen)
    listening.check_reach(address, allow_remote=allow_remote)
    admission = Admission.of(address, allow_hosts, allow_origins)
    program = find_program(command, os.environ)
    stderr = Stderr()
    with Signals(for_good=True) as signals:
        take = Take(options, stderr.say)
        try:
            sockets = listening.open_sockets(address)
        except AcptapError:
            take.discard()
            raise
        stderr.say(f"listening on {listening.url_of(listening.address_of(sockets))}")
        take.begin(protocol="acp", transport="stdio", upstream=list(command))
        bridge = Bridge(program, command, options, take, stderr)
        asyncio.run(bridge.serve(sockets, admission, signals))
        is_complete = take.close(signals)
        stderr.drain(FAREWELL)
    return 0 if is_complete else INCOMPLETE


class Bridge:
    """Starts an agent for each ACP connection, and records what the two say.

    Args:
        program: The path of the agents' program.
        command: Their command.
        options: What the user asked for.
        take: Where it is recorded.
        stderr: Where their standard error goes.
    """

    def __init__(
        self,
        program: str,
        command: Sequence[str],
        options: ProxyOptions,
        take: Take,
        stderr: Stderr,
    ) -> None:
        self._program = program
        self._command = command
        self._options = options
        self._take = take
        self._stderr = stderr
        self._started = 0
        self._agents: set[ServedAgent] = set()
        self._stopped = asyncio.Event()

    async def serve(
        self,
        sockets: Sequence[socket.socket],
        admission: Admission,
        signals: Iterable[signal.Signals],
    ) -> None:
        """Serve until a signal asks for the end, and all agents have ended."""
        endpoint = Endpoint(self._connect, admission)
        async with asyncio.TaskGroup() as self._tasks:
            await endpoint.start(sockets)
            call_on_loop(signals, asyncio.get_running_loop(), self._stop)
            await self._stopped.wait()
            await endpoint.close()

    def _connect(self, outlet: Outlet) -> ServedAgent:
        """Start an agent for a client.

        Raises:
            CommandError: It can't be started.
        """
        try:
            agent, pipes = self._start()
        except CommandError as error:
            self._stderr.say(str(error))
            raise
        self._started += 1
        take, number = self._take, self._started
        tap = Tap(take.redactor, number, take.clock)
        served = ServedAgent(
            outlet,
            agent,
            Recorder(tap, take, stderr=self._options.stderr),
            self._stderr,
            name=f"agent {number}",
            grace=self._options.grace,
            pipes=pipes,
        )
        self._agents.add(served)
        self._tasks.create_task(self._attend(served))
        return served

    def _start(self) -> tuple[Agent, Pipes]:
        with contextlib.ExitStack() as opened:
            try:
                pipes = os.pipe(), os.pipe()
            except OSError as error:
                raise CommandError(
                    f"no more agents can be started ({error.strerror})",
                    where=self._program,
                    fix="raise the limit of open files with ulimit -n",
                    exit_code=NOT_EXECUTABLE,
                ) from error
            for fd in itertools.chain(*pipes):
                opened.callback(os.close, fd)
            agent = Agent(self._program, self._command, given_environment())
            opened.pop_all()
        return agent, pipes

    async def _attend(self, served: ServedAgent) -> None:
        await served.run()
        self._agents.discard(served)

    def _stop(self) -> None:
        """End: politely when first asked, then at once."""
        if self._stopped.is_set():
            for served in self._agents:
                served.kill()
        self._stopped.set()
