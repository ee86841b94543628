"""A server behind TLS: whose certificate is believed, and what is said if it is not."""

import ssl
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme

from acptap.errors import UsageError
from acptap.transports.tls import Trust
from tests.bridge.editor import INITIALIZE
from tests.bridge.server import INITIALIZED, Server, serve


class Certified(NamedTuple):
    server: ssl.SSLContext
    ca: Path


@pytest.fixture(scope="module")
def certified(tmp_path_factory) -> Certified:
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(server)
    path = tmp_path_factory.mktemp("authority") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return Certified(server, path)


async def test_an_authority_of_the_users(certified, connect):
    async with serve(Server(), ssl=certified.server) as server:
        editor = connect(server.url, trust=Trust(ca=certified.ca))
        await editor.open()
        await server.until("GET")
        assert await editor.leave() == 0


async def test_any_certificate(certified, connect):
    async with serve(Server(), ssl=certified.server) as server:
        editor = connect(server.url, trust=Trust(insecure=True))
        await editor.send(INITIALIZE)
        assert await editor.read() == INITIALIZED
        assert await editor.leave() == 0


async def test_a_certificate_of_nobody_we_know(certified, connect):
    async with serve(Server(), ssl=certified.server) as server:
        editor = connect(server.url, trust=Trust())
        await editor.send(INITIALIZE)
        message, data = await editor.error(0)
        assert message.startswith("acptap: the agent's server can't be reached (")
        assert "certificate verify failed" in data["reason"]
        assert await editor.wait() == 1


async def test_an_authority_that_is_none(connect, tmp_path):
    with pytest.raises(UsageError, match="no certificates to be read"):
        connect("https://127.0.0.1/", trust=Trust(ca=tmp_path))
