"""Cassettes on disk: where they go, how they are appended, how they are read back."""

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Self

from acptap.cassette import Entry, decode_entry, decode_header, fetch_unit, migrate
from acptap.errors import CassetteMissing, DamagedCassette, NotACassette, NothingToPlay, UsageError
from acptap.wire import jsontext

MODE = 0o600
"""Conversations are private."""

_BLOCK = 1024 * 1024


def default_path(now: datetime, pid: int, environ: Mapping[str, str]) -> Path:
    """Return where a recording goes when nobody named a file.

    That is `./cassettes` if there is such a folder, else the user's state folder (XDG);
    `ACPTAP_CASSETTES` overrides both. The state folder is made if it is missing.

    Raises:
        OSError: The state folder can't be made.
        RuntimeError: The user has no home.
    """
    named = environ.get("ACPTAP_CASSETTES")
    here = Path("cassettes")
    if named:
        folder = Path(named)
    elif here.is_dir():
        folder = here
    else:
        state = environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        folder = Path(state) / "acptap"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / default_name(now, pid)


def default_name(now: datetime, pid: int) -> str:
    """Return a file name that sorts by time and is unique among processes."""
    return f"{now:%Y%m%dT%H%M%SZ}-{pid}.jsonl"


class Tape:
    """A cassette being recorded: appended to, one write for each read of the wire.

    Attributes:
        path: The file. It may have another name than was asked for; nothing is overwritten.
        size: How many bytes were written.
    """

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self.size = 0
        self._fd = fd
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @classmethod
    def create(cls, path: Path, *, overwrite: bool = False) -> Self:
        """Make the file.

        Args:
            path: Where. If a file is there already, `name-2.jsonl` and so on are tried.
            overwrite: Replace a file that is there, in one step, once the new one is made.

        Raises:
            UsageError: The file can't be made there.
        """
        try:
            if path.is_dir():
                raise UsageError(
                    "this is a folder", where=str(path), fix="name a file in it with --cassette"
                )
            if overwrite and path.exists() and not path.is_file():
                raise UsageError(
                    "this is no ordinary file, and would be gone", where=str(path),
                    fix="name another place with --cassette, or leave out --overwrite",
                )  # fmt: skip
            return cls(path, _replace(path)) if overwrite else cls(*_first_free(path))
        except FileNotFoundError as error:
            if path.parent.is_dir():
                raise UsageError(
                    "no file can be made there", where=str(path),
                    fix="name another place with --cassette",
                ) from error  # fmt: skip
            raise UsageError(
                "the folder does not exist", where=str(path.parent),
                fix="make it, or name another place with --cassette",
            ) from None  # fmt: skip
        except OSError as error:
            raise UsageError(
                f"the cassette can't be written ({error.strerror})", where=str(path),
                fix="name another place with --cassette",
            ) from error  # fmt: skip

    def write(self, lines: bytes) -> None:
        """Append whole lines. What is written survives a kill of this process.

        Raises:
            OSError: The disk is full, or gone. Part of the lines may be written.
        """
        rest = memoryview(lines)
        while rest:
            rest = rest[os.write(self._fd, rest) :]
        self.size += len(lines)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def discard(self) -> None:
        """Close the file and remove it: nothing was recorded."""
        self.close()
        self.path.unlink(missing_ok=True)


def is_recording(path: Path) -> bool:
    """Return whether a proxy holds the file and goes on writing to it."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # a file system without locks
            pass
    return False


def overwrite(path: Path, place: int, new: bytes) -> None:
    """Write over some bytes of a file. Whoever follows it keeps following the same file.

    Raises:
        OSError: It can't be written.
    """
    fd = os.open(path, os.O_WRONLY)  # what a tape is appended to by can't be placed
    try:
        os.pwrite(fd, new, place)
    finally:
        os.close(fd)


def write_new(path: Path, lines: Iterable[bytes]) -> None:
    """Write a new file.

    Raises:
        FileExistsError: There is one.
        OSError: It can't be written.
    """
    with _opened(path, MODE) as fd:
        _write_all(fd, lines)


def write_again(path: Path, lines: Iterable[bytes]) -> None:
    """Replace a file in one step, once the new one is complete; its permissions stay.

    Args:
        path: The file. A symbolic link stays one.
        lines: Its new content; the old one may be read meanwhile.

    Raises:
        OSError: It can't be written.
    """
    path = path.resolve()
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    with _opened(fresh, stat.S_IMODE(path.stat().st_mode)) as fd:
        _write_all(fd, lines)
        os.fsync(fd)
        fresh.replace(path)


@contextlib.contextmanager
def _opened(path: Path, mode: int) -> Iterator[int]:
    """Make a file, and remove it if it can't be finished."""
    fd = _open_new(path)
    try:
        os.fchmod(fd, mode)
        yield fd
    except BaseException:
        path.unlink()
        raise
    finally:
        os.close(fd)


