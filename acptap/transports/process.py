"""An agent's process and the group it lives in."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from acptap.errors import CommandError
from acptap.transports.command import NOT_EXECUTABLE, NOT_FOUND

KILL_AFTER = 2.0
"""Seconds between the polite signal and the one that can't be ignored."""

_POLL = 0.01
_PROCESSES = Path("/proc")
_COERCED = (b"C.UTF-8", b"C.utf8", b"UTF-8")


def given_environment(block: Path = _PROCESSES / "self" / "environ") -> dict[bytes, bytes]:
    """Return the environment as our own client gave it to us.

    In the C locale Python puts LC_CTYPE into its own environment (PEP 538), where an agent would
    find it.

    Args:
        block: A file with the variables this process was started with, where the system has one.
    """
    environ = dict(os.environb)
    with contextlib.suppress(OSError):
        given = {
            name for name, *_ in (item.split(b"=") for item in block.read_bytes().split(b"\0"))
        }
        if b"LC_CTYPE" not in given and environ.get(b"LC_CTYPE") in _COERCED:
            del environ[b"LC_CTYPE"]
    return environ


class Agent:
    """A running agent, in a process group of its own.

    The group keeps a terminal's Ctrl-C from reaching the agent twice, and lets everything that a
    launcher (npx, uvx, a shell) started be ended with it. The agent keeps the session and so its
    terminal, and inherits whatever descriptors the client gave.

    Attributes:
        stdin: Descriptor the agent reads from; non-blocking on our end alone.
        stdout: Descriptor the agent writes to.
        stderr: Descriptor the agent complains to.
    """

    def __init__(
        self, program: str, command: Sequence[str], environ: Mapping[bytes, bytes]
    ) -> None:
        """Start the command.

        Args:
            program: The path of its program.
            command: What the program is told it was called as, and its arguments.
            environ: Its environment.

        Raises:
            CommandError: The system refuses to.
        """
        self._process = process = _spawn(program, command, environ)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.stdin = process.stdin.fileno()
        self.stdout = process.stdout.fileno()
        self.stderr = process.stderr.fileno()
        os.set_blocking(self.stdin, False)
        self._group_ended = False

    def wait(self) -> int:
        """Wait for the process itself, whoever holds its pipes; return its code, or -signal."""
        return self._process.wait()

    def close_stdin(self) -> None:
        """Tell the agent that nothing more will come."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def close_stdout(self) -> None:
        """Tell the agent that nobody listens any more."""
        assert self._process.stdout is not None
        self._process.stdout.close()

    def close(self) -> None:
        """Close what is still open of its pipes. Nobody must be using them any more."""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()

    def send(self, number: int) -> None:
        """Send a signal to the whole group, if there is still one."""
        if self._group_ended:  # its number may be somebody else's by now
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the latter on macOS
            os.killpg(self._process.pid, number)

    def terminate(self) -> None:
        """Ask the whole group to end, also those in it that are stopped."""
        self.send(signal.SIGTERM)
        self.send(signal.SIGCONT)

    def end_group(self) -> None:
        """End whatever is left of the group: politely, and after `KILL_AFTER` seconds surely."""
        if group_lives(self._process.pid):
            self.terminate()
            deadline = time.monotonic() + KILL_AFTER
            while group_lives(self._process.pid) and time.monotonic() < deadline:
                time.sleep(_POLL)
            self.send(signal.SIGKILL)
        self._group_ended = True


def _spawn(
    program: str, command: Sequence[str], environ: Mapping[bytes, bytes]
) -> subprocess.Popen[bytes]:
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        # inherited from a client that has no use for exit codes; we should never see one
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        return subprocess.Popen(  # noqa: S603 running the user's command is the job
            command,
            executable=program,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            close_fds=False,
            process_group=0,
        )
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise CommandError(
            f"the agent can't be started ({error.strerror})",
            where=program,
            fix="check the program and, if it is a script, its first line",
            exit_code=NOT_FOUND if missing else NOT_EXECUTABLE,
        ) from error


def group_lives(group: int, processes: Path = _PROCESSES) -> bool:
    """Return whether a process group has a member that still runs.

    Dead members whose parent (in many containers, process 1) does not bury them take signals like
    living ones; only the process table tells, where the system shows it as files.
    """
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    states = list(_states(group, processes))
    return not states or any(state != "Z" for state in states)


def _states(group: int, processes: Path) -> Iterator[str]:
    """Yield the state of each member of a process group, as far as it can be seen."""
    for file in processes.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it is gone
            # the name stands in brackets and may hold anything
            state, _, owner, *_ = file.read_text("latin-1").rpartition(")")[2].split()
            if int(owner) == group:
                yield state
