"""Cassettes over Streamable HTTP."""

import asyncio
import time

import orjson
import pytest

from tests.plugin import tapes as stdio
from tests.replay_network.recorded import call, result
from tests.replay_network.tapes import HttpTape, SocketTape

INITIALIZE, AGREED = stdio.INITIALIZE, stdio.AGREED
HELLO = [(side.value, text) for side, text in stdio.HELLO]


def over_stdio(path):
    return stdio.write(path)


def over_http(path):
    return HttpTape().connect(INITIALIZE, AGREED).say(HELLO[2:]).delete().write(path)


def over_websocket(path):
    tape = SocketTape().connect().say(HELLO)
    return tape.fact("client", "close").fact("agent", "close").write(path)


CASSETTES = {"stdio": over_stdio, "http": over_http, "websocket": over_websocket}


def blocks(*texts):
    return "".join(f"data: {text}\n\n" for text in texts).encode()


async def begin(served):
    """Return a client that is connected and listens."""
    client = served.client()
    assert (await client.initialize(INITIALIZE)).decode() == AGREED
    await client.open()
    return client


@pytest.mark.parametrize("record", CASSETTES.values(), ids=CASSETTES)
async def test_a_cassette_of_any_transport(serve, tmp_path, record):
    served = await serve(record(tmp_path / "c.jsonl"))
    client = await begin(served)
    assert await client.post(stdio.NEW) == 202
    assert client.body == b""
    assert await client.until("s1") == blocks(stdio.MADE)
    await client.open("s1")
    assert await client.post(stdio.PROMPT) == 202
    assert await client.until("end_turn", "s1") == blocks(*stdio.HEARD[2:])
    assert await client.delete() == 202
    assert await client.ends() == []
    assert served.report().lines() == []
    assert served.report().clean


async def test_the_nth_connection_plays_the_nth_recorded_one(serve, tmp_path):
    tape = HttpTape()
    for name in ("one", "two"):
        tape.connect(INITIALIZE, AGREED)
        tape.say([("client", call(1, "session/list")), ("agent", result(1, name=name))]).delete()
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    for name in ("one", "two", "one"):
        client = await begin(served)
        await client.post(call(5, "session/list"))
        assert await client.until("name") == blocks(result(5, name=name))
        await client.delete()
    assert served.report().clean


async def test_many_clients_at_once(serve, tmp_path):
    served = await serve(over_http(tmp_path / "c.jsonl"))
    clients = [await begin(served) for _ in range(10)]
    for text in (stdio.NEW, stdio.PROMPT):
        for client in clients:
            await client.post(text)
    for client in clients:
        await client.open("s1")
        assert await client.until("end_turn", "s1") == blocks(*stdio.HEARD[2:])
        await client.delete()
    assert served.report().clean


PRIMED = (
    b": open\n\n", b"id: a:0\nretry: 3000\ndata: \n\n", b":\n\n",
    b'event: message\nid: a:1\ndata:{"jsonrpc":"2.0","id":1,"result":{}}\n\n',
    b"event: ping\ndata: keep\n\n", b'data: {"a":\ndata: 1}\n\n',
)  # fmt: skip


async def test_blocks_leave_as_they_were_recorded(serve, tmp_path):
    tape = HttpTape().connect(INITIALIZE, AGREED)
    tape.post(call(1, "session/list"))
    for block in PRIMED:
        tape.tell(block)
    tape.tell(b": of the session\n\n", "s1")
    served = await serve(tape.delete().write(tmp_path / "c.jsonl"))
    client = await begin(served)
    await client.open("s1")
    await client.post(call("x", "session/list"))
    assert await client.until('"a"') == b"".join(PRIMED).replace(b'"id":1', b'"id":"x"')
    assert await client.until("of", "s1") == b": of the session\n\n"
    await client.delete()
    assert served.report().clean


async def test_a_session_the_client_brings_along_is_renamed(serve, tmp_path):
    update = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{}}}'
    tape = HttpTape().connect(INITIALIZE, AGREED)
    tape.post(call(1, "session/load", sessionId="old", cwd="/rec/here"))
    tape.tell(f"event: x\ndata:{update % 'old'}\n\n".encode(), "old")
    tape.tell(result(1))
    served = await serve(tape.delete().write(tmp_path / "c.jsonl"))
    client = await begin(served)
    await client.open("mine")
    await client.post(call(1, "session/load", sessionId="mine", cwd="/live/there"))
    assert await client.until("}\n\n") == blocks(result(1))
    live = await client.until("\n\n", "mine")
    assert live == f"event: x\ndata:{update % 'mine'}\n\n".encode()


