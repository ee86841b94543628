"""Who watches a relayed connection, and what is told; watching never changes what passes."""

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from acptap.jsonrpc import Side
from acptap.wire.http1 import Event


class Ending(StrEnum):
    """How what one side sends came to its end."""

    FIN = "fin"
    """In order."""
    RESET = "reset"
    """By a TCP reset, or because the kernel has given the peer up."""
    CUT = "cut"
    """TLS only: the TCP connection ended without a close_notify, so something may be missing."""
    CLOSED = "closed"
    """By acptap itself, which is leaving."""


class Spectator(Protocol):
    """Watches one client's connection and the one to the upstream that belongs to it.

    It is told everything in the order in which the bytes came, and before they are passed on. What
    it raises switches it off; the traffic goes on.
    """

    def from_client(self, events: list[Event]) -> None:
        """The client sent something; the list is not empty.

        What stands behind a request for an upgrade comes when that has been answered.
        """

    def from_agent(self, events: list[Event]) -> None:
        """The upstream sent something; the list is not empty."""

    def ended(self, side: Side, how: Ending) -> None:
        """A side sends no more. A FIN may be followed by a RESET of the same side."""

    def failed(self, why: str, answer: list[Event]) -> None:
        """The upstream can't be reached, and acptap answers itself.

        What the client still sends is shown, and goes nowhere.

        Args:
            why: The reason, as the client reads it.
            answer: The events of that answer, a 502.
        """

    def untouched(self, why: str) -> None:
        """From here on nothing that the client sends is rewritten. At most once."""

    def closed(self) -> None:
        """Both connections are gone. The last call, always, and once."""


class Guard:
    """Keeps what a spectator raises away from the traffic.

    It has a spectator's methods, and calls that one's until the first that fails.

    Args:
        spectate: Makes the spectator.
        report: Is told, once, that it failed.
    """

    def __init__(self, spectate: Callable[[], Spectator], report: Callable[[str], None]) -> None:
        self._report = report
        self._spectator: Spectator | None = None
        try:
            self._spectator = spectate()
        except Exception as error:  # whatever it is, the traffic goes on
            self._give_up(error)

    def from_client(self, events: list[Event]) -> None:
        """Show what the client sent, if anything was read from it."""
        if events:
            self._tell("from_client", events)

    def from_agent(self, events: list[Event]) -> None:
        """Show what the upstream sent, if anything was read from it."""
        if events:
            self._tell("from_agent", events)

    def ended(self, side: Side, how: Ending) -> None:
        """Tell how a side ended."""
        self._tell("ended", side, how)

    def failed(self, why: str, answer: list[Event]) -> None:
        """Tell that acptap answers for an upstream that can't be reached."""
        self._tell("failed", why, answer)

    def untouched(self, why: str) -> None:
        """Tell that nothing is rewritten any more."""
        self._tell("untouched", why)

    def closed(self) -> None:
        """Tell that all is over."""
        self._tell("closed")

    def _tell(self, method: str, *args: object) -> None:
        if self._spectator is None:
            return
        try:
            getattr(self._spectator, method)(*args)
        except Exception as error:  # whatever it is
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self._spectator = None
        self._report(
            f"a connection is no longer watched ({type(error).__name__}: {error}); "
            "its traffic goes on"
        )
