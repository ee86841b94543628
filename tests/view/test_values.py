"""What the messages of a conversation come to."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.acp.updates import UPDATES
from acptap.acp.view import Folded, Interrupt, View
from acptap.acp.view import beside as beside_module
from acptap.acp.view import items as items_module
from acptap.acp.view.answers import CHOICES, TERMINALS
from acptap.acp.view.parts import PARTS
from acptap.acp.view.table import ENTITIES
from acptap.jsonrpc import Side
from acptap.updates import Change, End, Update, UpdateKind
from tests.acp.test_conversation import SIDES
from tests.view.plays import Stage, message


def folded(script, version="1"):
    """What a play comes to; it begins in an open session `s`."""
    stage = Stage()
    stage.open(version)
    for line in script.strip().splitlines():
        cue, _, words = line.partition(" ")
        if cue == "END":
            stage.end()
        else:
            stage.say(SIDES[cue], message(words).encode())
    return stage.view.fold()


def session(script, version="1"):
    return folded(script, version).session("s")


def test_every_update_has_one_row():
    elsewhere = {"state_update", "subagent_update"}
    assert ENTITIES.keys() | PARTS.keys() | elsewhere == UPDATES.keys()
    assert not ENTITIES.keys() & PARTS.keys()


STATES = {
    "v1 a plan": (
        'A> s ~ plan {"entries":[{"content":"a","status":"pending"}]}',
        {"plans": {"": {"entries": [{"content": "a", "status": "pending"}]}}},
    ),
    "a plan without entries": (
        'A> s ~ plan', {"plans": {"": {"entries": None}}}
    ),
    "plans with ids": (
        """
A> s ~ plan_update {"plan":{"planId":"a","type":"items","entries":[]}}
A> s ~ plan_update {"plan":{"planId":"b","type":"future"}}
A> s ~ plan_update {"plan":{"planId":"b","type":"other"}}
A> s ~ plan_update {"plan":5}
A> s ~ plan_removed {"planId":"a"}
A> s ~ plan_removed {"planId":"never"}
""",
        {"plans": {"b": {"planId": "b", "type": "other"}}},
    ),
    "usage keeps a cost that is left out": (
        """
A> s ~ usage_update {"used":1,"size":9,"cost":{"amount":1,"currency":"EUR"}}
A> s ~ usage_update {"used":2,"size":9}
""",
        {"usage": {"used": 2, "size": 9, "cost": {"amount": 1, "currency": "EUR"}}},
    ),
    "a null clears the cost": (
        """
A> s ~ usage_update {"used":1,"size":9,"cost":{"amount":1}}
A> s ~ usage_update {"used":2,"size":9,"cost":null}
""",
        {"usage": {"used": 2, "size": 9}},
    ),
    "2.3 rule 3 _meta is merged key by key": (
        """
A> s ~ session_info_update {"title":"t","_meta":{"a":1,"b":{"x":1}}}
A> s ~ session_info_update {"_meta":{"a":null,"b":{"y":2}}}
A> s ~ session_info_update {"updatedAt":"now"}
A> s ~ session_info_update {"_meta":"odd"}
""",
        {"info": {"title": "t", "updatedAt": "now", "_meta": {"b": {"y": 2}}}},
    ),
    "2.3 rule 3 a null clears all of _meta": (
        """
A> s ~ session_info_update {"title":"t","_meta":{"a":1}}
A> s ~ session_info_update {"title":null,"_meta":null}
""",
        {},
    ),
    "a mode, commands and options, and lists that are none": (
        """
A> s ~ current_mode_update {"currentModeId":"m"}
A> s ~ current_mode_update {"currentModeId":5}
A> s ~ available_commands_update {"availableCommands":[{"name":"x"}]}
A> s ~ available_commands_update {"availableCommands":null}
A> s ~ config_option_update {"configOptions":[{"id":"c","currentValue":1}]}
""",
        {"mode": "m", "commands": [{"name": "x"}], "config": [{"id": "c", "currentValue": 1}]},
    ),
    "what answers set": (
        """
