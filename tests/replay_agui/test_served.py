"""Runs over HTTP: as they were answered, failures too."""

import asyncio
import contextlib
import time

import aiohttp
import orjson
import pytest

from acptap.app.play import runs as edge
from tests.replay_agui.tapes import (
    BINARY,
    Tape,
    asked,
    block,
    dump,
    interrupted,
    spoken,
    started,
    text,
)
from tests.replay_agui.test_renaming import FRAMES
from tests.replay_network.recorded import AGREED, INITIALIZE
from tests.tap.wires import LAST, STREAM, chunk, initialized, request, response

JSON = {"Content-Type": "application/json", "Accept": "text/event-stream"}


def hello():
    return Tape().talk("t1", "r1", "hi", "Hel", "lo")


def answer(*events):
    return b"".join(map(block, events))


class Client:
    """Asks for runs over connections of its own, and sees every byte and every read."""

    def __init__(self, served):
        self._served = served
        self._port = int(served.url.rsplit(":", 1)[1].strip("/"))
        self._writers = []

    async def ask(self, body, path="/agent", headers=()):
        text_ = dump(body).encode()
        named = {"Host": "127.0.0.1", "Content-Length": str(len(text_))} | dict(headers)
        head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**24)
        self._writers.append(writer)
        writer.write(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + text_)
        return reader

    async def head(self, reader):
        head = await reader.readuntil(b"\r\n\r\n")
        status, *lines = head.decode().strip().split("\r\n")
        return status, [tuple(line.split(": ", 1)) for line in lines]

    async def close(self):
        for writer in self._writers:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


@pytest.fixture
async def client_of():
    clients = []

    def client_of(served):
        clients.append(Client(served))
        return clients[-1]

    yield client_of
    for client in clients:
        await client.close()


async def post(served, body, path="agent", **headers):
    return await served.session.post(served.url + path, data=dump(body), headers=JSON | headers)


async def test_a_run(serve, tmp_path):
    served = await serve(hello().write(tmp_path / "c.jsonl"))
    async with await post(served, asked("hi", thread="T", run="R")) as run:
        assert run.status == 200
        assert run.headers["Content-Type"] == "text/event-stream"
        assert await run.read() == answer(*spoken("T", "R", "Hel", "lo"))
    assert served.report().lines() == []


async def test_a_miss(serve, tmp_path):
    served = await serve(hello().write(tmp_path / "c.jsonl"), level="params")
    async with await post(served, asked("ho", thread="T")) as run:
        assert (run.status, run.content_type) == (409, "application/json")
        assert await run.json() == {
            "error": {
                "code": -32001,
                "message": "acptap: run 1 of thread T, with a user's message, is not in the "
                "cassette; nearest is run 1 of thread t1 at line 3; /messages/0/content: recorded "
                '"hi", live "ho"',
                "data": {"acptap": {
                    "nearest": "run 1 of thread t1", "line": 3,
                    "difference": {"path": "/messages/0/content", "recorded": "hi", "live": "ho"},
                }},
            }
        }  # fmt: skip
    report = served.report()
    assert len(report.unmatched) == 1
    assert report.unplayed == list(range(2, 12))


async def test_what_one_read_held_is_written_at_once_and_apart_from_others(
    serve, tmp_path, client_of
):
    tape = Tape().run(asked("hi"), [[started(), *text("a", "b")], *text("c")])
    client = client_of(await serve(tape.write(tmp_path / "c.jsonl")))
    reader = await client.ask(asked("hi"))
    await client.head(reader)
    chunks = []
    while size := int(await reader.readline(), 16):
        chunks.append((await reader.readexactly(size + 2))[:-2])
    assert chunks == [answer(started(), *text("a", "b")), *map(block, text("c"))]


async def test_each_write_can_be_read_by_itself(serve, tmp_path):
    deltas = [str(number) for number in range(20)]
    served = await serve(Tape().talk("t", "r", "hi", *deltas).write(tmp_path / "c.jsonl"))
    async with await post(served, asked("hi")) as run:
        chunks = [data async for data, _ in run.content.iter_chunks()]
    assert chunks == [block(event) for event in spoken("t", "r", *deltas)]


MEDIA = ("text/event-stream; charset=utf-8", "TEXT/event-stream ;x", f"{BINARY}; charset=binary")


@pytest.mark.parametrize("media", MEDIA)
async def test_the_content_type_as_it_was(serve, tmp_path, media):
    tape = Tape().talk("t", "r", "hi", "ok", media=media)
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    async with await post(served, asked("hi")) as run:
        assert run.headers["Content-Type"] == media


