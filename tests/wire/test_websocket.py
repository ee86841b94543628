"""Each table runs whole, byte by byte and at every split; `websockets` says what is ordinary."""

import tracemalloc
import zlib
from itertools import pairwise, product
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Frame, Opcode

from acptap.wire.websocket import (
    CLOSE,
    PING,
    PONG,
    Control,
    Deflate,
    Event,
    FrameReader,
    Lost,
    Message,
    Piece,
    Raw,
    close_of,
    deflate_of,
)

CONT, TEXT, BINARY, FIN, RSV1 = 0, 1, 2, 0x80, 0x40
KEY = b"\x12\xab\x00\xff"
TAKEOVER = Deflate(takeover=True, window=15)
MIB = 1024 * 1024


def frame(first, payload=b"", key=b"", wide=None):
    """Spell a frame out; `wide` is the number of length bytes, if not the shortest."""
    size = len(payload)
    if wide is None:
        wide = 0 if size < 126 else 2 if size < 65_536 else 8
    length = {0: size, 2: 126, 8: 127}[wide] | (0x80 if key else 0)
    head = bytes([first, length]) + (size.to_bytes(wide, "big") if wide else b"") + key
    if not key:
        return head + payload
    return head + bytes(byte ^ key[at % 4] for at, byte in enumerate(payload))


def read(*reads, deflate=None, limit=8 * MIB):
    reader = FrameReader(deflate, limit)
    events = [event for data in reads for event in reader.feed(data)]
    return events + reader.end()


def bytewise(stream):
    return [stream[at : at + 1] for at in range(len(stream))]


def text(data):
    return Message(is_text=True, data=data)


def binary(data):
    return Message(is_text=False, data=data)


def piece(data, *, more, is_text=True):
    return Piece(is_text=is_text, data=data, more=more)


LONG = bytes(range(256)) * 300  # 76,800 bytes

