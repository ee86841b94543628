import tracemalloc
from collections import deque
from time import process_time
from typing import Any

import pytest

from acptap.wire import bodies, headbuffer
from acptap.wire.http1 import (
    Body,
    End,
    Lost,
    Pending,
    Raw,
    RequestReader,
    ResponseReader,
)
from tests.wire.http1_reading import CUT, END, cuts, mark, pending_of, requests, responses, told

GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
UPGRADE = b"GET /ws HTTP/1.1\r\nHost: h\r\nuPgrade: websocket\r\n\r\n"
CONNECT = b"CONNECT h:1 HTTP/1.1\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
H2C = b"POST / HTTP/1.1\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n"
NO_REQUEST = Lost("no HTTP/1 request line")
NO_STATUS = Lost("no HTTP/1 status line")
NO_SIZE = Lost("a chunk without a proper size")
BARE = Lost("a chunked body with a bare CR or LF in its framing")
LONGER = Lost("a chunk that is longer than its size")


def mark_of(raw):
    return b"<%b>" % raw


def post(*fields, body=b""):
    lines = b"".join(field + b"\r\n" for field in fields)
    return b"POST / HTTP/1.1\r\n" + lines + b"\r\n" + body


# Requests. A row is what comes, in parts, and what is read. A part in a tuple is a head that is
# rewritten; all else goes on as it is.

REQUESTS = {
    "no body": ([(GET,)], ["GET /", END]),
    "two in one read": ([(GET,), (GET,)], ["GET /", END, "GET /", END]),
    "content by length": (
        [(post(b"Content-Length: 5"),), b"hello", (GET,)],
        ["POST /", b"hello", END, "GET /", END],
    ),
    "a length of nothing": ([(post(b"Content-Length: 0"),), (GET,)], ["POST /", END, "GET /", END]),
    "the same length twice": (
        [(post(b"Content-Length: 2, 2", b"content-length: 02"),), b"ab"],
        ["POST /", b"ab", END],
    ),
    "H18 content that looks like a head": (
        [(post(b"Content-Length: %d" % len(GET)),), GET, (GET,)],
        ["POST /", GET, END, "GET /", END],
    ),
    "H18 chunks": (
        [(CHUNKED,), b"5\r\nab0\r\n\r\n1\r\n!\r\n0\r\n\r\n", (GET,)],
        ["POST /", b"ab0\r\n!", END, "GET /", END],
    ),
    "H18 extensions and trailers": (
        [(CHUNKED,), b"5;pad=x\r\nhello\r\n00a ; q\r\n0123456789\r\n0;q=1\r\nX-Sum: 9\r\n\r\n"],
        ["POST /", b"hello0123456789", End(is_complete=True, trailers=[(b"X-Sum", b"9")])],
    ),
    "chunk sizes in either case, with zeros before and blanks behind": (
        [(CHUNKED,), b"0000000000000000000A\r\n0123456789\r\nb \t\r\n0123456789b\r\n0 \r\n\r\n"],
        ["POST /", b"01234567890123456789b", END],
    ),
    "chunked behind another coding": (
        [(post(b"Transfer-Encoding: GZip", b"transfer-encoding: Chunked"),), b"0\r\n\r\n"],
        ["POST /", END],
    ),
    "empty lines in front": ([(b"\r\n\n\r\n" + GET,), (b"\r\n" + GET,)], ["GET /", END] * 2),
    "lines that end in LF": (
        [(b"POST / HTTP/1.1\nContent-Length: 2\n\n",), b"ab", (b"GET / HTTP/1.1\r\n\n",)],
        ["POST /", b"ab", END, "GET /", END],
    ),
    "HTTP/1.0 without fields": ([(b"GET / HTTP/1.0\r\n\r\n",)], ["GET /", END]),
    "a folded field": ([(b"GET / HTTP/1.1\r\nX: a\r\n\tb\r\n\r\n",)], ["GET /", END]),
    "odd bytes that frame nothing": (
        [(b"gEt /\xe9?\xff HTTP/1.1\r\nX@\xe9: \x00\xe9\x80\r\nX-Empty:\r\n\r\n",)],
        ["gEt /é?ÿ", END],
    ),
    "absolute and asterisk form": (
        [(b"GET http://h/ HTTP/1.1\r\n\r\n",), (b"OPTIONS * HTTP/1.1\r\n\r\n",)],
        ["GET http://h/", END, "OPTIONS *", END],
    ),
    "a head that has not ended is held": ([(GET,)], ["GET /", END]),
    "what follows an upgrade is held": ([(UPGRADE,)], ["GET /ws", END]),
    "what follows a CONNECT is held": ([(CONNECT,)], ["CONNECT h:1", END]),
    "a CONNECT with an empty body": (
        [(b"CONNECT h:1 HTTP/1.1\r\nContent-Length: 0\r\n\r\n",)],
        ["CONNECT h:1", END],
    ),
    "an upgrade with a body": (
        [(post(b"Upgrade: h2c", b"Content-Length: 2"),), b"ab"],
        ["POST /", b"ab", END],
    ),
    "H14 a body that waits for 100": (
        [(post(b"Expect: 100-continue", b"Content-Length: 2"),)],
        ["POST /"],
    ),
}  # fmt: skip