def _write_all(fd: int, lines: Iterable[bytes]) -> None:
    with open(fd, "wb", buffering=_BLOCK, closefd=False) as file:
        file.writelines(lines)


def blocks(path: Path) -> Iterator[bytes]:
    """Yield a cassette in blocks of whole lines, its header first. A torn end is left out.

    Raises:
        OSError: It can't be read.
    """
    with path.open("rb") as file:
        yield file.readline().removesuffix(b"\n") + b"\n"
        rest: list[bytes] = []
        while data := file.read(_BLOCK):
            end = data.rfind(b"\n") + 1
            if end:
                yield b"".join([*rest, data[:end]])
                rest = []
            rest.append(data[end:])
        last = b"".join(rest)
        if last and _is_whole(last):  # an editor may leave it without its LF
            yield last + b"\n"


def _open_new(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, MODE)


def _replace(path: Path) -> int:
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fd = _open_new(fresh)
    try:
        fresh.replace(path)
    except OSError:
        os.close(fd)
        fresh.unlink()
        raise
    return fd


def _first_free(path: Path) -> tuple[Path, int]:
    number, candidate = 1, path
    while True:
        try:
            return candidate, _open_new(candidate)
        except FileExistsError:
            number += 1
            candidate = path.with_name(f"{path.stem}-{number}{path.suffix}")


class Recording:
    """A cassette on disk, read line by line; payloads can be fetched again by their place.

    Attributes:
        name: The file's name as the user wrote it.
        header: The first line.
        torn: The number of a last line that was cut off by a crash and is left out, or None.
    """

    def __init__(self, path: Path) -> None:
        """Open a cassette and read its header.

        Raises:
            CassetteMissing: There is no such file, or it can't be read.
            NotACassette: Its first line is no header.
            NewerFormat: It was written by a newer acptap.
        """
        self.name = str(path)
        self.torn: int | None = None
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise CassetteMissing(
                f"the cassette can't be read ({error.strerror})", where=self.name,
                fix="check the path, or record one with `acptap proxy`",
            ) from error  # fmt: skip
        try:
            first = self._file.readline()
            if not first:
                raise NotACassette(
                    "the file is empty", where=self.name, fix="record again with `acptap proxy`"
                )
            self.header = decode_header(first, self.name)
        except BaseException:
            self._file.close()
            raise
        self._start = len(first)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[Entry]:
        """Yield the entries in order.

        Raises:
            DamagedCassette: A line that is not the last is no entry.
        """
        for number, offset, line in self.lines():
            entry = decode_entry(line, number, offset, self.name)
            yield migrate(entry, self.header.format)

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield number, offset and text of each whole line behind the header.

        An editor may leave the last line without its LF; what a crash left there is no JSON.
        """
        self.torn = None
        number, offset = 1, self._start
        while True:
            self._file.seek(offset)
            line = self._file.readline()
            if not line:
                return
            number += 1
            if not line.endswith(b"\n") and not _is_whole(line):
                self.torn = number
                return
            yield number, offset, line.removesuffix(b"\n")
            offset += len(line)

    def fetch(self, offset: int) -> bytes:
        """Return the unit of the entry whose line starts at `offset`, as it was on the wire."""
        self._file.seek(offset)
        try:
            return fetch_unit(self._file.readline().rstrip(b"\n"))
        except ValueError as error:
            raise DamagedCassette(
                "the file was changed while it was being read", where=self.name,
                fix="start again, and leave it alone meanwhile",
            ) from error  # fmt: skip

    def require_entries(self) -> None:
        """Refuse a cassette without a single entry.

        Raises:
            NothingToPlay: It has none.
        """
        if next(iter(self.lines()), None) is None:
            raise NothingToPlay(
                "the cassette holds no conversation", where=self.name,
                fix="record again with `acptap proxy`",
            )  # fmt: skip


def _is_whole(line: bytes) -> bool:
    try:
        jsontext.parse(line)
    except ValueError:
        return False
    return True
