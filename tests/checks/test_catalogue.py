"""Every rule of the catalogue, with a conversation that keeps it and one that breaks it.

How to read a play: see tests/acp/test_conversation. Here a line `A|` is what stands on the wire as
it is, and `A|` with `...` at its end has no line end. Messages say their version unless they are
spelled out.
"""

import pytest

from acptap.acp.rules import RULES
from acptap.checking import DIFFER, REDACTION_OPEN, TORN
from acptap.jsonrpc import Side
from acptap.tap import Tap
from acptap.wire.lines import LineSplitter
from tests.acp.test_conversation import SIDES, spoken
from tests.checks.cassettes import FIRST, met_in_a_file, write
from tests.checks.network import PAIRS as NETWORK

RAW = {"C|": Side.CLIENT, "A|": Side.AGENT}

V1 = """
C> 0 initialize {"protocolVersion":1}
A> 0 = {"protocolVersion":1}
C> 1 session/new {"cwd":"/w","mcpServers":[]}
A> 1 = {"sessionId":"s"}
"""
V2 = V1.replace('n":1', 'n":2')
RUNNING = """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
A> s ~ {"sessionUpdate":"user_message","messageId":"u1","content":[]}
A> 2 = {"messageId":"u1"}
"""
ASKED = """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> 0 session/request_permission {"sessionId":"s","options":[{"optionId":"y"},{"optionId":"n"}]}
"""
CANCEL = 'C> session/cancel {"sessionId":"s"}\n'
CHOSEN = '{"outcome":{"outcome":"selected","optionId":"y"}}'
TERMINAL = 'A> s ~ {"sessionUpdate":"terminal_update","terminalId":"T"}\n'
LISTED = '"background":[{"type":"terminal","terminalId":"T"}]'


def line_of(words):
    text = spoken(words)
    return text if words.startswith("{") else text.replace("{", '{"jsonrpc":"2.0",', 1)


def met(script, limit=None):
    """The rules that a play meets on its way through a tap, and at its end."""
    tap, rules = Tap(), []
    if limit is not None:
        tap._splitters = {side: LineSplitter(limit) for side in Side}
    tape = []
    for at, line in enumerate(filter(None, script.splitlines())):
        cue, _, words = line.partition(" ")
        if cue in RAW:
            data = words.encode("latin-1")
            tape.append(tap.observe(RAW[cue], data.removesuffix(b"...") + b"\n" * (
                not data.endswith(b"...")), at))  # fmt: skip
        else:
            tape.append(tap.observe(SIDES[cue], line_of(words).encode() + b"\n", at))
    tape += [tap.end(Side.AGENT, 1000), tap.exit(1001, code=0)]
    for entry in write(b"".join(tape)):
        rules += entry.rules
    return rules


