"""A cassette's entries, read again: what each one asks of a view, and what they come to."""

from collections.abc import Iterable
from dataclasses import dataclass

from acptap.acp.checks.envelope import Envelope
from acptap.acp.conversation import Conversation
from acptap.acp.view import Folded, View
from acptap.cassette import Entry
from acptap.jsonrpc import Side, read_all
from acptap.updates import Update
from acptap.wire import jsontext

_ENDS = frozenset({"end", "exit"})
"""What the agent's side of a connection may end with."""


@dataclass(slots=True)
class _Connection:
    """One connection, read again.

    Attributes:
        conversation: What is understood of it.
        view: What it asks of a view.
        envelopes: What holds the messages of each side.
        pieces: The pieces of a unit that goes on, of each side.
    """

    conversation: Conversation
    view: View
    envelopes: dict[Side, Envelope]
    pieces: dict[Side, list[bytes]]


class Rereading:
    """Takes in the entries of a cassette in order. Never raises on any content.

    Args:
        keep: Whether to keep the values; without, only the updates are told.
    """

    def __init__(self, *, keep: bool = True) -> None:
        self._keep = keep
        self._connections: dict[int, _Connection] = {}
        self._line = 1

    def take(self, entry: Entry) -> tuple[Update, ...]:
        """Take in an entry and return what it asks of a view."""
        known = self._connection(entry.conn)
        known.view.line = self._line = entry.number
        if entry.event is not None:
            if entry.side is Side.AGENT and entry.event in _ENDS:
                known.conversation.end()
                return known.view.lose()
            return ()
        text = _text_of(entry, known.pieces)
        try:
            value = jsontext.parse(text)
        except ValueError:
            return ()
        return self._read(known, entry.side, value, text)

    def _read(
        self, known: _Connection, side: Side, value: object, text: bytes
    ) -> tuple[Update, ...]:
        told: tuple[Update, ...] = ()
        session = None
        for message in read_all(value, text):
            seen = known.conversation.observe(side, message)
            told += known.view.take(side, message, seen)
            session = seen.session
        faults = known.envelopes[side].check(value, text)
        whose = None if isinstance(value, list) else session
        return known.view.faulted(whose, faults) + told

    def fold(self) -> Folded:
        """Return what the entries come to. The values are live: taking in more changes them."""
        folded = Folded(self._line)
        for known in self._connections.values():
            part = known.view.fold()
            folded.sessions += part.sessions
            folded.interrupts += part.interrupts
            folded.errors += part.errors
        return folded

    def _connection(self, number: int) -> _Connection:
        known = self._connections.get(number)
        if known is None:
            conversation = Conversation()
            view = View(conversation, keep=self._keep, conn=number)
            known = self._connections[number] = _Connection(
                conversation, view, {side: Envelope() for side in Side}, {}
            )
        return known


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


def _text_of(entry: Entry, pieces: dict[Side, list[bytes]]) -> bytes:
    """Return an entry's text; of pieces, the whole text with the last one, and until then none."""
    if not entry.more and entry.side not in pieces:
        return entry.reading()
    pieces.setdefault(entry.side, []).append(entry.unit())
    return b"" if entry.more else b"".join(pieces.pop(entry.side)).strip()
