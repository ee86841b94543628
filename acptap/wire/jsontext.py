"""Read JSON text as peers do: strictly first, then with the liberties real parsers take.

orjson refuses two things that the grammar allows and JavaScript reads: half a surrogate pair
written as an escape, and numbers too large for a double. Python's own parser reads those; it is
asked only when orjson refused, and what no standard parser reads (NaN, Infinity) stays refused.
Integers beyond 64 bits become floats in both; only their text knows them exactly.
"""

import json
from typing import Never

import orjson

MARK = b"\xef\xbb\xbf"
"""The UTF-8 byte order mark, which some peers put in front."""

_LONGEST = 20
"""Characters of the longest integer of 64 bits, the sign included."""


def parse(text: bytes) -> object:
    """Return the value that `text` spells.

    Args:
        text: One JSON value in UTF-8; white space around it and one byte order mark before it
            are ignored.

    Raises:
        ValueError: It is not JSON (RFC 8259), or not UTF-8.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        value: object = json.loads(
            text.removeprefix(MARK).decode("utf-8"),
            parse_int=_read_integer,
            parse_constant=_refuse_constant,
        )
    except RecursionError as error:
        raise ValueError("nested too deeply to be read") from error
    return value


def bare(unit: bytes) -> bytes:
    """Return what a reader takes for JSON text: without byte order mark and white space."""
    return unit.removeprefix(MARK).strip(b" \t\r\n")


def parse_strictly(text: bytes) -> object:
    """Return the value that `text` spells, if every JSON parser reads it.

    Raises:
        ValueError: Some parsers refuse it.
    """
    return orjson.loads(text)


def is_glued(text: str) -> bool:
    """Return whether two objects or arrays stand in a text, as if a line end had been lost."""
    try:
        value, end = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return False
    return isinstance(value, (dict, list)) and text.lstrip()[end:].lstrip()[:1] in ("{", "[")


def dump(value: object) -> bytes:
    """Return the compact JSON text of `value`, for what acptap itself has to say.

    Strings that UTF-8 can't carry (half a surrogate pair) are written as escapes.
    """
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError):
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def _read_integer(digits: str) -> int | float:
    if len(digits) > _LONGEST:  # int() refuses thousands of digits, and they are JSON
        return float(digits)
    value = int(digits)
    return value if -(2**63) <= value < 2**64 else float(value)


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")
