"""The events of AG-UI 1.0 (agui.md 2): a table of their members, and one reader of it."""

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

Event = dict[str, object]
"""An event: a JSON object with a string in `type`."""

OWNER = "subagentRunId"
"""The member that says which subagent an event comes from."""

_SAFE = 2**53 - 1


class Category(StrEnum):
    """What an event is about."""

    LIFECYCLE = "lifecycle"
    TEXT = "text"
    TOOL = "tool call"
    CHUNK = "chunk"
    STATE = "state"
    ACTIVITY = "activity"
    REASONING = "reasoning"
    SUBAGENT = "subagent"
    SPECIAL = "special"


Check = Callable[[object], bool]


class EventType(NamedTuple):
    """What an event of one type has.

    Attributes:
        category: What it is about.
        required: Members it must have.
        optional: Members it may have.
        is_tagged: Whether it may say which subagent it comes from.
    """

    category: Category
    required: dict[str, Check]
    optional: dict[str, Check]
    is_tagged: bool = True


class Faults(NamedTuple):
    """What is wrong with the members of an event.

    Attributes:
        missing: Required members that are not there, or of another kind.
        wrong: Optional members of another kind.
        nulls: Optional members that are null, which 1.0 does not know.
    """

    missing: list[str]
    wrong: list[str]
    nulls: list[str]


def _string(value: object) -> bool:
    return isinstance(value, str)


def _object(value: object) -> bool:
    return isinstance(value, dict)


def _objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _array(value: object) -> bool:
    return isinstance(value, list)


def _boolean(value: object) -> bool:
    return isinstance(value, bool)


def _any(_: object) -> bool:
    return True


def _text_or_parts(value: object) -> bool:
    return isinstance(value, str) or _objects(value)


def is_instant(value: object) -> bool:
    """Return whether a value is an integer that JavaScript knows exactly."""
    return isinstance(value, int) and not isinstance(value, bool) and -_SAFE <= value <= _SAFE


def _one_of(*words: str) -> Check:
    return lambda value: value in words


_COMMON: dict[str, Check] = {"timestamp": is_instant, "rawEvent": _any, "metadata": _object}
_GRANDFATHERED = frozenset({"rawEvent", "result", "outcome", "parentMessageId"})
"""Members in which null has always stood for nothing."""

_ROLES = _one_of("developer", "system", "assistant", "user")
_ID: dict[str, Check] = {"messageId": _string}
_CALL: dict[str, Check] = {"toolCallId": _string}
_DELTA: dict[str, Check] = {"delta": _string}
_STEP: dict[str, Check] = {"stepName": _string}
_RUN: dict[str, Check] = {"threadId": _string, "runId": _string}
_AGENT: dict[str, Check] = {OWNER: _string}
_ACTIVITY: dict[str, Check] = {"messageId": _string, "activityType": _string}
_USAGE: dict[str, Check] = {"usage": _objects}
_PARENTS: dict[str, Check] = {
    "description": _string, "parentSubagentRunId": _string, "parentToolCallId": _string,
    "parentMessageId": _string,
}  # fmt: skip
_CALL_NAME: dict[str, Check] = {"toolCallName": _string}
_PARENT: dict[str, Check] = {"parentMessageId": _string}
_ROLE: dict[str, Check] = {"role": _ROLES, "name": _string}

_L, _T, _TC, _C = Category.LIFECYCLE, Category.TEXT, Category.TOOL, Category.CHUNK
_S, _A, _R, _SA = Category.STATE, Category.ACTIVITY, Category.REASONING, Category.SUBAGENT

