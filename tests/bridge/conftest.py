import signal

import pytest
import pytest_asyncio

from acptap.transports.signals import HEEDED
from tests.bridge.editor import Editor
from tests.bridge.server import Server, serve


@pytest.fixture(scope="package", autouse=True)
def _signals_as_from_a_terminal():
    """Take back what a shell makes of its background jobs: they ignore SIGINT and SIGQUIT."""
    ignored = [number for number in HEEDED if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest_asyncio.fixture
async def server():
    async with serve(Server()) as server:
        yield server


@pytest_asyncio.fixture
async def connect():
    """Start a client of a server: `connect(url)`."""
    editors: list[Editor] = []

    def begin(url, **reach):
        editors.append(Editor(url, **reach))
        return editors[-1]

    yield begin
    for editor in editors:
        await editor.close()
