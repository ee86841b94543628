"""Connections over HTTP: how they begin, what they bring, and how they end."""

import asyncio
import socket
import struct

import orjson
import pytest
from aiohttp import web

from acptap.errors import CommandError
from acptap.transports.endpoint import Frame, Kind
from tests.endpoint.stage import (
    EVENTS,
    INITIALIZE,
    INITIALIZED,
    JSON,
    LIMIT,
    Puppet,
    Silent,
    data,
    notice,
    request,
    result,
    serving,
    until,
)

S1, S2 = ("Acp-Session-Id", "s1"), ("Acp-Session-Id", "s2")
UPDATE = notice("session/update", sessionId="s1")


async def test_initialize():
    async with serving() as stage:
        answer = await stage.ask("POST", JSON, body=INITIALIZE)
        assert (answer.status, answer.body) == (200, INITIALIZED)
        assert answer.get("Content-Type") == "application/json"
        (peer,) = stage.peers
        assert answer.get("Acp-Connection-Id") == peer.outlet.id
        assert peer.outlet.kind is Kind.HTTP
        assert peer.heard == [INITIALIZE]


async def test_each_connection_has_a_peer():
    async with serving() as stage:
        (one, _), (other, _) = await stage.initialize(), await stage.initialize()
        assert one != other
        assert (await stage.post(one, id=1, method="a")).status == 202
        assert [len(peer.heard) for peer in stage.peers] == [2, 1]


async def test_initialize_answered_with_an_error():
    said = b'{"jsonrpc":"2.0","id":0,"error":{"code":-32022,"message":"no"}}'

    class Refusing(Puppet):
        def answer(self):
            self.outlet.send(said)

    async with serving(Refusing) as stage:
        answer = await stage.ask("POST", JSON, body=INITIALIZE)
        assert (answer.status, answer.body) == (200, said)
        assert answer.get("Acp-Connection-Id")


FAILED = {"code": -32603, "message": "Initialize failed"}
ENDS = {
    "without a word": (lambda outlet: outlet.finish(), FAILED),
    "with a reason": (lambda outlet: outlet.finish(reason="it fell"), FAILED | {"data": "it fell"}),
    "broken off": (lambda outlet: outlet.abort(), FAILED),
}


