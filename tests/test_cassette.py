import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap import cassette
from acptap.cassette import (
    Annotations,
    Header,
    decode_entry,
    decode_header,
    encode_at,
    encode_front,
    encode_payload,
    has_controls,
    unit_of,
)
from acptap.errors import DamagedCassette, NewerFormat, NotACassette
from acptap.jsonrpc import Side
from acptap.notes import Note, Severity
from acptap.session import Basis, SessionState, Transition

HEADER = (
    b'{"acptap":1,"annotations":1,"protocol":"acp","transport":"stdio",'
    b'"recorded_at":"2026-11-30T16:00:00.123456Z","upstream":["opencode","acp"],'
    b'"generator":"acptap 0.1.0"}\n'
)


def test_header_to_the_letter():
    header = Header(
        protocol="acp",
        transport="stdio",
        recorded_at="2026-11-30T16:00:00.123456Z",
        upstream=["opencode", "acp"],
        generator="acptap 0.1.0",
    )
    assert header.encode() == HEADER


HEADERS = {
    "as it is written": HEADER,
    "an upstream that is a URL": HEADER.replace(b'["opencode","acp"]', b'"http://127.0.0.1/acp"'),
    "unknown members are kept": HEADER[:-2] + b',"redaction":"open","x":[1,{"y":null}]}\n',
    "an older revision of the annotations": HEADER.replace(b'"annotations":1', b'"annotations":0'),
    "an argument that is not UTF-8": HEADER.replace(b'"acp"]', rb'"\udcff"]'),
}


@pytest.mark.parametrize("line", HEADERS.values(), ids=HEADERS)
def test_header_is_written_as_it_was_read(line):
    assert decode_header(line, "a.jsonl").encode() == line


def test_header_members():
    header = decode_header(HEADER[:-2] + b',"x":1}', "a.jsonl")
    assert header == Header(
        protocol="acp",
        transport="stdio",
        recorded_at="2026-11-30T16:00:00.123456Z",
        upstream=["opencode", "acp"],
        generator="acptap 0.1.0",
        format=1,
        annotations=1,
        extra={"x": 1},
    )


SAVED_AGAIN = {
    "with spaces": b'{ "acptap": 1, "annotations": 1, "protocol": "acp" }',
    "in another order": b'{"protocol":"acp","annotations":1,"acptap":1}',
    "with CRLF": b'{"acptap":1,"annotations":1,"protocol":"acp"}\r\n',
    "with a byte order mark": b'\xef\xbb\xbf{"acptap":1,"annotations":1,"protocol":"acp"}\n',
}


@pytest.mark.parametrize("line", SAVED_AGAIN.values(), ids=SAVED_AGAIN)
def test_header_saved_again_by_hand(line):
    header = decode_header(line, "a.jsonl")
    assert (header.format, header.annotations, header.protocol) == (1, 1, "acp")
    assert (header.transport, header.upstream, header.extra) == ("", "", {})


NO_HEADERS = {
    "nothing": b"",
    "blank": b"\n",
    "words": b"# Notes\n",
    "cut off": b'{"acptap":1,"annotat',
    "another JSON": b'{"jsonrpc":"2.0","id":0,"method":"initialize"}\n',
    "no object": b"[1]\n",
    "an entry": b'{"at":0.000001,"from":"client","msg":{}}\n',
    "a format that is a string": b'{"acptap":"1"}\n',
    "a format that is a boolean": b'{"acptap":true}\n',
    "a format that is a fraction": b'{"acptap":1.0}\n',
    "a format before the first": b'{"acptap":0}\n',
    "C3 NUL": b"\x00" * 512 + b"\n",
    "not UTF-8": b"\xff\xfe\n",
}


@pytest.mark.parametrize("line", NO_HEADERS.values(), ids=NO_HEADERS)
def test_no_header(line):
    with pytest.raises(NotACassette) as caught:
        decode_header(line, "dir/a.jsonl")
    assert str(caught.value) == (
        "dir/a.jsonl: not a cassette: the first line is no acptap header; "
        "name a file that `acptap proxy` wrote"
    )


def test_newer_format():
    with pytest.raises(NewerFormat) as caught:
        decode_header(b'{"acptap":2,"wire":"cbor"}\n', "a.jsonl")
    assert str(caught.value) == (
        "a.jsonl: format 2 is newer than this acptap reads (1); install a newer acptap"
    )


