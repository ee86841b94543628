"""Find the byte spans of values in JSON text, so that parts can be replaced and the rest kept.

Nothing is decoded but member names. Duplicate members are all found; parsers disagree on which
one counts (RFC 8259, section 4), so whoever redacts or renames must see every one.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import orjson

from acptap.wire.jsontext import MARK

Path = tuple[str | int, ...]
"""Member names and array indexes from the root to a value."""

_TOKEN = re.compile(
    rb"""(?P<string> "(?:[^"\\]++|\\.)*+" ) (?P<colon> \s*: )?
    | (?P<number> [^\s{}\[\],:"]+ )  # or true, false, null
    | (?P<open> [{\[] )
    | (?P<close> [}\]] )
    | (?P<comma> , )
    | (?P<stray> [:"] )""",
    re.DOTALL | re.VERBOSE,
)
_PAIRS = {ord("}"): ord("{"), ord("]"): ord("[")}


class Span(NamedTuple):
    """Where a value stands: `text[start:end]` is its JSON text."""

    path: Path
    start: int
    end: int


class Edit(NamedTuple):
    """Replace `text[start:end]` by `new`."""

    start: int
    end: int
    new: bytes


class _Place:
    """Where in a JSON text the reader is: the path, and the containers that are open."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._path: list[str | int] = []
        self._opened: list[int] = []  # where each open container starts
        self._named = False  # a member's name was read and its value was not
        self._begun = False

    def scalar(self, start: int, end: int) -> Span:
        self._begin(start)
        return Span(tuple(self._path), start, end)

    def open(self, start: int) -> None:
        self._begin(start)
        self._opened.append(start)
        self._path.append("" if self._text[start] == ord("{") else 0)

    def close(self, start: int, end: int) -> Span:
        if not self._opened or self._text[self._opened[-1]] != _PAIRS[self._text[start]]:
            raise ValueError(f"a bracket at byte {start} closes nothing")
        if self._named:
            raise ValueError(f"a member has no value before byte {start}")
        self._path.pop()
        return Span(tuple(self._path), self._opened.pop(), end)

    def comma(self, start: int) -> None:
        if not self._opened or self._named:
            raise ValueError(f"unexpected comma at byte {start}")
        index = self._path[-1]
        if isinstance(index, int):
            self._path[-1] = index + 1

    def name(self, start: int, token: bytes) -> None:
        if not self._opened or isinstance(self._path[-1], int) or self._named:
            raise ValueError(f"unexpected name at byte {start}")
        self._path[-1] = _text_of(token)
        self._named = True

    def finish(self) -> None:
        if self._opened or not self._begun:
            raise ValueError("the text ends inside a value")

    def _begin(self, start: int) -> None:
        """A value starts: in an object it needs a name, outside of all it must be the only one."""
        if not self._opened and self._begun:
            raise ValueError(f"a second value at byte {start}")
        if self._opened and isinstance(self._path[-1], str) and not self._named:
            raise ValueError(f"a value without a name at byte {start}")
        self._begun, self._named = True, False


def walk(text: bytes) -> Iterator[Span]:
    """Yield the span of every value in `text`, containers after what they contain.

    Args:
        text: One JSON value in UTF-8, possibly between white space and behind a byte order mark.

    Raises:
        ValueError: `text` is no JSON value. Nesting and names are checked; scalars and commas are
            taken as they come.
    """
    place = _Place(text)
    for token in _TOKEN.finditer(text, len(MARK) if text.startswith(MARK) else 0):
        start, end = token.span()
        match token.lastgroup:
            case "string" | "number":
                yield place.scalar(start, end)
            case "colon":
                place.name(start, token["string"])
            case "comma":
                place.comma(start)
            case "open":
                place.open(start)
            case "close":
                yield place.close(start, end)
            case _:
                raise ValueError(f"unexpected {token[0].decode()} at byte {start}")
    place.finish()


def _text_of(name: bytes) -> str:
    try:
        return str(orjson.loads(name))
    except orjson.JSONDecodeError:  # half a surrogate pair: legal, and spelled out is as good
        return name[1:-1].decode("utf-8", "surrogateescape")


def find(text: bytes, path: Path) -> list[Span]:
    """Return the spans of all values at `path`; more than one if a member is written twice."""
    return [span for span in walk(text) if span.path == path]


def splice(text: bytes, edits: Iterable[Edit]) -> bytes:
    """Return `text` with the edits made; of edits that overlap, the one that starts first.

    The edits may come in any order. Of two that start at the same byte the longer one is made.
    """
    parts: list[bytes] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if edit.start >= done:
            parts += (text[done : edit.start], edit.new)
            done = edit.end
    parts.append(text[done:])
    return b"".join(parts)
