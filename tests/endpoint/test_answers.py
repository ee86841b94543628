"""The table of statuses: each row of what the TypeScript server answers, as a request."""

import gzip

import orjson
import pytest

from tests.endpoint.stage import EVENTS, INITIALIZE, JSON, notice, request, result, serving

S1, S2 = ("Acp-Session-Id", "s1"), ("Acp-Session-Id", "s2")
TEXT = ("Content-Type", "text/plain")
LONG = "x" * 1025
PROMPT = request(3, "session/prompt", sessionId="s1", prompt=[])
NOT_TAKEN = {"jsonrpc": "2.0", "id": None, "error": {
    "code": -32600, "message": "Invalid request: JSON-RPC batches are not supported"}}  # fmt: skip
MISSING, UNKNOWN = "Missing Acp-Connection-Id", "Unknown Acp-Connection-Id"
NO_SESSION, OTHER_SESSION = "Missing Acp-Session-Id", "Mismatched Acp-Session-Id"

WITHOUT = {  # a connection
    "initialize without an id": ("POST", [JSON], request(None, "initialize"), 400,
        "Initialize request must include an ID"),
    "initialize as a notification": ("POST", [JSON], notice("initialize"), 400, MISSING),
    "another media type": ("POST", [TEXT], INITIALIZE, 415, "Unsupported Media Type"),
    "no media type": ("POST", [], INITIALIZE, 415, "Unsupported Media Type"),
    "no JSON": ("POST", [JSON], b"{", 400, "Invalid JSON"),
    "no UTF-8": ("POST", [JSON], b'"\xff"', 400, "Invalid JSON"),
    "no body": ("POST", [JSON], b"", 400, "Invalid JSON"),
    "a broken coding": ("POST", [JSON, ("Content-Encoding", "gzip")], b"{}", 400, None),
    "a string": ("POST", [JSON], b'"initialize"', 400, "Invalid JSON-RPC message"),
    "null": ("POST", [JSON], b"null", 400, "Invalid JSON-RPC message"),
    "a batch": ("POST", [JSON], b"[" + INITIALIZE + b"]", 400, NOT_TAKEN),
    "post without a connection": ("POST", [JSON], PROMPT, 400, MISSING),
    "post to an empty one": ("POST", [JSON, ("Acp-Connection-Id", "")], PROMPT, 400, MISSING),
    "post to an unknown one": ("POST", [JSON, ("Acp-Connection-Id", "c")], PROMPT, 404, UNKNOWN),
    "get without a connection": ("GET", [EVENTS], None, 400, MISSING),
    "get of an unknown one": ("GET", [EVENTS, ("acp-connection-id", "c")], None, 404, UNKNOWN),
    "get that accepts nothing we have": ("GET", [("Accept", "text/html")], None, 406,
        "Not Acceptable"),
    "get that does not say what it accepts": ("GET", [], None, 406, "Not Acceptable"),
    "no handshake": ("GET", [EVENTS, ("Upgrade", "WebSocket")], None, 426,
        "This is no WebSocket handshake of version 13"),
    "delete without a connection": ("DELETE", [], None, 400, MISSING),
    "delete of an unknown one": ("DELETE", [("Acp-Connection-Id", "c")], None, 404, UNKNOWN),
    "put": ("PUT", [JSON], INITIALIZE, 405, "Method Not Allowed"),
    "head": ("HEAD", [EVENTS], None, 405, None),
    "options that is no preflight": ("OPTIONS", [], None, 405, "Method Not Allowed"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "headers", "body", "status", "said"), WITHOUT.values(), ids=WITHOUT
)
async def test_without_a_connection(method, headers, body, status, said):
    async with serving() as stage:
        client = await stage.connect()
        await client.send(method, *headers, body=body)
        answer = await (client.head() if method == "HEAD" else client.answer())
        assert answer.status == status
        if isinstance(said, dict):
            assert answer.get("Content-Type") == "application/json"
            assert orjson.loads(answer.body) == said
        elif said is not None:
            assert answer.get("Content-Type") == "text/plain"
            assert answer.body.decode() == said
        assert not stage.peers


