"""One look at a read spares a look at each of its units; what is written doesn't tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.redact import Redactor
from acptap.tap.bodies import Room, Whole
from acptap.wire import sse
from acptap.wire.lines import Piece
from tests.tap.sockets import agree, frame
from tests.tap.wires import STREAM, Recorded, chunk, initialized, post, request, response, rpc

SECRET = "ghp_FAKEFAKEFAKEFAKEFAKE"
UPDATE = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}'
CHUNK = UPDATE % ('{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}')
TEXTS = [
    CHUNK % "hi",
    CHUNK % "there",
    CHUNK % SECRET,
    CHUNK % "\\u00e9 \\n",
    rpc(3, "session/request_permission", params={"sessionId": "s", "options": []}),
    rpc(7, result={"_meta": {"token": "FAKE-token"}}),
    rpc(8, error={"code": 1, "message": "no", "data": {"password": "FAKE-word"}}),
    '{"type":"CUSTOM","value":"plain"}',
    '{"params":{"headers":{"x":"FAKE-header"}}}',
    f'{{"type":"CUSTOM","value":"{SECRET}"}}',
    '{"_meta":{"apiKey":"FAKE-key-of-meta"}}',
    "[1]",
    " {}",
    "{}\x01",
    "not JSON",
    "",
]
BLOCKS = [
    *(f"data: {text}\n\n" for text in TEXTS),
    ": comment\n\n",
    "event: message\ndata: {}\n\n",
    "data: {\ndata: }\n\n",
    "data: {}\r\n\r\n",
    "\n",
]
MESSAGES = [
    *(frame(text) for text in TEXTS),
    frame("{\n}"),
    frame(b'"\xff"'),
    frame(b"\x00\xff", 2),
    frame("", 9),
]


def over_http(reads):
    recorded = Recorded(Redactor())
    line, stream = recorded.line(), recorded.line()
    initialized(line)
    line.client(post(rpc(1, "session/new", params={"cwd": "/w"}), Acp_Connection_Id="c1"))
    line.agent(response(200, rpc(1, result={"sessionId": "s"}).encode()))
    stream.client(request("GET", Acp_Connection_Id="c1", Acp_Session_Id="s"))
    stream.agent(STREAM)
    for read in reads:
        stream.agent(b"".join(chunk(block.encode()) for block in read))
    return recorded.brief


def over_websocket(reads):
    recorded = Recorded(Redactor())
    line = recorded.line()
    line.client(request("GET", Upgrade="websocket", Connection="Upgrade"))
    line.agent(agree())
    for read in reads:
        line.agent(b"".join(read))
    return recorded.brief


WAYS = {"http": (over_http, BLOCKS), "websocket": (over_websocket, MESSAGES)}


@pytest.mark.parametrize(("record", "units"), WAYS.values(), ids=WAYS)
@given(data=st.data())
def test_units_of_one_read_are_written_as_if_each_had_its_own(record, units, data):
    said = data.draw(st.lists(st.sampled_from(units), min_size=1, max_size=12))
    assert record([said]) == record([unit] for unit in said)


@given(st.lists(st.sampled_from([*BLOCKS, "data: a\nb\n\n", "data: a\n\ndata: b\n\n", "data: a"])))
def test_blocks_are_plain_together_if_each_is(said):
    splitter = sse.BlockSplitter()
    blocks = [unit for unit in splitter.feed("".join(said).encode()) if isinstance(unit, bytes)]
    texts = [sse.plain_json(block) for block in blocks]
    assert sse.plain_texts(blocks) == (None if None in texts or not texts else texts)


def test_bodies_share_room_and_short_ones_always_have_some(monkeypatch):
    monkeypatch.setattr("acptap.tap.bodies._ROOM", 300)
    monkeypatch.setattr("acptap.tap.bodies._SHORT", 100)
    room = Room()
    first, second, short = Whole(room), Whole(room), Whole(room)
    assert first.feed(b"x" * 200) == []
    assert short.feed(b"z" * 50) == []
    assert second.feed(b"y" * 60) == second.feed(b"y") == []
    assert second.feed(b"y" * 60) == [Piece(b"y" * 121, more=True)]
    assert (room.taken, room.is_short) == (250, False)
    assert second.feed(b"y") == [Piece(b"y", more=True)]
    assert second.end() == [Piece(b"", more=False)]
    assert first.feed(b"x" * 50) == []
    assert short.end() == [b"z" * 50]
    assert first.end() == [b"x" * 250]
    assert room.taken == 0
