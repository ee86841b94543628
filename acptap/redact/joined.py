"""Texts that come bit by bit, put together again, and what must be cut from the bits.

The first bit of a secret becomes the placeholder, the others lose their part of it. What follows
on a secret without a gap goes too: a key whose beginning was taken for all of it goes on there.
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from acptap.redact.hits import PLACEHOLDER
from acptap.redact.redactor import Redactor
from acptap.wire.escapes import unescape
from acptap.wire.spans import Path

WINDOW = 128 * 1024
"""Bytes of a text that are looked at together."""

MARGIN = 8 * 1024
"""Bytes at the end of a window that are looked at again with what follows."""

_LONGEST = 256 * 1024  # bytes of a secret that has no end in sight
_CONTEXT = 64  # bytes that decide whether something begins a secret
_SNAPSHOT = 1024 * 1024  # larger ones are not compared
_GENERATIONS = 4096
_PLACEHOLDER = re.compile(PLACEHOLDER.pattern.encode())
_BEHIND_PLACEHOLDER = re.compile(rb"\[redacted:\d+\]\Z")
_WIDEST = 24  # of a placeholder
_REST = re.compile(rb"(?!-----)[\w/+=~%-]+(?:[.:@]+[\w/+=~%-]+)*")


class Place(NamedTuple):
    """Where a string stands in a message, and whether it is base64."""

    path: Path
    is_base64: bool


class Fragment(NamedTuple):
    """A bit of a text.

    Attributes:
        line: The line of the cassette.
        place: Where in the unit it stands; None if it is the unit itself.
        data: What it says, in UTF-8.
        start: Where in the bit `data` begins.
    """

    line: int
    place: Place | None
    data: bytes
    start: int = 0


class Cut(NamedTuple):
    """Replace a part of a bit, in bytes of what it says."""

    line: int
    place: Place | None
    start: int
    end: int
    new: bytes


class Joined:
    """One text. Each method returns what must be cut, now that more of it is known.

    Args:
        redactor: Knows secrets when it sees them, and numbers them.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._bits: list[Fragment] = []
        self._size = 0
        self._due = WINDOW  # the size at which to look next
        self._judged = 0  # bytes at the beginning that a former look has judged
        self._snapshot: bytes | None = None  # the only bit, if it is all of the text so far
        self._former: deque[tuple[Fragment, int]] = deque(maxlen=_GENERATIONS)

    def add(self, bit: Fragment) -> list[Cut]:
        """Take what comes next."""
        self._snapshot = None
        cuts: list[Cut] = []
        if len(bit.data) > 2 * MARGIN:  # its inside was looked at by itself
            self._append(bit._replace(data=bit.data[:MARGIN]))
            cuts = self.end()
            self._judged = _CONTEXT
            start = len(bit.data) - MARGIN
            bit = bit._replace(data=bit.data[start:], start=start)
        self._append(bit)
        if self._size > self._due:
            cuts += self._look(self._size - MARGIN)
            self._due = self._size + WINDOW
        return cuts

    def is_quiet(self, spelling: bytes) -> bool:
        """Return whether there is nothing to cut if bits follow that are spelled like this.

        Args:
            spelling: What stands between the quotes of JSON strings, one behind the other.
        """
        known = b"".join(bit.data for bit in self._bits)
        text = known + spelling
        if not self._redactor.shows(text):
            return True
        return b"[redacted:" not in text and not self._redactor.hits(
            known.decode("utf-8", "surrogateescape")
            + unescape(spelling.decode("utf-8", "surrogateescape")).text
        )

    def pass_over(self, bits: list[Fragment], *, is_tail: bool) -> None:
        """Take what comes next, and that all of it is quiet.

        Args:
            bits: The bits, or the last of them.
            is_tail: Whether there were more before these.
        """
        self._snapshot = None
        if is_tail:
            self._forget()
        for bit in bits:
            self._append(bit)
        self._drop(self._size - MARGIN, self._size)

    def replace(self, bit: Fragment) -> list[Cut]:
        """Take all of the text, as it is now."""
        cuts, snapshot = [], self._snapshot
        if snapshot is None or not bit.data.startswith(snapshot):
            cuts = self._outgrown(snapshot, bit.data) if snapshot is not None else self.end()
            self._former.clear()
        self._forget()
        self._snapshot = bit.data if len(bit.data) <= _SNAPSHOT else None
        if self._snapshot is not None:
            self._former.append((bit._replace(data=b""), len(bit.data)))
        if len(bit.data) > MARGIN:
            start = len(bit.data) - MARGIN
            bit, self._judged = bit._replace(data=bit.data[start:], start=start), _CONTEXT
        self._append(bit)
        return cuts

    def end(self) -> list[Cut]:
        """Take it that nothing follows, or nothing that goes on where this stops."""
        cuts = self._look(self._size)
        self._forget()
        return cuts

    def _append(self, bit: Fragment) -> None:
        self._bits.append(bit)
        self._size += len(bit.data)

    def _forget(self) -> None:
        self._bits.clear()
        self._size = self._judged = 0
        self._due = WINDOW

    # What was joined

    def _look(self, limit: int) -> list[Cut]:
        """Return what to cut of secrets that end before a limit, and drop what is done with."""
        text = b"".join(bit.data for bit in self._bits)
        borders = list(accumulate(len(bit.data) for bit in self._bits))
        found: list[tuple[int, int, str]] = []
        if len(borders) > 1 and self._redactor.shows(text):
            found = [hit for hit in self._found(text, borders) if hit[1] > self._judged]
        if self._size > _LONGEST:
            limit = self._size
        cuts = [cut for hit in found if hit[1] <= limit for cut in self._cuts(text, hit)]
        begun = min((start for start, end, _ in found if end > limit), default=limit)
        self._drop(min(limit, begun) - _CONTEXT, limit)
        return cuts

    def _drop(self, until: int, judged: int) -> None:
        """Drop the bits that end before a place."""
        dropped = count = 0
        for bit in self._bits:
            if dropped + len(bit.data) > until:
                break
            dropped += len(bit.data)
            count += 1
        del self._bits[:count]
        self._size -= dropped
        self._judged = judged - dropped

    def _found(self, text: bytes, borders: list[int]) -> list[tuple[int, int, str]]:
        """Return the secrets in a text, by bytes: apart, and with what follows without a gap."""
        said = text.decode("utf-8", "surrogateescape")
        found = []
        for start, end, secret in self._redactor.hits(said):
            piece = said[start:end].lstrip()
            first = _size(said[: end - len(piece)])
            found.append((first, first + _size(piece.rstrip()), secret))
        found += [
            (border, border, "") for border in borders[:-1] if _is_behind_placeholder(text, border)
        ]
        merged: list[tuple[int, int, str]] = []
        for start, end, secret in sorted(found):
            last = _with_rest(text, start, end, borders)
            if merged and start <= merged[-1][1] and (start < merged[-1][1] or not secret):
                merged[-1] = (merged[-1][0], max(last, merged[-1][1]), merged[-1][2])
            elif last > start:
                merged.append((start, last, secret))
        return merged

    def _cuts(self, text: bytes, hit: tuple[int, int, str]) -> Iterator[Cut]:
        start, end, secret = hit
        new = b""
        if not _is_behind_placeholder(text, start):
            new = self._redactor.placeholder(secret).encode()
        place = 0
        for bit in self._bits:
            first, last = max(0, start - place), min(len(bit.data), end - place)
            place += len(bit.data)
            if first < last:
                kept = b"\n" if bit.place is None and bit.data[first:last].endswith(b"\n") else b""
                yield Cut(bit.line, bit.place, bit.start + first, bit.start + last, new + kept)
                new = b""

    # What was repeated

    def _outgrown(self, old: bytes, new: bytes) -> list[Cut]:
        """Return what to cut from former states, if they end with the beginning of a secret."""
        done = 0
        for match in _PLACEHOLDER.finditer(new):
            start, end = match.span()
            if old[done:start] != new[done:start]:
                break
            if old[start:end] != match.group():
                rest = old[start:].decode("utf-8", "replace")
                is_other = _PLACEHOLDER.match(old, start) is not None
                if is_other or not self._redactor.may_begin(match.group().decode(), rest):
                    break
                return [
                    Cut(bit.line, bit.place, start, length, match.group())
                    for bit, length in self._former
                    if length > start
                ]
            done = end
        return []


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _is_behind_placeholder(text: bytes, place: int) -> bool:
    if text[place - 1 : place] != b"]":
        return False
    return _BEHIND_PLACEHOLDER.search(text[max(0, place - _WIDEST) : place]) is not None


def _with_rest(text: bytes, start: int, end: int, borders: list[int]) -> int:
    """Return the end of a secret with what follows, if a border of bits is in it or behind it."""
    following = borders[bisect_right(borders, start)] if start < borders[-1] else end + 1
    rest = _REST.match(text, end) if following <= end or start == end else None
    return rest.end() if rest else end
