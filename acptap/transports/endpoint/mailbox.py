"""What waits for a client: a mailbox for each stream, and a store that counts them all."""

import asyncio
from collections import deque
from collections.abc import Callable, Sized
from itertools import islice
from typing import Generic, TypeVar

LIMIT = 64 * 1024 * 1024
"""Bytes that may wait for one client before its peer should stop, as in the TypeScript server."""

Item = TypeVar("Item", bound=Sized)


class Store:
    """Counts what waits for one client.

    Attributes:
        is_full: Whether the peer should stop; true until half of it has been taken.
        on_drain: Called when it is no longer full.
    """

    def __init__(self, limit: int) -> None:
        self.is_full = False
        self.on_drain: Callable[[], None] | None = None
        self._limit = limit
        self._size = 0

    def grow(self, size: int) -> None:
        """Count something that was put into a mailbox."""
        self._size += size
        if self._size >= self._limit:
            self.is_full = True

    def shrink(self, size: int) -> None:
        """Count something that was taken out of one."""
        self._size -= size
        if self.is_full and self._size <= self._limit // 2:
            self.is_full = False
            if self.on_drain is not None:
                self.on_drain()


class Limited:
    """Has a store, and tells a peer what it may know of it.

    Args:
        limit: Bytes that may wait for the client before the peer should stop.
    """

    def __init__(self, limit: int) -> None:
        self._store = Store(limit)

    @property
    def is_full(self) -> bool:
        """Whether the peer should stop for now."""
        return self._store.is_full

    @property
    def on_drain(self) -> Callable[[], None] | None:
        """Called when `is_full` is no longer true."""
        return self._store.on_drain

    @on_drain.setter
    def on_drain(self, call: Callable[[], None] | None) -> None:
        self._store.on_drain = call


class Mailbox(Generic[Item]):
    """What waits for one stream, in order. What is being sent stays in it until it has gone.

    Attributes:
        is_taken: Whether there is somebody who takes things out.
        is_ended: Whether nothing more will be put in.
    """

    def __init__(self, store: Store) -> None:
        self.is_taken = False
        self.is_ended = False
        self._store = store
        self._items: deque[Item] = deque()
        self._news = asyncio.Event()

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not self._items

    def put(self, item: Item) -> None:
        """Add something, unless the end has come."""
        if not self.is_ended:
            self._items.append(item)
            self._store.grow(len(item))
            self._news.set()

    async def look(self) -> bool:
        """Wait until something is there; return False when nothing will be any more."""
        while not self._items and not self.is_ended:
            self._news.clear()
            await self._news.wait()
        return bool(self._items)

    def peek(self, size: int) -> list[Item]:
        """Return the first item and, while they stay below `size` together, those after it."""
        count = 0
        for item in self._items:
            size -= len(item)
            if size < 0:
                break
            count += 1
        return list(islice(self._items, max(count, 1)))

    def drop(self, count: int) -> None:
        """Take out the first items. They may have been discarded meanwhile."""
        for _ in range(min(count, len(self._items))):
            self._store.shrink(len(self._items.popleft()))

    def end(self, *, discard: bool) -> None:
        """Take nothing more in; and forget what waits, if nobody will ever take it."""
        self.is_ended = True
        if discard:
            self.drop(len(self._items))
        self._news.set()
