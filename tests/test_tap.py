import itertools
import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.cassette import Header, decode_entry
from acptap.jsonrpc import Side
from acptap.redact import Redactor
from acptap.tap import Tap
from acptap.wire.lines import LineSplitter

C, A = Side.CLIENT, Side.AGENT


def recorded(reads, redactor=None):
    """What a tap writes about reads of (side, data), a millisecond apart."""
    tap = Tap(redactor)
    return b"".join(tap.observe(side, data, 1000 * at) for at, (side, data) in enumerate(reads))


PROMPT = (
    b'{"jsonrpc":"2.0","id":2,"method":"session/prompt",'
    b'"params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}'
)
CHUNK = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
    b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hello"}}}}'
)
STATE = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
    b'{"sessionUpdate":"state_update","state":"running"}}}'
)

SPELLED = (
    b'{"jsonrpc":"2.0","method":"$/x","params":["\\u000b\\/\\u00e9\\u2028",1.0,1.10,1e2,-0.0]}'
)

TAPES = {
    "a handshake of version 1": (
        [
            (C, b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'),
            (A, b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n'),
            (C, b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}}\n'),
            (A, b'{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}\n'),
        ],
        (b'{"at":0.000000,"from":"client","msg":{"jsonrpc":"2.0","id":0,"method":"initialize",'
        b'"params":{"protocolVersion":1}}}\n'
        b'{"at":0.001000,"from":"agent","msg":{"jsonrpc":"2.0","id":0,'
        b'"result":{"protocolVersion":1}}}\n'
        b'{"at":0.002000,"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"session/new",'
        b'"params":{"cwd":"/w"}}}\n'
        b'{"at":0.003000,"from":"agent","session":"s","msg":{"jsonrpc":"2.0","id":1,'
        b'"result":{"sessionId":"s"}}}\n'),
    ),
    "a turn of version 1": (
        [
            (C, PROMPT + b"\n"),
            (A, CHUNK + b"\n"),
            (A, b'{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}\n'),
        ],
        b'{"at":0.000000,"from":"client","session":"s",'
        b'"state":{"from":"idle","to":"running","basis":"derived"},'
        b'"updates":[{"kind":"error","rule":"acp/before-initialize"},'
        b'{"kind":"message","index":0,"change":"started"}],'
        b'"notes":[{"rule":"acp/before-initialize","severity":"violation",'
        b'"method":"session/prompt"}],"msg":' + PROMPT + b"}\n"
        b'{"at":0.001000,"from":"agent","session":"s",'
        b'"updates":[{"kind":"message","index":1,"change":"started"}],"msg":' + CHUNK + b"}\n"
        b'{"at":0.002000,"from":"agent","session":"s",'
        b'"state":{"from":"running","to":"idle","basis":"derived","reason":"end_turn"},'
        b'"updates":[{"kind":"done","end":"success","reason":"end_turn"}],'
        b'"msg":{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}}\n',
    ),
    "a state of version 2": (
        [(A, STATE + b"\n")],
        b'{"at":0.000000,"from":"agent","session":"s",'
        b'"state":{"from":"idle","to":"running","basis":"reported"},"msg":' + STATE + b"}\n",
    ),
    "edge 45 a child's state": (
        [
            (
                A,
                (b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"p","update":'
                b'{"sessionUpdate":"subagent_update","sessionId":"c","state":{"state":"idle"}}}}\n'),
            )
        ],
        (b'{"at":0.000000,"from":"agent","session":"p",'
        b'"state":{"session":"c","from":"none","to":"idle","basis":"reported"},'
        b'"updates":[{"kind":"subagent","id":"c","state":"idle"}],'
        b'"msg":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"p","update":'
        b'{"sessionUpdate":"subagent_update","sessionId":"c","state":{"state":"idle"}}}}}\n'),
    ),
    "units of one read share a time": (
        [(A, b"1\n2\n"), (A, b"3\n")],
        (b'{"at":0.000000,"from":"agent",'
        b'"updates":[{"kind":"error","rule":"jsonrpc/malformed"}],'
        b'"notes":[{"rule":"jsonrpc/malformed",'
        b'"severity":"violation","why":"not an object"}],"msg":1}\n'
        b'{"at":0.000000,"from":"agent",'
        b'"updates":[{"kind":"error","rule":"jsonrpc/malformed"}],'
        b'"notes":[{"rule":"jsonrpc/malformed",'
        b'"severity":"violation","why":"not an object"}],"msg":2}\n'
        b'{"at":0.001000,"from":"agent",'
        b'"updates":[{"kind":"error","rule":"jsonrpc/malformed"}],'
        b'"notes":[{"rule":"jsonrpc/malformed",'
        b'"severity":"violation","why":"not an object"}],"msg":3}\n'),
    ),
    "a line over two reads has the time of the second": (
        [(A, b'{"jsonrpc":"2.0","method"'), (A, b':"$/x"}\n{"jsonrpc":"2.0","method":"$/y"}\n')],
        (b'{"at":0.001000,"from":"agent","msg":{"jsonrpc":"2.0","method":"$/x"}}\n'
        b'{"at":0.001000,"from":"agent","msg":{"jsonrpc":"2.0","method":"$/y"}}\n'),
    ),
    "F3 a character cut by a read": (
        [
            (A, b'{"jsonrpc":"2.0","method":"$/x","params":{"t":"\xe8\xaa'),
            (A, b'\xad \xe2\x80\x94"}}\n'),
        ],
        (b'{"at":0.001000,"from":"agent","msg":'
        b'{"jsonrpc":"2.0","method":"$/x","params":{"t":"\xe8\xaa\xad \xe2\x80\x94"}}}\n'),
    ),
    "F4 CRLF is text, and a message": (
        [(C, b'{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s"}}\r\n')],
        (b'{"at":0.000000,"from":"client","session":"s",'
        b'"state":{"from":"idle","to":"running","basis":"derived"},'
        b'"updates":[{"kind":"error","rule":"acp/before-initialize"},'
        b'{"kind":"message","index":0,"change":"started"}],'
        b'"notes":[{"rule":"acp/before-initialize","severity":"violation",'
        b'"method":"session/prompt"}],'
        rb'"text":"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\"}}\r\n"}'
        b"\n"),
    ),
    "F6 line separators are content": (
        [(A, '{"jsonrpc":"2.0","method":"$/x","params":["\u2028\u2029\u0085"]}\n'.encode())],
        '{"at":0.000000,"from":"agent","msg":'
        '{"jsonrpc":"2.0","method":"$/x","params":["\u2028\u2029\u0085"]}}\n'.encode(),
    ),
    "F10 glued messages": (
        [(A, b'{"jsonrpc":"2.0","method":"$/x"}{"jsonrpc":"2.0","id":5,"result":{}}\n')],
        (b'{"at":0.000000,"from":"agent",'
        b'"notes":[{"rule":"stdio/glued","severity":"warning"}],'
        rb'"text":"{\"jsonrpc\":\"2.0\",\"method\":\"$/x\"}{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n"}'
        b"\n"),
    ),
    "N1, edge 12 a log line": (
        [(A, "Loading model… done\n".encode())],
        '{"at":0.000000,"from":"agent",'
        '"notes":[{"rule":"stdio/not-json","severity":"warning"}],'
        '"text":"Loading model… done\\n"}\n'.encode(),
    ),
    "N3 blank lines": (
        [(A, b"\n   \n")],
        (b'{"at":0.000000,"from":"agent","text":"\\n"}\n'
        b'{"at":0.000000,"from":"agent","text":"   \\n"}\n'),
    ),
    "N3 coloured JSON is noise": (
        [(A, b'\x1b[32m{"jsonrpc":"2.0","id":1,"result":{}}\x1b[0m\n')],
        (b'{"at":0.000000,"from":"agent",'
        b'"notes":[{"rule":"stdio/not-json","severity":"warning"}],'
        rb'"text":"\u001b[32m{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\u001b[0m\n"}'
        b"\n"),
    ),
    "N5, edge 15 bytes that are no UTF-8": (
        [(A, b'{"jsonrpc":"2.0","id":\xff\xfe\x80\n')],
        (b'{"at":0.000000,"from":"agent",'
        b'"notes":[{"rule":"stdio/not-utf8","severity":"warning"}],'
        b'"b64":"eyJqc29ucnBjIjoiMi4wIiwiaWQiOv/+gAo="}\n'),
    ),
    "J1 order and spaces are kept": (
        [(A, b'{ "zebra":1 , "jsonrpc":"2.0" , "method":"$/x","params":{"b":1,"a":2}}\n')],
        (b'{"at":0.000000,"from":"agent",'
        b'"msg":{ "zebra":1 , "jsonrpc":"2.0" , "method":"$/x","params":{"b":1,"a":2}}}\n'),
    ),
    "J1 a tab makes it text": (
        [(A, b'{\t"jsonrpc":"2.0","method":"$/x"}\n')],
        (b'{"at":0.000000,"from":"agent",'
        rb'"text":"{\t\"jsonrpc\":\"2.0\",\"method\":\"$/x\"}\n"}'
        b"\n"),
    ),
    "a space in front makes it text": (
        [(A, b' {"jsonrpc":"2.0","method":"$/x"}\n')],
        (b'{"at":0.000000,"from":"agent",'
        rb'"text":" {\"jsonrpc\":\"2.0\",\"method\":\"$/x\"}\n"}'
        b"\n"),
    ),
    "a space behind makes it text": (
        [(A, b'{"jsonrpc":"2.0","method":"$/x"} \n')],
        (b'{"at":0.000000,"from":"agent",'
        rb'"text":"{\"jsonrpc\":\"2.0\",\"method\":\"$/x\"} \n"}'
        b"\n"),
    ),
    "a byte order mark makes it text, and a message": (
        [(A, b'\xef\xbb\xbf{"jsonrpc":"2.0","id":9,"result":{}}\n')],
        (b'{"at":0.000000,"from":"agent",'
        b'"notes":[{"rule":"jsonrpc/unknown-id","severity":"warning","id":9}],'
        b'"text":"\xef\xbb\xbf{\\"jsonrpc\\":\\"2.0\\",\\"id\\":9,\\"result\\":{}}\\n"}\n'),
    ),
    "J3 half a pair makes it text, and a message": (
        [(A, b'{"jsonrpc":"2.0","id":9,"result":{"t":"cut \\ud83d"}}\n')],
        (b'{"at":0.000000,"from":"agent",'
        b'"notes":[{"rule":"jsonrpc/unknown-id","severity":"warning","id":9}],'
        rb'"text":"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"t\":\"cut \\ud83d\"}}\n"}'
        b"\n"),
    ),
    "J4 1E400 makes it text, and a message": (
        [(A, b'{"jsonrpc":"2.0","id":9,"result":1E400}\n')],
        (b'{"at":0.000000,"from":"agent",'
        b'"notes":[{"rule":"jsonrpc/unknown-id","severity":"warning","id":9}],'
        rb'"text":"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":1E400}\n"}'
        b"\n"),
    ),
    "J4 NaN is noise": (
        [(A, b'{"jsonrpc":"2.0","id":9,"result":NaN}\n')],
        (b'{"at":0.000000,"from":"agent",'
        b'"notes":[{"rule":"stdio/not-json","severity":"warning"}],'
        rb'"text":"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":NaN}\n"}'
        b"\n"),
    ),
    "J5 escapes and numbers are kept": (
        [(A, SPELLED + b"\n")],
        b'{"at":0.000000,"from":"agent","msg":' + SPELLED + b"}\n",
    ),
    "edge 4 a number that is no plain integer": (
        [(A, b'{"jsonrpc":"2.0","id":1.50,"result":{}}\n')],
        (b'{"at":0.000000,"from":"agent",'
        b'"notes":[{"rule":"jsonrpc/unknown-id","severity":"warning","id":"1.50"}],'
        b'"msg":{"jsonrpc":"2.0","id":1.50,"result":{}}}\n'),
    ),
    "edge 11 a batch is one unit": (
        [
            (
                C,
                (b'[{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s"}},'
                b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}},5]\n'),
            )
        ],
        (b'{"at":0.000000,"from":"client","session":["s","s",null],'
        b'"state":{"session":"s","from":"idle","to":"running","basis":"derived"},'
        b'"updates":[{"kind":"error","session":"s","rule":"acp/before-initialize"},'
        b'{"kind":"message","session":"s","index":0,"change":"started"},'
        b'{"kind":"error","rule":"jsonrpc/malformed"}],'
        b'"notes":[{"rule":"jsonrpc/batch","severity":"warning"},'
        b'{"rule":"acp/before-initialize","severity":"violation","method":"session/prompt"},'
        b'{"rule":"acp/cancel-requested","severity":"note"},'
        b'{"rule":"jsonrpc/malformed","severity":"violation","why":"not an object"}],'
        rb'"text":"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\"}},'
        rb'{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s\"}},5]\n"}'
        b"\n"),
    ),
    "an empty batch": (
        [(C, b"[]\n")],
        (b'{"at":0.000000,"from":"client","session":[null],'
        b'"updates":[{"kind":"error","rule":"jsonrpc/malformed"}],'
        b'"notes":[{"rule":"jsonrpc/batch","severity":"warning"},'
        b'{"rule":"jsonrpc/malformed","severity":"violation","why":"an empty batch"}],'
        b'"text":"[]\\n"}\n'),
    ),
    "a payload key in a session id": (
        [(A, b'{"jsonrpc":"2.0","method":"$/x","params":{"sessionId":",\\"msg\\":"}}\n')],
        (b'{"at":0.000000,"from":"agent",'
        rb'"session":",\"msg\":","msg":{"jsonrpc":"2.0","method":"$/x","params":{"sessionId":",\"msg\":"}}}'
        b"\n"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("reads", "tape"), TAPES.values(), ids=TAPES)
def test_tape(reads, tape):
    assert recorded(reads) == tape


@pytest.mark.parametrize(("reads", "tape"), TAPES.values(), ids=TAPES)
def test_tape_with_a_redactor_that_finds_nothing(reads, tape):
    assert recorded(reads, Redactor()) == tape


def units(tape, side):
    entries = [decode_entry(line, 0, 0, "") for line in tape.split(b"\n")[:-1]]
    return b"".join(entry.unit() for entry in entries if entry.side is side and not entry.event)


def without_times(tape):
    return [line.partition(b",")[2] for line in tape.split(b"\n")]


@pytest.mark.parametrize("reads", [reads for reads, _ in TAPES.values()], ids=list(TAPES))
def test_tape_byte_by_byte(reads):
    bits = [(side, data[i : i + 1]) for side, data in reads for i in range(len(data))]
    assert without_times(recorded(bits)) == without_times(recorded(reads))
    assert without_times(recorded(bits, Redactor())) == without_times(recorded(reads))


def test_a_read_that_completes_nothing_writes_nothing():
    assert Tap().observe(C, b'{"method"', 0) == b""


def test_the_first_line():
    header = Header("acp", "stdio", "2026-11-30T16:00:00.000000Z", ["agent"], "acptap 0.1.0")
    assert Tap().begin(header) == (
        b'{"acptap":1,"annotations":1,"protocol":"acp","transport":"stdio",'
        b'"recorded_at":"2026-11-30T16:00:00.000000Z","upstream":["agent"],'
        b'"generator":"acptap 0.1.0"}\n'
    )


# Times


def times(tape):
    return [line[6:14] for line in tape.split(b"\n")[:-1]]


def test_times_go_on_although_the_clock_does_not():
    tap = Tap()
    tape = [
        tap.observe(C, b"\n\n", 5),
        tap.observe(A, b"\n", 5),
        tap.observe(A, b"\n", 3),
        tap.stderr(b"x\n", 7),
        tap.observe(C, b"\n", 10),
        tap.end(C, 10),
        tap.exit(10, code=0),
    ]
    assert times(b"".join(tape)) == [
        b"0.000005", b"0.000005", b"0.000006", b"0.000007", b"0.000008", b"0.000010",
        b"0.000011", b"0.000012",
    ]  # fmt: skip


def test_the_first_read_may_come_at_once():
    assert times(Tap().observe(C, b"\n", 0)) == [b"0.000000"]


# Ends

ENDS = {
    "nothing is left": (
        [],
        b'{"at":0.000007,"from":"agent","event":"end"}\n',
    ),
    "F7 a message without a line end": (
        [b'{"jsonrpc":"2.0","id":3,"result":{}}'],
        (
            b'{"at":0.000007,"from":"agent",'
            b'"notes":[{"rule":"jsonrpc/unknown-id","severity":"warning","id":3},'
            b'{"rule":"stdio/unterminated","severity":"note"}],'
            rb'"text":"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}"}'
            b"\n"
            b'{"at":0.000008,"from":"agent","event":"end"}\n'
        ),
    ),
    "F7 a batch without a line end": (
        [b'[{"jsonrpc":"2.0","method":"$/x"}]'],
        (
            b'{"at":0.000007,"from":"agent","session":[null],'
            b'"notes":[{"rule":"jsonrpc/batch","severity":"warning"},'
            b'{"rule":"stdio/unterminated","severity":"note"}],'
            rb'"text":"[{\"jsonrpc\":\"2.0\",\"method\":\"$/x\"}]"}'
            b"\n"
            b'{"at":0.000008,"from":"agent","event":"end"}\n'
        ),
    ),
    "F7 noise without a line end": (
        [b'{"jsonrpc":"2.0","id":'],
        (
            b'{"at":0.000007,"from":"agent",'
            b'"notes":[{"rule":"stdio/not-json","severity":"warning"},'
            b'{"rule":"stdio/unterminated","severity":"note"}],'
            rb'"text":"{\"jsonrpc\":\"2.0\",\"id\":"}'
            b"\n"
            b'{"at":0.000008,"from":"agent","event":"end"}\n'
        ),
    ),
    "F3 half a character": (
        [b"\xe2\x80"],
        (
            b'{"at":0.000007,"from":"agent",'
            b'"notes":[{"rule":"stdio/not-utf8","severity":"warning"},'
            b'{"rule":"stdio/unterminated","severity":"note"}],"b64":"4oA="}\n'
            b'{"at":0.000008,"from":"agent","event":"end"}\n'
        ),
    ),
    "F4 a CR without LF": (
        [b'{"jsonrpc":"2.0","method":"$/x"}\r'],
        (
            b'{"at":0.000007,"from":"agent",'
            b'"notes":[{"rule":"stdio/unterminated","severity":"note"}],'
            rb'"text":"{\"jsonrpc\":\"2.0\",\"method\":\"$/x\"}\r"}'
            b"\n"
            b'{"at":0.000008,"from":"agent","event":"end"}\n'
        ),
    ),
}


@pytest.mark.parametrize(("reads", "tape"), ENDS.values(), ids=ENDS)
def test_end(reads, tape):
    tap = Tap()
    for read in reads:
        assert tap.observe(A, read, 0) == b""
    assert tap.end(A, 7) == tape


def test_f7_a_turn_may_end_without_a_line_end():
    tap = Tap()
    tap.observe(C, PROMPT + b"\n", 0)
    tap.observe(A, b'{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}', 1)
    assert tap.end(A, 2) == (
        b'{"at":0.000002,"from":"agent","session":"s",'
        b'"state":{"from":"running","to":"idle","basis":"derived","reason":"end_turn"},'
        b'"updates":[{"kind":"done","end":"success","reason":"end_turn"}],'
        b'"notes":[{"rule":"stdio/unterminated","severity":"note"}],'
        rb'"text":"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"stopReason\":\"end_turn\"}}"}'
        b"\n"
        b'{"at":0.000003,"from":"agent","event":"end"}\n'
    )


EXITS = {
    "a code": ({"code": 0}, b'"event":"exit","code":0'),
    "a failure": ({"code": 3}, b'"event":"exit","code":3'),
    "a signal": ({"signal": "SIGKILL"}, b'"event":"exit","signal":"SIGKILL"'),
    "not known": ({}, b'"event":"exit","code":null'),
}


@pytest.mark.parametrize(("how", "members"), EXITS.values(), ids=EXITS)
def test_exit(how, members):
    assert Tap().exit(9, **how) == b'{"at":0.000009,"from":"agent",' + members + b"}\n"


def test_edge_50_exit_in_mid_turn():
    tap = Tap()
    tap.observe(C, PROMPT + b"\n", 0)
    assert tap.exit(1, code=1) == (
        b'{"at":0.000001,"from":"agent","event":"exit","code":1,'
        b'"updates":[{"kind":"error","session":"s","fatal":true},'
        b'{"kind":"done","session":"s","end":"failed"}],"notes":['
        b'{"rule":"acp/never-answered","severity":"warning","side":"client",'
        b'"method":"session/prompt","id":2,"session":"s"},'
        b'{"rule":"acp/ended-in-turn","severity":"warning","session":"s","state":"running"}]}\n'
    )


def test_edge_50_the_agent_closes_its_stream_in_mid_turn():
    tap = Tap()
    tap.observe(C, PROMPT + b"\n", 0)
    assert tap.end(C, 1) == b'{"at":0.000001,"from":"client","event":"end"}\n'
    assert tap.end(A, 2) == (
        b'{"at":0.000002,"from":"agent","event":"end",'
        b'"updates":[{"kind":"error","session":"s","fatal":true},'
        b'{"kind":"done","session":"s","end":"failed"}]}\n'
    )
    assert b'"updates"' not in tap.exit(3, code=1)


FACTS = {
    "the client stopped reading": (
        (C, {"event": "abort"}),
        b'{"at":0.000004,"from":"client","event":"abort"}\n',
    ),
    "a signal": (
        (C, {"event": "signal", "signal": "SIGINT"}),
        b'{"at":0.000004,"from":"client","event":"signal","signal":"SIGINT"}\n',
    ),
}


@pytest.mark.parametrize(("fact", "line"), FACTS.values(), ids=FACTS)
def test_event(fact, line):
    side, facts = fact
    assert Tap().event(side, 4, **facts) == line


# Standard error

STDERR = {
    "lines": (
        [b"one\ntwo\n"],
        (
            b'{"at":0.000000,"from":"agent","event":"stderr","text":"one\\n"}\n'
            b'{"at":0.000000,"from":"agent","event":"stderr","text":"two\\n"}\n'
            b'{"at":0.000009,"from":"agent","event":"exit","code":0}\n'
        ),
    ),
    "a line over two reads": (
        [b"o", b"ne\n"],
        (
            b'{"at":0.000001,"from":"agent","event":"stderr","text":"one\\n"}\n'
            b'{"at":0.000009,"from":"agent","event":"exit","code":0}\n'
        ),
    ),
    "F2 no line end": (
        [b"panic"],
        (
            b'{"at":0.000009,"from":"agent","event":"stderr","text":"panic"}\n'
            b'{"at":0.000010,"from":"agent","event":"exit","code":0}\n'
        ),
    ),
    "not UTF-8": (
        [b"\xff\xfe\x80\n"],
        (
            b'{"at":0.000000,"from":"agent","event":"stderr","b64":"//6ACg=="}\n'
            b'{"at":0.000009,"from":"agent","event":"exit","code":0}\n'
        ),
    ),
    "N3 control characters": (
        [b"\x1b[31mred\x1b[0m\r\n"],
        (
            b'{"at":0.000000,"from":"agent","event":"stderr",'
            b'"text":"\\u001b[31mred\\u001b[0m\\r\\n"}\n'
            b'{"at":0.000009,"from":"agent","event":"exit","code":0}\n'
        ),
    ),
    "a message is none there": (
        [b'{"jsonrpc":"2.0","id":1,"result":{}}\n'],
        (
            b'{"at":0.000000,"from":"agent","event":"stderr",'
            rb'"text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"}'
            b"\n"
            b'{"at":0.000009,"from":"agent","event":"exit","code":0}\n'
        ),
    ),
}


@pytest.mark.parametrize(("reads", "tape"), STDERR.values(), ids=STDERR)
def test_stderr(reads, tape):
    tap = Tap()
    lines = [tap.stderr(read, at) for at, read in enumerate(reads)]
    assert b"".join(lines) + tap.exit(9, code=0) == tape


# Lines longer than the limit


def with_limit(limit, redactor=None):
    tap = Tap(redactor)
    tap._splitters = {side: LineSplitter(limit) for side in Side}
    tap._stderr = LineSplitter(limit)
    return tap


def test_f8_a_line_longer_than_the_limit():
    tap = with_limit(4)
    tape = [
        tap.observe(A, b"xxxxxx", 0),
        tap.observe(A, b"y", 1),
        tap.observe(A, b'z\n{"jsonrpc":"2.0","method":"$/x"}\n', 2),
    ]
    assert b"".join(tape) == (
        b'{"at":0.000000,"from":"agent","more":true,'
        b'"notes":[{"rule":"stdio/oversize","severity":"note"}],"text":"xxxxxx"}\n'
        b'{"at":0.000001,"from":"agent","more":true,'
        b'"notes":[{"rule":"stdio/oversize","severity":"note"}],"text":"y"}\n'
        b'{"at":0.000002,"from":"agent",'
        b'"notes":[{"rule":"stdio/oversize","severity":"note"}],"text":"z\\n"}\n'
        b'{"at":0.000002,"from":"agent","msg":{"jsonrpc":"2.0","method":"$/x"}}\n'
    )


def test_f8_a_line_longer_than_the_limit_without_an_end():
    tap = with_limit(4)
    tape = [tap.observe(A, b"xx\xe2", 0), tap.observe(A, b"\x80\xa6x", 1), tap.end(A, 2)]
    assert b"".join(tape) == (
        b'{"at":0.000001,"from":"agent","more":true,'
        b'"notes":[{"rule":"stdio/oversize","severity":"note"}],"text":"xx\xe2\x80\xa6x"}\n'
        b'{"at":0.000002,"from":"agent",'
        b'"notes":[{"rule":"stdio/oversize","severity":"note"},'
        b'{"rule":"stdio/unterminated","severity":"note"}],"text":""}\n'
        b'{"at":0.000003,"from":"agent","event":"end"}\n'
    )


def test_f1_a_message_in_pieces_means_what_it_says():
    tap = with_limit(4)
    tape = [tap.observe(C, b'{"jsonrpc":"2.0","id":2,"method":"session/prompt",', 0),
            tap.observe(C, b'"params":{"sessionId":"s"}}\n', 1)]  # fmt: skip
    assert b"".join(tape) == (
        b'{"at":0.000000,"from":"client","more":true,'
        b'"notes":[{"rule":"stdio/oversize","severity":"note"}],'
        rb'"text":"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/prompt\","}'
        b"\n"
        b'{"at":0.000001,"from":"client","session":"s",'
        b'"state":{"from":"idle","to":"running","basis":"derived"},'
        b'"updates":[{"kind":"error","rule":"acp/before-initialize"},'
        b'{"kind":"message","index":0,"change":"started"}],'
        b'"notes":[{"rule":"acp/before-initialize","severity":"violation",'
        b'"method":"session/prompt"},{"rule":"stdio/oversize","severity":"note"}],'
        rb'"text":"\"params\":{\"sessionId\":\"s\"}}\n"}'
        b"\n"
    )


def test_edge_11_a_batch_in_pieces_is_a_batch():
    tap = with_limit(4)
    tap.observe(
        C, b'[{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s"}},', 0
    )
    assert tap.observe(C, b'{"jsonrpc":"2.0","method":"$/x"}]\n', 1) == (
        b'{"at":0.000001,"from":"client","session":["s",null],'
        b'"state":{"session":"s","from":"idle","to":"running","basis":"derived"},'
        b'"updates":[{"kind":"error","session":"s","rule":"acp/before-initialize"},'
        b'{"kind":"message","session":"s","index":0,"change":"started"}],'
        b'"notes":[{"rule":"jsonrpc/batch","severity":"warning"},'
        b'{"rule":"acp/before-initialize","severity":"violation","method":"session/prompt"},'
        b'{"rule":"stdio/oversize","severity":"note"}],'
        rb'"text":"{\"jsonrpc\":\"2.0\",\"method\":\"$/x\"}]\n"}'
        b"\n"
    )


def test_f8_pieces_of_both_sides_are_kept_apart():
    tap = with_limit(4)
    tap.observe(C, b'{"jsonrpc":"2.0","method":', 0)
    tap.observe(A, b'{"jsonrpc":"2.0","id":', 1)
    assert b'"more"' not in tap.observe(C, b'"$/x"}\n', 2)
    assert b'"jsonrpc/unknown-id","severity":"warning","id":9' in tap.observe(
        A, b'9,"result":0}\n', 3
    )


def test_f8_a_line_too_long_for_an_outline_means_nothing():
    tap = with_limit(4)
    tape = [tap.observe(A, b"[" + b"1," * 1_048_576, 0), tap.observe(A, b"1]\n", 1)]
    assert tape[1] == (
        b'{"at":0.000001,"from":"agent",'
        b'"notes":[{"rule":"stdio/oversize","severity":"note"}],"text":"1]\\n"}\n'
    )


def test_f8_a_character_cut_by_a_piece():
    tap = with_limit(4)
    tape = [tap.observe(A, b"xxxx\xe2", 0), tap.observe(A, b"\x80\xa6\n", 1)]
    assert b"".join(tape) == (
        b'{"at":0.000000,"from":"agent","more":true,'
        b'"notes":[{"rule":"stdio/oversize","severity":"note"}],"b64":"eHh4eOI="}\n'
        b'{"at":0.000001,"from":"agent",'
        b'"notes":[{"rule":"stdio/oversize","severity":"note"}],"b64":"gKYK"}\n'
    )


def test_f8_standard_error_without_a_line_end():
    tap = with_limit(4)
    tape = [tap.stderr(b"xxxxxx", 0), tap.stderr(b"y\n", 1)]
    assert b"".join(tape) == (
        b'{"at":0.000000,"from":"agent","event":"stderr","more":true,"text":"xxxxxx"}\n'
        b'{"at":0.000001,"from":"agent","event":"stderr","text":"y\\n"}\n'
    )


def test_f1_a_message_of_the_limit_is_still_a_message():
    start = b'{"jsonrpc":"2.0","method":"$/x","params":["'
    line = start + b"A" * (8 * 1024 * 1024 - len(start) - 3) + b'"]}'
    reads = [(A, line[i : i + 65_536]) for i in range(0, len(line), 65_536)]
    tape = recorded([*reads, (A, b"\n")])
    assert tape == b'{"at":0.128000,"from":"agent","msg":' + line + b"}\n"


# Secrets


SECRET = "sk-live-0123456789abcdef"
NEW = (
    b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":'
    b'[{"name":"m","command":"m","args":[],"env":[{"name":"API_KEY","value":"%b"}]}]}}'
)


def test_what_a_redactor_takes_out_is_said():
    assert recorded([(C, NEW % SECRET.encode() + b"\n")], Redactor()) == (
        b'{"at":0.000000,"from":"client","redacted":true,'
        b'"updates":[{"kind":"error","rule":"acp/before-initialize"}],'
        b'"notes":[{"rule":"acp/before-initialize","severity":"violation",'
        b'"method":"session/new"}],"msg":' + NEW % b"[redacted:1]" + b"}\n"
    )


SAID = {
    "in a message": b'{"jsonrpc":"2.0","method":"$/log","params":{"t":"key %b"}}\n',
    "in a message with CRLF": b'{"jsonrpc":"2.0","method":"$/log","params":{"t":"key %b"}}\r\n',
    "in an update": CHUNK.replace(b"hello", b"%b") + b"\n",
    "in noise": b"using %b\n",
    "in a batch": b'[{"jsonrpc":"2.0","method":"$/log","params":{"t":"%b"}}]\n',
    "in bytes that are no UTF-8": b"\xff %b\n",
}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_a_secret_is_taken_out_wherever_it_is_said(said):
    redactor = Redactor()
    tape = recorded([(C, NEW % SECRET.encode() + b"\n"), (A, said % SECRET.encode())], redactor)
    assert units(tape, A) == said % b"[redacted:1]"
    assert tape.count(b'"redacted":true') == 2


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_a_secret_is_taken_out_byte_by_byte(said):
    whole = said % SECRET.encode()
    reads = [(A, whole[i : i + 1]) for i in range(len(whole))]
    tape = recorded([(C, NEW % SECRET.encode() + b"\n"), *reads], Redactor())
    assert units(tape, A) == said % b"[redacted:1]"


def test_a_secret_is_taken_out_of_standard_error():
    tap = Tap(Redactor())
    tap.observe(C, NEW % SECRET.encode() + b"\n", 0)
    assert tap.stderr(b"key=" + SECRET.encode() + b"\n", 1) == (
        b'{"at":0.000001,"from":"agent","event":"stderr","redacted":true,'
        b'"text":"key=[redacted:1]\\n"}\n'
    )


def test_a_secret_is_taken_out_of_a_piece():
    tap = with_limit(4, Redactor())
    tape = tap.observe(A, b"key=" + SECRET.encode(), 1)
    assert tape == (
        b'{"at":0.000001,"from":"agent","more":true,"redacted":true,'
        b'"notes":[{"rule":"stdio/oversize","severity":"note"}],"text":"key=[redacted:1]"}\n'
    )


def test_a_secret_is_taken_out_of_the_first_line():
    header = Header("acp", "stdio", "", ["agent", "--api-key", SECRET], "")
    assert b'"upstream":["agent","--api-key","[redacted:1]"]' in Tap(Redactor()).begin(header)


def test_an_upstream_that_is_no_command_stays():
    header = Header("acp", "stdio", "", "http://127.0.0.1/acp", "")
    assert b'"upstream":"http://127.0.0.1/acp"' in Tap(Redactor()).begin(header)


# Laws

LINE = st.sampled_from([
    PROMPT, CHUNK, STATE, b'{"id":2,"result":{"stopReason":"end_turn"}}', b"", b"   ", b"5", b"[]",
    b'{"method":"$/x","params":[NaN]}', b'{"method":"$/x"}{"method":"$/y"}', b"npm WARN left-thing",
    b'\xef\xbb\xbf{"id":null,"error":{"code":-32700}}', b'{"method":"session/cancel","params":{}}',
    b'{"id":1.0,"method":"_x","params":{"t":"\\ud800"}}', b'{"t":"\xe2\x80\xa8"}', b"\xff\xfe\x80",
    b'[{"id":1,"method":"session/list"},{"id":1,"result":1E400}]', b'\t{"id":7,"result":0}',
    b'{"id":"x","method":"session/new","params":{"text":1,"msg":{"b64":"a"}},"msg":",\\"text\\":"}',
])  # fmt: skip
LINE_END = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"", b"\r"])
STREAM = st.lists(st.tuples(LINE, LINE_END).map(b"".join), max_size=8).map(b"".join)
READ = st.tuples(st.sampled_from(Side), st.binary(min_size=1, max_size=20) | STREAM.filter(bool))
CUTS = st.lists(st.integers(0, 400), max_size=12)


