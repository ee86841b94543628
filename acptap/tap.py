"""The witness of one connection: bytes in, cassette lines out. It never refuses anything.

Every byte it is shown stands on the tape, whatever it is. What a unit means (its session, a change
of state, what a view must react to, a rule met) is written beside it.
"""

from collections.abc import Iterable

from acptap.acp.checks.envelope import Envelope
from acptap.acp.conversation import Conversation
from acptap.acp.observation import Observation
from acptap.acp.rules import note
from acptap.acp.view import View
from acptap.cassette import (
    NOTHING,
    OPEN,
    Annotations,
    Entry,
    Header,
    encode_at,
    encode_front,
    encode_payload,
    has_controls,
)
from acptap.jsonrpc import Message, Side, read, read_all
from acptap.notes import Note
from acptap.redact import Redactor
from acptap.updates import Update
from acptap.wire import jsontext
from acptap.wire.lines import LineSplitter, Piece, Unit
from acptap.wire.outline import Outline

_CONTROLS = bytes(byte for byte in range(0x20) if byte != ord("\n"))


class Tap:
    """Turns what passes on one stdio connection into cassette lines.

    Args:
        redactor: Takes secrets out of what goes on the tape; None keeps them.

    Attributes:
        conversation: What the tap has understood so far.
    """

    def __init__(self, redactor: Redactor | None = None) -> None:
        self.conversation = Conversation()
        self._view = View(self.conversation)
        self._redactor = redactor
        self._envelopes = {side: Envelope() for side in Side}
        self._splitters = {side: LineSplitter() for side in Side}
        self._outlines: dict[Side, Outline] = {}
        self._stderr = LineSplitter()
        self._last = -1
        self._fronts: dict[str | None, bytes] = {None: b""}  # of units with no more than a session
        # of each session the last updates, most often the next ones too, and their front
        self._told: dict[str | None, tuple[tuple[Update, ...], bytes]] = {}

    def begin(self, header: Header) -> bytes:
        """Return the cassette's first line."""
        if self._redactor is not None:
            header.redaction = OPEN
            if isinstance(header.upstream, list):
                header.upstream = self._redactor.words(header.upstream)
        return header.encode()

    def observe(self, side: Side, data: bytes, at: int) -> bytes:
        """Take in what one read brought.

        Args:
            side: Who sent it.
            data: The bytes, not empty.
            at: When, in microseconds since the header's instant. It is moved on where needed, so
                that no two reads share a time and replay can tell their boundaries.

        Returns:
            The entries of all units that the read completed; empty if it completed none.
        """
        splitter = self._splitters[side]
        pending = splitter.pending
        units = splitter.feed(data)
        if not units:
            return b""
        head = self._head(side, at)
        entries = []
        if pending:  # the first line began in an earlier read, so a look at this one won't do
            entries.append(self._entry(side, head, units.pop(0), clean=False, quiet=False))
        start = data.find(b"\n") + 1 if pending else 0
        # One look at the whole read spares a look at each of its lines.
        clean = len(data.translate(None, _CONTROLS)) == len(data)
        quiet = self._redactor is None or not self._redactor.suspects(data, start)
        entries += [self._entry(side, head, unit, clean=clean, quiet=quiet) for unit in units]
        return b"".join(entries)

    def stderr(self, data: bytes, at: int) -> bytes:
        """Take in what the agent wrote on its standard error."""
        return self._stderr_entries(self._stderr.feed(data), at)

    def end(self, side: Side, at: int) -> bytes:
        """Take in that a side closed its stream; when the agent has, the connection is gone."""
        lines = self.rest(side, at)
        updates = self._view.lose() if side is Side.AGENT else ()
        return lines + self.event(side, at, updates=updates, event="end")

    def rest(self, side: Side, at: int) -> bytes:
        """Return the entry of what a side has begun to say and will not end."""
        lines = [
            self._entry(side, self._head(side, at), unit, clean=False, quiet=False)
            for unit in self._splitters[side].end()
        ]
        return b"".join(lines)

    def exit(self, at: int, *, code: int | None = None, signal: str | None = None) -> bytes:
        """Take in that the agent's process ended, by a code or a signal, and the connection too."""
        lines = self._stderr_entries(self._stderr.end(), at)
        how: dict[str, object] = {"code": code} if signal is None else {"signal": signal}
        notes, updates = self.conversation.end(), self._view.lose()
        return lines + self.event(Side.AGENT, at, notes, updates, event="exit", **how)

    def event(
        self,
        side: Side,
        at: int,
        notes: Iterable[Note] = (),
        updates: Iterable[Update] = (),
        **facts: object,
    ) -> bytes:
        """Take in a fact of the transport; `facts` begin with `event`."""
        annotations = Annotations(notes=notes, updates=updates)
        front = encode_front(event=facts, annotations=annotations)
        return self._head(side, at) + front + b"}\n"

    def annotate(self, entry: Entry) -> Annotations:
        """Return what an entry of a tape means, read anew; entries are to come in order."""
        side = entry.side
        if entry.event is not None:
            return self._meaning_of_event(side, entry.event)
        if entry.more or side in self._outlines:
            return self._meaning_of_piece(side, Piece(entry.unit(), entry.more))
        text, ended = _line_of(entry)
        try:
            value = jsontext.parse(text)
        except ValueError:
            return Annotations(notes=_notes_on_noise(text) + _notes_on_end(ended=ended))
        return self._meaning(side, value, text, ended=ended)

    def _meaning_of_event(self, side: Side, event: str) -> Annotations:
        notes = self.conversation.end() if event == "exit" else ()
        is_end = side is Side.AGENT and event in ("end", "exit")
        return Annotations(notes=notes, updates=self._view.lose() if is_end else ())

    def _head(self, side: Side, at: int) -> bytes:
        self._last = max(at, self._last + 1)
        return b'{"at":%b,"from":"%b"' % (encode_at(self._last), side.encode())

    # Units

    def _entry(self, side: Side, head: bytes, unit: Unit, *, clean: bool, quiet: bool) -> bytes:
        """Return a unit's entry.

        Args:
            side: Who sent it.
            head: The entry up to `from`.
            unit: The unit.
            clean: It is known to have no control characters.
            quiet: It is known to hold nothing that must be taken out.
        """
        if isinstance(unit, Piece):
            return self._piece(side, head, unit)
        text, ended = (unit, True) if isinstance(unit, bytes) else (unit.raw, False)
        try:
            value, strict = _parse(text)
        except ValueError:
            notes = _notes_on_noise(text) + _notes_on_end(ended=ended)
            return self._unread(head, text + b"\n" * ended, Annotations(notes=notes))
        plain = strict and ended and _is_bare(text) and (clean or not has_controls(text))
        if isinstance(value, list):
            return self._batch(side, head, text + b"\n" * ended, value, ended=ended)
        message = read(value, text)
        seen = self.conversation.observe(side, message)
        updates = self._view.take(side, message, seen)
        envelope = self._envelopes[side]
        faults = [] if envelope.sound(text) else envelope.check(value, text)
        if faults:
            updates = self._view.faulted(seen.session, faults) + updates
        if plain and quiet and not seen.transitions and not seen.notes and not faults:
            return b'%b%b,"msg":%b}\n' % (head, self._front(seen.session, updates), text)
        notes = [*faults, *seen.notes, *_notes_on_end(ended=ended)]
        clear = self._clear(text, message, seen.method)
        front = encode_front(
            redacted=clear is not text,
            annotations=Annotations(seen.session, seen.transitions, notes, updates),
        )
        payload = encode_payload(clear if plain else clear + b"\n" * ended, plain=plain)
        return head + front + payload + b"}\n"

    def _piece(self, side: Side, head: bytes, piece: Piece) -> bytes:
        """Return the entry of a piece."""
        return self._unread(head, piece.raw, self._meaning_of_piece(side, piece), more=piece.more)

    def _meaning_of_piece(self, side: Side, piece: Piece) -> Annotations:
        """Return what a piece means; the last one carries what the whole unit does."""
        outline = self._outlines.setdefault(side, Outline())
        outline.feed(piece.raw)
        meaning, notes = NOTHING, [note("stdio/oversize")]
        if not piece.more:
            text = self._outlines.pop(side).text()
            if text is not None:
                meaning = self._outlined(side, text)
            notes += _notes_on_end(ended=piece.raw.endswith(b"\n"))
        return meaning._replace(notes=[*meaning.notes, *notes])

    def _outlined(self, side: Side, text: bytes) -> Annotations:
        try:
            value = jsontext.parse(text)
        except ValueError:
            return NOTHING
        return self._meaning(side, value, text, ended=True)

    def _meaning(self, side: Side, value: object, text: bytes, *, ended: bool) -> Annotations:
        """Return what a unit means that is JSON: a message, or a batch of them."""
        envelope = self._envelopes[side]
        faults = [] if envelope.sound(text) else envelope.check(value, text)
        end = _notes_on_end(ended=ended)
        if isinstance(value, list):
            seen, updates = self._observe_all(side, read_all(value, text))
            meaning = _of_batch(seen, faults)
            told = [*self._view.faulted(None, faults), *updates]
            return meaning._replace(notes=[*meaning.notes, *end], updates=told)
        message = read(value, text)
        one = self.conversation.observe(side, message)
        asked = self._view.take(side, message, one)
        if faults:
            asked = (*self._view.faulted(one.session, faults), *asked)
        return Annotations(one.session, one.transitions, [*faults, *one.notes, *end], asked)

    def _observe_all(
        self, side: Side, messages: list[Message]
    ) -> tuple[list[Observation], list[Update]]:
        seen: list[Observation] = []
        updates: list[Update] = []
        for message in messages:
            observed = self.conversation.observe(side, message)
            seen.append(observed)
            updates += self._view.take(side, message, observed)
        return seen, updates

    def _front(self, session: str | None, updates: tuple[Update, ...]) -> bytes:
        if updates:
            told = self._told.get(session)
            if told is None or told[0] is not updates:
                annotations = Annotations(session, updates=updates)
                told = self._told[session] = updates, encode_front(annotations=annotations)
            return told[1]
        front = self._fronts.get(session)
        if front is None:
            front = encode_front(annotations=Annotations(session))
            self._fronts[session] = front
        return front

    def _batch(
        self, side: Side, head: bytes, raw: bytes, value: list[object], *, ended: bool
    ) -> bytes:
        """Return the entry of an array: one unit that holds several messages, or none."""
        messages = read_all(value, raw)
        seen, updates = self._observe_all(side, messages)
        clear = raw
        for message, observed in zip(messages, seen, strict=True):
            clear = self._clear(clear, message, observed.method)
        faults = self._envelopes[side].check(value, raw)
        meaning = _of_batch(seen, faults)
        notes = [*meaning.notes, *_notes_on_end(ended=ended)]
        told = [*self._view.faulted(None, faults), *updates]
        annotations = meaning._replace(notes=notes, updates=told)
        front = encode_front(redacted=clear is not raw, annotations=annotations)
        return head + front + encode_payload(clear, plain=False) + b"}\n"

    def _unread(
        self, head: bytes, raw: bytes, annotations: Annotations, *, more: bool = False
    ) -> bytes:
        """Return the entry of a unit that is no message, or of a piece of one."""
        clear = raw if self._redactor is None else self._redactor.plain(raw)
        front = encode_front(more=more, redacted=clear is not raw, annotations=annotations)
        return head + front + encode_payload(clear, plain=False) + b"}\n"

    def _stderr_entries(self, units: list[Unit], at: int) -> bytes:
        if not units:
            return b""
        head = self._head(Side.AGENT, at)
        lines = []
        for unit in units:
            raw = unit + b"\n" if isinstance(unit, bytes) else unit.raw
            clear = raw if self._redactor is None else self._redactor.plain(raw)
            front = encode_front(
                event={"event": "stderr"},
                more=isinstance(unit, Piece) and unit.more,
                redacted=clear is not raw,
            )
            lines.append(head + front + encode_payload(clear, plain=False) + b"}\n")
        return b"".join(lines)

    def _clear(self, text: bytes, message: Message, method: str | None) -> bytes:
        if self._redactor is None:
            return text
        return self._redactor.message(text, message, method)


