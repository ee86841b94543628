"""A performance on an asyncio loop: what is due is said when it is due."""

from asyncio import AbstractEventLoop, Handle
from collections.abc import Sequence
from typing import Protocol

from acptap.app.play.performance import Performance
from acptap.replay.release import Release


class Audience(Protocol):
    """Who listens to a performance."""

    @property
    def is_full(self) -> bool:
        """Whether what was delivered should be taken first."""

    def deliver(self, together: Sequence[Release]) -> None:
        """Have what one read of the recording held sent in one go."""

    def finish(self) -> None:
        """Take in that nothing more will be said."""


class Pacer:
    """Has a performance speak, each read of the recording in a step of the loop of its own.

    So whoever waits for data sees the boundaries that there were.

    Args:
        performance: What is played.
        audience: Who listens.
        loop: The loop.

    Attributes:
        is_ended: Whether the client says no more. It is told what is left, and the end.
    """

    def __init__(
        self, performance: Performance, audience: Audience, loop: AbstractEventLoop
    ) -> None:
        self.is_ended = False
        self._performance = performance
        self._audience = audience
        self._loop = loop
        self._next: Handle = loop.call_soon(self._step)

    def go_on(self) -> None:
        """Look at what is due in the next step of the loop."""
        self._plan(0.0)

    def stop(self) -> None:
        """Say nothing more."""
        self._next.cancel()

    def _plan(self, seconds: float) -> None:
        self._next.cancel()
        if seconds:
            self._next = self._loop.call_later(seconds, self._step)
        else:
            self._next = self._loop.call_soon(self._step)

    def _step(self) -> None:
        self._performance.lose_patience()
        if self._audience.is_full:
            return
        due = self._performance.next_due()
        if due:
            self._audience.deliver(due)
            self._plan(0.0)
        elif self.is_ended or self._performance.is_over:
            self._audience.finish()
        elif (seconds := self._performance.wait()) is not None:
            self._plan(seconds)
