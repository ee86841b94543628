"""One TCP connection of the two that make up a relayed one: its ends, and how full it is.

What an event loop does to a connection that somebody else relays through it is put right here:

- the end of what a peer sends may be announced twice,
- ending what we send fails if the peer has reset the connection meanwhile,
- a failed write throws away what the peer said before it left,
- a reset overtakes data, both in the transport's buffer and in the kernel's.
"""

import asyncio
import fcntl
import os
import socket
import struct
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import cast

from acptap.transports.spectator import Ending

PATIENCE = 2.0
"""Seconds for what came before a reset to be delivered."""

_LOOK = 0.002
_READ = 256 * 1024
_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: whatever is unsent goes, and the peer gets a reset


class Leg(asyncio.Protocol):
    """A connection to one peer.

    Args:
        made: Is called when there is a connection.
        heard: Is told what the peer sends.
        ended: Is told how that came to its end; a reset may follow an end in order.
        gone: Is called when nothing passes any more, either way.

    Attributes:
        other: The leg that what is heard here goes to, and that waits while this one is full.
        is_full: Whether the peer reads slower than we write.
    """

    other: "Leg"

    def __init__(
        self,
        made: Callable[[], None],
        heard: Callable[[bytes], None],
        ended: Callable[[Ending], None],
        gone: Callable[[], None],
    ) -> None:
        self.is_full = False
        self._made, self._heard, self._ended, self._gone = made, heard, ended, gone
        self._transport: asyncio.Transport | None = None
        self._is_ended = False  # the peer sends no more
        self._is_finished = False  # we send no more
        self._is_resetting = False
        self._deadline = 0.0

    @property
    def is_open(self) -> bool:
        """Whether there is a connection."""
        return self._transport is not None

    @property
    def is_ended(self) -> bool:
        """Whether the peer sends no more."""
        return self._is_ended

    # What we do

    def write(self, data: bytes) -> None:
        """Send something, unless nothing can be sent any more."""
        transport = self._transport
        if transport is None or self._is_finished or transport.is_closing():
            return
        transport.write(data)

    def finish(self) -> None:
        """Send no more; what was written still arrives."""
        if self._transport is None or self._is_finished or self._is_resetting:
            return
        self._is_finished = True
        with suppress(OSError):  # the peer has reset it, which is heard by reading
            self._transport.write_eof()
        self._close_if_over()

    def reset(self) -> None:
        """Send a reset when the peer has what was written, or has had time to take it."""
        if self._transport is None or self._is_resetting:
            return
        self._is_resetting = True
        self._transport.pause_reading()
        self._deadline = asyncio.get_running_loop().time() + PATIENCE
        self._reset_when_delivered()

    def abort(self) -> None:
        """Send a reset at once, and be done."""
        if self._transport is not None:
            self._is_resetting = True
            reset_at_once(self._transport)

    def hold(self) -> None:
        """Read no more until told to go on."""
        if self._transport is not None and not self._is_ended:
            self._transport.pause_reading()

    def go_on(self) -> None:
        """Read again."""
        # Behind the end there is nothing, and the loop would announce the end once more.
        if self._transport is not None and not self._is_ended and not self._is_resetting:
            self._transport.resume_reading()

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take in that there is a connection."""
        self._transport = cast("asyncio.Transport", transport)
        self._made()

    def data_received(self, data: bytes) -> None:
        """Take in what the peer sent."""
        self._heard(data)

    def eof_received(self) -> bool:
        """Take in that the peer sends no more."""
        self._end(Ending.FIN)
        return True  # we may still send

    def cut_received(self) -> None:
        """Take in that the peer ended its connection and not what it was saying."""
        self._end(Ending.CUT)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take in that there is no connection any more, and whether a reset was why."""
        assert self._transport is not None
        if exc is not None and not self._is_resetting:
            for data in left_behind(self._transport):
                self._heard(data)
            self._is_ended = True
            self._ended(Ending.RESET)
        self._transport = None
        self._gone()

    def pause_writing(self) -> None:
        """Have the other peer wait until this one has read more."""
        self.is_full = True
        self.other.hold()

    def resume_writing(self) -> None:
        """Have the other peer go on."""
        self.is_full = False
        self.other.go_on()

    # Inside

    def _end(self, how: Ending) -> None:
        if not self._is_ended:
            self._is_ended = True
            self._ended(how)
            self._close_if_over()

    def _close_if_over(self) -> None:
        if self._is_ended and self._is_finished and self._transport is not None:
            self._transport.close()

    def _reset_when_delivered(self) -> None:
        if self._transport is None:
            return
        loop = asyncio.get_running_loop()
        if unsent(self._transport) and loop.time() < self._deadline:
            loop.call_later(_LOOK, self._reset_when_delivered)
        else:
            self.abort()


def reset_at_once(transport: asyncio.Transport) -> None:
    """Send a reset; what the peer does not have yet is lost."""
    sock = transport.get_extra_info("socket")
    with suppress(OSError):  # macOS, of a connection that the peer has reset
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    transport.abort()


async def reset(transport: asyncio.Transport) -> None:
    """Send a reset when the peer has what was written, or has had time to take it."""
    for _ in range(int(PATIENCE / _LOOK)):
        if transport.is_closing() or not unsent(transport):
            break
        await asyncio.sleep(_LOOK)
    reset_at_once(transport)


def left_behind(transport: asyncio.BaseTransport) -> Iterator[bytes]:
    """Yield what a peer had sent before its connection broke, and nobody has read."""
    fd = transport.get_extra_info("socket").fileno()
    with suppress(OSError):
        while data := os.read(fd, _READ):
            yield data


def unsent(transport: asyncio.Transport) -> int:
    """Return how many bytes the peer's kernel does not have yet, and may get."""
    sock = transport.get_extra_info("socket")
    if sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):  # nothing arrives any more
        return 0
    waiting = bytearray(4)
    with suppress(OSError):  # a system that can't tell
        fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, waiting)
    return transport.get_write_buffer_size() + int.from_bytes(waiting, sys.byteorder)
