"""Compare what a live client says with what the recorded one said.

What differs from machine to machine (table `VOLATILE`) is left out. Of what remains, the first
difference is reported. Some differences are another decision, after which the recorded agent would
have done something else; those contradict the recording at every level.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from acptap.jsonrpc import Response
from acptap.replay import capabilities
from acptap.replay.difference import ABSENT, Difference, pointer, spelled
from acptap.wire.spans import Path


class Level(StrEnum):
    """How much must be equal for a live message to match."""

    METHOD = "method"
    """The method; other differences are reported."""
    PARAMS = "params"
    """Everything but what is volatile."""
    EXACT = "exact"
    """Everything but ids."""


VOLATILE: dict[str, frozenset[str]] = {
    # method: members of its params that differ from client to client
    "initialize": frozenset(
        {"protocolVersion", "clientInfo", "clientCapabilities", "info", "capabilities"}
    ),
}
VOLATILE_ANYWHERE = frozenset({"cwd", "mcpServers"})
"""Members of the params of any method."""
VOLATILE_RESULTS: dict[str, frozenset[str]] = {"terminal/create": frozenset({"terminalId"})}
"""Members of the result of an agent's request that the client chooses freely."""

_METHOD_NOT_FOUND = -32601
_PLACEHOLDER = re.compile(r"\[redacted:\d+\]")
_NOTHING = (None, ABSENT)


class Asked(NamedTuple):
    """A recorded request of the agent: what an answer is read by."""

    method: str
    params: object


@dataclass(frozen=True, slots=True)
class Matcher:
    """Compares messages at one level.

    Attributes:
        level: How much must be equal.
        ignore: JSON pointers into messages (`/params/...`, `/result/...`); what they point to is
            volatile too.
    """

    level: Level = Level.METHOD
    ignore: tuple[str, ...] = ()

    @property
    def follows_folders(self) -> bool:
        """Whether paths below the working folder are equal when they differ only in that folder."""
        return self.level is not Level.EXACT

    def refuses(self, difference: Difference | None) -> bool:
        """Return whether a difference keeps a live message from matching."""
        if difference is None:
            return False
        return difference.decisive or self.level is not Level.METHOD

    def call(
        self, method: str, recorded: object, live: object, *, redacted: bool = False
    ) -> Difference | None:
        """Return the first difference between the params of two calls of one method."""
        volatile = VOLATILE_ANYWHERE | VOLATILE.get(method, frozenset())
        return self._compare(("params",), recorded, live, volatile, redacted=redacted)

    def answer(
        self, asked: Asked, recorded: Response, live: Response, *, redacted: bool = False
    ) -> Difference | None:
        """Return the first difference between two answers to one request, a decision first."""
        if recorded.failed != live.failed:
            path = "/error" if live.failed else "/result"
            decisive = not _is_unknown_extension(asked.method, recorded, live)
            return Difference(path, _said(recorded), _said(live), decisive)
        if live.failed:
            return self._compare(("error",), recorded.error, live.error, redacted=redacted)
        decide = DECISIONS.get(asked.method)
        contradiction = decide(asked.params, recorded.result, live.result) if decide else None
        volatile = VOLATILE_RESULTS.get(asked.method, frozenset())
        return contradiction or self._compare(
            ("result",), recorded.result, live.result, volatile, redacted=redacted
        )

    def _compare(
        self,
        root: Path,
        recorded: object,
        live: object,
        volatile: frozenset[str] = frozenset(),
        *,
        redacted: bool,
    ) -> Difference | None:
        exact = self.level is Level.EXACT
        skipped = set() if exact else {(*root, name) for name in volatile}
        todo: list[tuple[Path, object, object]] = [(root, recorded, live)]  # the next one last
        while todo:
            path, old, new = todo.pop()
            if path in skipped or (path[-1] == "_meta" and not exact):
                continue
            if self.ignore and pointer(path) in self.ignore:
                continue
            inner = pairs(path, old, new)
            if inner is not None:
                todo += reversed(inner)
            elif not is_same(old, new, exact=exact, redacted=redacted):
                return Difference(pointer(path), old, new)
        return None


