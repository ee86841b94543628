"""One way messages take: a WebSocket, an event stream, the bodies of an exchange."""

from typing import Protocol

from acptap.acp.observation import Observation
from acptap.acp.rules import note
from acptap.cassette import NOTHING, Annotations
from acptap.jsonrpc import Malformed, Side, read_all
from acptap.notes import Note, Severity
from acptap.wire import jsontext
from acptap.wire.lines import Piece
from acptap.witness.messages import Batch, Seen, Witness

_ORDERED = frozenset(
    {"acp/resume-without-snapshot", "acp/replay-after-snapshot", "acp/unknown-session"}
)
"""Rules about what comes before what. Over HTTP order is kept inside a stream only (acp.md 5.2.2),
so across streams they prove nothing (R17)."""


class Channel:
    """What passes one way, and what it means in its connection.

    Args:
        witness: Understands the connection.
        number: Tells the channel apart from others of the connection.
        is_ordered: Whether a session's messages all come this way.
        is_marked: Whether what the client sends this way may name a session.
    """

    def __init__(
        self, witness: Witness, number: int, *, is_ordered: bool, is_marked: bool = True
    ) -> None:
        self._witness = witness
        self._number = number
        self._is_ordered = is_ordered
        self._is_marked = is_marked

    def message(self, side: Side, value: object, text: bytes) -> Seen:
        """Take in a message; see `Witness.message`."""
        seen = self._witness.message(side, value, text)
        if seen.observed.notes and not self._is_ordered:
            seen.observed.notes = tuple(_softened(seen.observed.notes))
        if side is Side.CLIENT and not self._is_marked and seen.observed.session is not None:
            seen.observed.note("http/no-session-id")
        return seen

    def batch(self, side: Side, value: list[object], text: bytes) -> Batch:
        """Take in an array; see `Witness.batch`."""
        batch = self._witness.batch(side, value, text)
        if self._is_ordered:
            return batch
        notes = _softened(batch.annotations.notes)
        return batch._replace(annotations=batch.annotations._replace(notes=notes))

    def piece(self, side: Side, piece: Piece) -> Annotations:
        """Take in a piece of a long unit; the last one carries what the whole unit means."""
        meaning = self._witness.outlined(side, piece, self._number)
        return meaning._replace(notes=[*_softened(meaning.notes), note("http/oversize")])


class Bystander:
    """Sees what is not ACP, and makes nothing of it."""

    def message(self, _side: Side, _value: object, _text: bytes) -> Seen:
        """Take in a JSON value."""
        return Seen(Malformed("not ACP"), Observation(), [], ())

    def batch(self, _side: Side, value: list[object], text: bytes) -> Batch:
        """Take in an array."""
        return Batch([(message, None) for message in read_all(value, text)], NOTHING)

    def piece(self, _side: Side, _piece: Piece) -> Annotations:
        """Take in a piece of a long unit."""
        return Annotations(notes=[note("http/oversize")])


class Understanding(Protocol):
    """Knows what units mean: a `Channel`, or what stands in its place."""

    def message(self, side: Side, value: object, text: bytes) -> Seen:
        """Take in a JSON value that is no array."""

    def batch(self, side: Side, value: list[object], text: bytes) -> Batch:
        """Take in an array."""


def meaning(channel: Understanding, side: Side, text: bytes) -> Annotations | None:
    """Return what a unit means, or None if it is no JSON."""
    try:
        value = jsontext.parse(text)
    except ValueError:
        return None
    if isinstance(value, list):
        return channel.batch(side, value, text).annotations
    return channel.message(side, value, text).annotations


def _softened(notes: object) -> list[Note]:
    assert isinstance(notes, (list, tuple))
    return [
        Note(said.rule, Severity.WARNING, said.detail)
        if said.rule in _ORDERED and said.severity is Severity.VIOLATION
        else said
        for said in notes
    ]
