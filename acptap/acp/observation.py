"""What the witness makes of one message."""

from typing import TYPE_CHECKING

from acptap.acp.rules import note
from acptap.session import Transition

if TYPE_CHECKING:
    from acptap.notes import Note


class Observation:
    """What one message means.

    Attributes:
        session: The session it belongs to, or None for the connection.
        method: Its method; of a response, that of the request it answers, if there is one.
        transitions: Changes of state, usually none.
        notes: Rules met, usually none.
    """

    __slots__ = ("method", "notes", "session", "transitions")

    def __init__(self) -> None:
        self.session: str | None = None
        self.method: str | None = None
        self.transitions: tuple[Transition, ...] = ()
        self.notes: tuple[Note, ...] = ()

    def note(self, rule: str, **detail: object) -> None:
        """Add a note on a rule of the table."""
        self.notes = (*self.notes, note(rule, **detail))

    def move(self, transition: Transition | None) -> None:
        """Add a transition, if there is one."""
        if transition is not None:
            self.transitions = (*self.transitions, transition)


def session_of(params: object) -> str | None:
    """Return the session that a call's params name: a string in `sessionId`, for any method."""
    id_ = params.get("sessionId") if isinstance(params, dict) else None
    return id_ if isinstance(id_, str) else None