async def test_a_client_may_open_its_stream_again(serve, tmp_path):
    served = await serve(over_http(tmp_path / "c.jsonl"))
    client = await begin(served)
    await client.post(stdio.NEW)
    first = await client.open("s1")
    first.close()
    await client.ends_of("s1")
    await client.post(stdio.PROMPT)
    await client.open("s1")
    assert await client.until("end_turn", "s1") == blocks(*stdio.HEARD[2:])
    await client.delete()
    assert served.report().clean


async def test_what_is_recorded_apart_is_written_apart(serve, tmp_path):
    tape = HttpTape().connect(INITIALIZE, AGREED)
    tape.post(call(1, "session/list"))
    tape.tell(b": one\n\n")
    tape.tell(b": two\n\n", together=True)
    tape.tell(result(1))
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    client = await begin(served)
    await client.post(call(1, "session/list"))
    await client.until("result")
    assert client.chunks[None] == [b": one\n\n: two\n\n", blocks(result(1))]


async def test_a_miss_is_answered_and_told(serve, tmp_path):
    served = await serve(over_http(tmp_path / "c.jsonl"))
    client = await begin(served)
    await client.post(call(9, "session/list"))
    said = await client.until("acptap")
    error = orjson.loads(said.removeprefix(b"data: "))
    assert (error["id"], error["error"]["code"]) == (9, -32001)
    await client.delete()
    [miss, _] = served.report().lines()
    assert miss.startswith("unmatched: session/list is not in the cassette")


async def test_patience(serve, tmp_path):
    tape = HttpTape().connect(INITIALIZE, AGREED)
    tape.post(call(1, "session/list"))
    served = await serve(tape.write(tmp_path / "c.jsonl"), patience=0.05)
    client = await begin(served)
    await client.post(call(1, "session/list"))
    assert b"is never answered in the cassette" in await client.until("acptap")


async def test_the_recorded_pace(serve, tmp_path):
    tape = HttpTape(step=0.1).connect(INITIALIZE, AGREED)
    tape.say([("client", call(1, "session/list")), ("agent", result(1))])
    served = await serve(tape.write(tmp_path / "c.jsonl"), speed=1.0)
    client = await begin(served)
    started = time.monotonic()
    await client.post(call(1, "session/list"))
    await client.until("result")
    assert time.monotonic() - started >= 0.1


async def test_what_was_turned_down_is_turned_down(serve, tmp_path):
    tape = HttpTape().connect(INITIALIZE, AGREED)
    headers = (["Content-Type", "text/plain"], ["X-Why", "size"], ["Content-Length", "7"])
    tape.post(call(1, "session/list"), 413, b"too big", *headers)
    tape.post(call(2, "session/list"))
    tape.tell(result(2))
    served = await serve(tape.delete().write(tmp_path / "c.jsonl"))
    client = await begin(served)
    assert await client.post(call(1, "session/list")) == 413
    assert client.body == b"too big"
    assert client.answer_headers["X-Why"] == "size"
    assert await client.post(call(2, "session/list")) == 202
    assert await client.until("result") == blocks(result(2))
    await client.delete()
    assert served.report().clean


async def test_a_stream_that_was_not_given_is_not_given(serve, tmp_path):
    tape = HttpTape().connect(INITIALIZE, AGREED)
    ids = ["Acp-Connection-Id", "c1"], ["Acp-Session-Id", "s1"]
    tape.response(tape.request("GET", "/acp", *ids), 404, body=b"unknown session")
    served = await serve(tape.delete().write(tmp_path / "c.jsonl"))
    client = await begin(served)
    headers = client.headers("s1") | {"Accept": "text/event-stream"}
    async with served.session.get(client.url, headers=headers) as response:
        assert (response.status, await response.read()) == (404, b"unknown session")
    await client.delete()
    assert served.report().clean


