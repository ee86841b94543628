"""The official SDKs, directly, through the proxy, and against a replay of what was recorded.

Each pair holds the same conversations three ways. What the client's own SDK showed it must be the
same line for line, and the cassette must hold what its protocol version promises.
"""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from acptap.session import SessionState
from acptap.storage import Recording
from tests.peers.peers import PEERS, ensure_node_peers, node_command
from tests.peers.scripts import V1_SCRIPTS, V2_SCRIPTS

LIMIT = 60
ACPTAP = [sys.executable, "-m", "acptap"]
PYTHON_CLIENT = [sys.executable, str(PEERS / "pyclient.py")]
PYTHON_AGENT = [sys.executable, str(PEERS / "pyagent.py")]


def typescript_client(version):
    ensure_node_peers()
    return [*node_command(), str(PEERS / "client.mjs"), "--version", str(version)]


def typescript_agent():
    ensure_node_peers()
    return [*node_command(), str(PEERS / "agent.mjs")]


PAIRS = {
    "TypeScript v1 to TypeScript": lambda: (typescript_client(1), typescript_agent()),
    "TypeScript v2 to TypeScript": lambda: (typescript_client(2), typescript_agent()),
    "TypeScript v1 to Python": lambda: (typescript_client(1), PYTHON_AGENT),
    "Python to TypeScript": lambda: (PYTHON_CLIENT, typescript_agent()),
    "Python to Python": lambda: (PYTHON_CLIENT, PYTHON_AGENT),
}
V1_PAIRS = [name for name in PAIRS if "v2" not in name]
V2_PAIRS = [name for name in PAIRS if "v2" in name]

CASES = [(pair, script) for pair in V1_PAIRS for script in V1_SCRIPTS] + [
    (pair, script) for pair in V2_PAIRS for script in V2_SCRIPTS
]


def converse(client, script, agent):
    """Return what the client saw, line by line."""
    command = [*client, "--script", orjson.dumps(script).decode(), "--", *agent]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.splitlines()


@pytest.mark.parametrize(("pair", "script"), CASES, ids=[f"{p}, {s}" for p, s in CASES])
def test_the_sdk_sees_the_same_through_the_proxy_and_in_the_replay(pair, script, tmp_path):
    client, agent = PAIRS[pair]()
    steps = (V2_SCRIPTS if "v2" in pair else V1_SCRIPTS)[script]
    cassette = tmp_path / "recorded.jsonl"
    direct = converse(client, steps, agent)
    proxied = converse(client, steps, [*ACPTAP, "proxy", "-w", str(cassette), "--", *agent])
    replayed = converse(client, steps, [*ACPTAP, "replay", str(cassette)])
    assert proxied == direct
    assert replayed == proxied
    check_states(cassette, version=2 if "v2" in pair else 1, closes="closed" in script)


def check_states(cassette, *, version, closes):
    """Every session ends idle (or closed), by the basis of its version; nothing was broken."""
    last, bases, severities = {}, set(), set()
    with Recording(cassette) as recording:
        for front in fronts(recording):
            states = front.get("state", [])
            for state in states if isinstance(states, list) else [states]:
                session = state.get("session", front.get("session"))
                last[session] = SessionState(state["to"])
                if last[session] in (SessionState.RUNNING, SessionState.REQUIRES_ACTION):
                    bases.add(state["basis"])
            severities |= {note["severity"] for note in front.get("notes", [])}
    assert set(last.values()) == {SessionState.CLOSED if closes else SessionState.IDLE}
    assert bases == {"reported" if version == 2 else "derived"}
    assert "violation" not in severities


def fronts(recording) -> Iterator[dict[str, Any]]:
    return (entry.front for entry in recording)
