"""`acptap.fold`, of cassettes in files and of entries."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import acptap
from acptap.acp.view import Folded
from acptap.cassette import decode_entry
from acptap.errors import CassetteMissing
from acptap.jsonrpc import Side
from acptap.rereading import Rereading, fold_entries
from acptap.storage import Recording
from acptap.tap import Tap
from acptap.wire.lines import LineSplitter
from tests.view.plays import message
from tests.view.test_values import conversations

C, A = Side.CLIENT, Side.AGENT
FOLDER = Path(__file__).parent.parent / "cassettes" / "acp"
CASSETTES = sorted(FOLDER.glob("*.jsonl"))
HEADER = b'{"acptap":1,"annotations":1,"protocol":"acp","transport":"stdio","recorded_at":"","upstream":[],"generator":""}\n'  # noqa: E501


def taped(script, splitter=None):
    """The entries of what was said, a read each; then the agent's exit."""
    tap, lines = Tap(), b""
    if splitter is not None:
        tap._splitters = {side: splitter() for side in Side}
    for at, line in enumerate(script.strip().splitlines()):
        cue, _, words = line.partition(" ")
        side = C if cue == "C>" else A
        data = message(words).encode() + b"\n"
        size = len(data) if splitter is None else 16
        for start in range(0, len(data), size):
            lines += tap.observe(side, data[start : start + size], at)
    return entries_of(lines + tap.exit(1_000_000, code=0))


def entries_of(lines):
    return [decode_entry(line, number, 0, "x.jsonl")
            for number, line in enumerate(lines.split(b"\n")[:-1], 2)]  # fmt: skip


TURN = """
C> 0 initialize {"protocolVersion":1}
A> 0 = {"protocolVersion":1}
C> 1 session/new {"cwd":"/w"}
A> 1 = {"sessionId":"s"}
C> 2 session/prompt {"sessionId":"s","prompt":[<hi>]}
A> s ~ agent_message_chunk {"content":<he>}
A> s ~ agent_message_chunk {"content":<llo>}
A> 2 = {"stopReason":"end_turn"}
"""


@pytest.fixture
def cassette(tmp_path):
    path = tmp_path / "turn.jsonl"
    lines = [HEADER]
    tap = Tap()
    for at, line in enumerate(TURN.strip().splitlines()):
        side = C if line.startswith("C>") else A
        lines.append(tap.observe(side, message(line[3:]).encode() + b"\n", at))
    path.write_bytes(b"".join(lines))
    return path


def test_of_a_path_a_recording_and_entries(cassette):
    with Recording(cassette) as recording:
        of_recording = acptap.fold(recording)
        of_entries = acptap.fold(list(recording))
    assert acptap.fold(cassette) == acptap.fold(str(cassette)) == of_recording == of_entries
    view = of_entries.session("s")
    assert [item.text for item in view.messages] == ["hi", "hello"]
    assert of_entries.line == 9


AT = {1: [], 5: [], 6: ["hi"], 7: ["hi", "he"], 8: ["hi", "hello"], 9: ["hi", "hello"],
      99: ["hi", "hello"]}  # fmt: skip


@pytest.mark.parametrize(("at", "texts"), AT.items())
def test_at_a_line(cassette, at, texts):
    folded = acptap.fold(cassette, at=at)
    assert [item.text for view in folded.sessions for item in view.messages] == texts
    assert folded.line == min(at, 9)


def test_a_cassette_that_is_not_there(tmp_path):
    with pytest.raises(CassetteMissing):
        acptap.fold(tmp_path / "none.jsonl")


def test_importing_acptap_stays_light():
    code = "import sys, acptap; assert 'orjson' not in sys.modules; print(acptap.fold.__name__)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "fold\n"


def test_there_is_nothing_else_to_import():
    with pytest.raises(AttributeError, match="no attribute 'unfold'"):
        acptap.unfold  # noqa: B018


LOST = {
    "the agent exits": b'{"at":9,"from":"agent","event":"exit","code":1}',
    "the agent closes its stream": b'{"at":9,"from":"agent","event":"end"}',
}


