"""What a sound message of each kind looks like, by version: the vocabulary of generated talk.

A name in braces is filled in by `fill`. tests/schemas holds every shape to the official SDKs.
"""

from typing import Any

Shape = dict[str, Any]

V1, V2 = 1, 2
HOME = "/home/dev/demo"
TEXT: Shape = {"type": "text", "text": "{text}"}
PICTURE: Shape = {"type": "image", "mimeType": "image/png", "data": "aGk="}
SESSION: Shape = {"sessionId": "{session}"}
TERMINAL: Shape = SESSION | {"terminalId": "{terminal}"}
TOOL: Shape = {"toolCallId": "{tool}"}
CALL = TOOL | {"status": "completed", "content": [{"type": "content", "content": TEXT}]}
BESIDE: Shape = {
    "terminal_output": {"terminal_id": "{terminal}", "data": "{text}"},
    "terminal_exit": {"terminal_id": "{terminal}", "exit_code": 0},
}
ENTRIES = [{"content": "{text}", "priority": "medium", "status": "pending"}]
INFO: Shape = {"name": "generated", "version": "1"}
SERVER: Shape = {
    "name": "files",
    "command": "/bin/files",
    "args": [],
    "env": [{"name": "API_KEY", "value": "{secret}"}],
}
CHOICE: Shape = {"name": "Model", "type": "select", "currentValue": "a"}
CHOICES = [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]
FORM: Shape = {"mode": "form", "message": "{text}"} | {
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}
}
LINK: Shape = {"mode": "url", "message": "{text}"} | {
    "elicitationId": "{elicitation}",
    "url": "https://example.com/login",
}
OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "a", "name": "Always", "kind": "allow_always"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]
MCP: Shape = {"serverId": "files", "requestId": "1", "method": "tools/list"}
SIGNED_IN: Shape = {"state": "authenticated"}


def either(shape: Shape) -> dict[int, Shape]:
    """Return a shape that is the same in both versions."""
    return {V1: shape, V2: shape}


PARAMS: dict[str, dict[int, Shape]] = {
    "initialize": {
        V1: {"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": INFO},
        V2: {"protocolVersion": 2, "capabilities": {}, "info": INFO},
    },
    "authenticate": {V1: {"methodId": "key"}},
    "auth/login": {V2: {"methodId": "key"}},
    "logout": {V1: {}},
    "auth/logout": {V2: {}},
    "auth/status": either({}),
    "auth/status_update": either(SIGNED_IN),
    "providers/list": either({}),
    "providers/set": either({"providerId": "p", "apiType": "openai", "baseUrl": "https://x.test"}),
    "providers/disable": either({"providerId": "p"}),
    "session/new": {
        V1: {"cwd": HOME, "mcpServers": [SERVER]},
        V2: {"cwd": HOME, "mcpServers": [{"type": "stdio"} | SERVER]},
    },
    "session/load": {V1: SESSION | {"cwd": HOME, "mcpServers": []}},
    "session/resume": {
        V1: SESSION | {"cwd": HOME},
        V2: SESSION | {"cwd": HOME, "replayFrom": {"type": "start"}},
    },
    "session/fork": either(SESSION | {"cwd": HOME}),
    "session/list": either({}),
    "session/delete": either(SESSION),
    "session/close": either(SESSION),
    "session/archive": either(SESSION),
    "session/unarchive": either(SESSION),
    "session/status": either(SESSION),
    "session/set_title": either(SESSION | {"title": "{text}"}),
    "session/set_mode": {V1: SESSION | {"modeId": "plan"}},
    "session/set_config_option": {
        V1: SESSION | {"configId": "model", "value": "b"},
        V2: SESSION | {"configId": "model", "type": "id", "value": "b"},
    },
    "session/prompt": either(SESSION | {"prompt": [TEXT]}),
    "session/cancel": either(SESSION),
    "tool_call/cancel": {V2: SESSION | TOOL},
    "terminal/cancel": {V2: TERMINAL},
    "session/request_permission": {
        V1: SESSION | {"toolCall": TOOL, "options": OPTIONS},
        V2: SESSION
        | {"title": "{text}", "options": OPTIONS}
        | {"subject": {"type": "tool_call", "toolCall": TOOL}},
    },
    "fs/read_text_file": {V1: SESSION | {"path": f"{HOME}/notes.txt"}},
    "fs/write_text_file": {V1: SESSION | {"path": f"{HOME}/notes.txt", "content": "{text}"}},
    "terminal/create": {V1: SESSION | {"command": "make", "args": ["test"], "cwd": HOME}},
    "terminal/output": {V1: TERMINAL},
    "terminal/release": {V1: TERMINAL},
    "terminal/wait_for_exit": {V1: TERMINAL},
    "terminal/kill": {V1: TERMINAL},
    "elicitation/create": either(SESSION | FORM),
    "elicitation/complete": either({"elicitationId": "{elicitation}"}),
    "mcp/message": either(MCP),
    "$/cancel_request": either({"requestId": "{request}"}),
    "proxy/initialize": {
        V1: {"protocolVersion": 1, "clientCapabilities": {}},
        V2: {"protocolVersion": 2, "capabilities": {}, "info": INFO},
    },
    "proxy/successor": either({"method": "session/list", "params": {}}),
}
"""The params of each method, by version."""