@pytest.mark.parametrize(("end", "error"), ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("id_", [0, "x", 2**70])
async def test_initialize_never_answered(end, error, id_):
    async with serving(Silent) as stage:
        client = await stage.connect()
        await client.send("POST", JSON, body=b'{"id":%s,"method":"initialize"}' % orjson_id(id_))
        await until(lambda: stage.peers)
        await stage.peers[0].until(heard=1)
        end(stage.peers[0].outlet)
        answer = await client.answer()
        assert answer.status == 500
        assert answer.get("Content-Type") == "application/json"
        assert answer.get("Acp-Connection-Id") is None
        body = orjson.loads(answer.body)
        assert body == {"jsonrpc": "2.0", "id": float(id_) if id_ == 2**70 else id_, "error": error}
        unknown = ("Acp-Connection-Id", stage.peers[0].outlet.id)
        assert (await stage.ask("DELETE", unknown)).status == 404
        assert stage.peers[0].ends == 0


def orjson_id(id_):
    return str(id_).encode() if isinstance(id_, int) else orjson.dumps(id_)


async def test_an_agent_that_can_not_be_started():
    def fail(_):
        raise CommandError("it was not found", where="'agent'", fix="look", exit_code=127)

    async with serving(fail) as stage:
        answer = await stage.ask("POST", JSON, body=INITIALIZE)
        assert answer.status == 500
        assert orjson.loads(answer.body)["error"]["data"] == "'agent': it was not found; look"


async def test_the_answer_is_known_by_its_id():
    class Talkative(Puppet):
        def begin(self):
            self.outlet.send(notice("early"))

        def answer(self):
            self.outlet.send(b"no JSON")
            self.outlet.send(UPDATE)
            self.outlet.send(request(0, "a/question"))
            self.outlet.send(result("0"))
            self.outlet.send(b'{"id":0.0,"result":{}}')
            self.outlet.send(result(0))

    async with serving(Talkative) as stage:
        answer = await stage.ask("POST", JSON, body=INITIALIZE)
        assert answer.body == b'{"id":0.0,"result":{}}'
        connection = ("Acp-Connection-Id", answer.get("Acp-Connection-Id"))
        own = await stage.listen(connection)
        assert [await own.block() for _ in range(5)] == [
            data(notice("early")),
            data(b"no JSON"),
            data(request(0, "a/question")),
            data(result("0")),
            data(result(0)),
        ]
        session = await stage.listen(connection, S1)
        assert await session.block() == data(UPDATE)


async def test_a_client_that_leaves_before_the_answer():
    async with serving(Silent) as stage:
        client = await stage.connect()
        await client.send("POST", JSON, body=INITIALIZE)
        await until(lambda: stage.peers)
        await client.close()
        await stage.peers[0].until(ends=1)
        connection = ("Acp-Connection-Id", stage.peers[0].outlet.id)
        assert (await stage.post(connection, id=1, method="a")).status == 404


# What comes on which stream

ASKED = {  # what the client asked, with which headers; the stream of its answer
    "session/new": (request(1, "session/new"), [], None),
    "session/prompt": (request(1, "session/prompt", sessionId="s1"), [S1], "s1"),
    "session/load": (request(1, "session/load", sessionId="s1"), [S1], None),
    "session/resume": (request(1, "session/resume", sessionId="s1"), [S1], "s1"),
    "session/fork": (request(1, "session/fork", sessionId="s1"), [S1], "s1"),
    "an extension": (request(1, "_x", sessionId="s1"), [S1], "s1"),
    "the header alone": (request(1, "_x"), [S1], "s1"),
    "the session is no string": (request(1, "_x", sessionId=1), [], None),
    "no params": (b'{"id":1,"method":"_x","params":[]}', [], None),
    "an id with a point": (b'{"id":1.0,"method":"_x","params":{}}', [S1], "s1"),
}


@pytest.mark.parametrize(("body", "headers", "stream"), ASKED.values(), ids=ASKED)
async def test_where_an_answer_comes(body, headers, stream):
    async with serving() as stage:
        connection, peer = await stage.initialize()
        own, session = await stage.listen(connection), await stage.listen(connection, S1)
        assert (await stage.ask("POST", JSON, connection, *headers, body=body)).status == 202
        peer.outlet.send(result(1))
        peer.outlet.send(result(1))  # nothing is open now
        peer.outlet.send(UPDATE)
        answers = [await own.block()] if stream else [await own.block(), await own.block()]
        assert answers == [data(result(1))] * len(answers)
        blocks = [await session.block()]
        if stream:
            blocks.append(await session.block())
        assert blocks == ([data(result(1))] if stream else []) + [data(UPDATE)]


SAID = {
    "an update": (UPDATE, "s1"),
    "a question": (request(5, "session/request_permission", sessionId="s1"), "s1"),
    "an elicitation of a request": (request(5, "elicitation/create", requestId=1), None),
    "cancel_request": (notice("$/cancel_request", requestId=5), None),
    "elicitation/complete": (notice("elicitation/complete", elicitationId="e"), None),
    "mcp/message": (notice("mcp/message", connectionId="m"), None),
    "an empty session": (notice("session/update", sessionId=""), None),
    "an error about nothing": (b'{"id":null,"error":{"code":-32700,"message":"?"}}', None),
    "a batch": (b"[" + notice("a") + b"," + UPDATE + b"]", "s1"),
    "an empty batch": (b"[]", None),
    "no message": (b"7", None),
}


@pytest.mark.parametrize(("text", "stream"), SAID.values(), ids=SAID)
async def test_where_a_message_comes(text, stream):
    async with serving() as stage:
        connection, peer = await stage.initialize()
        peer.outlet.send(text)
        client = await stage.listen(connection, *([] if stream is None else [S1]))
        assert await client.block() == data(text)


async def test_a_client_that_names_no_session_hears_it_on_the_connection():
    # the Python client opens a session's stream when it has seen a message of it
    async with serving() as stage:
        connection, peer = await stage.initialize()
        own = await stage.listen(connection)
        await stage.post(connection, id=1, method="session/resume", params={"sessionId": "s1"})
        peer.outlet.send(UPDATE)
        peer.outlet.send(result(1))
        assert [await own.block(), await own.block()] == [data(UPDATE), data(result(1))]
        await stage.listen(connection, S1)
        peer.outlet.send(request(7, "session/request_permission", sessionId="s1"))
        assert orjson.loads((await own.block())[6:])["id"] == 7
        assert (await stage.post(connection, id=7, result={})).status == 202


async def test_a_session_with_a_stream_keeps_it():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        session = await stage.listen(connection, S1)
        await stage.post(connection, id=1, method="session/resume", params={"sessionId": "s1"})
        peer.outlet.send(UPDATE)
        peer.outlet.send(result(1))
        assert [await session.block(), await session.block()] == [data(UPDATE), data(result(1))]


BLOCKS = {
    "as recorded": (UPDATE, b"id: 4\ndata:" + UPDATE + b"\n\n", b"id: 4\ndata:" + UPDATE + b"\n\n"),
    "LF": (b'{"method":\n"a"}', None, b'data: {"method":\ndata: "a"}\n\n'),
    "CRLF and CR": (b'{"method":\r\n"a"\r}', None, b'data: {"method":\ndata: "a"\ndata: }\n\n'),
}


@pytest.mark.parametrize(("text", "block", "sent"), BLOCKS.values(), ids=BLOCKS)
async def test_how_a_message_is_spelt(text, block, sent):
    async with serving() as stage:
        connection, peer = await stage.initialize()
        peer.outlet.send(text, block)
        client = await stage.listen(connection, *([S1] if text == UPDATE else []))
        assert await client.block() == sent


async def test_blocks_that_are_no_messages():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        assert peer.outlet.send_raw(b": open\n\n")
        assert peer.outlet.send_raw(b"retry: 5\n\n", "s1")
        assert not peer.outlet.send_frame(Frame.PING, b"")
        assert await (await stage.listen(connection)).block() == b": open\n\n"
        assert await (await stage.listen(connection, S1)).block() == b"retry: 5\n\n"


async def test_the_202_comes_before_the_work_shows():
    class Prompt(Puppet):
        def hear(self, text):
            super().hear(text)
            if len(self.heard) > 1:
                order.append("heard")
                self.outlet.send(result(1))

    order: list[str] = []
    async with serving(Prompt) as stage:
        connection, _ = await stage.initialize()
        events = await stage.listen(connection)

        async def wait(what, name):
            await what
            order.append(name)

        client = await stage.connect()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(wait(client.answer(), "202"))
            tasks.create_task(wait(events.block(), "event"))
            await client.send("POST", JSON, connection, body=request(1, "session/new"))
        assert order == ["heard", "202", "event"]


async def test_a_peer_that_is_full_holds_the_202():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        peer.room.clear()
        clients = [await stage.connect() for _ in range(3)]
        for number, client in enumerate(clients, 1):
            body = request(number, "session/new")
            await client.send("POST", JSON, connection, body=body)
            await peer.until(heard=number + 1)
            assert peer.heard[number] == body
        assert not any(client.reader._buffer for client in clients)
        peer.room.set()
        assert [(await client.answer()).status for client in clients] == [202] * 3


async def test_messages_keep_their_order():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        texts = [notice("session/update", sessionId="s1", n=n) for n in range(3000)]
        for text in texts[:1000]:
            peer.outlet.send(text)
        client = await stage.listen(connection, S1)
        for text in texts[1000:]:
            peer.outlet.send(text)
        assert [await client.block() for _ in texts] == list(map(data, texts))


async def test_large_messages():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        client = await stage.listen(connection)
        for size in (65_536, 524_300, 20_000_000):
            text = notice("a", blob="x" * size)
            peer.outlet.send(text)
            assert await client.block() == data(text)


async def test_headers_come_at_once_and_comments_when_it_is_quiet():
    async with serving(keep_alive=0.01) as stage:
        connection, peer = await stage.initialize()
        client = await stage.listen(connection)
        assert [await client.block(), await client.block()] == [b":\n\n"] * 2
        peer.outlet.send(UPDATE[:0] + notice("a"))
        while (block := await client.block()) == b":\n\n":
            pass
        assert block == data(notice("a"))


# A client that comes back


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("session", [[], [S1]], ids=["connection", "session"])
async def test_a_stream_that_is_opened_again(reset, session):
    async with serving() as stage:
        connection, peer = await stage.initialize()
        texts = [notice("a", n=n, **({"sessionId": "s1"} if session else {})) for n in range(4)]
        client = await stage.listen(connection, *session)
        peer.outlet.send(texts[0])
        assert await client.block() == data(texts[0])
        if reset:
            client.writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
        await client.close()
        await until_free(stage, connection, *session)
        for text in texts[1:]:
            peer.outlet.send(text)
        again = await stage.listen(connection, *session, ("Last-Event-ID", "e1"))
        assert [await again.block() for _ in texts[1:]] == list(map(data, texts[1:]))


async def until_free(stage, connection, *session):
    """Wait until the endpoint has seen that the stream's client has gone."""
    held = stage.endpoint._connections[connection[1]]
    await until(lambda: not held.is_taken(session[0][1] if session else None))


SIZES = {"small": (300, 30_000), "large": (400_000, 60)}


@pytest.mark.parametrize(("size", "count"), SIZES.values(), ids=SIZES)
async def test_what_a_client_that_is_lost_did_not_get_waits_for_the_next(size, count):
    async with serving() as stage:
        connection, peer = await stage.initialize()
        client = await stage.listen(connection)
        texts = [notice("a", n=n, blob="x" * size) for n in range(count)]
        for text in texts:
            peer.outlet.send(text)
        await client.stall()
        (drop,) = stage.endpoint._connections[connection[1]]._writers
        transport = drop.__self__._transport
        await until(transport.get_write_buffer_size)
        transport.abort()  # the system still delivers what it has
        got = await client.rest()
        complete = got.count(b"\n\n")
        assert 0 < complete < count
        await until_free(stage, connection)
        again = await stage.listen(connection)
        first = orjson.loads((await again.block())[6:])["params"]["n"]
        assert 0 < first <= complete
        assert [await again.block() for _ in texts[first + 1 :]] == list(
            map(data, texts[first + 1 :])
        )


async def test_a_message_that_the_system_has_in_part_waits_for_the_next():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        await stage.listen(connection)
        held = stage.endpoint._connections[connection[1]]
        (drop,) = held._writers
        transport = drop.__self__._transport
        count = 0
        while not transport.get_write_buffer_size():
            peer.outlet.send(notice("a", n=count, blob="x" * 7_000))
            count += 1
            await until(lambda: held._own.is_empty or transport.get_write_buffer_size())
        transport.abort()
        await until_free(stage, connection)
        again = await stage.listen(connection)
        assert orjson.loads((await again.block())[6:])["params"]["n"] == count - 1


# Backpressure


async def test_a_peer_learns_when_to_stop_and_when_to_go_on():
    async with serving(limit=1000) as stage:
        connection, peer = await stage.initialize()
        outlet, drained = peer.outlet, asyncio.Event()
        assert outlet.on_drain is None
        outlet.on_drain = drained.set
        assert outlet.on_drain == drained.set
        sent = 0
        while not outlet.is_full:
            outlet.send(notice("a", sessionId=f"s{sent % 2}"))
            sent += 1
        assert sent * len(data(notice("a", sessionId="s0"))) >= 1000
        own = await stage.listen(connection, S1)
        for _ in range(sent // 2):
            await own.block()
        other = await stage.listen(connection, ("Acp-Session-Id", "s0"))
        async with asyncio.timeout(LIMIT):
            await drained.wait()
        assert not outlet.is_full
        await other.block()


async def test_a_client_that_goes_frees_what_waits_for_it():
    async with serving(limit=1) as stage:
        connection, peer = await stage.initialize()
        peer.outlet.send(UPDATE)
        assert peer.outlet.is_full
        await stage.ask("DELETE", connection)
        assert not peer.outlet.is_full


# The end


async def test_delete_ends_the_streams():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        clients = [await stage.listen(connection), await stage.listen(connection, S1)]
        await stage.ask("DELETE", connection)
        assert [await client.block() for client in clients] == [b"", b""]
        peer.outlet.send(UPDATE)
        assert peer.outlet.send_raw(b":\n\n")
        peer.outlet.finish()
        assert peer.ends == 1


async def test_delete_drops_a_client_that_takes_nothing():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        client = await stage.listen(connection)
        peer.outlet.send(notice("a", blob="x" * 20_000_000))
        await client.stall()
        assert (await stage.ask("DELETE", connection)).status == 202
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await client.block()


async def test_an_agent_that_ends_is_heard_out():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        own = await stage.listen(connection)
        peer.outlet.send(notice("a"))
        peer.outlet.send(UPDATE)
        peer.outlet.finish(1000, "bye")
        peer.outlet.finish()
        peer.outlet.send(notice("too late"))
        assert [await own.block(), await own.block()] == [data(notice("a")), b""]
        assert (await stage.post(connection, id=1, method="session/new")).status == 404
        assert (await stage.ask("GET", EVENTS, connection)).status == 404
        session = await stage.listen(connection, S1)
        assert [await session.block(), await session.block()] == [data(UPDATE), b""]
        assert (await stage.ask("GET", EVENTS, connection, S1)).status == 404
        assert (await stage.ask("GET", EVENTS, connection, S2)).status == 404
        assert (await stage.ask("DELETE", connection)).status == 202
        assert (await stage.ask("DELETE", connection)).status == 404
        assert peer.ends == 0


async def test_an_agent_that_breaks_off_cuts_the_streams():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        client = await stage.listen(connection)
        peer.outlet.send(notice("a"))
        peer.outlet.abort()
        assert await client.block() == data(notice("a"))
        assert await client.rest() == b""  # no last chunk


async def test_close_ends_everything():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        client, idle = await stage.listen(connection), await stage.connect()
        await idle.send("GET", EVENTS)
        await idle.answer()
        peer.outlet.send(notice("a"))
        peer.outlet.send(UPDATE)
        await stage.endpoint.close()
        await stage.endpoint.close()
        assert [await client.block(), await client.block()] == [data(notice("a")), b""]
        assert await idle.rest() == b""
        assert peer.ends == 1
        with pytest.raises(ConnectionRefusedError):
            await stage.connect()


async def test_close_waits_for_who_listens():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        client = await stage.listen(connection)
        others = [await stage.connect() for _ in range(4)]
        for other in others:
            await other.send("GET", EVENTS)
            await other.answer()
        text = notice("a", blob="x" * 20_000_000)
        peer.outlet.send(text)
        peer.outlet.send(UPDATE)
        await client.stall()
        closing = asyncio.ensure_future(stage.endpoint.close())
        await peer.until(ends=1)
        await others[0].send("POST", JSON, body=INITIALIZE)
        assert (await others[0].answer()).status == 503
        assert (await others[1].upgrade()).status == 503
        await others[2].send("POST", JSON, connection, body=request(1, "session/new"))
        assert (await others[2].answer()).status == 404
        await others[3].send("GET", EVENTS, connection, S1)
        assert (await others[3].head()).status == 200
        assert [await others[3].block(), await others[3].block()] == [data(UPDATE), b""]
        assert not closing.done()
        assert [await client.block(), await client.block()] == [data(text), b""]
        await closing
        assert len(stage.peers) == 1


async def test_close_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr("acptap.transports.endpoint.endpoint._SHUTDOWN", 0.05)
    async with serving() as stage:
        connection, peer = await stage.initialize()
        client = await stage.listen(connection)
        peer.outlet.send(notice("a", blob="x" * 20_000_000))
        await client.stall()
        await stage.endpoint.close()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await client.block()
        assert peer.ends == 1


async def test_a_client_that_asks_while_the_endpoint_closes():
    async with serving(Silent) as stage:
        client = await stage.connect()
        await client.send("POST", JSON, body=INITIALIZE)
        await until(lambda: stage.peers)
        await stage.endpoint.close()
        assert (await client.answer()).status == 500
        assert stage.peers[0].ends == 1


async def test_a_client_of_http_1_0():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        peer.outlet.send(notice("a"))
        peer.outlet.finish()
        client = await stage.connect()
        client.writer.write(
            b"GET / HTTP/1.0\r\nAccept: text/event-stream\r\n"
            + f"{': '.join(connection)}\r\n\r\n".encode()
        )
        assert (await client.head()).status == 200
        assert await client.rest() == data(notice("a"))


# What is answered otherwise


async def test_what_is_no_acp():
    async def other(asked):
        seen.append(asked.method)
        body = await asked.read()
        return web.Response(body=body or b"ok") if asked.path == "/health" else None

    seen: list[str] = []
    async with serving(other=other) as stage:
        assert (await stage.ask("GET", target="/health")).body == b"ok"
        assert (await stage.ask("POST", body=b"\xff", target="/health")).body == b"\xff"
        assert (await stage.ask("GET", EVENTS)).status == 400
        assert (await stage.ask("PUT", target="/x")).status == 405
        connection, peer = await stage.initialize()
        assert (await stage.post(connection, id=1, method="a")).status == 202
        await stage.listen(connection)
        await stage.upgrade()
        assert seen == ["GET", "POST", "GET", "PUT", "POST", "POST", "GET", "GET"]
        assert peer.heard == [INITIALIZE, b'{"id":1,"method":"a"}']


async def test_what_is_refused():
    async def other(asked):
        if asked.headers.get("Upgrade"):
            return web.Response(status=403)
        if asked.method == "GET":
            response = web.StreamResponse(status=404)
            await response.prepare(asked)
            await response.write(b"gone")
            return response
        return web.Response(status=503) if asked.method == "POST" else None

    async with serving(other=other) as stage:
        assert (await stage.ask("POST", JSON, body=INITIALIZE)).status == 503
        client = await stage.connect()
        assert (await client.upgrade()).status == 403
        await client.send("GET", EVENTS, ("Acp-Connection-Id", "old"))
        assert (await client.head()).status == 404
        assert not stage.peers


async def test_a_message_that_the_peer_refuses():
    class Refusing(Puppet):
        def hear(self, text):
            super().hear(text)
            return web.Response(status=418) if b"refuse" in text else None

    async with serving(Refusing) as stage:
        connection, peer = await stage.initialize()
        body = request(1, "refuse", sessionId="s1")
        peer.room.clear()
        assert (await stage.ask("POST", JSON, connection, S1, body=body)).status == 418
        body = notice("refuse")
        assert (await stage.ask("POST", JSON, connection, S1, body=body)).status == 418
        peer.outlet.send(result(1))
        own = await stage.listen(connection)
        assert await own.block() == data(result(1))  # nothing is open on the session's stream


async def test_an_initialize_that_the_peer_refuses():
    class Refusing(Silent):
        def hear(self, text):
            super().hear(text)
            return web.Response(status=418)

    async with serving(Refusing) as stage:
        assert (await stage.ask("POST", JSON, body=INITIALIZE)).status == 418
        assert stage.peers[0].ends == 1
        connection = ("Acp-Connection-Id", stage.peers[0].outlet.id)
        assert (await stage.ask("DELETE", connection)).status == 404


async def test_what_is_sent_at_once_is_written_at_once():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        client = await stage.listen(connection)
        for texts in ([notice("a", n=n) for n in range(100)], [notice("b")]):
            for text in texts:
                peer.outlet.send(text)
            size = int(await client.reader.readuntil(b"\r\n"), 16)
            assert await client.reader.readexactly(size + 2) == b"".join(map(data, texts)) + b"\r\n"
