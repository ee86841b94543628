"""What ACP traffic is held against: one row a rule.

A rule's id says what is wrong when it is met. `Conversation` and the tap name rules by these ids;
a name that has no row here is a programming error.
"""

from acptap.notes import Note, Rule, Severity

_V, _W, _N = Severity.VIOLATION, Severity.WARNING, Severity.NOTE
_V1 = frozenset({1})
_RPC = "JSON-RPC 2.0"
_STDIO = "ACP transports, stdio"

RULES: dict[str, Rule] = {
    "stdio/not-json": Rule(_W, "A line on the protocol stream is no JSON.", _STDIO),
    "stdio/not-utf8": Rule(_W, "A line on the protocol stream is not UTF-8.", _STDIO),
    "stdio/glued": Rule(_W, "Two JSON values stand on one line; readers take one or none.", _STDIO),
    "stdio/unterminated": Rule(_N, "The stream's last line has no line end.", _STDIO),
    "stdio/oversize": Rule(
        _N, "The line was too long to be kept whole; it is in pieces.", "acptap"
    ),
    "jsonrpc/malformed": Rule(_V, "The JSON is no JSON-RPC message.", _RPC),
    "jsonrpc/batch": Rule(
        _W, "A batch: no version of ACP has them, and some peers end at one.", "ACP schema 2.4.0"
    ),
    "jsonrpc/unknown-id": Rule(_W, "An answer to no open request.", _RPC),
    "jsonrpc/second-answer": Rule(_V, "A request was answered twice.", _RPC),
    "jsonrpc/duplicate-id": Rule(_W, "A request reuses an id that is still open.", _RPC),
    "jsonrpc/null-id-error": Rule(_N, "An error that is tied to no request.", _RPC),
    "acp/unknown-method": Rule(_N, "A method that no version of ACP knows.", "ACP extensibility"),
    "acp/unknown-update": Rule(
        _N, "An update that the negotiated version does not know.", "ACP schema, SessionUpdate"
    ),
    "acp/update-after-turn": Rule(
        _W, "Part of an answer, or of a history, came after its end.", "ACP v1, prompt turn", _V1
    ),
    "acp/overlapping-prompt": Rule(
        _W, "A prompt was sent while another was open in the session.", "ACP v1, prompt turn", _V1
    ),
    "acp/out-of-turn-ask": Rule(
        _N, "The user is asked something although no prompt is open.", "ACP v1, prompt turn", _V1
    ),
    "acp/cancel-requested": Rule(_N, "The client asked to stop the work.", "session/cancel"),
    "acp/stray-cancel": Rule(
        _N, "The client asked to stop, and nothing was running.", "session/cancel"
    ),
    "acp/not-cancelled": Rule(
        _W, "After a cancel the work ended with another reason.", "session/cancel"
    ),
    "acp/never-answered": Rule(_W, "The connection ended with a request open.", _RPC),
    "acp/ended-in-turn": Rule(
        _W,
        "The connection ended while the session was not idle; its state is unconfirmed.",
        "ACP session states",
    ),
}


def note(rule: str, **detail: object) -> Note:
    """Return a note on a rule of this table.

    Raises:
        KeyError: There is no such rule.
    """
    return Note(rule, RULES[rule].severity, detail)
