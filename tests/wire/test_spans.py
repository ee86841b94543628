"""Spans of values in JSON text, and what can be done with them."""

import json
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.wire.spans import Edit, Path, Span, find, splice, walk

WALKS = {
    "a scalar": (b"17", [((), b"17")]),
    "white space around it": (b" \r\n\ttrue ", [((), b"true")]),
    "a byte order mark in front": (b"\xef\xbb\xbf[1]", [((0,), b"1"), ((), b"[1]")]),
    "an empty object": (b"{}", [((), b"{}")]),
    "an empty array": (b"[ ]", [((), b"[ ]")]),
    "members, then their object": (
        b'{"a":1,"b":"x"}',
        [(("a",), b"1"), (("b",), b'"x"'), ((), b'{"a":1,"b":"x"}')],
    ),
    "elements, then their array": (
        b"[null,-1.5e3]",
        [((0,), b"null"), ((1,), b"-1.5e3"), ((), b"[null,-1.5e3]")],
    ),
    "containers in containers": (
        b'{"a":[{"b":[]}]}',
        [
            (("a", 0, "b"), b"[]"),
            (("a", 0), b'{"b":[]}'),
            (("a",), b'[{"b":[]}]'),
            ((), b'{"a":[{"b":[]}]}'),
        ],
    ),
    "white space everywhere": (
        b'{ "a" :\t1 , "b"\n: 2 }',
        [(("a",), b"1"), (("b",), b"2"), ((), b'{ "a" :\t1 , "b"\n: 2 }')],
    ),
    "a member written twice is found twice": (
        b'{"a":1,"a":2}',
        [(("a",), b"1"), (("a",), b"2"), ((), b'{"a":1,"a":2}')],
    ),
    "brackets and commas in strings are text": (
        b'["{[,:]}"]',
        [((0,), b'"{[,:]}"'), ((), b'["{[,:]}"]')],
    ),
    "an escaped quote ends no string": (
        rb'["a\"b\\","c"]',
        [((0,), rb'"a\"b\\"'), ((1,), b'"c"'), ((), rb'["a\"b\\","c"]')],
    ),
    "a name is decoded": (rb'{"\u0061\/":1}', [(("a/",), b"1"), ((), rb'{"\u0061\/":1}')]),
    "half a surrogate pair in a name stays as it is spelled": (
        rb'{"\ud800":1}',
        [((r"\ud800",), b"1"), ((), rb'{"\ud800":1}')],
    ),
    "an empty name": (b'{"":1}', [(("",), b"1"), ((), b'{"":1}')]),
    "a colon behind a string value's quote is text": (
        b'{"a":"b:","c":1}',
        [(("a",), b'"b:"'), (("c",), b"1"), ((), b'{"a":"b:","c":1}')],
    ),
}


@pytest.mark.parametrize(("text", "expected"), WALKS.values(), ids=WALKS)
def test_walk(text, expected):
    assert [(span.path, text[span.start : span.end]) for span in walk(text)] == expected


BROKEN = {
    "nothing": b"",
    "two byte order marks": b"\xef\xbb\xbf\xef\xbb\xbf[]",
    "only white space": b" \n",
    "an open object": b'{"a":1',
    "an open array": b"[1",
    "an open string": b'"abc',
    "an open string in an object": b'{"a":"b}',
    "the wrong bracket": b'{"a":1]',
    "a bracket too many": b"{}}",
    "a bracket alone": b"]",
    "a name without a value": b'{"a":}',
    "a name without a value, before a comma": b'{"a":,"b":1}',
    "two names": b'{"a":"b":1}',
    "a value without a name": b"{1}",
    "a string without a name": b'{"a"}',
    "an object without a name": b"{{}}",
    "a name in an array": b'["a":1]',
    "a name outside of all": b'"a":1',
    "a name that is no string": b"{1:2}",
    "a comma outside of all": b"1,2",
    "a comma first": b",",
    "two values": b"{} {}",
    "two scalars": b"1 2",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_walk_refuses(text):
    with pytest.raises(ValueError, match=r"byte \d+|ends inside"):
        list(walk(text))


FOUND = {
    "the only one": (b'{"a":{"b":1}}', ("a", "b"), [b"1"]),
    "every one of a name written twice": (b'{"a":1,"a":[2]}', ("a",), [b"1", b"[2]"]),
    "in both of two objects of one name": (b'{"a":{"b":1},"a":{"b":2}}', ("a", "b"), [b"1", b"2"]),
    "an element": (b'["x","y"]', (1,), [b'"y"']),
    "the whole": (b"[]", (), [b"[]"]),
    "nothing": (b'{"a":1}', ("b",), []),
    "an index is no name": (b'{"0":1}', (0,), []),
}


@pytest.mark.parametrize(("text", "path", "expected"), FOUND.values(), ids=FOUND)
def test_find(text, path, expected):
    assert [text[span.start : span.end] for span in find(text, path)] == expected


SPLICES = {
    "nothing to do": ([], b"abcdef"),
    "one edit": ([Edit(1, 3, b"XYZ")], b"aXYZdef"),
    "any order": ([Edit(4, 5, b"2"), Edit(0, 1, b"1")], b"1bcd2f"),
    "side by side": ([Edit(0, 3, b"1"), Edit(3, 6, b"2")], b"12"),
    "one in another is dropped": ([Edit(2, 3, b"in"), Edit(1, 5, b"out")], b"aoutf"),
    "of two that start together the longer": ([Edit(1, 2, b"s"), Edit(1, 4, b"l")], b"alef"),
    "of two that overlap the first": ([Edit(2, 5, b"2"), Edit(1, 3, b"1")], b"a1def"),
    "an insertion": ([Edit(3, 3, b"+")], b"abc+def"),
    "at the end": ([Edit(6, 6, b"!")], b"abcdef!"),
    "a deletion": ([Edit(0, 6, b"")], b""),
}


@pytest.mark.parametrize(("edits", "expected"), SPLICES.values(), ids=SPLICES)
def test_splice(edits, expected):
    assert splice(b"abcdef", edits) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
SPELLINGS = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "indent": st.sampled_from([None, 0, 3]),
        "separators": st.sampled_from([(",", ":"), (" , ", " :\t")]),
    }
)


@given(VALUES, SPELLINGS)
def test_each_span_is_the_value_at_its_path(value, spelling):
    text = json.dumps(value, **spelling).encode("utf-8", "surrogatepass")
    found: dict[Path, Span] = {}
    for span in walk(text):
        part = value
        for step in span.path:
            part = part[step]
        assert json.loads(text[span.start : span.end]) == part
        assert found.setdefault(span.path, span) is span
    assert found[()] == Span((), text.index(text.strip()), len(text.rstrip()))


@given(VALUES, SPELLINGS)
def test_splicing_each_value_by_itself_changes_nothing(value, spelling):
    text = json.dumps(value, **spelling).encode("utf-8", "surrogatepass")
    edits = [Edit(start, end, text[start:end]) for _, start, end in walk(text)]
    assert splice(text, edits) == text
    assert splice(text, sorted(edits, key=attrgetter("end"))) == text


@given(st.binary() | st.text('{}[]:,"\\ 1a').map(str.encode))
def test_walk_never_fails_otherwise(data):
    try:
        spans = list(walk(data))
    except ValueError:
        return
    assert spans[-1].path == ()
