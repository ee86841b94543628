"""Entries, written: the members of a line, each as bytes ready to be joined."""

import base64
import re
from collections.abc import Iterable
from typing import NamedTuple

from acptap.notes import Note
from acptap.session import Transition
from acptap.updates import Update
from acptap.wire.jsontext import dump

_CONTROL = re.compile(rb"[\x00-\x1f]")


class Annotations(NamedTuple):
    """What is written beside a unit."""

    session: str | list[str | None] | None = None
    transitions: Iterable[Transition] = ()
    notes: Iterable[Note] = ()
    updates: Iterable[Update] = ()

    def members(self) -> dict[str, object]:
        """Return them as they stand in an entry, in order; those that say nothing are left out."""
        session, transitions, notes, updates = self
        whose = session if isinstance(session, str) else None
        members: dict[str, object] = {} if session is None else {"session": session}
        states = [step.as_json(whose) for step in transitions]
        if states:
            members["state"] = states[0] if len(states) == 1 else states
        told = [update.as_json(whose) for update in updates]
        if told:
            members["updates"] = told
        said = [note.as_json() for note in notes]
        if said:
            members["notes"] = said
        return members


MEMBERS = ("session", "state", "updates", "notes")
"""The members of an entry that annotations are written in."""

NOTHING = Annotations()


def encode_front(
    *,
    event: dict[str, object] | None = None,
    more: bool = False,
    redacted: bool = False,
    annotations: Annotations = NOTHING,
) -> bytes:
    """Return the members between `from` and the payload, each with a comma in front."""
    members: dict[str, object] = dict(event or {})
    if more:
        members["more"] = True
    if redacted:
        members["redacted"] = True
    members |= annotations.members()
    return b"," + dump(members)[1:-1] if members else b""


def encode_payload(raw: bytes, *, plain: bool) -> bytes:
    """Return the payload member of a unit, with a comma in front.

    Args:
        raw: The unit; without its delimiter if it is plain.
        plain: Whether it is spliced in as `msg`.
    """
    if plain:
        return b',"msg":' + raw
    try:
        return b',"text":' + dump(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return encode_binary(raw)


def encode_binary(raw: bytes) -> bytes:
    """Return the payload member of a unit that is no text, with a comma in front."""
    return b',"b64":"' + base64.b64encode(raw) + b'"'


def has_controls(line: bytes) -> bool:
    """Return whether a line has a byte that may not stand inside a JSON line."""
    return _CONTROL.search(line) is not None


def encode_at(micros: int) -> bytes:
    """Return a time in microseconds as the text of seconds with six decimals."""
    return b"%d.%06d" % divmod(micros, 1_000_000)
