"""How turns end, what a human is asked, what goes wrong, and histories that are told again."""

import pytest

from tests.view.plays import play

TURNS_V1 = {
    "edge 39, S8 a failed prompt, then a cancelled one": """
V1
C> 3 session/prompt {"sessionId":"s","prompt":[<hi>]}
   message[0] started
A> s ~ tool_call {"toolCallId":"t1","title":"x","status":"in_progress"}
   message[1] t1 tool_started
A> 3 ! {"code":-32603,"message":"boom"}
   error code=-32603 fatal=True
   done end=failed reason=error
C> 4 session/prompt {"sessionId":"s","prompt":[<again>]}
   message[2] started
C> session/cancel {"sessionId":"s"}
A> 4 ! {"code":-32800,"message":"Request cancelled"}
   done end=cancelled reason=cancelled
""",
    "edge 40 a cancel that crosses the end": """
V1
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   message[0] started
C> session/cancel {"sessionId":"s"}
A> 2 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
C> 3 session/prompt {"sessionId":"s","prompt":[]}
   message[1] started
C> session/cancel {"sessionId":"s"}
A> 3 = {"stopReason":"cancelled"}
   done end=cancelled reason=cancelled
""",
    "every other reason, and none, is a success": """
V1
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   message[0] started
A> 2 = {"stopReason":"max_tokens"}
   done end=success reason=max_tokens
C> 3 session/prompt {"sessionId":"s","prompt":[]}
   message[1] started
A> 3 = {"stopReason":"_acme.bored"}
   done end=success reason=_acme.bored
C> 4 session/prompt {"sessionId":"s","prompt":[]}
   message[2] started
A> 4 = {"stopReason":42}
   done end=success
C> 5 session/prompt {"sessionId":"s","prompt":[]}
   message[3] started
A> 5 = null
   done end=success
C> 6 session/prompt {"sessionId":"s","prompt":[]}
   message[4] started
A> 6 = {"stopReason":"error"}
   error fatal=True
   done end=failed reason=error
""",
    "S4, edge 10 a second answer ends nothing": """
V1
C> 5 session/prompt {"sessionId":"s","prompt":[]}
   message[0] started
C> session/cancel {"sessionId":"s"}
A> 5 = {"stopReason":"cancelled"}
   done end=cancelled reason=cancelled
C> 6 session/prompt {"sessionId":"s","prompt":[]}
   message[1] started
A> 5 = {"stopReason":"cancelled"}
   None: error rule=jsonrpc/second-answer
A> s ~ agent_message_chunk {"content":<hi>}
   message[2] started
A> 6 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
""",
    "two prompts at once are two turns": """
V1
C> 5 session/prompt {"sessionId":"s","prompt":[]}
   message[0] started
C> 6 session/prompt {"sessionId":"s","prompt":[]}
   message[1] started
A> 5 = {"stopReason":"cancelled"}
   done end=cancelled reason=cancelled
A> 6 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
""",
    "S1 prompts that are never answered": """
V1
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   message[0] started
A> s ~ agent_message_chunk {"content":<a>}
   message[1] started
C> session/cancel {"sessionId":"s"}
C> 3 session/prompt {"sessionId":"s","prompt":[]}
   message[2] started
END
   error fatal=True
   done end=failed
   error fatal=True
   done end=failed
END
""",
    "edge 50 the connection is lost in mid-turn, and before one": """
V1
C> 1 session/new {"cwd":"/w"}
A> 1 = {"sessionId":"quiet"}
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   message[0] started
A> s ~ agent_message_chunk {"content":<a>}
   message[1] started
A> 8 session/request_permission {"sessionId":"s","options":[]}
   interrupt 8 started
END
   interrupt 8 ended outcome=lost
   error fatal=True
   done end=failed
""",
    "a connection that never prompted has no end": """
V1
A> s ~ agent_message_chunk {"content":<a>}
   message[0] started
END
""",
    "a closed session's prompt was cancelled": """
V1
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   message[0] started
C> 3 session/close {"sessionId":"s"}
A> 3 = {}
END
   done end=cancelled
""",
    "an answer with both, or neither, is a failure": """
V1
C> 5 session/prompt {"sessionId":"s","prompt":[]}
   message[0] started
A> {"id":5,"result":{},"error":{"code":1,"message":"x"}}
   error rule=jsonrpc/malformed
   error code=1 fatal=True
   done end=failed reason=error
C> 6 session/prompt {"sessionId":"s","prompt":[]}
   message[1] started
A> {"id":6}
   error rule=jsonrpc/malformed
   error fatal=True
   done end=failed reason=error
""",
    "a client that prompts before it knows the version": """
C> 0 initialize {"protocolVersion":1}
C> 1 session/load {"sessionId":"s"}
C> 2 session/prompt {"sessionId":"s","prompt":[<hi>]}
   message[0] started
A> 0 = {"protocolVersion":1}
A> 1 = {}
   messages count=1
A> 2 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
== | user "hi"
""",
}


