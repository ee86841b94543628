"""The tape is as sound as it can be, whatever happens to it, and never in the traffic's way."""

import os
import shutil
import signal
import stat
import subprocess
import sys

import pytest

from tests.proxy.client import PROXY, Tape, environment, puppet

COUNT = ("seq", "-f", '{"jsonrpc":"2.0","id":%.0f,"method":"m"}', "10000000")


def test_c1_a_kill_loses_at_most_the_unit_being_written(start_quietly):
    client = start_quietly(COUNT)
    read = b"".join(client.stdout.readline() for _ in range(5000))
    client.kill(signal.SIGKILL)
    client.wait()
    tape = client.tape()
    assert tape.stream("agent").startswith(read)
    lines = tape.bytes.split(b"\n")
    assert tape.torn == (len(lines) if lines[-1] else None)
    assert len(tape.entries) == len(lines) - 2  # the header, and what follows the last LF
    assert not tape.events  # C5: no exit says that it is complete


def test_c1_what_is_there_is_never_appended_to(start):
    first = start(["echo", "one"])
    first.kill(signal.SIGKILL)
    first.wait()
    first.path.write_bytes(b'{"acptap":1,"annotations":1}\n{"at":0.1,"from":"age')
    second = start(["echo", "two"])
    code, _, err = second.finish()
    assert first.path.read_bytes() == b'{"acptap":1,"annotations":1}\n{"at":0.1,"from":"age'
    other = first.path.with_name("tape-2.jsonl")
    assert (code, err) == (0, b"acptap: recording to %b\n" % bytes(other))
    assert Tape(other).stream("agent") == b"two\n"


def test_overwrite_replaces_what_is_there(start_quietly, tmp_path):
    (tmp_path / "tape.jsonl").write_bytes(b"precious\n")
    client = start_quietly(["echo", "two"], "--overwrite")
    assert client.finish().code == 0
    assert client.tape().stream("agent") == b"two\n"
    assert [path.name for path in tmp_path.iterdir()] == ["tape.jsonl"]


def test_the_tape_is_private(start_quietly):
    client = start_quietly(["true"])
    client.wait()
    assert stat.S_IMODE(client.path.stat().st_mode) == 0o600


def test_c5_every_stream_that_ended_says_so(start_quietly):
    client = start_quietly(["cat"])
    client.finish(b"{}\n")
    assert client.tape().events == [
        {"from": "client", "event": "end"},
        {"from": "agent", "event": "end"},
        {"from": "agent", "event": "exit", "code": 0},
    ]


def test_c6_nothing_of_the_machine_is_on_the_tape(start_quietly, tmp_path):
    client = start_quietly(["sh", "-c", "pwd >&2; cat"], "--no-stderr")
    assert client.finish(b"{}\n") == (0, b"{}\n", bytes(tmp_path) + b"\n")
    tape = client.tape()
    assert tape.header.upstream == ["sh", "-c", "pwd >&2; cat"]
    assert bytes(tmp_path) not in tape.bytes
    assert tape.stderr == b""


def test_x3_what_is_taken_out_of_the_tape_stays_in_the_traffic(start):
    complain = ["sh", "-c", 'cat; echo "debug: key=$0-stderr-7 cwd=/home/someone" >&2', "FAKE"]
    client = start(complain, "--redact", "FAKE-[a-z]+-[0-9]")
    message = b'{"jsonrpc":"2.0","method":"m","params":{"key":"FAKE-stdin-7"}}\n'
    code, out, err = client.finish(message)
    assert (code, out) == (0, message)
    first, second, last = err.splitlines()
    assert first == b"acptap: recording to %b" % bytes(client.path)
    assert second == b"debug: key=FAKE-stderr-7 cwd=/home/someone"
    assert last == b"acptap: 3 secrets were replaced in 4 places in %b" % bytes(client.path)
    tape = client.tape()
    assert b"FAKE-std" not in tape.bytes
    assert tape.stderr.startswith(b"debug: key=[redacted:")
    assert b'"key":"[redacted:' in tape.stream("client")


def test_x3_redaction_and_standard_error_can_be_switched_off(start_quietly):
    line = "echo debug: key=FAKE-stderr-7 >&2; echo key=FAKE-stdout-7"
    options = ("--no-redact", "--redact", "FAKE-[a-z]+-[0-9]", "--no-stderr")
    client = start_quietly(["sh", "-c", line], *options)
    assert client.finish() == (0, b"key=FAKE-stdout-7\n", b"debug: key=FAKE-stderr-7\n")
    tape = client.tape()
    assert tape.stream("agent") == b"key=FAKE-stdout-7\n"
    assert tape.stderr == b""


BREAK = (
    "import sys; from acptap.tap import Tap; from acptap.cli import main\n"
    "def fail(*_, **__): raise ZeroDivisionError('division by zero')\n"
    "setattr(Tap, sys.argv.pop(1), fail)\n"
    "main()"
)


