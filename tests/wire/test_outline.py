"""The outline of JSON texts that are too long to be kept."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.wire.outline import LONGEST_OUTLINE, LONGEST_STRING, Outline

LONG = b"x" * (LONGEST_STRING + 1)

TEXTS = {
    "short strings stay": (b'{"id":1,"m":"a"}', b'{"id":1,"m":"a"}'),
    "a string at the limit stays": (b'["' + LONG[1:] + b'"]', b'["' + LONG[1:] + b'"]'),
    "a longer one is left empty": (b'{"d":"' + LONG + b'","e":"f"}', b'{"d":"","e":"f"}'),
    "a long name is left empty too": (b'{"' + LONG + b'":1}', b'{"":1}'),
    "an escaped quote ends nothing": (b'["' + LONG + b'\\"x","y"]', b'["","y"]'),
    "an escaped backslash escapes nothing": (b'["' + LONG + b'\\\\","y"]', b'["","y"]'),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("size", [1, 2, 3, 4095, 4096, 1 << 20])
def test_outline(text, expected, size):
    taken = Outline()
    for start in range(0, len(text), size):
        taken.feed(text[start : start + size])
    assert taken.text() == expected


def test_an_outline_that_is_too_long_itself_is_given_up():
    taken = Outline()
    for _ in range(3):
        taken.feed(b"1," * (LONGEST_OUTLINE // 3))
    assert taken.text() is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=12), inner),
    max_leaves=20,
)


@given(value=VALUES, cuts=st.lists(st.integers(1, 9), min_size=1), ascii_only=st.booleans())
def test_short_texts_are_kept_whole_however_they_are_cut(value, cuts, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only).encode()
    taken = Outline()
    place = 0
    for step in itertools.cycle(cuts):
        if place >= len(text):
            break
        taken.feed(text[place : place + step])
        place += step
    assert taken.text() == text
