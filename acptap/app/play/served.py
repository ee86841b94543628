"""One live connection over HTTP or WebSocket, to which a cassette is played."""

import asyncio
from collections.abc import Callable, Sequence

from aiohttp.web import StreamResponse

from acptap.app.play.pacing import Pacer
from acptap.app.play.performance import Performance
from acptap.replay.framing import Framing, text_of
from acptap.replay.release import Release
from acptap.replay.script import Refused, Step
from acptap.transports.endpoint import Frame, Kind, Outlet
from acptap.wire import sse

FAREWELL = 2.0
"""Seconds in which a client may fetch what the agent said before it left."""

FRAMINGS = {Kind.HTTP: Framing.BLOCK, Kind.WEBSOCKET: Framing.TEXT}
"""What delimits messages, by how a client is connected."""


class ServedConnection:
    """Plays to a client of an endpoint. A `Peer` of the endpoint, and a pacer's `Audience`.

    Args:
        outlet: How it speaks.
        performance: What is played.
        refuse: Makes the answer to a message that was turned down in the recording.
        left: Called once, when the client needs nothing more.

    Attributes:
        id: The connection's id.
        performance: What is played.
        heard: How many messages the client has sent.
    """

    def __init__(
        self,
        outlet: Outlet,
        performance: Performance,
        refuse: Callable[[Refused], StreamResponse],
        left: Callable[["ServedConnection"], None],
    ) -> None:
        self.id = outlet.id
        self.performance = performance
        self.heard = 0
        self._outlet = outlet
        self._refuse = refuse
        self._left = left
        self._farewell: asyncio.TimerHandle | None = None  # since the agent has ended it
        self._loop = asyncio.get_running_loop()
        self._pacer = Pacer(performance, self, self._loop)
        outlet.on_drain = self._pacer.go_on

    # What the endpoint calls

    def hear(self, text: bytes) -> StreamResponse | None:
        """Take in a message of the client; return the answer to one that is turned down."""
        self.heard += 1
        refused = self.performance.hear(text)
        self._pacer.go_on()
        return None if refused is None else self._refuse(refused)

    async def drain(self) -> None:
        """Return at once: a cassette is never busy."""

    def hear_end(self) -> None:
        """Take in that the client is gone."""
        self._pacer.stop()
        self.performance.end(at_once=True)
        self._left(self)

    def take_leave(self) -> None:
        """Take in that the client wants nothing more, after the agent has ended the connection."""
        if self._farewell is not None:
            self._farewell.cancel()
            self._left(self)

    # What the pacer calls

    @property
    def is_full(self) -> bool:
        """Whether what was sent should be taken first."""
        return self._outlet.is_full

    def deliver(self, together: Sequence[Release]) -> None:
        """Send what one read of the recording held."""
        for release in together:
            if self._outlet.kind is Kind.HTTP:
                self._deliver_block(release)
            else:
                self._deliver_frame(release)

    def finish(self) -> None:
        """End as the recorded agent did."""
        ending = self.performance.ending
        self._pacer.stop()
        if ending.is_cut:
            self._outlet.abort()
        else:
            self._outlet.finish(ending.close_code, ending.reason)
        self.performance.close()
        self._farewell = self._loop.call_later(FAREWELL, self._left, self)

    def _deliver_block(self, release: Release) -> None:
        block = release.data
        if release.end is not None and release.stream is not None:
            self._outlet.end_stream(release.stream, cut=release.end.is_cut)
        elif release.noise is not None:
            self._outlet.send_raw(block, release.stream)
        else:
            text = text_of(block, Framing.BLOCK)
            self._outlet.send(text, None if sse.plain_json(block) == text else block)

    def _deliver_frame(self, release: Release) -> None:
        data = release.data
        if release.noise is not None:
            self._outlet.send_frame(_frame_of(release.noise, data), data)
        else:
            self._outlet.send(data)


def _frame_of(noise: Step, data: bytes) -> Frame:
    if noise.framing is Framing.BINARY:
        return Frame.BINARY
    try:
        data.decode()
    except UnicodeDecodeError:  # no WebSocket may carry it as text
        return Frame.BINARY
    return Frame.TEXT
