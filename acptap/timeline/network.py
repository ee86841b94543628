"""What passes on the network beside messages: heads, ends, control frames, bodies of any kind."""

import re
from collections.abc import Callable, Iterator

from acptap.cassette import Entry
from acptap.http import SWITCHING, HttpResponse
from acptap.jsonrpc import Side
from acptap.timeline.exchanges import Exchange, Exchanges
from acptap.timeline.gists import LIMIT, brief, quoted, words
from acptap.timeline.reading import Kind, Reading
from acptap.wire import sse

_EXCERPT = 120
"""Characters that are told of what is no message."""
_STREAMS = {
    "connection": "the connection stream",
    "session": "the session stream",
    "events": "the event stream",
}
_ABORTS = {"closed": "left", "reset": "reset", "cut": "cut off"}
_PINGS = frozenset({"ping", "heartbeat", "keepalive", "keep-alive"})
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_MARKUP = re.compile(r"<(style|script)\b.*?</\1>|<[^<>]*>", re.IGNORECASE | re.DOTALL)
_ENVELOPE = frozenset({"at", "from", "conn", "exchange", "http", "stream", "event", "more",
                       "redacted", "session", "state", "updates", "notes"})  # fmt: skip


def facts_of(entry: Entry) -> str:
    """Return what an event says beside its name."""
    facts = {name: value for name, value in entry.front.items() if name not in _ENVELOPE}
    return " ".join(f"{name} {brief(facts[name])}" for name in facts)


# Heads


def read_event(entry: Entry, exchanges: Exchanges) -> Reading:
    """Return how a fact of HTTP or of a WebSocket reads; entries are to come in order."""
    match entry.event:
        case "request":
            return _request(exchanges.ask(entry))
        case "response":
            return _response(entry, exchanges)
        case event:
            exchange = exchanges.find(entry)
            if event in ("end", "abort"):
                exchanges.retire(entry)
            reading = _EVENTS.get(str(event), _other)(entry, exchange)
            reading.method, reading.session = event, exchange.session
            reading.is_bare, reading.is_aside = True, not exchange.is_acp
            return reading


def _request(exchange: Exchange) -> Reading:
    head = exchange.head
    head.session, head.is_bare = exchange.session, True
    head.gist = words(exchange.name or "something that is not HTTP", _purpose(exchange))
    return head


def _purpose(exchange: Exchange) -> str:
    """Return what a request of ACP is for, where its method does not tell."""
    if not exchange.is_acp:
        return ""
    last = exchange.request.value("last-event-id")
    since = f", on from {last}" if last else ""
    match exchange.request.method:
        case "GET" if exchange.asks_socket:
            return "(WebSocket)"
        case "GET":
            return f"({'connection' if exchange.session is None else 'session'} stream{since})"
        case "DELETE":
            return "(end of the connection)"
        case _:
            return ""


def _response(entry: Entry, exchanges: Exchanges) -> Reading:
    response = HttpResponse.from_json(entry.front.get("http"))
    exchange = exchanges.answer(entry, response)
    status, method = response.status, exchange.request.method
    return Reading(
        Kind.HTTP,
        method,
        gist=words(status, *_told_by(response, exchange)),
        failed=response.has_failed,
        took=None if exchange.at is None else entry.at - exchange.at,
        is_bare=True,
        is_routine=_is_expected(response, exchange),
        is_aside=not exchange.is_acp,
        session=exchange.session,
        ends=exchange.is_acp and method == "DELETE" and response.is_success,
    )


def _is_expected(response: HttpResponse, exchange: Exchange) -> bool:
    """Return whether an answer's head is as it is always, so that it says nothing new."""
    if exchange.run is None and not exchange.is_acp:
        return False
    if exchange.run is not None or response.is_interim:
        return response.is_interim or response.is_success
    method = exchange.request.method
    is_quiet = method in ("GET", "POST") and response.is_event_stream is (method == "GET")
    return is_quiet and response.is_success


def _told_by(response: HttpResponse, exchange: Exchange) -> Iterator[str]:
    """Yield what an answer brings, what it answers, and where it leads."""
    if response.status == SWITCHING:
        yield response.value("upgrade") or ""
        return
    yield response.media_type
    asked = exchange.posted or exchange.name
    if asked:
        yield f"to {asked}"
    if exchange.request.method == "GET":
        yield _purpose(exchange)
    location = response.value("location")
    if response.is_redirect and location:
        yield f"leads to {location}"


# Other facts


def _end(entry: Entry, exchange: Exchange) -> Reading:
    is_told = entry.side in exchange.closed  # its close frame said so
    is_told = is_told or (exchange.run is not None and exchange.run.is_over)
    return Reading(
        Kind.HTTP, gist=words("ended", _place(entry, exchange)), is_still=True,
        is_routine=is_told, ends=exchange.is_socket,
    )  # fmt: skip


def _abort(entry: Entry, exchange: Exchange) -> Reading:
    how = _ABORTS.get(str(entry.front.get("reason")), "aborted")
    place = _place(entry, exchange)
    return Reading(Kind.HTTP, gist=words(how, place), is_still=True, ends=exchange.is_socket)


