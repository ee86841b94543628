"""A simulated client that plays a recorded conversation at its own pace.

From a seed it sends every message of the recorded client at any moment between the earliest at
which it can know what to send and the recorded place: one request at a time or pipelined, answers
in any order, optional messages or not, with ids, sessions, terminals and a folder of its own.
"""

import random
import uuid
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from acptap.jsonrpc import Side
from acptap.replay.player import Player
from acptap.replay.release import Release, Waiting
from acptap.replay.report import Report
from tests.replay.conversations import HOME, Recorded
from tests.replay.plans import Said, Turn, plan

ERROR = -32001
LIVE_HOME = "/srv/live/of mine"


class Fake(Protocol):
    """What is tested: a fake agent."""

    def start(self) -> list[Release]: ...
    def receive(self, text: bytes) -> list[Release]: ...
    def waiting(self) -> list[Waiting]: ...
    def give_up(self, lane) -> list[Release]: ...
    def client_ended(self) -> list[Release]: ...
    def report(self) -> Report: ...


def player_of(recorded: Recorded) -> Fake:
    return Player(recorded.script, read=recorded.read)


class Walker:
    """A fake player: plays the cassette in recorded order and ignores what it receives."""

    def __init__(self, recorded: Recorded) -> None:
        self._entries = deque(recorded.entries.values())

    def start(self) -> list[Release]:
        return list(self._walk())

    def receive(self, text: bytes) -> list[Release]:
        del text
        while self._entries and self._entries[0].side is Side.CLIENT:
            self._entries.popleft()
        return list(self._walk())

    def _walk(self) -> Iterator[Release]:
        while self._entries and self._entries[0].side is Side.AGENT:
            entry = self._entries.popleft()
            yield Release(None, entry.at, True, entry.number, entry.unit())

    def waiting(self) -> list[Waiting]:
        return []

    def give_up(self, lane) -> list[Release]:
        raise AssertionError(lane)

    def client_ended(self) -> list[Release]:
        return []

    def report(self) -> Report:
        return Report()


@dataclass
class Change:
    """Something that a client does other than recorded.

    Attributes:
        kind: `missing`, `extra` or `altered`.
        place: The place of the recorded message it does it to.
    """

    kind: str
    place: int


@dataclass
class Run:
    """What a client saw.

    Attributes:
        begun: The lines it was sent before it said anything.
        read: What it read, in order, with the line it came from (None for acptap's own).
        sent: Live ids of its requests, by JSON text, with the place of the recorded one.
        unsent: Recorded messages it never came to send.
        report: What the fake says at the end.
        finished: Whether the fake says that everything was played.
    """

    begun: list[int | None] = field(default_factory=list)
    read: list[tuple[int | None, bytes]] = field(default_factory=list)
    sent: dict[bytes, int] = field(default_factory=dict)
    unsent: list[Said] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    report: Report = field(default_factory=Report)

    def answers(self) -> Counter[bytes]:
        """Return how often each live request was answered."""
        ids: Counter[bytes] = Counter()
        for _, text in self.read:
            for message in members(text):
                if "method" not in message and message.get("id") is not None:
                    ids[orjson.dumps(message["id"])] += 1
        return ids