C> 1 session/load {"sessionId":"s"}
A> 1 = {"modes":{"currentModeId":"a","availableModes":[1]},"configOptions":[3]}
C> 1 session/resume {"sessionId":"s"}
A> 1 = {"models":{"currentModelId":"x","availableModels":[2]}}
C> 2 session/set_mode {"sessionId":"s","modeId":"b"}
A> 2 = {}
C> 3 session/set_model {"sessionId":"s","modelId":"y"}
A> 3 = null
C> 4 session/set_model {"sessionId":"s","modelId":5}
A> 4 = {}
C> 5 session/set_config_option {"sessionId":"s","configId":"c","value":1}
A> 5 = {"configOptions":[4]}
""",
        {"mode": "b", "modes": [1], "model": "y", "models": [2], "config": [4]},
    ),
    "settings that are no objects": (
        """
C> 1 session/load {"sessionId":"s"}
A> 1 = {"modes":[5],"models":"odd"}
""",
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("script", "state"), STATES.values(), ids=STATES)
def test_state(script, state):
    told = session(script).state.as_json()
    assert {name: told[name] for name in told if told[name] not in ({}, [], None)} == state


def test_a_tool_call_tells_all_that_was_said_of_it():
    call = session("""
A> s ~ tool_call {"toolCallId":"t","title":"ls","kind":"execute","rawInput":{"command":"ls"}}
A> s ~ tool_call_update {"toolCallId":"t","locations":[{"path":"/w"}],"_meta":{"a":1}}
A> s ~ tool_call_update {"toolCallId":"t","content":[{"terminalId":"T"},5],"rawOutput":1}
A> s ~ tool_call_update {"toolCallId":"t","_meta":null}
""").tool_calls[0]
    assert (call.title, call.kind, call.status, call.terminals) == (
        "ls",
        "execute",
        "pending",
        ["T"],
    )
    assert call.as_json() == {
        "type": "tool_call", "id": "t", "line": 5, "title": "ls", "kind": "execute",
        "status": "pending", "text": "", "content": [{"terminalId": "T"}, 5],
        "terminals": ["T"], "locations": [{"path": "/w"}], "rawInput": {"command": "ls"},
        "rawOutput": 1, "_meta": {"a": 1},
    }  # fmt: skip


def test_a_tool_call_that_was_not_announced_has_a_title_all_the_same():
    named, unnamed = session("""
A> s ~ tool_call_update {"toolCallId":"t","name":"bash"}
A> s ~ tool_call_update {"toolCallId":"u","status":5}
""").tool_calls
    assert (named.title, unnamed.title, unnamed.status) == ("bash", "u", "pending")


def test_all_that_was_said_as_json():
    view = session(
        """
A> s ~ user_message {"messageId":"u","content":[<hi>]}
A> s ~ agent_thought {"messageId":"t","content":[<hm>]}
A> s ~ agent_message {"messageId":"a","content":[<hello>]}
A> s ~ terminal_update {"terminalId":"T","output":{"data":"w6k="},"exitStatus":{}}
A> s ~ notice {"severity":"info","title":"n"}
A> s ~ future {"x":1}
""",
        "2",
    )
    assert view.text == "hello"
    assert view.terminals["T"].output == b"\xc3\xa9"
    told = view.as_json()
    assert told["unknown"] == [{"sessionUpdate": "future", "x": 1}]
    hi, hm, hello = ([{"type": "text", "text": said}] for said in ("hi", "hm", "hello"))
    assert told["messages"] == [
        {"type": "message", "id": "u", "line": 5, "role": "user", "text": "hi", "content": hi},
        {"type": "reasoning", "id": "t", "line": 6, "text": "hm", "content": hm},
        {"type": "message", "id": "a", "line": 7, "role": "agent", "text": "hello",
         "content": hello},
        {"type": "terminal", "id": "T", "line": 8, "text": "é", "exited": True,
         "exitStatus": {}},
        {"type": "activity", "id": None, "line": 9, "name": "notice", "text": "", "content": [],
         "severity": "info", "title": "n"},
    ]  # fmt: skip


def test_v1_a_terminal_of_the_client():
    terminal = session("""
