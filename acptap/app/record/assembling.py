"""Puts the texts of a cassette together that came bit by bit, and says what to cut from its lines.

Most lines of a long recording differ in nothing but a time and a string. So what was found out
about one of them is kept by what stands before and behind its string, and serves for the others.
"""

import base64
import binascii
import re
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterator
from itertools import accumulate, repeat
from typing import NamedTuple

from acptap.acp.deltas import MARKS, Bit, Deltas
from acptap.agui import deltas as agui
from acptap.agui.deltas import MARK
from acptap.app.record.lines import spoken
from acptap.cassette import Entry, decode_entry
from acptap.jsonrpc import Side
from acptap.redact import Redactor
from acptap.redact.joined import MARGIN, WINDOW, Cut, Fragment, Joined, Place
from acptap.wire import jsontext, spans
from acptap.wire.escapes import unescape

_TEXTS = 128
"""Texts that are open at a time."""

_MOULDS = 4096
_MARKS = (*MARKS, MARK, b'"b64"')
_STRINGS = (b'"text":"', b'"delta":"')
_INSIDE = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+')

Mould = tuple[bytes, bytes]
"""What stands before and behind the string of a line, without its time."""


class Use(NamedTuple):
    """What a line's string is: a bit of a text."""

    text: "_Text"
    place: Place | None


_NOTHING = (b"\n", b"", None)
"""A mould of no line."""


class _Text:
    """A text, and the bits of it that nobody has looked at yet.

    Attributes:
        joined: What was looked at.
        runs: Bits in consecutive lines: the first line, their place, their JSON spellings.
    """

    def __init__(self, redactor: Redactor) -> None:
        self.joined = Joined(redactor)
        self.runs: list[tuple[int, Place | None, list[bytes]]] = []

    def begin(self, line: int, place: Place | None, string: bytes) -> list[bytes]:
        """Begin a run and return it: what consecutive lines hold may be appended."""
        run = [string]
        self.runs.append((line, place, run))
        return run

    def settle(self) -> list[Cut]:
        """Look at the bits that wait, and return what is to be cut."""
        cuts: list[Cut] = []
        places: list[tuple[int, Place | None]] = []
        strings: list[bytes] = []
        for line, place, run in self.runs:
            places += zip(range(line, line + len(run)), repeat(place))
            strings += run
        self.runs.clear()
        sizes = list(accumulate(map(len, strings)))
        start = done = 0
        while start < len(strings):
            end = min(bisect_right(sizes, done + WINDOW) + 1, len(strings))
            done = sizes[end - 1]
            is_quiet = self.joined.is_quiet(b"".join(strings[start:end]))
            first = max(start, bisect_left(sizes, done - MARGIN)) if is_quiet else start
            bits = [Fragment(*places[at], _said(strings[at])) for at in range(first, end)]
            if is_quiet:
                self.joined.pass_over(bits, is_tail=first > start)
            else:
                cuts += [cut for bit in bits for cut in self.joined.add(bit)]
            start = end
        return cuts


