"""`acptap exec`: run a command whose agent is a cassette."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Protocol

from acptap.app.play.options import ReplayOptions
from acptap.app.play.programme import Programme
from acptap.app.play.replaying import write_report
from acptap.app.play.run import Run
from acptap.errors import CommandError
from acptap.replay.report import Report
from acptap.transports.command import SIGNALLED
from acptap.transports.stderr import Stderr

PASSED_ON = (signal.SIGTERM, signal.SIGHUP)
"""Signals for us alone; those of the terminal reach the command without our help."""

_OF_THE_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
_SETTLE = 2.0
_FAREWELL = 2.0


class Server(Protocol):
    """Serves the cassette on the network meanwhile."""

    @property
    def environment(self) -> dict[str, str]:
        """What tells the command where."""

    def close(self) -> None:
        """Stop."""


Serve = Callable[[Programme, ReplayOptions, Path], Server]
"""Begins to serve a cassette, as part of the run in a folder."""


def execute(cassette: Path, command: Sequence[str], options: ReplayOptions, serve: Serve) -> int:
    """Run a command; return its exit code, or 1 if it ended well and the report is not fine.

    Must be called on the main thread.

    Args:
        cassette: What is played, as often as agents are started or clients connect.
        command: Program and arguments.
        options: How to play.
        serve: Serves the cassette to clients that connect.

    Raises:
        CassetteError: The cassette can't be played.
        CommandError: The command can't be started.
        UsageError: The report can't be written.
    """
    with tempfile.TemporaryDirectory(prefix="acptap-run-", ignore_cleanup_errors=True) as folder:
        run = Run.begin(Path(folder), cassette, options)
        server = serve(run.programme, options, run.folder)
        try:
            status = _run(command, os.environ | run.environment | server.environment)
        finally:
            server.close()
        report = run.settle(_SETTLE)
        is_fine = run.is_fine(report)
        if not (options.quiet and is_fine):
            _say(run.lines(report), cassette)
    _write(report, options)
    if status < 0:
        return SIGNALLED - status
    return status or (0 if is_fine else 1)


def _say(lines: Sequence[str], cassette: Path) -> None:
    stderr = Stderr()
    for line in lines:
        stderr.say(f"{cassette}: {line}")
    stderr.drain(_FAREWELL)


def _write(report: Report, options: ReplayOptions) -> None:
    if options.report is not None:
        write_report(report, options.report)


def _run(command: Sequence[str], environment: dict[str, str]) -> int:
    """Run a command on our own standard streams; return its exit code, -n for a signal."""
    try:
        process = subprocess.Popen(command, env=environment)  # noqa: S603 the user's own command
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise CommandError(
            f"the command can't be started ({error.strerror})", where=repr(command[0]),
            fix="check the name and PATH, or give the program's full path",
            exit_code=127 if missing else 126,
        ) from error  # fmt: skip
    with _passing_on(process.send_signal):
        return process.wait()


@contextmanager
def _passing_on(send: Callable[[int], None]) -> Iterator[None]:
    """Live through signals, and pass on those that were meant for us alone.

    Signals that whoever started us wants ignored stay ignored.
    """

    def pass_on(number: int, _: FrameType | None) -> None:
        if number in PASSED_ON:
            send(number)

    heeded = [*PASSED_ON, *_OF_THE_TERMINAL]
    former = {
        number: signal.signal(number, pass_on)
        for number in heeded
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
