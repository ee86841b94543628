"""An ACP connection over WebSocket: each message is a text message, both ways."""

import asyncio
import contextlib

import aiohttp
from aiohttp import WSMsgType
from yarl import URL

from acptap.transports.acpclient.client import Client
from acptap.transports.acpclient.trouble import FAILURES, Gone, Trouble, unreachable

_PATIENT = aiohttp.ClientWSTimeout(ws_receive=None, ws_close=None)
_CLOSED = "the agent's server closed the connection"


class WebSocketLink:
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
        self._socket: aiohttp.ClientWebSocketResponse | None = None

    async def send(self, text: bytes, _: object) -> None:
        """Send a message, or a batch. The first one makes the connection.

        Raises:
            Gone: The server can't be reached.
        """
        if self._socket is None:
            self._socket = await self._connect()
            self._listening = self._tasks.create_task(self._listen(self._socket))
        with contextlib.suppress(aiohttp.ClientError, OSError):  # who listens hears why
            await self._socket.send_str(text.decode())

    async def close(self) -> None:
        """End the connection."""
        if self._socket is not None:
            self._listening.cancel()
            await self._socket.close()

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        try:
            return await self._http.ws_connect(
                self._url, max_msg_size=0, timeout=_PATIENT, autoping=True
            )
        except aiohttp.WSServerHandshakeError as error:
            why = f"{error.status}, {error.message}"
            trouble = Trouble(
                "the agent's server refused the WebSocket", why, {"status": error.status}
            )
            raise Gone(trouble) from error
        except FAILURES as error:
            raise Gone(unreachable(error)) from error

    async def _listen(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        while True:
            heard = await socket.receive()
            match heard.type:
                case WSMsgType.TEXT:
                    await self._client.hear(heard.data.encode())
                case WSMsgType.BINARY:
                    self._client.skip("the server sent")
                case WSMsgType.CLOSE:
                    raise Gone(_closed(heard.data, heard.extra or ""))
                case _:
                    raise Gone(Trouble(_CLOSED, "without a close frame", {"reason": "lost"}))


def _closed(code: int, reason: str) -> Trouble:
    """Return the trouble that a close frame is; it has code 0 if it names none."""
    why = " ".join(filter(None, [str(code or ""), reason]))
    return Trouble(_CLOSED, why, {"code": code or None, "reason": reason})
