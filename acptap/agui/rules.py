"""What AG-UI traffic is held against: one row a rule, and `acptap rules` prints them.

The sources V1 to V21 and C1 to C4 number what the reference client for TypeScript verifies, see
agui.md 3.1 and 3.2. `clients` says who fails at it: the TypeScript client gives up the run, the
one for Rust reports an error and leaves the event out. Where they disagree the updates are Rust's.
"""

from typing import Final

from acptap.notes import Note, Rule, Severity

TYPESCRIPT: Final = "typescript"
RUST: Final = "rust"

_V, _W, _N = Severity.VIOLATION, Severity.WARNING, Severity.NOTE
_SSE = "AG-UI transports, HTTP and SSE"
_LIFE = "AG-UI lifecycle"
_EVENTS = "AG-UI events"
_DRAFT = "AG-UI draft, lifecycle"
_INTERRUPTS = "AG-UI interrupts"
_TS = "@ag-ui/client 1.0.0"
_CRATE = "ag-ui for Rust"
_PATCH = "RFC 6902"

_BOTH = (TYPESCRIPT, RUST)
_ONLY_TS = (TYPESCRIPT,)
_ONLY_RUST = (RUST,)


def _rule(severity: Severity, clients: tuple[str, ...], text: str, source: str) -> Rule:
    return Rule(severity, text, source, clients=clients)


