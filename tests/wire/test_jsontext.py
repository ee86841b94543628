import json
import math

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.wire import jsontext

READ = {
    "an object": (b'{"a":[1,true,null]}', {"a": [1, True, None]}),
    "a bare value": (b"5", 5),
    "J1 odd spaces": (b'{ "zebra":1 ,\t"apple" : [1, 2]}', {"zebra": 1, "apple": [1, 2]}),
    "F4 CR behind": (b'{"a":1}\r', {"a": 1}),
    "spaces around": (b' \t\r\n{"a":1} \n', {"a": 1}),
    "one byte order mark": (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
    "edge 16 the last of two members counts": (b'{"a":1,"a":2}', {"a": 2}),
    "F6 a raw U+2028": ('"a\u2028b"'.encode(), "a\u2028b"),
    "J3 a pair of surrogates": (rb'"\ud83d\ude80"', "🚀"),
    "J3 a lone high surrogate": (rb'{"t":"cut \ud83d"}', {"t": "cut \ud83d"}),
    "J3 a lone low surrogate": (rb'{"t":"\udcb2"}', {"t": "\udcb2"}),
    "J3 a lone surrogate behind a mark": (b'\xef\xbb\xbf["\\ud800"]', ["\ud800"]),
    "J4 1E400 is JSON": (b'{"cost":1E400}', {"cost": math.inf}),
    "J5 long integers": (b"[6000000000000002181]", [6000000000000002181]),
    "edge 4 no float in between": (b"9007199254740993", 9007199254740993),
    "the largest of 64 bits": (b"[18446744073709551615]", [18446744073709551615]),
    "the smallest of 64 bits": (b"[-9223372036854775808]", [-9223372036854775808]),
    "beyond 64 bits": (b"[18446744073709551616]", [18446744073709551616.0]),
    "below 64 bits": (b"[-9223372036854775809]", [-9223372036854775809.0]),
    "the largest of 64 bits, leniently": (
        rb'["\ud800",18446744073709551615]',
        ["\ud800", 18446744073709551615],
    ),
    "beyond 64 bits, leniently": (
        rb'["\ud800",18446744073709551616]',
        ["\ud800", 18446744073709551616.0],
    ),
    "below 64 bits, leniently": (
        rb'["\ud800",-9223372036854775809]',
        ["\ud800", -9223372036854775809.0],
    ),
    "5,000 digits": (b"[" + b"9" * 5000 + b"]", [math.inf]),
    "5,000 digits below zero": (b"[-" + b"9" * 5000 + b"]", [-math.inf]),
}


@pytest.mark.parametrize(("text", "value"), READ.values(), ids=READ)
def test_parse(text, value):
    parsed = jsontext.parse(text)
    assert parsed == value
    assert repr(parsed) == repr(value)


REFUSED = {
    "nothing": b"",
    "blank": b"  ",
    "N1 a log line": b"npm WARN deprecated left-thing@1.0.0",
    "N3 coloured JSON": b'\x1b[32m{"id":1}\x1b[0m',
    "N5 cut off": b'{"jsonrpc":"2.0","id":',
    "F10 glued": b'{"a":1}{"b":2}',
    "J4 NaN": b'{"p":NaN}',
    "J4 Infinity": b'{"p":Infinity}',
    "J4 minus Infinity": b'{"p":-Infinity}',
    "J4 NaN beside a lone surrogate": rb'["\ud800",NaN]',
    "not UTF-8": b'{"t":"\xff\xfe\x80"}',
    "a surrogate in bytes": b'"\xed\xa0\x80"',
    "two byte order marks": b"\xef\xbb\xbf\xef\xbb\xbf{}",
    "a byte order mark behind a space": b" \xef\xbb\xbf{}",
    "a control character in a string": b'"a\x01"',
    "VT in front": b"\x0b{}",
    "a leading zero": b"01",
    "a comma too many": b"[1,]",
    "single quotes": b"{'a':1}",
    "C3 NUL": b"\x00\x00",
    "nested 100,000 deep": b"[" * 100_000 + b"]" * 100_000,
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_parse_refuses(text):
    with pytest.raises(ValueError):  # noqa: PT011 its words are the parser's own
        jsontext.parse(text)


def test_parse_reads_500_levels():
    value = jsontext.parse(b"[" * 500 + b"]" * 500)
    assert repr(value) == "[" * 500 + "]" * 500


STRICT = {
    "an object": b'{"a":1}',
    "spaces around": b" [1] ",
    "a pair of surrogates": rb'"\ud83d\ude80"',
    "two members of one name": b'{"a":1,"a":2}',
}


@pytest.mark.parametrize("text", STRICT.values(), ids=STRICT)
def test_parse_strictly(text):
    assert jsontext.parse_strictly(text) == json.loads(text)


LENIENT_ONLY = {
    "a byte order mark": b"\xef\xbb\xbf{}",
    "J3 a lone surrogate": rb'"\ud800"',
    "J4 1E400": b"1E400",
    "5,000 digits": b"9" * 5000,
}


@pytest.mark.parametrize("text", LENIENT_ONLY.values(), ids=LENIENT_ONLY)
def test_parse_strictly_refuses_what_some_parsers_refuse(text):
    jsontext.parse(text)
    with pytest.raises(ValueError):  # noqa: PT011 its words are the parser's own
        jsontext.parse_strictly(text)


GLUED = {
    "F10 two objects": ('{"a":1}{"b":2}', True),
    "F10 two objects with a space": ('  {"a":1} \t{"b":2}', True),
    "F10 three objects": ("{}{}{}", True),
    "F10 an object and an array": ('{"a":1}[2]', True),
    "F10 two arrays": ("[1][2]", True),
    "F10 the second is cut off": ('{"a":1}{"b":', True),
    "one object": ('{"a":1}', False),
    "an object and words": ('{"a":1} done', False),
    "an object and a number": ('{"a":1} 5', False),
    "a number and an object": ('3 {"a":1}', False),
    "N1 words": ("[migrate] 3 of 3 done", False),
    "a list and an object in words": ("[1] {done}", True),
    "cut off": ('{"a":', False),
    "nothing": ("", False),
    "nested too deeply": ("[" * 100_000, False),
}


@pytest.mark.parametrize(("text", "glued"), GLUED.values(), ids=GLUED)
def test_is_glued(text, glued):
    assert jsontext.is_glued(text) is glued


DUMPED = {
    "no spaces": ({"a": [1, 2], "b": None}, b'{"a":[1,2],"b":null}'),
    "order is kept": ({"b": 1, "a": 2}, b'{"b":1,"a":2}'),
    "text as UTF-8": ("é\u2028👩", '"é\u2028👩"'.encode()),
    "J3 half a pair as an escape": ({"t": "é\ud800"}, rb'{"t":"\u00e9\ud800"}'),
    "beyond 64 bits": (2**70, b"1180591620717411303424"),
}


@pytest.mark.parametrize(("value", "text"), DUMPED.values(), ids=DUMPED)
def test_dump(value, text):
    assert jsontext.dump(value) == text


TEXTS = st.text(st.characters(), max_size=20) | st.text(max_size=20).map(lambda t: t + "\ud83d")
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_parse_undoes_dump(value):
    text = jsontext.dump(value)
    assert jsontext.parse(text) == value
    assert text.isascii() or orjson.loads(text) == value


@given(VALUES, st.booleans())
def test_parse_reads_what_python_writes(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "replace")
    assert jsontext.parse(text) == json.loads(text)


@given(st.binary(max_size=40) | st.text('{}[]",:01eE-.ntf\\u \ufeff', max_size=20).map(str.encode))
def test_parse_returns_or_refuses(text):
    try:
        jsontext.parse(text)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 its words are the parser's own
            jsontext.parse_strictly(text)