STREAMS = {
    "nothing": (b"", []),
    "a text message": (frame(FIN | TEXT, b"{}"), [text(b"{}")]),
    "a binary message": (frame(FIN | BINARY, b"\0\xff"), [binary(b"\0\xff")]),
    "an empty message": (frame(FIN | TEXT), [text(b"")]),
    "an empty masked message": (frame(FIN | TEXT, b"", KEY), [text(b"")]),
    "a masked message": (frame(FIN | TEXT, b"hello", KEY), [text(b"hello")]),
    "masks of every length": (
        b"".join(frame(FIN | TEXT, b"abcdefghi"[:size], KEY) for size in range(10)),
        [text(b"abcdefghi"[:size]) for size in range(10)],
    ),
    "a mask of zeros": (frame(FIN | TEXT, b"abc", bytes(4)), [text(b"abc")]),
    "leading and trailing zeros are unmasked": (
        frame(FIN | BINARY, b"\0\0\0a\0\0\0", KEY),
        [binary(b"\0\0\0a\0\0\0")],
    ),
    "125 bytes": (frame(FIN | TEXT, b"x" * 125), [text(b"x" * 125)]),
    "126 bytes": (frame(FIN | TEXT, b"x" * 126), [text(b"x" * 126)]),
    "300 bytes masked": (frame(FIN | TEXT, b"x" * 300, KEY), [text(b"x" * 300)]),
    "a length longer than it need be": (
        frame(FIN | TEXT, b"a", wide=2) + frame(FIN | TEXT, b"b", KEY, wide=8),
        [text(b"a"), text(b"b")],
    ),
    "two messages, masked and not": (
        frame(FIN | TEXT, b"a", KEY) + frame(FIN | TEXT, b"b"),
        [text(b"a"), text(b"b")],
    ),
    "two fragments": (frame(TEXT, b"ab") + frame(FIN | CONT, b"cd"), [text(b"abcd")]),
    "masked fragments, each with its key": (
        frame(BINARY, b"abc", KEY) + frame(CONT, b"def", b"1234") + frame(FIN, b"g", b"zyxw"),
        [binary(b"abcdefg")],
    ),
    "empty fragments": (
        frame(TEXT) + frame(CONT) + frame(CONT, b"a") + frame(FIN | CONT),
        [text(b"a")],
    ),
    "W5 a character split over two fragments": (
        frame(TEXT, b'"\xc3') + frame(FIN | CONT, b'\xa9"'),
        [text('"é"'.encode())],
    ),
    "W5 text that is not UTF-8": (frame(FIN | TEXT, b"\xff\xfe"), [text(b"\xff\xfe")]),
    "W5 a ping of 125 bytes": (frame(FIN | PING, b"p" * 125), [Control(PING, b"p" * 125)]),
    "a ping of 126 bytes": (frame(FIN | PING, b"p" * 126), [Control(PING, b"p" * 126)]),
    "an empty ping": (frame(FIN | PING), [Control(PING, b"")]),
    "a masked pong": (frame(FIN | PONG, b"pong", KEY), [Control(PONG, b"pong")]),
    "a ping between fragments": (
        frame(TEXT, b"a") + frame(FIN | PING, b"p", KEY) + frame(FIN | CONT, b"b"),
        [Control(PING, b"p"), text(b"ab")],
    ),
    "a close between fragments": (
        frame(TEXT, b"a") + frame(FIN | CLOSE),
        [Control(CLOSE, b""), piece(b"a", more=True)],
    ),
    "W2 a close with code and reason": (
        frame(FIN | CLOSE, b"\x11\x34session gone \xc3\xa9", KEY),
        [Control(CLOSE, b"\x11\x34session gone \xc3\xa9")],
    ),
    "W4 messages, and a close behind them": (
        frame(FIN | TEXT, b"a") * 50 + frame(FIN | CLOSE, b"\x03\xe8"),
        [text(b"a")] * 50 + [Control(CLOSE, b"\x03\xe8")],
    ),
    "messages behind a close": (
        frame(FIN | CLOSE) + frame(FIN | TEXT, b"a"),
        [Control(CLOSE, b""), text(b"a")],
    ),
    "the end inside a head": (frame(FIN | TEXT, b"a") + b"\x81", [text(b"a"), Raw(b"\x81")]),
    "the end inside a long head": (b"\x81\xff\0\0\0\0", [Raw(b"\x81\xff\0\0\0\0")]),
    "the end behind a head": (b"\x81\x05", []),
    "the end inside a payload": (b"\x81\x05abc", [piece(b"abc", more=True)]),
    "the end inside a masked payload": (
        frame(FIN | BINARY, b"abcdef", KEY)[:-1],
        [piece(b"abcde", more=True, is_text=False)],
    ),
    "the end behind a fragment": (frame(TEXT, b"abc"), [piece(b"abc", more=True)]),
    "the end inside a second fragment's head": (
        frame(TEXT, b"abc") + b"\x80",
        [piece(b"abc", more=True), Raw(b"\x80")],
    ),
    "the end inside a ping": (b"\x89\x05abc", [Raw(b"\x89\x05abc")]),
}


@pytest.mark.parametrize(("stream", "events"), STREAMS.values(), ids=STREAMS)
def test_whole(stream, events):
    assert read(stream) == events


@pytest.mark.parametrize(("stream", "events"), STREAMS.values(), ids=STREAMS)
def test_byte_by_byte(stream, events):
    assert read(*bytewise(stream)) == events


@pytest.mark.parametrize(("stream", "events"), STREAMS.values(), ids=STREAMS)
def test_at_every_split(stream, events):
    assert all(read(stream[:at], stream[at:]) == events for at in range(len(stream) + 1))


@pytest.mark.parametrize("key", [b"", KEY], ids=["plain", "masked"])
@pytest.mark.parametrize("at", [1, 2, 5, 10, 12, 14, 15, 17, 65_535, 65_536, 76_800])
def test_a_length_of_64_bits(key, at):
    stream = frame(FIN | BINARY, LONG, key)
    assert read(stream[:at], stream[at:]) == [binary(LONG)]


