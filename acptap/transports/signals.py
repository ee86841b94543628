"""Signals, heard on a thread of one's own choice."""

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType
from typing import Self

HEEDED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
"""What a client or a terminal sends to a process it started, and would otherwise kill us."""


class Signals:
    """Takes signals instead of dying of them, and hands them out one by one.

    The system may deliver a signal to any thread, while Python runs handlers on the main thread
    alone, which may be waiting for a child and not wake up. So the word goes through a pipe.

    Signals that whoever started us wants ignored (as nohup does) stay ignored.
    """

    def __enter__(self) -> Self:
        """Begin to take them. Must be called on the main thread."""
        self._is_heard = False
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._former_fd = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._former = {
            number: signal.signal(number, _do_nothing)
            for number in HEEDED
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)
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


def _do_nothing(_number: int, _frame: FrameType | None) -> None:
    """Stand in for the default action. The number is in the pipe by now."""
