"""Standard input and output may be anything, in any state, and are left as they were found."""

import contextlib
import fcntl
import os
import socket
import subprocess
from pathlib import Path

import pytest

from tests.proxy.client import PROXY, puppet, python

DEVNULL = subprocess.DEVNULL


def test_files_may_stand_for_both(start_quietly, tmp_path):
    question, answer = tmp_path / "question", tmp_path / "answer"
    question.write_bytes(b"a\nb")
    with question.open("rb") as stdin, answer.open("wb") as stdout:
        assert start_quietly(["cat"], stdin=stdin, stdout=stdout).wait() == 0
    assert answer.read_bytes() == b"a\nb"


def test_output_may_be_appended_to_a_file(start_quietly, tmp_path):
    answer = tmp_path / "answer"
    answer.write_bytes(b"before\n")
    with answer.open("ab") as stdout:
        assert start_quietly(["echo", "hello"], stdin=DEVNULL, stdout=stdout).wait() == 0
    assert answer.read_bytes() == b"before\nhello\n"


def test_input_may_have_ended_from_the_start(start_quietly):
    client = start_quietly(puppet("hear say exit-7"), stdin=DEVNULL)
    assert client.stdout.read() == b"hello\n"
    assert client.wait() == 7
    assert client.gone() == b"end\n"


def test_one_socket_may_be_both(start_quietly):
    ours, theirs = socket.socketpair()
    client = start_quietly(["cat"], stdin=theirs, stdout=theirs)
    theirs.close()
    with ours:
        ours.sendall(b"x" * 50_000)
        assert ours.recv(50_000, socket.MSG_WAITALL) == b"x" * 50_000
        ours.shutdown(socket.SHUT_WR)
        assert ours.recv(1) == b""
    assert client.wait() == 0


def test_a_socket_of_a_client_that_left_without_reading_is_an_end(start_quietly):
    ours, theirs = socket.socketpair()
    client = start_quietly(puppet("say hear hear exit-5"), stdin=theirs, stdout=theirs)
    theirs.close()
    ours.sendall(b"question\n")
    assert client.told() == b"question"
    ours.close()  # the answer unread: a reset
    assert client.told() == b"end"
    assert client.wait() == 5


def test_p3_the_client_on_a_socket_leaves_an_agent_that_does_not_read(start_quietly):
    ours, theirs = socket.socketpair()
    client = start_quietly(puppet("tell-here hang"), "--grace", "0.1", stdin=theirs)
    theirs.close()
    assert client.told() == b"here"
    ours.settimeout(0.3)
    with ours, contextlib.suppress(TimeoutError):
        while True:
            ours.sendall(b"x" * 65_536)
    assert client.gone() == b""
    assert client.wait() == 143


def test_p7_non_blocking_input_is_waited_for_and_stays_non_blocking(start_quietly):
    stdin, writer = os.pipe()
    os.set_blocking(stdin, False)
    client = start_quietly(["cat"], stdin=stdin)
    for line in (b"a\n", b"b\n"):  # there is nothing to read in between
        os.write(writer, line)
        assert client.stdout.readline() == line
    assert fcntl.fcntl(stdin, fcntl.F_GETFL) & os.O_NONBLOCK
    os.close(stdin)
    os.close(writer)
    assert client.finish() == (0, b"", b"")


def test_p7_a_full_non_blocking_output_is_waited_for(start_quietly):
    reader, stdout = os.pipe()
    os.set_blocking(stdout, False)
    client = start_quietly(puppet("fill-1000000 exit-0"), stdout=stdout)
    os.close(stdout)
    with os.fdopen(reader, "rb") as answer:
        assert answer.read() == b"x" * 1_000_000 + b"\n"
    assert client.wait() == 0


def test_p6_non_blocking_standard_error_is_waited_for(start_quietly):
    reader, stderr = os.pipe()
    os.set_blocking(stderr, False)
    line = 'import os; os.write(2, b"e" * 1_000_000)'
    client = start_quietly(python(line), stderr=stderr)
    os.close(stderr)
    with os.fdopen(reader, "rb") as complaint:
        assert complaint.read() == b"e" * 1_000_000
    assert client.wait() == 0


DISK = Path("/dev/full")
FULL = pytest.mark.skipif(not DISK.exists(), reason="needs /dev/full")


@FULL
def test_a_full_disk_behind_the_output_ends_it(start_quietly):
    with DISK.open("wb") as full:
        client = start_quietly(["sh", "-c", "while echo hello; do :; done"], stdout=full)
    assert client.wait() == 141
    tape = client.tape()
    assert tape.stream("agent").startswith(b"hello\n")
    assert {"from": "client", "event": "abort"} in tape.events


@FULL
def test_a_full_disk_behind_standard_error_is_nobodys_business(start_quietly):
    with DISK.open("wb") as full:
        client = start_quietly(["sh", "-c", "echo oops >&2; echo hello"], stderr=full)
    assert client.stdout.read() == b"hello\n"
    assert client.wait() == 0
    assert client.tape().stderr == b"oops\n"


CLOSED = {
    # name: a shell's redirection, what the agent hears and says, output, exit code
    "input": ("<&-", "hear say exit-7", b"hello\n", 7),
    "output": (">&-", "hear exit-7", b"", 7),
    "standard error": ("2>&-", "hear say exit-7", b"hello\n", 7),
    "all three": ("<&- >&- 2>&-", "hear exit-7", b"", 7),
}


@pytest.mark.parametrize(("redirection", "deeds", "out", "code"), CLOSED.values(), ids=CLOSED)
def test_closed_ones_are_not_taken_for_the_cassette(start, redirection, deeds, out, code):
    proxy = ["sh", "-c", f'exec "$@" {redirection}', "sh", *PROXY]
    client = start(puppet(deeds), proxy=proxy)
    client.stdin.close()
    assert client.stdout.read() == out
    assert client.wait() == code
    tape = client.tape()  # is sound
    assert tape.stream("client") == b""
    assert tape.stream("agent") == out
    assert tape.exit == {"code": 7}


def test_closed_output_breaks_the_agents_pipe(start_quietly):
    proxy = ["sh", "-c", 'exec "$@" >&-', "sh", *PROXY]
    client = start_quietly(puppet("flood exit-7"), proxy=proxy)
    assert client.told() == b"nobody reads"
    assert client.wait() == 7


def test_output_and_standard_error_may_be_one(start_quietly):
    client = start_quietly(["sh", "-c", "echo out; cat; echo err >&2"], stderr=subprocess.STDOUT)
    assert client.stdout.readline() == b"out\n"
    assert client.finish() == (0, b"err\n", b"")


def test_nothing_but_the_agents_bytes_is_on_standard_output(start):
    client = start(["sh", "-c", "echo oops >&2; cat; exit 3"])
    code, out, err = client.finish(b"{}\n")
    assert (code, out) == (3, b"{}\n")
    assert sorted(err.splitlines()) == [b"acptap: recording to %b" % bytes(client.path), b"oops"]
