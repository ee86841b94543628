"""AG-UI threads and their runs: what goes by becomes states, notes and updates.

A run is one POST with a `RunAgentInput` and its answer. Its updates follow agui.md 5.2 and 5.3 with
the choices of 5.5: `done` is told exactly once and last, on every path out, and a `failed` one
right behind its error. Of a run that is refused with an HTTP error both are told at the answer's
head, for its body is no part of the run. A redirect tells nothing: the client asks again.
"""

from enum import Enum
from typing import Final, Literal, NamedTuple

from acptap.agui.events import (
    ENDS,
    RETIRED,
    Event,
    faults_of,
    fields,
    is_instant,
    items,
    type_of,
    word,
)
from acptap.agui.inputs import RunInput
from acptap.agui.outcome import finished
from acptap.agui.record import Record
from acptap.agui.rules import RULES, note
from acptap.agui.values import Done, Failure, Text, ThreadView
from acptap.agui.view.document import Document
from acptap.agui.view.effects import EFFECTS
from acptap.agui.view.scene import Scene
from acptap.notes import Note
from acptap.session import Basis, SessionState, Transition
from acptap.updates import End, Update, UpdateKind

MEDIA_TYPE: Final = "application/vnd.ag-ui.event+proto"
EVENT_STREAM: Final = "text/event-stream"
