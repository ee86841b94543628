"""A cassette's entries, read again: what each one asks of a view, and what they come to."""

from collections.abc import Iterable

from acptap.acp.view import Folded
from acptap.cassette import Entry
from acptap.updates import Update
from acptap.witness.traffic import Traffic


class Rereading:
    """Takes in the entries of a cassette in order. Never raises on any content.

    Args:
        keep: Whether to keep the values; without, only the updates are told.
    """

    def __init__(self, *, keep: bool = True) -> None:
        self._traffic = Traffic(keep=keep)
        self._line = 1

    def take(self, entry: Entry) -> tuple[Update, ...]:
        """Take in an entry and return what it asks of a view."""
        self._line = entry.number
        return tuple(self._traffic.annotate(entry).updates)

    def fold(self) -> Folded:
        """Return what the entries come to. The values are live: taking in more changes them."""
        folded = Folded(self._line)
        for witness in self._traffic.witnesses():
            part = witness.view.fold()
            folded.sessions += part.sessions
            folded.interrupts += part.interrupts
            folded.errors += part.errors
        return folded


def fold_entries(entries: Iterable[Entry], at: int | None = None) -> Folded:
    """Return what a correct client shows once it has taken in the entries up to line `at`.

    Args:
        entries: The entries of a cassette, in order.
        at: A line number, where the header is line 1; None for all entries.
    """
    rereading = Rereading()
    for entry in entries:
        if at is not None and entry.number > at:
            break
        rereading.take(entry)
    return rereading.fold()
