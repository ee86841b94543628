"""A client that only knows stdio, and a server that speaks HTTP."""

import asyncio
import signal

import orjson
import pytest
from aiohttp import web

from tests.bridge.editor import INITIALIZE, notification, request, result
from tests.bridge.server import INITIALIZED, Cut, Server, accept, refuse, serve

PROMPT = request(2, "session/prompt", sessionId="s1")
ASK = request("ask", "session/request_permission", sessionId="s1")
UPDATE = notification("session/update", sessionId="s1")
SESSION, CONNECTION = "Acp-Session-Id", "Acp-Connection-Id"


async def test_a_whole_conversation(server, connect):
    editor = connect(server.url)
    await editor.open()
    await editor.send(request(1, "session/new", cwd="/"))
    await server.until("POST session/new")
    server.tell(None, result(1, sessionId="s1"))
    assert await editor.read() == result(1, sessionId="s1")
    await server.until("GET s1")
    await editor.send(PROMPT)
    server.tell("s1", UPDATE)
    server.tell("s1", ASK)
    assert [await editor.read(), await editor.read()] == [UPDATE, ASK]
    await editor.send(result("ask", outcome={"outcome": "cancelled"}))
    await server.until("POST answer")
    server.tell("s1", result(2, stopReason="end_turn"))
    assert await editor.read() == result(2, stopReason="end_turn")
    assert await editor.leave() == 0
    *log, last = server.log
    messages = [
        f"POST {what}" for what in ("initialize", "session/new", "session/prompt", "answer")
    ]
    assert [word for word in log if word.startswith("POST")] == messages
    assert sorted(set(log) - set(messages)) == ["GET", "GET s1"]
    assert last == "DELETE"
    assert server.bodies[0] == INITIALIZE
    first, *others = server.seen
    assert CONNECTION not in first.headers
    assert {seen.headers[CONNECTION] for seen in others} == {"c1"}
    assert {seen.headers["Cookie"] for seen in others} == {"route=seven"}
    assert [seen.headers.get(SESSION) for seen in server.seen if seen.method == "POST"] == [
        None,
        None,
        "s1",
        "s1",
    ]  # the answer goes where the question came from
    assert {seen.headers["Accept-Encoding"] for seen in server.seen} == {"identity"}
    assert {seen.headers["Content-Type"] for seen in server.seen if seen.method == "POST"} == {
        "application/json"
    }
    assert await editor.rest() == editor.said == []


async def test_one_message_is_posted_after_another(server, connect):
    editor = connect(server.url)
    await editor.open()
    await editor.send(*[notification(f"_n{number}") for number in range(50)])
    await server.until("POST _n49")
    assert server.most_busy == 1
    assert [word for word in server.log if "_n" in word] == [f"POST _n{n}" for n in range(50)]


async def test_a_session_has_its_stream_before_it_is_posted_to(server, connect):
    ready = asyncio.Event()

    async def listen(request):
        await ready.wait()
        server.log.append("ready")
        return await server.listen(request)

    server.on["GET s1"] = listen
    editor = connect(server.url)
    await editor.open()
    await editor.send(request(1, "session/load", sessionId="s1"), PROMPT)
    await server.until("GET s1")
    ready.set()
    await server.until("POST session/prompt")
    words = [word for word in server.log if "s1" in word or "session" in word or word == "ready"]
    assert words == ["GET s1", "ready", "POST session/load", "POST session/prompt"]


async def test_a_connection_is_used_without_waiting_for_its_stream(server, connect):
    never = asyncio.Event()

    async def listen(_):
        await never.wait()

    server.on["GET"] = listen
    editor = connect(server.url)
    await editor.open()
    await editor.send(request(1, "session/new"))
    await server.until("POST session/new")


async def test_an_answer_may_come_in_the_response_to_its_request(server, connect):
    server.on["POST session/new"] = accept(result(1, sessionId="s1"))
    editor = connect(server.url)
    await editor.open()
    await editor.send(request(1, "session/new"))
    assert await editor.read() == result(1, sessionId="s1")
    await server.until("GET s1")


