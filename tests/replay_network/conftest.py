"""A server in the loop of the test."""

from contextlib import AsyncExitStack

import aiohttp
import pytest_asyncio

from acptap.app.play.options import ReplayOptions
from acptap.app.play.programme import Programme
from acptap.app.play.serving import CassetteServer
from acptap.transports import listening
from acptap.transports.listening import Admission, Listen
from tests.replay_network.clients import HttpClient


class Served:
    """A cassette that is served, and clients of it."""

    def __init__(self, server, url, session):
        self.server = server
        self.url = url
        self.session = session
        self._clients = []

    def client(self, path="acp"):
        self._clients.append(HttpClient(self.session, self.url + path))
        return self._clients[-1]

    async def close(self):
        for client in self._clients:
            await client.close()
        await self.server.close()

    def socket(self, path="acp", **how):
        return self.session.ws_connect(self.url + path, max_msg_size=0, **how)

    def report(self):
        return self.server.report()


@pytest_asyncio.fixture
async def serve():
    """Serve cassettes; each is closed at the end."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())

        async def begin(cassette, *, run=None, once=False, warn=print, **options):
            listen = Listen("127.0.0.1", 0)
            sockets = listening.open_sockets(listen)
            url = listening.url_of(listening.address_of(sockets))
            server = CassetteServer(
                Programme.load(cassette), ReplayOptions(**options), Admission.of(listen),
                run=run, once=once, warn=warn,
            )  # fmt: skip
            await server.start(sockets)
            served = Served(server, url, session)
            stack.push_async_callback(served.close)
            return served

        yield begin
