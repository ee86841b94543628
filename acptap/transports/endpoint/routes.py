"""Which event stream carries what an agent says, as in the TypeScript server (acp.md 5.2.2).

A stream is named by its session; None names the connection's own.
"""

from collections.abc import Iterable
from typing import Protocol

from acptap.jsonrpc import Message, Notification, NumberText, Request, RequestId, Response

Key = int | float | str | None
"""A request id as JavaScript compares it: `1` and `1.0` are one, `1` and `"1"` are two."""

ON_CONNECTION = frozenset({"session/load"})
"""Requests about a session that are answered on the connection's stream."""

NEEDS_SESSION = frozenset(
    {
        "session/cancel",
        "session/close",
        "session/prompt",
        "session/set_config_option",
        "session/set_mode",
    }
)
"""Methods that every server refuses without `Acp-Session-Id`.

The TypeScript server wants it with all that names a session; the Python client leaves it out of
the rest, so those pass without.
"""


def key_of(id_: RequestId) -> Key:
    """Return what an id is compared by."""
    return float(id_.text) if isinstance(id_, NumberText) else id_


def session_of(message: Message) -> str | None:
    """Return the session that a call names in its params."""
    if isinstance(message, (Request, Notification)) and isinstance(message.params, dict):
        session = message.params.get("sessionId")
        if isinstance(session, str) and session:
            return session
    return None


class Streams(Protocol):
    """The streams there are."""

    def __contains__(self, session: str, /) -> bool:
        """Return whether a session has a stream, open or not."""


class Routes:
    """What is open on one connection, and where it goes."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._answers: dict[Key, str | None] = {}  # client's requests: the answer's stream
        self._asked: dict[Key, str] = {}  # agent's requests: the session's stream they were on
        self._riders: set[str] = set()  # sessions whose messages go on the connection's stream

    def hear(self, message: Message, session: str | None) -> None:
        """Take note of a client's message that came with `Acp-Session-Id`, or without."""
        match message:
            case Request(id=id_, method=method):
                named = session_of(message)
                if session is None and named is not None and named not in self._streams:
                    # such a client opens a session's stream when it has seen a message of it
                    self._riders.add(named)
                stream = None if method in ON_CONNECTION else session or named
                self._answers[key_of(id_)] = stream
            case Response(id=id_):
                self._asked.pop(key_of(id_), None)
            case _:
                pass

    def forget(self, messages: Iterable[Message]) -> None:
        """Expect no answers to what the client asked."""
        for message in messages:
            if isinstance(message, Request):
                self._answers.pop(key_of(message.id), None)

    def asked_on(self, id_: RequestId) -> str | None:
        """Return the session on whose stream the agent asked what has this id."""
        return self._asked.get(key_of(id_))

    def route(self, messages: Iterable[Message]) -> str | None:
        """Return the stream of what the agent says at once; of a batch, the first that is one."""
        streams = [self._route(message) for message in messages]
        return next((stream for stream in streams if stream is not None), None)

    def _route(self, message: Message) -> str | None:
        if isinstance(message, Response):
            stream = self._answers.pop(key_of(message.id), None)
        else:
            stream = session_of(message)
        if stream is None or stream in self._riders:
            return None
        if isinstance(message, Request):
            self._asked[key_of(message.id)] = stream
        return stream
