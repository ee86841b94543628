"""Version 1: states are derived (acp.md 3.4). How to read a play: see test_conversation."""

import pytest

from acptap.acp import v1
from acptap.acp.work import Work
from acptap.session import Basis, Session, SessionState, Transition
from tests.acp.test_conversation import play

OPEN = """\
C> 0 initialize {"protocolVersion":1}
A> 0 = {"protocolVersion":1}
C> 1 session/new {"cwd":"/w","mcpServers":[]}
A> 1 = {"sessionId":"s"}
"""

DERIVED = {
    "v1 a new session is idle": """
== v1; s idle default
""",
    "v1 prompt request": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
""",
    "v1 prompt result end_turn": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 2 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
""",
    "v1 prompt result max_tokens": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 2 = {"stopReason":"max_tokens"}
   s: running -> idle (derived, max_tokens)
""",
    "v1 prompt result max_turn_requests": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 2 = {"stopReason":"max_turn_requests"}
   s: running -> idle (derived, max_turn_requests)
""",
    "v1 prompt result refusal": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 2 = {"stopReason":"refusal"}
   s: running -> idle (derived, refusal)
""",
    "v1 prompt result without a reason": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 2 = {}
   s: running -> idle (derived)
""",
    "v1 prompt result null": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 2 = null
   s: running -> idle (derived)
""",
    "v1 prompt result with a reason that is no string": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 2 = {"stopReason":42}
   s: running -> idle (derived)
""",
    "edge 39 v1 prompt error": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 2 ! {"code":-32603,"message":"boom"}
   s: running -> idle (derived, error)
""",
    "S8 v1 prompt errors: one of the agent, one of the user": """
C> 3 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> s ~ {"sessionUpdate":"tool_call","toolCallId":"t1","title":"T","status":"in_progress"}
A> 3 ! {"code":-32603,"message":"boom"}
   s: running -> idle (derived, error)
C> 4 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
A> 4 ! {"code":-32800,"message":"Request cancelled"}
   s: running -> idle (derived, cancelled)
== v1; s idle derived
""",
    "v1 first ask while a prompt is open, and its answer": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 0 session/request_permission {"sessionId":"s"}
   s: running -> requires_action (derived)
C> 0 = {"outcome":{"outcome":"selected","optionId":"y"}}
   s: requires_action -> running (derived)
""",
    "v1 an ask answered with an error is answered": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 0 session/request_permission {"sessionId":"s"}
   s: running -> requires_action (derived)
C> 0 ! {"code":-32601,"message":"Method not found"}
   s: requires_action -> running (derived)
""",
    "v1 last of two asks": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 7 session/request_permission {"sessionId":"s"}
   s: running -> requires_action (derived)
A> 8 elicitation/create {"sessionId":"s","mode":"form"}
C> 7 = {"outcome":{"outcome":"selected","optionId":"y"}}
C> 8 = {"action":"accept"}
   s: requires_action -> running (derived)
""",
    "edge 44 v1 an elicitation for a request": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 1 elicitation/create {"requestId":12,"mode":"url","elicitationId":"e1","url":"https://x"}
C> 1 = {"action":"accept"}
A> elicitation/complete {"elicitationId":"e1"}
== v1; s running derived
""",
    "v1 an ask out of turn": """
A> 0 session/request_permission {"sessionId":"s"}
   acp/out-of-turn-ask
C> 0 = {"outcome":{"outcome":"selected","optionId":"y"}}
== v1; s idle default
""",
    "v1 an ask before the prompt": """
A> 0 session/request_permission {"sessionId":"s"}
   acp/out-of-turn-ask
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> requires_action (derived)
C> 0 = {"outcome":{"outcome":"selected","optionId":"y"}}
   s: requires_action -> running (derived)
""",
    "v1 fs and terminal are no user action": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 0 fs/read_text_file {"sessionId":"s","path":"/w/a"}
A> 1 fs/write_text_file {"sessionId":"s","path":"/w/a","content":""}
A> 2 terminal/create {"sessionId":"s","command":"ls"}
A> 3 terminal/wait_for_exit {"sessionId":"s","terminalId":"t"}
C> 2 = {"terminalId":"t"}
== v1; s running derived
""",
    "v1 a result while the user is asked": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 0 session/request_permission {"sessionId":"s"}
   s: running -> requires_action (derived)
A> 2 = {"stopReason":"end_turn"}
   s: requires_action -> idle (derived, end_turn)
C> 0 = {"outcome":{"outcome":"cancelled"}}
== v1; s idle derived
""",
    "v1 a second prompt while one is pending": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
C> 3 session/prompt {"sessionId":"s","prompt":[]}
   acp/overlapping-prompt
A> 2 = {"stopReason":"end_turn"}
== v1; s running derived
A> 3 = {"stopReason":"refusal"}
   s: running -> idle (derived, refusal)
""",
    "v1 $/cancel_request for the prompt changes nothing": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
C> $/cancel_request {"requestId":2}
== v1; s running derived
A> 2 ! {"code":-32800,"message":"Request cancelled"}
   s: running -> idle (derived, cancelled)
""",
    "v1 the agent withdraws a question": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 8 session/request_permission {"sessionId":"s"}
   s: running -> requires_action (derived)
A> $/cancel_request {"requestId":8}
== v1; s requires_action derived
C> 8 ! {"code":-32800,"message":"Request cancelled"}
   s: requires_action -> running (derived)
""",
    "v1 state updates do not exist": """
A> s * {"state":"running"}
   acp/unknown-update {"update":"state_update"}
== v1; s idle default
""",
    "v1 usage belongs to no state": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> s ~ {"sessionUpdate":"usage_update","used":1,"size":2}
A> s ~ {"sessionUpdate":"notice","severity":"error","title":"x"}
== v1; s running derived
""",
}

CANCELS = {
    "v1 session/cancel, and the agent obeys": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
== v1; s running derived, cancelling
A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed"}
   acp/unannounced-tool-call {"toolCallId":"t"}
A> 2 = {"stopReason":"cancelled"}
   s: running -> idle (derived, cancelled)
== v1; s idle derived
""",
    "edge 40 v1 cancel race": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
A> 2 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
   acp/not-cancelled {"reason":"end_turn"}
""",
    "v1 a cancelled prompt fails with another error": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
A> 2 ! {"code":-32603,"message":"aborted"}
   s: running -> idle (derived, error)
   acp/not-cancelled {"reason":"error"}
""",
    "v1 a cancel of two prompts is judged by the last": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
C> 3 session/prompt {"sessionId":"s","prompt":[]}
   acp/overlapping-prompt
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
A> 2 = {"stopReason":"end_turn"}
A> 3 = {"stopReason":"cancelled"}
   s: running -> idle (derived, cancelled)
""",
    "O6 a cancel while a permission is pending, answered": """
C> 5 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 0 session/request_permission {"sessionId":"s"}
   s: running -> requires_action (derived)
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
C> 0 = {"outcome":{"outcome":"cancelled"}}
   s: requires_action -> running (derived)
== v1; s running derived, cancelling
A> 5 = {"stopReason":"cancelled"}
   s: running -> idle (derived, cancelled)
""",
    "O6 a cancel while a permission is pending, never answered": """
C> 5 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 0 session/request_permission {"sessionId":"s"}
   s: running -> requires_action (derived)
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
== v1; s requires_action derived, cancelling
END
   acp/never-answered {"side":"client","method":"session/prompt","id":5,"session":"s"}
   acp/never-answered {"side":"agent","method":"session/request_permission","id":0,"session":"s"}
   acp/ended-in-turn {"session":"s","state":"requires_action"}
""",
    "S1 a cancelled prompt that is never answered": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> s ~ {"sessionUpdate":"agent_message_chunk"}
A> s ~ {"sessionUpdate":"agent_message_chunk"}
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
C> 3 session/prompt {"sessionId":"s","prompt":[]}
   acp/overlapping-prompt
== v1; s running derived, cancelling
END
   acp/never-answered {"side":"client","method":"session/prompt","id":2,"session":"s"}
   acp/never-answered {"side":"client","method":"session/prompt","id":3,"session":"s"}
   acp/ended-in-turn {"session":"s","state":"running"}
""",
    "S4 a second answer to a cancelled prompt does not end the next": """
C> 5 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
A> 5 = {"stopReason":"cancelled"}
   s: running -> idle (derived, cancelled)
C> 6 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 5 = {"stopReason":"cancelled"}
   jsonrpc/second-answer {"id":5}
A> s ~ {"sessionUpdate":"agent_message_chunk"}
== v1; s running derived
A> 6 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
""",
    "S9 stray cancels leave nothing behind": """
C> session/cancel {"sessionId":"s"}
   acp/stray-cancel
C> 1 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 1 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
C> session/cancel {"sessionId":"s"}
   acp/stray-cancel
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
== v1; s running derived
A> 2 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
""",
    "a cancel of a closed session is stray": """
C> 2 session/close {"sessionId":"s"}
A> 2 = {}
   s: idle -> closed (derived)
C> session/cancel {"sessionId":"s"}
   acp/stray-cancel
""",
    "a cancel by the agent is none": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> session/cancel {"sessionId":"s"}
== v1; s running derived
""",
    "a cancel without a session is none": """
C> session/cancel
== v1; s idle default
""",
}

OUT_OF_TURN = {
    "S2 updates after end_turn": """
C> 3 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> 3 = {"stopReason":"end_turn"}
   s: running -> idle (derived, end_turn)
A> s ~ {"sessionUpdate":"session_info_update","title":"T"}
A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}
   acp/unannounced-tool-call {"toolCallId":"t"}
   acp/update-after-turn
