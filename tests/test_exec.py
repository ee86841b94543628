"""`acptap exec`: a command with a cassette as its agent, and the verdict."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests.plugin import tapes
from tests.replay_network.tapes import HttpTape, Tape

EXEC = [sys.executable, "-m", "acptap", "exec"]
TALK = """
import os, subprocess, sys
def talk(*lines):
    said = "".join(line + "\\n" for line in lines)
    agent = os.environ["ACPTAP_AGENT"]
    pipe = subprocess.PIPE
    return subprocess.run(agent, shell=True, input=said, stdout=pipe, text=True).stdout.splitlines()
"""


@pytest.fixture
def hello(tmp_path):
    return tapes.write(tmp_path / "hello.jsonl")


def run(cassette, program, *options, **kwargs):
    """Run a Python program under exec."""
    program = f"{TALK}SAID = {tapes.SAID!r}\nHEARD = {tapes.HEARD!r}\n{textwrap.dedent(program)}"
    return subprocess.run(
        [*EXEC, str(cassette), *options, "--", sys.executable, "-c", program],
        capture_output=True, text=True, timeout=60, check=False, **kwargs,
    )  # fmt: skip


VERDICTS = {
    # what the command does: its program, our exit code, what is said
    "asks all": ("assert talk(*SAID) == HEARD", 0, ""),
    "asks all, twice": ("talk(*SAID); talk(*SAID)", 0, ""),
    "asks a part": ("talk(*SAID[:2])", 1, "never played: lines 6-8 (line 6 is session/prompt)"),
    "asks for more": ('talk(*SAID, \'{"id":3,"method":"x"}\')', 1, "unmatched: x is not in"),
    "asks nothing": ("pass", 1, "the cassette was never asked for"),
    "fails by itself": ("talk(*SAID); sys.exit(7)", 7, ""),
    "fails, and asks a part": ("talk(*SAID[:1]); sys.exit(7)", 7, "never played"),
    "dies": ("os.kill(os.getpid(), 9)", 137, "never asked for"),
}


@pytest.mark.parametrize(("program", "code", "said"), VERDICTS.values(), ids=VERDICTS)
def test_a_command_that(hello, program, code, said):
    done = run(hello, program)
    assert done.returncode == code
    assert (said in done.stderr) if said else (done.stderr == "")
    assert all(line.startswith(f"acptap: {hello}: ") for line in done.stderr.splitlines())


def test_differences_are_said_unless_quiet(hello):
    program = "talk(*SAID[:2], SAID[2].replace('hello', 'hullo'))"
    done = run(hello, program)
    assert done.returncode == 0
    assert "line 6: session/prompt differs" in done.stderr
    assert run(hello, program, "-q").stderr == ""
    strict = run(hello, program, "-q", "--match", "params")
    assert strict.returncode == 1
    assert "session/prompt number 1 is not as recorded" in strict.stderr
    assert run(hello, program, "--match", "params", "--ignore", "/params/prompt").returncode == 0


def test_what_may_be_left(hello):
    assert run(hello, "talk(*SAID[:2])", "--allow-unplayed", "-q").returncode == 0
    assert run(hello, "pass", "--allow-unplayed", "-q").returncode == 1


def test_the_report_as_json(hello, tmp_path):
    report = tmp_path / "report.json"
    run(hello, "talk(*SAID[:2])", "--report", str(report), "-q")
    assert orjson.loads(report.read_bytes())["unplayed"] == [6, 7, 8]


def test_an_agent_of_ones_own_takes_part(hello):
    program = """
        replay = [sys.executable, "-m", "acptap", "replay", "-q", "--speed", "100", sys.argv[1]]
        subprocess.run(replay, input="".join(line + "\\n" for line in SAID), text=True)
    """
    command = [*EXEC, str(hello), "--", sys.executable, "-c"]
    prepared = f"{TALK}SAID = {tapes.SAID!r}\n{textwrap.dedent(program)}"
    done = subprocess.run(
        [*command, prepared, str(hello)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    other = tapes.write(hello.with_name("other.jsonl"))
    done = subprocess.run(
        [*command, prepared, str(other)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "never asked for" in done.stderr


def test_an_agent_with_another_cassette_is_judged_by_itself(hello):
    other = tapes.write(hello.with_name("other.jsonl"))
    program = f"""
        talk(*SAID)
        other = [sys.executable, "-m", "acptap", "replay", {str(other)!r}]
        done = subprocess.run(other, input=SAID[0], capture_output=True, text=True)
        assert done.returncode == 1
        assert "never played: lines 4-8" in done.stderr
    """
    done = run(hello, program)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_agent_may_be_killed(hello):
    program = """
        pipe = subprocess.PIPE
        command = os.environ["ACPTAP_AGENT"].split()
        agent = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        agent.stdin.write("".join(line + "\\n" for line in SAID))
        agent.stdin.flush()
        [agent.stdout.readline() for _ in HEARD]
        agent.kill()
    """
    assert run(hello, program).returncode == 0


REFUSED = {
    "no command": ([], 2, "acptap: no command to run; write: acptap exec CASSETTE -- COMMAND"),
    "a command without dashes": (
        ["true"], 2,
        "acptap: the command belongs behind `--`; write: acptap exec CASSETTE -- COMMAND",
    ),
    "a command that is nowhere": (
        ["--", "no-such-command"], 127,
        "acptap: 'no-such-command': the command can't be started (No such file or directory); *",
    ),
    "a command that is no program": (
        ["--", "/"], 126, "acptap: '/': the command can't be started (Permission denied); *"
    ),
    "a speed that is none": (["--speed", "fast", "--", "true"], 2, "acptap: --speed: 'fast' is *"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "code", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused(hello, words, code, sentence):
    done = subprocess.run([*EXEC, str(hello), *words], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stderr.startswith(sentence.removesuffix("*"))
    assert done.stderr.count("\n") == 1


def test_a_missing_cassette_is_said_before_anything_runs(tmp_path):
    done = run(tmp_path / "no.jsonl", "print('ran')")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no.jsonl: the cassette can't be read" in done.stderr


WAITING = "print('ready', flush=True)\nsys.stdin.read()\n"


@contextlib.contextmanager
def waiting(cassette, program=WAITING, **kwargs) -> Iterator[Any]:
    pipe = subprocess.PIPE
    command = [*EXEC, str(cassette), "--", sys.executable, "-c", f"import signal, sys\n{program}"]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **kwargs) as it:
        assert it.stdout is not None
        assert it.stdout.readline() == "ready\n"
        yield it


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_for_us_is_passed_on(hello, number):
    with waiting(hello) as running:
        running.send_signal(number)
        assert running.wait(timeout=60) == 128 + number


def test_ctrl_c_is_the_commands_to_heed(hello):
    heeding = "signal.signal(signal.SIGINT, lambda *_: sys.exit(5))\n" + WAITING
    with waiting(hello, heeding, start_new_session=True) as running:
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(timeout=60) == 5


def test_what_is_ignored_stays_ignored(hello):
    former = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with waiting(hello) as running:
            running.send_signal(signal.SIGHUP)
            running.stdin.close()
            assert running.wait(timeout=60) == 1
    finally:
        signal.signal(signal.SIGHUP, former)


OVER_THE_NETWORK = """
import http.client, os
from urllib.parse import urlsplit
url = urlsplit(os.environ["ACPTAP_URL"])
assert os.environ["ACPTAP_WS_URL"] == f"ws://{url.netloc}/"
headers = {"Content-Type": "application/json"}
for line in SAID:
    connection = http.client.HTTPConnection(url.netloc)
    session = {"Acp-Session-Id": "s1"} if '"s1"' in line else {}
    connection.request("POST", "/acp", line, headers | session)
    answer = connection.getresponse()
    assert answer.status in (200, 202)
    headers.setdefault("Acp-Connection-Id", answer.headers["Acp-Connection-Id"])
