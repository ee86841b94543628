"""What decides in generated conversations."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Chance(Protocol):
    """Makes decisions; `random.Random` does, for one."""

    def randrange(self, stop: int, /) -> int: ...
    def choice(self, seq: Sequence[T], /) -> T: ...


class Decisions:
    """Decisions written down as bytes, which Hypothesis draws and makes smaller far faster.

    Where they end, and where they are zero, the first of all possibilities is taken.
    """

    def __init__(self, data: bytes) -> None:
        self._left = iter(data)

    def randrange(self, stop: int, /) -> int:
        assert 0 < stop <= 1 << 16
        number = next(self._left, 0)
        if stop <= 1 << 8:
            return number * stop >> 8
        return (number << 8 | next(self._left, 0)) * stop >> 16

    def choice(self, seq: Sequence[T], /) -> T:
        return seq[self.randrange(len(seq))]

    def __repr__(self) -> str:
        return "Decisions(...)"
