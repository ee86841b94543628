"""What an endpoint serves: a peer for each ACP connection, and how the two talk.

All of it happens on the event loop that the endpoint was started on.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from aiohttp import web


class Kind(StrEnum):
    """How a client is connected."""

    HTTP = "http"
    WEBSOCKET = "websocket"


class Frame(StrEnum):
    """The WebSocket frames that a peer may send."""

    TEXT = "text"
    BINARY = "binary"
    PING = "ping"
    PONG = "pong"


class Peer(Protocol):
    """What is behind one ACP connection: an agent, or who plays one. It never raises."""

    def hear(self, text: bytes) -> web.StreamResponse | None:
        """Take in a message of the client, as the client spelt it. The first is `initialize`.

        It is a JSON object (or, where batches are taken, an array), and there may be line ends
        between its tokens.

        Returns:
            What a POST is answered with, if the message is refused; it is not asked for otherwise.
        """

    async def drain(self) -> None:
        """Return when more may be heard: at once, unless the client has to wait.

        When the client is gone nothing has to wait any more.
        """

    def hear_end(self) -> None:
        """Take in that the client is gone. Called once and last, unless the peer had finished."""


class Outlet(Protocol):
    """How a peer speaks to its client.

    Attributes:
        kind: How the client is connected.
        on_drain: Called when `is_full` is no longer true.
    """

    kind: Kind
    on_drain: Callable[[], None] | None

    @property
    def id(self) -> str:
        """The connection's id."""

    @property
    def is_full(self) -> bool:
        """Whether so much waits for the client that the peer should stop for now."""

    def send(self, text: bytes, block: bytes | None = None) -> None:
        """Send a message.

        Args:
            text: Its JSON text.
            block: How an event stream spells it, if that is not `data: `, the text and an empty
                line; with its empty line.
        """

    def send_raw(self, block: bytes, session: str | None = None) -> bool:
        """Send a block that is no message on the event stream of a session, or the connection's.

        Returns:
            False if the client has no event streams.
        """

    def end_stream(self, session: str, *, cut: bool) -> None:
        """End a session's event stream when what was sent on it has been taken.

        Another may be opened. Where there is none, nothing happens.

        Args:
            session: The session.
            cut: Break it off, rather than end it properly.
        """

    def send_frame(self, frame: Frame, data: bytes) -> bool:
        """Send a WebSocket frame that is no message.

        Returns:
            False if the client has no WebSocket.
        """

    def finish(self, code: int | None = None, reason: str = "") -> None:
        """End the connection when what was sent has been taken.

        Args:
            code: The code of the WebSocket's close frame; None for a frame without one.
            reason: Its reason; and what a client is told whose `initialize` was not answered.
        """

    def abort(self) -> None:
        """Break the connection off when what was sent has been taken, without a proper end."""


MakePeer = Callable[[Outlet], Peer]
"""Makes what is behind a new connection; an `AcptapError` it raises is told to the client."""
