"""A client that only knows stdio, and a server that speaks WebSocket."""

import asyncio
import signal

import orjson
import pytest
import pytest_asyncio
from aiohttp import WSMsgType

from tests.bridge.editor import INITIALIZE, notification, request, result
from tests.bridge.server import INITIALIZED, LIMIT, Socket, refuse, serve

UPDATE = notification("session/update", sessionId="s1")
PROMPT = request(2, "session/prompt", sessionId="s1")
CLOSED = "the agent's server closed the connection"
OVER = "; the connection to the agent is over"


@pytest_asyncio.fixture
async def socket():
    async with serve(Socket()) as socket:
        socket.url = socket.url.replace("http", "ws")
        yield socket


async def hear(socket) -> bytes:
    async with asyncio.timeout(LIMIT):
        text: str = await socket.heard.get()
    return text.encode()


async def begin(socket, connect, **reach):
    """Start a client that has initialized; return it and the server's end."""
    editor = connect(socket.url, **reach)
    await editor.send(INITIALIZE)
    assert await hear(socket) == INITIALIZE
    ours = await socket.opened
    await ours.send_bytes(b"what SDKs do not read")
    await ours.send_str(INITIALIZED.decode())
    assert await editor.read() == INITIALIZED
    return editor, ours


async def test_a_whole_conversation(socket, connect):
    editor, ours = await begin(socket, connect, headers=[("Authorization", "Bearer abc")])
    assert socket.request.headers["Authorization"] == "Bearer abc"
    await editor.send(PROMPT, b" " + UPDATE + b"\r", b"noise")
    assert [await hear(socket), await hear(socket)] == [PROMPT, UPDATE]
    await ours.send_str(orjson.dumps(orjson.loads(UPDATE), option=orjson.OPT_INDENT_2).decode())
    line = await editor.read()
    assert orjson.loads(line) == orjson.loads(UPDATE)  # on one line
    await ours.ping(b"are you there?")
    await ours.send_str(result(2, stopReason="end_turn").decode())
    assert await editor.read() == result(2, stopReason="end_turn")
    assert await editor.leave() == 0
    assert await socket.closed == 1000
    assert await editor.rest() == []
    assert editor.said == [
        "the server sent what is no JSON-RPC message; it is left out",
        "the client wrote what is no JSON-RPC message; it is left out",
    ]


async def test_a_batch_passes_as_it_is(socket, connect):
    editor, ours = await begin(socket, connect)
    batch = b"[%b,%b]" % (UPDATE, PROMPT)
    await editor.send(batch)
    assert await hear(socket) == batch
    answers = b"[%b]" % result(2)
    await ours.send_str(answers.decode())
    assert await editor.read() == answers


async def test_w1_nothing_is_too_long(socket, connect):
    editor, ours = await begin(socket, connect)
    long = notification("_long", text="x" * 20_000_000)
    await editor.send(long)
    assert await hear(socket) == long
    await ours.send_str(long.decode())
    assert await editor.read() == long


async def test_w4_what_comes_before_the_close_is_heard(socket, connect):
    editor, ours = await begin(socket, connect)
    for _ in range(50):
        await ours.send_str(UPDATE.decode())
    await ours.close()
    assert await editor.rest() == [UPDATE] * 50
    assert await editor.wait() == 1
    assert editor.said[-1] == f"{CLOSED} (1000){OVER}"


CLOSES = {
    "with a reason": (4404, b"session gone", "4404 session gone"),
    "with a code": (1011, b"", "1011"),
}


@pytest.mark.parametrize(("code", "reason", "why"), CLOSES.values(), ids=CLOSES)
async def test_w2_the_server_closes(socket, connect, code, reason, why):
    editor, ours = await begin(socket, connect)
    await editor.send(PROMPT)
    await hear(socket)
    await ours.close(code=code, message=reason)
    message, data = await editor.error(2)
    assert message == f"acptap: {CLOSED} ({why})"
    assert data == {"code": code, "reason": reason.decode()}
    assert await editor.wait() == 1
    assert editor.said[-1] == f"{CLOSED} ({why}){OVER}"


async def test_the_server_closes_without_a_code(socket, connect):
    editor, ours = await begin(socket, connect)
    await editor.send(PROMPT)
    await hear(socket)
    await ours._writer.send_frame(b"", WSMsgType.CLOSE)
    assert await editor.error(2) == (f"acptap: {CLOSED}", {"code": None, "reason": ""})
    assert await editor.wait() == 1


async def test_the_server_is_cut_off(socket, connect):
    editor, _ = await begin(socket, connect)
    await editor.send(PROMPT)
    await hear(socket)
    socket.request.transport.abort()
    message, data = await editor.error(2)
    assert message == f"acptap: {CLOSED} (without a close frame)"
    assert data == {"reason": "lost"}
    assert await editor.wait() == 1


async def test_the_server_refuses(connect):
    async with serve(Socket(), refuse(403, "no")) as server:
        editor = connect(server.url.replace("http", "ws"))
        await editor.send(INITIALIZE)
        why = "the agent's server refused the WebSocket (403, Invalid response status)"
        assert await editor.error(0) == (f"acptap: {why}", {"status": 403})
        assert await editor.wait() == 1
        assert editor.said == [why + OVER]


async def test_nobody_listens(connect):
    async with serve(Socket()) as server:
        url = server.url.replace("http", "ws")
    editor = connect(url)
    await editor.send(INITIALIZE)
    message, data = await editor.error(0)
    assert message == f"acptap: the agent's server can't be reached ({data['reason']})"
    assert await editor.wait() == 1


async def test_a_client_that_never_spoke(socket, connect):
    editor = connect(socket.url)
    assert await editor.leave() == 0
    assert not socket.opened.done()


async def test_a_signal_closes_the_connection(socket, connect):
    editor, _ = await begin(socket, connect)
    editor.agent.send(signal.SIGINT)
    assert await editor.wait() == -signal.SIGINT
    assert await socket.closed == 1000
