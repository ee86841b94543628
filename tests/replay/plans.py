"""What the recorded client knew, and when: the earliest moment of each thing it said."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from acptap.jsonrpc import Side
from tests.replay.conversations import Recorded


@dataclass
class Said:
    """One recorded message: of a batch, a member."""

    place: int
    number: int
    side: Side
    message: Any
    asked: "Said | None" = None  # of an answer: what it answers

    @property
    def method(self) -> str | None:
        return self.message.get("method") if isinstance(self.message, dict) else None

    @property
    def session(self) -> str | None:
        params = self.message.get("params") if isinstance(self.message, dict) else None
        session = params.get("sessionId") if isinstance(params, dict) else None
        return session if isinstance(session, str) else None

    @property
    def minted(self) -> str | None:
        """The session that an answer of the agent's names, if it is a new one."""
        if self.asked is None or self.asked.method not in ("session/new", "session/fork"):
            return None
        minted = members_of(self.message, "result").get("sessionId")
        return minted if isinstance(minted, str) else None

    @property
    def is_request(self) -> bool:
        return self.method is not None and "id" in self.message

    @property
    def is_optional(self) -> bool:
        if self.method is None:
            return self.asked is None
        return not self.is_request and self.method.startswith(("$/", "_"))


@dataclass
class Turn:
    """A message that the client is going to send.

    Attributes:
        said: The recorded one.
        after_reading: Places of what it must have read before.
        after_sending: Places of what it must have sent before.
        commands: Places of what it may wait for before it prompts: the session's commands.
        at_once: Of a request, whether the client may insist on the answer before it goes on.
    """

    said: Said
    after_reading: set[int] = field(default_factory=set)
    after_sending: set[int] = field(default_factory=set)
    commands: set[int] = field(default_factory=set)
    at_once: bool = False


def transcribe(recorded: Recorded) -> list[Said]:
    """Return the messages of a recording, answers tied to what they answer."""
    said: list[Said] = []
    for entry in recorded.entries.values():
        text = entry.reading()
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            value = text.decode()
        for message in value if isinstance(value, list) else [value]:
            said.append(Said(len(said), entry.number, entry.side, message))
    tie(said)
    return said


def tie(said: list[Said]) -> None:
    pending: dict[tuple[Side, str], deque[Said]] = {}
    for one in said:
        if not isinstance(one.message, dict) or "id" not in one.message:
            continue
        id_ = repr(one.message["id"])
        if one.is_request:
            pending.setdefault((one.side, id_), deque()).append(one)
        elif one.method is None and (asked := pending.get((one.side.other, id_))):
            one.asked = asked.popleft()


def plan(said: list[Said]) -> list[Turn]:
    """Return what the client sends, each with the earliest moment at which it can."""
    minted = {
        one.message["result"]["sessionId"]: one.place
        for one in reversed(said)
        if one.side is Side.AGENT and one.asked and "sessionId" in (one.message.get("result") or {})
    }
    clients = {one.session for one in said if one.side is Side.CLIENT}
    turns = [Turn(one) for one in said if one.side is Side.CLIENT]
    for turn in turns:
        one = turn.said
        if one.asked is not None:
            turn.after_reading.add(one.asked.place)
        elif one.method == "$/cancel_request":
            quoted = repr(one.message["params"]["requestId"])
            turn.after_sending |= {
                other.place
                for other in said[: one.place]
                if other.side is Side.CLIENT
                and other.is_request
                and repr(other.message["id"]) == quoted
            }
        elif one.session is not None:
            turn.after_reading |= {minted[one.session]} if one.session in minted else set()
            turn.after_sending |= set(_before_call(said, one, clients))
        turn.at_once = _is_answered_at_once(said, one)
        turn.commands = set(_commands_behind(said, one))
    return turns


def _is_answered_at_once(said: list[Said], one: Said) -> bool:
    """Return whether all the client said until the answer, it said in one go with the request."""
    agent_spoke = False
    for other in said[one.place + 1 :]:
        if other.asked is one:  # a batch answers when it can answer all
            return [third.number for third in said].count(other.number) == 1
        agent_spoke |= other.side is Side.AGENT
        if agent_spoke and other.side is Side.CLIENT and not other.is_optional:
            return False
    return False


def _commands_behind(said: list[Said], one: Said) -> Iterator[int]:
    """Yield the commands that were announced right behind a prompt that itself came in its turn."""
    around = said[one.place - 1], *said[one.place + 1 : one.place + 2]
    if one.method == "session/prompt" and [other.side for other in around] == [Side.AGENT] * 2:
        update = members_of(around[1].message, "params", "update")
        if update.get("sessionUpdate") == "available_commands_update":
            yield around[1].place


def members_of(message: Any, *names: str) -> dict[str, Any]:
    """Return the object under some members, or an empty one."""
    for name in names:
        message = message.get(name) if isinstance(message, dict) else None
    return message if isinstance(message, dict) else {}


def _before_call(said: list[Said], one: Said, clients: set[str | None]) -> Iterator[int]:
    """Yield what a call in a session comes after: the session's calls and the answers it gave."""
    agent_spoke = False  # between the other and this one; else they may swap
    for other in reversed(said[: one.place]):
        agent_spoke |= other.side is Side.AGENT
        if other.side is Side.AGENT or other.is_optional or not agent_spoke:
            continue
        if one.method == "session/cancel":  # a whim; it needs something to stop
            if other.method == "session/prompt" and other.session == one.session:
                yield other.place
                return
        elif other.asked is not None:
            asked = other.asked.session
            if asked == one.session or asked is None or asked not in clients:
                yield other.place
        elif other.session == one.session:
            yield other.place
