"""ACP version 2: the agent reports states, and nothing else assigns one (acp.md 3.2, R1 to R33)."""

from acptap.acp.work import Work
from acptap.session import Basis, SessionState, Transition

REPORTED: dict[str, SessionState] = {
    "idle": SessionState.IDLE,
    "running": SessionState.RUNNING,
    "requires_action": SessionState.REQUIRES_ACTION,
    "unknown": SessionState.UNKNOWN,
}
"""The states of the schema; every other string is a custom or future one (R26)."""


def report(work: Work, snapshot: dict[str, object]) -> Transition | None:
    """Take over a snapshot that the agent sent.

    The snapshot replaces the last one whole. Sending the same state again is no transition (R21);
    if it brings other details, a transition from the state to itself is returned (R22).

    Args:
        work: The session.
        snapshot: The `state_update`, or the `state` member of a `subagent_update`. Without a
            string in `state` it is invalid and changes nothing.
    """
    wire = snapshot.get("state")
    if not isinstance(wire, str):
        return None
    session = work.session
    state = REPORTED.get(wire, SessionState.OTHER)
    name = wire if state is SessionState.OTHER else None
    details = {key: value for key, value in snapshot.items() if key != "sessionUpdate"}
    reason = snapshot.get("stopReason") if state is SessionState.IDLE else None
    reason = reason if isinstance(reason, str) else None
    known = session.details
    session.details = details
    transition = session.move(state, Basis.REPORTED, reason=reason, name=name)
    if transition is None and known is not None and not _same(known, details):
        return Transition(session.id, state, state, Basis.REPORTED, reason, name, name)
    return transition


def _same(known: object, details: object) -> bool:
    try:
        return known == details
    except RecursionError:  # nested deeper than Python compares
        return False


def withdraw(work: Work) -> Transition | None:
    """Forget the state: after a resume request, until the snapshot it owes (R19).

    A parent withdraws a child's state the same way, with a null.
    """
    work.session.details = None
    return work.session.move(SessionState.NONE, Basis.DERIVED)
