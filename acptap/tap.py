"""The witness of one connection: bytes in, cassette lines out. It never refuses anything.

Every byte it is shown stands on the tape, whatever it is. What a unit means (its session, a change
of state, what a view must react to, a rule met) is written beside it.
"""

from acptap.cassette import (
    OPEN,
    Annotations,
    Header,
    encode_at,
    encode_front,
    encode_payload,
    has_controls,
)
from acptap.jsonrpc import Message, Side
from acptap.redact import Redactor
from acptap.updates import Update
from acptap.wire import jsontext
from acptap.wire.lines import LineSplitter, Piece, Unit
from acptap.witness import Witness, noise, with_end

_CONTROLS = bytes(byte for byte in range(0x20) if byte != ord("\n"))


class Tap:
    """Turns what passes on one stdio connection into cassette lines.

    Args:
        redactor: Takes secrets out of what goes on the tape; None keeps them.
    """

    def __init__(self, redactor: Redactor | None = None) -> None:
        self._witness = Witness()
        self._redactor = redactor
        self._splitters = {side: LineSplitter() for side in Side}
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
        return self.rest(side, at) + self.event(side, at, event="end")

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
        return lines + self.event(Side.AGENT, at, event="exit", **how)

    def event(self, side: Side, at: int, *, event: str, **facts: object) -> bytes:
        """Take in a fact of the transport: its name, and what else is to be said of it."""
        annotations = self._witness.event(side, event)
        front = encode_front(event={"event": event, **facts}, annotations=annotations)
        return self._head(side, at) + front + b"}\n"

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
            meaning = self._witness.piece(side, unit)
            return self._unread(head, unit.raw, meaning, more=unit.more)
        text, ended = (unit, True) if isinstance(unit, bytes) else (unit.raw, False)
        try:
            value, strict = _parse(text)
        except ValueError:
            return self._unread(head, text + b"\n" * ended, noise(text, ended=ended))
        if isinstance(value, list):
            return self._batch(side, head, text, value, ended=ended)
        plain = strict and ended and _is_bare(text) and (clean or not has_controls(text))
        message, seen, faults, updates = said = self._witness.message(side, value, text)
        if plain and quiet and not seen.transitions and not seen.notes and not faults:
            return b'%b%b,"msg":%b}\n' % (head, self._front(seen.session, updates), text)
        clear = self._clear(text, message, seen.method)
        annotations = with_end(said.annotations, ended=ended)
        front = encode_front(redacted=clear is not text, annotations=annotations)
        payload = encode_payload(clear if plain else clear + b"\n" * ended, plain=plain)
        return head + front + payload + b"}\n"

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
        self, side: Side, head: bytes, text: bytes, value: list[object], *, ended: bool
    ) -> bytes:
        """Return the entry of an array."""
        batch = self._witness.batch(side, value, text)
        clear = text
        for message, method in batch.calls:
            clear = self._clear(clear, message, method)
        annotations = with_end(batch.annotations, ended=ended)
        front = encode_front(redacted=clear is not text, annotations=annotations)
        return head + front + encode_payload(clear + b"\n" * ended, plain=False) + b"}\n"

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


def _parse(text: bytes) -> tuple[object, bool]:
    """Return what a line spells, and whether every JSON parser reads it.

    Raises:
        ValueError: It is no JSON.
    """
    try:
        return jsontext.parse_strictly(text), True
    except ValueError:
        return jsontext.parse(text), False


def _is_bare(text: bytes) -> bool:
    """Return whether no space stands before or behind a line."""
    return text[:1] != b" " and text[-1:] != b" "
