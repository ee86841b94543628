"""Where AG-UI's protobuf messages have another shape than its JSON: what the JSON looks like.

What may be in a message and can't be in an event raises ValueError, as in the reference decoder.
"""

from acptap.agui.schema import OPERATIONS

ABSENT = object()
"""Stands for what is not there, where None is null."""

Members = dict[str, object]

_CARRIERS = {
    "user": ("content", "contentParts"),
    "tool": ("content", "contentParts"),
    "activity": ("activityContent",),
} | dict.fromkeys(("developer", "system", "assistant", "reasoning"), ("content",))
"""What holds the content of a message, by its role."""

_ANY_CARRIER = ("content", "contentParts", "activityContent")
_OF_OUTCOMES = ("interrupts", "pendingToolCallIds", "interruptIds")


def reshape(message: str, members: Members) -> object:
    """Return the JSON that a message stands for.

    Args:
        message: The message's name.
        members: What it holds.

    Raises:
        ValueError: It stands for nothing.
    """
    match message:
        case "Message":
            return _with_content(str(members["role"]), members)
        case "TOOL_CALL_RESULT":
            return _with_content("tool", members)
        case "InputContent":
            return _part(members)
        case "InputContentSource":
            return _tagged(members)
        case "JsonPatchOperation":
            return members | {"op": _operation(members["op"])}
        case "RUN_FINISHED":
            return _with_outcome(members, {"interrupts": []})
        case "SUBAGENT_FINISHED":
            return _with_outcome(members, {})
        case _:
            return members


def _with_content(role: str, members: Members) -> Members:
    """Return a message whose content is where JSON has it."""
    carriers = [name for name in _ANY_CARRIER if name in members]
    fitting = _CARRIERS.get(role, _ANY_CARRIER)
    if len(carriers) > 1 or not set(carriers) <= set(fitting):
        raise ValueError(f"the content of a message of role {role} is in {' and '.join(carriers)}")
    if not carriers and "contentParts" in fitting and role in _CARRIERS:
        return members | {"content": []}
    return {"content" if name in carriers else name: value for name, value in members.items()}


def _part(members: Members) -> object:
    """Return a part of a content; a kind of part or source that is not known leaves nothing."""
    part = _tagged(members)
    return ABSENT if part is None or part.get("source", "") is None else part


def _tagged(members: Members) -> Members | None:
    """Return what a union holds, with the name of its arm as type; None if it holds nothing."""
    if len(members) > 1:
        raise ValueError(f"a union holds {' and '.join(members)}")
    for arm, value in members.items():
        assert isinstance(value, dict)
        return {"type": arm, **value}
    return None


def _operation(number: object) -> str:
    """Return the name of an operation; of one that is not known its number."""
    assert isinstance(number, int)
    return OPERATIONS[number] if number in range(len(OPERATIONS)) else str(number)


def _with_outcome(members: Members, unlisted: Members) -> Members:
    """Return the end of a run with its outcome as an object, and without it if it has none."""
    outcome = members["outcome"]
    payload = {name: members[name] for name in _OF_OUTCOMES if name in members}
    rest = {name: value for name, value in members.items() if name not in payload}
    del rest["outcome"]
    if not outcome:
        return rest | payload
    if outcome == "interrupt":
        payload = unlisted | payload
    return rest | {"outcome": {"type": outcome} | payload}
