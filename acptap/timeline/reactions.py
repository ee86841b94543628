"""What a view must react to, in a few words."""

from collections.abc import Mapping

from acptap.timeline.gists import brief
from acptap.timeline.printable import visible
from acptap.timeline.rows import Key, Row, Track
from acptap.updates import Update, UpdateKind

_PLACED = frozenset({UpdateKind.MESSAGE, UpdateKind.REASONING})
"""Kinds that are told by their places, not by their ids."""


def in_words(update: Update, row: Row, tracks: Mapping[Key, Track]) -> str:
    """Return an update in words, safe for a terminal.

    Args:
        update: The update.
        row: The row that it stands below, and whose session is named already.
        tracks: The sessions, for their short names.
    """
    label = None if (update.session,) == row.sessions[:1] else update.session
    if label is not None and row.key(label) in tracks:
        label = tracks[row.key(label)].label
    place = "" if update.index is None else f"[{update.index}]"
    detail = update.detail
    parts = [
        label,
        f"{update.kind.value}{place}",
        None if update.kind in _PLACED else update.id,
        update.change and update.change.value,
        None if update.subagent in (None, update.session) else f"of {update.subagent}",
        *[name if detail[name] is True else brief(detail[name]) for name in detail],
    ]
    return visible(" ".join([str(part) for part in parts if part is not None]))
