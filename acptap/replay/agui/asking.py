"""What a run was asked for, in a form in which two requests can be compared (agui.md 7.2).

Ids differ from session to session, and so do `metadata`, encrypted values and activities, which
clients leave out or make up: they are left out here. What remains of the messages, and of the
answers to interrupts, is the *key*: two requests with equal keys ask for the same run.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson

from acptap.agui.events import Event, fields, items
from acptap.agui.inputs import RunInput
from acptap.replay.difference import ABSENT, Difference, pointer
from acptap.replay.matching import is_same, pairs
from acptap.wire import jsontext
from acptap.wire.spans import Path

REST = ("tools", "state", "context", "forwardedProps")
"""What else is compared, though it need not be equal."""

STRICT = ("tools", "state")
"""What of that must be equal where parameters must."""

_IDS = frozenset({"threadId", "runId", "parentRunId"})
_KEPT = ("role", "content", "error")
_UNSAID = frozenset({"id", "metadata"})  # of a part of a message


class Kind(StrEnum):
    """What is new in a request (agui.md 6.2), in words for people."""

    TURN = "a user's message"
    TOOL = "a tool's answer"
    TOOL_ERROR = "a tool's error"
    RESUME = "an answer to interrupts"
    NOTHING = "no new message"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a run, ready to be compared.

    Attributes:
        kind: What is new in it.
        key: What is asked, without ids.
        whole: The request.
        spelled: The same, its ids replaced as in `key`, and everything else kept.
    """

    kind: Kind
    key: Event
    whole: RunInput
    spelled: Event

    @classmethod
    def of(cls, whole: RunInput, pending: Sequence[str] = ()) -> "Asked":
        """Return a request.

        Args:
            whole: The request.
            pending: The interrupts that wait for an answer in its thread, in order.
        """
        calls: dict[str, str] = {}
        key: Event = {"messages": [_said(message, calls) for message in spoken(whole)]}
        resume = _resume(whole, pending)
        if resume:
            key["resume"] = resume
        command = fields(fields(whole.value.get("forwardedProps")).get("command"))
        if "resume" in command:  # how LangGraph's clients did it before 1.0
            key["forwardedProps"] = {"command": {"resume": command["resume"]}}
        return cls(_kind(whole, is_resume=len(key) > 1), key, whole, _spelled(whole, pending))

    def digest(self) -> bytes | None:
        """Return what is equal for equal keys, and for no others; None if there is none."""
        try:
            return hashlib.sha256(_canonical(self.key)).digest()
        except RecursionError:  # nested more deeply than Python writes
            return None

    def decisions(self) -> Event:
        """Return what it answers to interrupts."""
        return {name: value for name, value in self.key.items() if name != "messages"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares a recorded request with a live one.

    Attributes:
        live: Recorded ids to the live ones, for places where ids stand among other values.
        ignore: JSON pointers into requests; what they point to is not compared.
        is_redacted: Whether secrets were taken out of the recorded one.
    """

    live: Mapping[str, str]
    ignore: tuple[str, ...] = ()
    is_redacted: bool = False

    def key(self, recorded: Asked, live: Asked) -> Difference | None:
        """Return the first difference in what is asked."""
        return self._first((), recorded.key, live.key)

    def decisions(self, recorded: Asked, live: Asked) -> Difference | None:
        """Return the first difference in what is answered to interrupts."""
        return self._first((), recorded.decisions(), live.decisions())

    def rest(self, recorded: Asked, live: Asked, names: Sequence[str] = REST) -> Difference | None:
        """Return the first difference in what else is compared."""
        for name in names:
            old, new = (asked.whole.value.get(name, ABSENT) for asked in (recorded, live))
            if old in _NOTHING and new in _NOTHING:
                continue  # clients differ in whether they write what is empty
            difference = self._first((name,), old, new)
            if difference is not None:
                return difference
        return None

    def everything(self, recorded: Asked, live: Asked) -> Difference | None:
        """Return the first difference in anything but ids."""
        return self._first((), recorded.spelled, live.spelled, is_exact=True)

    def _first(
        self, root: Path, recorded: object, live: object, *, is_exact: bool = False
    ) -> Difference | None:
        todo: list[tuple[Path, object, object]] = [(root, recorded, live)]  # the next one last
        while todo:
            path, old, new = todo.pop()
            if self.ignore and pointer(path) in self.ignore:
                continue
            inner = pairs(path, old, new)
            if inner is not None:
                todo += reversed(inner)
            elif not self._is_same(old, new, is_exact=is_exact):
                return Difference(pointer(path), old, new)
        return None

    def _is_same(self, old: object, new: object, *, is_exact: bool) -> bool:
        renamed = self.live.get(old, old) if isinstance(old, str) else old
        return is_same(renamed, new, exact=is_exact, redacted=self.is_redacted)


_NOTHING: tuple[object, ...] = (None, ABSENT, [], {})


def spoken(whole: RunInput) -> list[Event]:
    """Return the messages of a request that every client sends: activities are not for agents."""
    return [message for message in whole.messages if message.get("role") != "activity"]


# The key


def _said(message: Event, calls: dict[str, str]) -> Event:
    """Return what a message says; calls of tools are numbered as they appear."""
    said = {name: message[name] for name in _KEPT if message.get(name) is not None}
    if "content" in said:
        said["content"] = _content(said["content"], is_json=message.get("role") == "tool")
    if message.get("role") == "assistant" and said.get("content") == "":
        del said["content"]  # which some clients leave out, beside calls of tools
    made = sorted(items(message.get("toolCalls")), key=_spelling)
    if made:
        said["toolCalls"] = [_call(call, calls) for call in made]
    if isinstance(message.get("toolCallId"), str):
        said["toolCallId"] = _number(str(message["toolCallId"]), calls)
    return said


def _content(content: object, *, is_json: bool) -> object:
    if isinstance(content, str):
        return _value(content) if is_json else content
    if not isinstance(content, list):
        return content
    parts = [
        {name: value for name, value in part.items() if name not in _UNSAID}
        if isinstance(part, dict)
        else part
        for part in content
    ]
    match parts:
        case [{"type": "text", "text": str(text)}]:  # which is another spelling
            return _value(text) if is_json else text
        case _:
            return parts


def _value(text: str) -> object:
    """Return the JSON object or array in a text; else the text."""
    try:
        value = jsontext.parse(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return text
    return value if isinstance(value, (dict, list)) else text


def _call(call: Event, calls: dict[str, str]) -> Event:
    function = fields(call.get("function"))
    arguments = function.get("arguments")
    said: Event = {"name": function.get("name"), "arguments": arguments}
    if isinstance(arguments, str):
        said["arguments"] = _value(arguments)
    return {"id": _number(str(call.get("id")), calls), "function": said}


def _spelling(call: Event) -> tuple[str, str]:
    function = fields(call.get("function"))
    return str(function.get("name")), str(function.get("arguments"))


def _number(id_: str, calls: dict[str, str]) -> str:
    return calls.setdefault(id_, f"${len(calls) + 1}")


def _resume(whole: RunInput, pending: Sequence[str]) -> list[Event]:
    answers = sorted(whole.answers or [], key=lambda answer: _place(answer.interrupt, pending))
    return [
        {
            "interruptId": _position(answer.interrupt, place, pending),
            "status": answer.status,
            "payload": answer.payload,
        }
        for place, answer in enumerate(answers)
    ]


def _place(interrupt: str, pending: Sequence[str]) -> int:
    return pending.index(interrupt) if interrupt in pending else len(pending)


def _position(interrupt: str, place: int, pending: Sequence[str]) -> str:
    """Return the interrupt that is answered, by its place among those that wait."""
    if interrupt in pending:
        return f"${pending.index(interrupt) + 1}"
    return f"?{place + 1}"


def _kind(whole: RunInput, *, is_resume: bool) -> Kind:
    if is_resume:
        return Kind.RESUME
    messages = spoken(whole)
    match messages[-1] if messages else {}:
        case {"role": "user"}:
            return Kind.TURN
        case {"role": "tool", "error": str()}:
            return Kind.TOOL_ERROR
        case {"role": "tool"}:
            return Kind.TOOL
        case _:
            return Kind.NOTHING


# The whole, without ids


def _spelled(whole: RunInput, pending: Sequence[str]) -> Event:
    calls: dict[str, str] = {}
    spelled = {name: value for name, value in whole.value.items() if name not in _IDS}
    spelled["messages"] = [_renamed(message, calls) for message in whole.messages]
    if whole.answers is not None:
        entries = items(whole.value.get("resume"))
        spelled["resume"] = [
            entry | {"interruptId": _position(str(entry.get("interruptId")), place, pending)}
            for place, entry in enumerate(entries)
        ]
    return spelled


def _renamed(message: Event, calls: dict[str, str]) -> Event:
    renamed = {name: value for name, value in message.items() if name != "id"}
    if isinstance(message.get("toolCalls"), list):
        renamed["toolCalls"] = [
            call | {"id": _number(str(call.get("id")), calls)}
            for call in items(message["toolCalls"])
        ]
    if isinstance(message.get("toolCallId"), str):
        renamed["toolCallId"] = _number(str(message["toolCallId"]), calls)
    return renamed


# The digest


def _canonical(value: object) -> bytes:
    """Return one spelling of a value, whatever the spelling it was read from.

    Raises:
        RecursionError: It is nested too deeply.
    """
    plain = _plain(value)
    try:
        return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half a surrogate pair, or nested more deeply than orjson writes
        return json.dumps(plain, sort_keys=True).encode()


def _plain(value: Any) -> object:
    """Return a value without nulls and with one spelling of each number."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
