"""How a run says that it ended: RUN_FINISHED and RUN_ERROR, read."""

from typing import NamedTuple

from acptap.agui.events import Event, fields, items, optional
from acptap.agui.rules import note
from acptap.notes import Note
from acptap.session import SessionState
from acptap.updates import End


class Outcome(NamedTuple):
    """How a run ended.

    Attributes:
        end: How; None if it can't be told, because it was interrupted for nothing.
        notes: Rules met.
        interrupts: What a human is asked.
        pending: The tool calls that the application is to answer; None if nothing was said.
    """

    end: End | None
    notes: list[Note]
    interrupts: list[Event]
    pending: list[str] | None = None


STATES: dict[End, tuple[SessionState, str | None]] = {
    End.SUCCESS: (SessionState.IDLE, "end_turn"),
    End.INTERRUPTED: (SessionState.REQUIRES_ACTION, None),
    End.CANCELLED: (SessionState.IDLE, "cancelled"),
    End.FAILED: (SessionState.IDLE, "error"),
}
"""What a thread's state is then, and why."""


def outcome_of(event: Event) -> Outcome:
    """Return what a RUN_FINISHED says; without an outcome, and with an unknown one, success."""
    said = event.get("outcome")
    outcome = fields(said)
    match outcome.get("type"):
        case "interrupt":
            return _interrupted(outcome)
        case "cancelled":
            return Outcome(End.CANCELLED, [note("agui/cancelled")], [])
        case "success":
            return Outcome(End.SUCCESS, [], [], _words(outcome.get("pendingToolCallIds")))
        case _:
            notes = [] if said is None else [note("agui/unknown-outcome")]
            return Outcome(End.SUCCESS, notes, [])


def _interrupted(outcome: Event) -> Outcome:
    asked = [said for said in items(outcome.get("interrupts")) if optional(said, "id") is not None]
    if not asked:
        return Outcome(None, [], [])
    ids = [str(said["id"]) for said in asked]
    twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
    notes = [note("agui/duplicate-interrupt", id=id_) for id_ in twice]
    return Outcome(End.INTERRUPTED, notes, asked)


def _words(value: object) -> list[str] | None:
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else None
