"""HTTP connections, spelled as bytes and shown to a tap, without sockets."""

import json

from acptap.cassette import decode_entry
from acptap.jsonrpc import Side
from acptap.tap.network import NetworkTap
from acptap.wire.http1 import Pending, RequestReader, ResponseHead, ResponseReader

UPSTREAM = "http://127.0.0.1:9000/acp"
C, A = Side.CLIENT, Side.AGENT


class Line:
    """One TCP connection through a tap, as the relay drives it.

    Attributes:
        tape: What all lines of the recording wrote.
    """

    def __init__(self, tap, tape):
        self.tape = tape
        self._tap = tap.line()
        pending = Pending()
        self._requests = RequestReader(pending, lambda head: head.raw)
        self._responses = ResponseReader(pending)

    def client(self, data):
        _, events = self._requests.feed(data)
        self._client(events)

    def agent(self, data):
        events = self._responses.feed(data)
        if events:
            self._write(self._tap.from_agent, events)
        for event in events:
            if not isinstance(event, ResponseHead) or event.is_interim:
                continue
            if event.request is not None and event.request.is_upgrade:
                self._client(self._requests.resolve(switched=event.switches)[1])

    def end(self, side, reason=""):
        """A side's stream ends: in order, or for a reason."""
        if side is C:
            _, events = self._requests.end()
            self._client(events)
        else:
            events = self._responses.end()
            if events:
                self._write(self._tap.from_agent, events)
        self._write(self._tap.ended, side, reason)

    def close(self):
        self._write(self._tap.closed)

    def unreachable(self, why, answer):
        self._write(self._tap.failed, why, ResponseReader(Pending()).feed(answer))

    def _client(self, events):
        if events:
            self._write(self._tap.from_client, events)
        for event in events:
            if type(event).__name__ == "Lost":
                self._write(self._tap.untouched, event.why)

    def _write(self, method, *args):
        self.tape.append(method(*args, 1000 * len(self.tape)))


class Recorded:
    """A recording of several TCP connections."""

    def __init__(self, redactor=None, upstream=UPSTREAM, protocol="auto"):
        self.tap = NetworkTap(upstream, redactor, protocol=protocol)
        self.tape = []

    def line(self):
        return Line(self.tap, self.tape)

    @property
    def lines(self):
        return b"".join(self.tape).splitlines()

    @property
    def entries(self):
        return [decode_entry(line, n, 0, "x.jsonl") for n, line in enumerate(self.lines, 2)]

    @property
    def brief(self):
        """The entries without times and headers, for tables."""
        return [brief(json.loads(line)) for line in self.lines]

    @property
    def rules(self):
        return [rule for entry in self.entries for rule in entry.rules]


def brief(entry):
    del entry["at"]
    http = entry.pop("http", None)
    if http is not None:
        entry["http"] = http.get("status") or f"{http['method']} {http['target']}"
    return entry


def request(method, target="/acp", body=b"", **headers):
    """The bytes of a request; an underscore in a header's name stands for a dash."""
    named = {"Host": "127.0.0.1:8484"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    if body:
        named.setdefault("Content-Type", "application/json")
        named["Content-Length"] = str(len(body))
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body


def response(status, body=b"", **headers):
    """The bytes of an answer with a length."""
    named = {"Content-Length": str(len(body))} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"


def chunk(data):
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(text):
    return chunk(b"data: " + text.encode() + b"\n\n")


def rpc(id_=None, method=None, **members):
    """The text of a JSON-RPC message."""
    message = {"jsonrpc": "2.0"}
    if id_ is not None:
        message["id"] = id_
    if method is not None:
        message["method"] = method
    return json.dumps(message | members, separators=(",", ":"))


INITIALIZE = rpc(0, "initialize", params={"protocolVersion": 1})
INITIALIZED = rpc(0, result={"protocolVersion": 1})


def post(text, **headers):
    return request("POST", body=text.encode(), **headers)


def initialized(line, connection="c1"):
    """Open an ACP connection over a TCP connection."""
    line.client(post(INITIALIZE))
    line.agent(response(200, INITIALIZED.encode(), Acp_Connection_Id=connection))
    return connection
