"""What shows in a message's text and no longer once it is parsed."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.acp.checks.envelope import Envelope
from acptap.wire import jsontext


def met(text, envelope=None):
    envelope = Envelope() if envelope is None else envelope
    return [(note.rule, note.detail) for note in envelope.check(jsontext.parse(text), text)]


TWICE = "jsonrpc/duplicate-member"

TEXTS = {
    "a sound message": (b'{"jsonrpc":"2.0","method":"m"}', []),
    "the version may stand anywhere": (b'{"method":"m","jsonrpc":"2.0"}', []),
    "no version": (b'{"method":"m"}', [("jsonrpc/version", {})]),
    "a number for a version": (b'{"jsonrpc":2.0,"method":"m"}', [("jsonrpc/version", {})]),
    "what is no object says nothing": (b"5", []),
    "a batch": (b'[{"jsonrpc":"2.0"},5]', []),
    "a batch with one that does not say it": (
        b'[{"jsonrpc":"2.0"},{"id":1}]',
        [("jsonrpc/version", {})],
    ),
    "edge 16 a member twice": (
        b'{"jsonrpc":"2.0","method":"a","method":"b"}',
        [(TWICE, {"member": "method"})],
    ),
    "deep inside": (
        b'{"jsonrpc":"2.0","params":[{"a":{"b":1,"b":1}}]}',
        [(TWICE, {"member": "b"})],
    ),
    "spelled in two ways": (
        b'{"jsonrpc":"2.0","a":1,"\\u0061":2}',
        [(TWICE, {"member": "a"})],
    ),
    "with spaces in front of colons": (
        b'{"jsonrpc" :"2.0","a":1,"a":2}',
        [(TWICE, {"member": "a"})],
    ),
    "in different objects it is another one": (
        b'{"jsonrpc":"2.0","a":{"a":[{"a":1},{"a":2}]}}',
        [],
    ),
    "a text that looks like members": (b'{"jsonrpc":"2.0","t":"\\"a\\":1,\\"a\\":2"}', []),
    "behind a byte order mark": (
        b'\xef\xbb\xbf{"jsonrpc":"2.0","a":1,"a":2}',
        [(TWICE, {"member": "a"})],
    ),
    "beside half a surrogate pair and a number beyond all": (
        b'{"jsonrpc":"2.0","a":"\\ud800","a":1E400,"b":99999999999999999999}',
        [(TWICE, {"member": "a"})],
    ),
    "a long name is cut": (
        b'{"jsonrpc":"2.0","%b":1,"%b":2}' % (b"x" * 300, b"x" * 300),
        [(TWICE, {"member": "x" * 100})],
    ),
    "both": (b'{"a":1,"a":2}', [("jsonrpc/version", {}), (TWICE, {"member": "a"})]),
}


@pytest.mark.parametrize(("text", "notes"), TEXTS.values(), ids=TEXTS)
def test_check(text, notes):
    assert met(text) == notes


def test_a_version_that_is_missing_is_said_once():
    envelope = Envelope()
    assert met(b'{"id":1}', envelope) == [("jsonrpc/version", {})]
    assert met(b'{"id":2}', envelope) == []


def test_what_is_nested_deeper_than_python_looks_is_not_looked_at():
    envelope = Envelope()
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    assert envelope.check({"jsonrpc": "2.0", "a": deep}, b'{"jsonrpc":"2.0","a":1,"a":2}') == []


CHUNK = b'{"jsonrpc":"2.0","method":"m","params":{"text":"%b"}}'
ALIKE = {
    # learnt from, looked at, known to be sound
    "another text": (CHUNK % b"hi", CHUNK % b"there, {}", True),
    "an empty text": (CHUNK % b"hi", CHUNK % b"", True),
    "a quote in the text": (CHUNK % b"hi", CHUNK % b'\\"', False),
    "another member": (CHUNK % b"hi", CHUNK % b'x","text":"y', False),
    "a member behind it": (
        CHUNK % b"hi",
        b'{"jsonrpc":"2.0","method":"m","params":{"text":"hi"},"method":1}',
        False,
    ),
    "another beginning": (CHUNK % b"hi", b" " + CHUNK % b"hi", False),
    "the same without a string at the end": (
        b'{"jsonrpc":"2.0","a":"b","c":1}',
        b'{"jsonrpc":"2.0","a":"b","c":2}',
        False,
    ),
    "the version at the end": (
        b'{"method":"m","jsonrpc":"2.0"}',
        b'{"method":"m","jsonrpc":"3.0"}',
        False,
    ),
    "no version": (b'{"method":"m"}', b'{"method":"n"}', False),
    "a member twice": (
        b'{"jsonrpc":"2.0","a":1,"a":"x"}',
        b'{"jsonrpc":"2.0","a":1,"a":"y"}',
        False,
    ),
}


@pytest.mark.parametrize(("learnt", "text", "known"), ALIKE.values(), ids=ALIKE)
def test_sound(learnt, text, known):
    envelope = Envelope()
    envelope.check(orjson.loads(learnt), learnt)
    assert envelope.sound(text) is known


TOKENS = st.lists(st.sampled_from([
    b'"', b"\\", b":", b",", b"{", b"}", b'"a":', b'"a":"', b'","', b'"jsonrpc":"2.0"', b"1", b"x",
]), max_size=8).map(b"".join)  # fmt: skip


@given(TOKENS, TOKENS)
def test_what_counts_as_sound_is_sound(first, second):
    envelope = Envelope()
    for text in (CHUNK % first, b'{"jsonrpc":"2.0",%b' % second, CHUNK % second):
        try:
            value = jsontext.parse(text)
        except ValueError:
            continue
        if envelope.sound(text):
            assert met(text) == []
        envelope.check(value, text)
