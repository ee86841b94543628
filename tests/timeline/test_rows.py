"""Rows of a timeline: what was said, in a few words, and how the sessions stood."""

import json
import re

import pytest

from acptap.cassette import Entry, decode_entry
from acptap.errors import UsageError
from acptap.jsonrpc import Side
from acptap.session import SessionState
from acptap.tap import Tap
from acptap.timeline import gists, printable
from acptap.timeline.folding import Folding
from acptap.timeline.rows import GIST, LANES, Row, Timeline
from acptap.timeline.selection import Selection, compile_pattern, find_sessions

C, A = Side.CLIENT, Side.AGENT
STDERR = object()

NEW = (C, {"id": 1, "method": "session/new", "params": {"cwd": "/x"}})
MINTED = (A, {"id": 1, "result": {"sessionId": "one"}})
PROMPT = (C, {"id": 2, "method": "session/prompt", "params": {"sessionId": "one", "prompt": []}})


def wire(message) -> bytes:
    """A message as it stands on the wire."""
    return json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n"


def entries_of(*said) -> list[Entry]:
    """Record what was said, a millisecond apart: objects, or bytes as they are."""
    tap, lines = Tap(None), b""
    for number, (side, what) in enumerate(said):
        data = what if isinstance(what, bytes) else wire(what)
        lines += tap.stderr(data, number) if side is STDERR else tap.observe(side, data, number)
    return decoded(lines)


def decoded(lines: bytes) -> list[Entry]:
    return [
        decode_entry(line, number, 0, "x.jsonl")
        for number, line in enumerate(lines.split(b"\n")[:-1], 2)
    ]


def rows_of(*said) -> list[Row]:
    timeline = Timeline()
    return [timeline.row(entry) for entry in entries_of(*said)]


def told(row: Row) -> str:
    return f"{row.reading.what} {row.gist}".rstrip()


def update(name, session="one", **members):
    params = {"sessionId": session, "update": {"sessionUpdate": name, **members}}
    return (A, {"method": "session/update", "params": params})


def text(said):
    return {"type": "text", "text": said}


def chunk(said, session="one", message="m", name="agent_message_chunk"):
    return update(name, session, messageId=message, content=text(said))


# Escapes

VISIBLE = {
    "plain text stays": ("list the files, naïve 日本 👋", "list the files, naïve 日本 👋"),
    "an escape sequence is spelled": ("\x1b[2J\x1b[H", "\\x1b[2J\\x1b[H"),
    "a bell and a return are spelled": ("a\x07\rb", "a\\x07\\rb"),
    "line ends and tabs are spelled": ("a\n\tb", "a\\n\\tb"),
    "C1 controls and DEL are spelled": ("\x9b31m\x7f", "\\x9b31m\\x7f"),
    "bidi overrides are spelled": ("\u202egnp.exe\u2066", "\\u202egnp.exe\\u2066"),
    "Unicode line separators are spelled": ("\u2028\u2029\x85", "\\u2028\\u2029\\x85"),
    "half a surrogate pair is spelled": ("\ud83d", "\\ud83d"),
    "other spaces become a space": ("a\u00a0b\u3000c", "a b c"),
    "joiners stay": ("👩\u200d💻 خ\u200cس", "👩\u200d💻 خ\u200cس"),
}


@pytest.mark.parametrize(("raw", "shown"), VISIBLE.values(), ids=VISIBLE)
def test_visible(raw, shown):
    assert printable.visible(raw) == shown


VISIBLE_JSON = {
    "plain JSON stays": ('{"a":"é 日"}', '{"a":"é 日"}'),
    "controls become escapes": ('["\x7f\x9b\u202e"]', '["\\u007f\\u009b\\u202e"]'),
    "beyond the first plane they become pairs": ('["\U000e0041"]', '["\\udb40\\udc41"]'),
    "white space between values becomes a space": ("[1,\t2]", "[1, 2]"),
    "joiners and other spaces stay": ('["a\u200db\u00a0"]', '["a\u200db\u00a0"]'),
    "printable characters beside them stay": ('["é\x7f"]', '["é\\u007f"]'),
}