async def test_no_content_type_where_there_was_none(serve, tmp_path):
    tape = Tape()
    line = tape.line()
    line.client(request("POST", "/agent", dump(asked("hi")).encode()))
    line.agent(b"HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\nTransfer-Encoding: chunked\r\n\r\n")
    line.agent(chunk(block(started())) + LAST)
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    async with await post(served, asked("hi")) as run:
        assert "Content-Type" not in run.headers
        assert run.headers.getall("x-a") == ["1", "2"]
        assert await run.read() == block(started())


async def test_binary(serve, tmp_path):
    body = asked("hi", thread="thread-1", run="run-1")
    tape = Tape().run(body, FRAMES.values(), media=BINARY)
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    async with await post(served, body) as run:
        assert run.headers["Content-Type"] == BINARY
        assert await run.read() == b"".join(FRAMES.values())


async def test_what_was_compressed_comes_as_it_is(serve, tmp_path):
    import gzip  # noqa: PLC0415 only here

    tape = Tape()
    line = tape.line()
    line.client(request("POST", "/agent", dump(asked("hi")).encode()))
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n"
    line.agent(head + b"Transfer-Encoding: chunked\r\n\r\n")
    line.agent(chunk(gzip.compress(block(started()))) + LAST)
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    async with await post(served, asked("hi", thread="T")) as run:
        assert "Content-Encoding" not in run.headers
        assert await run.read() == block(started("T"))


# Failures


async def test_errors(serve, tmp_path):
    body = asked("hi")
    tape = Tape().fail(body, 503, b"busy", Retry_After="1").fail(body, 422, b"[]", X_A="é")
    tape.fail(body, 204).talk("t", "r", "hi", "ok")
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    got = []
    for _ in range(4):
        async with await post(served, body) as run:
            got.append((run.status, run.reason, run.headers.get("Retry-After"), await run.read()))
    assert got == [
        (503, "X", "1", b"busy"), (422, "X", None, b"[]"), (204, "X", None, b""),
        (200, "OK", None, answer(*spoken("t", "r", "ok"))),
    ]  # fmt: skip
    assert served.report().lines() == []


ENDS = {"cut": b"", "reset": ConnectionResetError, "end": b"0\r\n\r\n", "killed": b""}


@pytest.mark.parametrize(("end", "how"), ENDS.items(), ids=ENDS)
async def test_how_it_ends(serve, tmp_path, client_of, end, how):
    tape = Tape().run(asked("hi"), [started(), *text("a")[:2]], end)
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    client = client_of(served)
    reader = await client.ask(asked("hi"), headers={"Connection": "close"}.items())
    await client.head(reader)
    for event in (started(), *text("a")[:2]):
        assert await reader.readuntil(b"}\n\n\r\n") == chunk(block(event))
    if isinstance(how, bytes):
        assert await reader.read() == how
    else:
        with pytest.raises(how):
            await reader.read()
    assert served.report().clean


@pytest.mark.parametrize(("end", "how"), [("cut", b""), ("reset", ConnectionResetError)])
async def test_no_answer(serve, tmp_path, client_of, end, how):
    client = client_of(await serve(Tape().nothing(asked("hi"), end).write(tmp_path / "c.jsonl")))
    reader = await client.ask(asked("hi"))
    if isinstance(how, bytes):
        assert await reader.read() == how
    else:
        with pytest.raises(how):
            await reader.read()


async def test_a_reset_that_many_bytes_go_before(serve, tmp_path, client_of):
    long = "x" * 3_000_000
    tape = Tape().run(asked("hi"), [started(), *text(long)], "reset")
    client = client_of(await serve(tape.write(tmp_path / "c.jsonl")))
    reader = await client.ask(asked("hi"))
    for event in (started(), *text(long)):
        assert (await reader.readuntil(b"}\n\n\r\n")).endswith(chunk(block(event)))
    with pytest.raises(ConnectionResetError):
        await reader.read()


async def test_a_reset_does_not_wait_for_ever(serve, tmp_path, client_of, monkeypatch):
    monkeypatch.setattr("acptap.transports.legs.unsent", lambda _: 1)
    monkeypatch.setattr("acptap.transports.legs.PATIENCE", 0.01)
    tape = Tape().run(asked("hi"), [started()], "reset")
    client = client_of(await serve(tape.write(tmp_path / "c.jsonl")))
    reader = await client.ask(asked("hi"))
    await reader.readuntil(b"}\n\n\r\n")
    with pytest.raises(ConnectionResetError):
        await reader.read()


