import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.wire.protobuf import (
    BYTES,
    EIGHT_BYTES,
    FOUR_BYTES,
    VARINT,
    Field,
    fields_of,
    joined,
    signed,
)

MESSAGES = {
    "nothing": (b"", []),
    "a number": (b"\x08\x05", [Field(1, VARINT, 5, b"")]),
    "a number in two bytes": (b"\x08\x96\x01", [Field(1, VARINT, 150, b"")]),
    "a number in more bytes than it needs": (b"\x08\x85\x80\x00", [Field(1, VARINT, 5, b"")]),
    "the largest number": (b"\x08" + b"\xff" * 9 + b"\x01", [Field(1, VARINT, 2**64 - 1, b"")]),
    "bits beyond 64 are dropped": (
        b"\x08" + b"\xff" * 9 + b"\x7f",
        [Field(1, VARINT, 2**64 - 1, b"")],
    ),
    "bytes": (b"\x12\x03abc", [Field(2, BYTES, 0, b"abc")]),
    "no bytes": (b"\x12\x00", [Field(2, BYTES, 0, b"")]),
    "eight bytes": (b"\x19abcdefgh", [Field(3, EIGHT_BYTES, 0, b"abcdefgh")]),
    "four bytes": (b"\x25abcd", [Field(4, FOUR_BYTES, 0, b"abcd")]),
    "the largest field number": (b"\xf8\xff\xff\xff\x0f\x01", [Field(2**29 - 1, VARINT, 1, b"")]),
    "the same field twice": (
        b"\x08\x01\x12\x01a\x08\x02",
        [Field(1, VARINT, 1, b""), Field(2, BYTES, 0, b"a"), Field(1, VARINT, 2, b"")],
    ),
    "a group is passed over": (b"\x0b\x10\x01\x0c\x10\x02", [Field(2, VARINT, 2, b"")]),
    "groups in groups too": (
        b"\x0b\x13\x1a\x01a\x14\x10\x01\x0c\x10\x02",
        [Field(2, VARINT, 2, b"")],
    ),
}

NO_MESSAGES = {
    "field 0": (b"\x00\x01", "no field has such a number"),
    "a field number too large": (b"\xf8\xff\xff\xff\x1f\x01", "no field has such a number"),
    "a tag without its value": (b"\x08", "a number does not end"),
    "a number that is cut off": (b"\x08\x80", "a number does not end"),
    "a number of eleven bytes": (b"\x08" + b"\x80" * 10 + b"\x01", "a number does not end"),
    "bytes that are missing": (b"\x12\x03ab", "a field is longer than what it stands in"),
    "seven bytes of eight": (b"\x19abcdefg", "a field is longer than what it stands in"),
    "wire type 6": (b"\x0e", "there is no wire type 6"),
    "wire type 7": (b"\x0f", "there is no wire type 7"),
    "a group that does not end": (b"\x0b\x10\x01", "a group does not end"),
    "a group that did not begin": (b"\x0c", "a group ends that did not begin"),
    "a group that ends as another": (b"\x0b\x14", "a group ends that did not begin"),
}


@pytest.mark.parametrize(("message", "fields"), MESSAGES.values(), ids=MESSAGES)
def test_fields(message, fields):
    assert list(fields_of(message)) == fields


@pytest.mark.parametrize(("message", "why"), NO_MESSAGES.values(), ids=NO_MESSAGES)
def test_what_is_no_message_is_refused(message, why):
    with pytest.raises(ValueError, match=f"^{why}$"):
        list(fields_of(message))


@given(st.binary(max_size=40))
def test_nothing_else_is_raised(message):
    try:
        fields = list(fields_of(message))
    except ValueError:
        return
    assert all(field.number > 0 for field in fields)


@pytest.mark.parametrize(
    ("varint", "bits", "number"),
    [
        (0, 32, 0),
        (2**31 - 1, 32, 2**31 - 1),
        (2**32 - 1, 32, -1),
        (2**64 - 1, 32, -1),
        (2**64 - 1, 64, -1),
        (2**63, 64, -(2**63)),
        (2**63 - 1, 64, 2**63 - 1),
    ],
)
def test_signed(varint, bits, number):
    assert signed(varint, bits) == number


def test_a_message_in_parts_is_joined():
    assert joined(fields_of(b"\x0a\x02\x08\x01\x0a\x02\x10\x02")) == b"\x08\x01\x10\x02"