@pytest.mark.parametrize("size", [65_535, 65_536, 4_194_303, 4_194_304])
def test_w1_lengths_at_the_edges(size):
    assert read(frame(FIN | TEXT, b"x" * size)) == [text(b"x" * size)]


def test_w1_a_message_in_300_fragments():
    stream = frame(TEXT, b"[") + frame(CONT, b"1,", KEY) * 298 + frame(FIN | CONT, b"1]")
    events = [text(b"[" + b"1," * 298 + b"1]")]
    assert read(stream) == events
    assert read(*bytewise(stream)) == events


LOST = {
    "W5 a compressed frame without deflate": frame(FIN | RSV1 | TEXT, b"a"),
    "the second reserved bit": frame(FIN | 0x20 | TEXT, b"a"),
    "the third reserved bit": frame(FIN | 0x10 | TEXT, b"a"),
    "the first reserved opcode": frame(FIN | 3, b"a"),
    "the last reserved data opcode": frame(FIN | 7, b"a"),
    "a reserved control opcode": frame(FIN | 11, b"a"),
    "the last reserved opcode": frame(FIN | 15, b"a"),
    "a continuation of nothing": frame(CONT, b"a"),
    "the last continuation of nothing": frame(FIN | CONT, b"a"),
    "a ping in fragments": frame(PING, b"a"),
    "a compressed ping": frame(FIN | RSV1 | PING, b"a"),
    "what is no WebSocket": b"HTTP/1.1 400 Bad Request\r\n",
    "a length of 2**63": b"\x82\x7f\x80" + bytes(7),
    "a ping of more than 64 KiB": frame(FIN | PING, b"x" * 65_537),
}


@pytest.mark.parametrize("noise", LOST.values(), ids=LOST)
def test_lost(noise):
    before, lost, raw, later = read(frame(FIN | TEXT, b"a") + noise, b"later", b"")
    assert before == text(b"a")
    assert isinstance(lost, Lost)
    assert (raw, later) == (Raw(noise), Raw(b"later"))


@pytest.mark.parametrize("noise", LOST.values(), ids=LOST)
def test_lost_with_deflate(noise):
    if noise == LOST["W5 a compressed frame without deflate"]:
        noise = frame(FIN | RSV1 | CONT, b"a")
    assert [type(event) for event in read(noise, deflate=TAKEOVER)] == [Lost, Raw]


@pytest.mark.parametrize("noise", LOST.values(), ids=LOST)
def test_lost_byte_by_byte(noise):
    events = read(*bytewise(noise))
    assert [type(event) for event in events[:2]] == [Lost, Raw]
    assert b"".join(event.data for event in events[1:]) == noise


MESSAGE_IN_MESSAGE = {
    "a message inside another": frame(FIN | TEXT, b"b"),
    "a beginning inside a message": frame(BINARY, b"b"),
    "a compressed continuation": frame(FIN | RSV1 | CONT, b"b"),
}


@pytest.mark.parametrize("noise", MESSAGE_IN_MESSAGE.values(), ids=MESSAGE_IN_MESSAGE)
def test_what_came_of_a_message_is_kept_when_the_framing_is_lost(noise):
    message, lost, raw = read(frame(TEXT, b"a") + noise, deflate=TAKEOVER)
    assert (message, raw) == (piece(b"a", more=True), Raw(noise))
    assert isinstance(lost, Lost)


REASONS = {
    "the byte": (b"\xf1\0", "no frame begins with the byte 0xf1 here"),
    "the length": (
        b"\x82\x7f" + b"\xff" * 8,
        "a frame says that it is 18446744073709551615 bytes long",
    ),
    "the damage": (
        frame(FIN | RSV1 | TEXT, b"\xff\xff"),
        (
            "a compressed message can't be read "
            "(Error -3 while decompressing data: invalid block type)"
        ),
    ),
}


@pytest.mark.parametrize(("stream", "why"), REASONS.values(), ids=REASONS)
def test_why(stream, why):
    assert read(stream, deflate=TAKEOVER) == [Lost(why), Raw(stream)]