def forwarded(parts):
    return b"".join(mark_of(*part) if isinstance(part, tuple) else part for part in parts)


def stream_of(parts):
    return b"".join(b"".join(part) if isinstance(part, tuple) else part for part in parts)


@pytest.mark.parametrize(("parts", "words"), REQUESTS.values(), ids=REQUESTS)
def test_requests(parts, words):
    for reads in cuts(stream_of(parts)):
        out, events = requests(reads)
        assert out == forwarded(parts)
        assert told(events) == words


# Requests that are left alone. A row is a good start, the rest that is not touched, what is read
# of that, and why.

DOUBTS = {
    "a TLS hello": ([], b"\x16\x03\x01\x02", [], NO_REQUEST),
    "garbage": ([], b"hello\n", [], NO_REQUEST),
    "garbage without a line end": ([], b"{\"a\"", [], NO_REQUEST),
    "a CR that begins no empty line": ([], b"\rGET / HTTP/1.1\r\n\r\n", [], NO_REQUEST),
    "a blank in front": ([], b" GET / HTTP/1.1\r\n\r\n", [], NO_REQUEST),
    "no version": ([], b"GET /\r\n", [], NO_REQUEST),
    "two blanks": ([], b"GET  / HTTP/1.1\r\n", [], NO_REQUEST),
    "a blank in the target": ([], b"GET /a b HTTP/1.1\r\n", [], NO_REQUEST),
    "a control in the target": ([], b"GET /\x0b HTTP/1.1\r\n", [], NO_REQUEST),
    "another version": ([], b"GET / HTTP/2.0\r\n", [], NO_REQUEST),
    "a version of two digits": ([], b"GET / HTTP/1.10\r\n", [], NO_REQUEST),
    "HTTP/2 by prior knowledge": (
        [], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00", [],
        Lost("HTTP/2, of which acptap reads nothing"),
    ),
    "behind a good request": ([(GET,)], b"\x00GET", ["GET /", END], NO_REQUEST),
    "both framings": (
        [], post(b"Content-Length: 5", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"), [],
        Lost("both Transfer-Encoding and Content-Length"),
    ),
    "lengths that differ": (
        [], post(b"Content-Length: 5", b"Content-Length: 6"), [],
        Lost("several Content-Lengths that differ"),
    ),
    "a length that is no number": (
        [], post(b"Content-Length: 5x"), [], Lost("a Content-Length that is no number"),
    ),
    "a length with a sign": (
        [], post(b"Content-Length: +5"), [], Lost("a Content-Length that is no number"),
    ),
    "a length with an underscore": (
        [], post(b"Content-Length: 1_0"), [], Lost("a Content-Length that is no number"),
    ),
    "a length of 19 digits": (
        [], post(b"Content-Length: " + b"1" * 19), [], Lost("a Content-Length that is no number"),
    ),
    "an empty length": (
        [], post(b"Content-Length:"), [], Lost("a Content-Length that is no number"),
    ),
    "an unknown coding": (
        [], post(b"Transfer-Encoding: br, chunked"), [], Lost("an unknown Transfer-Encoding"),
    ),
    "chunked is not the last coding": (
        [], post(b"Transfer-Encoding: chunked, gzip"), [], Lost("an unknown Transfer-Encoding"),
    ),
    "chunked twice": (
        [], post(b"Transfer-Encoding: chunked, chunked"), [], Lost("an unknown Transfer-Encoding"),
    ),
    "identity": (
        [], post(b"Transfer-Encoding: identity"), [], Lost("an unknown Transfer-Encoding"),
    ),
    "an empty coding": (
        [], post(b"Transfer-Encoding:"), [], Lost("an unknown Transfer-Encoding"),
    ),
    "chunked in HTTP/1.0": (
        [], b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", [],
        Lost("Transfer-Encoding in HTTP/1.0"),
    ),
    "a blank before a colon": (
        [], post(b"Content-Length : 5"), [], Lost("a blank before a header's colon"),
    ),
    "a line without a colon": ([], post(b"hello"), [], Lost("a header line without a colon")),
    "a name with a control": (
        [], post(b"Content-Length\x0b: 5"), [], Lost("a header without a proper name"),
    ),
    "no name": ([], post(b": 5"), [], Lost("a header without a proper name")),
    "a CR in a line": (
        [], post(b"X: a\rContent-Length: 5"), [], Lost("a CR inside a header line"),
    ),
    "a folded length": (
        [], post(b"Content-Length:", b" 5"), [], Lost("a folded header line where it matters"),
    ),
    "a length that may be folded": (
        [], post(b"X: a", b" transfer-encoding: chunked"), [],
        Lost("a folded header line where it matters"),
    ),
    "a fold with nothing above it": (
        [], post(b" X: a"), [], Lost("a folded header line where it matters"),
    ),
    "a CONNECT with a body": (
        [], b"CONNECT h:1 HTTP/1.1\r\nContent-Length: 2\r\n\r\nab", [],
        Lost("a CONNECT request with a body"),
    ),
    "no chunk size": ([(CHUNKED,), b"1\r\na\r\n"], b"x\r\n", ["POST /", b"a", CUT], NO_SIZE),
    "an empty chunk size": ([(CHUNKED,)], b"\r\nabc", ["POST /", CUT], NO_SIZE),
    "a chunk size with a sign": ([(CHUNKED,)], b"+1\r\na\r\n", ["POST /", CUT], NO_SIZE),
    "a chunk size with 0x": ([(CHUNKED,)], b"0x1\r\na\r\n", ["POST /", CUT], NO_SIZE),
    "a chunk size with an underscore": ([(CHUNKED,)], b"1_0\r\na\r\n", ["POST /", CUT], NO_SIZE),
    "a chunk size with a blank in front": ([(CHUNKED,)], b" 1\r\na\r\n", ["POST /", CUT], NO_SIZE),
    "a chunk size of 16 digits": (
        [(CHUNKED,)], b"1000000000000000\r\na\r\n", ["POST /", CUT], NO_SIZE,
    ),
    "a chunk size and a bare LF": ([(CHUNKED,)], b"1\na\r\n", ["POST /", CUT], BARE),
    "a CR in an extension": ([(CHUNKED,)], b"1;\r2\r\na\r\n", ["POST /", CUT], BARE),
    "a chunk and a bare LF": (
        [(CHUNKED,), b"1\r\na"], b"\n0\r\n\r\n", ["POST /", b"a", CUT], LONGER,
    ),
    "a chunk longer than its size": (
        [(CHUNKED,), b"1\r\na"], b"bc\r\n", ["POST /", b"a", CUT], LONGER,
    ),
    "a chunk longer by a CR": (
        [(CHUNKED,), b"1\r\na"], b"\r\r\n", ["POST /", b"a", CUT], LONGER,
    ),
    "a trailer and a bare LF": ([(CHUNKED,), b"0\r\n"], b"A: 1\n\r\n", ["POST /", CUT], BARE),
    "the end and a bare LF": ([(CHUNKED,), b"0\r\n"], b"\n", ["POST /", CUT], BARE),
    "a next request where trailers should be": (
        [(CHUNKED,), b"0\r\n"], GET, ["POST /", CUT], Lost("a header line without a colon"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("start", "rest", "words", "lost"), DOUBTS.values(), ids=DOUBTS)
def test_doubts(start, rest, words, lost):
    rest += GET
    for reads in cuts(stream_of(start) + rest):
        out, events = requests(reads)
        assert out == forwarded(start) + rest
        assert told(events) == [*words, lost, Raw(rest)]


def test_a_fault_is_told_as_soon_as_it_is_sure():
    assert told(requests([CHUNKED, b"1\r\nab", b"c"])[1])[:4] == ["POST /", b"a", CUT, LONGER]
    assert told(requests([CHUNKED, b"1\r\nab"])[1]) == ["POST /", b"a"]
    assert told(requests([b"GE", b"T\t"])[1]) == [NO_REQUEST, Raw(b"GET\t")]
    assert told(responses([b"HTTP/", b"2"])) == [NO_STATUS, Raw(b"HTTP/2")]


# Heads, and the framing of chunks, are bounded. The limit in these rows is 40 bytes.

LIMITS = {
    "a head of 40 bytes": (
        [(b"GET / HTTP/1.1\r\nX: " + b"x" * 17 + b"\r\n\r\n",)], b"", ["GET /", END],
    ),
    "a head of 41": (
        [], b"GET / HTTP/1.1\r\nX: " + b"x" * 18 + b"\r\n\r\n", [Lost("a head of more than 1 MiB")],
    ),
    "a head of 41 with a line that has no colon": (
        [], b"GET / HTTP/1.1\r\nX" + b"x" * 20 + b"\r\n\r\n", [Lost("a head of more than 1 MiB")],
    ),
    "a first line that ends at 40": (
        [], b"GET /" + b"x" * 25 + b" HTTP/1.1\nA: 1\n\n", [Lost("a head of more than 1 MiB")],
    ),
    "a bad first line that ends at 40": ([], b"GET /" + b"x" * 34 + b"\n\n", [NO_REQUEST]),
    "a bad first line that ends at 41": (
        [], b"GET /" + b"x" * 35 + b"\n\n", [Lost("a head of more than 1 MiB")],
    ),
    "a first line that goes on": ([], b"GET /" + b"x" * 40, [Lost("a head of more than 1 MiB")]),
    "a method that goes on": ([], b"G" * 41, [Lost("a head of more than 1 MiB")]),
    "empty lines": ([], b"\n" * 41, [Lost("a head of more than 1 MiB")]),
    "39 empty lines, then no head": ([], b"\n" * 39 + b"?", [NO_REQUEST]),
    "40 empty lines, then no head": (
        [], b"\n" * 40 + b"?", [Lost("a head of more than 1 MiB")],
    ),
    "an extension of 40 bytes": (
        [(CHUNKED,), b"1;" + b"x" * 36 + b"\r\na\r\n"], b"", ["POST /", b"a"],
    ),
    "an extension of 41": (
        [(CHUNKED,)], b"1;" + b"x" * 37 + b"\r\na\r\n",
        ["POST /", CUT, Lost("a chunk's first line of more than 1 MiB")],
    ),
    "trailers of 40 bytes": (
        [(CHUNKED,), b"0\r\n" + b"A: 45678\r\n" * 3 + b"B: 56\r\n" + b"\r\n"], b"",
        ["POST /", End(is_complete=True, trailers=[(b"A", b"45678")] * 3 + [(b"B", b"56")])],
    ),
    "trailers of 41": (
        [(CHUNKED,), b"0\r\n"], b"A: 45678\r\n" * 3 + b"B: 56789\r\n" + b"\r\n",
        ["POST /", CUT, Lost("trailers of more than 1 MiB")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("start", "rest", "words"), LIMITS.values(), ids=LIMITS)
def test_limits(start, rest, words, monkeypatch):
    monkeypatch.setattr(bodies, "HEAD_LIMIT", 40)
    if start[:1] != [(CHUNKED,)]:
        monkeypatch.setattr(headbuffer, "HEAD_LIMIT", 40)
    for reads in cuts(stream_of(start) + rest):
        out, events = requests(reads)
        assert told(events) == words + [Raw(rest)] * bool(rest)
        assert out == forwarded(start) + rest


def test_a_head_may_have_1_mib():
    start, end = b"GET / HTTP/1.1\r\nX: ", b"\r\n\r\n"
    good = start + b"x" * (1024 * 1024 - len(start + end)) + end
    assert told(requests([good])[1]) == ["GET /", END]
    assert told(requests([b"\n" + good])[1])[0] == Lost("a head of more than 1 MiB")


# What may go on, and when. A row is what happens and what it brings.

REST = b"\x81\x00 no HTTP"
STEPS = {
    "a head that has not ended is held": [
        (GET[:-1], b"", []),
        (GET[-1:], mark_of(GET), ["GET /", END]),
    ],
    "3.8 an upgrade that is accepted": [
        (UPGRADE + REST, mark_of(UPGRADE), ["GET /ws", END]),
        (GET, b"", []),
        (True, REST + GET, [Raw(REST + GET)]),
        (REST, REST, [Raw(REST)]),
        (False, b"", []),
    ],
    "3.8 an upgrade that is refused": [
        (UPGRADE + GET[:9], mark_of(UPGRADE), ["GET /ws", END]),
        (GET[9:] + GET, b"", []),
        (False, mark_of(GET) * 2, ["GET /", END, "GET /", END]),
        (GET, mark_of(GET), ["GET /", END]),
    ],
    "3.8 an upgrade that is refused before anything follows": [
        (UPGRADE, mark_of(UPGRADE), ["GET /ws", END]),
        (False, b"", []),
        (GET, mark_of(GET), ["GET /", END]),
    ],
    "3.8 an upgrade behind a refused one waits for its own answer": [
        (UPGRADE * 2 + GET, mark_of(UPGRADE), ["GET /ws", END]),
        (False, mark_of(UPGRADE), ["GET /ws", END]),
        (False, mark_of(GET), ["GET /", END]),
    ],
    "3.8 a CONNECT that is accepted": [
        (CONNECT + GET, mark_of(CONNECT), ["CONNECT h:1", END]),
        (True, GET, [Raw(GET)]),
    ],
    "3.8 the body of an upgrade is not held": [
        (H2C + b"a", mark_of(H2C) + b"a", ["POST /", b"a"]),
        (b"b" + REST, b"b", [b"b", END]),
        (True, REST, [Raw(REST)]),
    ],
    "3.8 an upgrade that is accepted before its body ends": [
        (H2C + b"a", mark_of(H2C) + b"a", ["POST /", b"a"]),
        (True, b"", []),
        (b"b" + REST, b"b" + REST, [b"b", END, Raw(REST)]),
    ],
    "3.8 an upgrade that is refused before its body ends": [
        (H2C + b"a", mark_of(H2C) + b"a", ["POST /", b"a"]),
        (False, b"", []),
        (b"b" + GET, b"b" + mark_of(GET), [b"b", END, "GET /", END]),
    ],
    "an answer that nothing waits for": [
        (True, b"", []),
        (GET, mark_of(GET), ["GET /", END]),
    ],
    "the answers are lost while a head has not ended": [
        (GET[:9], b"", []),
        ("lose", GET[:9], [Raw(GET[:9])]),
        (GET[9:] + GET, GET[9:] + GET, [Raw(GET[9:] + GET)]),
        (True, b"", []),
    ],
    "the answers are lost while a request waits": [
        (UPGRADE + GET, mark_of(UPGRADE), ["GET /ws", END]),
        ("lose", GET, [Raw(GET)]),
        (GET, GET, [Raw(GET)]),
    ],
    "the answers are lost within a body": [
        (H2C + b"a", mark_of(H2C) + b"a", ["POST /", b"a"]),
        ("lose", b"", [CUT]),
        (b"b", b"b", [Raw(b"b")]),
    ],
    "the end, after all is said": [
        (GET, mark_of(GET), ["GET /", END]),
        ("end", b"", []),
        ("end", b"", []),
    ],
    "the end, with a request that never began": [
        (GET + b"\r\n", mark_of(GET), ["GET /", END]),
        ("end", b"\r\n", []),
    ],
    "the end, in a head": [
        (GET[:9], b"", []),
        ("end", GET[:9], [Raw(GET[:9])]),
        ("end", b"", []),
    ],
    "the end, in a body": [
        (H2C + b"a", mark_of(H2C) + b"a", ["POST /", b"a"]),
        ("end", b"", [CUT]),
        ("end", b"", []),
    ],
    "the end, while a request waits": [
        (UPGRADE + GET, mark_of(UPGRADE), ["GET /ws", END]),
        ("end", GET, [Raw(GET)]),
    ],
    "nothing": [(b"", b"", [])],
}  # fmt: skip


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_steps(steps):
    reader = RequestReader(deque(), mark)
    for step, out, words in steps:
        match step:
            case bool():
                done = reader.resolve(switched=step)
            case "lose":
                done = reader.lose()
            case "end":
                done = reader.end()
            case _:
                done = reader.feed(step)
        assert (done[0], told(done[1])) == (out, words)


def test_framing_lost_in_the_body_of_an_upgrade_is_not_held():
    reader = RequestReader(deque(), mark)
    reader.feed(b"POST / HTTP/1.1\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert reader.feed(b"?\r\n") == (b"?\r\n", [CUT, NO_SIZE, Raw(b"?\r\n")])
    assert (reader.waits, reader.is_opaque) == (False, True)


WAITS = {
    "a head": (GET[:-1], False),
    "a request": (GET, False),
    "an upgrade": (UPGRADE, True),
    "an upgrade and more": (UPGRADE + b"abc", True),
    "an upgrade with a body to come": (H2C + b"a", False),
    "an upgrade with a body": (H2C + b"abc", True),
    "garbage": (b"?", False),
}


@pytest.mark.parametrize(("stream", "waits"), WAITS.values(), ids=WAITS)
def test_waits(stream, waits):
    reader = RequestReader(deque(), mark)
    reader.feed(stream)
    assert reader.waits is waits
    for switched in (False, True):
        reader.resolve(switched=switched)
        assert reader.waits is False
    reader.lose()
    assert (reader.waits, reader.is_opaque) == (False, True)


def test_a_rewrite_that_raises_loses_nothing():
    def rewrite(head):
        if head.target == b"/ws":
            raise ZeroDivisionError
        return mark(head)

    reader = RequestReader(deque(), rewrite)
    reader.feed(GET[:5])
    with pytest.raises(ZeroDivisionError):
        reader.feed(GET[5:] + UPGRADE + GET)
    rest = mark_of(GET) + UPGRADE + GET
    assert reader.lose() == (rest, [Raw(rest)])
    assert reader.feed(GET) == (GET, [Raw(GET)])


def test_pending_requests_are_known_before_they_go_on():
    pending: Pending = deque()
    events = RequestReader(pending, mark).feed(GET + UPGRADE)[1]
    assert list(pending) == [events[0], events[2]]


HEAD = (
    b"\r\nPOST /%2F?q HTTP/1.1\r\nhost:\t h \t\r\nX: 1\r\nx:\r\nX:\r\n  2 \r\n\r\n",
    [(b"host", b"h"), (b"X", b"1"), (b"x", b""), (b"X", b"2")],
)


def test_a_request_head():
    head = requests([HEAD[0]])[1][0]
    assert (head.raw, head.headers) == HEAD
    assert (head.method, head.target, head.version) == (b"POST", b"/%2F?q", b"1.1")
    assert (head.value(b"HOST"), head.value(b"no")) == (b"h", None)
    assert (head.values(b"x"), head.values(b"no")) == ([b"1", b"", b"2"], [])
    assert not head.is_upgrade


# Responses. A row is the methods of the requests that wait (in lower case: with Upgrade), what
# comes, and what is read of it and of its end.

OK = b"HTTP/1.1 200 OK\r\n"
OK_CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
RESPONSES = {
    "content by length": (["GET"], OK + b"Content-Length: 2\r\n\r\nab", [200, b"ab", END]),
    "no content by length": (["GET"], OK + b"Content-Length: 0\r\n\r\n", [200, END]),
    "until the end": (["GET"], OK + b"\r\nab\r\n", [200, b"ab\r\n", END]),
    "nothing until the end": (["GET"], OK + b"\r\n", [200, END]),
    "HTTP/1.0": (["GET"], b"HTTP/1.0 200 OK\r\n\r\nab", [200, b"ab", END]),
    "H18 chunks, extensions, trailers": (
        ["GET", "GET"],
        OK_CHUNKED + b"5;pad=x\r\nab0\r\n\r\n0;q=1\r\nX-Sum: 9\r\n\r\n" + OK + b"\r\n",
        [200, b"ab0\r\n", End(is_complete=True, trailers=[(b"X-Sum", b"9")]), 200, END],
    ),
    "chunked in HTTP/1.0": (
        ["GET"],
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        [200, b"a", END],
    ),
    "chunks whose lines end in LF, and odd extensions": (
        ["GET"],
        OK_CHUNKED + b"1\na\n1;\r?\r\nb\n0\nno trailer\nA:1\n\n",
        [200, b"ab", End(is_complete=True, trailers=[(b"A", b"1")])],
    ),
    "both framings: chunks win": (
        ["GET"],
        OK + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        [200, b"a", END],
    ),
    "chunked behind an unknown coding": (
        ["GET"],
        OK + b"Transfer-Encoding: br,, Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        [200, b"a", END],
    ),
    "chunked in front of another coding": (
        ["GET"],
        OK + b"Transfer-Encoding: chunked, gzip\r\n\r\n1\r\na\r\n",
        [200, b"1\r\na\r\n", END],
    ),
    "identity is no coding": (
        ["GET"],
        OK + b"Transfer-Encoding: identity,\r\nContent-Length: 1\r\n\r\na",
        [200, b"a", END],
    ),
    "the same length twice": (
        ["GET"],
        OK + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\na",
        [200, b"a", END],
    ),
    "no body follows 204, 304 and the answer to HEAD": (
        ["GET", "GET", "HEAD", "GET"],
        b"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n"
        b"HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n"
        + OK + b"Content-Length: 5\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\na",
        [204, END, 304, END, 200, END, 200, b"a", END],
    ),
    "205 is framed like any other": (
        ["GET"],
        b"HTTP/1.1 205 Reset\r\nContent-Length: 1\r\n\r\na",
        [205, b"a", END],
    ),
    "H14 interim answers answer nothing": (
        ["HEAD", "GET"],
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nContent-Length: 5\r\n\r\n"
        + OK + b"Content-Length: 5\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\na",
        [100, 103, 200, END, 200, b"a", END],
    ),
    "an answer nobody waits for": (
        [],
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 408 Late\r\nContent-Length: 1\r\n\r\na",
        [100, 408, b"a", END],
    ),
    "3.8 an upgrade that is accepted": (
        ["get"], b"HTTP/1.1 101 Yes\r\n\r\n" + OK, [101, Raw(OK)],
    ),
    "3.8 an upgrade that is refused": (
        ["get", "GET"], OK + b"Content-Length: 0\r\n\r\n" + OK + b"\r\n", [200, END, 200, END],
    ),
    "3.8 an upgrade behind another request": (
        ["HEAD", "get"], OK + b"\r\nHTTP/1.1 101 Yes\r\n\r\nab", [200, END, 101, Raw(b"ab")],
    ),
    "3.8 a CONNECT that is accepted": (
        ["CONNECT"], b"HTTP/1.1 299 Yes\r\nContent-Length: 1\r\n\r\nab", [299, Raw(b"ab")],
    ),
    "3.8 a CONNECT that is refused": (
        ["CONNECT"], b"HTTP/1.1 403 No\r\nContent-Length: 1\r\n\r\na", [403, b"a", END],
    ),
    "3.8 an upgrade that nobody asked for": (
        ["GET"],
        b"HTTP/1.1 101 Yes\r\n\r\nab",
        [101, CUT, Lost("a switch of protocols that no request asked for"), Raw(b"ab")],
    ),
    "bare LF": (["GET"], b"HTTP/1.1 200 OK\nContent-Length: 1\n\na", [200, b"a", END]),
    "no reason, and blanks": (
        ["GET"], b"HTTP/1.1  200\r\nContent-Length: 1\r\n\r\na", [200, b"a", END],
    ),
    "empty lines in front": (
        ["GET"], b"\r\n\n" + OK + b"Content-Length: 0\r\n\r\n\r\n", [200, END],
    ),
    "fields that are none": (
        ["GET", "GET"],
        OK + b" folded\r\nno field\r\nX\r: \r\r\nContent-Length : \r\n 1\r\n\r\na" + OK + b"\r\n",
        [200, b"a", END, 200, END],
    ),
    "a length that is no number": (
        ["GET"],
        OK + b"Content-Length: 1_0\r\n\r\na",
        [200, CUT, Lost("a Content-Length that is no number"), Raw(b"a")],
    ),
    "lengths that differ": (
        ["GET"],
        OK + b"Content-Length: 1, 2\r\n\r\na",
        [200, CUT, Lost("several Content-Lengths that differ"), Raw(b"a")],
    ),
    "a chunk without a size": (
        ["GET"], OK_CHUNKED + b"1\r\na\r\n?\r\n", [200, b"a", CUT, NO_SIZE, Raw(b"?\r\n")],
    ),
    "no HTTP": (["GET"], b"SSH-2.0-x", [NO_STATUS, Raw(b"SSH-2.0-x")]),
    "nearly HTTP": (["GET"], b"HTTP/1,", [NO_STATUS, Raw(b"HTTP/1,")]),
    "no status": (["GET"], b"HTTP/1.1 OK\r\n", [NO_STATUS, Raw(b"HTTP/1.1 OK\r\n")]),
    "a status of four digits": (["GET"], b"HTTP/1.1 2000\n", [NO_STATUS, Raw(b"HTTP/1.1 2000\n")]),
    "HTTP/2": (["GET"], b"\x00\x00\x06\x04", [NO_STATUS, Raw(b"\x00\x00\x06\x04")]),
    "H13 cut in a body with a length": (
        ["GET"], OK + b"Content-Length: 2\r\n\r\na", [200, b"a", CUT],
    ),
    "H13 cut in chunks": (["GET"], OK_CHUNKED + b"2\r\nab\r", [200, b"ab", CUT]),
    "H13 cut in a head": (["GET"], OK, [Raw(OK)]),
    "nothing": (["GET"], b"", []),
    "an empty line": (["GET"], b"\r\n", []),
}  # fmt: skip


@pytest.mark.parametrize(("methods", "stream", "words"), RESPONSES.values(), ids=RESPONSES)
def test_responses(methods, stream, words):
    for reads in cuts(stream):
        assert told(responses(reads, *methods, ends=True)) == words


def test_answers_are_paired_with_requests():
    pending = pending_of("GET", "HEAD")
    first, second = pending
    reader = ResponseReader(pending)
    events: list[Any] = reader.feed(b"HTTP/1.1 100 A B\r\nA: 1\r\n\r\n")
    assert [event.request for event in events] == [first]
    assert list(pending) == [first, second]
    events += reader.feed((OK + b"Content-Length: 0\r\n\r\n") * 3)
    assert [event.request for event in events if not isinstance(event, End)] == [
        first, first, second, None,
    ]  # fmt: skip
    head = events[0]
    assert (head.status, head.reason, head.version) == (100, b"A B", b"1.1")
    assert (head.raw, head.headers) == (b"HTTP/1.1 100 A B\r\nA: 1\r\n\r\n", [(b"A", b"1")])


SWITCHES = {
    "101 to an upgrade": ("get", 101, False, True),
    "200 to an upgrade": ("get", 200, False, False),
    "100 to an upgrade": ("get", 100, True, False),
    "101 to a CONNECT": ("CONNECT", 101, False, True),
    "200 to a CONNECT": ("CONNECT", 200, False, True),
    "103 to a CONNECT": ("CONNECT", 103, True, False),
    "300 to a CONNECT": ("CONNECT", 300, False, False),
    "101 to a GET": ("GET", 101, False, False),
    "199 to a GET": ("GET", 199, True, False),
}


@pytest.mark.parametrize(
    ("method", "status", "is_interim", "switches"), SWITCHES.values(), ids=SWITCHES
)
def test_switches(method, status, is_interim, switches):
    head = responses([b"HTTP/1.1 %d\r\n\r\n" % status], method)[0]
    assert (head.is_interim, head.switches) == (is_interim, switches)


def test_nobody_asked_for_a_switch():
    head = responses([b"HTTP/1.1 101\r\n\r\n"])[0]
    assert (head.is_interim, head.switches) == (False, False)


def test_h13_a_reset_completes_nothing():
    reader = ResponseReader(pending_of("GET"))
    reader.feed(OK + b"\r\nab")
    assert reader.end(is_clean=False) == [CUT]
    assert reader.end() == []


def test_content_is_joined_within_a_read():
    reader = ResponseReader(pending_of("GET"))
    reader.feed(OK_CHUNKED + b"1\r\na\r\n2;x\r\nb")
    assert reader.feed(b"c\r\n1\r\nd\r\n1\r\ne\r\n") == [Body(b"cde")]
    assert reader.feed(b"1\r\n") == []
    assert reader.feed(b"f\r\n0\r\n\r\n") == [Body(b"f"), END]


# Linear time and little memory, however a stream comes

READ = 10**6
LARGE = {
    "a head": (40_000, 16, lambda size: b"GET / HTTP/1.1\r\nX: " + b"x" * size),
    "a first line": (40_000, 16, lambda size: b"GET /" + b"x" * size),
    "a method": (40_000, 16, lambda size: b"G" * size),
    "empty lines": (40_000, 16, lambda size: b"\r\n" * (size // 2)),
    "an extension": (40_000, 16, lambda size: CHUNKED + b"1;" + b"x" * size),
    "what waits": (40_000, 16, lambda size: UPGRADE + b"x" * size),
    "trailers": (10_000, 16, lambda size: CHUNKED + b"0\r\n" + b"A:\r\n" * (size // 4)),
    "fields": (20_000, READ, lambda size: b"GET / HTTP/1.1\r\n" + b"A:\n" * (size // 3) + b"\n"),
    "folds": (20_000, READ, lambda size: b"GET / HTTP/1.1\nA:" + b"\n b" * (size // 3) + b"\n\n"),
    "zeros": (40_000, READ, lambda size: CHUNKED + b"0" * size + b"?\r\n"),
    "blanks": (40_000, READ, lambda size: CHUNKED + b"1" + b" " * size + b"?\r\n"),
    "tiny chunks": (40_000, READ, lambda size: CHUNKED + b"1\r\nx\r\n" * (size // 6)),
    "requests": (20_000, READ, lambda size: GET * (size // len(GET))),
}  # fmt: skip


def seconds(stream, step):
    reader = RequestReader(deque(), mark)
    reads = [stream[i : i + step] for i in range(0, len(stream), step)]
    start = process_time()
    for read in reads:
        reader.feed(read)
    return process_time() - start


@pytest.mark.parametrize(("size", "step", "make"), LARGE.values(), ids=LARGE)
def test_time_is_linear(size, step, make):
    small = min(seconds(make(size), step) for _ in range(5))
    assert seconds(make(16 * size), step) < 100 * max(small, 0.0001)


def test_a_body_is_not_kept():
    reader = ResponseReader(pending_of("GET"))
    reader.feed(OK_CHUNKED + b"fffffffff\r\n")
    read = b"x" * 65536
    tracemalloc.start()
    for _ in range(100):
        reader.feed(read)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * len(read)
