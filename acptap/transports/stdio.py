"""The stdio proxy: one blocking thread for each direction, and one for standard error.

    client ──fd 0──▶ link ──▶ agent's stdin
    client ◀──fd 1── link ◀── agent's stdout
    human  ◀──fd 2── ······── agent's stderr

Either end may be another pair of descriptors: the bridges put one of their own there.

Each link shows the witness what a read brought, then writes it. Threads rather than an event loop,
because standard input and output may be files, terminals and non-blocking pipes, and because a
blocking read and write is the shortest way from one to the other.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterable
from typing import Protocol

from acptap.transports import descriptors
from acptap.transports.process import KILL_AFTER
from acptap.transports.stderr import Stderr

DRAIN = 2.0
"""Seconds for what is left in the pipes of an agent that has ended."""

REST = 1024 * 1024
"""Bytes a pipe may hold (Linux lets users enlarge it to this). What comes out of an agent's pipe
beyond that, once the agent and its group have ended, comes from somebody else."""

NOISE = 8 * 1024
"""Bytes of standard error read at once. Few, for a message may wait while they are recorded."""

ENDING = frozenset({signal.SIGTERM, signal.SIGHUP})
"""Signals after which the agent must be gone within the grace; after Ctrl-C it may go on."""

_LOOK = 0.05
_WATCH = 0.5


class Witness(Protocol):
    """Is shown everything, in order. Never raises, never waits for the traffic.

    What it is shown after the agent's exit it does not heed. So that nothing passes that it has
    not seen, the first three methods then return False, and the data must not be forwarded.
    """

    def from_client(self, data: bytes) -> bool:
        """The client sent `data`; it is about to be forwarded."""

    def from_agent(self, data: bytes) -> bool:
        """The agent sent `data`; it is about to be forwarded."""

    def from_stderr(self, data: bytes) -> bool:
        """The agent wrote `data` on its standard error."""

    def client_ended(self) -> None:
        """The client closed its side."""

    def agent_ended(self) -> None:
        """The agent closed its side."""

    def client_stopped_reading(self) -> None:
        """What the agent sends can't be delivered any more."""

    def agent_stopped_reading(self) -> None:
        """What the client sends can't be delivered any more."""

    def signalled(self, name: str) -> None:
        """A signal was sent to us and is about to be passed on."""

    def exited(self, status: int) -> None:
        """The agent's process ended: its exit code, or minus the number of the signal."""


class AgentSide(Protocol):
    """A running agent: its process (see `process.Agent`), or what stands in for one."""

    @property
    def stdin(self) -> int:
        """Descriptor it reads from, non-blocking."""

    @property
    def stdout(self) -> int:
        """Descriptor it writes to."""

    @property
    def stderr(self) -> int:
        """Descriptor it complains to."""

    def wait(self) -> int:
        """Wait until it has ended; return its exit code, or minus a signal's number."""

    def close_stdin(self) -> None:
        """Tell it that nothing more will come."""

    def close_stdout(self) -> None:
        """Tell it that nobody listens any more."""

    def send(self, number: int) -> None:
        """Send it a signal."""

    def terminate(self) -> None:
        """Ask it to end."""

    def end_group(self) -> None:
        """End whatever is left of it."""


