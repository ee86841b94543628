"""What users reported of other proxies, as bytes; the names begin with the report's number."""

import gzip
import zlib

from tests.relay.conformance import (
    CHUNKED,
    GET,
    MASK,
    OK,
    SWITCH,
    UPGRADE,
    deflated,
    frame,
    head_of,
)
from tests.relay.scripts import (
    HEAD,
    Case,
    Step,
    after,
    close,
    fin,
    hear,
    hear_all,
    hear_end,
    hear_heads,
    hear_out,
    hear_size,
    hear_total,
    mark,
    rst,
    say,
)

NO_MASK = bytes(4)
MIB = 1024 * 1024


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(number: int) -> bytes:
    return chunk(b'data: {"n":%d}\n\n' % number)


def posted(body: bytes, *lines: bytes) -> bytes:
    head = head_of(
        b"POST {base}/acp HTTP/1.1", b"Host: {host}", *lines, b"Content-Length: %d" % len(body)
    )
    return head + body


def answered(answer: bytes, request: bytes = GET) -> Case:
    """Return the case of one request and its answer, on a connection that then ends in order."""
    return Case(
        (say(request), hear_size(len(answer)), fin, hear_end),
        (hear_out(request), say(answer), hear_end, close),
    )


def broken(answer: bytes, end: Step) -> Case:
    """Return the case of an answer that ends before its time."""
    return Case(
        (say(GET), hear_size(len(answer)), mark("read"), hear_end),
        (HEAD, say(answer), after("read"), end),
    )


def in_lockstep(events: list[bytes]) -> Case:
    """Return the case of an event stream each of whose events is read before the next is sent."""
    client: list[Step] = [say(GET), HEAD, mark("head")]
    agent: list[Step] = [HEAD, say(CHUNKED), after("head")]
    for number, data in enumerate(events):
        client += [hear(data), mark(f"event {number}")]
        agent += [say(data), after(f"event {number}")]
    return Case((*client, fin, hear_end), (*agent, hear_end, close))


def upgraded(client: bytes, agent: bytes, *, switch: bytes = SWITCH) -> Case:
    """Return the case of frames both ways, of which the last are the closing ones."""
    bye = frame(8, b"", mask=MASK)
    return Case(
        (say(UPGRADE), hear_heads(1), say(client), hear_total(len(switch + agent)), say(bye),
         hear_end),
        (HEAD, say(switch), hear_size(len(client)), say(agent), hear_all(bye), close),
    )  # fmt: skip


def line_of(size: int) -> Case:
    data = chunk(b"data: " + b"x" * (size - 6) + b"\n\n") + event(2) + b"0\r\n\r\n"
    return answered(CHUNKED + data)


HEADERS = head_of(
    b"HTTP/1.1 204 No Content",
    b"Set-Cookie: a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
    b"Set-Cookie: b=2",
    b"Via: 1.1 one",
    b"Via: 1.1 two",
    b"X-Empty:",
    b"X-Latin: \xe9",
    b"aCp-Connection-ID: c1",
    b"X-Long: " + b"l" * 9_000,
    b"Keep-Alive: timeout=5",
)
EVENT = b'data: {"n":1}\n\n'
_GZIP = zlib.compressobj(wbits=31)
GZIPPED_EVENTS = [
    chunk(_GZIP.compress(EVENT) + _GZIP.flush(zlib.Z_SYNC_FLUSH)) for _ in range(3)
]  # fmt: skip
INSIDE = CHUNKED + chunk(b"0\r\n\r\n0\r\n") + b"5;pad=x\r\nab\r\nc\r\n0;q=1\r\nX-Sum: 9\r\n\r\n"
PLAIN_SWITCH = SWITCH.replace(b"Sec-WebSocket-Extensions: permessage-deflate\r\n", b"")
NO_TAKEOVER = SWITCH.replace(
    b"permessage-deflate",
    b"permessage-deflate; client_no_context_takeover; server_no_context_takeover",
)
TEXT = '{"jsonrpc":"2.0","method":"x","params":"é"}'.encode()
AT = TEXT.index(b"\xc3") + 1
_ONCE = deflated(TEXT)[0]
FIFTY = b"".join(frame(1, b'{"n":%d}' % number) for number in range(50))
FIFTY_MASKED = b"".join(frame(1, b'{"n":%d}' % number, mask=MASK) for number in range(50))
FRAGMENTS = (
    frame(1, b"x", fin=False, mask=MASK)
    + b"".join(frame(0, b"y%d" % number, fin=False, mask=MASK) for number in range(298))
    + frame(0, b"z", mask=MASK)
)

