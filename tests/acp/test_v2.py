"""Version 2: states are reported (acp.md 3.2). How to read a play: see test_conversation."""

import pytest

from acptap.acp import v2
from acptap.acp.work import Work
from acptap.session import Basis, Session, SessionState
from acptap.wire import jsontext
from tests.acp.test_conversation import play

OPEN = """\
C> 0 initialize {"protocolVersion":2}
A> 0 = {"protocolVersion":2}
"""

RULES = {
    "R1 a new session is idle by default, without a transition": """
C> 1 session/new {"cwd":"/w"}
A> 1 = {"sessionId":"s"}
== v2; s idle default
""",
    "R1 the first idle is a repeat of the default": """
C> 1 session/new {"cwd":"/w"}
A> 1 = {"sessionId":"s"}
A> s * {"state":"idle","stopReason":"end_turn"}
== v2; s idle reported
""",
    "R2, edge 17 a state before the answer that mints stays": """
C> 1 session/new {"cwd":"/w"}
A> s9 * {"state":"running"}
   s9: idle -> running (reported)
A> 1 = {"sessionId":"s9"}
== v2; s9 running reported
""",
    "R2 a forked session keeps its state as well": """
C> 1 session/fork {"sessionId":"a","cwd":"/w"}
A> b * {"state":"requires_action"}
   b: idle -> requires_action (reported)
A> 1 = {"sessionId":"b"}
== v2; a idle default; b requires_action reported
""",
    "R3 running before the prompt's result": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
   s: idle -> running (reported)
A> 2 = {"messageId":"u1"}
A> s * {"state":"idle","stopReason":"end_turn"}
   s: running -> idle (reported, end_turn)
""",
    "R3 a prompt and its result change no state": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> 2 = {"messageId":"u1"}
== v2; s idle default
""",
    "R3 work that starts blocked": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"requires_action"}
   s: idle -> requires_action (reported)
""",
    "R4, edge 27 the agent starts on its own": """
A> s * {"state":"running"}
   s: idle -> running (reported)
A> s * {"state":"idle","stopReason":"end_turn"}
   s: running -> idle (reported, end_turn)
""",
    "R5 a refused prompt leaves the work alive": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> 2 ! {"code":-32602,"message":"Invalid params"}
== v2; s running reported
""",
    "R8 a cancel ends in cancelled": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
== v2; s running reported, cancelling
A> s * {"state":"idle","stopReason":"cancelled"}
   s: running -> idle (reported, cancelled)
== v2; s idle reported
""",
    "R8 a cancel ends in something else": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
A> s * {"state":"idle","stopReason":"error"}
   s: running -> idle (reported, error)
   acp/error-without-details
   acp/not-cancelled {"reason":"error"}
""",
    "R8 a cancel ends in something else, after unknown": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
A> s * {"state":"unknown"}
   s: running -> unknown (reported)
A> s * {"state":"_acme.stopping"}
   s: unknown -> other (reported, _acme.stopping)
== v2; s other reported, cancelling
A> s * {"state":"idle"}
   s: other -> idle (reported)
   acp/not-cancelled {"reason":null}
""",
    "R10, edge 20 a prompt succeeds, and its work ends in an error": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
   s: idle -> running (reported)
A> 2 = {"messageId":"u1"}
A> s * {"state":"idle","stopReason":"error","error":{"code":-32603}}
   s: running -> idle (reported, error)
""",
    "R10 a second answer is one too many": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> 2 = {"messageId":"u1"}
A> 2 ! {"code":-32603,"message":"boom"}
   jsonrpc/second-answer {"id":2}
""",
    "R11, edge 28 background output while idle": """
A> s * {"state":"idle"}
A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed"}
A> s ~ {"sessionUpdate":"agent_message_chunk","messageId":"m"}
A> s ~ {"sessionUpdate":"terminal_output_chunk","terminalId":"T","data":"w6k="}
A> s ~ {"sessionUpdate":"usage_update","used":1,"size":2}
== v2; s idle reported
""",
    "R12, edge 23 a permission while running": """