def members(text: bytes) -> list[dict[str, object]]:
    """Return the messages of a unit."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return []
    return value if isinstance(value, list) else [value]


class Client:
    """One simulated client."""

    def __init__(self, said: list[Said], seed: int, change: Change | None = None) -> None:
        self._said = said
        self._chance = random.Random(seed)
        self._change = change
        self._turns = plan(said)
        self._pipelined = self._chance.random() < 0.6
        self._wants_commands = change is None and self._chance.random() < 0.5
        self._ids = self._chance.choice([self._number, self._word, self._uuid])
        self._count = self._chance.randrange(1000)
        named: dict[
            str | None, Side
        ] = {}  # a client that knows no id of its own uses the recorded ones
        for one in said:
            named.setdefault(one.session, one.side)
        minted = {
            (one.message.get("result") or {}).get("sessionId")
            for one in said
            if one.side is Side.AGENT and one.asked
        }
        own = [
            id_ for id_, side in named.items() if id_ and side is Side.CLIENT and id_ not in minted
        ]
        self.renamed = {id_: f"mine-{n}-{id_[::-1]}" for n, id_ in enumerate(own)}
        if self._chance.random() < 0.3:
            self.renamed = {}
        self.home = self._chance.choice([HOME, LIVE_HOME])
        self._inbox: deque[Release] = deque()
        self._read: set[int] = set()  # places
        self._sent_places: set[int] = set()
        self._live_ids: dict[int, object] = {}
        self._open = 0

    def play(self, fake: Fake) -> Run:
        run = Run()
        self._inbox += fake.start()
        run.begun = [release.number for release in self._inbox]
        left = [turn for turn in self._turns if not self._drops(turn.said)]
        while True:
            ready = [turn for turn in left if self._is_ready(turn)]
            now = [turn for turn in ready if self._pipelined or not self._waits(turn)]
            if not self._inbox and not now and not self._insists():
                now = ready[:1]
            if not self._inbox and not now:
                break
            choice = self._chance.choice([*([None] if self._inbox else []), *now])
            if choice is None:
                self._take(self._inbox.popleft(), run)
            else:
                left.remove(choice)
                for text in self._texts(choice.said, run):
                    self._inbox += fake.receive(text)
        run.unsent = [turn.said for turn in left]
        self._leave(fake, run)
        return run

    def _leave(self, fake: Fake, run: Run) -> None:
        for waiting in fake.waiting():
            run.given_up.append(str(waiting))
            self._inbox += fake.give_up(waiting.lane)
        self._inbox += fake.client_ended()
        while self._inbox:
            self._take(self._inbox.popleft(), run)
        run.report = fake.report()

    # When

    def _drops(self, said: Said) -> bool:
        if self._change == Change("missing", said.place):
            return True
        return said.is_optional and self._change is None and self._chance.random() < 0.5

    def _is_ready(self, turn: Turn) -> bool:
        missing = {self._change.place} if self._change and self._change.kind == "missing" else set()
        reading = turn.after_reading | (turn.commands if self._wants_commands else set())
        return reading <= self._read and turn.after_sending <= self._sent_places | missing

    def _waits(self, turn: Turn) -> bool:
        return turn.said.is_request and self._open > 0

    def _insists(self) -> bool:
        """Return whether a request is open that must be answered before anything else is sent."""
        return self._change is None and any(
            turn.at_once and turn.said.place in self._live_ids and not self._is_answered(turn.said)
            for turn in self._turns
        )

    def _is_answered(self, said: Said) -> bool:
        return any(one.asked is said and one.place in self._read for one in self._said)

    def _take(self, release: Release, run: Run) -> None:
        data = release.data
        run.read.append((release.number, data))
        for message in members(data):
            if "method" not in message and message.get("id") is not None:
                self._open -= 1
        if release.number is not None:
            self._read |= {one.place for one in self._said if one.number == release.number}

    # What

    def _texts(self, said: Said, run: Run) -> Iterator[bytes]:
        self._sent_places.add(said.place)
        altered = self._change == Change("altered", said.place)
        yield self._text(said, run, altered=altered)
        if self._change == Change("extra", said.place):
            yield self._text(said, run, altered=False)

    def _text(self, said: Said, run: Run, *, altered: bool) -> bytes:
        if not isinstance(said.message, dict):
            return str(said.message).encode() + b"\n"
        message = self._own(said.message, "")
        assert isinstance(message, dict)
        if said.is_request:
            self._live_ids[said.place] = message["id"] = self._ids()
            run.sent[orjson.dumps(message["id"])] = said.place
            self._open += 1
        if said.method == "$/cancel_request":
            message["params"] = {"requestId": self._quoted(said)}
        if altered:
            alter(message)
        return orjson.dumps(message) + b"\n"

    def _quoted(self, said: Said) -> object:
        turn = next(turn for turn in self._turns if turn.said is said)
        return self._live_ids.get(max(turn.after_sending, default=-1), 0)

    def _own(self, value: object, name: str) -> object:
        """Return a recorded value as this client says it."""
        match value:
            case dict():
                return {key: self._own(inner, key) for key, inner in value.items()}
            case list():
                return [self._own(inner, name) for inner in value]
            case str() if name == "sessionId":
                return self.renamed.get(value, value)
            case str() if name == "terminalId":
                return "term-of-mine"
            case str():
                return value.replace(HOME, self.home)
            case _:
                return value

    def _number(self) -> int:
        self._count += 1
        return self._count

    def _word(self) -> str:
        return f"c/{self._number()}"

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._chance.getrandbits(128), version=4))


def alter(message: dict[str, Any]) -> None:
    """Make a message another one: another method, or another decision."""
    if "method" in message:
        message["method"] = f"{message['method']}_x"
    elif "error" in message and message["id"] is not None:
        del message["error"]
        message["result"] = {}
    elif "result" in message:
        message["error"] = {"code": -32000, "message": "changed"}
        del message["result"]
    else:
        message["error"]["code"] -= 1
