"""AG-UI: rows of runs, the header, and the trees of threads."""

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.agui import events
from acptap.app.show.export import json_line
from acptap.app.show.threads import Thread
from acptap.cassette import DONE
from acptap.rereading import fold_entries
from acptap.timeline import exchanges, titles
from acptap.timeline.rows import Timeline
from acptap.wire.jsontext import parse
from tests.agui.plays import event as spelled
from tests.tap.test_runs import ASKED, BINARY, asked
from tests.tap.wires import LAST, STREAM, A, C, Recorded, chunk, event, post, request, response
from tests.timeline.test_command import followed, shown
from tests.timeline.test_network import (
    decoded,
    drawn,
    head_of,
    header,
    over_http,
    rows_of,
    said_by,
)

ROOT = Path(__file__).parents[2]
CASSETTES = sorted((ROOT / "cassettes" / "ag-ui").glob("*.jsonl"))
LEFT_OUT = "LEFT OUT"
TYPES = events.EVENTS | events.RETIRED
KNOWN = {name for kind in TYPES.values() for name in [*kind.required, *kind.optional]}
OTHERS_KNOWN = ["content", "id", "role", "toolCalls", "function", "type", "resume", "interruptId",
                "interrupts", "state", "op", "path", "text", "name", "error"]  # fmt: skip
MEMBERS = st.sampled_from([*sorted(KNOWN), *OTHERS_KNOWN])


def request_of(*messages, **members):
    """The text of a request with these messages, each `role content` or a value."""
    values = [message if isinstance(message, dict) else _message(message) for message in messages]
    return json.dumps({"threadId": "t", "runId": "r", "messages": values} | members)


def _message(words):
    role, _, content = words.partition(" ")
    return {"id": f"{role}-{content}", "role": role, "content": content}


def passed(play, text=ASKED, recorded=None, *, last=True):
    """A recording of a run: its events as in `tests.agui.plays`, a line each."""
    recorded, line = asked(recorded, text)
    line.agent(STREAM)
    for words in filter(None, play.split("\n")):
        line.agent(event(json.dumps(spelled(words))))
    if last:
        line.agent(LAST)
    return recorded


def told(recorded, **options):
    rows, _ = drawn(recorded.entries, **options)
    return [said_by(row) for row in rows]


def row_of(words, before="RS\n"):
    """What the last row says, and whether it says anything new."""
    *_, row = rows_of(passed(before + words, last=False).entries)
    said = f"{row.reading.what} {row.gist}".rstrip()
    return f"{said} {LEFT_OUT}" if row.reading.is_routine else said


# A run


def test_a_run():
    recorded = passed('RS\nTMS m\nTMC m hi\nTMC m {"delta":" there"}\nTME m\nRF')
    assert told(recorded) == [
        "client -> POST /acp",
        'client -> run "hi" thread t',
        "agent <- 200 text/event-stream to POST /acp",
        "agent <- RUN_STARTED r => running",
        "agent <- TEXT_MESSAGE_START m",
        'agent <- TEXT_MESSAGE_CONTENT "hi"',
        'agent <- TEXT_MESSAGE_CONTENT " there"',
        "agent <- TEXT_MESSAGE_END m",
        "agent <- RUN_FINISHED => idle (end_turn)",
        "agent -- ended the event stream",
    ]
    assert told(recorded, all_rows=False) == [
        'client -> run "hi" thread t',
        "agent <- RUN_STARTED r => running",
        'agent <- TEXT_MESSAGE_CONTENT "hi"',
        'agent <- TEXT_MESSAGE_CONTENT " there"',
        "agent <- RUN_FINISHED => idle (end_turn)",
    ]


def put(recorded, **members):
    path = Path("x.jsonl")
    path.write_bytes(b"".join([header(**members).encode(), *recorded.tape]))
    return path


def test_it_is_shown(folder):
    path = put(passed('RS\nTCS c {"toolCallName":"f"}\nTCA c {"delta":"{\\"a\\""}\n'
                      'TCA c {"delta":":1}"}\nTCE c\nRF'))  # fmt: skip
    assert shown(path).splitlines() == [
        "# cassette  x.jsonl",
        "# protocol  ag-ui (version not settled) over http",
        "# agent     http://127.0.0.1:9000/acp",
        "# recorded  2026-11-30T16:00:00.000000Z, 0.008 s, 10 entries  acptap 0.1.0",
        "# sessions  s1  t  idle",
        "# notes     none",
        "",
        '    0.000 .  s1 client -> run "hi" thread t',
        "    0.002 R  s1  agent <- RUN_STARTED r => running",
        "    0.003 R  s1  agent <- TOOL_CALL_START f",
        '    0.004 R  s1  agent <- TOOL_CALL_ARGS x2 to 0.005 f {"a":1}',
        "    0.007 .  s1  agent <- RUN_FINISHED => idle (end_turn)",
        "",
        "# left out  4 entries that say nothing new; --expand shows them",
    ]