def test_migrations_lead_to_the_current_format():
    assert cassette.FORMAT == 1
    assert set(cassette.MIGRATIONS) == set(range(1, cassette.FORMAT))


# line: (front, key, payload, unit)
ENTRIES = {
    "a message": (
        b'{"at":0.000412,"from":"client","msg":{"id":0,"method":"initialize"}}',
        {"at": 0.000412, "from": "client"},
        "msg",
        b'{"id":0,"method":"initialize"}',
        b'{"id":0,"method":"initialize"}\n',
    ),
    "a message with annotations": (
        (
            b'{"at":1.5,"from":"agent","session":"s","state":{"from":"idle","to":"running"},'
            b'"msg":{"method":"session/update"}}'
        ),
        {
            "at": 1.5,
            "from": "agent",
            "session": "s",
            "state": {"from": "idle", "to": "running"},
        },
        "msg",
        b'{"method":"session/update"}',
        b'{"method":"session/update"}\n',
    ),
    "a message that is no object": (
        b'{"at":1.5,"from":"agent","msg":5}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b"5",
        b"5\n",
    ),
    "a message keeps its spaces": (
        b'{"at":1.5,"from":"agent","msg":{ "b" : 1.10 , "a":"\\u00e9" }}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{ "b" : 1.10 , "a":"\\u00e9" }',
        b'{ "b" : 1.10 , "a":"\\u00e9" }\n',
    ),
    "text": (
        b'{"at":1.5,"from":"agent","text":"Loading model\xe2\x80\xa6\\r\\n"}',
        {"at": 1.5, "from": "agent"},
        "text",
        b'"Loading model\xe2\x80\xa6\\r\\n"',
        b"Loading model\xe2\x80\xa6\r\n",
    ),
    "F7 text without a line end": (
        b'{"at":1.5,"from":"agent","text":"{\\"id\\":3}"}',
        {"at": 1.5, "from": "agent"},
        "text",
        b'"{\\"id\\":3}"',
        b'{"id":3}',
    ),
    "N5 base64": (
        b'{"at":1.5,"from":"agent","b64":"//6ACg=="}',
        {"at": 1.5, "from": "agent"},
        "b64",
        b'"//6ACg=="',
        b"\xff\xfe\x80\n",
    ),
    "a fact": (
        b'{"at":1.6,"from":"agent","event":"exit","code":0}',
        {"at": 1.6, "from": "agent", "event": "exit", "code": 0},
        None,
        b"",
        b"",
    ),
    "F8 a piece": (
        b'{"at":1.5,"from":"agent","more":true,"notes":[{"rule":"stdio/oversize"}],"text":"xx"}',
        {"at": 1.5, "from": "agent", "more": True, "notes": [{"rule": "stdio/oversize"}]},
        "text",
        b'"xx"',
        b"xx",
    ),
    "F8 an empty piece": (
        b'{"at":1.5,"from":"agent","text":""}',
        {"at": 1.5, "from": "agent"},
        "text",
        b'""',
        b"",
    ),
    "unknown members are kept": (
        b'{"at":1.5,"from":"agent","x":{"y":[1]},"msg":{}}',
        {"at": 1.5, "from": "agent", "x": {"y": [1]}},
        "msg",
        b"{}",
        b"{}\n",
    ),
    "the front's keys in a payload": (
        b'{"at":1.5,"from":"agent","msg":{"at":9,"from":"client","session":"t"}}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"at":9,"from":"client","session":"t"}',
        b'{"at":9,"from":"client","session":"t"}\n',
    ),
    "a payload key nested in a message": (
        b'{"at":1.5,"from":"agent","msg":{"a":{"x":1,"msg":2},"text":"3","b64":"!"}}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"a":{"x":1,"msg":2},"text":"3","b64":"!"}',
        b'{"a":{"x":1,"msg":2},"text":"3","b64":"!"}\n',
    ),
    "a payload key in a string of a message": (
        b'{"at":1.5,"from":"agent","msg":{"t":"x,\\"msg\\":{","u":",\\"text\\":"}}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"t":"x,\\"msg\\":{","u":",\\"text\\":"}',
        b'{"t":"x,\\"msg\\":{","u":",\\"text\\":"}\n',
    ),
    "a payload key in a text": (
        b'{"at":1.5,"from":"agent","text":"{\\"a\\":1,\\"msg\\":2}\\r\\n"}',
        {"at": 1.5, "from": "agent"},
        "text",
        b'"{\\"a\\":1,\\"msg\\":2}\\r\\n"',
        b'{"a":1,"msg":2}\r\n',
    ),
    "a payload key in a string of the front": (
        b'{"at":1.5,"from":"agent","session":",\\"msg\\":{}","msg":{"a":1}}',
        {"at": 1.5, "from": "agent", "session": ',"msg":{}'},
        "msg",
        b'{"a":1}',
        b'{"a":1}\n',
    ),
    "F6 line separators in a payload": (
        '{"at":1.5,"from":"agent","msg":{"t":"a\u2028b\u0085c"}}'.encode(),
        {"at": 1.5, "from": "agent"},
        "msg",
        '{"t":"a\u2028b\u0085c"}'.encode(),
        '{"t":"a\u2028b\u0085c"}\n'.encode(),
    ),
    "J3 a lone surrogate in a message saved by hand": (
        b'{"at":1.5,"from":"agent","msg":{"t":"\\ud800"}}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"t":"\\ud800"}',
        b'{"t":"\\ud800"}\n',
    ),
}