class StdioProxy:
    """Stands between a client and an agent.

    Args:
        agent: The agent, just started.
        witness: Is shown what passes.
        stderr: Where the agent's standard error goes.
        signals: Those sent to us; they are passed on.
        grace: Seconds the agent may take to leave once the client has closed its side.
        client: The descriptors that the client writes to and reads from; by default the process
            that started us is the client.
    """

    def __init__(
        self,
        agent: AgentSide,
        witness: Witness,
        stderr: Stderr,
        signals: Iterable[signal.Signals],
        *,
        grace: float,
        client: tuple[int, int] = (0, 1),
    ) -> None:
        self._agent = agent
        self._from_client, self._to_client = client
        self._witness = witness
        self._stderr = stderr
        self._signals = signals
        self._grace = grace
        self._exited = threading.Event()
        self._dismissed = threading.Event()
        self._taken = 0  # bytes, from the agent
        self._given = 0  # bytes, to the client

    def run(self) -> int:
        """Relay until the agent's process has ended; return its code, or minus its signal."""
        to_client, to_stderr = _start(self._agent_to_client), _start(self._agent_to_stderr)
        self._links = (to_client, to_stderr, _start(self._client_to_agent))
        _start(self._pass_signals_on)
        status = self._agent.wait()
        self._exited.set()
        self._finish(to_client, to_stderr)
        self._witness.exited(status)
        return status

    def join(self) -> None:
        """Wait, after `run`, until no descriptor is used any more."""
        for link in self._links:
            link.join()

    def _finish(self, to_client: threading.Thread, to_stderr: threading.Thread) -> None:
        """Deliver what the agent left in its pipes, and end what it left behind."""
        deadline = time.monotonic() + DRAIN
        for outlet in (to_client, to_stderr):
            outlet.join(max(0.0, deadline - time.monotonic()))
        self._agent.end_group()
        limit = self._taken + REST
        while to_client.is_alive() and self._owes_client(limit):
            to_client.join(_LOOK)
        to_stderr.join(_WATCH)

    def _owes_client(self, limit: int) -> bool:
        """Return whether a slow client still waits for what the agent itself wrote."""
        if self._dismissed.is_set() or self._given > limit:
            return False
        return self._given < self._taken or descriptors.has_data(self._agent.stdout)

    # Links, a thread each

    def _client_to_agent(self) -> None:
        patience = max(self._grace, _LOOK)
        while (data := descriptors.read(self._from_client)) and self._witness.from_client(data):
            if not descriptors.write_all(
                self._agent.stdin, data, stuck_after=patience, when_stuck=self._end_if_deserted
            ):
                self._witness.agent_stopped_reading()
                descriptors.release(self._from_client)
                self._end_when_deserted()
                return
        self._witness.client_ended()
        self._agent.close_stdin()
        self._end_within(self._grace)

    def _agent_to_client(self) -> None:
        while (data := descriptors.read(self._agent.stdout)) and self._witness.from_agent(data):
            self._taken += len(data)
            if not descriptors.write_all(self._to_client, data):
                self._witness.client_stopped_reading()
                self._agent.close_stdout()
                return
            self._given += len(data)
        self._witness.agent_ended()
        descriptors.release(self._to_client)

    def _agent_to_stderr(self) -> None:
        source, witness = self._agent.stderr, self._witness
        while (data := descriptors.read(source, NOISE)) and witness.from_stderr(data):
            self._stderr.put(data)

    # Ends

    def _pass_signals_on(self) -> None:
        for number in self._signals:
            self._witness.signalled(number.name)
            self._agent.send(number)
            if number in ENDING or self._exited.is_set():
                _start(self._leave_within_grace)

    def _leave_within_grace(self) -> None:
        """End the agent, and after that even for a client that has not read everything."""
        deadline = time.monotonic() + self._grace
        if not self._exited.wait(self._grace):
            self._agent.send(signal.SIGKILL)
        time.sleep(max(0.0, deadline - time.monotonic()))
        self._dismissed.set()

    def _end_within(self, seconds: float) -> None:
        if not self._exited.wait(seconds):
            self._agent.terminate()
            if not self._exited.wait(KILL_AFTER):
                self._agent.send(signal.SIGKILL)

    def _end_if_deserted(self) -> None:
        """End an agent that takes nothing, so that it can't learn that the client has left."""
        if descriptors.is_hung_up(self._from_client):
            self._end_within(0)

    def _end_when_deserted(self) -> None:
        """Wait for the client of an agent that closed its input to leave, and end the agent."""
        while not self._exited.wait(_WATCH):
            if descriptors.is_hung_up(self._to_client):
                self._end_within(self._grace)


def _start(link: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=link, name=link.__name__.strip("_"), daemon=True)
    thread.start()
    return thread