SELECTED = {
    "a type": ({"kinds": ["RUN_ERROR"]}, ['RUN_ERROR 7 "no" => idle (error)']),
    "what failed": ({"kinds": ["error"]}, ['RUN_ERROR 7 "no" => idle (error)']),
    "requests": ({"kinds": ["run"]}, ['run "hi" thread t', 'run "on" thread u']),
    "events": ({"kinds": ["notification"], "session": "u"}, ["RUN_STARTED r => running"]),
    "a thread": ({"session": "u"}, ['run "on" thread u', "RUN_STARTED r => running"]),
    "a label": ({"session": "s2", "tail": 1}, ["RUN_STARTED r => running"]),
    "a text": ({"pattern": '"code"'}, ['RUN_ERROR 7 "no" => idle (error)']),
}


@pytest.mark.parametrize(("options", "said"), SELECTED.values(), ids=SELECTED)
def test_a_part_is_shown(options, said, folder):
    recorded = passed('RS\nRE {"code":"7"}')
    passed('RS {"threadId":"u"}', request_of("user on", threadId="u"), recorded,
           last=False)  # fmt: skip
    _, rows, *_ = shown(put(recorded), **options).split("\n\n")
    assert [line[27:] for line in rows.splitlines()] == said


# Requests

TWO_CALLS = {
    "id": "a", "role": "assistant",
    "toolCalls": [{"id": "c", "function": {"name": "choose"}}, {"id": "d"}],
}  # fmt: skip
REQUESTS = {
    "nothing": (request_of(), "thread t"),
    "what is new": (
        request_of("user old", "assistant said", "system quiet", "user one", "user two"),
        '"one" "two" thread t',
    ),
    "nothing new": (request_of("user old", "assistant said"), "thread t"),
    "parts": (
        request_of({"id": "u", "role": "user", "content": [
            {"type": "text", "text": "see"}, {"type": "image", "mimeType": "image/png"},
        ]}),
        '"see [image image/png]" thread t',
    ),
    "what tools came to": (
        request_of(
            TWO_CALLS, {"id": "x", "role": "tool", "toolCallId": "c", "content": "blue"},
            {"id": "y", "role": "tool", "toolCallId": "d", "content": "", "error": "none"},
            {"id": "z", "role": "tool", "content": "?"},
        ),
        'result of choose "blue" result of d error "" result of "?" thread t',
    ),
    "answers to what nobody is known to have asked": (
        request_of(resume=[{"interruptId": "i", "status": "resolved", "payload": {"ok": True}},
                           {"interruptId": "j", "status": "cancelled"}]),
        "resume i resolved ok=true, j cancelled thread t",
    ),
    "a branch": (request_of("user hi", parentRunId="p"), '"hi" thread t after p'),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), REQUESTS.values(), ids=REQUESTS)
def test_a_request(text, said):
    recorded, _ = asked(text=text)
    row = rows_of(recorded.entries)[-1]
    assert (row.reading.what, row.gist, row.reading.id) == ("run", said, "r")


def test_a_thread_is_named_once_and_what_was_asked_is_known():
    recorded = passed(
        'RS\nRF {"outcome":{"type":"interrupt","interrupts":'
        '[{"id":"i","reason":"x","message":"Sure?"},{"id":"j","reason":"choice"}]}}'
    )
    answers = [{"interruptId": id_, "status": "resolved", "payload": "y"} for id_ in "ij"]
    passed("", request_of(resume=answers), recorded, last=False)
    rows = told(recorded, all_rows=False)
    assert rows[2:] == [
        'agent <- RUN_FINISHED interrupt "Sure?", choice => requires_action',
        'client -> run resume "Sure?" resolved y, choice resolved y',
    ]


def test_names_that_were_told_long_ago_are_forgotten(monkeypatch):
    monkeypatch.setattr(titles, "_KEPT", 1)
    calls = 'TCS c {"toolCallName":"f"}\nTCS d {"toolCallName":"g"}\n'
    assert row_of(f"{calls}TCE c") == f"TOOL_CALL_END c {LEFT_OUT}"
    assert row_of(f"{calls}TCE d") == f"TOOL_CALL_END g {LEFT_OUT}"