def cut(stream, places):
    edges = sorted({0, len(stream), *(place for place in places if place < len(stream))})
    return [stream[a:b] for a, b in itertools.pairwise(edges)]


@given(st.lists(READ, max_size=12), st.integers(1, 60), st.booleans())
def test_any_bytes_come_back_from_the_tape(reads, limit, redacts):
    tap = with_limit(limit, Redactor() if redacts else None)
    tape = b"".join(tap.observe(side, data, 0) for side, data in reads)
    tape += tap.end(C, 0) + tap.end(A, 0) + tap.exit(0, code=0)
    for side in Side:
        assert units(tape, side) == b"".join(data for said, data in reads if said is side)


@given(st.lists(READ, max_size=12), st.integers(1, 60), st.binary(max_size=60))
def test_a_tape_is_strict_json_lines(reads, limit, stderr):
    tap = with_limit(limit)
    tape = b"".join(tap.observe(side, data, 0) for side, data in reads)
    tape += tap.stderr(stderr, 0) + tap.end(C, 0) + tap.end(A, 0) + tap.exit(0, code=0)
    tape.decode("utf-8")
    lines = tape.split(b"\n")
    assert lines.pop() == b""
    for line in lines:
        assert list(orjson.loads(line))[:2] == ["at", "from"]
        json.loads(line, parse_constant=pytest.fail)