@pytest.mark.parametrize("method", ["begin", "observe", "stderr", "event", "end", "exit"])
def test_a_recorder_that_fails_is_reported_once_and_stops_nothing(start, method):
    proxy = [sys.executable, "-c", BREAK, method, "proxy"]
    client = start(["sh", "-c", "echo oops >&2; cat; cat"], "-q", proxy=proxy)
    client.send(b"one\n")
    assert client.stdout.readline() == b"one\n"
    code, out, err = client.finish(b"two\n")
    assert (code, out) == (74, b"two\n")
    assert err.count(b"division by zero") == 1
    assert err.count(b"oops") == 1
    assert b"acptap: recording stopped: ZeroDivisionError" in err
    assert b"the traffic goes on" in err
    assert b"Traceback" not in err


def test_the_agents_own_failure_is_the_exit_code(start_quietly):
    proxy = [sys.executable, "-c", BREAK, "observe", "proxy"]
    assert start_quietly(["sh", "-c", "echo; exit 7"], proxy=proxy).finish().code == 7


LIMITED = ("sh", "-c", 'ulimit -f 4096; exec "$@"', "sh", *PROXY)
"""A proxy that can't write more than 2 MB to a file (4 MB where the shell counts in KiB)."""


def test_c4_a_full_disk_stops_the_recording_alone(start_quietly):
    client = start_quietly(["cat"], proxy=LIMITED)
    lines = b'{"jsonrpc":"2.0","id":1,"method":"m"}\n' * 200_000
    code, out, err = client.finish(lines)
    assert (code, out == lines) == (74, True)
    assert err == (
        b"acptap: recording stopped: File too large; the traffic goes on, and %b ends here\n"
        % bytes(client.path)
    )
    tape = client.tape()
    assert lines.startswith(tape.stream("client"))
    assert len(tape.entries) > 1000


def vanish(path):
    path.unlink()


def move(path):
    path.rename(path.with_name("moved"))


def replace(path):
    path.unlink()
    path.write_bytes(b"")


def vanish_with_folder(path):
    shutil.rmtree(path.parent)


def truncate(path):
    os.truncate(path, 0)


FATES = [vanish, move, replace, vanish_with_folder, truncate]


@pytest.mark.parametrize("fate", FATES)
def test_a_tape_that_is_taken_away_is_missed(start_quietly, tmp_path, fate):
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / "tape.jsonl"
    client = start_quietly(puppet("hear tug say exit-0"), "-w", str(path))
    client.send(b"a\n")
    assert client.told() == b"a"
    fate(path)
    client.tug()
    code, out, err = client.finish()
    assert (code, out) == (74, b"hello\n")
    assert err == b"acptap: %b was changed, moved or deleted while it was recorded\n" % bytes(path)


def test_a_name_with_a_slash_is_a_folder_and_is_made(tmp_path):
    record = [*PROXY, "-w", f"{tmp_path}/tapes/", "--", "true"]
    for _ in range(2):
        subprocess.run(record, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    assert len(list((tmp_path / "tapes").iterdir())) == 2


NOWHERE = {
    "no name": ("", "the cassette's name is empty"),
    "a folder in no folder": ("{}/no/tapes/", "the cassette can't be made there"),
    "a name that is too long": ("{}/" + "x" * 300, "the cassette can't be made there"),
}


@pytest.mark.parametrize(("name", "words"), NOWHERE.values(), ids=NOWHERE)
def test_a_place_that_is_none_is_one_sentence(tmp_path, name, words):
    record = [*PROXY, "-w", name.format(tmp_path), "--", "true"]
    run = subprocess.run(record, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    assert run.returncode == 2
    assert words in run.stderr.decode()
    assert run.stderr.count(b"\n") == 1


PLACES = {
    # name: folder made before, variables, where the tape is then
    "a folder for cassettes": ("cassettes", {}, "cassettes"),
    "a folder that a variable names": ("named", {"ACPTAP_CASSETTES": "{}/named"}, "named"),
    "the user's state": (".", {"XDG_STATE_HOME": "{}/state"}, "state/acptap"),
    "the user's home": (".", {"XDG_STATE_HOME": "", "HOME": "{}"}, ".local/state/acptap"),
}


@pytest.mark.parametrize(("folder", "environ", "place"), PLACES.values(), ids=PLACES)
def test_without_a_name_the_tape_has_a_place(tmp_path, folder, environ, place):
    (tmp_path / folder).mkdir(exist_ok=True)
    run = subprocess.run(
        [*PROXY, "--", "true"], cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env=environment(**{name: value.format(tmp_path) for name, value in environ.items()}),
        check=True,
    )  # fmt: skip
    (path,) = (tmp_path / place).iterdir()
    assert os.fsencode(path.name) in run.stderr
    assert Tape(path).exit == {"code": 0}


def test_a_folder_gets_a_tape_with_a_name_of_its_own(start, tmp_path):
    (tmp_path / "folder").mkdir()
    client = start(["true"], "-w", str(tmp_path / "folder"))
    err = client.finish().err
    (path,) = (tmp_path / "folder").iterdir()
    assert err == b"acptap: recording to %b\n" % bytes(path)