# Events

AGENTS = 'RS\nSAS s {"name":"clerk"}\n'
CALL = 'RS\nTCS c {"toolCallName":"boil"}\n'
ROWS = {
    "RS": "RUN_STARTED r",
    'RF {"outcome":{"type":"success"},"result":{"a":1}}':
        "RUN_FINISHED success a=1",
    'RF {"outcome":{"type":"cancelled"}}': "RUN_FINISHED cancelled",
    "STS plan": "STEP_STARTED plan",
    "STF plan": "STEP_FINISHED plan",
    "TMS m assistant": f"TEXT_MESSAGE_START assistant m {LEFT_OUT}",
    "TMS m user": "TEXT_MESSAGE_START user m",
    'TMS m {"name":"Ada"}': "TEXT_MESSAGE_START Ada m",
    "TMK m hi": 'TEXT_MESSAGE_CHUNK "hi"',
    "RGS m": f"REASONING_START m {LEFT_OUT}",
    "RMS m": f"REASONING_MESSAGE_START m {LEFT_OUT}",
    "RMK m hm": 'REASONING_MESSAGE_CHUNK "hm"',
    "REV m": "REASONING_ENCRYPTED_VALUE message m",
    "THINKING_START": f"THINKING_START {LEFT_OUT}",
    'THINKING_START {"title":"Tea"}': "THINKING_START Tea",
    'SS {"snapshot":{"a":{"b":[1]}}}': "STATE_SNAPSHOT a={b=1}",
    'SS {"snapshot":null}': "STATE_SNAPSHOT null",
    'SD {"delta":[{"op":"add","path":"/a","value":{"b":1}},{"op":"copy","from":"/a","path":"/c"}]}':
        "STATE_DELTA add /a {b=1}, copy /a /c",
    'SD {"delta":[{"op":"test","path":"","value":{}},{},{},{},{}]}':
        "STATE_DELTA test {}, , , , ...",
    'MS {"messages":[{"id":"a"}]}': "MESSAGES_SNAPSHOT 1 message",
    'MS {"messages":[]}': "MESSAGES_SNAPSHOT 0 messages",
    'AS a {"activityType":"search","content":{"for":"tea"}}': "ACTIVITY_SNAPSHOT search for=tea",
    "SAS s": "SUBAGENT_STARTED n",
    'SAS s {"description":"Looks"}': 'SUBAGENT_STARTED n "Looks"',
    'RAW {"source":"llm","event":{"a":1}}': "RAW llm a=1",
    "RAW": "RAW",
    "CUSTOM tick": "CUSTOM tick",
    'CUSTOM tick {"value":[1,2]}': "CUSTOM tick 1,2",
    'SHINY {"a":1,"timestamp":5}': "SHINY a=1",
}  # fmt: skip


@pytest.mark.parametrize(("words", "said"), ROWS.items(), ids=ROWS)
def test_an_event(words, said):
    before = "" if words == "RS" else "RS\n"
    assert row_of(words, before) == said


LATER = {
    "TCA c {}": (CALL, "TOOL_CALL_ARGS boil"),
    "TCE c": (CALL, f"TOOL_CALL_END boil {LEFT_OUT}"),
    "TCR r c hot": (f"{CALL}TCE c\n", 'TOOL_CALL_RESULT boil "hot"'),
    'TCR r c {"content":[{"type":"text","text":"a"}]}': (
        f"{CALL}TCE c\n", 'TOOL_CALL_RESULT boil "a"',
    ),
    'REV c {"subtype":"tool-call"}': (CALL, "REASONING_ENCRYPTED_VALUE tool-call boil"),
    'AD a {"patch":[{"op":"remove","path":"/x"}]}': (
        'RS\nAS a {"content":{"x":1}}\n', "ACTIVITY_DELTA a remove /x",
    ),
    "TMS m @s": (AGENTS, f"TEXT_MESSAGE_START clerk: m {LEFT_OUT}"),
    "TMK m hi @s": (AGENTS, 'TEXT_MESSAGE_CHUNK clerk: "hi"'),
    'TCK c @s {"toolCallName":"f","delta":"{}"}': (AGENTS, "TOOL_CALL_CHUNK clerk: f {}"),
    'SS @s {"snapshot":{}}': (AGENTS, "STATE_SNAPSHOT clerk:"),
    'SAF s {"outcome":{"type":"suspended"},"result":5}': (
        AGENTS, "SUBAGENT_FINISHED clerk suspended 5",
    ),
    'SAE s {"code":"c"}': (AGENTS, 'SUBAGENT_ERROR clerk c "no"'),
}  # fmt: skip


