"""`acptap proxy --upstream`: record what passes between HTTP clients and an agent's URL."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from socket import socket

from acptap.app.record.take import INCOMPLETE, Take, TakeOptions
from acptap.app.record.upstream import read_header, read_trust, read_upstream
from acptap.errors import UsageError
from acptap.jsonrpc import Side
from acptap.tap.network import LineTap, NetworkTap
from acptap.transports import listening
from acptap.transports.listening import Listen
from acptap.transports.relay import Relay
from acptap.transports.signals import Signals, call_on_loop
from acptap.transports.spectator import Ending
from acptap.transports.stderr import Stderr
from acptap.wire.http1 import Event
from acptap.wire.target import Upstream

_REASONS = {Ending.FIN: "", Ending.RESET: "reset", Ending.CUT: "cut", Ending.CLOSED: "closed"}
_FAREWELL = 2.0


@dataclass(frozen=True, slots=True)
class RelayOptions(TakeOptions):
    """What the user asked for.

    Attributes:
        listen: Where clients connect, as `[HOST:]PORT`; None for the default.
        allow_remote: Listen beyond this machine, too.
        protocol: What to take the traffic for: `acp`, `ag-ui` or `auto`.
        headers: Added to each request, as `NAME: VALUE`.
        keep_host: Leave the Host header as the client sent it.
        ca: Certificates to trust, beside the system's.
        insecure: Trust any certificate.
    """

    listen: str | None = None
    allow_remote: bool = False
    protocol: str = "auto"
    headers: Sequence[str] = ()
    keep_host: bool = False
    ca: Path | None = None
    insecure: bool = False


def relay_command(url: str, options: RelayOptions) -> int:
    """Relay and record until a signal asks us to end; return our exit code.

    Must be called on the main thread.

    Raises:
        UsageError: Something was asked for that can't be.
    """
    upstream = read_upstream(url)
    headers = [read_header(text) for text in options.headers]
    listen = listening.DEFAULT if options.listen is None else listening.parse_listen(options.listen)
    listening.check_reach(listen, allow_remote=options.allow_remote)
    trust = read_trust(upstream, options.ca, insecure=options.insecure)
    stderr = Stderr()
    with Signals(for_good=True) as signals, ExitStack() as undo:
        sockets = listening.open_sockets(listen)
        for opened in sockets:
            undo.callback(opened.close)
        address = listening.address_of(sockets)
        _refuse_itself(upstream, address)
        take = Take(options, stderr.say)
        undo.callback(take.discard)
        tap = NetworkTap(url, take.redactor, take.clock, options.protocol)
        relay = Relay(
            upstream, lambda: _Watch(tap.line(), take), stderr.say,
            keep_host=options.keep_host, headers=headers, trust=trust,
        )  # fmt: skip
        undo.pop_all()
        stderr.say(f"listening on {listening.url_of(address)}")
        take.begin(protocol=options.protocol, transport="http", upstream=url)
        asyncio.run(_serve(relay, sockets, signals))
        is_complete = take.close(signals)
        stderr.drain(_FAREWELL)
    return 0 if is_complete else INCOMPLETE


async def _serve(relay: Relay, sockets: Sequence[socket], signals: Signals) -> None:
    call_on_loop(signals, asyncio.get_running_loop(), relay.close)
    await relay.serve(sockets)


def _refuse_itself(upstream: Upstream, address: Listen) -> None:
    """Refuse to stand in front of ourselves, which would never end.

    Raises:
        UsageError: It is our own address.
    """
    host = upstream.host.strip("[]").lower()
    is_here = host in {address.host, "localhost"} or listening.Listen(host, 0).is_loopback
    if upstream.port == address.port and is_here and address.is_loopback:
        raise UsageError(
            "acptap would be its own agent", where="--upstream",
            fix="name the agent's port there, or another one of ours with --listen",
        )  # fmt: skip


class _Watch:
    """A spectator of the relay: what it sees goes through a tap onto the tape."""

    def __init__(self, tap: LineTap, take: Take) -> None:
        self._tap = tap
        self._record: Callable[[Callable[[int], bytes]], None] = take.record

    def from_client(self, events: list[Event]) -> None:
        """Record what the client sent."""
        self._record(lambda at: self._tap.from_client(events, at))

    def from_agent(self, events: list[Event]) -> None:
        """Record what the agent sent."""
        self._record(lambda at: self._tap.from_agent(events, at))

    def ended(self, side: Side, how: Ending) -> None:
        """Record that a side sends no more."""
        self._record(lambda at: self._tap.ended(side, _REASONS[how], at))

    def failed(self, why: str, answer: list[Event]) -> None:
        """Record that the agent can't be reached."""
        self._record(lambda at: self._tap.failed(why, answer, at))

    def untouched(self, why: str) -> None:
        """Record that the connection is not read any more."""
        self._record(lambda at: self._tap.untouched(why, at))

    def closed(self) -> None:
        """Record that both connections are gone."""
        self._record(self._tap.closed)
