"""`acptap proxy`: record an agent's command over stdio."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from acptap import storage
from acptap.app.recorder import Recorder
from acptap.errors import CommandError, UsageError
from acptap.redact import Redactor
from acptap.storage import Tape
from acptap.tap import Tap
from acptap.transports import descriptors
from acptap.transports.command import find_program
from acptap.transports.signals import Signals
from acptap.transports.stderr import Stderr
from acptap.transports.stdio import StdioProxy

INCOMPLETE = 74
"""Exit code when the agent ended well and the tape did not (EX_IOERR)."""

SIGNALLED = 128
"""Added to a signal's number to make an exit code, as shells do."""

_FAREWELL = 2.0


@dataclass(frozen=True, slots=True)
class ProxyOptions:
    """What the user asked for.

    Attributes:
        cassette: Where to record; a folder gets a file with the default name; None for the
            default place.
        overwrite: Replace the cassette if it is there.
        redact: Take secrets out of the tape.
        patterns: More secrets, as regular expressions.
        stderr: Record the agent's standard error.
        grace: Seconds the agent may take to leave.
        quiet: Say nothing but what went wrong.
    """

    cassette: Path | None = None
    overwrite: bool = False
    redact: bool = True
    patterns: Sequence[str] = ()
    stderr: bool = True
    grace: float = 5.0
    quiet: bool = False


def proxy_command(command: Sequence[str], options: ProxyOptions) -> int:
    """Run an agent behind a recording proxy on our own stdin and stdout; return our exit code.

    Must be called on the main thread.

    Raises:
        CommandError: The agent can't be started.
        UsageError: The cassette can't be made, or a pattern is no regular expression.
    """
    descriptors.occupy_standard()
    redactor = Redactor(options.patterns) if options.redact else None
    program = find_program(command, os.environ)
    stderr = Stderr()
    with Signals() as signals:
        tape = Tape.create(_place(options), overwrite=options.overwrite)
        place = _identity(tape.path)
        recorder = Recorder(Tap(redactor), tape, stderr.say, stderr=options.stderr)
        proxy = StdioProxy(program, command, recorder, stderr, signals, grace=options.grace)
        _start(proxy, tape)
        recorder.begin(list(command))
        talk = _say_nothing if options.quiet else stderr.say
        talk(f"recording to {tape.path}")
        status = proxy.run()
        if redactor is not None and redactor.replaced:
            talk(f"{redactor.replaced} secrets were replaced in {tape.path}")
        if is_lost := _identity(tape.path) != place:
            stderr.say(f"{tape.path} was moved, replaced or deleted while it was recorded")
        stderr.drain(_FAREWELL)
        tape.close()
    return _exit_code(status, incomplete=recorder.broken or is_lost)


def _start(proxy: StdioProxy, tape: Tape) -> None:
    try:
        proxy.start()
    except CommandError:
        tape.discard()
        raise


def _say_nothing(_: str) -> None:
    """Stand in for talk when the user wants quiet."""


def _place(options: ProxyOptions) -> Path:
    now, pid = datetime.now(UTC), os.getpid()
    if options.cassette is None:
        try:
            return storage.default_path(now, pid, os.environ)
        except (OSError, RuntimeError) as error:  # the latter from a user without a home
            raise UsageError(
                f"there is no place for cassettes ({error})",
                fix="name one with --cassette or ACPTAP_CASSETTES",
            ) from error
    if options.cassette.is_dir():
        return options.cassette / storage.default_name(now, pid)
    return options.cassette


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one at the same place; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _exit_code(status: int, *, incomplete: bool) -> int:
    if status < 0:
        return SIGNALLED - status
    return INCOMPLETE if incomplete and status == 0 else status
