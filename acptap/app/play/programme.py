"""A cassette on the programme: read once, played to any number of clients."""

from dataclasses import dataclass
from pathlib import Path

from acptap.app.play.options import ReplayOptions
from acptap.replay.lanes import build_all
from acptap.replay.player import Player
from acptap.replay.report import Report
from acptap.replay.script import Script, Step
from acptap.storage import Recording


@dataclass(frozen=True, slots=True)
class Programme:
    """A cassette, ready to be played.

    Attributes:
        cassette: The file.
        scripts: Its recorded connections.
        torn: The number of a last line that a crash cut off, or None.
    """

    cassette: Path
    scripts: list[Script]
    torn: int | None

    @classmethod
    def load(cls, cassette: Path) -> "Programme":
        """Read a cassette.

        Raises:
            CassetteError: It can't be played.
        """
        with Recording(cassette) as recording:
            recording.require_entries()
            scripts = build_all(recording)
            return cls(cassette, scripts, recording.torn)

    def player(self, number: int, recording: Recording, options: ReplayOptions) -> Player:
        """Return the player for the live connection of a number.

        The n-th plays the n-th recorded one; when they run out it goes on with the first.
        """

        def read(step: Step) -> bytes:
            return recording.fetch(step.offset)

        script = self.scripts[(number - 1) % len(self.scripts)]
        return Player(script, read=read, matcher=options.matcher)

    def unasked(self, recording: Recording) -> list[Report]:
        """Return the report of each recorded connection as if nobody had asked for it."""
        numbers = range(1, len(self.scripts) + 1)
        return [self.player(number, recording, ReplayOptions()).report() for number in numbers]

    def step(self, number: int) -> Step:
        """Return the step at a line of the cassette."""
        steps = (step for script in self.scripts for lane in script.lanes for step in lane.steps)
        return next(step for step in steps if step.number == number)
