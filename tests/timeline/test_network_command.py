"""`acptap show` on what was recorded on the network, and until when it follows a recording."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from acptap.app.show import following
from acptap.cassette import DONE, OPEN
from acptap.storage import Tape, overwrite
from tests.tap.test_network import PROMPT, conversation
from tests.tap.wires import A, Recorded, post, request, response
from tests.timeline.test_command import SESSION, followed, shown, tape
from tests.timeline.test_network import TURN, header, two_connections

TWO = two_connections()


def put(recorded, **members) -> Path:
    path = Path("x.jsonl")
    path.write_bytes(b"".join([header(**members).encode(), *recorded.tape]))
    return path


@pytest.fixture
def turn(folder):
    """A turn over HTTP, a look at the agent's health, and an end."""
    recorded = conversation(Recorded(), lambda lines: lines[1].end(A, "reset"))
    line = recorded.line()
    line.client(request("GET", "/health"))
    line.agent(response(200, b"ok", Content_Type="text/plain"))
    return put(recorded, redaction=DONE)


def test_a_recording_of_the_network_is_shown(turn):
    lines = shown(turn).splitlines()
    assert lines[:7] == [
        "# cassette  x.jsonl",
        "# protocol  acp 1 over http",
        "# agent     http://127.0.0.1:9000/acp",
        "# recorded  2026-11-30T16:00:00.000000Z, 0.015 s, 21 entries  acptap 0.1.0",
        "# sessions  s1  s  idle",
        "# notes     2 warnings",
        "",
    ]
    assert [line[10:] for line in lines[7:]] == [
        *TURN,
        (
            ".   -  agent -- reset the connection stream [warning http/cut] "
            "[warning http/stream-lost stream=connection]"
        ),
        ".   - client -> GET /health",
        ".   -  agent <- 200 text/plain to GET /health",
        '.   -  agent <- body text/plain, 2 bytes "ok"',
        "",
        "  10 entries that say nothing new; --expand shows them",
    ]
    assert lines[-1].startswith("# left out  10 entries")


SHOWN = {
    # options: rows, and whether something is said to be left out
    "every entry": ({"expand": True}, 21, False),
    "HTTP": ({"kinds": ["http"]}, 14, False),
    "a pattern": ({"pattern": "POST"}, 3, False),
    "the last rows": ({"tail": 2}, 4, True),
    "a session": ({"session": "s1"}, 6, True),
    "with updates": ({"updates": True}, 11 + 3 + 2, True),
}


@pytest.mark.parametrize(("options", "count", "says"), SHOWN.values(), ids=SHOWN)
def test_what_is_left_out_is_said(turn, options, count, says):
    rows = shown(turn, **options).partition("\n\n")[2].splitlines()
    assert len(rows) == count
    assert rows[-1].startswith("# left out") is says


def test_one_entry_that_is_left_out(folder):
    recorded = Recorded()
    recorded.line().client(post(PROMPT, Acp_Connection_Id="c1"))
    assert shown(put(recorded)).endswith(
        "\n\n# left out  1 entry that says nothing new; --expand shows them\n"
    )


def test_json_says_where_on_the_network_an_entry_passed(turn):
    lines = [json.loads(line) for line in shown(turn, json=True).splitlines()]
    assert len(lines) == 21
    head, message, answer = lines[0], lines[1], lines[2]
    assert (head["kind"], head["method"], head["gist"]) == ("http", "POST", "POST /acp")
    assert (head["conn"], head["exchange"], head["stream"], head["payload"]) == (1, 1, None, None)
    assert (head["http"]["method"], head["http"]["target"]) == ("POST", "/acp")
    assert (message["kind"], message["conn"], message["http"]) == ("request", 1, None)
    assert (answer["method"], answer["http"]["status"]) == ("POST", 200)
    assert [line["stream"] for line in lines if line["stream"]] == [
        "connection", "session", "session", "connection",
    ]  # fmt: skip
    *_, asked, _, body = lines
    assert (asked["conn"], asked["exchange"], asked["session"]) == (None, 6, None)
    assert (body["kind"], body["payload"]) == ("noise", "ok")


def test_a_session_of_one_connection(folder):
    path = put(TWO)
    rows = shown(path, session="s2").partition("\n\n")[2].splitlines()
    assert [row[10:12] for row in rows[:-2]] == ["c2"] * 4
    assert len(shown(path, session="s").partition("\n\n")[2].splitlines()) == 10


def test_the_trees_of_two_connections(folder):
    path = put(TWO)
    assert shown(path, tree=True).partition("\n\n")[2] == (
        "session s1 s  connection 1  running\n"
        "  turn 1  under way\n"
        "    user\n"
        "    agent      hi\n"
        "session s2 s  connection 2  idle\n"
        "  turn 1  success (end_turn)\n"
        "    user\n"
        "    agent      hi\n"
    )
    assert shown(path, tree=True, session="s2").partition("\n\n")[2].startswith("session s2 s")
    folded = json.loads(shown(path, tree=True, session="s2", json=True))
    assert [view["conn"] for view in folded["sessions"]] == [2]