"""


def test_a_command_that_connects(hello):
    done = run(hello, OVER_THE_NETWORK)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_command_that_connects_and_asks_a_part(hello):
    done = run(hello, OVER_THE_NETWORK.replace("SAID:", "SAID[:2]:"))
    assert done.returncode == 1
    assert "never played: lines 6-8 (line 6 is session/prompt)" in done.stderr


FETCH = """
import os, urllib.request
def fetch(path, body=None):
    headers = {"Content-Type": "application/json"}
    asked = urllib.request.Request(os.environ["ACPTAP_URL"] + path, body, headers)
    try:
        return urllib.request.urlopen(asked).status
    except urllib.error.HTTPError as error:
        return error.code
"""
INITIALIZE_IT = f"fetch('acp', {tapes.INITIALIZE.encode()!r})"
UNPLAYED = "never played: lines 2-4 (line 2 is GET /health)"
PLAIN = {
    "asks all": ("assert fetch('health') == 200", 0, []),
    "asks for another": (
        "assert fetch('no') == 404", 1, ["unmatched: GET /no is not in the cassette", UNPLAYED],
    ),
    "would begin a connection": (
        f"assert {INITIALIZE_IT} == 500", 1, ["which holds no ACP connection", UNPLAYED],
    ),
    "asks all, and would begin a connection": (
        f"fetch('health'); {INITIALIZE_IT}", 1, ["which holds no ACP connection"],
    ),
    "asks for nothing": ("pass", 1, ["the cassette was never asked for"]),
}  # fmt: skip


@pytest.mark.parametrize(("program", "code", "said"), PLAIN.values(), ids=PLAIN)
def test_a_cassette_of_http_alone(tmp_path, program, code, said):
    tape = Tape()
    tape.response(tape.request("GET", "/health"), 200, body=b"ok")
    done = run(tape.write(tmp_path / "c.jsonl"), f"{FETCH}\n{program}")
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == len(said)
    assert all(what in done.stderr for what in said)


def test_a_client_on_stdio_can_ask_for_no_health(tmp_path):
    tape = HttpTape()
    tape.response(tape.request("GET", "/health"), 200, body=b"ok")
    tape.connect(tapes.INITIALIZE, tapes.AGREED).delete()
    done = run(tape.write(tmp_path / "c.jsonl"), "talk(SAID[0])")
    assert (done.returncode, done.stderr) == (0, "")
