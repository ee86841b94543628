"""`acptap show`: a cassette as a timeline, on a terminal, in a pipe, or as JSON."""

import io
import os
import select
import shutil
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO, TypeVar

from rich.console import COLOR_SYSTEMS, Console
from rich.style import Style

from acptap.app import following
from acptap.app.export import json_line
from acptap.app.layout import PLAIN, RICH, Layout, Pieces
from acptap.cassette import Entry
from acptap.errors import AcptapError, DamagedCassette, UsageError
from acptap.storage import Recording
from acptap.timeline.folding import Folding
from acptap.timeline.printable import visible
from acptap.timeline.rows import Row, Timeline
from acptap.timeline.selection import Selection, compile_pattern, find_session

_QUIET_LOOKS = 3
"""Looks at a file without anything new until an unfinished run of chunks is shown."""
_LIVE_SPAN = 1.0
"""Seconds that a run of chunks may last while it is followed."""

_STYLES = {
    "speech": "none", "quiet": "dim", "time": "dim", "prompt": "bold",
    "thought": "italic dim", "tool": "cyan", "ask": "yellow", "call": "blue",
    "event": "dim", "stderr": "dim", "noise": "magenta", "error": "red",
    "client": "dim", "agent": "dim",
    "idle": "dim", "running": "green", "requires_action": "bold yellow",
    "unknown": "magenta", "other": "magenta", "none": "dim", "closed": "dim",
    "violation": "bold red", "warning": "yellow", "note": "blue",
    "hue0": "bright_cyan", "hue1": "cyan", "hue2": "magenta", "hue3": "blue",
    "hue4": "bright_green", "hue5": "bright_magenta",
}  # fmt: skip


E = TypeVar("E", Entry, Entry | None)


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """What the user asked for.

    Attributes:
        follow: Go on with what is appended.
        expand: Show every chunk in a row of its own.
        json: Write JSON lines.
        session: An id, the beginning of one, or a label.
        kinds: Kinds of rows.
        pattern: A regular expression.
        tail: Only so many of the last rows.
    """

    follow: bool = False
    expand: bool = False
    json: bool = False
    session: str | None = None
    kinds: Sequence[str] = ()
    pattern: str | None = None
    tail: int | None = None


def show_command(path: Path, options: ShowOptions, out: TextIO | None = None) -> int:
    """Show a cassette and return the exit code.

    Raises:
        CassetteError: It is no sound cassette.
        UsageError: The options ask for something that is not there.
        AcptapError: The output can't be written.
    """
    out = sys.stdout if out is None else out
    try:
        _Show(path, options, out).run()
        out.flush()
    except BrokenPipeError:  # whoever read it has seen enough
        _silence(out)
    except OSError as error:
        _silence(out)
        raise AcptapError(
            f"the timeline can't be written or the cassette read on ({error.strerror})",
            where=visible(str(path)),
        ) from error  # fmt: skip
    except AcptapError as error:  # file names and payloads are quoted in them
        error.what, error.where = visible(error.what), visible(error.where)
        error.fix = visible(error.fix)
        raise
    return 0


def _silence(out: TextIO) -> None:
    """Keep the interpreter from failing once more when it flushes at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, out.fileno())
    os.close(null)


class Screen:
    """Writes pieces of text: with colours to a terminal that has them, else plainly.

    Args:
        out: Where to.

    Attributes:
        coloured: Whether it has colours.
    """

    def __init__(self, out: TextIO) -> None:
        if isinstance(out, io.TextIOWrapper):
            out.reconfigure(errors="backslashreplace", line_buffering=False)
        self._console = Console(file=out)
        self._out = out
        self._system = COLOR_SYSTEMS.get(self._console.color_system or "")
        self.coloured = (
            self._console.is_terminal
            and not self._console.is_dumb_terminal
            and not self._console.no_color
            and self._console.encoding.startswith("utf")
            and self._system is not None
        )
        self._styles = {name: Style.parse(style) for name, style in _STYLES.items()}

    @property
    def width(self) -> int | None:
        """The terminal's columns now; None for a pipe or a file."""
        return shutil.get_terminal_size().columns if self._out.isatty() else None

    def write(self, pieces: Pieces) -> None:
        """Write a line."""
        if self.coloured:
            parts = [self._styles[style].render(text, color_system=self._system)
                     for text, style in pieces]  # fmt: skip
        else:
            parts = [text for text, _ in pieces]
        self._out.write("".join(parts).rstrip() + "\n")

    def flush(self) -> None:
        """Let the reader see what was written."""
        self._out.flush()

    def rest(self) -> None:
        """Wait for more to write, and fail if nobody reads it any more.

        Raises:
            BrokenPipeError: The reader of the pipe is gone.
        """
        following.pause()
        poll = select.poll()
        poll.register(self._out.fileno(), 0)
        if any(event & select.POLLERR for _, event in poll.poll(0)):
            raise BrokenPipeError


