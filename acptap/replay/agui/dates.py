"""Instants in ISO 8601, as servers write when an interrupt expires."""

import re
from datetime import UTC, datetime, timedelta

_INSTANT = re.compile(
    r"\d{4}-\d\d-\d\d(?P<between>[T ])\d\d:\d\d:\d\d(?P<fraction>\.\d+)?"
    r"(?P<offset>Z|[+-]\d\d:?\d\d)?"
)


def read(text: object) -> datetime | None:
    """Return an instant; one without an offset is in UTC. None if it is none."""
    if not isinstance(text, str) or _INSTANT.fullmatch(text) is None:
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:  # the 31st of February
        return None
    return instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)


def shifted(text: str, by: timedelta) -> str:
    """Return an instant as text some time later, spelled alike; what is none stays."""
    found, instant = _INSTANT.fullmatch(text), read(text)
    if found is None or instant is None:
        return text
    try:
        later = instant + by
    except OverflowError:
        return text
    spelled = later.replace(tzinfo=None, microsecond=0).isoformat(sep=found["between"])
    return spelled + _fraction(found["fraction"], later) + (found["offset"] or "")


def _fraction(recorded: str | None, instant: datetime) -> str:
    if recorded is None:
        return ""
    size = len(recorded)
    return f".{instant.microsecond:06d}".ljust(size, "0")[:size]
