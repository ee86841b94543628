import pytest

from acptap.jsonrpc import NumberText, Side
from acptap.pairing import Ledger

CLIENT, AGENT = Side.CLIENT, Side.AGENT

OPENED = {
    "an answer belongs to its request": ([(CLIENT, 1, "a")], (CLIENT, 1), "a"),
    "edge 9 an answer to an unknown id": ([(CLIENT, 1, "a")], (CLIENT, 99), None),
    "I2 the other side's id is another": ([(CLIENT, 1, "a")], (AGENT, 1), None),
    "edge 1 the same id both ways, the agent's": (
        [(CLIENT, 2, "prompt"), (AGENT, 2, "read")],
        (AGENT, 2),
        "read",
    ),
    "edge 1 the same id both ways, the client's": (
        [(CLIENT, 2, "prompt"), (AGENT, 2, "read")],
        (CLIENT, 2),
        "prompt",
    ),
    "I3 edge 2 a string is no number": ([(CLIENT, 1, "a"), (CLIENT, "1", "b")], (CLIENT, "1"), "b"),
    "I3 a number is no string": ([(CLIENT, "1", "b"), (CLIENT, 1, "a")], (CLIENT, 1), "a"),
    "I3 a leading zero counts": ([(CLIENT, "1", "a"), (CLIENT, "01", "b")], (CLIENT, "01"), "b"),
    "I3 1.0 is not 1": ([(CLIENT, 1, "a")], (CLIENT, NumberText("1.0")), None),
    "I3 1.0 is not the string": ([(CLIENT, "1.0", "a")], (CLIENT, NumberText("1.0")), None),
    "1.0 is 1.0": ([(CLIENT, NumberText("1.0"), "a")], (CLIENT, NumberText("1.0")), "a"),
    "edge 3 a null id is an id": ([(CLIENT, None, "a")], (CLIENT, None), "a"),
    "I5 of equal ids the oldest": ([(CLIENT, 1, "s1"), (CLIENT, 1, "s2")], (CLIENT, 1), "s1"),
}


@pytest.mark.parametrize(("opened", "answer", "item"), OPENED.values(), ids=OPENED)
def test_settle(opened, answer, item):
    ledger = Ledger[str]()
    for asker, id_, what in opened:
        ledger.open(asker, id_, what)
    assert ledger.find(*answer) == item
    assert ledger.settle(*answer) == item


def test_i1_an_id_is_used_again_after_its_answer():
    ledger = Ledger[str]()
    assert ledger.open(AGENT, 0, "turn 1") is True
    assert ledger.settle(AGENT, 0) == "turn 1"
    assert ledger.open(AGENT, 0, "turn 2") is True
    assert ledger.settle(AGENT, 0) == "turn 2"
    assert ledger.open(AGENT, 0, "turn 3") is True
    assert ledger.unanswered() == ["turn 3"]


def test_i5_a_duplicate_is_told_and_both_are_answered():
    ledger = Ledger[str]()
    assert ledger.open(CLIENT, 1, "s1") is True
    assert ledger.open(CLIENT, 1, "s2") is False
    assert ledger.settle(CLIENT, 1) == "s1"
    assert ledger.settle(CLIENT, 1) == "s2"
    assert ledger.settle(CLIENT, 1) is None


def test_edge_10_a_second_answer_is_known_as_one():
    ledger = Ledger[str]()
    ledger.open(CLIENT, 5, "a")
    assert ledger.was_settled(CLIENT, 5) is False
    ledger.settle(CLIENT, 5)
    assert ledger.was_settled(CLIENT, 5) is True
    assert ledger.was_settled(AGENT, 5) is False
    assert ledger.was_settled(CLIENT, "5") is False


def test_unanswered_oldest_first():
    ledger = Ledger[str]()
    ledger.open(CLIENT, 1, "a")
    ledger.open(AGENT, 1, "b")
    ledger.open(CLIENT, 2, "c")
    ledger.settle(AGENT, 1)
    assert ledger.unanswered() == ["a", "c"]


def test_the_last_10_000_answered_ids_are_remembered():
    ledger = Ledger[str]()
    for id_ in range(10_001):
        ledger.open(CLIENT, id_, "")
        ledger.settle(CLIENT, id_)
    assert ledger.was_settled(CLIENT, 0) is False
    assert ledger.was_settled(CLIENT, 1) is True
    assert ledger.was_settled(CLIENT, 10_000) is True


def test_an_id_that_is_answered_again_is_remembered_anew():
    ledger = Ledger[str]()
    for id_ in [0, *range(1, 10_000), 0, 10_000]:
        ledger.open(AGENT, id_, "")
        ledger.settle(AGENT, id_)
    assert ledger.was_settled(AGENT, 0) is True
