"""Every rule, with runs that keep it and runs that break it."""

import re

import pytest

from acptap.agui.rules import RULES, is_refused, note
from acptap.agui.threads import Threads
from acptap.notes import Severity
from tests.agui.plays import begin, met, take

END = "\nRF"
TEXT = "RS\nTMS m\nTMC m x\nTME m"
OWNED = "RS\nSAS s\nSAS z\n"
ENDS = "\nSAF s\nSAF z\nRF"
RESTATED = (
    'MS {"messages":[{"id":"x","role":"assistant","subagentRunId":"z",'
    '"toolCalls":[{"id":"c"},{"id":7}]},{"role":"user"}]}'
)
CALL = "RS\nTCS c\nTCE c\n"

# name, the last word is the rule: a run that keeps it, a run that breaks it once
PAIRS = {
    "V1 first-event": ("RS\nCUSTOM x" + END, "CUSTOM x\nRS" + END),
    "V1 an error may be first first-event": ("RE", "TMS m\nRE"),
    "V1 error-first": ("RS\nRE", "RE"),
    "V2 run-in-run": ("RS" + END + "\nRS" + END, "RS\nRS" + END),
    "V3 after-finish": (TEXT + END, "RS" + END + "\nCUSTOM x"),
    "V3 late-error": ("RS\nRE", "RS" + END + "\nRE"),
    "V4 after-error": ("RS\nRE\nRS" + END, "RS\nRE" + END),
    "V5 an end resets all message-not-open": ("RS\nTMS m\nRE\nRS\nTMS m\nTMC m\nTME m" + END,
                                              "RS\nTMS m\nRE\nRS\nTMC m" + END),
    "V5 second-run": ("RS" + END, "RS\nRE\nRS" + END),
    "V6 message-twice": (TEXT + "\nTMS m\nTME m" + END, "RS\nTMS m\nTMS m\nTME m" + END),
    "V7 content message-not-open": (TEXT + END, "RS\nTMC m x" + END),
    "V7 end message-not-open": (TEXT + END, TEXT + "\nTME m" + END),
    "V8 tool-call-twice": (CALL + "TCS c\nTCE c" + END, "RS\nTCS c\nTCS c\nTCE c" + END),
    "V9 arguments tool-call-not-open": ("RS\nTCS c\nTCA c 1\nTCE c" + END, "RS\nTCA c" + END),
    "V9 end tool-call-not-open": (CALL + END, CALL + "TCE c" + END),
    "V10 span-twice": ("RS\nRGS r\nRMS r\nRME r\nRGE r" + END, "RS\nRGS r\nRGS r\nRGE r" + END),
    "V10 reasoning-twice": ("RS\nRGS r\nRMS r\nRME r\nRGE r" + END,
                            "RS\nRMS r\nRMS r\nRME r" + END),
    "V11 content reasoning-not-open": ("RS\nRMS r\nRMC r x\nRME r" + END, "RS\nRMC r x" + END),
    "V11 end reasoning-not-open": ("RS\nRMS r\nRME r" + END, "RS\nRGS r\nRME r\nRGE r" + END),
    "V11 span-not-open": ("RS\nRGS r\nRGE r" + END, "RS\nRMS r\nRME r\nRGE r" + END),
    "V12 step-twice": (OWNED + "STS a\nSTS a @s\nSTF a\nSTF a @s" + ENDS,
                       "RS\nSTS a\nSTS a\nSTF a" + END),
    "V13 step-not-open": ("RS\nSTS a\nSTF a\nSTS a\nSTF a" + END, "RS\nSTF a" + END),
    "V13 of another step-not-open": (OWNED + "STS a @s\nSTF a @s" + ENDS,
                                     OWNED + "STS a\nSTF a @s\nSTF a" + ENDS),
    "V14 steps left-open": ("RS\nSTS a\nSTF a" + END, "RS\nSTS a" + END),
    "V14 text left-open": (TEXT + END, "RS\nTMS m" + END),
    "V14 reasoning left-open": ("RS\nRMS r\nRME r" + END, "RS\nRMS r" + END),
    "V14 left-open-span": ("RS\nRGS r\nRGE r" + END, "RS\nRGS r" + END),
    "V14 calls left-open": (CALL + END, "RS\nTCS c" + END),
    "V14 subagents left-open": (OWNED + ENDS, OWNED + "SAF z\nRF"),
    "V14 a chunk is closed left-open": ("RS\nTMK m x" + END, "RS\nTMS m" + END),
    "V14 open-at-error": ("RS\nRE", "RS\nTMS m\nRE"),
    "V15 null-subagent": (OWNED + "TMS m @s\nTME m" + ENDS,
                          'RS\nTMS m {"subagentRunId":null}\nTME m' + END),
    "V15 in a message null-subagent": (
        'RS\nMS {"messages":[{"id":"a","role":"user","content":""}]}' + END,
        'RS\nMS {"messages":[{"id":"a","role":"user","content":"","subagentRunId":null}]}' + END),
    "V15 in the echo of a request null-subagent": (
        'RS {"input":{"messages":[]}}' + END,
        'RS {"input":{"messages":[{"subagentRunId":null}]}}' + END),
    "V15 in an interrupt null-subagent": (
        'RS\nRF {"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":""}]}}',
        'RS\nRF {"outcome":{"type":"interrupt","interrupts":[{"id":"i","subagentRunId":null}]}}'),
    "V16 active subagent-twice": (OWNED + ENDS, OWNED + "SAS s" + ENDS),
    "V16 closed subagent-twice": (OWNED + ENDS + "\nRS\nSAS s\nSAF s" + END,
                                  OWNED + "SAF s\nSAS s\nSAF z\nRF"),
    "V16 unknown-parent": (OWNED + 'SAF s\nSAS k {"parentSubagentRunId":"s"}\nSAF k\nSAF z\nRF',
                           OWNED + 'SAS k {"parentSubagentRunId":"x"}' + ENDS),
    "V17 subagent-not-active": (OWNED + "SAE s\nSAF z\nRF", "RS\nSAF s" + END),
    "V17 subagent-outcome": (
        'RS\nSAS s\nSAF s {"outcome":{"type":"suspended"}}' + END,
        'RS\nSAS s\nSAF s {"outcome":{"type":"napping"}}' + END),
    "V18 text wrong-owner": (OWNED + "TMS m @s\nTMC m @s\nTMC m\nTME m @s" + ENDS,
                             OWNED + "TMS m @s\nTMC m @z\nTME m" + ENDS),
    "V18 the agent is an owner wrong-owner": (OWNED + "TMS m\nTMC m\nTME m" + ENDS,
                                              OWNED + "TMS m\nTMC m @s\nTME m" + ENDS),
    "V18 arguments wrong-owner": (OWNED + "TCS c @s\nTCA c 1\nTCE c @s" + ENDS,
                                  OWNED + "TCS c @s\nTCA c 1 @z\nTCE c" + ENDS),
    "V18 reopened wrong-owner": (OWNED + "TMS m @s\nTME m\nTMS m @s\nTME m" + ENDS,
                                 OWNED + "TMS m @s\nTME m\nTMS m @z" + ENDS),
    "V18 reasoning wrong-owner": (OWNED + "RMS r @s\nRME r @s" + ENDS,
                                  OWNED + "RGS r @s\nRGE r @z\nRGE r" + ENDS),
    "V18 restated wrong-owner": (
        OWNED + 'TMS m @s\nMS {"messages":[{"id":"m","role":"assistant","subagentRunId":"z"}]}'
        "\nTME m @z" + ENDS,
        OWNED + 'TMS m @s\nMS {"messages":[{"id":"m","role":"assistant","subagentRunId":"z"}]}'
        "\nTMC m @s\nTME m" + ENDS),
    "V18 a restated call wrong-owner": (
        OWNED + "TCS c @s\n" + RESTATED + "\nTCE c @z" + ENDS,
        OWNED + "TCS c @s\n" + RESTATED + "\nTCA c @s\nTCE c" + ENDS),
    "V18 an echo fills gaps wrong-owner": (
        'RS {"input":{"messages":[{"id":"m","subagentRunId":"s"}]}}\nTMS m @s\nTME m' + END,
        'RS {"input":{"messages":[{"id":"m","subagentRunId":"s"}]}}\nTMS m @z' + END),
    "V18 a result takes its message over wrong-owner": (
        OWNED + "TCS c\nTCE c\nTCR m c ok @s\nTMS m @s\nTME m" + ENDS,
        OWNED + "TCS c\nTCE c\nTCR m c ok @s\nTMS m @z" + ENDS),
    "V19 call-owner": (OWNED + "TMS m @s\nTME m\nTCS c m @s\nTCE c\n"
                       "TCS d m\nTCA d 1 @s\nTCE d" + ENDS,
                       OWNED + "TMS m @s\nTME m\nTCS c m @z" + ENDS),
    "V19 reopened call-owner": (OWNED + "TCS c @s\nTCE c\nTCS c\nTCE c" + ENDS,
                                OWNED + "TCS c @s\nTCE c\nTCS c @z" + ENDS),
    "V20 of a call value-owner": (
        OWNED + 'TCS c @s\nTCE c\nREV c @s {"subtype":"tool-call"}' + ENDS,
        OWNED + 'TCS c @s\nTCE c\nREV c @z {"subtype":"tool-call"}' + ENDS),
    "V20 of a message value-owner": (OWNED + "TMS m @s\nTME m\nREV m @s\nREV x @z" + ENDS,
                                     OWNED + "TMS m @s\nTME m\nREV m @z" + ENDS),
    "V21 activity-owner": (OWNED + "AS a @s\nAS a @z\nAD a @z\nAD a\nAD b @s" + ENDS,
                           OWNED + "AS a @s\nAD a @z" + ENDS),
    "V21 a merge moves nothing activity-owner": (
        OWNED + 'AS a @s\nAS a @z {"replace":false}\nAD a @s' + ENDS,
        OWNED + 'AS a @s\nAS a @z {"replace":false}\nAD a @z' + ENDS),
    "C1 text chunk-without-start": ("RS\nTMK m x" + END, 'RS\nTMK {"delta":"x"}' + END),
    "C1 calls chunk-without-start": ("RS\nTCK c f" + END, "RS\nTCK c" + END),
    "C1 in a lane of its own chunk-without-start": (
        OWNED + 'TMK m x @s\nTMK @s {"delta":"y"}' + ENDS,
        OWNED + 'TMK m x @s\nTMK @z {"delta":"y"}' + ENDS),
    "C2 role chunk-changes": (
        'RS\nTMK m x\nTMK m {"role":"assistant"}' + END,
        'RS\nTMK m x\nTMK m {"role":"user"}' + END),
    "C2 name chunk-changes": (
        'RS\nTMK m {"name":"n"}\nTMK m {"name":"n"}' + END, 'RS\nTMK m\nTMK m {"name":"n"}' + END),
    "C2 tool chunk-changes": ("RS\nTCK c f\nTCK c f" + END, "RS\nTCK c f\nTCK c g" + END),
    "C3 chunk-owner": (OWNED + "TMK m x @s\nTMK m y @s\nTMK m z" + ENDS,
                       OWNED + "TMK m x @s\nTMK m y @z" + ENDS),
    "C4 chunk-ambiguous": (OWNED + 'TMK m x @s\nTMK {"delta":"y"}' + ENDS,
                           OWNED + 'TMK m x @s\nTMK n x @z\nTMK {"delta":"y"}' + ENDS),
    "C4 the agent's comes first chunk-ambiguous": (
        OWNED + 'TMK m x @s\nTMK n x @z\nTMK o x\nTMK {"delta":"y"}' + ENDS,
        OWNED + 'TMK m x @s\nTMK n x @z\nTCK c f\nTMK {"delta":"y"}' + ENDS),
    "50 chunk-after-close": ('RS\nTMK m x\nRAW\nTMK {"delta":"y"}' + END,
                             'RS\nTMK m x\nSS {"snapshot":1}\nTMK {"delta":"y"}\nTMK m z' + END),
    "a restatement chunk-after-close": ('RS\nTMK m x\nMS {"messages":[]}\nTMK m' + END,
                                        'RS\nTMK m x\nMS {"messages":[]}\nTMK {"delta":""}' + END),
    "not-json": (TEXT + END, "RS\ngarbage {"),
    "empty not-json": (TEXT + END, "RS\ngarbage"),
    "two-events": (TEXT + END, 'RS\ngarbage {"type":"X"}\\n{"type":"X"}'.replace("\\n", " ")),
    "done-marker": (TEXT + END, "RS" + END + "\ngarbage [DONE]"),
    "not-object": (TEXT + END, "RS\njson null"),
    "no-type": (TEXT + END, 'RS\njson {"messageId":"m"}'),
    "proto-parameters": ("http 200 application/vnd.ag-ui.event+proto\nRS" + END,
                         "http 200 application/vnd.ag-ui.event+proto; charset=binary\nRS" + END),
    "in capitals proto-parameters": ("http 200 TEXT/event-stream; charset=utf-8\nRS" + END,
                                     "http 200 Application/vnd.ag-ui.event+proto\nRS" + END),
    "media-type": ("http 201 text/event-stream\nRS" + END, "http 200 application/json\nRS" + END),
    "no-content": ("http 200\nRS" + END, "http 204"),
    "no-events": ("RS", "http 200"),
    "truncated": (TEXT + END, TEXT),
    "refused": ("http 302", "http 422 application/json"),
    "unknown-event": ("RS" + END, "RS\nTELEPATHY_START" + END),
    "retired-event": ("RS\nRGS r\nRGE r" + END, "RS\nTHINKING_START\nTHINKING_END" + END),
    "malformed-event": ("RS\nSS {\"snapshot\":null}" + END, "RS\nSS" + END),
    "malformed-member": ("RS\nTMS m user\nTME m" + END, "RS\nTMS m tool\nTME m" + END),
    "A5 null-member": ('RS\nTCS c {"parentMessageId":null}\nTCE c\nRF {"outcome":null}',
                       'RS\nTCS c {"timestamp":null}\nTCE c' + END),
    "41 unknown-outcome": ('RS\nRF {"outcome":{"type":"success"}}',
                           'RS\nRF {"outcome":{"type":"napping"}}'),
    "41 cancelled": ("RS" + END, 'RS\nRF {"outcome":{"type":"cancelled"}}'),
    "39 other-run": ("RS" + END, "RS t r2"),
    "39 run-renamed": ("RS" + END, "RS\nRF t r2"),
    "no-interrupts": ('RS\nRF {"outcome":{"type":"interrupt","interrupts":[{"id":"i"}]}}',
                      'RS\nRF {"outcome":{"type":"interrupt","interrupts":[{}]}}'),
    "duplicate-interrupt": (
        'RS\nRF {"outcome":{"type":"interrupt","interrupts":[{"id":"i"},{"id":"j"}]}}',
        'RS\nRF {"outcome":{"type":"interrupt","interrupts":[{"id":"i"},{"id":"i"}]}}'),
    "61 legacy-interrupt": ("RS\nCUSTOM x" + END, "RS\nCUSTOM on_interrupt" + END),
    "47 result-before-end": (CALL + "TCR x c" + END, "RS\nTCS c\nTCR x c\nTCE c" + END),
    "A7 unknown-tool-call": (CALL + "TCR x c" + END, "RS\nTCR x t9" + END),
    "46 arguments-not-json": ('RS\nTCS c\nTCA c {"delta":"{}"}\nTCE c' + END,
                              'RS\nTCS c\nTCA c {"delta":"{"}\nTCE c' + END),
    "parent-not-assistant": (TEXT + "\nTCS c m\nTCE c" + END, "RS\nTCS c u\nTCE c" + END),
    "56 message-dropped": (TEXT + '\nMS {"messages":[]}' + END,
                           'RS\nTMS m\nMS {"messages":[]}\nTMC m x\nTMC m y\nTME m' + END),
    "text-in-activity": ("RS\nAS a" + END, "RS\nAS a\nTMS a\nTMC a x\nTME a" + END),
    "activity-on-message": ("RS\nAS a" + END, "RS\nAS u" + END),
    "51 patch-failed": ('RS\nSD {"delta":[{"op":"add","path":"/b","value":1}]}' + END,
                        'RS\nSD {"delta":[{"op":"add","path":"/b","value":1},'
                        '{"op":"replace","path":"/x/y","value":2}]}' + END),
    "bad-pointer": ('RS\nSD {"delta":[{"op":"add","path":"/a~1b","value":1}]}' + END,
                    'RS\nSD {"delta":[{"op":"add","path":"a","value":1}]}' + END),
    "unknown-operation": ('RS\nSD {"delta":[{"op":"test","path":"/b","value":1}]}' + END,
                          'RS\nSD {"delta":[{"op":"inc","path":"/b","value":1}]}' + END),
}  # fmt: skip


