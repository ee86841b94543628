"""What is known to be secret: its number, and how to find it again, however it is spelled."""

import re
from collections.abc import Container, Iterable, Iterator
from typing import AnyStr, Generic

from acptap.redact.hits import PLACEHOLDER, Hit
from acptap.redact.names import is_worth_learning, lines_worth_learning

_SAFE = re.compile(r"[ !#-.0-\[\]-~]{4,40}")
"""Characters that JSON never spells in two ways, save as `\\u00…`."""

_BACKSLASH = re.compile(rb"\\+")
_START = 4
"""Characters, and bytes, that every secret has: the least that is learnt."""

_LONG = 12
"""Characters of a secret that is no part of an innocent word."""


class Vault:
    """Secrets in order of discovery.

    Args:
        first: The number of the first one.
    """

    def __init__(self, first: int) -> None:
        self._first = first
        self._numbers: dict[str, int] = {}
        self._secrets: list[str] = []  # by number
        self._learnt: set[str] = set()
        self._index: _Index[str] = _Index()
        self._needles: _Index[bytes] = _Index()
        self._heeds_escapes = False

    @property
    def learnt(self) -> int:
        """How many secrets are to be found elsewhere."""
        return len(self._learnt)

    def number(self, secret: str) -> int:
        """Return the number of a secret, a new one if it is new."""
        number = self._numbers.get(secret)
        if number is None:
            number = self._numbers[secret] = self._first + len(self._secrets)
            self._secrets.append(secret)
        return number

    def secret(self, number: int) -> str:
        """Return the secret with a number, or nothing if it isn't known."""
        index = number - self._first
        return self._secrets[index] if 0 <= index < len(self._secrets) else ""

    def learn(self, hits: Iterable[Hit], *, is_named: bool = False) -> None:
        """Remember the secrets that are to be found elsewhere too.

        Args:
            hits: Where slots have them.
            is_named: The slot is named like a credential.
        """
        for hit in hits:
            if is_worth_learning(hit.secret, is_named=hit.is_named or is_named):
                self._learn(hit.secret)
            for line in lines_worth_learning(hit.secret):
                self._learn(line)

    def _learn(self, secret: str) -> None:
        if secret in self._learnt or PLACEHOLDER.search(secret) is not None:
            return
        self._learnt.add(secret)
        self._index.add(secret)
        safe = max(_SAFE.findall(secret), key=len, default="")
        self._heeds_escapes = self._heeds_escapes or not safe
        self._needles.add((safe or secret).encode("utf-8", "surrogatepass"))

    def shows(self, data: bytes, start: int) -> bool:
        """Return whether a learnt secret may be in a text that disguises no ASCII characters."""
        if self._heeds_escapes and b"\\" in data:
            return True
        return next(self._needles.places(data, start), None) is not None

    def marks(self, data: bytes) -> Iterator[int]:
        """Yield where `shows` sees something; where escapes disguise it, every backslash."""
        if self._heeds_escapes:
            yield from (match.start() for match in _BACKSLASH.finditer(data))
        yield from (place for place, _ in self._needles.places(data, 0))

    def found(self, text: str) -> Iterator[Hit]:
        """Yield where learnt secrets stand in a text, as they are; short ones as whole words.

        A word ends where another secret begins: once that is replaced, nobody could tell.
        """
        borders: set[int] = set()
        todo = [(start, start + len(secret), secret) for start, secret in self._index.places(text)]
        while True:
            known = len(borders)
            ends: dict[str, int] = {}
            waiting = []
            for start, end, secret in todo:
                if start < ends.get(secret, 0):
                    continue
                if _is_apart(text, start, end, borders):
                    ends[secret] = end
                    borders.update((start, end))
                    yield Hit(start, end, secret)
                else:
                    waiting.append((start, end, secret))
            if len(borders) == known or not waiting:
                return
            todo = waiting


class _Index(Generic[AnyStr]):
    """Texts that are looked for together. None is shorter than four characters, or bytes."""

    def __init__(self) -> None:
        self._all: dict[AnyStr, None] = {}
        self._by_start: dict[AnyStr, dict[int, set[AnyStr]]] = {}  # and by length

    def add(self, text: AnyStr) -> None:
        """Look for a text from now on."""
        self._all[text] = None
        self._by_start.setdefault(text[:_START], {}).setdefault(len(text), set()).add(text)

    def places(self, text: AnyStr, start: int = 0) -> Iterator[tuple[int, AnyStr]]:
        """Yield where the texts stand in another one, those of each in order."""
        size = len(text) - start
        if size < len(self._all) * (1 + size // 1000):  # faster than a search for each
            for place in range(start, len(text) - _START + 1):
                for length, known in self._by_start.get(text[place : place + _START], {}).items():
                    piece = text[place : place + length]
                    if piece in known:
                        yield place, piece
            return
        for known_text in self._all:
            place = text.find(known_text, start)
            while place >= 0:
                yield place, known_text
                place = text.find(known_text, place + 1)


def _is_apart(text: str, start: int, end: int, borders: Container[int]) -> bool:
    """Return whether what stands there is no part of an innocent word."""
    return end - start >= _LONG or all(
        place in borders or not _goes_on(text, place) for place in (start, end)
    )


def _goes_on(text: str, place: int) -> bool:
    """Return whether a word goes on at a place; letters of other scripts are other words."""
    left, right = text[place - 1 : place] if place else "", text[place : place + 1]
    return left.isalnum() and right.isalnum() and left.isascii() is right.isascii()