A> s ~ {"sessionUpdate":"agent_message_chunk"}
   acp/update-after-turn
== v1; s idle derived
C> 4 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> s ~ {"sessionUpdate":"agent_message_chunk"}
""",
    "v1 updates before the first prompt": """
A> s ~ {"sessionUpdate":"available_commands_update","availableCommands":[]}
A> s ~ {"sessionUpdate":"agent_message_chunk"}
== v1; s idle default
""",
    "edge 42 v1 tool_call_update without tool_call": """
C> 3 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"write_file_1","status":"completed"}
   acp/unannounced-tool-call {"toolCallId":"write_file_1"}
""",
}

LOADS = {
    "edge 41, S5 v1 load replay": """
C> 2 session/load {"sessionId":"s9","cwd":"/w","mcpServers":[]}
== v1; s idle default; s9 idle default, loading
A> s9 ~ {"sessionUpdate":"user_message_chunk"}
A> s9 ~ {"sessionUpdate":"agent_message_chunk"}
A> s9 ~ {"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}
A> s9 ~ {"sessionUpdate":"tool_call_update","toolCallId":"t"}
A> 2 = null
== v1; s idle default; s9 idle default
""",
    "S5 history after the answer is noted": """
C> 2 session/load {"sessionId":"s9","cwd":"/w","mcpServers":[]}
A> s9 ~ {"sessionUpdate":"user_message_chunk"}
A> 2 = null
A> s9 ~ {"sessionUpdate":"agent_message_chunk"}
   acp/update-after-turn
A> s9 ~ {"sessionUpdate":"available_commands_update"}
== v1; s idle default; s9 idle default
""",
    "v1 a second load replays again": """
C> 2 session/load {"sessionId":"s9","cwd":"/w","mcpServers":[]}
A> 2 = null
C> 3 session/load {"sessionId":"s9","cwd":"/w","mcpServers":[]}
A> s9 ~ {"sessionUpdate":"user_message_chunk"}
A> 3 = null
""",
    "v1 a failed load ends the loading": """
C> 2 session/load {"sessionId":"s9","cwd":"/w","mcpServers":[]}
A> 2 ! {"code":-32002,"message":"Resource not found"}
== v1; s idle default; s9 idle default
""",
    "S7 session/load while a prompt is running": """
C> 3 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
C> 4 session/load {"sessionId":"s","cwd":"/w","mcpServers":[]}
== v1; s running derived, loading
A> 4 = {}
== v1; s running derived
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
END
   acp/never-answered {"side":"client","method":"session/prompt","id":3,"session":"s"}
   acp/ended-in-turn {"session":"s","state":"running"}
""",
    "v1 resume is no loading": """
C> 2 session/resume {"sessionId":"s9","cwd":"/w"}
== v1; s idle default; s9 idle default
A> 2 = {}
== v1; s idle default; s9 idle default
""",
}

CLOSES = {
    "v1 close": """
C> 2 session/close {"sessionId":"s"}
== v1; s idle default
A> 2 = {}
   s: idle -> closed (derived)
""",
    "v1 the prompt's answer comes before the close's": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
C> 3 session/close {"sessionId":"s"}
A> 2 = {"stopReason":"cancelled"}
   s: running -> idle (derived, cancelled)
A> 3 = {}
   s: idle -> closed (derived)
""",
    "v1 the prompt's answer comes after the close's": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
C> 3 session/close {"sessionId":"s"}
A> 3 = {}
   s: running -> closed (derived)
A> 2 = {"stopReason":"cancelled"}
== v1; s closed derived
""",
    "v1 a load opens again": """
C> 2 session/close {"sessionId":"s"}
A> 2 = {}
   s: idle -> closed (derived)
C> 3 session/load {"sessionId":"s","cwd":"/w","mcpServers":[]}
A> 3 = null
   s: closed -> idle (derived)
""",
    "v1 a resume opens again": """
C> 2 session/close {"sessionId":"s"}
A> 2 = {}
   s: idle -> closed (derived)
C> 3 session/resume {"sessionId":"s","cwd":"/w"}
A> 3 = {}
   s: closed -> idle (derived)
""",
    "v1 a failed load or resume does not": """
C> 2 session/close {"sessionId":"s"}
A> 2 = {}
   s: idle -> closed (derived)
C> 3 session/load {"sessionId":"s","cwd":"/w","mcpServers":[]}
A> 3 ! {"code":-32002,"message":"Resource not found"}
C> 4 session/resume {"sessionId":"s","cwd":"/w"}
A> 4 ! {"code":-32002,"message":"Resource not found"}
== v1; s closed derived
""",
}

CHILDREN = {
    "v1 a child's states are reported": """
A> s ~ {"sessionUpdate":"subagent_update","sessionId":"child"}
== v1; s idle default; child none default
A> s ~ {"sessionUpdate":"subagent_update","sessionId":"child","state":{"state":"running"}}
   child: none -> running (reported)
A> s ~ {"sessionUpdate":"subagent_update","sessionId":"child","state":{"state":"idle"}}
   child: running -> idle (reported)
""",
    "v1 a child that asks the user keeps its reported state": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   s: idle -> running (derived)
A> s ~ {"sessionUpdate":"subagent_update","sessionId":"child","state":{"state":"running"}}
   child: none -> running (reported)
A> 7 session/request_permission {"sessionId":"child"}
C> 7 = {"outcome":{"outcome":"selected","optionId":"y"}}
== v1; s running derived; child running reported
""",
    "v1 a child without a state that asks the user has none still": """
A> s ~ {"sessionUpdate":"subagent_update","sessionId":"child"}
A> 7 session/request_permission {"sessionId":"child"}
   acp/out-of-turn-ask
C> 7 = {"outcome":{"outcome":"selected","optionId":"y"}}
== v1; s idle default; child none default
""",
    "v1 a child that is prompted": """
A> s ~ {"sessionUpdate":"subagent_update","sessionId":"child","state":{"state":"idle"}}
   child: none -> idle (reported)
C> 2 session/prompt {"sessionId":"child","prompt":[]}
   child: idle -> running (derived)
A> 2 = {"stopReason":"end_turn"}
   child: running -> idle (derived, end_turn)
""",
}

