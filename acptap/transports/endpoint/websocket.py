"""An ACP connection over one WebSocket: every message in one ordered stream."""

import asyncio
import contextlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from aiohttp import WSMsgType, web

from acptap.errors import AcptapError
from acptap.jsonrpc import Malformed, Message, Response, read_all
from acptap.transports.endpoint import answers
from acptap.transports.endpoint.mailbox import Limited, Mailbox
from acptap.transports.endpoint.peer import Frame, Kind, MakePeer, Peer
from acptap.transports.endpoint.routes import Key, key_of
from acptap.wire import jsontext

CLOSING_TIME = 2.0
"""Seconds a client may take to answer our close frame."""

PROTOCOL_ERROR, INTERNAL_ERROR = 1002, 1011
"""Close codes."""

_OPCODES = {
    Frame.TEXT: WSMsgType.TEXT,
    Frame.BINARY: WSMsgType.BINARY,
    Frame.PING: WSMsgType.PING,
    Frame.PONG: WSMsgType.PONG,
}
_LONGEST_REASON = 123  # bytes
_MESSAGES = (WSMsgType.TEXT, WSMsgType.BINARY)
_UNSPOKEN = (1005, 1006, 1015)
_NOT_FIRST: Final = "First message must be initialize"


@dataclass(slots=True)
class _Outgoing:
    opcode: WSMsgType
    data: bytes

    def __len__(self) -> int:
        return len(self.data)


