"""Conversations as plays.

A line that begins with `C>` or `A>` is what client or agent say, in short:

    2 session/prompt {"sessionId":"s"}      a request, with its id and params
    session/cancel {"sessionId":"s"}        a notification
    2 = {"stopReason":"end_turn"}           a result
    2 ! {"code":-32603}                     an error
    s ~ {"sessionUpdate":"plan"}            a `session/update` of session s
    s * {"state":"idle"}                    a `state_update` of session s
    {...}                                   the message itself

Below it, indented, stands what it means: transitions of state, and notes on rules. `END` is the end
of the connection, and `==` tells the version and all states. `play` writes down what it met, so a
play that holds is returned as it is.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.acp.conversation import Conversation
from acptap.jsonrpc import Side, read, read_all
from acptap.wire import jsontext

SIDES = {"C>": Side.CLIENT, "A>": Side.AGENT}

OPENING = frozenset({"acp/before-initialize", "acp/unknown-session", "acp/agent-initiated"})
"""Rules that a play may leave out of account: most begin in the middle of a conversation."""


def spoken(words):
    """The message that a line of a play is short for."""
    first, _, rest = words.partition(" ")
    second, _, third = rest.partition(" ")
    if second == "=":
        return f'{{"id":{first},"result":{third}}}'
    if second == "!":
        return f'{{"id":{first},"error":{third}}}'
    if second == "*":
        second, third = "~", third.replace("{", '{"sessionUpdate":"state_update",', 1)
    if second == "~":
        params = f'{{"sessionId":"{first}","update":{third}}}'
        return f'{{"method":"session/update","params":{params}}}'
    if words.startswith("{"):
        return words
    if first == "null" or first[0] in '0123456789"':
        return f'{{"id":{first},"method":"{second}","params":{third or "null"}}}'
    return f'{{"method":"{first}","params":{rest or "null"}}}'


def transition_line(step):
    names = [name for name in (step.name, step.reason) if name is not None]
    repeat = ["again"] if step.repeat else []
    words = ", ".join([step.basis.value, *names, *repeat])
    return f"   {step.session}: {step.before.value} -> {step.after.value} ({words})"


def note_line(note):
    detail = f" {json.dumps(note.detail, separators=(',', ':'))}" if note.detail else ""
    return f"   {note.rule}{detail}"


def state_line(conversation):
    states = [
        " ".join([id_, work.session.state.value, work.session.basis.value])
        + (", loading" if work.loading else "")
        + (", cancelling" if work.session.cancel_requested else "")
        + (", lost" if work.session.lost else "")
        for id_, work in conversation.sessions.items()
    ]
    return "; ".join([f"== v{conversation.version}", *states])


def play(script, silent=OPENING):
    conversation = Conversation()
    lines = []
    for line in script.strip().splitlines():
        if line.startswith(" "):
            continue
        cue, _, words = line.partition(" ")
        match cue:
            case "==":
                lines.append(state_line(conversation))
            case "END":
                lines += [line, *map(note_line, conversation.end())]
            case _:
                text = spoken(words).encode()
                seen = conversation.observe(SIDES[cue], read(jsontext.parse(text), text))
                lines += [line, *map(transition_line, seen.transitions)]
                lines += [note_line(note) for note in seen.notes if note.rule not in silent]
    return "\n".join(lines)


IDS = {
    "edge 1, I2 the same id is open in both directions": """
C> 2 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
A> 2 fs/read_text_file {"sessionId":"s","path":"/w/a"}
C> 2 = {"content":"x"}
== v1; s running derived
A> 2 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
""",
    "edge 2, I3 a string and a number are two ids": """
C> 1 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
C> "1" session/prompt {"sessionId":"t"}
   t: idle -> running (derived)
C> "01" session/prompt {"sessionId":"u"}
   u: idle -> running (derived)
A> "1" = {"stopReason":"end_turn"}
   t: running -> idle (derived, end_turn)
A> 1 = {"stopReason":"refusal"}
   s: running -> idle (derived, refusal)
A> 1.0 = {}
   jsonrpc/unknown-id {"id":"1.0"}
""",
    "edge 3 a null id is answered with null": """
C> null session/new {"cwd":"/w","mcpServers":[]}
A> null = {"sessionId":"s"}
== v1; s idle default
""",
    "edge 3 a null id is refused": """