A> s * {"state":"running"}
   s: idle -> running (reported)
A> 7 session/request_permission {"sessionId":"s","title":"Run?","options":[{"optionId":"y"}]}
C> 7 = {"outcome":{"outcome":"selected","optionId":"y"}}
== v2; s running reported
""",
    "R12 a permission while idle": """
A> 7 session/request_permission {"sessionId":"s","title":"Run?","options":[]}
== v2; s idle default
""",
    "R13 requires_action is left explicitly": """
A> s * {"state":"requires_action"}
   s: idle -> requires_action (reported)
A> s ~ {"sessionUpdate":"agent_message_chunk","messageId":"m"}
A> s * {"state":"running"}
   s: requires_action -> running (reported)
""",
    "R14, edge 24 two permissions, one answered": """
A> s * {"state":"requires_action"}
   s: idle -> requires_action (reported)
A> 7 session/request_permission {"sessionId":"s"}
A> 8 session/request_permission {"sessionId":"s"}
C> 7 = {"outcome":{"outcome":"selected","optionId":"y"}}
== v2; s requires_action reported
""",
    "edge 25 a late permission answer": """
A> s * {"state":"running"}
   s: idle -> running (reported)
A> 8 session/request_permission {"sessionId":"s"}
A> s * {"state":"idle","stopReason":"cancelled"}
   s: running -> idle (reported, cancelled)
C> 8 = {"outcome":{"outcome":"cancelled"}}
== v2; s idle reported
""",
    "edge 26 a permission is withdrawn": """
A> s * {"state":"requires_action"}
   s: idle -> requires_action (reported)
A> 8 session/request_permission {"sessionId":"s"}
A> $/cancel_request {"requestId":8}
C> 8 = {"outcome":{"outcome":"cancelled"}}
== v2; s requires_action reported
""",
    "edge 26 the withdrawal comes first": """
A> $/cancel_request {"requestId":8}
A> 8 session/request_permission {"sessionId":"s"}
C> 8 = {"outcome":{"outcome":"cancelled"}}
== v2; s idle default
""",
    "R16 what changes no state": """
A> 1 elicitation/create {"requestId":12,"mode":"url","elicitationId":"e1"}
C> 1 = {"action":"accept"}
A> elicitation/complete {"elicitationId":"e1"}
A> s ~ {"sessionUpdate":"notice","severity":"error","title":"x"}
C> 2 tool_call/cancel {"sessionId":"s","toolCallId":"t"}
A> 2 = {}
C> 3 terminal/cancel {"sessionId":"s","terminalId":"T"}
A> 3 = {}
C> 4 session/status {"sessionId":"s"}
A> 4 = {"state":{"state":"running"}}
== v2; s idle default
""",
    "R17, edge 31 a snapshot before the resume's answer": """
C> 4 session/resume {"sessionId":"s","cwd":"/w"}
A> s * {"state":"running"}
   s: none -> running (reported)
A> 4 = {}
== v2; s running reported
""",
    "R19 a resume of a session that was known": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> 4 session/resume {"sessionId":"s","cwd":"/w"}
   s: running -> none (derived)
A> 4 = {}
   acp/resume-without-snapshot
== v2; s none derived
""",
    "R17, edge 30 resume without a snapshot": """
C> 4 session/resume {"sessionId":"s","cwd":"/w"}
A> 4 = {}
   acp/resume-without-snapshot
== v2; s none default
""",
    "R18 the snapshot comes after the replay": """
C> 4 session/resume {"sessionId":"s","cwd":"/w","replayFrom":{"type":"start"}}
A> s ~ {"sessionUpdate":"user_message","messageId":"u1","content":[]}
A> s ~ {"sessionUpdate":"agent_message","messageId":"m1","content":[]}
== v2; s none default
A> s * {"state":"idle"}
   s: none -> idle (reported)
A> 4 = {}
== v2; s idle reported
""",
    "R19 the answer to a resume is no idle": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> 4 session/resume {"sessionId":"s","cwd":"/w"}
   s: running -> none (derived)
