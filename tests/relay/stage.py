"""A stage for the relay: an event loop on a thread of its own, and the relays that run on it."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from acptap.jsonrpc import Side
from acptap.transports.relay import Ending, Relay, Spectator
from acptap.wire.http1 import Body, End, Event, Lost, Raw, RequestHead, ResponseHead
from acptap.wire.target import Upstream

PATIENCE = 10.0
EVENTS = (RequestHead, ResponseHead, Body, End, Raw, Lost)


class Diary:
    """A spectator that writes everything down, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.is_closed = threading.Event()

    def from_client(self, events: list[Event]) -> None:
        self.calls += [("client", event) for event in events]

    def from_agent(self, events: list[Event]) -> None:
        self.calls += [("agent", event) for event in events]

    def ended(self, side: Side, how: Ending) -> None:
        self.calls.append((str(side), how))

    def failed(self, why: str, answer: list[Event]) -> None:
        self.calls.append(("failed", why, answer))

    def untouched(self, why: str) -> None:
        self.calls.append(("untouched", why))

    def closed(self) -> None:
        self.calls.append(("closed",))
        self.is_closed.set()

    @property
    def events(self) -> list[tuple[str, Event]]:
        """Return what was read, and whose it was."""
        return [(call[0], call[1]) for call in self.calls if isinstance(call[-1], EVENTS)]

    def endings(self) -> list[tuple[str, Ending]]:
        """Return how the sides ended, in order."""
        return [call for call in self.calls if isinstance(call[-1], Ending)]


class Fainting:
    """A spectator of which every method raises."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        def faint(*_: object) -> None:
            raise RuntimeError(f"fainted in {name}")

        return faint


@dataclass
class Running:
    """A relay that accepts clients, and what is known of it."""

    relay: Relay
    address: Any
    served: Future[None]
    reports: list[str]
    diaries: list[Diary]
    news: threading.Condition

    @property
    def authority(self) -> bytes:
        host, port, *_ = self.address
        return (f"[{host}]:{port}" if ":" in host else f"{host}:{port}").encode()

    def connect(self) -> socket.socket:
        sock = socket.create_connection(self.address[:2], timeout=PATIENCE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def diary(self, number: int = 0) -> Diary:
        """Return the diary of the so-manyth connection, when that is over."""
        with self.news:
            assert self.news.wait_for(lambda: len(self.diaries) > number, PATIENCE)
        diary = self.diaries[number]
        assert diary.is_closed.wait(PATIENCE), diary.calls
        return diary


class Stage:
    """The loop. What goes wrong on it unheard is in `faults`."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.faults: list[dict[str, Any]] = []
        self.loop.set_exception_handler(lambda _, context: self.faults.append(context))
        self._thread = threading.Thread(target=self.loop.run_forever, name="stage")
        self._thread.start()

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call something on the loop's thread and return its result."""

        async def run() -> Any:
            return function(*args)

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(PATIENCE)

    @contextmanager
    def relay(
        self,
        upstream: str,
        spectate: Callable[[], Spectator] | None = None,
        sockets: Sequence[socket.socket] = (),
        **options: Any,
    ) -> Iterator[Running]:
        """Run a relay; in the end it must have closed everything."""
        sockets = sockets or [socket.create_server(("127.0.0.1", 0))]
        reports: list[str] = []
        diaries: list[Diary] = []
        news = threading.Condition()

        def write_diary() -> Diary:
            with news:
                diaries.append(Diary())
                news.notify_all()
                return diaries[-1]

        relay = Relay(Upstream.parse(upstream), spectate or write_diary, reports.append, **options)
        address = sockets[0].getsockname()
        served = asyncio.run_coroutine_threadsafe(relay.serve(sockets), self.loop)
        try:
            yield Running(relay, address, served, reports, diaries, news)
        finally:
            self.loop.call_soon_threadsafe(relay.close)
            with suppress(CancelledError):
                served.result(PATIENCE)
        assert all(diary.is_closed.is_set() for diary in diaries)
        assert all(sock.fileno() == -1 for sock in sockets)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE)
        tasks = asyncio.all_tasks(self.loop)
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        assert not tasks
        assert not self.faults
