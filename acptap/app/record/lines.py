"""Cassette lines with parts of their payload replaced. All else stays byte for byte."""

import base64
from collections.abc import Iterable

from acptap.cassette import Entry
from acptap.http import HttpRequest, HttpResponse
from acptap.redact.joined import Cut, Place
from acptap.wire import jsontext, spans, sse
from acptap.wire.escapes import unescape
from acptap.wire.spans import Edit, splice

_BEHIND_REDACTED = ("session", "state", "updates", "notes")
"""Members that stand behind `redacted` and before the payload."""


def with_cuts(line: bytes, entry: Entry, cuts: Iterable[Cut]) -> bytes:
    """Return a line without what is to be cut from it."""
    body = text_in(entry)
    by_place: dict[Place | None, list[Edit]] = {}
    for cut in cuts:
        by_place.setdefault(cut.place, []).append(Edit(cut.start, cut.end, cut.new))
    edits = [
        edit
        for place, edits in by_place.items()
        for edit in (edits if place is None else _in_string(body, place, edits))
    ]
    return with_text(line, entry, splice(body, edits))


def text_in(entry: Entry) -> bytes:
    """Return what of an entry's unit may be a message: of a block of an event stream, its data."""
    if entry.key == "msg":
        return entry.payload
    if "stream" in entry.front and entry.key == "text":
        return sse.payload_of(entry.unit()) or entry.unit()
    return entry.unit()


def with_text(line: bytes, entry: Entry, text: bytes) -> bytes:
    """Return a line with another text in place of `text_in`."""
    unit = b"" if entry.key == "msg" else entry.unit()
    if unit and unit is not text and text_in(entry) != unit:
        text = sse.with_data(unit, text)
    return with_body(line, entry, text)


def with_http(line: bytes, http: HttpRequest | HttpResponse) -> bytes:
    """Return the line of a request's or an answer's head with another head."""
    span = spans.find(line, ("http",))[-1]
    return splice(line, [Edit(span.start, span.end, jsontext.dump(http.as_json()))])


def with_body(line: bytes, entry: Entry, body: bytes) -> bytes:
    """Return a line with another payload, marked as redacted.

    Args:
        line: The line without its LF.
        entry: What it says.
        body: The message if the payload is a `msg`, else the whole unit.
    """
    assert entry.key is not None
    payload = body
    if entry.key == "text":
        payload = jsontext.dump(body.decode())
    elif entry.key == "b64":
        payload = b'"' + base64.b64encode(body) + b'"'
    start = len(line) - 1 - len(entry.payload)
    lead = b',"%b":' % entry.key.encode()
    if line.startswith(b'{"at":') and line[start - len(lead) : -1] == lead + entry.payload:
        return _flagged(line[: start - len(lead)], entry) + lead + payload + b"}"
    span = spans.find(line, (entry.key,))[-1]  # saved again by hand
    line = line[: span.start] + payload + line[span.end :]
    flag = b"" if entry.front.get("redacted") is True else b'"redacted":true,'
    return line.replace(b"{", b"{" + flag, 1)


def _flagged(front: bytes, entry: Entry) -> bytes:
    """Return a line's members up to the payload, with the one that says it is redacted."""
    if "redacted" in entry.front:
        return front
    following = next((name for name in _BEHIND_REDACTED if name in entry.front), None)
    place = len(front) if following is None else front.index(b',"%b":' % following.encode())
    return front[:place] + b',"redacted":true' + front[place:]


def _in_string(body: bytes, place: Place, edits: list[Edit]) -> list[Edit]:
    """Return what to change in a message, given what to change in what one of its strings says."""
    span = spans.find(body, place.path)[-1]  # of members written twice the last one counts
    start, raw = span.start + 1, body[span.start + 1 : span.end - 1]
    if place.is_base64:
        said = base64.b64decode(unescape(raw.decode()).text)
        return [Edit(start, span.end - 1, base64.b64encode(splice(said, edits)))]
    spelled = raw.decode("utf-8", "surrogateescape")
    reading = unescape(spelled)
    said = spoken(reading.text)

    def origin(position: int) -> int:
        character = len(said[:position].decode("utf-8", "surrogatepass"))
        return start + len(spelled[: reading.origin(character)].encode("utf-8", "surrogateescape"))

    return [Edit(origin(edit.start), origin(edit.end), edit.new) for edit in edits]


def spoken(text: str) -> bytes:
    """Return what a string of a message says, in UTF-8 as far as that can carry it."""
    return text.encode("utf-8", "surrogatepass")
