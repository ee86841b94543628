"""What AG-UI's requests and events say, in a few words: one row for each type of event.

An event of a type without a row is told by its members. Nothing here trusts a payload's shape.
"""

from collections.abc import Callable
from typing import NamedTuple

from acptap.agui import proto
from acptap.agui.events import OWNER, Event, items, optional, word
from acptap.agui.inputs import RunInput
from acptap.timeline.gists import LIMIT, brief, member, quoted, said, words
from acptap.wire.jsontext import dump

Naming = Callable[[str, object], str]
"""What something is called: by what it is (`call`, `agent`, `question`), and its id."""

_BESIDE = frozenset({"type", "timestamp", "rawEvent", "metadata", OWNER})
_CHANGES = 4
"""Changes of a patch that are told."""

ROUTINE = frozenset({
    "TEXT_MESSAGE_START", "TEXT_MESSAGE_END", "TOOL_CALL_END", "REASONING_START",
    "REASONING_MESSAGE_START", "REASONING_MESSAGE_END", "REASONING_END", "THINKING_START",
    "THINKING_TEXT_MESSAGE_START", "THINKING_TEXT_MESSAGE_END", "THINKING_END",
})  # fmt: skip
"""Brackets around what is said: they say nothing themselves, with few exceptions."""

FAILURES = frozenset({"RUN_ERROR", "SUBAGENT_ERROR"})


class Part(NamedTuple):
    """An event that brings a part of something.

    Attributes:
        id: The member that names what it is a part of.
        is_call: Whether that is a tool call, of which these are the arguments.
    """

    id: str
    is_call: bool = False


PARTS = {
    "TEXT_MESSAGE_CONTENT": Part("messageId"),
    "TEXT_MESSAGE_CHUNK": Part("messageId"),
    "REASONING_MESSAGE_CONTENT": Part("messageId"),
    "REASONING_MESSAGE_CHUNK": Part("messageId"),
    "THINKING_TEXT_MESSAGE_CONTENT": Part("messageId"),
    "TOOL_CALL_ARGS": Part("toolCallId", is_call=True),
    "TOOL_CALL_CHUNK": Part("toolCallId", is_call=True),
}


def text_of_frame(frame: bytes) -> bytes:
    """Return the JSON text of the event in a protobuf frame; nothing if none can be made out."""
    try:
        return dump(proto.decode(frame))
    except ValueError:
        return b""


# Requests


def of_request(asked: RunInput, named: Naming, *, is_new: bool) -> str:
    """Return the gist of a request for a run: what it has that the agent does not know yet.

    Args:
        asked: The request.
        named: What things are called.
        is_new: Whether its thread is named for the first time.
    """
    answers = [
        words(named("question", answer.interrupt), answer.status, _payload(answer.payload))
        for answer in asked.answers or []
    ]
    told = [f"resume {', '.join(answers)}"] if answers else []
    roles = [word(message, "role") for message in asked.messages]
    known = len(roles) - roles[::-1].index("assistant") if "assistant" in roles else 0
    told += [_message(message, named) for message in asked.messages[known:]]
    return words(
        *told, f"thread {asked.thread}" if is_new else "", asked.parent and f"after {asked.parent}"
    )


def _payload(value: object) -> str:
    return "" if value is None else brief(value)


def _message(message: Event, named: Naming) -> str:
    content = message.get("content")
    match message.get("role"):
        case "user":
            return quoted(said_in(content))
        case "tool":
            call = named("call", message.get("toolCallId"))
            failure = optional(message, "error")
            return words("result of", call, failure and "error", quoted(said_in(content)))
        case _:
            return ""


def said_in(content: object) -> str:
    """Return what a message's content says: a text, or the parts of one."""
    return content if isinstance(content, str) else said(content)


# Events


def of_event(event: Event, named: Naming) -> str:
    """Return the gist of an event."""
    row = EVENTS.get(word(event, "type"))
    if row is not None:
        return row(event, named)
    return brief({name: event[name] for name in event if name not in _BESIDE})


def question_of(interrupt: Event) -> str:
    """Return what an interrupt asks."""
    return quoted(interrupt.get("message")) or words(interrupt.get("reason") or interrupt.get("id"))


def _finished(event: Event, _: Naming) -> str:
    outcome = event.get("outcome")
    asked = ", ".join(map(question_of, items(member(outcome, "interrupts"))))
    return words(member(outcome, "type"), asked, _payload(event.get("result")))