PAIRS = {
    "stdio/not-json": (V1 + 'A| {"jsonrpc":"2.0","method":"$/x"}', V1 + "A| Loading model"),
    "stdio/not-utf8": (V1 + "A| Loading", V1 + "A| \xff\xfe"),
    "stdio/glued": (
        V1 + 'A| {"jsonrpc":"2.0","method":"$/x"}',
        V1 + 'A| {"jsonrpc":"2.0","method":"$/x"}{"jsonrpc":"2.0","method":"$/y"}',
    ),
    "stdio/unterminated": (
        V1 + 'A| {"jsonrpc":"2.0","method":"$/x"}',
        V1 + 'A| {"jsonrpc":"2.0","method":"$/x"}...',
    ),
    "jsonrpc/malformed": (
        V1 + 'A| {"jsonrpc":"2.0","method":"$/x"}',
        V1 + 'A| {"jsonrpc":"2.0","method":5}',
    ),
    "jsonrpc/version": (
        V1 + 'A| {"method":"$/x","jsonrpc":"2.0"}',
        V1 + 'A| {"method":"$/x","jsonrpc":"1.0"}',
    ),
    "edge 16 jsonrpc/duplicate-member": (
        V1 + 'C> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}',
        V1 + 'C> {"jsonrpc":"2.0","id":1,"method":"session/prompt","method":"$/x","params":{}}',
    ),
    "edge 11 jsonrpc/batch": (
        V1 + 'C> {"jsonrpc":"2.0","method":"$/x"}',
        V1 + 'C| [{"jsonrpc":"2.0","method":"$/x"}]',
    ),
    "jsonrpc/unknown-id": (V1 + "C> 2 session/list {}\nA> 2 = {}", V1 + "A> 2 = {}"),
    "R10, edge 10 jsonrpc/second-answer": (
        V1 + "C> 2 session/list {}\nA> 2 = {}",
        V1 + "C> 2 session/list {}\nA> 2 = {}\nA> 2 = {}",
    ),
    "I5 jsonrpc/duplicate-id": (
        V1 + "C> 2 session/list {}\nA> 2 = {}\nC> 2 session/list {}\nA> 2 = {}",
        V1 + "C> 2 session/list {}\nC> 2 session/list {}\nA> 2 = {}\nA> 2 = {}",
    ),
    "edge 7 jsonrpc/null-id-error": (
        V1 + 'C> 2 session/list {}\nA> 2 ! {"code":1}',
        V1 + 'A> null ! {"code":-32700,"message":"Parse error"}',
    ),
    "acp/before-initialize": (
        "C> 0 initialize {}\nC> 1 session/list {}",
        "C> 1 session/list {}\nC> 0 initialize {}",
    ),
    "edge 47 acp/late-initialize": (
        V2.split("C> 1")[0] + 'C> 9 initialize {"protocolVersion":2}',
        V2 + 'C> 9 initialize {"protocolVersion":2}',
    ),
    "edge 53 acp/unknown-method": (V1 + "C> _x/y {}", V1 + "C> x/y {}"),
    "acp/unknown-update": (
        V1 + 'A> s ~ {"sessionUpdate":"plan","entries":[]}',
        V1 + 'A> s ~ {"sessionUpdate":"state_update","state":"idle"}',
    ),
    "edge 50 acp/never-answered": (
        V1 + "C> 2 session/list {}\nA> 2 = {}",
        V1 + "C> 2 session/list {}",
    ),
    "acp/relative-cwd": (
        V1 + 'C> 2 session/load {"sessionId":"s","cwd":"C:\\\\w"}',
        V1 + 'C> 2 session/load {"sessionId":"s","cwd":"w"}',
    ),
    "acp/unknown-session, by the agent": (
        V1 + 'A> s ~ {"sessionUpdate":"plan","entries":[]}',
        V1 + 'A> t ~ {"sessionUpdate":"plan","entries":[]}',
    ),
    "acp/unknown-session, by the client": (
        V1 + 'C> 2 session/prompt {"sessionId":"s"}',
        V1 + 'C> 2 session/prompt {"sessionId":"t"}',
    ),
    "O1 acp/early-session": (
        V1
        + 'C> 2 session/new {"cwd":"/w"}\nA> t ~ {"sessionUpdate":"plan"}\nA> 2 = {"sessionId":"t"}'
        + '\nC> 3 session/prompt {"sessionId":"t"}',
        V1
        + 'C> 2 session/new {"cwd":"/w"}\nA> t ~ {"sessionUpdate":"plan"}\n'
        + 'C> 3 session/prompt {"sessionId":"t"}\nA> 2 = {"sessionId":"t"}',
    ),
    "R20 acp/replay-unasked": (
        V2
        + 'C> 2 session/resume {"sessionId":"t","cwd":"/w","replayFrom":{"type":"start"}}\n'
        + 'A> t ~ {"sessionUpdate":"agent_message","messageId":"m"}\nA> t * {"state":"idle"}\n'
        + "A> 2 = {}",
        V2
        + 'C> 2 session/resume {"sessionId":"t","cwd":"/w"}\n'
        + 'A> t ~ {"sessionUpdate":"agent_message","messageId":"m"}\nA> t * {"state":"idle"}\n'
        + "A> 2 = {}",
    ),
    "R20 v1 acp/replay-unasked": (
        V1
        + 'C> 2 session/resume {"sessionId":"t","cwd":"/w"}\n'
        + 'A> t ~ {"sessionUpdate":"available_commands_update"}\nA> 2 = {}',
        V1
        + 'C> 2 session/resume {"sessionId":"t","cwd":"/w"}\n'
        + 'A> t ~ {"sessionUpdate":"user_message_chunk"}\nA> 2 = {}',
    ),
    "S2 acp/update-after-turn": (
        V1
        + 'C> 2 session/prompt {"sessionId":"s"}\nA> s ~ {"sessionUpdate":"plan"}\n'
        + 'A> 2 = {"stopReason":"end_turn"}',
        V1
        + 'C> 2 session/prompt {"sessionId":"s"}\nA> 2 = {"stopReason":"end_turn"}\n'
        + 'A> s ~ {"sessionUpdate":"plan"}',
    ),
    "acp/overlapping-prompt": (
        V1
        + 'C> 2 session/prompt {"sessionId":"s"}\nA> 2 = {}\n'
        + 'C> 3 session/prompt {"sessionId":"s"}',
        V1 + 'C> 2 session/prompt {"sessionId":"s"}\nC> 3 session/prompt {"sessionId":"s"}',
    ),
    "acp/out-of-turn-ask": (
        V1 + ASKED,
        V1 + 'A> 0 session/request_permission {"sessionId":"s"}',
    ),
    "edge 42 acp/unannounced-tool-call": (
        V1
        + 'A> s ~ {"sessionUpdate":"tool_call","toolCallId":"t"}\n'
        + 'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t"}',
        V1 + 'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t"}',
    ),
    "acp/unknown-option": (
        V1 + ASKED + f"C> 0 = {CHOSEN}",
        V1 + ASKED + f"C> 0 = {CHOSEN.replace('y', 'z')}",
    ),
    "O6 acp/permission-not-cancelled": (
        V1 + ASKED + CANCEL + 'C> 0 = {"outcome":{"outcome":"cancelled"}}',
        V1 + ASKED + CANCEL + "C> 0 = " + CHOSEN,
    ),
    "acp/cancel-requested": (
        V1 + 'C> session/cancel {"sessionId":"s"}',
        V1 + 'C> 2 session/prompt {"sessionId":"s"}\nC> session/cancel {"sessionId":"s"}',
    ),
    "R33, S9 acp/stray-cancel": (
        V1 + 'C> 2 session/prompt {"sessionId":"s"}\nC> session/cancel {"sessionId":"s"}',
        V1 + 'C> session/cancel {"sessionId":"s"}',
    ),
    "edge 40 acp/not-cancelled": (
        V1
        + 'C> 2 session/prompt {"sessionId":"s"}\nC> session/cancel {"sessionId":"s"}\n'
        + 'A> 2 = {"stopReason":"cancelled"}',
        V1
        + 'C> 2 session/prompt {"sessionId":"s"}\nC> session/cancel {"sessionId":"s"}\n'
        + 'A> 2 = {"stopReason":"end_turn"}',
    ),
    "R8 acp/not-cancelled": (
        V2 + RUNNING + 'C> session/cancel {"sessionId":"s"}\n'
        'A> s * {"state":"idle","stopReason":"cancelled"}',
        V2 + RUNNING + 'C> session/cancel {"sessionId":"s"}\n'
        'A> s * {"state":"idle","stopReason":"end_turn"}',
    ),
    "S1 acp/ended-in-turn": (
        V1 + 'C> 2 session/prompt {"sessionId":"s"}\nA> 2 = {}',
        V1 + 'C> 2 session/prompt {"sessionId":"s"}',
    ),
    "R6 acp/ended-in-turn": (
        V2 + RUNNING + 'A> s * {"state":"idle","stopReason":"end_turn"}',
        V2 + RUNNING,
    ),
    "R13 acp/ended-in-turn": (
        V2 + RUNNING + 'A> s * {"state":"requires_action"}\nA> s * {"state":"idle"}',
        V2 + RUNNING + 'A> s * {"state":"requires_action"}',
    ),
    "edge 22 acp/malformed-state": (
        V2 + 'A> s * {"state":"sleeping"}',
        V2 + 'A> s * {"state":null}',
    ),
    "R3 acp/work-not-announced": (
        V2 + RUNNING,
        V2 + 'C> 2 session/prompt {"sessionId":"s","prompt":[]}\nA> 2 = {"messageId":"u1"}',
    ),
    "R24 acp/work-not-announced": (
        V2 + 'C> 2 session/prompt {"sessionId":"s","prompt":[]}\nA> 2 = {"messageId":"u1"}\n'
        'C> session/cancel {"sessionId":"s"}',
        V2 + 'C> 2 session/prompt {"sessionId":"s","prompt":[]}\nA> 2 = {"messageId":"u1"}\n'
        'A> s * {"state":"idle"}',
    ),
    "R4, edge 27 acp/agent-initiated": (V2 + RUNNING, V2 + 'A> s * {"state":"running"}'),
    "R7, edge 19 acp/idle-without-reason": (
        V2 + 'A> s * {"state":"idle"}',
        V2 + RUNNING + 'A> s * {"state":"idle"}',
    ),
    "R7 after unknown acp/idle-without-reason": (
        V2 + 'A> s * {"state":"_acme.paused"}\nA> s * {"state":"idle"}',
        V2 + 'A> s * {"state":"unknown"}\nA> s * {"state":"idle","stopReason":null}',
    ),
    "R9, edge 20 acp/error-without-details": (
        V2 + RUNNING + 'A> s * {"state":"idle","stopReason":"error","error":{"code":1}}',
        V2 + RUNNING + 'A> s * {"state":"idle","stopReason":"error"}',
    ),
    "R15, edge 25 acp/answer-restarts-work": (
        V2 + RUNNING + 'A> 0 session/request_permission {"sessionId":"s"}\n'
        'A> s * {"state":"idle"}\n'
        'C> 0 = {"outcome":{"outcome":"cancelled"}}\nA> s * {"state":"running"}',
        V2 + RUNNING + 'A> 0 session/request_permission {"sessionId":"s"}\n'
        'A> s * {"state":"idle"}\n'
        "C> 0 = " + CHOSEN + '\nA> s * {"state":"running"}',
    ),
    "R15 by a prompt acp/answer-restarts-work": (
        V2 + RUNNING + 'A> 0 elicitation/create {"sessionId":"s"}\nA> s * {"state":"idle"}\n'
        'C> 0 = {"action":"accept"}\nC> 3 session/prompt {"sessionId":"s"}\n'
        'A> s * {"state":"running"}',
        V2 + RUNNING + 'A> 0 elicitation/create {"sessionId":"s"}\nA> s * {"state":"idle"}\n'
        'C> 0 = {"action":"accept"}\nA> s * {"state":"running"}',
    ),
    "R26, edge 21 acp/only-custom-states": (
        V2 + 'A> s * {"state":"_acme.paused"}\nA> s * {"state":"unknown"}',
        V2 + 'A> s * {"state":"_acme.paused"}\nA> s * {"state":"later"}',
    ),
    "R17, edge 30 acp/resume-without-snapshot": (
        V2
        + 'C> 2 session/resume {"sessionId":"t","cwd":"/w"}\n'
        + 'A> t * {"state":"running"}\nA> 2 = {}',
        V2 + 'C> 2 session/resume {"sessionId":"t","cwd":"/w"}\nA> 2 = {}',
    ),
    "R19, edge 32 acp/resume-without-snapshot": (
        V2 + 'C> 2 session/resume {"sessionId":"t","cwd":"/w"}\nA> 2 ! {"code":-32002}',
        V2 + 'A> s * {"state":"idle"}\nC> 2 session/resume {"sessionId":"s","cwd":"/w"}\nA> 2 = {}',
    ),
    "R18 acp/replay-after-snapshot": (
        V2
        + 'C> 2 session/resume {"sessionId":"t","cwd":"/w","replayFrom":{"type":"start"}}\n'
        + 'A> t * {"state":"running"}\nA> t ~ {"sessionUpdate":"agent_message","messageId":"m"}\n'
        + "A> 2 = {}",
        V2
        + 'C> 2 session/resume {"sessionId":"t","cwd":"/w","replayFrom":{"type":"start"}}\n'
        + 'A> t * {"state":"idle"}\nA> t ~ {"sessionUpdate":"agent_message","messageId":"m"}\n'
        + "A> 2 = {}",
    ),
    "R27, edge 29 acp/background-dropped": (
        V2 + TERMINAL + f'A> s * {{"state":"idle",{LISTED}}}\n'
        + 'A> s ~ {"sessionUpdate":"terminal_update","terminalId":"T","exitStatus":{}}\n'
        + 'A> s * {"state":"idle","background":[]}',
        V2 + TERMINAL + f'A> s * {{"state":"idle",{LISTED}}}\nA> s * {{"state":"idle"}}',
    ),
    "R28 acp/background-unannounced": (
        V2 + TERMINAL + f'A> s * {{"state":"idle",{LISTED}}}',
        V2 + f'A> s * {{"state":"idle",{LISTED}}}',
    ),
    "R28 of a resumed session acp/background-unannounced": (
        V2
        + 'C> 2 session/resume {"sessionId":"t"}\n'
        + f'A> t * {{"state":"idle",{LISTED}}}\nA> 2 = {{}}',
        V2 + f'A> s * {{"state":"idle",{LISTED}}}',
    ),
    "R28 acp/background-unfinished": (
        V2 + TERMINAL + f'A> s * {{"state":"idle",{LISTED}}}\n'
        'A> s ~ {"sessionUpdate":"terminal_update","terminalId":"T","exitStatus":{}}\n'
        'A> s * {"state":"idle","background":[]}',
        V2 + TERMINAL + f'A> s * {{"state":"idle",{LISTED}}}\n'
        'A> s * {"state":"idle","background":[]}',
    ),
    "R28 of a tool call acp/background-unfinished": (
        V2 + 'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t","status":"in_progress"}\n'
        'A> s * {"state":"idle","background":[{"type":"tool_call","toolCallId":"t"}]}\n'
        'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t","status":"_acme.done"}\n'
        'A> s * {"state":"idle","background":[]}',
        V2 + 'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t","status":"in_progress"}\n'
        'A> s * {"state":"idle","background":[{"type":"tool_call","toolCallId":"t"}]}\n'
        'A> s * {"state":"idle","background":[]}',
    ),
    "R28 acp/background-twice": (
        V2 + TERMINAL + f'A> s * {{"state":"idle",{LISTED}}}',
        V2 + TERMINAL + 'A> s * {"state":"idle","background":['
        '{"type":"terminal","terminalId":"T"},{"type":"terminal","terminalId":"T"}]}',
    ),
    "R29 acp/prompt-without-message-id": (
        V2 + RUNNING,
        V2 + 'C> 2 session/prompt {"sessionId":"s"}\nA> 2 = {"messageId":null}',
    ),
    "R29 with a reason acp/prompt-without-message-id": (
        V2 + 'C> 2 session/prompt {"sessionId":"s"}\nA> 2 ! {"code":-32602}',
        V2 + 'C> 2 session/prompt {"sessionId":"s"}\nA> 2 = {"stopReason":"end_turn"}',
    ),
    "R29, edge 34 acp/draft-prompt-result": (
        V2 + RUNNING,
        V2 + 'C> 2 session/prompt {"sessionId":"s"}\nA> 2 = {}',
    ),
    "R29, edge 35 acp/user-message-missing": (
        V2 + RUNNING + 'A> s * {"state":"idle","stopReason":"end_turn"}',
        V2 + RUNNING.replace('"u1","c', '"u2","c') + 'A> s * {"state":"idle"}',
    ),
    "R29 the message behind the answer acp/user-message-missing": (
        V2 + 'C> 2 session/prompt {"sessionId":"s"}\nA> 2 = {"messageId":"u1"}\n'
        'A> s ~ {"sessionUpdate":"user_message_chunk","messageId":"u1"}',
        V2 + 'C> 2 session/prompt {"sessionId":"s"}\nA> 2 = {"messageId":"u1"}\n',
    ),
    "R30 acp/close-in-mid-work": (
        V2 + RUNNING + 'C> 3 session/close {"sessionId":"s"}\n'
        'A> s * {"state":"idle","stopReason":"cancelled"}\nA> 3 = {}',
        V2 + RUNNING + 'C> 3 session/close {"sessionId":"s"}\nA> 3 = {}',
    ),
    "R31, edge 49 acp/message-after-close": (
        V2 + 'C> 3 session/close {"sessionId":"s"}\n'
        'A> s ~ {"sessionUpdate":"notice","title":"bye"}\nA> 3 = {}',
        V2 + 'C> 3 session/close {"sessionId":"s"}\nA> 3 = {}\n'
        'A> s ~ {"sessionUpdate":"notice","title":"bye"}',
    ),
    "R31 by a request acp/message-after-close": (
        V2 + 'C> 3 session/close {"sessionId":"s"}\nA> 3 ! {"code":1}\n'
        'A> 0 session/request_permission {"sessionId":"s"}',
        V2 + 'C> 3 session/close {"sessionId":"s"}\nA> 3 = {}\n'
        'A> 0 session/request_permission {"sessionId":"s"}',
    ),
    "R31 by an extension acp/message-after-close": (
        V2 + 'A> _x/y {"sessionId":"t"}\nA> _x/y {"sessionId":"s"}\n'
        'C> 3 session/close {"sessionId":"s"}\nA> 3 = {}\nA> _x/y {}',
        V2 + 'C> 3 session/close {"sessionId":"s"}\nA> 3 = {}\nA> _x/y {"sessionId":"s"}',
    ),
    "R31 until it is resumed acp/message-after-close": (
        V2 + 'C> 3 session/close {"sessionId":"s"}\nA> 3 = {}\n'
        'C> 4 session/resume {"sessionId":"s"}\nA> s * {"state":"idle"}\nA> 4 = {}\n'
        'A> s ~ {"sessionUpdate":"notice"}',
        V2 + 'C> 3 session/close {"sessionId":"s"}\nA> 3 = {}\n'
        'C> 4 session/resume {"sessionId":"s"}\nA> 4 ! {"code":1}\n'
        'A> s ~ {"sessionUpdate":"notice"}',
    ),
    "R32 acp/prompt-accepted-after-close": (
        V2 + 'C> 2 session/prompt {"sessionId":"s"}\nC> 3 session/close {"sessionId":"s"}\n'
        'A> 3 = {}\nA> 2 ! {"code":-32800}',
        V2 + 'C> 2 session/prompt {"sessionId":"s"}\nC> 3 session/close {"sessionId":"s"}\n'
        'A> 3 = {}\nA> 2 = {"messageId":"u1"}',
    ),
    "R32 the message before the close acp/prompt-accepted-after-close": (
        V2 + 'C> 2 session/prompt {"sessionId":"s"}\n'
        'A> s ~ {"sessionUpdate":"user_message","messageId":"u1"}\n'
        'C> 3 session/close {"sessionId":"s"}\nA> 3 = {}\nA> 2 = {"messageId":"u1"}',
        V2 + 'C> 2 session/prompt {"sessionId":"s"}\nC> 3 session/close {"sessionId":"s"}\n'
        'A> 3 = {}\nA> 2 = {}',
    ),
}  # fmt: skip


