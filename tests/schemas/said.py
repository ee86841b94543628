"""What is held against the schemas: params and results, with who said them in which version."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from acptap.acp.conversation import Conversation
from acptap.acp.methods import METHODS, Kind
from acptap.cassette import Entry
from acptap.jsonrpc import Message, Notification, Request, Response, Side, read_all
from acptap.wire import jsontext
from tests.fuzz.shapes import LINKED, PARAMS, RESULTS, UPDATES, V1, V2, fill


@dataclass(frozen=True)
class Said:
    """One message.

    Attributes:
        version: The protocol version it was said in.
        side: Who said it.
        kind: `request`, `notification`, or `response`: a result.
        method: Its method; of a result, that of the request.
        value: Its params, or the result.
    """

    version: int
    side: Side
    kind: str
    method: str
    value: Any

    @property
    def caller(self) -> Side:
        """Who called the method."""
        return self.side.other if self.kind == "response" else self.side

    @property
    def update(self) -> str | None:
        """The update's discriminator, of a `session/update`."""
        update = self.value.get("update") if isinstance(self.value, dict) else None
        name = update.get("sessionUpdate") if isinstance(update, dict) else None
        return name if self.method == "session/update" and isinstance(name, str) else None

    @property
    def subject(self) -> str:
        """What it is, in words: `v1 client request session/new`."""
        named = f" {self.update}" if self.update is not None else ""
        return f"v{self.version} {self.side} {self.kind} {self.method}{named}"


def said_in(entries: Iterable[Entry]) -> list[Said]:
    """Return what a tape holds, of the version that was agreed on."""
    conversation = Conversation()
    said = [
        (entry.side, *found)
        for entry in entries
        if entry.event is None
        for found in _read(conversation, entry)
    ]
    version = conversation.version or V1
    return [Said(version, *one) for one in said]


def _read(conversation: Conversation, entry: Entry) -> Iterator[tuple[str, str, Any]]:
    text = entry.reading()
    try:
        value = jsontext.parse(text)
    except ValueError:
        return
    for message in read_all(value, text):
        seen = conversation.observe(entry.side, message)
        found = _kind_and_value(message)
        if found is not None and seen.method is not None:
            yield found[0], seen.method, found[1]


def _kind_and_value(message: Message) -> tuple[str, Any] | None:
    match message:
        case Request(params=params):
            return "request", params
        case Notification(params=params):
            return "notification", params
        case Response(result=result, failed=False):
            return "response", result
        case _:
            return None


def spelled_out() -> list[Said]:
    """Return every call, result and update there is a shape for, right and wrong.

    Each is said by both sides, as a request and as a notification, in both versions.
    """
    said = []
    for version in (V1, V2):
        for method in PARAMS:
            for shape in _params(method, version):
                said += _every_way(version, method, fill(shape, {}))
        for method in ("_acme/thing", "future/thing", *METHODS):
            if method not in PARAMS and method != "session/update":
                said += _every_way(version, method, {})
        said += _updates(version)
    return said


def _params(method: str, version: int) -> list[Any]:
    """Return the params of a method; of one that the version does not have, those of the other."""
    return [
        shapes.get(version, next(iter(shapes.values())))
        for shapes in (PARAMS[method], LINKED.get(method, {}))
        if shapes
    ]


def _every_way(version: int, method: str, params: Any) -> list[Said]:
    said = [Said(version, side, kind, method, params) for side in Side for kind in _CALLED]
    row, shapes = METHODS.get(method), RESULTS.get(method, {})
    if row is not None and row.kind is not Kind.NOTIFICATION:
        result = fill(shapes.get(version, next(iter(shapes.values()), {})), {})
        callers = [*Side] if row.caller is None else [row.caller]
        said += [Said(version, side.other, "response", method, result) for side in callers]
    return said


_CALLED = ("request", "notification")


def _updates(version: int) -> Iterator[Said]:
    for name in ("_acme_update", "future_update", *UPDATES):
        shapes = UPDATES.get(name, {V1: {}})
        shape = shapes.get(version, next(iter(shapes.values())))
        update = {"sessionUpdate": name} | fill(shape, {})
        params = {"sessionId": "s", "update": update}
        yield Said(version, Side.AGENT, "notification", "session/update", params)


_SESSION = {"sessionId": "s"}
WRONG = [
    Said(1, Side.CLIENT, "request", "session/prompt", _SESSION),
    Said(2, Side.CLIENT, "request", "session/close", {"sessionId": 1}),
    Said(2, Side.AGENT, "request", "session/request_permission", _SESSION | {"title": "Run?"}),
    Said(1, Side.AGENT, "response", "session/new", {}),
    Said(1, Side.CLIENT, "notification", "session/cancel", None),
]
"""What no schema lets pass, although every method is known."""
