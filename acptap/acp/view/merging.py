"""How ACP merges what it sends in parts (acp.md 2.3): patches, lists of content, bytes."""

import base64
import binascii

_NO_FIELDS = frozenset({"sessionUpdate", "messageId", "toolCallId", "terminalId", "compactionId"})


def patch(fields: dict[str, object], update: dict[str, object], *, nulls: bool = True) -> None:
    """Merge an upsert into what is known: left out keeps, a value replaces, null clears.

    Args:
        fields: What is known, changed in place.
        update: What was sent.
        nulls: Whether null clears; in version 1 it leaves a tool call's field as it is.
    """
    for name, value in update.items():
        if name in _NO_FIELDS:
            continue
        if name == "_meta":
            _patch_meta(fields, value, nulls=nulls)
        elif value is not None:
            fields[name] = value
        elif nulls:
            fields.pop(name, None)


def _patch_meta(fields: dict[str, object], value: object, *, nulls: bool) -> None:
    """Merge `_meta` key by key: null deletes a key, and null in its place deletes them all."""
    if isinstance(value, dict):
        known = fields.get("_meta")
        merged = (known if isinstance(known, dict) else {}) | value
        fields["_meta"] = {key: member for key, member in merged.items() if member is not None}
    elif value is None and nulls:
        fields.pop("_meta", None)


def blocks(value: object) -> list[object]:
    """Return the items of a content member, whatever its shape; a lone block counts as one."""
    if isinstance(value, list):
        return list(value)
    return [value] if isinstance(value, dict) else []


def decoded(value: object) -> bytes:
    """Return what base64 stands for; nothing, if it is none."""
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else b""
    except (binascii.Error, ValueError):
        return b""


def output_of(output: object) -> bytes:
    """Return a terminal's whole output: base64 in `data`, or `text` as version 1 answers it."""
    if not isinstance(output, dict):
        return b""
    text = output.get("text")
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    return decoded(output.get("data"))


def text_of(content: list[object]) -> str:
    """Return the text of content blocks, joined; what is no text is left out."""
    return "".join(filter(None, map(_text_of_block, content)))


def _text_of_block(block: object) -> str:
    if isinstance(block, dict) and block.get("type") == "content":  # a tool call's wrapping
        block = block.get("content")
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else ""