AGAIN = {
    "with spaces": (
        b'{"at": 1.5, "from": "agent", "msg": {"id": 1, "msg": 2}}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"id": 1, "msg": 2}',
        b'{"id": 1, "msg": 2}\n',
    ),
    "with spaces in front of a message as it came": (
        b'{"at": 1.5, "from": "agent", "msg": {"id":1,"msg":{"x":1,"text":"y"}}}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"id":1,"msg":{"x":1,"text":"y"}}',
        b'{"id":1,"msg":{"x":1,"text":"y"}}\n',
    ),
    "with a space before the brace": (
        b' { "at" : 1.5 , "from" : "agent" , "text" : "a\\n" } ',
        {"at": 1.5, "from": "agent"},
        "text",
        b'"a\\n"',
        b"a\n",
    ),
    "with a space behind the payload": (
        b'{"at":1.5,"from":"agent","msg":{"a":1} }',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"a":1}',
        b'{"a":1}\n',
    ),
    "with a space before the payload": (
        b'{"at":1.5,"from":"agent","msg": {"a":1}}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"a":1}',
        b'{"a":1}\n',
    ),
    "with CRLF": (
        b'{"at":1.5,"from":"agent","msg":{"a":1}}\r',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"a":1}',
        b'{"a":1}\n',
    ),
    "with the payload first": (
        b'{"msg":{"id":1,"at":7},"at":1.5,"from":"agent"}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"id":1,"at":7}',
        b'{"id":1,"at":7}\n',
    ),
    "with the message in the middle": (
        b'{"at":1.5,"msg":{"id":1},"from":"agent"}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"id":1}',
        b'{"id":1}\n',
    ),
    "with the text in the middle": (
        b'{"at":1.5,"text":"a\\n","from":"agent"}',
        {"at": 1.5, "from": "agent"},
        "text",
        b'"a\\n"',
        b"a\n",
    ),
    "with the base64 in the middle": (
        b'{"at":1.5,"b64":"/w==","from":"agent","session":"s"}',
        {"at": 1.5, "from": "agent", "session": "s"},
        "b64",
        b'"/w=="',
        b"\xff",
    ),
    "sorted by name": (
        b'{"at":1.5,"from":"agent","msg":{"id":1},"notes":[],"session":"s"}',
        {"at": 1.5, "from": "agent", "notes": [], "session": "s"},
        "msg",
        b'{"id":1}',
        b'{"id":1}\n',
    ),
    "with a payload written twice the last counts": (
        b'{"at":1.5,"from":"agent","msg":{"id":1},"msg":{"id":2}}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"id":2}',
        b'{"id":2}\n',
    ),
    "with a member written twice the last counts": (
        b'{"at":1.5,"from":"client","from":"agent","msg":{}}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b"{}",
        b"{}\n",
    ),
    "with a name in escapes": (
        b'{"at":1.5,"from":"agent","\\u006dsg":{"id":1}}',
        {"at": 1.5, "from": "agent"},
        "msg",
        b'{"id":1}',
        b'{"id":1}\n',
    ),
    "a fact in another order": (
        b'{"event":"end","from":"client","at":1.5}',
        {"at": 1.5, "from": "client", "event": "end"},
        None,
        b"",
        b"",
    ),
}

