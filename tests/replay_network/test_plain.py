"""What is no ACP, answered as it was recorded; and who is let in."""

import asyncio
import time

import pytest

from tests.plugin import tapes as stdio
from tests.replay_network.recorded import AGREED, INITIALIZE, call
from tests.replay_network.tapes import EVENTS, JSON, HttpTape, SocketTape, Tape, front
from tests.replay_network.test_http import over_http

ACP = {"Content-Type": "application/json"}


def with_others(path, *others, tape=None):
    """Write a cassette with a connection, and what others add to it."""
    tape = tape or HttpTape()
    tape.connect(INITIALIZE, AGREED)
    for add in others:
        add(tape)
    return tape.delete().write(path)


def answered(method, target, status, *headers, body=None, reason="", **more):
    def add(tape):
        number = tape.request(method, target)
        tape.response(number, status, *headers, body=body, reason=reason, **more)

    return add


async def test_answers_are_given_again(serve, tmp_path):
    headers = ["X-A", "1"], ["x-a", "2"], ["Content-Length", "9999"], ["Connection", "close"]
    cassette = with_others(
        tmp_path / "c.jsonl",
        answered("GET", "/acp/info?x=1", 404, *headers, body=b"<p>no</p>", reason="Not Here"),
        answered("GET", "/acp/info?x=1", 200, JSON, body='{"ok":true}'),
        answered("PUT", "/acp/info", 204),
        answered("GET", "/zip", 200, ["Content-Encoding", "gzip"], body=b"plain", inflated="gzip"),
    )
    served = await serve(cassette)
    async with served.session.get(served.url + "info?x=1") as response:
        assert (response.status, response.reason) == (404, "Not Here")
        assert response.headers.getall("X-A") == ["1", "2"]
        assert await response.read() == b"<p>no</p>"
    for _ in range(2):
        async with served.session.get(served.url + "acp/info?x=1") as response:
            assert (response.status, await response.json()) == (200, {"ok": True})
    async with served.session.put(served.url + "acp/info") as response:
        assert (response.status, await response.read()) == (204, b"")
    async with served.session.get(served.url + "zip") as response:
        assert await response.read() == b"plain"


async def test_a_redirect_is_a_redirect(serve, tmp_path):
    def add(tape):
        number = tape.request("POST", "/acp", JSON, conn=7, body=INITIALIZE)
        tape.response(
            number, 307, ["Location", "http://internal:9/acp/?k=1"], conn=7, body=b"moved"
        )

    tape = HttpTape()
    add(tape)
    served = await serve(with_others(tmp_path / "c.jsonl", tape=tape))
    post = {"data": INITIALIZE, "headers": ACP, "allow_redirects": False}
    async with served.session.post(served.url + "acp", **post) as response:
        assert response.status == 307
        assert response.headers["Location"] == "http://internal:9/acp/?k=1"
        assert await response.read() == b"moved"
    async with served.session.post(served.url + "acp", **post) as response:
        assert (response.status, (await response.read()).decode()) == (200, AGREED)


async def test_a_socket_that_was_refused_is_refused(serve, tmp_path):
    tape = SocketTape().connect(403).connect().say([("client", INITIALIZE), ("agent", AGREED)])
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    with pytest.raises(Exception, match="403"):
        await served.socket()
    async with served.socket() as socket:
        await socket.send_str(INITIALIZE)
        assert await socket.receive_str() == AGREED


async def test_a_connection_that_nobody_knows(serve, tmp_path):
    def add(tape):
        number = tape.request("GET", "/acp", ["Acp-Connection-Id", "old"], conn=9)
        tape.response(number, 410, conn=9, body=b"gone")

    served = await serve(with_others(tmp_path / "c.jsonl", add))
    headers = {"Acp-Connection-Id": "mine", "Accept": "text/event-stream"}
    async with served.session.get(served.url + "acp", headers=headers) as response:
        assert (response.status, await response.read()) == (410, b"gone")
    async with served.session.get(served.url + "other", headers=headers) as response:
        assert response.status == 404
    assert served.report().noted == []


