import itertools
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.wire.lines import PIECE_LIMIT, LineSplitter, Piece, Unterminated


def cut(*reads, limit=PIECE_LIMIT):
    splitter = LineSplitter(limit)
    units = [unit for read in reads for unit in splitter.feed(read)]
    return units + splitter.end()


def bytes_of(units):
    return b"".join(unit + b"\n" if isinstance(unit, bytes) else unit.raw for unit in units)


LINES = {
    "nothing": (b"", []),
    "one line": (b"a\n", [b"a"]),
    "two lines": (b"a\nb\n", [b"a", b"b"]),
    "N3 a blank line is a line": (b"\n", [b""]),
    "N3 blank lines are lines": (b"\n\na\n\n", [b"", b"", b"a", b""]),
    "N3 spaces are kept": (b"   \n a \n", [b"   ", b" a "]),
    "F4 CR belongs to the line": (b"a\r\nb\r\n", [b"a\r", b"b\r"]),
    "F4 a lone CR ends nothing": (b"a\rb\n", [b"a\rb"]),
    "F4 CR and LF in turn": (b"\r\n\r\n", [b"\r", b"\r"]),
    "edge 13 CRLF, blank, unterminated": (
        b'{"method":"x"}\r\n\n{"method":"y"}',
        [b'{"method":"x"}\r', b"", Unterminated(b'{"method":"y"}')],
    ),
    "F7 the last line without LF": (b'{"id":3}', [Unterminated(b'{"id":3}')]),
    "F7 a lone CR at the end": (b"a\n\r", [b"a", Unterminated(b"\r")]),
    "F6 U+2028 is content": ("a\u2028b\n".encode(), ["a\u2028b".encode()]),
    "F6 U+2029 is content": ("a\u2029b\n".encode(), ["a\u2029b".encode()]),
    "F6 U+0085 is content": ("a\u0085b\n".encode(), ["a\u0085b".encode()]),
    "F6 VT and FF are content": (b"a\x0bb\x0cc\n", [b"a\x0bb\x0cc"]),
    "F6 file, group and record separators are content": (b"\x1c\x1d\x1e\n", [b"\x1c\x1d\x1e"]),
    "F3 a character of four bytes": ("👩\n".encode(), ["👩".encode()]),
    "N5 bytes that are no UTF-8": (b"\xff\xfe\x80\n", [b"\xff\xfe\x80"]),
    "C3 NUL is content": (b"\x00\x00\n", [b"\x00\x00"]),
}


@pytest.mark.parametrize(("stream", "units"), LINES.values(), ids=LINES)
def test_whole(stream, units):
    assert cut(stream) == units


@pytest.mark.parametrize(("stream", "units"), LINES.values(), ids=LINES)
def test_byte_by_byte(stream, units):
    assert cut(*(stream[i : i + 1] for i in range(len(stream)))) == units


@pytest.mark.parametrize(("stream", "units"), LINES.values(), ids=LINES)
def test_at_every_split(stream, units):
    assert all(cut(stream[:at], stream[at:]) == units for at in range(len(stream) + 1))


@pytest.mark.parametrize("stream", [stream for stream, _ in LINES.values()], ids=list(LINES))
def test_concatenation(stream):
    assert bytes_of(cut(stream)) == stream


