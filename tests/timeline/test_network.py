"""Rows of what was recorded on the network: HTTP and WebSocket around the messages, and beside."""

import json

import pytest

from acptap.app.show.glyphs import PLAIN
from acptap.app.show.layout import Layout
from acptap.cassette import Header, decode_entry
from acptap.errors import UsageError
from acptap.notes import Severity
from acptap.timeline import exchanges
from acptap.timeline.folding import Folding
from acptap.timeline.rows import LANES, Timeline
from acptap.timeline.selection import Selection, compile_pattern, find_sessions
from acptap.timeline.sieve import Sieve
from tests.tap.sockets import agree, close_frame, frame, refuse
from tests.tap.test_network import DONE, HI, NEW, NEWED, PROMPT, conversation
from tests.tap.wires import (
    INITIALIZE,
    INITIALIZED,
    LAST,
    STREAM,
    UPSTREAM,
    A,
    C,
    Recorded,
    chunk,
    event,
    initialized,
    post,
    request,
    response,
    rpc,
)

MASK = b"mask"
TEXT = {"Content_Type": "text/plain"}


def header(**members):
    known = {
        "protocol": "auto",
        "transport": "http",
        "recorded_at": "2026-11-30T16:00:00.000000Z",
        "upstream": UPSTREAM,
        "generator": "acptap 0.1.0",
    }
    return Header(**(known | members))


def decoded(*lines):
    return [decode_entry(line.encode(), number, 0, "x") for number, line in enumerate(lines, 2)]


def rows_of(entries):
    timeline = Timeline()
    return [timeline.row(entry) for entry in entries]


def drawn(entries, *, all_rows=True):
    """The rows as they are drawn, without times, once the sieve has let them through."""
    timeline, layout, sieve, rows = Timeline(), Layout(PLAIN, None), Sieve(is_open=all_rows), []
    for entry in entries:
        rows += sieve.add(timeline.row(entry))
    layout.fit(timeline)
    lines = [layout.row(row, timeline.tracks) for row in rows + sieve.flush()]
    return ["".join(text for text, _ in line[1:]).strip() for line in lines], sieve.left_out


def passed(act):
    """Entries of traffic on an ACP connection, without its beginning."""
    recorded = Recorded()
    line = recorded.line()
    initialized(line)
    act(line)
    line.close()
    return recorded.entries


def said_by(row):
    """A drawn row from who on."""
    return row[min(row.index(name) for name in ("client ", "agent ") if name in row) :]


def told(act):
    """What rows say of traffic: who, the sign, and the rest."""
    rows, _ = drawn(passed(act))
    return [said_by(row) for row in rows[4:]]


def heads(ask, *answers):
    def act(line):
        line.client(ask)
        for answer in answers:
            line.agent(answer)

    return act


def block(*blocks, **headers):
    parts = [chunk(text.encode()) for text in blocks]
    return heads(request("GET", **headers), STREAM, *parts)


def socket(*data, answer=agree):
    def act(line):
        line.client(request("GET", Upgrade="websocket", Connection="Upgrade"))
        line.agent(answer())
        for side, part in data:
            line.client(part) if side is C else line.agent(part)

    return act


