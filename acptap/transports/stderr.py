"""Standard error, without ever waiting for whoever reads it.

A client that starts an agent and never reads its standard error would stop the agent once the pipe
is full. Here a thread of its own does the writing; what piles up beyond a bound is dropped, and
said so.
"""

import threading
import time
from collections import deque

from acptap.transports import descriptors

BACKLOG = 64 * 1024 * 1024
"""Bytes kept for a reader that does not read."""


class Stderr:
    """Write to a descriptor from the background.

    Args:
        fd: The descriptor.
        backlog: Bytes kept waiting before more is dropped.
    """

    def __init__(self, fd: int = 2, backlog: int = BACKLOG) -> None:
        self._fd = fd
        self._backlog = backlog
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._dropped = 0
        self._changed = threading.Condition()
        threading.Thread(target=self._write, name="standard error", daemon=True).start()

    def put(self, data: bytes) -> None:
        """Have `data` written as soon as the reader takes it."""
        with self._changed:
            if self._size + len(data) > self._backlog:
                self._dropped += len(data)
            else:
                self._append(data)

    def say(self, sentence: str) -> None:
        """Say something to the human on the other end, however much is waiting."""
        with self._changed:
            self._append(_line(sentence))

    def drain(self, seconds: float) -> None:
        """Wait until all is written, at most some seconds."""
        deadline = time.monotonic() + seconds
        with self._changed:
            self._append(b"")
            while self._size and time.monotonic() < deadline:
                self._changed.wait(deadline - time.monotonic())

    def _append(self, data: bytes) -> None:
        if self._dropped:
            data = _line(f"{self._dropped} bytes of standard error were left out here") + data
            self._dropped = 0
        self._waiting.append(data)
        self._size += len(data)
        self._changed.notify_all()

    def _write(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                data = self._waiting.popleft()
            descriptors.write_all(self._fd, data)  # if it can't be, nobody can be told
            with self._changed:
                self._size -= len(data)
                self._changed.notify_all()


def _line(sentence: str) -> bytes:
    return f"acptap: {sentence}\n".encode("utf-8", "backslashreplace")
