"""An ACP connection over Streamable HTTP: one `Acp-Connection-Id`, many requests and streams."""

import asyncio
import re
from collections.abc import Callable, Sequence
from uuid import uuid4

from aiohttp import web

from acptap.jsonrpc import Message, Request, Response, read_all
from acptap.transports.endpoint.mailbox import Limited, Mailbox
from acptap.transports.endpoint.peer import Frame, Kind, Peer
from acptap.transports.endpoint.routes import Routes, key_of
from acptap.wire import jsontext


class Mark(bytes):
    """Stands among the blocks of an event stream where it is ended, and another may follow."""


END, CUT = Mark(b"end"), Mark(b"cut")

_LINE_END = re.compile(rb"\r\n|\r|\n")


class HttpConnection(Limited):
    """The outlet of a peer whose client uses HTTP.

    Args:
        initialize: The request that began it.
        limit: Bytes that may wait for the client before the peer should stop.

    Attributes:
        id: Its `Acp-Connection-Id`.
        kind: How the client is connected.
        peer: What is behind it.
        answer: The response to `initialize`; None when the agent ended without one.
        reason: Why the agent ended, as far as it said.
        is_over: Whether the agent has ended.
        is_cut: Whether it ended in a way that cuts the streams.
    """

    kind = Kind.HTTP
    peer: Peer

    def __init__(self, initialize: Request, limit: int) -> None:
        super().__init__(limit)
        self.id = str(uuid4())
        self.answer: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        self.reason = ""
        self.is_over = False
        self.is_cut = False
        self._initialize = key_of(initialize.id)
        self._own: Mailbox[bytes] = Mailbox(self._store)
        self._sessions: dict[str, Mailbox[bytes]] = {}
        self._routes = Routes(self._sessions)
        self._writers: set[Callable[[], None]] = set()

    # What the peer calls

    def send(self, text: bytes, block: bytes | None = None) -> None:
        """Send a message on the stream that it belongs to, or as the answer to `initialize`."""
        if self.is_over:
            return
        messages = _read(text)
        if not self.answer.done() and self._is_answer(messages):
            self.answer.set_result(text)
            return
        stream = self._routes.route(messages)
        self._mailbox(stream).put(block_of(text) if block is None else block)

    def send_raw(self, block: bytes, session: str | None = None) -> bool:
        """Send a block that is no message."""
        if not self.is_over:
            self._mailbox(session).put(block)
        return True

    def end_stream(self, session: str, *, cut: bool) -> None:
        """End a session's event stream when what waits on it has been taken."""
        mailbox = self._find(session)
        if mailbox.is_taken or not mailbox.is_empty:
            mailbox.put(CUT if cut else END)

    def send_frame(self, frame: Frame, data: bytes) -> bool:
        """Return that there is no WebSocket."""
        return False

    def finish(self, code: int | None = None, reason: str = "") -> None:
        """End the streams when what waits has been taken."""
        if not self.is_over:
            self.is_over = True
            self.reason = reason
            self._end(discard=False)

    def abort(self) -> None:
        """Cut the streams when what waits has been taken."""
        self.is_cut = True
        self.finish()

    # What the endpoint calls

    def hear(
        self, text: bytes, messages: Sequence[Message], session: str | None
    ) -> web.StreamResponse | None:
        """Pass on a client's message that came with `Acp-Session-Id`, or without.

        Returns:
            How the peer refuses it, if it does.
        """
        for message in messages:
            self._routes.hear(message, session)
        refused = self.peer.hear(text)
        if refused is not None:
            self._routes.forget(messages)
        return refused

    def asked_on(self, response: Response) -> str | None:
        """Return on which session's stream the agent asked what a response answers."""
        return self._routes.asked_on(response.id)

    def is_open(self, session: str | None) -> bool:
        """Return whether something may still come on a stream."""
        return not (self.is_over and self._find(session).is_empty)

    def is_taken(self, session: str | None) -> bool:
        """Return whether somebody listens to a stream."""
        return self._find(session).is_taken

    def take(self, session: str | None) -> Mailbox[bytes]:
        """Return the mailbox of a stream, for who listens to it from now on."""
        mailbox = self._mailbox(session)
        mailbox.is_taken = True
        return mailbox

    def watch(self, drop: Callable[[], None]) -> Callable[[], None]:
        """Have something called when the client ends the connection; return how to stop that."""
        self._writers.add(drop)
        return lambda: self._writers.discard(drop)

    def end(self) -> None:
        """Take in that the client is gone."""
        self.close()
        self._end(discard=True)
        for drop in self._writers:
            drop()

    def close(self) -> None:
        """End the connection on behalf of the server, when what waits has been taken."""
        was_over, self.is_over = self.is_over, True
        self._end(discard=False)
        if not was_over:
            self.peer.hear_end()

    def _end(self, *, discard: bool) -> None:
        if not self.answer.done():
            self.answer.set_result(None)
        for mailbox in (self._own, *self._sessions.values()):
            mailbox.end(discard=discard)

    def _is_answer(self, messages: Sequence[Message]) -> bool:
        match messages:
            case [Response(id=id_)]:
                return key_of(id_) == self._initialize
            case _:
                return False

    def _find(self, session: str | None) -> Mailbox[bytes]:
        """Return the mailbox of a stream; if it has none, an empty one that is not kept."""
        if session is None:
            return self._own
        return self._sessions.get(session) or Mailbox(self._store)

    def _mailbox(self, session: str | None) -> Mailbox[bytes]:
        mailbox = self._find(session)
        if session is not None and not self.is_over:
            self._sessions[session] = mailbox
        return mailbox


def _read(text: bytes) -> list[Message]:
    """Return the messages in a text; what is no JSON goes where everything goes that is unknown."""
    try:
        value = jsontext.parse(text)
    except ValueError:
        return []
    return read_all(value, text)


def block_of(text: bytes) -> bytes:
    """Return the block of an event stream that carries a text."""
    lines = _LINE_END.split(text) if b"\n" in text or b"\r" in text else (text,)
    return b"".join(b"data: %s\n" % line for line in lines) + b"\n"