@pytest.mark.parametrize(("words", "before", "said"),
                         [(words, *row) for words, row in LATER.items()], ids=LATER)  # fmt: skip
def test_a_later_event(words, before, said):
    assert row_of(words, before) == said


def folded_rows(play, **options):
    """The rows that are shown, without times."""
    lines = (
        shown(put(passed(play, last=False)), **options).partition("\n\n")[2].partition("\n\n")[0]
    )
    return [line[26:] for line in lines.splitlines()]


def test_chunks_without_an_id_go_on_with_the_last_one_of_their_agent(folder):
    play = f'{AGENTS}TMK m @s {{"delta":"a"}}\nTMK {{"subagentRunId":"s","delta":"b"}}'
    assert folded_rows(play)[3:] == ['TEXT_MESSAGE_CHUNK x2 to 0.005 clerk: "ab"']
    assert folded_rows("RS\nTMK m a\nTMK n b\nTMK {\"delta\":\"c\"}")[2:] == [
        'TEXT_MESSAGE_CHUNK "a"', 'TEXT_MESSAGE_CHUNK x2 to 0.005 "bc"',
    ]  # fmt: skip


def test_parts_of_different_types_are_kept_apart(folder):
    play = 'RS\nRMS m\nTMS n\nRMC m hm\nTMC n hi\nTMC n {"delta":" you"}'
    assert folded_rows(play)[2:] == [
        'REASONING_MESSAGE_CONTENT "hm"', 'TEXT_MESSAGE_CONTENT x2 to 0.007 "hi you"',
    ]  # fmt: skip


def test_thinking_of_former_versions_is_one_row(folder):
    part = 'THINKING_TEXT_MESSAGE_CONTENT {"delta":"x"}\n'
    play = f"RS\nTHINKING_START\nTHINKING_TEXT_MESSAGE_START\n{part}{part}"
    assert folded_rows(play)[-1] == 'THINKING_TEXT_MESSAGE_CONTENT x2 to 0.006 "xx"'


def test_how_long_a_run_took():
    *_, row, _ = rows_of(passed("RS\nRF").entries)
    assert row.reading.took == pytest.approx(0.003)


# What is no event, and what is no run


def blocks(*texts):
    recorded, line = asked()
    line.agent(STREAM)
    for text in texts:
        line.agent(chunk(text.encode()))
    return told(recorded)[3:]


def test_what_is_no_event_is_shown_as_it_is():
    assert [row.partition(" [")[0] for row in blocks(
        "data: [1]\n\n", "data: {}\n\n", 'data: {"type":5}\n\n', "data: oops\n\n", ": alive\n\n",
    )] == [
        "agent <- event", "agent <- event {}", 'agent <- event {"type":5}',
        'agent <- event "oops"', 'agent <- comment "alive"',
    ]  # fmt: skip


def test_an_end_before_the_run_is_over():
    recorded = passed("RS")
    assert told(recorded, all_rows=False)[-1] == (
        "agent -- ended the event stream [violation agui/truncated fails=rust]"
    )


def test_an_end_without_notes_before_the_run_is_over():
    lines = [b.decode() for b in passed("RS").lines]
    last = json.loads(lines[-1])
    del last["notes"]
    rows, _ = drawn(decoded(*lines[:-1], json.dumps(last)), all_rows=False)
    assert said_by(rows[-1]) == "agent -- ended the event stream"


@pytest.mark.parametrize(("side", "reason", "said"), [
    (C, "", "client -- left the event stream"),
    (A, "reset", "agent -- reset the event stream [warning http/cut]"),
    (A, "", "agent -- cut off the event stream [warning http/cut]"),
])  # fmt: skip
def test_a_run_that_breaks_off(side, reason, said):
    recorded, line = asked()
    line.agent(STREAM)
    line.agent(event(json.dumps(spelled("RS"))))
    line.end(side, reason)
    line.end(side.other, reason)
    assert told(recorded, all_rows=False)[-1] == said


REFUSED = {
    "text": (response(404, b"Not Found", Content_Type="text/plain"),
             ["agent <- 404 text/plain to POST /acp",
              'agent <- body text/plain, 9 bytes "Not Found"']),
    "JSON": (response(503, b'{"type":"RUN_ERROR"}', Content_Type="application/json"),
             ["agent <- 503 application/json to POST /acp",
              'agent <- body application/json, 20 bytes {"type":"RUN_ERROR"}']),
    "elsewhere": (response(307, Location="/x"), ["agent <- 307 to POST /acp leads to /x"]),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "said"), REFUSED.values(), ids=REFUSED)
