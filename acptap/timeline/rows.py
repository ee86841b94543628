"""A cassette as rows for people: who said what when, in which session, and how that one stood."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from acptap.cassette import Entry
from acptap.jsonrpc import Side
from acptap.notes import Note, Severity
from acptap.session import Basis, SessionState, Transition
from acptap.timeline.exchanges import is_on_network
from acptap.timeline.printable import visible
from acptap.timeline.reader import Reader
from acptap.timeline.reading import Kind, Reading
from acptap.updates import Update

GIST = 400
"""Characters a gist may have."""

LANES = 8
"""Sessions whose state is drawn side by side; the last lane serves all further ones."""

S = TypeVar("S", bound=StrEnum)

Key = tuple[int, str]
"""A session: the number of its connection, and its id there."""


@dataclass(slots=True)
class Track:
    """A session as the timeline follows it.

    Attributes:
        key: Which one it is.
        id: Its id, escaped.
        label: Its short name, `s1` for the first session of the cassette.
        state: Its state.
        since: When it came to that state, in seconds.
        is_left: Whether its connection has ended.
    """

    key: Key
    id: str
    label: str
    state: SessionState
    since: float
    is_left: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """What one lane of the band shows in a row.

    Attributes:
        label: Whose lane it is.
        state: The session's state once the row's entry is taken in.
        moved: Whether the entry changed it.
    """

    label: str
    state: SessionState
    moved: bool = False


@dataclass(slots=True)
class Row:
    """An entry, or a run of chunks of one message.

    Attributes:
        entry: The entry; of a run, the first one.
        reading: What it is and says.
        gist: What it says, escaped, on one line.
        sessions: The ids it is filed under; several for a batch.
        track: The first of these sessions, or None for the connection.
        state: The session's state once the entry is taken in.
        moves: Changes of state.
        notes: Rules met.
        band: The lanes.
        count: How many entries the row stands for.
        until: When the last of them came, in seconds.
        updates: What the entries ask of a view, if that was asked for.
    """

    entry: Entry
    reading: Reading
    gist: str
    sessions: tuple[str, ...]
    track: Track | None
    state: SessionState | None
    moves: tuple[Transition, ...]
    notes: tuple[Note, ...]
    band: tuple[Mark, ...]
    count: int = 1
    until: float = 0.0
    updates: tuple[Update, ...] = ()

    @property
    def at(self) -> float:
        """Seconds since the recording began."""
        return self.entry.at

    @property
    def side(self) -> Side:
        """Who said it."""
        return self.entry.side

    @property
    def conn(self) -> int | None:
        """The number of the connection; None if it belongs to none."""
        return None if self.reading.is_aside else self.entry.conn

    @property
    def is_routine(self) -> bool:
        """Whether it says nothing that other rows don't say."""
        return self.reading.is_routine and not (self.notes or self.moves or self.updates)

    def key(self, session: str) -> Key:
        """Return which session is meant by an id."""
        return self.entry.conn, session

    def kinds(self) -> set[str | None]:
        """Return every name by which a reader may ask for the row."""
        reading = self.reading
        names = {reading.kind.value, reading.method, reading.update}
        names |= {note.severity.value for note in self.notes}
        names |= {"state"} if self.moves else set()
        names |= {"note"} if self.notes else set()
        names |= {"updates"} if self.updates else set()
        if reading.kind in (Kind.NOISE, Kind.PIECE) and is_on_network(self.entry):
            names.add(Kind.HTTP.value)
        return names | ({"error"} if reading.failed else set())


def on_one_line(gist: str) -> str:
    """Return a gist as a row has it: escaped, and not too long."""
    shown = visible(gist)
    return shown if len(shown) <= GIST else f"{shown[: GIST - 3]}..."


