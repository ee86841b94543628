"""Rows on their way to where they are written: what is left out, put together, held back."""

from collections import deque
from collections.abc import Iterable

from acptap.app.show.export import json_line
from acptap.app.show.layout import Layout
from acptap.app.show.screen import Screen
from acptap.timeline.folding import Folding
from acptap.timeline.rows import Row, Timeline
from acptap.timeline.sieve import Sieve

_LIVE_SPAN = 1.0
"""Seconds that a run of chunks may last while it is followed."""


class Printer:
    """Writes the rows of a timeline.

    Args:
        screen: Where to.
        layout: How they look.
        timeline: Whose rows they are.
        single: Give each entry a row of its own.
        json: Write them as JSON.
        tail: Hold back all but so many; None to write them as they come.

    Attributes:
        has_any: Whether there was any row.
    """

    def __init__(
        self,
        screen: Screen,
        layout: Layout,
        timeline: Timeline,
        *,
        single: bool,
        json: bool,
        tail: int | None,
    ) -> None:
        self.has_any = False
        self._is_live = False
        self._screen = screen
        self._layout = layout
        self._timeline = timeline
        self._single = single
        self._json = json
        self._sieve = Sieve(is_open=single)
        self._folding = Folding()
        self._held = None if tail is None else deque[Row](maxlen=tail)

    def add(self, row: Row) -> None:
        """Take in a row."""
        self.has_any = True
        self._pass(self._sieve.add(row))

    def flush(self) -> None:
        """Write what is not complete, as far as it has come."""
        self._pass(self._sieve.flush())
        self._put(self._folding.flush())

    def catch_up(self) -> None:
        """Write what was held back; from now on rows are written as they come."""
        if self._is_live:
            return
        self.flush()
        held, self._held = self._held, None
        self._put(held or ())
        self._folding.span = _LIVE_SPAN
        self._is_live = True

    def end(self) -> None:
        """Write all there is, and what was left out."""
        self.catch_up()
        self.flush()
        if self._sieve.left_out:
            self._screen.write([])
            self._screen.write(self._layout.footer(self._sieve.left_out))

    def _pass(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._put([row] if self._single else self._folding.add(row))

    def _put(self, rows: Iterable[Row]) -> None:
        if self._held is not None:
            self._held.extend(rows)
            return
        for row in rows:
            if self._json:
                self._screen.write([(json_line(row), "speech")])
            else:
                self._screen.write(self._layout.row(row, self._timeline.tracks))
                if row.updates:
                    self._screen.write(self._layout.updates(row, self._timeline.tracks))
