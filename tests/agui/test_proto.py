"""The binary form of AG-UI, against what the reference encoder writes (see peers/agui-frames)."""

import base64
import itertools
import json
import math
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.agui.proto import FrameSplitter, decode
from acptap.agui.schema import EVENTS
from acptap.agui.unpacking import DEEPEST
from acptap.wire.lines import PIECE_LIMIT, Piece, Unterminated

ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("frames.jsonl").read_text("utf-8").split("\n")[:-1]
]
FRAMES = {row["name"]: (base64.b64decode(row["frame"]), row["event"]) for row in ROWS}

A = b"\0\0\0\1a"
B = b"\0\0\1\0" + bytes(256)
NONE = b"\0\0\0\0"


def cut(*reads, limit=PIECE_LIMIT):
    splitter = FrameSplitter(limit)
    units = [unit for read in reads for unit in splitter.feed(read)]
    return units + splitter.end()


def bytes_of(units):
    return b"".join(unit if isinstance(unit, bytes) else unit.raw for unit in units)


STREAMS = {
    "nothing": (b"", []),
    "one frame": (A, [A]),
    "a frame without content": (NONE, [NONE]),
    "several frames": (A + B + NONE + A, [A, B, NONE, A]),
    "a length that is cut off": (A + b"\0\0\0", [A, Unterminated(b"\0\0\0")]),
    "a length and no content": (b"\0\0\0\5", [Unterminated(b"\0\0\0\5")]),
    "content that is cut off": (A + B[:-1], [A, Unterminated(B[:-1])]),
    "no frames at all": (b'{"error":"no"}', [Unterminated(b'{"error":"no"}')]),
}


@pytest.mark.parametrize(("stream", "units"), STREAMS.values(), ids=STREAMS)
def test_frames_are_cut_whatever_the_reads_are(stream, units):
    assert cut(stream) == units
    assert cut(*(stream[place : place + 1] for place in range(len(stream)))) == units
    for split in range(len(stream) + 1):
        assert cut(stream[:split], b"", stream[split:]) == units


LONG = b"\0\0\0\x0a0123456789"
PIECES = {
    "one read": ([LONG], [LONG]),
    "below the limit": ([LONG[:8], LONG[8:]], [LONG]),
    "above the limit": (
        [LONG[:9], LONG[9:12], LONG[12:] + A],
        [
            Piece(LONG[:9], more=True),
            Piece(LONG[9:12], more=True),
            Piece(LONG[12:], more=False),
            A,
        ],
    ),
    "collected up to the limit": (
        [LONG[:6], LONG[6:10], LONG[10:]],
        [Piece(LONG[:10], more=True), Piece(LONG[10:], more=False)],
    ),
    "a read without bytes": (
        [LONG[:9], b"", LONG[9:]],
        [Piece(LONG[:9], more=True), Piece(LONG[9:], more=False)],
    ),
    "cut off": ([LONG[:9]], [Piece(LONG[:9], more=True), Piece(b"", more=False)]),
    "behind another frame": (
        [A + LONG[:9], LONG[9:]],
        [A, Piece(LONG[:9], more=True), Piece(LONG[9:], more=False)],
    ),
}


@pytest.mark.parametrize(("reads", "units"), PIECES.values(), ids=PIECES)
def test_a_long_frame_is_handed_on_in_pieces(reads, units):
    assert cut(*reads, limit=8) == units


def test_a_length_is_never_a_piece():
    assert cut(b"\0", b"\0\0", b"\3abc", limit=1) == [b"\0\0\0\3abc"]


@given(
    st.lists(st.binary(max_size=12)),
    st.binary(max_size=6),
    st.lists(st.integers(0, 60)),
    st.integers(1, 20),
)
def test_units_give_the_stream_back(contents, rest, places, limit):
    stream = b"".join(len(content).to_bytes(4, "big") + content for content in contents) + rest
    ends = [0, *sorted(min(place, len(stream)) for place in places), len(stream)]
    units = cut(*(stream[one:other] for one, other in itertools.pairwise(ends)), limit=limit)
    assert bytes_of(units) == stream


@pytest.mark.parametrize(("frame", "event"), FRAMES.values(), ids=FRAMES)
def test_the_reference_decoder_reads_the_same(frame, event):
    assert decode(frame) == event


def test_every_event_is_among_them():
    assert {event["type"] for _, event in FRAMES.values()} == set(EVENTS.values())


# A small encoder, for what the reference encoder does not write.


def varint(number):
    if number < 0x80:
        return bytes([number])
    return bytes([number & 0x7F | 0x80]) + varint(number >> 7)


