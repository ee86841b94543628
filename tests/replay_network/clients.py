"""Plain clients: they send what they are told and return what came, as it came."""

import asyncio
import contextlib

import orjson


class HttpClient:
    """Talks ACP over HTTP with an aiohttp session. Event streams are collected in `said`."""

    def __init__(self, session, url):
        self.session = session
        self.url = url
        self.id = ""
        self.said = {}
        self.chunks = {}
        self._tasks = {}
        self._news = asyncio.Event()

    async def initialize(self, text):
        async with self.session.post(self.url, data=text, headers=JSON) as response:
            self.id = response.headers.get("Acp-Connection-Id", "")
            self.status = response.status
            return await response.read()

    def headers(self, session=None):
        named = {"Acp-Connection-Id": self.id}
        return named | ({"Acp-Session-Id": session} if session else {})

    async def post(self, text):
        message = orjson.loads(text)
        session = (message.get("params") or {}).get("sessionId")
        headers = JSON | self.headers(session)
        async with self.session.post(self.url, data=text, headers=headers) as response:
            self.body = await response.read()
            self.answer_headers = response.headers
            return response.status

    async def open(self, session=None):
        """Open a stream, and return once it is there."""
        headers = self.headers(session) | {"Accept": "text/event-stream"}
        response = await self.session.get(self.url, headers=headers)
        assert response.status == 200
        self.said.setdefault(session, b"")
        self._tasks[session] = asyncio.ensure_future(self._read(response, session))
        return response

    async def close(self):
        for task in self._tasks.values():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _read(self, response, session):
        try:
            async for data, _ in response.content.iter_chunks():
                self.said[session] += data
                self.chunks.setdefault(session, []).append(data)
                self._news.set()
            return None
        except Exception as error:
            return error
        finally:
            response.close()
            self._news.set()

    async def until(self, text, session=None):
        """Wait until something was said on a stream; return all of it."""
        async with asyncio.timeout(20):
            while text.encode() not in self.said[session]:
                self._news.clear()
                await self._news.wait()
        return self.said[session]

    async def ends(self):
        """Wait until all streams have ended; return the errors they ended with."""
        async with asyncio.timeout(20):
            tasks = self._tasks.values()
            return [error for task in tasks if (error := await task) is not None]

    async def ends_of(self, session):
        """Wait until one stream has ended; return the error it ended with."""
        async with asyncio.timeout(20):
            return await self._tasks.pop(session)

    async def delete(self):
        async with self.session.delete(self.url, headers=self.headers()) as response:
            return response.status


JSON = {"Content-Type": "application/json"}
