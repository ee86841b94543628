"""Runs of real agents: what a view has to react to, line by line, and what it shows at the end."""

import json
from itertools import groupby
from pathlib import Path

import pytest

from acptap.agui.threads import Threads
from tests.agui.plays import begin, brief, view

RECORDED = {
    row["name"]: row
    for row in map(
        json.loads, (Path(__file__).parent / "recorded.jsonl").read_text("utf-8").splitlines()
    )
}

# Updates in order; a number in front counts events that have the same ones
UPDATES = {
    "pydantic_tool": """
        -
        message 1 M1 started
        message 1 M1 ended
        message 1 M1 tool_started call_get_weather_1
        3 message 1 M1 tool_args call_get_weather_1
        message 1 M1 tool_ended call_get_weather_1
        message 2 M2 tool_result call_get_weather_1
        message 3 M3 started
        3 message 3 M3 content
        message 3 M3 ended
        done success""",
    "pydantic_state": """
        -
        message 1 M1 started
        message 1 M1 ended
        message 1 M1 tool_started call_make_plan_1
        2 message 1 M1 tool_args call_make_plan_1
        message 1 M1 tool_ended call_make_plan_1
        message 2 M2 tool_result call_make_plan_1
        3 state
        -
        message 3 M3 started
        2 message 3 M3 content
        message 3 M3 ended
        done success""",
    "pydantic_approval": """
        -
        message 1 M1 started
        message 1 M1 ended
        message 1 M1 tool_started call_delete_file_1
        2 message 1 M1 tool_args call_delete_file_1
        message 1 M1 tool_ended call_delete_file_1
        interrupt int-call_delete_file_1 tool_call call_delete_file_1; done interrupted""",
    "pydantic_approval_resume": """
        -
        message 2 M1 tool_result call_delete_file_1
        message 3 M2 started
        2 message 3 M2 content
        message 3 M2 ended
        done success""",
    "langgraph_chat_noraw": """
        2 -
        state
        2 -
        message 1 M1 started
        11 message 1 M1 content
        message 1 M1 ended
        state
        -
        state
        messages
        done success""",
    "ts_encoder_sse": """
        -
        subagent 0 sa-1 started
        reasoning 0 rs-1 started @sa-1
        reasoning 1 rm-1 started @sa-1
        reasoning 1 rm-1 content @sa-1
        reasoning 1 rm-1 ended @sa-1
        reasoning 1 rm-1 encrypted @sa-1
        reasoning 0 rs-1 ended @sa-1
        2 message 1 act-1 activity
        message 2 m-1 started @sa-1; message 2 m-1 content @sa-1
        message 2 m-1 content @sa-1
        subagent 0 sa-1 finished
        2 state
        message 3 tc-1-message tool_started tc-1
        message 3 tc-1-message tool_args tc-1
        message 3 tc-1-message tool_ended tc-1
        -
        message 2 m-1 ended @sa-1; done success tc-1""",
}

TEXTS = {
    "pydantic_tool": "It is 7°C in Oslo.",
    "pydantic_state": "Plan ready.",
    "pydantic_approval": "",
    "pydantic_approval_resume": "Deleted.",
    "langgraph_chat_noraw": "Booking your table for two now.",
    "ts_encoder_sse": "Three sources.",
}

STATES = {
    "pydantic_tool": ["running", "idle end_turn"],
    "pydantic_state": ["running", "idle end_turn"],
    "pydantic_approval": ["running", "requires_action"],
    "pydantic_approval_resume": ["running", "idle end_turn"],
    "langgraph_chat_noraw": ["running", "idle end_turn"],
    "ts_encoder_sse": ["running", "idle end_turn"],
}


def played(name, keep=True, threads=None):
    row = RECORDED[name]
    run = begin(row["asked"], keep=keep, threads=threads)
    meanings = [run.event(value) for value in row["events"]]
    assert run.end("complete").updates == ()
    assert [note for meaning in meanings for note in meaning.notes] == []
    return run, meanings


def told(meanings, names):
    """The updates of events, those of several that are alike in one line; with short names."""
    lines = ["; ".join(map(brief, meaning.updates)) or "-" for meaning in meanings]
    for name, short in names.items():
        lines = [line.replace(name, short) for line in lines]
    runs = [(line, len(list(same))) for line, same in groupby(lines)]
    return [line if count == 1 else f"{count} {line}" for line, count in runs]


@pytest.mark.parametrize("keep", [True, False], ids=["kept", "not kept"])
@pytest.mark.parametrize(("name", "lines"), UPDATES.items(), ids=UPDATES)
def test_updates(name, lines, keep):
    _, meanings = played(name, keep)
    long = [
        event["messageId"] for event in RECORDED[name]["events"]
        if len(event.get("messageId", "")) > 20
    ]  # fmt: skip
    names = {id_: f"M{number}" for number, id_ in enumerate(dict.fromkeys(long), 1)}
    assert told(meanings, names) == [line.strip() for line in lines.strip().splitlines()]


@pytest.mark.parametrize(("name", "states"), STATES.items(), ids=STATES)
def test_states(name, states):
    _, meanings = played(name)
    steps = [step for meaning in meanings for step in meaning.transitions]
    assert [f"{s.after} {s.reason or ''}".strip() for s in steps] == states
    assert {(s.session, s.basis.value) for s in steps} == {(RECORDED[name]["asked"]["threadId"],
                                                           "reported")}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), TEXTS.items(), ids=TEXTS)
def test_what_is_shown(name, text):
    run, _ = played(name)
    assert view(run).text == text
    json.dumps(view(run).as_json())


def test_the_state_of_an_application():
    run, _ = played("pydantic_state")
    assert view(run).state == {"goal": "tea", "steps": [{"t": "boil", "done": True}], "a/b": None}


def test_the_resume_of_a_run_in_one_recording():
    threads = Threads(keep=True)
    played("pydantic_approval", threads=threads)
    run, _ = played("pydantic_approval_resume", threads=threads)
    assert run.input().notes == ()
    (shown,) = threads.fold()
    (interrupt,) = shown.interrupts
    assert (interrupt.outcome, interrupt.answer) == ("resolved", {"approved": True})
    assert shown.pending == []


def test_what_comes_of_everything():
    run, _ = played("ts_encoder_sse")
    shown = view(run)
    assert [message.as_json() for message in shown.messages] == [
        {"id": "u1", "role": "user", "line": 1, "content": "x"},
        {"id": "act-1", "role": "activity", "line": 1, "activityType": "web_search",
         "content": {"q": "tea", "found": 3}},
        {"id": "m-1", "role": "assistant", "line": 1, "content": "Three sources.",
         "subagentRunId": "sa-1"},
        {"id": "tc-1-message", "role": "assistant", "line": 1, "content": "", "toolCalls": [
            {"id": "tc-1", "type": "function", "line": 1,
             "function": {"name": "confirm", "arguments": '{"a":1}'},
             "metadata": {"usage": {"out": 3}}}]},
    ]  # fmt: skip
    assert [thought.as_json() for thought in shown.reasoning] == [
        {"id": "rs-1", "line": 1, "content": "", "subagentRunId": "sa-1"},
        {"id": "rm-1", "line": 1, "content": "hmm", "subagentRunId": "sa-1",
         "encryptedValue": "b64=="},
    ]  # fmt: skip
    assert [agent.as_json() for agent in shown.subagents] == [
        {"id": "sa-1", "name": "researcher", "line": 1, "status": "finished",
         "parentToolCallId": "tc-0", "result": {"n": 3}},
    ]  # fmt: skip
    (done,) = shown.done
    assert (done.run, done.pending) == ("run-e", ["tc-1"])