@pytest.mark.parametrize("script", TURNS_V1.values(), ids=TURNS_V1)
def test_turns_v1(script):
    assert play(script) == script.strip()


TURNS_V2 = {
    "a turn": """
V2
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
A> 2 = {"messageId":"u"}
A> s * {"state":"requires_action"}
A> s * {"state":"running"}
A> s * {"state":"idle","stopReason":"end_turn"}
   done end=success reason=end_turn
""",
    "edge 18, R21 a repeated idle is no end": """
V2
A> s * {"state":"running"}
A> s * {"state":"idle","stopReason":"end_turn"}
   done end=success reason=end_turn
A> s * {"state":"idle","stopReason":"end_turn"}
A> s * {"state":"idle","stopReason":"end_turn","usage":{"totalTokens":9}}
END
""",
    "edge 19 an idle without a reason": """
V2
A> s * {"state":"running"}
A> s * {"state":"idle"}
   done end=success
A> s * {"state":"running"}
A> s * {"state":"idle","stopReason":null}
   done end=success
A> s * {"state":"running"}
A> s * {"state":"idle","stopReason":42}
   done end=success
""",
    "edge 20 an idle that tells an error": """
V2
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
A> 2 = {"messageId":"u"}
A> s * {"state":"idle","stopReason":"error","error":{"code":-32603,"message":"model down"}}
   error code=-32603 fatal=True
   done end=failed reason=error
A> s * {"state":"running"}
A> s * {"state":"idle","stopReason":"error"}
   error fatal=True
   done end=failed reason=error
A> s * {"state":"running"}
A> s * {"state":"idle","stopReason":"error","error":{"code":-32800}}
   error code=-32800 fatal=True
   done end=failed reason=error
""",
    "edge 21 custom, future and unknown states": """
V2
A> s * {"state":"_acme.paused"}
A> s * {"state":"sleeping"}
A> s * {"state":"idle"}
   done end=success
A> s * {"state":"running"}
A> s * {"state":"unknown"}
A> s * {"state":"idle"}
   done end=success
A> s * {"state":"unknown"}
A> s * {"state":"idle"}
A> s * {"state":"unknown"}
A> s * {"state":"idle","stopReason":"end_turn"}
   done end=success reason=end_turn
""",
    "edge 22 a malformed state changes nothing": """
V2
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
A> s * {"state":null}
A> s ~ state_update
A> s * {"state":"idle","stopReason":"cancelled"}
   done end=cancelled reason=cancelled
""",
    "edge 17 a state before the session is known": """
C> 0 initialize {"protocolVersion":2}
A> 0 = {"protocolVersion":2}
C> 1 session/new {"cwd":"/w"}
A> s * {"state":"running"}
A> 1 = {"sessionId":"s"}
A> s * {"state":"idle","stopReason":"end_turn"}
   done end=success reason=end_turn
""",
    "edge 27 work that the agent began": """
V2
A> s * {"state":"running"}
A> s * {"state":"idle","stopReason":"end_turn"}
   done end=success reason=end_turn
""",
    "R10 a prompt that is refused ends nothing": """
V2
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> 2 ! {"code":-32603,"message":"no"}
   error code=-32603
C> 3 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
C> 4 session/prompt {"sessionId":"s","prompt":[]}
A> 4 ! {"code":-32800,"message":"Request cancelled"}
A> 3 = {"messageId":"u"}
A> s * {"state":"idle","stopReason":"end_turn"}
   done end=success reason=end_turn
END
""",
    "an idle that answers a prompt without any work": """
V2
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"idle","stopReason":"end_turn"}
A> 2 = {"messageId":"u"}
END
""",
    "edge 50 the connection is lost, with a prompt in and one waiting": """
V2
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
A> 2 = {"messageId":"u"}
C> 3 session/prompt {"sessionId":"s","prompt":[]}
END
   error fatal=True
   done end=failed
""",
    "edge 50 the connection is lost before work was announced": """
V2
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> 2 = {"messageId":"u"}
END
   error fatal=True
   done end=failed
""",
    "the connection is lost with a prompt that waits": """
V2
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
C> 3 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"idle","stopReason":"end_turn"}
   done end=success reason=end_turn
END
   error fatal=True
   done end=failed
""",
    "R30 a session that is closed while it works": """
V2
A> s * {"state":"running"}
C> 3 session/close {"sessionId":"s"}
A> 3 = {}
   error rule=acp/close-in-mid-work
   done end=cancelled
END
""",
    "edge 31 a resume finds work under way": """
V2
C> 4 session/resume {"sessionId":"r","cwd":"/w"}
A> r * {"state":"running"}
A> 4 = {}
   r: messages count=0
A> r * {"state":"idle","stopReason":"end_turn"}
   r: done end=success reason=end_turn
""",
    "a resume that finds nothing under way": """
V2
C> 4 session/resume {"sessionId":"r","cwd":"/w"}
A> r * {"state":"idle","stopReason":"end_turn"}
A> 4 = {"configOptions":[]}
   r: messages count=0
   r: state part=config
END
""",
    "a resume that finds a state that is not known": """
V2
C> 4 session/resume {"sessionId":"r","cwd":"/w"}
A> r * {"state":"unknown"}
A> 4 = {}
   r: messages count=0
A> r * {"state":"idle"}
   r: done end=success
""",
    "edge 30 a prompt after a resume without a snapshot": """
V2
C> 4 session/resume {"sessionId":"r","cwd":"/w"}
A> 4 = {}
   r: error rule=acp/resume-without-snapshot
   r: messages count=0
C> 5 session/prompt {"sessionId":"r","prompt":[]}
A> 5 = {"messageId":"u"}
A> r * {"state":"idle","stopReason":"end_turn"}
   r: done end=success reason=end_turn
""",
}


