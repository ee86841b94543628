"""`acptap redact`, and how a recording ends."""

import os
import signal
import stat
import sys
import threading

import pytest
from click.testing import CliRunner

from acptap.app.record.redacting import RedactOptions, redact_command
from acptap.app.show.following import follow
from acptap.cli.main import acptap
from acptap.errors import AcptapError, DamagedCassette
from acptap.storage import Recording
from tests.proxy.client import PROXY, Client, Tape, puppet
from tests.redact.tapes import SECRET, Recorded, chunk, line, update

HEADER = b'{"acptap":1,"annotations":1,"protocol":"acp","transport":"stdio","recorded_at":"x"'
HEADER += b',"upstream":["agent","--token","FAKE-argv-1"],"generator":"acptap 0.0.1"}\n'


def entry(message, at=b"0.1", side=b"agent"):
    return b'{"at":%b,"from":"%b","msg":%b}\n' % (at, side, message.strip())


@pytest.fixture
def tape(tmp_path):
    """A cassette that was recorded with --no-redact."""
    path = tmp_path / "tape.jsonl"
    path.write_bytes(
        HEADER
        + entry(chunk(f"it is {SECRET} and [redacted:7]"))
        + entry(chunk(" or " + SECRET[:9]))
        + entry(chunk(SECRET[9:] + " ok"))
        + b'{"at":0.3,"from":"agent","event":"exit","code":0}\n'
    )
    return path


def redact(*paths, **options):
    """Redact cassettes; return the exit code and what was said."""
    said: list[str] = []
    code = redact_command(paths, RedactOptions(**options), said.append)
    return code, said


def test_a_cassette_is_redacted_in_place(tape):
    tape.chmod(0o640)
    assert redact(tape) == (0, [f"{tape}: 2 secrets were replaced in 3 places"])
    text = tape.read_text()
    assert SECRET[9:] not in text
    assert "FAKE-argv-1" not in text
    assert '"text":"it is [redacted:9] and [redacted:7]"' in text
    assert '"upstream":["agent","--token","[redacted:8]"]' in text
    assert text.splitlines()[0].endswith(',"redaction":"done"}')
    assert stat.S_IMODE(tape.stat().st_mode) == 0o640
    assert [path.name for path in tape.parent.iterdir()] == ["tape.jsonl"]
    place, data = tape.stat().st_ino, tape.read_bytes()
    assert redact(tape) == (0, [f"{tape}: nothing to replace"])
    assert (tape.stat().st_ino, tape.read_bytes()) == (place, data)


def test_check_changes_nothing(tape):
    data = tape.read_bytes()
    said = [f"{tape}: 2 secrets would be replaced in 3 places"]
    assert redact(tape, check=True) == (1, said)
    assert tape.read_bytes() == data
    redact(tape)
    assert redact(tape, check=True) == (0, [f"{tape}: nothing to replace"])


def test_one_secret_in_one_place(tmp_path):
    tape = tmp_path / "a"
    tape.write_bytes(HEADER.replace(b"FAKE-argv-1", b"-") + entry(chunk(SECRET)))
    assert redact(tape, check=True)[1] == [f"{tape}: 1 secret would be replaced in 1 place"]
    assert redact(tape)[1] == [f"{tape}: 1 secret was replaced in 1 place"]


def test_a_link_stays_one(tape, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tape)
    redact(link)
    assert link.is_symlink()
    assert SECRET not in tape.read_text()


def test_patterns(tape):
    assert redact(tape, patterns=["it (is)"])[1] == [f"{tape}: 3 secrets were replaced in 4 places"]
    assert "it [redacted:" in tape.read_text()


def test_out(tape, tmp_path):
    data = tape.read_bytes()
    folder, out = tmp_path / "folder", tmp_path / "out"
    folder.mkdir()
    assert redact(tape, out=out)[0] == redact(tape, out=folder)[0] == 0
    assert out.read_bytes() == (folder / "tape.jsonl").read_bytes()
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert SECRET not in out.read_text()
    assert tape.read_bytes() == data
    redact(tape)
    assert tape.read_bytes() == out.read_bytes()


