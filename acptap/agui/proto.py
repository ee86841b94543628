"""Read AG-UI's binary form: frames from a stream, and the JSON event that each stands for.

A frame is a length (four bytes, big-endian) and a protobuf message of that length. It is read as
the reference decoder reads it, so the event is that of the same run over an event stream.
"""

from itertools import chain

from acptap.agui.schema import EVENTS, TYPES
from acptap.agui.unpacking import unpack
from acptap.wire.lines import PIECE_LIMIT, Unfinished, Unit, Unterminated
from acptap.wire.protobuf import BYTES, Field, fields_of, joined

MEDIA_TYPE = "application/vnd.ag-ui.event+proto"
"""The reference client compares a whole `Content-Type` with it: a parameter makes it another."""

_PREFIX = 4


class FrameSplitter:
    """A binary stream, cut into frames.

    A `bytes` unit is a whole frame, its length included. Concatenating what a splitter returned
    gives back the stream, whatever the read boundaries were.

    Args:
        limit: Bytes of an unfinished frame at which its pieces are handed on unfinished.
    """

    def __init__(self, limit: int = PIECE_LIMIT) -> None:
        self._frame = Unfinished(limit)
        self._missing: int | None = None  # of the frame that has begun; None: its length too

    def feed(self, data: bytes) -> list[Unit]:
        """Return the units that `data` completes: frames, and pieces."""
        units: list[Unit] = []
        place = 0
        if self._missing is None:
            data = self._frame.take() + data
        elif self._missing > len(data):
            return self._keep(data, self._missing - len(data))
        else:
            place = self._missing
            units.append(self._frame.finish(data[:place]))
        while (end := _end_of_frame(data, place)) is not None and end <= len(data):
            units.append(data[place:end])
            place = end
        return units + self._keep(data[place:], None if end is None else end - len(data))

    def end(self) -> list[Unit]:
        """Return what is left at the end of the stream: at most one unit."""
        if self._frame.in_pieces:
            return [self._frame.finish(b"")]
        return [Unterminated(self._frame.take())] if self._frame.has_begun else []

    def _keep(self, rest: bytes, missing: int | None) -> list[Unit]:
        """Keep the beginning of a frame, or a part of it, of which so many bytes are missing."""
        self._missing = missing
        if not rest:
            return []
        if missing is not None:
            return self._frame.keep(rest)
        self._frame.hold(rest)
        return []


def _end_of_frame(data: bytes, place: int) -> int | None:
    """Return where the frame at `place` ends, or None if its length has not come whole."""
    start = place + _PREFIX
    return None if start > len(data) else start + int.from_bytes(data[place:start], "big")


def decode(frame: bytes) -> dict[str, object]:
    """Return the event in a frame.

    Whole numbers come as integers, what is no number to JSON as None, bytes that are no UTF-8 as
    U+FFFD. The type of an event that only later protocols know is `UNKNOWN_` and its number: the
    frame holds no name.

    Raises:
        ValueError: No event can be made out.
    """
    if _end_of_frame(frame, 0) != len(frame):
        raise ValueError("the frame is not as long as it says")
    fields = list(fields_of(frame[_PREFIX:]))
    known = {field.number for field in fields} & EVENTS.keys()
    if len(known) > 1:
        raise ValueError("the frame holds several events")
    fields = [field for field in fields if field.wire_type == BYTES]
    if not known:
        return _unknown(fields)
    name = EVENTS[known.pop()]
    return _event(name, joined(field for field in fields if EVENTS.get(field.number) == name))


def _unknown(fields: list[Field]) -> dict[str, object]:
    if not fields:
        raise ValueError("the frame holds no event")
    for _ in chain.from_iterable(fields_of(field.data) for field in fields):
        pass  # only messages can be events
    return {"type": f"UNKNOWN_{fields[0].number}"}


def _event(name: str, message: bytes) -> dict[str, object]:
    event = unpack(name, message)
    assert isinstance(event, dict)
    base = event.pop("base", None)
    if not isinstance(base, dict):
        raise ValueError("the event has no base")
    if TYPES.get(base.pop("type")) != name:
        raise ValueError(f"the frame holds {name}, but its event says that it is another")
    return {"type": name, **event, **base}
