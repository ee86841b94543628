"""Particulars of the checks: forms that the catalogue's pairs do not show."""

import pytest

from acptap.acp import record
from acptap.acp.record import Memory
from tests.checks.test_catalogue import ASKED, CHOSEN, LISTED, RUNNING, TERMINAL, V1, V2, met

PATHS = {
    "/w": False,
    "/": False,
    "C:\\\\w": False,
    "c:/w": False,
    "\\\\\\\\server\\\\share": False,
    "\\\\\\\\?\\\\C:\\\\w": False,
    "[redacted:1]": False,
    "": True,
    ".": True,
    "w/x": True,
    "~/w": True,
    "C:w": True,
    "\\\\w": True,
    "file:///w": True,
}


@pytest.mark.parametrize(("cwd", "relative"), PATHS.items(), ids=list(PATHS))
@pytest.mark.parametrize("method", ["new", "load", "resume", "fork"])
def test_relative_cwd(cwd, relative, method):
    play = V1 + f'C> 2 session/{method} {{"sessionId":"s","cwd":"{cwd}"}}'
    assert ("acp/relative-cwd" in met(play)) is relative


ABSENT = {
    "no path is for the schema": ('C> 2 session/new {"mcpServers":[]}', "acp/relative-cwd"),
    "a path that is no string too": ('C> 2 session/new {"cwd":5}', "acp/relative-cwd"),
    "a filter of session/list": ('C> 2 session/list {"cwd":"w"}', "acp/relative-cwd"),
    "options that can't be made out": (
        (
            'A> 0 session/request_permission {"sessionId":"s","options":[{"id":"y"}]}\n'
            f"C> 0 = {CHOSEN}"
        ),
        "acp/unknown-option",
    ),
    "options that are none": (
        f'A> 0 session/request_permission {{"sessionId":"s","options":{{}}}}\nC> 0 = {CHOSEN}',
        "acp/unknown-option",
    ),
    "a choice without an option": (
        ASKED + 'C> 0 = {"outcome":{"outcome":"selected"}}',
        "acp/unknown-option",
    ),
    "a permission that is answered with an error": (
        ASKED + 'C> session/cancel {"sessionId":"s"}\nC> 0 ! {"code":-32800}',
        "acp/permission-not-cancelled",
    ),
    "a permission that was answered before the cancel": (
        ASKED + f'C> 0 = {CHOSEN}\nC> session/cancel {{"sessionId":"s"}}',
        "acp/permission-not-cancelled",
    ),
    "a permission that was asked behind the cancel": (
        'C> 2 session/prompt {"sessionId":"s"}\nC> session/cancel {"sessionId":"s"}\n'
        + ASKED.split("\n")[2]
        + f"\nC> 0 = {CHOSEN}",
        "acp/permission-not-cancelled",
    ),
    "a tool call that a permission announced": (
        (
            'A> 0 session/request_permission {"sessionId":"s","toolCall":{"toolCallId":"t"}}\n'
            'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t"}'
        ),
        "acp/unannounced-tool-call",
    ),
    "a tool call of a resumed session": (
        (
            'C> 2 session/resume {"sessionId":"t","cwd":"/w"}\nA> 2 = {}\n'
            'A> t ~ {"sessionUpdate":"tool_call_update","toolCallId":"t"}'
        ),
        "acp/unannounced-tool-call",
    ),
    "an update of a tool call without an id": (
        'A> s ~ {"sessionUpdate":"tool_call_update"}',
        "acp/unannounced-tool-call",
    ),
    "a cancel of a session that is not known": (
        'C> session/cancel {"sessionId":"t"}',
        "acp/unknown-session",
    ),
}


@pytest.mark.parametrize(("lines", "rule"), ABSENT.values(), ids=ABSENT)
def test_version_1_is_not_blamed_for(lines, rule):
    assert rule not in met(V1 + lines)


def background(*items):
    return f'A> s * {{"state":"idle","background":[{",".join(items)}]}}\n'


