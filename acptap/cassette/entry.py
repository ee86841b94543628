"""Entries, read back: a line is cut into its front and its payload, and no further than asked."""

import base64
import binascii
from collections.abc import Callable

from acptap.cassette.header import FORMAT
from acptap.errors import DamagedCassette
from acptap.jsonrpc import Side
from acptap.wire import jsontext, spans, sse

PAYLOAD_KEYS = ("msg", "text", "b64")

_EVER = 1e9
"""Seconds no recording lasts: some thirty years."""

_PAYLOADS = frozenset(PAYLOAD_KEYS)
_MARKS = {key: b',"%b":' % key.encode() for key in PAYLOAD_KEYS}

DELIMITER = {"stdio": b"\n"}
"""What follows a plain unit on a transport; a `msg` entry does not repeat it."""

MIGRATIONS: dict[int, Callable[[dict[str, object]], dict[str, object]]] = {}
"""Format number to the function that lifts an entry's front to the next format."""


class Entry:
    """One line of a cassette, read as far as it was asked for.

    Attributes:
        number: Line number in the file, from 1 (the header).
        offset: Where the line starts in the file, in bytes.
        front: The members before the payload.
        key: Which payload it has: `msg`, `text`, `b64` or none.
    """

    __slots__ = ("_payload", "front", "key", "number", "offset")

    def __init__(
        self, number: int, offset: int, front: dict[str, object], key: str | None, payload: bytes
    ) -> None:
        self.number = number
        self.offset = offset
        self.front = front
        self.key = key
        self._payload = payload

    @property
    def at(self) -> float:
        """Seconds since the header's instant."""
        at = self.front["at"]
        assert isinstance(at, (int, float))
        return at

    @property
    def side(self) -> Side:
        """Who sent it."""
        return Side(str(self.front["from"]))

    @property
    def conn(self) -> int:
        """The connection's number, from 1."""
        conn = self.front.get("conn", 1)
        return conn if isinstance(conn, int) else 1

    @property
    def event(self) -> str | None:
        """The transport fact this entry states, or None for a unit."""
        event = self.front.get("event")
        return event if isinstance(event, str) else None

    @property
    def more(self) -> bool:
        """Whether this is a piece of a unit that goes on in the next entry of its side."""
        return self.front.get("more") is True

    @property
    def oversize(self) -> bool:
        """Whether this is a piece of a unit, the last one included."""
        return self.more or any(rule.endswith("/oversize") for rule in self.rules)

    @property
    def is_frame(self) -> bool:
        """Whether the unit is a protobuf frame of AG-UI, or a piece of one."""
        return self.front.get("frame") == "proto"

    @property
    def rules(self) -> list[str]:
        """The ids of the rules noted."""
        notes = self.front.get("notes")
        if not isinstance(notes, list):
            return []
        return [str(note.get("rule")) for note in notes if isinstance(note, dict)]

    @property
    def payload(self) -> bytes:
        """The payload's own JSON text: of the message, or of the string that holds the unit."""
        return self._payload

    def unit(self, delimiter: bytes | None = None) -> bytes:
        """Return the unit, byte for byte as it was on the wire.

        Args:
            delimiter: What stands behind a plain unit; None for what its transport puts around it.
        """
        if delimiter is None:
            return _around(self.front, self.key, self._payload)
        return unit_of(self.key, self._payload, delimiter)

    def reading(self) -> bytes:
        """Return what a reader takes for JSON text: without byte order mark and line end.

        Of a block of an event stream, its data; nothing if it has none.
        """
        if self.key == "msg":
            return self._payload
        unit = self.unit()
        return jsontext.bare((sse.payload_of(unit) or b"") if "stream" in self.front else unit)


def unit_of(key: str | None, payload: bytes, delimiter: bytes = b"\n") -> bytes:
    """Return the bytes that a payload stands for.

    Raises:
        ValueError: The payload is no string, or no base64.
    """
    match key:
        case "msg":
            return payload + delimiter
        case "text" | "b64":
            text = jsontext.parse(payload)
            if not isinstance(text, str):
                raise ValueError(f"`{key}` is no string")
            return text.encode() if key == "text" else base64.b64decode(text, validate=True)
        case _:
            return b""


