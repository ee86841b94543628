"""The rules of HTTP and WebSocket, each with traffic that keeps it and traffic that breaks it."""

from tests.tap.sockets import agree, close_frame, frame
from tests.tap.wires import (
    INITIALIZE,
    INITIALIZED,
    LAST,
    STREAM,
    A,
    Recorded,
    chunk,
    initialized,
    post,
    request,
    response,
    rpc,
)

PING = b'{"jsonrpc":"2.0","method":"$/x"}'
CANCEL = rpc(method="session/cancel", params={"sessionId": "s"})


def connected(act):
    """Traffic on an open ACP connection."""

    def run():
        recorded = Recorded()
        line = recorded.line()
        initialized(line)
        act(line)
        line.close()
        return recorded.rules

    return run


def exchanged(asked, *answers):
    def act(line):
        line.client(asked)
        for answer in answers:
            line.agent(answer)

    return connected(act)


def streamed(*data, **headers):
    asked = request("GET", Acp_Connection_Id="c1", **headers)
    return exchanged(asked, STREAM, *data)


def cut(line):
    line.client(request("GET", "/x"))
    line.agent(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha")
    line.end(A)


def answered(**headers):
    def run():
        recorded = Recorded()
        line = recorded.line()
        line.client(post(INITIALIZE))
        line.agent(response(200, INITIALIZED.encode(), **headers))
        return recorded.rules

    return run


def socket(*messages):
    def run():
        recorded = Recorded()
        line = recorded.line()
        line.client(request("GET", Upgrade="websocket"))
        line.agent(agree())
        line.client(frame(INITIALIZE, mask=b"mask"))
        for message in messages:
            line.agent(message)
        return recorded.rules

    return run


def unreachable(line):
    line.client(request("GET", "/x"))
    line.unreachable("connection refused", response(502))


def pieces(limit):
    def act(line):
        line.client(request("POST", "/x", b"x" * limit)[:-1])
        line.client(b"x")

    return connected(act)


TEXT = b"data: " + PING + b"\n\n"
ASKED = post(CANCEL, Acp_Connection_Id="c1", Acp_Session_Id="s")
STREAM_ASKED = request("GET", Acp_Connection_Id="c1")

PAIRS = {
    "http/not-json": (streamed(chunk(TEXT)), streamed(chunk(b"data: hello\n\n"))),
    "http/not-json, a body": (
        exchanged(ASKED, response(404, b"not found")),
        exchanged(ASKED, response(200, b"fine")),
    ),
    "http/unframed": (streamed(chunk(TEXT)), streamed(chunk(PING + b"\n\n"))),
    "http/half-event": (streamed(chunk(TEXT), LAST), streamed(chunk(TEXT[:-1]), LAST)),
    "http/oversize": (pieces(1024), pieces(8 * 1024 * 1024 + 2)),
    "http/refused": (exchanged(ASKED, response(202)), exchanged(ASKED, response(500))),
    "http/fatal-status": (exchanged(ASKED, response(500)), exchanged(ASKED, response(404))),
    "http/fatal-status, of a stream": (
        exchanged(STREAM_ASKED, response(409)),
        exchanged(STREAM_ASKED, response(404)),
    ),
    "http/second-receiver": (
        exchanged(STREAM_ASKED, response(404)),
        exchanged(STREAM_ASKED, response(409)),
    ),
    "http/no-connection-id": (answered(Acp_Connection_Id="c1"), answered()),
    "edge 52 http/no-session-id": (
        exchanged(ASKED, response(202)),
        exchanged(post(CANCEL, Acp_Connection_Id="c1"), response(202)),
    ),
    "H19 http/stream-lost": (streamed(chunk(TEXT)), streamed(chunk(TEXT), LAST)),
    "H13 http/cut": (exchanged(request("GET", "/x"), response(200, b"half")), connected(cut)),
    "H11 http/past-proxy": (
        exchanged(request("GET", "/x"), response(302, Location="/y")),
        exchanged(request("GET", "/x"), response(302, Location="http://127.0.0.1:9000/y")),
    ),
    "H6 http/coding": (
        exchanged(request("GET", "/x"), response(200, b"x", Content_Encoding="identity")),
        exchanged(request("GET", "/x"), response(200, b"x", Content_Encoding="br")),
    ),
    "http/opaque": (
        exchanged(request("GET", "/x")),
        exchanged(b"GET /x HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ),
    "http/unreachable": (exchanged(request("GET", "/x"), response(502)), connected(unreachable)),
    "websocket/not-json": (socket(frame(PING)), socket(frame("hello"))),
    "websocket/binary": (socket(frame(PING)), socket(frame(PING, 2))),
    "W5 websocket/not-utf8": (socket(frame("ü")), socket(frame(b"\xff"))),
    "W2 websocket/abnormal-close": (
        socket(close_frame(4404, "gone")),
        socket(close_frame(1011, "")),
    ),
}
