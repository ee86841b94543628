"""What stands on the tape of AG-UI runs, and that a reader comes to the same."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.agui import proto
from acptap.cassette import Header
from acptap.http import HttpRequest
from acptap.rereading import fold_entries
from acptap.wire.sse import BlockSplitter
from acptap.witness.exchanges import Exchanges
from tests.tap.test_network import recheck
from tests.tap.wires import (
    INITIALIZE,
    LAST,
    STREAM,
    A,
    C,
    Recorded,
    chunk,
    event,
    post,
    request,
    response,
)

ASKED = json.dumps(
    {"threadId": "t", "runId": "r", "messages": [{"id": "u", "role": "user", "content": "hi"}]},
    separators=(",", ":"),
)
STARTED = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}'
FINISHED = '{"type":"RUN_FINISHED","threadId":"t","runId":"r"}'
OPENED = '{"type":"TEXT_MESSAGE_START","messageId":"m"}'
HI = '{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hi"}'
BINARY = STREAM.replace(b"text/event-stream", proto.MEDIA_TYPE.encode())
UNKNOWN = "agui/unknown-event"


def asked(recorded=None, text=ASKED, **headers):
    """A recording in which a run was asked for, and its line."""
    recorded = recorded or Recorded()
    line = recorded.line()
    line.client(post(text, **headers))
    return recorded, line


def agent(recorded):
    """What the agent's entries say, without times, numbers and payloads."""
    left_out = ("from", "exchange", "msg", "text", "b64", "session")
    return [
        {name: value for name, value in entry.items() if name not in left_out}
        for entry in recorded.brief
        if entry["from"] == "agent"
    ]


def test_a_run():
    recorded, line = asked()
    line.agent(STREAM + b"".join(map(event, (STARTED, OPENED, HI, HI, FINISHED))) + LAST)
    line.close()
    recheck(recorded)
    front = {"from": "agent", "exchange": 1, "stream": "events", "session": "t"}
    change = {"kind": "message", "index": 1, "id": "m"}
    assert recorded.brief == [
        {"from": "client", "exchange": 1, "http": "POST /acp", "event": "request"},
        {"from": "client", "exchange": 1, "session": "t", "msg": json.loads(ASKED)},
        {"from": "agent", "exchange": 1, "http": 200, "event": "response", "session": "t"},
        front | {"state": {"from": "idle", "to": "running", "basis": "reported"},
                 "msg": json.loads(STARTED)},
        front | {"updates": [change | {"change": "started"}], "msg": json.loads(OPENED)},
        front | {"updates": [change | {"change": "content"}], "msg": json.loads(HI)},
        front | {"updates": [change | {"change": "content"}], "msg": json.loads(HI)},
        front | {"state": {"from": "running", "to": "idle", "basis": "reported",
                           "reason": "end_turn"},
                 "updates": [{"kind": "error", "error": "protocol", "rule": "agui/left-open"},
                             {"kind": "done", "end": "success"}],
                 "notes": [{"rule": "agui/left-open", "severity": "violation", "what": "message",
                            "id": "m", "fails": ["typescript", "rust"]}],
                 "msg": json.loads(FINISHED)},
        front | {"event": "end"},
    ]  # fmt: skip


FAILED: list[dict[str, object]] = [{"kind": "error", "error": "transport", "fatal": True},
          {"kind": "done", "end": "failed"}]  # fmt: skip
ABORTED = [FAILED[0], FAILED[1] | {"aborted": True}]
TRUNCATED = [{"kind": "error", "error": "protocol", "rule": "agui/truncated", "fatal": True},
             {"kind": "done", "end": "failed"}]  # fmt: skip


def reset(line):
    line.end(A, "reset")


ENDS = {
    "14 the body ends too early": (lambda line: line.agent(LAST), "end", TRUNCATED),
    "15 a reset": (reset, "abort", FAILED),
    "a cut": (lambda line: line.end(A), "abort", FAILED),
    "16 the client leaves": (lambda line: line.close(), "abort", ABORTED),
    "16 and says so": (lambda line: line.end(C, "reset"), "abort", ABORTED),
    "C5 the client leaves after the end": (
        lambda line: (line.agent(event(FINISHED)), line.close()), "abort", None),
}  # fmt: skip


@pytest.mark.parametrize(("end", "name", "updates"), ENDS.values(), ids=ENDS)
def test_an_end(end, name, updates):
    recorded, line = asked()
    line.agent(STREAM + event(STARTED))
    end(line)
    recheck(recorded)
    last = recorded.brief[-1]
    assert (last["event"], last.get("updates")) == (name, updates)