EVENTS: dict[str, EventType] = {
    "RUN_STARTED": EventType(
        _L, _RUN, {"protocolVersion": _string, "parentRunId": _string, "input": _object}, False
    ),
    "RUN_FINISHED": EventType(_L, _RUN, {"result": _any, "outcome": _object, **_USAGE}, False),
    "RUN_ERROR": EventType(_L, {"message": _string}, {"code": _string, **_USAGE}, False),
    "STEP_STARTED": EventType(_L, _STEP, {}),
    "STEP_FINISHED": EventType(_L, _STEP, {}),
    "TEXT_MESSAGE_START": EventType(_T, _ID, _ROLE),
    "TEXT_MESSAGE_CONTENT": EventType(_T, _ID | _DELTA, {}),
    "TEXT_MESSAGE_END": EventType(_T, _ID, {}),
    "TEXT_MESSAGE_CHUNK": EventType(_C, {}, _ID | _ROLE | _DELTA),
    "TOOL_CALL_START": EventType(_TC, _CALL | _CALL_NAME, _PARENT),
    "TOOL_CALL_ARGS": EventType(_TC, _CALL | _DELTA, {}),
    "TOOL_CALL_END": EventType(_TC, _CALL, {}),
    "TOOL_CALL_RESULT": EventType(
        _TC, _ID | _CALL | {"content": _text_or_parts}, {"role": _one_of("tool")}
    ),
    "TOOL_CALL_CHUNK": EventType(_C, {}, _CALL | _CALL_NAME | _PARENT | _DELTA),
    "STATE_SNAPSHOT": EventType(_S, {"snapshot": _any}, {}),
    "STATE_DELTA": EventType(_S, {"delta": _array}, {}),
    "MESSAGES_SNAPSHOT": EventType(_S, {"messages": _array}, {}, False),
    "ACTIVITY_SNAPSHOT": EventType(_A, _ACTIVITY | {"content": _object}, {"replace": _boolean}),
    "ACTIVITY_DELTA": EventType(_A, _ACTIVITY | {"patch": _array}, {}),
    "REASONING_START": EventType(_R, _ID, {}),
    "REASONING_MESSAGE_START": EventType(_R, _ID | {"role": _one_of("reasoning")}, {}),
    "REASONING_MESSAGE_CONTENT": EventType(_R, _ID | _DELTA, {}),
    "REASONING_MESSAGE_END": EventType(_R, _ID, {}),
    "REASONING_MESSAGE_CHUNK": EventType(_C, {}, _ID | _DELTA),
    "REASONING_END": EventType(_R, _ID, {}),
    "REASONING_ENCRYPTED_VALUE": EventType(
        _R,
        {
            "subtype": _one_of("tool-call", "message"),
            "entityId": _string,
            "encryptedValue": _string,
        },
        {"encryptedValueType": _string},
    ),
    "SUBAGENT_STARTED": EventType(_SA, _AGENT | {"name": _string}, _PARENTS),
    "SUBAGENT_FINISHED": EventType(_SA, _AGENT, {"result": _any, "outcome": _object}),
    "SUBAGENT_ERROR": EventType(_SA, _AGENT | {"message": _string}, {"code": _string}),
    "RAW": EventType(Category.SPECIAL, {"event": _any}, {"source": _string}),
    "CUSTOM": EventType(Category.SPECIAL, {"name": _string, "value": _any}, {}),
}  # fmt: skip

RETIRED: dict[str, EventType] = {
    "THINKING_START": EventType(_R, {}, {"title": _string}),
    "THINKING_TEXT_MESSAGE_START": EventType(_R, {}, {}),
    "THINKING_TEXT_MESSAGE_CONTENT": EventType(_R, _DELTA, {}),
    "THINKING_TEXT_MESSAGE_END": EventType(_R, {}, {}),
    "THINKING_END": EventType(_R, {}, {}),
}
"""Types of former versions, which clients still translate."""

ENDS = frozenset({"RUN_FINISHED", "RUN_ERROR"})
"""Types that end a run."""

_TYPES = EVENTS | RETIRED


def type_of(name: str) -> EventType | None:
    """Return the type with a name, or None if 1.0 doesn't know it."""
    return _TYPES.get(name)


def faults_of(type_: EventType, event: Event) -> Faults:
    """Return what is wrong with the members of an event."""
    missing = [
        name
        for name, check in type_.required.items()
        if name not in event or not check(event[name])
    ]
    wrong, nulls = [], []
    for name, value in event.items():
        check = type_.optional.get(name) or _COMMON.get(name)
        if check is None:
            continue
        if value is None:
            nulls += [] if name in _GRANDFATHERED else [name]
        elif not check(value):
            wrong.append(name)
    if type_.is_tagged and OWNER not in type_.required:
        tag = event.get(OWNER)
        wrong += [OWNER] if tag is not None and not _string(tag) else []
    return Faults(missing, wrong, nulls)


def owner_of(event: Event) -> str | None:
    """Return the subagent that something says it comes from; None for the agent itself."""
    tag = event.get(OWNER)
    return tag if isinstance(tag, str) else None


def word(event: Event, name: str) -> str:
    """Return a member that is text; empty if it is none."""
    value = event.get(name)
    return value if isinstance(value, str) else ""


def optional(event: Event, name: str) -> str | None:
    """Return a member that is text, or None."""
    value = event.get(name)
    return value if isinstance(value, str) else None


def fields(value: object) -> Event:
    """Return an object's members; of something else none."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Event]:
    """Return the objects of an array; of something else none."""
    return list(_objects_in(value)) if isinstance(value, list) else []


def _objects_in(values: Iterable[object]) -> Iterator[Event]:
    return (value for value in values if isinstance(value, dict))
