"""A cassette on the programme: read once, played to any number of clients."""

from dataclasses import dataclass
from pathlib import Path

from acptap.app.play.options import ReplayOptions
from acptap.errors import NothingToPlay
from acptap.replay.exchanges import Exchange, Exchanges
from acptap.replay.framing import Framing
from acptap.replay.lanes import build_all
from acptap.replay.player import Player
from acptap.replay.report import Report
from acptap.replay.script import Script, Step
from acptap.storage import Recording

STDIO = "stdio"
"""The transport, as headers name it, of what was recorded on standard input and output."""


def is_of_the_network(cassette: Path) -> bool:
    """Return whether a cassette was recorded on the network.

    Raises:
        CassetteError: It can't be read.
    """
    with Recording(cassette) as recording:
        return recording.header.transport != STDIO


@dataclass(frozen=True, slots=True)
class Programme:
    """A cassette, ready to be played.

    Attributes:
        cassette: The file.
        scripts: Its recorded connections.
        torn: The number of a last line that a crash cut off, or None.
        plain: Its HTTP exchanges that carry no conversation.
    """

    cassette: Path
    scripts: list[Script]
    torn: int | None
    plain: list[Exchange]

    @classmethod
    def load(cls, cassette: Path) -> "Programme":
        """Read a cassette.

        Raises:
            CassetteError: It can't be played.
        """
        with Recording(cassette) as recording:
            recording.require_entries()
            if recording.header.transport == STDIO:
                return cls(cassette, build_all(recording), recording.torn, [])
            exchanges = Exchanges(recording)
            scripts = build_all(recording, exchanges)
            return cls(cassette, scripts, recording.torn, exchanges.plain)

    def player(
        self,
        number: int,
        recording: Recording,
        options: ReplayOptions,
        framing: Framing = Framing.LINE,
    ) -> Player:
        """Return the player for the live connection of a number.

        The n-th plays the n-th recorded one; when they run out it goes on with the first.

        Raises:
            NothingToPlay: There is no recorded connection, only exchanges that are no ACP.
        """
        if not self.scripts:
            raise NothingToPlay(
                "the cassette holds no ACP connection, only HTTP", where=str(self.cassette),
                fix="play it with `acptap replay --listen 8484`",
            )  # fmt: skip

        def read(step: Step) -> bytes:
            return recording.fetch(step.offset)

        script = self.scripts[(number - 1) % len(self.scripts)]
        return Player(script, read=read, matcher=options.matcher, framing=framing)

    def unasked(self, recording: Recording) -> list[Report]:
        """Return the report of each recorded connection as if nobody had asked for it."""
        numbers = range(1, len(self.scripts) + 1)
        return [self.player(number, recording, ReplayOptions()).report() for number in numbers]

    def step(self, number: int) -> Step:
        """Return the step at a line of the cassette."""
        steps = (step for script in self.scripts for lane in script.lanes for step in lane.steps)
        return next(step for step in steps if step.number == number)