A> 1 terminal/create {"sessionId":"s","command":"ls","args":["-l"]}
C> 1 = {"terminalId":"T"}
A> 2 terminal/output {"sessionId":"s","terminalId":"T"}
C> 2 = {"output":"é\\ud800","truncated":true}
A> 3 terminal/wait_for_exit {"sessionId":"s","terminalId":"T"}
C> 3 = {"exitCode":2,"signal":null}
""").terminals["T"]
    assert (terminal.word("command"), terminal.exited) == ("ls", True)
    assert terminal.text == "é\N{REPLACEMENT CHARACTER}" * 1 + "\N{REPLACEMENT CHARACTER}" * 2


BEGAN = '"_meta":{"x":1,"terminal_info":{"terminal_id":"T","cwd":"/w"}}'
BEGINNINGS = {
    "with a command": (f'"rawInput":{{"command":"ls"}},{BEGAN}', {"command": "ls", "cwd": "/w"}),
    "a command in words": (f'"rawInput":{{"command":["ls"]}},{BEGAN}', {"cwd": "/w"}),
    "with another input": (f'"rawInput":"ls",{BEGAN}', {"cwd": "/w"}),
    "with no folder": (
        '"rawInput":{"command":"ls"},"_meta":{"x":1,"terminal_info":{"terminal_id":"T"}}',
        {"command": "ls"},
    ),
}


@pytest.mark.parametrize(("members", "fields"), BEGINNINGS.values(), ids=BEGINNINGS)
def test_v1_a_terminal_beside_a_tool_call_begins(members, fields):
    view = session(f'A> s ~ tool_call {{"toolCallId":"t",{members}}}')
    assert view.terminals["T"].fields == fields
    assert view.tool_calls[0].terminals == ["T"]
    assert view.tool_calls[0].fields["_meta"] == {"x": 1}


def test_v1_terminals_beside_a_tool_call():
    view = session("""
A> s ~ tool_call {"toolCallId":"t","content":[{"type":"terminal","terminalId":"U"}]}
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_output":{"terminal_id":"T","data":"é\\ud800"}}}
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_output":{"terminal_id":"U","data":"u"}}}
A> s ~ tool_call_update {"toolCallId":"t","_meta":{"terminal_exit":{"terminal_id":"T","exit_code":2,"signal":null}}}
""")  # noqa: E501
    (call,) = view.tool_calls
    assert call.terminals == ["U", "T"]
    assert "_meta" not in call.fields
    assert view.terminals["T"].output == b"\xc3\xa9\xed\xa0\x80"
    assert view.terminals["T"].fields == {"exitStatus": {"exitCode": 2, "signal": None}}
    assert view.terminals["U"].text == "u"


def test_turns():
    view = session("""
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> 2 = {"stopReason":"end_turn","usage":{"totalTokens":9}}
C> 3 session/prompt {"sessionId":"s","prompt":[]}
A> 3 ! {"code":-32603,"message":"boom"}
C> 4 session/prompt {"sessionId":"s","prompt":[]}
""")
    assert [done.as_json() for done in view.done] == [
        {"line": 6, "began": 5, "end": End.SUCCESS, "reason": "end_turn",
         "usage": {"totalTokens": 9}},
        {"line": 8, "began": 7, "end": End.FAILED, "reason": "error", "usage": None},
    ]  # fmt: skip
    assert [error.as_json() for error in view.errors] == [
        {"line": 8, "session": "s", "code": -32603, "message": "boom", "rule": None, "fatal": True}
    ]
    assert (view.began, view.session_state, view.confirmed) == (9, "running", True)


def test_v2_the_usage_of_a_turn():
    (done,) = session(
        """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
