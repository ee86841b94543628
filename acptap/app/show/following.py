"""Reads a cassette that is still being written, by looking at it again and again."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from acptap.cassette import DONE, Entry, Header, decode_entry, decode_header
from acptap.errors import CassetteError, DamagedCassette
from acptap.storage import Recording, is_recording

POLL = 0.1
"""Seconds between two looks at a file that does not grow."""

_HEADER = 1 << 20


def pause() -> None:
    """Wait until the next look."""
    time.sleep(POLL)


def wait_for(path: Path, rest: Callable[[], None] = pause) -> None:
    """Wait until a cassette has a header. Its folder must be there.

    Args:
        path: The cassette.
        rest: Called between two looks.

    Raises:
        CassetteError: It can't become a cassette.
    """
    while not _has_begun(path):
        rest()
    Recording(path).__exit__()


def _has_begun(path: Path) -> bool:
    """Return whether there is something to judge: a header, or what can't become one."""
    if not path.exists():
        return not path.parent.is_dir()
    if not path.is_file():
        return True
    with path.open("rb") as file:
        first = file.readline(_HEADER)
    return first.endswith(b"\n") or first[:1] not in (b"", b"{")


def follow(path: Path, rest: Callable[[], None] = pause) -> Iterator[Entry | None]:
    """Yield the entries of a cassette for ever, and None each time there is nothing new.

    It follows the name: where the recording was written anew, it is read on where the old file was
    left. It ends if another recording takes its place.

    Args:
        path: The cassette, which has a header.
        rest: Called after each None.

    Raises:
        CassetteError: A line is no entry, the file was cut short, or it is no cassette any more.
    """
    number, begun = 1, None
    while True:
        with path.open("rb") as file:
            header = decode_header(file.readline(), str(path))
            if begun not in (None, header.recorded_at):
                return
            begun = header.recorded_at
            for entry in _behind(number, file, path):
                yield entry
                if entry is None:
                    rest()
                else:
                    number = entry.number


def _behind(number: int, file: BinaryIO, path: Path) -> Iterator[Entry | None]:
    """Yield the entries behind a line and None where there are none, until the file is replaced."""
    for _ in range(1, number):
        if not file.readline().endswith(b"\n"):
            raise _cut_short(path)
    offset, pending = file.tell(), b""
    while True:
        piece = file.readline()
        pending += piece
        if piece.endswith(b"\n"):
            number += 1
            yield decode_entry(pending[:-1], number, offset, str(path))
            offset += len(pending)
            pending = b""
        elif _is_replaced(file, path):
            return
        elif os.fstat(file.fileno()).st_size < file.tell():
            raise _cut_short(path)
        else:
            yield None


def _is_replaced(file: BinaryIO, path: Path) -> bool:
    """Return whether another file, with a header, has taken the name of this one."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return not os.path.samestat(there, os.fstat(file.fileno())) and _has_begun(path)


def _cut_short(path: Path) -> DamagedCassette:
    return DamagedCassette(
        "damaged: the file was cut short while it was followed", where=str(path),
        fix="follow it again, if another recording is written there now",
    )  # fmt: skip


class Watch:
    """Tells whether a recording goes on, by the lock that whoever makes it holds on the file.

    Args:
        path: The cassette.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._was_held = False

    def is_over(self, *, exited: bool) -> bool:
        """Return whether nothing more will be written than what is in the file now.

        Nobody need hold the lock of a recording that goes on: the file may be written by another
        machine, or be a copy that grows. Then its own words decide.

        Args:
            exited: Whether an agent's exit is in it. Several agents may be recorded in one file.
        """
        with suppress(OSError, CassetteError):  # another file is about to take its place
            if is_recording(self._path):
                self._was_held = True
                return False
            return exited or self._was_held or _says_end(self._header())
        return False

    def _header(self) -> Header:
        with self._path.open("rb") as file:
            return decode_header(file.readline(), str(self._path))


def _says_end(header: Header) -> bool:
    """Return whether a recording that nobody holds is over, as far as its header tells.

    On stdio its last entry tells. The network has no such entry: there `redaction` does, and
    without it there is nothing but the lock.
    """
    return header.redaction == DONE or (header.transport != "stdio" and not header.redaction)
