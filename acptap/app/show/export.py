"""Rows as JSON lines, for programs."""

from collections.abc import Container

from acptap.app.show.threads import thread_key
from acptap.errors import UsageError
from acptap.rereading import Folded
from acptap.timeline.events import text_of_frame
from acptap.timeline.printable import visible_json
from acptap.timeline.reading import Kind
from acptap.timeline.rows import Key, Row
from acptap.wire.jsontext import dump

_NO_JSON = frozenset({Kind.NOISE, Kind.PIECE, Kind.STDERR, Kind.EVENT, Kind.HTTP})


def json_line(row: Row) -> str:
    """Return a row as a JSON object on one line; its members are always the same.

    A message is spliced in as the peer spelled it. Characters that could act on a terminal are
    written as JSON escapes, so the value is the same.
    """
    reading, track, told = row.reading, row.track, row.entry.front
    front: dict[str, object] = {
        "number": row.entry.number,
        "at": row.at,
        "from": row.side.value,
        "conn": row.conn,
        "exchange": told.get("exchange"),
        "stream": told.get("stream"),
        "kind": reading.kind.value,
        "method": reading.method,
        "update": reading.update,
        "id": reading.id,
        "session": row.sessions[0] if row.sessions else None,
        "label": None if track is None else track.label,
        "state": None if row.state is None else row.state.value,
        "transitions": [move.as_json(None) for move in row.moves],
        "updates": [update.as_json(None) for update in row.updates],
        "notes": [note.as_json() for note in row.notes],
        "gist": row.gist,
        "http": told.get("http"),
    }
    text = dump(front)[:-1] + b',"payload":' + _payload(row) + b"}"
    return visible_json(text.decode())


def _payload(row: Row) -> bytes:
    if row.entry.key is None:
        return b"null"
    if row.reading.kind in _NO_JSON:
        return dump(row.entry.unit().decode("utf-8", "backslashreplace"))
    if row.entry.is_frame:
        return text_of_frame(row.entry.unit())
    return row.entry.reading()


def folded_line(folded: Folded, sessions: Container[Key] | None) -> str:
    """Return folded values as a JSON object on one line.

    Args:
        folded: The values.
        sessions: The only sessions that are wanted, and their subagents; None for all.

    Raises:
        UsageError: The values are nested deeper than JSON can be written.
    """
    if sessions is not None:
        wanted = [
            view for view in folded.sessions
            if (view.conn, view.id) in sessions or (view.conn, view.parent) in sessions
        ]  # fmt: skip
        threads = [thread for thread in folded.threads if thread_key(thread) in sessions]
        folded = Folded(folded.line, wanted, threads=threads)
    try:
        return visible_json(dump(folded.as_json()).decode())
    except RecursionError:
        raise UsageError(
            "the cassette holds values nested too deeply for --json", where="--tree",
            fix="leave --json out",
        ) from None  # fmt: skip
