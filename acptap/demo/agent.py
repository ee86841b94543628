"""A small ACP v1 agent on stdio: `python -m acptap.demo.agent`. Always says the same.

A prompt with "remove" in it makes a tool call and asks permission; one with "count" goes on until
it is cancelled; any other is answered in two chunks.
"""

import contextlib
import sys
from collections.abc import Iterator

import orjson

SESSION = "demo-1"
_UPDATE = "session/update"
_COUNTED = 3


def main() -> None:
    """Serve until standard input ends."""
    agent = Agent()
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        for line in sys.stdin.buffer:
            for answer in agent.receive(_read(line)):
                sys.stdout.buffer.write(orjson.dumps({"jsonrpc": "2.0", **answer}) + b"\n")
                sys.stdout.buffer.flush()


def _read(line: bytes) -> dict[str, object]:
    """Return a message, or one that is answered by nothing for a line that is none."""
    try:
        message = orjson.loads(line)
    except orjson.JSONDecodeError:
        message = None
    return message if isinstance(message, dict) else {"method": "noise"}


class Agent:
    """What the agent says to what it is told. Messages are JSON-RPC objects."""

    def __init__(self) -> None:
        self._prompt: object = None  # the id of the prompt that is open
        self._answers = {
            "initialize": self._initialize,
            "session/new": self._new_session,
            "session/prompt": self._prompted,
            "session/cancel": self._cancelled,
        }

    def receive(self, message: dict[str, object]) -> Iterator[dict[str, object]]:
        """Yield the answers to one message."""
        method = message.get("method")
        if method is None:
            yield from self._permitted(message)
        elif method in self._answers:
            yield from self._answers[str(method)](message)
        elif "id" in message:
            error = {"code": -32601, "message": "Method not found"}
            yield {"id": message["id"], "error": error}

    def _initialize(self, request: dict[str, object]) -> Iterator[dict[str, object]]:
        info = {"name": "acptap-demo", "version": "1"}
        result = {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info}
        yield {"id": request["id"], "result": result}

    def _new_session(self, request: dict[str, object]) -> Iterator[dict[str, object]]:
        yield {"id": request["id"], "result": {"sessionId": SESSION}}

    def _prompted(self, request: dict[str, object]) -> Iterator[dict[str, object]]:
        self._prompt = request["id"]
        words = orjson.dumps(request.get("params"))
        if b"remove" in words:
            yield from self._ask()
        elif b"count" in words:
            for number in range(1, _COUNTED + 1):
                yield _chunk(f"{number}, ")
        else:
            yield _chunk("There are two files here: ")
            yield _chunk("notes.txt and old.log.")
            yield self._end("end_turn")

    def _ask(self) -> Iterator[dict[str, object]]:
        call = {"toolCallId": "call-1", "title": "rm old.log", "kind": "delete"}
        yield _update("tool_call", status="pending", **call)
        options = [
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ]
        params = {"sessionId": SESSION, "toolCall": call, "options": options}
        yield {"id": "ask-1", "method": "session/request_permission", "params": params}

    def _permitted(self, response: dict[str, object]) -> Iterator[dict[str, object]]:
        allowed = b'"yes"' in orjson.dumps(response.get("result"))
        status = "completed" if allowed else "failed"
        yield _update("tool_call_update", toolCallId="call-1", status=status)
        yield _chunk("Done." if allowed else "Then I leave it.")
        yield self._end("end_turn")

    def _cancelled(self, _: dict[str, object]) -> Iterator[dict[str, object]]:
        if self._prompt is not None:
            yield self._end("cancelled")

    def _end(self, reason: str) -> dict[str, object]:
        prompt, self._prompt = self._prompt, None
        return {"id": prompt, "result": {"stopReason": reason}}


def _chunk(text: str) -> dict[str, object]:
    return _update("agent_message_chunk", content={"type": "text", "text": text})


def _update(name: str, /, **fields: object) -> dict[str, object]:
    params = {"sessionId": SESSION, "update": {"sessionUpdate": name, **fields}}
    return {"method": _UPDATE, "params": params}


if __name__ == "__main__":
    main()
