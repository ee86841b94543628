"""What each message asks of a view: messages, thoughts, tool calls, terminals, and the rest."""

import pytest

from tests.view.plays import play

MESSAGES = {
    "v1 a message without ids begins when the discriminator changes": """
V1
C> 2 session/prompt {"sessionId":"s","prompt":[<hi>]}
   message[0] started
A> s ~ agent_thought_chunk {"content":<hm>}
   reasoning[1] started
A> s ~ agent_thought_chunk {"content":<m>}
   reasoning[1] content
A> s ~ agent_message_chunk {"content":<he>}
   message[2] started
A> s ~ agent_message_chunk {"content":<llo>}
   message[2] content
A> s ~ usage_update {"used":1,"size":2}
   state part=usage
A> s ~ agent_message_chunk {"content":<!>}
   message[2] content
A> s ~ tool_call {"toolCallId":"t","title":"x"}
   message[3] t tool_started
A> s ~ agent_message_chunk {"content":<more>}
   message[4] started
A> 2 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
== | user "hi" | thought "hmm" | agent "hello!" | tool t pending "" | agent "more"
""",
    "v1 a change of id begins a message, and an id that comes back goes on": """
V1
A> s ~ agent_message_chunk {"messageId":"a","content":<1>}
   message[0] a started
A> s ~ agent_message_chunk {"messageId":"b","content":<2>}
   message[1] b started
A> s ~ agent_message_chunk {"messageId":"a","content":<3>}
   message[0] a content
A> s ~ agent_message_chunk {"messageId":null,"content":<4>}
   message[0] a content
== | agent "134" | agent "2"
""",
    "2.3 rule 2 chunks of messages may interleave": """
V2
A> s ~ agent_message_chunk {"messageId":"a","content":<1>}
   message[0] a started
A> s ~ agent_message_chunk {"messageId":"b","content":<2>}
   message[1] b started
A> s ~ agent_message_chunk {"messageId":"a","content":<3>}
   message[0] a content
A> s ~ agent_message_chunk {"messageId":"b","content":<4>}
   message[1] b content
== | agent "13" | agent "24"
""",
    "edge 36 one id, two types": """
V2
A> s ~ agent_message {"messageId":"m1","content":[<said>]}
   message[0] m1 started
A> s ~ agent_thought {"messageId":"m1","content":[<thought>]}
   reasoning[1] m1 started
A> s ~ agent_thought_chunk {"messageId":"m1","content":<!>}
   reasoning[1] m1 content
A> s ~ user_message {"messageId":"m1","content":[<asked>]}
   message[2] m1 started
== | agent "said" | thought "thought!" | user "asked"
""",
    "edge 37 a chunk, an upsert, a chunk": """
V2
A> s ~ agent_message {"messageId":"m","content":[<A>]}
   message[0] m started
A> s ~ agent_message_chunk {"messageId":"m","content":<B>}
   message[0] m content
== | agent "AB"
A> s ~ agent_message {"messageId":"m","content":[<C>]}
   message[0] m replaced
A> s ~ agent_message_chunk {"messageId":"m","content":<D>}
   message[0] m content
== | agent "CD"
A> s ~ agent_message {"messageId":"m","_meta":{"k":null}}
== | agent "CD"
A> s ~ agent_message {"messageId":"m","content":null}
   message[0] m replaced
== | agent ""
A> s ~ agent_message {"messageId":"m","content":<E>}
   message[0] m replaced
== | agent "E"
""",
    "edge 35 the user's message comes before the prompt's answer": """
V2
C> 2 session/prompt {"sessionId":"s","prompt":[<hi>]}
A> s ~ user_message {"messageId":"u1","content":[]}
   message[0] u1 started
A> s ~ user_message_chunk {"messageId":"u1","content":<hi>}
   message[0] u1 content
A> 2 = {"messageId":"u1"}
== | user "hi"
""",
    "v1 a prompt that the agent repeats is shown once": """
V1
C> 2 session/prompt {"sessionId":"s","prompt":[<hi there>]}
   message[0] started
A> s ~ user_message_chunk {"messageId":"u","content":<hi >}
   message[0] u replaced
A> s ~ user_message_chunk {"messageId":"u","content":<there>}
   message[0] u content
A> s ~ agent_message_chunk {"content":<hello>}
   message[1] started
A> s ~ user_message_chunk {"content":<steer>}
   message[2] started
== | user "hi there" | agent "hello" | user "steer"
""",
    "v1 a prompt with an id that another message's chunk does not repeat": """
V1
C> 2 session/prompt {"sessionId":"s","messageId":"a","prompt":[<hi>]}
   message[0] a started
A> s ~ user_message_chunk {"messageId":"b","content":<more>}
   message[1] b started
== | user "hi" | user "more"
""",
    "S2 what comes after the end of a turn is no part of the next": """
V1
C> 3 session/prompt {"sessionId":"s","prompt":[<hi>]}
   message[0] started
A> s ~ agent_message_chunk {"content":<hello>}
   message[1] started
A> s ~ tool_call {"toolCallId":"t","title":"x"}
   message[2] t tool_started
A> 3 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
A> s ~ session_info_update {"title":"Greeting"}
   state part=info
A> s ~ tool_call_update {"toolCallId":"t","status":"completed"}
   message[2] t tool_ended
A> s ~ agent_message_chunk {"content":<late>}
   message[3] started
C> 4 session/prompt {"sessionId":"s","prompt":[<next>]}
   message[4] started
A> s ~ agent_message_chunk {"content":<good>}
   message[5] started
A> 4 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
== | user "hi" | agent "hello" | tool t completed "" | agent "late" | user "next" | agent "good"
""",
    "a message without an id after the end is a new one": """
V1
C> 3 session/prompt {"sessionId":"s","prompt":[<hi>]}
   message[0] started
A> s ~ agent_message_chunk {"content":<hello>}
   message[1] started
A> 3 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
A> s ~ agent_message_chunk {"content":<late>}
   message[2] started
== | user "hi" | agent "hello" | agent "late"
""",
    "an image is content without text": """
V2
A> s ~ agent_message_chunk {"messageId":"m","content":{"type":"image","data":"AA=="}}
   message[0] m started
A> s ~ agent_message_chunk {"messageId":"m","content":<seen>}
   message[0] m content
== | agent "seen"
""",
    "session messages have ids of their own": """
V2
A> s ~ session_message {"messageId":"m","senderSessionId":"x","content":[<from x>]}
   message[0] m started
A> s ~ session_message_chunk {"messageId":"m","content":<!>}
   message[0] m content
== | session "from x!"
""",
    "2.3 rule 7 a compaction keeps its place": """
V2
A> s ~ compaction_update {"compactionId":"c","status":"in_progress"}
   message[0] c activity
A> s ~ agent_message_chunk {"messageId":"m","content":<on>}
   message[1] m started
A> s ~ compaction_summary_chunk {"compactionId":"c","content":<short>}
   message[0] c activity
A> s ~ compaction_update {"compactionId":"c","status":"completed"}
   message[0] c activity
A> s ~ compaction_summary_chunk {"compactionId":"d","content":<unseen>}
   message[2] d activity
== | compaction "short" | agent "on" | compaction "unseen"
""",
    "a notice belongs to nothing": """
V2
A> s ~ agent_message_chunk {"content":<a>}
   message[0] started
A> s ~ notice {"severity":"info","title":"n"}
   message[1] activity
A> s ~ notice {"severity":"info","title":"n"}
   message[2] activity
A> s ~ agent_message_chunk {"content":<b>}
   message[3] started
== | agent "a" | notice "" | notice "" | agent "b"
""",
    "edge 21 unknown kinds are kept and harmless": """
V2
A> s ~ _acme.sparkle {"x":1}
A> s ~ future_thing
A> s ~ {"sessionUpdate":7}
A> s ~ {}
A> s ~ plan {"entries":[]}
==
""",
    "O4 two sessions on one connection": """
V1
C> 3 session/new {"cwd":"/w"}
A> 3 = {"sessionId":"r"}
C> 4 session/prompt {"sessionId":"s","prompt":[<1>]}
   message[0] started
C> 5 session/prompt {"sessionId":"r","prompt":[<2>]}
   r: message[0] started
A> s ~ agent_message_chunk {"content":<a>}
   message[1] started
A> r ~ agent_message_chunk {"content":<b>}
   r: message[1] started
A> s ~ agent_message_chunk {"content":<c>}
   message[1] content
A> r ~ agent_message_chunk {"content":<d>}
   r: message[1] content
C> session/cancel {"sessionId":"s"}
A> 5 = {"stopReason":"refusal"}
   r: done end=success reason=refusal
A> 4 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
== | user "1" | agent "ac"
""",
    "O1 updates before the session is known": """
C> 0 initialize {"protocolVersion":1}
A> 0 = {"protocolVersion":1}
C> 2 session/new {"cwd":"/w"}
A> s ~ available_commands_update {"availableCommands":[]}
   state part=commands
A> s ~ agent_message_chunk {"content":<early>}
   message[0] started
A> 2 = {"sessionId":"s","modes":{"currentModeId":"m"},"models":null,"configOptions":[]}
   state part=mode
   state part=config
== | agent "early"
""",
    "edge 55 a conductor's inner call is what counts": """
V1
C> 3 proxy/successor {"method":"session/prompt","params":{"sessionId":"s"}}
   message[0] started
A> 3 = {"stopReason":"end_turn"}
   done end=success reason=end_turn
== | user ""
""",
    "between two chunks something else is said": """
V1
A> s ~ agent_message_chunk {"content":<a>}
   message[0] started
A> _acme/ping {"sessionId":"s"}
A> s ~ agent_message_chunk {"content":<b>}
   message[0] content
A> s ~ agent_message_chunk {"content":<c>}
   message[0] content
A> _acme/update {"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk"}}
== | agent "abc"
""",
    "an update in no session, or that is none": """
V1
A> session/update {"update":{"sessionUpdate":"agent_message_chunk"}}
A> session/update {"sessionId":"s","update":5}
A> session/update null
A> _x {"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk"}}
==
""",
}