@pytest.mark.parametrize("script", TURNS_V2.values(), ids=TURNS_V2)
def test_turns_v2(script):
    assert play(script) == script.strip()


HISTORIES = {
    "edge 41, S5 a history is told again": """
V1
C> 3 session/load {"sessionId":"s","cwd":"/w"}
A> s ~ user_message_chunk {"content":<q>}
   message[0] started
A> s ~ agent_message_chunk {"content":<a>}
   message[1] started
A> s ~ tool_call {"toolCallId":"t","title":"x"}
   message[2] t tool_started
A> s ~ tool_call_update {"toolCallId":"t","status":"completed"}
   message[2] t tool_ended
A> 3 = null
   messages count=3
A> s ~ user_message_chunk {"content":<late>}
   message[3] started
== | user "q" | agent "a" | tool t completed "" | user "late"
""",
    "a history in place of what was shown": """
V1
C> 2 session/prompt {"sessionId":"s","prompt":[<hi>]}
   message[0] started
A> 2 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
C> 3 session/load {"sessionId":"s","cwd":"/w"}
A> s ~ user_message_chunk {"content":<told again>}
   message[0] started
== | user "told again"
A> 3 = {}
   messages count=1
== | user "told again"
""",
    "a load that fails leaves what was shown": """
V1
C> 2 session/prompt {"sessionId":"s","messageId":"m","prompt":[<hi>]}
   message[0] m started
A> 2 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
C> 3 session/load {"sessionId":"s","cwd":"/w"}
A> s ~ agent_message_chunk {"messageId":"n","content":<part>}
   message[0] n started
A> 3 ! {"code":-32002,"message":"Resource not found"}
   messages count=2
   error code=-32002
== | user "hi" | agent "part"
A> s ~ agent_message_chunk {"messageId":"n","content":<!>}
   message[1] n content
A> s ~ agent_message_chunk {"content":<new>}
   message[1] n content
== | user "hi" | agent "part!new"
""",
    "a load that tells nothing leaves what was shown": """
V1
C> 2 session/prompt {"sessionId":"s","prompt":[<hi>]}
   message[0] started
A> 2 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
C> 3 session/load {"sessionId":"s","cwd":"/w"}
C> 4 session/load {"sessionId":"s","cwd":"/w"}
A> 3 = {}
   messages count=1
A> 4 = {}
   messages count=1
== | user "hi"
""",
    "S7 a load in mid-turn": """
V1
C> 3 session/prompt {"sessionId":"s","prompt":[<hi>]}
   message[0] started
C> 4 session/load {"sessionId":"s","cwd":"/w"}
A> 4 = {}
   messages count=1
C> session/cancel {"sessionId":"s"}
== | user "hi"
END
   error fatal=True
   done end=failed
""",
    "v1 a resume tells no history": """
V1
C> 2 session/resume {"sessionId":"s","cwd":"/w"}
A> 2 = {"modes":{"currentModeId":"m"}}
   messages count=0
   state part=mode
""",
    "a resume with a history": """
V2
A> s ~ agent_message {"messageId":"m","content":[<a>]}
   message[0] m started
C> 4 session/resume {"sessionId":"s","cwd":"/w","replayFrom":{"type":"start"}}
A> s ~ agent_message_chunk {"messageId":"m","content":<a>}
   message[0] m started
A> s * {"state":"idle"}
A> 4 = {}
   messages count=1
== | agent "a"
""",
    "edge 32 a resume that fails": """
V2
A> s ~ agent_message {"messageId":"m","content":[<a>]}
   message[0] m started
C> 4 session/resume {"sessionId":"s","cwd":"/w"}
A> 4 ! {"code":-32002,"message":"Resource not found","data":{"sessionId":"s"}}
   error code=-32002
== | agent "a"
""",
}


