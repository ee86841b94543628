"""The built-in conversation, and that a broken cassette does not pass for it."""

import random
import subprocess
import sys

import pytest

from acptap.app import demonstrating
from acptap.errors import UsageError
from acptap.storage import Recording

SAMPLE = 12


def run(*arguments):
    command = [sys.executable, "-m", "acptap", "demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_demo_records_replays_and_shows(tmp_path):
    kept = tmp_path / "kept.jsonl"
    done = run("--keep", str(kept))
    assert (done.returncode, done.stderr) == (0, "")
    assert "It heard the same, byte for byte." in done.stdout
    for word in ("session/prompt", "session/request_permission", "cancelled", "demo-1"):
        assert word in done.stdout
    with Recording(kept) as recording:
        assert [entry.front.get("code") for entry in recording][-1] == 0


def test_demo_says_where_it_cannot_leave_the_cassette(tmp_path):
    done = run("--keep", str(tmp_path / "nowhere" / "kept.jsonl"))
    assert (done.returncode, done.stdout) == (2, "")  # before it does anything
    assert "the cassette can't be left there (No such file or directory)" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_demo_that_fails_leaves_the_place_as_it_was(tmp_path, monkeypatch):
    def fails(_):
        raise demonstrating.StepFailed("exit code 1", where="acptap proxy", fix="see above")

    monkeypatch.setattr(demonstrating, "record", fails)
    new, link, old = (tmp_path / name for name in ("new.jsonl", "link.jsonl", "old.jsonl"))
    link.symlink_to("target.jsonl")
    old.write_text("old")
    for keep in (new, link, old):
        with pytest.raises(demonstrating.StepFailed):
            demonstrating.demonstrate(keep, lambda _: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.jsonl", "old.jsonl"]
    assert (link.is_symlink(), old.read_text()) == (True, "old")


def test_demo_says_if_the_cassette_cannot_be_left_after_all(tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setattr(demonstrating, "record", lambda _: b"")
    monkeypatch.setattr(demonstrating, "replay", lambda _: b"")
    monkeypatch.setattr(demonstrating, "_show", lambda cassette: (cassette.touch(), folder.rmdir()))
    with pytest.raises(UsageError, match="the cassette can't be left there"):
        demonstrating.demonstrate(folder / "kept.jsonl", lambda _: None)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    cassette = tmp_path_factory.mktemp("demo") / "demo.jsonl"
    return cassette, demonstrating.record(cassette)


def payload_bytes(cassette):
    """Return the place of every byte of every message in the file."""
    with Recording(cassette) as recording:
        for entry in recording:
            if entry.key == "msg":
                end = cassette.read_bytes().index(b"\n", entry.offset)
                yield from range(end - 1 - len(entry.payload), end - 1)


def heard_of(cassette):
    """Return what the client hears, or why the replay fails."""
    try:
        return demonstrating.replay(cassette)
    except demonstrating.StepFailed as error:
        return str(error)


def test_any_broken_byte_of_a_message_makes_it_fail(recorded, tmp_path):
    cassette, heard = recorded
    places = random.Random(0).sample(sorted(payload_bytes(cassette)), SAMPLE)
    for place in places:
        broken = bytearray(cassette.read_bytes())
        broken[place] ^= 0x01
        copy = tmp_path / "broken.jsonl"
        copy.write_bytes(broken)
        assert heard_of(copy) != heard


def test_the_unbroken_cassette_replays(recorded):
    cassette, heard = recorded
    assert demonstrating.replay(cassette) == heard


def test_demo_exits_1_if_the_conversations_differ(monkeypatch):
    monkeypatch.setattr(demonstrating, "replay", lambda _: b"something else")
    assert demonstrating.demonstrate(None, lambda _: None) == 1


def test_a_step_that_fails_is_named(tmp_path):
    with pytest.raises(
        demonstrating.StepFailed, match=r"acptap replay: exit code 1.*can.t be read"
    ):
        demonstrating.replay(tmp_path / "nothing.jsonl")
    with pytest.raises(demonstrating.StepFailed, match="acptap show: exit code 2"):
        demonstrating._show(tmp_path / "nothing.jsonl")


def talk_to_agent(*lines):
    agent = [sys.executable, "-m", "acptap.demo.agent"]
    said = "".join(line + "\n" for line in lines)
    done = subprocess.run(agent, input=said, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_the_agent_stands_what_is_no_message():
    assert talk_to_agent("hello?", "5", '{"jsonrpc":"2.0","method":"x/y"}') == []


def test_the_agent_refuses_what_it_does_not_know():
    (refusal,) = talk_to_agent('{"jsonrpc":"2.0","id":7,"method":"session/list"}')
    assert refusal == (
        '{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}}'
    )


def test_the_agent_ignores_a_cancel_when_nothing_runs():
    cancel = '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"demo-1"}}'
    assert talk_to_agent(cancel) == []


def test_the_agent_leaves_it_when_it_may_not():
    prompt = '{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"prompt":"remove"}}'
    no = (
        '{"jsonrpc":"2.0","id":"ask-1","result":{"outcome":{"outcome":"selected","optionId":"no"}}}'
    )
    heard = talk_to_agent(prompt, no)
    assert '"status":"failed"' in heard[2]
    assert "Then I leave it." in heard[3]


AGENT_THAT_FAILS = """
import sys
sys.stdin.readline()
print('{"id":0,"result":{}}', flush=True)
sys.stdin.readline()
print('{"id":1,"error":{}}', flush=True)
sys.stdin.read()
print("bye")
"""


def test_the_client_says_when_it_gets_nowhere():
    client = [sys.executable, "-m", "acptap.demo.client", sys.executable, "-c", AGENT_THAT_FAILS]
    done = subprocess.run(client, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "bye"