def test_slots_of_answers_and_of_what_is_no_message(tmp_path):
    tape = tmp_path / "a"
    said: list[tuple[bytes, dict[str, object]]] = [
        (b"client", {"id": 1, "method": "auth/status", "params": {}}),
        (b"agent", {"id": 1, "result": {"accounts": [{"email": "fake@example.com"}]}}),
        (b"agent", {"method": "session/new", "params": {}}),
        (b"agent", {"id": 9, "result": {"state": "fake"}}),
    ]
    lines = [entry(line({"jsonrpc": "2.0", **message}), side=side) for side, message in said]
    lines += [b'{"at":1,"from":"agent","event":"stderr","text":"key=FAKE-fake-FAKE\\n"}\n']
    lines += [b'{"at":1,"from":"agent","text":"key: FAKE-noise-FAKE\\n"}\n']
    lines += [b'{"at":1,"from":"agent","b64":"/yBBS0lBRkFLRUZBS0VGQUtFMDEK"}\n']
    tape.write_bytes(HEADER + b"".join(lines))
    redact(tape)
    text = tape.read_text()
    for secret in ("fake@", "FAKE-fake", "FAKE-noise", "AKIA", "QUtJQ"):
        assert secret not in text
    assert '"state":"fake"' in text
    assert '"event":"stderr","redacted":true,"text":"key=[redacted:3]' in text


