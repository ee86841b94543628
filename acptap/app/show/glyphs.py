"""The signs that a timeline is drawn with, and the styles that rows have."""

from dataclasses import dataclass

from acptap.jsonrpc import Side
from acptap.notes import Severity
from acptap.session import SessionState
from acptap.timeline.reading import Kind


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The signs that are drawn.

    Attributes:
        arrows: From the client, and from the agent.
        still: In place of the arrow, where nothing is sent.
        lanes: A lane by the session's state.
        moved: A lane whose state has just changed; empty to show the new state.
        empty: A lane without a session, and the label of no session.
        becomes: Before the state that a session came to.
        graves: Before and behind a note, by its severity.
        times: Before the number of entries in a run.
        cut: Behind text that did not fit.
        margin: Before each line of the header block.
    """

    arrows: dict[Side, str]
    still: str
    lanes: dict[SessionState, str]
    moved: str
    empty: str
    becomes: str
    graves: dict[Severity, tuple[str, str]]
    times: str
    cut: str
    margin: str


_S = SessionState
PLAIN = Glyphs(
    arrows={Side.CLIENT: "->", Side.AGENT: "<-"},
    still="--",
    lanes={_S.IDLE: ".", _S.RUNNING: "R", _S.REQUIRES_ACTION: "A", _S.UNKNOWN: "?",
           _S.OTHER: "O", _S.NONE: "N", _S.CLOSED: "x"},
    graves={grave: (f"[{grave.value} ", "]") for grave in Severity},
    moved="", empty="-", becomes="=>", times="x", cut="...", margin="# ",
)  # fmt: skip
RICH = Glyphs(
    arrows={Side.CLIENT: "→", Side.AGENT: "←"},
    still="·",
    lanes={_S.IDLE: "│", _S.RUNNING: "┃", _S.REQUIRES_ACTION: "┋", _S.UNKNOWN: "┊",
           _S.OTHER: "┊", _S.NONE: "┊", _S.CLOSED: " "},
    graves={Severity.VIOLATION: ("✖ ", ""), Severity.WARNING: ("▲ ", ""),
            Severity.NOTE: ("• ", "")},
    moved="●", empty=" ", becomes="●", times="\N{MULTIPLICATION SIGN}", cut="…", margin="",
)  # fmt: skip

TONES = {
    # what a row is: the styles of its name and of its gist
    "session/prompt": ("prompt", "prompt"),
    "session/cancel": ("ask", "ask"),
    "agent_message": ("speech", "speech"),
    "agent_message_chunk": ("speech", "speech"),
    "agent_thought": ("thought", "thought"),
    "agent_thought_chunk": ("thought", "thought"),
    "tool_call": ("tool", "speech"),
    "tool_call_update": ("tool", "speech"),
    "session/request_permission": ("ask", "ask"),
    "elicitation/create": ("ask", "ask"),
    "run": ("prompt", "prompt"),
    "TEXT_MESSAGE_CONTENT": ("speech", "speech"),
    "TEXT_MESSAGE_CHUNK": ("speech", "speech"),
    "REASONING_MESSAGE_CONTENT": ("thought", "thought"),
    "REASONING_MESSAGE_CHUNK": ("thought", "thought"),
    "THINKING_TEXT_MESSAGE_CONTENT": ("thought", "thought"),
    "TOOL_CALL_START": ("tool", "speech"),
    "TOOL_CALL_ARGS": ("tool", "speech"),
    "TOOL_CALL_CHUNK": ("tool", "speech"),
    "TOOL_CALL_RESULT": ("tool", "speech"),
    "STATE_SNAPSHOT": ("quiet", "quiet"),
    "STATE_DELTA": ("quiet", "quiet"),
    "STEP_STARTED": ("quiet", "quiet"),
    "STEP_FINISHED": ("quiet", "quiet"),
    "RAW": ("quiet", "quiet"),
    Kind.STDERR: ("stderr", "quiet"),
    Kind.NOISE: ("noise", "noise"),
    Kind.MALFORMED: ("error", "speech"),
    Kind.EVENT: ("event", "event"),
    Kind.HTTP: ("event", "event"),
}