LINES = {f"as written: {name}": row for name, row in ENTRIES.items()} | {
    f"saved again: {name}": row for name, row in AGAIN.items()
}


@pytest.mark.parametrize(("line", "front", "key", "payload", "unit"), LINES.values(), ids=LINES)
def test_entry(line, front, key, payload, unit):
    entry = decode_entry(line, 7, 4711, "a.jsonl")
    assert (entry.number, entry.offset) == (7, 4711)
    assert (entry.front, entry.key, entry.payload) == (front, key, payload)
    assert entry.unit() == unit


DAMAGED = {
    "nothing": b"",
    "C1 torn": b'{"at":12.5,"from":"agent","text":"{\\"jso',
    "C1 torn in a character": b'{"at":12.5,"from":"agent","msg":{"t":"\xe2\x80',
    "C1 torn behind the message": b'{"at":12.5,"from":"agent","msg":{"t":"x"}',
    "C3 NUL": b"\x00" * 512,
    "C3 our side of a conflict": b"<<<<<<< ours",
    "C3 the middle of a conflict": b"=======",
    "C3 their side of a conflict": b">>>>>>> theirs",
    "two entries on a line": (
        b'{"at":1.5,"from":"agent","event":"end"}{"at":1.6,"from":"agent","event":"end"}'
    ),
    "no object": b"[1.5]",
    "a header": HEADER[:-1],
    "no time": b'{"from":"agent","msg":{}}',
    "a time that is no number": b'{"at":"1.5","from":"agent","msg":{}}',
    "a time that is true": b'{"at":true,"from":"agent","msg":{}}',
    "a time before the recording": b'{"at":-1,"from":"agent","msg":{}}',
    "a time that never comes": b'{"at":1e300,"from":"agent","msg":{}}',
    "no side": b'{"at":1.5,"msg":{}}',
    "a side that is neither": b'{"at":1.5,"from":"proxy","msg":{}}',
    "a side that is a list": b'{"at":1.5,"from":["agent"],"msg":{}}',
    "two payloads": b'{"at":1.5,"from":"agent","msg":{},"text":"a"}',
    "two payloads, the second spaced": b'{"at":1.5,"from":"agent","b64":"/w==", "msg" : {}}',
    "a message that is no JSON": b'{"at":1.5,"from":"agent","msg":{"a":NaN}}',
    "a message cut short": b'{"at":1.5,"from":"agent","msg":}',
    "a text that is no string": b'{"at":1.5,"from":"agent","text":{"a":1}}',
    "a text with half a pair of surrogates": b'{"at":1.5,"from":"agent","text":"\\ud800"}',
    "base64 that is no string": b'{"at":1.5,"from":"agent","b64":5}',
    "base64 with a wrong character": b'{"at":1.5,"from":"agent","b64":"//6A!g=="}',
    "base64 cut short": b'{"at":1.5,"from":"agent","b64":"//6ACg"}',
    "base64 that is not ASCII": b'{"at":1.5,"from":"agent","b64":"\xc3\xa9"}',
}


@pytest.mark.parametrize("line", DAMAGED.values(), ids=DAMAGED)
def test_damaged(line):
    with pytest.raises(DamagedCassette) as caught:
        decode_entry(line, 7, 0, "a.jsonl")
    assert caught.value.where == "a.jsonl:7"
    assert caught.value.what.startswith("damaged: line 7 is no entry (")
    assert caught.value.fix == "restore the file, or delete that line if you know what it was"
    assert "\n" not in str(caught.value)


WHY = {
    "no time": (b'{"from":"agent"}', "no time in `at`"),
    "no side": (b'{"at":1}', "no side in `from`"),
    "two payloads": (b'{"at":1,"from":"agent","msg":1,"text":""}', "two payloads"),
    "no string": (b'{"at":1,"from":"agent","text":5}', "`text` is no string"),
    "no object": (b"5", "not an object"),
    "a member misspelt": (b'{"at":1,"from":"agent","mgs":{}}', "neither a payload nor an event"),
}


