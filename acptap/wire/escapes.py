"""Read text through its JSON escapes, and know where each character of the reading came from."""

import re
from bisect import bisect_right
from itertools import accumulate

import orjson

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # one character in two halves
    r"|u[0-9a-fA-F]{4}|[\"\\/bfnrt])"
)
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Reading:
    """Text without its escapes.

    Attributes:
        text: The text that was meant.
    """

    __slots__ = ("_ends", "_origins", "_raw", "text")

    def __init__(self, raw: str, text: str) -> None:
        self.text = text
        self._raw = raw
        self._ends: list[int] = []  # where each escape's character ends in `text`, after a 0
        self._origins: list[int] = []  # where each escape ends in what was read, after a 0

    def origin(self, position: int) -> int:
        """Return where in what was read the character at `position` of `text` begins."""
        if self._raw is self.text:
            return position
        if not self._ends:
            places = [match.span() for match in _ESCAPE.finditer(self._raw)]
            saved = accumulate(end - start - 1 for start, end in places)
            self._origins = [0, *(end for _, end in places)]
            self._ends = [0, *(end - less for (_, end), less in zip(places, saved, strict=True))]
        last = bisect_right(self._ends, position) - 1
        return self._origins[last] + position - self._ends[last]


def verbatim(raw: str) -> Reading:
    """Return the reading of text that has no escapes."""
    return Reading(raw, raw)


def unescape(raw: str) -> Reading:
    """Return the reading of `raw`; a backslash that begins no JSON escape stands for itself."""
    if "\\" not in raw:
        return verbatim(raw)
    try:
        return Reading(raw, str(orjson.loads(f'"{raw}"')))
    except orjson.JSONDecodeError:  # not what stands between the quotes of a JSON string
        return Reading(raw, _ESCAPE.sub(_meaning, raw))


def _meaning(match: re.Match[str]) -> str:
    """Return the one character that an escape stands for."""
    escape = match.group()
    if escape[1] != "u":
        return _SHORT.get(escape[1], escape[1])
    code = int(escape[2:6], 16)
    if len(escape) == len(r"\ud83d\ude00"):
        code = 0x10000 + ((code - 0xD800) << 10) + int(escape[8:], 16) - 0xDC00
    return chr(code)