REPORTED = {
    "H1 events are not gathered": in_lockstep([event(number) for number in range(10)]),
    "H4 a line of 524,280 bytes": line_of(524_280),
    "H4 a line of 524,300 bytes": line_of(524_300),
    "H5 a body of 1 MiB": answered(OK, posted(b"A" * MIB)),
    "H5 a body of 1 MiB and a byte": answered(OK, posted(b"A" * (MIB + 1))),
    "H6 gzip with a length": answered(
        head_of(
            b"HTTP/1.1 200 OK",
            b"Content-Encoding: gzip",
            b"Content-Length: %d" % len(gzip.compress(TEXT, mtime=0)),
        )
        + gzip.compress(TEXT, mtime=0)
    ),
    "H6 gzip flushed for each event": in_lockstep(GZIPPED_EVENTS),
    "H6 br, and deflate in gzip": answered(
        head_of(b"HTTP/1.1 200 OK", b"Content-Encoding: br", b"Content-Length: 3")
        + b"\x8b\x00\x80"
    ),
    "H6 a request in gzip": answered(
        OK, posted(gzip.compress(TEXT, mtime=0), b"Content-Encoding: gzip")
    ),
    "H8 repeated, empty, long and odd headers": answered(
        HEADERS,
        head_of(b"GET {base}/acp HTTP/1.1", b"Host: {host}", b"Cookie: a=1", b"Cookie: b=2",
                b"X-Empty:", b"x-LATIN:\xe9", b"TE: trailers", b"Connection: TE, close-not"),
    ),
    "H10 a target with escapes": answered(
        OK,
        b"POST {base}/base/a%2Fb%21%28c%29//x/?sig=Ab%2Fc%3D&sp=a+b%20c&empty=&y&q=%C3%A9 HTTP/1.1"
        b"\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n",
    ),
    **{
        f"H11 a redirect with {status}": answered(
            b"HTTP/1.1 %d Moved\r\nLocation: http://internal:9/acp/?k=1\r\n"
            b"Content-Length: 4\r\n\r\ngone" % status,
            posted(b"{}"),
        )
        for status in (302, 307, 308)
    },
    "H12 a client that resets an event stream": Case(
        (say(GET), hear_size(len(CHUNKED + event(1) + event(2))), rst),
        (HEAD, say(CHUNKED + event(1) + event(2)), hear_end),
    ),
    "H12 a client that leaves before the first byte": Case(
        (say(GET), after("asked"), rst),
        (HEAD, mark("asked"), hear_end),
    ),
    "H12 a client that half-closes an event stream": Case(
        (say(GET), hear_size(len(CHUNKED + event(1))), fin, hear_end),
        (HEAD, say(CHUNKED + event(1)), hear_end, say(event(2) + b"0\r\n\r\n"), close),
    ),
    "H13 a reset after three events": broken(CHUNKED + event(1) + event(2) + event(3), rst),
    "H13 an end without the last chunk": broken(CHUNKED + event(1), close),
    "H13 an end before Content-Length": broken(
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + b"x" * 200, close
    ),
    "H13 an end in the middle of an event": broken(CHUNKED + chunk(b'data: {"ty'), close),
    "H14 100 and then 202": Case(
        (say(posted(b"", b"Expect: 100-continue").replace(b": 0\r", b": 3\r")),
         hear(b"Continue\r\n\r\n"), say(b"abc"), hear(b"ok"), fin, hear_end),
        (HEAD, say(b"HTTP/1.1 100 Continue\r\n\r\n"), hear(b"abc"),
         say(OK.replace(b"200 OK", b"202 Accepted")), hear_end, close),
    ),
    "H14 413 at once": Case(
        (say(posted(b"", b"Expect: 100-continue").replace(b": 0\r", b": 3\r")), HEAD, fin,
         hear_end),
        (HEAD, say(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"), hear_end, close),
    ),
    "H15 a connection that the server ends after its answer": Case(
        (say(GET), hear_end, say(posted(b"{}")), fin),
        (HEAD, say(OK), fin, hear_all(b"{}"), hear_end, close),
    ),
    "H18 chunks that look like the last one": Case(
        (say(GET), hear_size(len(INSIDE)), say(INSIDE.replace(CHUNKED, b"POST {base}/acp HTTP/1.1"
         b"\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n")), hear(b"ok"), fin, hear_end),
        (HEAD, say(INSIDE), hear(b"X-Sum: 9\r\n\r\n"), say(OK), hear_end, close),
    ),
    "W1 a message in 300 frames": upgraded(FRAGMENTS, b""),
    **{
        f"W2 {name}": upgraded(b"", frame(8, payload))
        for name, payload in {
            "4404 and a reason": b"\x11\x34session gone \xc3\xa9",
            "no code": b"",
            "a reason of 123 bytes": b"\x03\xe8" + b"r" * 123,
        }.items()
    },
    "W2 a client that closes with 1001": upgraded(
        frame(8, b"\x03\xe9", mask=MASK), frame(8, b"\x03\xe9")
    ),
    "W4 fifty messages and a close at once": upgraded(
        FIFTY_MASKED + frame(8, b"\x03\xe8", mask=MASK), FIFTY + frame(8, b"\x03\xe8")
    ),
    "W5 no compression, though the client asks": upgraded(
        frame(1, TEXT, mask=MASK), frame(1, TEXT), switch=PLAIN_SWITCH
    ),
    "W5 compression without takeover": upgraded(
        frame(1, _ONCE, rsv1=True, mask=MASK) * 2, frame(1, _ONCE, rsv1=True) * 2,
        switch=NO_TAKEOVER,
    ),
    "W5 a character in two frames, a binary message, a long ping": upgraded(
        frame(1, TEXT[:AT], fin=False, mask=MASK) + frame(0, TEXT[AT:], mask=MASK),
        frame(2, TEXT) + frame(9, b"p" * 125) + frame(1, TEXT[:AT], fin=False)
        + frame(0, TEXT[AT:]),
    ),
}  # fmt: skip

LARGE = {
    "H4 a line of 20 MB": line_of(20_000_000),
    "H5 a body of 30 MB": answered(OK, posted(b"A" * 30_000_000)),
    "H5 a body of 30 MB in chunks": answered(
        OK,
        b"POST {base}/acp HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n"
        + chunk(b"A" * 60_000) * 500 + b"0\r\n\r\n",
    ),
    **{
        f"W1 messages of {size:,} bytes": upgraded(
            frame(1, b"x" * size, mask=NO_MASK), frame(1, b"y" * size)
        )
        for size in (4_194_303, 4_194_304, 20_000_000)
    },
}  # fmt: skip
