"""What is no request, and what its body does not hold: a plain answer, and not a word besides."""

import logging

import pytest
from aiohttp import web

from tests.endpoint.stage import JSON, serving

GZIP = ("Content-Encoding", "gzip")
DAMAGED = b"acptap: the body of this request is damaged\n"
UNREADABLE = b"acptap: this is no HTTP request that can be read\n"


async def read(request):
    return web.Response(body=await request.read())


@pytest.mark.parametrize(("other", "said"), [(read, DAMAGED), (None, b"Invalid JSON")])
async def test_a_body_that_is_damaged(other, said, caplog):
    async with serving(other=other) as stage:
        answer = await stage.ask("POST", JSON, GZIP, body=b"abc")
    assert (answer.status, answer.body, answer.get("Server")) == (400, said, "acptap")
    assert not [record for record in caplog.records if record.levelno > logging.DEBUG]


HOST = b"Host: localhost\r\n"
NO_REQUESTS = {
    "no line of a request": b"\x16\x03\x01\0\0\r\n\r\n",
    "a control character": b"GET /\x01 HTTP/1.1\r\n" + HOST + b"\r\n",
    "a target that is none": b"GET http://[x/ HTTP/1.1\r\n" + HOST + b"\r\n",
    "a chunk that is none": (
        b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"
    ),
    "a header that is too long": b"GET / HTTP/1.1\r\nX: " + b"a" * 300_000 + b"\r\n\r\n",
}


@pytest.mark.parametrize("sent", NO_REQUESTS.values(), ids=NO_REQUESTS)
async def test_what_is_no_request(sent, caplog):
    async with serving() as stage:
        client = await stage.connect()
        client.writer.write(sent)
        answer = await client.answer()
        assert await client.rest() == b""
    assert (answer.status, answer.body, answer.get("Server")) == (400, UNREADABLE, "acptap")
    assert not [record for record in caplog.records if record.levelno > logging.DEBUG]


async def test_a_fault_of_ours(caplog):
    async def fail(_):
        raise RuntimeError("a fault")

    async with serving(other=fail) as stage:
        answer = await stage.ask("GET")
    assert (answer.status, answer.get("Server")) == (500, "acptap")
    assert answer.body.startswith(b"acptap: something went wrong here (this is a bug")
    assert "a fault" in caplog.text


RECORDED = {
    "none": ([], "Acp-Connection-Id, Acp-Session-Id"),
    "others": (["X-Request-Id, ETag", "x-more"],
               "X-Request-Id, ETag, x-more, Acp-Connection-Id, Acp-Session-Id"),
    "one of ours": (["acp-session-id, ETag,"], "Acp-Session-Id, ETag, Acp-Connection-Id"),
}  # fmt: skip


@pytest.mark.parametrize(("values", "exposed"), RECORDED.values(), ids=RECORDED)
async def test_what_a_page_may_read(values, exposed):
    async def answer(_):
        response = web.Response()
        for value in values:
            response.headers.add("Access-Control-Expose-Headers", value)
        return response

    async with serving(other=answer) as stage:
        said = await stage.ask("GET", ("Origin", "http://localhost:5173"))
    found = [value for name, value in said.headers if name == "Access-Control-Expose-Headers"]
    assert found == [exposed]
