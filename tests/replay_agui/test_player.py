"""Which recorded run a live request gets, how it is told, and what is said of it."""

import json

import pytest

from acptap.agui.proto import FrameSplitter, decode
from acptap.errors import DamagedCassette
from acptap.redact import Redactor
from acptap.replay.matching import Level
from acptap.replay.report import Miss
from acptap.tap.bodies import text_of
from tests.replay_agui.plays import BEGAN, NOW, Play
from tests.replay_agui.tapes import (
    BINARY,
    Tape,
    asked,
    assistant,
    block,
    call,
    finished,
    interrupted,
    spoken,
    started,
    text,
    tool,
    user,
)
from tests.replay_agui.test_renaming import FRAMES


def two():
    """The same prompt twice, in two threads."""
    return Tape().talk("a", "1", "hi", "one").talk("b", "2", "hi", "two")


def said(played):
    """What an agent says in a run, or why it says nothing."""
    if isinstance(played, Miss):
        return played.what
    events = [json.loads(line[6:]) for line in played.split(b"\n") if line]
    return "".join(event.get("delta", "") for event in events)


def test_ids_are_the_live_ones():
    play = Play(Tape().talk("t1", "r1", "hi", "Hel", "lo"))
    played = play.ask("hi", thread="T", run="R")
    assert played == b"".join(map(block, spoken("T", "R", "Hel", "lo")))
    assert play.report.clean
    assert play.report.lines() == []
    assert play.player.are_played


def test_verbatim():
    play = Play(Tape().talk("t1", "r1", "hi", "Hel", "lo"), verbatim=True)
    played = play.ask("hi", thread="T", run="R")
    assert played == b"".join(map(block, spoken("t1", "r1", "Hel", "lo")))


def test_the_same_prompt_twice_gets_the_first_and_the_second_answer():
    for threads in ("xy", "xx", "ab", "ba", "bb"):
        play = Play(two())
        assert [said(play.ask("hi", thread=thread)) for thread in threads] == ["one", "two"]
        assert play.report.lines() == []


def test_when_all_was_played_it_begins_anew():
    play = Play(two())
    assert [said(play.ask("hi", thread=thread)) for thread in "wxyz"] == ["one", "two"] * 2
    assert play.report.noted == ["all runs were played, and it began anew"]
    assert [said(play.ask("hi", thread=thread)) for thread in "st"] == ["one", "two"]
    assert play.report.noted == ["all runs were played, and it began anew, 2 times"]
    assert play.report.clean


def test_once():
    play = Play(Tape().talk("a", "1", "hi", "one"), once=True)
    assert said(play.ask("hi")) == "one"
    what = "run 1 of thread x, with a user's message, is not in the cassette once more"
    assert play.ask("hi", thread="x") == Miss(f"{what}: all was played", "run 1 of thread a", 3)


