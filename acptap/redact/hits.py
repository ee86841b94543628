"""Secrets found in a text, and how to take them out so that each byte is replaced once."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

PLACEHOLDER = re.compile(r"\[redacted:\d+\]")


class Hit(NamedTuple):
    """A secret found in a text.

    Attributes:
        start: Where it starts.
        end: Where it ends.
        secret: The secret, which the text may spell with escapes.
        is_named: A name beside it says that it is a credential.
    """

    start: int
    end: int
    secret: str
    is_named: bool = False


def apart(text: str, hits: Iterable[Hit]) -> Iterator[tuple[int, int, str]]:
    """Yield hits in order without overlaps, and without what is already redacted.

    Hits that overlap become one, named for the secret that spans it if there is one.
    """
    merged: list[tuple[int, int, str | None]] = []
    for start, end, secret, _ in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if not merged or start >= merged[-1][1]:
            merged.append((start, end, secret))
        elif end > merged[-1][1]:
            merged[-1] = (merged[-1][0], end, None)
    if not merged:
        return
    redacted = [match.span() for match in PLACEHOLDER.finditer(text)]
    redacted.reverse()
    for start, end, spanning in merged:
        for part in _outside(redacted, start, end):
            is_whole = spanning is not None and part == (start, end)
            piece = spanning if is_whole and spanning else text[slice(*part)]
            piece = piece if is_whole else piece.strip()
            if piece.strip():
                yield *part, piece


def _outside(taken: list[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a range that lie in none of the taken ones, and drop those before it.

    Args:
        taken: The taken ranges, the first one last.
        start: Where the range starts, which is not before the end of the last one asked about.
        end: Where it ends.
    """
    while taken and taken[-1][0] < end:
        first, last = taken[-1]
        if start < last:
            if start < first:
                yield start, first
            start = last
        if last > end:  # the next range may begin in it
            break
        taken.pop()
    if start < end:
        yield start, end
