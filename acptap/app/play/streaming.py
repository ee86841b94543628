"""A cassette, or an agent that is recorded, behind the streams of a client in this process."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from acptap.app.play.journal import Journal
from acptap.app.play.performance import Performance
from acptap.app.play.run import Run
from acptap.storage import Recording
from acptap.transports.memory import Wire

if TYPE_CHECKING:
    from asyncio import Handle

_READ = 64 * 1024


class StreamedCassette:
    """Plays a cassette over a wire, as part of a run.

    Each read of the recording is delivered in a step of the loop of its own, so that whoever waits
    for data sees the boundaries that there were.

    Args:
        run: The run.
        wire: The client's end.
    """

    def __init__(self, run: Run, wire: Wire) -> None:
        programme, options = run.programme, run.options
        self._wire = wire
        self._loop = wire.loop
        self._journal = Journal.begin(run.folder, programme.cassette)
        self._recording = Recording(programme.cassette)
        player = programme.player(self._journal.number, self._recording, options)
        self._performance = Performance(player, self._journal, options)
        self._is_ended = False
        self._next: Handle = self._loop.call_soon(self._step)

    def hear(self, data: bytes) -> None:
        """Take in what the client wrote."""
        self._performance.take(data)
        self.go_on()

    def hear_end(self) -> None:
        """Take in that the client writes no more; deliver what is left to say, and the end."""
        self._is_ended = True
        self._performance.end(at_once=True)
        self.go_on()

    def go_on(self) -> None:
        """Look at what is due in the next step of the loop."""
        self._plan(0.0)

    def gone(self) -> None:
        """Take in that the client has no use for the wire any more."""
        self._next.cancel()
        self._journal.close()
        self._recording.__exit__()

    def _plan(self, seconds: float) -> None:
        self._next.cancel()
        if seconds:
            self._next = self._loop.call_later(seconds, self._step)
        else:
            self._next = self._loop.call_soon(self._step)

    def _step(self) -> None:
        self._performance.lose_patience()
        if self._wire.is_full:
            return
        data = self._performance.next_write()
        if data is not None:
            self._wire.deliver(data)
            self._plan(0.0)
        elif self._is_ended or self._performance.is_over:
            self._wire.finish()
        elif (seconds := self._performance.wait()) is not None:
            self._plan(seconds)


class StreamedCommand:
    """Passes a wire on to a process: an agent behind `acptap proxy`.

    Args:
        command: What to start.
        wire: The client's end.
    """

    def __init__(self, command: Sequence[str], wire: Wire) -> None:
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe)  # noqa: S603 our own command
        assert process.stdin is not None
        assert process.stdout is not None
        self._wire = wire
        self._process, self._stdin, self._stdout = process, process.stdin, process.stdout
        threading.Thread(target=self._read, name="the recorded agent", daemon=True).start()

    def hear(self, data: bytes) -> None:
        """Take in what the client wrote."""
        with contextlib.suppress(BrokenPipeError):  # the client will read the end
            self._stdin.write(data)
            self._stdin.flush()

    def hear_end(self) -> None:
        """Take in that the client writes no more."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()

    def go_on(self) -> None:
        """Do nothing: an agent is never held up while it is recorded."""

    def gone(self) -> None:
        """See the agent out."""
        self.hear_end()
        self._process.wait()

    def _read(self) -> None:
        with self._stdout as stdout, contextlib.suppress(RuntimeError):  # the loop is closed
            while data := os.read(stdout.fileno(), _READ):
                self._wire.loop.call_soon_threadsafe(self._wire.deliver, data)
            self._wire.loop.call_soon_threadsafe(self._wire.finish)
