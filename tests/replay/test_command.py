"""`acptap replay` on standard input and output: what it plays, what it says, how it ends."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from acptap.app.play import replaying

REPLAY = [sys.executable, "-m", "acptap", "replay"]
HEADER = {
    "acptap": 1, "annotations": 1, "protocol": "acp", "transport": "stdio",
    "recorded_at": "2026-01-01T00:00:00.000000Z", "upstream": ["agent"], "generator": "test",
}  # fmt: skip
INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}'
AGREED = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'
NEW = '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/one","mcpServers":[]}}'
MADE = '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}'
STOPPED = '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}'
ASKED = (
    '{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s1",'
    '"toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},'
    '{"optionId":"n","name":"No","kind":"reject_once"}]}}'
)
ALLOWED = '{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}'
REJECTED = ALLOWED.replace('"y"', '"n"')


def prompt(id_, text="hello"):
    return (
        f'{{"jsonrpc":"2.0","id":{id_},"method":"session/prompt","params":{{"sessionId":"s1",'
        f'"prompt":[{{"type":"text","text":"{text}"}}]}}}}'
    )


def chunk(text):
    return (
        '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'
        f'{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}}}'
    )


def entry(at, side, **facts):
    if "msg" not in facts:
        return orjson.dumps({"at": at, "from": side, **facts}).decode()
    return f'{{"at":{at:.6f},"from":"{side}","msg":{facts["msg"]}}}'


SETUP = [("client", INITIALIZE), ("agent", AGREED), ("client", NEW), ("agent", MADE)]
HELLO = [*SETUP, ("client", prompt(2)), ("agent", chunk("hi")), ("agent", STOPPED)]
PERMISSION = [
    *SETUP, ("client", prompt(2)), ("agent", ASKED), ("client", ALLOWED), ("agent", chunk("done")),
    ("agent", STOPPED),
]  # fmt: skip


def tape(path, messages, *ending, step=0.01):
    """Write a cassette of messages, one read each, `step` seconds apart."""
    lines = [orjson.dumps(HEADER).decode()]
    at = 0.0
    for side, message in messages:
        at += step
        lines.append(entry(at, side, msg=message))
    for side, facts in ending:
        at += step
        lines.append(entry(at, side, **facts))
    path.write_text("\n".join(lines) + "\n")
    return path


def play(cassette, said, *options, **kwargs):
    """Say lines to a replay, then close; return the finished process."""
    return subprocess.run(
        [*REPLAY, str(cassette), *options],
        input="".join(line + "\n" for line in said),
        capture_output=True, text=True, timeout=60, check=False, **kwargs,
    )  # fmt: skip


def client_lines(messages):
    return [message for side, message in messages if side == "client"]


def agent_lines(messages):
    return [message for side, message in messages if side == "agent"]


@pytest.fixture
def hello(tmp_path):
    return tape(tmp_path / "hello.jsonl", HELLO)


def test_a_client_that_asks_what_was_recorded_hears_it_byte_for_byte(hello):
    done = play(hello, client_lines(HELLO), "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == agent_lines(HELLO)


def test_live_ids_go_out_in_the_answers(hello):
    said = [line.replace('"id":2', '"id":"two"') for line in client_lines(HELLO)]
    done = play(hello, said)
    assert done.returncode == 0
    assert '{"jsonrpc":"2.0","id":"two","result":{"stopReason":"end_turn"}}' in done.stdout


def test_another_working_folder_still_matches(tmp_path):
    messages = [
        *SETUP,
        ("client", prompt(2)),
        ("agent", chunk("see /w/one/a.txt")),
        ("agent", STOPPED),
    ]
    cassette = tape(tmp_path / "c.jsonl", messages)
    said = [line.replace("/w/one", "/srv/b") for line in client_lines(messages)]
    done = play(cassette, said)
    assert done.returncode == 0
    assert "see /srv/b/a.txt" in done.stdout


def test_what_was_not_recorded_is_refused_at_once_and_named(hello):
    done = play(hello, [*client_lines(HELLO), prompt(3, "again")])
    assert done.returncode == 1
    refusal = orjson.loads(done.stdout.splitlines()[-1])
    assert (refusal["id"], refusal["error"]["code"]) == (3, -32001)
    assert "the cassette holds 1" in refusal["error"]["message"]
    assert "session/prompt number 2: the cassette holds 1" in done.stderr


def test_what_was_never_played_is_reported(hello):
    done = play(hello, client_lines(HELLO)[:2])
    assert done.returncode == 1
    assert "never played: lines 6-8" in done.stderr
    assert play(hello, client_lines(HELLO)[:2], "--allow-unplayed", "-q").returncode == 0


def test_it_plays_the_first_connection_and_misses_the_others(hello):
    lines = hello.read_text().splitlines(keepends=True)
    other = [line.replace('"from":"client"', '"from":"client","conn":2') for line in lines[1:]]
    other = [line.replace('"from":"agent"', '"from":"agent","conn":2') for line in other]
    hello.write_text("".join([*lines, *other]))
    done = play(hello, client_lines(HELLO))
    assert done.returncode == 1
    assert done.stdout.splitlines() == agent_lines(HELLO)
    assert "never played: lines 9-15" in done.stderr


def test_another_decision_contradicts_the_recording(tmp_path):
    cassette = tape(tmp_path / "p.jsonl", PERMISSION)
    said = [line if line != ALLOWED else REJECTED for line in client_lines(PERMISSION)]
    done = play(cassette, said)
    assert done.returncode == 1
    assert '"id":2,"error":{"code":-32001' in done.stdout
    assert "another answer to session/request_permission" in done.stderr


LEVELS = {
    "a difference is reported and does not fail": ("method", (), 0),
    "at the level params it fails": ("params", (), 1),
    "at the level exact too": ("exact", (), 1),
    "what is ignored is no difference": ("exact", ("--ignore", "/params/prompt"), 0),
}


@pytest.mark.parametrize(("level", "options", "code"), LEVELS.values(), ids=LEVELS)
def test_levels(hello, level, options, code):
    said = [line.replace("hello", "good day") for line in client_lines(HELLO)]
    done = play(hello, said, "--match", level, *options)
    assert done.returncode == code
    assert ("good day" in done.stderr) == (not options)


def test_the_report_as_json(hello, tmp_path):
    report = tmp_path / "report.json"
    play(hello, client_lines(HELLO)[:2], "--report", str(report), "-q")
    assert orjson.loads(report.read_bytes()) == {
        "clean": False, "unmatched": [], "differing": [], "unplayed": [6, 7, 8], "noted": [],
    }  # fmt: skip


def test_a_report_that_cannot_be_written(hello, tmp_path):
    done = play(hello, client_lines(HELLO), "--report", str(tmp_path / "no" / "report.json"))
    assert done.returncode == 2
    assert "the report can't be written" in done.stderr
    assert "Traceback" not in done.stderr


ENDINGS = {
    "an exit before the client's end": ([("agent", {"event": "exit", "code": 3})], 3),
    "a signal before the client's end": ([("agent", {"event": "exit", "signal": "SIGTERM"})], 143),
    "a signal without a name": ([("agent", {"event": "exit", "signal": "SIG40"})], 168),
    "a signal that is none": ([("agent", {"event": "exit", "signal": "alarm"})], 128),
    "only the stream's end": ([("agent", {"event": "end"})], 0),
}


@pytest.mark.parametrize(("ending", "code"), ENDINGS.values(), ids=ENDINGS)
def test_an_agent_that_left_first_leaves_first(tmp_path, ending, code):
    cassette = tape(tmp_path / "c.jsonl", HELLO[:-1], *ending)  # P1: chunk, then the end
    with running(cassette) as fake:
        for line in client_lines(HELLO):
            tell(fake, line)
        assert fake.stdout.read().splitlines() == [
            line.encode() for line in agent_lines(HELLO[:-1])
        ]
        assert fake.wait(timeout=60) == code  # although the client's side is still open


def test_an_agent_that_left_first_counts_for_nothing_if_something_did_not_match(tmp_path):
    cassette = tape(tmp_path / "c.jsonl", HELLO, ("agent", {"event": "exit", "code": 3}))
    said = client_lines(HELLO)
    done = play(cassette, [*said[:2], '{"jsonrpc":"2.0","id":9,"method":"x/y"}', said[2]])
    assert done.returncode == 1


def test_an_exit_after_the_clients_end_is_not_played(tmp_path):
    ending = ("client", {"event": "end"}), ("agent", {"event": "exit", "code": 3})
    done = play(tape(tmp_path / "c.jsonl", HELLO, *ending), client_lines(HELLO))
    assert done.returncode == 0


def test_patience_ends_with_an_error_that_names_what_was_awaited(tmp_path):
    cassette = tape(tmp_path / "p.jsonl", PERMISSION)
    with running(cassette, "--patience", "0.2") as fake:  # O8: the client never answers
        for line in client_lines(PERMISSION)[:3]:
            tell(fake, line)
        heard = [orjson.loads(fake.stdout.readline()) for _ in range(4)]
        assert heard[-1]["id"] == 2
        assert "waits for the answer to session/request_permission" in heard[-1]["error"]["message"]
        fake.stdin.close()
        assert fake.wait(timeout=60) == 1


def test_recorded_speed_keeps_the_pace_and_the_reads(tmp_path):
    cassette = tape(tmp_path / "c.jsonl", HELLO, step=0.1)
    with running(cassette, "--speed", "recorded") as fake:
        begin = time.monotonic()
        for line in client_lines(HELLO)[:2]:
            tell(fake, line)
            fake.stdout.readline()
        tell(fake, client_lines(HELLO)[2])
        assert os.read(fake.stdout.fileno(), 4096) == agent_lines(HELLO)[2].encode() + b"\n"
        assert os.read(fake.stdout.fileno(), 4096) == STOPPED.encode() + b"\n"
        assert time.monotonic() - begin > 0.4  # four agent messages, each 0.1 s behind
        fake.stdin.close()
        assert fake.wait(timeout=60) == 0


STREAM = [
    *SETUP, ("client", prompt(2)), *(("agent", chunk(f"{number} ")) for number in range(20)),
    ("agent", STOPPED),
]  # fmt: skip


@pytest.mark.parametrize(("speed", "step"), [("recorded", 0.05), ("instant", 20.0)])
def test_r4_a_stream_is_heard_as_it_was_recorded_or_at_once_and_then_ends(tmp_path, speed, step):
    cassette = tape(tmp_path / "c.jsonl", STREAM, step=step)
    with running(cassette, "--speed", speed) as fake:
        for line in client_lines(STREAM)[:2]:
            tell(fake, line)
            fake.stdout.readline()
        begin = time.monotonic()
        tell(fake, client_lines(STREAM)[2])
        times = []
        for line in agent_lines(STREAM)[2:]:
            assert fake.stdout.readline() == line.encode() + b"\n"
            times.append(time.monotonic() - begin)
        fake.stdin.close()
        assert fake.stdout.read() == b""
        assert fake.wait(timeout=60) == 0
    if speed == "recorded":
        assert all(after > 0.9 * step * number for number, after in enumerate(times, 1))
        assert times[0] < 0.5 * times[-1]  # not all of it at the end
    else:
        assert times[-1] < step


def test_a_client_that_goes_on_gets_what_was_delayed(tmp_path):
    two = [*HELLO, ("client", prompt(3)), ("agent", STOPPED.replace("2,", "3,"))]
    two[-1] = ("agent", '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}')
    cassette = tape(tmp_path / "c.jsonl", two, step=20.0)
    with running(cassette, "--speed", "recorded") as fake:
        for line in client_lines(two):
            tell(fake, line)
        heard = [fake.stdout.readline() for _ in range(4)]  # all but the last, long before 20 s
        assert heard == [line.encode() + b"\n" for line in agent_lines(two)[:4]]
        fake.stdin.close()
        assert fake.wait(timeout=60) == 0


def test_units_of_one_read_are_one_write(tmp_path):
    cassette = tape(tmp_path / "c.jsonl", HELLO)
    lines = cassette.read_text().splitlines()
    lines[-1] = lines[-1].replace("0.070000", "0.060000")
    cassette.write_text("\n".join(lines) + "\n")
    with running(cassette) as fake:
        for line in client_lines(HELLO)[:2]:
            tell(fake, line)
            fake.stdout.readline()
        tell(fake, client_lines(HELLO)[2])
        both = "".join(line + "\n" for line in agent_lines(HELLO)[2:]).encode()
        assert os.read(fake.stdout.fileno(), 4096) == both
        fake.stdin.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_with_the_verdict(hello, number):
    with running(hello) as fake:
        tell(fake, INITIALIZE)
        fake.stdout.readline()
        fake.send_signal(number)
        assert fake.wait(timeout=60) == 1
        assert b"never played" in fake.stderr.read()


def test_a_signal_that_is_ignored_where_it_was_started_is_ignored(hello):
    deaf = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *REPLAY, "-q", str(hello)]
    with subprocess.Popen(deaf, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as fake:
        assert fake.stdin is not None
        assert fake.stdout is not None
        tell(fake, INITIALIZE)
        fake.stdout.readline()
        fake.send_signal(signal.SIGHUP)
        for line in client_lines(HELLO)[1:]:
            tell(fake, line)
        fake.stdin.close()
        fake.stdout.read()
    assert fake.returncode == 0


def test_a_client_that_stops_reading_ends_it(tmp_path):
    messages = [*SETUP, ("client", prompt(2)), *[("agent", chunk("x" * 60_000))] * 40]
    with running(tape(tmp_path / "c.jsonl", messages)) as fake:
        fake.stdout.close()
        for line in client_lines(messages):
            fake.stdin.write(line.encode() + b"\n")
        fake.stdin.close()
        assert fake.wait(timeout=60) == 1


def test_a_last_line_without_line_end_is_heard(hello):
    said = "\n".join(client_lines(HELLO))
    done = subprocess.run(
        [*REPLAY, str(hello)], input=said, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0
    assert done.stdout.splitlines() == agent_lines(HELLO)


def test_standard_streams_may_be_files(hello, tmp_path):
    said, heard = tmp_path / "in", tmp_path / "out"
    said.write_text("".join(line + "\n" for line in client_lines(HELLO)))
    with said.open("rb") as source, heard.open("wb") as sink:
        done = subprocess.run(
            [*REPLAY, "-q", str(hello)], stdin=source, stdout=sink, timeout=60, check=False
        )
    assert done.returncode == 0
    assert heard.read_text().splitlines() == agent_lines(HELLO)


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 131_073, 1_048_577, 9_000_000])
def test_f2_lines_of_any_size_are_heard_and_played(tmp_path, size):
    messages = [
        *SETUP,
        ("client", prompt(2, "x" * size)),
        ("agent", chunk("y" * size)),
        ("agent", STOPPED),
    ]
    done = play(
        tape(tmp_path / "c.jsonl", messages), client_lines(messages), "--match", "exact", "-q"
    )
    assert done.returncode == 0
    assert done.stdout.splitlines() == agent_lines(messages)


def test_a_torn_last_line_is_left_out_and_said_so(hello):
    whole = hello.read_bytes()
    hello.write_bytes(whole[:-20])  # C1
    done = play(hello, client_lines(HELLO))
    assert "line 8 was cut off by a crash and is left out" in done.stderr
    assert done.stdout.splitlines() == agent_lines(HELLO)[:-1]


def payload_first(line):
    front, _, payload = line.partition(',"msg":')
    return f'{{"msg":{payload[:-1]},{front[1:]}}}'


SAVED_AGAIN = {
    "a member behind the payload": lambda line: line[:-1] + ',"checked":1}',
    "spaces": lambda line: line.replace('","msg":', '" , "msg" : '),
    "the payload first": payload_first,
}


@pytest.mark.parametrize("saved", SAVED_AGAIN.values(), ids=SAVED_AGAIN)
def test_a_cassette_saved_again_by_another_tool_plays_the_same_bytes(hello, saved):
    header, *lines = hello.read_text().splitlines()
    hello.write_text("\n".join([header, *map(saved, lines)]) + "\n")
    done = play(hello, client_lines(HELLO), "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == agent_lines(HELLO)


def test_the_pace_is_kept_for_a_client_that_has_said_all(tmp_path):
    cassette = tape(tmp_path / "c.jsonl", HELLO, step=0.1)
    begin = time.monotonic()
    done = play(cassette, client_lines(HELLO), "--speed", "recorded")
    assert time.monotonic() - begin > 0.2  # the answer comes two steps behind the prompt
    assert done.stdout.splitlines()[-1] == STOPPED


def test_a_client_that_leaves_before_all_is_said_is_missed():
    class Performance:
        told = 0

        def next_write(self):
            return b"x"

        def undelivered(self):
            self.told += 1

    class Peer:
        def send(self, data):
            return False

    performance: Any = Performance()
    peer: Any = Peer()
    assert not replaying._see_out(performance, peer)
    assert performance.told == 1


def test_a_clean_run_says_so(hello):
    assert "acptap: all of it was played\n" in play(hello, client_lines(HELLO)).stderr


def test_what_the_client_said_cannot_act_on_the_terminal(hello):
    said = [INITIALIZE, '{"jsonrpc":"2.0","id":5,"method":"x\\u001b[2J\\nacptap: fine"}']
    done = play(hello, said)
    assert "\x1b" not in done.stderr
    assert "\nacptap: fine" not in done.stderr
    assert "\\x1b[2J" in done.stderr


BAD = {
    "missing": (None, "the cassette can't be read"),
    "empty": (b"", "the file is empty"),
    "foreign": (b"hello\n", "not a cassette"),
    "newer": (b'{"acptap":99}\n', "format 99 is newer"),
    "no entries": (orjson.dumps(HEADER) + b"\n", "holds no conversation"),
    "damaged": (orjson.dumps(HEADER) + b"\n\0\0\0\n{}\n", "damaged: line 2 is no entry"),
}


@pytest.mark.parametrize(("content", "words"), BAD.values(), ids=BAD)
def test_a_cassette_that_cannot_be_played_is_one_sentence(tmp_path, content, words):
    cassette = tmp_path / "c.jsonl"
    if content is not None:
        cassette.write_bytes(content)
    done = play(cassette, [])
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


OPTIONS = {
    "an unknown level": (["--match", "loose"], "loose"),
    "a speed that is none": (["--speed", "fast"], "'fast' is no speed"),
    "a speed of zero": (["--speed", "0"], "'0' is no speed"),
    "an endless speed": (["--speed", "inf"], "'inf' is no speed"),
    "a negative patience": (["--patience", "-1"], "--patience"),
    "a patience that is no number": (["--patience", "nan"], "'nan' is no number of seconds"),
    "an endless patience": (["--patience", "inf"], "'inf' is no number of seconds"),
    "a pointer that is none": (["--ignore", "prompt"], "'prompt' is no JSON pointer"),
    "an unknown option": (["--fast"], "--fast"),
}


@pytest.mark.parametrize(("options", "words"), OPTIONS.values(), ids=OPTIONS)
def test_bad_options_are_one_sentence(hello, options, words):
    done = play(hello, [], *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@contextlib.contextmanager
def running(cassette, *options) -> Iterator[Any]:
    """A replay that is being talked to."""
    command = [*REPLAY, str(cassette), *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as fake:
        try:
            yield fake
        finally:
            if fake.poll() is None:
                fake.kill()


def tell(fake, line):
    fake.stdin.write(line.encode() + b"\n")
    fake.stdin.flush()
