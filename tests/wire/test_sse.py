"""Each table of streams runs whole, byte by byte and at every split."""

import itertools
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.wire.lines import PIECE_LIMIT, Piece, Unterminated
from acptap.wire.sse import (
    BlockSplitter,
    Fields,
    fields_of,
    framed,
    payload_of,
    plain_json,
    with_data,
)

BOM = b"\xef\xbb\xbf"


def cut(*reads, limit=PIECE_LIMIT):
    splitter = BlockSplitter(limit)
    units = [unit for read in reads for unit in splitter.feed(read)]
    return units + splitter.end()


def bytes_of(units):
    return b"".join(unit if isinstance(unit, bytes) else unit.raw for unit in units)


STREAMS = {
    "nothing": (b"", []),
    "one block": (b"data: a\n\n", [b"data: a\n\n"]),
    "two blocks": (b"data: a\n\ndata: b\n\n", [b"data: a\n\n", b"data: b\n\n"]),
    "CRLF": (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"data: a\r\n\r\n", b"data: b\r\n\r\n"]),
    "CR": (b"data: a\r\rdata: b\r\r", [b"data: a\r\r", b"data: b\r\r"]),
    "CR, and LF behind the empty line": (
        b"data: a\r\r\ndata: b\n\n",
        [b"data: a\r\r\n", b"data: b\n\n"],
    ),
    "LF and CR": (b"data: a\n\rdata: b\n\r\n", [b"data: a\n\r", b"data: b\n\r\n"]),
    "CRLF and LF": (b"data: a\r\n\ndata: b\n\n", [b"data: a\r\n\n", b"data: b\n\n"]),
    "LF and CRLF": (b"data: a\n\r\n:\n\n", [b"data: a\n\r\n", b":\n\n"]),
    "CRLF and CR": (b"data: a\r\n\rdata: b\r\n\r", [b"data: a\r\n\r", b"data: b\r\n\r"]),
    "CRLF ends one line": (b"a\r\nb\r\n\r\n", [b"a\r\nb\r\n\r\n"]),
    "several lines": (
        b"event: e\nid: 1\ndata: a\ndata: b\n\n",
        [b"event: e\nid: 1\ndata: a\ndata: b\n\n"],
    ),
    "a comment is a block": (b":\n\n: keepalive\n\n", [b":\n\n", b": keepalive\n\n"]),
    "a stray empty line is a block": (b"a\n\n\nb\n\n", [b"a\n\n", b"\n", b"b\n\n"]),
    "stray empty lines are blocks": (
        b"a\n\n\n\n\nb\n\n",
        [b"a\n\n", b"\n", b"\n", b"\n", b"b\n\n"],
    ),
    "empty lines at the beginning": (b"\n\ndata: a\n\n", [b"\n", b"\n", b"data: a\n\n"]),
    "stray empty lines with CRLF": (b"\r\na\r\n\r\n\r\n", [b"\r\n", b"a\r\n\r\n", b"\r\n"]),
    "stray empty lines with CR": (b"\ra\r\r\r\r", [b"\r", b"a\r\r", b"\r", b"\r"]),
    "CR and LF in any order": (b"\n\r\r\n\n\r\n", [b"\n", b"\r", b"\r\n", b"\n", b"\r\n"]),
    "a byte order mark belongs to the first block": (
        BOM + b"data: a\n\ndata: b\n\n",
        [BOM + b"data: a\n\n", b"data: b\n\n"],
    ),
    "a line without line end": (b"data: a", [Unterminated(b"data: a")]),
    "a block without its empty line": (b"x\n\ndata: a\n", [b"x\n\n", Unterminated(b"data: a\n")]),
    "a block without its empty line, CRLF": (b"data: a\r\n", [Unterminated(b"data: a\r\n")]),
    "a block without its empty line, CR": (b"data: a\r", [Unterminated(b"data: a\r")]),
    "H17 raw text in a stream": (
        b'data: a\n\n{"error":{"code":"x"}}',
        [b"data: a\n\n", Unterminated(b'{"error":{"code":"x"}}')],
    ),
    "other line ends are content": (
        "data: a\u2028\u2029\u0085\x0b\x0c\x1c\x1d\x1e\n\n".encode(),
        ["data: a\u2028\u2029\u0085\x0b\x0c\x1c\x1d\x1e\n\n".encode()],
    ),
    "bytes that are no UTF-8": (b"data: \xff\0\x80\n\n", [b"data: \xff\0\x80\n\n"]),
}