@pytest.mark.parametrize("script", MESSAGES.values(), ids=MESSAGES)
def test_messages(script):
    assert play(script) == script.strip()


TOOLS = {
    "v1 a tool call": """
V1
A> s ~ tool_call {"toolCallId":"t","title":"ls","kind":"execute"}
   message[0] t tool_started
A> s ~ tool_call_update {"toolCallId":"t","status":"in_progress"}
   message[0] t activity
A> s ~ tool_call_update {"toolCallId":"t","rawInput":{"command":"ls"}}
   message[0] t tool_args
A> s ~ tool_call_update {"toolCallId":"t","content":[<<a b>>]}
   message[0] t tool_result
A> s ~ tool_call_update {"toolCallId":"t","status":"completed","rawOutput":{}}
   message[0] t tool_result
   message[0] t tool_ended
A> s ~ tool_call_update {"toolCallId":"t","title":null,"content":null,"status":null}
   message[0] t activity
== | tool t completed "a b"
""",
    "edge 42 an update of a tool call that was not announced": """
V1
A> s ~ tool_call_update {"toolCallId":"write_file_1","status":"completed"}
   message[0] write_file_1 tool_started
   message[0] write_file_1 tool_ended
== | tool write_file_1 completed ""
""",
    "v1 a tool call that is announced again is a new one": """
V1
A> s ~ tool_call {"toolCallId":"t","title":"a","status":"completed","content":[<<x>>]}
   message[0] t tool_started
   message[0] t tool_ended
A> s ~ tool_call {"toolCallId":"t","title":"b"}
   message[0] t replaced
== | tool t pending ""
A> s ~ tool_call_update {"toolCallId":"t","status":"failed"}
   message[0] t tool_ended
A> s ~ tool_call {"toolCallId":"t","title":"c","status":"failed"}
   message[0] t replaced
== | tool t failed ""
""",
    "2.3 rule 1 null clears, left out keeps, a list replaces": """
V2
A> s ~ tool_call_update {"toolCallId":"t","title":"x","status":"in_progress","content":[<<1>>]}
   message[0] t tool_started
A> s ~ tool_call_update {"toolCallId":"t","locations":[]}
   message[0] t activity
== | tool t in_progress "1"
A> s ~ tool_call_update {"toolCallId":"t","content":[<<2>>],"rawInput":{}}
   message[0] t tool_args
   message[0] t tool_result
A> s ~ tool_call_content_chunk {"toolCallId":"t","content":<<3>>}
   message[0] t tool_result
== | tool t in_progress "23"
A> s ~ tool_call_update {"toolCallId":"t","status":null,"content":null}
   message[0] t tool_result
== | tool t pending ""
""",
    "2.3 rule 9 an unknown status is still at work": """
V2
A> s ~ tool_call_update {"toolCallId":"t","status":"napping"}
   message[0] t tool_started
A> s ~ tool_call_update {"toolCallId":"t","status":"cancelled"}
   message[0] t tool_ended
A> s ~ tool_call_update {"toolCallId":"t","status":"cancelled"}
   message[0] t activity
A> s ~ tool_call_update {"toolCallId":"t","status":"in_progress"}
   message[0] t activity
A> s ~ tool_call_update {"toolCallId":"t","status":"completed"}
   message[0] t tool_ended
== | tool t completed ""
""",
    "a tool call that begins with a chunk": """
V2
A> s ~ tool_call_content_chunk {"toolCallId":"t","content":<<1>>}
   message[0] t tool_started
A> s ~ tool_call_content_chunk {"toolCallId":"t","content":<<2>>}
   message[0] t tool_result
A> s ~ tool_call_content_chunk {"toolCallId":"t","content":<<3>>}
   message[0] t tool_result
== | tool t pending "123"
""",
    "an update of nothing is left alone": """
V2
A> s ~ tool_call_update {"status":"completed"}
A> s ~ tool_call_update {"toolCallId":5,"status":"completed"}
A> s ~ terminal_output_chunk {"data":"QQ=="}
==
""",
    "edge 28 output while idle": """
V2
A> s ~ tool_call_update {"toolCallId":"t1","status":"completed"}
   message[0] t1 tool_started
   message[0] t1 tool_ended
== | tool t1 completed ""
""",
    "2.3 rule 6 a permission updates its tool call": """
V2
A> s * {"state":"running"}
A> s ~ tool_call_update {"toolCallId":"t","status":"in_progress"}
   message[0] t tool_started
A> 7 session/request_permission {"sessionId":"s","subject":{"toolCall":{"toolCallId":"t","status":"x"}}}
   message[0] t activity
   interrupt 7 started
== | tool t x ""
""",  # noqa: E501
    "v1 a permission announces its tool call": """
V1
C> 2 session/prompt {"sessionId":"s","prompt":[]}
   message[0] started
A> 7 session/request_permission {"sessionId":"s","toolCall":{"toolCallId":"t"}}
   message[1] t tool_started
   interrupt 7 started
== | user "" | tool t pending ""
""",
}


