"""Session state, one model for all protocols.

A session is `idle`, `running` or `requires_action`; or its state is not known for certain
(`unknown`, `other`, `none`), or it is `closed`. Nothing here knows how a protocol tells.
"""

from dataclasses import dataclass
from enum import StrEnum


class SessionState(StrEnum):
    """What a session is doing in the foreground."""

    IDLE = "idle"
    RUNNING = "running"
    REQUIRES_ACTION = "requires_action"
    UNKNOWN = "unknown"
    """The agent says that it can't tell."""
    OTHER = "other"
    """A custom or future state; its name stands beside it. Never to be read as idle."""
    NONE = "none"
    """Nothing was reported yet: after a resume request, and for a child session."""
    CLOSED = "closed"


CONFIRMED = frozenset({SessionState.IDLE, SessionState.RUNNING, SessionState.REQUIRES_ACTION})
"""States that say something for certain."""

ACTIVE = frozenset({SessionState.RUNNING, SessionState.REQUIRES_ACTION})
"""States in which foreground work is under way."""

OVER = frozenset({SessionState.IDLE, SessionState.CLOSED})
"""States in which no foreground work is left. The others may hide some."""


class Basis(StrEnum):
    """How a state is known."""

    DEFAULT = "default"
    REPORTED = "reported"
    DERIVED = "derived"


@dataclass(frozen=True, slots=True)
class Transition:
    """A session went from one state to another, or repeated one with other details.

    Attributes:
        session: The session's id.
        before: The state until now.
        after: The state from now on; equal to `before` for a repeat whose details changed.
        basis: How it is known.
        reason: The stop reason, `error`, `cancelled` or nothing.
        name: The name of an `other` state.
        before_name: The name of the `other` state until now.
    """

    session: str
    before: SessionState
    after: SessionState
    basis: Basis
    reason: str | None = None
    name: str | None = None
    before_name: str | None = None

    @property
    def repeat(self) -> bool:
        """Whether this only restates a state, with changed details."""
        return self.before is self.after and self.before_name == self.name

    def as_json(self, entry_session: str | None) -> dict[str, object]:
        """Return the transition as it stands in a cassette.

        Args:
            entry_session: The session the entry is filed under, left out if it is the same.
        """
        said: dict[str, object] = {}
        if self.session != entry_session:
            said["session"] = self.session
        said |= {"from": self.before.value, "to": self.after.value, "basis": self.basis.value}
        if self.name is not None:
            said["name"] = self.name
        if self.reason is not None:
            said["reason"] = self.reason
        if self.repeat:
            said["repeat"] = True
        return said


@dataclass(slots=True)
class Session:
    """What is known of one session on one connection.

    Attributes:
        id: Its id.
        state: Its state.
        basis: How the state is known.
        name: The name of an `other` state.
        details: The last reported snapshot, whole.
        last_confirmed: The last state that was certain.
        cancel_requested: A cancel was sent and its work has not ended.
        lost: The connection ended, so what it said last is certain no more.
    """

    id: str
    state: SessionState = SessionState.IDLE
    basis: Basis = Basis.DEFAULT
    name: str | None = None
    details: object = None
    last_confirmed: SessionState | None = None
    cancel_requested: bool = False
    lost: bool = False

    @property
    def confirmed(self) -> bool:
        """Whether the state says something for certain."""
        return self.state in CONFIRMED and not self.lost

    def move(
        self,
        after: SessionState,
        basis: Basis,
        *,
        reason: str | None = None,
        name: str | None = None,
    ) -> Transition | None:
        """Assign a state and return the transition, or None if it was this state already."""
        before, old_name = self.state, self.name
        self.state, self.basis, self.name = after, basis, name
        if self.confirmed:
            self.last_confirmed = after
        if after in OVER:
            self.cancel_requested = False
        if before is after and old_name == name:
            return None
        return Transition(self.id, before, after, basis, reason, name, old_name)
