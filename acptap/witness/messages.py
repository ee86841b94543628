"""What the units of one connection mean, whether they pass now or are read back from a tape."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

from acptap.acp.checks.envelope import Envelope
from acptap.acp.conversation import Conversation
from acptap.acp.observation import Observation
from acptap.acp.rules import note
from acptap.acp.view import View
from acptap.cassette import NOTHING, Annotations, Entry
from acptap.jsonrpc import Message, Notification, Request, Response, Side, read, read_all
from acptap.notes import Note
from acptap.updates import Update
from acptap.wire import jsontext
from acptap.wire.lines import Piece
from acptap.wire.outline import Outline

if TYPE_CHECKING:
    from acptap.session import Transition


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


class Whole:
    """A long unit that is kept, piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """Take in the next piece."""
        self._pieces.append(data)

    def text(self) -> bytes:
        """Return the unit's text."""
        return b"".join(self._pieces).strip()


_TEXT = b'"}}}}'
"""What a chunk ends with if its last member is its text: a string, and what that is nested in."""

_REFUSED = {"code": -32603, "message": "refused"}


class Witness:
    """Understands one connection: its conversation, its views, and the rules it is held against.

    Args:
        keep: Whether the view keeps its values. Long units are then kept whole, too.
        conn: The number of the connection.

    Attributes:
        conversation: What was understood so far.
        view: What a view of it has to react to.
    """

    def __init__(self, *, keep: bool = False, conn: int = 1) -> None:
        self.conversation = Conversation()
        self.view = View(self.conversation, keep=keep, conn=conn)
        self._keep = keep
        self._envelopes = {side: Envelope() for side in Side}
        self._outlines: dict[Hashable, Outline | Whole] = {}
        self._told: tuple[Update, ...] = ()  # with the last message
        self._streamed: Seen | None = None  # what more of the text means that the agent streams

    def annotate(self, entry: Entry) -> Annotations:
        """Return what an entry of a tape means; entries are to come in order."""
        side = entry.side
        if entry.event is not None:
            return self.event(side, entry.event)
        if entry.more or (side, None) in self._outlines:
            return self.piece(side, Piece(entry.unit(), entry.more))
        text, ended = _line_of(entry)
        try:
            value = jsontext.parse(text)
        except ValueError:
            return with_end(noise(text), ended=ended)
        return with_end(self._meaning(side, value, text), ended=ended)

    def message(self, side: Side, value: object, text: bytes) -> Seen:
        """Take in a message.

        Args:
            side: Who sent it.
            value: What its text spells; no array.
            text: Its JSON text.
        """
        envelope = self._envelopes[side]
        is_sound = envelope.sound(text)
        if is_sound and self._streamed is not None and side is Side.AGENT:
            return self._streamed
        message = read(value, text)
        observed = self.conversation.observe(side, message)
        updates = self.view.take(side, message, observed)
        faults = [] if is_sound else envelope.check(value, text)
        if faults:
            updates = (*self.view.faulted(observed.session, faults), *updates)
        seen = Seen(message, observed, faults, updates)
        self._streamed = seen if is_sound and self._is_streamed(side, seen, text) else None
        self._told = updates
        return seen

    def _is_streamed(self, side: Side, seen: Seen, text: bytes) -> bool:
        """Return whether a message that differs in its text alone means the same.

        It changes nothing either: the view was told the same twice, and the conversation heeds
        only that something was said, if that.
        """
        if side is Side.CLIENT or self._keep or not seen.updates or seen.updates is not self._told:
            return False
        match seen.message:
            case Notification(
                params={
                    "sessionId": str(session),
                    "update": {"sessionUpdate": "agent_message_chunk" | "agent_thought_chunk"},
                }
            ):
                is_watched = self.conversation.sessions[session].record.watched
                return text.endswith(_TEXT) and not is_watched
            case _:
                return False

    def batch(self, side: Side, value: list[object], text: bytes) -> Batch:
        """Take in an array: one unit that holds several messages, or none."""
        self._streamed = None
        calls: list[tuple[Message, str | None]] = []
        seen: list[Observation] = []
        updates: list[Update] = []
        for message in read_all(value, text):
            observed = self.conversation.observe(side, message)
            calls.append((message, observed.method))
            seen.append(observed)
            updates += self.view.take(side, message, observed)
        faults = self._envelopes[side].check(value, text)
        annotations = Annotations(
            [observed.session for observed in seen],
            [step for observed in seen for step in observed.transitions],
            [note("jsonrpc/batch"), *faults, *(said for one in seen for said in one.notes)],
            [*self.view.faulted(None, faults), *updates],
        )
        return Batch(calls, annotations)

    def piece(self, side: Side, piece: Piece) -> Annotations:
        """Take in a piece of a long line; the last one carries what the whole line means."""
        meaning = self.outlined(side, piece)
        notes = [note("stdio/oversize")]
        if piece.more:
            return meaning._replace(notes=notes)
        return with_end(meaning, ended=piece.raw.endswith(b"\n"), also=notes)

    def outlined(self, side: Side, piece: Piece, stream: Hashable = None) -> Annotations:
        """Take in a piece of a long unit; return what the whole unit means with the last one.

        Args:
            side: Who sent it.
            piece: The piece.
            stream: What tells apart the streams of one side, if there are several.
        """
        outline = self._outlines.get((side, stream))
        if outline is None:
            outline = self._outlines[side, stream] = Whole() if self._keep else Outline()
            piece = piece._replace(raw=piece.raw.removeprefix(b"data:"))  # of an event stream
        outline.feed(piece.raw)
        if piece.more:
            return NOTHING
        text = self._outlines.pop((side, stream)).text()
        return NOTHING if text is None else self.meaning(side, text)

    def event(self, side: Side, event: str) -> Annotations:
        """Take in a fact of the transport; when the agent's side is gone, so is the connection."""
        self._streamed = None
        notes = self.conversation.end() if event == "exit" else []
        is_end = side is Side.AGENT and event in ("end", "exit")
        return Annotations(notes=notes, updates=self.view.lose() if is_end else ())

    def gone(self) -> Annotations:
        """Take in that the connection is no more, both ways."""
        self._streamed = None
        return Annotations(notes=self.conversation.end(), updates=self.view.lose())

    def refuse(self, messages: list[Message]) -> Annotations:
        """Take in that messages of the client were not let through to the agent.

        For the client its requests have failed, although no answer is on the wire
        (acp.md 5.2.6).
        """
        self._streamed = None
        transitions: list[Transition] = []
        updates: list[Update] = []
        for message in messages:
            if isinstance(message, Request):
                answer = Response(message.id, None, dict(_REFUSED), failed=True)
                observed = self.conversation.observe(Side.AGENT, answer)
                transitions += observed.transitions
                updates += self.view.take(Side.AGENT, answer, observed)
        return Annotations(None, transitions, [], updates)

    def meaning(self, side: Side, text: bytes) -> Annotations:
        """Return what a unit means; nothing if it is no JSON."""
        try:
            value = jsontext.parse(text)
        except ValueError:
            return NOTHING
        return self._meaning(side, value, text)

    def _meaning(self, side: Side, value: object, text: bytes) -> Annotations:
        if isinstance(value, list):
            return self.batch(side, value, text).annotations
        return self.message(side, value, text).annotations


def noise(text: bytes) -> Annotations:
    """Return what is to stand beside a line that is no JSON.

    Args:
        text: The line without its LF.
    """
    return Annotations(notes=_notes_on_noise(text))


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