FEEDS = {
    "a line comes with the read that ends it": ([b"a", b"b\nc", b"\n"], [[], [b"ab"], [b"c"]]),
    "an empty read brings nothing": ([b"a", b"", b"\n"], [[], [], [b"a"]]),
    "several lines come at once": ([b"a\nb\nc\nd"], [[b"a", b"b", b"c"]]),
    "a line of the limit is whole": ([b"abcd", b"\n"], [[], [b"abcd"]]),
    "F8 beyond the limit it comes in pieces": (
        [b"abcd", b"e", b"fg", b"h\ni\n"],
        [[], [Piece(b"abcde", more=True)], [Piece(b"fg", more=True)],
         [Piece(b"h\n", more=False), b"i"]],
    ),
    "F8 the line end alone is the last piece": (
        [b"abcde", b"\n", b"a\n"],
        [[Piece(b"abcde", more=True)], [Piece(b"\n", more=False)], [b"a"]],
    ),
    "F8 the next line counts anew": (
        [b"abcde", b"\nabcd", b"\n"],
        [[Piece(b"abcde", more=True)], [Piece(b"\n", more=False)], [b"abcd"]],
    ),
    "F8 the next line may be too long as well": (
        [b"abcde", b"\nfghij", b"\n"],
        [[Piece(b"abcde", more=True)], [Piece(b"\n", more=False), Piece(b"fghij", more=True)],
         [Piece(b"\n", more=False)]],
    ),
    "a long line that comes at once is whole": ([b"abcdefgh\n"], [[b"abcdefgh"]]),
    "a long line that ends in the read that passes the limit is whole": (
        [b"abcd", b"efgh\n"],
        [[], [b"abcdefgh"]],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("reads", "units"), FEEDS.values(), ids=FEEDS)
def test_feed(reads, units):
    splitter = LineSplitter(limit=4)
    assert [splitter.feed(read) for read in reads] == units


ENDS = {
    "nothing came": ([], []),
    "after a line": ([b"a\n"], []),
    "in a line": ([b"a\nb"], [Unterminated(b"b")]),
    "F8 in pieces": ([b"abcde"], [Piece(b"", more=False)]),
    "F8 after pieces": ([b"abcde", b"\n"], []),
}


@pytest.mark.parametrize(("reads", "units"), ENDS.values(), ids=ENDS)
def test_end(reads, units):
    splitter = LineSplitter(limit=4)
    for read in reads:
        splitter.feed(read)
    assert splitter.end() == units
    assert splitter.end() == []


PENDING = {
    "at the beginning": ([], False),
    "after a line": ([b"a\n"], False),
    "in a line": ([b"a\nb"], True),
    "after an empty read": ([b""], False),
    "in pieces": ([b"abcde"], True),
    "after pieces": ([b"abcde", b"\n"], False),
}


@pytest.mark.parametrize(("reads", "pending"), PENDING.values(), ids=PENDING)
def test_pending(reads, pending):
    splitter = LineSplitter(limit=4)
    for read in reads:
        splitter.feed(read)
    assert splitter.pending is pending


def test_pending_is_over_at_the_end():
    splitter = LineSplitter(limit=4)
    splitter.feed(b"abcde")
    splitter.end()
    assert splitter.pending is False


def test_the_limit_is_8_mib():
    assert cut(b"x" * 8_388_608) == [Unterminated(b"x" * 8_388_608)]
    assert cut(b"x" * 8_388_609) == [Piece(b"x" * 8_388_609, more=True), Piece(b"", more=False)]


BITS = st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"bc", b"\xe2\x80\xa8", b"\x00", b"\xff"])
STREAMS = st.lists(BITS, max_size=30).map(b"".join) | st.binary(max_size=60)
READS = st.lists(STREAMS, max_size=8)


@given(READS)
def test_units_do_not_depend_on_the_reads(reads):
    assert cut(*reads) == cut(b"".join(reads))


@given(READS, st.integers(1, 10))
def test_concatenated_units_are_the_stream(reads, limit):
    assert bytes_of(cut(*reads, limit=limit)) == b"".join(reads)


@given(READS, st.integers(1, 10))
def test_every_run_of_pieces_has_one_last(reads, limit):
    pieces = [unit.more for unit in cut(*reads, limit=limit) if isinstance(unit, Piece)]
    runs = [list(run) for more, run in itertools.groupby(pieces) if not more]
    assert all(run == [False] for run in runs)
    assert pieces[-1:] in ([], [False])


def seconds(size):
    line = b"x" * size + b"\n"
    reads = [line[i : i + 4096] for i in range(0, len(line), 4096)]
    splitter = LineSplitter()
    start = perf_counter()
    for read in reads:
        splitter.feed(read)
    return perf_counter() - start


def test_f9_time_is_linear_in_the_size_of_a_line():
    small = min(seconds(2 * 1024 * 1024) for _ in range(5))
    large = min(seconds(16 * 2 * 1024 * 1024) for _ in range(3))
    assert large < 100 * small
