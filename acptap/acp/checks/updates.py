"""Checks of updates. Most kinds have none: chunks of text come by the hundred thousand."""

from collections.abc import Callable

from acptap.acp.checks.table import Found, Table
from acptap.acp.knowledge import V1, Knowledge
from acptap.acp.observation import Observation
from acptap.acp.record import Record
from acptap.acp.work import Work
from acptap.session import OVER

Update = dict[str, object]
Check = Callable[[Work, Update], Found]

_LONGEST = 200
_MESSAGES = frozenset({
    "user_message", "user_message_chunk", "agent_message", "agent_message_chunk",
    "agent_thought", "agent_thought_chunk",
})  # fmt: skip
"""Updates that a replay consists of, and background work seldom makes."""


def unannounced_tool_call(work: Work, update: Update) -> Found:
    """An update of a call whose beginning was not heard, in a session that was heard whole."""
    record, id_ = work.record, update.get("toolCallId")
    if not isinstance(id_, str) or not record.whole or record.tools.lossy or id_ in record.tools:
        return None
    return {"toolCallId": id_[:_LONGEST]}


CHECKS: Table[Check] = Table(
    {
        "tool_call_update": [("acp/unannounced-tool-call", unannounced_tool_call)],
    }
)


def _tool_call(record: Record, update: Update) -> None:
    id_ = update.get("toolCallId")
    if not isinstance(id_, str):
        return
    status = update.get("status", record.tools.get(id_))
    record.tools.keep(id_, status if isinstance(status, str) else None)
    content = update.get("content")
    for item in content if isinstance(content, list) else [content]:
        if isinstance(item, dict) and item.get("type") == "terminal":
            _terminal(record, item)


def _terminal(record: Record, update: Update) -> None:
    id_ = update.get("terminalId")
    if isinstance(id_, str):
        exited = isinstance(update.get("exitStatus"), dict)
        record.terminals.keep(id_, record.terminals.get(id_, False) or exited)


def _child(record: Record, update: Update) -> None:
    id_ = update.get("sessionId")
    if isinstance(id_, str):
        record.children.keep(id_, None)


def _user_message(record: Record, update: Update) -> None:
    id_ = update.get("messageId")
    if isinstance(id_, str):
        record.insert(id_)


_REMEMBERED: dict[str, Callable[[Record, Update], None]] = {
    "tool_call": _tool_call,
    "tool_call_update": _tool_call,
    "tool_call_content_chunk": _tool_call,
    "terminal_update": _terminal,
    "terminal_output_chunk": _terminal,
    "subagent_update": _child,
    "user_message": _user_message,
    "user_message_chunk": _user_message,
}

LOOKED_AT = frozenset(_REMEMBERED)
"""The kinds that `judge` has to see."""


def judge(seen: Observation, known: Knowledge, work: Work, name: str, update: Update) -> None:
    """Check an update of a kind in `LOOKED_AT`, and write down what it announces."""
    for rule, check in CHECKS.rows(known.version, name):
        found = check(work, update)
        if found is not None:
            seen.note(rule, **found)
    _REMEMBERED[name](work.record, update)


def watch(seen: Observation, known: Knowledge, work: Work, name: str | None) -> None:
    """Look at any update of a session that is closed or being resumed."""
    record = work.record
    spoken(seen, known, work, update=name and name[:_LONGEST])
    if record.resume is None or name not in _MESSAGES:
        return
    if work.prompts == 0 and not record.resume.snapshots:
        record.resume.early += 1
    elif work.session.state in OVER:
        record.resume.late += 1


def spoken(seen: Observation, known: Knowledge, work: Work | None, **what: object) -> None:
    """Look at anything that the agent says for a session without asking."""
    if work is not None and work.record.closed and known.version not in (None, V1):
        seen.note("acp/message-after-close", **what)


def first_seen(seen: Observation, known: Knowledge, work: Work) -> None:
    """Look at the first update of a session; it may come before the answer that makes it."""
    if known.heard and not known.mints():
        seen.note("acp/unknown-session")
        work.record.opened = True  # said once


def asked_about(record: Record, params: Update) -> None:
    """Write down what a permission request announces: its subject counts as an update."""
    subject = params.get("subject")
    about = subject if isinstance(subject, dict) else {}
    for call in (params.get("toolCall"), about.get("toolCall"), about):
        if isinstance(call, dict):
            _tool_call(record, call)
    _terminal(record, about)