def rule_of(name):
    return "agui/" + name.split()[-1]


@pytest.mark.parametrize(("name", "plays"), PAIRS.items(), ids=PAIRS)
def test_a_pair(name, plays):
    kept, broken = plays
    assert (met(kept).count(rule_of(name)), met(broken).count(rule_of(name))) == (0, 1)


ASKING = 'RS\nRF {"outcome":{"type":"interrupt","interrupts":[{"id":"i"},{"id":"j"}]}}'
REQUESTS = {
    "all are answered": ({"resume": [{"interruptId": "i", "status": "resolved"},
                                     {"interruptId": "j", "status": "cancelled"}]}, []),
    "59 one is not": ({"resume": [{"interruptId": "i", "status": "resolved"}]},
                      ["agui/unanswered-interrupt"]),
    "none is": ({}, ["agui/unanswered-interrupt", "agui/unanswered-interrupt"]),
    "in the way of LangGraph": ({"forwardedProps": {"command": {"resume": "yes"}}}, []),
    "another one is": ({"resume": [{"interruptId": "i"}, {"interruptId": "j"},
                                   {"interruptId": "k"}, {"status": "resolved"}, 7]},
                       ["agui/unknown-interrupt"]),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "rules"), REQUESTS.values(), ids=REQUESTS)
