"""A planted secret for each place of AG-UI traffic, and that ids and words of the protocol stay."""

import base64
import json

import pytest

from acptap.agui import proto
from acptap.agui.secrets import slot_of
from acptap.app.record.redacting import RedactOptions, redact_command
from acptap.cassette import Header
from acptap.redact import Redactor
from acptap.redact.frames import clear_frame
from acptap.slots import Slot
from acptap.storage import Recording
from tests.tap.test_network import recheck
from tests.tap.test_runs import ASKED, BINARY, FINISHED, OPENED, STARTED, field, proto_frame
from tests.tap.wires import LAST, STREAM, Recorded, chunk, event, post, response

PLAIN = "FAKE-row-7f3a9b1c2d"
"""A secret by its place."""
KEY = "sk-FAKE-4f9aBcD012e"
"""A secret by its looks."""
REQUEST = json.loads(ASKED)


def recorded(request=ASKED, *events, redactor=None):
    tape = Recorded(redactor or Redactor())
    line = tape.line()
    line.client(post(request))
    line.agent(STREAM + b"".join(event(text) for text in events) + LAST)
    line.close()
    return tape


def text_of(tape):
    return b"".join(tape.lines).decode()


def holding(**members):
    return json.dumps(REQUEST | members)


def said(**members):
    return json.dumps({"type": "CUSTOM", "name": "n", "value": None} | members)


SNAPSHOT = {"type": "STATE_SNAPSHOT"}
ROWS = {
    "forwardedProps": [holding(forwardedProps={"apiKey": PLAIN, "model": "m"})],
    "forwardedProps, headers": [holding(forwardedProps={"headers": {"X": PLAIN}})],
    "forwardedProps, a list of tokens": [holding(forwardedProps={"a": {"tokens": [PLAIN]}})],
    "context": [holding(context=[{"description": "The user's API key", "value": PLAIN}])],
    "state": [holding(state={"user": {"password": PLAIN}})],
    "a snapshot of the state": [ASKED, json.dumps(SNAPSHOT | {"snapshot": {"secret": PLAIN}})],
    "a patch of the state": [ASKED, json.dumps({"type": "STATE_DELTA", "delta": [
        {"op": "add", "path": "/auth_token", "value": PLAIN}]})],
    "a key in a message": [
        holding(messages=[{"id": "u", "role": "user", "content": f"use {KEY}"}])],
    "a link with a signature": [holding(messages=[{"id": "u", "role": "user", "content": [
        {"type": "image", "source": {"type": "url", "value": f"https://h/i?signature={PLAIN}"}}]}])],
    "user info in a link": [ASKED, said(value={"url": f"https://u:{PLAIN}@h/"})],
    "arguments of a call": [holding(messages=[{"id": "a", "role": "assistant", "toolCalls": [
        {"id": "c", "function": {"name": "f", "arguments": json.dumps({"password": PLAIN})}}]}])],
    "arguments in an event": [
        ASKED, '{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}',
        json.dumps({"type": "TOOL_CALL_ARGS", "toolCallId": "c",
                    "delta": json.dumps({"password": PLAIN})})],
    "a tool's result": [ASKED, json.dumps({"type": "TOOL_CALL_RESULT", "messageId": "m",
                                           "toolCallId": "c", "content": f"key {KEY}"})],
    "an encrypted value": [ASKED, json.dumps(
        {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "u",
         "encryptedValue": PLAIN})],
    "an encrypted value that comes back": [holding(messages=[
        {"id": "r", "role": "reasoning", "content": "", "encryptedValue": PLAIN}])],
    "rawEvent": [ASKED, said(rawEvent={"metadata": {"api_key": PLAIN}})],
    "RAW": [ASKED, json.dumps({"type": "RAW", "event": {"config": {"token": PLAIN}}})],
    "an error": [ASKED, json.dumps({"type": "RUN_ERROR", "message": f"401 for {KEY}"})],
    "an interrupt": [ASKED, FINISHED[:-1] + ',"outcome":{"type":"interrupt","interrupts":'
                     f'[{{"id":"i","reason":"r","metadata":{{"token":"{PLAIN}"}}}}]}}}}'],
    "an answer": [holding(resume=[{"interruptId": "i", "status": "resolved",
                                   "payload": {"password": PLAIN}}])],
    "the echo of a request": [ASKED, STARTED[:-1] + ',"input":{"threadId":"t","runId":"r",'
                              f'"messages":[],"forwardedProps":{{"apiKey":"{PLAIN}"}}}}}}'],
    "in another place later": [holding(forwardedProps={"apiKey": PLAIN}), said(value=f"a {PLAIN}")],
    "an array that is no event": [ASKED, f'[{{"token":"{PLAIN}"}}]'],
}  # fmt: skip