OTHERS = {
    "a page": ("GET", "favicon.ico", {}, None, 404),
    "a form": ("POST", "form", {"Content-Type": "text/plain"}, "a=1", 404),
    "JSON": ("POST", "x", ACP, "7", 404),
    "a message without a connection": ("POST", "acp", ACP, call(1, "session/list"), 400),
    "a stream without a connection": ("GET", "acp", {"Accept": "text/event-stream"}, None, 400),
    "an end without a connection": ("DELETE", "acp", {}, None, 400),
}


@pytest.mark.parametrize("asked", OTHERS.values(), ids=OTHERS)
async def test_what_was_not_recorded(serve, tmp_path, asked):
    method, path, headers, body, status = asked
    served = await serve(over_http(tmp_path / "c.jsonl"))
    ask = served.session.request(method, served.url + path, headers=headers, data=body)
    async with ask as response:
        assert response.status == status
        said = await response.text()
    if status == 404:
        assert said == f"acptap: {method} /{path} is neither ACP nor in the cassette\n"
    what = f"{method} /{path} is not in the cassette"
    kind = "noted" if path == "favicon.ico" else "unmatched"
    assert f"{kind}: {what}" in served.report().lines()


def events(*blocks, end="end", side="agent", step=0.01):
    """Return a cassette's tape with an event stream that is no ACP."""
    tape = Tape(step)
    number = tape.request("POST", "/agent", JSON, body='{"threadId":"t"}')
    tape.response(number, 200, EVENTS)
    for block in blocks:
        tape.block(number, block, "events")
    if end:
        tape.add(side, event=end, **front(1, number))
    return tape


async def run(served):
    return await served.session.post(served.url + "agent", data='{"threadId":"u"}', headers=ACP)


BLOCKS = '{"type":"RUN_STARTED"}', b"event: x\ndata: {}\n\n", b'data: {"tor'


async def test_an_event_stream_that_is_no_acp(serve, tmp_path):
    served = await serve(events(*BLOCKS).write(tmp_path / "c.jsonl"))
    async with await run(served) as response:
        assert response.content_type == "text/event-stream"
        said = b'data: {"type":"RUN_STARTED"}\n\nevent: x\ndata: {}\n\ndata: {"tor'
        assert await response.read() == said
    assert served.report().clean


async def test_its_recorded_pace(serve, tmp_path):
    served = await serve(events(*BLOCKS, step=0.1).write(tmp_path / "c.jsonl"), speed=1.0)
    started = time.monotonic()
    async with await run(served) as response:
        await response.read()
    assert time.monotonic() - started >= 0.2


async def test_it_breaks_off_as_it_did(serve, tmp_path):
    served = await serve(events(*BLOCKS, end="abort").write(tmp_path / "c.jsonl"))
    async with await run(served) as response:
        with pytest.raises(Exception, match=r"(?i)not enough data"):
            await response.read()


async def test_it_stays_open_where_the_client_left(serve, tmp_path):
    served = await serve(events(*BLOCKS[:2], end="end", side="client").write(tmp_path / "c.jsonl"))
    async with await run(served) as response:
        assert b"RUN_STARTED" in await response.content.readany()
        rest = asyncio.ensure_future(response.read())
        done, _ = await asyncio.wait([rest], timeout=0.2)
        assert not done
        await served.server.close()
        await rest


async def test_no_connection_where_none_was_recorded(serve, tmp_path):
    served = await serve(events(*BLOCKS).write(tmp_path / "c.jsonl"))
    client = served.client()
    said = await client.initialize(INITIALIZE)
    assert client.status == 500
    assert b"the cassette holds no ACP connection" in said
    miss, left = served.report().lines()
    assert miss.startswith("unmatched: initialize is not in the cassette")
    assert left == "never played: lines 2-8"


async def test_a_websocket_where_no_connection_was_recorded(serve, tmp_path):
    served = await serve(events(*BLOCKS).write(tmp_path / "c.jsonl"))
    async with served.socket() as socket:
        await socket.send_str(INITIALIZE)
        assert "the cassette holds no ACP connection" in await socket.receive_str()
    assert len(served.report().unmatched) == 1


async def test_what_was_not_asked_for_was_not_played(serve, tmp_path):
    cassette = with_others(tmp_path / "c.jsonl", answered("GET", "/health", 200, body="{}"))
    served = await serve(cassette)
    client = served.client()
    await client.initialize(INITIALIZE)
    await client.delete()
    assert served.report().lines() == ["never played: lines 8-10"]
    async with served.session.get(served.url + "health") as response:
        assert response.status == 200
    assert served.report().clean