@pytest.mark.parametrize("script", TOOLS.values(), ids=TOOLS)
def test_tools(script):
    assert play(script) == script.strip()


TERMINALS = {
    "edge 38, 2.3 rule 4 each chunk is base64 of its own": """
V2
A> s ~ terminal_output_chunk {"terminalId":"T","data":"w6k="}
   message[0] T started
A> s ~ terminal_output_chunk {"terminalId":"U","data":"ww=="}
   message[1] U started
A> s ~ terminal_output_chunk {"terminalId":"U","data":"qQ=="}
   message[1] U content
== | terminal T "\\u00e9" | terminal U "\\u00e9"
A> s ~ terminal_update {"terminalId":"T","output":{"data":"QQ=="}}
   message[0] T replaced
A> s ~ terminal_output_chunk {"terminalId":"T","data":"Qg=="}
   message[0] T content
A> s ~ terminal_output_chunk {"terminalId":"T","data":"no base64"}
   message[0] T content
A> s ~ terminal_output_chunk {"terminalId":"T","data":5}
   message[0] T content
== | terminal T "AB" | terminal U "\\u00e9"
A> s ~ terminal_update {"terminalId":"T","output":null}
   message[0] T replaced
== | terminal T "" | terminal U "\\u00e9"
""",
    "2.3 rule 5 an exit status, even an empty one, is an end": """
V2
A> s ~ terminal_update {"terminalId":"T","command":"ls"}
   message[0] T started
A> s ~ terminal_update {"terminalId":"T","cwd":"/w"}
   message[0] T activity
A> s ~ terminal_update {"terminalId":"T","exitStatus":{}}
   message[0] T ended
== | terminal T "" exited
A> s ~ terminal_update {"terminalId":"T","exitStatus":null}
   message[0] T activity
A> s ~ terminal_update {"terminalId":"U","exitStatus":{"exitCode":1}}
   message[1] U started
   message[1] U ended
== | terminal T "" | terminal U "" exited
""",
    "v1 the client's terminals": """
V1
A> 1 terminal/create {"sessionId":"s","command":"ls","args":["-l"]}
C> 1 = {"terminalId":"T"}
   message[0] T started
A> 2 terminal/output {"sessionId":"s","terminalId":"T"}
C> 2 = {"output":"a","truncated":false,"exitStatus":null}
   message[0] T replaced
A> 3 terminal/wait_for_exit {"sessionId":"s","terminalId":"T"}
A> 4 terminal/output {"sessionId":"s","terminalId":"T"}
C> 4 = {"output":"ab","truncated":false,"exitStatus":{"exitCode":0}}
   message[0] T replaced
   message[0] T ended
C> 3 = {"exitCode":0}
   message[0] T activity
A> 5 terminal/release {"sessionId":"s","terminalId":"T"}
C> 5 = {}
== | terminal T "ab" exited
A> 6 terminal/create {"sessionId":"s","command":"nope"}
C> 6 ! {"code":-32603,"message":"no"}
== | terminal T "ab" exited
""",
    "v1 a terminal that is told of beside its tool call": """
V1
A> s ~ tool_call {"toolCallId":"t","status":"pending","_meta":{"terminal_info":{"terminal_id":"T"}}}
   message[0] T started
   message[1] t tool_started
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_output":{"terminal_id":"T","data":"a"}}}
   message[0] T content
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_output_delta":{"terminal_id":"T","data":"é"}}}
   message[0] T content
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_output":{"terminal_id":"T","data":5}}}
   message[0] T content
== | terminal T "a\\u00e9" | tool t pending ""
A> s ~ tool_call_update {"toolCallId":"t","title":"x","_meta":{"terminal_output":{"terminal_id":"T","data":"b"}}}
   message[0] T content
   message[1] t activity
A> s ~ tool_call_update {"toolCallId":"t","status":"completed","_meta":{"terminal_exit":{"terminal_id":"T"},"terminal_output":{"terminal_id":"T","data":"c"}}}
   message[0] T content
   message[0] T ended
   message[1] t tool_ended
== | terminal T "a\\u00e9bc" exited | tool t completed ""
A> s ~ tool_call {"toolCallId":"t","_meta":{"terminal_info":{"terminal_id":"T"}}}
   message[0] T activity
   message[1] t replaced
""",  # noqa: E501
    "v1 a terminal that comes late does not part what the agent says": """
V1
A> s ~ tool_call {"toolCallId":"t","status":"pending"}
   message[0] t tool_started
A> s ~ agent_message_chunk {"content":<a>}
   message[1] started
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_output":{"terminal_id":"T","data":"x"}}}
   message[2] T started
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_output":{"terminal_id":"T","data":"y"}}}
   message[2] T content
A> s ~ agent_message_chunk {"content":<b>}
   message[1] content
== | tool t pending "" | agent "ab" | terminal T "xy"
""",  # noqa: E501
    "v1 the first that is heard of a tool call is its terminal": """
V1
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_output":{"terminal_id":"T","data":"x"}}}
   message[0] T started
   message[1] t tool_started
A> 7 session/request_permission {"sessionId":"s","toolCall":{"toolCallId":"t","_meta":{"terminal_exit":{"terminal_id":"T"}}}}
   message[0] T ended
   interrupt 7 started
== | terminal T "x" exited | tool t pending ""
""",  # noqa: E501
    "v1 what tells of no terminal": """
V1
A> s ~ tool_call {"toolCallId":"t","_meta":{"terminal_info":{},"terminal_output":5,"other":{"terminal_id":"T"}}}
   message[0] t tool_started
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_exit":{"terminal_id":5}}}
   message[0] t activity
A> s ~ tool_call_update {"toolCallId":"t","_meta":"terminal_exit"}
   message[0] t activity
== | tool t pending ""
""",  # noqa: E501
    "v2 has updates of terminals, and nothing beside": """
V2
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_output":{"terminal_id":"T","data":"x"}}}
   message[0] t tool_started
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_exit":{"terminal_id":"T"}}}
   message[0] t activity
== | tool t pending ""
""",  # noqa: E501
}