@pytest.mark.parametrize("texts", ROWS.values(), ids=ROWS)
def test_row(texts):
    request, *events = texts
    tape = recorded(request, STARTED, *events)
    assert PLAIN not in text_of(tape)
    assert KEY not in text_of(tape)
    recheck(tape)


@pytest.mark.parametrize("texts", ROWS.values(), ids=ROWS)
def test_row_in_a_cassette_that_is_there(texts, tmp_path):
    """`acptap redact` finds what the tap would have found, and then nothing more."""
    request, *events = texts
    tape = Recorded()
    line = tape.line()
    line.client(post(request))
    line.agent(STREAM + b"".join(event(text) for text in (STARTED, *events)) + LAST)
    path = written(tmp_path, tape)
    assert redact_command([path], RedactOptions(), print) == 0
    assert PLAIN not in path.read_text()
    assert KEY not in path.read_text()
    assert redact_command([path], RedactOptions(check=True), print) == 0


def written(folder, tape, redaction=""):
    path = folder / "x.jsonl"
    header = Header("auto", "http", "2026-11-30T16:00:00.000000Z", "http://h", "acptap test")
    header.redaction = redaction
    path.write_bytes(header.encode() + b"".join(tape.tape))
    return path


def test_30_a_refusal_that_quotes_the_request():
    tape = Recorded(Redactor())
    line = tape.line()
    line.client(post(ASKED))
    echo = json.dumps([{"input": {"forwardedProps": {"apiKey": PLAIN}}}]).encode()
    line.agent(response(422, echo, Content_Type="application/json"))
    assert PLAIN not in text_of(tape)


def test_what_stays():
    """Words that are called like secrets, and ids that look like them."""
    request = holding(
        tools=[{"name": "get_token", "description": "Gets a token", "parameters": {
            "properties": {"token": {"type": "string"}}, "required": ["token"]}}],
        forwardedProps={"maxTokens": 5},
    )  # fmt: skip
    events = [
        STARTED,
        '{"type":"TOOL_CALL_START","toolCallId":"sk-FAKE-4f9aBcD012e","toolCallName":"token"}',
        '{"type":"TOOL_CALL_END","toolCallId":"sk-FAKE-4f9aBcD012e"}',
        FINISHED[:-1] + ',"usage":[{"inputTokens":5}]}',
    ]
    assert recorded(request, *events).lines == plain(request, *events).lines


def plain(request, *events):
    tape = Recorded()
    line = tape.line()
    line.client(post(request))
    line.agent(STREAM + b"".join(event(text) for text in events) + LAST)
    line.close()
    return tape


def test_more_patterns():
    tape = recorded(ASKED, STARTED, said(value="number 4711-x"), redactor=Redactor(["4711-."]))
    assert "4711" not in text_of(tape)


SLOTS = {
    ("forwardedProps", "env", "A"): Slot.WHOLE,
    ("env", "A"): Slot.NAMED,
    ("input", "forwardedProps", "x", "headers", "A"): Slot.WHOLE,
    ("messages", "content", "source", "value"): Slot.URL,
    ("threadId",): None,
    ("state", "messages", "id"): Slot.NAMED,
}


@pytest.mark.parametrize(("path", "slot"), SLOTS.items(), ids=map(".".join, SLOTS))
def test_slot(path, slot):
    assert slot_of(path) is slot


# Split over events


def content(id_, delta, type_="TEXT_MESSAGE_CONTENT", member="messageId"):
    return json.dumps({"type": type_, member: id_, "delta": delta}, separators=(",", ":"))


def opened(id_):
    return OPENED.replace('"m"', f'"{id_}"')


def chunked(delta, **members):
    return json.dumps({"type": "TEXT_MESSAGE_CHUNK", **members, "delta": delta})


SPLIT = {
    "69 text": [opened("m"), content("m", "sk-FAKE-"), content("m", "4f9aBcD012e is it")],
    "text of two messages at once": [
        opened("m"), opened("n"), content("m", "sk-FAKE-"), content("n", "x"),
        content("m", "4f9aBcD012e is it")],
    "arguments": [
        '{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}',
        content("c", '{"a":"sk-FAKE-', "TOOL_CALL_ARGS", "toolCallId"),
        content("c", '4f9aBcD012e"}', "TOOL_CALL_ARGS", "toolCallId")],
    "chunks without ids": [
        chunked("", messageId="m"), chunked("sk-FAKE-"), chunked("4f9aBcD012e is it")],
    "chunks of another message": [
        chunked("", messageId="m"), chunked("sk-FAKE-"), chunked("", messageId="n"),
        chunked("x"), chunked("", messageId="m"), chunked("4f9aBcD012e is it")],
    "reasoning": [
        '{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning"}',
        content("r", "sk-FAKE-", "REASONING_MESSAGE_CONTENT"),
        content("r", "4f9aBcD012e is it", "REASONING_MESSAGE_CONTENT")],
    "a chunk without a delta": [
        chunked("sk-FAKE-", messageId="m"), '{"type":"TEXT_MESSAGE_CHUNK","messageId":"m"}',
        chunked("4f9aBcD012e", messageId="m")],
}  # fmt: skip


