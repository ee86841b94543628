"""A small ACP v1 client: `python -m acptap.demo.client COMMAND…`.

Starts the command, holds one conversation with it (a question, a permission, a cancel), and copies
every line it receives to standard output, so that two conversations can be compared byte by byte.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator

import orjson

PROMPTS = ("What is in this folder?", "Please remove the old log.", "Now count to a million.")
_CANCEL_AFTER = "3, "

Message = dict[str, object]


def main() -> int:
    """Hold the conversation; return 0 if it came to its end."""
    with (
        subprocess.Popen(  # noqa: S603 the command is what this program is given to run
            sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as agent
    ):
        assert agent.stdin is not None
        assert agent.stdout is not None
        sink = agent.stdin

        def send(message: Message) -> None:
            sink.write(orjson.dumps({"jsonrpc": "2.0", **message}) + b"\n")
            sink.flush()

        finished = _converse(send, _received(agent.stdout))
        sink.close()
        for line in agent.stdout:
            sys.stdout.buffer.write(line)
    return 0 if finished and agent.returncode == 0 else 1


def _received(lines: Iterator[bytes]) -> Iterator[Message]:
    for line in lines:
        sys.stdout.buffer.write(line)
        yield orjson.loads(line)


def _converse(send: Callable[[Message], None], messages: Iterator[Message]) -> bool:
    """Ask and answer until all is said; False if the agent fails or falls silent."""
    send({"id": 0, "method": "initialize", "params": {"protocolVersion": 1}})
    if _answer(send, messages, 0) is None:
        return False
    send({"id": 1, "method": "session/new", "params": {"cwd": "/demo", "mcpServers": []}})
    session = _answer(send, messages, 1)
    if session is None:
        return False
    for number, text in enumerate(PROMPTS, start=2):
        prompt = [{"type": "text", "text": text}]
        params = {"sessionId": session["sessionId"], "prompt": prompt}
        send({"id": number, "method": "session/prompt", "params": params})
        if _answer(send, messages, number) is None:
            return False
    return True


def _answer(
    send: Callable[[Message], None], messages: Iterator[Message], number: int
) -> Message | None:
    """Serve the agent until request `number` is answered; return its result."""
    for message in messages:
        method = message.get("method")
        if method is None and message.get("id") == number:
            result = message.get("result")
            return result if isinstance(result, dict) else None
        if method == "session/request_permission":
            outcome = {"outcome": "selected", "optionId": "yes"}
            send({"id": message["id"], "result": {"outcome": outcome}})
        elif method == "session/update" and _CANCEL_AFTER.encode() in orjson.dumps(message):
            params = message["params"]
            assert isinstance(params, dict)
            cancel = {"sessionId": params["sessionId"]}
            send({"method": "session/cancel", "params": cancel})
    return None


if __name__ == "__main__":
    sys.exit(main())
