"""Where secrets stand in ACP messages: a table of paths, and which values are no text at all.

Texts that peers write for each other (prompts, tool calls, file contents, terminal output, error
messages) need no row: key shapes and secrets already learnt are looked for in every string.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from acptap.slots import Slot
from acptap.wire import spans
from acptap.wire.escapes import Reading, unescape
from acptap.wire.spans import Container, Value

_EVERY = ""
_OPENS_SESSION = "session/new session/load session/resume session/fork"
_WHO = "label|name|email|organization"  # the schema: SHOULD NOT be logged

# Path elements: `*` is any one, `**` any number, `a|b` one of them. The first row that fits counts.
SLOTS: list[tuple[str, str, Slot]] = [
    # methods (none: all), path, what is secret
    (_EVERY, "**.mcpServers.*.env.*.value", Slot.WHOLE),
    (_EVERY, "**.mcpServers.*.env.*", Slot.WHOLE),
    (_EVERY, "**.mcpServers.*.headers.*.value", Slot.WHOLE),
    (_EVERY, "**.mcpServers.*.headers.*", Slot.WHOLE),
    (_EVERY, "**.mcpServers.*.url", Slot.URL),
    (_EVERY, "**.mcpServers.*.args.*", Slot.WORDS),
    (_EVERY, "**.mcpServers.*.command", Slot.WORDS),
    (_OPENS_SESSION, "params.systemPrompt.content.**", Slot.WHOLE),
    ("providers/set", "params.headers.*", Slot.WHOLE),
    ("providers/set", "params.baseUrl", Slot.URL),
    ("providers/list", "result.providers.*.current.baseUrl", Slot.URL),
    ("authenticate auth/login", "params.**", Slot.WHOLE),
    ("initialize", "result.authMethods.*.env.*", Slot.WHOLE),
    ("initialize", "result.authMethods.*.env.*.value", Slot.WHOLE),
    ("initialize", "result.authMethods.*.args.*", Slot.WORDS),
    ("auth/status", f"result.accounts.*.{_WHO}", Slot.WHOLE),
    ("auth/status_update", f"params.accounts.*.{_WHO}", Slot.WHOLE),
    ("terminal/create", "params.env.*.value", Slot.WHOLE),
    ("terminal/create", "params.args.*", Slot.WORDS),
    ("terminal/create", "params.command", Slot.WORDS),
    ("elicitation/create", "params.url", Slot.LINK),
    ("elicitation/create", "result.content.*", Slot.WHOLE),
    ("elicitation/create", "result.content.*.*", Slot.WHOLE),
    # MCP in ACP: what tools are told and what they say, not MCP's own vocabulary, without which a
    # replayed call could not be understood.
    ("mcp/message", "params.params.arguments.**", Slot.WHOLE),
    ("mcp/message", "params.params.**", Slot.NAMED),
    ("mcp/message", "result.result.content|contents|structuredContent|messages.**", Slot.WHOLE),
    ("mcp/message", "result.result.**", Slot.NAMED),
    ("mcp/message", "result.error.data.**", Slot.WHOLE),
    ("proxy/successor", "params.params.**", Slot.NAMED),
    ("_", "params.**", Slot.NAMED),  # extensions
    ("_", "result.**", Slot.NAMED),
    ("authenticate auth/login", "result.**", Slot.NAMED),
    (_EVERY, "error.data.**", Slot.NAMED),  # peers quote what they refuse
    (_EVERY, "**._meta.**.headers|env|secrets|credentials|cookies.*", Slot.WHOLE),
    (_EVERY, "**._meta.**.headers|env.*.value", Slot.WHOLE),
    (_EVERY, "**._meta.**", Slot.NAMED),
    (_EVERY, "params.update.output.data", Slot.BASE64),
    (_EVERY, "params.update.data", Slot.BASE64),
]

GENERAL = (b"mcpServers", b'"error"')
"""What a message holds if a row of all methods fits; base64 aside, see `acptap.redact.shapes`."""

UNSTATED = (b'"params"', b'"result"')
"""The same for the rows of single methods, in what doesn't say which method it has."""