@pytest.mark.parametrize("script", TERMINALS.values(), ids=TERMINALS)
def test_terminals(script):
    assert play(script) == script.strip()


PARTS = {
    "v1 what stands beside the conversation": """
V1
A> s ~ plan {"entries":[]}
   state part=plan
A> s ~ plan_update {"plan":{"planId":"p"}}
   state part=plan
A> s ~ plan_removed {"planId":"p"}
   state part=plan
A> s ~ usage_update {"used":1,"size":2}
   state part=usage
A> s ~ current_mode_update {"currentModeId":"m"}
   state part=mode
A> s ~ config_option_update {"configOptions":[]}
   state part=config
A> s ~ available_commands_update {"availableCommands":[]}
   state part=commands
A> s ~ session_info_update {"title":"t"}
   state part=info
""",
    "what answers set": """
V1
C> 1 session/set_mode {"sessionId":"s","modeId":"m"}
A> 1 = {}
   state part=mode
C> 2 session/set_model {"sessionId":"s","modelId":"m"}
A> 2 = {}
   state part=model
C> 3 session/set_config_option {"sessionId":"s","configId":"c","value":1}
A> 3 = {"configOptions":[]}
   state part=config
C> 4 session/set_mode {"sessionId":"s","modeId":"m"}
A> 4 ! {"code":-32602,"message":"no"}
   error code=-32602
""",
    "edge 46 a fork's settings are those of the new session": """
V1
C> 8 session/fork {"sessionId":"s","cwd":"/w"}
A> 8 = {"sessionId":"b","modes":{"currentModeId":"m"}}
   b: state part=mode
""",
}


@pytest.mark.parametrize("script", PARTS.values(), ids=PARTS)
def test_parts(script):
    assert play(script) == script.strip()
