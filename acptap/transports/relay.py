"""The network proxy: whatever a client sends goes to the upstream as it is, and back.

    client ──TCP──▶ leg ─▶ scan ─▶ leg ──TCP or TLS──▶ upstream
    client ◀──────  leg ◀─ scan ◀─ leg ◀──────────────

Only request heads are touched: their target and Host, and headers the user adds. There are no
timeouts and no limits of its own; how fast, how far and in which way one side goes is what the
other side notices.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from acptap.transports import dialling, tls
from acptap.transports.dialling import Dial
from acptap.transports.pair import Pair, Wiring
from acptap.transports.spectator import Ending, Spectator
from acptap.transports.tls import SYSTEM, Trust
from acptap.wire.target import Upstream, rewrite_head

__all__ = ["BACKLOG", "Ending", "Relay", "Spectator", "Trust"]

BACKLOG = 1024
"""Clients that may wait to be accepted."""


class Relay:
    """Stands in front of an upstream.

    Args:
        upstream: Where requests go.
        spectate: Makes the spectator of one client's connection.
        report: Is told, in a sentence, what goes wrong beside the traffic.
        keep_host: Leave Host as the client sent it.
        headers: More headers for every request.
        trust: Whose certificates are believed, if the upstream is spoken to over TLS.

    Raises:
        UsageError: The certificates in `trust` can't be used.
    """

    def __init__(
        self,
        upstream: Upstream,
        spectate: Callable[[], Spectator],
        report: Callable[[str], None],
        *,
        keep_host: bool = False,
        headers: Sequence[tuple[bytes, bytes]] = (),
        trust: Trust = SYSTEM,
    ) -> None:
        self._wiring = Wiring(
            upstream=f"{upstream.scheme}://{upstream.authority.decode()}",
            dial=_dial(upstream, trust),
            rewrite=partial(rewrite_head, upstream=upstream, keep_host=keep_host, extra=headers),
            spectate=spectate,
            report=report,
            opened=self._opened,
            closed=self._closed,
        )
        self._pairs: set[Pair] = set()
        self._leaving = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()

    async def serve(self, sockets: Iterable[socket.socket]) -> None:
        """Relay until `close` is called; then all connections are ended, and all sockets closed.

        Args:
            sockets: Where clients connect. They are closed in the end.
        """
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks:
            servers = [
                await loop.create_server(
                    lambda: Pair(self._wiring, tasks).client, sock=sock, backlog=BACKLOG
                )
                for sock in sockets
            ]
            try:
                await self._leaving.wait()
            finally:
                for server in servers:
                    server.close()
                await self._leave()

    def close(self) -> None:
        """Have `serve` return soon. Call it on the thread of its event loop."""
        self._leaving.set()

    async def _leave(self) -> None:
        self._leaving.set()
        for pair in list(self._pairs):
            pair.close()
        for _ in range(_ACCEPTING):
            await asyncio.sleep(0)
        await self._empty.wait()

    def _opened(self, pair: Pair) -> None:
        self._pairs.add(pair)
        self._empty.clear()
        if self._leaving.is_set():
            pair.close()

    def _closed(self, pair: Pair) -> None:
        self._pairs.discard(pair)
        if not self._pairs:
            self._empty.set()


_ACCEPTING = 3
"""Turns of the event loop in which a connection that was just accepted is made known."""


def _dial(upstream: Upstream, trust: Trust) -> Dial:
    if upstream.is_tls:
        return partial(tls.dial, upstream.host, upstream.port, trust.context())
    return partial(dialling.dial, upstream.host, upstream.port)