WITH = {  # a connection, whose agent asked 7 on the stream of s1 and 8 on its own
    "initialize": ([], INITIALIZE, 400, "Initialize not allowed on existing connection"),
    "a request": ([], request(1, "session/new", cwd="/"), 202, ""),
    "parameters in the media type": ([("Content-Type", "Application/JSON; charset=utf-8")],
        request(1, "session/new", cwd="/"), 202, ""),
    "a byte order mark": ([], b"\xef\xbb\xbf" + notice("session/x"), 202, ""),
    "a prompt": ([S1], PROMPT, 202, ""),
    "a prompt without its session": ([], PROMPT, 400, NO_SESSION),
    "a prompt with an empty session": ([("Acp-Session-Id", "")], PROMPT, 400, NO_SESSION),
    "a prompt with another session": ([S2], PROMPT, 400, OTHER_SESSION),
    "cancel without its session": ([], notice("session/cancel", sessionId="s1"), 400, NO_SESSION),
    "close without its session": ([], request(1, "session/close"), 400, NO_SESSION),
    "set_mode without its session": ([], request(1, "session/set_mode"), 400, NO_SESSION),
    "set_config_option without its session": ([], request(1, "session/set_config_option"), 400,
        NO_SESSION),
    "load without its session": ([], request(1, "session/load", sessionId="s1"), 202, ""),
    "resume without its session": ([], request(1, "session/resume", sessionId="s1"), 202, ""),
    "an extension without its session": ([], request(1, "_x", sessionId="s1"), 202, ""),
    "load with another session": ([S2], request(1, "session/load", sessionId="s1"), 400,
        OTHER_SESSION),
    "an answer": ([], result(8), 202, ""),
    "an answer with a session to a question without": ([S2], result(8), 202, ""),
    "an answer with its session": ([S1], result(7), 202, ""),
    "an answer without its session": ([], result(7), 202, ""),
    "an answer with another session": ([S2], result(7), 400, OTHER_SESSION),
    "an answer to nothing": ([], result(99), 202, ""),
    "cancel_request": ([], notice("$/cancel_request", requestId=7), 202, ""),
    "no message at all": ([], b'{"jsonrpc":"2.0"}', 202, ""),
    "an id of 1024 characters": ([], request("x" * 1024, "session/new"), 202, ""),
    "an id of 1025 characters": ([], request(LONG, "session/new"), 400,
        "Request ID exceeds 1024 characters"),
    "a session of 1025 characters": ([], request(1, "session/load", sessionId=LONG), 400,
        "Session ID exceeds 1024 characters"),
    "a batch": ([], b"[" + PROMPT + b"]", 400, NOT_TAKEN),
}  # fmt: skip


@pytest.mark.parametrize(("headers", "body", "status", "said"), WITH.values(), ids=WITH)
async def test_post_on_a_connection(headers, body, status, said):
    async with serving() as stage:
        connection, peer = await stage.initialize()
        for question in (request(7, "a", sessionId="s1"), request(8, "a")):
            peer.outlet.send(question)
        media = [] if headers and headers[0][0] == "Content-Type" else [JSON]
        answer = await stage.ask("POST", *media, connection, *headers, body=body)
        assert answer.status == status
        if isinstance(said, dict):
            assert orjson.loads(answer.body) == said
        else:
            assert answer.body.decode() == said
        if status == 202:
            assert answer.get("Content-Length") == "0"
            assert answer.get("Content-Type") is None
            assert peer.heard[1:] == [body]
        else:
            assert len(peer.heard) == 1


async def test_an_answer_counts_once():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        peer.outlet.send(request(7, "a", sessionId="s1"))
        assert (await stage.post(connection, S1, id=7, result={})).status == 202
        assert (await stage.post(connection, S2, id=7, result={})).status == 202


GETS = {
    "the connection's stream": ([EVENTS], 200),
    "anything is accepted": ([("Accept", "*/*")], 200),
    "something else too": ([("Accept", "text/html, TEXT/Event-Stream;q=0.5")], 200),
    "a session that nobody knows": ([EVENTS, ("Acp-Session-Id", "nobody")], 200),
    "a session of 1025 characters": ([EVENTS, ("Acp-Session-Id", LONG)], 400),
}


@pytest.mark.parametrize(("headers", "status"), GETS.values(), ids=GETS)
async def test_get_on_a_connection(headers, status):
    async with serving() as stage:
        connection, _ = await stage.initialize()
        client = await stage.connect()
        await client.send("GET", connection, *headers)
        answer = await client.head()
        assert answer.status == status
        if status == 200:
            assert answer.get("Content-Type") == "text/event-stream"
            assert answer.get("Cache-Control") == "no-cache"
            assert answer.get("Connection") == "keep-alive"


