"""What a message says, in a few words: one row for each method and each update.

A method or update without a row is told by its members. Nothing here trusts a payload's shape.
"""

import base64
import binascii
from collections.abc import Callable

LIMIT = 500
"""Characters of a payload that go into a gist."""

_MEMBERS = 8
_ITEMS = 4
_WORD = 80
_SHOWN_LATER = ("sessionId", "sessionUpdate", "_meta", "jsonrpc")


def member(value: object, *path: str) -> object:
    """Return the value at a path of member names, or None."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def items(value: object, name: str) -> list[object]:
    """Return the items of a list member; empty if there is no such list."""
    listed = member(value, name)
    return listed[:LIMIT] if isinstance(listed, list) else []


def words(*parts: object) -> str:
    """Join the parts that are texts or numbers and say something."""
    return " ".join(said for said in map(_scalar, parts) if said)[:LIMIT]


def quoted(text: object) -> str:
    """Return a text in quotes; empty if it is no text."""
    return f'"{text[:LIMIT]}"' if isinstance(text, str) else ""


def brief(value: object, depth: int = 2) -> str:
    """Return what a value holds, as `name=value` pairs, cut where it gets long or deep."""
    match value:
        case str():
            return quoted(value[:_WORD]) if not value or " " in value else value[:_WORD]
        case dict() if depth:
            known = [name for name in value if name not in _SHOWN_LATER]
            pairs = [f"{str(name)[:_WORD]}={_inner(value[name], depth)}" for name in known]
            return " ".join(pairs[:_MEMBERS])[:LIMIT]
        case dict():
            return "..." if value else ""
        case list() if all(isinstance(item, (str, int, float)) for item in value[:_ITEMS]):
            more = ["..."] if len(value) > _ITEMS else []
            return ",".join([_scalar(item)[:_WORD] for item in value[:_ITEMS]] + more)
        case list():
            return f"[{len(value)}]"
        case _:
            return _scalar(value) or "null"


def _inner(value: object, depth: int) -> str:
    said = brief(value, depth - 1)
    return f"{{{said}}}" if isinstance(value, dict) else said


def _scalar(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value[:LIMIT]
        case int() | float():
            return str(value)
        case _:
            return ""


def said(content: object, depth: int = 2) -> str:
    """Return the text of a content block, or of a list of them, which may be wrapped again."""
    if isinstance(content, list) and depth:
        told = [said(block, depth - 1) for block in content[:LIMIT]]
        return " ".join(filter(None, told))[:LIMIT]
    match member(content, "type"):
        case "text":
            return _scalar(member(content, "text"))
        case "resource_link":
            return f"[{words(member(content, 'name') or member(content, 'uri'))}]"
        case "resource":
            return f"[{words(member(content, 'resource', 'uri'))}]"
        case "content" if depth:
            return said(member(content, "content"), depth - 1)
        case "diff":
            return f"[diff {words(member(content, 'path'))}]"
        case str() as kind:
            what = member(content, "mimeType") or member(content, "terminalId")
            return f"[{words(kind, what)}]"
        case _:
            return ""


# Requests and notifications


def _offer(params: object) -> str:
    return _introduction(params, "clientInfo")


def _introduction(value: object, info: str) -> str:
    version = _scalar(member(value, "protocolVersion"))
    who = member(value, info) or member(value, "info")
    name = member(who, "title") or member(who, "name")
    return words(version and f"v{version}", name, member(who, "version"))


def _question(params: object) -> str:
    tool = member(params, "toolCall") or member(params, "subject", "toolCall")
    title = words(member(params, "title") or member(tool, "title") or member(tool, "toolCallId"))
    return words(title, "/".join(filter(None, options_of(params).values())))


def _command(params: object) -> str:
    return words(member(params, "command"), *items(params, "args"))


def _fields(*names: str) -> Callable[[object], str]:
    return lambda value: words(*(member(value, name) for name in names))


CALLS: dict[str, Callable[[object], str]] = {
    "initialize": _offer,
    "authenticate": _fields("methodId"),
    "auth/login": _fields("methodId"),
    "session/new": _fields("cwd"),
    "session/load": _fields("sessionId", "cwd"),
    "session/resume": _fields("sessionId", "cwd"),
    "session/fork": _fields("cwd"),
    "session/prompt": lambda params: quoted(said(member(params, "prompt"))),
    "session/set_mode": _fields("modeId"),
    "session/set_model": _fields("modelId"),
    "session/set_config_option": _fields("configId", "value"),
    "session/set_title": lambda params: quoted(member(params, "title")),
    "session/request_permission": _question,
    "fs/read_text_file": _fields("path", "line", "limit"),
    "fs/write_text_file": lambda params: words(
        member(params, "path"), quoted(member(params, "content"))
    ),
    "terminal/create": _command,
    "elicitation/create": lambda params: quoted(member(params, "message")),
    "$/cancel_request": lambda params: words("request", member(params, "requestId")),
}
"""What a method's params say."""