A> 4 = {}
   acp/resume-without-snapshot
== v2; s none derived
A> s * {"state":"running"}
   s: none -> running (reported)
""",
    "edge 32 a failed resume owes no snapshot": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> 4 session/resume {"sessionId":"s","cwd":"/w"}
   s: running -> none (derived)
A> 4 ! {"code":-32002,"message":"Resource not found","data":{"sessionId":"s"}}
   s: none -> running (derived)
""",
    "a resume that fails after its snapshot": """
C> 4 session/resume {"sessionId":"s","cwd":"/w"}
A> s * {"state":"running"}
   s: none -> running (reported)
A> 4 ! {"code":-32603,"message":"boom"}
== v2; s running reported
""",
    "two resumes that both fail": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> 4 session/resume {"sessionId":"s","cwd":"/w"}
   s: running -> none (derived)
C> 5 session/resume {"sessionId":"s","cwd":"/w"}
A> 4 ! {"code":-32002,"message":"Resource not found"}
   s: none -> running (derived)
A> 5 ! {"code":-32002,"message":"Resource not found"}
== v2; s running derived
""",
    "R21, edge 18 a repeated idle is one completion": """
A> s * {"state":"running"}
   s: idle -> running (reported)
A> s * {"state":"idle","stopReason":"end_turn"}
   s: running -> idle (reported, end_turn)
A> s * {"state":"idle","stopReason":"end_turn"}
== v2; s idle reported
""",
    "R21 a repeated running is no more work": """
A> s * {"state":"running"}
   s: idle -> running (reported)
A> s ~ {"state":"running","sessionUpdate":"state_update"}
== v2; s running reported
""",
    "R21 a repeated idle does not end a cancel with the wrong reason": """
A> s * {"state":"idle","stopReason":"end_turn"}
C> 2 session/prompt {"sessionId":"s","prompt":[]}
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
A> s * {"state":"idle","stopReason":"end_turn","usage":{"totalTokens":9}}
   s: idle -> idle (reported, end_turn, again)
""",
    "R22, edge 18 a repeat with fresh details": """
A> s * {"state":"running"}
   s: idle -> running (reported)
A> s * {"state":"idle","stopReason":"end_turn"}
   s: running -> idle (reported, end_turn)
A> s * {"state":"idle","stopReason":"end_turn","usage":{"totalTokens":9}}
   s: idle -> idle (reported, end_turn, again)
A> s * {"state":"idle","stopReason":"end_turn","usage":{"totalTokens":9}}
A> s * {"state":"idle","stopReason":"end_turn"}
   s: idle -> idle (reported, end_turn, again)
""",
    "R22 a repeat without details after one with": """
A> s * {"state":"running","background":[]}
   s: idle -> running (reported)
A> s * {"state":"running"}
   s: running -> running (reported, again)
   acp/background-dropped
""",
    "R22 a repeat after a resume": """
A> s * {"state":"running","background":[]}
   s: idle -> running (reported)
C> 4 session/resume {"sessionId":"s","cwd":"/w"}
   s: running -> none (derived)
A> s * {"state":"running"}
   s: none -> running (reported)
   acp/background-dropped
A> 4 = {}
A> s * {"state":"running"}
   acp/background-dropped
""",
    "edge 29 a background list that is dropped changes no state": """
A> s * {"state":"idle","background":[{"type":"terminal","terminalId":"T1"}]}
A> s * {"state":"running"}
   s: idle -> running (reported)
   acp/background-dropped
