"""Conversations made by hand, each for a flow in which a simple order of replay dead-locks or lies.

A conversation is a list of lines as they were recorded: who sent it, and the message (or, where it
is none, the bare text). Line 1 of a cassette is its header, so the first of them is line 2.
"""

from dataclasses import dataclass
from functools import cached_property

from acptap.cassette import Entry, decode_entry
from acptap.jsonrpc import Side
from acptap.replay import lanes
from acptap.replay.script import Script, Step
from acptap.wire.jsontext import dump

HOME = "/home/dev/demo"


@dataclass(frozen=True)
class Line:
    side: Side
    message: object
    front: str = ""
    raw: bytes = b""

    def entry(self, number: int) -> Entry:
        stored = (
            b'"text":' + dump(self.raw.decode()) if self.raw else b'"msg":' + dump(self.message)
        )
        front = b'{"at":%d.0,"from":"%b"' % (number, self.side.encode())
        front += b"," + self.front.encode() if self.front else b""
        return decode_entry(b"%b,%b}" % (front, stored), number, number, "conversation")


class Recorded:
    """A recorded connection in memory, with a fresh script."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = {entry.number: entry for entry in entries}
        self.units = {entry.offset: entry.unit() for entry in entries}

    @classmethod
    def of(cls, conversation: "list[Line]") -> "Recorded":
        return cls([line.entry(number) for number, line in enumerate(conversation, 2)])

    @cached_property
    def script(self) -> Script:
        return lanes.build(self.entries.values())

    def read(self, step: Step) -> bytes:
        return self.units[step.offset]


def client(message: object, front: str = "") -> Line:
    return Line(Side.CLIENT, message, front)


def agent(message: object, front: str = "") -> Line:
    return Line(Side.AGENT, message, front)


def noise(text: bytes, side: Side = Side.AGENT) -> Line:
    return Line(side, None, raw=text)


def request(id_: object, method: str, /, **params: object) -> Line:
    return client({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})


def notify(method: str, /, **params: object) -> Line:
    return client({"jsonrpc": "2.0", "method": method, "params": params})


def answer(id_: object, result: object) -> Line:
    return client({"jsonrpc": "2.0", "id": id_, "result": result})


def fail(id_: object, code: int) -> Line:
    return client({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": "no"}})


def asks(id_: object, method: str, /, **params: object) -> Line:
    return agent({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})


def tells(method: str, /, **params: object) -> Line:
    return agent({"jsonrpc": "2.0", "method": method, "params": params})


def answers(id_: object, result: object) -> Line:
    return agent({"jsonrpc": "2.0", "id": id_, "result": result})


def fails(id_: object, code: int) -> Line:
    return agent({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": "no"}})


def says(session: str, text: str, kind: str = "agent_message_chunk") -> Line:
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": kind, "content": content}
    return tells("session/update", sessionId=session, update=update)


def state(session: str, name: str) -> Line:
    update = {"sessionUpdate": "state_update", "state": name}
    return tells("session/update", sessionId=session, update=update)


def commands(session: str) -> Line:
    update = {"sessionUpdate": "available_commands_update", "availableCommands": []}
    return tells("session/update", sessionId=session, update=update)


def prompt(id_: object, session: str, text: str = "hi") -> Line:
    blocks = [{"type": "text", "text": text}]
    return request(id_, "session/prompt", sessionId=session, prompt=blocks)


def permission(id_: object, session: str, **more: object) -> Line:
    options = [
        {"optionId": "y", "kind": "allow_once", "name": "Yes"},
        {"optionId": "a", "kind": "allow_always", "name": "Always"},
        {"optionId": "o", "kind": "allow_once", "name": "Once"},
        {"optionId": "n", "kind": "reject_once", "name": "No"},
    ]
    return asks(id_, "session/request_permission", sessionId=session, options=options, **more)


def chooses(id_: object, option: str) -> Line:
    return answer(id_, {"outcome": {"outcome": "selected", "optionId": option}})


def dismisses(id_: object) -> Line:
    return answer(id_, {"outcome": {"outcome": "cancelled"}})


def new(id_: object, session: str) -> list[Line]:
    return [new_request(id_), answers(id_, {"sessionId": session})]


def new_request(id_: object) -> Line:
    return request(id_, "session/new", cwd=HOME, mcpServers=[])


INIT = [
    request(0, "initialize", protocolVersion=1, clientCapabilities={}, clientInfo={"name": "a"}),
    answers(0, {"protocolVersion": 1}),
]
END = {"stopReason": "end_turn"}
STOPPED = {"stopReason": "cancelled"}

CONVERSATIONS: dict[str, list[Line]] = {
    "O1 updates before the session is named": [
        *INIT,
        new_request(1),
        commands("s1"),
        says("s1", "hello"),
        answers(1, {"sessionId": "s1"}),
        prompt(2, "s1"),
        says("s1", "hi"),
        answers(2, END),
    ],
    "a question before the session is named": [
        *INIT,
        new_request(1),
        permission(0, "s1"),
        chooses(0, "y"),
        says("s1", "trusted"),
        answers(1, {"sessionId": "s1"}),
        commands("s1"),
        prompt(2, "s1"),
        answers(2, END),
    ],
    "O2 crossed session/new": [
        *INIT,
        new_request("a"),
        new_request("b"),
        answers("b", {"sessionId": "s2"}),
        says("s2", "two"),
        answers("a", {"sessionId": "s1"}),
        says("s1", "one"),
        prompt(3, "s2"),
        says("s2", "hi"),
        answers(3, END),
        prompt(4, "s1"),
        answers(4, END),
    ],
    "answers out of order": [
        request(1, "initialize", protocolVersion=1),
        request(2, "session/list"),
        new_request(3),
        fails(2, -32603),
        answers(3, {"sessionId": "s1"}),
        answers(1, {"protocolVersion": 1}),
        prompt(4, "s1"),
        answers(4, END),
    ],
    "two permissions at once": [
        *INIT,
        *new(1, "s1"),
        prompt(2, "s1"),
        permission(0, "s1"),
        permission(1, "s1"),
        chooses(1, "y"),
        says("s1", "one"),
        chooses(0, "n"),
        says("s1", "both"),
        answers(2, END),
    ],
    "a withdrawn permission": [
        *INIT,
        *new(1, "s1"),
        prompt(2, "s1"),
        permission(8, "s1"),
        notify("session/cancel", sessionId="s1"),
        tells("$/cancel_request", requestId=8),
        dismisses(8),
        answers(2, STOPPED),
    ],
    "an early cancel": [
        *INIT,
        *new(1, "s1"),
        prompt(2, "s1"),
        permission(0, "s1"),
        chooses(0, "y"),
        says("s1", "on it"),
        notify("session/cancel", sessionId="s1"),
        answers(2, STOPPED),
        prompt(3, "s1", "again"),
        says("s1", "sure"),
        answers(3, END),
    ],
    "O6 cancel while a permission is pending": [
        *INIT,
        *new(1, "s1"),
        prompt(5, "s1"),
        permission(0, "s1"),
        notify("session/cancel", sessionId="s1"),
        dismisses(0),
        answers(5, STOPPED),
    ],
    "O4 two sessions at once": [
        *INIT,
        *new(1, "s1"),
        *new(2, "s2"),
        prompt(3, "s1"),
        prompt(4, "s2"),
        says("s1", "a"),
        says("s2", "b"),
        permission(0, "s2"),
        says("s1", "c"),
        chooses(0, "y"),
        says("s2", "d"),
        answers(4, {"stopReason": "refusal"}),
        notify("session/cancel", sessionId="s1"),
        answers(3, STOPPED),
    ],
    "an elicitation for a request": [
        *INIT,
        new_request(12),
        asks(1, "elicitation/create", requestId=12, mode="url", elicitationId="e1", url="x:"),
        answer(1, {"action": "accept"}),
        tells("elicitation/complete", elicitationId="e1"),
        answers(12, {"sessionId": "s1"}),
        prompt(13, "s1"),
        answers(13, END),
    ],
    "R6 a loaded session with another id": [
        *INIT,
        request(1, "session/load", sessionId="s-rec", cwd=HOME, mcpServers=[]),
        says("s-rec", "before", "user_message_chunk"),
        answers(1, None),
        prompt(2, "s-rec"),
        says("s-rec", f"reading {HOME}/a.txt"),
        asks(0, "fs/read_text_file", sessionId="s-rec", path=f"{HOME}/a.txt"),
        answer(0, {"content": "x"}),
        answers(2, END),
    ],
    "R6 two sessions brought along": [
        *INIT,
        request(1, "session/resume", sessionId="s-a", cwd=HOME),
        answers(1, {}),
        request(2, "session/load", sessionId="s-b", cwd=f"{HOME}/b"),
        says("s-b", f"in {HOME}/b"),
        answers(2, None),
        prompt(3, "s-b"),
        prompt(4, "s-a"),
        says("s-a", "a"),
        answers(4, END),
        says("s-b", "b"),
        answers(3, END),
    ],
    "a mode change beside a prompt": [
        *INIT,
        *new(1, "s1"),
        request(2, "session/set_mode", sessionId="s1", modeId="plan"),
        prompt(3, "s1"),
        says("s1", "", "current_mode_update"),
        answers(2, {}),
        says("s1", "hi"),
        answers(3, END),
        says("s1", "bye"),
        prompt(4, "s1", "more"),
        answers(4, END),
    ],
    "a mode change in mid-turn": [
        *INIT,
        *new(1, "s1"),
        prompt(2, "s1"),
        says("s1", "thinking"),
        request(3, "session/set_mode", sessionId="s1", modeId="plan"),
        says("s1", "", "current_mode_update"),
        answers(3, {}),
        answers(2, END),
    ],
    "noise that only one SDK answers": [
        noise(b"Loading model\n"),
        *INIT,
        noise(b"\n"),
        fail(None, -32700),
        *new(1, "s1"),
        noise(b"\n", Side.CLIENT),
        prompt(2, "s1"),
        noise(b"warning: {slow\r\n"),
        fail(None, -32700),
        answers(2, END),
    ],
    "R1 the same request again and again": [
        *INIT,
        *new(1, "s1"),
        request(2, "session/list"),
        answers(2, {"sessions": []}),
        *[
            line
            for n in range(3)
            for line in (
                prompt(3 + 2 * n, "s1", "continue"),
                says("s1", f"part {n}"),
                answers(3 + 2 * n, END),
                request(4 + 2 * n, "session/list"),
                answers(4 + 2 * n, {"sessions": [{"sessionId": "s1", "n": n}]}),
            )
        ],
    ],
    "I1 permission ids restart every turn": [
        *INIT,
        *new(1, "s1"),
        prompt(2, "s1"),
        permission(0, "s1", toolCall={"toolCallId": "t1"}),
        chooses(0, "y"),
        answers(2, END),
        prompt(3, "s1"),
        permission(0, "s1", toolCall={"toolCallId": "t2"}),
        chooses(0, "n"),
        answers(3, {"stopReason": "refusal"}),
    ],
    "I2 one id both ways": [
        *INIT,
        *new(1, "s1"),
        prompt(2, "s1"),
        asks(2, "fs/read_text_file", sessionId="s1", path=f"{HOME}/a"),
        answer(2, {"content": "x"}),
        answers(2, END),
    ],
    "I5 one id open twice": [
        *INIT,
        *new(1, "s1"),
        *new(2, "s2"),
        prompt(3, "s1"),
        permission(0, "s1"),
        prompt(4, "s2"),
        permission(0, "s2"),
        chooses(0, "y"),
        says("s1", "a"),
        chooses(0, "y"),
        says("s2", "b"),
        answers(4, END),
        answers(3, END),
    ],
    "I6 stale and unknown answers": [
        *INIT,
        request(4, "session/list"),
        answers(4, {"sessions": []}),
        fails(4, -32603),
        fails(None, -32603),
        answers(999, {}),
        agent({"jsonrpc": "2.0", "id": 5}),
        *new(6, "s1"),
    ],
    "O8 an extension request": [
        *INIT,
        *new(1, "s1"),
        prompt(2, "s1"),
        asks(12, "_vendor/drain", batch=1),
        fail(12, -32601),
        says("s1", "drained"),
        answers(2, END),
    ],
    "edge 43 a terminal of the client's": [
        *INIT,
        *new(1, "s1"),
        prompt(2, "s1"),
        asks(0, "terminal/create", sessionId="s1", command="ls", cwd=HOME),
        answer(0, {"terminalId": "term-rec"}),
        tells(
            "session/update",
            sessionId="s1",
            update={
                "sessionUpdate": "tool_call",
                "toolCallId": "t",
                "content": [{"type": "terminal", "terminalId": "term-rec"}],
            },
        ),
        asks(1, "terminal/output", sessionId="s1", terminalId="term-rec"),
        answer(1, {"output": "a", "truncated": False}),
        asks(2, "terminal/release", sessionId="s1", terminalId="term-rec"),
        answer(2, {}),
        answers(2, END),
    ],
    "a fork": [
        *INIT,
        *new(1, "s1"),
        request(2, "session/fork", sessionId="s1", cwd=HOME),
        commands("s2"),
        answers(2, {"sessionId": "s2"}),
        prompt(3, "s1"),
        prompt(4, "s2"),
        says("s2", "b"),
        answers(4, END),
        says("s1", "a"),
        answers(3, END),
    ],
    "a prompt queued in mid-turn": [
        *INIT,
        *new(1, "s1"),
        prompt(2, "s1", "one"),
        state("s1", "running"),
        answers(2, {"messageId": "u1"}),
        prompt(3, "s1", "two"),
        says("s1", "one"),
        state("s1", "idle"),
        answers(3, {"messageId": "u2"}),
        state("s1", "running"),
        state("s1", "idle"),
    ],
    "a subagent's session": [
        *INIT,
        *new(1, "s1"),
        *new(2, "s2"),
        prompt(3, "s1"),
        says("child", "starting"),
        prompt(4, "s2"),
        permission(0, "child"),
        says("s2", "aside"),
        answers(4, END),
        chooses(0, "y"),
        says("child", "done"),
        says("s1", "done"),
        answers(3, END),
    ],
    "commands on a timer": [
        *INIT,
        *new(1, "s1"),
        prompt(2, "s1"),
        commands("s1"),
        says("s1", "hi"),
        answers(2, END),
        prompt(3, "s1"),
        commands("s1"),
        says("s1", "hi"),
        answers(3, END),
    ],
    "a stop that is not session/cancel": [
        *INIT,
        *new(1, "s1"),
        prompt(2, "s1"),
        says("s1", "a"),
        notify("$/cancel_request", requestId=2),
        says("s1", "b"),
        answers(2, STOPPED),
        notify("_x/telemetry", n=1),
        tells("_x/thanks"),
        prompt(3, "s1"),
        answers(3, END),
    ],
    "batches": [
        *INIT,
        *new(1, "s1"),
        client(
            [
                {"id": 2, "method": "session/list"},
                {"method": "session/cancel", "params": {"sessionId": "s1"}},
                prompt(3, "s1").message,
            ]
        ),
        agent([says("s1", "hi").message, answers(3, END).message, answers(2, {}).message]),
        prompt(4, "s1"),
        answers(4, END),
    ],
    "initialize is asked twice": [
        request(0, "initialize", protocolVersion=3),
        fails(0, -32022),
        request(1, "initialize", protocolVersion=1),
        answers(1, {"protocolVersion": 1}),
        *new(2, "s1"),
        prompt(3, "s1"),
        answers(3, END),
    ],
}
