"""What one recorded connection holds, step by step, without its payloads.

A `Step` is one unit of the wire (or, of a client's batch, one message): who sent it, what kind of
message it is, and where its payload can be fetched. Steps stand in lanes; order binds inside a lane
only. A script never changes while it is played, so any number of players may share one.
"""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from acptap.jsonrpc import RequestId, Side
from acptap.replay.framing import Framing


class StepKind(StrEnum):
    """What a step is, by shape."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    ANSWER = "answer"
    NOISE = "noise"
    """No message: blank, not JSON, no JSON-RPC, or too long to be read."""


@dataclass(slots=True, eq=False)
class Lane:
    """Steps whose order binds.

    Attributes:
        number: The lane's place among the lanes, by first step.
        name: The session it is about, or the method of the request it is about, for people.
        minted: Whether the session's id comes from an answer on this connection, so that the lane
            opens when that answer has been played.
        steps: Its steps, in the order they bind.
    """

    number: int
    name: str
    minted: bool = False
    steps: list["Step"] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Step:
    """One unit of the recording, or one message of a batch that the client sent.

    Attributes:
        number: The line of its (first) entry in the cassette.
        offset: Where that line starts in the file, in bytes.
        at: When it passed, in seconds.
        side: Who sent it.
        kind: What it is.
        method: Of a call, its method; of an answer, the method of the request. Calls inside
            `proxy/successor` count as what they wrap.
        id: Of a request or an answer, its id.
        session: The session it belongs to, or None.
        refers: Of an answer, the request it answers; of a call that quotes a request or an
            elicitation, the request that is quoted.
        answer: Of a request, the (first) answer to it.
        lane: Where it stands. None only while the script is built.
        place: Its index in `lane.steps`.
        phase: Counts the windows of a lane: a run of client steps and the agent's steps after it
            have the same phase.
        member: Of a message in a client's batch, its index; else -1.
        optional: A client's step that holds nothing up and need not come.
        ends_read: Whether the recorded read ended with it, so that replay writes up to here.
        redacted: Whether secrets were taken out of its payload.
        framing: What delimits its unit.
        parts: The messages of a batch that the agent sent, in order.
        pieces: The further entries of a unit that was too long to be written whole.
    """

    number: int
    offset: int
    at: float
    side: Side
    kind: StepKind = StepKind.NOISE
    method: str = ""
    id: RequestId = None
    session: str | None = None
    refers: "Step | None" = None
    answer: "Step | None" = None
    lane: Lane | None = None
    place: int = -1
    phase: int = 0
    member: int = -1
    optional: bool = False
    ends_read: bool = True
    redacted: bool = False
    framing: Framing = Framing.LINE
    parts: tuple["Step", ...] = ()
    pieces: tuple["Step", ...] = ()

    @property
    def messages(self) -> tuple["Step", ...]:
        """The messages it holds: itself, or the members of the agent's batch."""
        return self.parts or (self,)

    @property
    def home(self) -> Lane:
        """The lane it stands in."""
        assert self.lane is not None, "the script is not laid out yet"
        return self.lane


@dataclass(frozen=True, slots=True)
class Ending:
    """How the agent's side ended in the recording.

    Attributes:
        before_client: The agent's end or exit came before the client closed its side, so the end
            is part of what the agent did, and is played.
        code: The exit code, if the process was seen to exit.
        signal: The name of the signal that ended it, if one did.
        close_code: The code that it closed a WebSocket with, if it gave one.
        reason: The words beside that code.
        is_cut: The connection broke off: no close frame, no last chunk.
    """

    before_client: bool = False
    code: int | None = None
    signal: str | None = None
    close_code: int | None = None
    reason: str = ""
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """How a request was turned down: the agent never got the message, or there was no stream.

    Attributes:
        status: The status of the HTTP answer.
        reason: The words behind it.
        headers: Its headers.
        body: Where the lines that hold its body start in the file, in bytes.
    """

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: tuple[int, ...]


@dataclass(slots=True, eq=False)
class StreamEnd:
    """The end of a session's event stream, while the connection went on.

    Attributes:
        session: The session.
        number: The number of its line in the cassette.
        at: When it was, in seconds.
        is_cut: Whether it broke off: no last chunk.
        unanswered: The client's requests before it that got no answer, on no stream.
    """

    session: str
    number: int
    at: float
    is_cut: bool
    unanswered: list[Step] = field(default_factory=list)


@dataclass(slots=True)
class Script:
    """A recorded connection, ready to be played.

    Attributes:
        conn: The number of the recorded connection, from 1.
        lanes: All lanes, by first step.
        sessions: The lane of each session.
        chosen: The sessions whose ids the client brought along (load, resume, delete ...), in
            recorded order; a live client may bring others.
        methods: The methods of all calls of the client.
        calls: The calls of the client that belong to no session and must come, by kind and
            method, in recorded order.
        spare: How many of the client's optional messages there are of a kind (`spare_key`).
        mints: For an agent's answer that names new sessions: their ids.
        ties: For a client's request that batches of other lanes answer or quote: those lanes.
        uses: What the agent did that a client must be able to do (keys of `capabilities.NEEDS`),
            with the line it did it in first.
        refused: The calls of the client that never got to the agent, and how they were answered.
        refused_answers: For a request of the agent: the answers that never got to it, in order.
        turned_away: How those who asked for the event stream of a session (or of the connection,
            None) were turned away, in order; None for each who was not.
        streams: For what is no message and came on a session's event stream: the session.
        stream_ends: The ends of sessions' event streams, by the step that came before.
        last_words: What is no message, and came last on an event stream that is ended there.
        size: How many steps there are to play, optional ones not counted.
        ending: How the agent's side ended.
    """

    conn: int = 1
    lanes: list[Lane] = field(default_factory=list)
    sessions: dict[str, Lane] = field(default_factory=dict)
    chosen: list[str] = field(default_factory=list)
    methods: set[str] = field(default_factory=set)
    calls: dict[tuple[StepKind, str], list[Step]] = field(default_factory=dict)
    spare: Counter[object] = field(default_factory=Counter)
    mints: dict[Step, tuple[str, ...]] = field(default_factory=dict)
    ties: dict[Step, list[Lane]] = field(default_factory=dict)
    uses: dict[str, int] = field(default_factory=dict)
    refused: dict[Step, Refused] = field(default_factory=dict)
    refused_answers: dict[Step, list[Refused]] = field(default_factory=dict)
    turned_away: dict[str | None, list[Refused | None]] = field(default_factory=dict)
    streams: dict[Step, str] = field(default_factory=dict)
    stream_ends: dict[Step, list[StreamEnd]] = field(default_factory=dict)
    last_words: set[Step] = field(default_factory=set)
    size: int = 0
    ending: Ending = Ending()


def is_noise(step: Step) -> bool:
    """Return whether a step is no message."""
    return step.kind is StepKind.NOISE and not step.parts


def spare_key(kind: StepKind, method: str, id_: RequestId) -> object:
    """Return what optional messages of a client are told apart by."""
    match kind:
        case StepKind.ANSWER:
            return kind, id_
        case StepKind.NOISE:
            return kind
        case StepKind.REQUEST | StepKind.NOTIFICATION:
            return kind, method
        case _:
            assert_never(kind)
