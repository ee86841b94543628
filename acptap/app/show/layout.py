"""How a timeline looks: rows and the header block as pieces of text, each with a style's name."""

import shlex
from collections.abc import Iterable, Iterator
from itertools import groupby

from acptap.app.show.glyphs import TONES, Glyphs
from acptap.cassette import Header
from acptap.notes import Note, Severity
from acptap.session import SessionState, Transition
from acptap.timeline.gists import brief
from acptap.timeline.printable import cells, cut, visible
from acptap.timeline.reactions import in_words
from acptap.timeline.reading import Kind
from acptap.timeline.rows import LANES, Key, Mark, Row, Timeline, Track

Pieces = list[tuple[str, str]]
"""Text and the name of its style, from left to right."""

_SHOWN_NOTES = 3
_SHOWN_SESSIONS = 20
_DETAIL = 60
_SLOW = 0.1
"""Seconds from which on it is told how long an answer took."""
_COLUMN = 9
_RUNS = "ag-ui"
_HUES = 6


_QUIET = ("quiet", "quiet")
_CALL = ("call", "speech")


class Layout:
    """Lays out one timeline.

    Args:
        glyphs: What to draw with.
        width: Columns of the terminal; None if lines may have any length.

    Attributes:
        width: The same; may be changed at any time.
    """

    def __init__(self, glyphs: Glyphs, width: int | None) -> None:
        self.width = width
        self._glyphs = glyphs
        self._lanes = 1
        self._conns = 1
        self._digits = _COLUMN

    def fit(self, timeline: Timeline) -> None:
        """Make the columns as wide as a whole timeline needs them."""
        self._lanes = max(1, min(LANES, len(timeline.tracks)))
        self._conns = timeline.conns
        self._digits = max(_COLUMN, len(f"{timeline.end:.3f}"))

    # Rows

    def row(self, row: Row, tracks: dict[Key, Track]) -> Pieces:
        """Return a row's line."""
        pieces = self._front(row)
        middle, took, tail = self._middle(row), self._took(row), list(self._tail(row, tracks))
        if self.width is None:
            return [*pieces, *middle, *took, *tail]
        room = self.width - _length(pieces)
        if room < 0:
            return self._fitted(pieces, self.width)
        if _length(middle) > room or _length([*middle, *took, *tail]) <= room:
            tail = [*took, *tail]  # else it would cost the end of what is said
        tail = self._fitted(tail, max(room // 2, room - _length(middle)))
        return [*pieces, *self._fitted(middle, room - _length(tail)), *tail]

    def _front(self, row: Row) -> Pieces:
        glyphs, side = self._glyphs, row.side
        band = [self._lane(mark) for mark in row.band]
        band += [(glyphs.empty, "quiet")] * (self._lanes - len(band))
        label = row.track.label if row.track else glyphs.empty
        arrow = glyphs.still if row.reading.is_still else glyphs.arrows[side]
        return [
            (f"{row.at:{self._digits}.3f} ", "time"),
            *self._conn(row.conn),
            *band,
            (f" {label:>3} ", self._hue(row.track)),
            (f"{side.value:>6} {arrow} ", side.value),
        ]

    def _conn(self, conn: int | None) -> Pieces:
        """Return the column of the connection, if there is more than one."""
        self._conns = max(self._conns, conn or 1)  # more may come while the file is followed
        if self._conns == 1:
            return []
        width = len(f"c{self._conns}")
        return [(f"{self._glyphs.empty if conn is None else f'c{conn}':>{width}} ", "quiet")]

    def _lane(self, mark: Mark) -> tuple[str, str]:
        sign = (mark.moved and self._glyphs.moved) or self._glyphs.lanes[mark.state]
        return sign, mark.state.value

    def _hue(self, track: Track | None) -> str:
        return "quiet" if track is None else f"hue{int(track.label[1:]) % _HUES}"

    def _middle(self, row: Row) -> Pieces:
        name, gist = self._tone(row)
        what = visible(row.reading.what)[:_DETAIL]
        pieces = [(what, name)] if what else []
        if row.count > 1:
            times = f" {self._glyphs.times}{row.count}"
            pieces.append((f"{times} to {row.until:.3f}", "quiet"))
        if row.gist and not _is_told_by_moves(row):
            pieces.append((f" {row.gist}" if what else row.gist, gist))
        return pieces

    def _tone(self, row: Row) -> tuple[str, str]:
        reading = row.reading
        if reading.failed:
            return "error", "error"
        name = reading.update or reading.method or ""
        if reading.kind is Kind.RESPONSE:
            return TONES.get(name, _CALL)[0], "speech"
        quiet = _QUIET if reading.update else _CALL
        return TONES.get(name) or TONES.get(reading.kind.value) or quiet

    def _took(self, row: Row) -> Pieces:
        took = row.reading.took
        return [] if took is None or took < _SLOW else [(f" in {took:.3f} s", "quiet")]

    def _tail(self, row: Row, tracks: dict[Key, Track]) -> Iterator[tuple[str, str]]:
        for move in row.moves[:_SHOWN_NOTES]:
            yield f" {self._glyphs.becomes} {_came_to(move, row, tracks)}", move.after.value
        for note in row.notes[:_SHOWN_NOTES]:
            before, behind = self._glyphs.graves[note.severity]
            yield f" {before}{_told(note, row, tracks)}{behind}", note.severity.value
        more = len(row.notes) - _SHOWN_NOTES
        if more > 0:
            yield f" and {more} more notes", "quiet"

    def _fitted(self, pieces: Pieces, room: int) -> Pieces:
        """Return as much of the pieces as fits."""
        fitted = []
        for text, style in pieces:
            shown = cut(text, room, self._glyphs.cut)
            fitted.append((shown, style))
            room -= cells(shown)
            if shown != text:
                break
        return fitted

    def updates(self, row: Row, tracks: dict[Key, Track]) -> Pieces:
        """Return the line below a row: what it asks of a view."""
        words = [in_words(update, row, tracks) for update in row.updates]
        runs = [(word, len(list(run))) for word, run in groupby(words)]
        times = self._glyphs.times
        told = ", ".join(word + (f" {times}{count}" if count > 1 else "") for word, count in runs)
        line = [(" " * _length(self._front(row)), "quiet"), (told, "quiet")]
        return line if self.width is None else self._fitted(line, self.width)

    # The header block

    def header(self, header: Header, timeline: Timeline, name: str) -> Iterator[Pieces]:
        """Return the lines that say what the cassette is and how it ended."""
        yield self._line("cassette", [(visible(name), "prompt")])
        yield self._line("protocol", [(_protocol(header, timeline), "speech")])
        agent = visible(timeline.reader.agent)
        command = [(_command(header.upstream), "speech")]
        yield self._line("agent", [*command, (f"  {agent}", "quiet")] if agent else command)
        entries = "1 entry" if timeline.entries == 1 else f"{timeline.entries} entries"
        length = f", {timeline.end:.3f} s, {entries}"
        recorded = [(_shown(header.recorded_at) + length, "speech")]
        yield self._line("recorded", [*recorded, (f"  {_shown(header.generator)}", "quiet")])
        yield from self._sessions(timeline)
        yield self._line("notes", list(_counts(timeline)))

    def _sessions(self, timeline: Timeline) -> Iterator[Pieces]:
        tracks = list(timeline.tracks.values())
        if not tracks:
            yield self._line("sessions", [("none", "speech")])
        shown = tracks[:_SHOWN_SESSIONS]
        for track in shown:
            conn = f"c{track.key[0]} " if timeline.conns > 1 else ""
            label = (f"{track.label:<4}{conn}", self._hue(track))
            state = (f"  {_lasting(track, timeline.end)}", track.state.value)
            title = "sessions" if track is shown[0] else ""
            yield self._line(title, [label, (track.id, "speech"), state])
        if len(tracks) > len(shown):
            yield self._line("", [(f"and {len(tracks) - len(shown)} more", "quiet")])

    def footer(self, left_out: int) -> Pieces:
        """Return the line that says how many entries have no row."""
        entries = "1 entry" if left_out == 1 else f"{left_out} entries"
        says = "says" if left_out == 1 else "say"
        told = f"{entries} that {says} nothing new; --expand shows them"
        return self._line("left out", [(told, "quiet")])

    def _line(self, title: str, pieces: Pieces) -> Pieces:
        line = [(f"{self._glyphs.margin}{title:<{_COLUMN}} ", "quiet"), *pieces]
        return line if self.width is None else self._fitted(line, self.width)


def _length(pieces: Pieces) -> int:
    return sum(cells(text) for text, _ in pieces)


def _is_told_by_moves(row: Row) -> bool:
    return row.reading.update == "state_update" and bool(row.moves)


def _came_to(move: Transition, row: Row, tracks: dict[Key, Track]) -> str:
    is_own = row.sessions[:1] == (move.session,)
    whose = "" if is_own else f"{tracks[row.key(move.session)].label} "
    again = " again" if move.repeat else ""
    name = f" {visible(move.name)}" if move.name else ""
    told = move.reason is None or (move.reason in row.gist and not _is_told_by_moves(row))
    reason = "" if told else f" ({visible(str(move.reason))})"
    return f"{whose}{move.after.value}{name}{again}{reason}"


def _told(note: Note, row: Row, tracks: dict[Key, Track]) -> str:
    detail = dict(note.detail)
    session = detail.get("session")
    if isinstance(session, str) and row.key(session) in tracks:
        detail["session"] = tracks[row.key(session)].label
    pairs = "".join(f" {name}={brief(detail[name])[:_DETAIL]}" for name in detail)
    return visible(note.rule + pairs)


def _protocol(header: Header, timeline: Timeline) -> str:
    """Return what was spoken, and how: over the network the entries tell, not the header."""
    reader = timeline.reader
    exchanges, named = reader.exchanges, header.protocol
    transport, said = _shown(header.transport), []
    if exchanges.ways or named not in ("auto", _RUNS):
        name = "acp" if named in ("auto", _RUNS) else _shown(named)
        ways = " and ".join(sorted(exchanges.ways)) or transport
        said.append(f"{name} {_versions(reader.versions)} over {ways}")
    if exchanges.has_runs or named == _RUNS:
        said.append(f"{_RUNS} {_versions(reader.runs.versions)} over {transport}")
    if not said:
        said.append(f"(neither ACP nor AG-UI seen) over {transport}")
    if timeline.conns > 1:
        said.append(f"{timeline.conns} connections")
    return ", ".join(said)


def _versions(versions: Iterable[str]) -> str:
    return visible(" and ".join(versions)) or "(version not settled)"


def _shown(value: object) -> str:
    return visible(value if isinstance(value, str) else brief(value)) if value else "?"


def _command(upstream: object) -> str:
    if isinstance(upstream, list):
        return visible(shlex.join(map(str, upstream)))
    return _shown(upstream)


def _lasting(track: Track, end: float) -> str:
    if track.state is SessionState.IDLE:
        return track.state.value
    return f"{track.state.value} for {end - track.since:.3f} s"


def _counts(timeline: Timeline) -> Iterator[tuple[str, str]]:
    if not timeline.severities:
        yield "none", "speech"
    between = ""
    for severity in Severity:
        count = timeline.severities[severity]
        if count:
            yield f"{between}{count} {severity.value}{'s' * (count > 1)}", severity.value
            between = ", "