C> null session/new {"cwd":"/w","mcpServers":[]}
A> null ! {"code":-32600,"message":"Invalid request"}
A> null ! {"code":-32600,"message":"Invalid request"}
   jsonrpc/null-id-error
""",
    "edge 4 a big id is kept exactly": """
A> 9007199254740993 session/request_permission {"sessionId":"s"}
   acp/out-of-turn-ask
C> 9007199254740992 = {}
   jsonrpc/unknown-id {"id":9007199254740992}
C> 9007199254740993 = {}
""",
    "an id beyond 64 bits is the same in a strict and a lenient text": """
C> 99999999999999999999 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
A> {"id":99999999999999999999,"result":{"t":"\\ud800"}}
   s: running -> idle (derived)
""",
    "edge 5 null params": """
C> {"id":3,"method":"logout","params":null}
A> {"id":3,"result":null}
""",
    "edge 6 a null result is a success": """
C> 4 session/load {"sessionId":"s"}
A> 4 = null
== v1; s idle default
""",
    "edge 7 an error with a null id": """
C> 1 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
A> null ! {"code":-32700,"message":"Parse error"}
   jsonrpc/null-id-error
== v1; s running derived
""",
    "edge 8 a response with both is a failure": """
C> 5 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
A> {"id":5,"result":{"stopReason":"end_turn"},"error":{"code":1,"message":"x"}}
   s: running -> idle (derived, error)
   jsonrpc/malformed {"why":"both a result and an error"}
""",
    "edge 9 a response to an unknown id": """
A> 99 = {}
   jsonrpc/unknown-id {"id":99}
""",
    "edge 10 a second response completes nothing": """
C> 5 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
A> 5 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
A> 5 = {"stopReason":"end_turn"}
   jsonrpc/second-answer {"id":5}
""",
    "edge 12 a client answers noise": """
C> null ! {"code":-32700,"message":"Parse error"}
   jsonrpc/null-id-error
""",
    "edge 16 the last of two methods counts": """
C> {"id":1,"method":"session/prompt","method":"session/list","params":{"sessionId":"s"}}
== v1; s idle default
""",
    "I1 the agent's ids restart every turn": """
C> 1 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
A> 0 session/request_permission {"sessionId":"s","toolCall":{"toolCallId":"t1"}}
   s: running -> requires_action (derived)
C> 0 = {"outcome":{"outcome":"selected","optionId":"allow"}}
   s: requires_action -> running (derived)
A> 1 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
C> 2 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
A> 0 session/request_permission {"sessionId":"s","toolCall":{"toolCallId":"t2"}}
   s: running -> requires_action (derived)
C> 0 = {"outcome":{"outcome":"selected","optionId":"reject"}}
   s: requires_action -> running (derived)
A> 2 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
C> 3 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
A> 0 session/request_permission {"sessionId":"s","toolCall":{"toolCallId":"t3"}}
   s: running -> requires_action (derived)
END
   acp/never-answered {"side":"client","method":"session/prompt","id":3,"session":"s"}
   acp/never-answered {"side":"agent","method":"session/request_permission","id":0,"session":"s"}
   acp/ended-in-turn {"session":"s","state":"requires_action"}
""",
    "I5 a duplicate id answers the oldest": """
C> 1 session/prompt {"sessionId":"s1"}
   s1: idle -> running (derived)
C> 1 session/prompt {"sessionId":"s2"}
   s2: idle -> running (derived)
   jsonrpc/duplicate-id {"id":1}
A> 1 = {"stopReason":"end_turn"}
   s1: running -> idle (derived, end_turn)
A> 1 = {"stopReason":"refusal"}
   s2: running -> idle (derived, refusal)
""",
    "I6 four answers to nothing": """
C> 4 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
A> 4 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
A> 4 ! {"code":-32603,"message":"x"}
   jsonrpc/second-answer {"id":4}
A> null ! {"code":-32603,"message":"x"}
   jsonrpc/null-id-error
A> 999 = {}
   jsonrpc/unknown-id {"id":999}
A> {"jsonrpc":"2.0","id":5}
   jsonrpc/malformed {"why":"neither a result nor an error"}
   jsonrpc/unknown-id {"id":5}
