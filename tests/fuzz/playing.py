"""Plays what any client says to a player, and keeps account of what is owed to it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from acptap.cassette import Entry
from acptap.jsonrpc import Request, RequestId, Response, Side
from acptap.replay import lanes
from acptap.replay.live import messages, plain_id
from acptap.replay.player import Player
from acptap.replay.release import Release
from acptap.replay.script import Script, Step
from acptap.wire import jsontext
from tests.fuzz.author import Line


class Cassette:
    """A tape in memory."""

    def __init__(self, entries: list[Entry]) -> None:
        self.script: Script = lanes.build(entries)
        self._units = {entry.offset: entry.unit() for entry in entries}

    def read(self, step: Step) -> bytes:
        return self._units[step.offset]

    def player(self) -> Player:
        return Player(self.script, read=self.read)


@dataclass
class Run:
    """What became of a client.

    Attributes:
        player: The player it spoke with.
        asked: How often it used each id for a request.
        answered: How often an answer with each id came.
        heard: The lines of the cassette that were played, in order.
        refusals: How many answers of acptap's own came.
    """

    player: Player
    asked: Counter[bytes] = field(default_factory=Counter)
    answered: Counter[bytes] = field(default_factory=Counter)
    heard: list[int] = field(default_factory=list)
    refusals: int = 0

    def say(self, unit: bytes) -> None:
        """Send one unit, and take in what comes of it."""
        for message, _ in messages(jsontext.bare(unit)):
            if isinstance(message, Request):
                self.asked[key_of(message.id)] += 1
        self.take(self.player.receive(unit))

    def take(self, releases: Iterable[Release]) -> None:
        for release in releases:
            if release.number is None:
                self.refusals += 1
            else:
                self.heard.append(release.number)
            for message, _ in messages(jsontext.bare(release.data)):
                if isinstance(message, Response):
                    self.answered[key_of(message.id)] += 1

    def unanswered(self) -> Counter[bytes]:
        """Return the requests that were not answered."""
        return self.asked - self.answered

    def waiting(self) -> int:
        """Return how many requests the player says are open."""
        return sum(len(waiting.requests) for waiting in self.player.waiting())


def key_of(id_: RequestId) -> bytes:
    return plain_id(id_)


def play(cassette: Cassette, units: Iterable[bytes]) -> Run:
    """Send units one after the other, each when all before it was taken in."""
    run = Run(cassette.player())
    run.take(run.player.start())
    for unit in units:
        run.say(unit)
    return run


def said_by_client(lines: list[Line]) -> list[bytes]:
    """Return the units of the client."""
    return [raw for side, raw in lines if side is Side.CLIENT]


def check_account(cassette: Cassette, run: Run) -> None:
    """Hold a run to what the player promises to any client, whatever it says."""
    units = {step.number for lane in cassette.script.lanes for step in lane.steps}
    assert max(Counter(run.heard).values(), default=0) <= 1, "a unit was played twice"
    assert set(run.heard) <= units
    assert run.unanswered().total() <= run.waiting(), "a request is open, and nobody says so"
    for waiting in run.player.waiting():
        run.take(run.player.give_up(waiting.lane))
    assert run.player.waiting() == []
    assert not run.unanswered(), "a request was given up without an answer"
    run.take(run.player.client_ended())
    assert run.refusals <= run.asked.total(), "more refusals than requests"
    run.player.report().as_json()
    run.player.report().lines()
