"""A message of one transport on another, and on its own."""

import orjson
import pytest

from acptap.jsonrpc import Side
from acptap.replay.framing import Framing, frame, is_whole, text_of, with_text
from tests.replay_network.recorded import (
    AGREED,
    INITIALIZE,
    Recorded,
    call,
    heard,
    http_tape,
    result,
)
from tests.replay_network.tapes import SocketTape

TEXTS = {
    "a line": (b'{"a":1}\r\n', Framing.LINE, b'{"a":1}'),
    "a body with a mark": (b'\xef\xbb\xbf {"a":1} ', Framing.BODY, b'{"a":1}'),
    "a plain block": (b'data: {"a":1}\n\n', Framing.BLOCK, b'{"a":1}'),
    "a block with more": (b'id: 1\r\ndata:{"a":\r\ndata:1}\r\n\r\n', Framing.BLOCK, b'{"a":\n1}'),
    "a comment": (b":\n\n", Framing.BLOCK, b""),
    "a text message": (b'{"a":1}', Framing.TEXT, b'{"a":1}'),
    "a binary message": (b'{"a":1}', Framing.BINARY, b""),
}


@pytest.mark.parametrize(("unit", "framing", "text"), TEXTS.values(), ids=TEXTS)
def test_the_text_in_a_unit(unit, framing, text):
    assert text_of(unit, framing) == text


FRAMES = {
    "a line": (b'{\n"a":\r\n1}', Framing.LINE, b'{ "a":  1}\n'),
    "a block": (b'{"a":\n1}', Framing.BLOCK, b'data: {"a": 1}\n\n'),
    "a text message": (b'{"a":1}', Framing.TEXT, b'{"a":1}'),
}


@pytest.mark.parametrize(("text", "framing", "unit"), FRAMES.values(), ids=FRAMES)
def test_a_plain_unit(text, framing, unit):
    assert frame(text, framing) == unit


def test_another_text_in_a_unit():
    block = b'event: message\ndata:{"id":1}\nid: 7\n\n'
    new = with_text(block, Framing.BLOCK, b'{"id":1}', b'{"id":"x"}')
    assert new == b'event: message\ndata:{"id":"x"}\nid: 7\n\n'
    assert with_text(b' {"id":1}\n', Framing.TEXT, b'{"id":1}', b"{}") == b" {}\n"


WHOLE = {
    b"data: 1\n\n": True,
    b"data: 1\r\r": True,
    b"data: 1\r\n\r\n": True,
    b"data: 1\n\r\n": True,
    b"data: 1\r\n\n": True,
    b"\n": True,
    b"\r\n": True,
    b"data: 1\r\n": False,
    b"data: 1\n": False,
    b"data: 1": False,
    b"": False,
}


@pytest.mark.parametrize(("block", "whole"), WHOLE.items())
def test_a_block_is_whole(block, whole):
    assert is_whole(block) is whole


# What a player says of a recording of the network


BLOCKS = {
    # the block as it was recorded: as it is heard by a client whose request has the id "x"
    b'data: {"id":1,"result":{}}\n\n': b'data: {"id":"x","result":{}}\n\n',
    b'event: message\nid: a:1\ndata:{"id":1,"result":{}}\n\n': (
        b'event: message\nid: a:1\ndata:{"id":"x","result":{}}\n\n'
    ),
    b'data: {"id":1,\r\ndata: "result":{}}\r\nretry: 5\r\n\r\n': (
        b'data: {"id":"x",\r\ndata: "result":{}}\r\nretry: 5\r\n\r\n'
    ),
}


@pytest.mark.parametrize(("recorded", "live"), BLOCKS.items())
def test_a_block_leaves_with_its_fields_and_the_live_id(recorded, live):
    tape = http_tape()
    tape.post(call(1, "session/list"))
    tape.tell(recorded)
    player = Recorded(tape).player(Framing.BLOCK)
    assert heard(player, INITIALIZE, call("x", "session/list"))[1:] == [live]
    player = Recorded(tape).player(Framing.BLOCK)
    assert heard(player, INITIALIZE, call(1, "session/list"))[1:] == [recorded]


OTHERS = {
    Framing.LINE: b'{"id":"x", "result":{}}\n',
    Framing.TEXT: b'{"id":"x", "result":{}}',
}


@pytest.mark.parametrize(("framing", "unit"), OTHERS.items())
def test_a_block_elsewhere_is_its_text(framing, unit):
    tape = http_tape()
    tape.post(call(1, "session/list"))
    tape.tell(b'data: {"id":1,\ndata: "result":{}}\nretry: 5\n\n')
    player = Recorded(tape).player(framing)
    assert heard(player, INITIALIZE, call("x", "session/list"))[1:] == [unit]