TOOL = '{"type":"tool_call","toolCallId":"t"}'
CHILD = '{"type":"subagent","sessionId":"c"}'
BACKGROUND = {
    "a child that was announced": (
        'A> s ~ {"sessionUpdate":"subagent_update","sessionId":"c"}\n' + background(CHILD),
        [],
    ),
    "a child that was not": (background(CHILD), ["acp/background-unannounced"]),
    "a child that leaves tells its end elsewhere": (
        'A> s ~ {"sessionUpdate":"subagent_update","sessionId":"c"}\n'
        + background(CHILD)
        + background(),
        [],
    ),
    "a tool call that was not announced": (background(TOOL), ["acp/background-unannounced"]),
    "a tool call that a permission was about": (
        'A> 0 session/request_permission {"sessionId":"s","subject":{"type":"tool_call",'
        '"toolCall":{"toolCallId":"t"}}}\n' + background(TOOL),
        ["acp/never-answered"],
    ),
    "a tool call whose end was told": (
        'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t","status":"pending"}\n'
        + background(TOOL)
        + 'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed"}\n'
        + 'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t","title":"x"}\n'
        + background(),
        [],
    ),
    "a tool call whose status was reset": (
        'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed"}\n'
        + background(TOOL)
        + 'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t","status":null}\n'
        + background(),
        ["acp/background-unfinished"],
    ),
    "a terminal in a tool call's content": (
        'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"t","content":'
        '[{"type":"terminal","terminalId":"T"},5]}\n' + f'A> s * {{"state":"idle",{LISTED}}}',
        [],
    ),
    "a terminal in a chunk of a tool call's content": (
        'A> s ~ {"sessionUpdate":"tool_call_content_chunk","toolCallId":"t","content":'
        '{"type":"terminal","terminalId":"T"}}\n' + f'A> s * {{"state":"idle",{LISTED}}}',
        [],
    ),
    "what is of another kind, or of none, is not judged": (
        background('{"type":"_acme.job","id":"j"}', '{"type":"terminal"}', "5", '{"type":[]}')
        + background(),
        [],
    ),
    "work that leaves over a resume": (
        TERMINAL
        + f'A> s * {{"state":"idle",{LISTED}}}\n'
        + 'C> 2 session/resume {"sessionId":"s","cwd":"/w"}\n'
        + background()
        + "A> 2 = {}",
        [],
    ),
    "a malformed state lists nothing": (
        TERMINAL + f'A> s * {{"state":"idle",{LISTED}}}\nA> s * {{"state":5}}',
        ["acp/malformed-state"],
    ),
    "updates without ids announce nothing": (
        'A> s ~ {"sessionUpdate":"terminal_update"}\nA> s ~ {"sessionUpdate":"user_message"}\n'
        'A> s ~ {"sessionUpdate":"subagent_update"}\n' + background(),
        [],
    ),
}


@pytest.mark.parametrize(("lines", "rules"), BACKGROUND.values(), ids=BACKGROUND)
def test_background(lines, rules):
    assert met(V2 + lines) == rules


RESUMES = {
    "R18 live output of a running session": (
        'A> t * {"state":"running"}\nA> t ~ {"sessionUpdate":"agent_message","messageId":"m"}\n',
        ["acp/ended-in-turn"],
    ),
    "R18 a second snapshot behind the messages": (
        (
            'A> t * {"state":"idle"}\nA> t ~ {"sessionUpdate":"agent_message","messageId":"m"}\n'
            'A> t * {"state":"idle"}\n'
        ),
        [],
    ),
    "R20 what is no message": (
        'A> t ~ {"sessionUpdate":"session_info_update","title":"x"}\nA> t * {"state":"idle"}\n',
        [],
    ),
    "R20 an update without a name": (
        'A> t ~ {"sessionUpdate":5}\nA> t * {"state":"idle"}\n',
        ["acp/unknown-update"],
    ),
}


@pytest.mark.parametrize(("lines", "rules"), RESUMES.values(), ids=RESUMES)
def test_resume(lines, rules):
    play = V2 + 'C> 2 session/resume {"sessionId":"t","cwd":"/w"}\n' + lines + "A> 2 = {}"
    assert met(play) == rules


def test_r17_of_two_resumes_only_the_first_is_followed():
    play = 'C> 2 session/resume {"sessionId":"t"}\nC> 3 session/resume {"sessionId":"t"}\n'
    assert met(V2 + play + 'A> t * {"state":"idle"}\nA> 2 = {}\nA> 3 = {}') == []


def test_r4_a_prompt_explains_work_until_it_begins():
    again = 'A> s * {"state":"idle","stopReason":"end_turn"}\nA> s * {"state":"running"}\n'
    assert met(V2 + RUNNING + again).count("acp/agent-initiated") == 1


def test_what_was_forgotten_proves_nothing(monkeypatch):
    monkeypatch.setattr(record, "_REMEMBERED", 2)
    begun = "".join(
        f'A> s ~ {{"sessionUpdate":"tool_call","toolCallId":"{n}"}}\n' for n in range(4)
    )
    play = V1 + begun + 'A> s ~ {"sessionUpdate":"tool_call_update","toolCallId":"0"}'
    assert met(play) == []


def test_memory(monkeypatch):
    monkeypatch.setattr(record, "_REMEMBERED", 2)
    memory: Memory[str, int] = Memory()
    memory.keep("a", 1)
    memory.keep("b", 2)
    assert (dict(memory), memory.lossy) == ({"a": 1, "b": 2}, False)
    memory.keep("c", 3)
    assert (dict(memory), memory.lossy) == ({"b": 2, "c": 3}, True)