def test_nothing_ends_when_the_framing_is_lost():
    reader = FrameReader()
    assert [type(event) for event in reader.feed(b"\xff\x00")] == [Lost, Raw]
    assert reader.end() == []


CLOSES = {
    "nothing": (b"", (None, b"")),
    "half a code": (b"\x03", (None, b"\x03")),
    "a code": (b"\x03\xe8", (1000, b"")),
    "W2 a code and a reason": (b"\x11\x34gone", (4404, b"gone")),
    "a code that must not be sent": (b"\x03\xed", (1005, b"")),
    "code 0": (b"\0\0", (0, b"")),
    "code 65535": (b"\xff\xff\xff", (65_535, b"\xff")),
}


@pytest.mark.parametrize(("data", "close"), CLOSES.values(), ids=CLOSES)
def test_close_of(data, close):
    assert close_of(data) == close


# Pieces


def fed(*reads, deflate=None, limit=4):
    reader = FrameReader(deflate, limit)
    return [reader.feed(data) for data in reads] + [reader.end()]


FEEDS = {
    "a message comes with the read that ends it": (
        [b"\x81\x03a", b"bc\x81\x01", b"d"],
        [[], [text(b"abc")], [text(b"d")], []],
    ),
    "an empty read brings nothing": ([b"\x81", b"", b"\x01a"], [[], [], [text(b"a")], []]),
    "a message of the limit is whole": ([b"\x81\x04abc", b"d"], [[], [text(b"abcd")], []]),
    "a longer message that comes at once is whole": (
        [frame(FIN | TEXT, b"abcdefgh")],
        [[text(b"abcdefgh")], []],
    ),
    "a longer message that ends in the read that passes the limit is whole": (
        [b"\x81\x08abcd", b"efgh"],
        [[], [text(b"abcdefgh")], []],
    ),
    "beyond the limit it comes in pieces": (
        [b"\x82\x09abcde", b"f", b"gh", b"i\x81\x01a"],
        [
            [piece(b"abcde", more=True, is_text=False)],
            [piece(b"f", more=True, is_text=False)],
            [piece(b"gh", more=True, is_text=False)],
            [piece(b"i", more=False, is_text=False), text(b"a")],
            [],
        ],
    ),
    "fragments come in pieces as well": (
        [frame(TEXT, b"abcde"), frame(CONT, b"f") + frame(CONT, b"g"), frame(FIN, b"")],
        [
            [piece(b"abcde", more=True)],
            [piece(b"fg", more=True)],
            [piece(b"", more=False)],
            [],
        ],
    ),
    "a ping between pieces": (
        [frame(TEXT, b"abcde") + frame(FIN | PING), frame(FIN | PONG), frame(FIN, b"f")],
        [
            [piece(b"abcde", more=True), Control(PING, b"")],
            [Control(PONG, b"")],
            [piece(b"f", more=False)],
            [],
        ],
    ),
    "pieces that have no last one": ([b"\x81\x09abcde"], [[piece(b"abcde", more=True)], []]),
    "the next message counts anew": (
        [b"\x81\x06abcde", b"f\x81\x04abc", b"d"],
        [[piece(b"abcde", more=True)], [piece(b"f", more=False)], [text(b"abcd")], []],
    ),
}


@pytest.mark.parametrize(("reads", "events"), FEEDS.values(), ids=FEEDS)
def test_feed(reads, events):
    assert fed(*reads) == events


def test_the_limit_is_8_mib():
    head = b"\x82\x7f" + (8 * MIB + 1).to_bytes(8, "big")
    assert FrameReader().feed(head + bytes(8 * MIB)) == []
    reader = FrameReader()
    reader.feed(head + bytes(8 * MIB - 1))
    assert reader.feed(b"\0") == []
    assert reader.feed(b"\0") == [binary(bytes(8 * MIB + 1))]
    head = b"\x82\x7f" + (8 * MIB + 2).to_bytes(8, "big")
    assert len(FrameReader().feed(head + bytes(8 * MIB + 1))) == 1


