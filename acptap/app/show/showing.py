"""`acptap show`: a cassette as a timeline, on a terminal, in a pipe, or as JSON."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO, TypeVar

from acptap.app.show import following
from acptap.app.show.export import folded_line
from acptap.app.show.glyphs import PLAIN, RICH
from acptap.app.show.layout import Layout
from acptap.app.show.printing import Printer
from acptap.app.show.screen import Screen, silence
from acptap.app.show.tree import Tree
from acptap.cassette import Entry
from acptap.errors import AcptapError, DamagedCassette, UsageError
from acptap.rereading import Rereading
from acptap.storage import Recording
from acptap.timeline.printable import visible
from acptap.timeline.rows import Timeline
from acptap.timeline.selection import Selection, compile_pattern, find_sessions

_QUIET_LOOKS = 3
"""Looks at a file without anything new until an unfinished run of chunks is shown."""

E = TypeVar("E", Entry, Entry | None)


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """What the user asked for.

    Attributes:
        follow: Go on with what is appended.
        expand: Show every entry in a row of its own.
        json: Write JSON lines.
        session: An id, the beginning of one, or a label.
        kinds: Kinds of rows.
        pattern: A regular expression.
        tail: Only so many of the last rows.
        updates: Show what each entry asks of a view.
        tree: Show the conversation as a client does.
        at: Only up to this line of the cassette.
    """

    follow: bool = False
    expand: bool = False
    json: bool = False
    session: str | None = None
    kinds: Sequence[str] = ()
    pattern: str | None = None
    tail: int | None = None
    updates: bool = False
    tree: bool = False
    at: int | None = None

    @property
    def drawn(self) -> bool:
        """Whether a tree is asked for."""
        return self.tree or (self.at is not None and not self.updates)

    def check(self) -> None:
        """Refuse what can't be done at once.

        Raises:
            UsageError: It can't.
        """
        of_rows = {"--expand": self.expand, "--kind": bool(self.kinds),
                   "--grep": self.pattern is not None, "--tail": self.tail is not None,
                   "--updates": self.updates}  # fmt: skip
        followed = self.follow and (self.drawn or self.at is not None)
        odd = (
            ["--follow"] if followed else [name for name in of_rows if of_rows[name] and self.drawn]
        )
        if odd:
            which = "--tree" if self.tree else "--at"
            raise UsageError(
                f"{which} and {odd[0]} don't go together", where="show", fix="leave one of them out"
            )


def show_command(path: Path, options: ShowOptions, out: TextIO | None = None) -> int:
    """Show a cassette and return the exit code.

    Raises:
        CassetteError: It is no sound cassette.
        UsageError: The options ask for something that is not there.
        AcptapError: The output can't be written.
    """
    out = sys.stdout if out is None else out
    try:
        options.check()
        while _Show(path, options, out).run():
            _say(f"{path}: another recording has taken its place")
        out.flush()
    except BrokenPipeError:  # whoever read it has seen enough
        silence(out)
    except OSError as error:
        silence(out)
        raise AcptapError(
            f"the timeline can't be written or the cassette read on ({error.strerror})",
            where=visible(str(path)),
        ) from error  # fmt: skip
    except AcptapError as error:  # file names and payloads are quoted in them
        error.what, error.where = visible(error.what), visible(error.where)
        error.fix = visible(error.fix)
        raise
    return 0


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
        single = options.expand or options.json or self._selection.single
        self._printer = Printer(
            self._screen, self._layout, self._timeline,
            single=single, json=options.json, tail=options.tail,
        )  # fmt: skip
        self._rereading: Rereading | None = None
        if options.drawn or options.updates or options.json:
            self._rereading = Rereading(keep=options.drawn)

    def run(self) -> bool:
        """Show the cassette; return whether another one has taken its place meanwhile."""
        if self._path.exists() and not (self._path.is_file() or self._path.is_dir()):
            raise UsageError(
                "the cassette is a pipe or a device", where=str(self._path),
                fix="copy it to a file first, it is read twice",
            )  # fmt: skip
        if self._options.follow:
            return self._run_on()
        self._run_once()
        return False

    def _run_once(self) -> None:
        with Recording(self._path) as recording:
            recording.require_entries()
            known = self._begin(recording)
            torn = recording.torn
            for entry in islice(recording, known):
                self._take(entry)
            if self._options.drawn:
                self._draw()
        self._printer.end()
        if torn is not None:
            _say(f"{self._path}: line {torn} was cut off by a crash and is left out")
        if not (self._printer.has_any or self._options.drawn):
            _say(f"{self._path}: no entry matches")

    def _run_on(self) -> bool:
        """Show the cassette, and what is added, until the recording ends, or Ctrl-C.

        Returns:
            Whether it ended before that, because another recording has taken its place.
        """
        replaced = False
        try:
            if not self._path.exists():
                _say(f"waiting for {self._path}")
            following.wait_for(self._path, self._screen.rest)
            with Recording(self._path) as recording:
                known = self._begin(recording)
            replaced = not self._follow(known)
        except KeyboardInterrupt:
            pass
        self._printer.end()
        if replaced and not self._options.json:
            self._screen.write([])
        return replaced

    def _follow(self, known: int) -> bool:
        """Show what is added; return whether the recording has ended."""
        watch = following.Watch(self._path)
        quiet, exited, over = 0, False, False
        for entry in _counted(following.follow(self._path, self._screen.rest)):
            if self._timeline.entries >= known:
                self._printer.catch_up()
            if entry is None:
                if over:  # and all is read that was written before it was
                    return True
                quiet += 1
                self._idle(quiet)
                over = watch.is_over(exited=exited)
                continue
            quiet = 0
            self._take(entry)
            is_exit = entry.event == "exit"
            exited = exited or is_exit
            if is_exit and self._timeline.entries >= known and watch.is_over(exited=True):
                return True
        return False

    def _idle(self, quiet: int) -> None:
        """Let everything be seen, as nothing new is there."""
        if quiet == _QUIET_LOOKS:
            self._printer.flush()
        self._screen.flush()
        self._layout.width = self._screen.width  # the window may have been resized

    def _begin(self, recording: Recording) -> int:
        """Read what is there, write the header block and return the number of entries."""
        known = Timeline()
        at, last = self._options.at, 1
        for entry in _counted(recording):
            if at is not None and entry.number > at:
                break
            known.survey(entry)
            last = entry.number
        if at is not None and at > last:
            raise UsageError(
                f"there is no line {at}", where=recording.name,
                fix=f"name one of the lines 1 to {last}",
            )  # fmt: skip
        self._selection.session = self._options.session
        if self._options.session is not None and not self._options.follow:
            self._selection.sessions = find_sessions(
                self._options.session, known.tracks, recording.name
            )
        self._layout.fit(known)
        if not self._options.json:
            for line in self._layout.header(recording.header, known, recording.name):
                self._screen.write(line)
            self._screen.write([])
        return known.entries

    def _take(self, entry: Entry) -> None:
        updates = () if self._rereading is None else self._rereading.take(entry)
        row = self._timeline.row(entry)
        if self._options.drawn:
            return
        row.updates = updates
        if self._selection.has(row, self._timeline.tracks):
            self._printer.add(row)

    def _draw(self) -> None:
        """Write the tree of what was taken in."""
        assert self._rereading is not None
        folded = self._rereading.fold()
        asked = self._selection.sessions
        if self._options.json:
            self._screen.write([(folded_line(folded, asked), "speech")])
            return
        labels = {key: track.label for key, track in self._timeline.tracks.items()}
        for line in Tree(folded, labels, self._screen.width).lines(asked):
            self._screen.write(line)


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
