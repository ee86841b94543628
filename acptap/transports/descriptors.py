"""Read and write file descriptors of any kind, inherited ones included, without changing them.

Standard input and output may be pipes, sockets, files or terminals, and may be non-blocking (the
flag belongs to the open file, so it may be another process that set it, and must not be changed).
"""

import os
import select
from collections.abc import Callable

READ = 64 * 1024
"""Bytes asked for in one read: a pipe holds no more."""

_HALF_CLOSED = getattr(select, "POLLRDHUP", 0)
"""What Linux says of a socket whose peer only reads any more."""


def occupy_standard() -> None:
    """Take the numbers of standard descriptors that came closed, before a file we open gets them.

    Reading from such a one ends at once and writing to it fails, as it does with a closed one.
    """
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # gets the lowest free number, which is `fd`


def read(fd: int, size: int = READ) -> bytes:
    """Return what is there, at most `size` bytes, waiting for something.

    Empty at the end of the stream, and when it can't be read any more: a reset connection or a
    hung-up terminal is an end too.
    """
    while True:
        try:
            return os.read(fd, size)
        except BlockingIOError:
            _wait(fd, select.POLLIN)
        except OSError:
            return b""


def write_all(
    fd: int,
    data: bytes,
    *,
    stuck_after: float | None = None,
    when_stuck: Callable[[], None] | None = None,
) -> bool:
    """Write all of `data`, waiting as long as the reader needs.

    Args:
        fd: The descriptor.
        data: What to write.
        stuck_after: Seconds; only heeded if the descriptor is non-blocking.
        when_stuck: Called each time the reader has taken nothing for so long.

    Returns:
        False if it can't be delivered: the reader is gone, or the disk behind a redirection full.
    """
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            if not _wait(fd, select.POLLOUT, stuck_after) and when_stuck is not None:
                when_stuck()
        except OSError:
            return False
    return True


def has_data(fd: int) -> bool:
    """Return whether a read would bring something now."""
    return bool(_state(fd, select.POLLIN) & select.POLLIN)


def is_hung_up(fd: int) -> bool:
    """Return whether the process on the other end is gone, though its last bytes may wait here.

    Always false for files.
    """
    return bool(_state(fd, _HALF_CLOSED))


def release(fd: int) -> None:
    """Close an inherited descriptor for its peer and keep its number taken.

    The peer sees the end of the stream, or a broken pipe, at once. A file opened later must not
    get a standard descriptor's number.
    """
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, fd)
    os.close(null)


def _wait(fd: int, event: int, seconds: float | None = None) -> bool:
    """Wait for an event on a descriptor, at most some seconds; return whether it came."""
    poller = select.poll()
    poller.register(fd, event)
    return bool(poller.poll(None if seconds is None else seconds * 1000))


def _state(fd: int, events: int) -> int:
    """Return which of some events are there now; hanging up and errors always count."""
    poller = select.poll()
    poller.register(fd, events)
    return dict(poller.poll(0)).get(fd, 0)
