"""JSON-RPC 2.0 messages, told apart by their shape alone, as both official ACP SDKs do.

Ids are compared by JSON type and value: `1` and `"1"` are two ids, and so are `1` and `1.0`.
Python's `True == 1 == 1.0` must never decide, so numbers that are no plain integers keep their
spelling.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from acptap.wire import jsontext, spans


class Side(StrEnum):
    """Who said something."""

    CLIENT = "client"
    AGENT = "agent"

    @property
    def other(self) -> "Side":
        """The peer of this side."""
        return Side.AGENT if self is Side.CLIENT else Side.CLIENT


class NumberText(NamedTuple):
    """A numeric id that is no 64-bit integer, by its spelling."""

    text: str


RequestId = int | str | NumberText | None


@dataclass(slots=True)
class Request:
    """A call that is owed exactly one response. `id` may be null in ACP v1."""

    id: RequestId
    method: str
    params: object


@dataclass(slots=True)
class Notification:
    """A call that is owed nothing."""

    method: str
    params: object


@dataclass(slots=True)
class Response:
    """An answer.

    Attributes:
        id: The request's id; null in an error that could not be tied to a request.
        result: The value, if it is a success. Null is a success.
        error: The error object, or None.
        failed: True when there is an `error` member, or nothing that counts as a result.
        problem: Why it is malformed (both `result` and `error`, or neither), else empty.
    """

    id: RequestId
    result: object
    error: object
    failed: bool
    problem: str = ""


@dataclass(slots=True)
class Malformed:
    """JSON that is no JSON-RPC message."""

    why: str


Message = Request | Notification | Response | Malformed


def read(value: object, text: bytes) -> Message:
    """Return the message that a JSON value is.

    Args:
        value: The parsed value.
        text: Its JSON text, asked for the spelling of ids only where the value lost it.
    """
    odd = _odd_ids(text) if _has_odd_id(value) else {}
    return _read(value, odd.get(("id",)))


def read_all(value: object, text: bytes) -> list[Message]:
    """Return the messages of a unit: one, or the members of a batch (an array)."""
    if not isinstance(value, list):
        return [read(value, text)]
    odd = _odd_ids(text) if any(map(_has_odd_id, value)) else {}
    messages = [_read(member, odd.get((place, "id"))) for place, member in enumerate(value)]
    return messages or [Malformed("an empty batch")]


def _has_odd_id(value: object) -> bool:
    """Return whether an id is 1.0, 1e2 or beyond 64 bits: only the text knows which."""
    return isinstance(value, dict) and isinstance(value.get("id"), float)


def _odd_ids(text: bytes) -> dict[spans.Path, NumberText]:
    """Return the spelling of every id in a text; of one written twice, the last, as parsers do."""
    text = text.removeprefix(jsontext.MARK)
    return {
        span.path: NumberText(text[span.start : span.end].decode("ascii", "replace"))
        for span in spans.walk(text)
        if span.path[-1:] == ("id",)
    }


def _read(value: object, odd: NumberText | None) -> Message:
    if not isinstance(value, dict):
        return Malformed("not an object")
    method = value.get("method")
    if isinstance(method, str):
        if "id" not in value:
            return Notification(method, value.get("params"))
        id_ = _read_id(value["id"], odd)
        if isinstance(id_, Malformed):
            return id_
        return Request(id_, method, value.get("params"))
    if "method" in value:
        return Malformed("the method is no string")
    if "id" not in value:
        return Malformed("neither a method nor an id")
    return _read_response(value, odd)


def _read_response(value: dict[str, object], odd: NumberText | None) -> Message:
    id_ = _read_id(value["id"], odd)
    if isinstance(id_, Malformed):
        return id_
    has_result, has_error = "result" in value, "error" in value
    problem = ""
    if has_result == has_error:
        problem = "both a result and an error" if has_result else "neither a result nor an error"
    return Response(
        id_, value.get("result"), value.get("error"), has_error or not has_result, problem
    )


def _read_id(value: object, odd: NumberText | None) -> RequestId | Malformed:
    match value:
        case bool():
            return Malformed("the id is a boolean")
        case None | int() | str():
            return value
        case float():
            return odd
        case _:
            return Malformed("the id is neither a string nor a number")
