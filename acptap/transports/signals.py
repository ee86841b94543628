"""Signals, heard on a thread of one's own choice."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Protocol, Self

HEEDED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
"""What a client or a terminal sends to a process it started, and would otherwise kill us."""

ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
"""Those that ask us to end."""


class Impatient(Exception):
    """Whoever started us does not want to wait."""


class Signals:
    """Takes signals instead of dying of them, and hands them out one by one.

    The system may deliver a signal to any thread, while Python runs handlers on the main thread
    alone, which may be waiting for a child and not wake up. So the word goes through a pipe.

    Signals that whoever started us wants ignored (as nohup does) stay ignored.

    Args:
        for_good: The process ends when they are no longer taken. They are ignored from then on,
            so that the exit code is ours: Python gives them back their default action before that.
    """

    def __init__(self, *, for_good: bool = False) -> None:
        self._for_good = for_good
        self._is_hasty = False  # an impatient user is heard
        self._is_late = False
        self._is_asked = False
        self._remind: Callable[[], None]

    def __enter__(self) -> Self:
        """Begin to take them. Must be called on the main thread."""
        self._is_heard = False
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._former_fd = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._former = {
            number: signal.signal(number, self._take)
            for number in HEEDED
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        is_over = self._for_good and failure is None
        for number, handler in self._former.items():
            signal.signal(number, signal.SIG_IGN if is_over else handler)
        signal.set_wakeup_fd(self._former_fd)
        os.close(self._writer)
        if not self._is_heard:
            os.close(self._reader)

    def __iter__(self) -> Iterator[signal.Signals]:
        """Wait for signals and yield them, until they are no longer taken."""
        self._is_heard = True
        with contextlib.closing(os.fdopen(self._reader, "rb", buffering=0)) as reader:
            while word := reader.read(1):
                if word[0] in self._former:  # others may have handlers of their own
                    yield signal.Signals(word[0])

    @contextlib.contextmanager
    def interruptible(self, patience: float, remind: Callable[[], None]) -> Iterator[None]:
        """Let another signal that asks us to end cut short what takes long, by `Impatient`.

        What does not take long is not cut short: shells and launchers may send a signal twice.

        Args:
            patience: Seconds that are not long.
            remind: Is called after them, unless such a signal has come.
        """
        self._remind = remind
        self._is_late = self._is_asked = False
        former = signal.signal(signal.SIGALRM, self._lose_patience)
        self._is_hasty = True
        signal.setitimer(signal.ITIMER_REAL, patience)
        try:
            yield
        finally:
            self._is_hasty = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, former)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        """Stand in for the default action. The number is in the pipe by now."""
        if number in ENDING:
            self._is_asked = True
            self._cut_short()

    def _lose_patience(self, _number: int, _frame: FrameType | None) -> None:
        self._is_late = True
        if not self._is_asked:
            self._remind()
        self._cut_short()

    def _cut_short(self) -> None:
        if self._is_hasty and self._is_late and self._is_asked:
            self._is_hasty = False  # what cleans up is left in peace
            raise Impatient


class Loop(Protocol):
    """An event loop, as far as it is needed here."""

    def call_soon_threadsafe(self, callback: Callable[[], object], /) -> object:
        """Call something soon, on the loop's thread."""


def call_on_loop(signals: Iterable[signal.Signals], loop: Loop, call: Callable[[], object]) -> None:
    """Have an event loop call something for each signal that asks us to end.

    The loop's own way with signals ends with the loop, and gives them back their default action.
    """

    def heed() -> None:
        for number in signals:
            if number in ENDING:
                with contextlib.suppress(RuntimeError):  # the loop is closed: we are ending
                    loop.call_soon_threadsafe(call)

    threading.Thread(target=heed, name="signals", daemon=True).start()
