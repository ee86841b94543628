"""What stands on the tape of traffic over HTTP and WebSocket."""

import gzip
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap import checking
from acptap.cassette import Header
from acptap.redact import Redactor
from acptap.wire.http1 import End
from acptap.witness.traffic import Traffic
from tests.tap.sockets import agree, close_frame, frame, refuse
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

NEW = rpc(1, "session/new", params={"cwd": "/w", "mcpServers": []})
NEWED = rpc(1, result={"sessionId": "s"})
PROMPT = rpc(2, "session/prompt", params={"sessionId": "s", "prompt": []})
HI = rpc(
    method="session/update",
    params={
        "sessionId": "s",
        "update": {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "hi"},
        },
    },
)
DONE = rpc(2, result={"stopReason": "end_turn"})


AUTO = Header("auto", "http", "2026-11-30T16:00:00.000000Z", UPSTREAM, "acptap test")


def recheck(recorded, header=AUTO):
    """A reader of the tape must come to the same annotations as the tap."""
    reader = checking.Reader(header)
    for entry in recorded.entries:
        members = reader.members(entry)
        assert not checking.differs(entry, members), (entry.number, entry.front, members)


def conversation(recorded, end=lambda lines: None):
    """A turn of version 1 over HTTP, on three TCP connections."""
    posts, connection, session = lines = [recorded.line() for _ in range(3)]
    initialized(posts)
    connection.client(request("GET", Acp_Connection_Id="c1", Accept="text/event-stream"))
    connection.agent(STREAM)
    posts.client(post(NEW, Acp_Connection_Id="c1"))
    connection.agent(event(NEWED))  # the answer may overtake the 202 (5.2.6)
    posts.agent(response(202))
    session.client(request("GET", Acp_Connection_Id="c1", Acp_Session_Id="s"))
    session.agent(STREAM)
    posts.client(post(PROMPT, Acp_Connection_Id="c1", Acp_Session_Id="s"))
    posts.agent(response(202))
    session.agent(event(HI) + event(DONE))
    end(lines)
    recheck(recorded)
    return recorded


def test_edge_51_a_turn_over_http():
    tape = conversation(Recorded()).brief
    assert tape == [
        {"from": "client", "exchange": 1, "http": "POST /acp", "event": "request"},
        {"from": "client", "exchange": 1, "msg": json.loads(INITIALIZE)},
        {"from": "agent", "exchange": 1, "http": 200, "event": "response"},
        {"from": "agent", "exchange": 1, "msg": json.loads(INITIALIZED)},
        {"from": "client", "exchange": 2, "http": "GET /acp", "event": "request"},
        {"from": "agent", "exchange": 2, "http": 200, "event": "response"},
        {"from": "client", "exchange": 3, "http": "POST /acp", "event": "request"},
        {"from": "client", "exchange": 3, "msg": json.loads(NEW)},
        {"from": "agent", "exchange": 2, "stream": "connection", "session": "s",
         "msg": json.loads(NEWED)},
        {"from": "agent", "exchange": 3, "http": 202, "event": "response"},
        {"from": "client", "exchange": 4, "http": "GET /acp", "event": "request"},
        {"from": "agent", "exchange": 4, "http": 200, "event": "response"},
        {"from": "client", "exchange": 5, "http": "POST /acp", "event": "request"},
        {"from": "client", "exchange": 5, "session": "s",
         "state": {"from": "idle", "to": "running", "basis": "derived"},
         "updates": [{"kind": "message", "index": 0, "change": "started"}],
         "msg": json.loads(PROMPT)},
        {"from": "agent", "exchange": 5, "http": 202, "event": "response"},
        {"from": "agent", "exchange": 4, "stream": "session", "session": "s",
         "updates": [{"kind": "message", "index": 1, "change": "started"}], "msg": json.loads(HI)},
        {"from": "agent", "exchange": 4, "stream": "session", "session": "s",
         "state": {"from": "running", "to": "idle", "basis": "derived", "reason": "end_turn"},
         "updates": [{"kind": "done", "end": "success", "reason": "end_turn"}],
         "msg": json.loads(DONE)},
    ]  # fmt: skip


def test_units_of_one_read_share_their_time():
    times = [entry.at for entry in conversation(Recorded()).entries]
    assert times[-1] == times[-2]
    assert times[0] == times[1] < times[2] == times[3] < times[4]


def test_a_head_is_written_as_it_was_sent():
    recorded = Recorded()
    line = recorded.line()
    line.client(
        b"POST /a%2Fb//?x=%2F HTTP/1.0\r\nhOST: x\r\nX: \xe9\r\nX:two\r\nContent-Length: 0\r\n\r\n"
    )
    line.agent(
        b"HTTP/1.0 299 \xfcber\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n"
        b"X-Empty:\r\nContent-Length: 0\r\n\r\n"
    )
    first, second = [entry.front["http"] for entry in recorded.entries]
    assert first == {
        "method": "POST", "target": "/a%2Fb//?x=%2F", "version": "1.0",
        "headers": [["hOST", "x"], ["X", "é"], ["X", "two"], ["Content-Length", "0"]],
    }  # fmt: skip
    assert second == {
        "status": 299, "reason": "über", "version": "1.0",
        "headers": [
            ["Set-Cookie", "a"], ["Set-Cookie", "b"], ["X-Empty", ""], ["Content-Length", "0"],
        ],
    }  # fmt: skip


