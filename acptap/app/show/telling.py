"""How single things are told in a tree: who or what, and the lines that say it."""

from collections.abc import Iterator
from dataclasses import dataclass

from acptap.app.show.layout import Pieces
from acptap.timeline import gists
from acptap.timeline.gists import items, member, words
from acptap.timeline.printable import visible, wrapped

STEP = "  "
OUTPUT = 12
"""Lines of a tool's output that are shown."""

_NAMES = 11
"""Columns of the names that stand before what was said."""


@dataclass(frozen=True, slots=True)
class Told:
    """One thing to be told: who or what, and its lines.

    Attributes:
        name: Who or what.
        style: The style of the name.
        lines: What is said, a line each; all of it is safe to be written.
        tone: The style of the lines.
    """

    name: str
    style: str
    lines: list[str]
    tone: str = "speech"

    def drawn(self, depth: int, width: int | None) -> Iterator[Pieces]:
        """Yield the lines of a terminal that it takes.

        Args:
            depth: How deep in the tree it stands.
            width: Columns of the terminal; None if lines may have any length.
        """
        before, name = STEP * depth, self.name
        room = None if width is None else max(20, width - len(before) - _NAMES)
        for line in self.lines or [""]:
            for part in wrapped(line, room):
                yield [(before, "quiet"), (f"{name:<{_NAMES - 1}} ", self.style), (part, self.tone)]
                name = ""


def lines_of(text: str, most: int | None = None) -> list[str]:
    """Return a text's lines, safe to be written; of very many the first."""
    lines = [visible(line.removesuffix("\r")) for line in text.rstrip("\r\n").split("\n")]
    return lines if most is None else cut_off(lines, most)


def cut_off(lines: list[str], most: int = OUTPUT) -> list[str]:
    """Return the first lines, and how many more there are."""
    more = len(lines) - most
    return lines if more <= 0 else [*lines[:most], f"... {more} more lines"]


def spoken(content: list[object]) -> list[str]:
    """Return what content blocks say: text as it is, and of other blocks what they are."""
    lines, text = [], ""
    for block in content:
        said = member(block, "text") if member(block, "type") == "text" else None
        if isinstance(said, str):
            text += said
            continue
        lines += lines_of(text) if text else []
        lines += lines_of(_what_block(block))
        text = ""
    return lines + (lines_of(text) if text else [])


def _what_block(block: object) -> str:
    """Return what a content block is that is no text; of a diff, the diff where it is sent."""
    paths = [member(change, "path") for change in items(block, "changes")] or [
        member(block, "path")
    ]
    if member(block, "type") == "diff":
        patch = member(block, "patch", "text")
        return words("[diff", *paths) + "]" + (f"\n{patch}" if isinstance(patch, str) else "")
    return gists.said(block) or f"[{words(member(block, 'type')) or 'content'}]"