def test_29_an_error_with_the_type_of_a_stream():
    recorded, line = asked()
    line.agent(STREAM.replace(b"200 OK", b"500 No") + event(STARTED) + chunk(b"data: x\n\n") + LAST)
    recheck(recorded)
    assert agent(recorded) == [
        {"http": 500, "event": "response",
         "updates": [{"kind": "error", "error": "http", "code": 500, "fatal": True},
                     {"kind": "done", "end": "failed"}],
         "notes": [{"rule": "agui/refused", "severity": "warning", "status": 500,
                    "fails": ["typescript", "rust"]}]},
        {"stream": "events"}, {"stream": "events"}, {"stream": "events", "event": "end"},
    ]  # fmt: skip


BODIES = {
    "422": (response(422, b'[{"input":{}}]', Content_Type="application/json"), ["agui/refused"]),
    "28 a redirect": (response(307, b"[]", Location="/agent/"), []),
    "empty": (response(200, Content_Type="text/event-stream"), ["agui/no-events"]),
    "27 nothing": (b"HTTP/1.1 204 No Content\r\n\r\n", ["agui/no-content", "agui/no-events"]),
    "a body of another type": (
        response(200, f"data: {STARTED}\n\ndata: {FINISHED}\n\n".encode(),
                 Content_Type="application/json"), ["agui/media-type"]),
    "NDJSON": (response(200, f"{STARTED}\n".encode(), Content_Type="application/json"),
               ["agui/media-type", "http/unframed", "http/half-event", "agui/no-events"]),
    "24 a coding": (
        response(200, gzip.compress(f"data: {STARTED}\n\ndata: {FINISHED}\n\n".encode()),
                 Content_Type="text/event-stream", Content_Encoding="gzip"), []),
    "a coding that is not known": (
        response(200, b"\x00\n\ndata: \xff\n\n", Content_Type="text/event-stream",
                 Content_Encoding="br"), ["http/coding", "http/unframed"]),
    "a coding that is damaged": (
        response(200, b"junk\n\n", Content_Type="text/event-stream", Content_Encoding="gzip"),
        ["http/coding", "http/unframed"]),
    "4 comments": (
        response(200, f": ping\n\ndata: {STARTED}\n\n: ping\n\ndata: {FINISHED}\n\n".encode(),
                 Content_Type="text/event-stream"), []),
    "5, 6 fields, and several lines of data": (
        response(200, f'event: x\nid: 7\ndata: {STARTED}\n\ndata: {{"type":"CUSTOM",\n'
                 f'data: "name":"a","value":1}}\n\ndata: {FINISHED}\n\n'.encode(),
                 Content_Type="text/event-stream"), []),
    "7 CRLF": (
        response(200, f"data: {STARTED}\r\n\r\ndata: {FINISHED}\r\n\r\n".encode(),
                 Content_Type="text/event-stream"), ["agui/line-ends"]),
    "10 a marker at the end": (
        response(200, f"data: {STARTED}\n\ndata: {FINISHED}\n\ndata: [DONE]\n\n".encode(),
                 Content_Type="text/event-stream"), ["agui/done-marker"]),
    "11 an empty event": (
        response(200, b"data:\n\n", Content_Type="text/event-stream"), ["agui/not-json"]),
    "12 no blank line at the end": (
        response(200, f"data: {STARTED}\n\ndata: {FINISHED}".encode(),
                 Content_Type="text/event-stream"), ["http/half-event"]),
    "13 half an event": (
        response(200, f'data: {STARTED}\n\ndata: {{"type":"TEXT_MES'.encode(),
                 Content_Type="text/event-stream"), ["agui/not-json", "http/half-event"]),
    "two events in one block": (
        response(200, f"data: {STARTED}\ndata: {FINISHED}\n\n".encode(),
                 Content_Type="text/event-stream"), ["agui/two-events"]),
    "an array": (response(200, b"data: []\n\n", Content_Type="text/event-stream"),
                 ["agui/not-object"]),
    "a line that is no field, before an event": (
        response(200, f"x\ndata: {STARTED[:-1]}\n\ndata: {FINISHED}\n\n".encode(),
                 Content_Type="text/event-stream"), ["http/unframed", "agui/not-json"]),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "rules"), BODIES.values(), ids=BODIES)
def test_a_body(answer, rules):
    recorded, line = asked()
    line.agent(answer)
    line.close()
    recheck(recorded)
    assert recorded.rules == rules


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128, number >> 7])