def test_two_acp_connections_and_what_is_none():
    recorded = Recorded()
    one, two, other = (recorded.line() for _ in range(3))
    two.client(post(INITIALIZE)[:-3])  # begun first, complete last
    other.client(request("GET", "/health"))
    other.agent(response(200, b"ok"))
    initialized(one, "c1")
    two.client(post(INITIALIZE)[-3:])
    two.agent(response(200, INITIALIZED.encode(), Acp_Connection_Id="c2"))
    one.client(post(NEW, Acp_Connection_Id="c2"))
    one.agent(response(202))
    recheck(recorded)
    assert [entry.conn for entry in recorded.entries if entry.key == "msg"] == [1, 1, 2, 2, 2]
    assert [entry.front["exchange"] for entry in recorded.entries] == [
        2,
        2,
        2,
        3,
        3,
        3,
        3,
        1,
        1,
        1,
        1,
        4,
        4,
        4,
    ]


def test_a_connection_that_began_before_the_recording():
    recorded = Recorded()
    line = recorded.line()
    line.client(post(NEW, Acp_Connection_Id="older"))
    line.agent(response(202))
    initialized(recorded.line())
    recheck(recorded)
    assert [entry.conn for entry in recorded.entries] == [1, 1, 1, 2, 2, 2, 2]


def test_an_answer_before_the_whole_request():
    recorded = Recorded()
    line = recorded.line()
    line.client(post(INITIALIZE)[:-10])
    assert recorded.lines == []
    line.agent(response(413, b"too big", Content_Type="text/plain"))
    line.client(post(INITIALIZE)[-10:])
    recheck(recorded)
    assert [(e["from"], e.get("event"), e.get("http")) for e in recorded.brief] == [
        ("client", "request", "POST /acp"),
        ("agent", "response", 413),
        ("agent", None, None),
        ("client", None, None),
    ]


def test_an_initialize_that_is_refused_before_it_is_complete_counts_like_any_other():
    recorded = Recorded()
    line = recorded.line()
    line.client(post(INITIALIZE)[:-10])
    line.agent(response(413))
    line.client(post(INITIALIZE)[-10:])
    initialized(line)
    recheck(recorded)
    reader = Traffic(keep=True)
    for entry in recorded.entries:
        reader.annotate(entry)
    assert len(reader.witnesses()) == 2
    assert [entry.conn for entry in recorded.entries][-4:] == [2, 2, 2, 2]


INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"


