"""Tables of checks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from acptap.acp.rules import RULES

Found = dict[str, object] | None
"""The particulars of a broken rule, or None."""

C = TypeVar("C", bound=Callable[..., Found])
Rows = tuple[tuple[str, C], ...]
_UNDECIDED = 0
_LATEST = 2


class Table(Generic[C]):
    """Checks by what they look at: a method, an update, or a moment.

    Args:
        rows: For each of these, the checks with the ids of their rules. While no version is
            negotiated only those run that hold in all.
    """

    def __init__(self, rows: Mapping[str, Sequence[tuple[str, C]]]) -> None:
        self._rows: list[dict[str, Rows[C]]] = [
            {key: held for key, checks in rows.items() if (held := _held(checks, version))}
            for version in range(_LATEST + 1)
        ]

    def rows(self, version: int | None, key: str) -> Rows[C]:
        """Return the checks of one thing that hold in a version, with their rules."""
        return self._rows[min(version or _UNDECIDED, _LATEST)].get(key, ())


def _held(checks: Sequence[tuple[str, C]], version: int) -> Rows[C]:
    return tuple(
        (rule, check)
        for rule, check in checks
        if not RULES[rule].versions or version in RULES[rule].versions
    )
