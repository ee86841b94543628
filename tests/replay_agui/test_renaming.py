"""Live names in recorded events: only they change, in every form that events come in."""

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.agui import retexting
from acptap.agui.proto import decode
from acptap.replay.agui import dates, frames
from acptap.replay.agui.renaming import Names, Renaming
from acptap.wire import protobuf
from tests.replay_agui.tapes import block, dump, finished, interrupted, started

NAMES = Names(
    threads={"t": "T"}, runs={"r": "R"}, parents={"p": "P"}, messages={"u1": "U", "a0": "a0"},
)  # fmt: skip
AGAIN = Names(messages={"u1": "u1", "a0": "A0"}, suffix="~2")
LATER = Names(later=timedelta(days=1))


def event(type_, **members):
    return {"type": type_} | members


USERS = [{"id": "u1", "role": "user"}, {"id": "a9", "role": "assistant"}]

RENAMED = {
    "started": (NAMES, started("t", "r"), started("T", "R")),
    "finished": (NAMES, finished("t", "r"), finished("T", "R")),
    "another run in the same body": (NAMES, started("t", "q"), started("T", "q")),
    "the server's own thread": (NAMES, started("s", "r"), started("s", "R")),
    "the run it branches off": (
        NAMES, started("t", "r", parentRunId="p"), started("T", "R", parentRunId="P"),
    ),
    "the request in it": (
        NAMES,
        started("t", "r", input={"threadId": "t", "runId": "r", "parentRunId": "p",
                                 "messages": USERS, "state": {"id": "u1"}}),
        started("T", "R", input={"threadId": "T", "runId": "R", "parentRunId": "P",
                                 "messages": [USERS[0] | {"id": "U"}, USERS[1]],
                                 "state": {"id": "u1"}}),
    ),
    "messages": (
        NAMES, event("MESSAGES_SNAPSHOT", messages=USERS),
        event("MESSAGES_SNAPSHOT", messages=[USERS[0] | {"id": "U"}, USERS[1]]),
    ),
    "a message": (
        NAMES, event("TEXT_MESSAGE_START", messageId="u1"),
        event("TEXT_MESSAGE_START", messageId="U"),
    ),
    "a state with messages in it": (
        NAMES, event("STATE_SNAPSHOT", snapshot={"messages": [{"id": "u1", "u1": "say u1"}]}),
        event("STATE_SNAPSHOT", snapshot={"messages": [{"id": "U", "u1": "say u1"}]}),
    ),
    "a state that is an id": (
        NAMES, event("STATE_SNAPSHOT", snapshot="u1"), event("STATE_SNAPSHOT", snapshot="U"),
    ),
    "a patch": (
        NAMES,
        event("STATE_DELTA", delta=[{"op": "add", "path": "/u1", "value": ["u1", {"x": "u1"}]},
                                    {"op": "test", "path": "u1", "value": "u1"}]),
        event("STATE_DELTA", delta=[{"op": "add", "path": "/u1", "value": ["U", {"x": "U"}]},
                                    {"op": "test", "path": "u1", "value": "U"}]),
    ),
    "the server's ids": (
        AGAIN, event("TOOL_CALL_START", toolCallId="c1", parentMessageId="a1", toolCallName="c1"),
        event("TOOL_CALL_START", toolCallId="c1~2", parentMessageId="a1~2", toolCallName="c1"),
    ),
    "the client's ids beside them": (
        AGAIN, event("MESSAGES_SNAPSHOT", messages=[
            {"id": "u1"}, {"id": "a0", "toolCalls": [{"id": "c1"}]},
            {"id": "t1", "toolCallId": "c1", "subagentRunId": "s"}]),
        event("MESSAGES_SNAPSHOT", messages=[
            {"id": "u1"}, {"id": "A0", "toolCalls": [{"id": "c1~2"}]},
            {"id": "t1~2", "toolCallId": "c1~2", "subagentRunId": "s~2"}]),
    ),
    "interrupts": (
        AGAIN, interrupted("i1", "i2", toolCallId="c1", subagentRunId="s"),
        interrupted("i1~2", "i2~2", toolCallId="c1~2", subagentRunId="s~2"),
    ),
    "calls that wait": (
        AGAIN, finished(outcome={"type": "success", "pendingToolCallIds": ["c1"]}),
        finished(outcome={"type": "success", "pendingToolCallIds": ["c1~2"]}),
    ),
    "subagents": (
        AGAIN,
        event("SUBAGENT_FINISHED", subagentRunId="s",
              outcome={"type": "suspended", "interruptIds": ["i"]}),
        event("SUBAGENT_FINISHED", subagentRunId="s~2",
              outcome={"type": "suspended", "interruptIds": ["i~2"]}),
    ),
    "an empty id": (AGAIN, event("X", messageId=""), event("X", messageId="")),
    "expiry": (
        LATER, interrupted("i", expiresAt="2026-01-01T00:00:00Z"),
        interrupted("i", expiresAt="2026-01-02T00:00:00Z"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("names", "recorded", "live"), RENAMED.values(), ids=RENAMED)
def test_renamed(names, recorded, live):
    assert Renaming(names).block(block(recorded)) == block(live)


def data(text):
    return f"data: {text}\n\n".encode()


KEPT = {
    "raw events": data('{"type":"RAW","event":{"threadId":"t","messages":[{"id":"u1"}]}}'),
    "raw events beside": data('{"type":"CUSTOM","name":"t","value":"u1","rawEvent":{"id":"u1"}}'),
    "metadata": data('{"type":"CUSTOM","name":"x","value":1,"metadata":{"threadId":"t"}}'),
    "ids of other types": data('{"type":"CUSTOM","threadId":"t","runId":"r"}'),
    "a name that looks like a path": data('{"type":"RUN_STARTED","input/threadId":"t"}'),
    "ids that are no text": data('{"type":"RUN_STARTED","threadId":["t"],"runId":{"r":"t"}}'),
    "no event": data('["t"]'),
    "no type": data('{"threadId":"t"}'),
    "a type that is no text": data('{"type":1,"threadId":"t"}'),
    "no json": data("[DONE] t"),
    "json that is cut off": b'data: {"type":"RUN_STARTED","threadId":"t',
    "a comment": b": t r u1\n\n",
    "nothing": b"",
}


@pytest.mark.parametrize("kept", KEPT.values(), ids=KEPT)
def test_kept(kept):
    assert Renaming(NAMES).block(kept) == kept


ODD = {
    "spacing and order": (
        b'id: 7\ndata:{ "runId" : "r" ,"n":1.0e5, "type":"RUN_STARTED","threadId":"t"}\r\n\r\n',
        b'id: 7\ndata:{ "runId" : "R" ,"n":1.0e5, "type":"RUN_STARTED","threadId":"T"}\r\n\r\n',
    ),
    "several lines": (
        b'data: {"type":"RUN_STARTED",\ndata: "threadId":"t",\ndata: "runId":"r"}\n\n',
        b'data: {"type":"RUN_STARTED",\ndata: "threadId":"T",\ndata: "runId":"R"}\n\n',
    ),
    "members that are written twice": (
        data('{"type":"RUN_STARTED","threadId":"t","threadId":"s","threadId":"t"}'),
        data('{"type":"RUN_STARTED","threadId":"T","threadId":"s","threadId":"T"}'),
    ),
    "a byte order mark": (
        b'\xef\xbb\xbfdata: {"type":"RUN_STARTED","threadId":"t"}\n\n',
        b'\xef\xbb\xbfdata: {"type":"RUN_STARTED","threadId":"T"}\n\n',
    ),
    "no empty line": (
        b'data: {"type":"RUN_STARTED","threadId":"t"}',
        b'data: {"type":"RUN_STARTED","threadId":"T"}',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("recorded", "live"), ODD.values(), ids=ODD)
def test_what_stands_around_stays(recorded, live):
    assert Renaming(NAMES).block(recorded) == live


def test_ids_are_spelled_as_json():
    names = Names(threads={"a/b": 'x"\ud83d'})
    for spelled in ("a/b", "a\\/b", "\\u0061/b"):
        recorded = data(f'{{"type":"RUN_STARTED","threadId":"{spelled}"}}')
        live = data('{"type":"RUN_STARTED","threadId":"x\\"\\ud83d"}')
        assert Renaming(names).block(recorded) == live


def test_nothing_to_replace_is_not_even_read():
    same = Names(threads={"t": "t"}, runs={"r": "r"}, messages={"u": "u"})
    assert same.needles == ()
    assert Renaming(same).block(block(started())) == block(started())


# Frames


def known():
    path = Path(__file__).parents[1] / "agui" / "frames.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]
    return {row["name"]: base64.b64decode(row["frame"]) for row in rows}


FRAMES = known()


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value if isinstance(value, list) else value.values():
            yield from texts(item)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_frame_is_renamed_as_its_event_is(frame):
    ids = {text: f"{text} {'é' * 200}" for text in texts(decode(frame)) if text}
    names = Names(ids, ids, ids, ids, "~2", timedelta(days=400))
    renaming = Renaming(names)
    live = renaming.frame(frame)
    spelled = renaming.block(data(dump(decode(frame))))
    assert decode(live) == json.loads(spelled.removeprefix(b"data: "))
    assert Renaming(Names()).frame(frame) == frame


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_frame_without_these_ids_stays(frame):
    ids = {"nowhere": "x"}
    assert frames.renamed(frame, Names(ids, ids, ids, ids).new) == frame
    assert Renaming(Names(ids, ids, ids, ids)).frame(frame) == frame


def framed(message):
    return len(message).to_bytes(4, "big") + message


BROKEN = {
    "a length that is wrong": b"\0\0\0\5t",
    "no message": framed(b"t"),
    "no text": framed(b"\x62\x03\x12\x01\xff"),
    "a later event": framed(b"\xfa\x07\x03\x12\x01t"),
    "a field nobody knows": framed(b"\x62\x05\xaa\x06\x01t\x08"),
    "a number": framed(b"\x08\x01"),
    "a number where a text belongs": framed(b"\x62\x04\x10\x74\x18\x72"),
}


@pytest.mark.parametrize("frame", BROKEN.values(), ids=BROKEN)
def test_broken_frames_stay(frame):
    assert Renaming(Names(threads={"t": "T", "": "E"})).frame(frame) == frame


def test_frames_that_are_nested_too_deeply_stay():
    value = b"\x1a\x01t"
    for _ in range(2000):
        value = b"\x0a" + varint(len(value)) + value
        value = b"\x32" + varint(len(value)) + value
    message = b"\x12" + varint(len(value)) + value
    frame = framed(b"\x3a" + varint(len(message)) + message)
    assert Renaming(Names(messages={"t": "T"})).frame(frame) == frame


def varint(number):
    return retexting._varint(number)


@given(st.integers(0, 2**40))
def test_lengths(number):
    message = varint(number << 3 & 0xFFFFFFF8 or 8) + varint(number)
    [field] = protobuf.fields_of(message)
    assert field.varint == number


# Instants

SHIFTED = {
    "2026-01-01T00:00:00Z": "2026-01-02T01:00:01Z",
    "2026-01-01T00:00:00": "2026-01-02T01:00:01",
    "2026-01-01 00:00:00+02:00": "2026-01-02 01:00:01+02:00",
    "2026-01-01T00:00:00.5Z": "2026-01-02T01:00:02.0Z",
    "2026-01-01T00:00:00.123-0500": "2026-01-02T01:00:01.623-0500",
    "2026-01-01T00:00:00.123456789Z": "2026-01-02T01:00:01.623456000Z",
    "2026-02-31T00:00:00Z": "2026-02-31T00:00:00Z",
    "9999-12-31T23:59:59Z": "9999-12-31T23:59:59Z",
    "tomorrow": "tomorrow",
    "20260101T000000Z": "20260101T000000Z",
    "": "",
}


@pytest.mark.parametrize(("recorded", "live"), SHIFTED.items(), ids=SHIFTED)
def test_instants(recorded, live):
    assert dates.shifted(recorded, timedelta(days=1, hours=1, seconds=1.5)) == live


def test_instants_are_read():
    assert dates.read("2026-01-01T00:00:00") == datetime(2026, 1, 1, tzinfo=UTC)
    assert dates.read(None) is None