def test_a_request(asked, rules):
    threads = Threads()
    first = begin(threads=threads)
    for line in ASKING.splitlines():
        take(first, line)
    assert [said.rule for said in begin(asked, threads=threads).input().notes] == rules


def test_a_first_request_may_answer_what_was_asked_before_the_recording():
    run = begin({"resume": [{"interruptId": "i", "status": "resolved"}]})
    assert run.input().notes == ()


def test_every_rule_has_a_pair():
    by_requests = {"agui/unanswered-interrupt", "agui/unknown-interrupt"}
    on_the_wire = {"agui/line-ends", "agui/long-event", "agui/broken-frame"}
    assert {rule_of(name) for name in PAIRS} | by_requests | on_the_wire == RULES.keys()


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_reads(rule):
    row = RULES[rule]
    assert re.fullmatch(r"agui/[a-z0-9]+(-[a-z0-9]+)*", rule)
    assert re.fullmatch(r"[A-Z`].*\.", row.text)
    assert row.source
    assert set(row.clients) <= {"typescript", "rust"}


def test_a_note_says_who_fails():
    assert note("agui/run-in-run").as_json() == {
        "rule": "agui/run-in-run", "severity": "violation", "fails": ["typescript", "rust"],
    }  # fmt: skip
    assert note("agui/late-error", type="x").detail == {"type": "x"}
    assert note("agui/late-error").severity is Severity.NOTE


def test_who_leaves_an_event_out():
    assert is_refused(note("agui/run-in-run"))
    assert not is_refused(note("agui/after-finish"))
    assert not is_refused(note("agui/late-error"))


def test_a_rule_without_a_row_is_an_error():
    with pytest.raises(KeyError, match="agui/nonsense"):
        note("agui/nonsense")