MESSAGES = (b'"method"', *UNSTATED, *GENERAL)
"""What JSON holds if any row fits but those of `_meta`: without that it is no message."""

META = b'"_meta"'
"""The same for the rows of `_meta`, which count only beside telling names."""

KEPT = frozenset(
    {"jsonrpc", "id", "method", "type", "sessionUpdate", "kind", "status", "state", "role"}
    | {"stopReason", "action", "outcome", "mode", "protocolVersion"}
    | {"sessionId", "toolCallId", "messageId", "terminalId", "requestId", "elicitationId"}
    | {"methodId", "optionId", "serverId", "modeId", "modelId", "configId", "providerId"}
    | {"currentModeId", "currentModelId"}
)
"""Members whose values are ids or words of the protocol; a replay is lost without them."""

_FREE = frozenset({"_meta", "rawInput", "rawOutput", "arguments"})
"""Members whose contents are nobody's vocabulary: in them nothing is kept."""

_METHODS = frozenset(method for methods, _, _ in SLOTS for method in methods.split())


class Place(NamedTuple):
    """A value that may hold a secret.

    Attributes:
        start: Where it starts.
        end: Where it ends.
        slot: What of it is secret, or None for ordinary text.
        name: What it is called: its member, and the `name` beside a `value`.
        within: What it stands in.
    """

    start: int
    end: int
    slot: Slot | None
    name: str
    within: Container | None


_QUOTE = ord('"')


def has_slots(method: str | None) -> bool:
    """Return whether messages of a method have rows of their own; of unknown ones, they may."""
    return method is None or method in _METHODS or method.startswith("_")


def places(text: bytes, method: str | None) -> list[Place]:
    """Return every string but the kept ones, and what else is in a slot, in order.

    Args:
        text: A message, or a batch.
        method: The method of responses; None if it isn't known, then any row may fit. Whoever
            states a method is judged by that: requests, wrapped calls, quoted messages.

    Raises:
        ValueError: It is no JSON.
    """
    values = list(spans.visit(text))
    plan = _Plan(text, values, method)
    found = []
    room_of = plan.rooms.get
    for within, step, start, end in values:
        if text[start] in b"{[":
            continue
        room = room_of(within) or plan.room(within)
        key = "" if isinstance(step, int) else step
        verdict = _verdict(room, key)
        if not verdict.is_kept and (verdict.slot is not None or text[start] == _QUOTE):
            name = verdict.name
            if key == "value":
                name = f"{name} {plan.name_beside(within)}"
            found.append(Place(start, end, verdict.slot, name, within))
    return found


def string(text: bytes, start: int, end: int) -> Reading:
    """Return what a string says; of another value, its spelling without the outer characters."""
    return unescape(text[start + 1 : end - 1].decode("utf-8", "surrogateescape"))


class _Row(NamedTuple):
    """A row of the table, ready to be applied.

    Attributes:
        elements: Its path; of the names that an element allows, the set.
        slot: What is secret.
        is_deep: It speaks of all that is below a place, so it spares the kept members.
    """

    elements: tuple[str | frozenset[str], ...]
    slot: Slot
    is_deep: bool

    def reached(self, position: int) -> list[int]:
        """Return a position, and the one behind it if nothing need be there."""
        is_any = self.elements[position : position + 1] == ("**",)
        return [position, position + 1] if is_any else [position]

    def step(self, position: int, name: str) -> list[int]:
        """Return the positions that one more element of a path leads to."""
        if position == len(self.elements):
            return []
        element = self.elements[position]
        if element == "**":
            return self.reached(position)
        return self.reached(position + 1) if element == "*" or name in element else []


_ROWS = [
    _Row(
        tuple(
            element if "*" in element else frozenset(element.split("|"))
            for element in path.split(".")
        ),
        slot,
        path.endswith("**"),
    )
    for _, path, slot in SLOTS
]

_State = tuple[int, int]
"""A row, and how much of its path was gone. Of several the first that gets to the end counts."""


