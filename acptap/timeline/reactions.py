"""What a view must react to, in a few words."""

from collections.abc import Mapping

from acptap.timeline.gists import brief
from acptap.timeline.printable import visible
from acptap.timeline.rows import Track
from acptap.updates import Update, UpdateKind

_PLACED = frozenset({UpdateKind.MESSAGE, UpdateKind.REASONING})
"""Kinds that are told by their places, not by their ids."""


def in_words(update: Update, own: str | None, tracks: Mapping[str, Track]) -> str:
    """Return an update in words, safe for a terminal.

    Args:
        update: The update.
        own: The session that is named already.
        tracks: The sessions, for their short names.
    """
    label = None if update.session == own else update.session
    if label is not None and label in tracks:
        label = tracks[label].label
    place = "" if update.index is None else f"[{update.index}]"
    detail = update.detail
    parts = [
        label,
        f"{update.kind.value}{place}",
        None if update.kind in _PLACED else update.id,
        update.change and update.change.value,
        *[name if detail[name] is True else brief(detail[name]) for name in detail],
    ]
    return visible(" ".join([str(part) for part in parts if part is not None]))
