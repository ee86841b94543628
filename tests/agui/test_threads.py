"""Threads: what is seeded, what stays from run to run, and that nothing raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.agui.events import EVENTS, RETIRED
from acptap.agui.inputs import Answer, RunInput
from acptap.agui.patches import copied, patch
from acptap.agui.threads import Threads
from acptap.updates import UpdateKind
from tests.agui.plays import ASKED, begin, event, lines_of, perform, take, view

# Requests

INPUTS: dict[str, tuple[object, object]] = {
    "the least": ({"threadId": "t", "runId": "r", "messages": []}, ("t", "r", [], None, False)),
    "no thread": ({"runId": "r", "messages": []}, None),
    "a number": ({"threadId": 1, "runId": "r", "messages": []}, None),
    "no run": ({"threadId": "t", "messages": []}, None),
    "no messages": ({"threadId": "t", "runId": "r"}, None),
    "no object": ([], None),
    "an array of anything": (
        {"threadId": "t", "runId": "r", "messages": [1, {"id": "u"}], "state": 0},
        ("t", "r", [{"id": "u"}], 0, True)),
    "a state of null": (
        {"threadId": "t", "runId": "r", "messages": [], "state": None},
        ("t", "r", [], None, False)),
}  # fmt: skip


@pytest.mark.parametrize(("value", "read"), INPUTS.values(), ids=INPUTS)
def test_input(value, read):
    asked = RunInput.read(value)
    said = asked and (asked.thread, asked.run, asked.messages, asked.state, asked.has_state)
    assert said == read


ANSWERS = [{"interruptId": "i", "status": "resolved", "payload": 1}, {"status": "x"}]


def test_input_answers():
    asked = RunInput.read(ASKED | {"parentRunId": "p", "resume": ANSWERS})
    assert asked is not None
    assert (asked.answers, asked.parent) == ([Answer("i", "resolved", 1)], "p")
    asked = RunInput.read(ASKED)
    assert asked is not None
    assert (asked.answers, asked.parent) == (None, None)


SEEDED = {
    "messages, without what the agent thought": (
        {"messages": [
            {"id": "u", "role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"id": "th", "role": "reasoning", "content": "hm", "encryptedValue": "e"},
            {"id": "a", "role": "assistant", "name": "bot", "encryptedValue": "e",
             "metadata": {"k": 1}, "toolCalls": [
                 {"id": "c", "function": {"name": "f", "arguments": "{}"}, "metadata": {"m": 1},
                  "encryptedValue": "x"}, {"id": "d"}, {"function": {}}]},
            {"id": "x", "role": "tool", "toolCallId": "c", "content": "no", "error": "e"},
            {"role": "user"}]},
        [{"id": "u", "role": "user", "line": 1, "content": [{"type": "text", "text": "hi"}]},
         {"id": "a", "role": "assistant", "line": 1, "content": "", "name": "bot", "toolCalls": [
             {"id": "c", "type": "function", "line": 1,
              "function": {"name": "f", "arguments": "{}"}, "metadata": {"m": 1},
              "encryptedValue": "x"},
             {"id": "d", "type": "function", "line": 1, "function": {"name": "", "arguments": ""}}],
          "metadata": {"k": 1}, "encryptedValue": "e"},
         {"id": "x", "role": "tool", "line": 1, "content": "no", "toolCallId": "c",
          "error": "e"}]),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "messages"), SEEDED.values(), ids=SEEDED)
def test_seeded(asked, messages):
    shown = view(begin(asked))
    assert [message.as_json() for message in shown.messages] == messages
    assert [thought.as_json() for thought in shown.reasoning] == [
        {"id": "th", "line": 1, "content": "hm", "encryptedValue": "e"}]  # fmt: skip
    assert [call.id for call in shown.tool_calls] == ["c", "d"]


def test_48_a_result_for_a_call_of_an_earlier_run():
    run = begin({"messages": [{"id": "a", "role": "assistant", "toolCalls": [{"id": "c"}]}]})
    perform("RS\nTCR x c = message 1 x tool_result c\nRF = done success", run=run)


def test_the_state_of_the_request_is_patched():
    run = begin({"state": {"a": 1}})
    perform('RS\nSD {"delta":[{"op":"replace","path":"/a","value":2}]} = state', run=run)
    assert view(run).state == {"a": 2}
    assert run.asked.state == {"a": 1}


def test_activities_are_not_in_requests_and_stay():
    threads = Threads(keep=True)
    perform("RS\nAS a = message 1 a activity\nRF = done success", run=begin(threads=threads))
    second = begin({"messages": [*ASKED["messages"], {"id": "v", "role": "user", "content": "x"}]},
                   threads=threads)  # fmt: skip
    perform("RS\nTMS m = message 3 m started", run=second)
    assert [message.id for message in view(second).messages] == ["u", "a", "v", "m"]


SNAPSHOTS = {
    "55 what is known stays in its place": (
        "AS a = message 1 a activity\nTMS m = message 2 m started\nTME m = message 2 m ended",
        [{"id": "n", "role": "assistant"}, {"id": "m", "role": "assistant", "content": "x"},
         {"id": "u", "role": "user", "content": ""}],
        ["u", "a", "m", "n"]),
    "activities that are stated count": (
        "AS a = message 1 a activity\nAS b = message 2 b activity",
        [{"id": "b", "role": "activity", "activityType": "t", "content": {"x": 1}}], ["b"]),
    "an activity stays, whoever has its id": (
        "AS a = message 1 a activity", [{"id": "a", "role": "user", "content": ""}], ["a"]),
    "none": ("TMS m = message 1 m started", [], []),
    "two of one id": (
        "", [{"id": "a", "role": "user", "content": "1"}, {"id": "a", "role": "user",
                                                           "content": "2"}], ["a"]),
}  # fmt: skip


@pytest.mark.parametrize(("play", "messages", "ids"), SNAPSHOTS.values(), ids=SNAPSHOTS)
def test_a_snapshot_is_a_merge(play, messages, ids):
    run = perform("RS\n" + play)
    perform(f"MS {json.dumps({'messages': messages})} = messages", run=run)
    assert [message.id for message in view(run).messages] == ids


def test_58_a_suspended_subagent_goes_on_in_the_next_run():
    threads = Threads(keep=True)
    first = """
        RS
        SAS s = subagent 0 s started
        SAF s {"outcome":{"type":"suspended"}} = subagent 0 s suspended
        SAS k = subagent 1 k started
        SAF k = subagent 1 k finished
        RF = done success"""
    second = """
        RS
        SAS s {"description":"again"} = subagent 0 s resumed
        SAF s = subagent 0 s finished
        SAS k = subagent 1 k started"""
    perform(first, run=begin(threads=threads))
    run = perform(second, run=begin(threads=threads))
    assert [agent.as_json() for agent in view(run).subagents] == [
        {"id": "s", "name": "n", "line": 3, "status": "finished", "description": "again"},
        {"id": "k", "name": "n", "line": 5, "status": "running"}]  # fmt: skip


def test_what_is_not_answered_is_dropped_when_the_next_run_starts():
    threads = Threads(keep=True)
    asking = 'RF {"outcome":{"type":"interrupt","interrupts":[{"id":"i"}]}}'
    run = perform(f"RS\n{asking} = interrupt i; done interrupted", run=begin(threads=threads))
    assert [one.id for one in view(run).pending] == ["i"]
    run = perform("RS", run=begin(threads=threads))
    assert view(run).pending == []
    assert view(run).interrupts[0].as_json() == {
        "id": "i", "line": 3, "outcome": "dropped", "answer": None, "ended": 2}  # fmt: skip


def test_metadata_is_merged_key_by_key():
    run = perform("""
        RS
        TMS m {"metadata":{"a":1,"b":1}} = message 1 m started
        TMC m x {"metadata":{"b":2}} = message 1 m content
        TME m {"metadata":{"c":3}} = message 1 m ended
        RMK r x {"metadata":{"d":4}} = reasoning 0 r started; reasoning 0 r content""")
    assert view(run).messages[1].metadata == {"a": 1, "b": 2, "c": 3}
    assert view(run).reasoning[0].metadata == {"d": 4}


def test_57_a_second_activity_snapshot_merges():
    run = perform("""
        RS
        AS a {"content":{"x":{"y":1,"z":1},"w":1}} = message 1 a activity
        AS a {"content":{"x":{"z":null,"v":2},"w":[]},"replace":false} = message 1 a activity""")
    assert view(run).messages[1].content == {"x": {"y": 1, "v": 2}, "w": []}


# What many events come to


def test_a1_chunks():
    run = perform("""
        RS
        TMK m1 Hel {"role":"assistant"} = message 1 m1 started; message 1 m1 content
        TMK {"delta":"lo"} = message 1 m1 content
        TCK t1 add {"delta":"{\\"a\\""} = message 1 m1 ended; message 2 t1-message tool_started t1;\
 message 2 t1-message tool_args t1
        TCK {"delta":":1}"} = message 2 t1-message tool_args t1
        TMK m2 = message 2 t1-message tool_ended t1; message 3 m2 started
        RF = message 3 m2 ended; done success t1""")
    assert view(run).text == "Hello"
    assert view(run).tool_calls[0].arguments == '{"a":1}'


def test_49_chunks_of_subagents_at_once():
    run = perform("""
        RS
        SAS s1 = subagent 0 s1 started
        SAS s2 = subagent 1 s2 started
        TMK m1 A @s1 = message 1 m1 started @s1; message 1 m1 content @s1
        TMK m2 B @s2 = message 2 m2 started @s2; message 2 m2 content @s2
        TMK @s1 {"delta":"a"} = message 1 m1 content @s1
        TCR x c ok @s2 = message 2 m2 ended @s2; message 3 x tool_result c @s2 # unknown-tool-call
        TMS m3 @s1 = message 1 m1 ended @s1; message 4 m3 started @s1
        TME m3 @s1 = message 4 m3 ended @s1
        TMK m1 @s1 {"delta":"!"} = message 1 m1 started @s1; message 1 m1 content @s1
        TMC m1 ? @s1 = message 1 m1 content @s1
        TME m1 @s1 = message 1 m1 ended @s1
        TMK m1 = message 1 m1 started @s1
        SAF s1 = subagent 0 s1 finished
        SAF s2 = subagent 1 s2 finished
        RF = message 1 m1 ended @s1; done success""")
    assert str(view(run).messages[1].text) == "Aa!?"


def test_a_result_closes_the_stream_of_its_call():
    perform("""
        RS
        SAS s = subagent 0 s started
        TCK c f @s = message 1 c-message tool_started c @s
        TCR x c = message 1 c-message tool_ended c @s; message 2 x tool_result c""")


def test_18_half_a_character_in_a_delta():
    run = begin()
    for words in ("RS", "TMS m"):
        take(run, words)
    for half in ("\ud83d", "\udf88"):
        run.event(event("TMC m") | {"delta": half})
    assert view(run).text == "\ud83d\udf88"


def test_45_parallel_calls():
    run = perform("""
        RS
        TCS a = message 1 a-message tool_started a
        TCS b = message 2 b-message tool_started b
        TCA b 1 = message 2 b-message tool_args b
        TCA a 2 = message 1 a-message tool_args a
        TCA a 3 = message 1 a-message tool_args a
        TCE a = message 1 a-message tool_ended a
        TCE b = message 2 b-message tool_ended b
        RF = done success a b""")
    assert [call.arguments for call in view(run).tool_calls] == ["23", "1"]


def test_a9_a_snapshot_without_a_snapshot():
    run = perform("""
        RS
        SS {"snapshot":{"a":1}} = state
        SD {"delta":[{"op":"add","path":"/b","value":2}]} = state
        SS = error decode malformed-event # malformed-event
        SD {"delta":[{"op":"add","path":"/c","value":3}]} = state""")
    assert view(run).state == {"a": 1, "b": 2, "c": 3}
    perform('SS {"snapshot":null} = state', run=run)
    assert view(run).state is None


STATES = {
    "a run": ("RS\nRF", "idle", True),
    "running": ("RS", "running", True),
    "asked": ('RS\nRF {"outcome":{"type":"interrupt","interrupts":[{"id":"i"}]}}',
              "requires_action", True),
    "cancelled": ('RS\nRF {"outcome":{"type":"cancelled"}}', "idle", True),
    "failed": ("RS\nRE", "idle", True),
    "A4 lost": ("RS\nend complete", "running", False),
    "lost before it began": ("end reset", "idle", True),
    "garbage, and the stream goes on": ("RS\njson 1\nRF", "idle", True),
    "garbage, and it fails": ("RS\njson 1\nRE", "idle", True),
    "garbage, and it asks": ('json 1\nRS\nRF {"outcome":{"type":"interrupt"}}', "running", True),
    "garbage, and another event": ("RS\njson 1\nCUSTOM x", "running", False),
    "interrupted for nothing": ('RS\nRF {"outcome":{"type":"interrupt"}}\nend complete',
                                "running", False),
    "refused": ("http 500\nRS", "idle", True),
}  # fmt: skip


@pytest.mark.parametrize(("play", "state", "confirmed"), STATES.values(), ids=STATES)
def test_states(play, state, confirmed):
    run = begin()
    for words, _, _ in lines_of(play):
        take(run, words)
    shown = view(run)
    assert (shown.session_state.value, shown.confirmed) == (state, confirmed)


def test_what_is_shown_of_ends_and_errors():
    run = begin()
    for words, _, _ in lines_of('RS\nRE {"message":"boom","code":"E"}'):
        take(run, words)
    (error,) = view(run).errors
    assert error.as_json() == {
        "line": 1, "kind": "run", "message": "boom", "code": "E", "rule": None, "fatal": True,
    }  # fmt: skip
    assert [done.as_json() for done in view(run).done] == [
        {"line": 1, "began": 1, "run": "r", "end": "failed", "result": None, "pending": [],
         "aborted": False, "usage": None}]  # fmt: skip


def test_two_runs_of_a_thread_at_once():
    """The fast way for deltas is no shortcut past what the other run has done."""
    threads = Threads(keep=True)
    one = begin(threads=threads)
    perform("RS\nTMS m = message 1 m started\nTMC m a = message 1 m content", run=one)
    two = begin(threads=threads)
    perform("RS\nAS a = message 1 a activity", run=two)
    perform("TMC m b = message 2 m content # message-dropped", run=one)
    perform("TMC m c = message 2 m content", run=one)
    assert view(one).text == "bc"


def test_threads_in_order_of_appearance_and_forgotten():
    threads = Threads(keep=True)
    for id_ in "abca":
        begin({"threadId": id_}, threads=threads)
    assert [shown.id for shown in threads.fold()] == ["a", "b", "c"]
    few = Threads()
    for number in range(1001):
        begin({"threadId": str(number)}, threads=few)
    assert next(shown.id for shown in few.fold()) == "1"


def test_without_values_little_is_kept():
    threads = Threads()
    run = begin(threads=threads)
    perform('RS\nTMS m = message 1 m started\nRF {"outcome":{"type":"interrupt","interrupts":'
            '[{"id":"i"}]}} = error protocol left-open; interrupt i; done interrupted # left-open',
            run=run)  # fmt: skip
    shown = view(begin(threads=threads))
    assert (shown.errors, shown.done, [one.fields for one in shown.interrupts]) == ([], [], [{}])


# Patches

PATCHES: dict[str, tuple[object, list[object], object]] = {
    "52 on null": (None, [{"op": "add", "path": "/a", "value": 1}], None),
    "54 the root": ({"a": 1}, [{"op": "replace", "path": "", "value": [1]}], [1]),
    "53 move": ({"a/b": 1, "c": []}, [{"op": "move", "from": "/a~1b", "path": "/c/-"}],
                {"c": [1]}),
    "tilde": ({"a~b": 1}, [{"op": "remove", "path": "/a~0b"}], {}),
    "copy and test": ({"a": {"b": 1}}, [{"op": "copy", "from": "/a", "path": "/c"},
                                        {"op": "test", "path": "/c/b", "value": 1.0}],
                      {"a": {"b": 1}, "c": {"b": 1}}),
    "true is not 1": ({"a": True}, [{"op": "test", "path": "/a", "value": 1}], None),
    "letters are no array": ({"a": "xyz"}, [{"op": "copy", "from": "/a/0", "path": "/b"}], None),
    "no operations": ({}, [], {}),
    "no objects": ({}, [1, "x", None], None),
    "no value": ({}, [{"op": "add", "path": "/a"}], None),
    "no from": ({"a": 1}, [{"op": "move", "path": "/b"}], None),
    "into itself": ({"a": {}}, [{"op": "move", "from": "/a", "path": "/a/b"}], None),
    "the extension of a library": ({"a": "x"}, [{"op": "append", "path": "/a", "value": "y"}],
                                   None),
}  # fmt: skip


@pytest.mark.parametrize(("before", "operations", "after"), PATCHES.values(), ids=PATCHES)
def test_patch(before, operations, after):
    spelled = json.dumps(before)
    patched = patch(before, operations)
    assert patched.failed is (after is None)
    assert json.dumps(patched.value) == (spelled if after is None else json.dumps(after))


def test_what_is_nested_too_deeply_is_not_copied():
    deep = json.loads("[" * 900 + "]" * 900)
    assert copied(deep) is deep


# Whatever is said

IDS = st.sampled_from(["a", "b", "u", "c"])
NAMES = ("messageId", "toolCallId", "parentMessageId", "entityId", "stepName", "threadId", "runId",
         "parentSubagentRunId", "toolCallName", "activityType")  # fmt: skip
MEMBERS = dict.fromkeys(NAMES, IDS) | {
    "subagentRunId": st.sampled_from(["a", "b", None]),
    "delta": st.sampled_from(["x", "", [], [{"op": "add", "path": "/a", "value": {}}], None]),
    "patch": st.sampled_from([[], [{"op": "add", "path": "/a", "value": 1}], [{"op": "test"}]]),
    "snapshot": st.sampled_from([None, {}, []]),
    "content": st.sampled_from(["x", {}, [{}], None]),
    "messages": st.sampled_from(
        [[], [{"id": "a", "role": "reasoning"}, {"id": "b", "role": "activity", "content": {}}],
         [{"id": "c", "role": "assistant", "toolCalls": [{"id": "c"}]}, 1]]),
    "outcome": st.sampled_from(
        [None, {"type": "success"}, {"type": "interrupt", "interrupts": [{"id": "i"}]},
         {"type": "interrupt"}, {"type": "suspended"}, {"type": 1}]),
    "subtype": st.sampled_from(["message", "tool-call"]),
    "role": st.sampled_from(["user", "reasoning", "tool"]),
    "replace": st.booleans(),
    "timestamp": st.sampled_from([1, 1.5, None]),
    "metadata": st.sampled_from([{"a": 1}, None]),
}  # fmt: skip
KEYS = st.sampled_from(["type", "a", "messageId"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner),
)


@st.composite
def events(draw):
    type_ = draw(st.sampled_from([*EVENTS, *RETIRED, "OTHER"]))
    said = draw(st.fixed_dictionaries({}, optional=MEMBERS))
    required = EVENTS[type_].required if type_ in EVENTS else {}
    said |= {name: draw(MEMBERS[name]) for name in required if name in MEMBERS}
    return {"type": type_, "message": "m", "name": "n", "value": 0, "event": 0,
            "encryptedValue": "e"} | said  # fmt: skip


CUES = st.one_of(
    events(), events(), events(), events(), JSON, st.sampled_from(["garbage", "end complete",
                                                                   "end reset", "end client"]),
)  # fmt: skip


@given(st.lists(CUES, max_size=30), st.booleans(), st.sampled_from([200, 200, 200, 500, 307]))
def test_nothing_raises_and_every_run_is_done_once_and_last(cues, keep, status):
    threads = Threads(keep=keep)
    run = begin(threads=threads, keep=keep)
    told = list(run.response(status, "text/event-stream").updates)
    runs = 1
    for cue in [*cues, "end complete", "end complete"]:
        if isinstance(cue, str) and cue.startswith("end"):
            meaning = run.end(cue.split()[1])
        else:
            meaning = run.garbage("agui/not-json") if cue == "garbage" else run.event(cue)
        runs += sum(note.rule == "agui/second-run" for note in meaning.notes)
        told += meaning.updates
        json.dumps([update.as_json("t") for update in meaning.updates])
        json.dumps([note.as_json() for note in meaning.notes])
    for number, update in enumerate(told):
        if update.kind is UpdateKind.DONE and update.detail["end"] == "failed":
            assert told[number - 1].kind is UpdateKind.ERROR
            assert told[number - 1].detail["fatal"]
    done = [update for update in told if update.kind is UpdateKind.DONE]
    assert len(done) == (0 if status == 307 else runs)
    assert not told or told[-1].kind is UpdateKind.DONE
    assert {update.session for update in told} <= {"t"}
    json.dumps([shown.as_json() for shown in threads.fold()])


@given(st.lists(CUES, max_size=20))
def test_values_are_no_part_of_what_is_told(cues):
    """The tap keeps nothing, `fold` everything: both tell the same."""
    runs = [begin(keep=keep) for keep in (True, False)]
    for cue in cues:
        if not isinstance(cue, str):
            kept, lean = (run.event(json.loads(json.dumps(cue))) for run in runs)
            assert kept == lean
