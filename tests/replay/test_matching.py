from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.jsonrpc import Response
from acptap.replay import capabilities
from acptap.replay.difference import ABSENT, Difference, spelled
from acptap.replay.matching import Asked, Level, Matcher, negotiation

METHOD, PARAMS, EXACT = Matcher(), Matcher(Level.PARAMS), Matcher(Level.EXACT)

CALLS: dict[str, tuple[Any, Any, Any]] = {
    "equal": ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, None),
    "R3 another text": (
        {"prompt": [{"text": "a "}]},
        {"prompt": [{"text": "a"}]},
        ("/params/prompt/0/text", "a ", "a"),
    ),
    "a member too few": ({"a": 1}, {}, ("/params/a", 1, ABSENT)),
    "a member too many": ({}, {"a": 1}, ("/params/a", ABSENT, 1)),
    "an item too few": ({"a": [1, 2]}, {"a": [1]}, ("/params/a/1", 2, ABSENT)),
    "an item too many": ({"a": [1]}, {"a": [1, 2]}, ("/params/a/1", ABSENT, 2)),
    "the first of several": ({"a": 1, "b": 1}, {"b": 2, "a": 2}, ("/params/a", 1, 2)),
    "the first in depth": ({"a": {"x": 1}, "b": 1}, {"a": {"x": 2}, "b": 2}, ("/params/a/x", 1, 2)),
    "null and absent are one": ({"a": None}, {}, None),
    "absent and null are one": (None, {"a": None}, ("/params", None, {"a": None})),
    "no params at all": (None, None, None),
    "True is not 1": ({"a": True}, {"a": 1}, ("/params/a", True, 1)),
    "0 is not False": ({"a": 0}, {"a": False}, ("/params/a", 0, False)),
    "1 is 1.0": ({"a": 1}, {"a": 1.0}, None),
    "1 is not its text": ({"a": 1}, {"a": "1"}, ("/params/a", 1, "1")),
    "an object is no array": ({"a": {}}, {"a": []}, ("/params/a", {}, [])),
    "_meta is volatile at any depth": ({"a": {"_meta": 1}}, {"_meta": {}, "a": {}}, None),
    "C6 cwd and servers are volatile": (
        {"cwd": "/a", "mcpServers": []},
        {"cwd": "/b", "mcpServers": [1]},
        None,
    ),
    "cwd is volatile in the params only": (
        {"a": {"cwd": 1}},
        {"a": {"cwd": 2}},
        ("/params/a/cwd", 1, 2),
    ),
    "a pointer escapes": ({"a/b~": 1}, {"a/b~": 2}, ("/params/a~1b~0", 1, 2)),
}


@pytest.mark.parametrize(("recorded", "live", "expected"), CALLS.values(), ids=CALLS)
def test_call(recorded, live, expected):
    difference = METHOD.call("session/new", recorded, live)
    assert (difference and difference[:3]) == expected
    assert not METHOD.refuses(difference)
    assert PARAMS.refuses(difference) is (expected is not None)


EXACTLY = {
    "equal": ({"a": 1}, {"a": 1}, None),
    "_meta counts": ({"_meta": 1}, {"_meta": 2}, "/params/_meta"),
    "cwd counts": ({"cwd": "/a"}, {"cwd": "/b"}, "/params/cwd"),
    "the client's name counts": ({"clientInfo": 1}, {"clientInfo": 2}, "/params/clientInfo"),
    "null is not absent": ({"a": None}, {}, "/params/a"),
}


@pytest.mark.parametrize(("recorded", "live", "path"), EXACTLY.values(), ids=EXACTLY)
def test_exact(recorded, live, path):
    difference = EXACT.call("initialize", recorded, live)
    assert (difference and difference.path) == path
    assert EXACT.refuses(difference) is (path is not None)


def test_the_client_itself_is_volatile():
    names = ("protocolVersion", "clientInfo", "clientCapabilities", "info", "capabilities")
    recorded, live = dict.fromkeys(names, 1), dict.fromkeys(names, 2)
    assert METHOD.call("initialize", recorded, live) is None
    assert METHOD.call("session/new", recorded, live) is not None


IGNORED = {
    "the value itself": ("/params/a/0/b",),
    "what is around it": ("/params/a",),
    "an item": ("/params/a/0",),
}


@pytest.mark.parametrize("pointers", IGNORED.values(), ids=IGNORED)
def test_ignore(pointers):
    recorded, live = {"a": [{"b": 1}]}, {"a": [{"b": 2}]}
    assert Matcher(Level.EXACT, pointers).call("x", recorded, live) is None
    assert Matcher(Level.EXACT, ("/params/b",)).call("x", recorded, live) is not None