@pytest.mark.parametrize(("line", "why"), WHY.values(), ids=WHY)
def test_damaged_says_why(line, why):
    with pytest.raises(DamagedCassette) as caught:
        decode_entry(line, 7, 0, "a.jsonl")
    assert caught.value.what == f"damaged: line 7 is no entry ({why})"


def entry_of(line):
    return decode_entry(line, 2, 0, "a.jsonl")


MEMBERS = {
    # line: at, side, conn, event, more, oversize, rules
    "a message": (
        b'{"at":0.000412,"from":"client","msg":{}}',
        (0.000412, Side.CLIENT, 1, None, False, False, []),
    ),
    "an integer as time": (
        b'{"at":2,"from":"agent","msg":{}}',
        (2, Side.AGENT, 1, None, False, False, []),
    ),
    "a connection": (
        b'{"at":2,"from":"agent","conn":3,"msg":{}}',
        (2, Side.AGENT, 3, None, False, False, []),
    ),
    "a connection that is no number": (
        b'{"at":2,"from":"agent","conn":"3","msg":{}}',
        (2, Side.AGENT, 1, None, False, False, []),
    ),
    "a fact": (
        b'{"at":2,"from":"agent","event":"exit","code":1}',
        (2, Side.AGENT, 1, "exit", False, False, []),
    ),
    "a fact that is no string": (
        b'{"at":2,"from":"agent","event":5,"text":"x"}',
        (2, Side.AGENT, 1, None, False, False, []),
    ),
    "F8 a piece": (
        b'{"at":2,"from":"agent","more":true,"notes":[{"rule":"stdio/oversize"}],"text":"x"}',
        (2, Side.AGENT, 1, None, True, True, ["stdio/oversize"]),
    ),
    "F8 the last piece": (
        b'{"at":2,"from":"agent","notes":[{"rule":"stdio/oversize"}],"text":"x\\n"}',
        (2, Side.AGENT, 1, None, False, True, ["stdio/oversize"]),
    ),
    "F8 a piece whose notes were taken out": (
        b'{"at":2,"from":"agent","more":true,"text":"x"}',
        (2, Side.AGENT, 1, None, True, True, []),
    ),
    "more that is not true": (
        b'{"at":2,"from":"agent","more":1,"text":"x"}',
        (2, Side.AGENT, 1, None, False, False, []),
    ),
    "two notes": (
        b'{"at":2,"from":"agent","notes":[{"rule":"a/b"},{"rule":"c/d"}],"msg":1}',
        (2, Side.AGENT, 1, None, False, False, ["a/b", "c/d"]),
    ),
    "notes of another shape": (
        b'{"at":2,"from":"agent","notes":[5,{}],"msg":1}',
        (2, Side.AGENT, 1, None, False, False, ["None"]),
    ),
    "notes that are no list": (
        b'{"at":2,"from":"agent","notes":"a/b","msg":1}',
        (2, Side.AGENT, 1, None, False, False, []),
    ),
}


@pytest.mark.parametrize(("line", "members"), MEMBERS.values(), ids=MEMBERS)
def test_members(line, members):
    entry = entry_of(line)
    assert (
        entry.at,
        entry.side,
        entry.conn,
        entry.event,
        entry.more,
        entry.oversize,
        entry.rules,
    ) == members


READINGS = {
    "a message": (b'{"at":1,"from":"agent","msg":{"a":1}}', b'{"a":1}'),
    "F4 CRLF": (b'{"at":1,"from":"agent","text":"{\\"a\\":1}\\r\\n"}', b'{"a":1}'),
    "F7 without a line end": (b'{"at":1,"from":"agent","text":"{\\"a\\":1}"}', b'{"a":1}'),
    "a byte order mark": (
        b'{"at":1,"from":"agent","text":"\xef\xbb\xbf{\\"a\\":1}\\n"}',
        b'{"a":1}',
    ),
    "spaces and tabs": (b'{"at":1,"from":"agent","text":" \\t{\\"a\\":1} \\n"}', b'{"a":1}'),
    "VT is no space of JSON": (b'{"at":1,"from":"agent","text":"\\u000b1\\n"}', b"\x0b1"),
    "base64": (b'{"at":1,"from":"agent","b64":"//6ACg=="}', b"\xff\xfe\x80"),
    "a fact": (b'{"at":1,"from":"agent","event":"end"}', b""),
}


