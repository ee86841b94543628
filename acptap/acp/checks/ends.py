"""Checks of what a connection leaves open at its end."""

from collections.abc import Callable

from acptap.acp.checks.table import Found, Table
from acptap.acp.knowledge import Knowledge, spelled
from acptap.acp.rules import note
from acptap.acp.work import Work
from acptap.notes import Note
from acptap.session import ACTIVE

Check = Callable[[Work], Found]


def ended_in_turn(work: Work) -> Found:
    """Work that nobody said was over."""
    state = work.session.state
    return {"state": state.value} if state in ACTIVE else None


def work_not_announced(work: Work) -> Found:
    """An accepted prompt without any work."""
    return {} if work.record.owed else None


def only_custom_states(work: Work) -> Found:
    """States that only an agent's friends understand."""
    return {} if work.record.custom and not work.record.standard else None


def user_message_missing(work: Work) -> Found:
    """An accepted prompt whose message is nowhere; while work goes on it may still come."""
    awaited = None if work.session.state in ACTIVE else next(iter(work.record.awaited), None)
    return None if awaited is None else {"messageId": awaited}


END = "end"

CHECKS: Table[Check] = Table({
    END: [
        ("acp/ended-in-turn", ended_in_turn),
        ("acp/work-not-announced", work_not_announced),
        ("acp/only-custom-states", only_custom_states),
        ("acp/user-message-missing", user_message_missing),
    ],
})  # fmt: skip


def judge(known: Knowledge) -> list[Note]:
    """Return what is left open: requests first, then sessions."""
    notes = [
        note("acp/never-answered", side=call.asker.value, method=call.method,
             **spelled(call.id), **({} if call.session is None else {"session": call.session}))
        for call in known.calls.unanswered()
    ]  # fmt: skip
    for id_, work in known.sessions.items():
        for rule, check in CHECKS.rows(known.version, END):
            found = check(work)
            if found is not None:
                notes.append(note(rule, session=id_, **found))
    return notes