def _line_of(entry: Entry) -> tuple[bytes, bool]:
    """Return a unit without its line end, and whether it has one."""
    if entry.key == "msg":
        return entry.payload, True
    raw = entry.unit()
    return raw.removesuffix(b"\n"), raw.endswith(b"\n")


def _parse(text: bytes) -> tuple[object, bool]:
    """Return what a line spells, and whether every JSON parser reads it.

    Raises:
        ValueError: It is no JSON.
    """
    try:
        return jsontext.parse_strictly(text), True
    except ValueError:
        return jsontext.parse(text), False


def _of_batch(seen: list[Observation], faults: list[Note]) -> Annotations:
    return Annotations(
        [observed.session for observed in seen],
        [step for observed in seen for step in observed.transitions],
        [note("jsonrpc/batch"), *faults, *(said for observed in seen for said in observed.notes)],
    )


def _is_bare(text: bytes) -> bool:
    """Return whether no space stands before or behind a line."""
    return text[:1] != b" " and text[-1:] != b" "


def _notes_on_noise(text: bytes) -> list[Note]:
    if not text.strip():
        return []
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError:
        return [note("stdio/not-utf8")]
    return [note("stdio/glued" if jsontext.is_glued(decoded) else "stdio/not-json")]


def _notes_on_end(*, ended: bool) -> list[Note]:
    return [] if ended else [note("stdio/unterminated")]