def fetch_unit(line: bytes) -> bytes:
    """Return the unit in a line, byte for byte as it was on the wire, and nothing else of it.

    Args:
        line: The line without its LF.

    Raises:
        ValueError: The line is no entry.
    """
    return _around(*_cut(line))


def _around(front: dict[str, object], key: str | None, payload: bytes) -> bytes:
    """Return a unit; a plain one with what its transport puts around it."""
    if key == "msg" and "stream" in front:
        before, behind = sse.PLAIN
        return before + payload + behind
    return unit_of(key, payload, b"" if "exchange" in front else b"\n")


def decode_entry(line: bytes, number: int, offset: int, name: str) -> Entry:
    """Read one line.

    Args:
        line: The line without its LF.
        number: Its number in the file.
        offset: Where it starts in the file.
        name: The file's name, for errors.

    Raises:
        DamagedCassette: The line is no entry.
    """
    try:
        entry = Entry(number, offset, *_cut(line))
        _check(entry)
    except (ValueError, KeyError, binascii.Error) as error:
        raise DamagedCassette(
            f"damaged: line {number} is no entry ({_first_words(error)})", where=f"{name}:{number}",
            fix="restore the file, or delete that line if you know what it was",
        ) from error  # fmt: skip
    return entry


Cut = tuple[dict[str, object], str | None, bytes]
"""A line's front, the payload's key and the payload's text."""


def _cut(line: bytes) -> Cut:
    """Cut a line and see to it that its payload is sound."""
    try:
        cut = _slice(line)
        _check_payload(cut)
    except ValueError:  # saved again by hand, or damaged: the scanner tells which
        cut = _scan(line)
        _check_payload(cut)
    return cut


def _slice(line: bytes) -> Cut:
    """Cut a line that has the shape acptap writes: the payload stands last."""
    if not line.startswith(b'{"at":') or not line.endswith(b"}"):
        raise ValueError("not of that shape")
    key, place = _find_payload(line)
    front = _members(line[:place] + b"}")
    if not _PAYLOADS.isdisjoint(front):
        raise ValueError("a payload in front of the payload")
    start = place + len(_MARKS[key]) if key else place
    return front, key, line[start:-1].strip(b" \t\r")


def _find_payload(line: bytes) -> tuple[str | None, int]:
    """Return the payload's key and where its member starts, at the comma."""
    place, key = len(line) - 1, None
    for candidate, mark in _MARKS.items():
        found = line.find(mark, 0, place)
        if found >= 0:
            place, key = found, candidate
    return key, place


def _scan(line: bytes) -> Cut:
    """Cut a line of any other shape."""
    front = _members(line)
    keys = [key for key in PAYLOAD_KEYS if key in front]
    if len(keys) > 1:
        raise ValueError("two payloads")
    if not keys:
        return front, None, b""
    del front[keys[0]]
    span = spans.find(line, (keys[0],))[-1]  # of members written twice the last one counts
    return front, keys[0], line[span.start : span.end]


def _check_payload(cut: Cut) -> None:
    _, key, payload = cut
    if key == "msg":
        jsontext.parse(payload)
    else:
        unit_of(key, payload)


def _members(text: bytes) -> dict[str, object]:
    value = jsontext.parse(text)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _check(entry: Entry) -> None:
    at = entry.front.get("at")
    if type(at) not in (int, float) or not 0 <= entry.at < _EVER:
        raise ValueError("no time in `at`")
    if entry.front.get("from") not in ("client", "agent"):
        raise ValueError("no side in `from`")
    if entry.key is None and entry.event is None:
        raise ValueError("neither a payload nor an event")


def _first_words(error: BaseException) -> str:
    return str(error).partition("\n")[0][:100] or type(error).__name__


def migrate(entry: Entry, written_in: int) -> Entry:
    """Return an entry of an older format as one of the format this version writes."""
    for number in range(written_in, FORMAT):
        entry.front = MIGRATIONS[number](entry.front)
    return entry