def test_a_run_that_is_refused(answer, said):
    recorded, line = asked()
    line.agent(b"HTTP/1.1 103 Early Hints\r\n\r\n")
    line.agent(answer)
    rows = told(recorded, all_rows=False)
    assert [row.partition(" [")[0] for row in rows] == ['client -> run "hi" thread t', *said]
    assert all(row.conn is None for row in rows_of(recorded.entries))
    assert rows_of(recorded.entries)[-1].sessions == ("t",)


def test_a_refused_run_is_over(monkeypatch):
    monkeypatch.setattr(exchanges, "_KEPT", 1)
    recorded, line = asked()
    line.agent(response(503))
    line.client(post(ASKED))
    line.agent(STREAM)
    for _ in range(2):
        line = recorded.line()
        line.client(request("GET", "/x"))
        line.agent(response(204))
    timeline = Timeline()
    for entry in recorded.entries:
        timeline.row(entry)
    assert list(timeline.reader.exchanges._known) == [2, 4]


OTHERS = {
    "no request": (post('{"threadId":"t"}'), "RUN_ERROR"),
    "another method": (request("PUT", body=ASKED.encode()), "RUN_ERROR"),
    "no thread": (request("GET", "/x"), '"RUN_STARTED","runId":"r"'),
    "no run": (request("GET", "/x"), '"RUN_STARTED","threadId":"t"'),
    "ACP": (post(ASKED, Acp_Connection_Id="c"), "RUN_ERROR"),
}


@pytest.mark.parametrize(("ask", "type_"), OTHERS.values(), ids=OTHERS)
def test_what_is_no_run(ask, type_):
    recorded = Recorded()
    line = recorded.line()
    line.client(ask)
    line.agent(STREAM)
    line.agent(event(f'{{"type":"{type_.strip(chr(34))}"}}' if '"' not in type_
                     else f'{{"type":{type_}}}'))  # fmt: skip
    timeline = Timeline()
    methods = {timeline.row(entry).reading.method for entry in recorded.entries}
    assert methods <= {"POST", "PUT", "GET", None}
    assert not timeline.reader.exchanges.has_runs


def test_a_run_that_nobody_is_known_to_have_asked_for():
    recorded = Recorded()
    line = recorded.line()
    line.client(request("GET", "/x"))
    line.agent(STREAM)
    for words in ("RS", "RE"):
        line.agent(event(json.dumps(spelled(words))))
    assert told(recorded, all_rows=False) == [
        "client -> GET /x",
        "agent <- 200 text/event-stream to GET /x",
        "agent <- RUN_STARTED r => running",
        'agent <- RUN_ERROR "no" => idle (error)',
    ]


# Protobuf


def framed(*frames):
    recorded, line = asked()
    line.agent(BINARY)
    for frame in frames:
        line.agent(chunk(frame))
    return recorded


START = base64.b64decode("AAAAF2IVCgIICxIIdGhyZWFkLTEaBXJ1bi0x")


def test_frames_are_read():
    rows = told(framed(START, b"\0\0\0\1x"), all_rows=False)
    assert [row.partition(" [")[0] for row in rows] == [
        'client -> run "hi" thread t',
        "agent <- RUN_STARTED run-1 => running",
        "agent <- a frame of 5 bytes that holds no event",
    ]


def test_frames_as_json(folder):
    path = put(framed(START, b"\0\0\0\1x"))
    lines = [json.loads(line) for line in shown(path, json=True).splitlines()]
    assert [(line["kind"], line["method"], line["payload"]) for line in lines[3:]] == [
        ("notification", "RUN_STARTED",
         {"type": "RUN_STARTED", "threadId": "thread-1", "runId": "run-1"}),
        ("noise", None, "\0\0\0\1x"),
    ]  # fmt: skip
    assert (lines[1]["kind"], lines[1]["method"], lines[1]["id"]) == ("request", "run", "r")
    assert lines[3] | {"session": "t", "label": "s1", "state": "running", "conn": None,
                       "stream": "events", "exchange": 1} == lines[3]  # fmt: skip


def test_frames_are_searched(folder):
    path = put(framed(START, b"\0\0\0\1x"))
    rows = shown(path, pattern='"threadId":"thread-1"').splitlines()
    assert [row[26:] for row in rows if "agent <-" in row] == [
        "RUN_STARTED run-1 => running [warning agui/other-run]"
    ]