def field(number, data):
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def proto_frame(arm, type_, **fields):
    """A protobuf frame: an arm of the envelope, its number among the types, `f2` and so on."""
    base = field(1, b"\x08" + bytes([type_]))
    message = base + b"".join(field(int(name[1:]), said) for name, said in fields.items())
    event = field(arm, message)
    return len(event).to_bytes(4, "big") + event


FRAMES = [
    proto_frame(12, 11, f2=b"t", f3=b"r"),
    proto_frame(1, 0, f2=b"m", f3=b"assistant"),
    proto_frame(2, 1, f2=b"m", f3=b"hi"),
    proto_frame(3, 2, f2=b"m"),
    proto_frame(13, 12, f2=b"t", f3=b"r", f5=b"success"),
]


def binary(data, size=10_000):
    return BINARY + b"".join(chunk(data[n : n + size]) for n in range(0, len(data), size)) + LAST


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_25_26_protobuf(size):
    recorded, line = asked()
    line.agent(binary(b"".join(FRAMES), size))
    recheck(recorded)
    change = {"kind": "message", "index": 1, "id": "m"}
    frame = {"stream": "events", "frame": "proto"}
    assert agent(recorded) == [
        {"http": 200, "event": "response"},
        frame | {"state": {"from": "idle", "to": "running", "basis": "reported"}},
        frame | {"updates": [change | {"change": "started"}]},
        frame | {"updates": [change | {"change": "content"}]},
        frame | {"updates": [change | {"change": "ended"}]},
        frame | {"state": {"from": "running", "to": "idle", "basis": "reported",
                           "reason": "end_turn"},
                 "updates": [{"kind": "done", "end": "success"}]},
        {"stream": "events", "event": "end"},
    ]  # fmt: skip
    entries = [entry for entry in recorded.entries if entry.is_frame]
    assert [entry.unit() for entry in entries] == FRAMES
    assert {entry.key for entry in entries} == {"b64"}


CUT = {
    "in its middle": (FRAMES[0] + FRAMES[4][:-1], ["agui/broken-frame"]),
    "no frame": (b"\0\0\0\1x" + FRAMES[0] + FRAMES[4], ["agui/broken-frame"]),
    "an event of a later version": (
        FRAMES[0] + b"\0\0\0\3" + bytes([99 << 3 & 0x7F | 0x80 | 2, 6, 0]) + FRAMES[4], [UNKNOWN]),
}  # fmt: skip


@pytest.mark.parametrize(("data", "rules"), CUT.values(), ids=CUT)
def test_a_frame_that_is_none(data, rules):
    recorded, line = asked()
    line.agent(binary(data))
    recheck(recorded)
    assert recorded.rules == rules


def test_protobuf_that_nobody_asked_for():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(binary(b"".join(FRAMES)))
    recheck(recorded)
    assert recorded.entries[-1].unit() == b"".join(FRAMES)
    assert not recorded.entries[-1].is_frame


# What is no run, or was not asked for


def test_a_stream_of_events_that_nobody_is_known_to_have_asked_for():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/connect"))
    line.agent(STREAM + event('{"type":"CUSTOM"}') + event(STARTED) + event("[]") + LAST)
    recheck(recorded)
    states = [entry.front.get("state", {}).get("to") for entry in recorded.entries]
    assert states == [None, None, None, "running", None, None]
    assert recorded.rules == ["agui/not-object"]


NO_RUNS = {
    "another method": (request("PUT", body=ASKED.encode()), STREAM + event(FINISHED) + LAST),
    "no thread": (post('{"runId":"r","messages":[]}'),
                  STREAM + event('{"type":"RUN_STARTED"}') + LAST),
    "65 no JSON": (post("{"), STREAM + event("x") + event("[1]") + LAST),
    "an array": (post("[]"), response(200, b"[]")),
    "27 a preflight": (request("OPTIONS"), b"HTTP/1.1 204 No\r\n\r\n"),
    "an answer that is cut": (request("GET"), STREAM + event("1")),
    "a coding": (request("GET"), response(200, b"junk", Content_Encoding="gzip")),
}  # fmt: skip


@pytest.mark.parametrize(("client", "answer"), NO_RUNS.values(), ids=NO_RUNS)
def test_what_is_no_run(client, answer):
    recorded = Recorded()
    line = recorded.line()
    line.client(client)
    line.agent(answer)
    line.close()
    recheck(recorded)
    assert not any("session" in entry.front for entry in recorded.entries)
    assert {rule for rule in recorded.rules if rule.startswith("agui/")} == set()


