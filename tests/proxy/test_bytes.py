"""Whatever passes arrives as it was sent, and stands on the tape as it was sent."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acptap.wire.lines import PIECE_LIMIT
from tests.proxy.client import agent

SAY_THEN_ECHO = ("sh", "-c", 'cat "$0"; cat')
"""An agent that sends a file and then whatever it is sent."""

UPDATE = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'
    b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%b"}}}}\n'
)

IMAGE = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'
    b'{"sessionUpdate":"tool_call_update","toolCallId":"t1","content":[{"type":"content","content":'
    b'{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo%b"}}]}}}\n'
)


def update(text):
    return UPDATE % text.encode()


def padded(size):
    """Return a message of `size` bytes and its line end."""
    return update("x" * (size - len(update("")) + 1))


PAYLOADS = {
    # name: what is sent, in how many units it stands on the tape
    "F1 64 KiB and one byte, then a small one": (padded(65_537) + padded(200), 2),
    "F1 an image of 7 MB, then a small one": (IMAGE % (b"A" * 7_000_000) + padded(200), 2),
    "F2 64 KiB less one": (padded(65_535), 1),
    "F2 64 KiB": (padded(65_536), 1),
    "F2 128 KiB and one byte": (padded(131_073), 1),
    "F2 1 MiB and one byte": (padded(1_048_577), 1),
    "F3 characters of two to four bytes": (update("読む — 👩‍💻 é"), 1),
    "F4 CRLF": (b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\r\n' + update("a"), 2),
    "F4 CR alone": (b'{"jsonrpc":"2.0","method":"a"}\r{"jsonrpc":"2.0","method":"b"}\n', 1),
    "F4 LF CR": (b'{"jsonrpc":"2.0","method":"a"}\n\r', 2),
    "F6 raw line separators": (update("a\u2028b\u2029c\u0085d\u000be\u000cf"), 1),
    "F6 escaped line separators": (update(r"a\u2028b\u2029c\u0085d\u000be"), 1),
    "F7 no newline at the end": (b'{"jsonrpc":"2.0","id":3,"result":{}}', 1),
    "F7 half a message": (b'{"jsonrpc":"2.0","id":3,"resu', 1),
    "F7 half a character": (update("é")[:-10] + "é".encode()[:1], 1),
    "F10 two messages on a line": (update("a")[:-1] + b'{"jsonrpc":"2.0","id":5,"result":{}}\n', 1),
    "N1 log lines": (b"npm WARN deprecated\n" + update("a") + b"[migrate] 3 of 3 done\n", 3),
    "N3 clear screen": (b"\x1b[2J\x1b[H\n", 1),
    "N3 blank lines": (b"\n\n   \n\t\n", 4),
    "N3 box drawing": ("┊ thinking…\n".encode(), 1),
    "N3 a message in colour": (b'\x1b[32m{"jsonrpc":"2.0","id":1,"result":{}}\x1b[0m\n', 1),
    "N3 a bell": (b"\x07" + update("a"), 1),
    "N5 invalid UTF-8 between good lines": (
        update("a") + b'{"jsonrpc":"2.0","id":\n\xff\xfe\x80\n' + update("b"), 4,
    ),
    "N5 a byte order mark": (b"\xef\xbb\xbf" + update("a"), 1),
    "N5 UTF-16": ('{"id":1}\n'.encode("utf-16"), 2),
    "C3 a block of zero bytes": (b"\0" * 512 + b"\n" + update("a"), 2),
    "C3 a merge conflict": (b"<<<<<<< ours\n=======\n>>>>>>> theirs\n", 3),
    "J1 order and spaces": (b'{ "z":1 , "apple" : [1, 2],\t"jsonrpc":"2.0","method":"x/y"}\n', 1),
    "J1 members twice": (b'{"jsonrpc":"2.0","method":"a","method":"b"}\n', 1),
    "J3 lone surrogates": (update(r"cut \ud83d, \udcb2, whole \ud83d\ude80"), 1),
    "J3 surrogates encoded as UTF-8": (update("a")[:-9] + b"\xed\xa0\xbd\n", 1),
    "J4 no numbers": (b'{"jsonrpc":"2.0","method":"m","params":{"p":NaN,"q":-Infinity}}\n', 1),
    "J4 a number too large": (b'{"jsonrpc":"2.0","method":"m","params":{"cost":1E400}}\n', 1),
    "J5 spelling": (
        rb'{"a":"\u000b\/\u00e9\u2028","b":1.0,"c":1.10,"d":1e2,"e":-0.0,'
        rb'"f":6000000000000002181,"g":0.1000000000000000055}' + b"\n", 1,
    ),
    "J5 nested a thousand times": (b"[" * 1000 + b"]" * 1000 + b"\n", 1),
    "a batch": (b'[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]\n', 1),
    "every byte": (bytes(range(256)), 2),
}  # fmt: skip


@pytest.mark.parametrize(("payload", "units"), PAYLOADS.values(), ids=PAYLOADS)
def test_bytes_pass_both_ways_and_stand_on_the_tape(start_quietly, tmp_path, payload, units):
    file = tmp_path / "payload"
    file.write_bytes(payload)
    client = start_quietly([*SAY_THEN_ECHO, str(file)], "--no-redact")
    said = client.stdout.read(len(payload))  # before any input
    assert said == payload
    assert client.finish(payload) == (0, payload, b"")
    tape = client.tape()
    assert tape.stream("client") == payload
    assert tape.stream("agent") == payload * 2
    assert len(tape.units("client")) == units
    for line in tape.bytes.decode().split("\n")[:-1]:
        json.loads(line, parse_constant=pytest.fail)  # is strict JSON


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 131_073, 1_048_577])
def test_f2_standard_error_without_newline(start_quietly, tmp_path, size):
    file = tmp_path / "noise"
    file.write_bytes(b"e" * size)
    client = start_quietly(["sh", "-c", 'cat "$0" >&2; cat', str(file)])
    assert client.finish(update("a")) == (0, update("a"), b"e" * size)
    assert client.tape().stderr == b"e" * size


def test_f1_an_image_longer_than_a_piece_is_followed_by_an_update(start_quietly, tmp_path):
    image = IMAGE % (b"A" * 12_000_000)
    file = tmp_path / "image"
    file.write_bytes(image + update("after"))
    client = start_quietly([*SAY_THEN_ECHO, str(file)])
    assert client.finish() == (0, image + update("after"), b"")
    tape = client.tape()
    assert tape.stream("agent") == image + update("after")
    *pieces, last = tape.units("agent")
    assert len(image) > PIECE_LIMIT
    assert [piece.more for piece in pieces] == [True] * (len(pieces) - 1) + [False]
    assert last.front["session"] == "s1"


def test_f3_one_byte_at_a_time(start_quietly):
    client = start_quietly(["cat"])
    message = update("読む — 👩‍💻 é")
    for byte in message:
        client.send(bytes([byte]))
        assert client.stdout.read(1) == bytes([byte])  # no byte waits for the next one
    assert client.finish() == (0, b"", b"")
    tape = client.tape()
    assert [entry.payload for entry in tape.units("agent")] == [message[:-1]]


def test_f7_an_unfinished_message_is_marked_and_the_end_comes_behind_it(start_quietly, tmp_path):
    file = tmp_path / "payload"
    file.write_bytes(b'{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}')
    client = start_quietly(["cat", str(file)])
    assert client.finish() == (0, file.read_bytes(), b"")
    tape = client.tape()
    assert ["stdio/unterminated" in entry.rules for entry in tape.units("agent")] == [True]
    assert tape.exit == {"code": 0}


def test_f7_what_the_client_began_to_say_stands_on_the_tape_when_the_agent_ends(start_quietly):
    client = start_quietly(["head", "-c", "5"])
    client.send(b"12345")
    assert client.wait() == 0  # though our side is open
    tape = client.tape()
    assert tape.stream("client") == b"12345"
    assert [event["event"] for event in tape.events] == ["end", "exit"]  # the agent's


def test_n4_a_profile_speaks_first_and_nobody_answers_for_the_agent(start_quietly):
    noisy = ["sh", "-c", 'echo profile loaded; exec "$@"', "sh", *agent("strict")]
    client = start_quietly(noisy)
    assert client.stdout.readline() == b"profile loaded\n"
    client.send(b'profile loaded\n{"jsonrpc":"2.0","id":1,"method":"initialize"}\n')
    refusal, answer = client.stdout.readline(), client.stdout.readline()
    assert json.loads(refusal)["error"]["code"] == -32700
    assert json.loads(answer) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert client.finish() == (0, b"", b"")
    tape = client.tape()
    assert tape.header.upstream == noisy
    assert tape.stream("agent") == b"profile loaded\n" + refusal + answer


def test_n5_nothing_is_answered_by_the_proxy_itself(start_quietly):
    client = start_quietly(["sh", "-c", "cat >/dev/null"])
    assert client.finish(b'{"jsonrpc":"2.0","id":\n\xff\n[]\n{"jsonrpc":"2.0","id":1}\n') == (
        0, b"", b"",
    )  # fmt: skip


WORDS = st.sampled_from(
    [b"\n", b"\r\n", b"\r", b"{}", b'{"jsonrpc":"2.0","id":1,"method":"m"}', b"\xff", b"\0", b" ",
     "\u2028é👩".encode(), b"\xef\xbb\xbf", b'"', b"\\", b',"msg":', b'{"at":']
)  # fmt: skip
READS = st.lists(st.lists(WORDS | st.binary(min_size=1, max_size=9), min_size=1).map(b"".join))


assert settings.default
EXAMPLES = max(50, settings.default.max_examples // 4)
"""Fewer than elsewhere: where lines are cut is tested without processes too."""


def test_arbitrary_bytes_pass_and_stand_on_the_tape(start_quietly):
    client = start_quietly(["cat"], "--no-redact")
    sent = []

    @settings(max_examples=EXAMPLES)
    @given(READS)
    def pass_on(reads):
        for read in reads:
            client.send(read)
            assert client.stdout.read(len(read)) == read
            sent.append(read)

    pass_on()
    assert client.finish() == (0, b"", b"")
    tape = client.tape()
    assert tape.stream("client") == tape.stream("agent") == b"".join(sent)


def test_no_message_waits_for_another_one(start_quietly):
    client = start_quietly(["cat"])
    for number in range(500):  # each needs the answer to the one before
        client.send(update(str(number)))
        assert client.stdout.readline() == update(str(number))
    assert client.finish() == (0, b"", b"")


def test_a_message_is_recorded_before_it_is_forwarded(start_quietly):
    client = start_quietly(["cat"])
    for number in range(50):
        client.send(update(str(number)))
        assert client.stdout.readline() == update(str(number))
        tape = client.tape()  # while it is written
        assert tape.units("client")[-1].unit() == update(str(number))
        assert tape.units("agent")[-1].unit() == update(str(number))
    assert client.finish() == (0, b"", b"")
