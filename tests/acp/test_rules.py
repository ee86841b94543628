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
    "jsonrpc/malformed": "violation",
    "jsonrpc/batch": "warning",
    "jsonrpc/unknown-id": "warning",
    "jsonrpc/second-answer": "violation",
    "jsonrpc/duplicate-id": "warning",
    "jsonrpc/null-id-error": "note",
    "acp/unknown-method": "note",
    "acp/unknown-update": "note",
    "acp/update-after-turn": "warning",
    "acp/overlapping-prompt": "warning",
    "acp/out-of-turn-ask": "note",
    "acp/cancel-requested": "note",
    "acp/stray-cancel": "note",
    "acp/not-cancelled": "warning",
    "acp/never-answered": "warning",
    "acp/ended-in-turn": "warning",
}


@pytest.mark.parametrize(("rule", "severity"), SEVERITIES.items(), ids=SEVERITIES)
def test_severity(rule, severity):
    assert RULES[rule].severity == severity


ONLY_V1 = {"acp/update-after-turn", "acp/overlapping-prompt", "acp/out-of-turn-ask"}


@pytest.mark.parametrize("rule", ONLY_V1)
def test_rules_of_version_1(rule):
    assert RULES[rule].versions == {1}


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