def _place(entry: Entry, exchange: Exchange) -> str:
    """Return what it is that ended."""
    stream = _STREAMS.get(str(entry.front.get("stream")))
    return stream or ("the WebSocket" if exchange.is_socket else exchange.name)


def _close(entry: Entry, exchange: Exchange) -> Reading:
    exchange.closed.add(entry.side)
    return Reading(
        Kind.HTTP, gist=words("close", entry.front.get("code"), quoted(entry.front.get("reason")))
    )


def _ping(entry: Entry, _: Exchange) -> Reading:
    return Reading(
        Kind.HTTP, gist=words(entry.event, _excerpt(_text(entry.unit()))), is_routine=True
    )


def _trailers(entry: Entry, _: Exchange) -> Reading:
    fields = HttpResponse.from_json({"headers": entry.front.get("headers")}).headers
    told = ", ".join(f"{name}: {value}" for name, value in fields)
    return Reading(Kind.HTTP, gist=words("trailers", told))


def _raw(entry: Entry, _: Exchange) -> Reading:
    raw = entry.unit()
    return Reading(Kind.HTTP, gist=words("raw", _size(raw), _excerpt(_text(raw))))


def _opaque(_entry: Entry, _: Exchange) -> Reading:
    return Reading(Kind.HTTP, gist="passes unread from here on", is_still=True)  # a note says why


def _unreachable(entry: Entry, _: Exchange) -> Reading:
    gist = words("unreachable:", entry.front.get("why"))
    return Reading(Kind.HTTP, gist=gist, is_still=True, failed=True)


def _damaged(_entry: Entry, _: Exchange) -> Reading:
    return Reading(Kind.HTTP, gist="sends a body that can't be inflated", is_still=True)


def _other(entry: Entry, _: Exchange) -> Reading:
    return Reading(Kind.HTTP, gist=words(entry.event, facts_of(entry)), is_still=True)


_EVENTS: dict[str, Callable[[Entry, Exchange], Reading]] = {
    "end": _end,
    "abort": _abort,
    "close": _close,
    "ping": _ping,
    "pong": _ping,
    "trailers": _trailers,
    "raw": _raw,
    "opaque": _opaque,
    "unreachable": _unreachable,
    "damaged": _damaged,
}


# Units that are no messages


def is_binary(entry: Entry) -> bool:
    """Return whether a unit is a binary message, if it is one of a WebSocket."""
    return entry.key == "b64" and "frame" not in entry.front


def read_unit(entry: Entry, exchange: Exchange) -> Reading:
    """Return how a unit reads that is no message."""
    raw = entry.unit()
    reading = Reading(Kind.NOISE, is_bare=True, is_aside=not exchange.is_acp)
    reading.session = exchange.session
    if "stream" in entry.front:
        fields = sse.fields_of(raw)
        reading.gist = words(*_told_of_block(raw, fields))
        is_ping = exchange.is_acp and fields.event in _PINGS
        reading.is_routine = is_ping or not fields.data
    elif exchange.is_socket:
        told = f"binary, {_size(raw)}" if is_binary(entry) else _excerpt(_text(raw))
        reading.gist = words("message", told)
    else:
        head = exchange.request if entry.side is Side.CLIENT else exchange.response
        media = "" if head is None else head.media_type
        reading.gist = words("body", *_told_of_body(raw, media, is_text=entry.key != "b64"))
    return reading


def _told_of_block(raw: bytes, fields: sse.Fields) -> Iterator[str]:
    comments = [line[1:].strip() for line in raw.splitlines() if line[:1] == b":"]
    is_event = fields != sse.fields_of(b"")
    if is_event:
        yield words("event", fields.event)
    elif comments:
        yield words("comment", _excerpt(_text(b" ".join(comments))))
    else:
        yield words("block", _excerpt(_text(raw)) or "without anything in it")
    yield from (
        f"{name} {value}" for name, value in (("id", fields.id), ("retry", fields.retry)) if value
    )
    if is_event:
        yield _excerpt(_text(fields.data or b"")) or "without data"


def _told_of_body(raw: bytes, media: str, *, is_text: bool) -> Iterator[str]:
    yield f"{media}, {_size(raw)}" if media else _size(raw)
    if is_text:
        text = _text(raw)
        yield _excerpt(_MARKUP.sub(" ", text) if media in _HTML else text)


def _size(raw: bytes) -> str:
    return "1 byte" if len(raw) == 1 else f"{len(raw):,} bytes"


def _text(raw: bytes) -> str:
    return raw[: 4 * LIMIT].decode("utf-8", "backslashreplace")


def _excerpt(text: str) -> str:
    """Return the beginning of a text on one line; in quotes, unless it looks like JSON."""
    said = " ".join(text.split())
    if len(said) > _EXCERPT:
        said = f"{said[: _EXCERPT - 3]}..."
    return said if said[:1] in ("{", "[", "") else quoted(said)