BLOCKS = {
    "plain": (b"data: %b\n\n", [UPDATE]),
    "comments and other fields": (
        b": hello\n\nretry: 1\nid: 7\nevent: message\ndata:%b\n\n",
        [UPDATE],
    ),
    "CR LF": (b"data: %b\r\n\r\n", [UPDATE]),
    "an empty one first": (b"data: \n\ndata: %b\n\n", [UPDATE]),
    "on several lines": (
        b'data: {"jsonrpc":"2.0",\ndata: "method":"m"}\n\ndata: %b\n\n',
        [b'{"jsonrpc":"2.0", "method":"m"}', UPDATE],
    ),
    "noise": (b"data: keep\n\ndata: 7\n\ndata: %b\n\n", [UPDATE]),
}


@pytest.mark.parametrize(("block", "lines"), BLOCKS.values(), ids=BLOCKS)
async def test_what_stands_in_an_event_stream(server, connect, block, lines):
    editor = connect(server.url)
    await editor.open()
    server.say(None, block % UPDATE)
    assert [await editor.read() for _ in lines] == lines
    said = (
        ["the server sent what is no JSON-RPC message; it is left out"] if b"keep" in block else []
    )
    assert editor.said == said


async def test_an_event_stream_may_end_without_an_empty_line(server, connect):
    editor = connect(server.url)
    await editor.open()
    server.say(None, b"data: " + UPDATE)
    server.say(None, None)
    assert await editor.read() == UPDATE
    assert await editor.wait() == 1


SIZE = 20_000_000


async def test_h4_h5_nothing_is_too_long(server, connect):
    editor = connect(server.url)
    await editor.open()
    long = notification("_long", text="x" * SIZE)
    await editor.send(long)
    await server.until("POST _long")
    assert server.bodies[-1] == long
    server.tell(None, long)
    assert await editor.read() == long


LINES = {
    "CR LF": (UPDATE + b"\r", UPDATE),
    "blanks around it": (b"  " + UPDATE + b"\t", UPDATE),
    "a byte order mark": (b"\xef\xbb\xbf" + UPDATE, UPDATE),
}


@pytest.mark.parametrize(("line", "body"), LINES.values(), ids=LINES)
async def test_what_is_posted_of_a_line(server, connect, line, body):
    editor = connect(server.url)
    await editor.open()
    await editor.send(b"", line)
    await server.until("POST session/update")
    assert server.bodies[-1] == body


async def test_noise_is_not_posted(server, connect):
    editor = connect(server.url)
    await editor.open()
    await editor.send(b"hello", b"\xff", b"", UPDATE)
    await server.until("POST session/update")
    assert [word for word in server.log if word.startswith("POST")] == [
        "POST initialize",
        "POST session/update",
    ]
    assert editor.said == ["the client wrote what is no JSON-RPC message; it is left out"]


async def test_the_messages_of_a_batch_are_posted_one_by_one(server, connect):
    editor = connect(server.url)
    await editor.open()
    await editor.send(b"[ %b , %b]" % (UPDATE, PROMPT))
    await server.until("POST session/prompt")
    assert server.bodies[-2:] == [UPDATE, PROMPT]


async def test_a_line_needs_no_end(server, connect):
    editor = connect(server.url)
    await editor.open()
    await editor.send(UPDATE, end=b"")
    assert await editor.leave() == 0
    assert server.bodies[-2] == UPDATE


async def test_a_client_that_says_all_at_once_is_answered(server, connect):
    async def answer(_):
        server.tell(None, result(1, sessionId="s1"))
        return web.Response(status=202)

    server.on["POST session/new"] = answer
    editor = connect(server.url)
    await editor.send(INITIALIZE, request(1, "session/new"))
    assert await editor.leave() == 0
    assert await editor.rest() == [INITIALIZED, result(1, sessionId="s1")]


async def test_headers_are_added(server, connect):
    editor = connect(server.url, headers=[("Authorization", "Bearer abc"), ("X-Odd", "é")])
    await editor.open()
    await editor.leave()
    for seen in server.seen:
        assert (seen.headers["Authorization"], seen.headers["X-Odd"]) == ("Bearer abc", "é")


async def test_h10_the_url_stays_as_it_is_spelled(server, connect):
    target = "/base/a%2Fb%21%28c%29//x/?sig=Ab%2Fc%3D&sp=a+b%20c&empty=&y&q=%C3%A9"
    editor = connect(server.url.removesuffix("/acp") + target)
    await editor.open()
    assert server.seen[0].raw_path == target


# What goes wrong