class Timeline:
    """Follows a cassette, entry by entry.

    Attributes:
        entries: How many entries were taken in.
        end: The time of the last one.
        conns: How many connections there are.
        tracks: The sessions, in order of appearance.
        severities: How many notes there are of each severity.
        reader: What has been understood of the messages.
    """

    def __init__(self) -> None:
        self.entries = 0
        self.end = 0.0
        self.conns = 1
        self.tracks: dict[Key, Track] = {}
        self.severities: Counter[Severity] = Counter()
        self.reader = Reader()
        self._lanes: list[Track] = []
        self._still: tuple[Mark, ...] = ()  # the band, as long as nothing changes

    def survey(self, entry: Entry) -> None:
        """Take in an entry for the sake of the totals alone."""
        self.reader.read_handshake(entry)
        self._take(entry)

    def row(self, entry: Entry) -> Row:
        """Take in an entry and return its row."""
        reading = self.reader.read(entry)
        sessions, moves, notes = self._take(entry)
        if reading.session is not None and not sessions:
            sessions = self._named(entry, reading)
        track = self.tracks[entry.conn, sessions[0]] if sessions else None
        if reading.ends:
            self._leave(entry.conn)
        return Row(
            entry=entry,
            reading=reading,
            gist=on_one_line(reading.gist),
            sessions=sessions,
            track=track,
            state=None if track is None else track.state,
            moves=moves,
            notes=notes,
            band=self._band(entry.conn, moves),
            until=entry.at,
        )

    def _take(
        self, entry: Entry
    ) -> tuple[tuple[str, ...], tuple[Transition, ...], tuple[Note, ...]]:
        """Take in what is written beside an entry; return its sessions, moves and notes."""
        self.entries += 1
        at, front = entry.at, entry.front
        self.end = max(self.end, at)
        if "conn" in front:
            self.conns = max(self.conns, entry.conn)
        sessions = _sessions(entry) if "session" in front else ()
        moves = tuple(_moves(entry)) if "state" in front else ()
        notes = tuple(_notes(entry)) if "notes" in front else ()
        for id_ in sessions:
            if (entry.conn, id_) not in self.tracks:
                self._track((entry.conn, id_), SessionState.IDLE, at)
        for move in moves:
            track = self._track((entry.conn, move.session), move.before, at)
            if not move.repeat:
                track.state, track.since = move.after, at
        for note in notes:
            self.severities[note.severity] += 1
        return sessions, moves, notes

    def _named(self, entry: Entry, reading: Reading) -> tuple[str, ...]:
        """Return the session that an exchange names, if it is known."""
        assert reading.session is not None
        if (entry.conn, reading.session) in self.tracks:
            return (reading.session,)
        if reading.kind is Kind.HTTP:
            reading.gist += f" of {reading.session}"
        return ()

    def _leave(self, conn: int) -> None:
        """Take in that a connection has ended, and with it what its sessions do there."""
        for track in self._lanes:
            track.is_left = track.is_left or track.key[0] == conn

    def _track(self, key: Key, state: SessionState, at: float) -> Track:
        track = self.tracks.get(key)
        if track is None:
            track = Track(key, visible(key[1]), f"s{len(self.tracks) + 1}", state, at)
            self.tracks[key] = track
            self._open_lane(track)
        return track

    def _open_lane(self, track: Track) -> None:
        self._still = ()
        if len(self._lanes) < LANES:
            self._lanes.append(track)
            return
        free = [lane.is_left or lane.state is SessionState.CLOSED for lane in self._lanes[:-1]]
        self._lanes[free.index(True) if True in free else -1] = track

    def _band(self, conn: int, moves: tuple[Transition, ...]) -> tuple[Mark, ...]:
        if not moves and self._still:
            return self._still
        moved = {self.tracks[conn, move.session].label for move in moves}
        band = tuple([Mark(lane.label, lane.state, lane.label in moved) for lane in self._lanes])
        self._still = () if moves else band
        return band


# What the annotations say. A cassette may have been edited by hand, so no shape is taken for sure.


def _sessions(entry: Entry) -> tuple[str, ...]:
    session = entry.front["session"]
    if isinstance(session, str):
        return (session,)
    listed = session if isinstance(session, list) else []
    return tuple([id_ for id_ in listed if isinstance(id_, str)])


def _members(entry: Entry, name: str) -> list[dict[str, object]]:
    value = entry.front.get(name)
    listed = value if isinstance(value, list) else [value]
    return [item for item in listed if isinstance(item, dict)]


def _moves(entry: Entry) -> Iterator[Transition]:
    for said in _members(entry, "state"):
        session = said.get("session", entry.front.get("session"))
        if isinstance(session, str):
            yield Transition(
                session,
                _known(SessionState, said.get("from"), SessionState.OTHER),
                _known(SessionState, said.get("to"), SessionState.OTHER),
                _known(Basis, said.get("basis"), Basis.DERIVED),
                _text(said.get("reason")),
                _text(said.get("name")),
            )


def _notes(entry: Entry) -> Iterator[Note]:
    for said in _members(entry, "notes"):
        detail = {name: said[name] for name in said if name not in ("rule", "severity")}
        severity = _known(Severity, said.get("severity"), Severity.NOTE)
        yield Note(str(said.get("rule")), severity, detail)


def _known(kind: type[S], value: object, default: S) -> S:
    try:
        return kind(str(value))
    except ValueError:
        return default


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
