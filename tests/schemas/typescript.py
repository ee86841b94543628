"""What the TypeScript SDK's own schemas say: one run of Node for all messages."""

import subprocess
from dataclasses import dataclass
from typing import Any

import orjson

from tests.peers.peers import PEERS, ensure_node_peers, node_command
from tests.schemas.said import Said

LIMIT = 60
VALID, UNKNOWN = "valid", "unknown"


@dataclass
class Judged:
    """What came of it.

    Attributes:
        tables: Of each bundle, its methods, updates and constants (see validate.mjs).
        verdicts: Of each message, `stable`, `unstable`, `unknown`, or what is wrong with it.
    """

    tables: dict[str, dict[str, Any]]
    verdicts: list[str]


def judge(said: list[Said]) -> Judged:
    """Return what the SDK makes of messages."""
    ensure_node_peers()
    messages = [
        {"version": one.version, "side": one.side, "kind": one.kind}
        | {"method": one.method, "value": one.value}
        for one in said
    ]
    done = subprocess.run(
        [*node_command(), str(PEERS / "validate.mjs")],
        input=orjson.dumps(messages),
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    answer = orjson.loads(done.stdout)
    return Judged(answer["tables"], [_word(*pair) for pair in answer["verdicts"]])


def _word(stable: str, unstable: str) -> str:
    if stable == VALID:
        return "stable"
    if stable == UNKNOWN:
        return "unstable" if unstable == VALID else unstable
    return stable
