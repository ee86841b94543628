"""What is wrong with the members of an event, with its place behind an end, and with a head."""

from collections.abc import Iterable

from acptap.agui.events import ENDS, Event, EventType, faults_of
from acptap.agui.proto import MEDIA_TYPE
from acptap.agui.rules import note
from acptap.agui.values import Failure
from acptap.agui.view.scene import Scene
from acptap.notes import Note

_EVENT_STREAM = "text/event-stream"

_NO_CONTENT = 204
_APPLIED = ENDS | {"RUN_STARTED"}
"""Types that count whatever is wrong with their members."""


def sound(scene: Scene, type_: str, kind: EventType, value: Event) -> Event | None:
    """Return an event without the members that are wrong, or None if it can't be read."""
    missing, wrong, nulls = faults_of(kind, value)
    if missing:
        scene.notes.append(note("agui/malformed-event", members=missing))
        scene.fail(Failure(scene.line, "decode", rule="agui/malformed-event"))
        if type_ not in _APPLIED:
            return None
    if wrong:
        scene.meet(note("agui/malformed-member", members=wrong))
    if nulls:
        scene.meet(note("agui/null-member", members=nulls))
    if not (wrong or nulls):
        return value
    return {name: said for name, said in value.items() if name not in (*wrong, *nulls)}


def late(ended: str, type_: str) -> Note:
    """Return what is wrong with an event after the end of its run."""
    if ended == "RUN_ERROR":
        return note("agui/after-error", type=type_)
    if type_ == "RUN_ERROR":
        return note("agui/late-error")
    return note("agui/after-finish", type=type_)


def judge_head(status: int, media_type: str) -> Iterable[Note]:
    """Yield what is to be said of the head of an answer."""
    kind, _, parameters = media_type.partition(";")
    kind = kind.strip().lower()
    if status == _NO_CONTENT:
        yield note("agui/no-content")
    elif kind not in (MEDIA_TYPE, _EVENT_STREAM):
        yield note("agui/media-type")
    elif kind == MEDIA_TYPE and (parameters or media_type != MEDIA_TYPE):
        yield note("agui/proto-parameters")
