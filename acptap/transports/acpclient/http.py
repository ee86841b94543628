"""An ACP connection over HTTP: messages are posted, and heard on event streams.

It does as the official TypeScript client does. One message is posted after another. Each session
has an event stream of its own, which is open before anything is posted to the session. An answer
to the agent is posted to the session on whose stream the agent asked.
"""

import asyncio
import io
from sys import maxsize

import aiohttp
from yarl import URL

from acptap.jsonrpc import Message, Request, RequestId, Response, read
from acptap.transports.acpclient.client import Client, session_of
from acptap.transports.acpclient.trouble import FAILURES, Gone, Trouble, refusal, unreachable
from acptap.wire import jsontext, spans
from acptap.wire.lines import Piece, Unterminated
from acptap.wire.sse import BlockSplitter, payload_of

CONNECTION = "Acp-Connection-Id"
SESSION = "Acp-Session-Id"

_OK = range(200, 300)
_NOT_FOUND = 404
_UNKNOWN = frozenset({_NOT_FOUND, 410})

_REFUSED = "the agent's server refused the message"
_STREAM_REFUSED = "the agent's server refused the event stream"
_LOST = "the event stream from the agent's server was lost"


class _Stream:
    """An event stream, about to be opened.

    Attributes:
        settled: Set when it is open, or never will be.
        trouble: Why it was not opened.
        task: Reads it.
    """

    task: asyncio.Task[None]

    def __init__(self) -> None:
        self.settled = asyncio.Event()
        self.trouble: Trouble | None = None


