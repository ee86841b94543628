"""What goes wrong between us and a server, in words and for a JSON-RPC error."""

from typing import NamedTuple

import aiohttp

from acptap.jsonrpc import NumberText, RequestId
from acptap.transports.dialling import NO_NAME
from acptap.wire.jsontext import dump

BODY = 8192
"""Characters of a refusal that a client is told."""

FAILURES = (aiohttp.ClientError, OSError, ValueError)
"""What aiohttp raises; the last for what can't be a header, such as a session with a line end."""

_INTERNAL_ERROR = -32603
_GIST = 200
_IDNA = "idna"


class Trouble(NamedTuple):
    """Something that went wrong.

    Attributes:
        what: A clause.
        why: The reason, short; may be empty.
        data: What a client is told beside that.
        status: The HTTP status of a refusal.
    """

    what: str
    why: str
    data: dict[str, object]
    status: int = 0

    def __str__(self) -> str:
        return f"{self.what} ({self.why})" if self.why else self.what

    def answer(self, id_: RequestId) -> bytes:
        """Return the JSON-RPC response to a request that it happened to."""
        spelled = id_.text.encode() if isinstance(id_, NumberText) else dump(id_)
        error = {"code": _INTERNAL_ERROR, "message": f"acptap: {self}", "data": self.data}
        return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (spelled, dump(error))


class Gone(Exception):
    """The server is out of reach for good.

    Args:
        trouble: Why.
    """

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(str(trouble))
        self.trouble = trouble


def unreachable(error: Exception, what: str = "the agent's server can't be reached") -> Trouble:
    """Return the trouble that an exception of aiohttp tells of."""
    cause = getattr(error, "certificate_error", error)
    if isinstance(error, aiohttp.ClientResponseError):
        why = "it does not answer in HTTP"
    elif isinstance(error, aiohttp.ClientPayloadError):
        why = "its answer is damaged, or was cut off"
    elif isinstance(error, UnicodeError) and getattr(error, "encoding", _IDNA) == _IDNA:
        why = NO_NAME
    else:
        why = str(getattr(cause, "strerror", None) or cause) or type(error).__name__
    return Trouble(what, why, {"reason": why})


async def refusal(response: aiohttp.ClientResponse, what: str) -> Trouble:
    """Return the trouble that an answer is."""
    body = (await response.read()).decode("utf-8", "replace")
    data: dict[str, object] = {"status": response.status, "body": body[:BODY]}
    why = f"{response.status} {response.reason or ''}".strip()
    if location := response.headers.get("Location"):
        data["location"] = location
        why += f", it has moved to {location}"
    elif gist := " ".join(body.split())[:_GIST]:
        why += f": {gist}"
    return Trouble(what, why, data, response.status)
