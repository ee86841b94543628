"""A cassette served on a thread of its own, while something else runs: a test, or a command.

The port is there at once; what it takes to serve it (aiohttp, above all) is loaded when the first
client connects.
"""

import selectors
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from acptap.transports import listening
from acptap.transports.listening import Admission, Listen

if TYPE_CHECKING:
    from acptap.app.play.options import ReplayOptions
    from acptap.app.play.programme import Programme

_ANY_PORT = Listen("127.0.0.1", 0)


class BackgroundServer:
    """Serves a cassette as part of a run, from when it is made until it is closed.

    Args:
        programme: What is played.
        options: How.
        run: The run's folder.

    Attributes:
        url: Where clients connect over HTTP.
        ws_url: Where they connect over WebSocket.
    """

    def __init__(self, programme: "Programme", options: "ReplayOptions", run: Path) -> None:
        self._programme = programme
        self._options = options
        self._run = run
        self._sockets = listening.open_sockets(_ANY_PORT)
        address = listening.address_of(self._sockets)
        self.url = listening.url_of(address)
        self.ws_url = listening.url_of(address, "ws")
        self._admission = Admission.of(address)
        self._bell, self._stop = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, name="acptap server", daemon=True)
        self._thread.start()

    @property
    def environment(self) -> dict[str, str]:
        """What tells a program where the agent is."""
        return {"ACPTAP_URL": self.url, "ACPTAP_WS_URL": self.ws_url}

    def close(self) -> None:
        """Take in what clients have sent by now, end their connections, and stop listening."""
        self._stop.close()
        self._thread.join()
        self._bell.close()
        for listener in self._sockets:
            listener.close()

    def _serve(self) -> None:
        with selectors.DefaultSelector() as ready:
            for listener in (*self._sockets, self._bell):
                ready.register(listener, selectors.EVENT_READ)
            is_asked = any(key.fileobj is not self._bell for key, _ in ready.select())
        if is_asked:
            from acptap.app.play.serving import CassetteServer, serve_until  # noqa: PLC0415 see above

            server = CassetteServer(self._programme, self._options, self._admission, run=self._run)
            serve_until(self._bell, self._sockets, server)