@pytest.mark.parametrize("line", LOST.values(), ids=LOST)
def test_edge_50_a_lost_connection(line):
    rereading = Rereading()
    for entry in taped("\n".join(TURN.strip().splitlines()[:-1]))[:-1]:
        rereading.take(entry)
    assert rereading.fold().session().done == []
    told = rereading.take(decode_entry(line, 9, 0, "x"))
    assert [update.kind for update in told] == ["error", "done"]
    assert [done.end for done in rereading.fold().session().done] == ["failed"]


GONE = {
    "the client closes its stream": b'{"at":9,"from":"client","event":"end"}',
    "the agent stops reading": b'{"at":9,"from":"agent","event":"abort"}',
    "stderr": b'{"at":9,"from":"agent","event":"stderr","text":"x\\n"}',
    "noise": b'{"at":9,"from":"agent","text":"x\\n"}',
}


@pytest.mark.parametrize("line", GONE.values(), ids=GONE)
def test_what_is_no_message_asks_nothing(line):
    rereading = Rereading()
    rereading.take(taped(TURN)[4])
    assert rereading.take(decode_entry(line, 9, 0, "x")) == ()


def test_connections_are_kept_apart():
    entries = taped(TURN)
    for entry in taped(TURN):
        entry.front["conn"] = 2
        entries.append(entry)
    folded = fold_entries(entries)
    assert [(view.id, view.conn, view.text) for view in folded.sessions] == [
        ("s", 1, "hello"), ("s", 2, "hello"),
    ]  # fmt: skip
    assert folded.session("s").conn == 2


def test_a_message_in_pieces_is_whole():
    def splitter():
        return LineSplitter(limit=40)

    entries = taped(TURN, splitter)
    assert any(entry.more for entry in entries)
    assert fold_entries(entries).session().text == "hello"


def test_a_rule_that_is_broken_is_told_first():
    lines = Tap().observe(A, b'{"id":9,"id":9,"result":0}\n', 0)
    told = Rereading().take(entries_of(lines)[0])
    assert [update.detail for update in told] == [
        {"rule": "jsonrpc/version"}, {"rule": "jsonrpc/duplicate-member"},
    ][: len(told)]  # fmt: skip


@given(conversations, st.integers(1, 40))
def test_at_a_line_is_the_prefix(said, at):
    tap = Tap()
    lines = [tap.observe(side, json.dumps(words).encode() + b"\n", number)
             for number, (side, words) in enumerate(said)]  # fmt: skip
    entries = entries_of(b"".join(lines))
    prefix = [entry for entry in entries if entry.number <= at]
    assert fold_entries(entries, at).as_json() == fold_entries(prefix).as_json()


@given(conversations, st.lists(st.integers(1, 30), max_size=30))
def test_reads_make_no_difference(said, sizes):
    """However what was said was split into reads, it comes to the same."""
    whole, split = Tap(), Tap()
    told = [b"", b""]
    for side, words in said:
        data = json.dumps(words).encode() + b"\n"
        told[0] += whole.observe(side, data, 0)
        for size in sizes:
            told[1] += split.observe(side, data[:size], 0) if data[:size] else b""
            data = data[size:]
        told[1] += split.observe(side, data, 0) if data else b""
    of_whole, of_split = map(entries_of, told)
    assert fold_entries(of_whole).as_json() == fold_entries(of_split).as_json()
    assert [entry.front.get("updates") for entry in of_whole] == [
        entry.front.get("updates") for entry in of_split
    ]


@given(conversations)
def test_what_the_tap_writes_is_read_again(said):
    """The annotations of a tape, and what its entries ask when they are read again, are one."""
    tap = Tap()
    lines = [tap.observe(side, json.dumps(words).encode() + b"\n", number)
             for number, (side, words) in enumerate(said)]  # fmt: skip
    rereading = Rereading(keep=False)
    for entry in entries_of(b"".join(lines) + tap.end(A, 10**6) + tap.exit(10**6, code=0)):
        told = [update.as_json(_session_of(entry)) for update in rereading.take(entry)]
        assert entry.front.get("updates", []) == json.loads(json.dumps(told))


