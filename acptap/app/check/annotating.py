"""`acptap annotate`: writes the annotations of cassettes anew."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from acptap import checking
from acptap.app.check.progress import Progress
from acptap.cassette import decode_entry, migrate
from acptap.checking import Reader
from acptap.errors import AcptapError, UsageError
from acptap.storage import Recording, is_recording, write_again
from acptap.timeline.printable import visible

_BLOCK = 1024 * 1024


def annotate_command(paths: Sequence[Path], *, check: bool) -> int:
    """Bring cassettes up to date and return the exit code.

    Args:
        paths: The cassettes. If one can't be read or written the others are done all the same.
        check: Write nothing; the exit code is 1 if there was anything to write.
    """
    stale, code = 0, 0
    for path in paths:
        try:
            stale += _annotate(path, check=check)
        except AcptapError as error:
            code = error.exit_code
            _say(str(error))
    return code or (1 if check and stale else 0)


def _annotate(path: Path, *, check: bool) -> bool:
    """Bring one cassette up to date, and return whether it was not."""
    with Recording(path) as recording, Progress(path) as progress:
        changed = sum(old != new for old, new in _lines(recording, path, progress))
    if not changed:
        return False
    lines = "1 line" if changed == 1 else f"{changed} lines"
    if check:
        _say(f"{path}: {lines} would change; run `acptap annotate {path}`")
        return True
    _write(path)
    _say(f"{path}: {lines} changed")
    return True


def _write(path: Path) -> None:
    if is_recording(path):
        raise UsageError(
            "the cassette is being recorded", where=str(path), fix="try again when it is finished"
        )
    try:
        with Recording(path) as recording, Progress(path) as progress:
            write_again(path, (new for _, new in _lines(recording, path, progress)))
    except OSError as error:
        raise UsageError(
            f"the cassette can't be written ({error.strerror})", where=str(path),
            fix="make room, or copy it to a folder where you may write",
        ) from error  # fmt: skip


def _lines(recording: Recording, path: Path, progress: Progress) -> Iterator[tuple[bytes, bytes]]:
    """Yield each line as it is and as it should be; what a crash left of a last one stays."""
    reader = Reader(recording.header)
    with path.open("rb") as file:
        header = file.readline()
        current = checking.is_current(recording.header)
        yield header, header if current else checking.annotate_header(header)
        for number, offset, line in recording.lines():
            old = file.readline()
            entry = decode_entry(line, number, offset, recording.name)
            key = entry.key
            members = reader.members(migrate(entry, recording.header.format))
            new = old
            if checking.differs(entry, members):
                new = checking.annotate_line(line, key, members) + old[len(line) :]
            yield old, new
            progress.reach(offset)
        while rest := file.read(_BLOCK):
            yield rest, rest


def _say(sentence: str) -> None:
    sys.stderr.write(f"acptap: {visible(sentence)}\n")