def upgrade(line):
    line.client(request("GET", "/x", Upgrade="h2c"))
    line.agent(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n")


def unreachable(line):
    line.client(post(NEW, Acp_Connection_Id="c1"))
    line.unreachable("connection refused", response(502, b"acptap: no", **TEXT))


def ending(*ends, **headers):
    def act(line):
        block(**headers)(line)
        for side, reason in ends:
            line.end(side, reason)

    return act


NO_FRAME = '"no frame begins with the byte 0xf3 here"'
ACP = {"Acp_Connection_Id": "c1"}
LOST = "[warning http/cut] [warning http/stream-lost stream="
ENDED = "client -- left the connection stream"
HTML = b"<html><style>a{}</style>\n<title>Oops</title>\n <p>It broke</html>"
POST_X = b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"

TOLD = {
    # Heads
    "a message": (
        heads(post(NEW, **ACP), response(202)),
        ["client -> POST /acp", "client -> session/new /w", "agent <- 202 to session/new"],
    ),
    "an answer to a request of the agent": (
        heads(post(rpc(7, result={}), **ACP), response(202)),
        ["client -> POST /acp", "client -> response to 7 [warning jsonrpc/unknown-id id=7]",
         "agent <- 202 to response"],
    ),
    "the connection stream": (
        heads(request("GET", **ACP), STREAM),
        ["client -> GET /acp (connection stream)",
         "agent <- 200 text/event-stream to GET /acp (connection stream)", ENDED],
    ),
    "the stream of a session that nobody knows yet": (
        heads(request("GET", Acp_Session_Id="s", Last_Event_ID="e3", **ACP),
              response(409, b"no", **TEXT)),
        ["client -> GET /acp (session stream, on from e3) of s",
         ("agent <- 409 text/plain to GET /acp (session stream, on from e3) of s "
          "[note http/second-receiver]"),
         'agent <- body text/plain, 2 bytes "no"'],
    ),
    "the end of a connection": (
        heads(request("DELETE", **ACP), response(202)),
        ["client -> DELETE /acp (end of the connection)", "agent <- 202 to DELETE /acp"],
    ),
    "another method": (
        heads(request("PUT", **ACP), response(405)),
        ["client -> PUT /acp", "agent <- 405 to PUT /acp"],
    ),
    "a message that is refused": (
        heads(post(NEW, **ACP), response(503, HTML, Content_Type="text/html; charset=utf-8")),
        ["client -> POST /acp", "client -> session/new /w",
         "agent <- 503 text/html to session/new [warning http/refused status=503]",
         f'agent <- body text/html, {len(HTML)} bytes "Oops It broke"'],
    ),
    "a redirect": (
        heads(request("GET", "/x"), response(307, Location="/y")),
        ["client -> GET /x", "agent <- 307 to GET /x leads to /y"],
    ),
    "an interim answer": (
        heads(request("GET", "/x"), b"HTTP/1.1 103 Early Hints\r\n\r\n", response(204)),
        ["client -> GET /x", "agent <- 103 to GET /x", "agent <- 204 to GET /x"],
    ),
    "a switch to what nobody reads": (
        upgrade, ["client -> GET /x", "agent <- 101 h2c"],
    ),
    "an answer that nobody asked for": (
        lambda line: line.agent(response(200)),
        ["client -> something that is not HTTP", "agent <- 200"],
    ),
    # Bodies
    "JSON that is not ACP": (
        heads(request("POST", "/x", b'{"method":"_call","id":1}'), response(200, b"[1,\n 2]")),
        ["client -> POST /x", 'client -> body application/json, 25 bytes {"method":"_call","id":1}',
         "agent <- 200 to POST /x", "agent <- body 7 bytes [1, 2]"],
    ),
    "text": (
        heads(request("GET", "/x"), response(200, b"o" * 1200, **TEXT)),
        ["client -> GET /x", "agent <- 200 text/plain to GET /x",
         f'agent <- body text/plain, 1,200 bytes "{"o" * 117}..."'],
    ),
    "a body that is no text": (
        heads(request("GET", "/x"), response(200, b"\xff", Content_Type="image/png")),
        ["client -> GET /x", "agent <- 200 image/png to GET /x", "agent <- body image/png, 1 byte"],
    ),
    "a body that can't be inflated": (
        heads(request("GET", "/x"), response(200, b"no gzip", Content_Encoding="gzip")),
        ["client -> GET /x", "agent <- 200 to GET /x",
         "agent -- sends a body that can't be inflated [note http/coding]",
         'agent <- body 7 bytes "no gzip"'],
    ),
    "trailers": (
        heads(POST_X + b"1\r\nA\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n", response(204)),
        ["client -> POST /x", 'client -> body 1 byte "A"', "client -> trailers X-A: 1, X-B: 2",
         "agent <- 204 to POST /x"],
    ),
    # Event streams
    "a comment": (block(": keep\n: alive\n\n", **ACP), 'agent <- comment "keep alive"'),
    "priming": (block("id: a:0\nretry: 3000\ndata: \n\n", **ACP),
                "agent <- event id a:0 retry 3000 without data"),
    "a ping": (block("event: ping\ndata: keep\n\n", **ACP), 'agent <- event ping "keep"'),
    "an event that is no JSON": (
        block("data: oops\n\n", **ACP), 'agent <- event "oops" [warning http/not-json]',
    ),
    "an event of something else": (
        block('data: {"type":"RUN_STARTED"}\n\n'), 'agent <- event {"type":"RUN_STARTED"}',
    ),
    "a message in a block of another form": (
        block(f"data:{HI}\n\n", **ACP),
        'agent <- agent_message_chunk "hi" [warning acp/unknown-session]',
    ),
    "JSON that is no message": (
        block("data: 5\n\n", **ACP),
        "agent <- malformed (not an object) 5 [violation jsonrpc/malformed why=\"not an object\"]",
    ),
    "what is no event": (
        block('{"error":{}}\n\n', **ACP), 'agent <- block {"error":{}} [warning http/unframed]',
    ),
    "a block of nothing": (block("\n", **ACP), "agent <- block without anything in it"),
    # Ends
    "the agent ends a stream": (
        heads(request("GET", **ACP), STREAM, LAST),
        "agent -- ended the connection stream [warning http/stream-lost stream=connection]",
    ),
    "the agent ends another stream": (
        heads(request("GET", "/x"), STREAM, LAST), "agent -- ended the event stream",
    ),
    "the agent resets a stream": (
        ending((A, "reset"), **ACP), f"agent -- reset the connection stream {LOST}connection]",
    ),
    "the agent cuts a stream off": (
        ending((A, ""), Acp_Session_Id="t", **ACP),
        f"agent -- cut off the session stream of t {LOST}session]",
    ),
    "the client leaves": (ending((C, ""), (A, ""), **ACP), ENDED),
    "the client leaves what is no stream": (
        heads(request("GET", "/x")), "client -- left GET /x",
    ),
    "the agent is not there": (
        unreachable,
        ["client -> POST /acp", "client -> session/new /w",
         "agent -- unreachable: connection refused [warning http/unreachable]",
         "agent <- 502 text/plain to session/new [warning http/refused status=502]",
         'agent <- body text/plain, 10 bytes "acptap: no"'],
    ),
    # WebSocket
    "a socket": (
        socket((C, frame(INITIALIZE, mask=MASK)), (A, frame(INITIALIZED))),
        ["client -> GET /acp (WebSocket)", "agent <- 101 websocket", "client -> initialize v1",
         "agent <- initialize result v1"],
    ),
    "a socket that is refused": (
        socket(answer=refuse),
        ["client -> GET /acp (WebSocket)",
         "agent <- 403 to GET /acp (WebSocket) [warning http/fatal-status status=403]"],
    ),
    "a ping and its pong": (
        socket((A, frame(b"hey", 9)), (C, frame(b"hey", 10, mask=MASK))),
        ["client -> GET /acp (WebSocket)", "agent <- 101 websocket", 'agent <- ping "hey"',
         'client -> pong "hey"'],
    ),
    "an end with a code of its own": (
        socket((A, close_frame(4404, "session gone")), (C, frame(b"", 8, mask=MASK))),
        ["client -> GET /acp (WebSocket)", "agent <- 101 websocket",
         'agent <- close 4404 "session gone"', "client -> close"],
    ),
    "messages that are none": (
        socket((A, frame("hi")), (A, frame(b"{}", 2)), (A, frame(b"\xff"))),
        ["client -> GET /acp (WebSocket)", "agent <- 101 websocket",
         'agent <- message "hi" [warning websocket/not-json]',
         "agent <- message binary, 2 bytes [warning websocket/binary]",
         'agent <- message "\\xff" [violation websocket/not-utf8]'],
    ),
    "a socket that is no WebSocket": (
        socket((A, b"\xf3\x00junk")),
        ["client -> GET /acp (WebSocket)", "agent <- 101 websocket",
         f"agent -- passes unread from here on [note http/opaque why={NO_FRAME}]",
         'agent <- raw 6 bytes "\\xf3\\x00junk"'],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("act", "said"), TOLD.values(), ids=TOLD)
def test_what_passes_is_told(act, said):
    rows = told(act)
    if isinstance(said, str):  # of a stream: the row of the block, or of the end
        assert said in rows
    else:
        assert rows == said


def ends(*ends):
    recorded = Recorded()
    line = recorded.line()
    socket()(line)
    for end in ends:
        end(line)
    return drawn(recorded.entries, all_rows=False)


def says(side):
    if side is C:
        return lambda line: line.client(close_frame(1000, "", mask=MASK))
    return lambda line: line.agent(close_frame(1000, ""))


def goes(side, reason=""):
    return lambda line: line.end(side, reason)


SOCKET_ENDS = {
    "each said so": (
        [says(A), says(C), goes(C), goes(A)], ["agent <- close 1000", "client -> close 1000"], 2,
    ),
    "one of them did": (
        [says(A), goes(A), goes(C)], ["agent <- close 1000", "client -- ended the WebSocket"], 1,
    ),
    "nobody did": ([goes(A), goes(C)], ["agent -- ended the WebSocket",
                                       "client -- ended the WebSocket"], 0),
    "it broke": ([goes(A, "reset")], ["agent -- reset the WebSocket"], 0),
}  # fmt: skip


@pytest.mark.parametrize(("how", "said", "left_out"), SOCKET_ENDS.values(), ids=SOCKET_ENDS)
def test_how_a_socket_ends(how, said, left_out):
    rows, count = ends(*how)
    assert [said_by(row) for row in rows[2:]] == said
    assert count == left_out


# What is left out

TURN = [
    "-   - client -> initialize v1",
    "-   -  agent <- initialize result v1",
    "-   - client -> session/new /w",
    ".  s1  agent <- session/new result s",
    'R  s1 client -> session/prompt "" => running',
    'R  s1  agent <- agent_message_chunk "hi"',
    ".  s1  agent <- session/prompt result stopReason end_turn => idle",
]


def test_of_a_turn_only_the_messages_are_left():
    assert drawn(conversation(Recorded()).entries, all_rows=False) == (TURN, 10)


def test_all_of_a_turn_can_be_seen():
    rows, left_out = drawn(conversation(Recorded()).entries)
    assert (len(rows), left_out) == (17, 0)
    assert rows[:5] == [
        "-   - client -> POST /acp",
        "-   - client -> initialize v1",
        "-   -  agent <- 200 to initialize",
        "-   -  agent <- initialize result v1",
        "-   - client -> GET /acp (connection stream)",
    ]
    assert rows[10:12] == [
        ".  s1 client -> GET /acp (session stream)",
        ".  s1  agent <- 200 text/event-stream to GET /acp (session stream)",
    ]


LEFT = {
    "a message that is taken": (heads(post(NEW, **ACP), response(202)), 2),
    "a message that is answered at once": (heads(post(NEW, **ACP), response(200, b"{}")), 2),
    "a message that is refused": (heads(post(NEW, **ACP), response(400)), 1),
    "a message that is redirected": (heads(post(NEW, **ACP), response(307)), 1),
    "a message that is answered by a stream": (heads(post(NEW, **ACP), STREAM), 1),
    "an interim answer": (
        heads(post(NEW, **ACP), b"HTTP/1.1 100 Continue\r\n\r\n", response(202)), 3,
    ),
    "a stream": (heads(request("GET", **ACP), STREAM), 2),
    "a stream that is none": (heads(request("GET", **ACP), response(200)), 1),
    "a stream that is not there": (heads(request("GET", **ACP), response(404)), 1),
    "keep-alives": (block(": a\n\n", "event: ping\ndata: x\n\n", "id: 1\n\n", **ACP), 5),
    "keep-alives of something else": (block(": a\n\n", "event: ping\ndata: x\n\n"), 1),
    "another event": (block("event: x\ndata: x\n\n", **ACP), 2),
    "what has a note": (block(": a\nfoo\n\n", **ACP), 2),
    "an end": (heads(request("DELETE", **ACP), response(202)), 0),
    "a socket": (socket(), 0),
    "its pings": (socket((A, frame(b"", 9)), (C, frame(b"", 10, mask=MASK))), 2),
    "what is not ACP": (heads(post(NEW), response(200)), 0),
}  # fmt: skip


@pytest.mark.parametrize(("act", "count"), LEFT.values(), ids=LEFT)
def test_what_says_nothing_new_is_left_out(act, count):
    assert drawn(passed(act), all_rows=False)[1] == 2 + count


def test_a_head_waits_for_what_is_posted():
    def act(line):
        line.client(request("POST", "/x", b'{"a":1}'))
        line.agent(response(202))
        line.client(request("POST", "/y"))

    rows, _ = drawn(passed(act), all_rows=False)
    assert [row.partition("> ")[2] for row in rows[2:]] == [
        "POST /x", 'body application/json, 7 bytes {"a":1}', "", "POST /y", "",
    ]  # fmt: skip


def test_what_a_view_reacts_to_is_never_left_out():
    *_, row = rows_of(conversation(Recorded()).entries[:3])
    assert row.is_routine
    row.updates = ("something",)
    assert not row.is_routine


# Edited and odd

REQUEST = (
    '{"at":1,"from":"client","exchange":1,"http":{"method":"POST","target":"/acp","headers":'
    '[["Acp-Connection-Id","c"]]},"event":"request"}'
)
ODD = {
    "an event of the future": (
        ['{"at":1,"from":"agent","exchange":1,"x":5,"event":"shiny"}'], "agent -- shiny x 5",
    ),
    "a fact without its particulars": (
        ['{"at":1,"from":"agent","exchange":1,"event":"abort"}'], "agent -- aborted",
    ),
    "heads that are none": (
        ['{"at":1,"from":"agent","exchange":1,"http":7,"event":"response"}'], "agent <- 0",
    ),
    "an exchange that is none": (
        ['{"at":1,"from":"agent","exchange":[1],"event":"ping"}'], "agent -- ping",
    ),
    "trailers that are none": (
        ['{"at":1,"from":"agent","exchange":1,"event":"trailers","headers":[["a"]]}'],
        "agent <- trailers",
    ),
    "a body whose request was lost": (
        ['{"at":1,"from":"agent","exchange":9,"msg":{"id":1,"result":{}}}'],
        'agent <- body 20 bytes {"id":1,"result":{}}',
    ),
    "a piece": (
        [REQUEST, '{"at":1,"from":"client","exchange":1,"more":true,"text":"{"}'],
        "client -> piece 1 bytes of a longer unit",
    ),
    "several messages": (
        [REQUEST, '{"at":1,"from":"client","exchange":1,"msg":[{"method":"_a"},{"method":"_b"}]}',
         '{"at":1,"from":"agent","exchange":1,"http":{"status":400},"event":"response"}'],
        "agent <- 400 to batch",
    ),
    "an error that looks like an answer": (
        [REQUEST, '{"at":1,"from":"client","exchange":1,"msg":{"id":1,"method":"_a"}}',
         '{"at":1,"from":"agent","exchange":1,"http":{"status":400},"event":"response"}',
         '{"at":1,"from":"agent","exchange":1,"msg":{"id":1,"error":{}}}'],
        'agent <- body 19 bytes {"id":1,"error":{}}',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "said"), ODD.values(), ids=ODD)
def test_what_was_edited_is_read(lines, said):
    rows, _ = drawn(decoded(*lines))
    assert rows[-1].endswith(said)


def test_exchanges_that_are_over_are_forgotten(monkeypatch):
    monkeypatch.setattr(exchanges, "_KEPT", 2)
    recorded = Recorded()
    line = recorded.line()
    for number in range(5):
        line.client(request("GET", f"/{number}"))
        line.agent(response(204))
    line.client(request("GET", "/stream"))
    line.agent(STREAM)
    timeline = Timeline()
    for entry in recorded.entries:
        timeline.row(entry)
    known = timeline.reader.exchanges._known
    assert [exchange.name for exchange in known.values()] == ["GET /3", "GET /4", "GET /stream"]


# The header


def head_of(entries, **members):
    timeline = Timeline()
    for entry in entries:
        timeline.survey(entry)
    lines = Layout(PLAIN, None).header(header(**members), timeline, "x.jsonl")
    return ["".join(text for text, _ in line).partition("  ")[2].strip() for line in lines]


def over_socket(line):
    socket((C, frame(INITIALIZE, mask=MASK)), (A, frame(INITIALIZED)))(line)


def over_http(line, id_="c1", version=1):
    line.client(post(INITIALIZE))
    answer = rpc(0, result={"protocolVersion": version, "agentInfo": {"name": "peer"}})
    line.agent(response(200, answer.encode(), Acp_Connection_Id=id_))


def nothing(line):
    line.client(request("POST", "/mcp", b"to initialize is no JSON"))
    line.agent(response(200, b'{"initialize":1}'))


OVER = {
    "HTTP": ([over_http], "acp 1 over http"),
    "WebSocket": ([over_socket], "acp 1 over websocket"),
    "both": ([over_http, over_socket], "acp 1 over http and websocket, 2 connections"),
    "two versions": (
        [over_http, lambda line: over_http(line, "c2", 2)], "acp 1 and 2 over http, 2 connections",
    ),
    "a socket that is refused": (
        [socket(answer=refuse)], "(neither ACP nor AG-UI seen) over http",
    ),
    "a connection that is older": (
        [heads(post(NEW, **ACP), response(202))], "acp (version not settled) over http",
    ),
    "a version that is not named": (
        [lambda line: over_http(line, version=None)], "acp (version not settled) over http",
    ),
    "something else": ([nothing], "(neither ACP nor AG-UI seen) over http"),
}  # fmt: skip


@pytest.mark.parametrize(("acts", "said"), OVER.values(), ids=OVER)
def test_the_header_says_what_was_spoken_and_how(acts, said):
    recorded = Recorded()
    for act in acts:
        act(recorded.line())
    assert head_of(recorded.entries)[1] == said


def test_the_header_believes_who_named_the_protocol():
    assert head_of([], protocol="acp")[1] == "acp (version not settled) over http"


def test_the_header_says_who_the_agent_is_and_where():
    recorded = Recorded()
    over_http(recorded.line())
    assert head_of(recorded.entries)[2] == f"{UPSTREAM}  peer"


def test_totals_are_the_same_with_and_without_rows():
    surveyed, shown = Timeline(), Timeline()
    for entry in two_connections().entries:
        surveyed.survey(entry)
        shown.row(entry)
    for timeline in (surveyed, shown):
        assert (list(timeline.reader.versions), timeline.conns) == (["1"], 2)
        assert timeline.reader.exchanges.ways == {"http"}
        assert timeline.severities == {Severity.NOTE: 1}
        assert [(track.label, track.state) for track in timeline.tracks.values()] == [
            ("s1", "running"), ("s2", "idle"),
        ]  # fmt: skip


# Several connections with the same session


def two_connections():
    """Two connections with a session `s` each; the first one is asked to stop its work."""
    recorded = Recorded()
    for id_ in ("c1", "c2"):
        posts, stream = recorded.line(), recorded.line()
        initialized(posts, id_)
        stream.client(request("GET", Acp_Connection_Id=id_, Acp_Session_Id="s"))
        stream.agent(STREAM)
        for text, answer in ((NEW, NEWED), (PROMPT, HI)):
            posts.client(post(text, Acp_Connection_Id=id_, Acp_Session_Id="s"))
            posts.agent(response(202))
            stream.agent(event(answer))
        if id_ == "c2":
            stream.agent(event(DONE))
            continue
        cancel = rpc(method="session/cancel", params={"sessionId": "s"})
        posts.client(post(cancel, Acp_Connection_Id=id_, Acp_Session_Id="s"))
    return recorded


def test_sessions_of_two_connections_are_told_apart():
    rows, _ = drawn(two_connections().entries, all_rows=False)
    assert rows == [
        "c1 --   - client -> initialize v1",
        "c1 --   -  agent <- initialize result v1",
        "c1 --   - client -> session/new /w",
        "c1 .-  s1  agent <- session/new result s",
        'c1 R-  s1 client -> session/prompt "" => running',
        'c1 R-  s1  agent <- agent_message_chunk "hi"',
        "c1 R-  s1 client -> session/cancel [note acp/cancel-requested]",
        "c2 R-   - client -> initialize v1",
        "c2 R-   -  agent <- initialize result v1",
        "c2 R-   - client -> session/new /w",
        "c2 R.  s2  agent <- session/new result s",
        'c2 RR  s2 client -> session/prompt "" => running',
        'c2 RR  s2  agent <- agent_message_chunk "hi"',
        "c2 R.  s2  agent <- session/prompt result stopReason end_turn => idle",
    ]
    assert head_of(two_connections().entries)[4:6] == [
        "s1  c1 s  running for 0.014 s",
        "s2  c2 s  idle",
    ]


def test_the_column_of_connections_comes_with_the_second_one():
    layout, timeline = Layout(PLAIN, None), Timeline()
    rows = [timeline.row(entry) for entry in two_connections().entries]
    lines = [layout.row(row, timeline.tracks) for row in rows]
    texts = ["".join(text for text, _ in line) for line in lines]
    assert texts[0] == "    0.000 -   - client -> POST /acp"
    assert texts[-1].startswith("    0.021 c2 R.  s2  agent <- ")


CHOSEN = {
    "by the id": ("s", 2, {(1, "s"), (2, "s")}),
    "by a label": ("s2", 1, {(2, "s")}),
    "by the beginning of a label": ("s", 2, {(1, "s"), (2, "s")}),
}


@pytest.mark.parametrize(("asked", "count", "keys"), CHOSEN.values(), ids=CHOSEN)
def test_a_session_of_several_connections_is_chosen(asked, count, keys):
    timeline = Timeline()
    rows = [timeline.row(entry) for entry in two_connections().entries]
    assert find_sessions(asked, timeline.tracks, "x") == keys
    for selection in (Selection(session=asked), Selection(session=asked, sessions=keys)):
        chosen = {row.entry.conn for row in rows if selection.has(row, timeline.tracks)}
        assert len(chosen) == count


def test_two_ids_with_the_same_beginning_are_two_sessions():
    lines = [
        f'{{"at":1,"from":"agent","conn":{conn},"session":"{id_}","msg":{{}}}}'
        for conn, id_ in ((1, "one"), (2, "one"), (2, "only"))
    ]
    timeline = Timeline()
    for entry in decoded(*lines):
        timeline.survey(entry)
    assert find_sessions("one", timeline.tracks, "x") == {(1, "one"), (2, "one")}
    with pytest.raises(UsageError, match="3 sessions begin with 'on'"):
        find_sessions("on", timeline.tracks, "x")


def test_chunks_and_titles_of_two_connections_are_kept_apart():
    chunk_ = json.loads(HI)
    tool = json.loads(HI)
    tool["params"]["update"] = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "ls"}
    again = json.loads(HI)
    again["params"]["update"] = {"sessionUpdate": "tool_call_update", "toolCallId": "t"}
    said = [(1, chunk_), (2, chunk_), (1, chunk_), (1, tool), (1, again), (2, again)]
    lines = [
        json.dumps({"at": 1, "from": "agent", "conn": conn, "session": "s", "msg": message})
        for conn, message in said
    ]
    folding, timeline, rows = Folding(), Timeline(), []
    for entry in decoded(*lines):
        rows += folding.add(timeline.row(entry))
    assert [(row.count, row.conn, row.gist) for row in rows] == [
        (2, 1, '"hihi"'), (1, 2, '"hi"'), (1, 1, "ls"), (1, 1, "ls"), (1, 2, "t"),
    ]  # fmt: skip


def test_a_connection_that_ended_gives_its_lanes_to_the_next():
    lines = [
        f'{{"at":1,"from":"agent","conn":{conn},"session":"s","msg":{{}}}}'
        for conn in range(1, LANES + 1)
    ]
    lines += [
        '{"at":2,"from":"agent","conn":3,"event":"exit","code":0}',
        '{"at":3,"from":"agent","conn":9,"session":"s","msg":{}}',
    ]
    *_, row = rows_of(decoded(*lines))
    assert [mark.label for mark in row.band] == ["s1", "s2", "s9", *(f"s{n}" for n in range(4, 9))]


ENDING = {
    "a DELETE": ([heads(request("DELETE", **ACP), response(202))], True),
    "a DELETE that failed": ([heads(request("DELETE", **ACP), response(404))], False),
    "another DELETE": ([heads(request("DELETE", "/x"), response(202))], False),
    "a socket's end": ([socket(), goes(A)], True),
    "a socket's death": ([socket(), goes(A, "reset")], True),
    "a stream's end": ([heads(request("GET", **ACP), STREAM, LAST)], False),
}


@pytest.mark.parametrize(("acts", "is_end"), ENDING.values(), ids=ENDING)
def test_with_what_a_connection_ends(acts, is_end):
    recorded = Recorded()
    line = recorded.line()
    initialized(line)
    for act in acts:
        act(line)
    assert rows_of(recorded.entries)[-1].reading.ends is is_end


# Selection

KINDS = {
    "all of HTTP": ({"kinds": ["http"]}, 13),
    "requests are those of JSON-RPC": ({"kinds": ["request"]}, 3),
    "a method of HTTP and its answers": ({"kinds": ["GET"]}, 2),
    "what failed": ({"kinds": ["error"]}, 1),
    "text in a head": ({"pattern": compile_pattern("Acp-Session-Id")}, 2),
    "text in a gist": ({"pattern": compile_pattern("^404 text")}, 1),
}


@pytest.mark.parametrize(("chosen", "count"), KINDS.values(), ids=KINDS)
def test_rows_of_http_are_selected(chosen, count):
    recorded = Recorded()
    line = recorded.line()
    initialized(line)
    heads(post(NEW, **ACP), response(202))(line)
    heads(request("POST", "/x", b"?"), response(200))(line)
    heads(request("GET", Acp_Session_Id="s", **ACP), STREAM)(line)
    recorded.line().client(request("HEAD", "/x", Acp_Session_Id="s"))
    heads(post(PROMPT, **ACP), response(404, b"no", **TEXT))(recorded.line())
    timeline, selection = Timeline(), Selection(**chosen)
    rows = [timeline.row(entry) for entry in recorded.entries]
    assert sum(selection.has(row, timeline.tracks) for row in rows) == count
