"""Records what a proxy shows it. A recorder that fails is silent from then on; traffic never is."""

import signal
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from acptap import __version__
from acptap.cassette import Header
from acptap.jsonrpc import Side
from acptap.storage import Tape
from acptap.tap import Tap

Talk = Callable[[str], None]
"""Says a sentence to the human."""


class Recorder:
    """The witness of a stdio proxy: a tap, a clock and a tape.

    Both directions are recorded under one lock, and each read before it is forwarded, so the order
    on the tape is one in which things can have happened.

    Args:
        tap: Reads the traffic.
        tape: Keeps it.
        talk: Told once when recording fails.
        stderr: Whether the agent's standard error is recorded.

    Attributes:
        broken: Whether recording failed and the tape is incomplete.
    """

    def __init__(self, tap: Tap, tape: Tape, talk: Talk, *, stderr: bool = True) -> None:
        self.broken = False
        self._tap = tap
        self._tape = tape
        self._talk = talk
        self._keeps_stderr = stderr
        self._lock = threading.RLock()
        self._open = set(Side)
        self._over = False
        self._zero = time.monotonic_ns()

    def begin(self, upstream: list[str]) -> None:
        """Write the header."""
        now = datetime.now(UTC)
        self._zero = time.monotonic_ns()
        header = Header(
            protocol="acp",
            transport="stdio",
            recorded_at=f"{now:%Y-%m-%dT%H:%M:%S.%fZ}",
            upstream=upstream,
            generator=f"acptap {__version__}",
        )
        self._record(lambda _: self._tap.begin(header))

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
        with self._lock:  # a link may be about to tell of its end
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
        with self._lock:
            if self.broken or self._over:
                return not self._over
            try:
                lines = lines_at((time.monotonic_ns() - self._zero) // 1000)
                if lines:
                    self._tape.write(lines)
            except Exception as error:  # whatever it is, the traffic must not notice
                self.broken = True
                self._talk(
                    f"recording stopped: {_words(error)}; the traffic goes on, and "
                    f"{self._tape.path} ends here"
                )
            return True


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {error} (this is a bug in acptap, please report it)"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