def _session_of(entry):
    session = entry.front.get("session")
    return session if isinstance(session, str) else None


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_any_bytes_are_folded(reads):
    tap = Tap()
    lines = b"".join(tap.observe(A, data, at) for at, data in enumerate(reads) if data)
    assert isinstance(fold_entries(entries_of(lines + tap.end(A, 99))), Folded)


ENDS = {
    "codex-v1-cancel-asked": ["cancelled"], "codex-v1-cancel": ["cancelled"],
    "codex-v1-close": ["cancelled"], "codex-v1-hello": ["success"], "codex-v1-load": ["success"],
    "codex-v1-model-error": ["success"], "codex-v1-resume": ["success"],
    "codex-v1-tool-allowed": ["success"], "codex-v1-tool-rejected": ["cancelled"],
    "codex-v1-two-sessions": ["success"] * 2, "codex-v1-two-turns": ["success"] * 2,
    "codex-v2-cancel-asked": ["cancelled"], "codex-v2-cancel": ["cancelled"],
    "codex-v2-close": ["cancelled"], "codex-v2-edit": ["success"], "codex-v2-hello": ["success"],
    "codex-v2-model-error": ["failed"], "codex-v2-notice": ["success"],
    "codex-v2-resume-replay": ["success"], "codex-v2-resume": ["success"],
    "codex-v2-tool-allowed": ["success"], "codex-v2-tool-rejected": ["cancelled"],
    "codex-v2-two-sessions": ["success"] * 2, "codex-v2-two-turns": ["success"] * 2,
    "opencode-v1-cancel-asked": ["cancelled"], "opencode-v1-cancel": ["cancelled"],
    "opencode-v1-close": ["cancelled"], "opencode-v1-edit": ["success"],
    "opencode-v1-hello": ["success"], "opencode-v1-load": ["success"],
    "opencode-v1-model-error": ["failed"], "opencode-v1-resume": ["success"],
    "opencode-v1-tool-allowed": ["success"], "opencode-v1-tool-rejected": ["success"],
    "opencode-v1-two-sessions": ["success"] * 2, "opencode-v1-two-turns": ["success"] * 2,
}  # fmt: skip


@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: path.stem)
def test_turns_of_real_agents(path):
    folded = acptap.fold(path)
    assert [done.end for view in folded.sessions for done in view.done] == ENDS[path.stem]
    assert folded.pending == []
    for view in folded.sessions:
        assert view.began is None
        assert view.unknown == []
        assert all(call.status in ("completed", "failed") for call in view.tool_calls)


@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: path.stem)
def test_every_line_of_real_agents(path):
    """At every line it is what the lines before it come to."""
    with Recording(path) as recording:
        entries = list(recording)
    rereading = Rereading()
    for entry in entries:
        rereading.take(entry)
        told = json.dumps(rereading.fold().as_json())
        assert json.dumps(fold_entries(entries, entry.number).as_json()) == told


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_tool_call_of_a_real_agent(version):
    """Both versions come to the same, though they tell of the terminal in different places."""
    view = acptap.fold(FOLDER / f"codex-{version}-tool-allowed.jsonl").session()
    (call,) = view.tool_calls
    assert (call.title, call.status, call.terminals) == (
        "python3 forecast.py Oslo", "completed", [*view.terminals],
    )  # fmt: skip
    (terminal,) = view.terminals.values()
    assert terminal.text == "Oslo: 4 °C, light rain\n"
    assert terminal.fields == {
        "command": "python3 forecast.py Oslo", "cwd": "/home/ada/weather",
        "exitStatus": {"exitCode": 0, "signal": None},
    }  # fmt: skip
    assert "_meta" not in call.fields
    assert view.interrupts[0].option["kind"] == "allow_once"
    assert view.state.usage == {"used": 1842, "size": 258400}