def negotiation(
    recorded: object, answered: object, live: object, uses: dict[str, int]
) -> Difference | None:
    """Return what keeps a live client from playing the cassette, as said in `initialize`.

    Args:
        recorded: The recorded params.
        answered: The recorded result, or None.
        live: The live params.
        uses: What the recorded agent did (keys of `capabilities.NEEDS`).
    """
    asked, version = _member(recorded, "protocolVersion"), _member(live, "protocolVersion")
    agreed = _member(answered, "protocolVersion") if isinstance(answered, dict) else asked
    if not any(_equal_scalars(version, known) for known in (asked, agreed)):
        why = f"the client asks for version {spelled(version)} of the protocol, and the cassette"
        why += f" was recorded with {spelled(agreed)}"
        return Difference("/params/protocolVersion", asked, version, decisive=True, why=why)
    use = capabilities.first_missing(uses, recorded, live)
    if use is None:
        return None
    path, offered = capabilities.offer(use, recorded)
    why = f"the client lacks the capability {'.'.join(capabilities.NEEDS[use])}, which the cassette"
    why += f" uses for {use} at line {uses[use]}"
    return Difference(path, offered, ABSENT, decisive=True, why=why)


# Decisions


def _permission(params: object, recorded: object, live: object) -> Difference | None:
    """Return the difference if another kind of option was chosen, or none against one."""
    old, new = _member(recorded, "outcome"), _member(live, "outcome")
    path = "/result/outcome"
    for name, of in (("outcome", lambda value: value), ("optionId", _kinds(params))):
        a, b = _member(old, name), _member(new, name)
        if not _equal_scalars(of(a), of(b)):
            return Difference(f"{path}/{name}", a, b, decisive=True)
    return None


def _kinds(params: object) -> Callable[[object], object]:
    """Return the function from an option's id to its kind; an unknown id is its own kind."""
    options = _member(params, "options")
    kinds: dict[object, object] = {}
    for option in options if isinstance(options, list) else []:
        id_, kind = _member(option, "optionId"), _member(option, "kind")
        if isinstance(id_, str) and isinstance(kind, str):
            kinds[id_] = kind
    return lambda id_: kinds.get(id_, id_) if isinstance(id_, str) else id_


def _elicitation(params: object, recorded: object, live: object) -> Difference | None:
    del params
    old, new = _member(recorded, "action"), _member(live, "action")
    if _equal_scalars(old, new):
        return None
    return Difference("/result/action", old, new, decisive=True)


DECISIONS: dict[str, Callable[[object, object, object], Difference | None]] = {
    # method of the agent's request: what finds another decision in the answer to it
    "session/request_permission": _permission,
    "elicitation/create": _elicitation,
}


def _is_unknown_extension(method: str, *answers: Response) -> bool:
    """Return whether a client does not know an extension; not to know it is no decision."""
    codes = [_member(answer.error, "code") for answer in answers if answer.failed]
    return method.startswith("_") and codes == [_METHOD_NOT_FOUND]


# Values


def pairs(path: Path, old: object, new: object) -> list[tuple[Path, object, object]] | None:
    """Return what two containers of a kind hold, pair by pair, or None for anything else."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = [*old, *(name for name in new if name not in old)]
        return [((*path, name), old.get(name, ABSENT), new.get(name, ABSENT)) for name in names]
    if isinstance(old, list) and isinstance(new, list):
        size = max(len(old), len(new))
        return [((*path, index), _item(old, index), _item(new, index)) for index in range(size)]
    return None


def _item(items: list[object], index: int) -> object:
    return items[index] if index < len(items) else ABSENT


def is_same(old: object, new: object, *, exact: bool, redacted: bool) -> bool:
    """Return whether two values that hold no others are the same.

    Args:
        old: The recorded one.
        new: The live one.
        exact: Whether null is another thing than no member.
        redacted: Whether secrets were taken out of the recorded one.
    """
    if redacted and isinstance(old, str) and _PLACEHOLDER.search(old):
        return _fits(old, new)
    if not exact and old in _NOTHING and new in _NOTHING:
        return True  # serializers differ in whether they write null or leave a member out
    return _equal_scalars(old, new)


def _fits(old: str, new: object) -> bool:
    """Return whether a value may be what a string was before secrets were taken out of it."""
    kept = [re.escape(part) for part in _PLACEHOLDER.split(old)]
    if not any(kept):
        return True
    return isinstance(new, str) and re.fullmatch(".*".join(kept), new, re.DOTALL) is not None


def _equal_scalars(old: object, new: object) -> bool:
    """Return whether two scalars are the same JSON value; `True` is not 1."""
    return isinstance(old, bool) == isinstance(new, bool) and old == new


def _member(value: object, name: str) -> object:
    return value.get(name, ABSENT) if isinstance(value, dict) else ABSENT


def _said(response: Response) -> object:
    return response.error if response.failed else response.result