class HttpLink:
    """The connection to a server, for one client.

    Args:
        url: Where the server is.
        http: What requests are made with.
        client: The client.
        tasks: Holds what goes on in the background; it is told by `Gone` when all is over.
    """

    def __init__(
        self, url: URL, http: aiohttp.ClientSession, client: Client, tasks: asyncio.TaskGroup
    ) -> None:
        self._url = url
        self._http = http
        self._client = client
        self._tasks = tasks
        self._connection: str | None = None
        self._streams: dict[str | None, _Stream] = {}
        self._asked: dict[RequestId, str | None] = {}  # the agent's requests, by their stream

    async def send(self, text: bytes, value: object) -> None:
        """Post a message; the messages of a batch one by one, as servers refuse batches.

        Raises:
            Gone: There is no connection, or not any more.
        """
        texts = [text]
        if isinstance(value, list):
            texts = [text[at.start : at.end] for at in spans.walk(text) if len(at.path) == 1]
        for one in texts:
            await self._send(one, read(jsontext.parse(one), one))

    async def close(self) -> None:
        """End the connection."""
        for stream in list(self._streams.values()):
            stream.task.cancel()
        if self._connection is None:
            return
        headers = self._headers(None)
        try:
            answer = await self._http.delete(self._url, headers=headers, allow_redirects=False)
        except FAILURES:  # it has ended without us
            return
        answer.release()

    # From the client

    async def _send(self, text: bytes, message: Message) -> None:
        session = session_of(message)
        if isinstance(message, Response):
            session = self._asked.pop(message.id, None)
        trouble = await self._open(session)
        if trouble is None:
            trouble = await self._post(text, session)
        if trouble is not None:
            await self._give_up(message, session, trouble)
        elif isinstance(message, Request) and message.method == "initialize":
            self._check_initialized(message)

    async def _post(self, text: bytes, session: str | None) -> Trouble | None:
        headers = self._headers(session) | {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        try:
            async with self._http.post(
                self._url, data=io.BytesIO(text), headers=headers, allow_redirects=False
            ) as answer:
                if answer.status not in _OK:
                    return await refusal(answer, _REFUSED)
                body = await answer.read()
        except FAILURES as error:
            return unreachable(error)
        self._learn(answer.headers.get(CONNECTION))
        if body.strip():
            await self._hear(body, session)
        return None

    def _learn(self, connection: str | None) -> None:
        if connection and self._connection is None:
            self._connection = connection
            self._listen(None)

    def _check_initialized(self, request: Request) -> None:
        """Make sure that there is a connection now."""
        missing = ""
        if self._client.awaits(request.id):
            missing = "no answer to initialize"
        elif self._connection is None:
            missing = f"no {CONNECTION} header"
        if missing:
            why = f"its response has {missing}"
            raise Gone(Trouble("this is no ACP server", why, {"reason": why}))

    async def _give_up(self, message: Message, session: str | None, trouble: Trouble) -> None:
        """Make the best of a message that could not be posted."""
        is_unknown = session is None and trouble.status in _UNKNOWN
        if self._connection is None or is_unknown:
            raise Gone(trouble)
        match message:
            case Request(id=id_):
                await self._client.fail(trouble, [id_] if self._client.awaits(id_) else [])
            case Response():  # for which the agent would wait in vain
                self._client.say(f"an answer was not delivered: {trouble}")
                await self._client.fail(trouble, self._client.owed(session))
            case _:
                self._client.say(f"a message was not delivered: {trouble}")

    # From the server

    async def _open(self, session: str | None) -> Trouble | None:
        """Have a session's stream open; return why that can't be."""
        if session is None or self._connection is None:
            return None
        stream = self._streams.get(session) or self._listen(session)
        await stream.settled.wait()
        if stream.trouble is not None and stream.trouble.status == _NOT_FOUND:
            return None  # some servers know a session only when it is loaded
        return stream.trouble

    def _listen(self, session: str | None) -> _Stream:
        stream = self._streams[session] = _Stream()
        stream.task = self._tasks.create_task(self._follow(session, stream))
        return stream

    async def _follow(self, session: str | None, stream: _Stream) -> None:
        """Listen to a stream until its end."""
        lost: Trouble | None = None
        headers = self._headers(session) | {"Accept": "text/event-stream"}
        try:
            async with self._http.get(self._url, headers=headers, allow_redirects=False) as answer:
                if answer.status in _OK:
                    stream.settled.set()
                    lost = Trouble(_LOST, "it ended", {"reason": "it ended"})
                    await self._hear_all(answer, session)
                else:
                    stream.trouble = await refusal(answer, _STREAM_REFUSED)
        except FAILURES as error:
            if lost is None:
                stream.trouble = unreachable(error)
            else:
                lost = unreachable(error, _LOST)
        del self._streams[session]
        stream.settled.set()
        await self._mourn(session, lost, stream.trouble)

    async def _mourn(
        self, session: str | None, lost: Trouble | None, refused: Trouble | None
    ) -> None:
        """Make the best of a stream that was lost, or refused."""
        if session is None:
            trouble = lost or refused
            assert trouble is not None
            raise Gone(trouble)
        if lost is not None:
            await self._client.fail(lost, self._client.owed(session))

    async def _hear_all(self, answer: aiohttp.ClientResponse, session: str | None) -> None:
        splitter = BlockSplitter(maxsize)
        while data := await answer.content.readany():
            for block in splitter.feed(data):
                await self._hear_block(block, session)
        for rest in splitter.end():
            await self._hear_block(rest, session)

    async def _hear_block(self, block: bytes | Unterminated | Piece, session: str | None) -> None:
        data = payload_of(block if isinstance(block, bytes) else block.raw)
        if data:
            await self._hear(data, session)

    async def _hear(self, text: bytes, session: str | None) -> None:
        """Take in a message that came on a stream."""
        for message in await self._client.hear(text):
            if isinstance(message, Request):
                self._asked[message.id] = session
            elif isinstance(message, Response):
                named = session_of(message)
                if named is not None and named not in self._streams:
                    self._listen(named)

    def _headers(self, session: str | None) -> dict[str, str]:
        headers = {CONNECTION: self._connection, SESSION: session}
        return {name: value for name, value in headers.items() if value is not None}
