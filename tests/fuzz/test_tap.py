from hypothesis import given

from acptap.checking import Reader, differs
from acptap.jsonrpc import Side
from acptap.redact import Redactor
from tests.fuzz.often import often
from tests.fuzz.talks import chances, spoilt
from tests.fuzz.tapes import chopped, entries_of, heard, record


@often
@given(spoilt(), chances())
def test_every_byte_is_on_the_tape(lines, chance):
    entries = entries_of(record(chopped(lines, chance)))
    for side in Side:
        units = [entry.unit() for entry in entries if entry.side is side and entry.event is None]
        assert b"".join(units) == heard(lines, side)


@often
@given(spoilt(), chances())
def test_a_redactor_changes_only_what_it_marks(lines, chance):
    reads = chopped(lines, chance)
    kept, cleared = entries_of(record(reads)), entries_of(record(reads, Redactor()))
    assert len(kept) == len(cleared)
    for was, is_ in zip(kept, cleared, strict=True):
        assert is_.side is was.side
        assert is_.unit() == was.unit() or is_.front["redacted"] is True


@often
@given(spoilt(), chances())
def test_what_a_tape_says_can_be_said_again(lines, chance):
    reader = Reader()
    for entry in entries_of(record(chopped(lines, chance))):
        assert not differs(entry, reader.members(entry))
