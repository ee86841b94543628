"""Records what a stdio proxy shows it."""

import signal
from collections.abc import Callable
from functools import partial

from acptap.app.record.take import Take
from acptap.jsonrpc import Side
from acptap.tap import Tap


class Recorder:
    """The witness of a stdio proxy: a tap, and the take that its lines belong to.

    Both directions are recorded under one lock, and each read before it is forwarded, so the order
    on the tape is one in which things can have happened.

    Args:
        tap: Reads the traffic.
        take: Where it is recorded; others may record there too.
        stderr: Whether the agent's standard error is recorded.
    """

    def __init__(self, tap: Tap, take: Take, *, stderr: bool = True) -> None:
        self._tap = tap
        self._take = take
        self._keeps_stderr = stderr
        self._open = set(Side)
        self._over = False

    def from_client(self, data: bytes) -> bool:
        """Record what the client sent; return whether the exit was still to come."""
        return self._record(lambda at: self._tap.observe(Side.CLIENT, data, at))

    def from_agent(self, data: bytes) -> bool:
        """Record what the agent sent; return whether the exit was still to come."""
        return self._record(lambda at: self._tap.observe(Side.AGENT, data, at))

    def from_stderr(self, data: bytes) -> bool:
        """Record the agent's standard error; return whether the exit was still to come."""
        return self._record(lambda at: self._tap.stderr(data, at) if self._keeps_stderr else b"")

    def client_ended(self) -> None:
        """Record that the client closed its side."""
        self._record(lambda at: self._end(Side.CLIENT, at))

    def agent_ended(self) -> None:
        """Record that the agent closed its side."""
        self._record(lambda at: self._end(Side.AGENT, at))

    def client_stopped_reading(self) -> None:
        """Record that the client is gone for the agent."""
        self._record(lambda at: self._tap.event(Side.CLIENT, at, event="abort"))

    def agent_stopped_reading(self) -> None:
        """Record that the agent is gone for the client."""
        self._record(lambda at: self._tap.event(Side.AGENT, at, event="abort"))

    def signalled(self, name: str) -> None:
        """Record that whoever runs the client sent a signal, as Ctrl-C does."""
        self._record(lambda at: self._tap.event(Side.CLIENT, at, event="signal", signal=name))

    def exited(self, status: int) -> None:
        """Record how the agent's process ended. Nothing is recorded behind that."""
        code = status if status >= 0 else None
        name = _signal_name(-status) if status < 0 else None
        with self._take.lock:  # a link may be about to tell of its end
            for side in Side:
                if side in self._open:
                    self._record(partial(self._unfinished, side))
            self._record(lambda at: self._tap.exit(at, code=code, signal=name))
            self._over = True

    def _end(self, side: Side, at: int) -> bytes:
        self._open.discard(side)
        return self._tap.end(side, at)

    def _unfinished(self, side: Side, at: int) -> bytes:
        """Return the entry of what a side has begun to say, without one that says it is done."""
        return self._tap.rest(side, at)

    def _record(self, lines_at: Callable[[int], bytes]) -> bool:
        with self._take.lock:
            if not self._over:
                self._take.record(lines_at)
            return not self._over


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