A> s * {"state":"idle","stopReason":"end_turn","usage":{"totalTokens":9}}
""",
        "2",
    ).done
    assert (done.began, done.line, done.usage) == (5, 7, {"totalTokens": 9})


def test_v2_a_prompt_that_waits_is_under_way():
    script = """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
C> 3 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"idle","stopReason":"end_turn"}
"""
    assert session(script, "2").began == 7
    late = 'A> 2 = {"messageId":"u"}'
    assert session(script + late, "2").began == 7
    assert session(script + late + '\nA> 3 ! {"code":-32800}', "2").began is None


def test_v2_an_answer_that_comes_late_is_no_turn():
    view = session(
        """
C> 2 session/prompt {"sessionId":"s","prompt":[]}
A> s * {"state":"running"}
A> s * {"state":"idle","stopReason":"end_turn"}
""",
        "2",
    )
    assert view.began is None


def test_interrupts():
    told = folded("""
A> 7 session/request_permission {"sessionId":"s","options":[{"optionId":"y","kind":"allow_once"},5]}
C> 7 = {"outcome":{"outcome":"selected","optionId":"y"}}
A> 8 session/request_permission {"sessionId":"s","options":5}
A> 9 elicitation/create {"message":"m"}
""")
    view = told.session()
    assert [interrupt.outcome for interrupt in view.interrupts] == ["selected", None]
    assert view.interrupts[0].option == {"optionId": "y", "kind": "allow_once"}
    assert view.interrupts[1].option == {}
    assert [interrupt.id for interrupt in told.pending] == [8, 9]
    assert view.pending[0].as_json() == {
        "id": 8, "method": "session/request_permission", "session": "s", "line": 7,
        "params": {"sessionId": "s", "options": 5}, "outcome": None, "answer": None, "ended": None,
    }  # fmt: skip


def test_an_option_that_is_not_there():
    answer = {"outcome": {"outcome": "selected", "optionId": "z"}}
    asked = Interrupt(1, "m", "s", 2, {"options": [{"optionId": "y"}]}, answer=answer)
    assert asked.option == {}


def test_subagents():
    told = folded(
        """
A> s ~ subagent_update {"sessionId":"c","title":"Find","state":{"state":"idle"}}
A> s ~ subagent_update {"sessionId":"c","title":null,"cwd":"/w"}
""",
        "2",
    )
    assert told.session("c").parent == "s"
    (agent,) = told.session("s").as_json()["subagents"]
    assert (agent["id"], agent["cwd"], "title" in agent) == ("c", "/w", False)


def test_a_lost_connection_leaves_states_uncertain():
    view = session('C> 2 session/prompt {"sessionId":"s","prompt":[]}\nEND')
    assert (view.session_state, view.confirmed, view.began) == ("running", False, None)
    assert view.errors[0].message == "the connection ended in mid-turn"


def test_what_happened_outside_of_sessions():
    told = folded("""