def whole(number, value):
    return varint(number << 3) + varint(value)


def held(number, *parts):
    content = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(number << 3 | 2) + varint(len(content)) + content


def double(value):
    return b"\x11" + struct.pack("<d", value)


def framed(*parts):
    content = b"".join(parts)
    return len(content).to_bytes(4, "big") + content


def value_of(value):
    match value:
        case None:
            return whole(1, 0)
        case bool():
            return whole(4, value)
        case str():
            return held(3, value)
        case dict():
            return held(5, *(held(1, held(1, key), held(2, value_of(value[key]))) for key in value))
        case list():
            return held(6, *(held(1, value_of(item)) for item in value))
        case _:
            return double(value)


def custom(*value):
    """A frame with the value of a custom event."""
    return framed(held(11, held(1, whole(1, 10)), held(2, "n"), held(3, *value)))


def snapshot(*message):
    """A frame with a snapshot of one message."""
    return framed(held(9, held(1, whole(1, 8)), held(2, *message)))


def user(*parts):
    """A frame with a message of a user in parts."""
    return snapshot(held(2, "user"), *(held(8, part) for part in parts))


def finished(*members):
    return framed(held(13, held(1, whole(1, 12)), *members))


STARTED = held(1, whole(1, 11))
TEXT = {"type": "text", "text": "a"}
USER = {"id": "", "role": "user"}
RUN = {"type": "RUN_FINISHED", "threadId": "", "runId": ""}
START = {"type": "RUN_STARTED", "threadId": "t", "runId": ""}
SNAPSHOT = "MESSAGES_SNAPSHOT"
CUSTOM = {"type": "CUSTOM", "name": "n"}

ODDITIES = {
    "unknown fields are passed over": (
        framed(held(12, STARTED, held(2, "t"), held(99, "?"), whole(98, 1)), held(77, "?")),
        START,
    ),
    "a field in another wire type is unknown": (
        framed(held(12, STARTED, held(2, "t"), whole(3, 1))),
        START,
    ),
    "of a field that is there twice the last one counts": (
        framed(held(12, STARTED, held(2, "s"), held(2, "t"))),
        START,
    ),
    "an event in two parts is one": (
        framed(held(12, STARTED), held(12, held(2, "t"))),
        START,
    ),
    "its base too": (
        framed(held(12, held(1, whole(2, 7)), held(1, whole(1, 11)), held(2, "t"))),
        START | {"timestamp": 7},
    ),
    "a timestamp before 1970": (
        framed(held(12, held(1, whole(1, 11), whole(2, 2**64 - 1)), held(2, "t"))),
        START | {"timestamp": -1},
    ),
    "an event of a later protocol": (framed(held(32, held(1, "?"))), {"type": "UNKNOWN_32"}),
    "not UTF-8": (framed(held(12, STARTED, held(2, b"a\xff"))), START | {"threadId": "a\ufffd"}),
    "a value that is none": (custom(), CUSTOM),
    "a value of a later kind": (custom(whole(7, 1)), CUSTOM),
    "of several kinds of value the last one counts": (
        custom(value_of("a"), value_of([1]), value_of(True)),
        CUSTOM | {"value": True},
    ),
    "a list in two parts is one": (
        custom(value_of([1]), value_of([2])),
        CUSTOM | {"value": [1, 2]},
    ),
    "but not around another kind of value": (
        custom(value_of([1]), value_of("a"), value_of([2])),
        CUSTOM | {"value": [2]},
    ),
    "nothing in a list": (custom(held(6, held(1), whole(2, 1))), CUSTOM | {"value": [None]}),
    "nothing in an object": (
        custom(held(5, held(1, held(1, "a")), held(1, held(2, value_of(1)), held(3, "?")))),
        CUSTOM | {"value": {"": 1}},
    ),
    "not a number": (custom(double(math.nan)), CUSTOM | {"value": None}),
    "infinite": (custom(double(-math.inf)), CUSTOM | {"value": None}),
    "minus zero": (custom(double(-0.0)), CUSTOM | {"value": 0}),
    "whole, and exact": (custom(double(2.0**53)), CUSTOM | {"value": 2**53}),
    "whole by accident": (custom(double(2.0**54)), CUSTOM | {"value": 2.0**54}),
    "a part of a later kind is left out": (
        user(held(9, "?"), held(1, held(1, "a"))),
        {"type": SNAPSHOT, "messages": [USER | {"content": [TEXT]}]},
    ),
    "and so is one with a source of a later kind": (
        user(held(2, held(1, held(9, "?")))),
        {"type": SNAPSHOT, "messages": [USER | {"content": []}]},
    ),
    "but not one without a source": (
        user(held(2)),
        {"type": SNAPSHOT, "messages": [USER | {"content": [{"type": "image"}]}]},
    ),
    "a role of a later protocol may have parts": (
        snapshot(held(2, "critic"), held(8, held(1, held(1, "a")))),
        {"type": SNAPSHOT, "messages": [{"id": "", "role": "critic", "content": [TEXT]}]},
    ),
    "or nothing": (
        snapshot(held(2, "critic")),
        {"type": SNAPSHOT, "messages": [{"id": "", "role": "critic"}]},
    ),
    "an operation of a later protocol": (
        framed(held(8, held(1, whole(1, 7)), held(2, whole(1, 6)), held(2, whole(1, 2**64 - 1)))),
        {"type": "STATE_DELTA", "delta": [{"op": "6", "path": ""}, {"op": "-1", "path": ""}]},
    ),
    "an outcome of a later protocol": (
        finished(held(5, "napping"), held(8, "c")),
        RUN | {"outcome": {"type": "napping", "pendingToolCallIds": ["c"]}},
    ),
    "an interrupt without interrupts": (
        finished(held(5, "interrupt")),
        RUN | {"outcome": {"type": "interrupt", "interrupts": []}},
    ),
    "interrupts without an outcome": (
        finished(held(6, held(1, "i"))),
        RUN | {"interrupts": [{"id": "i", "reason": ""}]},
    ),
}