@pytest.mark.parametrize("script", HISTORIES.values(), ids=HISTORIES)
def test_histories(script):
    assert play(script) == script.strip()


INTERRUPTS = {
    "edge 23 a permission while running": """
V2
A> s * {"state":"running"}
A> 7 session/request_permission {"sessionId":"s","title":"Run?","options":[]}
   interrupt 7 started
C> 7 = {"outcome":{"outcome":"selected","optionId":"y"}}
   interrupt 7 ended outcome=selected
""",
    "edge 24 two permissions, one answered": """
V2
A> s * {"state":"requires_action"}
A> 7 session/request_permission {"sessionId":"s","options":[]}
   interrupt 7 started
A> 8 session/request_permission {"sessionId":"s","options":[]}
   interrupt 8 started
C> 7 = {"outcome":{"outcome":"selected","optionId":"y"}}
   interrupt 7 ended outcome=selected
""",
    "edge 25 a late answer": """
V2
A> s * {"state":"running"}
A> 8 session/request_permission {"sessionId":"s","options":[]}
   interrupt 8 started
A> s * {"state":"idle","stopReason":"cancelled"}
   done end=cancelled reason=cancelled
C> 8 = {"outcome":{"outcome":"cancelled"}}
   interrupt 8 ended outcome=cancelled
""",
    "edge 26 the agent withdraws a permission": """
V2
A> s * {"state":"running"}
A> 8 session/request_permission {"sessionId":"s","options":[]}
   interrupt 8 started
A> $/cancel_request {"requestId":8}
   interrupt 8 ended outcome=withdrawn
A> $/cancel_request {"requestId":8}
C> 8 = {"outcome":{"outcome":"cancelled"}}
A> $/cancel_request {"requestId":8}
A> 8 session/request_permission {"sessionId":"s","options":[]}
   interrupt 8 started
""",
    "edge 26 a withdrawal that comes before its request": """
V2
A> $/cancel_request {"requestId":8}
A> 8 session/request_permission {"sessionId":"s","options":[]}
C> 8 = {"outcome":{"outcome":"cancelled"}}
A> 8 session/request_permission {"sessionId":"s","options":[]}
   interrupt 8 started
""",
    "withdrawals that are none": """
V2
A> 8 session/request_permission {"sessionId":"s","options":[]}
   interrupt 8 started
C> $/cancel_request {"requestId":8}
A> $/cancel_request {"requestId":true}
A> $/cancel_request {"requestId":[8]}
A> $/cancel_request null
""",
    "O6 a cancel while a permission is pending": """
V1
C> 5 session/prompt {"sessionId":"s","prompt":[]}
   message[0] started
A> 0 session/request_permission {"sessionId":"s","options":[]}
   interrupt 0 started
C> session/cancel {"sessionId":"s"}
C> 0 = {"outcome":{"outcome":"cancelled"}}
   interrupt 0 ended outcome=cancelled
A> 5 = {"stopReason":"cancelled"}
   done end=cancelled reason=cancelled
""",
    "O6 nobody answers": """
V1
C> 5 session/prompt {"sessionId":"s","prompt":[]}
   message[0] started
A> 0 session/request_permission {"sessionId":"s","options":[]}
   interrupt 0 started
C> session/cancel {"sessionId":"s"}
END
   interrupt 0 ended outcome=lost
   error fatal=True
   done end=failed
""",
    "elicitations, in a session and outside of it": """
V1
C> 12 session/new {"cwd":"/x"}
A> 1 elicitation/create {"requestId":12,"mode":"url","elicitationId":"e1","message":"m"}
   None: interrupt 1 started
C> 1 = {"action":"accept"}
   None: interrupt 1 ended outcome=accept
A> elicitation/complete {"elicitationId":"e1"}
A> 2 elicitation/create {"sessionId":"s","mode":"form","message":"m"}
   interrupt 2 started
C> 2 = {"action":"decline"}
   interrupt 2 ended outcome=decline
A> 3 elicitation/create {"sessionId":"s","mode":"form","message":"m"}
   interrupt 3 started
C> 3 ! {"code":-32601,"message":"not known"}
   interrupt 3 ended outcome=error
A> 4 elicitation/create {"sessionId":"s","mode":"form","message":"m"}
   interrupt 4 started
C> 4 = null
   interrupt 4 ended outcome=answered
A> 99999999999999999999 elicitation/create {"message":"m"}
   None: interrupt 99999999999999999999 started
""",
    "the client does not ask, and the agent does not answer": """
V1
C> 5 session/request_permission {"sessionId":"s","options":[]}
A> 5 ! {"code":-32601,"message":"no"}
   error code=-32601
A> 6 _acme/ask {"sessionId":"s"}
C> 6 ! {"code":-32601,"message":"no"}
""",
}