# Clients that leave


@pytest.mark.parametrize("answered", [True, False])
async def test_a_run_that_was_left_is_held_open(serve, tmp_path, client_of, answered):
    body = asked("hi")
    tape = Tape().run(body, [started()], "client") if answered else Tape().nothing(body, "client")
    served = await serve(tape.write(tmp_path / "c.jsonl"), once=True)
    client = client_of(served)
    reader = await client.ask(body)
    if answered:
        await client.head(reader)
        await reader.readuntil(b"\n\n\r\n")
    rest = asyncio.ensure_future(reader.read())
    done, _ = await asyncio.wait([rest], timeout=0.2)
    assert not done
    assert not served.server.over.is_set()
    await client.close()
    async with asyncio.timeout(10):
        await served.server.over.wait()
    assert served.report().lines() == []
    rest.cancel()


@pytest.mark.parametrize("answered", [True, False])
async def test_a_client_that_stays_is_cut_off(serve, tmp_path, client_of, answered):
    body = asked("hi")
    tape = Tape().run(body, [started()], "client") if answered else Tape().nothing(body, "client")
    served = await serve(tape.write(tmp_path / "c.jsonl"), patience=0.05)
    client = client_of(served)
    reader = await client.ask(body)
    if answered:
        await client.head(reader)
        assert await reader.read() == chunk(block(started()))
    else:
        assert await reader.read() == b""
    report = served.report()
    assert report.clean
    assert report.noted == [
        "the client stayed to the end of run 1 of thread t, which the recorded one had left"
    ]


async def test_the_end_of_the_server_ends_it(serve, tmp_path, client_of):
    tape = Tape().run(asked("hi"), [started()], "client")
    served = await serve(tape.write(tmp_path / "c.jsonl"), patience=0)
    client = client_of(served)
    reader = await client.ask(asked("hi"))
    await client.head(reader)
    await reader.readuntil(b"\n\n\r\n")
    await served.server.close()
    assert await reader.read() == b""
    assert served.report().noted == []


async def test_a_client_may_leave_any_run(serve, tmp_path, client_of):
    tape = Tape().run(asked("hi"), [started(), *text(*["x" * 100_000] * 100)])
    served = await serve(tape.write(tmp_path / "c.jsonl"), once=True)
    client = client_of(served)
    await client.head(await client.ask(asked("hi")))
    await client.close()
    async with asyncio.timeout(10):
        await served.server.over.wait()
    assert served.report().clean


# Pace


async def test_the_recorded_pace(serve, tmp_path, monkeypatch):
    waits = []

    async def pause(self, seconds):
        waits.append(round(seconds * 1000))
        await asyncio.sleep(0)

    monkeypatch.setattr(edge.RunAnswers, "pause", pause)
    served = await serve(hello().write(tmp_path / "c.jsonl"), speed=1.0)
    async with await post(served, asked("hi")) as run:
        await run.read()
    assert waits == [1] * 8  # the tap's clock goes on by a millisecond with each read


async def test_some_times_as_fast(serve, tmp_path):
    tape = Tape()
    line = tape.line()
    line.client(request("POST", "/agent", dump(asked("hi")).encode()))
    tape.tape += [b""] * 1000  # a second
    line.agent(STREAM + chunk(block(started())) + LAST)
    served = await serve(tape.write(tmp_path / "c.jsonl"), speed=5.0)
    began = time.monotonic()
    async with await post(served, asked("hi")) as run:
        await run.read()
    assert time.monotonic() - began >= 0.2


# Beside runs


async def test_browsers(serve, tmp_path):
    tape = Tape()
    line = tape.line()
    asks = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"}
    line.client(request("OPTIONS", "/agent", **asks))
    line.agent(response(204, Access_Control_Allow_Origin="http://localhost:3000"))
    tape.run(asked("hi"), [started()], Origin="http://localhost:3000")
    served = await serve(tape.write(tmp_path / "c.jsonl"), once=True)
    origin = {"Origin": "http://127.0.0.1:5173"}
    asking = origin | {
        "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type",
    }  # fmt: skip
    async with served.session.options(served.url + "agent", headers=asking) as preflight:
        assert preflight.status == 204
        assert preflight.headers["Access-Control-Allow-Origin"] == origin["Origin"]
        assert preflight.headers["Access-Control-Allow-Headers"] == "content-type"
        assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
    async with await post(served, asked("hi"), **origin) as run:
        assert run.headers.getall("Access-Control-Allow-Origin") == [origin["Origin"]]
        assert await run.read() == block(started())
    async with asyncio.timeout(10):
        await served.server.over.wait()  # nobody has to ask what browsers ask
    assert served.report().clean