def test_an_earlier_moment(folder):
    path = put(TWO)
    rows = shown(path, at=14).partition("\n\n")[2]
    assert rows == "session s1 s  running\n  turn 1  under way\n    user\n"


def test_updates_name_the_session_of_their_connection(folder):
    rows = shown(put(TWO), updates=True).splitlines()
    assert [row.strip() for row in rows if "done" in row or "started" in row] == [
        "message[0] started", "message[1] started", "message[0] started", "message[1] started",
        "done success end_turn",
    ]  # fmt: skip


# Following

LINES = conversation(Recorded()).lines
HEAD, REST = [line + b"\n" for line in LINES[:4]], [line + b"\n" for line in LINES[4:]]


class Recorder:
    """Somebody who records, and who holds the file's lock or not."""

    def __init__(self, lines=(), *, held, **members):
        self.path = Path("x.jsonl")
        self.head = header(**members).encode()
        self.path.write_bytes(b"".join(lines or [self.head, *HEAD]))
        self.tape: Any = None
        if held:
            self.tape = Tape(self.path, os.open(self.path, os.O_WRONLY | os.O_APPEND))

    def write(self):
        with self.path.open("ab") as file:
            file.write(b"".join(REST))

    def let_go(self):
        self.tape.close()

    def finish(self):
        overwrite(self.path, self.head.index(b'"open"'), b'"done"')


def said(**options):
    """The rows without their beginnings, and without what was left out."""
    rows = followed(**options)
    end = rows.index("") if "" in rows else len(rows)
    return [row[14:] for row in rows[:end]]


def steps_of(recorder, *names):
    return [getattr(recorder, name) if name else b"" for name in names]


ALL = [row[4:] for row in TURN]
OVER = {
    # what the header says, whether the lock is held, and what happens between looks
    "it is let go": ({}, True, ["write", "let_go", ""]),
    "it is let go, and not finished": ({"redaction": OPEN}, True, ["write", "let_go", ""]),
    "it is finished and let go": ({"redaction": OPEN}, True, ["write", "finish", "let_go", ""]),
    "on another machine it is finished": ({"redaction": OPEN}, False, ["", "write", "finish", ""]),
}


@pytest.mark.parametrize(("members", "held", "names"), OVER.values(), ids=OVER)
def test_a_recording_of_the_network_is_followed_until(looks, members, held, names):
    recorder = Recorder(held=held, **members)
    left = looks(*steps_of(recorder, *names))
    assert (said(), left) == (ALL, [])


@pytest.mark.parametrize("redaction", ["", DONE])
def test_a_recording_that_is_over_is_shown_and_left(looks, redaction):
    recorder = Recorder(held=False, redaction=redaction)
    recorder.write()
    left = looks(b"")
    assert (said(), left) == (ALL, [])


def test_what_was_written_right_before_it_was_let_go_is_shown(looks, monkeypatch):
    recorder = Recorder(held=True)
    asked: list[int] = []

    def is_recording(_path):
        if not asked:
            recorder.write()
            recorder.let_go()
        asked.append(len(asked))
        return len(asked) == 1

    monkeypatch.setattr(following, "is_recording", is_recording)
    looks(b"", b"", b"")
    assert said() == ALL


def test_what_nobody_seems_to_record_is_followed_until_ctrl_c(looks):
    Recorder(held=False, redaction=OPEN)
    left = looks(b"", b"", b"", KeyboardInterrupt())
    assert (said(), left) == (ALL[:2], [])


def test_another_recording_takes_the_place_of_one_that_nobody_holds(looks, capsys):
    recorder = Recorder(held=False, redaction=OPEN)
    begun = header(recorded_at="2026-11-30T17:00:00.000000Z", redaction=DONE).encode()
    empty = recorder.path.with_name("new")

    def replace():
        empty.write_bytes(b"")
        empty.replace(recorder.path)

    left = looks(replace, b"", begun[:20], begun[20:] + b"".join(HEAD), b"")
    rows = [row[14:] for row in followed() if "  agent <- " in row or " client -> " in row]
    assert (rows, left) == (ALL[:2] * 2, [])
    assert "another recording has taken its place" in capsys.readouterr().err


def test_a_recording_of_several_agents_does_not_end_with_the_first(looks):
    lines = tape(*SESSION)
    recorder = Recorder(lines, held=True)
    second = b'{"at":1.0,"from":"agent","conn":2,"msg":{"method":"_hello"}}\n'
    last = b'{"at":1.1,"from":"agent","conn":2,"event":"exit","code":0}\n'
    left = looks(second, last, recorder.let_go, b"")
    rows = followed()
    assert (rows[-3][23:], rows[-2][10:], rows[-1][10:], left) == (
        "-- exit code 0", "c2 .   -  agent <- _hello", "c2 .   -  agent -- exit code 0", [],
    )  # fmt: skip


def test_a_head_is_shown_when_nothing_comes_behind_it(looks):
    recorder = Recorder([header(redaction=OPEN).encode()], held=False)
    recorded = Recorded()
    recorded.line().client(request("POST", "/x"))
    left = looks(recorded.tape[0], b"", b"", b"", KeyboardInterrupt())
    assert (said(), left) == (["- client -> POST /x"], [])
    assert recorder.tape is None