@pytest.mark.parametrize(("line", "reading"), READINGS.values(), ids=READINGS)
def test_reading(line, reading):
    assert entry_of(line).reading() == reading


def test_unit_of_another_transport():
    assert entry_of(b'{"at":1,"from":"agent","msg":{}}').unit(b"") == b"{}"
    assert cassette.DELIMITER == {"stdio": b"\n"}


@pytest.mark.parametrize("payload", [b"5", b"null", b'["a"]'])
def test_a_text_is_a_string(payload):
    with pytest.raises(ValueError, match="`text` is no string"):
        unit_of("text", payload)


STEP = Transition("s", SessionState.IDLE, SessionState.RUNNING, Basis.REPORTED)
CHILD = Transition("t", SessionState.NONE, SessionState.IDLE, Basis.REPORTED, "end_turn")
NOTE = Note("jsonrpc/unknown-id", Severity.WARNING, {"id": 99})

FRONTS = {
    "nothing to say": ({}, b""),
    "a session": ({"annotations": Annotations("s")}, b',"session":"s"'),
    "a change of state": (
        {"annotations": Annotations("s", [STEP])},
        b',"session":"s","state":{"from":"idle","to":"running","basis":"reported"}',
    ),
    "two changes": (
        {"annotations": Annotations("s", [STEP, CHILD])},
        (
            b',"session":"s","state":[{"from":"idle","to":"running","basis":"reported"},'
            b'{"session":"t","from":"none","to":"idle","basis":"reported","reason":"end_turn"}]'
        ),
    ),
    "a change of another session": (
        {"annotations": Annotations(None, [STEP])},
        b',"state":{"session":"s","from":"idle","to":"running","basis":"reported"}',
    ),
    "notes": (
        {"annotations": Annotations(notes=[NOTE])},
        b',"notes":[{"rule":"jsonrpc/unknown-id","severity":"warning","id":99}]',
    ),
    "edge 11 a batch": (
        {"annotations": Annotations(["s", None], [STEP])},
        (
            b',"session":["s",null],'
            b'"state":{"session":"s","from":"idle","to":"running","basis":"reported"}'
        ),
    ),
    "a fact": ({"event": {"event": "exit", "code": 0}}, b',"event":"exit","code":0'),
    "more": ({"more": True}, b',"more":true'),
    "redacted": ({"redacted": True}, b',"redacted":true'),
    "all in order": (
        {
            "annotations": Annotations("s", [STEP], [NOTE]),
            "redacted": True,
            "more": True,
            "event": {"event": "stderr"},
        },
        (
            b',"event":"stderr","more":true,"redacted":true,"session":"s",'
            b'"state":{"from":"idle","to":"running","basis":"reported"},'
            b'"notes":[{"rule":"jsonrpc/unknown-id","severity":"warning","id":99}]'
        ),
    ),
    "J3 half a pair in a session": (
        {"annotations": Annotations("\ud800")},
        rb',"session":"\ud800"',
    ),
    "a payload key in a session": (
        {"annotations": Annotations(',"msg":')},
        rb',"session":",\"msg\":"',
    ),
}


@pytest.mark.parametrize(("what", "front"), FRONTS.values(), ids=FRONTS)
def test_encode_front(what, front):
    assert encode_front(**what) == front


PAYLOADS = {
    "plain": (b'{"a":1}', True, b',"msg":{"a":1}'),
    "noise": (b"Loading\n", False, b',"text":"Loading\\n"'),
    "F4 CRLF": (b'{"a":1}\r\n', False, rb',"text":"{\"a\":1}\r\n"'),
    "F6 line separators": ("a\u2028\n".encode(), False, ',"text":"a\u2028\\n"'.encode()),
    "C3 NUL": (b"\x00\n", False, rb',"text":"\u0000\n"'),
    "nothing": (b"", False, b',"text":""'),
    "N5 not UTF-8": (b"\xff\xfe\x80\n", False, b',"b64":"//6ACg=="'),
    "F3 half a character": (b"\xe2\x80", False, b',"b64":"4oA="'),
    "J3 a surrogate in bytes": (b"\xed\xa0\x80\n", False, b',"b64":"7aCACg=="'),
}


@pytest.mark.parametrize(("raw", "plain", "payload"), PAYLOADS.values(), ids=PAYLOADS)
def test_encode_payload(raw, plain, payload):
    assert encode_payload(raw, plain=plain) == payload


