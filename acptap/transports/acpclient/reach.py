"""How a server is reached, without any limit of our own on time or size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from acptap.transports.tls import Trust

MakeConnector = Callable[[], aiohttp.TCPConnector]

_LONGEST_LINE = 1024 * 1024
"""Bytes of a line in the head of an answer; aiohttp would refuse one of 8 KiB."""

_IDLE = 2.0
"""Seconds for which an idle connection is used again. Servers close those after five or more; a
message sent into that moment would be lost, and must not be sent twice."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Where a server is and what it is sent.

    Attributes:
        url: Its URL, as it goes on the wire.
        is_websocket: Whether it is spoken to over WebSocket, not HTTP.
        headers: What is added to every request.
        trust: Whose certificates are believed; None if it is reached without TLS.
    """

    url: str
    is_websocket: bool
    headers: Sequence[tuple[str, str]] = ()
    trust: Trust | None = None

    @property
    def target(self) -> URL:
        """The URL, as spelled."""
        return URL(self.url, encoded=True)

    def connector(self) -> MakeConnector:
        """Return what makes connections, once there is a running loop.

        Raises:
            UsageError: The certificates to be believed can't be read.
        """
        context = True if self.trust is None else self.trust.context()
        return partial(aiohttp.TCPConnector, limit=0, ssl=context, keepalive_timeout=_IDLE)

    def session(self, make_connector: MakeConnector) -> aiohttp.ClientSession:
        """Return what requests are made with. Needs a running loop."""
        headers = CIMultiDict({"User-Agent": "acptap"})
        headers["Accept-Encoding"] = "identity"  # compressed, an event might wait for the next one
        headers.update(self.headers)
        return aiohttp.ClientSession(
            connector=make_connector(),
            cookie_jar=aiohttp.CookieJar(unsafe=True, quote_cookie=False),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
            headers=headers,
        )
