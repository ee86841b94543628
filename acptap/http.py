"""Heads of HTTP messages as a cassette keeps them: what was asked, and how it was answered.

Header names and values are text of one character a byte (ISO 8859-1), so that every byte a peer
sent comes back; order, case and duplicates stay.
"""

from collections.abc import Iterable
from dataclasses import dataclass

Headers = list[tuple[str, str]]

_CODED = "iso-8859-1"
_IDENTITY = frozenset({"", "identity"})
_INTERIM = range(100, 200)
_SUCCESSES = range(200, 300)
_REDIRECTS = range(300, 400)
_FAILED = 400


class _Head:
    """What both kinds of heads can be asked.

    Attributes:
        headers: Names and values, as they were sent.
    """

    headers: Headers

    def value(self, name: str) -> str | None:
        """Return a header's first value; names are compared without case."""
        return next(iter(self.values(name)), None)

    def values(self, name: str) -> list[str]:
        """Return all values of a header, in order."""
        name = name.lower()
        return [value for key, value in self.headers if key.lower() == name]

    @property
    def media_type(self) -> str:
        """What the body says it is, in lower case and without parameters; empty if unsaid."""
        return (self.value("content-type") or "").partition(";")[0].strip().lower()

    @property
    def codings(self) -> list[str]:
        """How the body is compressed, in the order it was done; empty if it is not."""
        said = ",".join(self.values("content-encoding")).split(",")
        codings = [coding.strip().lower() for coding in said]
        return [coding for coding in codings if coding not in _IDENTITY]


@dataclass(slots=True)
class HttpRequest(_Head):
    """The head of a request.

    Attributes:
        method: Such as `POST`; as it was sent.
        target: The request target as the client sent it.
        headers: Names and values.
        version: `1.1` or another.
    """

    method: str
    target: str
    headers: Headers
    version: str = "1.1"

    def as_json(self) -> dict[str, object]:
        """Return it as it stands in a cassette."""
        said: dict[str, object] = {"method": self.method, "target": self.target}
        if self.version != "1.1":
            said["version"] = self.version
        return said | {"headers": self.headers}

    @classmethod
    def from_json(cls, said: object) -> "HttpRequest":
        """Read what stands in a cassette; what is not there is empty."""
        row = said if isinstance(said, dict) else {}
        method, target = str(row.get("method", "")), str(row.get("target", ""))
        return cls(method, target, _pairs(row.get("headers")), str(row.get("version", "1.1")))


@dataclass(slots=True)
class HttpResponse(_Head):
    """The head of an answer.

    Attributes:
        status: Its status code.
        reason: The words behind it.
        headers: Names and values.
        version: `1.1` or another.
    """

    status: int
    reason: str
    headers: Headers
    version: str = "1.1"

    def as_json(self) -> dict[str, object]:
        """Return it as it stands in a cassette."""
        said: dict[str, object] = {"status": self.status, "reason": self.reason}
        if self.version != "1.1":
            said["version"] = self.version
        return said | {"headers": self.headers}

    @classmethod
    def from_json(cls, said: object) -> "HttpResponse":
        """Read what stands in a cassette; what is not there is empty."""
        row = said if isinstance(said, dict) else {}
        status, reason = row.get("status"), str(row.get("reason", ""))
        number = status if isinstance(status, int) else 0
        return cls(number, reason, _pairs(row.get("headers")), str(row.get("version", "1.1")))

    @property
    def is_event_stream(self) -> bool:
        """Whether the body is a stream of server-sent events."""
        return self.media_type == "text/event-stream"

    @property
    def is_success(self) -> bool:
        """Whether what was asked was done."""
        return self.status in _SUCCESSES

    @property
    def is_redirect(self) -> bool:
        """Whether the client is sent elsewhere."""
        return self.status in _REDIRECTS

    @property
    def has_failed(self) -> bool:
        """Whether what was asked was refused, or went wrong."""
        return self.status >= _FAILED

    @property
    def is_interim(self) -> bool:
        """Whether another answer follows."""
        return self.status in _INTERIM and self.status != SWITCHING


SWITCHING = 101
"""The status behind which a connection speaks another protocol."""

CONNECTION_ID = "acp-connection-id"
SESSION_ID = "acp-session-id"
"""Headers that tell to which connection and session of ACP a request belongs (acp.md 5.2)."""


class Exchanged:
    """What a request and its answer can be asked together.

    Attributes:
        request: The head of the request.
        response: The head of the final answer, or None while there is none.
    """

    __slots__ = ()
    request: HttpRequest
    response: HttpResponse | None

    @property
    def asks_socket(self) -> bool:
        """Whether the client wants to go on with WebSocket."""
        return (self.request.value("upgrade") or "").strip().lower() == "websocket"

    @property
    def is_socket(self) -> bool:
        """Whether it went on as a WebSocket."""
        return self.asks_socket and self.response is not None and self.response.status == SWITCHING

    @property
    def has_failed(self) -> bool:
        """Whether it was refused, or went wrong."""
        return self.response is not None and self.response.has_failed


def decode(data: bytes) -> str:
    """Return bytes of a head as text, a character a byte."""
    return data.decode(_CODED)


def encode(text: str) -> bytes:
    """Return text of a head as bytes; what no byte stands for becomes a question mark."""
    return text.encode(_CODED, "replace")


def decode_headers(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return headers as text."""
    return [(decode(name), decode(value)) for name, value in pairs]


def _pairs(said: object) -> Headers:
    rows = said if isinstance(said, list) else []
    return [(str(row[0]), str(row[1])) for row in rows if isinstance(row, list) and len(row) == 2]  # noqa: PLR2004 a pair
