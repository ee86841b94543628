"""Helpers of the HTTP/1 tests: streams read in pieces, and what was read in few words."""

from collections import deque
from collections.abc import Iterable
from typing import Any

from acptap.wire.http1 import (
    Body,
    End,
    Event,
    Pending,
    Raw,
    RequestHead,
    RequestReader,
    ResponseHead,
    ResponseReader,
)

END = End(is_complete=True, trailers=[])
CUT = End(is_complete=False, trailers=[])


def mark(head):
    """Rewrite a head so that nothing can be mistaken for it."""
    return b"<%b>" % head.raw


def cuts(stream):
    """Yield a stream whole, byte by byte and cut at every place."""
    yield [stream]
    yield [stream[i : i + 1] for i in range(len(stream))]
    for at in range(1, len(stream)):
        yield [stream[:at], stream[at:]]


def told(events: Iterable[Event]) -> list[Any]:
    """Return events in few words: `GET /`, 200, content joined; the rest as it is."""
    words: list[Any] = []
    for event in events:
        match event:
            case RequestHead():
                words.append(f"{event.method.decode()} {event.target.decode('latin-1')}")
            case ResponseHead():
                words.append(event.status)
            case Body() | Raw() if words and type(words[-1]) is type(event):
                words[-1] = type(event)(words[-1].data + event.data)
            case _:
                words.append(event)
    return [word.data if isinstance(word, Body) else word for word in words]


def requests(reads, rewrite=mark, *, ends=False) -> tuple[bytes, list[Any]]:
    """Return what goes on of a client's stream, and the events."""
    reader = RequestReader(deque(), rewrite)
    steps = [reader.feed(read) for read in reads]
    if ends:
        steps.append(reader.end())
    return b"".join(out for out, _ in steps), [event for _, some in steps for event in some]


def pending_of(*methods):
    """Return requests that wait; a method in lower case asks for an upgrade."""
    waiting: Pending = deque()
    for method in methods:
        upgrade = b"Upgrade: x\r\n" if method.islower() else b""
        RequestReader(waiting, mark).feed(
            b"%b / HTTP/1.1\r\n%b\r\n" % (method.upper().encode(), upgrade)
        )
    return waiting


def responses(reads, *methods, ends=False) -> list[Any]:
    """Return the events of a server's stream that answers requests of these methods."""
    reader = ResponseReader(pending_of(*methods))
    events: list[Any] = [event for read in reads for event in reader.feed(read)]
    return events + reader.end() if ends else events