@pytest.mark.parametrize("script", INTERRUPTS.values(), ids=INTERRUPTS)
def test_interrupts(script):
    assert play(script) == script.strip()


ERRORS = {
    "an error answer": """
V1
C> 1 session/new {"cwd":"/w"}
A> 1 ! {"code":-32000,"message":"Authentication required"}
   None: error code=-32000
C> 2 session/set_mode {"sessionId":"s","modeId":"x"}
A> 2 ! "words"
   error
C> 3 session/set_mode {"sessionId":"s","modeId":"x"}
A> 3 ! {"code":true,"message":5}
   error
""",
    "edge 7 an error that is tied to no request": """
V1
A> null ! {"code":-32700,"message":"Parse error"}
   None: error code=-32700
C> null ! {"code":-32700,"message":"Parse error"}
A> 99 ! {"code":1,"message":"x"}
""",
    "a rule that is broken": """
V1
A> {"id":true}
   None: error rule=jsonrpc/malformed
A> {"method":5}
   None: error rule=jsonrpc/malformed
""",
}


@pytest.mark.parametrize("script", ERRORS.values(), ids=ERRORS)
def test_errors(script):
    assert play(script) == script.strip()


SUBAGENTS = {
    "edge 45, 2.3 rule 8 a child session": """
V2
A> s ~ subagent_update {"sessionId":"c","title":"Find it"}
   subagent c state=none
A> s ~ subagent_update {"sessionId":"c","state":{"state":"running"}}
   subagent c state=running
A> c ~ agent_message_chunk {"messageId":"m","content":<hi>}
   c: message[0] m started of c
A> c ~ agent_thought_chunk {"messageId":"m","content":<hm>}
   c: reasoning[1] m started of c
A> c ~ usage_update {"used":1,"size":2}
   c: state of c part=usage
A> 7 session/request_permission {"sessionId":"c","options":[]}
   c: interrupt 7 started of c
A> s ~ subagent_update {"sessionId":"c","state":{"state":"idle","stopReason":"end_turn"}}
   subagent c state=idle
   c: done of c end=success reason=end_turn
A> c * {"state":"idle","stopReason":"end_turn"}
A> s ~ subagent_update {"sessionId":"c","state":null}
   subagent c state=none
A> s ~ subagent_update {"sessionId":5}
""",
    "a child in a custom state, and lost": """
V1
A> s ~ subagent_update {"sessionId":"c","state":{"state":"_acme.deep"}}
   subagent c state=_acme.deep
A> c ~ agent_message_chunk {"content":<hi>}
   c: message[0] started of c
END
   c: error of c fatal=True
   c: done of c end=failed
""",
}


@pytest.mark.parametrize("script", SUBAGENTS.values(), ids=SUBAGENTS)
def test_subagents(script):
    assert play(script) == script.strip()