@pytest.mark.parametrize(("frame", "event"), ODDITIES.values(), ids=ODDITIES)
def test_what_encoders_seldom_write(frame, event):
    assert decode(frame) == event


REFUSED = {
    "nothing": (b"", "the frame is not as long as it says"),
    "too short": (b"\0\0\0\3\x62\0", "the frame is not as long as it says"),
    "too long": (b"\0\0\0\1\x62\0", "the frame is not as long as it says"),
    "no event": (framed(), "the frame holds no event"),
    "only a number": (framed(whole(40, 1)), "the frame holds no event"),
    "a number for an event": (framed(whole(12, 1)), "the event has no base"),
    "two events": (
        framed(held(12, STARTED), held(13, STARTED)),
        "the frame holds several events",
    ),
    "no base": (framed(held(12, held(2, "t"))), "the event has no base"),
    "another type in its base": (
        framed(held(13, STARTED)),
        "the frame holds RUN_FINISHED, but its event says that it is another",
    ),
    "a type that does not exist": (
        framed(held(12, held(1, whole(1, 99)))),
        "the frame holds RUN_STARTED, but its event says that it is another",
    ),
    "an unknown event that is no message": (framed(held(32, "?")), "there is no wire type 7"),
    "a part of two kinds": (
        user(held(1, held(1, "a")) + held(2)),
        "a union holds text and image",
    ),
    "text and parts": (
        snapshot(held(2, "user"), held(3, "a"), held(8, held(1))),
        "the content of a message of role user is in content and contentParts",
    ),
    "parts of an assistant": (
        snapshot(held(2, "assistant"), held(8, held(1))),
        "the content of a message of role assistant is in contentParts",
    ),
    "text of an activity": (
        snapshot(held(2, "activity"), held(3, "a")),
        "the content of a message of role activity is in content",
    ),
    "a result in two ways": (
        framed(held(22, held(1, whole(1, 21)), held(5, "a"), held(7, held(1)))),
        "the content of a message of role tool is in content and contentParts",
    ),
}


@pytest.mark.parametrize(("frame", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_event_is_refused(frame, why):
    with pytest.raises(ValueError, match=f"^{why}$"):
        decode(frame)


def nested(depth):
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def test_values_may_be_nested_but_not_endlessly():
    assert decode(custom(value_of(nested(DEEPEST))))["value"] == nested(DEEPEST)
    with pytest.raises(ValueError, match="nested too deeply"):
        decode(custom(value_of(nested(DEEPEST + 1))))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text() | st.floats(-1, 1),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(json_values)
def test_any_value_comes_back(value):
    assert decode(custom(value_of(value)))["value"] == value


@given(st.sampled_from(list(FRAMES.values())), st.data())
def test_damage_never_raises_anything_but_value_error(row, data):
    content = bytearray(row[0][4:])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.just(len(content)) | st.integers(0, len(content)))
    try:
        event = decode(framed(bytes(content[:end])))
    except ValueError:
        return
    assert isinstance(event["type"], str)
