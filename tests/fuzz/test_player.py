from hypothesis import given
from hypothesis import strategies as st

from acptap.jsonrpc import Side
from acptap.redact import Redactor
from tests.fuzz.damage import damaged
from tests.fuzz.often import often
from tests.fuzz.playing import Cassette, check_account, play, said_by_client
from tests.fuzz.talks import HARMS, chances, sound, spoilt
from tests.fuzz.tapes import entries_of, record


def cassette_of(lines, redactor=None):
    return Cassette(entries_of(record(lines, redactor)))


@often
@given(sound(), st.booleans())
def test_the_same_client_hears_the_same(lines, redacts):
    cassette = cassette_of(lines, Redactor() if redacts else None)
    run = play(cassette, said_by_client(lines))
    report = run.player.report()
    assert report.lines() == [] if not redacts else report.clean
    assert run.player.finished
    assert sorted(run.heard) == [n for n, line in enumerate(lines, 2) if line.side is Side.AGENT]
    check_account(cassette, run)


@often
@given(spoilt())
def test_the_same_client_is_owed_nothing_however_broken_the_tape(lines):
    cassette = cassette_of(lines)
    check_account(cassette, play(cassette, said_by_client(lines)))


@often
@given(spoilt(), chances(), st.integers(1, HARMS))
def test_a_client_that_does_otherwise_is_owed_nothing(lines, chance, harms):
    clients = damaged([line for line in lines if line.side is Side.CLIENT], chance, harms)
    cassette = cassette_of(lines)
    check_account(cassette, play(cassette, [raw for _, raw in clients]))


@often
@given(sound(), spoilt())
def test_a_client_of_another_conversation_is_owed_nothing(lines, others):
    cassette = cassette_of(lines)
    check_account(cassette, play(cassette, said_by_client(others)))