def of_call(method: str, params: object) -> str:
    """Return the gist of a request or a notification."""
    return CALLS.get(method, brief)({} if params is None else params)


# Answers


def _decision(result: object) -> str:
    return words(member(result, "outcome", "outcome"), member(result, "outcome", "optionId"))


RESULTS: dict[str, Callable[[object], str]] = {
    "initialize": lambda result: _introduction(result, "agentInfo"),
    "session/new": _fields("sessionId"),
    "session/fork": _fields("sessionId"),
    "session/request_permission": _decision,
    "fs/read_text_file": lambda result: quoted(member(result, "content")),
    "terminal/create": _fields("terminalId"),
    "terminal/output": lambda result: quoted(member(result, "output")),
    "elicitation/create": lambda result: words(
        member(result, "action"), brief(member(result, "content") or {})
    ),
}
"""What a method's result says. A result without a row is told by its members that are set."""


def of_result(method: str | None, result: object) -> str:
    """Return the gist of a successful answer to `method`."""
    if method in RESULTS:
        return RESULTS[method](result)
    if method == "session/prompt" and member(result, "stopReason"):
        return words("stopReason", member(result, "stopReason"))
    if isinstance(result, dict):
        result = {name: value for name, value in result.items() if value is not None}
    return "" if result is None else brief(result)


def of_error(error: object) -> str:
    """Return the gist of a failed answer."""
    return words(member(error, "code"), quoted(member(error, "message")))


# Updates


def _tool(update: object) -> str:
    status = _scalar(member(update, "status"))
    return words(member(update, "title"), status and f"({status})", _tool_content(update))


def _tool_content(update: object) -> str:
    content = said(member(update, "content"))
    if content:
        return content if content.startswith("[") else quoted(content)
    asked = member(update, "rawInput")
    detail = member(asked, "description") or member(asked, "command")
    if detail:
        return brief(detail).strip('"')
    return words(*(member(place, "path") for place in items(update, "locations")[:1]))


def _plan(update: object) -> str:
    entries = member(update, "entries") or member(update, "plan", "entries")
    if not isinstance(entries, list):
        return brief(member(update, "plan") or {})
    states = [member(entry, "status") for entry in entries]
    current = [entry for entry in entries if member(entry, "status") == "in_progress"]
    text = member(current[0], "content") if current else None
    return words(f"{states.count('completed')}/{len(states)} done", quoted(text))


def _commands(update: object) -> str:
    listed = items(update, "availableCommands")
    return words(*(f"/{words(member(item, 'name'))}" for item in listed))


def _options(update: object) -> str:
    listed = items(update, "configOptions")
    names = [words(member(item, "id") or member(item, "configId")) for item in listed]
    values = [words(member(item, "currentValue")) for item in listed]
    return words(*(f"{name}={value}" for name, value in zip(names, values, strict=True)))


def _usage(update: object) -> str:
    cost = member(update, "cost")
    money = words(member(cost, "amount"), member(cost, "currency"))
    return words(f"{words(member(update, 'used'))}/{words(member(update, 'size'))}", money)


def _output(update: object) -> str:
    data = member(update, "data")
    try:
        raw = base64.b64decode(data[: 2 * LIMIT], validate=True) if isinstance(data, str) else b""
    except (binascii.Error, ValueError):
        return ""
    return raw.decode("utf-8", "backslashreplace")


def _speech(update: object) -> str:
    return quoted(said(member(update, "content")))


UPDATES: dict[str, Callable[[object], str]] = {
    "user_message": _speech,
    "agent_message": _speech,
    "agent_thought": _speech,
    "session_message": _speech,
    "state_update": _fields("state", "stopReason"),
    "tool_call": _tool,
    "tool_call_update": _tool,
    "plan": _plan,
    "plan_update": _plan,
    "available_commands_update": _commands,
    "current_mode_update": _fields("currentModeId"),
    "config_option_update": _options,
    "usage_update": _usage,
    "notice": lambda update: words(
        member(update, "severity"), quoted(member(update, "title") or member(update, "message"))
    ),
    "compaction_update": _fields("status"),
    "subagent_update": lambda update: words(
        member(update, "title"), member(update, "sessionId"), member(update, "state", "state")
    ),
}
"""What an update says. Chunks have no row: see `chunk_text`."""


def of_update(update: object) -> str:
    """Return the gist of a `session/update`."""
    name = member(update, "sessionUpdate")
    row = UPDATES.get(name) if isinstance(name, str) else None
    return brief(update) if row is None else row(update)


def chunk_text(update: object) -> str | None:
    """Return the text that a chunk adds to what was said before; None if it is no chunk."""
    name = member(update, "sessionUpdate")
    if not isinstance(name, str) or not name.endswith("_chunk"):
        return None
    return _output(update) if name == "terminal_output_chunk" else said(member(update, "content"))


def options_of(params: object) -> dict[str, str]:
    """Return what each option of a permission request means: its kind by its id."""
    listed = items(params, "options")
    return {words(member(item, "optionId")): words(member(item, "kind")) for item in listed}
