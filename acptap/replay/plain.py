"""Recorded exchanges that carry no conversation, to be played one by one.

They are health checks, redirects, attempts to connect that were turned down, and what else passed.
"""

from collections.abc import Sequence
from enum import StrEnum
from urllib.parse import urlsplit

from acptap.replay.exchanges import CONNECTION_ID, Exchange


class Purpose(StrEnum):
    """What a request is for."""

    INITIALIZE = "initialize"
    """It would begin a connection."""
    SOCKET = "socket"
    """Likewise, a WebSocket."""
    STALE = "stale"
    """It is for a connection that nobody knows."""
    OTHER = "other"


_BEGINNINGS = (Purpose.INITIALIZE, Purpose.SOCKET)


class PlainExchanges:
    """Finds the recorded exchange that a live request is to be answered with.

    Equal requests get the recorded answers in order, and the last one again and again. An attempt
    to connect is turned down as often as it was at that place of the recording.

    Args:
        exchanges: Those that carry no conversation, in recorded order.
        has_connections: Whether the recording holds connections too.
    """

    def __init__(self, exchanges: Sequence[Exchange], *, has_connections: bool) -> None:
        self._exchanges = exchanges
        self._has_connections = has_connections
        self._played: set[Exchange] = set()

    @property
    def are_played(self) -> bool:
        """Whether each of them was asked for."""
        return len(self._played) == len(self._exchanges)

    def take(self, purpose: Purpose, method: str, target: str, begun: int) -> Exchange | None:
        """Return the answer to a live request, or None if there is none.

        Args:
            purpose: What it is for.
            method: Its method.
            target: Its target.
            begun: How many live connections have begun.
        """
        fitting = [
            exchange
            for exchange in self._exchanges
            if _purpose(exchange) is purpose
            and exchange.request.method == method
            and fits(exchange.request.target, target)
        ]
        equal = [exchange for exchange in fitting if exchange.request.target == target]
        found = self._next(equal or fitting, purpose, begun)
        if found is not None:
            self._played.add(found)
        return found

    def _next(self, fitting: list[Exchange], purpose: Purpose, begun: int) -> Exchange | None:
        is_beginning = purpose in _BEGINNINGS
        for exchange in fitting:
            is_due = not is_beginning or exchange.begun <= begun
            if is_due and exchange not in self._played:
                return exchange
        if not fitting or (is_beginning and self._has_connections):
            return None
        return fitting[-1]


def _purpose(exchange: Exchange) -> Purpose:
    if exchange.is_initialize:
        return Purpose.INITIALIZE
    if exchange.asks_socket:
        return Purpose.SOCKET
    has_id = exchange.request.value(CONNECTION_ID) is not None
    return Purpose.STALE if has_id else Purpose.OTHER


def fits(recorded: str, live: str) -> bool:
    """Return whether two targets are one, but for what stands in front of the path."""
    path, query = _parts(recorded)
    other, other_query = _parts(live)
    if query != other_query:
        return False
    shorter, longer = sorted((path, other), key=len)
    return shorter == longer or (shorter != "/" and longer.endswith(shorter))


def _parts(target: str) -> tuple[str, str]:
    """Return the path, which begins with a slash, and the query."""
    if not target.startswith("/"):  # in absolute form
        target = urlsplit(target)._replace(scheme="", netloc="", fragment="").geturl()
    path, _, query = target.partition("?")
    return path, query
