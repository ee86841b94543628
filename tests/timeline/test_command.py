"""`acptap show`: what a person sees of a cassette, and what a program reads of it."""

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from acptap.app.show import following
from acptap.app.show.glyphs import PLAIN, RICH
from acptap.app.show.layout import Layout
from acptap.app.show.screen import Screen
from acptap.app.show.showing import ShowOptions, show_command
from acptap.cassette import Header, decode_entry
from acptap.cli import main
from acptap.errors import (
    AcptapError,
    CassetteMissing,
    DamagedCassette,
    NewerFormat,
    NotACassette,
    NothingToPlay,
    UsageError,
)
from acptap.jsonrpc import Side
from acptap.tap import Tap
from acptap.timeline.printable import cells
from acptap.timeline.rows import Timeline

C, A = Side.CLIENT, Side.AGENT
ROOT = Path(__file__).parent.parent
EXIT = object()
STDERR = object()


def header(**members) -> Header:
    known = {
        "protocol": "acp",
        "transport": "stdio",
        "recorded_at": "2026-11-30T16:00:00.123456Z",
        "upstream": ["agent", "--model", "a b"],
        "generator": "acptap 0.1.0",
    }
    return Header(**(known | members))


def wire(message) -> bytes:
    """A message as it stands on the wire."""
    return json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n"


def tape(*said) -> list[bytes]:
    """Record what was said, 50 ms apart: objects, or bytes as they are."""
    tap = Tap(None)
    lines = [tap.begin(header())]
    for number, (side, what) in enumerate(said):
        at = number * 50_000
        data = what if isinstance(what, bytes) else wire(what)
        if side is EXIT:
            lines.append(tap.exit(at, code=0))
        elif side is STDERR:
            lines.append(tap.stderr(data, at))
        else:
            lines.append(tap.observe(side, data, at))
    return lines


def call(id_, method, **params):
    return {"id": id_, "method": method, "params": params}


def update(name, session="one", **members):
    params = {"sessionId": session, "update": {"sessionUpdate": name, **members}}
    return (A, {"method": "session/update", "params": params})


def chunk(said, session="one"):
    return update("agent_message_chunk", session, content={"type": "text", "text": said})


OPTIONS = [{"optionId": "y", "kind": "allow_once"}, {"optionId": "n", "kind": "reject_once"}]
SESSION = [
    (C, call(0, "initialize", protocolVersion=1, clientInfo={"name": "zed", "version": "1"})),
    (A, {"id": 0, "result": {"protocolVersion": 1, "agentInfo": {"name": "Agent"}}}),
    (C, call(1, "session/new", cwd="/home/dev/demo", mcpServers=[])),
    (A, {"id": 1, "result": {"sessionId": "one"}}),
    (C, call(2, "session/prompt", sessionId="one",
             prompt=[{"type": "text", "text": "list the files"}])),
    (STDERR, b"\x1b[33mWARN\x1b[0m [bold]no config[/bold]\n"),
    update("tool_call", toolCallId="t", title="bash", status="pending"),
    (A, call(0, "session/request_permission", sessionId="one",
             toolCall={"toolCallId": "t", "title": "bash"}, options=OPTIONS)),
    (C, {"id": 0, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}}),
    update("tool_call_update", toolCallId="t", status="completed"),
    chunk("There is "),
    chunk("one file"),
    chunk(": a.txt."),
    (A, {"id": 2, "result": {"stopReason": "end_turn"}}),
    chunk("late"),
    (EXIT, b""),
]  # fmt: skip
PLAIN_SESSION = """\
# cassette  x.jsonl
# protocol  acp 1 over stdio
# agent     agent --model 'a b'  Agent
# recorded  2026-11-30T16:00:00.123456Z, 0.750 s, 16 entries  acptap 0.1.0
# sessions  s1  one  idle
# notes     1 warning

    0.000 -   - client -> initialize v1 zed 1
    0.050 -   -  agent <- initialize result v1 Agent
    0.100 -   - client -> session/new /home/dev/demo
    0.150 .  s1  agent <- session/new result one
    0.200 R  s1 client -> session/prompt "list the files" => running
    0.250 R   -  agent -- stderr \\x1b[33mWARN\\x1b[0m [bold]no config[/bold]
    0.300 R  s1  agent <- tool_call bash (pending)
    0.350 A  s1  agent <- session/request_permission bash allow_once/reject_once => requires_action
    0.400 R  s1 client -> session/request_permission result allow_once => running
    0.450 R  s1  agent <- tool_call_update bash (completed)
    0.500 R  s1  agent <- agent_message_chunk x3 to 0.600 "There is one file: a.txt."
    0.650 .  s1  agent <- session/prompt result stopReason end_turn in 0.450 s => idle
    0.700 .  s1  agent <- agent_message_chunk "late" [warning acp/update-after-turn]
    0.750 .   -  agent -- exit code 0
"""


