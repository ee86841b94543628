"""Which parts of large bytes that are no text are worth a look: those near a trace of a secret."""

import re
from collections.abc import Iterable, Iterator

from acptap.redact.names import named
from acptap.redact.shapes import TRIGGERS

_BEFORE, _BEHIND = 4 * 1024, 16 * 1024
"""Bytes before and behind a trace that are looked at with it."""

_LISTS = [
    re.compile(rb'%b\\*"\s{0,40}+[:,]' % name) for name in (b"env", b"headers", b"name", b"value")
]
"""What stands where the names are not those of credentials."""


def near_traces(data: bytes, known: Iterable[int]) -> Iterator[tuple[int, int, bool]]:
    """Yield the parts that some bytes fall into: start, end, and whether to look at it.

    Args:
        data: The bytes.
        known: Where something that was learnt may stand.
    """
    done = 0
    for start, end in _merged(sorted({*known, *_traces(data)}), len(data)):
        yield done, start, False
        yield start, end, True
        done = end
    yield done, len(data), False


def _traces(data: bytes) -> Iterator[int]:
    for gate, trigger in TRIGGERS:
        if gate in data:
            yield from (match.start() for match in trigger.finditer(data))
    for pattern in _LISTS:
        yield from (match.start() for match in pattern.finditer(data))
    yield from named(data.decode("latin-1"))


def _merged(places: list[int], size: int) -> Iterator[tuple[int, int]]:
    begin = end = 0
    for place in places:
        if end and place - _BEFORE > end:
            yield begin, end
            end = 0
        if not end:
            begin = max(0, place - _BEFORE)
        end = min(size, place + _BEHIND)
    if end:
        yield begin, end
