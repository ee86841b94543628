"""Finds secrets in texts: what was learnt, what looks like a key, and what the user described."""

import re
from collections.abc import Iterable

from acptap.errors import UsageError
from acptap.redact.hits import Hit
from acptap.redact.layers import layers
from acptap.redact.shapes import (
    TRIGGERS,
    Triggers,
    assigned,
    matched,
    pem_borders,
    pem_lines,
    shaped,
)
from acptap.redact.vault import Vault

_PEM_UNITS = 200
"""Lines of a key, and others between them, that come one by one."""


class Finder:
    """Finds secrets.

    Args:
        patterns: What else is secret, as regular expressions.
        vault: Knows what was learnt.

    Attributes:
        reads_all: Whether every text must be read, for anything may match.

    Raises:
        UsageError: A pattern is no regular expression.
    """

    def __init__(self, patterns: Iterable[str], vault: Vault) -> None:
        self._patterns = [_compile(pattern) for pattern in patterns]
        self.reads_all = bool(self._patterns)
        self._vault = vault
        self._pem = 0  # texts that may still belong to a key that began and did not end

    @property
    def is_in_key(self) -> bool:
        """Whether the next text may go on with a key that came line by line."""
        return self._pem > 0

    def shows(self, data: bytes, start: int = 0, triggers: Triggers = TRIGGERS) -> bool:
        """Return whether a text must be read: there is a trace of a secret, or all are."""
        if self.reads_all:
            return True
        for gate, pattern in triggers:
            if gate in data and pattern.search(data, start):
                return True
        return self._vault.shows(data, start)

    def found(self, text: str, *, is_shown: bool = True, is_log: bool = False) -> list[Hit]:
        """Return the secrets in a text, and those in JSON that it quotes.

        Args:
            text: The text.
            is_shown: Whether there may be any but those of a log.
            is_log: Whether what is assigned to telling names counts too.
        """
        hits: list[Hit] = []
        for layer in layers(text):
            if is_shown:
                hits += layer.raised(self._in_layer(layer.text))
            if is_log:
                hits += layer.raised(assigned(layer.text))
        return hits

    def in_key(self, text: str) -> list[Hit]:
        """Return the lines of a key that began in a former text, and heed where one begins."""
        end, left = len(text), self._pem
        for is_begin, place in pem_borders(text):
            end = min(end, place)
            left = _PEM_UNITS if is_begin else 0
        hits = list(pem_lines(text[:end])) if self._pem else []
        self._pem = max(0, left - 1)
        return hits

    def _in_layer(self, text: str) -> list[Hit]:
        hits = [*self._vault.found(text), *shaped(text)]
        for pattern in self._patterns:
            hits += matched(pattern, text)
        return hits


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"`{pattern}` is no regular expression ({error})", where="--redact",
            fix="correct it, or escape what is meant literally",
        ) from error  # fmt: skip
