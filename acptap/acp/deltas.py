"""Where texts that come bit by bit stand in ACP messages: a table.

A secret may be cut anywhere in such a text, so it shows only once the bits are joined.
"""

from collections.abc import Hashable, Iterable, Iterator
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from acptap.jsonrpc import Side
from acptap.wire.spans import Path


class Way(Enum):
    """What a message holds of a text."""

    NEW = auto()
    """What is new."""
    ALL = auto()
    """All of it so far."""
    NEW_BASE64 = auto()
    ALL_BASE64 = auto()

    @property
    def is_all(self) -> bool:
        """Whether it replaces what came before."""
        return self in (Way.ALL, Way.ALL_BASE64)

    @property
    def is_base64(self) -> bool:
        """Whether it is spelled in base64, each time for itself."""
        return self in (Way.NEW_BASE64, Way.ALL_BASE64)


_MESSAGES = "user_message agent_message agent_thought session_message"
_CHUNKS = " ".join(f"{name}_chunk" for name in _MESSAGES.split())
_TOOLS = "tool_call tool_call_update"
_SNIPPET = "_meta.terminal_output_delta"

# Path elements: `*` is any index, `**` all that is inside. Rows with equal names speak of one text.
ROWS: list[tuple[str, str, str, str, Way]] = [
    # updates (none: all), where in them, name of the text (none: the update's), whose, what of it
    (_CHUNKS, "content.text", "", "messageId", Way.NEW),
    (_CHUNKS, "content.resource.text", "", "messageId", Way.NEW),
    (_MESSAGES, "content.*.text", "", "messageId", Way.ALL),
    ("compaction_summary_chunk", "content.text", "", "compactionId", Way.NEW),
    ("tool_call_content_chunk", "content.content.text", "tool", "toolCallId", Way.NEW),
    (_TOOLS, "content.*.content.text", "tool", "toolCallId", Way.ALL),
    (_TOOLS, "rawInput.**", "tool's input", "toolCallId", Way.ALL),
    (_TOOLS, "rawOutput.**", "tool's output", "toolCallId", Way.ALL),
    ("terminal_output_chunk", "data", "terminal", "terminalId", Way.NEW_BASE64),
    ("terminal_update", "output.data", "terminal", "terminalId", Way.ALL_BASE64),
    # what agents for v1 say of terminals of their own: codex-acp, and others with Zed's name
    ("", f"{_SNIPPET}.data", "terminal", f"{_SNIPPET}.terminal_id", Way.NEW),
    ("", "_meta.terminal_output.data", "terminal", "_meta.terminal_output.terminal_id", Way.NEW),
]

MARKS = (b'"text"', b'"data"', b'"raw', b'"output"', b'"terminal')
"""One of these is in every message that matters here; a quick way to tell most that do not."""

_MOST_ASKED = 1000


class Bit(NamedTuple):
    """What a message holds of a text that comes bit by bit.

    Attributes:
        whose: Tells the texts of a connection apart.
        path: Where it stands in the unit.
        text: What it says.
        way: Whether that is all, and how it is spelled.
    """

    whose: Hashable
    path: Path
    text: str
    way: Way


class Deltas:
    """Finds the bits in the messages of one connection."""

    def __init__(self) -> None:
        self._asked: dict[Hashable, str] = {}  # open requests for a terminal's output

    def bits(self, side: Side, message: object, path: Path = ()) -> Iterator[Bit]:
        """Yield what a message, or those of a batch, hold of texts.

        Args:
            side: Who sent it.
            message: Its JSON value.
            path: Where in the unit it stands.
        """
        if isinstance(message, list) and not path:
            for index, inner in enumerate(message):
                yield from self.bits(side, inner, (index,))
        elif isinstance(message, dict):
            match message.get("method"):
                case "session/update":
                    yield from _in_update(message.get("params"), (*path, "params", "update"))
                case "terminal/output":
                    self._ask(side, message)
                case None:
                    yield from self._in_answer(side, message, path)
                case _:
                    pass

    def _ask(self, side: Side, message: dict[str, object]) -> None:
        if len(self._asked) < _MOST_ASKED:
            whose = str(_member(message, ("params", "terminalId")))
            self._asked[side, repr(message.get("id"))] = whose

    def _in_answer(self, side: Side, message: dict[str, object], path: Path) -> Iterator[Bit]:
        whose = self._asked.pop((side.other, repr(message.get("id"))), None)
        said = _member(message, ("result", "output"))
        if whose is not None and isinstance(said, str):
            yield Bit(("terminal/output", whose), (*path, "result", "output"), said, Way.ALL)


def _in_update(params: object, path: Path) -> Iterator[Bit]:
    kind, update = _member(params, ("update", "sessionUpdate")), _member(params, ("update",))
    for place, name, owner, way in _rows(kind if isinstance(kind, str) else ""):
        for below, index, text in _strings(update, place):
            session, owned_by = _member(params, ("sessionId",)), _member(update, owner)
            whose = (str(session), name, str(owned_by), index)
            yield Bit(whose, (*path, *below), text, way)


@cache
def _rows(kind: str) -> list[tuple[Path, str, Path, Way]]:
    return [
        (tuple(place.split(".")), name or kind.removesuffix("_chunk"), tuple(owner.split(".")), way)
        for kinds, place, name, owner, way in ROWS
        if not kinds or kind in kinds.split()
    ]


def _member(value: object, path: Path) -> object:
    """Return what stands at a path of member names, or None."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _strings(value: object, pattern: Path, index: Path = ()) -> Iterator[tuple[Path, Path, str]]:
    """Yield each string that a pattern finds: its path, what its wildcards are, what it says.

    The index 0 counts for nothing: a chunk is as good as a list of one.
    """
    if isinstance(value, str) and pattern in ((), ("**",)):
        yield (), index, value
    elif pattern:
        first, rest = pattern[0], pattern if pattern == ("**",) else pattern[1:]
        for name, inner in _inside(value):
            if first in ("*", "**"):
                found = _strings(inner, rest, (*index, name) if name else index)
            elif first == name:
                found = _strings(inner, rest, index)
            else:
                continue
            yield from _prefixed(name, found)


def _inside(value: object) -> Iterable[tuple[str | int, object]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _prefixed(
    name: str | int, found: Iterator[tuple[Path, Path, str]]
) -> Iterator[tuple[Path, Path, str]]:
    for path, index, text in found:
        yield (name, *path), index, text
