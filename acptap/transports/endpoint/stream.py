"""An event stream: the open GET through which a client takes what waits for it."""

import asyncio

from aiohttp import web

from acptap.transports.endpoint.connection import CUT, HttpConnection, Mark

KEEP_ALIVE = 15.0
"""Seconds of silence after which a comment shows that the stream is alive."""

_COMMENT = b":\n\n"
_BATCH = 256 * 1024
"""Bytes of blocks that are written at once: as many as a recorded read can hold."""

_HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "Connection": "keep-alive",
}


class EventStream:
    """Writes what waits in one mailbox, as long as its client listens.

    Args:
        request: The client's GET.
        connection: What it listens to.
        keep_alive: Seconds of silence until a comment is written.
    """

    def __init__(self, request: web.Request, connection: HttpConnection, keep_alive: float) -> None:
        assert request.transport is not None
        self._request = request
        self._transport = request.transport
        self._connection = connection
        self._keep_alive = keep_alive
        self._is_writing = False

    async def serve(self, session: str | None) -> web.StreamResponse:
        """Serve the stream of a session, or the connection's own, to its end."""
        mailbox = self._connection.take(session)
        forget = self._connection.watch(self._drop)
        mark: Mark | None = None
        try:
            response = web.StreamResponse(headers=_HEADERS)
            # the transport then reports a write as done when the system has all of it; what it
            # hadn't when the client was lost waits for the next one, who may get some of it twice
            self._transport.set_write_buffer_limits(high=0)
            await response.prepare(self._request)
            while mark is None:
                try:
                    async with asyncio.timeout(self._keep_alive):
                        if not await mailbox.look():
                            break
                except TimeoutError:
                    await self._write(response, _COMMENT)
                    continue
                blocks, mark = _before_mark(mailbox.peek(_BATCH))
                await self._write(response, b"".join(blocks))
                mailbox.drop(len(blocks) + (mark is not None))
        finally:
            forget()
            mailbox.is_taken = False
        if mark is CUT or (mark is None and self._connection.is_cut):
            self._transport.close()
        return response

    async def _write(self, response: web.StreamResponse, data: bytes) -> None:
        self._is_writing = True
        await response.write(data)
        await self._request.writer.drain()
        self._is_writing = False

    def _drop(self) -> None:
        """Give up a client that takes nothing, when nothing is to be said to it any more."""
        if self._is_writing:
            self._transport.abort()


def _before_mark(blocks: list[bytes]) -> tuple[list[bytes], Mark | None]:
    for place, block in enumerate(blocks):
        if isinstance(block, Mark):
            return blocks[:place], block
    return blocks, None
