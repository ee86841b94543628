"""The witness of one stdio connection: bytes in, cassette lines out. It never refuses anything.

Every byte it is shown stands on the tape, whatever it is. What a unit means (its session, a change
of state, what a view must react to, a rule met) is written beside it.
"""

from acptap.acp.rules import note
from acptap.cassette import OPEN, Annotations, Header, encode_front, encode_payload
from acptap.jsonrpc import Side
from acptap.redact import Redactor
from acptap.redact.heads import clear_url
from acptap.tap.clock import Clock
from acptap.tap.scribe import Frame, Scribe
from acptap.wire.lines import LineSplitter, Piece, Unit
from acptap.witness import Witness, noise

_CONTROLS = bytes(byte for byte in range(0x20) if byte != ord("\n"))
_LINE = Frame(after=b"\n")
_UNTERMINATED = Frame(is_plain=False, notes=(note("stdio/unterminated"),))


class Tap:
    """Turns what passes on one stdio connection into cassette lines.

    Args:
        redactor: Takes secrets out of what goes on the tape; None keeps them.
        conn: The connection's number in the recording.
        clock: The recording's, if it has several connections.
    """

    def __init__(
        self, redactor: Redactor | None = None, conn: int = 1, clock: Clock | None = None
    ) -> None:
        self._witness = Witness(conn=conn)
        self._scribe = Scribe(self._witness, _remarks, redactor)
        self._redactor = redactor
        self._splitters = {side: LineSplitter() for side in Side}
        self._stderr = LineSplitter()
        self._clock = clock or Clock()
        self._conn = b',"conn":%d' % conn if conn > 1 else b""

    def begin(self, header: Header) -> bytes:
        """Return the cassette's first line."""
        return begin(header, self._redactor)

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
        return b'{"at":%b,"from":"%b"%b' % (self._clock.encode(at), side.encode(), self._conn)

    def _entry(self, side: Side, head: bytes, unit: Unit, *, clean: bool, quiet: bool) -> bytes:
        if isinstance(unit, Piece):
            meaning = self._witness.piece(side, unit)
            return self._scribe.unread(head, unit.raw, meaning, more=unit.more)
        text, frame = (unit, _LINE) if isinstance(unit, bytes) else (unit.raw, _UNTERMINATED)
        return self._scribe.unit(side, head, text, frame, clean=clean, quiet=quiet)

    def _stderr_entries(self, units: list[Unit], at: int) -> bytes:
        if not units:
            return b""
        head = self._head(Side.AGENT, at)
        lines = []
        for unit in units:
            raw = unit + b"\n" if isinstance(unit, bytes) else unit.raw
            clear = self._scribe.cleared(raw)
            front = encode_front(
                event={"event": "stderr"},
                more=isinstance(unit, Piece) and unit.more,
                redacted=clear is not raw,
            )
            lines.append(head + front + encode_payload(clear, plain=False) + b"}\n")
        return b"".join(lines)


def _remarks(text: bytes, _raw: bytes) -> Annotations:
    return noise(text)


def begin(header: Header, redactor: Redactor | None) -> bytes:
    """Return a cassette's first line."""
    if redactor is not None:
        header.redaction = OPEN
        upstream = header.upstream
        header.upstream = (
            redactor.words(upstream)
            if isinstance(upstream, list)
            else clear_url(redactor, upstream)
        )
    return header.encode()
