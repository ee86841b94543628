"""One recording, from where it goes to how it is closed, whatever it is a recording of.

Recording that fails is silent from then on; traffic never is.
"""

import os
import shlex
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from acptap import __version__, storage
from acptap.app.record.redacting import count
from acptap.app.record.revision import WatchedTape, finish
from acptap.cassette import Header
from acptap.errors import UsageError
from acptap.redact import Redactor
from acptap.tap import Tap
from acptap.tap.clock import Clock
from acptap.transports.signals import Impatient, Signals

Talk = Callable[[str], None]
"""Says a sentence to the human."""

INCOMPLETE = 74
"""Exit code when all went well but for the tape (EX_IOERR)."""

_LONG = 1.0
"""Seconds of finishing after which it is said what goes on, and may be cut short."""


@dataclass(frozen=True, slots=True)
class TakeOptions:
    """What the user asked for.

    Attributes:
        cassette: Where to record; a folder gets a file with the default name, and is made if the
            path ends with a slash; None for the default place.
        overwrite: Replace the cassette if it is there.
        redact: Take secrets out of the tape.
        patterns: More secrets, as regular expressions.
        quiet: Say nothing but what went wrong.
    """

    cassette: str | Path | None = None
    overwrite: bool = False
    redact: bool = True
    patterns: Sequence[str] = ()
    quiet: bool = False


class Take:
    """A tape, its clock, and the order of what is written on it. Any thread may record.

    Args:
        options: What the user asked for.
        say: Told what goes wrong; and the rest too, unless the user wants quiet.

    Raises:
        UsageError: The cassette can't be made, or a pattern is no regular expression.

    Attributes:
        redactor: Takes secrets out; None if they are to stay.
        clock: For taps, of which there may be several.
        talk: Says what the user need not hear who wants quiet.
        lock: Held while something is recorded; whoever records several things in a row takes it.
        broken: Whether recording failed and the tape is incomplete.
    """

    def __init__(self, options: TakeOptions, say: Talk) -> None:
        self.broken = False
        self.clock = Clock()
        self.redactor = Redactor(options.patterns) if options.redact else None
        self.talk = _say_nothing if options.quiet else say
        self._say = say
        self._tape = WatchedTape.create(_place(options), overwrite=options.overwrite)
        self._tape.watch(self.redactor)
        self._identity = _identity(self._tape.path)
        self.lock = threading.RLock()
        self._zero = time.monotonic_ns()

    @property
    def path(self) -> Path:
        """The cassette."""
        return self._tape.path

    def discard(self) -> None:
        """Remove the cassette: there is nothing to record."""
        self._tape.discard()

    def begin(self, *, protocol: str, transport: str, upstream: list[str] | str) -> None:
        """Start the clock, write the header and say where it is."""
        now = datetime.now(UTC)
        self._zero = time.monotonic_ns()
        header = Header(
            protocol=protocol,
            transport=transport,
            recorded_at=f"{now:%Y-%m-%dT%H:%M:%S.%fZ}",
            upstream=upstream,
            generator=f"acptap {__version__}",
        )
        self.record(lambda _: Tap(self.redactor).begin(header))
        if not self.broken:  # else that has been said
            self.talk(f"recording to {self.path}")

    def record(self, lines_at: Callable[[int], bytes]) -> None:
        """Have something turned into lines, at its time, and write them.

        Args:
            lines_at: Takes microseconds since the header's instant.
        """
        with self.lock:
            if self.broken:
                return
            try:
                if lines := lines_at((time.monotonic_ns() - self._zero) // 1000):
                    self._tape.write(lines)
            except Exception as error:  # whatever it is, the traffic must not notice
                self.broken = True
                self._say(
                    f"recording stopped: {_words(error)}; the traffic goes on, and "
                    f"{self.path} ends here"
                )

    def close(self, signals: Signals | None = None) -> bool:
        """Finish the tape; return whether it is what it should be.

        Args:
            signals: Those sent to us, on whose main thread we are. One that asks us to end cuts
                short what takes long.
        """
        if is_lost := self._is_lost():
            self._say(f"{self.path} was changed, moved or deleted while it was recorded")
        elif self.redactor is not None and not self.broken:
            self._finish(self.redactor, signals)
        if self.redactor is not None and self.redactor.replaced:
            self.talk(f"{count(self.redactor)} in {self.path}")
        self._tape.close()
        return not (self.broken or is_lost)

    def _is_lost(self) -> bool:
        """Return whether somebody else had a hand in the tape: it is not where and what it was."""
        is_same = _identity(self.path) == self._identity
        return not is_same or self.path.stat().st_size < self._tape.size

    def _finish(self, redactor: Redactor, signals: Signals | None) -> None:
        """Take out of the tape what could not be seen while it was recorded."""
        try:
            with signals.interruptible(_LONG, self._remind) if signals else nullcontext():
                finish(self.path, redactor, self._tape.learnt_at)
        except Exception as error:  # whatever it is, the agent's code is ours
            why = "" if isinstance(error, Impatient) else f" ({error})"
            self._say(
                f"secrets that came in pieces may still be in {self.path}{why}; "
                f"finish it with: acptap redact {shlex.quote(str(self.path))}"
            )

    def _remind(self) -> None:
        self.talk(
            "looking for secrets that came in pieces; another Ctrl-C leaves that to `acptap redact`"
        )


def _say_nothing(_: str) -> None:
    """Stand in for talk when the user wants quiet."""


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {error} (this is a bug in acptap, please report it)"


def _place(options: TakeOptions) -> Path:
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


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one at the same place; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