@given(st.lists(READ, max_size=12))
def test_a_read_has_one_time_and_the_next_a_greater(reads):
    tap = Tap()
    tapes = [tap.observe(side, data, 0) for side, data in reads]
    told = [set(times(tape)) for tape in tapes if tape]
    assert all(len(at) == 1 for at in told)
    assert [at.pop() for at in told] == [b"0.%06d" % count for count in range(len(told))]


@given(STREAM, CUTS, st.sampled_from(Side), st.booleans())
def test_entries_do_not_depend_on_the_reads(stream, places, side, redacts):
    one = recorded([(side, stream)], Redactor() if redacts else None)
    many = recorded([(side, read) for read in cut(stream, places)], Redactor() if redacts else None)
    assert without_times(many) == without_times(one)


@given(STREAM, CUTS)
def test_a_redactor_that_finds_nothing_changes_nothing(stream, places):
    reads = [(A, read) for read in cut(stream, places)]
    assert recorded(reads, Redactor()) == recorded(reads)


SECRETS = st.sampled_from([
    NEW % SECRET.encode(), CHUNK.replace(b"hello", SECRET.encode()), b"key " + SECRET.encode(),
    b'{"jsonrpc":"2.0","id":1,"result":{"t":"%b"}}' % SECRET.encode(), CHUNK, PROMPT,
])  # fmt: skip


@given(st.lists(st.tuples(SECRETS, LINE_END).map(b"".join), max_size=6).map(b"".join), CUTS)
def test_a_secret_is_found_whatever_the_reads(stream, places):
    one = recorded([(C, stream)], Redactor())
    many = recorded([(C, read) for read in cut(stream, places)], Redactor())
    assert without_times(many) == without_times(one)
    assert SECRET.encode() not in one
