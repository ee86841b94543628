"""A planted secret for each row of the table of places, through a real proxy and a real replay."""

import base64
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.proxy.client import PROXY, environment

AGENT = Path(__file__).with_name("scripted.py")
REPLAY = (*PROXY[:-1], "replay")
PLAIN = "FAKE-row-7f3a9b1c2d"
"""A secret by its place."""
KEY = "sk-FAKE-4f9aBcD012e"
"""A secret by its looks."""
OTHER = "hunter2 FAKE pass"
"""A secret by its place, of words."""


def client(**message):
    return ["client", text(message)]


def agent(**message):
    return ["agent", text(message)]


def text(message):
    return json.dumps({"jsonrpc": "2.0"} | message, ensure_ascii=False) + "\n"


def asks(method, params, result=None, id_=1):
    """Return a request of the client and its answer."""
    return [client(id=id_, method=method, params=params), agent(id=id_, result=result or {})]


def asked(method, params, result=None, id_=1):
    """Return a request of the agent and its answer."""
    return [agent(id=id_, method=method, params=params), client(id=id_, result=result or {})]


def update(**members):
    return agent(method="session/update", params={"sessionId": "s", "update": members})


def chunk(said, kind="agent_message_chunk", **members):
    return update(sessionUpdate=kind, content={"type": "text", "text": said}, **members)


def servers(**server):
    return {"cwd": "/w", "mcpServers": [{"name": "m"} | server]}


def new(**server):
    return asks("session/new", servers(**server), {"sessionId": "s"}, id_=90)


def prompt(*blocks):
    params = {"sessionId": "s", "prompt": list(blocks)}
    return asks("session/prompt", params, {"stopReason": "end_turn"}, id_=91)


def words(said):
    return {"type": "text", "text": said}


def base64_of(said):
    return base64.b64encode(said.encode()).decode()


def turn(*steps):
    """Return a prompt, what the agent does, and the end of the turn."""
    first, last = prompt(words("go"))
    return [*new(), first, *steps, last]


def tool(**members):
    return update(sessionUpdate="tool_call_update", toolCallId="c", **members)


