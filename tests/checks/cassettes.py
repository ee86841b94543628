"""Cassettes for the tests of `check` and `annotate`."""

import io

from acptap.app.check.checking import CheckOptions, check_command
from acptap.cassette import Header, decode_entry
from acptap.jsonrpc import Side
from acptap.tap import Tap
from acptap.wire.jsontext import parse

HEADER = Header(
    protocol="acp",
    transport="stdio",
    recorded_at="2026-11-30T16:00:00.000000Z",
    upstream=["agent"],
    generator="acptap test",
)


def write(tape):
    """The entries of a tape."""
    return [
        decode_entry(line, number, 0, "x.jsonl")
        for number, line in enumerate(tape.split(b"\n")[:-1], 2)
    ]


def recorded(*said, tap=None, at=0):
    """A cassette of what client (`C`) and agent (`A`) said, and the agent's exit."""
    tap = Tap() if tap is None else tap
    lines = [tap.begin(HEADER)]
    for number, (cue, text) in enumerate(said):
        side = Side.CLIENT if cue == "C" else Side.AGENT
        lines.append(tap.observe(side, text.encode() + b"\n", at + number * 1000))
    return b"".join([*lines, tap.exit(at + 1_000_000, code=0)])


CHUNK = (
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
    '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}'
)
HELLO = (
    ("C", '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}'),
    ("A", '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'),
    ("C", '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}}'),
    ("A", '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}'),
    ("C", '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s"}}'),
    ("A", CHUNK % "hi"),
    ("A", '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}'),
)  # fmt: skip

FIRST = recorded(*HELLO)
"""A cassette without a fault."""

WARNED = recorded(*HELLO, ("A", "Loading model"))
"""A cassette with a warning, on line 9."""

BROKEN = recorded(*HELLO, ("A", '{"jsonrpc":"2.0","id":2,"result":{}}'))
"""A cassette with a violation, on line 9."""


def checked(path, data, **options):
    """The exit code of `check` on a file, and what it says."""
    path.write_bytes(data)
    out = io.StringIO()
    return check_command([path], CheckOptions(**options), out), out.getvalue()


def met_in_a_file(path, data):
    """The rules that `check` finds."""
    _, said = checked(path, data, format="json")
    document = parse(said.encode())
    assert isinstance(document, dict)
    return [finding["rule"] for file in document["files"] for finding in file["findings"]]