""",
    "R23 one of several activities ends without an idle": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> 2 = {"messageId":"u1"}
A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}
A> s * {"state":"idle","stopReason":"end_turn"}
   s: running -> idle (reported, end_turn)
""",
    "R24 a local command runs through the same states": """
C> 2 session/prompt {"sessionId":"s","prompt":[{"type":"text","text":"/help"}]}
A> s * {"state":"running"}
   s: idle -> running (reported)
A> s * {"state":"idle","stopReason":"end_turn"}
   s: running -> idle (reported, end_turn)
A> 2 = {"messageId":"u1"}
""",
    "R25 unknown ends nothing": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"unknown","stopReason":"end_turn"}
   s: running -> unknown (reported)
A> 2 = {"messageId":"u1"}
A> s * {"state":"running"}
   s: unknown -> running (reported)
""",
    "R26, edge 21 custom and future states are never idle": """
A> s * {"state":"_acme.paused","until":"x"}
   s: idle -> other (reported, _acme.paused)
A> s * {"state":"_acme.paused","until":"x"}
A> s * {"state":"_acme.paused","until":"y"}
   s: other -> other (reported, _acme.paused, again)
A> s * {"state":"sleeping"}
   s: other -> other (reported, sleeping)
== v2; s other reported
A> s * {"state":"unknown"}
   s: other -> unknown (reported)
A> s * {"state":"running"}
   s: unknown -> running (reported)
""",
    "R26 names of this model are no states of the protocol": """
A> s * {"state":"closed"}
   s: idle -> other (reported, closed)
A> s * {"state":"none"}
   s: other -> other (reported, none)
A> s * {"state":"other"}
   s: other -> other (reported, other)
A> s * {"state":"Idle"}
   s: other -> other (reported, Idle)
A> s * {"state":""}
   s: other -> other (reported, )
""",
    "edge 19 idle with a reason that is no string": """
A> s * {"state":"running"}
   s: idle -> running (reported)
A> s * {"state":"idle","stopReason":42}
   s: running -> idle (reported)
   acp/idle-without-reason
""",
    "edge 19 idle with a null reason": """
A> s * {"state":"running"}
   s: idle -> running (reported)
A> s * {"state":"idle","stopReason":null}
   s: running -> idle (reported)
   acp/idle-without-reason
""",
    "edge 19 idle without a reason": """
A> s * {"state":"running"}
   s: idle -> running (reported)
A> s * {"state":"idle"}
   s: running -> idle (reported)
   acp/idle-without-reason
""",
    "edge 22 a malformed state changes nothing": """
A> s * {"state":"running"}
   s: idle -> running (reported)
A> s * {"state":null}
   acp/malformed-state
A> s ~ {"sessionUpdate":"state_update"}
   acp/malformed-state
A> s * {"state":["idle"]}
   acp/malformed-state
== v2; s running reported
""",
    "R30 close after the final idle": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> 9 session/close {"sessionId":"s"}
A> s * {"state":"idle","stopReason":"cancelled"}
   s: running -> idle (reported, cancelled)
A> 9 = {}
   s: idle -> closed (derived)
""",
    "R30 close in the middle of work": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> 9 session/close {"sessionId":"s"}
A> 9 = {}
   s: running -> closed (derived)
   acp/close-in-mid-work {"state":"running"}
""",
    "R31, edge 49 messages after close": """
C> 9 session/close {"sessionId":"s"}
A> 9 = {}
   s: idle -> closed (derived)
A> s ~ {"sessionUpdate":"notice","severity":"info","title":"bye"}
   acp/message-after-close {"update":"notice"}
== v2; s closed derived
""",
    "R31 a resume opens again": """
C> 9 session/close {"sessionId":"s"}
A> 9 = {}
   s: idle -> closed (derived)
C> 10 session/resume {"sessionId":"s","cwd":"/w"}
   s: closed -> none (derived)
A> s * {"state":"idle"}
   s: none -> idle (reported)
A> 10 = {}
== v2; s idle reported
""",
    "R31 a failed resume leaves it closed": """
C> 9 session/close {"sessionId":"s"}
A> 9 = {}
   s: idle -> closed (derived)
C> 10 session/resume {"sessionId":"s","cwd":"/w"}
   s: closed -> none (derived)