ENDS_OF_HEADS = "a\r\nEvil: 1\0"


async def test_no_value_ends_a_head(serve, tmp_path):
    add = answered("GET", "/x", 200, ["X", ENDS_OF_HEADS], body=b"ok", reason=ENDS_OF_HEADS)
    served = await serve(with_others(tmp_path / "c.jsonl", add))
    async with served.session.get(served.url + "x") as response:
        assert response.reason.strip() == "a  Evil: 1"
        assert response.headers["X"] == "a  Evil: 1"
        assert "Evil" not in response.headers
        assert await response.read() == b"ok"


async def test_no_value_ends_the_head_of_a_refusal(serve, tmp_path):
    tape = HttpTape().connect(INITIALIZE, AGREED)
    number = tape.post(call(1, "session/list"), 400, None, ["X", ENDS_OF_HEADS])
    tape.lines[-1] = tape.lines[-1].replace('"reason":""', '"reason":"a\\r\\nEvil: 1"')
    assert number == 3
    served = await serve(tape.delete().write(tmp_path / "c.jsonl"))
    client = served.client()
    await client.initialize(INITIALIZE)
    assert await client.post(call(1, "session/list")) == 400
    assert client.answer_headers["X"] == "a  Evil: 1"


# Once


async def test_once_is_over_when_all_was_played(serve, tmp_path):
    served = await serve(over_http(tmp_path / "c.jsonl"), once=True)
    client = served.client()
    await client.initialize(INITIALIZE)
    second = served.client()
    assert b"has played all connections of the cassette" in await second.initialize(INITIALIZE)
    assert not served.server.over.is_set()
    await client.delete()
    async with asyncio.timeout(10):
        await served.server.over.wait()
    assert not served.report().clean


async def test_once_is_over_when_the_client_has_fetched_the_end(serve, tmp_path):
    cassette = stdio.write(tmp_path / "c.jsonl")
    with cassette.open("ab") as tape:
        tape.write(b'{"at":9.000000,"from":"agent","event":"exit","code":0}\n')
    served = await serve(cassette, once=True)
    client = served.client()
    await client.initialize(INITIALIZE)
    for text in stdio.SAID[1:]:
        await client.post(text)
    await client.open()
    await client.open("s1")
    assert await client.ends() == []
    await client.delete()
    async with asyncio.timeout(10):
        await served.server.over.wait()
    assert served.report().clean


async def test_once_is_over_when_the_client_fetches_nothing(serve, tmp_path, monkeypatch):
    monkeypatch.setattr("acptap.app.play.served.FAREWELL", 0.01)
    tape = HttpTape().connect(INITIALIZE, AGREED).end()
    served = await serve(tape.write(tmp_path / "c.jsonl"), once=True)
    await served.client().initialize(INITIALIZE)
    async with asyncio.timeout(10):
        await served.server.over.wait()
    assert served.report().clean


async def test_once_is_not_over_before_all_was_asked_for(serve, tmp_path):
    cassette = with_others(tmp_path / "c.jsonl", answered("GET", "/health", 200, body="{}"))
    served = await serve(cassette, once=True)
    client = served.client()
    await client.initialize(INITIALIZE)
    await client.delete()
    assert not served.server.over.is_set()
    async with served.session.get(served.url + "health") as response:
        assert response.status == 200
    async with asyncio.timeout(10):
        await served.server.over.wait()
    assert served.report().clean


async def test_once_without_connections(serve, tmp_path):
    served = await serve(events(*BLOCKS).write(tmp_path / "c.jsonl"), once=True)
    async with await run(served) as response:
        await response.read()
    async with asyncio.timeout(10):
        await served.server.over.wait()


async def test_a_client_that_goes_on_and_on_is_left(serve, tmp_path, monkeypatch):
    monkeypatch.setattr("acptap.app.play.serving._MOST_STEPS", 1)
    served = await serve(over_http(tmp_path / "c.jsonl"))
    async with asyncio.timeout(10):
        await served.server.hear_all()


async def test_a_run_that_is_gone(serve, tmp_path):
    served = await serve(over_http(tmp_path / "c.jsonl"), run=tmp_path / "nowhere")
    client = served.client()
    assert b"the run's folder can't be written to" in await client.initialize(INITIALIZE)
