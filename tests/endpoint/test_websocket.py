"""Connections over a WebSocket, frame by frame."""

import asyncio
import struct

import aiohttp
import orjson
import pytest

from acptap.errors import UsageError
from acptap.transports.endpoint import Frame, Kind
from acptap.transports.endpoint import websocket as module
from tests.endpoint.stage import (
    INITIALIZE,
    INITIALIZED,
    LIMIT,
    Puppet,
    Silent,
    notice,
    request,
    result,
    serving,
    until,
)

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def closing(code, reason=""):
    return CLOSE, struct.pack(">H", code) + reason.encode()


def error(code, message, id_=None, **more):
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message, **more}}


async def test_initialize():
    async with serving() as stage:
        client = await stage.connect()
        answer = await client.upgrade()
        assert answer.status == 101
        assert answer.get("Sec-WebSocket-Protocol") is None
        assert not stage.peers
        client.say(INITIALIZE)
        assert await client.hear() == (TEXT, INITIALIZED)
        (peer,) = stage.peers
        assert peer.outlet.kind is Kind.WEBSOCKET
        assert peer.outlet.id == answer.get("Acp-Connection-Id")
        peer.outlet.send(notice("session/update", sessionId="s1"), b"data: x\n\n")
        assert await client.hear() == (TEXT, notice("session/update", sessionId="s1"))
        client.say(request(1, "session/new"))
        client.say(b' {"jsonrpc": "2.0",\n"a":1}')
        await peer.until(heard=3)
        assert peer.heard == [INITIALIZE, request(1, "session/new"), b' {"jsonrpc": "2.0",\n"a":1}']


NOT_FIRST = closing(1002, "First message must be initialize")
FIRST = {
    "another request": (request(1, "session/new"), NOT_FIRST),
    "a notification": (notice("initialize"), NOT_FIRST),
    "no id": (request(None, "initialize"), closing(1002, "Initialize request must include an ID")),
}  # fmt: skip


@pytest.mark.parametrize(("text", "end"), FIRST.values(), ids=FIRST)
async def test_what_can_not_come_first(text, end):
    async with serving() as stage:
        client = await stage.upgrade()
        client.say(text)
        client.say(INITIALIZE)
        assert await client.hear() == end
        client.frame(*end)
        assert await client.rest() == b""
        assert not stage.peers


BATCHES = error(-32600, "Invalid request: JSON-RPC batches are not supported")
GARBAGE = {
    "no JSON": (b"{", error(-32700, "Parse error")),
    "a number": (b"7", error(-32600, "Invalid request", data=7)),
    "null": (b"null", error(-32600, "Invalid request")),
    "a batch": (b"[]", BATCHES),
    "a batch that initializes": (b"[" + INITIALIZE + b"]", BATCHES),
}


@pytest.mark.parametrize("initialized", [False, True])
@pytest.mark.parametrize(("text", "said"), GARBAGE.values(), ids=GARBAGE)
async def test_garbage_is_answered(text, said, initialized):
    async with serving() as stage:
        client = (await stage.websocket())[0] if initialized else await stage.upgrade()
        client.say(text)
        opcode, answer = await client.hear()
        assert (opcode, orjson.loads(answer)) == (TEXT, said)
        if not initialized:
            client.say(INITIALIZE)
            assert await client.hear() == (TEXT, INITIALIZED)
        assert len(stage.peers[0].heard) == 1


async def test_before_initialize():
    async with serving() as stage:
        client = await stage.upgrade()
        client.say(result(1))
        client.frame(BINARY, request(1, "session/new"))
        client.say(b'{"a":1}')
        said = orjson.loads((await client.hear())[1])
        assert said == error(-32600, "Invalid request", data={"a": 1})
        client.say(INITIALIZE)
        assert await client.hear() == (TEXT, INITIALIZED)


async def test_a_second_initialize():
    async with serving() as stage:
        client, peer = await stage.websocket()
        client.frame(BINARY, request(1, "session/new"))
        client.say(request("again", "initialize"))
        said = error(-32600, "Initialize not allowed on existing connection", "again")
        assert orjson.loads((await client.hear())[1]) == said
        assert len(peer.heard) == 1


async def test_batches_where_they_are_taken():
    async with serving(batches=True) as stage:
        client = await stage.upgrade()
        client.say(b"[" + INITIALIZE + b"]")
        assert orjson.loads((await client.hear())[1]) == BATCHES
        client.say(INITIALIZE)
        await client.hear()
        batch = b"[" + request(1, "a") + b"]"
        client.say(batch)
        await stage.peers[0].until(heard=2)
        assert stage.peers[0].heard[1] == batch


FAILURES = {
    "without a word": (lambda outlet: outlet.finish(), None, 1011),
    "with a code": (lambda outlet: outlet.finish(4001, "it fell"), "it fell", 4001),
}