async def test_an_agent_that_left_first_leaves_first(serve, tmp_path):
    cassette = over_stdio(tmp_path / "c.jsonl")
    with cassette.open("ab") as tape:
        tape.write(b'{"at":9.000000,"from":"agent","event":"exit","code":3}\n')
    served = await serve(cassette)
    client = await begin(served)
    for text in stdio.SAID[1:]:
        await client.post(text)
    await client.open("s1")
    assert await client.ends() == []
    assert client.said == {None: blocks(stdio.MADE), "s1": blocks(*stdio.HEARD[2:])}
    assert await client.post(stdio.PROMPT) == 404
    assert await client.delete() == 202
    assert served.report().clean


async def test_a_stream_that_broke_off_breaks_off(serve, tmp_path):
    tape = HttpTape().connect(INITIALIZE, AGREED)
    tape.say([("client", call(1, "session/list")), ("agent", result(1))])
    served = await serve(tape.end(None, "abort", reason="reset").write(tmp_path / "c.jsonl"))
    client = await begin(served)
    await client.post(call(1, "session/list"))
    [error] = await client.ends()
    assert "not enough data" in str(error).lower()
    assert client.said[None] == blocks(result(1))
    assert served.report().clean


def torn(*after, **end):
    """Return a tape on which a session's stream ends in the middle of a turn."""
    tape = HttpTape().connect(INITIALIZE, AGREED).say(HELLO[2:4])
    tape.post(stdio.PROMPT)
    tape.tell(stdio.HEARD[2], "s1")
    tape.tell(b'data: {"tor', "s1")
    tape.end("s1", **end)
    for text in after:
        tape.tell(text, "s1")
    return tape.delete()


@pytest.mark.parametrize("event", ["abort", "end"])
async def test_a_session_stream_that_died_dies(serve, tmp_path, event):
    served = await serve(torn(event=event).write(tmp_path / "c.jsonl"), patience=0.1)
    client = await begin(served)
    await client.post(stdio.NEW)
    await client.until("s1")
    await client.open("s1")
    await client.post(stdio.PROMPT)
    error = await client.ends_of("s1")
    assert (error is None) is (event == "end")
    assert client.said["s1"] == blocks(stdio.HEARD[2]) + b'data: {"tor'
    await asyncio.sleep(0.3)  # no patience is lost
    assert client.said[None] == blocks(stdio.MADE)
    await client.delete()
    assert await client.ends() == []
    assert served.report().lines() == []
    assert served.report().clean


async def test_what_comes_behind_a_streams_end_waits_for_the_next(serve, tmp_path):
    served = await serve(torn(stdio.HEARD[-1], event="abort").write(tmp_path / "c.jsonl"))
    client = await begin(served)
    await client.post(stdio.NEW)
    await client.post(stdio.PROMPT)
    await client.until("s1")
    await client.open("s1")
    assert await client.ends_of("s1") is not None
    assert client.said["s1"] == blocks(stdio.HEARD[2]) + b'data: {"tor'
    client.said["s1"] = b""
    await client.open("s1")
    assert await client.until("end_turn", "s1") == blocks(stdio.HEARD[-1])
    await client.delete()
    assert served.report().clean


async def test_where_nobody_listens_no_stream_ends(serve, tmp_path):
    tape = HttpTape().connect(INITIALIZE, AGREED)
    tape.post(call(1, "session/load", sessionId="s1"))
    tape.tell(result(1))
    tape.stream("s1")
    tape.end("s1", "abort")
    served = await serve(tape.delete().write(tmp_path / "c.jsonl"))
    client = await begin(served)
    await client.post(call(1, "session/load", sessionId="s1"))
    await client.until("result")
    await client.open("s1")
    await client.delete()
    assert await client.ends() == []
    assert served.report().clean


async def test_a_client_that_takes_nothing_stops_the_agent(serve, tmp_path, monkeypatch):
    monkeypatch.setattr("acptap.app.play.served.ServedConnection.is_full", True)
    served = await serve(over_http(tmp_path / "c.jsonl"))
    client = served.client()
    task = asyncio.ensure_future(client.initialize(INITIALIZE))
    done, _ = await asyncio.wait([task], timeout=0.2)
    assert not done
    monkeypatch.undo()
    for connection in served.server._answers.live.values():
        connection._outlet.on_drain()
    assert (await task).decode() == AGREED