def write(name, *said) -> Path:
    path = Path(name)
    path.write_bytes(b"".join(tape(*said)))
    return path


def shown(path, out: io.StringIO | None = None, **options) -> str:
    out = io.StringIO() if out is None else out
    assert show_command(path, ShowOptions(**options), out) == 0
    return out.getvalue()


def rows(path, **options) -> list[str]:
    """Return the rows without the columns before the name."""
    lines = shown(path, **options).splitlines()
    return [
        re.split(r"(?:->|<-|--) ", line, maxsplit=1)[1] for line in lines[lines.index("") + 1 :]
    ]


class Terminal(io.StringIO):
    """A terminal with colours, as wide as COLUMNS says."""

    def isatty(self):
        return True


def on_terminal(path, monkeypatch, columns=100, **options) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    return shown(path, Terminal(), **options)


def uncoloured(text) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


# What is seen


def test_a_session_in_a_pipe_is_plain_text(folder):
    assert shown(write("x.jsonl", *SESSION)) == PLAIN_SESSION


def test_a_session_on_a_terminal_has_bands_and_colours(folder, monkeypatch):
    text = on_terminal(write("x.jsonl", *SESSION), monkeypatch)
    lines = uncoloured(text).splitlines()
    assert lines[0] == "cassette  x.jsonl"
    assert lines[11] == '    0.200 ●  s1 client → session/prompt "list the files" ● running'
    assert lines[17] == (
        "    0.500 ┃  s1  agent ← agent_message_chunk "
        '\N{MULTIPLICATION SIGN}3 to 0.600 "There is one file: a.txt."'
    )
    assert "\x1b[32m┃\x1b[0m" in text
    assert "[bold]no config[/bold]" in text


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_without_colours_gets_plain_text_of_its_width(folder, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    text = on_terminal(write("x.jsonl", *SESSION), monkeypatch, columns=60)
    lines = text.splitlines()
    assert "\x1b" not in text
    assert max(map(len, lines)) == 60
    assert lines[14] == "    0.350 A  s1  agent <- session/reques... => requires_a..."


def test_an_output_without_unicode_gets_plain_text(folder, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, "ascii")
    show_command(write("x.jsonl", chunk("日本")), ShowOptions(), out)
    assert raw.getvalue().endswith(rb'<- agent_message_chunk "\u65e5\u672c"' + b"\n")


NOISE = [
    b"\x1b[2J\x1b[H\n", b"\n", b"   \n", "┊ thinking…\n".encode(), b"\x07\n", b"\xff\x9b31m\n",
    b'\x1b[32m{"jsonrpc":"2.0","id":1,"result":{}}\x1b[0m\n', "\u202egnp.exe\u2028\n".encode(),
]  # fmt: skip


@pytest.mark.parametrize("json_", [False, True])
def test_nothing_that_acts_on_a_terminal_gets_through(folder, monkeypatch, json_):
    evil = "a\x1b[31m\x9b\u202e\r\x07\u2066\x7f"
    said = [
        *((A, line) for line in NOISE),
        *((STDERR, line) for line in NOISE),
        (C, call("id\x1b[0m", f"_m{evil}", sessionId=f"s{evil}", **{evil: evil})),
        (A, call(evil, "session/request_permission", sessionId=f"s{evil}",
                 toolCall={"title": evil}, options=[{"kind": evil, "optionId": evil}])),
        update(f"u{evil}", f"s{evil}", x=evil),
        update("state_update", f"s{evil}", state=f"z{evil}"),
        (A, {"id": evil, "error": {"code": 1, "message": evil}}),
        (A, json.dumps({"method": f"_é{evil}"}, ensure_ascii=False).encode() + b"\n"),
    ]  # fmt: skip
    path = write("x\x1b[31m.jsonl", *said)
    raw = path.read_bytes().replace(b'"agent"', '"ag\u202e\\u001bent"'.encode(), 1)
    path.write_bytes(raw)
    for text in (shown(path, json=json_), on_terminal(path, monkeypatch, json=json_)):
        assert [char for char in uncoloured(text) if not char.isprintable() and char != "\n"] == []
    if not json_:
        assert "agent <- noise \\x1b[2J\\x1b[H [warning" in shown(path)
        assert "noise ┊ thinking… [warning" in shown(path)


@pytest.mark.parametrize("columns", [20, 40, 100, 160])
def test_wide_characters_do_not_break_the_lines(folder, monkeypatch, columns):
    wide = "请解释 👩‍💻 日本語 ❤️ " * 30
    path = write("日本語.jsonl", chunk(wide), (A, {"method": f"_{wide}", "params": {wide: wide}}))
    lines = uncoloured(on_terminal(path, monkeypatch, columns)).splitlines()
    assert all(cells(line) <= columns for line in lines)
    assert sum(cells(line) > columns - 3 for line in lines) >= 2


def test_unicode_line_separators_do_not_make_lines(folder):
    path = write("x.jsonl", chunk("a\u2028b\u2029c\u0085d\u000be"))
    assert rows(path) == ['agent_message_chunk "a\\u2028b\\u2029c\\x85d\\x0be"']


def test_a_cassette_saved_by_hand_is_shown(folder):
    Path("x.jsonl").write_bytes(
        b'{"transport":"stdio","acptap":1,"upstream":"http://x/"}\n'
        b'{"msg": {"id": 1, "method": "_a"}, "from": "client", "at": 1}\n'
        b'{"from": "agent", "at": 2, "text": ""}\n'
    )
    text = shown(Path("x.jsonl"))
    assert "# protocol  ? (version not settled) over stdio\n" in text
    assert "# agent     http://x/\n" in text
    assert "# sessions  none\n# notes     none\n" in text
    assert text.endswith("client -> _a\n    2.000 -   -  agent <- noise a blank line\n")


# The header block and the columns


def line(at: float = 1, **front) -> str:
    payload = {} if "msg" in front else {"text": "\n"}
    return json.dumps({"at": at, "from": "agent", **front, **payload})


def entries(lines):
    return [decode_entry(text.encode(), number, 0, "x.jsonl") for number, text in enumerate(lines)]


def laid_out(*lines, glyphs=PLAIN, width=None) -> list[str]:
    timeline, layout, out = Timeline(), Layout(glyphs, width), []
    for entry in entries(lines):
        row = timeline.row(entry)
        layout.fit(timeline)
        out.append("".join(text for text, _ in layout.row(row, timeline.tracks)))
    return out


def header_of(*lines) -> list[str]:
    timeline = Timeline()
    for entry in entries(lines):
        timeline.survey(entry)
    pieces = Layout(PLAIN, None).header(header(), timeline, "x.jsonl")
    return ["".join(text for text, _ in line) for line in pieces]


def test_the_header_says_how_long_a_session_has_not_been_idle():
    lines = header_of(
        line(1, session="a"),
        line(2, session="b", state={"from": "idle", "to": "requires_action"}),
        line(14.5, event="exit"),
    )
    assert lines[4:6] == [
        "# sessions  s1  a  idle",
        "#           s2  b  requires_action for 12.500 s",
    ]


def test_the_header_does_not_list_very_many_sessions():
    lines = header_of(*(line(session=f"i{number}") for number in range(23)))
    assert lines[23:25] == ["#           s20 i19  idle", "#           and 3 more"]


def test_the_header_counts_notes_by_severity():
    notes = [{"rule": "a", "severity": name} for name in ("note", "violation", "note", "warning")]
    assert header_of(line(notes=notes))[-1] == "# notes     1 violation, 1 warning, 2 notes"


REST = "agent <- noise a blank line"
STATES = ("running", "requires_action", "unknown", "other", "none", "closed")
IDLE_AGAIN = {"from": "running", "to": "idle", "reason": "end_turn"}
NOTES = [
    {"rule": "r/1", "severity": "violation", "session": "a", "id": None},
    *({"rule": f"r/{number}", "session": "?"} for number in range(2, 6)),
]
TWO_NOTES = " [note r/2 session=?] [note r/3 session=?]"
ONE = "    1.000 .  s1  "

COLUMNS = {
    "every state has a letter": (
        [line(session="s", state={"from": "idle", "to": state}) for state in STATES],
        [
            f"    1.000 R  s1  {REST} => running",
            f"    1.000 A  s1  {REST} => requires_action",
            f"    1.000 ?  s1  {REST} => unknown",
            f"    1.000 O  s1  {REST} => other",
            f"    1.000 N  s1  {REST} => none",
            f"    1.000 x  s1  {REST} => closed",
        ],
    ),
    "every session has a lane": (
        [
            line(session="a"),
            line(session="b", state={"from": "idle", "to": "running"}),
            line(123456),
        ],
        [
            f"    1.000 .  s1  {REST}",
            f"    1.000 .R  s2  {REST} => running",
            f"123456.000 .R   -  {REST}",
        ],
    ),
    "a state tells its name, its reason and whose it is": (
        [
            line(
                session="a",
                state=[
                    {"from": "idle", "to": "other", "name": "z"},
                    {"session": "b", "from": "none", "to": "idle", "reason": "error"},
                    {"from": "other", "to": "other"},
                ],
            )
        ],
        [f"    1.000 O.  s1  {REST} => other z => s2 idle (error) => other again"],
    ),
    "a state update is told once": (
        [
            line(session="a", state=IDLE_AGAIN, msg=update("state_update", state="idle")[1]),
            line(session="a", msg=update("state_update", state="idle")[1]),
        ],
        [f"{ONE}agent <- state_update => idle (end_turn)", f"{ONE}agent <- state_update idle"],
    ),
    "only the first notes are told": (
        [line(session="a", notes=NOTES)],
        [f"{ONE}{REST} [violation r/1 session=s1 id=null]{TWO_NOTES} and 2 more notes"],
    ),
}


@pytest.mark.parametrize(("lines", "said"), COLUMNS.values(), ids=COLUMNS)
def test_columns(lines, said):
    assert laid_out(*lines) == said


def test_what_is_behind_a_gist_leaves_room_for_it():
    notes = [{"rule": "r/1", "x": "y" * 300}]
    said = line(session="a", notes=notes, msg={"method": "_" + "m" * 300})
    assert laid_out(said, glyphs=RICH, width=71) == [
        f"    1.000 │  s1  agent ← _{'m' * 21}… • r/1 x={'y' * 13}…"
    ]


ASKED = line(1, **{"from": "client"}, session="a", msg=call(2, "session/prompt", sessionId="a"))
FITTED = {
    # by the columns there are: how long it took is told where it costs nothing of what is said
    86: "session/prompt result stopReason end_turn in 1.500 s => idle",
    85: "session/prompt result stopReason end_turn => idle",
    75: "session/prompt result stopReason end_turn => idle",
    74: "session/prompt result stopReason end_... => idle",
    None: "session/prompt result stopReason end_turn in 1.500 s => idle",
}


@pytest.mark.parametrize(("width", "said"), FITTED.items())
def test_a_stop_reason_goes_before_how_long_it_took(width, said):
    answer = {"id": 2, "result": {"stopReason": "end_turn"}}
    shown = laid_out(ASKED, line(2.5, session="a", state=IDLE_AGAIN, msg=answer), width=width)[1]
    assert shown == f"    2.500 .  s1  agent <- {said}"


def test_what_does_not_fit_anyway_is_cut_before_how_long_it_took():
    answer = {"id": 2, "result": {"x": "y" * 99}}
    shown = laid_out(ASKED, line(2.5, session="a", msg=answer), width=76)[1]
    assert shown == "    2.500 .  s1  agent <- session/prompt result x=yyyyyyyyyyyy... in 1.500 s"


# Options


def test_chunks_can_be_expanded(folder):
    path = write("x.jsonl", *SESSION)
    assert [row for row in rows(path, expand=True) if "chunk" in row] == [
        'agent_message_chunk "There is "',
        'agent_message_chunk "one file"',
        'agent_message_chunk ": a.txt."',
        'agent_message_chunk "late" [warning acp/update-after-turn]',
    ]


SELECTED = {
    "a kind": ({"kinds": ["stderr"]}, 1),
    "chunks are single": ({"kinds": ["agent_message_chunk"]}, 4),
    "a pattern": ({"pattern": "a.txt|end_turn"}, 2),
    "a session": ({"session": "s1"}, 9),
    "the last rows": ({"tail": 3}, 3),
    "no rows": ({"tail": 0}, 0),
    "the last chunks": ({"tail": 2, "kinds": ["agent_message_chunk"]}, 2),
}


@pytest.mark.parametrize(("options", "count"), SELECTED.values(), ids=SELECTED)
def test_rows_are_selected(folder, options, count):
    assert len(rows(write("x.jsonl", *SESSION), **options)) == count


def test_the_last_rows_are_the_last(folder):
    assert rows(write("x.jsonl", *SESSION), tail=1) == ["exit code 0"]


def test_it_is_said_when_nothing_matches(folder, capsys):
    assert rows(write("x.jsonl", *SESSION), kinds=["no such thing"]) == []
    assert capsys.readouterr().err == "acptap: x.jsonl: no entry matches\n"


def test_json_has_an_object_for_each_entry(folder):
    path = write("x.jsonl", *SESSION, (A, b"\xff noise\n"))
    lines = [json.loads(line) for line in shown(path, json=True).splitlines()]
    assert [line["number"] for line in lines] == list(range(2, 19))
    assert lines[7] == {
        "number": 9, "at": 0.35, "from": "agent", "conn": 1, "exchange": None, "stream": None,
        "kind": "request",
        "method": "session/request_permission", "update": None, "id": 0,
        "session": "one", "label": "s1", "state": "requires_action",
        "transitions": [{"session": "one", "from": "running", "to": "requires_action",
                         "basis": "derived"}],
        "updates": [
            {"kind": "message", "session": "one", "index": 1, "id": "t", "change": "activity"},
            {"kind": "interrupt", "session": "one", "id": 0, "change": "started"},
        ],
        "notes": [], "gist": "bash allow_once/reject_once", "http": None,
        "payload": {"jsonrpc": "2.0"} | SESSION[7][1],
    }  # fmt: skip
    assert lines[14]["notes"] == [{"rule": "acp/update-after-turn", "severity": "warning"}]
    assert (lines[5]["kind"], lines[5]["payload"]) == ("stderr", SESSION[5][1].decode())
    assert (lines[15]["kind"], lines[15]["method"], lines[15]["payload"]) == ("event", "exit", None)
    assert (lines[16]["session"], lines[16]["payload"]) == (None, "\\xff noise\n")


def test_json_keeps_a_message_as_it_was_spelled(folder):
    said = b'{"id":1.0,  "method":"_a", "x":"\\u00e9\xc3\xa9"}\r\n'
    line = shown(write("x.jsonl", (A, said)), json=True)
    assert line.endswith('"payload":{"id":1.0,  "method":"_a", "x":"\\u00e9é"}}\n')


# Cassettes that are not sound

BROKEN = {
    "a missing file": (None, CassetteMissing, "x.jsonl: the cassette can't be read"),
    "an empty file": (b"", NotACassette, "x.jsonl: the file is empty"),
    "another file": (b"hello\n", NotACassette, "x.jsonl: not a cassette"),
    "a newer format": (b'{"acptap":99}\n', NewerFormat, "x.jsonl: format 99 is newer"),
    "a cassette without an entry": (tape()[0], NothingToPlay, "x.jsonl: the cassette holds no"),
    "a block of zeros": (
        b"".join(tape(*SESSION)) + bytes(512) + b"\n" + tape(*SESSION)[3],
        DamagedCassette, "the 16 entries before it are readable",
    ),
    "a merge conflict": (
        b"".join(tape(*SESSION)) + b"<<<<<<< ours\n" + tape(*SESSION)[3],
        DamagedCassette, "x.jsonl:18: damaged: line 18 is no entry",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("raw", "error", "sentence"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("json_", [False, True])
def test_a_broken_cassette_is_refused_before_anything_is_shown(folder, raw, error, sentence, json_):
    if raw is not None:
        Path("x.jsonl").write_bytes(raw)
    out = io.StringIO()
    with pytest.raises(error, match=re.escape(sentence)):
        show_command(Path("x.jsonl"), ShowOptions(json=json_), out)
    assert out.getvalue() == ""


@pytest.mark.parametrize("torn", [b'{"at":9,"from":"agent","te', "{é".encode()[:2]])
def test_a_torn_last_line_is_left_out_and_said(folder, capsys, torn):
    path = write("x.jsonl", *SESSION)
    path.write_bytes(path.read_bytes() + torn)
    assert shown(path) == PLAIN_SESSION
    assert capsys.readouterr().err == (
        "acptap: x.jsonl: line 18 was cut off by a crash and is left out\n"
    )


@pytest.mark.parametrize("follow", [False, True])
def test_a_device_is_refused(follow):
    with pytest.raises(UsageError, match=r"^/dev/null: the cassette is a pipe or a device; copy"):
        show_command(Path("/dev/null"), ShowOptions(follow=follow), io.StringIO())


def test_a_folder_is_refused(folder):
    for follow in (False, True):
        with pytest.raises(CassetteMissing, match="Is a directory"):
            show_command(folder, ShowOptions(follow=follow), io.StringIO())


def test_errors_are_safe_to_print(folder):
    with pytest.raises(CassetteMissing) as error:
        show_command(Path("\x1b[31m.jsonl"), ShowOptions(), io.StringIO())
    assert str(error.value).startswith("\\x1b[31m.jsonl: the cassette can't be read")


# Following

TAPE = tape(*SESSION)


def followed(path="x.jsonl", **options) -> list[str]:
    """Follow and return the lines behind the header block."""
    with Path("out").open("w+", encoding="utf-8") as out:
        assert show_command(Path(path), ShowOptions(follow=True, **options), out) == 0
        out.seek(0)
        text = out.read()
    return text.splitlines() if options.get("json") else text.partition("\n\n")[2].splitlines()


PLAIN_ROWS = PLAIN_SESSION.partition("\n\n")[2].splitlines()


def test_a_file_is_waited_for_and_followed_to_the_exit(looks):
    raw = b"".join(TAPE)
    cuts = [0, 5, len(TAPE[0]), len(TAPE[0]) + 20, 1200, 1300, len(raw) - 1, len(raw)]
    steps = [raw[start:end] for start, end in pairwise(cuts)]
    left = looks(b"", *steps)
    lines = followed()
    assert (lines[0], lines[-1], left) == (PLAIN_ROWS[0], PLAIN_ROWS[-1], [])
    assert len(lines) in (14, 15)  # a run of chunks may be cut by a look


def test_a_finished_file_is_shown_and_left(looks):
    write("x.jsonl", *SESSION)
    assert followed() == PLAIN_ROWS


def test_following_goes_on_where_it_was(looks):
    Path("x.jsonl").write_bytes(b"".join(TAPE[:5]))
    looks(b"".join(TAPE[5:8]), TAPE[8] + TAPE[9][:10], TAPE[9][10:], b"".join(TAPE[10:]))
    assert followed() == PLAIN_ROWS


def test_following_ends_at_ctrl_c_with_all_that_came(looks):
    Path("x.jsonl").write_bytes(b"".join(TAPE[:2]))
    looks(TAPE[11], KeyboardInterrupt())
    assert followed()[1:] == ['    0.500 .  s1  agent <- agent_message_chunk "There is "']


def test_waiting_ends_at_ctrl_c(looks):
    looks(b"", KeyboardInterrupt())
    assert followed() == []


def test_a_run_is_shown_when_nothing_came_for_a_while(looks):
    Path("x.jsonl").write_bytes(TAPE[0])
    looks(TAPE[11] + TAPE[12], b"", b"", b"", TAPE[13], KeyboardInterrupt())
    assert [line[23:] for line in followed()] == [
        '<- agent_message_chunk x2 to 0.550 "There is one file"',
        '<- agent_message_chunk ": a.txt."',
    ]


def test_a_run_is_shown_after_a_second(looks):
    said = tape(*[chunk(f"{number} ") for number in range(23)])
    Path("x.jsonl").write_bytes(said[0])
    looks(b"".join(said[1:]), KeyboardInterrupt())
    assert [line.partition(" to ")[0] for line in followed()] == [
        "    0.000 .  s1  agent <- agent_message_chunk x20",
        "    1.000 .  s1  agent <- agent_message_chunk x3",
    ]


def test_the_last_rows_are_followed(looks):
    Path("x.jsonl").write_bytes(b"".join(TAPE[:5]))
    looks(TAPE[6], TAPE[16])
    assert followed(tail=1) == [PLAIN_ROWS[3], PLAIN_ROWS[5].replace(" R ", " . "), PLAIN_ROWS[-1]]


def test_no_row_but_new_ones_can_be_followed(looks):
    Path("x.jsonl").write_bytes(b"".join(TAPE[:5]))
    looks(TAPE[16])
    assert followed(tail=0) == [PLAIN_ROWS[-1]]


def test_a_session_that_is_not_there_yet_can_be_followed(looks):
    Path("x.jsonl").write_bytes(b"".join(TAPE[:2]))
    looks(b"".join(TAPE[2:]))
    assert len(followed(session="on")) == 9


def test_json_can_be_followed(looks):
    Path("x.jsonl").write_bytes(TAPE[0])
    looks(b"".join(TAPE[1:]))
    assert [json.loads(line)["number"] for line in followed(json=True)] == list(range(2, 18))


NEVER = {
    "a folder that is missing": (None, "gone/x.jsonl", CassetteMissing, "No such file"),
    "another file": (b"hello", "x.jsonl", NotACassette, "no acptap header"),
    "another file of lines": (b"{}\n", "x.jsonl", NotACassette, "no acptap header"),
    "a damaged line": (TAPE[0] + b"x\n", "x.jsonl", DamagedCassette, "the 0 entries before it"),
}


@pytest.mark.parametrize(("raw", "path", "error", "words"), NEVER.values(), ids=NEVER)
def test_what_can_never_be_followed_is_refused(looks, raw, path, error, words):
    if raw is not None:
        Path(path).write_bytes(raw)
    with pytest.raises(error, match=words):
        followed(path)


def test_a_line_damaged_while_it_is_followed_is_refused(looks):
    Path("x.jsonl").write_bytes(b"".join(TAPE[:5]))
    looks(TAPE[5] + b"{}\n")
    with pytest.raises(DamagedCassette, match=r"line 7 .* the 5 entries before it are readable"):
        followed()


def test_a_file_that_is_cut_short_is_refused(looks, monkeypatch):
    write("x.jsonl", *SESSION[:-1])
    monkeypatch.setattr(following, "pause", lambda: Path("x.jsonl").write_bytes(TAPE[0]))
    with pytest.raises(DamagedCassette, match="the file was cut short while it was followed"):
        followed()


def replace(*lines):
    """Return a function that puts a new file in the place of the cassette."""

    def put():
        Path("new").write_bytes(b"".join(lines))
        Path("new").replace("x.jsonl")

    return put


REPLACED = {
    "with what came meanwhile": [replace(*TAPE)],
    "and goes on": [replace(*TAPE[:8]), b"".join(TAPE[8:])],
    "where a line had begun": [TAPE[5] + TAPE[6][:10], replace(*TAPE[:6]), b"".join(TAPE[6:])],
    "twice": [replace(*TAPE[:6]), replace(*TAPE[:6]), b"", b"".join(TAPE[6:])],
    "once it is gone": [lambda: Path("x.jsonl").unlink(), b"", b"", replace(*TAPE)],
    "a header that says more": [replace(header(redaction="done").encode(), *TAPE[1:])],
}


@pytest.mark.parametrize("steps", REPLACED.values(), ids=REPLACED)
def test_a_recording_that_is_written_anew_is_followed_on(looks, steps):
    Path("x.jsonl").write_bytes(b"".join(TAPE[:5]))
    left = looks(*steps)
    assert (followed(), left) == (PLAIN_ROWS, [])


@pytest.mark.parametrize("json_", [False, True])
def test_another_recording_is_followed_from_its_beginning(looks, capsys, json_):
    Path("x.jsonl").write_bytes(b"".join(TAPE[:5]))
    begun = header(recorded_at="2026-11-30T17:00:00.000000Z").encode()
    left = looks(replace(), b"", begun[:20], begun[20:] + TAPE[6], b"".join(TAPE[7:]))
    lines = followed(json=json_)
    assert capsys.readouterr().err == "acptap: x.jsonl: another recording has taken its place\n"
    assert left == []
    if json_:
        assert [json.loads(line)["number"] for line in lines] == [*range(2, 6), *range(2, 13)]
    else:
        assert lines[:5] == [*PLAIN_ROWS[:4], ""]
        assert lines[5:7] == [
            "# cassette  x.jsonl",
            "# protocol  acp (version not settled) over stdio",
        ]
        assert lines[-1] == PLAIN_ROWS[-1]


@pytest.mark.parametrize(
    ("lines", "error", "words"),
    [
        (TAPE[:4], DamagedCassette, "the file was cut short while it was followed"),
        ([b"hello\n"], NotACassette, "no acptap header"),
    ],
)
def test_what_takes_its_place_and_cannot_be_followed_is_refused(looks, lines, error, words):
    Path("x.jsonl").write_bytes(b"".join(TAPE[:5]))
    looks(replace(*lines))
    with pytest.raises(error, match=words):
        followed()


def test_a_pause_is_short():
    start = time.monotonic()
    following.pause()
    assert time.monotonic() - start >= following.POLL / 2


# Readers that leave


def test_following_ends_when_nobody_reads(looks):
    Path("x.jsonl").write_bytes(TAPE[0])
    looks(b"")
    read, written = os.pipe()
    with os.fdopen(written, "w", encoding="utf-8") as out:
        looks(b"", b"")
        screen = Screen(out)
        screen.rest()
        os.close(read)
        with pytest.raises(BrokenPipeError):
            screen.rest()
        assert show_command(Path("x.jsonl"), ShowOptions(follow=True), out) == 0


def test_a_closed_pipe_ends_the_timeline_quietly(folder):
    path = write("x.jsonl", *[chunk(f"{number}") for number in range(20_000)])
    command = [sys.executable, "-m", "acptap", "show", "--expand", str(path.absolute())]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"# cassette")
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 0)


def test_an_output_that_is_full_is_one_sentence(folder):
    path = write("x.jsonl", *SESSION)
    with (
        Path("/dev/full").open("w", encoding="utf-8") as out,
        pytest.raises(AcptapError, match=r"^x.jsonl: .*\(No space left on device\)$"),
    ):
        show_command(path, ShowOptions(), out)


# The command


def run(capsys, *arguments) -> tuple[int | str | None, str, str]:
    with pytest.raises(SystemExit) as end:
        main(["show", *arguments])
    out, err = capsys.readouterr()
    return end.value.code, out, err


def test_the_command_shows(folder, capsys):
    write("x.jsonl", *SESSION)
    assert run(capsys, "x.jsonl") == (0, PLAIN_SESSION, "")
    assert run(capsys, "x.jsonl", "-n", "1", "--kind", "exit", "--session", "s1")[1].endswith(
        "\n\n"
    )


USAGE = {
    "an unknown session": (
        ["--session", "s7"],
        "acptap: x.jsonl: there is no session 's7'; choose one of: s1 one\n",
    ),
    "no regular expression": (
        ["--grep", "*"],
        (
            "acptap: --grep: '*' is no regular expression (nothing to repeat at position 0); "
            "put a backslash before characters that are meant literally\n"
        ),
    ),
}


@pytest.mark.parametrize(("options", "sentence"), USAGE.values(), ids=USAGE)
def test_what_is_asked_wrongly_is_one_sentence(folder, capsys, options, sentence):
    write("x.jsonl", *SESSION)
    assert run(capsys, "x.jsonl", *options) == (2, "", sentence)


def test_the_help_names_every_member_of_the_json(folder, capsys):
    members = json.loads(shown(write("x.jsonl", *SESSION), json=True).splitlines()[0])
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for member in members:
        assert re.search(rf"(  |, ){member}|{member} its short name", out), member


def test_a_real_terminal_gets_colours_and_ctrl_c_ends_quietly(folder):
    path = write("x.jsonl", *SESSION[:-1])
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "acptap", "show", "--follow", str(path.absolute())]
    with subprocess.Popen(command, cwd=ROOT, stdout=end, stderr=end) as process:
        os.close(end)
        seen = b""
        while b"update-after-turn" not in seen:
            seen += os.read(terminal, 65536)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    assert b"\x1b[32m" in seen
    assert b"Traceback" not in seen
    os.close(terminal)
