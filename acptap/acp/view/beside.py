"""What tool calls of version 1 tell of terminals in their `_meta`: one row for each member.

Version 1 knows no terminals but the client's. Agents that run commands themselves (codex-acp, and
others with Zed's names) tell of theirs beside a tool call, and clients show them as the call's own.
"""

import base64
from collections.abc import Callable

from acptap.acp.view.things import Fields


def _began(said: Fields, call: Fields) -> Fields:
    """Return the terminal's beginning; what it runs stands in the tool call's input."""
    asked = call.get("rawInput")
    command = asked.get("command") if isinstance(asked, dict) else None
    told = {"command": command, "cwd": said.get("cwd")}
    return {name: told[name] for name in told if isinstance(told[name], str)}


def _put_out(said: Fields, _: Fields) -> Fields:
    text = said.get("data")
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b""
    return {"data": base64.b64encode(raw).decode()}


def _exited(said: Fields, _: Fields) -> Fields:
    return {"exitStatus": {"exitCode": said.get("exit_code"), "signal": said.get("signal")}}


MEMBERS: dict[str, tuple[str, Callable[[Fields, Fields], Fields]]] = {
    # by the member of `_meta`, in the order in which they hold: the update of version 2 that it is
    # as good as, and what that says, from the member and the tool call
    "terminal_info": ("terminal_update", _began),
    "terminal_output": ("terminal_output_chunk", _put_out),
    "terminal_output_delta": ("terminal_output_chunk", _put_out),
    "terminal_exit": ("terminal_update", _exited),
}


def parted(call: Fields) -> tuple[list[tuple[str, Fields]], Fields]:
    """Part an update of a tool call into what it tells of terminals and the rest of it.

    Args:
        call: The update.

    Returns:
        The updates of terminals with their names, and the update without them.
    """
    meta = call.get("_meta")
    found = [name for name in MEMBERS if _terminal_of(meta, name) is not None]
    if not isinstance(meta, dict) or not found:
        return [], call
    told = []
    for member in found:
        name, read = MEMBERS[member]
        told.append((name, {"terminalId": _terminal_of(meta, member), **read(meta[member], call)}))
    others = {name: meta[name] for name in meta if name not in found}
    rest = {name: call[name] for name in call if name != "_meta"}
    return told, rest | ({"_meta": others} if others else {})


def _terminal_of(meta: object, name: str) -> str | None:
    said = meta.get(name) if isinstance(meta, dict) else None
    id_ = said.get("terminal_id") if isinstance(said, dict) else None
    return id_ if isinstance(id_, str) else None
