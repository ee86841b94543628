"""What ACP traffic is held against: one row a rule, and `acptap rules` prints them.

A rule's id says what is wrong when it is met. `Conversation`, the tap and `acptap check` name rules
by these ids; a name that has no row here is a programming error. The sources R1 to R33 number the
duties of version 2's session states: what `StateUpdate` and the calls around it demand.
"""

from acptap.notes import Note, Rule, Severity

_V, _W, _N = Severity.VIOLATION, Severity.WARNING, Severity.NOTE
_V1, _V2 = frozenset({1}), frozenset({2})
_RPC = "JSON-RPC 2.0"
_STDIO = "ACP transports, stdio"
_SETUP = "ACP session setup"
_TURN = "ACP v1, prompt turn"
_STATES = "ACP v2, session states"
_BACKGROUND = "ACP v2, background work"
_HTTP = "ACP transports, Streamable HTTP"
_SOCKET = "ACP transports, WebSocket"

RULES: dict[str, Rule] = {
    # The stream
    "stdio/not-json": Rule(_W, "A line on the protocol stream is no JSON.", _STDIO),
    "stdio/not-utf8": Rule(_W, "A line on the protocol stream is not UTF-8.", _STDIO),
    "stdio/glued": Rule(_W, "Two JSON values stand on one line; readers take one or none.", _STDIO),
    "stdio/unterminated": Rule(_N, "The stream's last line has no line end.", _STDIO),
    "stdio/oversize": Rule(
        _N, "The line was too long to be kept whole; it is in pieces.", "acptap"
    ),
    # HTTP
    "http/not-json": Rule(_W, "Where a message is expected stands no JSON.", _HTTP),
    "http/unframed": Rule(
        _W, "A line of an event stream is no field; readers leave it out.", "WHATWG, event streams"
    ),
    "http/half-event": Rule(
        _N, "The event stream ends in an event that no empty line closes.", "WHATWG, event streams"
    ),
    "http/oversize": Rule(
        _N, "The body or message was too long to be kept whole; it is in pieces.", "acptap"
    ),
    "http/refused": Rule(_W, "A message of the client was refused with an HTTP error.", _HTTP),
    "http/fatal-status": Rule(
        _W, "A status that clients end the whole connection at.", f"{_HTTP}; TypeScript SDK 2.4.0"
    ),
    "http/no-connection-id": Rule(
        _V, "The answer to `initialize` has no Acp-Connection-Id.", _HTTP
    ),
    "http/no-session-id": Rule(
        _N, "A message belongs to a session, and its request has no Acp-Session-Id; some agents "
        "refuse it.", f"{_HTTP}; TypeScript SDK 2.4.0",
    ),
    "http/second-receiver": Rule(
        _N, "A stream was asked for that has a receiver already.", _HTTP
    ),
    "http/stream-lost": Rule(
        _W, "The agent ended a stream that the client goes on to need.",
        f"{_HTTP}; TypeScript SDK 2.4.0",
    ),
    "http/cut": Rule(_W, "The agent ended a body in its middle.", "RFC 9112, 8"),
    "http/past-proxy": Rule(
        _N, "A redirect leads the client past acptap, to the agent itself.", "acptap"
    ),
    "http/coding": Rule(
        _N, "A body is compressed in a way that can't be read.", "RFC 9110, 8.4"
    ),
    "http/opaque": Rule(
        _N, "The connection passes unread from here on.", "acptap"
    ),
    "http/unreachable": Rule(
        _W, "The agent can't be reached; acptap answered in its place.", "acptap"
    ),
    # WebSocket
    "websocket/not-json": Rule(_W, "A message is no JSON.", _SOCKET),
    "websocket/binary": Rule(_W, "A binary message; peers leave those out.", _SOCKET),
    "websocket/not-utf8": Rule(_V, "A text message is not UTF-8.", "RFC 6455, 8.1"),
    "websocket/abnormal-close": Rule(
        _W, "The connection was closed because of a fault.", "RFC 6455, 7.4.1"
    ),
    # The envelope
    "jsonrpc/malformed": Rule(_V, "The JSON is no JSON-RPC message.", _RPC),
    "jsonrpc/version": Rule(
        _V, 'A message does not say `"jsonrpc":"2.0"`; said once for each side.', _RPC
    ),
    "jsonrpc/duplicate-member": Rule(
        _W, "A member is written twice; parsers disagree on which one counts.", "RFC 8259, 4"
    ),
    "jsonrpc/batch": Rule(
        _W, "A batch: no version of ACP has them, and some peers end at one.", "ACP schema 2.4.0"
    ),
    "jsonrpc/unknown-id": Rule(_W, "An answer to no open request.", _RPC),
    "jsonrpc/second-answer": Rule(_V, "A request was answered twice.", f"{_RPC}; R10"),
    "jsonrpc/duplicate-id": Rule(_W, "A request reuses an id that is still open.", _RPC),
    "jsonrpc/null-id-error": Rule(_N, "An error that is tied to no request.", _RPC),
    # The connection
    "acp/before-initialize": Rule(
        _V, "The first request on the connection is not `initialize`.", "ACP initialization"
    ),
    "acp/late-initialize": Rule(
        _W, "The client repeated `initialize` after other requests.", "ACP v2, initialization", _V2
    ),
    "acp/unknown-method": Rule(_N, "A method that no version of ACP knows.", "ACP extensibility"),
    "acp/unknown-update": Rule(
        _N, "An update that the negotiated version does not know.", "ACP schema, SessionUpdate"
    ),
    "acp/never-answered": Rule(_W, "The connection ended with a request open.", _RPC),
    # Sessions
    "acp/relative-cwd": Rule(_V, "A session's working directory is no absolute path.", _SETUP),
    "acp/unknown-session": Rule(
        _W, "A session is named that nothing on this connection opened.", _SETUP
    ),
    "acp/early-session": Rule(
        _W, "The client used a session before the answer that names it.", _SETUP
    ),
    "acp/replay-unasked": Rule(
        _W, "The history was replayed by a resume that did not ask for it.", f"{_SETUP}; R20"
    ),
    # Turns
    "acp/update-after-turn": Rule(
        _W, "Part of an answer, or of a history, came after its end.", _TURN, _V1
    ),
    "acp/overlapping-prompt": Rule(
        _W, "A prompt was sent while another was open in the session.", _TURN, _V1
    ),
    "acp/out-of-turn-ask": Rule(
        _N, "The user is asked something although no prompt is open.", _TURN, _V1
    ),
    "acp/unannounced-tool-call": Rule(
        _N, "A tool call is updated that no `tool_call` began.", "ACP v1, tool calls", _V1
    ),
    "acp/unknown-option": Rule(
        _W, "A permission was answered with an option that was not offered.", "ACP permissions"
    ),
    "acp/permission-not-cancelled": Rule(
        _V, "A permission that was open at a cancel was not answered `cancelled`.", _TURN, _V1
    ),
    "acp/cancel-requested": Rule(_N, "The client asked to stop the work.", "session/cancel"),
    "acp/stray-cancel": Rule(
        _N, "The client asked to stop, and nothing was running.", "session/cancel; R33"
    ),
    "acp/not-cancelled": Rule(
        _W, "After a cancel the work ended with another reason.", "session/cancel; R8"
    ),
    "acp/ended-in-turn": Rule(
        _W,
        "The connection ended while the session was not idle; its state is unconfirmed.",
        "ACP session states; R6, R13",
    ),
    # States of version 2
    "acp/malformed-state": Rule(
        _W, "A state update has no string in `state`; it changes nothing.", _STATES, _V2
    ),
    "acp/work-not-announced": Rule(
        _W, "A prompt was accepted, and no state but idle was reported since.",
        f"{_STATES}; R3, R24", _V2,
    ),
    "acp/agent-initiated": Rule(
        _N, "Work began without a prompt.", f"{_STATES}; R4", _V2
    ),
    "acp/idle-without-reason": Rule(
        _W, "Work ended in an idle without a stop reason.", f"{_STATES}; R7", _V2
    ),
    "acp/error-without-details": Rule(
        _W, "Work ended with the reason `error`, and no error stands beside it.",
        f"{_STATES}; R9", _V2,
    ),
    "acp/answer-restarts-work": Rule(
        _W, "An answer to a question of finished work was followed by new work.",
        f"{_STATES}; R15", _V2,
    ),
    "acp/only-custom-states": Rule(
        _W, "The session reported custom states and never a standard one.",
        f"{_STATES}; R26", _V2,
    ),
    "acp/resume-without-snapshot": Rule(
        _V, "A resume succeeded without a state update before its answer.",
        f"{_STATES}; R17, R19", _V2,
    ),
    "acp/replay-after-snapshot": Rule(
        _W, "Messages of an idle session came between a resume's snapshot and its answer.",
        f"{_STATES}; R18", _V2,
    ),
    "acp/background-dropped": Rule(
        _V, "A state update has no `background` list although an earlier one had.",
        f"{_BACKGROUND}; R27", _V2,
    ),
    "acp/background-unannounced": Rule(
        _V, "A state update lists background work that was never announced.",
        f"{_BACKGROUND}; R28", _V2,
    ),
    "acp/background-unfinished": Rule(
        _V, "Background work left the list before its end was reported.",
        f"{_BACKGROUND}; R28", _V2,
    ),
    "acp/background-twice": Rule(
        _V, "A state update lists the same background work twice.", f"{_BACKGROUND}; R28", _V2
    ),
    # Prompts and closing in version 2
    "acp/prompt-without-message-id": Rule(
        _V, "A prompt was accepted without the id of its user message.",
        "ACP v2, PromptResponse; R29", _V2,
    ),
    "acp/draft-prompt-result": Rule(
        _N, "A prompt was accepted with an empty result, as an older draft had it.",
        "ACP v2, PromptResponse; R29", _V2,
    ),
    "acp/user-message-missing": Rule(
        _W, "The user message that a prompt's answer names never came.",
        "ACP v2, PromptResponse; R29", _V2,
    ),
    "acp/close-in-mid-work": Rule(
        _V, "A session was closed before its work was reported idle.",
        "ACP v2, session/close; R30", _V2,
    ),
    "acp/message-after-close": Rule(
        _V, "The agent spoke for a session that it had closed.",
        "ACP v2, session/close; R31", _V2,
    ),
    "acp/prompt-accepted-after-close": Rule(
        _V, "A prompt was accepted after its session was closed, and its user message never came.",
        "ACP v2, session/close; R32", _V2,
    ),
    # The cassette, as `acptap check` finds it
    "cassette/annotations-differ": Rule(
        _V, "Annotations differ from what the rules make of the payloads; run `acptap annotate`.",
        "acptap",
    ),
    "cassette/redaction-open": Rule(
        _W, "Secrets split over messages may still be in the file; run `acptap redact`.",
        "acptap",
    ),
    "cassette/torn": Rule(_W, "The last line was cut off by a crash; it is left out.", "acptap"),
}  # fmt: skip


def note(rule: str, **detail: object) -> Note:
    """Return a note on a rule of this table.

    Raises:
        KeyError: There is no such rule.
    """
    return Note(rule, RULES[rule].severity, detail)
