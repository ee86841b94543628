"""When two requests ask for the same, and what their first difference is."""

import pytest

from acptap.replay.agui.asking import Comparison, Kind
from tests.replay_agui.plays import reading
from tests.replay_agui.tapes import asked, assistant, call, tool, user

PENDING = ("i1", "i2")


def resume(*answers, **more):
    entries = [
        {"interruptId": id_, "status": status, "payload": payload}
        for id_, status, payload in answers
    ]
    return asked("hi", resume=entries, **more)


YES = {"approved": True}
CALLED = [user("go"), assistant("", "a1", call("c1"))]

SAME = {
    "ids of threads, runs and messages": (
        asked(user("hi", "x")), asked(user("hi", "y"), thread="u", run="s", parentRunId="q"),
    ),
    "members nobody asks for": (
        asked("hi"),
        asked("hi", state={"a": 1}, tools=[{}], context=[1], forwardedProps={"a": 1}, x=1),
    ),
    "members of a message": (
        asked(user("hi")),
        asked(user("hi") | {"name": "Ada", "metadata": {"a": 1}, "encryptedValue": "x"}),
    ),
    "a text, and one part with it": (
        asked(user("hi")),
        asked(user([{"type": "text", "text": "hi", "id": "p1", "metadata": {}}])),
    ),
    "activities are not sent to agents": (
        asked("hi"), asked("hi", {"id": "x", "role": "activity", "content": {"a": 1}}),
    ),
    "no text beside calls of tools, spelled three ways": (
        asked(assistant("", "a1", call("c1"))), asked(assistant(None, "a1", call("c1"))),
    ),
    "ids of calls": (
        asked(*CALLED, tool("ok", "c1")),
        asked(user("go"), assistant("", "b", call("d9")), tool("ok", "d9", "z")),
    ),
    "spaces in arguments, and their order": (
        asked(assistant("", "a", call("c", "f", '{"a":1,"b":[2]}'))),
        asked(assistant("", "a", call("c", "f", '{ "b": [2.0], "a": 1 }'))),
    ),
    "calls in another order": (
        asked(assistant("", "a", call("c1", "f"), call("c2", "g")), tool("1", "c2")),
        asked(assistant("", "a", call("x2", "g"), call("x1", "f")), tool("1", "x2")),
    ),
    "spaces in the answer of a tool": (
        asked(*CALLED, tool('{"a":1}', "c1")), asked(*CALLED, tool('{"a": 1}', "c1")),
    ),
    "the same in a part": (
        asked(*CALLED, tool('{"a":1}', "c1")),
        asked(*CALLED, tool([{"type": "text", "text": '{"a": 1}'}], "c1")),
    ),
    "answers to interrupts in another order": (
        resume(("i1", "resolved", YES), ("i2", "cancelled", None)),
        resume(("i2", "cancelled", None), ("i1", "resolved", YES)),
    ),
    "no answers": (asked("hi"), asked("hi", resume=[])),
    "no message": (asked(), asked(run="s")),
    "null, and nothing": (asked(tool("x", "c", error=None)), asked(tool("x", "c"))),
}  # fmt: skip

