import pytest

from acptap.notes import Note, Severity
from acptap.session import ACTIVE, CONFIRMED, OVER, Basis, Session, SessionState, Transition
from acptap.wire.jsontext import dump

IDLE, RUNNING, ASKING = SessionState.IDLE, SessionState.RUNNING, SessionState.REQUIRES_ACTION
UNKNOWN, OTHER, NONE, CLOSED = (
    SessionState.UNKNOWN,
    SessionState.OTHER,
    SessionState.NONE,
    SessionState.CLOSED,
)
DEFAULT, REPORTED, DERIVED = Basis.DEFAULT, Basis.REPORTED, Basis.DERIVED

MEANING = {
    # state: (says something for certain, work is under way, no work is left)
    "idle": (IDLE, True, False, True),
    "running": (RUNNING, True, True, False),
    "requires_action": (ASKING, True, True, False),
    "R25 unknown": (UNKNOWN, False, False, False),
    "R26 other": (OTHER, False, False, False),
    "R19 none": (NONE, False, False, False),
    "closed": (CLOSED, False, False, True),
}


@pytest.mark.parametrize(("state", "confirmed", "active", "over"), MEANING.values(), ids=MEANING)
def test_meaning(state, confirmed, active, over):
    assert (state in CONFIRMED, state in ACTIVE, state in OVER) == (confirmed, active, over)


def test_every_state_has_a_meaning():
    assert {row[0] for row in MEANING.values()} == set(SessionState)


def test_r1_a_session_begins_idle_by_default():
    assert Session("s") == Session("s", IDLE, DEFAULT, None, None, None, False, False)


MOVES = {
    "to another state": (
        (RUNNING, REPORTED),
        (IDLE, REPORTED, "end_turn", None),
        Transition("s", RUNNING, IDLE, REPORTED, "end_turn"),
    ),
    "R21 to the same state": ((RUNNING, REPORTED), (RUNNING, REPORTED, None, None), None),
    "R26 to a custom state": (
        (RUNNING, REPORTED),
        (OTHER, REPORTED, None, "_x"),
        Transition("s", RUNNING, OTHER, REPORTED, None, "_x"),
    ),
}


@pytest.mark.parametrize(("before", "move", "transition"), MOVES.values(), ids=MOVES)
def test_move(before, move, transition):
    session = Session("s", *before)
    after, basis, reason, name = move
    assert session.move(after, basis, reason=reason, name=name) == transition
    assert (session.state, session.basis, session.name) == (after, basis, name)


def test_r26_one_custom_state_to_another_is_no_repeat():
    session = Session("s")
    session.move(OTHER, REPORTED, name="_x")
    assert session.move(OTHER, REPORTED, name="_x") is None
    moved = session.move(OTHER, REPORTED, name="_y")
    assert moved == Transition("s", OTHER, OTHER, REPORTED, None, "_y", "_x")
    assert moved.repeat is False


LAST = {
    "nothing was certain": ([], None),
    "the last certain one": ([RUNNING, IDLE], IDLE),
    "R25 unknown keeps it": ([RUNNING, UNKNOWN], RUNNING),
    "R26 other keeps it": ([ASKING, OTHER], ASKING),
    "R19 none keeps it": ([IDLE, NONE], IDLE),
    "closed keeps it": ([IDLE, CLOSED], IDLE),
}


@pytest.mark.parametrize(("states", "last"), LAST.values(), ids=LAST)
def test_last_confirmed(states, last):
    session = Session("s")
    for state in states:
        session.move(state, REPORTED)
    assert session.last_confirmed is last


CANCEL = {
    "R33 running: the work goes on": (RUNNING, True),
    "R33 requires_action: the work goes on": (ASKING, True),
    "R25 unknown ends nothing": (UNKNOWN, True),
    "R26 other ends nothing": (OTHER, True),
    "R19 none ends nothing": (NONE, True),
    "idle ends the work": (IDLE, False),
    "closed ends the work": (CLOSED, False),
}


@pytest.mark.parametrize(("state", "requested"), CANCEL.values(), ids=CANCEL)
def test_cancel_requested(state, requested):
    session = Session("s", RUNNING, REPORTED, cancel_requested=True)
    session.move(state, REPORTED)
    assert session.cancel_requested is requested


def test_edge_50_a_lost_connection_leaves_nothing_certain():
    session = Session("s", RUNNING, REPORTED)
    assert session.confirmed is True
    session.lost = True
    assert (session.confirmed, session.state) == (False, RUNNING)


STATES_IN_A_CASSETTE = {
    "the entry's own session is left out": (
        Transition("s", IDLE, RUNNING, REPORTED),
        "s",
        '{"from":"idle","to":"running","basis":"reported"}',
    ),
    "another session is named": (
        Transition("child", NONE, RUNNING, REPORTED),
        "parent",
        '{"session":"child","from":"none","to":"running","basis":"reported"}',
    ),
    "without a session of the entry": (
        Transition("s", IDLE, RUNNING, DERIVED),
        None,
        '{"session":"s","from":"idle","to":"running","basis":"derived"}',
    ),
    "a reason": (
        Transition("s", RUNNING, IDLE, DERIVED, "end_turn"),
        "s",
        '{"from":"running","to":"idle","basis":"derived","reason":"end_turn"}',
    ),
    "R26 a name": (
        Transition("s", IDLE, OTHER, REPORTED, None, "_x"),
        "s",
        '{"from":"idle","to":"other","basis":"reported","name":"_x"}',
    ),
    "R26 another name": (
        Transition("s", OTHER, OTHER, REPORTED, None, "_y", "_x"),
        "s",
        '{"from":"other","to":"other","basis":"reported","name":"_y"}',
    ),
    "R22 a repeat": (
        Transition("s", RUNNING, RUNNING, REPORTED),
        "s",
        '{"from":"running","to":"running","basis":"reported","repeat":true}',
    ),
    "R22 a repeated custom state": (
        Transition("s", OTHER, OTHER, REPORTED, None, "_x", "_x"),
        "s",
        '{"from":"other","to":"other","basis":"reported","name":"_x","repeat":true}',
    ),
}


@pytest.mark.parametrize(
    ("transition", "session", "text"), STATES_IN_A_CASSETTE.values(), ids=STATES_IN_A_CASSETTE
)
def test_state_in_a_cassette(transition, session, text):
    assert dump(transition.as_json(session)).decode() == text


NOTES_IN_A_CASSETTE = {
    "without particulars": (
        Note("stdio/glued", Severity.WARNING),
        '{"rule":"stdio/glued","severity":"warning"}',
    ),
    "with particulars": (
        Note("jsonrpc/unknown-id", Severity.WARNING, {"id": 99}),
        '{"rule":"jsonrpc/unknown-id","severity":"warning","id":99}',
    ),
}


@pytest.mark.parametrize(("note", "text"), NOTES_IN_A_CASSETTE.values(), ids=NOTES_IN_A_CASSETTE)
def test_note_in_a_cassette(note, text):
    assert dump(note.as_json()).decode() == text
