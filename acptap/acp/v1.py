"""ACP version 1: the wire reports no states; they are derived from what is open (acp.md 3.4)."""

from acptap.acp.work import Work
from acptap.session import Basis, SessionState, Transition

DERIVED: dict[tuple[bool, bool], SessionState] = {
    # (a prompt is open, the user is asked something)
    (False, False): SessionState.IDLE,
    (False, True): SessionState.IDLE,
    (True, False): SessionState.RUNNING,
    (True, True): SessionState.REQUIRES_ACTION,
}

CANCELLED = -32800
"""The JSON-RPC error code of a cancelled request."""


def derive(work: Work, reason: str | None = None) -> Transition | None:
    """Bring a session to the state that follows from its open requests.

    Args:
        work: The session and what is open in it. A closed session stays closed, and a child's
            state is what its parent reports (acp.md 3.4).
        reason: Why the last prompt ended, used only if the session becomes idle.
    """
    session = work.session
    told = session.state is SessionState.NONE or session.basis is Basis.REPORTED
    if session.state is SessionState.CLOSED or (told and not work.prompts):
        return None
    after = DERIVED[work.prompts > 0, work.asks > 0]
    if after is SessionState.IDLE is session.state:
        return None
    return session.move(after, Basis.DERIVED, reason=reason if after is SessionState.IDLE else None)


def end_of_prompt(result: object, error: object, *, failed: bool) -> str | None:
    """Return why a prompt ended, from its response."""
    if failed:
        code = error.get("code") if isinstance(error, dict) else None
        return "cancelled" if code == CANCELLED else "error"
    reason = result.get("stopReason") if isinstance(result, dict) else None
    return reason if isinstance(reason, str) else None