TIMES = {
    "zero": (0, b"0.000000"),
    "a microsecond": (1, b"0.000001"),
    "a millisecond": (412, b"0.000412"),
    "a second": (1_000_000, b"1.000000"),
    "a day": (86_400_000_001, b"86400.000001"),
}


@pytest.mark.parametrize(("micros", "text"), TIMES.values(), ids=TIMES)
def test_encode_at(micros, text):
    assert encode_at(micros) == text


CONTROLS = {
    "none": (b'{"a":"\x7f\xc2\x85 "}', False),
    "CR": (b"{}\r", True),
    "a tab": (b'{\t"a":1}', True),
    "NUL": (b"\x00", True),
    "ESC": (b"\x1b[0m", True),
    "US": (b"\x1f", True),
    "nothing": (b"", False),
}


@pytest.mark.parametrize(("line", "controls"), CONTROLS.values(), ids=CONTROLS)
def test_has_controls(line, controls):
    assert has_controls(line) is controls


NAMES = st.sampled_from(["msg", "text", "b64", "at", "from", "id", "x", ',"msg":', "\u2028", "é"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")])


@given(VALUES, NAMES, st.integers(0, 10**12))
def test_a_message_is_cut_out_as_it_was_spliced_in(value, session, micros):
    text = json.dumps(value, ensure_ascii=False).encode()
    front = encode_front(annotations=Annotations(session, [STEP], [NOTE]))
    line = b'{"at":' + encode_at(micros) + b',"from":"agent"' + front
    entry = entry_of(line + encode_payload(text, plain=True) + b"}")
    assert (entry.key, entry.payload, entry.front["session"]) == ("msg", text, session)


@given(st.binary(max_size=50) | st.text(max_size=50).map(str.encode))
def test_any_unit_survives(raw):
    line = b'{"at":1.000000,"from":"client"' + encode_payload(raw, plain=False) + b"}"
    assert entry_of(line).unit() == raw
    assert json.loads(line)["at"] == 1


@given(VALUES, NAMES, SEPARATORS, st.permutations(["at", "from", "session", "msg"]))
def test_a_message_is_found_wherever_it_is_saved_again(value, session, separators, order):
    members = {"at": 1, "from": "agent", "session": session, "msg": value}
    line = json.dumps({name: members[name] for name in order}, separators=separators).encode()
    entry = entry_of(line)
    assert json.loads(entry.payload) == value
    assert entry.front == {"at": 1, "from": "agent", "session": session}


@given(st.binary(max_size=50), SEPARATORS, st.permutations(["at", "from", "session", "b64"]))
def test_base64_is_found_wherever_it_is_saved_again(raw, separators, order):
    encoded = base64.b64encode(raw).decode()
    members = {"at": 1, "from": "agent", "session": ',"msg":', "b64": encoded}
    line = json.dumps({name: members[name] for name in order}, separators=separators).encode()
    assert entry_of(line).unit() == raw


LINE_BITS = st.sampled_from([
    b'{"at":1', b',"from":"agent"', b',"msg":', b',"text":', b',"b64":', b"{}", b'"a"', b"}", b",",
    b'"msg"', b":", b" ", b'"//6ACg=="', b"\xff", b"[", b"]", b'"at":1', b'"from":"client"', b"{",
])  # fmt: skip


@given(st.lists(LINE_BITS, max_size=12).map(b"".join) | st.binary(max_size=30))
def test_a_line_is_an_entry_or_damaged(line):
    try:
        entry = entry_of(line)
    except DamagedCassette:
        return
    assert entry.side in Side
    assert entry.key in (None, "msg", "text", "b64")
    assert isinstance(entry.unit(), bytes)


def test_an_entry_of_an_older_format_is_lifted_step_by_step(monkeypatch):
    monkeypatch.setitem(cassette.MIGRATIONS, -1, lambda front: front | {"a": 1})
    monkeypatch.setitem(cassette.MIGRATIONS, 0, lambda front: front | {"b": front["a"]})
    entry = cassette.decode_entry(b'{"at":1,"from":"agent","event":"end"}', 2, 0, "c")
    front = {"at": 1, "from": "agent", "event": "end", "a": 1, "b": 1}
    assert cassette.migrate(entry, -1).front == front
