import re

import pytest

from acptap.acp.rules import RULES, note
from acptap.notes import Note, Severity

SEVERITIES = {
    "stdio/not-json": "warning",
    "stdio/not-utf8": "warning",
    "stdio/glued": "warning",
    "stdio/unterminated": "note",
    "stdio/oversize": "note",
    "http/not-json": "warning",
    "http/unframed": "warning",
    "http/half-event": "note",
    "http/oversize": "note",
    "http/refused": "warning",
    "http/fatal-status": "warning",
    "http/no-connection-id": "violation",
    "http/no-session-id": "note",
    "http/second-receiver": "note",
    "http/stream-lost": "warning",
    "http/cut": "warning",
    "http/past-proxy": "note",
    "http/coding": "note",
    "http/opaque": "note",
    "http/unreachable": "warning",
    "websocket/not-json": "warning",
    "websocket/binary": "warning",
    "websocket/not-utf8": "violation",
    "websocket/abnormal-close": "warning",
    "jsonrpc/malformed": "violation",
    "jsonrpc/version": "violation",
    "jsonrpc/duplicate-member": "warning",
    "jsonrpc/batch": "warning",
    "jsonrpc/unknown-id": "warning",
    "jsonrpc/second-answer": "violation",
    "jsonrpc/duplicate-id": "warning",
    "jsonrpc/null-id-error": "note",
    "acp/before-initialize": "violation",
    "acp/late-initialize": "warning",
    "acp/unknown-method": "note",
    "acp/unknown-update": "note",
    "acp/never-answered": "warning",
    "acp/relative-cwd": "violation",
    "acp/unknown-session": "warning",
    "acp/early-session": "warning",
    "acp/replay-unasked": "warning",
    "acp/update-after-turn": "warning",
    "acp/overlapping-prompt": "warning",
    "acp/out-of-turn-ask": "note",
    "acp/unannounced-tool-call": "note",
    "acp/unknown-option": "warning",
    "acp/permission-not-cancelled": "violation",
    "acp/cancel-requested": "note",
    "acp/stray-cancel": "note",
    "acp/not-cancelled": "warning",
    "acp/ended-in-turn": "warning",
    "acp/malformed-state": "warning",
    "acp/work-not-announced": "warning",
    "acp/agent-initiated": "note",
    "acp/idle-without-reason": "warning",
    "acp/error-without-details": "warning",
    "acp/answer-restarts-work": "warning",
    "acp/only-custom-states": "warning",
    "acp/resume-without-snapshot": "violation",
    "acp/replay-after-snapshot": "warning",
    "acp/background-dropped": "violation",
    "acp/background-unannounced": "violation",
    "acp/background-unfinished": "violation",
    "acp/background-twice": "violation",
    "acp/prompt-without-message-id": "violation",
    "acp/draft-prompt-result": "note",
    "acp/user-message-missing": "warning",
    "acp/close-in-mid-work": "violation",
    "acp/message-after-close": "violation",
    "acp/prompt-accepted-after-close": "violation",
    "cassette/annotations-differ": "violation",
    "cassette/redaction-open": "warning",
    "cassette/torn": "warning",
}


@pytest.mark.parametrize(("rule", "severity"), SEVERITIES.items(), ids=SEVERITIES)
def test_severity(rule, severity):
    assert RULES[rule].severity == severity


VERSIONS = {
    1: {
        "acp/update-after-turn",
        "acp/overlapping-prompt",
        "acp/out-of-turn-ask",
        "acp/unannounced-tool-call",
        "acp/permission-not-cancelled",
    },
    2: {
        "acp/late-initialize",
        "acp/malformed-state",
        "acp/work-not-announced",
        "acp/agent-initiated",
        "acp/idle-without-reason",
        "acp/error-without-details",
        "acp/answer-restarts-work",
        "acp/only-custom-states",
        "acp/resume-without-snapshot",
        "acp/replay-after-snapshot",
        "acp/background-dropped",
        "acp/background-unannounced",
        "acp/background-unfinished",
        "acp/background-twice",
        "acp/prompt-without-message-id",
        "acp/draft-prompt-result",
        "acp/user-message-missing",
        "acp/close-in-mid-work",
        "acp/message-after-close",
        "acp/prompt-accepted-after-close",
    },
}


@pytest.mark.parametrize("version", VERSIONS)
def test_rules_of_one_version(version):
    assert {rule for rule, row in RULES.items() if row.versions == {version}} == VERSIONS[version]


def test_every_severity_is_pinned():
    assert SEVERITIES.keys() == RULES.keys()


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_reads(rule):
    row = RULES[rule]
    assert re.fullmatch(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*", rule)
    assert re.fullmatch(r"[A-Z].*\.", row.text)
    assert row.source


def test_note():
    assert note("jsonrpc/unknown-id", id=99) == Note(
        "jsonrpc/unknown-id", Severity.WARNING, {"id": 99}
    )


def test_a_rule_without_a_row_is_an_error():
    with pytest.raises(KeyError, match="acp/nonsense"):
        note("acp/nonsense")