def test_h14_interim_answers():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("POST", body=b"{}", Expect="100-continue")[:-2])
    line.agent(INTERIM + b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
    line.client(b"{}")
    line.agent(response(202))
    recheck(recorded)
    assert [entry.get("http") for entry in recorded.brief] == ["POST /acp", 100, 103, None, 202]


def test_pipelined_requests_are_told_apart():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/1") + request("HEAD", "/2") + request("GET", "/3"))
    line.agent(
        response(200, b"one") + b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + response(204)
    )
    assert [(e["exchange"], e.get("http") or e.get("text")) for e in recorded.brief] == [
        (1, "GET /1"), (2, "HEAD /2"), (3, "GET /3"),
        (1, 200), (1, "one"), (2, 200), (3, 204),
    ]  # fmt: skip


# Bodies

BODIES = {
    "JSON": (b'{"a":1}', {"msg": {"a": 1}}),
    "JSON with spaces around": (b' {"a":1}', {"text": ' {"a":1}'}),
    "JSON over several lines": (b'{"a":\n1}', {"text": '{"a":\n1}'}),
    "JSON and a line end": (b'{"a":1}\n', {"text": '{"a":1}\n'}),
    "HTML": (b"<h1>503</h1>", {"text": "<h1>503</h1>"}),
    "bytes": (b"\xff\x00", {"b64": "/wA="}),
}


@pytest.mark.parametrize(("body", "payload"), BODIES.values(), ids=BODIES)
def test_h17_a_body(body, payload):
    recorded = Recorded()
    line = recorded.line()
    line.client(request("POST", "/x", body))
    line.agent(response(503, body))
    recheck(recorded)
    said, answered = [e for e in recorded.brief if "event" not in e]
    assert said == {"from": "client", "exchange": 1} | payload
    assert answered == {"from": "agent", "exchange": 1} | payload


def test_a_body_until_the_connection_ends():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(b"HTTP/1.1 200 OK\r\n\r\nall of")
    line.agent(b" it")
    line.end(A)
    assert recorded.brief[-1] == {"from": "agent", "exchange": 1, "text": "all of it"}


def test_h18_trailers():
    recorded = Recorded()
    line = recorded.line()
    line.client(
        b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"5;pad=x\r\n0\r\n\r\n\r\n0;q=1\r\nX-A: 1\r\n\r\n"
    )
    line.agent(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;pad=x\r\n0\r\n\r\n\r\n"
        b"0;q=1\r\nX-Sum: 9\r\nX-Token: abcdefghijklmnop\r\n\r\n"
    )
    recheck(recorded)
    assert recorded.brief == [
        {"from": "client", "exchange": 1, "http": "POST /x", "event": "request"},
        {"from": "client", "exchange": 1, "text": "0\r\n\r\n"},
        {"from": "client", "exchange": 1, "event": "trailers", "headers": [["X-A", "1"]]},
        {"from": "agent", "exchange": 1, "http": 200, "event": "response"},
        {"from": "agent", "exchange": 1, "event": "trailers",
         "headers": [["X-Sum", "9"], ["X-Token", "abcdefghijklmnop"]]},
        {"from": "agent", "exchange": 1, "text": "0\r\n\r\n"},
    ]  # fmt: skip


def deflated(data):
    return zlib.compress(data)


CODINGS = {
    "gzip": (gzip.compress, "gzip"),
    "x-gzip": (gzip.compress, "X-GZIP"),
    "deflate": (zlib.compress, "deflate"),
    "a chain": (lambda data: gzip.compress(zlib.compress(data)), "deflate, gzip"),
}


@pytest.mark.parametrize(("press", "coding"), CODINGS.values(), ids=CODINGS)
def test_h6_a_compressed_body_is_kept_inflated(press, coding):
    recorded = Recorded()
    line = recorded.line()
    line.client(request("POST", "/x", press(b'{"a":1}'), Content_Encoding=coding))
    line.agent(response(200, press(b'{"b":2}'), Content_Encoding=coding))
    recheck(recorded)
    heads = [e for e in recorded.entries if e.event]
    assert [head.front["inflated"] for head in heads] == [coding.lower()] * 2
    assert [entry.payload for entry in recorded.entries if not entry.event] == [
        b'{"a":1}',
        b'{"b":2}',
    ]


def test_h6_an_unknown_coding_is_kept_as_it_is():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(response(200, b"\x1b\x03\x00\xf8", Content_Encoding="br"))
    recheck(recorded)
    assert recorded.brief[1:] == [
        {"from": "agent", "exchange": 1, "http": 200, "event": "response",
         "notes": [{"rule": "http/coding", "severity": "note"}]},
        {"from": "agent", "exchange": 1, "b64": "GwMA+A=="},
    ]  # fmt: skip


def test_h6_a_damaged_body_is_kept_as_it_is():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(response(200, b"no gzip", Content_Encoding="gzip"))
    recheck(recorded)
    assert recorded.brief[2:] == [
        {"from": "agent", "exchange": 1, "event": "damaged",
         "notes": [{"rule": "http/coding", "severity": "note"}]},
        {"from": "agent", "exchange": 1, "text": "no gzip"},
    ]  # fmt: skip


def test_h6_a_compressed_body_that_is_cut_short():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(response(200, gzip.compress(b'{"a":1}')[:-4], Content_Encoding="gzip"))
    assert recorded.entries[-1].payload == b'{"a":1}'


def test_h6_a_compressed_event_stream_is_read_as_it_comes():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(STREAM.replace(b"Transfer", b"Content-Encoding: gzip\r\nTransfer"))
    press = zlib.compressobj(wbits=31)
    for number in range(3):
        data = press.compress(b'data: {"n":%d}\n\n' % number) + press.flush(zlib.Z_SYNC_FLUSH)
        line.agent(chunk(data))
        assert recorded.entries[-1].payload == b'{"n":%d}' % number


# Event streams


def streamed(*blocks, end=LAST):
    recorded = Recorded()
    line = recorded.line()
    initialized(line)
    line.client(request("GET", Acp_Connection_Id="c1"))
    line.agent(STREAM)
    for block in blocks:
        line.agent(chunk(block))
    line.agent(end)
    recheck(recorded)
    return [
        {key: value for key, value in entry.items() if key not in ("from", "exchange", "stream")}
        for entry in recorded.brief[6:]
    ]


PING = '{"jsonrpc":"2.0","method":"$/x"}'
READ = {
    "a plain event": (f"data: {PING}\n\n", {"msg": json.loads(PING)}),
    "H2 no space behind the colon": (f"data:{PING}\n\n", {"text": f"data:{PING}\n\n"}),
    "H16 fields in another order": (
        f"id: 1\ndata: {PING}\nevent: message\n\n",
        {"text": f"id: 1\ndata: {PING}\nevent: message\n\n"},
    ),
    "CRLF": (f"data: {PING}\r\n\r\n", {"text": f"data: {PING}\r\n\r\n"}),
    "H2 several lines": (
        'data: {"jsonrpc":"2.0",\ndata: "method":"$/x"}\n\n',
        {"text": 'data: {"jsonrpc":"2.0",\ndata: "method":"$/x"}\n\n'},
    ),
    "H2 a comment": (": keep-alive\n\n", {"text": ": keep-alive\n\n"}),
    "H2 priming": (
        "id: a:0\nretry: 3000\ndata: \n\n", {"text": "id: a:0\nretry: 3000\ndata: \n\n"}),
    "H2 a ping": ("event: ping\ndata: keep\n\n", {"text": "event: ping\ndata: keep\n\n"}),
    "no JSON": ("data: oops\n\n", {
        "text": "data: oops\n\n", "notes": [{"rule": "http/not-json", "severity": "warning"}]}),
    "H17 unframed": ('{"error":{}}\n\n', {
        "text": '{"error":{}}\n\n', "notes": [{"rule": "http/unframed", "severity": "warning"}]}),
    "half": ('data: {"ty', {
        "text": 'data: {"ty',
        "notes": [{"rule": "http/not-json", "severity": "warning"},
                  {"rule": "http/half-event", "severity": "note"}]}),
    "half, and yet whole": (f"data: {PING}\n", {
        "text": f"data: {PING}\n", "notes": [{"rule": "http/half-event", "severity": "note"}]}),
}  # fmt: skip


@pytest.mark.parametrize(("block", "entry"), READ.values(), ids=READ)
def test_a_block_of_an_event_stream(block, entry):
    first, *rest = streamed(block.encode())
    assert first == entry
    assert [e["event"] for e in rest] == ["end"]


def test_every_byte_of_a_stream_is_kept():
    blocks = [block.encode() for block, _ in READ.values()]
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(STREAM)
    for block in blocks:
        line.agent(chunk(block))
    line.agent(LAST)
    units = [entry.unit() if entry.key != "msg" else b"data: " + entry.payload + b"\n\n"
             for entry in recorded.entries if entry.key]  # fmt: skip
    assert b"".join(units) == b"".join(blocks)


# Ends


def stream_ends(end, *, deletes=False):
    recorded = Recorded()
    line = recorded.line()
    other = recorded.line()
    initialized(other)
    line.client(request("GET", Acp_Connection_Id="c1"))
    line.agent(STREAM)
    if deletes:
        other.client(request("DELETE", Acp_Connection_Id="c1"))
        other.agent(response(202))
    end(line)
    line.close()
    recheck(recorded)
    return recorded.brief[-1]


LOST = {"rule": "http/stream-lost", "severity": "warning", "stream": "connection"}
CUT = {"rule": "http/cut", "severity": "warning"}
ENDS = {
    "H13 the agent resets": (
        lambda line: line.end(A, "reset"),
        {"from": "agent", "event": "abort", "reason": "reset", "notes": [CUT, LOST]},
    ),
    "H13 the agent stops in the middle": (
        lambda line: line.end(A),
        {"from": "agent", "event": "abort", "reason": "cut", "notes": [CUT, LOST]},
    ),
    "the agent ends the stream": (
        lambda line: line.agent(LAST),
        {"from": "agent", "event": "end", "notes": [LOST]},
    ),
    "H12 the client resets": (
        lambda line: line.end(C, "reset"),
        {"from": "client", "event": "abort", "reason": "reset"},
    ),
    "H12 the client closes, and so does the agent": (
        lambda line: (line.end(C), line.end(A)),
        {"from": "client", "event": "abort", "reason": "closed"},
    ),
    "the client is gone": (
        lambda line: None,
        {"from": "client", "event": "abort", "reason": "closed"},
    ),
}


@pytest.mark.parametrize(("end", "entry"), ENDS.values(), ids=ENDS)
def test_how_a_stream_ends(end, entry):
    last = stream_ends(end)
    assert last == {"exchange": 2, "stream": "connection"} | entry


def test_a_stream_may_end_after_delete():
    assert "notes" not in stream_ends(lambda line: line.agent(LAST), deletes=True)


@pytest.mark.parametrize("end", ["", "reset"])
def test_a_stream_may_end_between_delete_and_its_answer(end):
    recorded = Recorded()
    stream, other = recorded.line(), recorded.line()
    initialized(other)
    stream.client(request("GET", Acp_Connection_Id="c1"))
    stream.agent(STREAM)
    other.client(request("DELETE", Acp_Connection_Id="c1"))
    stream.end(A, end)
    other.agent(response(202))
    recheck(recorded)
    assert recorded.rules == []


def test_h13_a_body_that_is_cut():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhalf")
    line.end(A)
    recheck(recorded)
    assert recorded.brief[2:] == [
        {"from": "agent", "exchange": 1, "text": "half"},
        {"from": "agent", "exchange": 1, "event": "abort", "reason": "cut", "notes": [CUT]},
    ]


def test_h15_a_request_that_is_never_answered():
    recorded = Recorded()
    line = recorded.line()
    line.client(post(INITIALIZE))
    line.end(A, "reset")
    line.close()
    recheck(recorded)
    assert recorded.brief[-1] == {
        "from": "agent", "exchange": 1, "event": "abort", "reason": "reset", "notes": [CUT],
    }  # fmt: skip


def test_the_end_of_an_idle_connection_is_nothing_to_write_down():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(response(204))
    line.end(C)
    line.end(A)
    line.close()
    assert len(recorded.lines) == 2


def test_what_a_lost_connection_leaves_open():
    recorded = conversation(Recorded(), lambda lines: lines[1].end(A, "reset"))
    assert recorded.brief[-1]["notes"][1] == LOST
    tape = Recorded()
    line = tape.line()
    initialized(line)
    line.client(post(NEW, Acp_Connection_Id="c1"))
    line.agent(response(202))
    line.client(request("DELETE", Acp_Connection_Id="c1"))
    line.agent(response(202))
    recheck(tape)
    assert tape.rules == ["acp/never-answered"]


def test_h19_a_session_stream_is_opened_again():
    recorded = Recorded()

    def again(lines):
        lines[2].end(A, "reset")
        line = recorded.line()
        line.client(request("GET", Acp_Connection_Id="c1", Acp_Session_Id="s", Last_Event_ID="e3"))
        line.agent(STREAM)
        line.agent(event(HI))

    conversation(recorded, again)
    *_, broken, asked, _, said = recorded.brief
    assert broken["notes"][1]["stream"] == "session"
    assert "Last-Event-ID" in str(recorded.entries[-3].front)
    assert (asked["exchange"], said["exchange"], said["session"]) == (6, 6, "s")


# Refusals


def test_a_refused_prompt_ends_its_turn():
    recorded = Recorded()
    line = recorded.line()
    initialized(line)
    line.client(post(PROMPT, Acp_Connection_Id="c1"))
    line.agent(response(400, b"Missing Acp-Session-Id", Content_Type="text/plain"))
    recheck(recorded)
    *_, refusal, body = recorded.brief
    assert refusal["state"] == {
        "session": "s", "from": "running", "to": "idle", "basis": "derived", "reason": "error",
    }  # fmt: skip
    assert [update["kind"] for update in refusal["updates"]] == ["error", "done"]
    assert [note["rule"] for note in refusal["notes"]] == ["http/refused"]
    assert body["text"] == "Missing Acp-Session-Id"


def test_edge_52_an_answer_without_its_session_header():
    def answers(lines):
        posts, _, session = lines
        ask = rpc(0, "session/request_permission", params={"sessionId": "s", "options": []})
        session.agent(event(ask))
        posts.client(
            post(rpc(0, result={"outcome": {"outcome": "cancelled"}}), Acp_Connection_Id="c1")
        )
        posts.agent(response(400))

    recorded = conversation(Recorded(), answers)
    assert recorded.rules[-2:] == ["http/no-session-id", "http/refused"]


def test_a_message_for_a_connection_that_is_over():
    recorded = Recorded()
    line = recorded.line()
    initialized(line)
    for answer in (202, 404):
        line.client(request("DELETE", Acp_Connection_Id="c1"))
        line.agent(response(answer))
    line.client(post(NEW, Acp_Connection_Id="c1"))
    line.agent(response(404))
    recheck(recorded)
    assert recorded.rules == ["http/refused", "http/fatal-status"]


def test_h11_a_redirect_past_the_proxy():
    recorded = Recorded()
    line = recorded.line()
    line.client(post(INITIALIZE))
    line.agent(response(307, Location="http://127.0.0.1:9000/acp/"))
    line.client(post(INITIALIZE))
    line.agent(response(307, Location="http://127.0.0.1:8484/acp/"))
    recheck(recorded)
    assert recorded.rules.count("http/past-proxy") == 1


REDIRECTS = {
    "without a scheme": (UPSTREAM, "//127.0.0.1:9000/x", 1),
    "by its own path": (UPSTREAM, "/x", 0),
    "the scheme's own port": ("http://agent.example/acp", "http://AGENT.example:80/x", 1),
    "from an agent that is not known": ("", "/x", 0),
}


@pytest.mark.parametrize(("upstream", "location", "count"), REDIRECTS.values(), ids=REDIRECTS)
def test_h11_where_a_redirect_leads(upstream, location, count):
    recorded = Recorded(upstream=upstream)
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(response(302, Location=location))
    assert recorded.rules == ["http/past-proxy"] * count


def test_upstream_is_down():
    recorded = Recorded()
    line = recorded.line()
    line.client(post(INITIALIZE))
    line.unreachable("connection refused", response(502, b"acptap: no", Content_Type="text/plain"))
    line.close()
    recheck(recorded)
    assert [e.get("event") for e in recorded.brief] == [
        "request",
        None,
        "unreachable",
        "response",
        None,
    ]
    assert recorded.brief[2]["why"] == "connection refused"


# What is not HTTP


def test_an_unread_connection():
    recorded = Recorded()
    line = recorded.line()
    line.client(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff")
    line.agent(b"\x00\x00\x00")
    line.end(A)
    line.close()
    recheck(recorded)
    assert "http/opaque" in recorded.rules
    raw = b"".join(
        entry.unit() for entry in recorded.entries if entry.event == "raw" and entry.side is C
    )
    assert raw == b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff"


def test_a_tunnel():
    recorded = Recorded()
    line = recorded.line()
    line.client(b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n")
    line.agent(b"HTTP/1.1 200 OK\r\n\r\nhello")
    line.client(b"there")
    recheck(recorded)
    assert [e.get("text") for e in recorded.brief] == [None, None, "hello", "there"]


# Secrets

SECRETS = {
    "authorization": ("Authorization: Bearer s3cr3t-Token-1234", "s3cr3t-Token-1234"),
    "a basic authorization": (
        "authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpwYXNzd29yZDEyMw=="),
    "a key": ("X-API-Key: 0123456789abcdef-key", "0123456789abcdef-key"),
    "a cookie": ("Cookie: a=1; sid=fedcba9876543210", "fedcba9876543210"),
    "a name that tells": ("X-My-Token: 0123456789abcdef", "0123456789abcdef"),
    "a subprotocol": (
        "Sec-WebSocket-Protocol: acp.v1, bearer.0123456789abcdefghij",
        "bearer.0123456789abcdefghij"),
    "a referer": ("Referer: http://u:pa55@h/?token=0123456789abc", "0123456789abc"),
}  # fmt: skip


@pytest.mark.parametrize(("header", "secret"), SECRETS.values(), ids=SECRETS)
def test_x1_a_secret_in_a_header(header, secret):
    recorded = Recorded(Redactor())
    line = recorded.line()
    echo = json.dumps({"echo": secret}).encode()
    line.client(f"GET /x?token=abcdefgh12345678 HTTP/1.1\r\nHost: h\r\n{header}\r\n\r\n".encode())
    line.agent(response(200, echo, Set_Cookie="session=qwertyuiopasdfgh; Path=/; HttpOnly"))
    tape = b"".join(recorded.tape).decode()
    for hidden in (secret, "abcdefgh12345678", "qwertyuiopasdfgh"):
        assert hidden not in tape
    assert "; Path=/; HttpOnly" in tape
    assert '{"echo": "[redacted:' in tape


def test_no_secret_no_change():
    assert conversation(Recorded(Redactor())).lines == conversation(Recorded()).lines


# WebSocket


def socket(extensions="", answer=agree):
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", Upgrade="websocket", Connection="Upgrade"))
    line.agent(answer(extensions))
    return recorded, line


def test_a_turn_over_websocket():
    recorded, line = socket()
    line.client(frame(INITIALIZE, mask=b"abcd"))
    line.agent(frame(INITIALIZED))
    line.client(frame(NEW, mask=b"abcd"))
    line.agent(frame(NEWED) + frame(HI))
    line.agent(close_frame(1000, "bye"))
    line.client(close_frame(1000, "", mask=b"abcd"))
    line.end(C)
    line.end(A)
    line.close()
    recheck(recorded)
    tape = recorded.brief
    assert [e["exchange"] for e in tape] == [1] * 11
    assert [e.get("event") for e in tape] == [
        "request",
        "response",
        *[None] * 5,
        "close",
        "close",
        "end",
        "end",
    ]
    assert tape[7] == {
        "from": "agent",
        "exchange": 1,
        "event": "close",
        "code": 1000,
        "reason": "bye",
    }
    assert tape[6]["session"] == "s"


MESSAGES = {
    "binary": (frame(b"{}", 2), {
        "b64": "e30=", "notes": [{"rule": "websocket/binary", "severity": "warning"}]}),
    "no JSON": (frame("hi"), {
        "text": "hi", "notes": [{"rule": "websocket/not-json", "severity": "warning"}]}),
    "W5 not UTF-8": (frame(b"\xff"), {
        "frame": "text", "b64": "/w==",
        "notes": [{"rule": "websocket/not-utf8", "severity": "violation"}]}),
    "W5 a ping": (frame(b"x" * 125, 9), {"event": "ping", "text": "x" * 125}),
    "an empty pong": (frame(b"", 10), {"event": "pong"}),
    "W2 a code of its own": (close_frame(4404, "session gone é"), {
        "event": "close", "code": 4404, "reason": "session gone é"}),
    "W2 no code": (frame(b"", 8), {"event": "close"}),
    "a fault": (close_frame(1009, ""), {
        "event": "close", "code": 1009,
        "notes": [{"rule": "websocket/abnormal-close", "severity": "warning", "code": 1009}]}),
    "fragments": (
        frame('{"jsonrpc":"2.0",', 1, fin=False) + frame(b"hey", 9) + frame('"method":"$/x"}', 0), {
        "msg": {"jsonrpc": "2.0", "method": "$/x"}}),
}  # fmt: skip


@pytest.mark.parametrize(("data", "entry"), MESSAGES.values(), ids=MESSAGES)
def test_a_message(data, entry):
    recorded, line = socket()
    line.client(frame(INITIALIZE, mask=b"abcd"))
    line.agent(data)
    recheck(recorded)
    assert recorded.brief[-1] == {"from": "agent", "exchange": 1} | entry


def test_w5_compressed_messages():
    recorded, line = socket("permessage-deflate; server_no_context_takeover")
    for text in (INITIALIZE, NEW):
        press = zlib.compressobj(wbits=-15)
        data = press.compress(text.encode()) + press.flush(zlib.Z_SYNC_FLUSH)
        line.agent(frame(data[:-4], 0x41))
    assert [entry.payload.decode() for entry in recorded.entries[2:]] == [INITIALIZE, NEW]


def test_w6_an_upgrade_that_is_refused():
    recorded, line = socket(answer=refuse)
    line.client(request("GET", "/y"))
    line.agent(response(204))
    recheck(recorded)
    assert [e.get("http") for e in recorded.brief] == ["GET /acp", 403, "GET /y", 204]


def test_a_socket_that_breaks():
    recorded, line = socket()
    line.client(frame(INITIALIZE, mask=b"abcd"))
    line.agent(frame(INITIALIZED)[:-3])
    line.end(A, "reset")
    line.close()
    recheck(recorded)
    *_, rest, end = recorded.brief
    assert INITIALIZED.startswith(rest["text"])
    assert rest["more"] is True
    assert end["event"] == "abort"
    assert [note["rule"] for note in end["notes"]] == ["acp/never-answered"]


def test_a_socket_that_is_no_websocket():
    recorded, line = socket()
    line.agent(b"\xf3\x00junk")
    recheck(recorded)
    assert [e.get("event") for e in recorded.brief] == ["request", "response", "opaque", "raw"]


# Long units


def test_edge_14_a_long_body_goes_in_pieces(monkeypatch):
    monkeypatch.setattr("acptap.tap.bodies.PIECE_LIMIT", 64)
    recorded = Recorded()
    line = recorded.line()
    text = rpc(0, "initialize", params={"protocolVersion": 1, "pad": "x" * 200})
    data = post(text)
    for start in range(0, len(data), 50):
        line.client(data[start : start + 50])
    line.agent(response(200, b"{}"))
    recheck(recorded)
    pieces = [entry for entry in recorded.entries if entry.oversize]
    assert [piece.more for piece in pieces] == [True] * (len(pieces) - 1) + [False]
    assert b"".join(piece.unit() for piece in pieces).decode() == text


def test_a_long_body_of_no_acp_goes_in_pieces(monkeypatch):
    monkeypatch.setattr("acptap.tap.bodies.PIECE_LIMIT", 64)
    recorded = Recorded()
    line = recorded.line()
    line.client(request("POST", "/upload", b"x" * 200))
    line.agent(response(200, b"y" * 200)[:-1])
    line.agent(b"y")
    recheck(recorded)
    long = [entry.oversize for entry in recorded.entries]
    assert long == [False, True, True, False, True, True, True]


def test_w1_a_long_binary_message_goes_in_pieces():
    recorded, line = socket()
    data = b"\xff" * (9 * 1024 * 1024)
    frame_ = b"\x82\x7f" + len(data).to_bytes(8, "big") + data
    line.agent(frame_[:-10])
    line.agent(frame_[-10:])
    recheck(recorded)
    pieces = [entry for entry in recorded.entries if entry.oversize]
    assert [piece.key for piece in pieces] == ["b64"] * len(pieces)
    assert b"".join(piece.unit() for piece in pieces) == data


def test_batches():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("POST", "/x", b'[{"a":1}]'))
    line.agent(response(204))
    initialized(line)
    line.client(post(f"[{NEW}]", Acp_Connection_Id="c1"))
    line.agent(response(400))
    line.client(post(f"[{NEW}]", Acp_Connection_Id="c1", Acp_Session_Id="s"))
    line.agent(response(400))
    recheck(recorded)
    assert recorded.rules.count("jsonrpc/batch") == 2


def test_r17_across_streams_order_proves_nothing():
    """A resume without a snapshot is a violation only where the snapshot would have come."""
    resume = rpc(1, "session/resume", params={"sessionId": "s", "cwd": "/w"})

    def severities(**stream):
        recorded = Recorded()
        posts, events = recorded.line(), recorded.line()
        posts.client(post(INITIALIZE.replace(":1}", ":2}")))
        answer = INITIALIZED.replace(":1}", ":2}").encode()
        posts.agent(response(200, answer, Acp_Connection_Id="c1"))
        events.client(request("GET", Acp_Connection_Id="c1", **stream))
        events.agent(STREAM)
        posts.client(post(resume, Acp_Connection_Id="c1", Acp_Session_Id="s"))
        posts.agent(response(202))
        events.agent(event(rpc(1, result={})))
        recheck(recorded)
        return [
            said["severity"]
            for entry in recorded.entries
            for said in entry.front.get("notes", [])
            if said["rule"] == "acp/resume-without-snapshot"
        ]

    assert severities(Acp_Session_Id="s") == ["violation"]
    assert severities() == ["warning"]


def test_an_answer_that_nobody_asked_for():
    recorded = Recorded()
    line = recorded.line()
    line.agent(response(408, b"too late"))
    recheck(recorded)
    assert [e.get("http") or e.get("text") for e in recorded.brief] == [" ", 408, "too late"]


def test_an_end_of_nothing():
    assert Recorded().tap.line().from_agent([End(is_complete=True, trailers=[])], 0) == b""


def test_answers_that_are_no_http():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(b"SSH-2.0-OpenSSH_9.2\r\n")
    recheck(recorded)
    assert recorded.rules == ["http/opaque"]
    assert recorded.brief[-1]["text"] == "SSH-2.0-OpenSSH_9.2\r\n"


def test_upstream_is_down_for_what_is_no_http():
    recorded = Recorded()
    line = recorded.line()
    line.client(b"PRI * HTTP/2.0\r\n\r\n")
    line.unreachable("connection refused", response(502, b"no"))
    recheck(recorded)
    assert 502 in [e.get("http") for e in recorded.brief]


def test_a_side_of_a_socket_ends_once():
    recorded, line = socket()
    line.end(A)
    line.end(A, "reset")
    recheck(recorded)
    assert [e.get("event") for e in recorded.brief] == ["request", "response", "end"]


def test_a_connection_that_is_deleted_twice():
    recorded = Recorded()
    line = recorded.line()
    initialized(line)
    for _ in range(2):
        line.client(request("DELETE", Acp_Connection_Id="c1"))
        line.agent(response(202))
    recheck(recorded)
    assert recorded.rules == []


def test_a_redirect_to_no_url():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(response(302, Location="http://[bad"))
    recheck(recorded)
    assert recorded.rules == []


def test_many_exchanges_need_no_more_memory():
    recorded = Recorded()
    line = recorded.line()
    for _ in range(1500):
        line.client(request("GET", "/x"))
        line.agent(response(204))
    assert len(recorded.tap._exchanges._open) <= 1024
    recheck(recorded)


def test_a_tape_without_a_request():
    """Somebody has taken the line out: what belongs to it means nothing, and nothing fails."""
    recorded = conversation(Recorded())
    kept = [entry for entry in recorded.entries if entry.event != "request"]
    reader = checking.Reader()
    assert [reader.members(entry) for entry in kept] == [{}] * len(kept)


def test_secrets_in_odd_places():
    recorded = Recorded(Redactor())
    line = recorded.line()
    line.client(
        b"GET /x HTTP/1.1\r\nCookie: ; a=0123456789abcdef; Path=/x; b=\r\n"
        b"Authorization: Bearer s3cr3t-Token-1234\r\n\r\n"
    )
    line.agent(STREAM)
    line.agent(chunk(b'id: 1\ndata: {"text":"s3cr3t-Token-1234"}\nevent: message\n\n'))
    line.agent(b"0\r\nX-Api-Key: abcdefghijklmnop\r\n\r\n")
    tape = b"".join(recorded.tape).decode()
    for hidden in ("0123456789abcdef", "s3cr3t-Token-1234", "abcdefghijklmnop"):
        assert hidden not in tape
    assert "; Path=/x; b=" in tape
    block = 'id: 1\ndata: {"text":"[redacted:2]"}\nevent: message\n\n'
    assert block in [e.get("text") for e in recorded.brief]


@given(st.data())
def test_what_a_tap_writes_reads_the_same_again(data):
    recorded = Recorded()
    lines = [recorded.line() for _ in range(3)]
    initialized(lines[0])
    said = st.sampled_from([INITIALIZE, NEW, PROMPT, HI, DONE, NEWED, "[]", "x", ""])
    for _ in range(data.draw(st.integers(0, 12))):
        line = data.draw(st.sampled_from(lines))
        match data.draw(st.sampled_from(["post", "get", "answer", "stream", "event", "end"])):
            case "post":
                ids = data.draw(st.sampled_from([{}, {"Acp_Connection_Id": "c1"}]))
                line.client(post(data.draw(said), **ids))
            case "get":
                line.client(request("GET", Acp_Connection_Id="c1"))
            case "answer":
                line.agent(
                    response(
                        data.draw(st.sampled_from([200, 202, 400, 404, 409])),
                        data.draw(said).encode(),
                    )
                )
            case "stream":
                line.agent(STREAM)
            case "event":
                line.agent(event(data.draw(said)))
            case _:
                line.end(
                    data.draw(st.sampled_from([C, A])), data.draw(st.sampled_from(["", "reset"]))
                )
    recheck(recorded)
