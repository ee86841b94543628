"""Blocks of an event stream that hold no event, told apart (agui.md 1.3)."""

from acptap.wire import jsontext


def rule_for(data: bytes) -> str:
    """Return the rule that data meets which is no JSON."""
    if data.strip() == b"[DONE]":
        return "agui/done-marker"
    if jsontext.is_glued(data.decode("utf-8", "replace")):
        return "agui/two-events"
    return "agui/not-json"
