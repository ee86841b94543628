"""Checks of a message's own text: what no longer shows once it is parsed."""

import json
import re
from collections import Counter

from acptap.acp.rules import note
from acptap.notes import Note
from acptap.wire import jsontext

_VERSION = b'"jsonrpc":"2.0"'
_NAME = b'":'
_SPACED_NAME = re.compile(rb'"[ \t\r\n]+:')
_LONGEST = 100
_FEW = 1
"""Quotes in the rest of a text that can't make a member: one ends the string it begins in."""


class Envelope:
    """One side's messages, looked at as text.

    Messages that stream a text are alike but for that text. One with the same beginning as one
    that was found to be sound, and with too few quotes behind it for another member, is sound too
    and isn't looked at again.
    """

    def __init__(self) -> None:
        self._beginning = _VERSION  # of a sound message; no message begins like this
        self._end = 0
        self._quotes = 0  # behind the beginning
        self._unversioned = False

    def sound(self, text: bytes) -> bool:
        """Return whether a message is known to have nothing wrong with it."""
        return text.startswith(self._beginning) and text.count(b'"', self._end) == self._quotes

    def check(self, value: object, text: bytes) -> list[Note]:
        """Return what is wrong with a message, or with the members of a batch."""
        notes = []
        if not self._unversioned and not _says_version(value):
            self._unversioned = True
            notes.append(note("jsonrpc/version"))
        twice = _duplicates(value, text)
        if twice:
            notes.append(note("jsonrpc/duplicate-member", member=twice[0][:_LONGEST]))
        if not notes:
            self._learn(text)
        return notes

    def _learn(self, text: bytes) -> None:
        end = text.rfind(b':"') + 2
        quotes = text.count(b'"', end)
        if _VERSION in text[:end] and quotes <= _FEW:
            self._beginning, self._end, self._quotes = text[:end], end, quotes


def _says_version(value: object) -> bool:
    """Return whether all messages in a value say their version; what is no message need not."""
    messages = value if isinstance(value, list) else [value]
    return all(message.get("jsonrpc") == "2.0" for message in messages if isinstance(message, dict))


def _duplicates(value: object, text: bytes) -> list[str]:
    """Return the names that are written more than once in one object."""
    try:
        if text.count(_NAME) == _members(value) and not _SPACED_NAME.search(text):
            return []
        twice: list[str] = []
        json.loads(
            text.removeprefix(jsontext.MARK).decode("utf-8", "replace"),
            object_pairs_hook=lambda pairs: twice.extend(_repeated(pairs)),
            parse_int=len, parse_float=len,
        )  # fmt: skip
    except RecursionError:  # nested deeper than Python looks
        return []
    return twice


def _members(value: object) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_members, value.values()))
    return sum(map(_members, value)) if isinstance(value, list) else 0


def _repeated(pairs: list[tuple[str, object]]) -> list[str]:
    counts = Counter(name for name, _ in pairs)
    return [name for name, count in counts.items() if count > 1]
