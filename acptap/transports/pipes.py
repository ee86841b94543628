"""The event loop's ends of pipes whose other ends belong to threads that block.

asyncio's own pipe transports have to be awaited before they can be written to, and an agent is
spoken to at once.
"""

import asyncio
import os
from collections.abc import Callable

from acptap.transports.descriptors import READ

ROOM = 256 * 1024
"""Bytes that may wait to be written before whoever writes has to wait."""


class Source:
    """The end to read from. Must be made and used on a running event loop.

    Args:
        fd: The descriptor. It is closed with the source.
    """

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._is_ended = False
        self._woken = asyncio.Event()

    async def read(self) -> bytes:
        """Return what is there, waiting for something; empty at the end."""
        while True:
            try:
                return os.read(self._fd, READ)
            except BlockingIOError:
                if self._is_ended:
                    return b""
            loop = asyncio.get_running_loop()
            await _await_ready(self._fd, self._woken, loop.add_reader, loop.remove_reader)

    def end(self) -> None:
        """Take what is there now for all there is, though the other end may be open still."""
        self._is_ended = True
        self._woken.set()

    def close(self) -> None:
        """Read no more."""
        os.close(self._fd)


class Sink:
    """The end to write to. Must be made and used on a running event loop.

    Args:
        fd: The descriptor. It is closed when `run` ends.
    """

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._waiting: asyncio.Queue[bytes] = asyncio.Queue()
        self._size = 0
        self._is_over = False
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._woken = asyncio.Event()

    def write(self, data: bytes) -> None:
        """Have something written, unless nobody reads it any more."""
        if not self._is_over:
            self._waiting.put_nowait(data)
            self._size += len(data)
            if self._size > ROOM:
                self._has_room.clear()

    async def drain(self) -> None:
        """Wait while much is waiting."""
        await self._has_room.wait()

    def end(self) -> None:
        """Close the pipe when all is written."""
        self._waiting.put_nowait(b"")

    async def run(self) -> None:
        """Write what there is to write, until the end or until nobody reads any more."""
        try:
            while (data := await self._waiting.get()) and await self._write(data):
                self._size -= len(data)
                if self._size <= ROOM:
                    self._has_room.set()
        finally:
            self._is_over = True
            self._has_room.set()
            os.close(self._fd)

    async def _write(self, data: bytes) -> bool:
        loop = asyncio.get_running_loop()
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._fd, rest) :]
            except BlockingIOError:
                await _await_ready(self._fd, self._woken, loop.add_writer, loop.remove_writer)
            except OSError:
                return False
        return True


async def _await_ready(
    fd: int,
    woken: asyncio.Event,
    watch: Callable[[int, Callable[[], None]], object],
    unwatch: Callable[[int], object],
) -> None:
    woken.clear()
    watch(fd, woken.set)
    try:
        await woken.wait()
    finally:
        unwatch(fd)