OTHER = {
    "a text": (asked("hi"), asked("ho"), "/messages/0/content"),
    "a role": (
        asked("hi"), asked({"id": "x", "role": "system", "content": "hi"}), "/messages/0/role",
    ),
    "one message more": (asked("hi"), asked("hi", "there"), "/messages/1"),
    "a part": (
        asked(user([{"type": "image", "source": {"type": "url", "value": "a"}}])),
        asked(user([{"type": "image", "source": {"type": "url", "value": "b"}}])),
        "/messages/0/content/0/source/value",
    ),
    "parts that are none": (asked(user(["a"])), asked(user(["b"])), "/messages/0/content/0"),
    "content that is none": (asked(user(7)), asked(user(8)), "/messages/0/content"),
    "the name of a tool": (
        asked(assistant("", "a", call("c", "f"))), asked(assistant("", "a", call("c", "g"))),
        "/messages/0/toolCalls/0/function/name",
    ),
    "an argument": (
        asked(assistant("", "a", call("c", "f", '{"a":1}'))),
        asked(assistant("", "a", call("c", "f", '{"a":2}'))),
        "/messages/0/toolCalls/0/function/arguments/a",
    ),
    "arguments that are no JSON": (
        asked(assistant("", "a", call("c", "f", '{"a'))),
        asked(assistant("", "a", call("c", "f", '{"b'))),
        "/messages/0/toolCalls/0/function/arguments",
    ),
    "arguments that are no text": (
        asked(assistant("", "a", call("c", "f", 1))), asked(assistant("", "a", call("c", "f", 2))),
        "/messages/0/toolCalls/0/function/arguments",
    ),
    "an answer of a tool": (
        asked(*CALLED, tool("1", "c1")), asked(*CALLED, tool("2", "c1")), "/messages/2/content",
    ),
    "an error of a tool": (
        asked(*CALLED, tool("1", "c1")), asked(*CALLED, tool("1", "c1", error="no")),
        "/messages/2/error",
    ),
    "which call is answered": (
        asked(assistant("", "a", call("c1"), call("c2", "g")), tool("1", "c1")),
        asked(assistant("", "a", call("c1"), call("c2", "g")), tool("1", "c2")),
        "/messages/1/toolCallId",
    ),
    "an answer to an interrupt": (
        resume(("i1", "resolved", YES)), resume(("i1", "resolved", {"approved": False})),
        "/resume/0/payload/approved",
    ),
    "its status": (
        resume(("i1", "resolved", None)), resume(("i1", "cancelled", None)), "/resume/0/status",
    ),
    "which interrupt is answered": (
        resume(("i1", "resolved", YES)), resume(("i2", "resolved", YES)), "/resume/0/interruptId",
    ),
    "an interrupt nobody knows": (
        resume(("i1", "resolved", YES)), resume(("x", "resolved", YES)), "/resume/0/interruptId",
    ),
    "no answer to an interrupt": (resume(("i1", "resolved", YES)), asked("hi"), "/resume"),
    "an answer as LangGraph's clients once gave it": (
        asked("hi", forwardedProps={"command": {"resume": "yes"}}),
        asked("hi", forwardedProps={"command": {"resume": "no"}}),
        "/forwardedProps/command/resume",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_alike(one, other):
    one, other = reading(one, PENDING), reading(other, PENDING)
    assert Comparison({}).key(one, other) is None
    assert one.digest() == other.digest()


@pytest.mark.parametrize(("one", "other", "path"), OTHER.values(), ids=OTHER)
def test_not_alike(one, other, path):
    one, other = reading(one, PENDING), reading(other, PENDING)
    difference = Comparison({}).key(one, other)
    assert difference is not None
    assert difference.path == path
    assert one.digest() != other.digest()
    assert Comparison({}, ignore=(path,)).key(one, other) is None or "1" in path


def test_interrupts_are_told_apart_by_their_places():
    one = reading(resume(("i1", "resolved", YES)), ["i1"])
    other = reading(resume(("i1~2", "resolved", YES)), ["i1~2"])
    assert one.digest() == other.digest()


DEEP = "[" * 900 + "]" * 900


def test_what_is_nested_too_deeply_has_no_digest():
    one = reading(asked(assistant("", "a", call("c", "f", DEEP))))
    assert one.digest() is None
    assert Comparison({}).key(one, one) is None


def test_what_orjson_does_not_write_has_a_digest():
    lone, other = asked("\ud83d"), asked("\ud83e")
    assert reading(lone).digest() == reading(lone).digest() != reading(other).digest()


KINDS = {
    Kind.TURN: asked("hi"),
    Kind.TOOL: asked(*CALLED, tool("1", "c1")),
    Kind.TOOL_ERROR: asked(*CALLED, tool("1", "c1", error="no")),
    Kind.RESUME: resume(("i1", "resolved", YES)),
    Kind.NOTHING: asked("hi", assistant("ho")),
}


@pytest.mark.parametrize(("kind", "said"), KINDS.items(), ids=KINDS)
def test_kinds(kind, said):
    assert reading(said).kind is kind


def test_kinds_without_messages():
    assert reading(asked()).kind is Kind.NOTHING


REDACTED = "my key is [redacted:1], yes"


def test_redacted_parts_fit_anything():
    recorded = reading(asked(REDACTED))
    secret, other = reading(asked("my key is sk-1, yes")), reading(asked("my key is sk-1"))
    assert Comparison({}, is_redacted=True).key(recorded, secret) is None
    assert Comparison({}, is_redacted=True).key(recorded, other) is not None
    assert Comparison({}).key(recorded, secret) is not None


REST = {
    "state": (asked(state={"a": [1]}), asked(state={"a": [2]}), "/state/a/0"),
    "tools": (asked(tools=[{"name": "a"}]), asked(tools=[]), "/tools/0"),
    "context": (
        asked(context=[{"value": "a"}]),
        asked(context=[{"value": "b"}]),
        "/context/0/value",
    ),
    "properties": (asked(forwardedProps=1), asked(forwardedProps=True), "/forwardedProps"),
    "what is empty": (asked(state=None, tools=[]), asked(context=[], forwardedProps={}), None),
    "an id in the state": (asked(state={"id": "u1"}), asked(state={"id": "live"}), None),
}


@pytest.mark.parametrize(("one", "other", "path"), REST.values(), ids=REST)
def test_the_rest(one, other, path):
    difference = Comparison({"u1": "live"}).rest(reading(one), reading(other))
    assert (difference and difference.path) == path


EXACT = {
    "ids": (
        asked(*CALLED, tool("1", "c1"), resume=[{"interruptId": "i1", "x": 1}]),
        asked(
            user("go", "x"), assistant("", "y", call("d")), tool("1", "d", "z"), thread="v",
            run="w", parentRunId="p", resume=[{"interruptId": "i1", "x": 1}],
        ),
        None,
    ),
    "a name": (asked("hi"), asked(user("hi") | {"name": "Ada"}), "/messages/0/name"),
    "null": (asked("hi"), asked("hi", state=None), "/state"),
    "a version": (asked(protocolVersion="1.0"), asked(protocolVersion="1.1"), "/protocolVersion"),
    "an activity": (asked(), asked({"role": "activity", "content": {}}), "/messages/0"),
}  # fmt: skip


@pytest.mark.parametrize(("one", "other", "path"), EXACT.values(), ids=EXACT)
def test_everything(one, other, path):
    difference = Comparison({}).everything(reading(one, PENDING), reading(other, PENDING))
    assert (difference and difference.path) == path
