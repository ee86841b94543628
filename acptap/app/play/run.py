"""A run: everything that played one cassette in one test, or under one `acptap exec`."""

import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from acptap.app.play.journal import AGUI, PLAIN, Hearing, hearings, open_folder
from acptap.app.play.options import ReplayOptions
from acptap.app.play.programme import Programme
from acptap.replay.report import Report, combine
from acptap.replay.script import Script
from acptap.storage import Recording

_POLL = 0.01


@dataclass(frozen=True, slots=True)
class Run:
    """The live connections to a cassette, known by the journals they leave in a folder.

    Attributes:
        folder: The run's folder. Who makes the run makes and removes it.
        programme: What is played.
        options: How.
        journals: Where the journals are.
    """

    folder: Path
    programme: Programme
    options: ReplayOptions
    journals: Path

    @classmethod
    def begin(cls, folder: Path, cassette: Path, options: ReplayOptions) -> "Run":
        """Return a run in an empty folder.

        Raises:
            CassetteError: The cassette can't be played.
        """
        programme = Programme.load(cassette)
        return cls(folder, programme, options, open_folder(folder, cassette))

    @property
    def command(self) -> list[str]:
        """What starts an agent that belongs to the run; it needs nothing of the environment."""
        return [
            # -P: the folder a client starts its agent in may hold modules of any name
            *(sys.executable, "-P", "-m", "acptap", "replay", "--quiet", "--stdio"),
            *("--run", str(self.folder.absolute()), *self.options.arguments()),
            str(self.programme.cassette.absolute()),
        ]

    @property
    def environment(self) -> dict[str, str]:
        """What tells a program about the run."""
        return {
            "ACPTAP_AGENT": shlex.join(self.command),
            "ACPTAP_RUN": str(self.folder.absolute()),
        }

    @property
    def is_asked(self) -> bool:
        """Whether anybody asked for the cassette."""
        return bool(self.hearings() or self.askings() or self.requests())

    def hearings(self) -> list[Hearing]:
        """Return what is known of the live connections, in the order they began."""
        return hearings(self.journals)

    def askings(self) -> list[Hearing]:
        """Return what is known of those who asked for AG-UI runs, for each who played them."""
        return hearings(self.journals, AGUI)

    def requests(self) -> list[Hearing]:
        """Return what is known of those who asked for anything else over HTTP, likewise."""
        return hearings(self.journals, PLAIN)

    def report(self) -> Report:
        """Return what became of the cassette."""
        with Recording(self.programme.cassette) as recording:
            reports = [self._report(hearing, recording) for hearing in self.hearings()]
            reports += [self._report_of_runs(hearing, recording) for hearing in self.askings()]
            reports += self._reports_of_requests()
            return combine([*reports, *self.programme.unasked(recording)])

    def is_fine(self, report: Report) -> bool:
        """Return whether somebody asked for the cassette, and the report is good enough."""
        return self.options.accept(report) and self.is_asked

    def settle(self, seconds: float) -> Report:
        """Wait until the report is fine or cannot change any more; return it.

        Args:
            seconds: How long to wait at most for agents that have not taken in all that was sent.
        """
        deadline = time.monotonic() + seconds
        while True:
            is_live = any(hearing.is_live for hearing in [*self.hearings(), *self.askings()])
            report = self.report()
            if self.is_fine(report) or not is_live or time.monotonic() >= deadline:
                return report
            time.sleep(_POLL)

    def lines(self, report: Report) -> list[str]:
        """Return a report for people, a line each."""
        if not self.is_asked:
            return ["the cassette was never asked for: no client talked to its agent"]
        said = report.lines()
        if report.unplayed:
            first = report.unplayed[0]
            place = len(report.unmatched) + len(report.differing)  # of what was never played
            said[place] += f" (line {first} is {self.programme.describe(first)})"
        return said

    def played(self, report: Report) -> set[int]:
        """Return the lines of the cassette that were played, by any connection."""
        unplayed = set(report.unplayed)
        played: set[int] = set()
        for script in self._asked():
            for lane in script.lanes:
                for step in lane.steps:
                    if step.number not in unplayed:
                        played.update(part.number for part in (step, *step.pieces))
        if self.askings():
            played.update(line for run in self.programme.runs for line in run.lines)
        return played - unplayed

    def _asked(self) -> list[Script]:
        scripts = self.programme.scripts
        return [script for script, _ in zip(scripts, self.hearings(), strict=False)]

    def _report(self, hearing: Hearing, recording: Recording) -> Report:
        player = self.programme.player(hearing.number, recording, self.options, hearing.framing)
        misses = hearing.tell(player)
        report = player.report()
        report.unmatched += misses
        return report

    def _reports_of_requests(self) -> list[Report]:
        """Return the reports on plain exchanges: only who uses HTTP can ask for them."""
        players = [self.programme.plain_player() for _ in self.requests()]
        for hearing, player in zip(self.requests(), players, strict=False):
            hearing.tell_plain(player)
        if not players and self.askings():
            players.append(self.programme.plain_player())
        return [player.report() for player in players]

    def _report_of_runs(self, hearing: Hearing, recording: Recording) -> Report:
        player = self.programme.run_player(recording, self.options)
        hearing.tell_runs(player)
        return player.report()