def rule_of(name):
    return next(word for word in name.replace(",", " ").split() if "/" in word)


@pytest.mark.parametrize(("name", "plays"), PAIRS.items(), ids=PAIRS)
def test_a_pair(name, plays):
    kept, broken = plays
    assert (met(kept).count(rule_of(name)), met(broken).count(rule_of(name))) == (0, 1)


@pytest.mark.parametrize(("name", "traffic"), NETWORK.items(), ids=NETWORK)
def test_a_pair_on_the_network(name, traffic):
    rule = rule_of(name)
    kept, broken = [run().count(rule) for run in traffic]
    assert kept == 0
    assert broken == 1 or (broken > 1 and rule.endswith("/oversize"))  # of each piece


def test_edge_14_stdio_oversize():
    assert "stdio/oversize" not in met(V1)
    assert "stdio/oversize" in met(V1 + 'A| {"jsonrpc":"2.0",...\nA| "method":"$/x"}', limit=8)


FILES = {
    DIFFER: (FIRST, FIRST.replace(b'"running"', b'"idle"')),
    REDACTION_OPEN: (FIRST, FIRST.replace(b'"acptap":1', b'"acptap":1,"redaction":"open"', 1)),
    TORN: (FIRST, FIRST + b'{"at":9'),
}


@pytest.mark.parametrize(("rule", "files"), FILES.items(), ids=FILES)
def test_a_pair_of_cassettes(rule, files, tmp_path):
    kept, broken = files
    assert rule not in met_in_a_file(tmp_path / "kept.jsonl", kept)
    assert rule in met_in_a_file(tmp_path / "broken.jsonl", broken)


