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


class Container:
    """An array or an object in a JSON text. Each one is itself: no two are equal.

    Attributes:
        above: The container it stands in, or None.
        step: Its member name or index there; nothing if it stands in none.
        is_array: Whether its values have indexes rather than names.
    """

    __slots__ = ("_path", "_start", "above", "is_array", "step")

    def __init__(self, above: "Container | None", step: str | int, start: int, *, is_array: bool):
        self.above = above
        self.step = step
        self.is_array = is_array
        self._start = start
        self._path: Path | None = None

    @property
    def path(self) -> Path:
        """The path to it, made when it is first asked for."""
        if self._path is None:
            steps: list[str | int] = []
            place = self
            while place.above is not None:
                steps.append(place.step)
                place = place.above
            self._path = tuple(reversed(steps))
        return self._path

    def close(self, start: int, end: int, bracket: int) -> "Value":
        """Return the value it is, now that its bracket is closed."""
        if self.is_array is not (bracket == ord("]")):
            raise ValueError(f"a bracket at byte {start} closes nothing")
        return self.above, self.step, self._start, end


Value = tuple[Container | None, str | int, int, int]
"""What `visit` finds: what a value stands in, its name or index there, its start and its end."""


class _Place:
    """Where in a JSON text the reader is: the innermost open container, and the step in it."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._within: Container | None = None
        self._step: str | int = ""
        self._named = False  # a member's name was read and its value was not
        self._begun = False
        self._known: dict[bytes, str] = {}  # names

    def scalar(self, start: int, end: int) -> Value:
        self._begin(start)
        return self._within, self._step, start, end

    def open(self, start: int) -> None:
        self._begin(start)
        is_array = self._text[start] == ord("[")
        self._within = Container(self._within, self._step, start, is_array=is_array)
        self._step = 0 if is_array else ""

    def close(self, start: int, end: int) -> Value:
        if self._within is None:
            raise ValueError(f"a bracket at byte {start} closes nothing")
        if self._named:
            raise ValueError(f"a member has no value before byte {start}")
        value = self._within.close(start, end, self._text[start])
        self._within, self._step = value[:2]
        return value

    def comma(self, start: int) -> None:
        if self._within is None or self._named:
            raise ValueError(f"unexpected comma at byte {start}")
        if isinstance(self._step, int):
            self._step += 1

    def name(self, start: int, token: bytes) -> None:
        if self._within is None or isinstance(self._step, int) or self._named:
            raise ValueError(f"unexpected name at byte {start}")
        name = self._known.get(token)
        if name is None:
            name = _text_of(token)
            self._known[token] = name
        self._step = name
        self._named = True

    def finish(self) -> None:
        if self._within is not None or not self._begun:
            raise ValueError("the text ends inside a value")

    def _begin(self, start: int) -> None:
        """A value starts: in an object it needs a name, outside of all it must be the only one."""
        if self._within is None:
            if self._begun:
                raise ValueError(f"a second value at byte {start}")
        elif not self._named and isinstance(self._step, str):
            raise ValueError(f"a value without a name at byte {start}")
        self._begun, self._named = True, False


def walk(text: bytes) -> Iterator[Span]:
    """Yield the span of every value in `text`, containers after what they contain.

    Args:
        text: As `visit` takes it.

    Raises:
        ValueError: `text` is no JSON value, as far as `visit` can tell.
    """
    for value in visit(text):
        yield Span(_path(*value[:2]), *value[2:])


def visit(text: bytes) -> Iterator[Value]:
    """Yield every value in `text` as `walk` does, without the cost of a path for each.

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


def _path(within: Container | None, step: str | int) -> Path:
    return () if within is None else (*within.path, step)


def _text_of(name: bytes) -> str:
    try:
        return str(orjson.loads(name))
    except orjson.JSONDecodeError:  # half a surrogate pair: legal, and spelled out is as good
        return name[1:-1].decode("utf-8", "surrogateescape")


def find(text: bytes, path: Path) -> list[Span]:
    """Return the spans of all values at `path`; more than one if a member is written twice."""
    last: str | int = path[-1] if path else ""
    return [
        Span(path, start, end)
        for within, step, start, end in visit(text)
        if step == last and _path(within, step) == path
    ]


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