def _changes(patch: object) -> str:
    changes = items(patch)
    told = [
        words(
            change.get("op"), change.get("from"), change.get("path"),
            _value(change["value"]) if "value" in change else "",
        )
        for change in changes[:_CHANGES]
    ]  # fmt: skip
    return ", ".join(told + ["..."] * (len(changes) > _CHANGES))


def _value(value: object) -> str:
    said = brief(value)
    return f"{{{said}}}" if isinstance(value, dict) else said


def _fields(*names: str) -> Callable[[Event, Naming], str]:
    return lambda event, _: words(*(event.get(name) for name in names))


def _call(event: Event, named: Naming) -> str:
    return named("call", event.get("toolCallId"))


def _result(event: Event, named: Naming) -> str:
    return words(_call(event, named), quoted(said_in(event.get("content"))))


def _agent(event: Event, named: Naming) -> str:
    return named("agent", event.get(OWNER))


def _restated(event: Event, _: Naming) -> str:
    count = len(items(event.get("messages")))
    return "1 message" if count == 1 else f"{count} messages"


def _failed(event: Event) -> str:
    return words(event.get("code"), quoted(event.get("message")))


def _role(event: Event, _: Naming) -> str:
    return words(event.get("role"), event.get("name"), event.get("messageId"))


EVENTS: dict[str, Callable[[Event, Naming], str]] = {
    "RUN_STARTED": _fields("runId"),
    "RUN_FINISHED": _finished,
    "RUN_ERROR": lambda event, _: _failed(event),
    "STEP_STARTED": _fields("stepName"),
    "STEP_FINISHED": _fields("stepName"),
    "TEXT_MESSAGE_START": _role,
    "TEXT_MESSAGE_END": _fields("messageId"),
    "TOOL_CALL_START": _call,
    "TOOL_CALL_END": _call,
    "TOOL_CALL_RESULT": _result,
    "STATE_SNAPSHOT": lambda event, _: brief(event.get("snapshot")),
    "STATE_DELTA": lambda event, _: _changes(event.get("delta")),
    "MESSAGES_SNAPSHOT": _restated,
    "ACTIVITY_SNAPSHOT": lambda event, _: words(
        event.get("activityType"), brief(event.get("content"))
    ),
    "ACTIVITY_DELTA": lambda event, _: words(
        event.get("activityType"), _changes(event.get("patch"))
    ),
    "REASONING_START": _fields("messageId"),
    "REASONING_MESSAGE_START": _fields("messageId"),
    "REASONING_MESSAGE_END": _fields("messageId"),
    "REASONING_END": _fields("messageId"),
    "REASONING_ENCRYPTED_VALUE": lambda event, named: words(
        event.get("subtype"), named("call", event.get("entityId"))
    ),
    "SUBAGENT_STARTED": lambda event, named: words(
        _agent(event, named), quoted(event.get("description"))
    ),
    "SUBAGENT_FINISHED": lambda event, named: words(
        _agent(event, named), member(event.get("outcome"), "type"), _payload(event.get("result"))
    ),
    "SUBAGENT_ERROR": lambda event, named: words(_agent(event, named), _failed(event)),
    "RAW": lambda event, _: words(event.get("source"), _payload(event.get("event"))),
    "CUSTOM": lambda event, _: words(event.get("name"), _payload(event.get("value"))),
    "THINKING_START": _fields("title"),
}
"""What an event says. Those that bring a part of something have no row: see `PARTS`."""


def is_routine(event: Event) -> bool:
    """Return whether an event says nothing that others don't say."""
    is_odd = event.get("role") not in (None, "assistant", "reasoning") or any(
        isinstance(event.get(name), str) for name in ("name", "title")
    )
    return event.get("type") in ROUTINE and not is_odd


# Names


def names_in(value: Event) -> list[tuple[str, str, str]]:
    """Return what a request or an event gives names to: what that is, its id and its name."""
    found = [
        *_named("call", [value], "toolCallId", "toolCallName"),
        *(("question", word(asked, "id"), question_of(asked))
          for asked in items(member(value.get("outcome"), "interrupts"))),
    ]  # fmt: skip
    if value.get("type") == "SUBAGENT_STARTED":
        found += _named("agent", [value], OWNER, "name")
    for message in items(value.get("messages")):
        for call in items(message.get("toolCalls")):
            name = member(call.get("function"), "name")
            found += _named("call", [{"id": call.get("id"), "name": name}], "id", "name")
    return found


def _named(what: str, values: list[Event], id_: str, name: str) -> list[tuple[str, str, str]]:
    return [
        (what, word(value, id_), word(value, name)[:LIMIT])
        for value in values
        if word(value, id_) and word(value, name)
    ]
