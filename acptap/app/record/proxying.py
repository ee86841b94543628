"""`acptap proxy`: record an agent's command over stdio."""

import os
import shlex
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from acptap import storage
from acptap.app.record.recorder import Recorder
from acptap.app.record.redacting import count
from acptap.app.record.revision import WatchedTape, finish
from acptap.errors import CommandError, UsageError
from acptap.redact import Redactor
from acptap.storage import Tape
from acptap.tap import Tap
from acptap.transports import descriptors
from acptap.transports.command import SIGNALLED, find_program
from acptap.transports.signals import Signals
from acptap.transports.stderr import Stderr
from acptap.transports.stdio import StdioProxy

INCOMPLETE = 74
"""Exit code when the agent ended well and the tape did not (EX_IOERR)."""

_FAREWELL = 2.0

_IMPATIENCE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Interrupted(Exception):
    """Whoever started us does not want to wait."""


@dataclass(frozen=True, slots=True)
class ProxyOptions:
    """What the user asked for.

    Attributes:
        cassette: Where to record; a folder gets a file with the default name, and is made if the
            path ends with a slash; None for the default place.
        overwrite: Replace the cassette if it is there.
        redact: Take secrets out of the tape.
        patterns: More secrets, as regular expressions.
        stderr: Record the agent's standard error.
        grace: Seconds the agent may take to leave.
        quiet: Say nothing but what went wrong.
    """

    cassette: str | Path | None = None
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
        tape = WatchedTape.create(_place(options), overwrite=options.overwrite)
        tape.watch(redactor)
        place = _identity(tape.path)
        recorder = Recorder(Tap(redactor), tape, stderr.say, stderr=options.stderr)
        proxy = StdioProxy(program, command, recorder, stderr, signals, grace=options.grace)
        _start(proxy, tape)
        recorder.begin(list(command))
        talk = _say_nothing if options.quiet else stderr.say
        talk(f"recording to {tape.path}")
        status = proxy.run()
        if is_lost := _is_lost(tape, place):
            stderr.say(f"{tape.path} was changed, moved or deleted while it was recorded")
        elif redactor is not None and not recorder.broken:
            _finish(tape, redactor, stderr.say)
        if redactor is not None and redactor.replaced:
            talk(f"{count(redactor)} in {tape.path}")
        stderr.drain(_FAREWELL)
        tape.close()
    return _exit_code(status, incomplete=recorder.broken or is_lost)


def _start(proxy: StdioProxy, tape: Tape) -> None:
    try:
        proxy.start()
    except CommandError:
        tape.discard()
        raise


def _finish(tape: WatchedTape, redactor: Redactor, say: Callable[[str], None]) -> None:
    """Take out of the tape what could not be seen while it was recorded."""
    try:
        with _interruptible():
            finish(tape.path, redactor, tape.learnt_at)
    except Exception as error:  # whatever it is, the agent's code is ours
        why = "" if isinstance(error, _Interrupted) else f" ({error})"
        say(
            f"secrets that came in pieces may still be in {tape.path}{why}; "
            f"finish it with: acptap redact {shlex.quote(str(tape.path))}"
        )


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise `_Interrupted` on a signal that asks us to end, unless it is to be ignored."""
    former = {number: signal.getsignal(number) for number in _IMPATIENCE}
    for number, handler in former.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise _Interrupted


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
    named = os.fspath(options.cassette)
    if not named:
        raise UsageError(
            "the cassette's name is empty", where="--cassette", fix="name a file or a folder"
        )
    try:
        if named.endswith(os.sep):
            Path(named).mkdir(mode=0o700, exist_ok=True)
        is_folder = Path(named).is_dir()
    except OSError as error:
        raise UsageError(
            f"the cassette can't be made there ({error.strerror})", where=named,
            fix="name another place with --cassette",
        ) from error  # fmt: skip
    return Path(named, storage.default_name(now, pid)) if is_folder else Path(named)


def _is_lost(tape: Tape, place: tuple[int, int] | None) -> bool:
    """Return whether somebody else had a hand in a tape: it is not where and what it was."""
    return _identity(tape.path) != place or tape.path.stat().st_size < tape.size


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