def test_played_again_to_the_same_thread_the_server_has_other_ids():
    events = [
        started(), *text("ok"), {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"},
        {"type": "MESSAGES_SNAPSHOT", "messages": [user("hi"), assistant("ok")]},
        interrupted("i"),
    ]  # fmt: skip
    play = Play(Tape().run(asked("hi"), events))
    assert play.ask("hi", thread="x", run="1").count(b"~") == 0
    again = play.ask(user("hi", "U"), thread="x", run="2")
    assert again.count(b'"messageId":"a1~2"') == 3
    for part in (b'"toolCallId":"c~2"', b'"id":"i~2"', b'"id":"U"', b'"id":"a1~2"'):
        assert part in again
    assert b'"a1~3"' in play.ask("hi", thread="x")
    assert b"~" not in play.ask("hi", thread="y")


HISTORY = [user("hi", "u1"), assistant("one", "a1"), user("and?", "u2")]


def turns():
    """A thread of two runs, and another one between them."""
    tape = Tape().talk("a", "1", "hi", "one").talk("b", "2", "hi", "other")
    return tape.run(asked(*HISTORY, thread="a", run="3"), spoken("a", "3", "two", id_="a2"))


def test_threads_at_the_same_time():
    for order in ("xy", "yx"):
        play = Play(turns())
        first, second = order
        assert said(play.ask("hi", thread=first)) == "one"
        assert said(play.ask("hi", thread=second)) == "other"
        assert said(play.ask(*HISTORY, thread=first)) == "two"
        assert play.report.lines() == []


def test_a_client_with_other_message_ids():
    events = [
        started(), {"type": "MESSAGES_SNAPSHOT", "messages": HISTORY},
        {"type": "STATE_SNAPSHOT", "snapshot": {"messages": HISTORY}}, finished(),
    ]  # fmt: skip
    play = Play(Tape().run(asked(*HISTORY), events))
    live = [user("hi", "x"), assistant("one", "y"), user("and?", "z")]
    played = play.ask(*live)
    assert block({"type": "MESSAGES_SNAPSHOT", "messages": live}) in played
    assert block({"type": "STATE_SNAPSHOT", "snapshot": {"messages": live}}) in played


def test_messages_without_ids():
    play = Play(Tape().talk("t", "r", "hi", "ok"))
    assert said(play.ask({"role": "user", "content": "hi"})) == "ok"


def test_a_run_that_branches_off():
    tape = Tape().talk("a", "1", "hi", "one")
    tape.run(asked("b", thread="a", run="2", parentRunId="1"), [started("a", "2", parentRunId="1")])
    play = Play(tape)
    play.ask("hi", thread="A", run="X")
    assert play.ask("b", thread="A", run="Y") == block(started("A", "Y", parentRunId="X"))


def test_another_text_at_the_same_place():
    play = Play(turns())
    assert said(play.ask("ho", thread="x")) == "one"
    other = [*HISTORY[:2], user("what?", "u2")]
    assert said(play.ask(*other, thread="x")) == "two"
    assert [str(differing) for differing in play.report.differing] == [
        'line 3: run 1 of thread a differs, /messages/0/content: recorded "hi", live "ho"',
        'line 21: run 2 of thread a differs, /messages/2/content: recorded "and?", live "what?"',
    ]
    assert play.report.matched


def test_what_is_asked_alike_goes_before_what_stands_there():
    tape = Tape().talk("a", "1", "one", "1").talk("b", "2", "two", "2")
    play = Play(tape)
    assert said(play.ask("two", thread="x")) == "2"
    assert said(play.ask("three", thread="y")) == "1"
    assert said(play.ask("one", thread="z")) == "1"  # anew


def test_other_news_at_the_same_place():
    play = Play(turns())
    play.ask("hi", thread="x")
    miss = play.ask(user("hi"), assistant("one"), thread="x")
    assert isinstance(miss, Miss)
    assert miss.as_json() == {
        "what": "run 2 of thread x, with no new message, is not in the cassette",
        "nearest": "run 2 of thread a", "line": 21,
        "difference": {"path": "/messages/2", "recorded": {"role": "user", "content": "and?"}},
    }  # fmt: skip
    assert play.report.unmatched == [miss]
    assert not play.report.clean


def test_one_turn_too_many():
    play = Play(Tape().talk("a", "1", "hi", "one"))
    play.ask("hi", thread="x")
    miss = play.ask(*HISTORY, thread="x")
    assert str(miss) == (
        "run 2 of thread x, with a user's message, is not in the cassette; nearest is run 1 of "
        'thread a at line 3; /messages/1: recorded nothing, live {"role":"assistant",'
        '"content":"one"}'
    )
    assert said(play.ask("hi", thread="y")) == "one"
    assert play.report.unplayed == []


def test_never_played():
    play = Play(two())
    play.ask("hi")
    assert play.report.unplayed == list(range(11, 20))
    assert not play.player.are_played


def test_another_target():
    tape = Tape().talk("a", "1", "hi", "one", path="/agent/chat?x=1&y=2")
    for target in ("/agent/chat?y=2&x=1", "/chat?x=1&y=2"):
        assert said(Play(tape).ask("hi", target=target)) == "one"
    play = Play(tape)
    for target in ("/agent/chat", "/other?x=1&y=2"):
        miss = play.ask("hi", target=target)
        assert str(miss).endswith(f"is not in the cassette: it holds no run at {target}")


def test_the_same_prompt_at_two_targets():
    tape = Tape().talk("a", "1", "hi", "one", path="/one").talk("b", "2", "hi", "two", path="/two")
    play = Play(tape)
    assert said(play.ask("hi", target="/two")) == "two"
    assert said(play.ask("hi", target="/one")) == "one"


# What a human or the application answers


def approval(**answer):
    tape = Tape().run(asked("go"), [started(), interrupted("i1", "i2")])
    entries = [
        {"interruptId": "i1", "status": "resolved", "payload": {"approved": True}} | answer,
        {"interruptId": "i2", "status": "cancelled"},
    ]
    return tape.run(asked("go", run="r2", resume=entries), spoken("t", "r2", "done"))


def resume(*answers):
    return [{"interruptId": id_, "status": status} | more for id_, status, more in answers]


GIVEN = ("i1", "resolved", {"payload": {"approved": True}})
CANCELLED: tuple[str, str, dict[str, object]] = ("i2", "cancelled", {})
ANSWERS = {
    "as recorded": ([GIVEN, CANCELLED], "done"),
    "in another order": ([CANCELLED, GIVEN], "done"),
    "another payload": (
        [("i1", "resolved", {"payload": {"approved": False}}), CANCELLED],
        "/resume/0/payload/approved",
    ),
    "another status": ([("i1", "cancelled", GIVEN[2]), CANCELLED], "/resume/0/status"),
    "one of two": ([GIVEN], "/resume/1"),
    "an interrupt nobody knows": ([("i9", *GIVEN[1:]), CANCELLED], "/resume/0/interruptId"),
    "none": ([], "/resume"),
}


@pytest.mark.parametrize(("answers", "what"), ANSWERS.values(), ids=ANSWERS)
def test_answers_to_interrupts(answers, what):
    play = Play(approval())
    play.ask("go")
    played = play.ask("go", resume=resume(*answers))
    if isinstance(played, Miss):
        assert played.difference is not None
        assert (played.line, played.difference.path) == (9, what)
    else:
        assert said(played) == what


def test_answers_to_interrupts_that_were_served_again():
    play = Play(approval())
    for suffix in ("", "~2"):
        assert f'"id":"i1{suffix}"'.encode() in play.ask("go", thread="x")
        given = [(id_ + suffix, *rest) for id_, *rest in (GIVEN, CANCELLED)]
        assert said(play.ask("go", thread="x", resume=resume(*given))) == "done"
    assert play.report.clean


def frontend(answer):
    made = assistant("", "a1", call("c1", "colour"))
    return [user("go"), made, answer]


def test_answers_of_tools():
    tape = Tape().run(asked("go"), [started(), finished()])
    tape.run(asked(*frontend(tool("blue", "c1"))), spoken("t", "r", "blue!"))
    for answer, differing in ((tool("blue", "c1"), 0), (tool("red", "c1"), 1)):
        play = Play(tape)
        play.ask("go")
        assert said(play.ask(*frontend(answer))) == "blue!"
        assert len(play.report.differing) == differing
    play = Play(tape)
    play.ask("go")
    assert "with a tool's error" in said(play.ask(*frontend(tool("blue", "c1", error="no"))))


# Levels


def rich(**more):
    known = {"tools": [{"name": "f"}], "state": {"n": 1}, "context": [], "forwardedProps": {"a": 1}}
    return asked("hi", **(known | more))


LEVELS = {
    # the request; what is played at each level; the first difference that is reported
    "equal": (rich(), "mpx", None),
    "another text": (rich(messages=[user("ho")]), "m", "/messages/0/content"),
    "another tool": (rich(tools=[{"name": "g"}]), "m", "/tools/0/name"),
    "another state": (rich(state={"n": 2}), "m", "/state/n"),
    "other properties": (rich(forwardedProps={"a": 2}), "mp", "/forwardedProps/a"),
    "another member": (rich(protocolVersion="1.0"), "mp", None),
}
NAMES = {"m": Level.METHOD, "p": Level.PARAMS, "x": Level.EXACT}


@pytest.mark.parametrize(("body", "levels", "path"), LEVELS.values(), ids=LEVELS)
def test_levels(body, levels, path):
    tape = Tape().run(rich(), spoken("t", "r", "ok"))
    for name, level in NAMES.items():
        play = Play(tape, level)
        played = play.ask(body)
        assert isinstance(played, Miss) is (name not in levels)
        if isinstance(played, Miss):
            assert played.difference is not None
            assert path is None or played.difference.path == path
        else:
            assert [one.difference.path for one in play.report.differing] == [path] * bool(path)


@pytest.mark.parametrize("level", Level)
def test_what_is_ignored(level):
    tape = Tape().run(rich(), spoken("t", "r", "ok"))
    play = Play(tape, level, ["/messages/0/content", "/state/n", "/tools"])
    assert said(play.ask(rich(messages=[user("ho")], state={"n": 2}, tools=[]))) == "ok"
    assert play.report.lines() == []


# Secrets


def test_what_was_redacted_may_be_anything():
    secret = "my key is sk-ant-REDACTED"
    tape = Tape(Redactor()).talk("a", "1", "hello", "one").talk("b", "2", secret, "two")
    assert b"redacted:1" in b"".join(tape.tape)
    for level in Level:
        play = Play(tape, level)
        assert said(play.ask("my key is another one")) == "two"
        assert play.report.lines() == ["never played: lines 2-10"]
        assert isinstance(Play(tape, Level.PARAMS).ask("your key is another one"), Miss)


# Time


def test_interrupts_expire_later():
    expiring = interrupted("i1", "i2", expiresAt="2026-01-01T01:00:00Z")
    tape = Tape().run(asked("hi"), [started(), expiring])
    play = Play(tape, shift_expiry=True)
    later = interrupted("i1", "i2", expiresAt="2026-06-01T01:00:00Z")
    assert play.ask("hi", now=NOW).endswith(block(later))
    assert play.warnings == []
    play = Play(tape)
    assert play.ask("hi").endswith(block(expiring))
    warning = (
        "an interrupt of run 1 of thread t expired at 2026-01-01T01:00:00Z; clients may refuse to "
        "answer it (--shift-expiry has it expire later)"
    )
    assert play.warnings == [warning] * 2
    assert play.report.noted == [f"{warning}, 2 times"]
    play = Play(tape)
    play.ask("hi", now=BEGAN)
    assert play.warnings == []


def test_a_client_that_stayed():
    play = Play(Tape().run(asked("hi"), [started()], "client"))
    play.ask("hi")
    play.player.stayed(1)
    assert play.report.noted == [
        "the client stayed to the end of run 1 of thread t, which the recorded one had left"
    ]
    assert play.report.clean


# Binary


def test_binary():
    tape = Tape().run(asked("hi", thread="thread-1", run="run-1"), FRAMES.values(), media=BINARY)
    events = list(FRAMES.values())
    served = Play(tape).ask("hi", thread="thread-1", run="run-1")
    assert served == b"".join(events)
    longer = Play(tape).ask("hi", thread="the thread", run="run-1")
    live = [decode(text_of(frame)) for frame in FrameSplitter().feed(longer)]
    before = [decode(frame) for frame in events]
    assert live != before
    assert [event | {"threadId": "", "input": ""} for event in live] == [
        event | {"threadId": "", "input": ""} for event in before
    ]


def test_a_file_that_is_changed_meanwhile():
    play = Play(two())
    for text_ in (b"{}", b"no json"):
        play.texts = {3: text_}
        with pytest.raises(DamagedCassette, match="changed while it was being read"):
            play.ask("hi")