def peak(action):
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("key", [b"", KEY], ids=["plain", "masked"])
def test_memory_stays_flat(key):
    head = bytes([FIN | BINARY, 127 | (0x80 if key else 0)]) + (2**40).to_bytes(8, "big") + key
    part = bytes(256 * 1024)

    def action():
        reader = FrameReader()
        reader.feed(head)
        for _ in range(256):  # 64 MiB
            reader.feed(part)

    assert peak(action) < 24 * MIB


def test_empty_fragments_cost_no_memory():
    reader = FrameReader()
    reader.feed(frame(TEXT))
    empty = frame(CONT) * 1000
    assert peak(lambda: [reader.feed(empty) for _ in range(10)]) < 40_000


def test_time_is_linear_in_the_size_of_a_message():
    def seconds(size):
        stream = frame(FIN | TEXT, bytes(size))
        reads = [stream[at : at + 256] for at in range(0, len(stream), 256)]
        reader = FrameReader()
        start = process_time()
        for data in reads:
            reader.feed(data)
        return process_time() - start

    small = min(seconds(256 * 1024) for _ in range(5))
    large = min(seconds(4 * MIB) for _ in range(3))
    assert large < 100 * small


# permessage-deflate


class Compressor:
    """Compresses messages as a sender does, in any way that the parameters allow."""

    def __init__(self, *, takeover=True, window=15, level=6, memory=8):
        self._new = lambda: zlib.compressobj(level, zlib.DEFLATED, -window, memory)
        self._takeover = takeover
        self._stream = self._new()

    def __call__(self, data):
        if not self._takeover:
            self._stream = self._new()
        content = self._stream.compress(data) + self._stream.flush(zlib.Z_SYNC_FLUSH)
        assert content.endswith(b"\x00\x00\xff\xff")
        return content[:-4]


def final(data):
    """Compress a message with an end of its own, as senders do that can't flush."""
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush() + b"\x00"


def compressed(*messages, key=b"", first=FIN | RSV1 | TEXT, **parameters):
    compress = Compressor(**parameters)
    return b"".join(frame(first, compress(data), key) for data in messages)