def test_a_request_that_is_answered_before_it_is_complete_is_no_run():
    recorded = Recorded()
    line = recorded.line()
    data = post(ASKED)
    line.client(data[:-5])
    line.agent(response(413))
    line.client(data[-5:])
    recheck(recorded)
    assert not any("session" in entry.front for entry in recorded.entries)


def test_a_request_that_is_damaged_is_no_run():
    recorded = Recorded()
    line = recorded.line()
    line.client(post("{junk", Content_Encoding="gzip"))
    line.agent(STREAM + event(FINISHED))
    recheck(recorded)
    assert recorded.rules == ["http/coding"]


def test_frames_without_a_run():
    """Somebody has cut the request out of the cassette."""
    recorded, line = asked()
    line.agent(binary(b"".join(FRAMES)))
    entries = [entry for entry in recorded.entries if entry.number != 3]
    assert fold_entries(entries).threads == []


def run_of(protocol):
    exchange = Exchanges(protocol=protocol).request(1, HttpRequest("POST", "/", []))
    assert exchange.run is None
    exchange.channel.message(C, json.loads(ASKED), ASKED.encode())
    return exchange.run


def test_the_run_of_an_exchange():
    run = run_of("auto")
    assert run is not None
    assert run.thread == "t"
    assert run_of("acp") is None


def reread(recorded, protocol):
    header = Header(protocol, "http", "2026-11-30T16:00:00.000000Z", "", "acptap test")
    recheck(recorded, header)


FORCED = {
    "acp": (ASKED, [None] * 5),
    "ag-ui": (ASKED, [None, "t", "t", "t", "t"]),
    "auto": (ASKED, [None, "t", "t", "t", "t"]),
}


@pytest.mark.parametrize(("protocol", "row"), FORCED.items(), ids=FORCED)
def test_what_the_user_takes_it_for(protocol, row):
    text, sessions = row
    recorded, line = asked(Recorded(protocol=protocol), text)
    line.agent(STREAM + event(STARTED) + event(FINISHED))
    reread(recorded, protocol)
    assert [entry.front.get("session") for entry in recorded.entries] == sessions


def test_acp_that_the_user_takes_for_ag_ui():
    recorded, line = asked(Recorded(protocol="ag-ui"), INITIALIZE)
    line.agent(response(200, b"{}"))
    line.client(request("GET", Acp_Connection_Id="c1", Upgrade="websocket"))
    line.agent(response(400))
    reread(recorded, "ag-ui")
    assert recorded.rules == []


# Long units


def lines_of(recorded):
    return [entry for entry in recorded.entries if entry.oversize]


@pytest.fixture
def small(monkeypatch):
    """Pieces of a few bytes, and events that nobody reads from 1000 on."""
    monkeypatch.setattr("acptap.tap.exchange.BlockSplitter", lambda: BlockSplitter(64))
    monkeypatch.setattr("acptap.tap.exchange.FrameSplitter", lambda: proto.FrameSplitter(64))
    monkeypatch.setattr("acptap.tap.bodies.PIECE_LIMIT", 64)
    monkeypatch.setattr("acptap.witness.runs._LONGEST", 1000)


def pieces(data, size=50):
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.usefixtures("small")
def test_23_a_long_request_and_long_events():
    recorded = Recorded()
    line = recorded.line()
    image = ASKED.replace('"hi"', json.dumps("x" * 300))
    for part in pieces(post(image)):
        line.client(part)
    line.agent(STREAM + event(STARTED))
    for size in (100, 2000):
        said = f'{{"type":"CUSTOM","name":"a","value":"{"x" * size}"}}'
        for part in pieces(b"data: " + said.encode() + b"\n\n"):
            line.agent(chunk(part))
    for part in pieces(b"data: " + b"[" * 200 + b"\n\n"):
        line.agent(chunk(part))
    for part in pieces(b"data: [" + b"1," * 200 + b"1]\n\n"):
        line.agent(chunk(part))
    recheck(recorded)
    long = [note for entry in recorded.entries for note in entry.front.get("notes", ())
            if note["rule"] == "agui/long-event"]  # fmt: skip
    assert [note["fails"] for note in long] == [
        ["rust"], ["typescript", "rust"], ["rust"], ["rust"]]  # fmt: skip
    assert recorded.rules.count("agui/not-json") == recorded.rules.count("agui/not-object") == 1
    assert recorded.entries[-1].front["session"] == "t"