A> 10 ! {"code":-32002,"message":"Resource not found"}
   s: none -> closed (derived)
""",
    "R32, edge 33 a held prompt is cancelled": """
A> s * {"state":"running"}
   s: idle -> running (reported)
C> 6 session/prompt {"sessionId":"s","prompt":[]}
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
A> 6 ! {"code":-32800,"message":"Request cancelled"}
== v2; s running reported, cancelling
A> s * {"state":"idle","stopReason":"cancelled"}
   s: running -> idle (reported, cancelled)
""",
    "R33 a cancel changes no state": """
A> s * {"state":"requires_action"}
   s: idle -> requires_action (reported)
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
== v2; s requires_action reported, cancelling
""",
    "R33 a cancel while idle expects nothing": """
A> s * {"state":"idle"}
C> session/cancel {"sessionId":"s"}
   acp/stray-cancel
== v2; s idle reported
""",
    "R33 a cancel of a prompt that had not begun does not reach the next": """
C> 6 session/prompt {"sessionId":"s","prompt":[]}
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
== v2; s idle default, cancelling
A> 6 ! {"code":-32800,"message":"Request cancelled"}
== v2; s idle default
C> 7 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
   s: idle -> running (reported)
A> 7 = {"messageId":"u1"}
A> s * {"state":"idle","stopReason":"end_turn"}
   s: running -> idle (reported, end_turn)
""",
    "R33 of two held prompts the last one answered ends the cancel": """
C> 6 session/prompt {"sessionId":"s","prompt":[]}
C> 7 session/prompt {"sessionId":"s","prompt":[]}
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
A> 6 ! {"code":-32800,"message":"Request cancelled"}
== v2; s idle default, cancelling
A> 7 ! {"code":-32800,"message":"Request cancelled"}
== v2; s idle default
""",
    "S9 an early cancel reaches its prompt": """
C> 6 session/prompt {"sessionId":"s","prompt":[]}
C> session/cancel {"sessionId":"s"}
   acp/cancel-requested
A> 6 = {"messageId":"u1"}
A> s * {"state":"running"}
   s: idle -> running (reported)
A> s * {"state":"idle","stopReason":"cancelled"}
   s: running -> idle (reported, cancelled)
""",
    "edge 34 a prompt result of an old draft": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> 2 = {}
   acp/draft-prompt-result
== v2; s idle default
""",
    "edge 35 the user message first": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s ~ {"sessionUpdate":"user_message","messageId":"u1","content":[]}
A> 2 = {"messageId":"u1"}
== v2; s idle default
""",
    "prompts may overlap": """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
C> 3 session/prompt {"sessionId":"s","prompt":[]}
A> 2 = {"messageId":"u1"}
A> 3 = {"messageId":"u2"}
A> s ~ {"sessionUpdate":"agent_message_chunk","messageId":"m"}
== v2; s idle default
""",
    "session/load is no method of version 2 and says nothing": """
C> 2 session/load {"sessionId":"s","cwd":"/w"}
A> 2 = null
== v2; s idle default
""",
}  # fmt: skip

CHILDREN = {
    "edge 45 a child starts without a state": """
A> parent ~ {"sessionUpdate":"subagent_update","sessionId":"child","title":"x"}
== v2; parent idle default; child none default
""",
    "edge 45 a child's state in its parent's update": """
A> parent ~ {"sessionUpdate":"subagent_update","sessionId":"child","state":{"state":"running"}}
   child: none -> running (reported)
== v2; parent idle default; child running reported
""",
    "a child reports its own state, and the parent the same": """
A> parent ~ {"sessionUpdate":"subagent_update","sessionId":"child","state":{"state":"running"}}
   child: none -> running (reported)
A> child * {"state":"running"}
A> child * {"state":"idle"}
   child: running -> idle (reported)
   acp/idle-without-reason
A> parent ~ {"sessionUpdate":"subagent_update","sessionId":"child","state":{"state":"idle"}}
""",
    "a state that is left out stays": """