REFUSED = "acptap: the agent's server refused the message"
REFUSALS = {
    "400": (
        refuse(400, "no\n good"),
        f"{REFUSED} (400 Bad Request: no good)",
        {"body": "no\n good"},
    ),
    "401": (refuse(401), f"{REFUSED} (401 Unauthorized)", {"body": ""}),
    "404 of a session": (refuse(404, "who?"), f"{REFUSED} (404 Not Found: who?)", {"body": "who?"}),
    "500": (
        refuse(500, "x" * 10_000),
        f"{REFUSED} (500 Internal Server Error: {'x' * 200})",
        {"body": "x" * 8192},
    ),
    "H11 a redirect": (
        refuse(307, Location="/acp/"),
        f"{REFUSED} (307 Temporary Redirect, it has moved to /acp/)",
        {"body": "", "location": "/acp/"},
    ),
}


@pytest.mark.parametrize(("answer", "message", "data"), REFUSALS.values(), ids=REFUSALS)
async def test_a_request_that_is_refused_is_answered(server, connect, answer, message, data):
    server.on["POST session/prompt"] = answer
    editor = connect(server.url)
    await editor.open()
    await editor.send(PROMPT)
    status = int(message.split("(")[1][:3])
    assert await editor.error(2) == (message, {"status": status} | data)
    await editor.send(request(3, "session/list"))  # and all goes on
    await server.until("POST session/list")
    assert await editor.leave() == 0
    assert editor.said == []


async def test_a_request_that_was_lost_on_the_way_is_answered(server, connect):
    async def cut(request):
        request.transport.abort()

    server.on["POST session/prompt"] = cut
    editor = connect(server.url)
    await editor.open()
    await editor.send(PROMPT)
    message, data = await editor.error(2)
    assert message.startswith("acptap: the agent's server can't be reached (")
    assert data.keys() == {"reason"}
    assert server.log.count("POST session/prompt") == 1  # H15


async def test_a_session_that_can_not_be_a_header_is_answered(server, connect):
    editor = connect(server.url)
    await editor.open()
    await editor.send(b'{"id":%d,"method":"m","params":{"sessionId":"a\\r\\nb"}}' % 2**70)
    line = await editor.read()
    assert b'"id":1180591620717411303424,"error"' in line
    assert b"can't be reached" in line


async def test_a_notification_that_is_refused_is_told_of(server, connect):
    server.on["POST session/cancel"] = refuse(500)
    editor = connect(server.url)
    await editor.open()
    await editor.send(notification("session/cancel", sessionId="s1"), request(3, "session/list"))
    await server.until("POST session/list")
    why = "the agent's server refused the message (500 Internal Server Error)"
    assert editor.said == [f"a message was not delivered: {why}"]


async def test_who_waits_for_an_answer_that_is_refused_is_told(server, connect):
    server.on["POST answer"] = refuse(400, "Missing Acp-Session-Id")
    editor = connect(server.url)
    await editor.open()
    await editor.send(PROMPT, request(3, "session/list"))
    server.tell("s1", ASK)
    assert await editor.read() == ASK
    await editor.send(result("ask", outcome={"outcome": "cancelled"}))
    message, _ = await editor.error(2)
    assert message == f"{REFUSED} (400 Bad Request: Missing Acp-Session-Id)"
    why = message.removeprefix("acptap: ")
    assert editor.said == [f"an answer was not delivered: {why}"]
    server.tell("s1", result(2, stopReason="end_turn"))  # too late
    server.tell("s1", UPDATE)
    assert await editor.read() == UPDATE
    await editor.send(PROMPT)  # the same id once more
    await server.until("POST session/prompt", 2)
    server.tell("s1", result(2, stopReason="end_turn"))
    assert await editor.read() == result(2, stopReason="end_turn")


OVER = "; the connection to the agent is over"
NO_START = {
    "refused": (
        refuse(503, "busy"),
        "the agent's server refused the message (503 Service Unavailable: busy)",
    ),
    "no connection": (
        accept(INITIALIZED),
        "this is no ACP server (its response has no Acp-Connection-Id header)",
    ),
    "no answer": (
        refuse(202, **{CONNECTION: "c1"}),
        "this is no ACP server (its response has no answer to initialize)",
    ),
    "a web page": (
        accept(b"<html>"),
        "this is no ACP server (its response has no answer to initialize)",
    ),
}