PLAYS = DERIVED | CANCELS | OUT_OF_TURN | LOADS | CLOSES | CHILDREN


@pytest.mark.parametrize("script", PLAYS.values(), ids=PLAYS)
def test_play(script):
    assert play(OPEN + script.strip()) == OPEN + script.strip()


TABLE = {
    # (prompts, asks): state
    "nothing is open": (0, 0, SessionState.IDLE),
    "a question out of turn": (0, 1, SessionState.IDLE),
    "a prompt": (1, 0, SessionState.RUNNING),
    "two prompts": (2, 0, SessionState.RUNNING),
    "a prompt and a question": (1, 1, SessionState.REQUIRES_ACTION),
    "a prompt and two questions": (1, 2, SessionState.REQUIRES_ACTION),
}


@pytest.mark.parametrize(("prompts", "asks", "state"), TABLE.values(), ids=TABLE)
def test_derive(prompts, asks, state):
    work = Work(Session("s", SessionState.UNKNOWN))
    work.open |= {"session/prompt": prompts, "session/request_permission": asks}
    assert v1.derive(work, "end_turn") == Transition(
        "s",
        SessionState.UNKNOWN,
        state,
        Basis.DERIVED,
        "end_turn" if state is SessionState.IDLE else None,
    )


ENDS = {
    "a stop reason": (({"stopReason": "end_turn"}, None, False), "end_turn"),
    "a future stop reason": (({"stopReason": "bored"}, None, False), "bored"),
    "no stop reason": (({}, None, False), None),
    "a null stop reason": (({"stopReason": None}, None, False), None),
    "a result that is no object": (("end_turn", None, False), None),
    "an error": ((None, {"code": -32603}, True), "error"),
    "an error without a code": ((None, {}, True), "error"),
    "an error that is no object": ((None, "boom", True), "error"),
    "no result and no error": ((None, None, True), "error"),
    "-32800 is a cancel": ((None, {"code": -32800}, True), "cancelled"),
    "a failure with a result": (({"stopReason": "end_turn"}, {"code": 1}, True), "error"),
}


@pytest.mark.parametrize(("response", "reason"), ENDS.values(), ids=ENDS)
def test_end_of_prompt(response, reason):
    result, error, failed = response
    assert v1.end_of_prompt(result, error, failed=failed) == reason
