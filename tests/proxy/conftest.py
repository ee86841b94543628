import signal
from collections.abc import Callable, Iterator

import pytest

from acptap.transports.signals import HEEDED
from tests.proxy.client import Client

Start = Callable[..., Client]


@pytest.fixture(scope="package", autouse=True)
def _signals_as_from_a_terminal():
    """Take back what a shell makes of its background jobs: they ignore SIGINT and SIGQUIT."""
    ignored = [number for number in HEEDED if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def start(tmp_path) -> Iterator[Start]:
    """Start a proxy: `start(agent, *options)`."""
    clients: list[Client] = []

    def begin(*arguments, **popen):
        client = Client(tmp_path, *arguments, **popen)
        clients.append(client)
        return client

    yield begin
    for client in clients:
        client.close()


@pytest.fixture
def start_quietly(start) -> Start:
    """Start a proxy that says nothing of its own unless something goes wrong."""

    def begin(agent, *options, **popen):
        return start(agent, "--quiet", *options, **popen)

    return begin