@pytest.mark.parametrize(("answer", "why"), NO_START.values(), ids=NO_START)
async def test_there_is_no_connection(server, connect, answer, why):
    server.on["POST initialize"] = answer
    editor = connect(server.url)
    await editor.send(INITIALIZE)
    line = await editor.read()
    if b"result" not in line:
        assert orjson.loads(line)["error"]["message"] == f"acptap: {why}"
    assert await editor.wait() == 1
    assert editor.said[-1] == why + OVER
    assert await editor.rest() == []


async def test_nobody_listens(connect):
    async with serve(Server()) as server:
        url = server.url
    editor = connect(url)
    await editor.send(INITIALIZE)
    message, data = await editor.error(0)
    assert message == f"acptap: the agent's server can't be reached ({data['reason']})"
    assert await editor.wait() == 1
    assert editor.said == [f"the agent's server can't be reached ({data['reason']}){OVER}"]


NO_ANSWERS = {
    "it speaks something else": (b"SSH-2.0-OpenSSH\r\n\r\n", "it does not answer in HTTP"),
    "a header that is none": (
        b"HTTP/1.1 200 OK\r\nno header\r\n\r\n", "it does not answer in HTTP",
    ),
    "a body that is damaged": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
        "its answer is damaged, or was cut off",
    ),
}  # fmt: skip


