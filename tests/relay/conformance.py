"""What HTTP and WebSocket peers do to each other: the cases that a relay must not be noticed in."""

import zlib

from tests.relay.scripts import (
    HEAD,
    Case,
    after,
    close,
    desert,
    dribble,
    fin,
    hear,
    hear_all,
    hear_end,
    hear_heads,
    hear_size,
    mark,
    rst,
    say,
    see,
)

GET = b"GET {base}/acp HTTP/1.1\r\nHost: {host}\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
BIG = bytes(range(256)) * 8192  # 2 MiB

POSTS = (
    b"POST {base}/one HTTP/1.1\r\nHost: {host}\r\nContent-Length: 48\r\n\r\n"
    b"GET /none HTTP/1.1\r\nHost: elsewhere.example\r\n\r\nx"
    b"GET {base}/two?q=1 HTTP/1.1\r\nhost:{host}\r\n\r\n"
    b"POST {base}/three HTTP/1.1\r\nHOST:  {host}\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nGET /\r\n0\r\n\r\n"
)
THREE = OK + b"HTTP/1.1 204 No Content\r\n\r\n" + OK

UPGRADE = (
    b"GET {base}/acp HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n"
)
SWITCH = (
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
)


def frame(
    opcode: int, data: bytes, *, fin: bool = True, rsv1: bool = False, mask: bytes = b""
) -> bytes:
    """Return a WebSocket frame."""
    head = bytes([fin << 7 | rsv1 << 6 | opcode])
    flag = 0x80 if mask else 0
    if len(data) < 126:
        head += bytes([flag | len(data)])
    elif len(data) < 65536:
        head += bytes([flag | 126]) + len(data).to_bytes(2, "big")
    else:
        head += bytes([flag | 127]) + len(data).to_bytes(8, "big")
    if mask.strip(b"\0"):
        data = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
    return head + mask + data


def deflated(*messages: bytes) -> list[bytes]:
    """Return messages compressed with one context."""
    coder = zlib.compressobj(wbits=-15)
    return [
        (coder.compress(data) + coder.flush(zlib.Z_SYNC_FLUSH)).removesuffix(b"\0\0\xff\xff")
        for data in messages
    ]


MASK = b"\x01\x80\xfe\x7f"
HELLO = b'{"jsonrpc":"2.0","id":1,"method":"initialize"}'
_ONE, _TWO = deflated(HELLO, HELLO)

CLIENT_FRAMES = (
    frame(1, HELLO, mask=MASK)
    + frame(1, b'{"a"', fin=False, mask=MASK)
    + frame(9, b"are you there", mask=MASK)
    + frame(0, b":1}", mask=MASK)
    + frame(2, bytes(range(256)), mask=MASK)
    + frame(1, _ONE, rsv1=True, mask=MASK)
    + frame(1, _TWO, rsv1=True, mask=MASK)
    + frame(1, b"x" * 70_000, mask=MASK)
)
AGENT_FRAMES = (
    frame(10, b"are you there")
    + frame(1, _ONE, rsv1=True)
    + frame(1, _TWO, rsv1=True)
    + frame(1, b"y" * 70_000, fin=False)
    + frame(0, b"")
    + frame(0, b"z")
    + frame(8, b"\x11\x34session gone \xc3\xa9")
)
CLOSE = frame(8, b"\x11\x34", mask=MASK)
TAIL = AGENT_FRAMES[-16:]


def head_of(name: bytes, *lines: bytes) -> bytes:
    return b"\r\n".join([name, *lines, b"", b""])


LONG = head_of(
    b"GET {base}/acp HTTP/1.1", b"Host: {host}", b"X-Long: " + b"l" * 60_000, b"X-Last: \xe9"
)