@pytest.mark.parametrize(("stream", "units"), STREAMS.values(), ids=STREAMS)
def test_whole(stream, units):
    assert cut(stream) == units


@pytest.mark.parametrize(("stream", "units"), STREAMS.values(), ids=STREAMS)
def test_byte_by_byte(stream, units):
    assert cut(*(stream[at : at + 1] for at in range(len(stream)))) == units


@pytest.mark.parametrize(("stream", "units"), STREAMS.values(), ids=STREAMS)
def test_at_every_split(stream, units):
    assert all(cut(stream[:at], stream[at:]) == units for at in range(len(stream) + 1))


@pytest.mark.parametrize("stream", [stream for stream, _ in STREAMS.values()], ids=list(STREAMS))
def test_concatenation(stream):
    assert bytes_of(cut(stream)) == stream


FEEDS = {
    "a block comes with the read that ends it": (
        [b"a\n", b"\nb", b"\n\n"],
        [[], [b"a\n\n"], [b"b\n\n"], []],
    ),
    "an empty read brings nothing": ([b"a\n", b"", b"\n"], [[], [], [b"a\n\n"], []]),
    "several blocks come at once": ([b"a\n\nb\n\nc"], [[b"a\n\n", b"b\n\n"], [Unterminated(b"c")]]),
    "a stray empty line comes at once": ([b"a\n\n", b"\n"], [[b"a\n\n"], [b"\n"], []]),
    "a block with CRLF comes at once": ([b"a\r\n\r\n"], [[b"a\r\n\r\n"], []]),
    "a block that ends with CR comes with the next byte": (
        [b"a\r\r", b"b", b"\r\r"],
        [[], [b"a\r\r"], [], [b"b\r\r"]],
    ),
    "a LF behind a CR belongs to it": ([b"a\r\r", b"\n"], [[], [b"a\r\r\n"], []]),
    "an empty read is no next byte": ([b"a\r\r", b"", b"\n"], [[], [], [b"a\r\r\n"], []]),
    "a CR at the beginning comes with the next byte": ([b"\r", b"\n"], [[], [b"\r\n"], []]),
    "the end is a next byte too": ([b"\r"], [[], [b"\r"]]),
    "a block of the limit is whole": ([b"abcd", b"\n\n"], [[], [b"abcd\n\n"], []]),
    "line ends at its end do not count": ([b"abcd\r\n", b"\r\n"], [[], [b"abcd\r\n\r\n"], []]),
    "beyond the limit it comes in pieces": (
        [b"abcde", b"f\ng", b"h\n", b"\ni\n\n"],
        [
            [Piece(b"abcde", more=True)],
            [Piece(b"f\ng", more=True)],
            [Piece(b"h", more=True)],
            [Piece(b"\n\n", more=False), b"i\n\n"],
            [],
        ],
    ),
    "a line end that turns out to be inside the block": (
        [b"abcde\n", b"f\n\n"],
        [[Piece(b"abcde", more=True)], [Piece(b"\nf\n\n", more=False)], []],
    ),
    "pieces with CRLF": (
        [b"abcde\r", b"\n\r", b"\n"],
        [[Piece(b"abcde", more=True)], [], [Piece(b"\r\n\r\n", more=False)], []],
    ),
    "pieces with CR": (
        [b"abcde\r\r", b"f"],
        [[Piece(b"abcde", more=True)], [Piece(b"\r\r", more=False)], [Unterminated(b"f")]],
    ),
    "the end in pieces": ([b"abcde"], [[Piece(b"abcde", more=True)], [Piece(b"", more=False)]]),
    "the end in pieces, behind a line end": (
        [b"abcde\n"],
        [[Piece(b"abcde", more=True)], [Piece(b"\n", more=False)]],
    ),
    "the end behind pieces that end with CR": (
        [b"abcde\r\r"],
        [[Piece(b"abcde", more=True)], [Piece(b"\r\r", more=False)]],
    ),
    "the next block counts anew": (
        [b"abcde", b"\n\nabcd", b"\n\n"],
        [[Piece(b"abcde", more=True)], [Piece(b"\n\n", more=False)], [b"abcd\n\n"], []],
    ),
    "a long block that comes at once is whole": ([b"abcdefgh\n\n"], [[b"abcdefgh\n\n"], []]),
    "a long block that ends in the read that passes the limit is whole": (
        [b"abcd", b"efgh\n\n"],
        [[], [b"abcdefgh\n\n"], []],
    ),
}


