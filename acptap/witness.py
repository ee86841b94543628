"""What the units of one connection mean, whether they pass now or are read back from a tape."""

from typing import NamedTuple

from acptap.acp.checks.envelope import Envelope
from acptap.acp.conversation import Conversation
from acptap.acp.observation import Observation
from acptap.acp.rules import note
from acptap.acp.view import View
from acptap.cassette import NOTHING, Annotations, Entry
from acptap.jsonrpc import Message, Side, read, read_all
from acptap.notes import Note
from acptap.updates import Update
from acptap.wire import jsontext
from acptap.wire.lines import Piece
from acptap.wire.outline import Outline


class Seen(NamedTuple):
    """A message, and what it means.

    Attributes:
        message: The message.
        observed: What the conversation makes of it.
        faults: What is wrong with its envelope.
        updates: What a view must react to.
    """

    message: Message
    observed: Observation
    faults: list[Note]
    updates: tuple[Update, ...]

    @property
    def annotations(self) -> Annotations:
        """What is to stand beside it."""
        notes = [*self.faults, *self.observed.notes]
        return Annotations(self.observed.session, self.observed.transitions, notes, self.updates)


class Batch(NamedTuple):
    """The messages of an array, and what it means.

    Attributes:
        calls: Each message, with the method it has or answers.
        annotations: What is to stand beside it.
    """

    calls: list[tuple[Message, str | None]]
    annotations: Annotations


class Witness:
    """Understands one connection: its conversation, its views, and the rules it is held against.

    Attributes:
        conversation: What was understood so far.
    """

    def __init__(self) -> None:
        self.conversation = Conversation()
        self._view = View(self.conversation)
        self._envelopes = {side: Envelope() for side in Side}
        self._outlines: dict[Side, Outline] = {}

    def annotate(self, entry: Entry) -> Annotations:
        """Return what an entry of a tape means; entries are to come in order."""
        side = entry.side
        if entry.event is not None:
            return self.event(side, entry.event)
        if entry.more or side in self._outlines:
            return self.piece(side, Piece(entry.unit(), entry.more))
        text, ended = _line_of(entry)
        try:
            value = jsontext.parse(text)
        except ValueError:
            return noise(text, ended=ended)
        return with_end(self._meaning(side, value, text), ended=ended)

    def message(self, side: Side, value: object, text: bytes) -> Seen:
        """Take in a message.

        Args:
            side: Who sent it.
            value: What its text spells; no array.
            text: Its JSON text.
        """
        message = read(value, text)
        observed = self.conversation.observe(side, message)
        updates = self._view.take(side, message, observed)
        envelope = self._envelopes[side]
        if envelope.sound(text):
            return Seen(message, observed, [], updates)
        faults = envelope.check(value, text)
        if faults:
            updates = (*self._view.faulted(observed.session, faults), *updates)
        return Seen(message, observed, faults, updates)

    def batch(self, side: Side, value: list[object], text: bytes) -> Batch:
        """Take in an array: one unit that holds several messages, or none."""
        calls: list[tuple[Message, str | None]] = []
        seen: list[Observation] = []
        updates: list[Update] = []
        for message in read_all(value, text):
            observed = self.conversation.observe(side, message)
            calls.append((message, observed.method))
            seen.append(observed)
            updates += self._view.take(side, message, observed)
        faults = self._envelopes[side].check(value, text)
        annotations = Annotations(
            [observed.session for observed in seen],
            [step for observed in seen for step in observed.transitions],
            [note("jsonrpc/batch"), *faults, *(said for one in seen for said in one.notes)],
            [*self._view.faulted(None, faults), *updates],
        )
        return Batch(calls, annotations)

    def piece(self, side: Side, piece: Piece) -> Annotations:
        """Take in a piece of a long unit; the last one carries what the whole unit means."""
        outline = self._outlines.setdefault(side, Outline())
        outline.feed(piece.raw)
        meaning, notes = NOTHING, [note("stdio/oversize")]
        if not piece.more:
            meaning = self._outlined(side, self._outlines.pop(side).text())
            return with_end(meaning, ended=piece.raw.endswith(b"\n"), also=notes)
        return meaning._replace(notes=notes)

    def event(self, side: Side, event: str) -> Annotations:
        """Take in a fact of the transport; when the agent's side is gone, so is the connection."""
        notes = self.conversation.end() if event == "exit" else []
        is_end = side is Side.AGENT and event in ("end", "exit")
        return Annotations(notes=notes, updates=self._view.lose() if is_end else ())

    def _outlined(self, side: Side, text: bytes | None) -> Annotations:
        if text is None:
            return NOTHING
        try:
            value = jsontext.parse(text)
        except ValueError:
            return NOTHING
        return self._meaning(side, value, text)

    def _meaning(self, side: Side, value: object, text: bytes) -> Annotations:
        if isinstance(value, list):
            return self.batch(side, value, text).annotations
        return self.message(side, value, text).annotations


def noise(text: bytes, *, ended: bool) -> Annotations:
    """Return what is to stand beside a line that is no JSON.

    Args:
        text: The line without its LF.
        ended: Whether it has one.
    """
    return with_end(Annotations(notes=_notes_on_noise(text)), ended=ended)


def with_end(
    annotations: Annotations, *, ended: bool, also: list[Note] | None = None
) -> Annotations:
    """Return annotations with what is to be said of the unit's end.

    Args:
        annotations: What is said so far.
        ended: Whether the unit has its line end.
        also: What else is to be said, before that.
    """
    if ended and not also:
        return annotations
    end = [] if ended else [note("stdio/unterminated")]
    return annotations._replace(notes=[*annotations.notes, *(also or ()), *end])


def _line_of(entry: Entry) -> tuple[bytes, bool]:
    """Return a unit without its line end, and whether it has one."""
    if entry.key == "msg":
        return entry.payload, True
    raw = entry.unit()
    return raw.removesuffix(b"\n"), raw.endswith(b"\n")


def _notes_on_noise(text: bytes) -> list[Note]:
    if not text.strip():
        return []
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError:
        return [note("stdio/not-utf8")]
    return [note("stdio/glued" if jsontext.is_glued(decoded) else "stdio/not-json")]
