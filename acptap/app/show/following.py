"""Reads a cassette that is still being written, by looking at it again and again."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from acptap.cassette import Entry, decode_entry
from acptap.errors import DamagedCassette
from acptap.storage import Recording

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

    Args:
        path: The cassette, which has a header.
        rest: Called after each None.

    Raises:
        DamagedCassette: A line is no entry, or the file was cut short.
    """
    number, pending = 1, b""
    with path.open("rb") as file:
        offset = len(file.readline())
        while True:
            piece = file.readline()
            pending += piece
            if not piece.endswith(b"\n"):
                _check_length(file, path)
                yield None
                rest()
                continue
            number += 1
            yield decode_entry(pending[:-1], number, offset, str(path))
            offset += len(pending)
            pending = b""


def _check_length(file: BinaryIO, path: Path) -> None:
    if os.fstat(file.fileno()).st_size < file.tell():
        raise DamagedCassette(
            "damaged: the file was cut short while it was followed", where=str(path),
            fix="follow it again, if another recording is written there now",
        )  # fmt: skip