@pytest.mark.parametrize("session", [[], [S1]], ids=["connection", "session"])
async def test_a_stream_has_one_receiver(session):
    async with serving() as stage:
        connection, _ = await stage.initialize()
        await stage.listen(connection, *session)
        answer = await stage.ask("GET", EVENTS, connection, *session)
        assert answer.status == 409
        assert answer.body == b"Outbound stream already has an active receiver"
        await stage.listen(connection, S2)


async def test_delete():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        answer = await stage.ask("DELETE", connection)
        assert (answer.status, answer.body, answer.get("Content-Length")) == (202, b"", "0")
        assert peer.ends == 1
        assert (await stage.ask("DELETE", connection)).status == 404
        assert (await stage.post(connection, id=1, method="session/new")).status == 404
        assert (await stage.ask("GET", EVENTS, connection)).status == 404
        assert (peer.ends, len(peer.heard)) == (1, 1)


async def test_what_a_status_asks_for():
    async with serving() as stage:
        assert (await stage.ask("PUT")).get("Allow") == "POST, GET, DELETE"
        refused = await stage.ask("GET", ("Upgrade", "websocket"))
        assert refused.get("Sec-WebSocket-Version") == "13"
        assert refused.get("Server") == "acptap"


async def test_batches_where_they_are_taken():
    async with serving(batches=True) as stage:
        connection, peer = await stage.initialize()
        batch = b"[" + request(1, "session/new") + b"," + PROMPT + b"]"
        assert (await stage.ask("POST", JSON, connection, S1, body=batch)).status == 202
        assert (await stage.ask("POST", JSON, connection, body=batch)).status == 400
        assert (await stage.ask("POST", JSON, connection, S2, body=batch)).status == 400
        assert peer.heard[1:] == [batch]
        first = await stage.ask("POST", JSON, body=b"[" + INITIALIZE + b"]")
        assert (first.status, first.body) == (400, MISSING.encode())


SIZES = [1_048_576, 1_048_577, 30_000_000]


@pytest.mark.parametrize("size", SIZES)
async def test_a_body_of_any_size(size):
    async with serving() as stage:
        connection, peer = await stage.initialize()
        bare = len(request(1, "x", blob=""))
        body = request(1, "x", blob="y" * (size - bare))
        assert len(body) == size
        assert (await stage.ask("POST", JSON, connection, body=body)).status == 202
        assert peer.heard[1] == body


CODED = {
    "chunked": ([("Transfer-Encoding", "chunked")],
        lambda body: b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)),
    "gzip": ([("Content-Encoding", "gzip")], gzip.compress),
}  # fmt: skip


@pytest.mark.parametrize(("headers", "encode"), CODED.values(), ids=CODED)
@pytest.mark.parametrize("size", [10, 5_000_000])
async def test_a_coded_body(headers, encode, size):
    async with serving() as stage:
        connection, peer = await stage.initialize()
        body = request(1, "x", blob="y" * size)
        coded = encode(body)
        client = await stage.connect()
        framing = [] if headers[0][0] == "Transfer-Encoding" else [("Content-Length", len(coded))]
        await client.send("POST", JSON, connection, *headers, *framing)
        client.writer.write(coded)
        assert (await client.answer()).status == 202
        assert peer.heard[1] == body


async def test_a_client_that_waits_for_100():
    async with serving() as stage:
        connection, peer = await stage.initialize()
        client = await stage.connect()
        await client.send(
            "POST", JSON, connection, ("Expect", "100-continue"), ("Content-Length", 2)
        )
        assert (await client.head()).status == 100
        client.writer.write(b"{}")
        assert (await client.answer()).status == 202
        assert peer.heard[1] == b"{}"


TARGETS = [
    "/",
    "/acp",
    "/acp/v1?key=a%2Fb",
    "//twice//",
    "/%C3%A9/%zz",
    "http://127.0.0.1/acp",
]


@pytest.mark.parametrize("target", TARGETS)
async def test_any_path(target):
    async with serving() as stage:
        answer = await stage.ask("POST", JSON, body=INITIALIZE, target=target)
        assert answer.status == 200