class WebSocketConnection(Limited):
    """The outlet of a peer whose client uses a WebSocket.

    Args:
        make_peer: Makes what is behind it, once the client has asked to initialize.
        takes_batches: Whether arrays of messages are passed on.
        limit: Bytes that may wait for the client before the peer should stop.

    Attributes:
        id: Its `Acp-Connection-Id`.
        kind: How the client is connected.
    """

    kind = Kind.WEBSOCKET

    def __init__(self, make_peer: MakePeer, *, takes_batches: bool, limit: int) -> None:
        super().__init__(limit)
        self.id = str(uuid4())
        self._make_peer = make_peer
        self._takes_batches = takes_batches
        self._peer: Peer | None = None
        self._initialize: Key = None  # while it is not answered
        self._asked_as: object = None  # its id, as JSON
        self._mailbox: Mailbox[_Outgoing] = Mailbox(self._store)
        self._farewell: bytes | None = b""  # the close frame's payload; None: no close frame
        self._is_over = False  # the peer hears no more
        self._is_closed = False  # our close frame is on its way
        self._is_lost = False  # nobody is there to be waited for

    # What the peer calls

    def send(self, text: bytes, block: bytes | None = None) -> None:
        """Send a message."""
        if self._initialize is not None and _answered(text) == self._initialize:
            self._initialize = None
        self._put(WSMsgType.TEXT, text)

    def send_raw(self, block: bytes, session: str | None = None) -> bool:
        """Return that there are no event streams."""
        return False

    def end_stream(self, session: str, *, cut: bool) -> None:
        """Do nothing: there are no event streams."""

    def send_frame(self, frame: Frame, data: bytes) -> bool:
        """Send a frame that is no message."""
        self._put(_OPCODES[frame], data)
        return True

    def finish(self, code: int | None = None, reason: str = "") -> None:
        """Close when what waits has been taken."""
        if self._is_over:
            return
        self._is_over = True
        if self._initialize is not None:
            self._say(answers.failed(self._asked_as, reason))
            code = code or INTERNAL_ERROR
        self._close(code, reason)

    def abort(self) -> None:
        """End without a close frame when what waits has been taken."""
        if not self._is_over:
            self._is_over = True
            self._farewell = None
            self._mailbox.end(discard=False)

    # What the endpoint calls

    def end(self, code: int, reason: str) -> None:
        """Close on behalf of the server."""
        self._close(code, reason)
        self._hear_end()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve the client to the end."""
        transport = request.transport
        assert transport is not None
        offered = request.headers.get("Sec-WebSocket-Protocol", "").split(",")[:1]
        socket = web.WebSocketResponse(
            timeout=CLOSING_TIME,
            autoclose=False,
            max_msg_size=0,
            protocols=[protocol.strip() for protocol in offered if protocol.strip()],
        )
        socket.headers["Acp-Connection-Id"] = self.id
        try:
            await socket.prepare(request)
            async with asyncio.TaskGroup() as tasks:
                writing = tasks.create_task(
                    self._write(socket, transport), name=f"websocket {self.id}"
                )
                code = await self._read(socket, request)
                writing.cancel()
            if code is not None:
                with contextlib.suppress(ConnectionError):
                    await self._say_close(socket, _payload(code, ""))
        finally:
            self._mailbox.end(discard=True)
            self._hear_end()
            transport.close()
        return socket

    async def _read(self, socket: web.WebSocketResponse, request: web.Request) -> int | None:
        """Hear what the client says; return the code it closed with, None if it didn't close."""
        while (message := await socket.receive()).type in _MESSAGES:
            if message.type is WSMsgType.TEXT:  # others are ignored, as in the official servers
                self._take(message.data.encode())
                await self._drain(request)
        return int(message.data) if message.type is WSMsgType.CLOSE else None

    async def _drain(self, request: web.Request) -> None:
        if self._peer is None or self._is_over or self._is_lost:
            return
        try:
            await self._peer.drain()
        except asyncio.CancelledError:
            if request.transport is not None:
                raise
            self._is_lost = True  # but what the client said before it went is heard

    def _take(self, text: bytes) -> None:
        if self._is_over or self._mailbox.is_ended:
            return
        try:
            value = jsontext.parse(text)
        except ValueError:
            self._say(answers.error(answers.PARSE_ERROR, "Parse error"))
            return
        messages = read_all(value, text)
        if isinstance(value, list) and not (self._takes_batches and self._peer):
            self._say(answers.error(answers.INVALID_REQUEST, answers.NO_BATCHES))
        elif not isinstance(value, (dict, list)):
            self._say(answers.error(answers.INVALID_REQUEST, "Invalid request", data=value))
        elif self._peer is None:
            self._begin(text, value, messages)
        else:
            self._pass_on(self._peer, text, value, messages)

    def _begin(self, text: bytes, value: object, messages: Sequence[Message]) -> None:
        initialize = answers.initialize_of(value, messages)
        if initialize is not None and initialize.id is not None:
            self._initialize, self._asked_as = key_of(initialize.id), answers.id_in(value)
            try:
                self._peer = self._make_peer(self)
            except AcptapError as error:
                self.finish(reason=str(error))
            else:
                self._peer.hear(text)
        elif initialize is not None:
            self._close(PROTOCOL_ERROR, answers.WITHOUT_ID)
        elif isinstance(messages[0], Malformed):
            self._say(answers.error(answers.INVALID_REQUEST, "Invalid request", data=value))
        elif not isinstance(messages[0], Response):
            self._close(PROTOCOL_ERROR, _NOT_FIRST)

    def _pass_on(self, peer: Peer, text: bytes, value: object, messages: Sequence[Message]) -> None:
        again = answers.initialize_of(value, messages)
        if again is None:
            peer.hear(text)
        else:
            said = answers.error(answers.INVALID_REQUEST, answers.INITIALIZED, answers.id_in(value))
            self._say(said)

    async def _write(self, socket: web.WebSocketResponse, transport: asyncio.Transport) -> None:
        with contextlib.suppress(ConnectionError):
            while await self._mailbox.look():
                (item,) = self._mailbox.peek(0)
                await socket.send_frame(item.data, item.opcode)
                self._mailbox.drop(1)
            if self._farewell is not None:
                await self._say_close(socket, self._farewell)
                await asyncio.sleep(CLOSING_TIME)
        transport.close()

    async def _say_close(self, socket: web.WebSocketResponse, payload: bytes) -> None:
        if not self._is_closed:
            self._is_closed = True
            await socket.send_frame(payload, WSMsgType.CLOSE)

    def _put(self, opcode: WSMsgType, data: bytes) -> None:
        self._mailbox.put(_Outgoing(opcode, data))

    def _say(self, text: bytes) -> None:
        self._put(WSMsgType.TEXT, text)

    def _close(self, code: int | None, reason: str) -> None:
        if not self._mailbox.is_ended:
            self._farewell = _payload(code, reason)
            self._mailbox.end(discard=False)

    def _hear_end(self) -> None:
        was_over, self._is_over = self._is_over, True
        if self._peer is not None and not was_over:
            self._peer.hear_end()


def _answered(text: bytes) -> Key:
    """Return the id that a message answers; None for what is no response."""
    try:
        value = jsontext.parse(text)
    except ValueError:
        return None
    match read_all(value, text):
        case [Response(id=id_)]:
            return key_of(id_)
        case _:
            return None


def _payload(code: int | None, reason: str) -> bytes:
    """Return what a close frame holds; codes that stand for its absence are never sent."""
    if not code or code in _UNSPOKEN:
        return b""
    said = reason.encode()[:_LONGEST_REASON].decode(errors="ignore")
    return struct.pack("!H", code) + said.encode()
