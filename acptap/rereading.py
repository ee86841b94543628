"""A cassette's entries, read again: what each one asks of a view, and what they come to."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from acptap.acp import view
from acptap.agui.values import Interrupt, ThreadView
from acptap.cassette import Entry, Header
from acptap.updates import Update
from acptap.witness.traffic import Traffic


@dataclass(slots=True)
class Folded(view.Folded):
    """All that a correct client shows at one moment.

    Attributes:
        threads: The AG-UI threads, in order of appearance.
    """

    threads: list[ThreadView] = field(default_factory=list)

    def thread(self, id_: str | None = None) -> ThreadView:
        """Return an AG-UI thread.

        Args:
            id_: Its id; None for the only or the last thread.

        Raises:
            KeyError: There is no such thread.
        """
        for thread in reversed(self.threads):
            if id_ in (None, thread.id):
                return thread
        raise KeyError(id_)

    @property
    def waiting(self) -> list[view.Interrupt | Interrupt]:
        """All that waits for the user's answer, in sessions, outside of them, and in threads."""
        asked: list[view.Interrupt | Interrupt] = [*self.pending]
        return asked + [interrupt for thread in self.threads for interrupt in thread.pending]

    def as_json(self) -> dict[str, object]:
        """Return it as JSON values."""
        said = view.Folded.as_json(self)
        return said | {"threads": [thread.as_json() for thread in self.threads]}


class Rereading:
    """Takes in the entries of a cassette in order. Never raises on any content.

    Args:
        keep: Whether to keep the values; without, only the updates are told.
        header: The cassette's first line, if it is known.
    """

    def __init__(self, *, keep: bool = True, header: Header | None = None) -> None:
        self._traffic = Traffic(header, keep=keep)
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
        folded.threads = self._traffic.threads()
        return folded


def fold_entries(
    entries: Iterable[Entry], at: int | None = None, header: Header | None = None
) -> Folded:
    """Return what a correct client shows once it has taken in the entries up to line `at`.

    Args:
        entries: The entries of a cassette, in order.
        at: A line number, where the header is line 1; None for all entries.
        header: The cassette's first line, if it is known.
    """
    rereading = Rereading(header=header)
    for entry in entries:
        if at is not None and entry.number > at:
            break
        rereading.take(entry)
    return rereading.fold()