TALK = [b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0","id":2}', b"", b"x" * 3000, b"\xff\xfe"]
HALF = Compressor()(b"hello hello hello")
TWICE = Compressor()

DEFLATED = {
    "nothing": (b"", []),
    "a message": (compressed(b"hello"), [text(b"hello")]),
    "an empty message": (frame(FIN | RSV1 | TEXT, b"\0"), [text(b"")]),
    "a message of no bytes at all": (frame(FIN | RSV1 | TEXT), [text(b"")]),
    "a binary message": (compressed(b"\0\1", first=FIN | RSV1 | BINARY), [binary(b"\0\1")]),
    "a masked message": (compressed(b"hello", key=KEY), [text(b"hello")]),
    "the example of RFC 7692, section 7.2.3.1": (
        bytes.fromhex("c107f248cdc9c90700"),
        [text(b"Hello")],
    ),
    "the fragments of RFC 7692, section 7.2.3.1": (
        bytes.fromhex("4103f248cd 8004c9c90700"),
        [text(b"Hello")],
    ),
    "the shared window of RFC 7692, section 7.2.3.2": (
        bytes.fromhex("c107f248cdc9c90700 c105f200110000"),
        [text(b"Hello"), text(b"Hello")],
    ),
    "the block without compression of RFC 7692, section 7.2.3.3": (
        bytes.fromhex("c10b000500faff48656c6c6f00"),
        [text(b"Hello")],
    ),
    "the final block of RFC 7692, section 7.2.3.4": (
        bytes.fromhex("c108f348cdc9c9070000"),
        [text(b"Hello")],
    ),
    "the two blocks of RFC 7692, section 7.2.3.5": (
        bytes.fromhex("c10df248050000 00ffffcac9c90700"),
        [text(b"Hello")],
    ),
    "final blocks in each of several messages": (
        b"".join(frame(FIN | RSV1 | TEXT, final(b"hello")) for _ in range(3)),
        [text(b"hello")] * 3,
    ),
    "a final block, and a message that goes on behind it": (
        frame(FIN | RSV1 | TEXT, final(b"a")[:-1] + Compressor()(b"b")) + compressed(b"c"),
        [text(b"ab"), text(b"c")],
    ),
    "a final block without the byte behind it": (
        frame(FIN | RSV1 | TEXT, final(b"a")[:-1]) + compressed(b"b"),
        [text(b"a"), text(b"b")],
    ),
    "messages that are not compressed between others": (
        frame(FIN | RSV1 | TEXT, TWICE(b"hello hello"))
        + frame(FIN | TEXT, b"plain")
        + frame(FIN | RSV1 | TEXT, TWICE(b"hello hello")),
        [text(b"hello hello"), text(b"plain"), text(b"hello hello")],
    ),
    "compressed fragments with a ping between": (
        frame(RSV1 | TEXT, HALF[:3])
        + frame(FIN | PING, b"p")
        + frame(CONT, b"", KEY)
        + frame(FIN | CONT, HALF[3:]),
        [Control(PING, b"p"), text(b"hello hello hello")],
    ),
    "W5 a ping is not compressed": (frame(FIN | PING, b"\xff"), [Control(PING, b"\xff")]),
}


@pytest.mark.parametrize(("stream", "events"), DEFLATED.values(), ids=DEFLATED)
def test_deflated(stream, events):
    assert read(stream, deflate=TAKEOVER) == events


@pytest.mark.parametrize(("stream", "events"), DEFLATED.values(), ids=DEFLATED)
def test_deflated_byte_by_byte(stream, events):
    assert read(*bytewise(stream), deflate=TAKEOVER) == events


@pytest.mark.parametrize(("stream", "events"), DEFLATED.values(), ids=DEFLATED)
def test_deflated_at_every_split(stream, events):
    for at in range(len(stream) + 1):
        assert read(stream[:at], stream[at:], deflate=TAKEOVER) == events


WAYS = list(product([True, False], range(9, 16), [0, 1, 9], [1, 9], [b"", KEY]))


@pytest.mark.parametrize(("takeover", "window", "level", "memory", "key"), WAYS)
def test_deflated_in_every_way(takeover, window, level, memory, key):
    stream = compressed(
        *TALK, *TALK, key=key, takeover=takeover, window=window, level=level, memory=memory
    )
    events = [text(data) for data in TALK * 2]
    deflate = Deflate(takeover=takeover, window=window)
    assert read(stream, deflate=deflate) == events
    assert read(*bytewise(stream), deflate=deflate) == events


def test_a_window_of_9_where_8_was_agreed():
    noise = bytes(range(256)) + b"*" + bytes(range(255))
    stream = compressed(noise, noise, window=9)
    events = read(stream, deflate=Deflate(takeover=True, window=8))
    assert events == [text(noise), text(noise)]


def test_without_takeover_each_message_stands_alone():
    first, second = Compressor(), Compressor()
    stream = frame(FIN | RSV1 | TEXT, first(b"hello")) + frame(FIN | RSV1 | TEXT, second(b"hello"))
    assert read(stream, deflate=Deflate(takeover=False, window=15)) == [text(b"hello")] * 2
    shared = compressed(b"hello hello", b"hello hello")
    events = read(shared, deflate=Deflate(takeover=False, window=15))
    assert [type(event) for event in events] == [Message, Lost, Raw]


def test_damage_in_a_later_part_keeps_what_came_before():
    good = Compressor()(b"hello" * 10)
    head = bytes([FIN | RSV1 | TEXT, len(good) + 4])
    events = read(head + good + b"\x00\x00\xff\xff"[:2], b"\x00\x00", b"x", deflate=TAKEOVER)
    assert events[0] == piece(b"hello" * 10, more=True)
    assert [type(event) for event in events[1:]] == [Lost, Raw, Raw]
    assert events[2:] == [Raw(b"\x00\x00"), Raw(b"x")]


def test_a_compressed_message_that_is_cut():
    stream = compressed(b"hello" * 100)
    events = read(stream[:-1], deflate=TAKEOVER)
    assert [type(event) for event in events] == [Piece]
    assert events[0].more
    assert (b"hello" * 100).startswith(events[0].data)


def test_a_compressed_message_over_the_limit():
    data = bytes(20 * MIB)
    events = read(compressed(data, b"after"), deflate=TAKEOVER)
    *pieces, last, after = events
    assert after == text(b"after")
    assert all(unit.more and 8 * MIB < len(unit.data) < 17 * MIB for unit in pieces)
    assert not last.more
    assert b"".join(unit.data for unit in [*pieces, last]) == data


def test_a_compressed_message_over_the_limit_in_small_reads():
    data = b"".join(number.to_bytes(4, "big") for number in range(40_000))
    stream = compressed(data)
    reads = [stream[at : at + 1000] for at in range(0, len(stream), 1000)]
    events = read(*reads, deflate=TAKEOVER, limit=10_000)
    assert b"".join(event.data for event in events) == data
    assert [event.more for event in events] == [True] * (len(events) - 1) + [False]


def test_a_bomb_is_read_in_bounded_memory():
    stream = zlib.compressobj(9, wbits=-15)
    bomb = b"".join(stream.compress(bytes(MIB)) for _ in range(256)) + stream.flush()
    reader = FrameReader(TAKEOVER)
    size = 0

    def action():
        nonlocal size
        for event in reader.events(frame(FIN | RSV1 | BINARY, bomb)):
            assert isinstance(event, Piece)
            size += len(event.data)

    assert peak(action) < 64 * MIB
    assert size == 256 * MIB


def both(client, server):
    return {"client": Deflate(*client), "server": Deflate(*server)}


AGREEMENTS = {
    "no header": ([], None),
    "an empty header": ([b""], None),
    "another extension": ([b"x-webkit-deflate-frame"], None),
    "a name that begins so": ([b"permessage-deflate2"], None),
    "no parameters": ([b"permessage-deflate"], both((True, 15), (True, 15))),
    "the server without takeover": (
        [b"permessage-deflate; server_no_context_takeover"],
        both((True, 15), (False, 15)),
    ),
    "the client without takeover": (
        [b"permessage-deflate;client_no_context_takeover"],
        both((False, 15), (True, 15)),
    ),
    "windows": (
        [b"permessage-deflate; client_max_window_bits=10; server_max_window_bits = 8"],
        both((True, 10), (True, 8)),
    ),
    "quotes": (
        [b'permessage-deflate; server_max_window_bits="9"'],
        both((True, 15), (True, 9)),
    ),
    "capitals": (
        [b"PerMessage-Deflate; Server_No_Context_Takeover"],
        both((True, 15), (False, 15)),
    ),
    "all parameters": (
        [
            (
                b"permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
                b"server_max_window_bits=12; client_max_window_bits=11"
            )
        ],
        both((False, 11), (False, 12)),
    ),
    "behind another extension": (
        [b"foo; a=b, permessage-deflate; client_max_window_bits=9"],
        both((True, 9), (True, 15)),
    ),
    "in a header of its own": (
        [b"foo", b"permessage-deflate; client_max_window_bits=9"],
        both((True, 9), (True, 15)),
    ),
    "a window without a size": (
        [b"permessage-deflate; client_max_window_bits"],
        both((True, 15), (True, 15)),
    ),
    "windows that there are not": (
        [b"permessage-deflate; client_max_window_bits=16; server_max_window_bits=\xb2"],
        both((True, 15), (True, 15)),
    ),
    "a parameter that is unknown": (
        [b"permessage-deflate; \xff=1"],
        both((True, 15), (True, 15)),
    ),
}


@pytest.mark.parametrize(("extensions", "agreed"), AGREEMENTS.values(), ids=AGREEMENTS)
def test_deflate_of(extensions, agreed):
    assert deflate_of(extensions) == agreed


# What `websockets` writes


def spoken(frames, *, mask, extension=None):
    extensions = [] if extension is None else [extension]
    return b"".join(item.serialize(mask=mask, extensions=extensions) for item in frames)


PAYLOADS = st.binary(max_size=300) | st.binary(max_size=20).map(lambda data: data * 5000)
CONTROLS = st.builds(
    lambda opcode, data: [Frame(opcode, data)],
    st.sampled_from([Opcode.PING, Opcode.PONG]),
    st.binary(max_size=125),
)


@st.composite
def messages(draw):
    opcode = draw(st.sampled_from([Opcode.TEXT, Opcode.BINARY]))
    parts = draw(st.lists(PAYLOADS, min_size=1, max_size=4))
    frames = []
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        frames.append(Frame(Opcode.CONT if number else opcode, part, fin=is_last))
        if not is_last:
            frames += draw(st.just([]) | CONTROLS)
    return frames


CLOSING = st.builds(lambda data: [Frame(Opcode.CLOSE, data)], st.binary(max_size=125))
CONVERSATIONS = st.lists(messages() | CONTROLS | CLOSING, max_size=6).map(
    lambda groups: [item for group in groups for item in group]
)
WINDOWS = st.integers(9, 15)


def expected(frames):
    events: list[Event] = []
    parts, opcode = [], None
    for item in frames:
        if item.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            opcode = opcode or item.opcode
            parts.append(item.data)
            if item.fin:
                events.append(Message(opcode is Opcode.TEXT, b"".join(parts)))
                parts, opcode = [], None
        else:
            events.append(Control(item.opcode, item.data))
    return events


def split(draw, stream):
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    ends = [0, *cuts, len(stream)]
    return [stream[start:end] for start, end in pairwise(ends)]


@given(st.data(), CONVERSATIONS, st.booleans())
def test_what_websockets_writes(data, frames, mask):
    stream = spoken(frames, mask=mask)
    assert read(*split(data.draw, stream)) == expected(frames)


@given(st.data(), CONVERSATIONS, st.booleans(), st.booleans(), WINDOWS)
def test_what_websockets_compresses(data, frames, mask, takeover, window):
    extension = PerMessageDeflate(
        remote_no_context_takeover=False,
        local_no_context_takeover=not takeover,
        remote_max_window_bits=15,
        local_max_window_bits=window,
    )
    stream = spoken(frames, mask=mask, extension=extension)
    deflate = Deflate(takeover=takeover, window=window)
    assert read(*split(data.draw, stream), deflate=deflate) == expected(frames)


@given(st.data(), CONVERSATIONS, st.booleans(), st.integers(1, 100))
def test_payloads_are_exact_in_pieces(data, frames, mask, limit):
    stream = spoken(frames, mask=mask)
    events = read(*split(data.draw, stream), limit=limit)
    payloads = [event for event in events if not isinstance(event, Control)]
    whole = [event for event in expected(frames) if isinstance(event, Message)]
    assert b"".join(event.data for event in payloads) == b"".join(event.data for event in whole)
    ends = [event for event in payloads if isinstance(event, Message) or not event.more]
    assert [event.is_text for event in ends] == [event.is_text for event in whole]


@given(st.binary(max_size=200), st.none() | st.just(TAKEOVER))
def test_noise_is_read_without_an_error(noise, deflate):
    events = read(*bytewise(noise), deflate=deflate)
    assert all(isinstance(event, Message | Piece | Control | Lost | Raw) for event in events)
    assert sum(isinstance(event, Lost) for event in events) <= 1


@given(st.data(), CONVERSATIONS, st.binary(min_size=1, max_size=20))
def test_what_follows_a_lost_frame_is_raw(data, frames, noise):
    stream = spoken(frames, mask=True) + b"\xff\x00" + noise
    events = read(*split(data.draw, stream))
    lost = next(at for at, event in enumerate(events) if isinstance(event, Lost))
    assert events[:lost] == expected(frames)
    assert b"".join(event.data for event in events[lost + 1 :]) == b"\xff\x00" + noise
