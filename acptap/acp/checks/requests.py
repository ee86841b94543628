"""Checks of requests, before anything is known about their answers."""

import re
from collections.abc import Callable

from acptap.acp.checks import updates
from acptap.acp.checks.table import Found, Table
from acptap.acp.knowledge import Call, Knowledge
from acptap.acp.methods import METHODS, Scope
from acptap.acp.observation import Observation
from acptap.acp.work import ASKS, LOAD, PERMISSION, PROMPT, RESUME, Work
from acptap.jsonrpc import Side
from acptap.session import ACTIVE

Params = dict[str, object]
Check = Callable[[Knowledge, Work | None, Call, Params], Found]

ALL = "*"
_LONGEST = 200
_ABSOLUTE = re.compile(r"/|\\\\|[A-Za-z]:[\\/]")
"""POSIX; a Windows share or device; a Windows drive."""
_PLACEHOLDER = re.compile(r"\[redacted:\d+\]")
_OPENING = frozenset({LOAD, RESUME, "session/fork"})
_INACTIVE = frozenset({
    "session/delete", "session/archive", "session/unarchive", "session/set_title",
    "session/status", "session/close",
})  # fmt: skip
"""Calls for sessions that need not be open on this connection."""


def before_initialize(known: Knowledge, _work: Work | None, call: Call, _params: Params) -> Found:
    """Whoever asks anything before the client introduced itself."""
    if known.introduced or call.method in ("initialize", "proxy/initialize"):
        return None
    return {"method": call.method[:_LONGEST]}


def late_initialize(known: Knowledge, _work: Work | None, _call: Call, _params: Params) -> Found:
    """A repeat is fine until there was another request."""
    return {} if known.negotiated and known.begun else None


def unknown_session(known: Knowledge, work: Work | None, call: Call, _params: Params) -> Found:
    """A session that was neither made nor opened on this connection."""
    if not known.heard or call.session is None or not _needs_a_session(call):
        return None
    if work is None:
        return None if call.asker is Side.AGENT and known.mints() else {}
    return {} if not work.record.opened and not known.mints() else None


def early_session(known: Knowledge, work: Work | None, call: Call, _params: Params) -> Found:
    """A session that the client knows only from updates; its making may still fail."""
    if call.asker is Side.AGENT or work is None or not _needs_a_session(call):
        return None
    return {} if not work.record.opened and known.mints() else None


def relative_cwd(_known: Knowledge, _work: Work | None, _call: Call, params: Params) -> Found:
    """A path that means something else in another process."""
    cwd = params.get("cwd")
    if not isinstance(cwd, str) or _ABSOLUTE.match(cwd) or _PLACEHOLDER.match(cwd):
        return None
    return {"cwd": cwd[:_LONGEST]}


def overlapping(_known: Knowledge, work: Work | None, _call: Call, _params: Params) -> Found:
    """A second prompt."""
    return {} if work is not None and work.prompts else None


def out_of_turn(_known: Knowledge, work: Work | None, call: Call, _params: Params) -> Found:
    """A question while nothing runs."""
    busy = work is not None and (work.prompts or work.session.state in ACTIVE)
    return None if busy or call.session is None else {}


def after_close(_known: Knowledge, work: Work | None, call: Call, _params: Params) -> Found:
    """A closed session is silent; the client may still ask for it."""
    silent = call.asker is Side.AGENT and work is not None and work.record.closed
    return {"method": call.method[:_LONGEST]} if silent else None


CHECKS: Table[Check] = Table({
    ALL: [
        ("acp/before-initialize", before_initialize),
        ("acp/unknown-session", unknown_session),
        ("acp/early-session", early_session),
        ("acp/message-after-close", after_close),
    ],
    "initialize": [("acp/late-initialize", late_initialize)],
    "session/new": [("acp/relative-cwd", relative_cwd)],
    "session/load": [("acp/relative-cwd", relative_cwd)],
    "session/resume": [("acp/relative-cwd", relative_cwd)],
    "session/fork": [("acp/relative-cwd", relative_cwd)],
    PROMPT: [("acp/overlapping-prompt", overlapping)],
    **{method: [("acp/out-of-turn-ask", out_of_turn)] for method in ASKS},
})  # fmt: skip


def judge(seen: Observation, known: Knowledge, call: Call, params: object) -> None:
    """Check a request."""
    work = None if call.session is None else known.sessions.get(call.session)
    members = params if isinstance(params, dict) else {}
    for key in (ALL, call.method):
        for rule, check in CHECKS.rows(known.version, key):
            found = check(known, work, call, members)
            if found is not None:
                seen.note(rule, **found)
    known.introduced = True
    known.heard = known.heard or call.method == "initialize"
    known.begun = known.begun or call.method != "initialize"


def remember(known: Knowledge, work: Work, call: Call, params: object) -> None:
    """Write down what the checks of its answer have to know."""
    record = work.record
    members = params if isinstance(params, dict) else {}
    call.state = work.session.state
    call.busy, call.idles, call.cancels = record.busy, record.idles, record.cancels
    if call.method == RESUME:
        record.begin_resume(replays=members.get("replayFrom") is not None)
    elif call.method == LOAD:
        record.open(whole=True)
    elif _needs_a_session(call) and (call.asker is Side.CLIENT or not known.mints()):
        record.opened = True  # what is unknown is said once
    if call.method == PROMPT:
        record.late = False
    if call.method == PERMISSION:
        call.options = _options(members.get("options"))
        updates.asked_about(record, members)


def _needs_a_session(call: Call) -> bool:
    row = METHODS.get(call.method)
    return (
        row is not None
        and row.scope in (Scope.SESSION, Scope.REQUEST)
        and call.method not in _OPENING
        and call.method not in _INACTIVE
    )


def _options(options: object) -> frozenset[str] | None:
    """Return the ids of the options offered, or None if any is not to be made out."""
    offered = options if isinstance(options, list) else [None]
    ids = [option.get("optionId") if isinstance(option, dict) else None for option in offered]
    return None if None in ids else frozenset(map(str, ids))
