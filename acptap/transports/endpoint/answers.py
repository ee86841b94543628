"""What a request is refused for: the answers of the TypeScript server 2.4.0 (acp.md 5.2.1).

Each method has its rules in the order in which they are asked; the first that applies refuses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from acptap.jsonrpc import Message, Request, Response
from acptap.transports.endpoint.routes import NEEDS_SESSION, key_of, session_of
from acptap.wire import jsontext

EVENT_STREAM = "text/event-stream"
LONGEST_ID = 1024
"""Characters of the longest request or session id."""

PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603
NO_BATCHES = "Invalid request: JSON-RPC batches are not supported"
INITIALIZED = "Initialize not allowed on existing connection"
WITHOUT_ID = "Initialize request must include an ID"


class Unreadable:
    """Stands for a body that is not JSON."""


@dataclass(slots=True)
class Ask:
    """What the rules ask about a request.

    Attributes:
        method: Of the request.
        media: The media type of its body, in lower case and without parameters.
        accept: Its `Accept` header, in lower case.
        is_upgrade: Whether it wants to become a WebSocket.
        connection: Its `Acp-Connection-Id`, if it has one.
        session: Its `Acp-Session-Id`, if it has one.
        value: Its body, read as JSON.
        messages: The messages in it.
        takes_batches: Whether a batch may be in it.
        is_closing: Whether the server takes no new connections.
        is_known: Whether there is such a connection.
        is_heard: Whether the agent behind it still takes messages.
        is_open: Whether something may still come on this stream.
        is_taken: Whether somebody listens to this stream.
        asked_on: Tells on which session's stream the agent asked what has this id.
    """

    method: str
    media: str = ""
    accept: str = ""
    is_upgrade: bool = False
    connection: str | None = None
    session: str | None = None
    value: object = None
    messages: Sequence[Message] = ()
    takes_batches: bool = False
    is_closing: bool = False
    is_known: bool = False
    is_heard: bool = False
    is_open: bool = False
    is_taken: bool = False
    asked_on: Callable[[Response], str | None] = field(default=lambda _: None)

    @property
    def initialize(self) -> Request | None:
        """The request that begins a connection, if it is that."""
        return initialize_of(self.value, self.messages)


def initialize_of(value: object, messages: Sequence[Message]) -> Request | None:
    """Return the `initialize` request that a message is; in a batch it can't be."""
    match messages:
        case [Request(method="initialize") as request] if isinstance(value, dict):
            return request
        case _:
            return None


class Refusal(NamedTuple):
    """An answer that refuses."""

    status: int
    body: bytes
    media: str = "text/plain"


def error(code: int, message: str, id_: object = None, data: object = None) -> bytes:
    """Return the JSON text of an error of our own."""
    said: dict[str, object] = {"code": code, "message": message}
    if data is not None:
        said["data"] = data
    return jsontext.dump({"jsonrpc": "2.0", "id": id_, "error": said})


def failed(id_: object, reason: str) -> bytes:
    """Return the error for an `initialize` that the agent did not answer."""
    return error(INTERNAL_ERROR, "Initialize failed", id_, reason or None)


def id_in(value: object) -> object:
    """Return the id of a message, as JSON was read."""
    return value.get("id") if isinstance(value, dict) else None


_Rule = tuple[Callable[[Ask], bool], Refusal]


def _without_session(ask: Ask) -> bool:
    return ask.session is None and any(
        getattr(message, "method", None) in NEEDS_SESSION for message in ask.messages
    )


def _another_session(ask: Ask) -> bool:
    named = {session_of(message) for message in ask.messages}
    named |= {ask.asked_on(message) for message in ask.messages if isinstance(message, Response)}
    return ask.session is not None and not named <= {None, ask.session}


def _long_id(ask: Ask) -> bool:
    return any(
        isinstance(key := key_of(message.id), str) and len(key) > LONGEST_ID
        for message in ask.messages
        if isinstance(message, Request)
    )


def _long_session(ask: Ask) -> bool:
    named = [ask.session, *map(session_of, ask.messages)]
    return any(len(session) > LONGEST_ID for session in named if session is not None)


def _is_initialize_without_id(ask: Ask) -> bool:
    return ask.initialize is not None and ask.initialize.id is None


_NO_CONNECTION: _Rule = (
    lambda ask: ask.connection is None and ask.initialize is None,
    Refusal(400, b"Missing Acp-Connection-Id"),
)
_CLOSING = Refusal(503, b"Server shutting down")
_UNKNOWN = Refusal(404, b"Unknown Acp-Connection-Id")
_SESSION_TOO_LONG: _Rule = (_long_session, Refusal(400, b"Session ID exceeds 1024 characters"))

_RULES: dict[str, Sequence[_Rule]] = {
    "POST": (
        (lambda ask: ask.media != "application/json", Refusal(415, b"Unsupported Media Type")),
        (lambda ask: isinstance(ask.value, Unreadable), Refusal(400, b"Invalid JSON")),
        (
            lambda ask: isinstance(ask.value, list) and not ask.takes_batches,
            Refusal(400, error(INVALID_REQUEST, NO_BATCHES), "application/json"),
        ),
        (
            lambda ask: not isinstance(ask.value, (dict, list)),
            Refusal(400, b"Invalid JSON-RPC message"),
        ),
        (
            lambda ask: ask.initialize is not None and ask.connection is not None,
            Refusal(400, INITIALIZED.encode()),
        ),
        (_is_initialize_without_id, Refusal(400, WITHOUT_ID.encode())),
        (lambda ask: ask.initialize is not None and ask.is_closing, _CLOSING),
        _NO_CONNECTION,
        (lambda ask: ask.initialize is None and not ask.is_heard, _UNKNOWN),
        (_without_session, Refusal(400, b"Missing Acp-Session-Id")),
        (_another_session, Refusal(400, b"Mismatched Acp-Session-Id")),
        (_long_id, Refusal(400, b"Request ID exceeds 1024 characters")),
        _SESSION_TOO_LONG,
    ),
    "GET": (
        (lambda ask: ask.is_upgrade and ask.is_closing, _CLOSING),
        (
            lambda ask: ask.is_upgrade,
            Refusal(426, b"This is no WebSocket handshake of version 13"),
        ),
        (
            lambda ask: EVENT_STREAM not in ask.accept and "*/*" not in ask.accept,
            Refusal(406, b"Not Acceptable"),
        ),
        _NO_CONNECTION,
        _SESSION_TOO_LONG,
        (lambda ask: not ask.is_open, _UNKNOWN),
        (
            lambda ask: ask.is_taken,
            Refusal(409, b"Outbound stream already has an active receiver"),
        ),
    ),
    "DELETE": (
        _NO_CONNECTION,
        (lambda ask: not ask.is_known, _UNKNOWN),
    ),
}
_OTHER_METHOD = Refusal(405, b"Method Not Allowed")

METHODS = tuple(_RULES)
"""The methods that are allowed."""


def refusal(ask: Ask) -> Refusal | None:
    """Return why a request is refused, or None if it is not."""
    rules = _RULES.get(ask.method)
    if rules is None:
        return _OTHER_METHOD
    return next((answer for applies, answer in rules if applies(ask)), None)
