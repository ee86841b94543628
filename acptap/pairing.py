"""Tie answers to requests, by side and id, as they stand on the wire."""

from collections import deque
from typing import Generic, TypeVar

from acptap.jsonrpc import RequestId, Side

T = TypeVar("T")
_REMEMBERED = 10_000


class Ledger(Generic[T]):
    """The open requests of a connection.

    Both sides number their own requests, so the same id is routinely open in both directions.
    An id may be used again once it is answered; if it is reused before, the oldest is answered
    first.
    """

    def __init__(self) -> None:
        self._open: dict[tuple[Side, RequestId], deque[T]] = {}
        self._settled: dict[tuple[Side, RequestId], None] = {}  # a set in order, bounded

    def open(self, asker: Side, id_: RequestId, item: T) -> bool:
        """Note a request. Returns False if its id is open already."""
        queue = self._open.setdefault((asker, id_), deque())
        queue.append(item)
        return len(queue) == 1

    def settle(self, asker: Side, id_: RequestId) -> T | None:
        """Return the request that an answer to `asker` with this id belongs to, oldest first."""
        key = (asker, id_)
        queue = self._open.get(key)
        if queue is None:
            return None
        item = queue.popleft()
        if not queue:
            del self._open[key]
        self._settled.pop(key, None)  # a dict keeps the place of a key that is set again
        self._settled[key] = None
        if len(self._settled) > _REMEMBERED:
            del self._settled[next(iter(self._settled))]
        return item

    def find(self, asker: Side, id_: RequestId) -> T | None:
        """Return the oldest open request with this id."""
        queue = self._open.get((asker, id_))
        return queue[0] if queue else None

    def was_settled(self, asker: Side, id_: RequestId) -> bool:
        """Return whether a request with this id was answered lately."""
        return (asker, id_) in self._settled

    def unanswered(self) -> list[T]:
        """Return all open requests, oldest id first."""
        return [item for queue in self._open.values() for item in queue]
