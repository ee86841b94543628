"""Which rows of a timeline somebody asked for."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from acptap.errors import UsageError
from acptap.timeline.events import text_of_frame
from acptap.timeline.printable import visible
from acptap.timeline.rows import Key, Row, Track
from acptap.wire.jsontext import dump

_LISTED = 10


def find_sessions(asked: str, tracks: Mapping[Key, Track], name: str) -> frozenset[Key]:
    """Return the session that somebody means, on each connection where it is.

    Args:
        asked: Its id, the beginning of its id, or its label, which is of one connection.
        tracks: The sessions of the cassette.
        name: The cassette's name, for errors.

    Raises:
        UsageError: There is no such session, or more than one.
    """
    found = _meant(asked, tracks)
    if len({id_ for _, id_ in found}) == 1:
        return frozenset(found)
    what = f"{len(found)} sessions begin with" if found else "there is no session"
    listed = [tracks[key] for key in found or tracks]
    there = ", ".join(f"{track.label} {track.id}" for track in listed[:_LISTED])
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    raise UsageError(
        f"{what} {visible(asked)!r}", where=name, fix=f"choose one of: {there}{more}"
        if listed else "leave --session out, the cassette has none",
    )  # fmt: skip


def _meant(asked: str, tracks: Mapping[Key, Track]) -> list[Key]:
    """Return the sessions with this id; without any, those whose label or beginning it is."""
    exact = [key for key in tracks if key[1] == asked]
    return exact or [key for key, track in tracks.items() if asked and _means(asked, track)]


def _means(asked: str, track: Track) -> bool:
    return asked == track.label or track.key[1].startswith(asked) or track.id.startswith(asked)


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return the regular expression.

    Raises:
        UsageError: It is none.
    """
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"{visible(pattern)!r} is no regular expression ({error})", where="--grep",
            fix="put a backslash before characters that are meant literally",
        ) from error  # fmt: skip


@dataclass(slots=True)
class Selection:
    """What somebody asked for; by default everything.

    Attributes:
        session: The session's id; the beginning of an id or a label, too. It need not be there yet.
        sessions: The sessions, if they are known.
        kinds: Names of which a row must have one, see `Row.kinds`.
        pattern: What must occur in a row's gist or its unit.
    """

    session: str | None = None
    sessions: Collection[Key] | None = None
    kinds: Sequence[str] = field(default=())
    pattern: re.Pattern[str] | None = None

    @property
    def single(self) -> bool:
        """Whether single entries are asked for, so that chunks are not put together."""
        return bool(self.kinds) or self.pattern is not None

    def has(self, row: Row, tracks: Mapping[Key, Track]) -> bool:
        """Return whether a row was asked for."""
        return (
            (self.session is None or self._is_in_session(self.session, row, tracks))
            and (not self.kinds or not row.kinds().isdisjoint(self.kinds))
            and (self.pattern is None or _occurs(self.pattern, row))
        )

    def _is_in_session(self, asked: str, row: Row, tracks: Mapping[Key, Track]) -> bool:
        wanted = _meant(asked, tracks) if self.sessions is None else self.sessions
        keys = map(row.key, (*row.sessions, *(move.session for move in row.moves)))
        return any(key in wanted for key in keys)


def _occurs(pattern: re.Pattern[str], row: Row) -> bool:
    if pattern.search(row.gist):
        return True
    head, entry = row.entry.front.get("http"), row.entry
    text = dump(head) if head is not None else entry.unit()
    if entry.is_frame:
        text = text_of_frame(text)
    return pattern.search(text.decode("utf-8", "replace")) is not None
