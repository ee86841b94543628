"""Leaves out rows that say nothing new."""

from acptap.timeline.rows import Row


class Sieve:
    """Lets rows through but those that are routine, such as the heads around each message.

    Whether the head of a request is one is known with the entry behind it, so it is held until
    then.

    Args:
        is_open: Whether all rows go through.

    Attributes:
        left_out: How many rows did not.
    """

    def __init__(self, *, is_open: bool = False) -> None:
        self.left_out = 0
        self._is_open = is_open
        self._held: list[Row] = []

    def add(self, row: Row) -> list[Row]:
        """Take in a row and return those that go through."""
        if row.reading.is_open:
            passed, self._held = self.flush(), [row]
            return passed
        return [*self.flush(), *self._sift(row)] if self._held else self._sift(row)

    def flush(self) -> list[Row]:
        """Return what was held, if it goes through."""
        held, self._held = self._held, []
        return self._sift(held[0]) if held else []

    def _sift(self, row: Row) -> list[Row]:
        if self._is_open or not row.is_routine:
            return [row]
        self.left_out += 1
        return []