def test_a_frame_whose_request_was_lost():
    lines = [line.decode() for line in framed(START).lines]
    rows, _ = drawn(decoded(lines[-1]))
    assert rows[0].endswith("RUN_STARTED run-1 => running [warning agui/other-run]")


TWINS = [path for path in CASSETTES if path.stem.endswith("-in-binary")]


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_a_run_reads_the_same_in_both_forms(path):
    def rows(path):
        lines = [json.loads(line) for line in shown(path, json=True).splitlines()]
        said = [(line["kind"], line["method"], line["gist"]) for line in lines]
        return [row for row in said if row[0] not in ("http", "notification")], [
            row for row in said if row[0] == "notification"
        ]

    plain = path.with_name(path.name.replace("-in-binary", ""))
    binary, text = rows(path), rows(plain)
    if "aborted" not in path.stem:  # when it was is chance
        assert binary[1] == text[1]
    assert [row[:2] for row in binary[0]] == [row[:2] for row in text[0]]


# The recordings


@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: path.stem)
def test_a_recording(path):
    """Each entry of a run has a name, and its tree is the same by --session."""
    lines = [json.loads(line) for line in shown(path, json=True).splitlines()]
    assert all(line["kind"] in ("request", "notification", "http", "noise") for line in lines)
    assert all(line["method"] for line in lines if line["kind"] != "noise")
    head, _, rows = shown(path).partition("\n\n")
    assert "# protocol  ag-ui " in head
    assert " over http\n" in head
    assert "# sessions  s1  peer-thread-1  " in head
    assert rows.startswith(("    0.", "    1."))
    whole = shown(path, tree=True)
    assert whole.count("\nthread s1 peer-thread-1  ") == 1
    assert shown(path, tree=True, session="s1") == whole
    assert json.loads(shown(path, tree=True, json=True, session="s1")) == parse(
        shown(path, tree=True, json=True).encode()
    )


def test_follow(folder, looks):
    recorded = passed("RS\nTMC m hi\nTMC m x\nRF")
    put(recorded, redaction=DONE)
    looks(b"", b"", b"")
    rows = [line[26:] for line in followed() if line]
    assert rows[-4:-1] == [
        "RUN_STARTED r => running",
        (
            'TEXT_MESSAGE_CONTENT x2 to 0.004 "hix" '
            "[violation agui/message-not-open id=m fails=typescript,rust]"
        ),
        "RUN_FINISHED => idle (end_turn)",
    ]


# The header


def run_in(version, thread="t"):
    def act(line):
        line.client(post(request_of(threadId=thread)))
        line.agent(STREAM)
        said = {"protocolVersion": version} if version else {}
        line.agent(event(json.dumps(spelled(f"RS {json.dumps({'threadId': thread} | said)}"))))
        line.agent(event(json.dumps(spelled("RF"))))
        line.agent(event('{"type":"RUN_STARTED","protocolVersion":"never read"}'))
        line.agent(event("RUN_STARTED is no JSON") + LAST)

    return act


def refused(line):
    line.client(post('{"threadId":1'))
    line.agent(response(400))
    line.client(post(ASKED))
    line.agent(STREAM)
    line.agent(event("RUN_STARTED is no JSON") + LAST)


def in_frames(line):
    line.client(post(ASKED))
    line.agent(BINARY)
    line.agent(chunk(START) + LAST)


OVER = {
    "a version": ([run_in("1.0")], "ag-ui 1.0 over http"),
    "two": ([run_in("1.0"), run_in("1.1", "u")], "ag-ui 1.0 and 1.1 over http"),
    "none": ([run_in(None)], "ag-ui (version not settled) over http"),
    "a run without a beginning": ([refused], "ag-ui (version not settled) over http"),
    "frames": ([in_frames], "ag-ui (version not settled) over http"),
    "ACP beside it": ([over_http, run_in("1.0")], "acp 1 over http, ag-ui 1.0 over http"),
}


@pytest.mark.parametrize(("acts", "said"), OVER.values(), ids=OVER)
def test_the_header(acts, said):
    recorded = Recorded()
    for act in acts:
        act(recorded.line())
    assert head_of(recorded.entries)[1] == said


def test_the_header_believes_who_named_the_protocol():
    assert head_of([], protocol="ag-ui")[1] == "ag-ui (version not settled) over http"


# Trees


def tree_of(recorded, *, at=None, width=None):
    folded = fold_entries(recorded.entries, at)
    lines = [line for view in folded.threads for line in Thread(view, "s1", width).lines()]
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


