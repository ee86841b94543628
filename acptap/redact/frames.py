"""Take secrets out of protobuf frames of AG-UI."""

from collections.abc import Iterator

from acptap.agui import proto
from acptap.agui.retexting import Place, retext
from acptap.agui.secrets import METHOD
from acptap.jsonrpc import Malformed
from acptap.redact.redactor import Redactor
from acptap.wire import jsontext

_EVENT = Malformed("an event")


def clear_frame(redactor: Redactor, frame: bytes) -> bytes:
    """Return a frame without its secrets; itself if there are none.

    What is no frame is cleared as any text, for nobody can read it as a frame.
    """
    try:
        event = proto.decode(frame)
        said = jsontext.dump(event)
        clear = redactor.message(said, _EVENT, METHOD)
        if clear is said:
            return frame
        changes = dict(_changes(event, jsontext.parse(clear)))

        def replace(_type: str, _place: Place, data: bytes) -> bytes | None:
            new = changes.get(data.decode("utf-8", "replace"))
            return None if new is None else new.encode("utf-8", "replace")

        return retext(frame, replace)
    except (ValueError, RecursionError):
        return redactor.plain(frame)


def _changes(old: object, new: object) -> Iterator[tuple[str, str]]:
    """Yield the texts of a value that are others in its copy."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            yield from _changes(value, new[name])
    elif isinstance(old, list) and isinstance(new, list):
        for pair in zip(old, new, strict=True):
            yield from _changes(*pair)
    elif isinstance(old, str) and isinstance(new, str) and old != new:
        yield old, new