REDACTED = {
    "the whole string": ("[redacted:1]", "sk-123", True),
    "the whole string, whatever stands there": ("[redacted:1]", None, True),
    "a part": ("Bearer [redacted:1]!", "Bearer sk-\n1!", True),
    "several parts": ("a[redacted:1]b[redacted:22]c", "a1b2c", True),
    "a part of another string": ("Bearer [redacted:1]", "Basic x", False),
    "a part of no string": ("Bearer [redacted:1]", 5, False),
    "no placeholder": ("[redacted:x]", "sk-123", False),
}


@pytest.mark.parametrize(("recorded", "live", "fits"), REDACTED.values(), ids=REDACTED)
def test_redacted_values_match_anything(recorded, live, fits):
    for matcher in (METHOD, PARAMS, EXACT):
        difference = matcher.call("x", {"a": recorded}, {"a": live}, redacted=True)
        assert (difference is None) is fits
        assert matcher.call("x", {"a": recorded}, {"a": live}) is not None


# Answers

OPTIONS = {
    "options": [
        {"optionId": "y", "kind": "allow_once"},
        {"optionId": "o", "kind": "allow_once"},
        {"optionId": "n", "kind": "reject_once"},
        {"optionId": "bare"},
        {"optionId": []},
        7,
    ]
}
PERMISSION = Asked("session/request_permission", OPTIONS)
ELICITATION = Asked("elicitation/create", {})
TERMINAL = Asked("terminal/create", {})
DRAIN = Asked("_vendor/drain", {})


def result(value):
    return Response(1, value, None, failed=False)


def error(code, message="no"):
    return Response(1, None, {"code": code, "message": message}, failed=True)


def selected(option):
    return result({"outcome": {"outcome": "selected", "optionId": option}})


DISMISSED = result({"outcome": {"outcome": "cancelled"}})