def test_every_rule_has_a_pair():
    tables = (PAIRS, NETWORK)
    paired = {rule_of(name) for table in tables for name in table}
    assert {"stdio/oversize", *paired, *FILES} == RULES.keys()


CLEAN = {
    "version 1": V1 + ASKED + f'C> 0 = {CHOSEN}\nA> 2 = {{"stopReason":"end_turn"}}',
    "version 2": V2 + RUNNING + 'A> s * {"state":"idle","stopReason":"end_turn"}',
    "a session that is deleted unseen": V1 + 'C> 2 session/delete {"sessionId":"t"}\nA> 2 = {}',
    "S5 a loaded session": V1 + 'C> 2 session/load {"sessionId":"t","cwd":"/w"}\n'
    'A> t ~ {"sessionUpdate":"agent_message_chunk"}\nA> 2 = null',
    "O2 two sessions are minted in reverse": V1
    + 'C> "a" session/new {"cwd":"/w"}\nC> "b" session/new {"cwd":"/w"}\n'
    + 'A> "b" = {"sessionId":"y"}\n'
    + 'A> y ~ {"sessionUpdate":"available_commands_update"}\nA> "a" = {"sessionId":"x"}',
    "edge 44 an elicitation for a request": V1
    + 'C> 2 session/new {"cwd":"/w"}\nA> 0 elicitation/create {"requestId":2}\n'
    + 'C> 0 = {"action":"accept"}\nA> 2 = {"sessionId":"t"}',
    "edge 45 a child session": V2
    + 'A> s ~ {"sessionUpdate":"subagent_update","sessionId":"c"}\n'
    + 'A> c * {"state":"running"}\nA> c * {"state":"idle","stopReason":"end_turn"}',
    "edge 46 a fork of a session that was not opened": V1
    + 'C> 8 session/fork {"sessionId":"a","cwd":"/w"}\nA> 8 = {"sessionId":"b"}\n'
    + 'C> 9 session/prompt {"sessionId":"b"}\nA> 9 = {"stopReason":"end_turn"}',
    "a question before the answer that mints": V2
    + 'C> 2 session/new {"cwd":"/w"}\nA> 0 session/request_permission {"sessionId":"t"}\n'
    + 'A> 2 = {"sessionId":"t"}\nC> 0 = {"outcome":{"outcome":"cancelled"}}',
    "edge 55 behind a conductor": "C> 0 proxy/initialize {}\n"
    'A> 1 proxy/successor {"method":"initialize","params":{"protocolVersion":1}}\n'
    'C> 1 = {"protocolVersion":1}\nA> 0 = {"protocolVersion":1}',
}


@pytest.mark.parametrize("script", CLEAN.values(), ids=CLEAN)
def test_nothing_is_wrong(script):
    assert {RULES[rule].severity for rule in met(script)} <= {"note"}
