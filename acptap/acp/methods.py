"""Every method of ACP: who calls it, in which versions it exists, and what it belongs to.

Unknown methods need no row: a method is session-scoped when its params name a session, that is
the rule for all of them (and what the TypeScript SDK's own HTTP transport does). The table adds
what that rule can't know. Source: the schemas of @agentclientprotocol/sdk 2.4.0.
"""

from dataclasses import dataclass
from enum import StrEnum

from acptap.jsonrpc import Side


class Kind(StrEnum):
    """Whether a method is called for an answer."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    EITHER = "either"


class Status(StrEnum):
    """How settled a method is in one version."""

    STABLE = "stable"
    UNSTABLE = "unstable"
    LEGACY = "legacy"
    """Gone from the schemas and still met in the wild."""
    ABSENT = "absent"


class Scope(StrEnum):
    """What a method belongs to."""

    CONNECTION = "connection"
    SESSION = "session"
    MINTS = "mints a session"
    REQUEST = "quotes a request"
    """`params.requestId` names a request that is open."""
    ELICITATION = "quotes an elicitation"
    """`params.elicitationId` names an elicitation."""


@dataclass(frozen=True, slots=True)
class Method:
    """One row.

    Attributes:
        kind: Request, notification, or either.
        caller: Who calls it; None for both.
        v1: Its status in version 1.
        v2: Its status in version 2.
        scope: What it belongs to.
    """

    kind: Kind
    caller: Side | None
    v1: Status
    v2: Status
    scope: Scope

    def status(self, version: int) -> Status:
        """Return how settled the method is in a protocol version."""
        return self.v2 if version >= 2 else self.v1  # noqa: PLR2004 the version's number


_R, _N, _E = Kind.REQUEST, Kind.NOTIFICATION, Kind.EITHER
_C, _A = Side.CLIENT, Side.AGENT
_S, _U, _L, _X = Status.STABLE, Status.UNSTABLE, Status.LEGACY, Status.ABSENT
_CONNECTION, _SESSION, _MINTS = Scope.CONNECTION, Scope.SESSION, Scope.MINTS
_REQUEST, _ELICITATION = Scope.REQUEST, Scope.ELICITATION

METHODS: dict[str, Method] = {
    name: Method(*row)
    for name, row in {
        # name                      kind, caller, v1, v2, scope
        "initialize": (_R, _C, _S, _S, _CONNECTION),
        "authenticate": (_R, _C, _S, _X, _CONNECTION),
        "auth/login": (_R, _C, _X, _S, _CONNECTION),
        "logout": (_R, _C, _S, _X, _CONNECTION),
        "auth/logout": (_R, _C, _X, _S, _CONNECTION),
        "auth/status": (_R, _C, _U, _U, _CONNECTION),
        "auth/status_update": (_N, _A, _U, _U, _CONNECTION),
        "providers/list": (_R, _C, _U, _U, _CONNECTION),
        "providers/set": (_R, _C, _U, _U, _CONNECTION),
        "providers/disable": (_R, _C, _U, _U, _CONNECTION),
        "session/new": (_R, _C, _S, _S, _MINTS),
        "session/load": (_R, _C, _S, _X, _SESSION),
        "session/resume": (_R, _C, _S, _S, _SESSION),
        "session/fork": (_R, _C, _U, _U, _MINTS),
        "session/list": (_R, _C, _S, _S, _CONNECTION),
        "session/delete": (_R, _C, _S, _S, _SESSION),
        "session/close": (_R, _C, _S, _S, _SESSION),
        "session/archive": (_R, _C, _U, _U, _SESSION),
        "session/unarchive": (_R, _C, _U, _U, _SESSION),
        "session/status": (_R, _C, _U, _U, _SESSION),
        "session/set_title": (_R, _C, _U, _U, _SESSION),
        "session/set_mode": (_R, _C, _S, _X, _SESSION),
        "session/set_model": (_R, _C, _L, _X, _SESSION),
        "session/set_config_option": (_R, _C, _S, _S, _SESSION),
        "session/prompt": (_R, _C, _S, _S, _SESSION),
        "session/cancel": (_N, _C, _S, _S, _SESSION),
        "tool_call/cancel": (_R, _C, _X, _S, _SESSION),
        "terminal/cancel": (_R, _C, _X, _S, _SESSION),
        "session/update": (_N, _A, _S, _S, _SESSION),
        "session/request_permission": (_R, _A, _S, _S, _SESSION),
        "fs/read_text_file": (_R, _A, _S, _X, _SESSION),
        "fs/write_text_file": (_R, _A, _S, _X, _SESSION),
        "terminal/create": (_R, _A, _S, _X, _SESSION),
        "terminal/output": (_R, _A, _S, _X, _SESSION),
        "terminal/release": (_R, _A, _S, _X, _SESSION),
        "terminal/wait_for_exit": (_R, _A, _S, _X, _SESSION),
        "terminal/kill": (_R, _A, _S, _X, _SESSION),
        "elicitation/create": (_R, _A, _S, _S, _REQUEST),
        "elicitation/complete": (_N, _A, _S, _S, _ELICITATION),
        "mcp/message": (_E, None, _U, _U, _CONNECTION),
        "mcp/connect": (_R, _A, _L, _L, _CONNECTION),
        "mcp/disconnect": (_R, _A, _L, _L, _CONNECTION),
        "nes/start": (_R, _C, _L, _X, _MINTS),
        "nes/suggest": (_R, _C, _L, _X, _SESSION),
        "nes/close": (_R, _C, _L, _X, _SESSION),
        "nes/accept": (_N, _C, _L, _X, _SESSION),
        "nes/reject": (_N, _C, _L, _X, _SESSION),
        "document/didOpen": (_N, _C, _L, _X, _SESSION),
        "document/didChange": (_N, _C, _L, _X, _SESSION),
        "document/didClose": (_N, _C, _L, _X, _SESSION),
        "document/didSave": (_N, _C, _L, _X, _SESSION),
        "document/didFocus": (_N, _C, _L, _X, _SESSION),
        "$/cancel_request": (_N, None, _S, _S, _REQUEST),
        "proxy/initialize": (_R, None, _U, _U, _CONNECTION),
        "proxy/successor": (_E, None, _U, _U, _CONNECTION),
    }.items()
}


def mints(method: str) -> bool:
    """Return whether a method's result may name a new session."""
    row = METHODS.get(method)
    return row is not None and row.scope is Scope.MINTS


def is_optional_notification(method: str) -> bool:
    """Return whether a receiver may ignore a notification: `$/…` and extensions (`_…`)."""
    return method.startswith(("$/", "_"))


def unwrap(method: str, params: object) -> tuple[str, object]:
    """Return the inner call of `proxy/successor`, or the call itself.

    A conductor chain wraps calls; the inner one is what was said (acp.md 8, 55).
    """
    while method == "proxy/successor" and isinstance(params, dict):
        inner = params.get("method")
        if not isinstance(inner, str):
            break
        method, params = inner, params.get("params")
    return method, params
