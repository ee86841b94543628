"""`python -m tests.bench.peers prepared|aiohttp|tapeless URL`: what stands on either side of us.

    prepared    a server of plain sockets, which has its answers ready before they are asked for
    aiohttp     the same on aiohttp, which sends event by event
    tapeless    the relay without anybody who watches, in front of URL

Both servers speak enough of ACP for a session to be understood. Each prints its port.
"""

import asyncio
import itertools
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from urllib.parse import parse_qsl, urlsplit

from aiohttp import WSMsgType, web

from acptap.jsonrpc import Side
from acptap.transports import listening
from acptap.transports.relay import Ending, Relay
from acptap.wire.http1 import Event
from acptap.wire.target import Upstream
from tests.bench.row import SESSION, event, text_of

_AGREED = {"protocolVersion": 1, "sessionId": SESSION}
_STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
_STEP = 0.002
_BLOCK = b"sixty-four bytes of a string, which say nothing worth your while" * 1024
SMALL = b'{"jsonrpc":"2.0","id":1,"result":null}'

_connections = itertools.count(1)


def _say(port: int) -> None:
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()


def _answers(body: bytes) -> bytes | None:
    """Return the answer to a posted request; None for a prompt, which is not over yet."""
    request = json.loads(body)
    if request["method"] == "session/prompt":
        return None
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": _AGREED}).encode()


# Plain sockets


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@cache
def _prepared(kind: str, count: int) -> bytes:
    return b"".join(_chunk(event(kind, number)) for number in range(count)) + b"0\r\n\r\n"


def _events(sock: socket.socket, asked: dict[str, str]) -> None:
    sock.sendall(_STREAM + _prepared(asked["kind"], int(asked["count"])))


def _paced(sock: socket.socket, asked: dict[str, str]) -> None:
    """Send 500 events a second, each with the time at which it was sent."""
    sock.sendall(_STREAM)
    begin = time.perf_counter()
    for number in range(int(asked["count"])):
        time.sleep(max(0.0, begin + number * _STEP - time.perf_counter()))
        sock.sendall(_chunk(event("acp", time.perf_counter_ns() // 1000)))
    sock.sendall(b"0\r\n\r\n")


def _idle(sock: socket.socket, asked: dict[str, str]) -> None:
    """Send comments, as servers do to keep a stream open, and an event in the end."""
    sock.sendall(_STREAM)
    for _ in range(int(asked["count"])):
        sock.sendall(_chunk(b": keep-alive\n\n"))
        time.sleep(float(asked["every"]))
    sock.sendall(_chunk(event("acp", 0)) + b"0\r\n\r\n")


def _body(sock: socket.socket, asked: dict[str, str]) -> None:
    """Send JSON with one long string in it, as large messages are."""
    blocks = int(asked["size"]) // len(_BLOCK)
    begin, end = b'{"text":"', b'"}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    sock.sendall(head % (len(begin) + blocks * len(_BLOCK) + len(end)) + begin)
    for _ in range(blocks):
        sock.sendall(_BLOCK)
    sock.sendall(end)


def _small(sock: socket.socket, _asked: dict[str, str]) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    sock.sendall(head % len(SMALL) + SMALL)


_PAGES: dict[str, Callable[[socket.socket, dict[str, str]], None]] = {
    "/events": _events,
    "/paced": _paced,
    "/idle": _idle,
    "/body": _body,
    "/small": _small,
}


def _serve(sock: socket.socket) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with suppress(OSError), sock, sock.makefile("rb") as file:  # whoever asked may have gone
        while first := file.readline():
            length = 0
            while (line := file.readline()) != b"\r\n":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            _answer(sock, first.split()[1].decode(), file.read(length))


def _answer(sock: socket.socket, target: str, body: bytes) -> None:
    if body:
        answer = _answers(body)
        known = b"Acp-Connection-Id: %d\r\n" % next(_connections)
        head = b"HTTP/1.1 %b\r\n%bContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        status = b"202 Accepted" if answer is None else b"200 OK"
        sock.sendall(head % (status, known, len(answer or b"")) + (answer or b""))
        return
    url = urlsplit(target)
    _PAGES[url.path](sock, dict(parse_qsl(url.query)))


def prepared() -> None:
    """Serve until killed."""
    server = socket.create_server(("127.0.0.1", 0), backlog=1024)
    _say(server.getsockname()[1])
    while True:
        threading.Thread(target=_serve, args=(server.accept()[0],), daemon=True).start()


# aiohttp


async def _post(request: web.Request) -> web.Response:
    answer = _answers(await request.read())
    headers = {"Acp-Connection-Id": str(next(_connections))}
    return web.Response(
        body=answer, status=202 if answer is None else 200, headers=headers,
        content_type="application/json",
    )  # fmt: skip


async def _stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for data in _sent(request.query["kind"], int(request.query["count"])):
        await response.write(data)
    await response.write_eof()
    return response


@cache
def _sent(kind: str, count: int) -> list[bytes]:
    return [event(kind, number) for number in range(count)]


@cache
def _said(kind: str, count: int) -> list[str]:
    return [text_of(kind, number).decode() for number in range(count)]


async def _socket(request: web.Request) -> web.WebSocketResponse:
    """Answer each request; send many messages when a prompt or `many` asks for them."""
    agent = web.WebSocketResponse(max_msg_size=0, compress=False)
    await agent.prepare(request)
    async for message in agent:
        if message.type is not WSMsgType.TEXT:
            break
        asked = json.loads(message.data)
        if asked.get("method") == "session/prompt":
            asked = json.loads(asked["params"]["prompt"][0]["text"]) | {"id": asked["id"]}
        if "many" in asked:
            for text in _said(asked["many"], asked["count"]):
                await agent.send_str(text)
        elif "size" in asked:
            await agent.send_str(json.dumps({"text": "x" * asked["size"]}))
        result = {"stopReason": "end_turn"} if "method" not in asked else _AGREED
        await agent.send_str(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
    return agent


async def _serve_aiohttp() -> None:
    app = web.Application()
    app.add_routes([web.get("/events", _stream), web.get("/ws", _socket), web.post("/", _post)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    _say(runner.addresses[0][1])
    await asyncio.Event().wait()


# The relay alone


class _Blind:
    """Watches nothing."""

    def from_client(self, events: list[Event]) -> None:
        pass

    def from_agent(self, events: list[Event]) -> None:
        pass

    def ended(self, side: Side, how: Ending) -> None:
        pass

    def failed(self, why: str, answer: list[Event]) -> None:
        raise AssertionError(why)

    def untouched(self, why: str) -> None:
        raise AssertionError(why)

    def closed(self) -> None:
        pass


async def _relay(url: str) -> None:
    sockets = listening.open_sockets(listening.parse_listen("0"))
    _say(listening.address_of(sockets).port)
    await Relay(Upstream.parse(url), _Blind, sys.exit).serve(sockets)


def main() -> None:
    match sys.argv[1:]:
        case ["prepared"]:
            prepared()
        case ["aiohttp"]:
            asyncio.run(_serve_aiohttp())
        case ["tapeless", url]:
            asyncio.run(_relay(url))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
