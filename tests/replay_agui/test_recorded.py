"""Which exchanges of a recording are runs, and how they ended."""

import base64
import json
from pathlib import Path

import pytest

from acptap.redact import Redactor
from acptap.replay.agui.asking import Kind
from acptap.replay.agui.recorded import Ending
from tests.replay_agui.plays import runs_on
from tests.replay_agui.tapes import (
    BINARY,
    Tape,
    asked,
    block,
    dump,
    finished,
    interrupted,
    spoken,
    started,
    text,
)
from tests.tap.wires import LAST, STREAM, chunk, initialized, post, request, response


def frames():
    path = Path(__file__).parents[1] / "agui" / "frames.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    return {row["name"]: (base64.b64decode(row["frame"]), row["event"]) for row in rows}


def test_a_run():
    [run] = runs_on(Tape().talk("t1", "r1", "hi", "Hel", "lo"))
    assert (run.thread, run.run, run.turn, run.kind) == ("t1", "r1", 1, Kind.TURN)
    assert str(run) == "run 1 of thread t1"
    assert (run.number, run.line, run.lines) == (1, 3, list(range(2, 12)))
    assert run.request.target == "/agent"
    assert run.response is not None
    assert run.response.status == 200
    assert [part.is_block for part in run.body] == [True] * 6
    assert len({part.at for part in run.body}) == 6
    assert run.ending is Ending.COMPLETE
    assert run.is_stream
    assert not run.is_redacted
    assert run.pending == ()
    assert run.interrupts == []


def test_what_one_read_held_has_one_time():
    [run] = runs_on(Tape().run(asked("hi"), [started(), [*text("a"), finished()]]))
    assert len({part.at for part in run.body}) == 2


ENDS = {
    "end": Ending.COMPLETE, "cut": Ending.CUT, "reset": Ending.RESET, "client": Ending.LEFT,
    "killed": Ending.CUT,
}  # fmt: skip


@pytest.mark.parametrize(("end", "ending"), ENDS.items(), ids=ENDS)
def test_how_an_answer_ends(end, ending):
    [run] = runs_on(Tape().run(asked("hi"), [started()], end))
    assert run.ending is ending
    assert run.interrupts is None


@pytest.mark.parametrize(("end", "ending"), list(ENDS.items())[1:], ids=list(ENDS)[1:])
def test_a_run_that_is_never_answered(end, ending):
    [run] = runs_on(Tape().nothing(asked("hi"), end))
    assert run.ending is ending
    assert run.response is None
    assert not run.is_stream


def test_errors():
    tape = Tape().fail(asked("hi"), 503, b"busy", Retry_After="1")
    tape.fail(asked("hi"), 422, b'{"a":1}', Content_Type="application/json").fail(asked("hi"), 500)
    runs = runs_on(tape)
    assert [run.response.status for run in runs] == [503, 422, 500]
    assert [run.ending for run in runs] == [Ending.COMPLETE] * 3
    assert [run.is_stream for run in runs] == [False] * 3
    assert [run.turn for run in runs] == [1, 2, 3]


def test_an_answer_without_events():
    [run] = runs_on(Tape().run(asked("hi"), []))
    assert run.is_stream
    assert run.ending is Ending.COMPLETE


def test_places_in_threads():
    tape = Tape().talk("a", "1", "hi").talk("b", "2", "hi").talk("a", "3", "and?")
    assert [(run.thread, run.turn) for run in runs_on(tape)] == [("a", 1), ("b", 1), ("a", 2)]


def test_interrupts_wait_for_the_next_run_that_finishes():
    tape = Tape().run(asked("hi"), [started(), interrupted("i1", "i2")])
    tape.run(asked("hi"), [started()])
    tape.run(asked("hi"), spoken("t", "r", "ok"))
    tape.run(asked("hi"), spoken("t", "r", "ok"))
    pending = [run.pending for run in runs_on(tape)]
    assert pending == [(), ("i1", "i2"), ("i1", "i2"), ()]


def test_binary():
    known = frames()
    binary = [frame for frame, _ in known.values()]
    [run] = runs_on(Tape().run(asked("hi"), binary, media=BINARY))
    assert all(part.is_frame and not part.is_block for part in run.body)
    assert run.is_stream
    last = [event for _, event in known.values() if event["type"] == "RUN_FINISHED"][-1]
    assert run.interrupts == last.get("outcome", {}).get("interrupts", [])


ODD = {
    "no json": b"data: RUN_FINISHED\n\n",
    "no event": b'data: ["RUN_FINISHED"]\n\n',
    "named in a text": b'data: {"type":"CUSTOM","name":"RUN_FINISHED"}\n\n',
    "no block": b"data: RUN_FINISHED",
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_what_only_looks_like_the_end(odd):
    [run] = runs_on(Tape().run(asked("hi"), [started(), odd]))
    assert run.interrupts is None


def test_an_odd_frame():
    [run] = runs_on(Tape().run(asked("hi"), [b"\0\0\0\1\xff"], media=BINARY))
    assert run.interrupts is None


def test_long_units_are_put_together():
    huge = "x" * 9_000_000
    said = block(text(huge)[1])
    tape = Tape().run(asked(huge), [started(), said[:-10], said[-10:], finished()])
    [run] = runs_on(tape)
    assert len(run.offsets) == 2
    assert run.digest is not None
    assert [len(part.offsets) for part in run.body] == [1, 2, 1]
    assert not any(part.more for part in run.body)
    assert run.interrupts == []


def test_redacted_requests_have_no_digest():
    tape = Tape(Redactor())
    tape.run(asked("key sk-ant-REDACTED"), [started()])
    [run] = runs_on(tape)
    assert run.is_redacted
    assert run.digest is None


def test_what_is_no_run():
    tape = Tape()
    line = tape.line()
    initialized(line)
    line.client(request("GET", "/agent/health"))
    line.agent(response(200, b"{}"))
    line.client(post('{"threadId":"t"}'))
    line.agent(response(422, b"{}"))
    line.client(post("no json"))
    line.agent(response(400, b"{}"))
    assert runs_on(tape) == []
    assert runs_on(Tape()) == []


def test_what_else_happens_in_an_exchange():
    tape = Tape()
    line = tape.line()
    headers = {"Transfer-Encoding": "chunked", "Expect": "100-continue"}
    line.client(request("POST", "/agent", **headers) + chunk(dump(asked("hi")).encode()) + LAST)
    line.agent(b"HTTP/1.1 100 Continue\r\n\r\n")
    line.agent(STREAM + chunk(block(started())) + b"0\r\nX-Done: 1\r\n\r\n")
    [run] = runs_on(tape)
    assert run.response is not None
    assert run.response.status == 200
    assert run.ending is Ending.COMPLETE
    assert len(run.body) == 1