@cache
def _begun(method: str | None) -> tuple[_State, ...]:
    """Return the states that a message begins with."""
    return tuple(
        (number, position)
        for number, (methods, _, _) in enumerate(SLOTS)
        if method is None or not methods or method in methods.split()
        for position in _ROWS[number].reached(0)
    )


def kin(method: str | None) -> str | None:
    """Return the method that stands for all that have the same rows."""
    if method is None or method in _METHODS:
        return method
    return "_" if method.startswith("_") else _EVERY


class _Verdict(NamedTuple):
    """What is to become of the values with a name."""

    slot: Slot | None
    is_kept: bool
    name: str


class _Room:
    """What containers have in common that stand at the same path, but for indexes.

    Args:
        states: Those after the path to them, of all messages around, the innermost first.
        name: The last name on that path.
        is_free: Nothing in them is kept.
    """

    def __init__(self, states: tuple[_State, ...], name: str, *, is_free: bool) -> None:
        self._states = states
        self._name = name
        self._is_free = is_free

    def verdict(self, name: str) -> _Verdict:
        """Return the verdict on the values with a name, or on elements, which have none."""
        is_kept = name in KEPT and not self._is_free
        row = next(
            (_ROWS[row] for row, place in self._after(name) if place == len(_ROWS[row].elements)),
            None,
        )
        if row is None or (row.is_deep and is_kept):
            return _Verdict(None, is_kept, name or self._name)
        return _Verdict(row.slot, False, name or self._name)

    def room(self, name: str, methods: tuple[str | None, ...]) -> "_Room":
        """Return the room of a container in this one, in which messages begin."""
        begun = [state for method in methods for state in _begun(method)]
        states = tuple(dict.fromkeys([*begun, *self._after(name)]))
        return _Room(states, name or self._name, is_free=self._is_free or name in _FREE)

    def _after(self, name: str) -> Iterator[_State]:
        for row, position in self._states:
            for following in _ROWS[row].step(position, name):
                yield row, following


_OUTSIDE = _Room((), "", is_free=False)

# Messages are alike, so what was found out for one is kept for the next.
_verdict = lru_cache(256)(_Room.verdict)
_room = lru_cache(256)(_Room.room)


class _Plan:
    """Which room each container of a text has.

    Attributes:
        rooms: The rooms that are known.
    """

    def __init__(self, text: bytes, values: list[Value], method: str | None) -> None:
        self.rooms: dict[Container | None, _Room] = {None: _OUTSIDE}
        self._text = text
        self._method = method
        self._names: dict[Container | None, Value] = {}
        self._stated: dict[Container | None, list[str]] = {}
        is_batch = text[values[-1][2]] == ord("[")
        self._depth = 1 if is_batch else 0  # of the messages
        for value in values:
            within, step, start, end = value
            if step == "name":
                self._names[within] = value
            elif step == "method" and text[start] == ord('"'):
                self._stated.setdefault(within, []).append(string(text, start, end).text)

    def name_beside(self, container: Container | None) -> str:
        """Return the `name` in a container."""
        value = self._names.get(container)
        return "" if value is None else string(self._text, *value[2:]).text

    def room(self, container: Container | None) -> _Room:
        """Return the room of a container, and make those of all around it."""
        line = []
        while container not in self.rooms and container is not None:
            line.append(container)
            container = container.above
        room = self.rooms[container]
        for inner in reversed(line):
            name = inner.step if isinstance(inner.step, str) else ""
            room = self.rooms[inner] = _room(room, name, self._methods(inner))
        return room

    def _methods(self, container: Container) -> tuple[str | None, ...]:
        """Return the methods of the messages that a container is, if it is any."""
        stated = self._stated.get(container, [])
        methods = [kin(method) for method in stated if has_slots(method)]
        if self._is_root(container):
            methods.append(_EVERY if stated else kin(self._method))
        return tuple(methods)

    def _is_root(self, container: Container) -> bool:
        if self._depth == 0:
            return container.above is None
        return container.above is not None and container.above.above is None