def test_what_is_no_message_is_said_on_its_own_kind_of_transport_alone():
    tape = http_tape()
    tape.tell(b":\n\n")
    tape.tell(b"data: keep\n\n", together=True)
    tape.post(call(1, "session/list"))
    tape.tell(result(1))
    tape.tell(b": ping\n\n", together=True)
    tape.tell(b'data: {"tor', "s1")
    recorded, said = Recorded(tape), (INITIALIZE, call(1, "session/list"))
    player = recorded.player(Framing.BLOCK)
    assert heard(player, *said)[1:3] == [b":\n\n", b"data: keep\n\n"]
    assert player.finished
    assert player.report().noted == ["left out over HTTP: an event without its end"]
    player = recorded.player(Framing.TEXT)
    assert heard(player, *said) == [AGREED.encode(), result(1).encode()]
    assert player.finished
    assert player.report().noted == [
        "left out over WebSocket: no message, recorded over HTTP, 4 times"
    ]


def test_a_read_ends_where_what_is_left_out_ended_it():
    tape = http_tape()
    tape.post(call(1, "session/list"))
    tape.tell(result(1))
    tape.tell(b": ping\n\n", together=True)
    tape.post(call(2, "session/list"))
    tape.tell(result(2))
    player = Recorded(tape).player(Framing.LINE)
    player.start()
    for text in (INITIALIZE, call(1, "session/list"), call(2, "session/list")):
        [release] = player.receive(text.encode())
        assert release.ends_read


def test_an_unterminated_message_gets_its_end():
    tape = http_tape()
    tape.post(call(1, "session/list"))
    tape.tell(b'event: x\ndata: {"id":1,"result":{}}\n')
    player = Recorded(tape).player(Framing.BLOCK)
    said = heard(player, INITIALIZE, call(1, "session/list"))
    assert said[1:] == [b'data: {"id":1,"result":{}}\n\n']


def test_messages_of_a_websocket():
    tape = SocketTape().connect()
    tape.say([("client", INITIALIZE), ("agent", AGREED), ("client", call(1, "session/list"))])
    tape.say([("agent", b'{"id":1,\n"result":{}} '), ("agent", b"\xff"), ("agent", b"hi")])
    tape.fact("agent", "ping", text="x")
    said = INITIALIZE, call(1, "session/list")
    player = Recorded(tape).player(Framing.TEXT)
    assert heard(player, *said)[1:] == [b'{"id":1,\n"result":{}} ', b"\xff", b"hi"]
    player = Recorded(tape).player(Framing.BLOCK)
    assert heard(player, *said)[1:] == [b'data: {"id":1, "result":{}}\n\n']
    assert player.report().noted == [
        "left out over HTTP: no message, recorded over WebSocket, 2 times"
    ]


def test_a_binary_message_is_no_message_though_it_reads_like_one():
    tape = SocketTape().connect()
    tape.say([("client", INITIALIZE), ("agent", AGREED)])
    number = tape.lines[-1]
    tape.lines.append(number.replace(f'"msg":{AGREED}', '"b64":"e30="'))
    tape.lines.append(number.replace(f'"msg":{AGREED}', '"frame":"text","more":true,"b64":"eyJt"'))
    tape.lines.append(number.replace(f'"msg":{AGREED}', '"frame":"text","b64":"ZXRob2QiOiJhIn0="'))
    [script] = Recorded(tape).scripts
    steps = [step for lane in script.lanes for step in lane.steps]
    assert [(step.framing, step.method) for step in steps] == [
        (Framing.TEXT, "initialize"), (Framing.TEXT, "initialize"), (Framing.BINARY, ""),
        (Framing.TEXT, "a"),
    ]  # fmt: skip


def test_pieces_of_two_streams_may_lie_between_each_other():
    tape = http_tape()
    one, two = tape.stream("s1"), tape.stream("s2")
    for number, text, more in (
        (one, 'data: {"method":', True), (two, 'data: {"method":', True),
        (one, '"a"}\n\n', False), (two, '"b"}\n\n', False),
    ):  # fmt: skip
        payload = ',"text":' + orjson.dumps(text).decode()
        told = {"more": True} if more else {}
        tape.add("agent", payload, exchange=number, stream="session", **told)
    [script] = Recorded(tape).scripts
    said = [step for lane in script.lanes for step in lane.steps if step.side is Side.AGENT]
    assert [step.method for step in said] == ["initialize", "a", "b"]
