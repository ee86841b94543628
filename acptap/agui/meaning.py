"""What a part of a run means."""

from typing import NamedTuple

from acptap.notes import Note
from acptap.session import Transition
from acptap.updates import Update


class Meaning(NamedTuple):
    """What a part of a run means.

    Attributes:
        transitions: Changes of the thread's state, usually none.
        notes: Rules met, usually none.
        updates: What a view must react to, in order.
    """

    transitions: tuple[Transition, ...] = ()
    notes: tuple[Note, ...] = ()
    updates: tuple[Update, ...] = ()


NOTHING = Meaning()
