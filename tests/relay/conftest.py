"""A stage for all tests of a module, and certificates for all of them."""

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme

from tests.relay.stage import Stage


class Certified(NamedTuple):
    """A server's TLS, and the file of the authority that signed its certificate."""

    server: ssl.SSLContext
    ca: Path


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.close()


@pytest.fixture(scope="session")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "::1", "localhost").configure_cert(server)
    server.set_alpn_protocols(["h2", "http/1.1"])
    path = tmp_path_factory.mktemp("authority") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return Certified(server, path)