ROWS = {
    # row of acp.md 7: steps after initialize
    "mcpServers env": new(env=[{"name": "K", "value": PLAIN}, {"name": "N", "value": "1"}]),
    "mcpServers env, told again": [*new(env=[{"name": "K", "value": PLAIN}]),
                                   *turn(chunk(f"K is {PLAIN}"))[2:]],
    "mcpServers headers": new(type="http", url="https://h.example/m", headers=[
        {"name": "Authorization", "value": f"Bearer {PLAIN}"}, {"name": "X-Id", "value": OTHER}]),
    "mcpServers url": new(type="sse", url=f"https://me:{PLAIN}@h.example/m?token={PLAIN}#key={PLAIN}"),
    "mcpServers args and command": new(
        command=f"run --password={PLAIN}", args=[f"--token={PLAIN}", "--api-key", PLAIN]),
    "session/load": [*new(), *asks("session/load", {"sessionId": "s"} | servers(
        env=[{"name": "K", "value": PLAIN}]))],
    "session/resume": asks("session/resume", {"sessionId": "s"} | servers(
        env=[{"name": "K", "value": PLAIN}])),
    "session/fork": [*new(), *asks("session/fork", {"sessionId": "s"} | servers(
        env=[{"name": "K", "value": PLAIN}]), {"sessionId": "t"})],
    "systemPrompt": asks("session/new", {"systemPrompt": {"mode": "append", "content": [
        words(OTHER)]}} | servers(), {"sessionId": "s"}),
    "providers/set": asks("providers/set", {"providerId": "p", "apiType": "openai",
        "baseUrl": f"https://u:{PLAIN}@gw.example", "headers": {"X-A": PLAIN, "X-B": OTHER}}),
    "providers/list": asks("providers/list", {}, {"providers": [
        {"providerId": "p", "current": {"baseUrl": f"https://gw.example/?sig={PLAIN}"}}]}),
    "authenticate": asks("authenticate", {"methodId": "m", "_meta": {
        "api-key": PLAIN, "gateway": {"baseUrl": "https://gw", "headers": {"A": OTHER}}}}),
    "auth/login": asks("auth/login", {"methodId": "m", "_meta": {"x": PLAIN}}),
    "initialize result, a map": asks("initialize", {"protocolVersion": 1}, {
        "protocolVersion": 1, "authMethods": [{"id": "m", "env": {"K": PLAIN}}]}),
    "initialize result, a list": asks("initialize", {"protocolVersion": 1}, {
        "protocolVersion": 1, "authMethods": [{"methodId": "m", "args": ["--token", PLAIN],
                                               "env": [{"name": "K", "value": PLAIN}]}]}),
    "auth/status": asks("auth/status", {}, {"accounts": [
        {"label": PLAIN, "name": OTHER, "email": PLAIN, "organization": OTHER}]}),
    "auth/status_update": [agent(method="auth/status_update", params={"accounts": [
        {"label": PLAIN, "email": OTHER}]}), *asks("session/list", {})],
    "terminal/create": turn(*asked("terminal/create", {"sessionId": "s",
        "command": f"curl --token={PLAIN}", "args": ["--password", PLAIN],
        "env": [{"name": "K", "value": PLAIN}]}, {"terminalId": "t"})),
    "elicitation/create url": turn(*asked("elicitation/create", {"sessionId": "s", "mode": "url",
        "elicitationId": "e", "url": f"https://h.example/{PLAIN}?state={PLAIN}", "message": "m"},
        {"action": "accept"})),
    "elicitation/create answer": turn(*asked("elicitation/create", {"sessionId": "s",
        "mode": "form", "message": "m", "requestedSchema": {}},
        {"action": "accept", "content": {"pin": PLAIN, "word": OTHER}})),
    "mcp/message": turn(*asked("mcp/message", {"connectionId": "k", "method": "tools/call",
        "params": {"name": "n", "arguments": {"a": PLAIN}}},
        {"result": {"content": [words(OTHER)]}})),
    "fs/read_text_file": turn(*asked("fs/read_text_file", {"sessionId": "s", "path": "/a"},
        {"content": f"x\nK={KEY}\n"})),
    "fs/write_text_file": turn(*asked("fs/write_text_file", {"sessionId": "s", "path": "/a",
        "content": f"API_KEY={PLAIN}\n"})),
    "terminal/output": turn(
        *asked("terminal/create", {"sessionId": "s", "command": "env"}, {"terminalId": "t"}),
        *asked("terminal/output", {"sessionId": "s", "terminalId": "t"},
               {"output": f"K={KEY[:9]}", "truncated": False}, id_=2),
        *asked("terminal/output", {"sessionId": "s", "terminalId": "t"},
               {"output": f"K={KEY}\n", "truncated": False}, id_=3)),
    "terminal_update": turn(update(sessionUpdate="terminal_update", terminalId="t",
                                   output={"data": base64_of(f"K={KEY}\n")})),
    "terminal_output_chunk": turn(*(update(
        sessionUpdate="terminal_output_chunk", terminalId="t", data=base64_of(part))
        for part in (f"K={KEY[:8]}", KEY[8:], "\n"))),
    "terminal_output_delta": turn(*(tool(_meta={"terminal_output_delta": {
        "data": part, "terminal_id": "t"}}) for part in (f"K={KEY[:8]}", KEY[8:], "\n"))),
    "rawInput and rawOutput": turn(tool(rawInput={"command": ["curl", f"Bearer {KEY}"]},
                                        rawOutput={"out": [f"x {KEY}"]})),
    "tool content": turn(tool(content=[{"type": "content", "content": words(f"x {KEY}")},
        {"type": "diff", "path": "/a", "oldText": KEY, "newText": f"{KEY}\n"}])),
    "permission subject": turn(*asked("session/request_permission", {"sessionId": "s",
        "subject": {"type": "command", "command": f"curl -H 'Authorization: Bearer {KEY}'"},
        "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]},
        {"outcome": {"outcome": "selected", "optionId": "y"}})),
    "prompt": [*new(), *prompt(words(f"my key is {KEY}"), {"type": "resource", "resource": {
        "uri": "file:///a", "text": f"K={KEY}"}})],
    "message": turn(chunk(f"it is {KEY}")),
    "message in chunks": turn(*(chunk(part) for part in ("it is " + KEY[:2], *KEY[2:], " ok"))),
    "thought in chunks": turn(*(chunk(part, "agent_thought_chunk") for part in (KEY[:9], KEY[9:]))),
    "edge 54 error data": [client(id=1, method="session/list", params={}),
        agent(id=1, error={"code": -32600, "message": f"Invalid {KEY}", "data": {
            "method": 5, "params": {"mcpServers": [{"env": [{"name": "K", "value": PLAIN}]}]}}})],
    "anywhere in _meta": turn(chunk("hi", _meta={"x": {"api_key": PLAIN, "Cookie": OTHER}})),
    "extension": [client(id=1, method="_acme/login", params={"password": PLAIN}),
                  agent(id=1, result={"token": OTHER})],
    "standard error": [["stderr", f"debug: key={PLAIN} {KEY}\n"],
                       ["stderr", "-----BEGIN PRIVATE KEY-----\n"], ["stderr", KEY[3:] + "\n"],
                       ["stderr", "-----END PRIVATE KEY-----\n"], *asks("session/list", {})],
    "learnt late": [*turn(chunk(f"it is {PLAIN}")), *asks("session/new", servers(
        env=[{"name": "K", "value": PLAIN}]), {"sessionId": "t"}, id_=92)],
}  # fmt: skip

SECRETS = (PLAIN, KEY, KEY[3:], KEY[9:], OTHER, "7f3a9b1c2d")


def forms(secret):
    """Return how a secret may be spelled: as it is, and in base64, wherever it begins in it."""
    plain = secret.encode()
    return [
        plain,
        *(base64.b64encode(b"x" * n + plain)[(n * 4 + 2) // 3 + 1 : -4] for n in range(3)),
    ]


def test_forms():
    for gap in range(3):
        whole = base64.b64encode(b"a" * gap + PLAIN.encode() + b"b")
        assert any(form in whole for form in forms(PLAIN)[1:])


def converse(command, steps, *, exact=True):
    """Be the client of a script; return exit code and what was said on standard error."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(),
    )  # fmt: skip
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        for who, said in steps:
            if who == "client":
                process.stdin.write(said.encode())
                process.stdin.flush()
            elif who == "agent":
                heard = process.stdout.readline()
                assert heard == said.encode() if exact else heard
        out, err = process.communicate()
    assert out == b""
    return process.returncode, err


def talk(err):
    return b"".join(line for line in err.splitlines(True) if line.startswith(b"acptap: "))


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_row(tmp_path, row):
    steps = [*asks("initialize", {"protocolVersion": 1}, {"protocolVersion": 1}, id_=0), *row]
    script, tape, report = tmp_path / "script.json", tmp_path / "tape.jsonl", tmp_path / "report"
    script.write_text(json.dumps(steps))
    agent = [sys.executable, "-I", "-S", str(AGENT), str(script)]
    code, err = converse([*PROXY, "-w", str(tape), "--", *agent], steps)
    assert code == 0  # the agent heard what was said, word for word
    again = [*REPLAY, str(tape), "--report", str(report)]
    code, verdict = converse(again, steps, exact=False)
    assert (code, json.loads(report.read_bytes())["clean"]) == (0, True), verdict
    for secret in SECRETS:
        for form in forms(secret):
            assert form not in tape.read_bytes()
            assert form not in talk(err)
            assert form not in verdict + report.read_bytes()
    assert b'"redaction":"done"' in tape.read_bytes()
    assert b" replaced in " in talk(err)
