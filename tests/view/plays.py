"""Conversations as plays, as in tests/acp, with what each line asks of a view.

Below a line stand its updates: `session: kind[index] id change name=value …`; the session is left
out where it is `s`. `s ~ plan {…}` is an update by its name, `<a>` a block of text, and `<<a>>` one
in a tool call's wrapping. `V1` and `V2` open session `s` in that version, without telling what that
asks of a view. `END` is the end of the agent's stream, and `==` tells the conversation of session
`s` as it is then: each thing in quotes, in order. A play that holds is returned as it is.
"""

import json
import re

from acptap.acp.conversation import Conversation
from acptap.acp.view import Activity, Message, Reasoning, Terminal, ToolCall, View
from acptap.jsonrpc import Side, read_all
from acptap.wire import jsontext
from tests.acp.test_conversation import SIDES, spoken

OPENING = (
    (Side.CLIENT, '{"id":"i","method":"initialize","params":{"protocolVersion":VERSION}}'),
    (Side.AGENT, '{"id":"i","result":{"protocolVersion":VERSION}}'),
    (Side.CLIENT, '{"id":"n","method":"session/new","params":{"cwd":"/w"}}'),
    (Side.AGENT, '{"id":"n","result":{"sessionId":"s"}}'),
)  # fmt: skip


_UPDATE = re.compile(r"^(\w+) ~ ([\w.]+)(?: {(.*)})?$")
_WRAPPED = re.compile(r"<<([^<>]+)>>")
_TEXT = re.compile(r"<([^<>]+)>")


def message(words):
    """The message that a line of these plays is short for."""
    words = _UPDATE.sub(r'\1 ~ {"sessionUpdate":"\2",\3}', words).replace(",}", "}")
    words = _WRAPPED.sub(r'{"type":"content","content":<\1>}', words)
    return spoken(_TEXT.sub(r'{"type":"text","text":"\1"}', words))


def update_line(update):
    whose = "" if update.session == "s" else f"{update.session}: "
    place = "" if update.index is None else f"[{update.index}]"
    parts = [f"   {whose}{update.kind.value}{place}"]
    parts += [] if update.id is None else [str(update.id)]
    parts += [] if update.change is None else [update.change.value]
    parts += [] if update.subagent is None else [f"of {update.subagent}"]
    return " ".join([*parts, *(f"{name}={update.detail[name]}" for name in update.detail)])


def thing(item):
    match item:
        case Message():
            return f"{item.role} {json.dumps(item.text)}"
        case Reasoning():
            return f"thought {json.dumps(item.text)}"
        case ToolCall():
            return f"tool {item.id} {item.status} {json.dumps(item.text)}"
        case Terminal():
            return f"terminal {item.id} {json.dumps(item.text)}" + " exited" * item.exited
        case _:
            assert isinstance(item, Activity)
            return f"{item.name} {json.dumps(item.text)}"


def folded_line(view, id_="s"):
    session = view.fold().session(id_)
    return " | ".join(["==", *map(thing, session.messages)])


class Stage:
    """A connection that is played on, with a view that keeps values and one that doesn't."""

    def __init__(self):
        self.conversation, self.shadow = Conversation(), Conversation()
        self.view = View(self.conversation, keep=True)
        self.tap = View(self.shadow)

    def say(self, side, text):
        """Take in a line; both views must tell the same."""
        self.view.line += 1
        value = jsontext.parse(text)
        told: list[object] = []
        for message in read_all(value, text):
            updates = self.view.take(side, message, self.conversation.observe(side, message))
            shadow = self.tap.take(side, message, self.shadow.observe(side, message))
            assert updates == shadow
            told += updates
        return tuple(told)

    def open(self, version):
        for side, text in OPENING:
            self.say(side, text.replace("VERSION", version).encode())

    def end(self):
        self.view.line += 1
        self.conversation.end()
        told = self.view.lose()
        assert told == self.tap.lose()
        return told


def play(script):
    stage = Stage()
    lines = []
    for line in script.strip().splitlines():
        if line.startswith(" "):
            continue
        cue, _, words = line.partition(" ")
        match cue:
            case "==":
                lines.append(folded_line(stage.view))
            case "V1" | "V2":
                stage.open(cue[1])
                lines.append(line)
            case "END":
                lines += [line, *map(update_line, stage.end())]
            case _:
                told = stage.say(SIDES[cue], message(words).encode())
                lines += [line, *map(update_line, told)]
    return "\n".join(lines)
