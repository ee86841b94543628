"""Cassettes of AG-UI, made by the tap itself of what passed over HTTP."""

import json

from acptap.cassette import Header
from acptap.jsonrpc import Side
from tests.tap.wires import LAST, Recorded, chunk, request, response

BEGAN = "2026-01-01T00:00:00.000000Z"
BINARY = "application/vnd.ag-ui.event+proto"


def user(text, id_="u1"):
    return {"id": id_, "role": "user", "content": text}


def assistant(text, id_="a1", *calls):
    said = {"id": id_, "role": "assistant", "content": text}
    return said | ({"toolCalls": list(calls)} if calls else {})


def call(id_, name="f", arguments="{}"):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def tool(content, call_, id_="t1", **more):
    return {"id": id_, "role": "tool", "toolCallId": call_, "content": content} | more


def asked(*messages, thread="t", run="r", **more):
    """A request for a run."""
    said = [user(message) if isinstance(message, str) else message for message in messages]
    return {"threadId": thread, "runId": run, "messages": said} | more


def started(thread="t", run="r", **more):
    return {"type": "RUN_STARTED", "threadId": thread, "runId": run} | more


def finished(thread="t", run="r", **more):
    return {"type": "RUN_FINISHED", "threadId": thread, "runId": run} | more


def text(*deltas, id_="a1"):
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": id_, "role": "assistant"},
        *({"type": "TEXT_MESSAGE_CONTENT", "messageId": id_, "delta": delta} for delta in deltas),
        {"type": "TEXT_MESSAGE_END", "messageId": id_},
    ]


def interrupted(*ids, thread="t", run="r", **more):
    interrupts = [{"id": id_, "reason": "tool_call"} | more for id_ in ids]
    return finished(thread, run, outcome={"type": "interrupt", "interrupts": interrupts})


def dump(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def block(event):
    """The bytes of an event; of bytes, themselves."""
    return event if isinstance(event, bytes) else f"data: {dump(event)}\n\n".encode()


def spoken(thread, run, *deltas, id_="a1"):
    """The events of a run that says something."""
    return [started(thread, run), *text(*deltas, id_=id_), finished(thread, run)]


class Tape(Recorded):
    """A recording: each run has a TCP connection of its own, each event a read of its own."""

    def run(self, body, events, end="end", path="/agent", media="text/event-stream", **headers):
        """Record a run; `end` is how its answer ends, `client` that it is left."""
        line = self.line()
        line.client(request("POST", path, dump(body).encode(), **headers))
        head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
        line.agent(f"{head}Content-Type: {media}\r\n\r\n".encode())
        for event in events:
            together = event if isinstance(event, list) else [event]
            line.agent(chunk(b"".join(map(block, together))))
        self._end(line, end)
        return self

    def talk(self, thread, run, question, *deltas, id_="a1", **how):
        """Record a run in which the agent says something."""
        return self.run(
            asked(question, thread=thread, run=run), spoken(thread, run, *deltas, id_=id_), **how
        )

    def fail(self, body, status, text=b"", path="/agent", **headers):
        """Record a run that is answered with an error."""
        line = self.line()
        line.client(request("POST", path, dump(body).encode()))
        line.agent(response(status, text, **headers))
        line.end(Side.CLIENT)
        line.close()
        return self

    def nothing(self, body, end="cut", path="/agent"):
        """Record a run that is never answered."""
        line = self.line()
        line.client(request("POST", path, dump(body).encode()))
        self._end(line, end)
        return self

    def write(self, path):
        header = Header("ag-ui", "http", BEGAN, "http://127.0.0.1:9000/agent", "test")
        path.write_bytes(header.encode() + b"".join(self.tape))
        return path

    @staticmethod
    def _end(line, end):
        if end == "end":
            line.agent(LAST)
        if end in ("end", "client"):
            line.end(Side.CLIENT, "reset" if end == "client" else "")
        elif end != "killed":
            line.end(Side.AGENT, end)
        if end != "killed":
            line.close()
