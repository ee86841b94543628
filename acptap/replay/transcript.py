"""Read a recorded connection once, entry by entry, and tie its messages together."""

from dataclasses import dataclass, field
from typing import assert_never

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
from acptap.replay.script import Ending, Step, StepKind
from acptap.wire import jsontext

JOINED_LIMIT = 64 * 1024 * 1024
"""Bytes up to which a unit that was written in pieces is joined, so that it can be read."""

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


@dataclass(slots=True)
class _Pieces:
    """A unit that is coming in pieces."""

    steps: list[Step] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, step: Step, raw: bytes) -> None:
        self.steps.append(step)
        self.size += len(raw)
        if self.size > JOINED_LIMIT:
            self.raw.clear()
        else:
            self.raw.append(raw)

    def finish(self) -> tuple[Step, bytes]:
        first, *rest = self.steps
        first.pieces = tuple(rest)
        return first, b"" if self.size > JOINED_LIMIT else b"".join(self.raw)


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
        ending: How the agent's side ended.
    """

    def __init__(self) -> None:
        self.conn = 0
        self.steps: list[Step] = []
        self.minted: dict[str, Mint] = {}
        self.commands: set[Step] = set()
        self.uses: dict[str, int] = {}
        self.ending = Ending()
        self._open: Ledger[Step] = Ledger()
        self._recent: dict[tuple[Side, RequestId], Step] = {}
        self._elicitations: dict[str, Step] = {}
        self._named: set[str] = set()  # sessions that the client has spoken of
        self._latest: dict[Side, Step] = {}
        self._pieces: dict[Side, _Pieces] = {}
        self._words: dict[str, str] = {}  # one object for each method and session
        self._ended: set[Side] = set()

    def add(self, entry: Entry) -> None:
        """Take in the next entry of the connection."""
        self.conn = self.conn or entry.conn
        if entry.event is not None:
            self._transport(entry)
            return
        step = self._step(entry)
        if entry.more or step.side in self._pieces:
            self._piece(step, entry)
            return
        self._unit(step, entry.reading())

    def finish(self) -> None:
        """Take in that there are no more entries.

        A unit of which only pieces are there was cut off by a crash: it can't be played.
        """
        for pieces in self._pieces.values():
            step, _ = pieces.finish()
            if step in self.steps:
                self.steps.remove(step)
        self._pieces.clear()

    # Units

    def _transport(self, entry: Entry) -> None:
        if entry.event not in ("end", "exit"):
            return
        if entry.side is Side.AGENT:
            ending = self.ending
            before_client = ending.before_client or Side.CLIENT not in self._ended
            code, signal = entry.front.get("code"), entry.front.get("signal")
            self.ending = Ending(
                before_client,
                code if isinstance(code, int) else ending.code,
                signal if isinstance(signal, str) else ending.signal,
            )
        self._ended.add(entry.side)

    def _step(self, entry: Entry) -> Step:
        redacted = entry.front.get("redacted") is True
        step = Step(entry.number, entry.offset, entry.at, entry.side, redacted=redacted)
        latest = self._latest.get(step.side)
        if latest is not None and latest.at == step.at:
            latest.ends_read = False
        self._latest[step.side] = step
        return step

    def _piece(self, step: Step, entry: Entry) -> None:
        side = step.side
        if entry.key == "msg":
            raise DamagedCassette(
                "a unit begins although the one before it, which is in pieces, has not ended",
                where=f"line {entry.number}",
                fix="restore the file, or delete the pieces before that line",
            )
        if side not in self._pieces:
            self._pieces[side] = _Pieces()
            if side is Side.AGENT:
                self.steps.append(step)
        pieces = self._pieces[side]
        pieces.add(step, entry.unit())
        if not entry.more:
            del self._pieces[side]
            step, raw = pieces.finish()
            self._unit(step, jsontext.bare(raw))

    def _unit(self, step: Step, text: bytes) -> None:
        messages, is_batch = _messages(text)
        if step.side is Side.CLIENT:
            self._said_by_client(step, messages, is_batch=is_batch)
            return
        if not step.pieces:
            self.steps.append(step)
        if is_batch:
            step.parts = tuple(_member(step, index) for index in range(len(messages)))
        for part, message in zip(step.messages, messages, strict=False):
            self._message(part, message, step)

    def _said_by_client(self, unit: Step, messages: list[Message], *, is_batch: bool) -> None:
        steps = [unit]
        if is_batch:
            steps = [_member(unit, index) for index in range(len(messages))]
        for step, message in zip(steps, messages, strict=False):
            self._message(step, message, step)
        for step in steps:
            # what comes after the agent's end was never read by anyone
            step.optional = _is_optional(step) or Side.AGENT in self._ended
        self.steps += steps

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
        member=index, redacted=unit.redacted, pieces=unit.pieces,
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
