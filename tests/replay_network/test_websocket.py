"""Cassettes over WebSocket."""

import aiohttp
import pytest

from tests.plugin import tapes as stdio
from tests.replay_network.recorded import AGREED, INITIALIZE, call, result
from tests.replay_network.tapes import HttpTape, SocketTape
from tests.replay_network.test_http import CASSETTES

LIST = call(1, "session/list")


@pytest.mark.parametrize("record", CASSETTES.values(), ids=CASSETTES)
async def test_a_cassette_of_any_transport(serve, tmp_path, record):
    served = await serve(record(tmp_path / "c.jsonl"))
    async with served.socket() as socket:
        heard = []
        for line, answers in zip(stdio.SAID, (1, 1, 2), strict=True):
            await socket.send_str(line)
            heard += [await socket.receive_str() for _ in range(answers)]
    assert heard == stdio.HEARD
    assert served.report().lines() == []


def talk(*agent):
    """Return a tape on which the agent says something before and behind its answer."""
    tape = SocketTape().connect()
    return tape.say([("client", INITIALIZE), ("agent", AGREED), ("client", LIST), *agent])


async def talked(served):
    """Return a socket on which that was asked, and the answer to `initialize` heard."""
    socket = await served.socket()
    for text in (INITIALIZE, LIST):
        await socket.send_str(text)
    assert await socket.receive_str() == AGREED
    return socket


async def test_frames_that_are_no_messages(serve, tmp_path):
    tape = talk(("agent", b"hello"), ("agent", b"\xff\x00"), ("agent", result(1)))
    line = tape.lines[-1]
    place = line.index(',"msg"')
    tape.lines.insert(-1, line[:place] + ',"frame":"text","more":true,"b64":"/w=="}')
    tape.lines.insert(-1, line[:place] + ',"frame":"text","b64":"/g=="}')
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    socket = await talked(served)
    assert await socket.receive_str() == "hello"
    assert await socket.receive_bytes() == b"\xff\x00"
    assert await socket.receive_bytes() == b"\xff\xfe"
    assert await socket.receive_str() == result(1)
    await socket.close()
    assert served.report().clean


CLOSES = {
    "with a code and a reason": (
        {"code": 4404, "reason": "session gone é"},
        4404,
        "session gone é",
    ),
    "with a code": ({"code": 1000}, 1000, ""),
    "with nothing": ({}, 0, None),
}


@pytest.mark.parametrize(("said", "code", "reason"), CLOSES.values(), ids=CLOSES)
async def test_the_agent_closes_as_it_did(serve, tmp_path, said, code, reason):
    tape = talk(("agent", result(1))).fact("agent", "close", **said)
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    socket = await talked(served)
    assert await socket.receive_str() == result(1)
    closed = await socket.receive()
    assert closed.type is aiohttp.WSMsgType.CLOSE
    assert (closed.data or 0, closed.extra or None) == (code, reason or None)
    assert served.report().clean


async def test_a_socket_that_broke_off_breaks_off(serve, tmp_path):
    tape = talk(("agent", result(1))).fact("agent", "abort", reason="reset")
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    socket = await talked(served)
    assert await socket.receive_str() == result(1)
    assert (await socket.receive()).type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)
    assert socket.close_code == 1006


async def test_what_was_no_message_over_http_is_left_out(serve, tmp_path):
    tape = HttpTape().connect(INITIALIZE, AGREED)
    tape.tell(b":\n\n")
    tape.say([("client", LIST), ("agent", result(1))])
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    socket = await talked(served)
    assert await socket.receive_str() == result(1)
    await socket.close()
    assert served.report().lines() == [
        "noted: left out over WebSocket: no message, recorded over HTTP"
    ]


async def test_many_messages_and_the_end(serve, tmp_path):
    updates = [("agent", stdio.CHUNK)] * 50
    tape = talk(*updates, ("agent", result(1))).fact("agent", "close", code=1000)
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    socket = await talked(served)
    heard = [message.data async for message in socket]
    assert heard == [stdio.CHUNK] * 50 + [result(1)]