class _Show:
    """One run of the command."""

    def __init__(self, path: Path, options: ShowOptions, out: TextIO) -> None:
        pattern = None if options.pattern is None else compile_pattern(options.pattern)
        self._path = path
        self._options = options
        self._screen = Screen(out)
        self._layout = Layout(RICH if self._screen.coloured else PLAIN, self._screen.width)
        self._selection = Selection(kinds=options.kinds, pattern=pattern)
        self._timeline = Timeline()
        self._folding = Folding()
        self._held: deque[Row] | None = None
        if options.tail is not None:
            self._held = deque(maxlen=options.tail)
        self._matched = False

    def run(self) -> None:
        """Show the cassette."""
        if self._path.exists() and not (self._path.is_file() or self._path.is_dir()):
            raise UsageError(
                "the cassette is a pipe or a device", where=str(self._path),
                fix="copy it to a file first, it is read twice",
            )  # fmt: skip
        if self._options.follow:
            self._run_on()
        else:
            self._run_once()

    def _run_once(self) -> None:
        with Recording(self._path) as recording:
            recording.require_entries()
            known = self._begin(recording)
            torn = recording.torn
            for entry in islice(recording, known):
                self._take(entry)
        self._catch_up()
        if torn is not None:
            _say(f"{self._path}: line {torn} was cut off by a crash and is left out")
        if not self._matched:
            _say(f"{self._path}: no entry matches")

    def _run_on(self) -> None:
        """Show the cassette, and what is added, until the agent's exit or Ctrl-C."""
        try:
            following.wait_for(self._path, self._screen.rest)
            with Recording(self._path) as recording:
                known = self._begin(recording)
            self._follow(known)
        except KeyboardInterrupt:
            pass
        self._catch_up()

    def _follow(self, known: int) -> None:
        quiet, exited = 0, False
        for entry in _counted(following.follow(self._path, self._screen.rest)):
            if entry is None:
                quiet += 1
                if quiet == _QUIET_LOOKS:
                    self._put(self._folding.flush())
                self._screen.flush()
                self._layout.width = self._screen.width  # the window may have been resized
            else:
                quiet = 0
                self._take(entry)
                exited = exited or entry.event == "exit"
            if self._timeline.entries >= known and self._folding.span is None:
                self._catch_up()
            if exited and self._timeline.entries >= known:
                return

    def _begin(self, recording: Recording) -> int:
        """Read what is there, write the header block and return the number of entries."""
        known = Timeline()
        for entry in _counted(recording):
            known.survey(entry)
        self._selection.session = self._options.session
        if self._options.session is not None and not self._options.follow:
            self._selection.session = find_session(
                self._options.session, known.tracks, recording.name
            )
        self._layout.fit(known)
        if not self._options.json:
            for line in self._layout.header(recording.header, known, recording.name):
                self._screen.write(line)
            self._screen.write([])
        return known.entries

    def _take(self, entry: Entry) -> None:
        row = self._timeline.row(entry)
        if not self._selection.has(row, self._timeline.tracks):
            return
        self._matched = True
        options = self._options
        single = options.expand or options.json or self._selection.single
        self._put([row] if single else self._folding.add(row))

    def _catch_up(self) -> None:
        """Write what was held back; from now on rows are written as they come."""
        self._put(self._folding.flush())
        held, self._held = self._held, None
        self._put(held or ())
        self._folding.span = _LIVE_SPAN

    def _put(self, rows: Iterable[Row]) -> None:
        if self._held is not None:
            self._held.extend(rows)
            return
        for row in rows:
            if self._options.json:
                self._screen.write([(json_line(row), "speech")])
            else:
                self._screen.write(self._layout.row(row, self._timeline.tracks))


def _counted(entries: Iterable[E]) -> Iterator[E]:
    """Yield the entries; if one is damaged, say how many are not.

    Raises:
        DamagedCassette: A line is no entry.
    """
    count = 0
    try:
        for entry in entries:
            yield entry
            count += entry is not None
    except DamagedCassette as error:
        error.what += f", the {count} entries before it are readable"
        raise


def _say(sentence: str) -> None:
    sys.stderr.write(f"acptap: {visible(sentence)}\n")