ANSWERS = {
    # what was asked, recorded, live: the path, and whether it contradicts at every level
    "the same option": (PERMISSION, selected("y"), selected("y"), None),
    "another option of the kind": (
        PERMISSION, selected("y"), selected("o"), ("/result/outcome/optionId", False),
    ),
    "another kind of option": (
        PERMISSION, selected("y"), selected("n"), ("/result/outcome/optionId", True),
    ),
    "an option without a kind": (
        PERMISSION, selected("y"), selected("bare"), ("/result/outcome/optionId", True),
    ),
    "an option nobody offered": (
        PERMISSION, selected("y"), selected("z"), ("/result/outcome/optionId", True),
    ),
    "an option that is no id": (
        PERMISSION, selected("y"), selected({}), ("/result/outcome/optionId", True),
    ),
    "dismissed instead of answered": (
        PERMISSION, selected("y"), DISMISSED, ("/result/outcome/outcome", True),
    ),
    "answered instead of dismissed": (
        PERMISSION, DISMISSED, selected("y"), ("/result/outcome/outcome", True),
    ),
    "dismissed both times": (PERMISSION, DISMISSED, DISMISSED, None),
    "no outcome at all": (PERMISSION, DISMISSED, result(5), ("/result/outcome/outcome", True)),
    "options that are none": (
        Asked(PERMISSION.method, {"options": 5}), selected("y"), selected("o"),
        ("/result/outcome/optionId", True),
    ),
    "the same action": (
        ELICITATION, result({"action": "accept"}), result({"action": "accept"}), None,
    ),
    "another action": (
        ELICITATION, result({"action": "accept"}), result({"action": "decline"}),
        ("/result/action", True),
    ),
    "another content": (
        ELICITATION, result({"action": "accept", "content": 1}),
        result({"action": "accept", "content": 2}), ("/result/content", False),
    ),
    "an error for a result": (PERMISSION, selected("y"), error(-1), ("/error", True)),
    "a result for an error": (PERMISSION, error(-1), selected("y"), ("/result", True)),
    "another error": (PERMISSION, error(-1), error(-2), ("/error/code", False)),
    "another file": (
        Asked("fs/read_text_file", {}), result({"content": "a"}), result({"content": "b"}),
        ("/result/content", False),
    ),
    "edge 43 another terminal": (
        TERMINAL, result({"terminalId": "a"}), result({"terminalId": "b"}), None,
    ),
    "O8 an extension that the live client knows": (
        DRAIN, error(-32601), result({}), ("/result", False),
    ),
    "O8 an extension that the live client does not know": (
        DRAIN, result({}), error(-32601), ("/error", False),
    ),
    "an extension that failed": (DRAIN, result({}), error(-32000), ("/error", True)),
    "a method of the protocol that the client does not know": (
        Asked("fs/read_text_file", {}), error(-32601), result({}), ("/result", True),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "recorded", "live", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_answer(asked, recorded, live, expected):
    difference = METHOD.answer(asked, recorded, live)
    assert (difference and (difference.path, difference.decisive)) == expected
    assert METHOD.refuses(difference) is bool(expected and expected[1])
    assert PARAMS.refuses(PARAMS.answer(asked, recorded, live)) is (expected is not None)


# initialize

FILES = {"fs": {"readTextFile": True}}
USES = {"fs/read_text_file": 9}
ANOTHER_VERSION = (
    "the client asks for version %s of the protocol, and the cassette was recorded with 1"
)
NO_FILES = (
    "the client lacks the capability fs.readTextFile, which the cassette uses for"
    " fs/read_text_file at line 9"
)
NEGOTIATIONS = {
    # recorded params, recorded result, live params: the path, and why
    "the same": ({"protocolVersion": 1}, {"protocolVersion": 1}, {"protocolVersion": 1}, None),
    "the version that was agreed on": (
        {"protocolVersion": 2}, {"protocolVersion": 1}, {"protocolVersion": 1}, None,
    ),
    "the version that was asked for": (
        {"protocolVersion": 2}, {"protocolVersion": 1}, {"protocolVersion": 2}, None,
    ),
    "another version": (
        {"protocolVersion": 1}, {"protocolVersion": 1}, {"protocolVersion": 2},
        ("/params/protocolVersion", ANOTHER_VERSION % "2"),
    ),
    "no version": (
        {"protocolVersion": 1}, None, None,
        ("/params/protocolVersion", ANOTHER_VERSION % "nothing"),
    ),
    "True is not version 1": (
        {"protocolVersion": 1}, None, {"protocolVersion": True},
        ("/params/protocolVersion", ANOTHER_VERSION % "true"),
    ),
    "a capability that v1 lacks": (
        {"clientCapabilities": FILES}, {}, {"clientCapabilities": {"fs": {"readTextFile": False}}},
        ("/params/clientCapabilities/fs/readTextFile", NO_FILES),
    ),
    "a capability that v2 lacks": (
        {"capabilities": {"fs": {"readTextFile": {}}}}, {}, {"capabilities": {"fs": 1}},
        ("/params/capabilities/fs/readTextFile", NO_FILES),
    ),
    "a capability that it has": (
        {"clientCapabilities": FILES}, {}, {"clientCapabilities": FILES}, None,
    ),
    "a capability that the recorded client lacked too": ({}, {}, {}, None),
}  # fmt: skip


@pytest.mark.parametrize(
    ("recorded", "answered", "live", "expected"), NEGOTIATIONS.values(), ids=NEGOTIATIONS
)
def test_negotiation(recorded, answered, live, expected):
    difference = negotiation(recorded, answered, live, USES)
    assert (difference and (difference.path, difference.why)) == expected
    assert METHOD.refuses(difference) is (expected is not None)


USED = {
    "a file": ("fs/read_text_file", {}, "fs/read_text_file"),
    "a notice": (
        "session/update",
        {"update": {"sessionUpdate": "notice"}},
        "session/update notice",
    ),
    "another update": ("session/update", {"update": {"sessionUpdate": "plan"}}, None),
    "no update": ("session/update", {"update": 5}, None),
    "a form": ("elicitation/create", {"mode": "form"}, "elicitation/create form"),
    "nothing to go by": ("elicitation/create", None, None),
    "an extension": ("_x/ask", {}, None),
}


@pytest.mark.parametrize(("method", "params", "use"), USED.values(), ids=USED)
def test_used_by(method, params, use):
    assert capabilities.used_by(method, params) == use


# Differences for people

LONG = "x" * 100
SHORT = {
    "short values stay": (1, "b", 1, "b"),
    "small containers stay": ([1], {"a": 1}, [1], {"a": 1}),
    "long strings are cut": (LONG, None, "x" * 60 + "…", None),
    "strings are cut to where they differ": (
        LONG + "a", LONG + "b" + LONG, "…" + "x" * 20 + "a", "…" + "x" * 20 + "b" + "x" * 39 + "…",
    ),
    "big containers are cut": ([LONG], 1, '["' + "x" * 58 + "…", 1),
}  # fmt: skip


@pytest.mark.parametrize(("recorded", "live", "old", "new"), SHORT.values(), ids=SHORT)
def test_shortened(recorded, live, old, new):
    assert Difference("/a", recorded, live).shortened()[1:3] == (old, new)


def test_a_difference_in_words_and_in_json():
    difference = Difference("/a", ABSENT, "x")
    assert str(difference) == '/a: recorded nothing, live "x"'
    assert difference.as_json() == {"path": "/a", "live": "x"}


def test_a_value_nested_too_deeply_to_be_written_is_cut():
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    assert spelled(value).startswith("…")
    assert Difference("/a", value, 1).shortened().recorded == "…" * 60 + "…"


# Invariants

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(values)
def test_whatever_equals_itself_has_no_difference(value):
    for matcher in (METHOD, PARAMS, EXACT):
        assert matcher.call("x", value, value) is None


@given(values, values)
def test_a_difference_is_the_same_from_both_sides(one, other):
    there, back = METHOD.call("x", one, other), METHOD.call("x", other, one)
    assert (there is None) == (back is None)


@given(values, values)
def test_a_difference_can_always_be_shown(one, other):
    difference = Difference("/a", one, other).shortened()
    assert len(str(difference)) < 1_000