CASES = {
    "bytes above 0x7f in headers": Case(
        (say(head_of(b"GET {base}/acp HTTP/1.1", b"Host: {host}", b"X-Name: caf\xe9 \xff")),
         HEAD, fin, hear_end),
        (HEAD, say(head_of(b"HTTP/1.1 204 Tr\xe8s bien", b"X-Back: \xe9\xe8")), hear_end, close),
    ),
    "a header of 60 KB": Case(
        (say(LONG), hear(b"ok"), fin, hear_end),
        (HEAD, say(head_of(b"HTTP/1.1 200 OK", b"X-Long: " + b"L" * 60_000, b"Content-Length: 2")),
         say(b"ok"), hear_end, close),
    ),
    "escaped targets": Case(
        (say(b"POST {base}/base/a%2Fb%21%28c%29//x/?sig=Ab%2Fc%3D&sp=a+b%20c&empty=&y&q=%C3%A9"
             b" HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n"),
         hear(b"ok"), fin, hear_end),
        (HEAD, say(OK), hear_end, close),
    ),
    "chunk extensions and trailers": Case(
        (say(b"POST {base}/acp HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n"
             b"5;pad=x\r\n0\r\n\r\n\r\n0;q=1\r\nX-Sum: 9\r\n\r\n"),
         hear(b"X-Sum: 9\r\n\r\n"), say(GET), hear(b"ok"), fin, hear_end),
        (hear(b"X-Sum: 9\r\n\r\n"),
         say(CHUNKED + b"5;pad=x\r\n0\r\n\r\n\r\n3\r\n0\r\n\r\n0;q=1\r\nX-Sum: 9\r\n\r\n"),
         HEAD, say(OK), hear_end, close),
    ),
    "an answer whose head has bare line feeds": Case(
        (say(GET), hear(b"ok"), say(GET), hear(b"ok"), fin, hear_end),
        (HEAD, say(OK.replace(b"\r\n", b"\n")), HEAD, say(OK), hear_end, close),
    ),
    "a body that ends with the connection": Case(
        (say(GET), hear_end),
        (HEAD, say(b"HTTP/1.1 200 OK\r\n\r\n"), say(BIG), close),
    ),
    "HEAD": Case(
        (say(GET.replace(b"GET", b"HEAD")), HEAD, say(GET), hear(b"ok"), fin, hear_end),
        (HEAD, say(OK.removesuffix(b"ok")), HEAD, say(OK), hear_end, close),
    ),
    "204 and 304 on a connection that goes on": Case(
        (say(GET), HEAD, say(GET), HEAD, say(GET), hear(b"ok"), fin, hear_end),
        (HEAD, say(b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n"),
         HEAD, say(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n"),
         HEAD, say(OK), hear_end, close),
    ),
    "HTTP/1.0 without Host": Case(
        (say(b"GET {base}/acp HTTP/1.0\r\n\r\n"), hear_end),
        (HEAD, say(b"HTTP/1.0 200 OK\r\n\r\nbye"), close),
    ),
    "a target in absolute form": Case(
        (say(b"GET {scheme}://{host}{base}/acp?a=1 HTTP/1.1\r\nHost: {host}\r\n\r\n"),
         hear(b"ok"), fin, hear_end),
        (HEAD, say(OK), hear_end, close),
    ),
    "OPTIONS *": Case(
        (say(b"OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n"), hear(b"ok"), fin, hear_end),
        (HEAD, say(OK), hear_end, close),
    ),
    "100, 103 and 2 MB": Case(
        (say(b"POST {base}/acp HTTP/1.1\r\nHost: {host}\r\nExpect: 100-continue\r\n"
             b"Content-Length: %d\r\n\r\n" % len(BIG)),
         hear(b"100 Continue\r\n\r\n"), say(BIG), hear(b"ok"), fin, hear_end),
        (HEAD, say(b"HTTP/1.1 100 Continue\r\n\r\n"), hear_size(len(BIG)),
         say(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"), say(OK), hear_end, close),
    ),
    "413 before the body": Case(
        (say(b"POST {base}/acp HTTP/1.1\r\nHost: {host}\r\nExpect: 100-continue\r\n"
             b"Content-Length: %d\r\n\r\n" % len(BIG)),
         HEAD, fin, hear_end),
        (HEAD, say(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"), hear_end, close),
    ),
    "413 in the middle of the body": Case(
        (say(b"POST {base}/acp HTTP/1.1\r\nHost: {host}\r\nContent-Length: %d\r\n\r\n" % len(BIG)),
         say(BIG[:100]), HEAD, hear_end),
        (hear_heads(1), say(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"),
         fin, hear_all(BIG[:100]), close),
    ),
    "three requests at once, one with a body that looks like a request": Case(
        (say(POSTS), hear(THREE), fin, hear_end),
        (hear(b"0\r\n\r\n"), say(THREE), hear_end, close),
    ),
    "the same byte by byte": Case(
        (dribble(POSTS), hear(THREE), fin, hear_end),
        (hear(b"0\r\n\r\n"), dribble(THREE), hear_end, close),
    ),
    "a client that ends what it sends": Case(
        (say(GET), fin, hear_end),
        (HEAD, hear_end, say(CHUNKED), say(b"3\r\nabc\r\n0\r\n\r\n"), close),
    ),
    "a server that ends what it sends": Case(
        (say(b"POST {base}/acp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n\r\n"),
         hear_end, say(b"still me!"), fin),
        (HEAD, say(OK), fin, hear(b"still me!"), hear_end, close),
    ),
    "a client that resets": Case(
        (say(GET), hear_all(b"abc\r\n"), rst),
        (HEAD, say(CHUNKED), say(b"3\r\nabc\r\n"), hear_end),
    ),
    "a server that resets": Case(
        (say(GET), hear_all(b"abc\r\n"), mark("a"), hear_end),
        (HEAD, say(CHUNKED), say(b"3\r\nabc\r\n"), after("a"), rst),
    ),
    "a client that closes without reading all": Case(
        (say(GET), see, desert),
        (HEAD, say(CHUNKED), hear_end),
    ),
    "a server that closes without reading all": Case(
        (say(GET), hear(b"ok"), say(GET), hear_end),
        (HEAD, say(OK), see, desert),
    ),
    "a head in small pieces": Case(
        (dribble(GET + LONG[:300] + b"\r\n\r\n", 3), hear(OK + OK), fin, hear_end),
        (hear(b"lll\r\n\r\n"), say(OK + OK), hear_end, close),
    ),
    "no HTTP": Case(
        (say(b"\x00\x01\x02 hello\r\n"), hear(b"?"), say(b"more\xff"), fin, hear_end),
        (hear(b"hello\r\n"), say(b"\xff what?"), hear_end, close),
        verbatim=True,
    ),
    "both Transfer-Encoding and Content-Length": Case(
        (say(b"POST {base}/acp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\n"
             b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n"),
         hear(b"ok"), fin, hear_end),
        (hear(b"Host: a\r\n\r\n"), say(OK), hear_end, close),
        verbatim=True,
    ),
    "an upgrade that is refused, and a request right behind it": Case(
        (say(UPGRADE + GET), hear(b"ok"), fin, hear_end),
        (HEAD, say(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nno!\n"),
         hear_heads(2), say(OK), hear_end, close),
    ),
    "WebSocket": Case(
        (say(UPGRADE), HEAD, say(CLIENT_FRAMES), hear_all(TAIL), say(CLOSE), hear_end),
        (HEAD, say(SWITCH), hear_all(CLIENT_FRAMES[-100:]), say(AGENT_FRAMES), hear_all(CLOSE),
         close),
    ),
    "CONNECT": Case(
        (say(b"CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n"),
         HEAD, say(b"\x16\x03\x01"), hear(b"\x16\x03\x03"), fin, hear_end),
        (HEAD, say(b"HTTP/1.1 200 Connected\r\n\r\n"), hear(b"\x16\x03\x01"),
         say(b"\x16\x03\x03"), hear_end, close),
        verbatim=True,
    ),
    "HTTP/2 without asking": Case(
        (say(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"),
         hear(b"\x00\x00\x00\x00"), fin, hear_end),
        (hear(b"\x00\x00\x00\x00"), say(b"\x00\x00\x00\x04\x01\x00\x00\x00\x00"), hear_end, close),
        verbatim=True,
    ),
}  # fmt: skip