LINKED = {"elicitation/create": either({"requestId": "{request}"} | LINK)}
"""What else the params of a method may be: those that quote a request."""

RESULTS: dict[str, dict[int, Shape]] = {
    "initialize": {
        V1: {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}, "agentInfo": INFO},
        V2: {"protocolVersion": 2, "capabilities": {}, "info": INFO},
    },
    "proxy/initialize": {
        V1: {"protocolVersion": 1},
        V2: {"protocolVersion": 2, "capabilities": {}, "info": INFO},
    },
    "auth/status": either(SIGNED_IN),
    "providers/list": either({"providers": []}),
    "session/new": either(SESSION),
    "session/fork": either(SESSION),
    "session/list": either({"sessions": [SESSION | {"cwd": HOME}]}),
    "session/status": either({"status": "open"}),
    "session/set_title": either({"title": "{text}"}),
    "session/set_config_option": {
        V1: {"configOptions": [CHOICE | {"id": "model", "options": CHOICES}]},
        V2: {"configOptions": [CHOICE | {"configId": "model", "options": CHOICES}]},
    },
    "session/prompt": {V1: {"stopReason": "end_turn"}, V2: {"messageId": "{message}"}},
    "session/request_permission": either({"outcome": {"outcome": "selected", "optionId": "y"}}),
    "fs/read_text_file": {V1: {"content": "{text}"}},
    "terminal/create": {V1: {"terminalId": "{terminal}"}},
    "terminal/output": {V1: {"output": "{text}", "truncated": False}},
    "terminal/wait_for_exit": {V1: {"exitCode": 0}},
    "elicitation/create": either({"action": "accept", "content": {"name": "{text}"}}),
    "mcp/message": either({"result": {}}),
}
"""The result of each method, by version; `{}` where a method has no row."""

UPDATES: dict[str, dict[int, Shape]] = {
    "agent_message_chunk": either({"messageId": "{message}", "content": TEXT}),
    "agent_thought_chunk": either({"messageId": "{message}", "content": TEXT}),
    "user_message_chunk": either({"messageId": "{message}", "content": PICTURE}),
    "user_message": {V2: {"messageId": "{message}", "content": [TEXT]}},
    "agent_message": {V2: {"messageId": "{message}", "content": [TEXT, PICTURE]}},
    "agent_thought": {V2: {"messageId": "{message}", "content": None}},
    "state_update": {V2: {"state": "{state}"}},
    "tool_call": {V1: TOOL | {"title": "{text}", "kind": "edit", "status": "pending"}},
    "tool_call_update": {V1: CALL | {"_meta": BESIDE}, V2: CALL},
    "tool_call_content_chunk": {V2: TOOL | {"content": {"type": "content", "content": TEXT}}},
    "terminal_update": {V2: {"terminalId": "{terminal}", "command": "make", "exitStatus": None}},
    "terminal_output_chunk": {V2: {"terminalId": "{terminal}", "data": "w6k="}},
    "plan": {V1: {"entries": ENTRIES}},
    "plan_update": either({"plan": {"type": "items", "planId": "p", "entries": ENTRIES}}),
    "plan_removed": either({"planId": "p"}),
    "available_commands_update": {
        V1: {"availableCommands": [{"name": "help", "description": "{text}"}]},
        V2: {"availableCommands": [{"type": "command", "name": "help", "description": "{text}"}]},
    },
    "current_mode_update": {V1: {"currentModeId": "plan"}},
    "config_option_update": RESULTS["session/set_config_option"],
    "session_info_update": either({"title": "{text}"}),
    "usage_update": either({"used": 10, "size": 200, "cost": {"amount": 0.5, "currency": "EUR"}}),
    "notice": either({"severity": "warning", "title": "{text}"}),
    "compaction_update": either({"compactionId": "c", "status": "in_progress"}),
    "compaction_summary_chunk": either({"compactionId": "c", "content": TEXT}),
    "subagent_update": either({"sessionId": "{child}", "state": {"state": "running"}}),
    "session_message": either({"messageId": "{message}", "senderSessionId": "{child}"}),
    "session_message_chunk": either({"messageId": "{message}", "content": TEXT}),
}
"""What stands beside `sessionUpdate`, by version."""


def fill(shape: Any, names: dict[str, Any]) -> Any:
    """Return a shape with its names filled in; one that is not known stands for itself."""
    match shape:
        case dict():
            return {key: fill(value, names) for key, value in shape.items()}
        case list():
            return [fill(value, names) for value in shape]
        case str() if shape.startswith("{"):
            name = shape[1:-1]
            return names.get(name, name)
        case _:
            return shape