== v1; s idle derived
""",
    "I7 members in any order, and more of them": """
C> {"type":"JsonRpcRequest","id":3,"method":"session/prompt","params":{"sessionId":"s1"}}
   s1: idle -> running (derived)
A> {"jsonrpc":"2.0","result":{"stopReason":"end_turn"},"id":3}
   s1: running -> idle (derived, end_turn)
""",
    "N4 parse errors settle nothing": """
C> 0 initialize {"protocolVersion":1}
A> {"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}
   jsonrpc/null-id-error
A> 0 = {"protocolVersion":1}
""",
    "what is no message is malformed": """
A> {"id":1,"method":5}
   jsonrpc/malformed {"why":"the method is no string"}
A> {"id":true,"method":"m"}
   jsonrpc/malformed {"why":"the id is a boolean"}
""",
}  # fmt: skip

VERSIONS = {
    "a conversation that begins without initialize counts as version 1": """
== v1
""",
    "the response decides": """
C> 0 initialize {"protocolVersion":2}
== vNone
A> 0 = {"protocolVersion":2}
== v2
""",
    "a resume before the version is known is one when it is": """
C> 0 initialize {"protocolVersion":2}
C> 1 session/resume {"sessionId":"s","cwd":"/w"}
== vNone; s idle default
A> 0 = {"protocolVersion":2}
   s: idle -> none (derived)
A> s * {"state":"running"}
   s: none -> running (reported)
""",
    "a prompt before the version is known stays a prompt in version 2": """
C> 0 initialize {"protocolVersion":2}
C> 1 session/prompt {"sessionId":"s"}
A> 0 = {"protocolVersion":2}
== v2; s idle default
""",
    "edge 48 a downgrade": """
C> 0 initialize {"protocolVersion":2}
A> 0 = {"protocolVersion":1}
== v1
C> 1 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
A> s * {"state":"idle"}
   acp/unknown-update {"update":"state_update"}
== v1; s running derived
""",
    "edge 47 a failed initialize decides nothing": """
C> 0 initialize {"protocolVersion":3}
A> 0 ! {"code":-32022,"message":"Unsupported protocol version","data":{"supported":[1]}}
== vNone
C> 1 initialize {"protocolVersion":1}
A> 1 = {"protocolVersion":1}
== v1
""",
    "edge 47 a repeated initialize: the last success counts": """
C> 0 initialize {"protocolVersion":1}
A> 0 = {"protocolVersion":1}
C> 1 initialize {"protocolVersion":2}
== v1
A> 1 = {"protocolVersion":2}
== v2
""",
    "edge 47 a repeated initialize that is refused": """
C> 0 initialize {"protocolVersion":2}
A> 0 = {"protocolVersion":2}
C> 1 initialize {"protocolVersion":2}
A> 1 ! {"code":-32600,"message":"Initialize not allowed on existing connection"}
== v2
""",
    "a version that is no number is version 1": """
C> 0 initialize {"protocolVersion":1}
A> 0 = {"protocolVersion":"2024-11-05"}
== v1
""",
    "a boolean is no version": """
C> 0 initialize {"protocolVersion":1}
A> 0 = {"protocolVersion":true}
== v1
""",
    "no version is version 1": """
C> 0 initialize {}
A> 0 = null
== v1
""",
    "a pipelined prompt runs once version 1 is known": """
C> 0 initialize {"protocolVersion":1}
C> 1 session/prompt {"sessionId":"s"}
== vNone; s idle default
A> 0 = {"protocolVersion":1}
   s: idle -> running (derived)
A> 1 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
""",
    "a pipelined prompt runs nothing in version 2": """
C> 0 initialize {"protocolVersion":2}
C> 1 session/prompt {"sessionId":"s"}
A> 0 = {"protocolVersion":2}
== v2; s idle default
A> 1 = {"messageId":"m"}
== v2; s idle default
""",
    "a pipelined prompt that is refused before the version is known": """
C> 0 initialize {"protocolVersion":1}
C> 1 session/prompt {"sessionId":"s"}
A> 1 ! {"code":-32600,"message":"Invalid request"}
A> 0 = {"protocolVersion":1}
== v1; s idle default
""",
    "a hint: version 2 has auth/login": """
C> 1 auth/login {}
== v2
""",
    "a hint: version 2 has tool_call/cancel": """
C> 1 tool_call/cancel {"sessionId":"s","toolCallId":"t"}
== v2; s idle default
""",
    "a hint: version 2 has state_update": """
A> s * {"state":"running"}
   s: idle -> running (reported)
== v2; s running reported
""",
    "a hint: version 2 has agent_message": """
A> s ~ {"sessionUpdate":"agent_message","messageId":"m"}
== v2; s idle default
""",
    "a hint: version 1 has session/load": """
C> 0 initialize {"protocolVersion":1}
C> 1 session/load {"sessionId":"s"}
== v1; s idle default, loading
""",
    "a hint: version 1 has authenticate": """
C> 0 initialize {"protocolVersion":1}
C> 1 authenticate {"methodId":"x"}
== v1
""",
    "a hint: version 1 has fs": """
C> 0 initialize {"protocolVersion":1}
A> 1 fs/read_text_file {"sessionId":"s","path":"/w/a"}
== v1; s idle default
""",
    "a hint: version 1 has terminal/create": """
C> 0 initialize {"protocolVersion":1}
A> 1 terminal/create {"sessionId":"s","command":"ls"}
== v1; s idle default
""",
    "a hint: version 1 has tool_call": """
C> 0 initialize {"protocolVersion":1}
A> s ~ {"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}
== v1; s idle default
""",
    "a hint: version 1 has plan": """
C> 0 initialize {"protocolVersion":1}
A> s ~ {"sessionUpdate":"plan","entries":[]}
== v1; s idle default
""",
    "no hint: both versions have it": """
C> 0 initialize {"protocolVersion":1}
C> 1 session/list {}
A> s ~ {"sessionUpdate":"agent_message_chunk"}
== vNone; s idle default
""",
    "no hint counts against the response": """
C> 0 initialize {"protocolVersion":1}
A> 0 = {"protocolVersion":1}
C> 1 auth/login {}
A> s * {"state":"running"}
   acp/unknown-update {"update":"state_update"}
== v1; s idle default
""",
}

SESSIONS = {
    "O1 updates before the answer that mints": """
C> 0 initialize {"protocolVersion":1}
A> 0 = {"protocolVersion":1}
C> 2 session/new {"cwd":"/w","mcpServers":[]}
A> s1 ~ {"sessionUpdate":"available_commands_update","availableCommands":[]}
A> s1 ~ {"sessionUpdate":"available_commands_update","availableCommands":[]}
A> 2 = {"sessionId":"s1"}
== v1; s1 idle default
""",
    "O2 two sessions are minted in reverse": """
C> "a" session/new {"cwd":"/w","mcpServers":[]}
C> "b" session/new {"cwd":"/w","mcpServers":[]}
A> "b" = {"sessionId":"s2"}
A> s2 ~ {"sessionUpdate":"available_commands_update","availableCommands":[]}
A> "a" = {"sessionId":"s1"}
A> s1 ~ {"sessionUpdate":"available_commands_update","availableCommands":[]}
C> "c" session/prompt {"sessionId":"s2"}
   s2: idle -> running (derived)
== v1; s2 running derived; s1 idle default
""",
    "O3 the response stands behind the updates before it": """
C> 1 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
A> s ~ {"sessionUpdate":"agent_message_chunk"}
A> s ~ {"sessionUpdate":"agent_message_chunk"}
A> 1 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
""",
    "O4 two sessions, and a cancel for one": """
C> 1 session/prompt {"sessionId":"s1"}
   s1: idle -> running (derived)
C> 2 session/prompt {"sessionId":"s2"}
   s2: idle -> running (derived)
A> s1 ~ {"sessionUpdate":"agent_message_chunk"}
A> s2 ~ {"sessionUpdate":"agent_message_chunk"}
C> session/cancel {"sessionId":"s1"}
   acp/cancel-requested
== v1; s1 running derived, cancelling; s2 running derived
A> 2 = {"stopReason":"refusal"}
   s2: running -> idle (derived, refusal)
A> 1 = {"stopReason":"end_turn"}
   s1: running -> idle (derived, end_turn)
   acp/not-cancelled {"reason":"end_turn"}
""",
    "edge 46 a fork leaves its source alone": """
C> 1 session/prompt {"sessionId":"a"}
   a: idle -> running (derived)
C> 8 session/fork {"sessionId":"a","cwd":"/w"}
A> 8 = {"sessionId":"b"}
== v1; a running derived; b idle default
""",
    "a minted id that was closed before is open again": """
C> 1 session/new {"cwd":"/w"}
A> 1 = {"sessionId":"s"}
C> 2 session/close {"sessionId":"s"}
A> 2 = {}
   s: idle -> closed (derived)
C> 3 session/new {"cwd":"/w"}
A> 3 = {"sessionId":"s"}
   s: closed -> idle (derived)
""",
    "a failed session/new mints nothing": """
C> 1 session/new {"cwd":"/w"}
A> 1 ! {"code":-32000,"message":"Authentication required"}
== v1
""",
    "a minted id that is no string": """
C> 1 session/new {"cwd":"/w"}
A> 1 = {"sessionId":5}
== v1
""",
    "other results mint nothing": """
C> 1 session/list {}
A> 1 = {"sessionId":"s"}
== v1
""",
    "archive closes, unarchive does not open": """
C> 1 session/archive {"sessionId":"s"}
A> 1 = {}
   s: idle -> closed (derived)
C> 2 session/unarchive {"sessionId":"s"}
A> 2 = {}
== v1; s closed derived
""",
    "delete changes no activity": """
C> 1 session/delete {"sessionId":"s"}
A> 1 = {}
== v1; s idle default
""",
    "a failed close closes nothing": """
C> 1 session/close {"sessionId":"s"}
A> 1 ! {"code":-32002,"message":"Resource not found"}
== v1; s idle default
""",
    "a session id that is no string is none": """
C> 1 session/prompt {"sessionId":5}
C> 2 session/prompt ["s"]
C> 3 session/prompt
A> {"method":"session/update","params":["s"]}
A> {"method":"session/update","params":{"sessionId":"s"}}
A> {"method":"session/update","params":{"sessionId":"s","update":"plan"}}
== v1
""",
}

UNKNOWN = {
    "an unknown method is noted": """
C> 1 session/frobnicate {"sessionId":"s"}
   acp/unknown-method {"method":"session/frobnicate"}
A> session/frobnicated {"sessionId":"s"}
   acp/unknown-method {"method":"session/frobnicated"}
== v1; s idle default
""",
    "edge 53 extensions are free": """
C> "x1" _zed.dev/workspace/buffers {"language":"rust"}
A> _acme/ping
A> $/progress {}
C> "x1" = null
   jsonrpc/unknown-id {"id":"x1"}
A> "x1" = null
""",
    "a long name is cut": f"""
A> {"x" * 300}
   acp/unknown-method {{"method":"{"x" * 200}"}}
A> s ~ {{"sessionUpdate":"{"y" * 300}"}}
   acp/unknown-update {{"update":"{"y" * 200}"}}
""",
    "an unknown update is noted": """
C> 0 initialize {"protocolVersion":2}
A> 0 = {"protocolVersion":2}
A> s ~ {"sessionUpdate":"_acme/thing"}
   acp/unknown-update {"update":"_acme/thing"}
A> s ~ {"sessionUpdate":"tool_call"}
   acp/unknown-update {"update":"tool_call"}
A> s ~ {"sessionUpdate":5}
   acp/unknown-update {"update":null}
A> s ~ {}
   acp/unknown-update {"update":null}
""",
    "every known update is known before the version is": """
C> 0 initialize {"protocolVersion":2}
A> s * {"state":"idle"}
== v2; s idle reported
""",
}

CONDUCTOR = {
    "edge 55 the inner call counts": """
C> 3 proxy/successor {"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
   s: idle -> running (derived)
A> proxy/successor {"method":"session/update","params":{"sessionId":"s","update":{}}}
   acp/unknown-update {"update":null}
A> 3 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
""",
    "edge 55 towards the other side": """
A> 3 proxy/successor {"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
   s: idle -> running (derived)
C> 3 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
""",
    "edge 55 an inner initialize negotiates": """
C> 0 proxy/initialize {"protocolVersion":2}
A> 1 proxy/successor {"method":"initialize","params":{"protocolVersion":2}}
== vNone
C> 1 = {"protocolVersion":2}
== v2
""",
    "a successor without an inner call is itself": """
C> 3 proxy/successor {"params":{}}
A> 3 = {}
""",
}  # fmt: skip

ENDS = {
    "nothing is open": """
C> 1 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
A> 1 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
END
== v1; s idle derived, lost
""",
    "edge 50 a drop in mid-turn invents no idle": """
C> 2 session/prompt {"sessionId":"s"}
   s: idle -> running (derived)
END
   acp/never-answered {"side":"client","method":"session/prompt","id":2,"session":"s"}
   acp/ended-in-turn {"session":"s","state":"running"}
== v1; s running derived, lost
""",
    "edge 50 in version 2": """
C> 0 initialize {"protocolVersion":2}
A> 0 = {"protocolVersion":2}
A> s * {"state":"requires_action"}
   s: idle -> requires_action (reported)
A> 7 elicitation/create {"sessionId":"s"}
END
   acp/never-answered {"side":"agent","method":"elicitation/create","id":7,"session":"s"}
   acp/ended-in-turn {"session":"s","state":"requires_action"}
== v2; s requires_action reported, lost
""",
    "calls without a session, and odd ids": """
C> 1.50 session/list {}
C> null authenticate {}
END
   acp/never-answered {"side":"client","method":"session/list","id":"1.50"}
   acp/never-answered {"side":"client","method":"authenticate","id":null}
""",
    "R25 unknown, other and none were not certain before": """
C> 0 initialize {"protocolVersion":2}
A> 0 = {"protocolVersion":2}
A> a * {"state":"unknown"}
   a: idle -> unknown (reported)
A> b * {"state":"_acme.paused"}
   b: idle -> other (reported, _acme.paused)
END
   acp/only-custom-states {"session":"b"}
== v2; a unknown reported, lost; b other reported, lost
""",
}

PLAYS = IDS | VERSIONS | SESSIONS | UNKNOWN | CONDUCTOR | ENDS


@pytest.mark.parametrize("script", PLAYS.values(), ids=PLAYS)
def test_play(script):
    assert play(script) == script.strip()


FILED = {
    "edge 1 an answer belongs to its request's session": (
        ['C> 2 session/prompt {"sessionId":"s"}', "A> 2 = {}"],
        ("s", "session/prompt"),
    ),
    "an update belongs to its session": (
        ['A> s ~ {"sessionUpdate":"plan"}'],
        ("s", "session/update"),
    ),
    "any method belongs to the session it names": (
        ['C> 1 _acme/x {"sessionId":"s"}'],
        ("s", "_acme/x"),
    ),
    "initialize belongs to the connection": (["C> 0 initialize {}"], (None, "initialize")),
    "session/new belongs to the connection": (["C> 1 session/new {}"], (None, "session/new")),
    "the answer to session/new belongs to what it mints": (
        ["C> 1 session/new {}", 'A> 1 = {"sessionId":"s"}'],
        ("s", "session/new"),
    ),
    "edge 46 the answer to a fork belongs to its source": (
        ['C> 8 session/fork {"sessionId":"a"}', 'A> 8 = {"sessionId":"b"}'],
        ("a", "session/fork"),
    ),
    "edge 44 an elicitation for a request belongs to the connection": (
        ['C> 12 session/new {"cwd":"/w"}', 'A> 1 elicitation/create {"requestId":12,"mode":"url"}'],
        (None, "elicitation/create"),
    ),
    "edge 45 of two session ids the outer one routes": (
        ['A> parent ~ {"sessionUpdate":"subagent_update","sessionId":"child"}'],
        ("parent", "session/update"),
    ),
    "edge 55 the inner call's session and method": (
        ['C> 3 proxy/successor {"method":"session/prompt","params":{"sessionId":"s"}}'],
        ("s", "session/prompt"),
    ),
    "edge 9 an answer to nothing belongs to nothing": (["A> 9 = {}"], (None, None)),
    "edge 7 an error for nothing belongs to nothing": (["A> null ! {}"], (None, None)),
    "what is malformed belongs to nothing": (['A> {"method":5}'], (None, None)),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "filed"), FILED.values(), ids=FILED)
def test_filed_under(lines, filed):
    conversation = Conversation()
    seen = None
    for line in lines:
        cue, _, words = line.partition(" ")
        text = spoken(words).encode()
        seen = conversation.observe(SIDES[cue], read(jsontext.parse(text), text))
    assert seen is not None
    assert (seen.session, seen.method) == filed


def test_edge_11_a_batch_is_observed_message_by_message():
    text = (
        b'[{"id":1,"method":"session/prompt","params":{"sessionId":"s"}},'
        b'{"method":"session/cancel","params":{"sessionId":"s"}}]'
    )
    conversation = Conversation()
    for message in read_all(jsontext.parse(text), text):
        conversation.observe(Side.CLIENT, message)
    assert state_line(conversation) == "== v1; s running derived, cancelling"


def test_a_discriminator_nested_deeper_than_python_prints():
    deep = b"[" * 900 + b"]" * 900
    text = b'{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":%b}}}'
    seen = Conversation().observe(Side.AGENT, read(jsontext.parse(text % deep), text % deep))
    assert [note.rule for note in seen.notes] == ["acp/unknown-update"]


METHOD = st.sampled_from([
    "initialize", "session/new", "session/load", "session/resume", "session/fork", "session/close",
    "session/archive", "session/prompt", "session/cancel", "session/update", "elicitation/create",
    "session/request_permission", "$/cancel_request", "proxy/successor", "_acme/x", "nonsense", "",
])  # fmt: skip
UPDATE = st.sampled_from([
    "state_update", "subagent_update", "agent_message_chunk", "tool_call", "plan", "_x", "",
])  # fmt: skip
STATE = st.sampled_from(["idle", "running", "requires_action", "unknown", "_acme.paused", "later"])
ID = st.sampled_from([0, 1, "1", None, 1.5]) | st.integers()
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | STATE | METHOD,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "method", "params", "update", "state"]), inner)
    ),
    max_leaves=8,
)
SNAPSHOT = st.fixed_dictionaries(
    {},
    optional={
        "sessionUpdate": UPDATE | JUNK,
        "state": STATE | JUNK | st.fixed_dictionaries({"state": STATE | JUNK}),
        "stopReason": st.sampled_from(["end_turn", "cancelled"]) | JUNK,
        "sessionId": st.sampled_from(["s", "t"]) | JUNK,
    },
)
PARAMS = JUNK | st.fixed_dictionaries(
    {},
    optional={
        "sessionId": st.sampled_from(["s", "t"]) | JUNK,
        "update": SNAPSHOT | JUNK,
        "protocolVersion": st.integers(0, 3) | JUNK,
        "method": METHOD,
        "params": SNAPSHOT,
    },
)
RESULT = JUNK | st.fixed_dictionaries(
    {},
    optional={
        "sessionId": st.sampled_from(["s", "t"]) | JUNK,
        "protocolVersion": st.integers(0, 3) | JUNK,
        "stopReason": JUNK,
    },
)
MESSAGE = JUNK | st.fixed_dictionaries(
    {},
    optional={
        "id": ID | JUNK,
        "method": METHOD | JUNK,
        "params": PARAMS,
        "result": RESULT,
        "error": JUNK | st.fixed_dictionaries({"code": st.sampled_from([-32800, -32603])}),
    },
)
CALL = st.fixed_dictionaries({"id": ID, "method": METHOD, "params": PARAMS})
NEWS = st.fixed_dictionaries({"method": METHOD, "params": PARAMS})
ANSWER = st.fixed_dictionaries({"id": ID, "result": RESULT})
SAID = st.tuples(st.sampled_from(Side), MESSAGE | CALL | NEWS | ANSWER)


@given(st.lists(SAID, max_size=15))
def test_a_witness_never_raises_and_its_transitions_are_a_chain(said):
    conversation = Conversation()
    states: dict[str, str] = {}
    for side, value in said:
        text = json.dumps(value).encode()
        for message in read_all(jsontext.parse(text), text):
            for step in conversation.observe(side, message).transitions:
                assert step.before == states.get(step.session, step.before)
                states[step.session] = step.after
    conversation.end()
    works = conversation.sessions
    assert states == {id_: works[id_].session.state for id_ in states}
    assert min([0, *(count for work in works.values() for count in work.open.values())]) == 0
