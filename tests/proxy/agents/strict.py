"""Answers requests, and lines that are no JSON with a parse error, as the TypeScript SDK does."""

import json
import sys

for line in sys.stdin.buffer:
    try:
        message = json.loads(line)
    except ValueError:
        answer = {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}, "id": None}
    else:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {}}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
