"""Read a recorded connection once, entry by entry, and tie its messages together."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from acptap.acp import methods
from acptap.acp.methods import METHODS, Scope
from acptap.acp.observation import session_of
from acptap.cassette import Entry
from acptap.errors import DamagedCassette
from acptap.jsonrpc import (
    Malformed,
    Message,
    Notification,
    Request,
    RequestId,
    Response,
    Side,
    read_all,
)
from acptap.pairing import Ledger
from acptap.replay.capabilities import used_by
from acptap.replay.endings import Ends, StreamEnds
from acptap.replay.framing import Framing, text_of
from acptap.replay.pieces import Pieces
from acptap.replay.script import Ending, Refused, Step, StepKind, is_noise
from acptap.wire import jsontext

if TYPE_CHECKING:
    from acptap.replay.exchanges import Exchange

_REMEMBERED = 10_000
_COMMANDS = "available_commands_update"


@dataclass(slots=True)
class Mint:
    """A session that an answer names.

    Attributes:
        request: The request that asked for it.
        answer: The unit the answer stands in.
    """

    request: Step
    answer: Step


class Transcript:
    """The steps of a connection, in recorded order, each tied to the one it refers to.

    A unit of the agent that came in pieces stands where it began, since nothing else the agent
    said can have come between; one of the client stands where it ended, since the agent could not
    know it before.

    Attributes:
        conn: The number of the connection.
        steps: What was said.
        minted: Sessions that an answer names before the client did.
        commands: The steps that announce a session's commands.
        uses: What the agent did that a client must be able to do, with the first line it did so.
        refused: The calls of the client that never got to the agent.
        refused_answers: For a request of the agent: the answers that never got to it.
        turned_away: How those who asked for an event stream were turned away, by its session.
        streams: For what is no message and came on a session's event stream: the session.
        streams_ended: Which event streams ended while the connection went on.
    """

    def __init__(self) -> None:
        self.conn = 0
        self.steps: list[Step] = []
        self.minted: dict[str, Mint] = {}
        self.commands: set[Step] = set()
        self.uses: dict[str, int] = {}
        self.refused: dict[Step, Refused] = {}
        self.refused_answers: dict[Step, list[Refused]] = {}
        self.turned_away: dict[str | None, list[Refused | None]] = {}
        self.streams: dict[Step, str] = {}
        self.streams_ended = StreamEnds()
        self._ends = Ends()
        self._open: Ledger[Step] = Ledger()
        self._recent: dict[tuple[Side, RequestId], Step] = {}
        self._elicitations: dict[str, Step] = {}
        self._named: set[str] = set()  # sessions that the client has spoken of
        self._latest: dict[Side, Step] = {}
        self._pieces: dict[tuple[Side, Exchange | None], Pieces] = {}
        self._words: dict[str, str] = {}  # one object for each method and session

    @property
    def ending(self) -> Ending:
        """How the agent's side ended."""
        return self._ends.ending

    def add(self, entry: Entry, exchange: "Exchange | None" = None) -> None:
        """Take in the next entry of the connection.

        Args:
            entry: It.
            exchange: The HTTP exchange it belongs to; None on standard input and output.
        """
        self.conn = self.conn or entry.conn
        if entry.event is not None:
            self._ends.hear(entry, exchange, len(self.steps))
            if exchange is not None and not self._ends.client_ended:
                self.streams_ended.hear(entry, exchange)
            if entry.event == "response" and exchange is not None and exchange.is_stream:
                asked = self.turned_away.setdefault(exchange.session, [])
                asked.append(exchange.turned_away)
            return
        framing = Framing.LINE if exchange is None else exchange.framing_of(entry)
        if framing is None:
            return
        step = self._step(entry, framing)
        if entry.more or (step.side, exchange) in self._pieces:
            self._piece(step, entry, exchange)
            return
        self._unit(step, b"" if framing is Framing.BINARY else entry.reading(), exchange)

    def finish(self) -> None:
        """Take in that there are no more entries.

        A unit of which only pieces are there was cut off by a crash: it can't be played. What the
        client said after the agent's end was never read by anyone.
        """
        if self._ends.place is not None:
            for step in self.steps[self._ends.place :]:
                step.optional |= step.side is Side.CLIENT
        for pieces in self._pieces.values():
            if pieces.first in self.steps:
                self.steps.remove(pieces.first)
        self._pieces.clear()
        self.streams_ended.finish(self.steps)

    # Units

    def _step(self, entry: Entry, framing: Framing) -> Step:
        redacted = entry.front.get("redacted") is True
        step = Step(
            entry.number, entry.offset, entry.at, entry.side, redacted=redacted, framing=framing
        )
        latest = self._latest.get(step.side)
        if latest is not None and latest.at == step.at:
            latest.ends_read = False
        self._latest[step.side] = step
        return step

    def _piece(self, step: Step, entry: Entry, exchange: "Exchange | None") -> None:
        key = step.side, exchange
        if entry.key == "msg":
            raise DamagedCassette(
                "a unit begins although the one before it, which is in pieces, has not ended",
                where=f"line {entry.number}",
                fix="restore the file, or delete the pieces before that line",
            )
        if key not in self._pieces:
            self._pieces[key] = Pieces()
            if step.side is Side.AGENT:
                self.steps.append(step)
        pieces = self._pieces[key]
        pieces.add(step, entry.unit())
        if not entry.more:
            del self._pieces[key]
            step, raw = pieces.finish()
            self._unit(step, text_of(raw, step.framing), exchange)

    def _unit(self, step: Step, text: bytes, exchange: "Exchange | None") -> None:
        messages, is_batch = _messages(text)
        if step.side is Side.CLIENT:
            refused = None if exchange is None else exchange.refused
            self._said_by_client(step, messages, refused, is_batch=is_batch)
            return
        self._ends.spoke(exchange)
        if not step.pieces:
            self.steps.append(step)
        if is_batch:
            step.parts = tuple(_member(step, index) for index in range(len(messages)))
        for part, message in zip(step.messages, messages, strict=False):
            self._message(part, message, step)
        if is_noise(step) and exchange is not None and exchange.session is not None:
            self.streams[step] = exchange.session
        self.streams_ended.spoke(step, exchange)

    def _said_by_client(
        self, unit: Step, messages: list[Message], refused: Refused | None, *, is_batch: bool
    ) -> None:
        steps = [unit]
        if is_batch:
            steps = [_member(unit, index) for index in range(len(messages))]
        for step, message in zip(steps, messages, strict=False):
            if refused is None:
                self._message(step, message, step)
            else:
                self._refuse(step, message, refused)
        for step in steps:
            step.optional = _is_optional(step)
            if not step.optional:
                self.streams_ended.spoke(step, None)
        self.steps += [step for step in steps if step.kind is not StepKind.ANSWER or not refused]

    def _refuse(self, step: Step, message: Message, refused: Refused) -> None:
        """Take in a message that the agent never got: it opens nothing and settles nothing."""
        match message:
            case Request(id=id_, method=method, params=params):
                step.kind, step.id = StepKind.REQUEST, id_
                self._call(step, method, params)
                self.refused[step] = refused
            case Notification(method=method, params=params):
                step.kind = StepKind.NOTIFICATION
                self._call(step, method, params)
                self.refused[step] = refused
            case Response():
                step.kind = StepKind.ANSWER
                request = self._open.find(Side.AGENT, message.id)
                if request is not None:
                    self.refused_answers.setdefault(request, []).append(refused)
            case Malformed():
                pass
            case _:
                assert_never(message)

    # Messages

    def _message(self, step: Step, message: Message, unit: Step) -> None:
        match message:
            case Request(id=id_, method=method, params=params):
                step.kind, step.id = StepKind.REQUEST, id_
                self._call(step, method, params)
                self._open.open(step.side, id_, step)
                self._remember(step)
            case Notification(method=method, params=params):
                step.kind = StepKind.NOTIFICATION
                self._call(step, method, params)
            case Response():
                step.kind, step.id = StepKind.ANSWER, message.id
                self._answer(step, message, unit)
            case Malformed():
                step.kind = StepKind.NOISE
            case _:
                assert_never(message)

    def _call(self, step: Step, method: str, params: object) -> None:
        method, params = methods.unwrap(method, params)
        step.method = self._word(method)
        session = session_of(params)
        if session is not None:
            step.session = self._word(session)
        if isinstance(params, dict):
            step.refers = self._quoted(step, params)
            if method == "session/update":
                self._update(step, params.get("update"))
        if step.side is Side.CLIENT and step.session is not None:
            self._named.add(step.session)
        elif step.side is Side.AGENT and (use := used_by(method, params)) is not None:
            self.uses.setdefault(use, step.number)

    def _update(self, step: Step, update: object) -> None:
        if isinstance(update, dict) and update.get("sessionUpdate") == _COMMANDS:
            self.commands.add(step)

    def _quoted(self, step: Step, params: dict[str, object]) -> Step | None:
        """Return the request whose `requestId` or `elicitationId` a call quotes."""
        row = METHODS.get(step.method)
        elicitation = params.get("elicitationId")
        if row is None:
            return None
        if row.scope is Scope.ELICITATION and isinstance(elicitation, str):
            return self._elicitations.get(elicitation)
        if row.scope is not Scope.REQUEST:
            return None
        if isinstance(elicitation, str):
            self._elicitations[elicitation] = step
        id_ = params.get("requestId")
        if isinstance(id_, bool) or not isinstance(id_, (int, str)):
            return None
        asker = step.side if row.kind is methods.Kind.NOTIFICATION else step.side.other
        return self._open.find(asker, id_) or self._recent.get((asker, id_))

    def _answer(self, step: Step, response: Response, unit: Step) -> None:
        asker = step.side.other
        request = self._open.settle(asker, response.id)
        if request is None:  # a second answer belongs to the request too, and settles nothing
            step.refers = self._recent.get((asker, response.id))
            return
        step.refers, step.method, step.session = request, request.method, request.session
        request.answer = unit
        result = response.result
        if response.failed or not isinstance(result, dict) or step.side is Side.CLIENT:
            return
        session = result.get("sessionId")
        if methods.mints(request.method) and isinstance(session, str):
            self._mint(session, Mint(request, unit))

    def _mint(self, session: str, mint: Mint) -> None:
        if session not in self._named:
            self.minted.setdefault(session, mint)

    def _remember(self, step: Step) -> None:
        self._recent.pop((step.side, step.id), None)
        self._recent[step.side, step.id] = step
        if len(self._recent) > _REMEMBERED:
            del self._recent[next(iter(self._recent))]

    def _word(self, word: str) -> str:
        return self._words.setdefault(word, word)


def _messages(text: bytes) -> tuple[list[Message], bool]:
    """Return the messages of a unit, and whether they are the members of an array."""
    try:
        value = jsontext.parse(text)
    except ValueError:
        return [], False
    return read_all(value, text), isinstance(value, list) and bool(value)


def _member(unit: Step, index: int) -> Step:
    return Step(
        unit.number, unit.offset, unit.at, unit.side,
        member=index, redacted=unit.redacted, framing=unit.framing, pieces=unit.pieces,
    )  # fmt: skip


def _is_optional(step: Step) -> bool:
    match step.kind:
        case StepKind.REQUEST:
            return False
        case StepKind.NOTIFICATION:
            return methods.is_optional_notification(step.method)
        case StepKind.ANSWER:
            return step.refers is None or step.refers.answer is not step
        case StepKind.NOISE:
            return True
        case _:
            assert_never(step.kind)
