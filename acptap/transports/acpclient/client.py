"""The client, which speaks and hears lines, and the answers it is owed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from sys import maxsize

from acptap.jsonrpc import Message, Notification, Request, RequestId, Response, read_all
from acptap.transports.acpclient.trouble import Trouble
from acptap.transports.pipes import Sink, Source
from acptap.wire import jsontext
from acptap.wire.lines import LineSplitter, Piece, Unterminated

_LINE_ENDS = bytes.maketrans(b"\r\n", b"  ")


class Client:
    """The client on the other end of two pipes.

    Args:
        source: What it says.
        sink: What it hears.
        say: Says a sentence to the human.

    Attributes:
        answered: Set while it waits for no answer.
    """

    def __init__(self, source: Source, sink: Sink, say: Callable[[str], None]) -> None:
        self.say = say
        self.answered = asyncio.Event()
        self.answered.set()
        self._source = source
        self._sink = sink
        self._owed: dict[RequestId, str | None] = {}  # requests without an answer, their sessions
        self._failed: set[RequestId] = set()  # requests that we have answered ourselves
        self._noisy: set[str] = set()

    async def messages(self) -> AsyncIterator[tuple[bytes, object]]:
        """Yield what the client says until it closes its side: JSON texts, and their values.

        It is owed answers to the requests in them from then on.
        """
        splitter = LineSplitter(maxsize)  # a message has to be whole before it can be sent
        while data := await self._source.read():
            for line in splitter.feed(data):
                for said in self._read(line):
                    yield said
        for rest in splitter.end():
            for said in self._read(rest):
                yield said

    async def hear(self, text: bytes) -> list[Message]:
        """Have the client hear something from the server.

        Returns:
            The messages in it; none if it is noise, and the client does not hear it.
        """
        value = _value(text)
        if not isinstance(value, (dict, list)):
            self.skip("the server sent")
            return []
        messages = read_all(value, text)
        answered = [message.id for message in messages if isinstance(message, Response)]
        if self._failed.isdisjoint(answered):
            await self._tell(text)
        self._failed.difference_update(answered)
        for id_ in answered:
            self._settle(id_)
        return messages

    def skip(self, what: str) -> None:
        """Say, once, that something is no message and goes no further."""
        if what not in self._noisy:
            self._noisy.add(what)
            self.say(f"{what} what is no JSON-RPC message; it is left out")

    # The answers it is owed

    def owed(self, session: str | None) -> list[RequestId]:
        """Return the requests of a session, or of none, that wait for an answer."""
        return [id_ for id_, owner in self._owed.items() if owner == session]

    def awaits(self, id_: RequestId) -> bool:
        """Return whether a request waits for an answer."""
        return id_ in self._owed

    async def fail(self, trouble: Trouble, ids: Iterable[RequestId] | None = None) -> None:
        """Answer requests that wait for an answer, by default all, with an error."""
        for id_ in list(self._owed if ids is None else ids):
            self._failed.add(id_)
            self._sink.write(trouble.answer(id_) + b"\n")
            self._settle(id_)
        await self._sink.drain()

    def _settle(self, id_: RequestId) -> None:
        self._owed.pop(id_, None)
        if not self._owed:
            self.answered.set()

    def _read(self, line: bytes | Unterminated | Piece) -> list[tuple[bytes, object]]:
        text = jsontext.bare(line if isinstance(line, bytes) else line.raw)
        if not text:
            return []
        value = _value(text)
        if value is _NOTHING:
            self.skip("the client wrote")
            return []
        for message in read_all(value, text):
            if isinstance(message, Request):
                self._owed[message.id] = session_of(message)
                self._failed.discard(message.id)
                self.answered.clear()
        return [(text, value)]

    async def _tell(self, text: bytes) -> None:
        self._sink.write(jsontext.bare(text).translate(_LINE_ENDS) + b"\n")
        await self._sink.drain()


def session_of(message: Message) -> str | None:
    """Return the session that a message names."""
    match message:
        case Request() | Notification():
            said = message.params
        case Response():
            said = message.result
        case _:
            said = None
    session = said.get("sessionId") if isinstance(said, dict) else None
    return session if isinstance(session, str) else None


_NOTHING = object()


def _value(text: bytes) -> object:
    try:
        return jsontext.parse(text)
    except ValueError:
        return _NOTHING