@pytest.mark.usefixtures("small")
def test_long_bodies_that_are_no_runs():
    recorded = Recorded()
    line = recorded.line()
    for text in ("x" * 200, "[" + "1," * 200 + "1]", '"' + "x" * 200 + '"'):
        for part in pieces(post(text)):
            line.client(part)
        line.agent(response(200, text.encode()))
    line.client(request("GET"))
    line.agent(STREAM)
    for part in pieces(b"data: [" + b"1," * 200 + b"\n\n"):
        line.agent(chunk(part))
    recheck(recorded)
    assert set(recorded.rules) == {"http/oversize"}


@pytest.mark.usefixtures("small")
def test_long_frames():
    recorded, line = asked()
    line.agent(BINARY + chunk(FRAMES[0]))
    delta = b"".join(b"%d" % n for n in range(100))[:100]
    long = b"\0\0\7\xd0" + bytes(2000)
    for data in (proto_frame(2, 1, f2=b"m", f3=delta), long, FRAMES[4]):
        for part in pieces(data):
            line.agent(chunk(part))
    recheck(recorded)
    assert recorded.rules.count("agui/long-event") == 2
    assert recorded.rules.count("agui/message-not-open") == 1
    assert recorded.rules.count("agui/broken-frame") == 0


# Values


def test_fold():
    recorded, line = asked()
    line.agent(STREAM + event(STARTED) + event(OPENED) + event(HI))
    folded = fold_entries(recorded.entries)
    thread = folded.thread("t")
    assert (thread.text, thread.line) == ("hi", 3)
    assert [message.line for message in thread.messages] == [3, 6]
    assert thread is folded.thread()
    assert folded.as_json()["threads"] == [thread.as_json()]
    assert fold_entries(recorded.entries, 6).thread().text == ""
    with pytest.raises(KeyError):
        folded.thread("x")


def test_fold_of_a_long_request():
    """Kept values are whole, however long the unit is."""
    recorded, line = asked(text=ASKED.replace('"hi"', json.dumps("x" * 5000)))
    line.agent(binary(b"".join(FRAMES)))
    assert fold_entries(recorded.entries).thread().messages[0].content == "x" * 5000


def test_what_waits_for_an_answer():
    recorded, line = asked()
    outcome = '"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x"}]}'
    line.agent(STREAM + event(STARTED) + event(f"{FINISHED[:-1]},{outcome}}}"))
    assert [interrupt.id for interrupt in fold_entries(recorded.entries).waiting] == ["i"]


# Anything


SAID = st.sampled_from([
    STARTED, FINISHED, OPENED, HI, "[]", "x", "", "[DONE]", '{"type":"RUN_ERROR","message":"no"}',
    '{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}', '{"type":"MESSAGES_SNAPSHOT","messages":[]}',
    '{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1}]}',
])  # fmt: skip


def passing(draw, recorded, lines):
    """Let something pass on a line; one that has ended makes room for another."""
    place = draw(st.integers(0, len(lines) - 1))
    line = lines[place]
    thread = draw(st.sampled_from(["t", "s"]))
    status = draw(st.sampled_from([200, 204, 307, 500]))
    reason = draw(st.sampled_from(["", "reset"]))
    parts = {
        "post": lambda: line.client(post(ASKED.replace('"t"', f'"{thread}"'))),
        "get": lambda: line.client(request("GET")),
        "answer": lambda: line.agent(response(status, draw(SAID).encode())),
        "stream": lambda: line.agent(STREAM),
        "binary": lambda: line.agent(BINARY),
        "event": lambda: line.agent(event(draw(SAID))),
        "frame": lambda: line.agent(chunk(draw(st.sampled_from(FRAMES)))),
        "raw": lambda: line.agent(chunk(draw(st.binary(min_size=1, max_size=9)))),
        "end": lambda: line.end(draw(st.sampled_from([C, A])), reason),
    }
    name = draw(st.sampled_from([*parts]))
    parts[name]()
    if name == "end":
        line.close()
        lines[place] = recorded.line()


@given(st.data())
def test_what_a_tap_writes_reads_the_same_again(data):
    recorded = Recorded()
    lines = [recorded.line() for _ in range(3)]
    for _ in range(data.draw(st.integers(0, 15))):
        passing(data.draw, recorded, lines)
    recheck(recorded)
    fold_entries(recorded.entries)


@pytest.mark.usefixtures("small")
def test_what_is_taken_for_acp_and_is_none():
    recorded, line = asked(Recorded(protocol="acp"), "[1]")
    line.agent(response(200, b"x" * 200))
    for part in pieces(post("x" * 200)):
        line.client(part)
    reread(recorded, "acp")
    assert set(recorded.rules) == {"http/oversize"}
