"""An asyncio reader and writer whose peer is in the same process: no pipe, no socket.

They behave like those of a subprocess: closing the writer ends what the peer hears, the reader goes
on until the peer has said all.
"""

import asyncio
from typing import Protocol

LIMIT = 64 * 1024 * 1024
"""Bytes of the longest line that `readline` takes; twice as much may wait to be read."""


class Peer(Protocol):
    """What is on the other end of a wire."""

    def hear(self, data: bytes) -> None:
        """Take in what the client wrote."""

    def hear_end(self) -> None:
        """Take in that the client writes no more."""

    def go_on(self) -> None:
        """Take in that the client reads again, after `Wire.is_full` was true."""

    def gone(self) -> None:
        """Take in that the client has no use for the wire any more."""


class Wire(asyncio.Transport):
    """The transport under the client's reader and writer. Needs a running loop.

    Attributes:
        peer: The other end. It must be set before anything is written.
        reader: Where the client reads.
        writer: Where the client writes.
        is_full: Whether what was delivered should be read first.
    """

    peer: Peer

    def __init__(self, limit: int = LIMIT) -> None:
        super().__init__()
        loop = asyncio.get_running_loop()
        self.is_full = False
        self.loop = loop
        self.reader = asyncio.StreamReader(limit, loop)
        self._protocol = asyncio.StreamReaderProtocol(self.reader, loop=loop)
        self._protocol.connection_made(self)
        self.writer = asyncio.StreamWriter(self, self._protocol, self.reader, loop)
        self._is_ended = False  # the client writes no more
        self._is_closed = False  # nor need it read
        self._is_lost = False  # nothing passes any more

    def deliver(self, data: bytes) -> None:
        """Have the client read something."""
        self.reader.feed_data(data)

    def finish(self) -> None:
        """Have the client read the end; what it still writes is refused."""
        if self._is_lost:
            return
        self._is_ended = self._is_lost = True
        if not self.loop.is_closed():
            self._protocol.connection_lost(None)
        self.peer.gone()

    # What the client's reader and writer call

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Pass on what the client writes."""
        if not self._is_ended:
            self.peer.hear(bytes(data))

    def can_write_eof(self) -> bool:
        """The client may end what it writes and go on reading."""
        return True

    def write_eof(self) -> None:
        """Pass on that the client writes no more."""
        if not self._is_ended:
            self._is_ended = True
            self.peer.hear_end()

    def close(self) -> None:
        """Pass on that the client writes no more."""
        self._is_closed = True  # it may not read any more, and waits for the end all the same
        self.is_full = False
        self.write_eof()

    def abort(self) -> None:
        """End at once, both ways."""
        self.finish()

    def is_closing(self) -> bool:
        """Return whether the client has ended what it writes."""
        return self._is_ended

    def pause_reading(self) -> None:
        """Let the peer wait."""
        self.is_full = not self._is_closed

    def resume_reading(self) -> None:
        """Let the peer go on."""
        self.is_full = False
        if not self._is_lost:
            self.peer.go_on()
