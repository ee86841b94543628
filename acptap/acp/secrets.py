"""Where secrets stand in ACP messages: a table of paths, and which values are no text at all.

Texts that peers write for each other (prompts, tool calls, file contents, terminal output, error
messages) need no row: key shapes and secrets already learnt are looked for in every string.
"""

import re
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from acptap.wire import spans
from acptap.wire.escapes import Reading, unescape
from acptap.wire.spans import Path, Span


class Slot(StrEnum):
    """What of a value is secret."""

    WHOLE = "all of it"
    NAMED = "all of it, if it is named like a credential"
    URL = "a URL's user info and token-like parameters"
    LINK = "all of a URL behind its host: links that work once carry codes anywhere"
    WORDS = "what follows `--token`, `KEY=` and the like"
    BASE64 = "what is secret in the text it encodes"


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
    (_EVERY, "error.data.**", Slot.NAMED),  # peers quote what they refuse
    (_EVERY, "**._meta.**.headers|env|secrets|credentials|cookies.*", Slot.WHOLE),
    (_EVERY, "**._meta.**", Slot.NAMED),
    (_EVERY, "params.update.output.data", Slot.BASE64),
    (_EVERY, "params.update.data", Slot.BASE64),
]

GENERAL = (b"mcpServers", b'"error"')
"""What a message holds if a row of all methods fits; base64 aside, see `acptap.redact.shapes`."""

META = b'"_meta"'
"""The same for the row of `_meta`, which counts only beside telling names."""

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
        span: Where it stands.
        slot: What of it is secret, or None for ordinary text.
        name: What it is called: its member, and the `name` beside a `value`.
    """

    span: Span
    slot: Slot | None
    name: str


def has_slots(method: str | None) -> bool:
    """Return whether messages of a method have rows of their own; of unknown ones, they may."""
    return method is None or method in _METHODS or method.startswith("_")


def places(text: bytes, method: str | None) -> list[Place]:
    """Return every value but the kept ones, in order.

    Args:
        text: A message, or a batch.
        method: The method of responses; None if it isn't known, then any row may fit. Whoever
            states a method is judged by that: requests, wrapped calls, quoted messages.

    Raises:
        ValueError: It is no JSON.
    """
    found = list(spans.walk(text))
    bases = _bases(text, found, method)
    beside = {
        span.path[:-1]: string(text, span).text for span in found if span.path[-1:] == ("name",)
    }
    return [
        Place(span, slot, _name(span.path, beside))
        for span in found
        if text[span.start] not in b"{["
        and ((slot := _slot(span.path, bases)) is not None or not _is_kept(span.path))
    ]


def string(text: bytes, span: Span) -> Reading:
    """Return what a string says; of another value, its spelling without the outer characters."""
    return unescape(text[span.start + 1 : span.end - 1].decode("utf-8", "surrogateescape"))


def _bases(text: bytes, found: list[Span], method: str | None) -> list[tuple[Path, str | None]]:
    """Return the paths of the messages in a text with their methods, inner ones first."""
    stated = [
        (span.path[:-1], string(text, span).text)
        for span in found
        if span.path[-1:] == ("method",) and text[span.start] == ord('"')
    ]
    bases: list[tuple[Path, str | None]] = [base for base in stated if has_slots(base[1])]
    bases.sort(key=lambda base: len(base[0]), reverse=True)
    known = {path for path, _ in stated}
    depth = 1 if text[found[-1].start] == ord("[") else 0  # of the messages in a batch
    roots = [span.path for span in found if len(span.path) == depth]
    return bases + [(root, _EVERY if root in known else method) for root in roots]


def _slot(path: Path, bases: list[tuple[Path, str | None]]) -> Slot | None:
    for base, method in bases:
        if path[: len(base)] == base:
            for rule in _rules(_kin(method)):
                if rule.literal in path and rule.fits(path[len(base) :]):
                    return None if rule.is_deep and _is_kept(path) else rule.slot
    return None


def _kin(method: str | None) -> str | None:
    """Return the method that stands for all that have the same rows."""
    if method is None or method in _METHODS:
        return method
    return "_" if method.startswith("_") else _EVERY


class _Rule(NamedTuple):
    """A row of the table, ready to be applied.

    Attributes:
        literal: The last name in its path: where that is missing there is no need to look closer.
        pattern: The path, each element with a NUL in front.
        slot: What is secret.
        is_deep: It speaks of all that is below a place, so it spares the kept members.
    """

    literal: str
    pattern: re.Pattern[str]
    slot: Slot
    is_deep: bool

    def fits(self, path: Path) -> bool:
        return self.pattern.fullmatch("".join(f"\0{element}" for element in path)) is not None


@cache
def _rules(method: str | None) -> list[_Rule]:
    rules = []
    for methods, path, slot in SLOTS:
        if method is None or not methods or method in methods.split():
            elements = path.split(".")
            literal = [name for name in elements if "*" not in name and "|" not in name][-1]
            pattern = re.compile("".join(map(_element, elements)))
            rules.append(_Rule(literal, pattern, slot, path.endswith("**")))
    return rules


def _element(element: str) -> str:
    match element:
        case "**":
            return r"(?:\0[^\0]*)*"
        case "*":
            return r"\0[^\0]*"
        case _:
            return rf"\0(?:{element})"


def _is_kept(path: Path) -> bool:
    return bool(path) and path[-1] in KEPT and _FREE.isdisjoint(path)


def _name(path: Path, beside: dict[Path, str]) -> str:
    """Return the names that say what a value is: its member's, and the one in a pair with it."""
    names = [element for element in path if isinstance(element, str)][-1:]
    if path[-1:] == ("value",):
        names.append(beside.get(path[:-1], ""))
    return " ".join(names)