A> parent ~ {"sessionUpdate":"subagent_update","sessionId":"child","state":{"state":"running"}}
   child: none -> running (reported)
A> parent ~ {"sessionUpdate":"subagent_update","sessionId":"child","title":"x"}
== v2; parent idle default; child running reported
""",
    "a null state is withdrawn, not idle": """
A> parent ~ {"sessionUpdate":"subagent_update","sessionId":"child","state":{"state":"running"}}
   child: none -> running (reported)
A> parent ~ {"sessionUpdate":"subagent_update","sessionId":"child","state":null}
   child: running -> none (derived)
""",
    "a state that is malformed changes nothing": """
A> parent ~ {"sessionUpdate":"subagent_update","sessionId":"child","state":"running"}
A> parent ~ {"sessionUpdate":"subagent_update","sessionId":"child","state":{"state":5}}
== v2; parent idle default; child none default
""",
    "a child without an id is none": """
A> parent ~ {"sessionUpdate":"subagent_update","state":{"state":"running"}}
== v2; parent idle default
""",
}  # fmt: skip

PLAYS = RULES | CHILDREN


@pytest.mark.parametrize("script", PLAYS.values(), ids=PLAYS)
def test_play(script):
    assert play(OPEN + script.strip()) == OPEN + script.strip()


DETAILS = {
    "R22 the last snapshot counts whole": (
        [
            {"sessionUpdate": "state_update", "state": "idle", "usage": {"totalTokens": 9}},
            {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"},
        ],
        {"state": "idle", "stopReason": "end_turn"},
    ),
    "edge 21 what a custom state carries is kept": (
        [{"sessionUpdate": "state_update", "state": "_acme.paused", "until": "x"}],
        {"state": "_acme.paused", "until": "x"},
    ),
    "edge 22 what is malformed is not": (
        [{"state": "running"}, {"state": None, "background": []}],
        {"state": "running"},
    ),
}


@pytest.mark.parametrize(("snapshots", "details"), DETAILS.values(), ids=DETAILS)
def test_details(snapshots, details):
    work = Work(Session("s"))
    for snapshot in snapshots:
        v2.report(work, snapshot)
    assert work.session.details == details


LAST = {
    "R25 unknown keeps what was certain": (["running", "unknown"], SessionState.RUNNING, False),
    "R26 other keeps what was certain": (["idle", "_x"], SessionState.IDLE, False),
    "a standard state is certain": (["_x", "requires_action"], SessionState.REQUIRES_ACTION, True),
}


@pytest.mark.parametrize(("states", "last", "confirmed"), LAST.values(), ids=LAST)
def test_last_confirmed(states, last, confirmed):
    work = Work(Session("s"))
    for state in states:
        v2.report(work, {"state": state})
    assert (work.session.last_confirmed, work.session.confirmed) == (last, confirmed)


def test_r19_withdraw():
    work = Work(Session("s", SessionState.RUNNING, Basis.REPORTED, details={"state": "running"}))
    v2.withdraw(work)
    assert (work.session.state, work.session.details) == (SessionState.NONE, None)
    assert v2.withdraw(work) is None


class Bottomless:
    """What a comparison never reaches the end of."""

    def __eq__(self, other):
        raise RecursionError

    def __hash__(self):
        return 0


def test_details_nested_deeper_than_python_compares_are_others():
    work = Work(Session("s"))
    v2.report(work, {"state": "running", "_meta": Bottomless()})
    transition = v2.report(work, {"state": "running", "_meta": Bottomless()})
    assert transition is not None
    assert transition.repeat is True


def test_details_nested_as_deep_as_json_is_read():
    text = b'{"state":"running","_meta":' + b"[" * 900 + b"]" * 900 + b"}"
    work = Work(Session("s"))
    for snapshot in (jsontext.parse(text), jsontext.parse(text)):
        assert isinstance(snapshot, dict)
        v2.report(work, snapshot)
    assert work.session.state is SessionState.RUNNING