class Assembly:
    """The texts of a cassette.

    Args:
        redactor: Knows secrets when it sees them.
        name: The cassette's name, for errors.

    Attributes:
        cuts: What is to be cut so far, by the line's number.
    """

    def __init__(self, redactor: Redactor, name: str) -> None:
        self.cuts: dict[int, list[Cut]] = {}
        self._redactor = redactor
        self._name = name
        self._deltas: dict[int, Deltas] = {}  # of each connection
        self._streams: dict[object, agui.Deltas] = {}  # of each exchange
        self._texts: dict[Hashable, _Text] = {}
        self._moulds: dict[Mould, Use | None] = {}
        self._is_plain = True  # the last line's text is known to be that of all lines alike

    def add(self, first: int, block: bytes) -> None:
        """Take in the next lines, each with its LF; the first of them has this number."""
        head, rest, run = _NOTHING  # of the last line
        for number, line in enumerate(block.split(b"\n"), first):
            place = line.find(b",")
            if line.startswith(head, place) and line.endswith(rest):
                string = line[place + len(head) : -len(rest)]
                if b'"' not in string:  # most lines come this way
                    if run is not None:
                        run.append(string)
                    continue
            head, rest, run = self._add_other(number, line, place)
        for text in self._texts.values():
            if text.runs:
                self._note(text.settle())

    def _add_other(
        self, number: int, line: bytes, place: int
    ) -> tuple[bytes, bytes, list[bytes] | None]:
        """Take in a line that is not like the last one; return its mould and run, if known."""
        mould, string = _cut(line, place)
        if mould not in self._moulds:
            self._read(number, line, mould)
            return _NOTHING
        use = self._moulds[mould]
        return *mould, use and use.text.begin(number, use.place, string)

    def end(self) -> None:
        """Take it that no line follows."""
        for text in self._texts.values():
            self._note(text.joined.end())
        self._texts.clear()
        self._moulds.clear()

    def _note(self, cuts: list[Cut]) -> None:
        for cut in cuts:
            self.cuts.setdefault(cut.line, []).append(cut)

    def _text(self, whose: Hashable) -> _Text:
        text = self._texts.get(whose)
        if text is None:
            if len(self._texts) >= _TEXTS:
                oldest = self._texts.pop(next(iter(self._texts)))
                self._note([*oldest.settle(), *oldest.joined.end()])
                self._moulds.clear()
            text = self._texts[whose] = _Text(self._redactor)
        return text

    # Lines that are read

    def _read(self, number: int, line: bytes, mould: Mould) -> None:
        """Take in a line of which it isn't known what it holds.

        Args:
            number: Its number.
            line: The line.
            mould: What stands around its string; nothing if it has none.
        """
        if not any(mark in line for mark in _MARKS):
            return
        entry = decode_entry(line, number, 0, self._name)
        uses = []
        for whose, place, data, is_all in self._bits(entry):
            text = self._text(whose)
            bit = Fragment(number, place, data)
            self._note(text.settle())
            self._note(text.joined.replace(bit) if is_all else text.joined.add(bit))
            uses.append((Use(text, place), is_all))
        if mould[0] and self._is_plain and _is_typical(line, entry, uses):
            if len(self._moulds) > _MOULDS:
                self._moulds.clear()
            self._moulds[mould] = uses[0][0] if uses else None

    def _bits(self, entry: Entry) -> Iterator[tuple[Hashable, Place | None, bytes, bool]]:
        """Yield what an entry holds of texts: whose, where, what, and whether that is all."""
        self._is_plain = True
        if entry.is_frame:  # of a secret that is split over frames nothing is known
            return
        kind = entry.event or ("piece" if entry.oversize else None)
        if kind is None:
            try:
                value = jsontext.parse(entry.reading())
            except ValueError:
                kind = "noise"
            else:
                yield from self._in_event(entry, value)
                deltas = self._deltas.setdefault(entry.conn, Deltas())
                for bit in _found(deltas, entry.side, value):
                    data = _decoded(bit)
                    if data is not None:
                        place = Place(bit.path, bit.way.is_base64)
                        yield (entry.conn, entry.side, bit.whose), place, data, bit.way.is_all
        if kind is not None and entry.key is not None:
            yield (entry.conn, entry.side, kind), None, entry.unit(), False

    def _in_event(
        self, entry: Entry, value: object
    ) -> Iterator[tuple[Hashable, Place | None, bytes, bool]]:
        """Yield what an event of an AG-UI run holds of a text."""
        exchange = entry.front.get("exchange")
        if entry.front.get("stream") != "events" or not isinstance(value, dict):
            return
        bit = self._streams.setdefault(exchange, agui.Deltas()).bit(value)
        if bit is not None:
            self._is_plain = bit.is_named  # else the next one alike may be of another text
            place = Place(("delta",), is_base64=False)
            yield (exchange, bit.whose), place, spoken(bit.text), False


def _found(deltas: Deltas, side: Side, value: object) -> list[Bit]:
    try:
        return list(deltas.bits(side, value))
    except RecursionError:  # nobody's output is nested like that
        return []


def _decoded(bit: Bit) -> bytes | None:
    return _from_base64(spoken(bit.text)) if bit.way.is_base64 else spoken(bit.text)


def _said(string: bytes) -> bytes:
    """Return what is said between the quotes of a string."""
    return spoken(unescape(string.decode()).text) if b"\\" in string else string


def _from_base64(text: bytes) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return None


def _cut(line: bytes, place: int) -> tuple[Mould, bytes]:
    """Return what stands before and behind the first text of a line, and the text.

    Args:
        line: The line.
        place: Where its time ends.
    """
    start = _start(line)
    if start < 0:
        return (b"", b""), b""
    inside = _INSIDE.match(line, start)
    assert inside is not None  # it matches nothing at all, too
    return (line[place:start], line[inside.end() :]), inside.group()


def _start(line: bytes) -> int:
    """Return where the first text of a line begins, or -1."""
    found = [(line.find(name), len(name)) for name in _STRINGS]
    place, size = min((pair for pair in found if pair[0] >= 0), default=(-1, 0))
    return place + size


def _is_typical(line: bytes, entry: Entry, uses: list[tuple[Use, bool]]) -> bool:
    """Return whether lines that differ in their first text alone differ in nothing that matters.

    Args:
        line: Such a line.
        entry: What it says.
        uses: What its strings are, and whether each is all of a text.
    """
    if not uses:
        return entry.key == "msg"
    (use, is_all), *others = uses
    if others or is_all or not line.startswith(b'{"at":'):
        return False
    start = len(line) - 1 - len(entry.payload)
    if use.place is not None:
        if entry.key != "msg":  # a string in a string
            return False
        start += spans.find(entry.payload, use.place.path)[-1].start
    return start + 1 == _start(line)