@pytest.mark.parametrize(("raw", "shown"), VISIBLE_JSON.values(), ids=VISIBLE_JSON)
def test_visible_json_says_the_same(raw, shown):
    assert printable.visible_json(raw) == shown
    assert json.loads(shown) == json.loads(raw)


CUTS = {
    "what fits stays": ("abcdef", 6, "abcdef"),
    "what does not fit is cut": ("abcdefg", 6, "abc..."),
    "a wide character counts twice": ("日本語日本語", 9, "日本語..."),
    "it is not cut in half": ("日本語日本語", 8, "日本..."),
    "combining characters take no room": ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
    "an emoji made wide counts twice": ("❤\ufe0f❤\ufe0f", 4, "❤\ufe0f❤\ufe0f"),
    "joined emoji count apart": ("👩\u200d💻", 3, "..."),
    "without room for the mark nothing is left": ("abcdef", 2, ""),
}


@pytest.mark.parametrize(("raw", "width", "shown"), CUTS.values(), ids=CUTS)
def test_cut(raw, width, shown):
    assert printable.cut(raw, width, "...") == shown
    assert printable.cells(shown) <= width


# Gists

PERMISSION = {
    "sessionId": "one",
    "toolCall": {"toolCallId": "t", "title": "ls"},
    "options": [
        {"optionId": "o1", "kind": "allow_once"},
        {"optionId": "o2", "kind": "reject_once"},
        {"optionId": "o3"},
    ],
}
ENTRIES = [
    {"content": "read", "status": "completed"},
    {"content": "write", "status": "in_progress"},
]
DEEP = {"a": {"b": {"c": 1}}, "empty": {}, "none": None, "flag": True, "many": [1, 2, 3, 4, 5]}

CALLS: dict[str, tuple[str, object, str]] = {
    "initialize, version 1": (
        "initialize",
        {"protocolVersion": 1, "clientInfo": {"name": "zed", "version": "1.2"}},
        "v1 zed 1.2",
    ),
    "initialize, version 2": (
        "initialize",
        {"protocolVersion": 2, "info": {"name": "zed", "title": "Zed"}},
        "v2 Zed",
    ),
    "initialize without anything": ("initialize", None, ""),
    "authenticate": ("authenticate", {"methodId": "key"}, "key"),
    "a folder": ("session/new", {"cwd": "/x", "mcpServers": []}, "/x"),
    "a prompt's texts": (
        "session/prompt",
        {"prompt": [text("list"), text("the files")]},
        '"list the files"',
    ),
    "a prompt's other blocks": (
        "session/prompt",
        {
            "prompt": [
                {"type": "resource_link", "name": "a.py", "uri": "file:///a.py"},
                {"type": "resource_link", "uri": "file:///b.py"},
                {"type": "resource", "resource": {"uri": "file:///c.py"}},
                {"type": "image", "mimeType": "image/png", "data": "…"},
                {"type": 7},
                "no block",
            ]
        },
        '"[a.py] [file:///b.py] [file:///c.py] [image image/png]"',
    ),
    "a prompt that is none": ("session/prompt", {"prompt": 5}, '""'),
    "blocks in blocks in blocks": ("session/prompt", {"prompt": [[[text("deep")]]]}, '""'),
    "a question": (
        "session/request_permission", PERMISSION, "ls allow_once/reject_once",
    ),
    "a question, version 2": (
        "session/request_permission",
        {"title": "May I?", "subject": {"toolCall": {"title": "ls"}}, "options": 3},
        "May I?",
    ),
    "a question on a tool without a title": (
        "session/request_permission", {"subject": {"toolCall": {"toolCallId": "t"}}}, "t",
    ),
    "a file": ("fs/read_text_file", {"path": "/a", "line": 3, "limit": 5}, "/a 3 5"),
    "a file to write": ("fs/write_text_file", {"path": "/a", "content": "x"}, '/a "x"'),
    "a command": ("terminal/create", {"command": "ls", "args": ["-l", 5, None]}, "ls -l 5"),
    "a command without arguments": ("terminal/create", {"command": "ls", "args": 1}, "ls"),
    "a form": ("elicitation/create", {"message": "Name?"}, '"Name?"'),
    "a title": ("session/set_title", {"title": 5}, ""),
    "a cancelled request": ("$/cancel_request", {"requestId": 3}, "request 3"),
    "a wrapped call": (
        "proxy/successor", {"method": "session/set_mode", "params": {"modeId": "ask"}}, "ask",
    ),
    "an unknown method is told by its members": (
        "_x/y", DEEP | {"sessionId": "s", "_meta": {}, "said": "two words", "list": [{}]},
        'a={b={...}} empty={} none=null flag=true many=1,2,3,4,... said="two words" list=[1]',
    ),
    "an empty text is told": ("_x/y", {"a": ""}, 'a=""'),
    "params that are no object are told too": ("_x/y", ["a", 2, 1.5], "a,2,1.5"),
}  # fmt: skip