SHAPES = {
    "saved again by hand": b'{"from": "agent", "msg": %b, "at": 1, "session": "s"}',
    "with spaces": b'{"at": 1, "from": "agent", "msg": %b }',
    "redacted before": b'{"at":1,"from":"agent","redacted":true,"session":"s","msg":%b}',
    "saved again, redacted before": b'{"msg": %b, "at": 1, "from": "agent", "redacted": true}',
    "with all that can stand before": (
        b'{"at":1,"from":"agent","session":"s","state":{"session":"s"},"updates":[],"msg":%b}'
    ),
    "of many sessions": b'{"at":1,"from":"agent","state":[{"session":"s"}],"notes":[],"msg":%b}',
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_lines_of_any_shape(tmp_path, shape):
    tape = tmp_path / "a"
    cut = [f"it is {SECRET}", " or " + SECRET[:9], SECRET[9:] + " ok"]
    tape.write_bytes(HEADER + b"".join(shape % chunk(text).strip() + b"\n" for text in cut))
    redact(tape)
    with Recording(tape) as recording:
        found = list(recording)
    assert [one.front["redacted"] for one in found] == [True] * 3
    assert [one.payload for one in found] == [
        chunk(text).strip() for text in ("it is [redacted:2]", " or [redacted:2]", " ok")
    ]
    assert redact(tape, check=True)[0] == 0


def test_members_written_twice_and_numbers(tmp_path):
    tape = tmp_path / "a"
    twice = chunk(SECRET[:9]).replace(b'"text":"', b'"text":"other","text":"')
    auth = (
        b'{"jsonrpc":"2.0","method":"authenticate","id":1,"params":{"_meta":{"pin-token":123456}}}'
    )
    tape.write_bytes(HEADER + entry(twice) + entry(chunk(SECRET[9:])) + entry(auth))
    redact(tape)
    text = tape.read_text()
    assert '"text":"other","text":"[redacted:' in text
    assert '{"pin-token":0}' in text


def test_a_torn_line_is_left_out(tape):
    data = tape.read_bytes()
    redact(tape)
    clear = tape.read_bytes()
    tape.write_bytes(data + b'{"at":0.4,"from":"agent","msg":{"x":"' + SECRET.encode())
    words = "2 secrets were replaced in 3 places; line 6 was cut off by a crash and is left out"
    assert redact(tape) == (0, [f"{tape}: {words}"])
    assert tape.read_bytes() == clear
    tape.write_bytes(clear.rstrip(b"\n"))  # an editor's doing, and no crash
    assert redact(tape, check=True) == (0, [f"{tape}: nothing to replace"])


def test_nested_beyond_reason(tmp_path):
    tape = tmp_path / "a"
    deep = update(sessionUpdate="tool_call", toolCallId="c", rawInput="text")
    deep = deep.replace(b'"text"', b"[" * 900 + b'"text"' + b"]" * 900)
    broken = update(sessionUpdate="terminal_output_chunk", terminalId="t", data="text?")
    odd = line({"jsonrpc": "2.0", "method": "session/update", "params": []})
    tape.write_bytes(HEADER + entry(deep) + entry(broken) * 2 + entry(odd))
    assert redact(tape)[0] == 0


def words_of(path, **options):
    with pytest.raises(AcptapError) as caught:
        redact(*path, **options)
    return str(caught.value)


def test_failures_are_one_sentence(tape, tmp_path):
    nothing, other = tmp_path / "nothing", tmp_path / "other"
    other.write_text("hello\n")
    assert words_of([nothing]).startswith(f"{nothing}: the cassette can't be read")
    assert words_of([other]).startswith(f"{other}: not a cassette")
    assert words_of([tape, tape], out=other) == (
        f"{other}: several cassettes don't fit into one file; name a folder with -o"
    )
    assert words_of([tape], out=other) == (
        f"{other}: can't be written (File exists); name another place with -o"
    )
    assert words_of([tape], patterns=["("]).startswith("--redact: `(` is no regular expression")
    tape.write_bytes(HEADER + b"hello\n" + HEADER)
    with pytest.raises(DamagedCassette, match="line 2"):
        redact(tape)


def test_the_command_line(tape, tmp_path):
    run = CliRunner().invoke(acptap, ["redact", str(tape), "--check", "--redact", " ok"],
                             standalone_mode=False)  # fmt: skip
    assert (run.output, run.return_value) == (
        f"{tape}: 3 secrets would be replaced in 4 places\n", 1,
    )  # fmt: skip


# How a recording ends


def record(folder, agent, *options, proxy=None):
    return Client(folder, agent, *options, **({"proxy": proxy} if proxy else {}))


@pytest.fixture
def split(tmp_path):
    """The command of an agent that says a secret in two chunks."""
    script = tmp_path / "script"
    script.write_bytes(chunk(SECRET[:9]) + chunk(SECRET[9:]))
    return ["sh", "-c", 'cat "$0"; read x', str(script)]


def test_a_kill_leaves_it_open_and_redact_finishes_it(tmp_path, split):
    client = record(tmp_path, split)
    client.stdout.readline()
    client.stdout.readline()
    assert words_of([client.path]) == (
        f"{client.path}: still being recorded; wait until the agent has ended"
    )
    client.kill(signal.SIGKILL)
    client.wait()
    client.close()
    tape = client.tape()
    assert tape.header.is_redaction_open
    assert SECRET[9:].encode() in tape.bytes
    words = "1 secret was replaced in 1 place; the recording had not been finished"
    assert redact(client.path, check=True)[0] == 1
    assert redact(client.path) == (0, [f"{client.path}: {words}"])
    tape = client.tape()
    assert tape.header.redaction == "done"
    assert SECRET[9:].encode() not in tape.bytes
    assert redact(client.path) == (0, [f"{client.path}: nothing to replace"])


def test_one_that_is_open_and_has_nothing_is_closed_in_place(tmp_path):
    tape = Recorded(tmp_path / "a", [("agent", chunk("hi"))])
    tape.path.write_bytes(tape.before)
    place = tape.path.stat().st_ino
    assert redact(tape.path, check=True)[0] == 1
    assert redact(tape.path)[0] == 0
    assert tape.path.read_bytes() == tape.after
    assert tape.path.stat().st_ino == place


def test_the_closing_line_counts(tmp_path, split):
    client = record(tmp_path, split)
    code, out, err = client.finish()
    client.close()
    assert code == 1  # that of `read`
    assert out == chunk(SECRET[:9]) + chunk(SECRET[9:])
    assert err.splitlines()[-1] == b"acptap: 1 secret was replaced in 1 place in %b" % bytes(
        client.path
    )
    assert client.tape().header.redaction == "done"
    assert SECRET[9:].encode() not in client.tape().bytes


def test_without_redaction_nothing_is_said_of_it(tmp_path, split):
    client = record(tmp_path, split, "--no-redact")
    client.finish()
    client.close()
    assert client.tape().header.redaction == ""
    assert b'"redaction"' not in client.tape().bytes.splitlines()[0]
    assert SECRET[9:].encode() in client.tape().bytes


def test_who_follows_a_recording_sees_its_end(tmp_path):
    client = record(tmp_path, puppet("tug say exit-0"))
    while not client.path.exists() or not client.path.read_bytes().endswith(b"\n"):
        client.path.stat() if client.path.exists() else None
    seen = threading.Event()
    found = []

    def read():
        for one in follow(client.path):
            if one is None:
                seen.set()
            else:
                found.append(one)
                if one.event == "exit":
                    return

    reader = threading.Thread(target=read)
    reader.start()
    assert seen.wait(60)
    client.tug()
    client.finish()
    client.close()
    reader.join(60)
    assert found[-1].event == "exit"
    assert Tape(client.path).header.redaction == "done"


BREAK = """
import os, signal, sys, time
from acptap.app.record import take
from acptap.cli.main import main
def finish(*_):
    {}
    time.sleep(60)
take.finish = finish
main(sys.argv[1:])
"""
DEEDS = {
    "the disk is full": ('raise OSError(28, "No space left on device")', b" ([Errno 28] No space"),
    "an impatient client": ("os.kill(os.getpid(), signal.SIGTERM)", b";"),
}


@pytest.mark.parametrize(("deed", "why"), DEEDS.values(), ids=DEEDS)
def test_what_can_not_be_finished_stays_open(tmp_path, deed, why):
    proxy = [sys.executable, "-c", BREAK.format(deed), "proxy"]
    client = record(tmp_path, ["sh", "-c", "echo; exit 7"], proxy=proxy)
    code, _, err = client.finish()
    client.close()
    path = bytes(client.path)
    assert code == 7
    assert b"secrets that came in pieces may still be in %b%b" % (path, why) in err
    assert err.endswith(b"finish it with: acptap redact %b\n" % path)
    assert client.tape().header.is_redaction_open


def test_an_ignored_signal_stays_ignored(tmp_path):
    deed = "os.kill(os.getpid(), signal.SIGHUP); sys.exit(3)"
    proxy = ["nohup", sys.executable, "-c", BREAK.format(deed), "proxy"]
    client = record(tmp_path, ["true"], proxy=proxy)
    assert client.finish().code == 3
    client.close()


def test_a_tape_that_was_cut_short_stays_open(tmp_path):
    proxy = ["sh", "-c", 'ulimit -f 4096; exec "$@"', "sh", *PROXY]
    client = record(tmp_path, ["cat"], proxy=proxy)
    assert client.finish((b"x" * 99_999 + b"\n") * 60).code == 74
    client.close()
    assert client.tape().header.is_redaction_open
    code, said = redact(client.path)
    assert code == 0
    assert said[0].endswith("; the recording had not been finished")
    assert redact(client.path, check=True)[0] == 0


def test_a_write_that_fails_leaves_the_cassette_as_it_was(tape, monkeypatch):
    data = tape.read_bytes()

    def full(_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    assert words_of([tape]).startswith(f"{tape}: can't be written (No space left on device)")
    assert tape.read_bytes() == data
    assert [path.name for path in tape.parent.iterdir()] == ["tape.jsonl"]
