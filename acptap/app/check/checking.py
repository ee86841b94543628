"""`acptap check`: reads cassettes anew, and says what the rules make of them."""

import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from acptap import checking
from acptap.app.check.progress import Progress
from acptap.app.check.verdicts import FORMATS, Report, Tally
from acptap.app.show.screen import silence
from acptap.cassette import ANNOTATIONS
from acptap.checking import Finding, Reader
from acptap.errors import CassetteError, CassetteMissing
from acptap.notes import Severity
from acptap.storage import Recording
from acptap.timeline.printable import visible

UNREADABLE = 2


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What the user asked for.

    Attributes:
        format: `text`, `json` or `junit`.
        strict: Whether warnings count as violations do.
    """

    format: str = "text"
    strict: bool = False

    @property
    def failing(self) -> frozenset[Severity]:
        """The severities that make a cassette not fine."""
        strict = frozenset({Severity.VIOLATION, Severity.WARNING})
        return strict if self.strict else frozenset({Severity.VIOLATION})


def check_command(paths: Sequence[Path], options: CheckOptions, out: TextIO | None = None) -> int:
    """Check cassettes and return the exit code: 2 if one can't be read, 1 if one is not fine.

    Raises:
        OSError: The report can't be written.
    """
    out = sys.stdout if out is None else out
    if isinstance(out, io.TextIOWrapper):
        if options.format == "text":
            out.reconfigure(errors="backslashreplace")
        else:
            out.reconfigure(encoding="utf-8")
    report = FORMATS[options.format](out, options.failing)
    try:
        total, unreadable = _check_all(paths, report)
        out.flush()
    except BrokenPipeError:  # whoever read it has seen enough
        silence(out)
        return 1
    if unreadable:
        return UNREADABLE
    return 1 if any(total.counts[severity] for severity in options.failing) else 0


def _check_all(paths: Sequence[Path], report: Report) -> tuple[Tally, int]:
    """Write the report, and return what was found and how many cassettes could not be read."""
    total, unreadable = Tally(), 0
    report.begin()
    for path in paths:
        tally = Tally()
        report.open(str(path))
        try:
            for finding in _check(path, tally):
                tally.counts[finding.severity] += 1
                report.find(finding)
        except CassetteError as error:
            tally.error = str(error)
            unreadable += 1
        report.close(tally)
        total.add(tally)
    report.end(total, len(paths), unreadable)
    return total, unreadable


def _check(path: Path, tally: Tally) -> Iterator[Finding]:
    """Yield what a cassette meets, in order; what is true of the whole file comes last.

    Raises:
        CassetteError: It can't be read, or not to its end.
    """
    try:
        with Recording(path) as recording, Progress(path) as progress:
            if not checking.is_current(recording.header):
                _say_revision(path, recording.header.annotations)
            yield from checking.findings_of_header(recording.header)
            yield from _check_entries(recording, tally, progress)
    except OSError as error:
        raise CassetteMissing(
            f"the cassette can't be read on ({error})", where=str(path),
            fix="copy it to another disk, or record again",
        ) from error  # fmt: skip


def _check_entries(recording: Recording, tally: Tally, progress: Progress) -> Iterator[Finding]:
    reader, first, differing = Reader(recording.header), 0, 0
    current = checking.is_current(recording.header)
    for entry in recording:
        members = reader.members(entry)
        if current and checking.differs(entry, members):
            first, differing = first or entry.number, differing + 1
        yield from checking.findings(entry, members)
        tally.entries += 1
        progress.reach(entry.offset)
    if first:
        yield Finding(first, checking.DIFFER, {"lines": differing})
    if recording.torn is not None:
        yield Finding(recording.torn, checking.TORN)


def _say_revision(path: Path, revision: int) -> None:
    age = "an older" if revision < ANNOTATIONS else "a newer"
    sys.stderr.write(
        f"acptap: {visible(str(path))}: its annotations are of {age} revision ({revision}, not "
        f"{ANNOTATIONS}) and were not compared; `acptap annotate` writes them anew\n"
    )
