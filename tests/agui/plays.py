"""Runs, written as plays.

A line is what passes: an event, `= updates` if a view has something to do, `# rules` if it meets
any. Events are abbreviated: RS, RF, RE run started, finished, error; TMS, TMC, TME, TMK text
message start, content, end, chunk; TCS, TCA, TCE, TCK, TCR tool call start, arguments, end, chunk,
result; RGS, RGE reasoning start, end; RMS, RMC, RME, RMK reasoning message; REV encrypted value;
SS, SD state snapshot, delta; MS messages snapshot; AS, AD activity snapshot, delta; SAS, SAF, SAE
subagent started, finished, error; STS, STF step. What follows are its first members, `@s` is a
subagent, and an object holds the rest. Other cues: `json` a value as it is, `garbage` what is no
JSON, `http` the status of the answer, `end` of the body.
"""

import json

from acptap.agui.garbage import rule_for
from acptap.agui.inputs import RunInput
from acptap.agui.threads import Threads
from acptap.updates import UpdateKind
from acptap.wire import jsontext

ASKED = {
    "threadId": "t", "runId": "r", "state": {},
    "messages": [{"id": "u", "role": "user", "content": "hi"}],
}  # fmt: skip

SHORT = {
    "RS": ("RUN_STARTED", ["threadId", "runId"], {"threadId": "t", "runId": "r"}),
    "RF": ("RUN_FINISHED", ["threadId", "runId"], {"threadId": "t", "runId": "r"}),
    "RE": ("RUN_ERROR", ["message"], {"message": "no"}),
    "STS": ("STEP_STARTED", ["stepName"], {}),
    "STF": ("STEP_FINISHED", ["stepName"], {}),
    "TMS": ("TEXT_MESSAGE_START", ["messageId", "role"], {}),
    "TMC": ("TEXT_MESSAGE_CONTENT", ["messageId", "delta"], {"delta": ""}),
    "TME": ("TEXT_MESSAGE_END", ["messageId"], {}),
    "TMK": ("TEXT_MESSAGE_CHUNK", ["messageId", "delta"], {}),
    "TCS": ("TOOL_CALL_START", ["toolCallId", "parentMessageId"], {"toolCallName": "f"}),
    "TCA": ("TOOL_CALL_ARGS", ["toolCallId", "delta"], {"delta": ""}),
    "TCE": ("TOOL_CALL_END", ["toolCallId"], {}),
    "TCK": ("TOOL_CALL_CHUNK", ["toolCallId", "toolCallName", "delta"], {}),
    "TCR": ("TOOL_CALL_RESULT", ["messageId", "toolCallId", "content"], {"content": "ok"}),
    "RGS": ("REASONING_START", ["messageId"], {}),
    "RGE": ("REASONING_END", ["messageId"], {}),
    "RMS": ("REASONING_MESSAGE_START", ["messageId"], {"role": "reasoning"}),
    "RMC": ("REASONING_MESSAGE_CONTENT", ["messageId", "delta"], {"delta": ""}),
    "RME": ("REASONING_MESSAGE_END", ["messageId"], {}),
    "RMK": ("REASONING_MESSAGE_CHUNK", ["messageId", "delta"], {}),
    "REV": ("REASONING_ENCRYPTED_VALUE", ["entityId"],
            {"subtype": "message", "encryptedValue": "x"}),
    "SS": ("STATE_SNAPSHOT", [], {}),
    "SD": ("STATE_DELTA", [], {}),
    "MS": ("MESSAGES_SNAPSHOT", [], {}),
    "AS": ("ACTIVITY_SNAPSHOT", ["messageId"], {"activityType": "a", "content": {}}),
    "AD": ("ACTIVITY_DELTA", ["messageId"], {"activityType": "a", "patch": []}),
    "SAS": ("SUBAGENT_STARTED", ["subagentRunId"], {"name": "n"}),
    "SAF": ("SUBAGENT_FINISHED", ["subagentRunId"], {}),
    "SAE": ("SUBAGENT_ERROR", ["subagentRunId"], {"message": "no"}),
    "RAW": ("RAW", [], {"event": None}),
    "CUSTOM": ("CUSTOM", ["name"], {"value": None}),
}  # fmt: skip


def event(words):
    """The event that a line stands for."""
    plain, brace, rest = words.partition("{")
    name, *given = plain.split()
    type_, members, defaults = SHORT.get(name, (name, [], {}))
    said = {"type": type_, **defaults}
    said |= zip(members, [word for word in given if not word.startswith("@")], strict=False)
    said |= [("subagentRunId", word[1:]) for word in given if word.startswith("@")]
    return said | (json.loads(brace + rest) if brace else {})


def brief(update):
    """An update in a few words."""
    words = [update.kind.value]
    detail = update.detail
    if update.kind in (UpdateKind.MESSAGE, UpdateKind.REASONING):
        words += [str(update.index), update.id, update.change.value, detail.get("toolCallId")]
    elif update.kind is UpdateKind.SUBAGENT:
        words += [str(update.index), update.id, update.change.value]
    elif update.kind is UpdateKind.INTERRUPT:
        words += [update.id, detail.get("reason"), detail.get("toolCallId")]
    elif update.kind is UpdateKind.ERROR:
        rule = detail.get("rule")
        words += [detail["error"], rule and rule.partition("/")[2], detail.get("code")]
        words.append("fatal" if detail.get("fatal") else None)
    elif update.kind is UpdateKind.DONE:
        words += [detail["end"], *detail.get("pending", ())]
        words.append("aborted" if detail.get("aborted") else None)
    words.append(update.subagent and f"@{update.subagent}")
    return " ".join(str(word) for word in words if word is not None)


def brief_note(note):
    return note.rule.removeprefix("agui/")


def begin(asked=None, *, threads=None, keep=True):
    threads = threads or Threads(keep=keep)
    return threads.begin(RunInput.read(ASKED | (asked or {})), line=1)


def take(run, words):
    """Let a line of a play pass, and return what it means."""
    cue, _, rest = words.partition(" ")
    match cue:
        case "json":
            return run.event(jsontext.parse(rest.encode()))
        case "garbage":
            return run.garbage(rule_for(rest.encode()))
        case "http":
            status, _, media_type = rest.partition(" ")
            return run.response(int(status), media_type or "text/event-stream")
        case "end":
            return run.end(rest)
        case _:
            return run.event(event(words))


def lines_of(play):
    """The lines of a play: what passes, the updates, the rules."""
    for line in filter(None, map(str.strip, play.splitlines())):
        passing, _, rules = line.partition(" # ")
        words, _, updates = passing.partition(" = ")
        yield words.strip(), _list(updates), _list(rules)


def _list(words):
    return [word.strip() for word in words.split(";") if word.strip()]


def perform(play, asked=None, *, run=None, keep=True):
    """Let a play pass, and hold each line against what it says; return the run."""
    run = run or begin(asked, keep=keep)
    for number, (words, updates, rules) in enumerate(lines_of(play), 2):
        run.line = number
        meaning = take(run, words)
        said = [brief(update) for update in meaning.updates]
        met = [brief_note(note) for note in meaning.notes]
        assert (words, said, met) == (words, updates, rules)
    return run


def met(play, asked=None):
    """The rules that a play meets, each as often as it is said."""
    run = begin(asked)
    said = [*run.input().notes]
    for words, _, _ in lines_of(play):
        said += take(run, words).notes
    said += run.end("complete").notes
    return [note.rule for note in said]


def view(run):
    """What a client shows of the thread of a run."""
    return run._document.fold()
