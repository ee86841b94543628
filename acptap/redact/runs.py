"""The places of AG-UI requests and events that may hold secrets; see `acptap.agui.secrets`."""

from functools import lru_cache

from acptap.acp.secrets import Place, string
from acptap.agui.secrets import BESIDE, MARKS, slot_of
from acptap.redact.names import has_telling
from acptap.wire import spans
from acptap.wire.spans import Container, Value

_QUOTE = ord('"')
_slot_of = lru_cache(4096)(slot_of)


def may_hold(text: bytes) -> bool:
    """Return whether a text may have a value in a slot."""
    return any(mark in text for mark in MARKS) or has_telling(text)


def places(text: bytes) -> list[Place]:
    """Return every string but ids and words of the protocol, and what else is in a slot, in order.

    Raises:
        ValueError: It is no JSON.
    """
    values = list(spans.visit(text))
    beside: dict[tuple[Container | None, str | int], Value] = {
        (value[0], value[1]): value for value in values if value[1] in BESIDE
    }
    found = []
    for within, step, start, end in values:
        if text[start] in b"{[":
            continue
        names = _names(within, step)
        slot = _slot_of(names) if names else None
        if slot is None:
            continue
        name = names[-1]
        if step == "value":
            words = [beside[within, name] for name in BESIDE if (within, name) in beside]
            name = " ".join([name, *(string(text, *value[2:]).text for value in words)])
        found.append(Place(start, end, slot, name, within))
    return found


def _names(within: Container | None, step: str | int) -> tuple[str, ...]:
    """Return the names on the way to a value."""
    path = () if within is None else within.path
    above = tuple(name for name in path if isinstance(name, str))
    if isinstance(step, str) and within is not None:
        return (*above, step)
    return above
