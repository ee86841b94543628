"""Writes units as entries: what they mean in front, what they said last, without their secrets."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from acptap.cassette import Annotations, encode_front, encode_payload, has_controls
from acptap.jsonrpc import Message, Side
from acptap.notes import Note
from acptap.redact import Redactor
from acptap.updates import Update
from acptap.wire import jsontext
from acptap.witness import Batch, Seen

_CONTROLS = bytes(range(0x20))


class Understanding(Protocol):
    """Knows what messages mean: see `acptap.witness.Witness`."""

    def message(self, side: Side, value: object, text: bytes) -> Seen:
        """Take in a message."""

    def batch(self, side: Side, value: list[object], text: bytes) -> Batch:
        """Take in an array."""


class Frame(NamedTuple):
    """How a unit stands on the wire around its text.

    Attributes:
        before: What stands in front of the text.
        after: What stands behind it.
        is_plain: Whether it is what the transport puts there by default, and need not be kept.
        notes: What is to be said of it.
        raw: The whole unit, where it is not these three in a row.
        rebuild: Puts another text into it, then.
    """

    before: bytes = b""
    after: bytes = b""
    is_plain: bool = True
    notes: tuple[Note, ...] = ()
    raw: bytes | None = None
    rebuild: Callable[[bytes], bytes] | None = None

    def around(self, text: bytes) -> bytes:
        """Return a unit with this text."""
        if self.rebuild is not None:
            return self.rebuild(text)
        return self.before + text + self.after

    def unit(self, text: bytes) -> bytes:
        """Return the unit as it came."""
        return self.around(text) if self.raw is None else self.raw


Remarks = Callable[[bytes, bytes], Annotations]
"""Says what is to stand beside a text that is no JSON; it is told the whole unit, too."""


class Scribe:
    """Writes what passes one way, or both ways, of a connection.

    Args:
        understanding: Knows what messages mean.
        remarks: Speaks about what is no message.
        redactor: Takes secrets out; None keeps them.
        is_other: Whether what passes is no ACP: an AG-UI run, or anything that HTTP carries.
    """

    def __init__(
        self,
        understanding: Understanding,
        remarks: Remarks,
        redactor: Redactor | None,
        *,
        is_other: bool = False,
    ) -> None:
        self._understanding = understanding
        self._remarks = remarks
        self._redactor = redactor
        self._is_other = is_other
        self._fronts: dict[str | None, bytes] = {None: b""}  # of units with no more than a session
        # of each session the last updates, most often the next ones too, and their front
        self._told: dict[str | None, tuple[tuple[Update, ...], bytes]] = {}

    def units(self, side: Side, head: bytes, texts: list[bytes], frame: Frame) -> list[bytes]:
        """Return the entries of all texts of one read; one look at it spares a look at each."""
        lines = b"\n".join([*texts, b""])
        clean = len(lines.translate(None, _CONTROLS)) == len(lines) - len(texts)
        quiet = self.is_quiet(lines)
        return [self.unit(side, head, text, frame, clean=clean, quiet=quiet) for text in texts]

    def is_quiet(self, lines: bytes) -> bool:
        """Return whether lines are known to hold nothing that must be taken out."""
        if self._redactor is None:
            return True
        suspects = self._redactor.suspects_other if self._is_other else self._redactor.suspects
        return not suspects(lines)

    def unit(
        self, side: Side, head: bytes, text: bytes, frame: Frame, *, clean: bool, quiet: bool
    ) -> bytes:
        """Return a unit's entry.

        Args:
            side: Who sent it.
            head: The entry up to what is said of the unit.
            text: The text in it, which may be JSON.
            frame: What stands around the text.
            clean: It is known to have no control characters.
            quiet: It is known to hold nothing that must be taken out.
        """
        try:
            value, strict = _parse(text)
        except ValueError:
            raw = frame.unit(text)
            return self.unread(head, raw, _with_notes(self._remarks(text, raw), frame.notes))
        if isinstance(value, list):
            return self._batch(side, head, text, value, frame)
        plain = strict and frame.is_plain and _is_bare(text) and (clean or not has_controls(text))
        message, seen, faults, updates = said = self._understanding.message(side, value, text)
        clear = text
        if self._redactor is not None and not quiet:
            clear = self._clear(self._redactor, text, message, seen.method)
        is_usual = plain and not seen.transitions and not seen.notes and not faults
        if is_usual and clear is text:
            return b'%b%b,"msg":%b}\n' % (head, self._front(seen.session, updates), text)
        annotations = _with_notes(said.annotations, frame.notes)
        front = encode_front(redacted=clear is not text, annotations=annotations)
        unit = clear if plain else _framed(frame, text, clear)
        return head + front + encode_payload(unit, plain=plain) + b"}\n"

    def unread(
        self, head: bytes, raw: bytes, annotations: Annotations, *, more: bool = False
    ) -> bytes:
        """Return the entry of a unit that is no message, or of a piece of one."""
        clear = self.cleared(raw)
        front = encode_front(more=more, redacted=clear is not raw, annotations=annotations)
        # What comes in pieces is large: joined it is copied once.
        return b"".join((head, front, encode_payload(clear, plain=False), b"}\n"))

    def cleared(self, raw: bytes) -> bytes:
        """Return what is no message without its secrets, or itself if there are none."""
        return raw if self._redactor is None else self._redactor.plain(raw)

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
        self, side: Side, head: bytes, text: bytes, value: list[object], frame: Frame
    ) -> bytes:
        """Return the entry of an array."""
        batch = self._understanding.batch(side, value, text)
        clear = text
        if self._redactor is not None:
            clear = self._redactor.batch(text, batch.calls)
            if self._is_other:
                clear = self._redactor.other(clear)
        annotations = _with_notes(batch.annotations, frame.notes)
        front = encode_front(redacted=clear is not text, annotations=annotations)
        return head + front + encode_payload(_framed(frame, text, clear), plain=False) + b"}\n"

    def _clear(
        self, redactor: Redactor, text: bytes, message: Message, method: str | None
    ) -> bytes:
        if self._is_other and method is None:
            return redactor.other(text)
        return redactor.message(text, message, method)


def _framed(frame: Frame, text: bytes, clear: bytes) -> bytes:
    return frame.unit(text) if clear is text else frame.around(clear)


def _with_notes(annotations: Annotations, notes: tuple[Note, ...]) -> Annotations:
    return annotations._replace(notes=[*annotations.notes, *notes]) if notes else annotations


def _parse(text: bytes) -> tuple[object, bool]:
    """Return what a text spells, and whether every JSON parser reads it.

    Raises:
        ValueError: It is no JSON.
    """
    try:
        return jsontext.parse_strictly(text), True
    except ValueError:
        return jsontext.parse(text), False


def _is_bare(text: bytes) -> bool:
    """Return whether no space stands before or behind a text."""
    return text[:1] != b" " and text[-1:] != b" "