@pytest.mark.parametrize("scheme", ["http", "ws"])
@pytest.mark.parametrize(("answer", "why"), NO_ANSWERS.values(), ids=NO_ANSWERS)
async def test_an_answer_that_is_none(connect, scheme, answer, why):
    async def speak(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(speak, "127.0.0.1", 0) as listener:
        editor = connect("{}://{}:{}/".format(scheme, *listener.sockets[0].getsockname()))
        await editor.send(INITIALIZE)
        message, data = await editor.error(0)
    if scheme == "http" or b"200" not in answer:
        assert message == f"acptap: the agent's server can't be reached ({why})"
        assert data == {"reason": why}
    assert "\n" not in message


@pytest.mark.parametrize("host", ["..:1", "a" * 300])
async def test_what_no_host_can_be_called(connect, host):
    editor = connect(f"http://{host}/")
    await editor.send(INITIALIZE)
    message, _ = await editor.error(0)
    assert message == (
        "acptap: the agent's server can't be reached (its name is none that a host can have)"
    )


async def test_a_server_that_does_not_know_the_connection_any_more(server, connect):
    server.on["POST session/list"] = refuse(404, "Unknown Acp-Connection-Id")
    editor = connect(server.url)
    await editor.open()
    await editor.send(PROMPT, request(3, "session/list"))
    why = "the agent's server refused the message (404 Not Found: Unknown Acp-Connection-Id)"
    assert (await editor.error(2))[0] == f"acptap: {why}"
    assert (await editor.error(3))[0] == f"acptap: {why}"
    assert await editor.wait() == 1
    assert editor.said == [why + OVER]


LOSSES = {
    "it ends": (None, "the event stream from the agent's server was lost (it ended)"),
    "it is cut": (Cut, "the event stream from the agent's server was lost (its answer is damaged"),
}


@pytest.mark.parametrize(("last", "why"), LOSSES.values(), ids=LOSSES)
async def test_the_connections_stream_is_lost(server, connect, last, why):
    editor = connect(server.url)
    await editor.open()
    await editor.send(PROMPT)
    await server.until("POST session/prompt")
    server.say(None, b'data: {"half')
    server.say(None, last)
    message, data = await editor.error(2)
    assert message.startswith(f"acptap: {why}")
    assert data.keys() == {"reason"}
    assert await editor.wait() == 1
    assert editor.said[-1].startswith(why)
    assert editor.said[-1].endswith(OVER)


async def test_the_connections_stream_is_refused(server, connect):
    server.on["GET"] = refuse(409, "taken")
    editor = connect(server.url)
    await editor.send(INITIALIZE)
    assert await editor.read() == INITIALIZED
    assert await editor.wait() == 1
    assert editor.said == [
        f"the agent's server refused the event stream (409 Conflict: taken){OVER}"
    ]


async def test_the_connections_stream_can_not_be_had(server, connect):
    async def cut(request):
        request.transport.abort()

    server.on["GET"] = cut
    editor = connect(server.url)
    await editor.send(INITIALIZE)
    assert await editor.read() == INITIALIZED
    assert await editor.wait() == 1
    assert editor.said[0].startswith("the agent's server can't be reached (")


@pytest.mark.parametrize(("last", "why"), LOSSES.values(), ids=LOSSES)
async def test_h19_a_sessions_stream_is_lost_and_opened_again(server, connect, last, why):
    editor = connect(server.url)
    await editor.open()
    await editor.send(PROMPT, request(3, "session/prompt", sessionId="s2"))
    await server.until("POST session/prompt", 2)
    server.say("s1", last)
    message, _ = await editor.error(2)
    assert message.startswith(f"acptap: {why}")
    await editor.send(request(4, "session/prompt", sessionId="s1"))
    await server.until("POST session/prompt", 3)
    assert server.log.count("GET s1") == 2
    server.tell("s1", result(4))
    assert await editor.read() == result(4)
    server.tell("s2", result(3))
    assert await editor.read() == result(3)
    assert await editor.leave() == 0


async def test_a_session_whose_stream_somebody_else_has(server, connect):
    server.on["GET s1"] = refuse(409, "taken")
    editor = connect(server.url)
    await editor.open()
    await editor.send(PROMPT)
    message, data = await editor.error(2)
    assert message == "acptap: the agent's server refused the event stream (409 Conflict: taken)"
    assert data == {"status": 409, "body": "taken"}
    assert "POST session/prompt" not in server.log
    del server.on["GET s1"]
    await editor.send(PROMPT)
    await server.until("POST session/prompt")


async def test_a_session_that_the_server_knows_only_once_it_is_loaded(server, connect):
    server.on["GET s1"] = refuse(404)
    editor = connect(server.url)
    await editor.open()
    await editor.send(request(1, "session/load", sessionId="s1"))
    await server.until("POST session/load")
    del server.on["GET s1"]
    server.tell(None, result(1))
    assert await editor.read() == result(1)
    await editor.send(PROMPT)
    await server.until("POST session/prompt")
    assert server.log.count("GET s1") == 2


# Ends


async def hang(_):
    await asyncio.Event().wait()


async def test_a_signal_ends_the_connection_politely(server, connect):
    editor = connect(server.url)
    await editor.open()
    editor.agent.send(signal.SIGUSR1)  # nothing to us
    editor.agent.terminate()
    assert await editor.wait() == -signal.SIGTERM
    assert server.log[-1] == "DELETE"
    assert await editor.rest() == []
    editor.agent.send(signal.SIGTERM)  # too late, and no harm


async def test_a_second_signal_does_not_wait(server, connect):
    server.on["DELETE"] = hang
    editor = connect(server.url)
    await editor.open()
    editor.agent.send(signal.SIGINT)
    await server.until("DELETE")
    editor.agent.send(signal.SIGTERM)
    assert await editor.wait() == -signal.SIGINT


async def test_a_client_leaves_while_a_message_is_not_taken(server, connect):
    server.on["POST session/prompt"] = hang
    editor = connect(server.url)
    await editor.open()
    await editor.send(PROMPT)
    await server.until("POST session/prompt")
    await editor.close_input()
    editor.agent.terminate()  # as when the grace is over
    assert await editor.wait() == 0
    assert server.log[-1] == "DELETE"


async def test_a_client_that_reads_no_more_is_no_reason_to_end(server, connect):
    editor = connect(server.url)
    await editor.open()
    await editor._lines.aclose()
    editor._open.remove(editor.agent.stdout)
    editor.agent.close_stdout()
    server.tell(None, UPDATE)
    server.tell(None, UPDATE)
    await editor.send(request(3, "session/list"))
    await server.until("POST session/list")
    editor.agent.end_group()
    assert await editor.leave() == 0


async def test_a_refused_end_is_an_end(server, connect):
    async def cut(request):
        request.transport.abort()

    server.on["DELETE"] = cut
    editor = connect(server.url)
    await editor.open()
    assert await editor.leave() == 0
    assert editor.said == []


async def test_json_that_is_no_message_is_for_the_server_to_judge(server, connect):
    server.on["POST something"] = refuse(400, "Invalid JSON-RPC message")
    editor = connect(server.url)
    await editor.open()
    await editor.send(b"7", UPDATE)
    await server.until("POST session/update")
    why = "the agent's server refused the message (400 Bad Request: Invalid JSON-RPC message)"
    assert editor.said == [f"a message was not delivered: {why}"]


async def test_a_client_that_never_spoke(server, connect):
    editor = connect(server.url)
    assert await editor.leave() == 0
    assert server.log == []