async def test_other_requests_are_answered_too(serve, tmp_path):
    tape = hello()
    line = tape.line()
    line.client(request("GET", "/agent/health"))
    line.agent(response(200, b"fine"))
    line.client(request("POST", "/agent", b'{"no":"run"}'))
    line.agent(response(422, b"no run"))
    line.client(request("POST", "/agent", b"no json"))
    line.agent(response(400, b"no json"))
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    async with served.session.get(served.url + "agent/health") as health:
        assert await health.read() == b"fine"
    for data in (b'{"another":"one"}', b"nothing at all"):
        async with served.session.post(served.url + "agent", data=data, headers=JSON) as other:
            assert other.status in (422, 400)
    async with await post(served, asked("hi")) as run:
        assert run.status == 200
    assert served.report().clean


async def test_beside_acp(serve, tmp_path):
    tape = Tape()
    line = tape.line()
    initialized(line)
    line.client(request("DELETE", Acp_Connection_Id="c1"))
    line.agent(response(202))
    tape.talk("t", "r", "hi", "ok")
    served = await serve(tape.write(tmp_path / "c.jsonl"), once=True)
    async with await post(served, asked("hi")) as run:
        assert run.status == 200
    assert not served.server.over.is_set()
    client = served.client()
    await client.initialize(INITIALIZE)
    await client.delete()
    async with asyncio.timeout(10):
        await served.server.over.wait()
    assert served.report().clean
    assert AGREED


async def test_a_run_where_none_was_recorded(serve, tmp_path):
    tape = Tape()
    initialized(tape.line())
    served = await serve(tape.write(tmp_path / "c.jsonl"))
    async with await post(served, asked("hi")) as run:
        assert run.status == 404


async def test_a_test_that_is_gone(serve, tmp_path):
    served = await serve(hello().write(tmp_path / "c.jsonl"), run=tmp_path / "nowhere")
    async with await post(served, asked("hi")) as run:
        assert run.status == 500
        assert "the run's folder can't be written to" in await run.text()


async def test_once(serve, tmp_path):
    served = await serve(hello().write(tmp_path / "c.jsonl"), once=True)
    async with await post(served, asked("hi")) as run:
        assert run.status == 200
        await run.read()
    async with await post(served, asked("hi", thread="x")) as run:
        assert run.status == 409
        assert b"all was played" in await run.read()
    async with asyncio.timeout(10):
        await served.server.over.wait()


async def test_many_at_once(serve, tmp_path):
    tape = Tape()
    for number in range(20):
        tape.talk(f"t{number}", f"r{number}", f"question {number}", *"answer", str(number))
    served = await serve(tape.write(tmp_path / "c.jsonl"))

    async def ask(number):
        body = asked(f"question {number}", thread=f"T{number}", run=f"R{number}")
        async with await post(served, body) as run:
            expected = spoken(f"T{number}", f"R{number}", *"answer", str(number))
            assert await run.read() == answer(*expected)

    async with asyncio.TaskGroup() as clients:
        for number in reversed(range(20)):
            clients.create_task(ask(number))
    assert served.report().lines() == []


async def test_interrupts_that_have_expired_are_told_at_once(serve, tmp_path):
    tape = Tape().run(asked("hi"), [interrupted("i", expiresAt="2026-01-02T00:00:00Z")])
    said: list[str] = []
    served = await serve(tape.write(tmp_path / "c.jsonl"), warn=said.append)
    async with await post(served, asked("hi")) as run:
        await run.read()
    assert said == served.report().noted
    assert "expired at 2026-01-02" in said[0]


async def test_interrupts_may_expire_later(serve, tmp_path):
    tape = Tape().run(asked("hi"), [interrupted("i", expiresAt="2026-01-02T00:00:00Z")])
    served = await serve(tape.write(tmp_path / "c.jsonl"), shift_expiry=True)
    async with await post(served, asked("hi")) as run:
        event = orjson.loads((await run.read()).removeprefix(b"data: "))
    [asked_] = event["outcome"]["interrupts"]
    assert asked_["expiresAt"] > "2026-01-02"
    assert served.report().noted == []


async def test_a_client_library_sees_that_it_was_cut(serve, tmp_path):
    served = await serve(Tape().run(asked("hi"), [started()], "cut").write(tmp_path / "c.jsonl"))
    async with await post(served, asked("hi")) as run:
        with pytest.raises(aiohttp.ClientPayloadError):
            await run.read()
