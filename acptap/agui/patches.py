"""Patches of state and activities (RFC 6902): all of one is done, or nothing."""

import copy
import re
from contextlib import suppress
from typing import Any, NamedTuple

import jsonpatch

from acptap.agui.events import fields
from acptap.agui.rules import note
from acptap.notes import Note

_OPERATIONS = frozenset({"add", "remove", "replace", "move", "copy", "test"})
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_FAILURES = (
    jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, ValueError,
    RecursionError,
)  # fmt: skip


class Patched(NamedTuple):
    """What became of a document.

    Attributes:
        value: The document.
        notes: Rules met.
        failed: Whether the patch did not apply, so that the document is as it was.
    """

    value: object
    notes: list[Note]
    failed: bool = False


def patch(document: object, operations: list[object]) -> Patched:
    """Apply a patch. The document is changed in place where that can be.

    An operation that is not known fails the whole patch; the TypeScript client leaves it out and
    does the rest.
    """
    notes = _judged(operations)
    rows: Any = operations  # objects or not, the library says
    try:
        changed = jsonpatch.JsonPatch(rows).apply(document, in_place=True, atomic=True)
    except _FAILURES:
        return Patched(document, [*notes, note("agui/patch-failed")], failed=True)
    return Patched(changed, notes)


def copied(value: object) -> object:
    """Return a copy of a value that patches may change; itself if it is nested too deeply."""
    with suppress(RecursionError):
        return copy.deepcopy(value)
    return value


def _judged(operations: list[object]) -> list[Note]:
    notes = []
    for number, operation in enumerate(operations):
        said = fields(operation)
        if said.get("op") not in _OPERATIONS:
            notes.append(note("agui/unknown-operation", operation=number))
        elif not all(_is_pointer(said[name]) for name in ("path", "from") if name in said):
            notes.append(note("agui/bad-pointer", operation=number))
    return notes


def _is_pointer(value: object) -> bool:
    return isinstance(value, str) and _POINTER.fullmatch(value) is not None
