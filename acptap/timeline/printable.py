"""Text of strangers, made safe for a terminal: nothing in it can move, colour or reorder."""

import re
import unicodedata
from functools import lru_cache
from itertools import accumulate, takewhile

_JOINERS = "\u200c\u200d"
"""Part of ordinary words and emoji, and they act on nothing but their neighbours."""
_EMOJI = "\ufe0f"
_WIDE = "WF"
_NOT_ASCII = re.compile(r"[^ -~]")
_ASTRAL = 0x10000


def visible(text: str) -> str:
    r"""Return `text` with every control, format and unassigned character written out, as `\x1b`.

    Spaces of other widths become a space. Line ends are written out too, so it is one line.
    """
    if text.isprintable():
        return text
    return "".join([char if char.isprintable() else _spelled(char) for char in text])


def _spelled(char: str) -> str:
    if char in _JOINERS:
        return char
    if unicodedata.category(char) == "Zs":
        return " "
    return char.encode("unicode_escape").decode("ascii")


def visible_json(text: str) -> str:
    """Return JSON text that says the same, on one line, and is safe for a terminal.

    Outside of strings JSON has no characters but ASCII, so an escape can stand for any other.
    """
    return text if text.isprintable() else _NOT_ASCII.sub(_json_escape, text)


def _json_escape(found: re.Match[str]) -> str:
    char = found.group()
    if char.isprintable() or char in _JOINERS or unicodedata.category(char) == "Zs":
        return char
    if char < " ":  # between values; inside a string it would be no JSON
        return " "
    if ord(char) < _ASTRAL:
        return f"\\u{ord(char):04x}"
    pair = char.encode("utf-16-be").hex()
    return f"\\u{pair[:4]}\\u{pair[4:]}"


def cells(text: str) -> int:
    """Return how many columns of a terminal `text` takes at most.

    Emoji that terminals join into one are counted apart: some do not join them.
    """
    return len(text) if text.isascii() else sum(map(_width, text))


@lru_cache(maxsize=4096)
def _width(char: str) -> int:
    if char == _EMOJI:
        return 1  # it makes the character before it wide
    if char in _JOINERS or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in _WIDE else 1


def cut(text: str, width: int, mark: str) -> str:
    """Return `text` if it fits in `width` columns, else as much as fits with `mark` behind it."""
    if cells(text) <= width:
        return text
    room = width - cells(mark)
    if room < 0:
        return ""
    if text.isascii():
        return text[:room] + mark
    taken = accumulate(map(_width, text))
    return text[: sum(1 for _ in takewhile(room.__ge__, taken))] + mark


def wrapped(text: str, room: int | None) -> list[str]:
    """Return the lines that `text` takes in `room` columns, parted at spaces where there are any.

    Args:
        text: One line, safe for a terminal.
        room: Columns; None if lines may have any length.
    """
    if room is None or cells(text) <= room:
        return [text]
    lines, rest = [], text
    while cells(rest) > room:
        fits = len(cut(rest, room, "")) or 1
        space = rest.rfind(" ", 1, fits + 1)
        end = space if space > 0 else fits
        lines.append(rest[:end])
        rest = rest[end:].removeprefix(" ")
    return [*lines, rest] if rest else lines
