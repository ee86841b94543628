"""A unit that was written in pieces, joined so that it can be read."""

from acptap.replay.script import Step

JOINED_LIMIT = 64 * 1024 * 1024
"""Bytes up to which a unit is joined."""


class Pieces:
    """A unit that is coming in pieces."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._raw: list[bytes] = []
        self._size = 0

    @property
    def first(self) -> Step:
        """The step of its first piece."""
        return self._steps[0]

    def add(self, step: Step, raw: bytes) -> None:
        """Take in the next piece."""
        self._steps.append(step)
        self._size += len(raw)
        if self._size > JOINED_LIMIT:
            self._raw.clear()
        else:
            self._raw.append(raw)

    def finish(self) -> tuple[Step, bytes]:
        """Return the step of the whole unit, and the unit; nothing of one that is too long."""
        first, *rest = self._steps
        first.pieces = tuple(rest)
        return first, b"" if self._size > JOINED_LIMIT else b"".join(self._raw)