@pytest.mark.parametrize(("end", "why", "code"), FAILURES.values(), ids=FAILURES)
async def test_initialize_never_answered(end, why, code):
    class Failing(Puppet):
        def answer(self):
            self.outlet.send(notice("before"))
            self.outlet.send(b"no JSON")
            end(self.outlet)

    async with serving(Failing) as stage:
        client = await stage.upgrade()
        client.say(INITIALIZE)
        assert [await client.hear(), await client.hear()] == [
            (1, notice("before")),
            (1, b"no JSON"),
        ]
        more = {} if why is None else {"data": why}
        said = orjson.loads((await client.hear())[1])
        assert said == error(-32603, "Initialize failed", 0, **more)
        assert await client.hear() == closing(code, why or "")
        assert stage.peers[0].ends == 0


async def test_an_agent_that_can_not_be_started():
    def fail(_):
        raise UsageError("it can't", where="here", fix="look")

    async with serving(fail) as stage:
        client = await stage.upgrade()
        client.say(INITIALIZE)
        said = orjson.loads((await client.hear())[1])
        assert said == error(-32603, "Initialize failed", 0, data="here: it can't; look")
        assert await client.hear() == closing(1011, "here: it can't; look")


async def test_frames_that_are_no_messages():
    async with serving() as stage:
        client, peer = await stage.websocket()
        for frame, sent in (
            (Frame.TEXT, (TEXT, b"not JSON")),
            (Frame.BINARY, (BINARY, b"\0\xff")),
            (Frame.PING, (PING, b"p")),
            (Frame.PONG, (PONG, b"")),
        ):
            assert peer.outlet.send_frame(frame, sent[1])
            assert await client.hear() == sent
        assert not peer.outlet.send_raw(b":\n\n")
        client.frame(PING, b"x" * 125)
        assert await client.hear() == (PONG, b"x" * 125)
        client.frame(PONG, b"unasked for")


# The end

FAREWELLS = {
    "no code": ((), (CLOSE, b"")),
    "a code": ((1000,), closing(1000)),
    "a reason": ((4404, "session gone é"), closing(4404, "session gone é")),
    "a long reason": ((4000, "é" * 70), closing(4000, "é" * 61)),
    "a code that is never sent": ((1006, "lost"), (CLOSE, b"")),
}


@pytest.mark.parametrize(("farewell", "frame"), FAREWELLS.values(), ids=FAREWELLS)
async def test_an_agent_that_ends_is_heard_out(farewell, frame):
    async with serving() as stage:
        client, peer = await stage.websocket()
        for n in range(50):
            peer.outlet.send(notice("a", n=n))
        peer.outlet.finish(*farewell)
        peer.outlet.finish(1001)
        peer.outlet.abort()
        peer.outlet.send(notice("too late"))
        for n in range(50):
            assert await client.hear() == (TEXT, notice("a", n=n))
        assert await client.hear() == frame
        client.say(notice("too late"))
        client.frame(*frame)
        assert await client.rest() == b""
        assert (len(peer.heard), peer.ends) == (1, 0)


async def test_a_client_that_does_not_answer_the_close_frame(monkeypatch):
    monkeypatch.setattr(module, "CLOSING_TIME", 0.01)
    async with serving() as stage:
        client, peer = await stage.websocket()
        peer.outlet.finish(1000)
        assert await client.hear() == closing(1000)
        assert await client.rest() == b""


async def test_an_agent_that_breaks_off():
    async with serving() as stage:
        client, peer = await stage.websocket()
        peer.outlet.send(notice("a"))
        peer.outlet.abort()
        assert await client.hear() == (TEXT, notice("a"))
        assert await client.rest() == b""
        assert peer.ends == 0


PARTINGS = {
    "no code": ((CLOSE, b""), (CLOSE, b"")),
    "a code": (closing(1000), closing(1000)),
    "a reason": (closing(4001, "enough"), closing(4001)),
}


@pytest.mark.parametrize(("frame", "echo"), PARTINGS.values(), ids=PARTINGS)
async def test_a_client_that_closes_is_heard_out(frame, echo):
    async with serving() as stage:
        client, peer = await stage.websocket()
        for n in range(50):
            client.say(notice("a", n=n))
        client.frame(*frame)
        assert await client.hear() == echo
        assert await client.rest() == b""
        assert peer.heard[1:] == [notice("a", n=n) for n in range(50)]
        await peer.until(ends=1)
        peer.outlet.send(notice("too late"))
        peer.outlet.finish()
        assert peer.ends == 1


@pytest.mark.parametrize("farewell", [True, False])
async def test_a_client_that_is_lost_is_heard_out(farewell):
    async with serving() as stage:
        client, peer = await stage.websocket()
        peer.room.clear()
        texts = [notice("a", n=n) for n in range(50)]
        for text in texts:
            client.say(text)
        if farewell:
            client.frame(CLOSE, b"")
        await peer.until(heard=2)
        await client.close()
        await peer.until(ends=1)
        assert peer.heard[1:] == texts


