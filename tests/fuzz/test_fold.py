from hypothesis import given
from hypothesis import strategies as st

from acptap import fold
from acptap.redact import Redactor
from tests.fuzz.often import often
from tests.fuzz.talks import spoilt
from tests.fuzz.tapes import entries_of, record


@often
@given(spoilt(), st.booleans(), st.integers(1, 40))
def test_whatever_was_said_can_be_shown_at_any_moment(lines, redacts, at):
    entries = entries_of(record(lines, Redactor() if redacts else None))
    assert fold(entries, at).line <= at
    last = entries[-1].number
    assert fold(entries).line == last
    assert repr(fold(entries, last)) == repr(fold(entries))
