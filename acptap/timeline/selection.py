"""Which rows of a timeline somebody asked for."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from acptap.errors import UsageError
from acptap.timeline.printable import visible
from acptap.timeline.rows import Row, Track

_LISTED = 10


def find_session(asked: str, tracks: Mapping[str, Track], name: str) -> str:
    """Return the id of the session that somebody means.

    Args:
        asked: Its id, the beginning of its id, or its label.
        tracks: The sessions of the cassette.
        name: The cassette's name, for errors.

    Raises:
        UsageError: There is no such session, or more than one.
    """
    if asked in tracks:
        return asked
    found = [id_ for id_ in tracks if asked and _means(asked, id_, tracks[id_])]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} sessions begin with" if found else "there is no session"
    listed = [tracks[id_] for id_ in found or tracks]
    there = ", ".join(f"{track.label} {track.id}" for track in listed[:_LISTED])
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    raise UsageError(
        f"{what} {visible(asked)!r}", where=name, fix=f"choose one of: {there}{more}"
        if listed else "leave --session out, the cassette has none",
    )  # fmt: skip


def _means(asked: str, id_: str, track: Track) -> bool:
    return asked == track.label or id_.startswith(asked) or track.id.startswith(asked)


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
        session: The session's id; the beginning of an id or a label, too.
        kinds: Names of which a row must have one, see `Row.kinds`.
        pattern: What must occur in a row's gist or its unit.
    """

    session: str | None = None
    kinds: Sequence[str] = field(default=())
    pattern: re.Pattern[str] | None = None

    @property
    def single(self) -> bool:
        """Whether single entries are asked for, so that chunks are not put together."""
        return bool(self.kinds) or self.pattern is not None

    def has(self, row: Row, tracks: Mapping[str, Track]) -> bool:
        """Return whether a row was asked for."""
        return (
            (self.session is None or self._is_in_session(self.session, row, tracks))
            and (not self.kinds or not row.kinds().isdisjoint(self.kinds))
            and (self.pattern is None or _occurs(self.pattern, row))
        )

    def _is_in_session(self, asked: str, row: Row, tracks: Mapping[str, Track]) -> bool:
        ids = {*row.sessions, *(move.session for move in row.moves)}
        if asked in tracks:
            return asked in ids
        return any(_means(asked, id_, tracks[id_]) for id_ in ids)


def _occurs(pattern: re.Pattern[str], row: Row) -> bool:
    if pattern.search(row.gist):
        return True
    return pattern.search(row.entry.unit().decode("utf-8", "replace")) is not None