async def test_a_client_that_leaves_before_it_begins():
    async with serving() as stage:
        client = await stage.upgrade()
        await client.close()
        await until(lambda: not stage.endpoint._websockets)


async def test_a_client_that_leaves_before_the_answer():
    async with serving(Silent) as stage:
        client = await stage.upgrade()
        client.say(INITIALIZE)
        await until(lambda: stage.peers)
        await client.close()
        await stage.peers[0].until(ends=1)


WRONG = {
    "no UTF-8": (TEXT, b"\xff", 1007),
    "a control frame that is too long": (PING, b"x" * 126, 1002),
    "an opcode that nobody knows": (3, b"", 1002),
}


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize(("opcode", "content", "code"), WRONG.values(), ids=WRONG)
async def test_frames_that_break_the_protocol(opcode, content, code, answered):
    async with serving() as stage:
        client, peer = await stage.websocket()
        client.frame(opcode, content)
        opcode, farewell = await client.hear()
        assert (opcode, farewell[:2]) == (CLOSE, struct.pack(">H", code))
        if answered:
            client.frame(CLOSE, farewell)
            assert await client.rest() == b""
        else:
            await client.close()
        await peer.until(ends=1)


async def test_close_ends_everything():
    async with serving() as stage:
        client, peer = await stage.websocket()
        peer.outlet.send(notice("a"))
        closed = asyncio.ensure_future(stage.endpoint.close())
        assert await client.hear() == (TEXT, notice("a"))
        assert await client.hear() == closing(1001, "Server shutting down")
        client.frame(*closing(1001))
        assert await client.rest() == b""
        await closed
        assert peer.ends == 1


async def test_a_peer_that_is_full_holds_the_client(monkeypatch):
    async with serving() as stage:
        client, peer = await stage.websocket()
        peer.room.clear()
        client.say(notice("a"))
        client.say(notice("b"))
        await peer.until(heard=2)
        await asyncio.sleep(0.02)
        assert len(peer.heard) == 2
        peer.room.set()
        await peer.until(heard=3)


async def test_a_peer_that_gives_up_while_it_is_full():
    class Weary(Puppet):
        async def drain(self):
            raise asyncio.CancelledError

    async with serving(Weary) as stage:
        client = await stage.upgrade()
        client.say(INITIALIZE)
        await client.rest()
        assert stage.peers[0].ends == 1


async def test_a_peer_that_is_full_when_the_endpoint_closes(monkeypatch):
    monkeypatch.setattr("acptap.transports.endpoint.endpoint._SHUTDOWN", 0.05)
    async with serving() as stage:
        client, peer = await stage.websocket()
        peer.room.clear()
        client.say(notice("a"))
        client.say(notice("b"))
        await peer.until(heard=2)
        await stage.endpoint.close()
        assert (len(peer.heard), peer.ends) == (2, 1)


async def test_a_peer_learns_when_to_stop_and_when_to_go_on():
    async with serving(limit=1000) as stage:
        client, peer = await stage.websocket()
        outlet, drained = peer.outlet, asyncio.Event()
        assert outlet.on_drain is None
        outlet.on_drain = drained.set
        assert outlet.on_drain == drained.set
        outlet.send(notice("a", blob="x" * 1000))
        assert outlet.is_full
        await client.hear()
        async with asyncio.timeout(LIMIT):
            await drained.wait()
        assert not outlet.is_full


PROTOCOLS = {
    "one": ("acp.v1", "acp.v1"),
    "several": ("acp.v2 , acp.v1", "acp.v2"),
    "an empty list": (" ", None),
}


@pytest.mark.parametrize(("offered", "chosen"), PROTOCOLS.values(), ids=PROTOCOLS)
async def test_the_first_subprotocol_is_chosen(offered, chosen):
    async with serving() as stage:
        client = await stage.connect()
        answer = await client.upgrade(("Sec-WebSocket-Protocol", offered))
        assert (answer.status, answer.get("Sec-WebSocket-Protocol")) == (101, chosen)


SIZES = [4_194_303, 4_194_304, 20_000_000]


@pytest.mark.parametrize("compress", [0, 15])
@pytest.mark.parametrize("size", SIZES)
async def test_a_message_of_any_size(size, compress):
    async with (
        serving() as stage,
        aiohttp.ClientSession() as session,
        session.ws_connect(
            f"http://127.0.0.1:{stage.port}/", max_msg_size=0, compress=compress
        ) as client,
    ):
        assert client.compress == compress
        await client.send_str(INITIALIZE.decode())
        assert (await client.receive()).data.encode() == INITIALIZED
        (peer,) = stage.peers
        text = notice("a", blob="")
        text = notice("a", blob="x" * (size - len(text)))
        assert len(text) == size
        await client.send_str(text.decode())
        await peer.until(heard=2)
        assert peer.heard[1] == text
        peer.outlet.send(text)
        assert (await client.receive()).data.encode() == text
