"""Recorded exchanges that carry no conversation, to be played one by one.

They are health checks, redirects, attempts to connect that were turned down, and what else passed.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from urllib.parse import urlsplit

from acptap.http import CONNECTION_ID
from acptap.replay.exchanges import Exchange
from acptap.replay.report import Miss, Report

CONN = -2
"""What stands for these exchanges where reports are told apart by connections."""

_OWN_METHODS = frozenset({"OPTIONS"})
_OWN_NAMES = frozenset(
    {
        "apple-touch-icon-precomposed.png", "apple-touch-icon.png",
        "com.chrome.devtools.json", "favicon.ico",
    }
)  # fmt: skip
"""What browsers ask for by themselves: it may come or not."""


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
        self._seen: set[Purpose] = set()
        self._unmatched: list[Miss] = []
        self._noted: Counter[str] = Counter()

    @property
    def are_played(self) -> bool:
        """Whether each of them was asked for that must be."""
        return not any(map(self._is_missed, self._exchanges))

    def report(self) -> Report:
        """Return what has become of them so far."""
        missed = filter(self._is_missed, self._exchanges)
        unplayed = sorted(line for exchange in missed for line in exchange.lines)
        noted = [f"{what}{f', {n} times' * (n > 1)}" for what, n in self._noted.items()]
        return Report(CONN, [*self._unmatched], unplayed=unplayed, noted=noted)

    def turned_away(self) -> None:
        """Take in that a client began a connection, and there is none to be played."""
        what = "initialize is not in the cassette, which holds no ACP connection"
        self._unmatched.append(Miss(what))

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
        self._seen.add(purpose)
        if found is not None:
            self._played.add(found)
        elif purpose is Purpose.OTHER:
            self._miss(method, target)
        return found

    def _miss(self, method: str, target: str) -> None:
        what = f"{method} {target} is not in the cassette"
        if _is_own(method, target):
            self._noted[what] += 1
        else:
            self._unmatched.append(Miss(what))

    def _is_missed(self, exchange: Exchange) -> bool:
        """Return whether an exchange was not asked for, and should have been.

        How often a client tries to connect is seen only where it connects as the recorded one did;
        what it wants of a connection that is gone is its own affair, as long as there are others.
        """
        if exchange in self._played:
            return False
        purpose = _purpose(exchange)
        if purpose is Purpose.OTHER:
            return not _is_own(exchange.request.method, exchange.request.target)
        if not self._has_connections:
            return True
        return purpose in _BEGINNINGS and purpose in self._seen

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


def _is_own(method: str, target: str) -> bool:
    path, _ = _parts(target)
    return method in _OWN_METHODS or path.rpartition("/")[2] in _OWN_NAMES


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
