"""A cassette on the programme: read once, played to any number of clients.

What only the network takes is imported where it is: a client that starts its agent waits for us.
"""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from acptap.app.play.options import ReplayOptions
from acptap.errors import NothingToPlay
from acptap.replay.framing import Framing
from acptap.replay.lanes import build_all
from acptap.replay.player import Player
from acptap.replay.report import Report, describe
from acptap.replay.script import Script, Step
from acptap.storage import Recording

if TYPE_CHECKING:
    from acptap.replay.agui.player import RunPlayer
    from acptap.replay.agui.recorded import RecordedRun
    from acptap.replay.exchanges import Exchange
    from acptap.replay.plain import PlainExchanges

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
        runs: Its AG-UI runs.
        began: The instant from which it counts, if its header tells.
    """

    cassette: Path
    scripts: list[Script]
    torn: int | None
    plain: "list[Exchange]" = field(default_factory=list)
    runs: "list[RecordedRun]" = field(default_factory=list)
    began: datetime | None = None

    @classmethod
    def load(cls, cassette: Path) -> "Programme":
        """Read a cassette.

        Raises:
            CassetteError: It can't be played.
        """
        with Recording(cassette) as recording:
            recording.require_entries()
            if recording.header.transport == STDIO:
                return cls(cassette, build_all(recording), recording.torn)
            from acptap.replay.agui import dates  # noqa: PLC0415 see above
            from acptap.replay.agui.recorded import runs_of  # noqa: PLC0415
            from acptap.replay.exchanges import Exchanges  # noqa: PLC0415

            exchanges = Exchanges(recording)
            scripts = build_all(recording, exchanges)
            runs = runs_of(exchanges, recording)
            numbers = {run.number for run in runs}
            plain = [exchange for exchange in exchanges.plain if exchange.number not in numbers]
            began = dates.read(recording.header.recorded_at)
            return cls(cassette, scripts, recording.torn, plain, runs, began)

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
            raise self.nothing_to_play()

        def read(step: Step) -> bytes:
            return recording.fetch(step.offset)

        script = self.scripts[(number - 1) % len(self.scripts)]
        return Player(script, read=read, matcher=options.matcher, framing=framing)

    def nothing_to_play(self) -> NothingToPlay:
        """Return what is wrong where a connection is to be played, and there is none."""
        return NothingToPlay(
            "the cassette holds no ACP connection, only HTTP", where=str(self.cassette),
            fix="play it with `acptap replay --listen 8484`",
        )  # fmt: skip

    def run_player(
        self, recording: Recording, options: ReplayOptions, *, once: bool = False
    ) -> "RunPlayer":
        """Return the player of the AG-UI runs: all of them, whoever asks."""
        from acptap.replay.agui.player import Options, RunPlayer  # noqa: PLC0415 see above

        how = Options(
            options.matcher, self.began,
            once=once, verbatim=options.verbatim, shift_expiry=options.shift_expiry,
        )  # fmt: skip
        return RunPlayer(self.runs, recording.fetch, how)

    def plain_player(self) -> "PlainExchanges":
        """Return the player of the exchanges that carry no conversation."""
        from acptap.replay.plain import PlainExchanges  # noqa: PLC0415 see above

        return PlainExchanges(self.plain, has_connections=bool(self.scripts))

    def unasked(self, recording: Recording) -> list[Report]:
        """Return the reports on the cassette as if nobody had asked for anything."""
        numbers = range(1, len(self.scripts) + 1)
        options = ReplayOptions()
        reports = [self.player(number, recording, options).report() for number in numbers]
        if self.runs:
            reports.append(self.run_player(recording, options).report())
        return reports

    def describe(self, number: int) -> str:
        """Return what stands in a line of the cassette that is to be played, in words."""
        for run in self.runs:
            if number in run.lines:
                return str(run)
        found = next((exchange for exchange in self.plain if number in exchange.lines), None)
        if found is not None:
            return str(found)
        steps = (step for script in self.scripts for lane in script.lanes for step in lane.steps)
        return describe(next(step for step in steps if step.number == number))