@pytest.mark.parametrize(("method", "params", "gist"), CALLS.values(), ids=CALLS)
def test_a_call_is_told(method, params, gist):
    (row,) = rows_of((C, {"id": 1, "method": method, "params": params}))
    assert row.gist == gist


ANSWERS = {
    "initialize": (
        "initialize", {}, {"result": {"protocolVersion": 2, "info": {"name": "a"}}},
        "initialize result v2 a",
    ),
    "a new session": (
        "session/new", {}, {"result": {"sessionId": "one"}}, "session/new result one",
    ),
    "the end of a turn": (
        "session/prompt", {}, {"result": {"stopReason": "end_turn", "usage": None}},
        "session/prompt result stopReason end_turn",
    ),
    "a prompt taken in": (
        "session/prompt", {}, {"result": {"messageId": "m", "x": None}},
        "session/prompt result messageId=m",
    ),
    "a decision is told by the option's kind": (
        "session/request_permission", PERMISSION,
        {"result": {"outcome": {"outcome": "selected", "optionId": "o1"}}},
        "session/request_permission result allow_once",
    ),
    "a decision for an option without a kind": (
        "session/request_permission", PERMISSION,
        {"result": {"outcome": {"outcome": "selected", "optionId": "o3"}}},
        "session/request_permission result selected o3",
    ),
    "a withdrawn question": (
        "session/request_permission", PERMISSION,
        {"result": {"outcome": {"outcome": "cancelled"}}},
        "session/request_permission result cancelled",
    ),
    "a failed question": (
        "session/request_permission", PERMISSION, {"error": {"code": -1, "message": "no"}},
        'session/request_permission error -1 "no"',
    ),
    "a file": ("fs/read_text_file", {}, {"result": {"content": "x\n"}},
               'fs/read_text_file result "x\\n"'),
    "a terminal": ("terminal/create", {}, {"result": {"terminalId": "t"}},
                   "terminal/create result t"),
    "output": ("terminal/output", {}, {"result": {"output": "a"}}, 'terminal/output result "a"'),
    "a form": ("elicitation/create", {}, {"result": {"action": "accept", "content": {"a": 1}}},
               "elicitation/create result accept a=1"),
    "nothing": ("session/load", {}, {"result": None}, "session/load result"),
    "an empty object": ("session/load", {}, {"result": {}}, "session/load result"),
    "an error that is none": ("session/load", {}, {"error": 7}, "session/load error"),
}  # fmt: skip