RULES: dict[str, Rule] = {
    # The stream
    "agui/not-json": _rule(_V, _BOTH, "An event is no JSON.", _SSE),
    "agui/not-object": _rule(_V, _BOTH, "An event is no JSON object.", _SSE),
    "agui/no-type": _rule(_V, _BOTH, "An event has no text in `type`.", _EVENTS),
    "agui/two-events": _rule(_V, _BOTH, "Two events stand in one block.", _SSE),
    "agui/done-marker": _rule(
        _W, _BOTH, "`[DONE]` ends the stream: a habit of another protocol, and no event.", _SSE
    ),
    "agui/line-ends": _rule(
        _V, _ONLY_TS, "The lines of the stream do not end in LF alone; some clients see no event "
        "before its end.", _SSE,
    ),
    "agui/long-event": _rule(
        _W, _BOTH, "An event is longer than clients read.", f"{_TS}: 10 MiB; {_CRATE}: 8 MiB"
    ),
    "agui/broken-frame": _rule(
        _V, _ONLY_TS, "A frame is no protobuf message of AG-UI, or ends early.", "AG-UI protobuf"
    ),
    "agui/proto-parameters": _rule(
        _W, _ONLY_TS, "The media type has parameters, so clients read the frames as SSE.", _TS
    ),
    "agui/media-type": _rule(
        _W, (), "The answer does not say that it is an event stream; some clients read it as one.",
        _SSE,
    ),
    "agui/no-content": _rule(_W, _ONLY_TS, "The answer to a run has no body.", _SSE),
    "agui/no-events": _rule(
        _W, _ONLY_RUST, "The answer has no event; some clients take that for success.", _LIFE
    ),
    "agui/truncated": _rule(
        _V, _ONLY_RUST, "The stream ended before RUN_FINISHED or RUN_ERROR; some clients take that "
        "for success.", f"{_LIFE}; ag-ui#2300",
    ),
    "agui/refused": _rule(_W, _BOTH, "A run was refused with an HTTP error.", _SSE),
    # The members of an event
    "agui/unknown-event": _rule(_N, (), "An event of a type that 1.0 does not know.", _EVENTS),
    "agui/retired-event": _rule(_N, (), "An event of a former version.", _EVENTS),
    "agui/malformed-event": _rule(
        _V, _BOTH, "An event has not the members that its type demands.", _EVENTS
    ),
    "agui/malformed-member": _rule(
        _V, _ONLY_TS, "An optional member is of another kind than its type demands.", _EVENTS
    ),
    "agui/null-member": _rule(
        _W, _ONLY_TS, "An optional member is null; 1.0 wants it left out.", "AG-UI versioning"
    ),
    "agui/null-subagent": _rule(_V, _ONLY_TS, "`subagentRunId` is null.", "AG-UI subagents; V15"),
    "agui/unknown-outcome": _rule(
        _N, (), "A run ended with an outcome that is not known; clients read success.",
        "AG-UI versioning",
    ),
    "agui/cancelled": _rule(
        _N, (), "A run ended as cancelled; clients for older versions read success.", _LIFE
    ),
    # Runs
    "agui/first-event": _rule(
        _V, _BOTH, "The first event is neither RUN_STARTED nor RUN_ERROR.", f"{_LIFE}; V1"
    ),
    "agui/error-first": _rule(
        _N, _ONLY_RUST, "A run failed that had not started.", f"{_LIFE}; V1"
    ),
    "agui/run-in-run": _rule(
        _V, _BOTH, "A run started while another was active in the stream.", f"{_LIFE}; V2"
    ),
    "agui/after-finish": _rule(
        _V, _ONLY_TS, "An event came after RUN_FINISHED.", f"{_LIFE}; V3"
    ),
    "agui/late-error": _rule(_N, (), "RUN_ERROR came after RUN_FINISHED.", f"{_LIFE}; V3"),
    "agui/after-error": _rule(_V, _ONLY_TS, "An event came after RUN_ERROR.", f"{_LIFE}; V4"),
    "agui/second-run": _rule(
        _N, (), "Another run began in the same stream; some clients have stopped reading.",
        f"{_LIFE}; V5",
    ),
    "agui/left-open": _rule(
        _V, _BOTH, "A run finished while something was still open.", f"{_LIFE}; V14"
    ),
    "agui/left-open-span": _rule(
        _V, _ONLY_TS, "A run finished while a reasoning was still open.", f"{_LIFE}; V14"
    ),
    "agui/open-at-error": _rule(
        _N, (), "A run failed while something was still open.", f"{_LIFE}; V14"
    ),
    "agui/other-run": _rule(
        _W, (), "RUN_STARTED names another thread or run than was asked for.", f"{_LIFE}; {_DRAFT}"
    ),
    "agui/run-renamed": _rule(
        _W, (), "RUN_FINISHED names another thread or run than RUN_STARTED.", f"{_LIFE}; {_DRAFT}"
    ),
    "agui/no-interrupts": _rule(
        _V, _BOTH, "A run was interrupted, and there is no interrupt.", _INTERRUPTS
    ),
    "agui/duplicate-interrupt": _rule(
        _W, (), "Two interrupts have the same id.", f"{_INTERRUPTS}; {_DRAFT}"
    ),
    "agui/legacy-interrupt": _rule(
        _N, (), "A CUSTOM event asks the user; clients of 1.0 see no interrupt.",
        "ag-ui-langgraph before 1.0",
    ),
    # Messages, calls, reasoning, steps
    "agui/message-twice": _rule(
        _V, _BOTH, "A message was started that is open.", f"{_EVENTS}; V6"
    ),
    "agui/message-not-open": _rule(
        _V, _BOTH, "Content or end of a message that is not open.", f"{_EVENTS}; V7"
    ),
    "agui/tool-call-twice": _rule(
        _V, _BOTH, "A tool call was started that is open.", f"{_EVENTS}; V8"
    ),
    "agui/tool-call-not-open": _rule(
        _V, _BOTH, "Arguments or end of a tool call that is not open.", f"{_EVENTS}; V9"
    ),
    "agui/reasoning-twice": _rule(
        _V, _BOTH, "A reasoning message was started that is open.", f"{_EVENTS}; V10"
    ),
    "agui/span-twice": _rule(
        _V, _ONLY_TS, "A reasoning was started that is open.", f"{_EVENTS}; V10"
    ),
    "agui/reasoning-not-open": _rule(
        _V, _BOTH, "Content or end of a reasoning message that is not open.", f"{_EVENTS}; V11"
    ),
    "agui/span-not-open": _rule(
        _V, _ONLY_TS, "The end of a reasoning that is not open.", f"{_EVENTS}; V11"
    ),
    "agui/step-twice": _rule(_V, _BOTH, "A step was started that is open.", f"{_EVENTS}; V12"),
    "agui/step-not-open": _rule(
        _V, _BOTH, "The end of a step that is not open, or is another's.", f"{_EVENTS}; V13"
    ),
    "agui/result-before-end": _rule(
        _W, _ONLY_RUST, "A tool's result came before the end of its call.", _CRATE
    ),
    "agui/unknown-tool-call": _rule(
        _W, (), "A result of a tool call that nobody made.", _EVENTS
    ),
    "agui/arguments-not-json": _rule(
        _W, (), "The arguments of a tool call are no JSON at its end.", _EVENTS
    ),
    "agui/parent-not-assistant": _rule(
        _W, (), "A tool call belongs to a message that is not the agent's.", _EVENTS
    ),
    "agui/message-dropped": _rule(
        _W, (), "A message goes on that a snapshot has taken away.", "AG-UI state"
    ),
    "agui/text-in-activity": _rule(
        _V, _ONLY_RUST, "A message is streamed into an activity.", _EVENTS
    ),
    "agui/activity-on-message": _rule(
        _W, (), "An activity has the id of a message.", _EVENTS
    ),
    # Chunks
    "agui/chunk-without-start": _rule(
        _V, _BOTH, "A first chunk does not name what it begins.", "AG-UI chunks; C1"
    ),
    "agui/chunk-changes": _rule(
        _V, _BOTH, "A chunk names another role, name or parent than the first.", "AG-UI chunks; C2"
    ),
    "agui/chunk-owner": _rule(
        _V, _BOTH, "A chunk goes on with what belongs to another subagent.", "AG-UI chunks; C3"
    ),
    "agui/chunk-ambiguous": _rule(
        _V, _BOTH, "A chunk could go on with several things.", "AG-UI chunks; C4"
    ),
    "agui/chunk-after-close": _rule(
        _W, _ONLY_TS, "A chunk without an id goes on with what another event has closed for some "
        "clients.", _TS,
    ),
    # Subagents
    "agui/subagent-twice": _rule(
        _V, _BOTH, "A subagent was started that is active, or has ended in this run.",
        "AG-UI subagents; V16",
    ),
    "agui/unknown-parent": _rule(
        _V, _BOTH, "A subagent's parent was not started in this run.", "AG-UI subagents; V16"
    ),
    "agui/subagent-not-active": _rule(
        _V, _BOTH, "The end of a subagent that is not active.", "AG-UI subagents; V17"
    ),
    "agui/subagent-outcome": _rule(
        _V, _ONLY_TS, "A subagent ended with an outcome that is not known.", "AG-UI subagents; V17"
    ),
    "agui/wrong-owner": _rule(
        _V, _BOTH, "An event names another subagent than what it goes on with.",
        "AG-UI subagents; V18",
    ),
    "agui/call-owner": _rule(
        _V, _BOTH, "A tool call names another subagent than its message, or than before.",
        "AG-UI subagents; V19",
    ),
    "agui/value-owner": _rule(
        _V, _BOTH, "An encrypted value names another subagent than what it belongs to.",
        "AG-UI subagents; V20",
    ),
    "agui/activity-owner": _rule(
        _V, _BOTH, "An activity is changed in the name of another subagent.",
        "AG-UI subagents; V21",
    ),
    # Patches
    "agui/patch-failed": _rule(
        _W, (), "A patch does not apply; nothing of it is done.", f"{_PATCH}, 5"
    ),
    "agui/bad-pointer": _rule(
        _V, _ONLY_TS, "A patch has a path that is no JSON Pointer.", "RFC 6901, 3"
    ),
    "agui/unknown-operation": _rule(
        _W, _ONLY_RUST, "A patch has an operation that is not known; some clients do the rest.",
        f"{_PATCH}, 4",
    ),
    # Requests
    "agui/unanswered-interrupt": _rule(
        _W, (), "A run was asked for while an interrupt waits that it does not answer.",
        f"{_INTERRUPTS}; {_TS} refuses to send it",
    ),
    "agui/unknown-interrupt": _rule(
        _W, (), "A request answers an interrupt that does not wait.", _INTERRUPTS
    ),
}  # fmt: skip


def note(rule: str, **detail: object) -> Note:
    """Return a note on a rule of this table; it says which reference clients fail.

    Raises:
        KeyError: There is no such rule.
    """
    row = RULES[rule]
    if row.clients:
        detail["fails"] = list(row.clients)
    return Note(rule, row.severity, detail)


def is_refused(said: Note) -> bool:
    """Return whether the client for Rust leaves an event out because of this."""
    fails = said.detail.get("fails")
    return isinstance(fails, list) and RUST in fails
