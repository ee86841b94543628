"""A client's connection and the one to the upstream that belongs to it.

What one side sends is read beside the way, shown to the spectator, and written to the other side;
how it ends is passed on in the same manner. The upstream is called when the client's first request
head is complete; when it can't be reached, a 502 says why.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from acptap.transports.dialling import Dial, Unreachable
from acptap.transports.legs import Leg
from acptap.transports.scan import Scan
from acptap.transports.spectator import Ending, Guard, Spectator
from acptap.wire.http1 import RequestHead

FAREWELL = 2.0
"""Seconds for a client that was answered with a 502 to end what it sends."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """What all pairs of a relay have in common.

    Attributes:
        upstream: Its URL, for people.
        dial: Connects a leg to it.
        rewrite: Returns a request head as the upstream is to get it.
        spectate: Makes the spectator of one pair.
        report: Is told what goes wrong beside the traffic.
        opened: Is called with a pair when its client is connected.
        closed: Is called with a pair when both of its connections are gone.
    """

    upstream: str
    dial: Dial
    rewrite: Callable[[RequestHead], bytes]
    spectate: Callable[[], Spectator]
    report: Callable[[str], None]
    opened: Callable[["Pair"], None]
    closed: Callable[["Pair"], None]


class Pair:
    """Relays one client's connection.

    Args:
        wiring: What it has in common with others.
        tasks: Where the upstream is called.

    Attributes:
        client: The leg to the client.
    """

    def __init__(self, wiring: Wiring, tasks: asyncio.TaskGroup) -> None:
        self._wiring = wiring
        self._tasks = tasks
        self._guard = Guard(wiring.spectate, wiring.report)
        self._scan = Scan(wiring.rewrite, self._guard)
        self.client = Leg(self._client_made, self._from_client, self._client_ended, self._gone)
        self._agent = Leg(self._agent_made, self._from_agent, self._agent_ended, self._gone)
        self.client.other, self._agent.other = self._agent, self.client
        self._call: asyncio.Task[None] | None = None  # the upstream is being called, or was
        self._is_calling = False
        self._waiting = b""  # for an answer to that call
        self._is_fin_held = False  # the client's, behind what the scan holds
        self._farewell: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """End both connections at once, because acptap leaves."""
        self._waiting = b""
        if self._call is not None:
            self._call.cancel()
        ends = ((self.client, self._scan.client_ended), (self._agent, self._scan.agent_ended))
        for leg, ended in ends:
            if leg.is_open and not leg.is_ended:
                ended(Ending.CLOSED)
            leg.abort()

    # The client

    def _client_made(self) -> None:
        self._wiring.opened(self)

    def _from_client(self, data: bytes) -> None:
        self._to_agent(self._scan.from_client(data))

    def _to_agent(self, data: bytes) -> None:
        if self._call is not None:
            self._agent.write(data)
        elif data:
            self._waiting = data
            self.client.hold()
            self._is_calling = True
            self._call = self._tasks.create_task(self._call_upstream(), name="call the upstream")

    def _client_ended(self, how: Ending) -> None:
        self._is_fin_held = how is Ending.FIN and self._agent.is_open and self._scan.holds
        if self._is_fin_held:
            return
        left = self._scan.client_ended(how)
        if how is Ending.RESET:
            self._agent.reset()
        elif self._agent.is_open:
            self._agent.write(left)
            self._agent.finish()
        else:  # a head that was given up is nobody's business
            self.client.finish()

    # The upstream

    async def _call_upstream(self) -> None:
        try:
            await self._wiring.dial(self._agent)
        except Unreachable as error:
            self._refuse(f"acptap can't reach {self._wiring.upstream}: {error}")
        finally:
            self._is_calling = False
            self._gone()

    def _agent_made(self) -> None:
        data, self._waiting = self._waiting, b""
        self._agent.write(data)
        if not self._agent.is_full:
            self.client.go_on()

    def _from_agent(self, data: bytes) -> None:
        released = self._scan.from_agent(data)
        self.client.write(data)
        self._release(released)

    def _release(self, data: bytes) -> None:
        self._agent.write(data)
        if self._is_fin_held and not self._scan.holds:
            self._client_ended(Ending.FIN)

    def _agent_ended(self, how: Ending) -> None:
        released = self._scan.agent_ended(how)
        if how is Ending.RESET:
            self.client.reset()
        elif how is Ending.CUT and self._scan.is_cut_short:
            self.client.reset()
            self._agent.abort()
        else:
            self._release(released)
            self.client.finish()

    # The end

    def _refuse(self, why: str) -> None:
        """Answer in place of the upstream.

        The client may be sending still, and closing now would reset it, which can destroy the
        answer. So it has time to end what it sends, and that goes nowhere.
        """
        self.client.write(self._scan.refuse(why))
        self.client.finish()
        self.client.go_on()
        loop = asyncio.get_running_loop()
        self._farewell = loop.call_later(FAREWELL, self.client.abort)

    def _gone(self) -> None:
        if self.client.is_open or self._agent.is_open or self._is_calling:
            return
        if self._farewell is not None:
            self._farewell.cancel()
        self._guard.closed()
        self._wiring.closed(self)