@pytest.mark.parametrize(("reads", "units"), FEEDS.values(), ids=FEEDS)
def test_feed(reads, units):
    splitter = BlockSplitter(limit=4)
    assert [*map(splitter.feed, reads), splitter.end()] == units
    assert splitter.end() == []


def test_the_limit_is_8_mib():
    assert cut(b"x" * 8_388_608) == [Unterminated(b"x" * 8_388_608)]
    assert cut(b"x" * 8_388_609) == [Piece(b"x" * 8_388_609, more=True), Piece(b"", more=False)]


BITS = [b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n", b"data: a", b"data:", b":", b"x", BOM, b"\xff"]
TEXTS = st.lists(st.sampled_from(BITS), max_size=30).map(b"".join)
READS = st.lists(TEXTS | st.binary(max_size=30), max_size=8)
LIMITS = st.integers(1, 10)


def lines_of(stream):
    """Cut a stream into lines, as WHATWG says it: by its bytes, with no look at any speed."""
    line = b""
    for at, byte in enumerate(stream):
        line += bytes([byte])
        is_cr_of_crlf = byte == 13 and stream[at + 1 : at + 2] == b"\n"
        if byte == 10 or (byte == 13 and not is_cr_of_crlf):
            yield line
            line = b""
    if line:
        yield line


def blocks_of(stream):
    block = b""
    for line in lines_of(stream):
        block += line
        if line in (b"\n", b"\r", b"\r\n"):
            yield block
            block = b""
    if block:
        yield Unterminated(block)


@given(TEXTS)
def test_blocks_end_with_empty_lines(stream):
    assert cut(stream) == list(blocks_of(stream))


@given(READS)
def test_units_do_not_depend_on_the_reads(reads):
    assert cut(*reads) == cut(b"".join(reads))


@given(READS, LIMITS)
def test_concatenated_units_are_the_stream(reads, limit):
    assert bytes_of(cut(*reads, limit=limit)) == b"".join(reads)


@given(READS, LIMITS)
def test_joined_pieces_are_blocks(reads, limit):
    units: list[bytes | Unterminated] = []
    joined = b""
    for unit in cut(*reads, limit=limit):
        if isinstance(unit, Piece):
            joined += unit.raw
            if not unit.more:
                units.append(joined)
                joined = b""
        else:
            units.append(unit)
    assert joined == b""
    expected = [unit if isinstance(unit, bytes) else unit.raw for unit in cut(*reads)]
    assert [unit if isinstance(unit, bytes) else unit.raw for unit in units] == expected


@given(READS, LIMITS)
def test_every_run_of_pieces_has_one_last(reads, limit):
    pieces = [unit.more for unit in cut(*reads, limit=limit) if isinstance(unit, Piece)]
    runs = [list(run) for more, run in itertools.groupby(pieces) if not more]
    assert all(run == [False] for run in runs)
    assert pieces[-1:] in ([], [False])


LF_BITS = [b"\n", b"\n\n", b"data: a\n\n", b"data: a", b":"]


@given(st.lists(st.lists(st.sampled_from(LF_BITS), max_size=6).map(b"".join), max_size=8))
def test_a_block_that_ends_with_lf_is_never_held_back(reads):
    splitter = BlockSplitter()
    stream = b""
    units = []
    for read in reads:
        stream += read
        units += splitter.feed(read)
        assert units == [unit for unit in blocks_of(stream) if isinstance(unit, bytes)]


def seconds(size, end):
    block = b"data: " + b"x" * size + end
    reads = [block[at : at + 256] for at in range(0, len(block), 256)]
    splitter = BlockSplitter()
    start = process_time()
    for read in reads:
        splitter.feed(read)
    return process_time() - start


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"], ids=["LF", "CRLF"])
def test_time_is_linear_in_the_size_of_a_block(end):
    small = min(seconds(256 * 1024, end) for _ in range(5))
    large = min(seconds(4 * 1024 * 1024, end) for _ in range(3))
    assert large < 100 * small


# Fields


def fields(data, event="", last_id=None, retry=None):
    return Fields(data, event, last_id, retry)


FIELDS = {
    "data": (b"data: a\n\n", fields(b"a")),
    "no space behind the colon": (b"data:a\n\n", fields(b"a")),
    "one space is dropped": (b"data:  a \n\n", fields(b" a ")),
    "a tab is no space": (b"data:\ta\n\n", fields(b"\ta")),
    "a colon in the data": (b"data:a: b\n\n", fields(b"a: b")),
    "several data lines": (b"data: a\ndata:b\ndata:  c\n\n", fields(b"a\nb\n c")),
    "several data lines with CRLF": (b"data: a\r\ndata: b\r\n\r\n", fields(b"a\nb")),
    "several data lines with CR": (b"data: a\rdata: b\r\r", fields(b"a\nb")),
    "data without a colon": (b"data\n\n", fields(b"")),
    "two of them": (b"data\ndata\n\n", fields(b"\n")),
    "empty data": (b"data:\n\n", fields(b"")),
    "data apart": (b"data: a\nid: 1\ndata: b\n\n", fields(b"a\nb", last_id="1")),
    "a byte order mark": (BOM + b"data: a\n\n", fields(b"a")),
    "one byte order mark": (BOM + BOM + b"data: a\n\n", fields(None)),
    "a byte order mark in a later line": (b"data: a\n" + BOM + b"data: b\n\n", fields(b"a")),
    "a byte order mark and an empty line": (BOM + b"\ndata: a\n\n", fields(b"a")),
    "a comment": (b": data: a\n\n", fields(None)),
    "an empty line": (b"\n", fields(None)),
    "an unknown field": (b"Data: a\nfoo: b\n\n", fields(None)),
    "a space before the name": (b" data: a\n\n", fields(None)),
    "a space behind the name": (b"data : a\n\n", fields(None)),
    "H16 event": (b"event: message\ndata: a\n\n", fields(b"a", "message")),
    "H16 empty event": (b"event:\ndata: a\n\n", fields(b"a")),
    "H16 event behind the data": (b"id: 1\ndata: a\nevent: e\n\n", fields(b"a", "e", "1")),
    "the last event counts": (b"event: a\nevent: b\n\n", fields(None, "b")),
    "id": (b"id: e3\n\n", fields(None, last_id="e3")),
    "an empty id": (b"id\n\n", fields(None, last_id="")),
    "an id with NUL is ignored": (b"id: a\nid: b\0\n\n", fields(None, last_id="a")),
    "retry": (b"retry: 0300\n\n", fields(None, retry="0300")),
    "retry with a sign": (b"retry: +3\n\n", fields(None)),
    "retry without digits": (b"retry:\n\n", fields(None)),
    "retry with a space behind": (b"retry: 3 \n\n", fields(None)),
    "retry with other digits": ("retry: \u0663\n\n".encode(), fields(None)),
    "what is no UTF-8": (
        b"event: \xff\nid: \xc3\ndata: \xff\n\n",
        fields(b"\xff", "\ufffd", "\ufffd"),
    ),
    "no empty line": (b"data: a", fields(b"a")),
    "nothing": (b"", fields(None)),
    "other line ends are content": (
        "data: a\u2028\u0085\x0b\x0c\x1c\x1d\x1eb\n\n".encode(),
        fields("a\u2028\u0085\x0b\x0c\x1c\x1d\x1eb".encode()),
    ),
}


@pytest.mark.parametrize(("block", "expected"), FIELDS.values(), ids=FIELDS)
def test_fields_of(block, expected):
    assert fields_of(block) == expected


@pytest.mark.parametrize(("block", "expected"), FIELDS.values(), ids=FIELDS)
def test_payload_of(block, expected):
    assert payload_of(block) == expected.data


PLAIN = {
    "a plain block": (b"data: {}\n\n", b"{}"),
    "an empty text": (b"data: \n\n", b""),
    "a second space is text": (b"data:  {}\n\n", b" {}"),
    "the word data": (b"data: data: \n\n", b"data: "),
    "no space": (b"data:{}\n\n", None),
    "a byte order mark": (BOM + b"data: {}\n\n", None),
    "CRLF": (b"data: {}\r\n\r\n", None),
    "CR": (b"data: {}\r\r", None),
    "a CR in the text": (b"data: {\r}\n\n", None),
    "two data lines": (b"data: {\ndata: }\n\n", None),
    "another field in front": (b"id: 1\ndata: {}\n\n", None),
    "another field behind": (b"data: {}\nid: 1\n\n", None),
    "one line end": (b"data: {}\n", None),
    "three line ends": (b"data: {}\n\n\n", None),
    "a letter for the second line end": (b"data: {}\nx", None),
    "only the beginning": (b"data: ", None),
    "a comment": (b":\n\n", None),
    "an empty line": (b"\n", None),
    "nothing": (b"", None),
}


@pytest.mark.parametrize(("block", "text"), PLAIN.values(), ids=PLAIN)
def test_plain_json(block, text):
    assert plain_json(block) == text


@pytest.mark.parametrize(("block", "text"), PLAIN.values(), ids=PLAIN)
def test_a_plain_block_is_framed_as_it_was(block, text):
    assert text is None or framed(text) == block


FRAMED = {
    "a text": (b'{"a":1}', b'data: {"a":1}\n\n'),
    "no text": (b"", b"data: \n\n"),
    "a space in front": (b" a", b"data:  a\n\n"),
    "LF": (b"{\n}", b"data: {\ndata: }\n\n"),
    "CRLF": (b"{\r\n}", b"data: {\ndata: }\n\n"),
    "CR": (b"{\r}", b"data: {\ndata: }\n\n"),
    "LF at the end": (b"{}\n", b"data: {}\ndata: \n\n"),
    "empty lines": (b"\n\n", b"data: \ndata: \ndata: \n\n"),
}


@pytest.mark.parametrize(("text", "block"), FRAMED.values(), ids=FRAMED)
def test_framed(text, block):
    assert framed(text) == block


REPLACED = {
    "a plain block": (b"data: a\n\n", b"new", b"data: new\n\n"),
    "no space": (b"data:a\n\n", b"new", b"data:new\n\n"),
    "no space, and a text that begins with one": (b"data:a\n\n", b" new", b"data:  new\n\n"),
    "a space, and a text that begins with one": (b"data: a\n\n", b" new", b"data:  new\n\n"),
    "no colon": (b"data\n\n", b"new", b"data:new\n\n"),
    "CRLF": (b"data: a\r\n\r\n", b"new", b"data: new\r\n\r\n"),
    "CR": (b"data: a\r\r", b"new", b"data: new\r\r"),
    "a byte order mark": (BOM + b"data: a\n\n", b"new", BOM + b"data: new\n\n"),
    "other fields": (
        b": c\nid: 1\ndata: a\nevent: e\nretry:3\n\n",
        b"new",
        b": c\nid: 1\ndata: new\nevent: e\nretry:3\n\n",
    ),
    "several data lines": (
        b"id: 1\ndata:a\nevent: e\ndata: b\ndata: c\n\n",
        b"new",
        b"id: 1\ndata:new\nevent: e\n\n",
    ),
    "other fields with the same beginning": (
        b"data2: a\ndatum\ndata: b\n\n",
        b"new",
        b"data2: a\ndatum\ndata: new\n\n",
    ),
    "a text of several lines": (
        b"data: a\r\n\r\n",
        b"n\ne\nw",
        b"data: n\r\ndata: e\r\ndata: w\r\n\r\n",
    ),
    "lines that begin with a space": (b"data:a\n\n", b"n\n e", b"data:n\ndata:  e\n\n"),
    "no line end": (b"data: a", b"new", b"data: new"),
    "no line end, and a text of several lines": (b"data: a", b"n\ne", b"data: n\ndata: e"),
    "an empty text": (b"data: a\n\n", b"", b"data: \n\n"),
    "no data": (b": c\n\n", b"new", b": c\n\n"),
    "data in a comment": (b":data: a\n\n", b"new", b":data: a\n\n"),
    "nothing": (b"", b"new", b""),
}  # fmt: skip


@pytest.mark.parametrize(("block", "new", "replaced"), REPLACED.values(), ids=REPLACED)
def test_with_data(block, new, replaced):
    assert with_data(block, new) == replaced


FIELD_LINES = st.sampled_from(
    [b"data: a", b"data:b", b"data", b"data:", b"data:  c", b"id: 1", b"event:e", b": c", b"x"]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
BLOCKS = st.builds(
    lambda mark, lines, end: mark + b"".join(line + end for line in lines) + end,
    st.sampled_from([b"", BOM]),
    st.lists(FIELD_LINES, max_size=5),
    ENDS,
)
NEW = st.lists(st.sampled_from([b"\n", b"\r\n", b"\r", b"a", b" ", b"data: ", b":"])).map(b"".join)


def as_read(text):
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


@given(NEW)
def test_what_is_framed_can_be_read(text):
    assert payload_of(framed(text)) == as_read(text)
    assert cut(framed(text)) == [framed(text)]


@given(BLOCKS, NEW)
def test_new_data_can_be_read_and_nothing_else_changes(block, new):
    before, after = fields_of(block), fields_of(with_data(block, new))
    assert after == before._replace(data=None if before.data is None else as_read(new))


@given(BLOCKS)
def test_the_same_data_changes_nothing(block):
    lines = [line for line in lines_of(block.removeprefix(BOM)) if line.startswith(b"data")]
    data = payload_of(block)
    if len(lines) == 1 and data:
        assert with_data(block, data) == block
