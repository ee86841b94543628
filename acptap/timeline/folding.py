"""Runs of chunks as one row each, so that a long answer takes one line."""

from dataclasses import replace

from acptap.timeline.gists import LIMIT
from acptap.timeline.rows import Row, on_one_line


class Folding:
    """Puts the chunks of one message into one row, also where sessions speak at the same time.

    Anything but a chunk ends all runs, so the rows stay in order of their beginnings.

    Args:
        span: Seconds a run may last; None for any time.

    Attributes:
        span: The same; may be changed at any time.
    """

    def __init__(self, span: float | None = None) -> None:
        self.span = span
        self._runs: dict[object, tuple[object, Row, list[str]]] = {}

    def add(self, row: Row) -> list[Row]:
        """Take in a row and return the rows that are complete."""
        chunk = row.reading.chunk
        if chunk is None or row.moves:
            return [*self.flush(), row]
        session = row.key(row.sessions[0]) if row.sessions else row.conn
        name = row.reading.update or row.reading.method
        key = (row.side, name, chunk.of, [note.rule for note in row.notes])
        run = self._runs.get(session)
        done: list[Row] = []
        if run is not None and (run[0] != key or self._is_long(run[1], row.at)):
            done, run = self.flush(), None
        if run is None:
            self._runs[session] = (key, replace(row), [chunk.text])
        else:
            self._extend(run[1], run[2], row, chunk.text)
        return done

    def flush(self) -> list[Row]:
        """Return the rows that are not complete, as far as they have come."""
        done = []
        for _, row, texts in self._runs.values():
            first = row.reading.chunk
            if first is not None and row.count > 1:
                row.gist = on_one_line(first.told("".join(texts)))
            done.append(row)
        self._runs.clear()
        return done

    def _is_long(self, run: Row, at: float) -> bool:
        return self.span is not None and at - run.at >= self.span

    def _extend(self, run: Row, texts: list[str], row: Row, text: str) -> None:
        run.count += 1
        run.until = row.at
        run.updates += row.updates
        if sum(map(len, texts)) < LIMIT:
            texts.append(text)
