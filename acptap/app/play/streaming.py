"""A cassette, or an agent that is recorded, behind the streams of a client in this process."""

import contextlib
import os
import subprocess
import threading
from collections.abc import Sequence

from acptap.app.play.journal import Journal
from acptap.app.play.pacing import Pacer
from acptap.app.play.performance import Performance
from acptap.app.play.run import Run
from acptap.replay.release import Release
from acptap.storage import Recording
from acptap.transports.memory import Wire

_READ = 64 * 1024


class StreamedCassette:
    """Plays a cassette over a wire, as part of a run.

    Args:
        run: The run.
        wire: The client's end.
    """

    def __init__(self, run: Run, wire: Wire) -> None:
        programme, options = run.programme, run.options
        self._wire = wire
        self._journal = Journal.begin(run.folder, programme.cassette)
        self._recording = Recording(programme.cassette)
        player = programme.player(self._journal.number, self._recording, options)
        self._performance = Performance(player, self._journal, options)
        self._pacer = Pacer(self._performance, self, wire.loop)

    # What the wire calls

    def hear(self, data: bytes) -> None:
        """Take in what the client wrote."""
        self._performance.take(data)
        self.go_on()

    def hear_end(self) -> None:
        """Take in that the client writes no more; deliver what is left to say, and the end."""
        self._pacer.is_ended = True
        self._performance.end(at_once=True)
        self.go_on()

    def go_on(self) -> None:
        """Look at what is due in the next step of the loop."""
        self._pacer.go_on()

    def gone(self) -> None:
        """Take in that the client has no use for the wire any more."""
        self._pacer.stop()
        self._journal.close()
        self._recording.__exit__()

    # What the pacer calls

    @property
    def is_full(self) -> bool:
        """Whether what was delivered should be read first."""
        return self._wire.is_full

    def deliver(self, together: Sequence[Release]) -> None:
        """Have the client read something."""
        self._wire.deliver(b"".join([release.data for release in together]))

    def finish(self) -> None:
        """Have the client read the end."""
        self._wire.finish()


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
