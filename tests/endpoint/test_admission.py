"""Who is let in: over real sockets, with what pages in a browser can send."""

import asyncio
import logging

import pytest

from acptap.transports.listening import DEFAULT, Admission, Listen
from tests.endpoint.stage import EVENTS, INITIALIZE, JSON, Client, serving

EVIL = ("Origin", "https://evil.example")
APP = ("Origin", "https://app.example")
ALLOWING = Admission.of(DEFAULT, ["box.example"], ["https://app.example"])


@pytest.mark.parametrize("kind", ["post", "get", "websocket"])
@pytest.mark.parametrize(
    ("host", "headers", "sentence"),
    [
        ("127.0.0.1", [EVIL], "the page comes from 'https://evil.example'"),
        ("evil.example:8484", [], "the Host header says 'evil.example:8484'"),
        (
            "evil.example",
            [("Origin", "http://evil.example")],
            "the Host header says 'evil.example'",
        ),
        ("127.0.0.1", [("Origin", "null")], "the page comes from 'null'"),
        ("127.0.0.1", [("Origin", "http://\xe9")], "the page comes from"),
    ],
)
async def test_a_foreign_page_is_refused(kind, host, headers, sentence):
    async with serving() as stage:
        client = await stage.connect()
        match kind:
            case "post":
                await client.send("POST", JSON, *headers, host=host, body=INITIALIZE)
                answer = await client.answer()
            case "get":
                await client.send("GET", EVENTS, *headers, host=host)
                answer = await client.answer()
            case _:
                answer = await client.upgrade(*headers, host=host)
                answer.body = await client.reader.readexactly(int(answer.get("Content-Length")))
        assert answer.status == 403
        text = answer.body.decode()
        assert text.startswith(f"acptap: refused, for {sentence}")
        assert text.endswith("\n")
        assert answer.get("Access-Control-Allow-Origin") is None
        assert not stage.peers


@pytest.mark.parametrize(
    ("host", "headers"),
    [
        (None, []),
        ("localhost:8484", [("Origin", "http://localhost:5173")]),
        ("[::1]:8484", [("Origin", "http://[::1]:5173")]),
        ("box.example:1", [APP]),
    ],
)
async def test_who_is_let_in(host, headers):
    async with serving(admission=ALLOWING) as stage:
        client = await stage.connect()
        if host is None:
            client.writer.write(
                b"POST / HTTP/1.0\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(INITIALIZE), INITIALIZE)
            )
        else:
            await client.send("POST", JSON, *headers, host=host, body=INITIALIZE)
        answer = await client.answer()
        assert answer.status == 200
        if headers:
            assert answer.get("Access-Control-Allow-Origin") == headers[0][1]
            assert (
                answer.get("Access-Control-Expose-Headers") == "Acp-Connection-Id, Acp-Session-Id"
            )
            assert answer.get("Access-Control-Allow-Credentials") == "true"
            assert answer.get("Vary") == "Origin"
        else:
            assert answer.get("Vary") is None


async def test_a_websocket_of_an_allowed_page():
    async with serving(admission=ALLOWING) as stage:
        client = await stage.connect()
        assert (await client.upgrade(APP)).status == 101


async def test_preflight():
    async with serving(admission=ALLOWING) as stage:
        answer = await stage.ask(
            "OPTIONS",
            APP,
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "acp-connection-id,content-type"),
            ("Access-Control-Request-Private-Network", "true"),
        )
        assert answer.status == 204
        assert answer.get("Access-Control-Allow-Origin") == "https://app.example"
        assert answer.get("Access-Control-Allow-Methods") == "POST, GET, DELETE"
        assert answer.get("Access-Control-Allow-Headers") == "acp-connection-id,content-type"
        assert answer.get("Access-Control-Allow-Private-Network") == "true"
        plain = await stage.ask("OPTIONS", APP, ("Access-Control-Request-Method", "GET"))
        assert (plain.status, plain.get("Access-Control-Allow-Headers")) == (204, None)
        evil = await stage.ask("OPTIONS", EVIL, ("Access-Control-Request-Method", "POST"))
        assert (evil.status, evil.get("Access-Control-Allow-Methods")) == (403, None)


async def test_errors_can_be_read_by_an_allowed_page():
    async with serving(admission=ALLOWING) as stage:
        answer = await stage.ask("GET", APP, EVENTS)
        assert answer.status == 400
        assert answer.get("Access-Control-Allow-Origin") == "https://app.example"


async def test_beyond_loopback_any_host_will_do():
    async with serving(admission=Admission.of(Listen("0.0.0.0", 0))) as stage:
        assert (await stage.ask("POST", JSON, body=INITIALIZE, host="box.example")).status == 200
        assert (await stage.ask("POST", JSON, EVIL, body=INITIALIZE)).status == 403


@pytest.mark.parametrize(
    "garbage",
    [
        b"garbage\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        b"\x16\x03\x01\r\n\r\n",
    ],
)
async def test_garbage_is_refused_without_a_word(garbage, caplog):
    async with serving() as stage:
        client: Client = await stage.connect()
        client.writer.write(garbage)
        assert (await client.head()).status == 400
        await client.rest()
    assert not [record for record in caplog.records if record.levelno > logging.DEBUG]


async def test_our_own_faults_are_reported(caplog):
    async def other(_):
        raise ZeroDivisionError

    async with serving(other=other) as stage:
        assert (await stage.ask("GET")).status == 500
    assert "Error handling request" in caplog.text


@pytest.mark.parametrize(
    ("target", "cookie"), [("/acp", "x" * 100_000), ("/acp?" + "x" * 100_000, "a=b")]
)
async def test_a_long_head_line(target, cookie):
    async with serving() as stage:
        answer = await stage.ask("POST", JSON, ("Cookie", cookie), body=INITIALIZE, target=target)
        assert answer.status == 200


async def test_many_clients_at_once():
    async with serving() as stage:

        async def talk():
            connection, _ = await stage.initialize()
            events = await stage.listen(connection)
            await stage.post(connection, id=1, method="session/new")
            assert (await stage.ask("DELETE", connection)).status == 202
            assert await events.block() == b""

        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            for _ in range(50):
                tasks.create_task(talk())
        assert [(len(peer.heard), peer.ends) for peer in stage.peers] == [(2, 1)] * 50
