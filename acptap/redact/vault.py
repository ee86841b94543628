"""What is known to be secret: its number, and how to find it again, however it is spelled."""

import re
from collections.abc import Iterable, Iterator

from acptap.redact.hits import PLACEHOLDER, Hit
from acptap.redact.shapes import is_worth_learning

_SAFE = re.compile(r"[ !#-.0-\[\]-~]{4,40}")
"""Characters that JSON never spells in two ways, save as `\\u00…`."""


class Vault:
    """Secrets in order of discovery.

    Args:
        first: The number of the first one.
    """

    def __init__(self, first: int) -> None:
        self._first = first
        self._numbers: dict[str, int] = {}
        self._learnt: list[str] = []  # the longest first
        self._needles: list[bytes] = []
        self._heeds_escapes = False

    @property
    def learnt(self) -> int:
        """How many secrets are to be found elsewhere."""
        return len(self._learnt)

    def number(self, secret: str) -> int:
        """Return the number of a secret, a new one if it is new."""
        return self._numbers.setdefault(secret, self._first + len(self._numbers))

    def secret(self, number: int) -> str:
        """Return the secret with a number, or nothing if it isn't known."""
        return next((known for known, its in self._numbers.items() if its == number), "")

    def learn(self, hits: Iterable[Hit], *, is_named: bool = False) -> None:
        """Remember the secrets that are to be found elsewhere too.

        Args:
            hits: Where slots have them.
            is_named: The slot is named like a credential.
        """
        for hit in hits:
            secret = hit.secret
            if (
                is_worth_learning(secret, is_named=hit.is_named or is_named)
                and secret not in self._learnt
                and PLACEHOLDER.search(secret) is None
            ):
                self._learnt.append(secret)
                self._learnt.sort(key=len, reverse=True)
                safe = max(_SAFE.findall(secret), key=len, default="")
                self._heeds_escapes = self._heeds_escapes or not safe
                self._needles.append((safe or secret).encode("utf-8", "surrogatepass"))

    def shows(self, data: bytes, start: int) -> bool:
        """Return whether a learnt secret may be in a text that disguises no ASCII characters."""
        if self._heeds_escapes and b"\\" in data:
            return True
        return any(data.find(needle, start) >= 0 for needle in self._needles)

    def found(self, text: str) -> Iterator[Hit]:
        """Yield where learnt secrets stand in a text, as they are."""
        for secret in self._learnt:
            start = text.find(secret)
            while start >= 0:
                end = start + len(secret)
                yield Hit(start, end, secret)
                start = text.find(secret, end)
