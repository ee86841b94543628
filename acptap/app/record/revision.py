"""A cassette read once more for secrets, and what it becomes without them.

While it is recorded a secret can't be seen that comes bit by bit, or in a text before the slot
that makes it known. It is written anew only on a find.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from acptap import storage
from acptap.app.record.assembling import Assembly
from acptap.app.record.clearing import Clearing
from acptap.app.record.lines import with_cuts
from acptap.cassette import DONE, OPEN, decode_entry, decode_header
from acptap.redact import Redactor
from acptap.redact.heads import clear_url
from acptap.storage import Tape
from acptap.wire import spans
from acptap.wire.jsontext import dump
from acptap.wire.spans import Edit, splice

_LINE = re.compile(rb"[^\n]*\n")


class WatchedTape(Tape):
    """A tape that remembers how far it was when the redactor last learnt something.

    Attributes:
        learnt_at: That place, in bytes.
    """

    _redactor: Redactor | None = None
    learnt_at = 0
    _learnt = 0

    def watch(self, redactor: Redactor | None) -> None:
        """Watch a redactor, which has learnt nothing yet."""
        self._redactor = redactor

    def write(self, lines: bytes) -> None:
        """Append whole lines."""
        super().write(lines)
        if self._redactor is not None and self._redactor.learnt != self._learnt:
            self._learnt, self.learnt_at = self._redactor.learnt, self.size


class Revision:
    """A cassette read for what is still secret in it, and what it becomes without that.

    Args:
        path: The cassette.
        redactor: Knows what was learnt.
        learnt_at: How far into the file the lines are to be looked at by themselves, and only for
            what was learnt; None if nobody has looked at any of them.

    Attributes:
        is_due: Whether something is to be replaced, or left out.
        torn: The number of a last line that was cut off by a crash, or None.
    """

    def __init__(self, path: Path, redactor: Redactor, learnt_at: int | None = None) -> None:
        self._path = path
        self._redactor = redactor
        self._learnt_at = learnt_at
        self._assembly = Assembly(redactor, str(path))
        self.is_due = False
        self.torn: int | None = None

    def examine(self) -> None:
        """Read the cassette; `is_due` then says whether there is something to replace.

        Raises:
            DamagedCassette: A line is no entry.
            OSError: It can't be read.
        """
        number = size = 0
        for old, new in self._cleared():
            if number:
                self._assembly.add(number + 1, new)
            number += old.count(b"\n")
            size += len(old)
            self.is_due = self.is_due or new != old
        self._assembly.end()
        if size < self._path.stat().st_size:
            self.torn = number + 1
        self.is_due = self.is_due or bool(self._assembly.cuts) or self.torn is not None

    def learn(self) -> None:
        """Read the cassette for what slots teach, and start to count anew.

        Raises:
            DamagedCassette: A line is no entry.
            OSError: It can't be read.
        """
        for _ in self._cleared():
            pass
        self._redactor.recount()

    def lines(self) -> Iterator[bytes]:
        """Yield what the cassette becomes. A torn last line is left out."""
        number = 0
        for _, block in self._cleared():
            for line in _LINE.findall(block):
                number += 1
                yield self._cut(number, line)

    def _cut(self, number: int, line: bytes) -> bytes:
        if number == 1:
            return _finished(line)
        if cuts := self._assembly.cuts.get(number):
            entry = decode_entry(line[:-1], number, 0, str(self._path))
            return with_cuts(line[:-1], entry, cuts) + b"\n"
        return line

    def _cleared(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield blocks of lines: as they are, and without what is secret in each line by itself."""
        clearing = Clearing(self._redactor, str(self._path))
        number = place = 0
        for block in storage.blocks(self._path):
            new = block
            if number == 0:
                new = _clear_header(block, str(self._path), self._redactor)
            elif self._learnt_at is None:
                new = _each(clearing.line, number + 1, block)
            elif place < self._learnt_at and self._redactor.knows(block):
                new = _each(clearing.again, number + 1, block)
            yield block, new
            number += block.count(b"\n")
            place += len(block)


def _each(clear: Callable[[int, bytes], bytes], first: int, block: bytes) -> bytes:
    """Return lines, each without its secrets; the first of them has this number."""
    lines = block.split(b"\n")
    lines.pop()
    return b"".join(clear(number, line) + b"\n" for number, line in enumerate(lines, first))


def finish(path: Path, redactor: Redactor, learnt_at: int) -> None:
    """Take out of a complete recording what could not be seen while it was made.

    Args:
        path: The cassette.
        redactor: The one that it was recorded with.
        learnt_at: How far it was recorded when the redactor learnt something last.

    Raises:
        OSError: It can't be read or written.
    """
    revision = Revision(path, redactor, learnt_at)
    revision.examine()
    if revision.is_due:
        replaced = redactor.replaced
        storage.write_again(path, revision.lines())
        redactor.replaced = replaced  # what was written was counted when it was found
    else:
        close(path)


def close(path: Path) -> None:
    """Say in the header that redaction is done, in place: nobody who reads along loses it.

    Raises:
        OSError: It can't be read or written.
    """
    header = next(storage.blocks(path))
    span = spans.find(header, ("redaction",))[-1]
    assert header[span.start : span.end] == dump(OPEN)
    storage.overwrite(path, span.start, dump(DONE))


# The header


def _clear_header(line: bytes, name: str, redactor: Redactor) -> bytes:
    upstream = decode_header(line, name).upstream
    clear: list[str] | str
    if isinstance(upstream, list):
        clear = redactor.words(upstream)
    else:
        clear = clear_url(redactor, upstream)
    if clear == upstream:
        return line
    span = spans.find(line, ("upstream",))[-1]
    return splice(line, [Edit(span.start, span.end, dump(clear))])


def _finished(line: bytes) -> bytes:
    """Return a header that says that redaction is done."""
    found = spans.find(line, ("redaction",))
    if found:
        return splice(line, [Edit(found[-1].start, found[-1].end, dump(DONE))])
    end = line.rindex(b"}")
    return line[:end] + b',"redaction":' + dump(DONE) + line[end:]