C> 1 session/new {"cwd":"/w"}
A> 1 ! {"code":-32000,"message":"Authentication required"}
A> 9 elicitation/create {"message":"m"}
""")
    said = told.as_json()
    assert said["line"] == 7
    assert said["errors"][0]["code"] == -32000
    assert said["interrupts"][0]["id"] == 9
    assert [view["id"] for view in said["sessions"]] == ["s"]


def test_no_such_session():
    with pytest.raises(KeyError):
        Folded().session("x")


def test_a_view_without_values_has_none():
    stage = Stage()
    stage.open("1")
    assert stage.tap.fold() == Folded(line=0)


LONG = {
    "an id that is no sane one is shortened": ("x" * 5000, "x" * 200 + "~00dbf026"),
    "one with half a pair": ("\ud800" + "x" * 300, "\ud800" + "x" * 199 + "~2ff436f2"),
    "a long one": ("x" * 200, "x" * 200),
}


@pytest.mark.parametrize(("id_", "kept"), LONG.values(), ids=LONG)
def test_ids(id_, kept):
    assert items_module.identity(id_) == kept


def test_the_oldest_things_are_forgotten(monkeypatch):
    monkeypatch.setattr(items_module, "REMEMBERED", 2)
    stage = Stage()
    stage.open("2")
    chunks = [f's ~ agent_message_chunk {{"messageId":"{id_}"}}' for id_ in "abcba"]
    told = [stage.say(Side.AGENT, message(chunk).encode())[0] for chunk in chunks]
    changes = [(update.index, update.change) for update in told]
    assert changes == [(0, "started"), (1, "started"), (2, "started"), (1, "content"),
                       (3, "started")]  # fmt: skip


def test_withdrawals_that_wait_are_bounded():
    stage = Stage()
    for number in range(1_500):
        stage.say(Side.AGENT, message(f'$/cancel_request {{"requestId":{number}}}').encode())
    ask = 'session/request_permission {"sessionId":"s"}'
    assert stage.say(Side.AGENT, message(f"0 {ask}").encode())[-1].kind is UpdateKind.INTERRUPT
    told = stage.say(Side.AGENT, message(f"1400 {ask}").encode())
    assert UpdateKind.INTERRUPT not in [update.kind for update in told]


UPDATES_AS_JSON = {
    "all there is": (
        Update(UpdateKind.MESSAGE, "s", 3, "m", Change.CONTENT, "c", {"x": 1}), "t",
        {"kind": "message", "session": "s", "index": 3, "id": "m", "change": "content",
         "subagent": "c", "x": 1},
    ),
    "the entry's own session is left out": (
        Update(UpdateKind.DONE, "s", detail={"end": "success"}), "s",
        {"kind": "done", "end": "success"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("update", "own", "said"), UPDATES_AS_JSON.values(), ids=UPDATES_AS_JSON)
def test_an_update_as_json(update, own, said):
    assert update.as_json(own) == said
    assert list(update.as_json(own)) == list(said)


# Anything at all

ids = st.sampled_from(["a", "b", None, 5, ["deep"]])
block = st.sampled_from([{"type": "text", "text": "x"}, {"type": "terminal", "terminalId": "a"}, 5])
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)  # fmt: skip
beside = st.dictionaries(
    st.sampled_from([*beside_module.MEMBERS, "x"]),
    junk | st.fixed_dictionaries({"terminal_id": ids}, optional={"data": junk, "exit_code": junk}),
)
MEMBERS = {
    "messageId": ids, "toolCallId": ids, "terminalId": ids, "compactionId": ids, "planId": ids,
    "sessionId": st.sampled_from(["s", "c", "d", 5]),
    "content": block | st.lists(block, max_size=2) | junk,
    "status": st.sampled_from(["pending", "in_progress", "completed", "odd", None]),
    "state": st.sampled_from(["idle", "running", "requires_action", "unknown", "_x", None,
                              {"state": "idle"}, {"state": "running"}, {"state": 5}]),
    "stopReason": st.sampled_from(["end_turn", "error", "cancelled", None, 5]),
    "error": junk | st.just({"code": -32603, "message": "x"}),
    "data": st.sampled_from(["QQ==", "odd", 5]), "output": junk | st.just({"data": "QQ=="}),
    "exitStatus": junk, "_meta": junk | beside, "plan": junk, "entries": junk, "title": junk,
    "configOptions": junk, "availableCommands": junk, "currentModeId": junk, "rawInput": junk,
}  # fmt: skip
names = st.sampled_from([*UPDATES, "_x", "future"])
session_ids = st.sampled_from(["s", "c"])
updates = st.builds(
    lambda name, session, members: {
        "method": "session/update",
        "params": {"sessionId": session, "update": {"sessionUpdate": name} | members},
    },
    names, session_ids, st.fixed_dictionaries({}, optional=MEMBERS),
)  # fmt: skip
REQUESTS = ["session/prompt", "session/load", "session/resume", "session/close", "session/new",
            "session/fork", "session/request_permission", "elicitation/create", "session/cancel",
            "initialize", *CHOICES, *TERMINALS]  # fmt: skip
requests = st.builds(
    lambda id_, method, members: {"id": id_, "method": method, "params": members},
    st.integers(0, 3), st.sampled_from(REQUESTS),
    st.fixed_dictionaries({}, optional={
        "sessionId": session_ids, "protocolVersion": st.sampled_from([1, 2]), "prompt": junk,
        "options": junk, "toolCall": junk | st.just({"toolCallId": "a"}), "subject": junk,
        "terminalId": ids, "replayFrom": junk, "modeId": junk, "messageId": ids,
    }),
)  # fmt: skip
answers = st.builds(
    lambda id_, result: {"id": id_} | result,
    st.integers(0, 3),
    st.sampled_from([
        {"result": {"stopReason": "end_turn"}}, {"result": {"stopReason": "cancelled"}},
        {"result": None}, {"result": {"sessionId": "c"}}, {"result": {"protocolVersion": 2}},
        {"result": {"terminalId": "a", "output": "x", "exitStatus": {}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "y"}}},
        {"result": {"modes": {"currentModeId": "x"}, "configOptions": []}},
        {"error": {"code": -32603, "message": "x"}}, {"error": {"code": -32800}}, {"error": 5}, {},
    ]),
)  # fmt: skip
withdrawals = st.builds(
    lambda id_: {"method": "$/cancel_request", "params": {"requestId": id_}}, st.integers(0, 3)
)
messages = st.tuples(st.sampled_from(Side), updates | updates | requests | answers | withdrawals)
conversations = st.lists(messages, max_size=40)


@given(conversations)
def test_any_conversation_is_taken_in(said):
    """The view of values and the one without tell the same, and never raise."""
    stage = Stage()
    for side, words in said:
        stage.say(side, json.dumps(words).encode())
    stage.end()
    assert stage.end() == ()
    told = stage.view.fold().as_json()
    assert stage.view.fold().as_json() == told


@given(conversations)
def test_the_end_of_a_turn_is_told_last(said):
    """In a message nothing follows `done`, but another turn's; a failure stands right before it."""
    stage = Stage()
    told = [list(stage.say(side, json.dumps(words).encode())) for side, words in said]
    for updates_told in [*told, list(stage.end())]:
        ends = [at for at, update in enumerate(updates_told) if update.kind is UpdateKind.DONE]
        for at in ends:
            fatal = at > 0 and updates_told[at - 1].detail.get("fatal") is True
            assert fatal == (updates_told[at].detail["end"] == End.FAILED)
        if ends:
            rest = updates_told[ends[0] :]
            assert {update.kind for update in rest} <= {UpdateKind.DONE, UpdateKind.ERROR}
            assert ends[-1] == len(updates_told) - 1


@given(conversations)
def test_places_are_true(said):
    """An update's index is the place of the thing with its id."""
    stage = Stage()
    for side, words in said:
        for update in stage.say(side, json.dumps(words).encode()):
            if update.index is None:
                continue
            item = stage.view.fold().session(update.session).messages[update.index]
            assert item.id == update.id


def test_a_view_never_raises_on_depth():
    stage = Stage()
    stage.open("2")
    deep = "[" * 900 + "]" * 900
    for key in ("messageId", "content", "_meta"):
        stage.say(Side.AGENT, message(
            f's ~ agent_message_chunk {{"{key}":{deep}}}').encode())  # fmt: skip
    assert isinstance(stage.view, View)