@pytest.mark.parametrize("events", SPLIT.values(), ids=SPLIT)
def test_a_secret_in_pieces(events, tmp_path):
    path = written(tmp_path, recorded(ASKED, STARTED, *events))
    assert "4f9aBcD012e" in path.read_text()
    assert redact_command([path], RedactOptions(), print) == 0
    text = path.read_text()
    assert "4f9aBcD012e" not in text
    assert "[redacted:1]" in text
    with Recording(path) as recording:
        assert len(list(recording)) == len(events) + 5


def test_texts_that_hold_nothing_stay(tmp_path):
    events = [
        opened("m"), *[content("m", f"word {n} ") for n in range(50)],
        chunked("", messageId="n"), *[chunked("x ") for _ in range(5)],
    ]  # fmt: skip
    path = written(tmp_path, recorded(ASKED, STARTED, *events), redaction="done")
    before = path.read_bytes()
    assert redact_command([path], RedactOptions(), print) == 0
    assert path.read_bytes() == before


# Protobuf

LEAK = proto_frame(2, 1, f2=KEY.encode(), f3=f"it is {KEY}".encode())
MEMBER = field(1, b"token") + field(2, field(3, PLAIN.encode()))
NAMED = proto_frame(11, 10, f2=b"n", f3=field(5, field(1, MEMBER)))
CLEARED = {"type": "CUSTOM", "name": "n", "value": {"token": "[redacted:1]"}}


def test_a_frame_without_secrets_stays():
    frame = proto_frame(2, 1, f2=b"m", f3=b"hi")
    assert clear_frame(Redactor(), frame) is frame


def test_a_frame_is_cleared():
    assert proto.decode(clear_frame(Redactor(), NAMED)) == CLEARED


def test_a_long_placeholder_and_ids_that_look_like_secrets():
    long = proto_frame(2, 1, f2=KEY.encode(), f3=f"{KEY} ".encode() * 5)
    clear = clear_frame(Redactor(first=10**9), long)
    assert len(clear) > len(long) > 127
    assert proto.decode(clear)["messageId"] == KEY
    assert proto.decode(clear)["delta"] == "[redacted:1000000000] " * 5


def test_a_list_in_a_frame():
    items = field(1, field(3, b"x")) + field(1, field(3, KEY.encode()))
    frame = proto_frame(11, 10, f2=b"n", f3=field(6, items))
    assert proto.decode(clear_frame(Redactor(), frame))["value"] == ["x", "[redacted:1]"]


def test_what_the_schema_does_not_know_stays():
    later = field(15, b"later")
    frame = proto_frame(2, 1, f2=b"m", f3=KEY.encode(), f15=b"later")
    clear = clear_frame(Redactor(), frame)
    assert later in clear
    assert proto.decode(clear)["delta"] == "[redacted:1]"


def test_what_is_no_frame_is_cleared_as_text():
    assert KEY.encode() not in clear_frame(Redactor(), b"\0\0\0\1" + KEY.encode())


def test_frames_on_the_tape(tmp_path):
    for redactor in (Redactor(), None):
        tape = Recorded(redactor)
        line = tape.line()
        line.client(post(ASKED))
        started = proto_frame(12, 11, f2=b"t", f3=b"r")
        broken = b"\0\0\0\x7f" + KEY.encode()
        line.agent(BINARY + chunk(started) + chunk(NAMED) + chunk(broken) + LAST)
        path = written(tmp_path, tape)
        assert redact_command([path], RedactOptions(), print) == 0
        data = [base64.b64decode(json.loads(text)["b64"]) for text in path.read_text().splitlines()
                if '"frame"' in text]  # fmt: skip
        assert data[0] == started
        assert proto.decode(data[1]) == CLEARED
        assert KEY.encode() not in data[2]
        if redactor is not None:
            recheck(tape)


NAMES = ["apiKey", "API-Key", "x_token", "Secret", "passwd", "password", "Passphrase", "cookies",
         "Authorization", "bearer", "credentials"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_no_telling_name_is_overlooked(name):
    assert PLAIN not in text_of(recorded(ASKED, STARTED, said(value={name: PLAIN})))