TREES = {
    "a run": (
        'RS\nRMK q hm\nTMS m\nTMC m {"delta":"one\\ntwo"}\nTME m\nRF',
        """
thread s1 t  idle
  run 1  success
    user       hi
    thought    hm
    agent      one
               two
""",
    ),
    "a run under way": (
        "RS\nTMK m hi", """
thread s1 t  running
  run 1  under way
    user       hi
    agent      hi
""",
    ),
    "tool calls": (
        ('RS\nTMK m hi\nTCS c m {"toolCallName":"boil"}\nTCA c {"delta":"{\\"cups\\":2}"}\nTCE c\n'
        "TCR r c hot\nTCS d {\"toolCallName\":\"pour\"}\nTCE d\nTCR x gone lost\nRF"),
        """
thread s1 t  idle
  run 1  success
    user       hi
    agent      hi
    tool       boil {"cups":2}  completed
               hot
    tool       pour  pending
    tool       lost
""",
    ),
    "tool calls as they are restated": (
        ('RS\nMS {"messages":[{"id":"s","role":"system","content":"be brief"},'
        '{"id":"e","role":"assistant","content":""},'
        '{"id":"a","role":"assistant","toolCalls":[{"id":"c"},{"id":"d"}]},'
        '{"id":"r","role":"tool","toolCallId":"c","content":"","error":"no fire"},'
        '{"id":"q","role":"tool","toolCallId":"d","content":[{"type":"text","text":"ok"},'
        '{"type":"image","mimeType":"image/png"}]}]}\nRF'),
        """
thread s1 t  idle
  run 1  success
    system     be brief
    agent
    tool       c  failed
               no fire
    tool       d  completed
               ok
               [image image/png]
""",
    ),
    "a long argument": (
        f'RS\nTCS c {{"toolCallName":"f"}}\nTCA c {"x" * 400}', f"""
thread s1 t  running
  run 1  under way
    user       hi
    tool       f {"x" * 300}...  pending
""",
    ),
    "beside the conversation": (
        ('RS\nSS {"snapshot":{"a":1,"b":[{}]}}\nAS a {"content":{"found":3}}\n'
        'RF {"result":{"x":1},"usage":[{"inputTokens":5},{"inputTokens":6}]}'),
        """
thread s1 t  idle
  run 1  success
    user       hi
    a          found=3
    result     x=1
    usage      inputTokens=5
               inputTokens=6
  state      a: 1
             b: [{}]
""",
    ),
    "a state that is no object": (
        'RS\nSS {"snapshot":[1]}\nRF', """
thread s1 t  idle
  run 1  success
    user       hi
  state      [1]
""",
    ),
    "questions": (
        ('RS\nSAS s {"name":"clerk"}\nSAF s\nRF {"outcome":{"type":"interrupt","interrupts":['
        '{"id":"i","reason":"x","message":"Sure?"},'
        '{"id":"j","reason":"choice","subagentRunId":"s"}]}}'),
        """
thread s1 t  requires_action
  run 1  interrupted
    user       hi
    subagent clerk  finished
      question   choice  waits for an answer
    question   Sure?  waits for an answer
""",
    ),
    "subagents": (
        ('RS\nSAS s {"name":"clerk","description":"Reads"}\nTMK a one @s\n'
        'SAS u {"name":"critic","parentSubagentRunId":"s"}\nTMK b two @u\nTMK c three\n'
        'RMK d four @u\nSAE u {"code":"x"}\nTMK e five @s\nSAF s\nTMK f six @who\nRF'),
        """
thread s1 t  idle
  run 1  success
    user       hi
    subagent clerk  finished
      task       Reads
      agent      one
      subagent critic  failed
        error      x no
        agent      two
        thought    four
      agent      five
    agent      three
    subagent who  running
      agent      six
""",
    ),
    "what was kept to itself": (
        "RS\nRMS q\nRME q\nREV q\nRF", """
thread s1 t  idle
  run 1  success
    user       hi
    thought    (encrypted)
""",
    ),
    "an error": (
        'RS\nTMK m hi\nRE {"code":"quota","message":"out of\\ntokens"}', """
thread s1 t  idle
  run 1  failed
    user       hi
    agent      hi
    error      quota out of
               tokens
""",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("play", "tree"), TREES.values(), ids=TREES)
def test_a_tree(play, tree):
    assert tree_of(passed(play, last=False)) == tree.strip("\n")


def test_the_tree_of_a_refused_run():
    recorded, line = asked()
    line.agent(response(503))
    assert tree_of(recorded).splitlines()[-1] == "    error      HTTP 503"


def test_the_tree_of_a_run_whose_client_left():
    recorded, line = asked()
    line.agent(STREAM)
    line.agent(event(json.dumps(spelled("RS"))))
    line.end(C, "")
    line.end(A, "")
    assert tree_of(recorded).splitlines() == [
        "thread s1 t  running (not certain)",
        "  run 1  failed (the client left)",
        "    user       hi",
        "    error      the client left",
    ]


def test_the_tree_of_a_run_that_was_cut_short():
    assert tree_of(passed("RS")).splitlines()[-1] == "    error      agui/truncated"


def test_the_tree_of_several_runs():
    recorded = passed('RS\nRF {"outcome":{"type":"cancelled"}}', request_of("user hi"))
    passed("RS\nTMK m hi\nRF", request_of("user hi", "user two"), recorded)
    assert tree_of(recorded).splitlines() == [
        "thread s1 t  idle",
        "  run 1  cancelled",
        "    user       hi",
        "  run 2  success",
        "    user       two",
        "    agent      hi",
    ]
    assert tree_of(recorded, at=9).splitlines()[3:] == [
        "  run 2  under way",
        "    user       two",
    ]


def test_subagents_that_are_each_others_parents():
    play = (
        'RS\nSAS s {"parentSubagentRunId":"u"}\nSAS u {"parentSubagentRunId":"s"}\nTMK m hi @s\nRF'
    )
    assert "agent      hi" in tree_of(passed(play))


def test_a_state_that_is_too_deep_is_left_out(monkeypatch):
    recorded = passed('RS\nSS {"snapshot":{"a":0}}')
    folded = fold_entries(recorded.entries)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    folded.threads[0].state = {"a": deep}
    lines = list(Thread(folded.threads[0], "", None).lines())
    assert lines[-1][-1][0] == "a: ..."


def test_a_narrow_terminal():
    lines = tree_of(passed(f'RS\nTMK m {{"delta":"{"word " * 20}"}}\nRF'), width=40).splitlines()
    assert len(lines) > 6
    assert max(map(len, lines)) <= 40


def test_a_tree_of_some_threads(folder):
    recorded = passed("RS\nRF")
    passed("RS\nRF", request_of("user on", threadId="u"), recorded)
    path = put(recorded)
    both, one = shown(path, tree=True), shown(path, tree=True, session="u")
    assert [line for line in both.splitlines() if line.startswith("thread")] == [
        "thread s1 t  idle", "thread s2 u  idle",
    ]  # fmt: skip
    assert [line for line in one.splitlines() if line.startswith("thread")] == ["thread s2 u  idle"]
    folded = json.loads(shown(path, tree=True, json=True, session="u"))
    assert [thread["id"] for thread in folded["threads"]] == ["u"]


def test_what_a_view_must_react_to(folder):
    path = put(passed("RS\nSAS s\nTMS m @s\nTMC m hi @s\nRE"))
    _, rows, *_ = shown(path, updates=True).split("\n\n")
    assert [row[26:].strip() for row in rows.splitlines()][3:] == [
        "subagent[0] s started running",
        "TEXT_MESSAGE_START n: m",
        "message[1] started of s",
        'TEXT_MESSAGE_CONTENT n: "hi"',
        "message[1] content of s",
        'RUN_ERROR "no" => idle (error) [note agui/open-at-error what=message id=m]',
        "error run fatal, done failed",
    ]


# Anything

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=4),
    max_leaves=8,
)
EVENTS = st.builds(
    lambda type_, members: members | {"type": type_},
    st.sampled_from([*TYPES, "SHINY"]), st.dictionaries(MEMBERS, VALUES, max_size=5),
)  # fmt: skip


@given(
    asked=st.dictionaries(MEMBERS, VALUES, max_size=4),
    messages=st.lists(st.dictionaries(MEMBERS, VALUES, max_size=4), max_size=4),
    said=st.lists(EVENTS, max_size=6),
)
def test_nothing_that_is_said_breaks_a_row_or_a_tree(asked, messages, said):
    recorded = Recorded()
    line = recorded.line()
    members = {"threadId": "t", "runId": "r", "messages": messages}
    line.client(post(json.dumps(asked | members)))
    line.agent(STREAM)
    for value in ({"type": "RUN_STARTED", "threadId": "t", "runId": "r"}, *said):
        line.agent(event(json.dumps(value)))
    rows, _ = drawn(recorded.entries)
    lines = tree_of(recorded).split("\n")
    assert all(text.isprintable() for text in [*rows, *lines])
    for row in rows_of(recorded.entries):
        json.loads(json_line(row))