@pytest.mark.parametrize(("method", "params", "answer", "said"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_told_with_what_it_answers(method, params, answer, said):
    rows = rows_of((A, {"id": 7, "method": method, "params": params}), (C, {"id": 7, **answer}))
    assert told(rows[1]) == said


UPDATES = {
    "a chunk": (chunk("hi"), 'agent_message_chunk "hi"'),
    "a whole message": (update("agent_message", content=[text("hi")]), 'agent_message "hi"'),
    "a chunk of a tool's content": (
        update("tool_call_content_chunk", content={"type": "content", "content": text("a")}),
        'tool_call_content_chunk "a"',
    ),
    "a chunk of output": (update("terminal_output_chunk", data="aGkK"),
                          'terminal_output_chunk "hi\\n"'),
    "output that is no base64": (update("terminal_output_chunk", data="é"),
                                 'terminal_output_chunk ""'),
    "output that is no text": (update("terminal_output_chunk", data=5),
                               'terminal_output_chunk ""'),
    "a state": (update("state_update", state="idle", stopReason="end_turn"),
                "state_update idle end_turn"),
    "a tool and what it is asked": (
        update("tool_call", title="bash", status="pending",
               rawInput={"command": "ls", "description": "List files"}),
        "tool_call bash (pending) List files",
    ),
    "a tool and its command": (
        update("tool_call", title="bash", rawInput={"command": ["ls", "-l"]}),
        "tool_call bash ls,-l",
    ),
    "a tool and where it works": (
        update("tool_call", title="read", locations=[{"path": "/a"}, {"path": "/b"}]),
        "tool_call read /a",
    ),
    "a tool's output": (
        update("tool_call_update", toolCallId="t", status="completed",
               content=[{"type": "content", "content": text("a.txt")}]),
        'tool_call_update t (completed) "a.txt"',
    ),
    "a tool's change": (
        update("tool_call_update", title="edit", content=[{"type": "diff", "path": "/a"}]),
        "tool_call_update edit [diff /a]",
    ),
    "a tool's terminal": (
        update("tool_call_update", title="run", content=[{"type": "terminal", "terminalId": "t"}]),
        "tool_call_update run [terminal t]",
    ),
    "a plan": (update("plan", entries=ENTRIES), 'plan 1/2 done "write"'),
    "a plan with nothing in progress": (update("plan", entries=ENTRIES[:1]), "plan 1/1 done"),
    "a plan of another kind": (update("plan_update", plan={"planId": "p", "uri": "f"}),
                               "plan_update planId=p uri=f"),
    "no plan": (update("plan_update"), "plan_update"),
    "commands": (update("available_commands_update", availableCommands=[{"name": "a"}, {}]),
                 "available_commands_update /a /"),
    "a mode": (update("current_mode_update", currentModeId="ask"), "current_mode_update ask"),
    "options": (
        update("config_option_update", configOptions=[{"id": "a", "currentValue": True},
                                                      {"configId": "b", "currentValue": "c"}]),
        "config_option_update a=true b=c",
    ),
    "usage": (update("usage_update", used=1, size=2, cost={"amount": 0.5, "currency": "USD"}),
              "usage_update 1/2 0.5 USD"),
    "a notice": (update("notice", severity="warning", title="old"), 'notice warning "old"'),
    "a child session": (
        update("subagent_update", sessionId="c", title="help", state={"state": "running"}),
        "subagent_update help c running",
    ),
    "an unknown update": (update("shiny", a="b"), "shiny a=b"),
    "an update without a name": (
        (A, {"method": "session/update", "params": {"sessionId": "one", "update": {"a": 1}}}),
        "session/update a=1",
    ),
    "no update at all": ((A, {"method": "session/update"}), "session/update null"),
}  # fmt: skip


@pytest.mark.parametrize(("message", "said"), UPDATES.values(), ids=UPDATES)
def test_an_update_is_told(message, said):
    (row,) = rows_of(message)
    assert told(row) == said


def test_a_tool_keeps_its_title():
    rows = rows_of(
        update("tool_call", toolCallId="t", title="ls"),
        update("tool_call_update", toolCallId="t", status="completed"),
        update("tool_call_update", "two", toolCallId="t", status="failed"),
    )
    assert [row.gist for row in rows] == ["ls", "ls (completed)", "t (failed)"]


def test_titles_of_old_tools_are_forgotten():
    tools = [update("tool_call", toolCallId=f"t{number}", title="ls") for number in range(1001)]
    *_, last = rows_of(*tools, update("tool_call_update", toolCallId="t0"))
    assert last.gist == "t0"


UNITS = {
    "noise": ((A, b"\x1b[32m{}\x1b[0m\n"), "noise", "\\x1b[32m{}\\x1b[0m"),
    "a blank line": ((A, b"\n"), "noise", "a blank line"),
    "a line of spaces": ((A, b"  \n"), "noise", "  "),
    "noise that is not UTF-8": ((A, b"\xff\n"), "noise", "\\xff"),
    "a message behind a byte order mark": (
        (A, b'\xef\xbb\xbf{"method":"_a"}\r\n'), "notification", "",
    ),
    "JSON that is no message": ((A, b"5\n"), "malformed", "(not an object) 5"),
    "a batch": (
        (A, b'[{"method":"_a","params":{"b":1}},{"method":"_c"}]\n'), "batch", "[2] _a b=1; _c",
    ),
    "standard error": ((STDERR, b"\x1b[1mWARN\n"), "stderr", "\\x1b[1mWARN"),
    "an answer to nothing": ((A, {"id": "x", "result": {"a": 1}}), "response", "to x a=1"),
    "an answer to no id": ((A, {"id": None, "error": {}}), "response", "to null"),
    "an id beyond 64 bits": ((A, b'{"id":1e400,"method":"_a"}\n'), "request", ""),
}  # fmt: skip


@pytest.mark.parametrize(("unit", "kind", "gist"), UNITS.values(), ids=UNITS)
def test_a_unit_is_told(unit, kind, gist):
    (row,) = rows_of(unit)
    assert (row.reading.kind, row.gist) == (kind, gist)


def test_a_unit_in_pieces_is_told_by_its_size():
    (piece,) = decoded(b'{"at":1,"from":"agent","more":true,"text":"12345"}\n')
    assert told(Timeline().row(piece)) == "piece 5 bytes of a longer unit"


def test_events_are_told():
    tap = Tap(None)
    lines = tap.end(C, 1) + tap.event(A, 2, event="abort") + tap.exit(3, code=1)
    timeline = Timeline()
    rows = [told(timeline.row(entry)) for entry in decoded(lines)]
    assert rows == ["end closed its stream", "abort stopped reading", "exit code 1"]


def test_a_gist_is_limited():
    (row,) = rows_of(update("agent_message", content=text("x" * 1_000_000)))
    assert row.gist == f'"{"x" * (GIST - 4)}...'


@pytest.mark.parametrize(("depth", "kind"), [(200, "request"), (900, "request"), (99_999, "noise")])
def test_deep_nesting_is_told(depth, kind):
    nested = b'{"type":"content","content":' * depth + b"1" + b"}" * depth
    prompt = b'{"id":1,"method":"session/prompt","params":{"prompt":[%b],"x":%b}}\n'
    (row,) = rows_of((C, prompt % (nested, nested)))
    assert row.reading.kind == kind


# Sessions


def test_a_session_is_followed():
    rows = rows_of(NEW, MINTED, PROMPT, (A, {"id": 2, "result": {"stopReason": "end_turn"}}))
    assert [row.track and row.track.label for row in rows] == [None, "s1", "s1", "s1"]
    assert [row.state for row in rows] == [None, "idle", "running", "idle"]
    assert [[(mark.state.value, mark.moved) for mark in row.band] for row in rows] == [
        [],
        [("idle", False)],
        [("running", True)],
        [("idle", True)],
    ]
    assert rows[3].reading.took == pytest.approx(0.000001)


def test_a_band_is_drawn_anew_only_when_something_changes():
    rows = rows_of(NEW, MINTED, chunk("a"), chunk("b"))
    assert rows[1].band is rows[2].band is rows[3].band


def test_a_closed_session_gives_its_lane_to_the_next():
    timeline = Timeline()
    lines = "".join(
        f'{{"at":{number},"from":"agent","session":"id{number}","msg":{{}}}}\n'
        for number in range(LANES)
    )
    lines += (
        '{"at":8,"from":"agent","session":"id2","state":{"from":"idle","to":"closed"},"msg":{}}\n'
        '{"at":9,"from":"agent","session":"nine","msg":{}}\n'
        '{"at":9,"from":"agent","session":"ten","msg":{}}\n'
    )
    rows = [timeline.row(entry) for entry in decoded(lines.encode())]
    assert [mark.label for mark in rows[-1].band] == ["s1", "s2", "s9", "s4", "s5", "s6", "s7",
                                                      "s10"]  # fmt: skip


def test_totals_are_the_same_with_and_without_rows():
    said = [
        (C, {"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}),
        (A, {"method": "_early"}), (A, {"id": 5, "method": "_ask"}), (A, b"early noise\n"),
        (STDERR, b"hello\n"),
        (A, {"id": 0, "result": {"protocolVersion": 1, "agentInfo": {"name": "x"}}}),
        NEW, MINTED, PROMPT, (A, b"noise\n"), (A, {"id": 9, "result": 1}),
    ]  # fmt: skip
    surveyed, shown = Timeline(), Timeline()
    for entry in entries_of(*said):
        surveyed.survey(entry)
        shown.row(entry)
    for timeline in (surveyed, shown):
        assert (list(timeline.reader.versions), timeline.reader.agent) == (["1"], "x")
        assert timeline.entries == len(said)
        assert timeline.severities == {"warning": 3}
        assert [(track.label, track.state) for track in timeline.tracks.values()] == [
            ("s1", SessionState.RUNNING)
        ]


EDITED = {
    "a state of the future is another state": (
        '"session":"s","state":{"from":"idle","to":"dreaming","basis":"x"}', "other", [], "s",
    ),
    "a repeat changes nothing": (
        '"session":"s","state":{"from":"idle","to":"idle","basis":"reported"}', "idle", [], "s",
    ),
    "a state without a session is left out": ('"state":{"to":"running"}', None, [], None),
    "annotations of another shape are left out": (
        '"session":7,"state":"idle","notes":"none"', None, [], None,
    ),
    "a note of an unknown severity is a note": (
        '"session":[null,"s"],"notes":[{"rule":"a/b","severity":"?","x":1},7]',
        "idle", ["note"], "s",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("front", "state", "severities", "session"), EDITED.values(), ids=EDITED)
def test_edited_annotations_are_read(front, state, severities, session):
    (entry,) = decoded(f'{{"at":1,"from":"agent",{front},"msg":{{}}}}\n'.encode())
    row = Timeline().row(entry)
    assert row.state == state
    assert [note.severity for note in row.notes] == severities
    assert (row.track and row.track.id) == session


# Folding


def folded(*said, span=None) -> list[str]:
    folding, timeline, done = Folding(span), Timeline(), []
    for entry in entries_of(*said):
        done += folding.add(timeline.row(entry))
    return [f"{row.count} {told(row)}" for row in done + folding.flush()]


FOLDED = {
    "chunks of one message are one row": (
        [chunk("a "), chunk("b"), chunk("c")], ['3 agent_message_chunk "a bc"'],
    ),
    "another message is another row": (
        [chunk("a"), chunk("b", message="n")],
        ['1 agent_message_chunk "a"', '1 agent_message_chunk "b"'],
    ),
    "a thought is another row": (
        [chunk("a", name="agent_thought_chunk"), chunk("b"), chunk("c")],
        ['1 agent_thought_chunk "a"', '2 agent_message_chunk "bc"'],
    ),
    "anything else ends a run": (
        [chunk("a"), update("usage_update", used=1, size=2), chunk("b")],
        ['1 agent_message_chunk "a"', "1 usage_update 1/2", '1 agent_message_chunk "b"'],
    ),
    "sessions that speak at the same time do not": (
        [chunk("a"), chunk("x", "two"), chunk("b"), chunk("y", "two")],
        ['2 agent_message_chunk "ab"', '2 agent_message_chunk "xy"'],
    ),
    "chunks without a session are one row": (
        [chunk("a", None), chunk("b", None)], ['2 agent_message_chunk "ab"'],
    ),
    "a chunk with a note is another row": (
        [NEW, MINTED, PROMPT, chunk("a"), (A, {"id": 2, "result": {}}), chunk("b"), chunk("c")],
        ["1 session/new /x", "1 session/new result one", '1 session/prompt ""',
         '1 agent_message_chunk "a"', "1 session/prompt result",
         '2 agent_message_chunk "bc"'],
    ),
    "a long text is cut": (
        [chunk("x" * 300), chunk("y" * 300), chunk("z")],
        [f'3 agent_message_chunk "{"x" * 300}{"y" * 96}...'],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("said", "rows"), FOLDED.values(), ids=FOLDED)
def test_chunks_are_put_together(said, rows):
    assert folded(*said) == rows


def test_a_run_lasts_no_longer_than_its_span():
    assert folded(*[chunk("a")] * 5, span=0.000002) == [
        '2 agent_message_chunk "aa"',
        '2 agent_message_chunk "aa"',
        '1 agent_message_chunk "a"',
    ]


def test_a_chunk_that_moves_a_session_stands_alone():
    lines = b'{"at":1,"from":"agent","session":"s","state":{"from":"idle","to":"running"},"msg":'
    (entry,) = decoded(lines + json.dumps(chunk("a", "s")[1]).encode() + b"}\n")
    folding = Folding()
    assert len(folding.add(Timeline().row(entry))) == 1


# Selection

SAID = [
    NEW, MINTED, PROMPT, chunk("hello"), (A, b"noise\n"), (STDERR, b"a log line\n"),
    (A, {"id": 2, "error": {"code": 1, "message": "caf\u00e9"}}), chunk("late"),
    (C, {"id": 3, "method": "session/new", "params": {"cwd": "/y"}}),
    (A, {"id": 3, "result": {"sessionId": "only"}}),
]  # fmt: skip

SELECTIONS = {
    "everything": ({}, list(range(10))),
    "requests": ({"kinds": ["request"]}, [0, 2, 8]),
    "two kinds": ({"kinds": ["stderr", "noise"]}, [4, 5]),
    "a method and its answers": ({"kinds": ["session/prompt"]}, [2, 6]),
    "an update": ({"kinds": ["agent_message_chunk"]}, [3, 7]),
    "changes of state": ({"kinds": ["state"]}, [2, 6]),
    "notes": ({"kinds": ["note"]}, [0, 4, 7]),
    "warnings": ({"kinds": ["warning"]}, [4, 7]),
    "errors": ({"kinds": ["error"]}, [6]),
    "a session": ({"session": "only"}, [9]),
    "a session by its label": ({"session": "s2"}, [9]),
    "a session by the beginning of its id": ({"session": "onl"}, [9]),
    "a text in the gist": ({"pattern": "café"}, [6]),
    "a text in the unit": ({"pattern": r"caf\\u00e9|mcpServers"}, [6]),
    "both": ({"session": "one", "kinds": ["request"]}, [2]),
}


@pytest.mark.parametrize(("asked", "numbers"), SELECTIONS.values(), ids=SELECTIONS)
def test_selection(asked, numbers):
    pattern = asked.pop("pattern", None) if (asked := dict(asked)) else None
    selection = Selection(**asked, pattern=None if pattern is None else re.compile(pattern))
    timeline, found = Timeline(), []
    for number, entry in enumerate(entries_of(*SAID)):
        if selection.has(timeline.row(entry), timeline.tracks):
            found.append(number)
    assert found == numbers


FOUND = {
    "its id": ("one", "one"),
    "its label": ("s2", "only"),
    "the beginning of its id": ("onl", "only"),
}


def tracks():
    timeline = Timeline()
    for entry in entries_of(*SAID):
        timeline.survey(entry)
    return timeline.tracks


@pytest.mark.parametrize(("asked", "found"), FOUND.values(), ids=FOUND)
def test_a_session_is_found_by(asked, found):
    assert find_sessions(asked, tracks(), "x.jsonl") == {(1, found)}


UNKNOWN = {
    "no such session": (
        "s9\x1b", tracks, "there is no session 's9\\\\x1b'; choose one of: s1 one, s2 only",
    ),
    "more than one": ("on", tracks, "2 sessions begin with 'on'; choose one of: s1 one, s2 only"),
    "nothing": ("", tracks, "there is no session ''; choose one of: s1 one, s2 only"),
    "no session at all": (
        "s1", dict, "there is no session 's1'; leave --session out, the cassette has none",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "known", "sentence"), UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_session_is_refused(asked, known, sentence):
    with pytest.raises(UsageError) as refusal:
        find_sessions(asked, known(), "x.jsonl")
    assert str(refusal.value) == f"x.jsonl: {sentence}"


def test_many_sessions_are_not_all_listed():
    timeline = Timeline()
    for entry in entries_of(*(chunk("a", f"id{number}") for number in range(12))):
        timeline.survey(entry)
    with pytest.raises(UsageError, match=r"s10 id9 and 2 more$"):
        find_sessions("x", timeline.tracks, "x.jsonl")


def test_a_pattern_that_is_none_is_refused():
    with pytest.raises(UsageError) as refusal:
        compile_pattern("(")
    assert str(refusal.value).startswith("--grep: '(' is no regular expression (missing )")
    assert compile_pattern("a+").search("caat")


def test_words_of_every_kind():
    assert gists.words("a", 1, 1.5, True, None, "", {}) == "a 1 1.5 true"
