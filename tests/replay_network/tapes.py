"""Cassettes of the network, made of messages as a recording proxy would have seen them."""

import base64
import itertools

import orjson

HEADER = {
    "acptap": 1, "annotations": 1, "protocol": "acp", "transport": "http",
    "recorded_at": "2026-01-01T00:00:00.000000Z", "upstream": "http://127.0.0.1:9/acp",
    "generator": "test",
}  # fmt: skip
JSON = ["Content-Type", "application/json"]
EVENTS = ["Content-Type", "text/event-stream"]


class Tape:
    """Entries, one read each unless told otherwise."""

    def __init__(self, step=0.01):
        self.lines = [orjson.dumps(HEADER).decode()]
        self._at = 0.0
        self._step = step
        self._numbers = itertools.count(1)

    def add(self, side, payload="", *, together=False, **front):
        """Add an entry; its payload is the text of its last member."""
        self._at += 0.0 if together else self._step
        said = orjson.dumps(front).decode()[1:-1]
        said = f",{said}" if said else ""
        self.lines.append(f'{{"at":{self._at:.6f},"from":"{side}"{said}{payload}}}')
        return len(self.lines)

    def request(self, method, target="/acp", *headers, conn=1, body=None):
        """Add a request; return the number of its exchange."""
        number = next(self._numbers)
        http = {"method": method, "target": target, "headers": [["Host", "box"], *headers]}
        self.add("client", **front(conn, number), http=http, event="request")
        if body is not None:
            self.add("client", unit(body), together=True, **front(conn, number))
        return number

    def response(self, number, status=202, *headers, conn=1, body=None, reason="", **more):
        http = {"status": status, "reason": reason, "headers": list(headers)}
        self.add("agent", **front(conn, number), http=http, event="response", **more)
        if body is not None:
            self.add("agent", unit(body), **front(conn, number))

    def block(self, number, what, stream="connection", *, conn=1, together=False):
        """Add a block of an event stream: a message, or all its bytes."""
        return self.add(
            "agent", unit(what), together=together, **front(conn, number), stream=stream
        )

    def write(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(self.lines) + "\n")
        return path


def front(conn, number):
    return ({"conn": conn} if conn > 1 else {}) | {"exchange": number}


def unit(what):
    """Return a payload: a message's text is plain, bytes are a whole unit."""
    if isinstance(what, bytes):
        try:
            return ',"text":' + orjson.dumps(what.decode()).decode()
        except UnicodeDecodeError:
            return f',"b64":"{base64.b64encode(what).decode()}"'
    return f',"msg":{what}'


class HttpTape(Tape):
    """A connection over HTTP: `say` what passed, message by message."""

    def __init__(self, step=0.01):
        super().__init__(step)
        self._asked = {}
        self._streams = {}
        self.conn = 0

    def connect(self, initialize, answer, *before):
        """Begin a connection."""
        self.conn += 1
        self._streams = {}
        number = self.request("POST", "/acp", JSON, conn=self.conn, body=initialize)
        id_ = ["Acp-Connection-Id", f"c{self.conn}"]
        self.response(number, 200, JSON, id_, conn=self.conn, reason="OK", body=answer)
        self.stream(None)
        return self

    def stream(self, session):
        """Open an event stream; return the number of its exchange."""
        if session not in self._streams:
            headers = [["Acp-Connection-Id", f"c{self.conn}"]]
            headers += [["Acp-Session-Id", session]] if session else []
            self._streams[session] = self.request("GET", "/acp", *headers, conn=self.conn)
            self.response(self._streams[session], 200, EVENTS, conn=self.conn, reason="OK")
        return self._streams[session]

    def post(self, text, status=202, body=None, *headers):
        """Add a message of the client and its answer; return the exchange's number."""
        message = orjson.loads(text)
        session = (message.get("params") or {}).get("sessionId")
        if "method" in message and "id" in message:
            self._asked[message["id"]] = session
        ids = [["Acp-Connection-Id", f"c{self.conn}"]]
        ids += [["Acp-Session-Id", session]] if session else []
        number = self.request("POST", "/acp", JSON, *ids, conn=self.conn, body=text)
        self.response(number, status, *headers, conn=self.conn, body=body)
        return number

    def tell(self, what, session=None, *, together=False):
        """Add something the agent said, on a stream."""
        number = self.stream(session)
        kind = "session" if session else "connection"
        return self.block(number, what, kind, conn=self.conn, together=together)

    def say(self, messages):
        """Add messages, each on the stream it belongs to."""
        for side, text in messages:
            if side == "client":
                self.post(text)
                continue
            message = orjson.loads(text)
            session = (message.get("params") or {}).get("sessionId")
            if "method" not in message:
                session = self._asked.get(message["id"])
            self.tell(text, session)
        return self

    def end(self, session=None, event="end", side="agent", **more):
        """End a stream."""
        number = self._streams.pop(session)
        self.add(side, **front(self.conn, number), event=event, **more)
        return self

    def delete(self):
        id_ = ["Acp-Connection-Id", f"c{self.conn}"]
        number = self.request("DELETE", "/acp", id_, conn=self.conn)
        self.response(number, conn=self.conn)
        return self


class SocketTape(Tape):
    """Connections over WebSocket."""

    def __init__(self, step=0.01):
        super().__init__(step)
        self.conn = 0
        self._number = 0

    def connect(self, status=101):
        self.conn += 1
        upgrade = ["Upgrade", "websocket"]
        self._number = self.request("GET", "/acp", upgrade, conn=self.conn)
        self.response(self._number, status, conn=self.conn)
        return self

    def say(self, messages):
        for side, text in messages:
            self.add(side, unit(text), **front(self.conn, self._number))
        return self

    def fact(self, side, event, **more):
        self.add(side, **front(self.conn, self._number), event=event, **more)
        return self
