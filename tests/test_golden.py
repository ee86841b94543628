"""The committed recordings of shipping agents: loaded, understood, and played.

They were made with `acptap proxy` in front of OpenCode (ACP v1) and Codex (v1 and v2), with a model
that plays prepared answers. tests/replay/test_schedules.py plays them with clients that differ.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acptap.jsonrpc import Side
from acptap.storage import Recording
from acptap.tap import Tap

FOLDER = Path(__file__).parent.parent / "cassettes" / "acp"
CASSETTES = sorted(FOLDER.glob("*.jsonl"))

STATES = {
    "codex-v1-cancel-asked": "running requires_action running idle(cancelled)",
    "codex-v1-cancel": "running idle(cancelled)",
    "codex-v1-close": "running idle(cancelled) closed",
    "codex-v1-hello": "running idle(end_turn)",
    "codex-v1-load": "running idle(end_turn)",
    "codex-v1-model-error": "running idle(end_turn)",
    "codex-v1-resume": "running idle(end_turn)",
    "codex-v1-tool-allowed": "running requires_action running idle(end_turn)",
    "codex-v1-tool-rejected": "running requires_action running idle(cancelled)",
    "codex-v1-two-sessions": "running idle(end_turn) | running idle(end_turn)",
    "codex-v1-two-turns": "running idle(end_turn) running idle(end_turn)",
    "codex-v2-cancel-asked": "running requires_action running idle(cancelled)",
    "codex-v2-cancel": "running idle(cancelled)",
    "codex-v2-close": "running idle(cancelled) closed",
    "codex-v2-edit": "running requires_action running idle(end_turn)",
    "codex-v2-hello": "running idle(end_turn)",
    "codex-v2-model-error": "running idle(error)",
    "codex-v2-notice": "running idle(end_turn)",
    "codex-v2-resume-replay": "idle running idle(end_turn)",
    "codex-v2-resume": "idle running idle(end_turn)",
    "codex-v2-tool-allowed": "running requires_action running idle(end_turn)",
    "codex-v2-tool-rejected": "running requires_action running idle(cancelled)",
    "codex-v2-two-sessions": "running idle(end_turn) | running idle(end_turn)",
    "codex-v2-two-turns": "running idle(end_turn) running idle(end_turn)",
    "opencode-v1-cancel-asked": "running requires_action running idle(cancelled)",
    "opencode-v1-cancel": "running idle(cancelled)",
    "opencode-v1-close": "running closed",
    "opencode-v1-edit": "running requires_action running idle(end_turn)",
    "opencode-v1-hello": "running idle(end_turn)",
    "opencode-v1-load": "running idle(end_turn)",
    "opencode-v1-model-error": "running idle(error)",
    "opencode-v1-resume": "running idle(end_turn)",
    "opencode-v1-tool-allowed": "running requires_action running idle(end_turn)",
    "opencode-v1-tool-rejected": "running requires_action running idle(end_turn)",
    "opencode-v1-two-sessions": "running idle(end_turn) | running idle(end_turn)",
    "opencode-v1-two-turns": "running idle(end_turn) running idle(end_turn)",
}


def states_of(path):
    """Return each session's states in order, sessions in order of appearance."""
    told: dict[str, list[str]] = {}
    with Recording(path) as recording:
        for front in fronts(recording):
            states = front.get("state", [])
            for state in states if isinstance(states, list) else [states]:
                session = state.get("session", front.get("session"))
                reason = f"({state['reason']})" if "reason" in state else ""
                told.setdefault(session, []).append(state["to"] + reason)
    return " | ".join(" ".join(states) for states in told.values())


def fronts(recording) -> Iterator[dict[str, Any]]:
    return (entry.front for entry in recording)


def test_every_cassette_is_here():
    assert {path.stem for path in CASSETTES} == STATES.keys()


@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: path.stem)
def test_states(path):
    assert states_of(path) == STATES[path.stem]


@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: path.stem)
def test_the_tap_would_write_it_again(path):
    """Feed what was on the wire to a tap, read by read, and compare the lines."""
    tap = Tap()
    lines = []
    for side, at, data, facts in reads(path):
        micros = round(at * 1_000_000)
        if data:
            lines.append(tap.observe(side, data, micros))
        elif facts["event"] == "exit":
            lines.append(tap.exit(micros, code=facts["code"]))
        else:
            lines.append(tap.end(side, micros))
    assert b"".join(lines) == path.read_bytes().partition(b"\n")[2]


def reads(path):
    """Yield the reads of a recording: side, time, bytes, and for a fact its members."""
    with Recording(path) as recording:
        data, last = b"", None
        for entry in recording:
            if last is not None and (entry.at, entry.side) != (last.at, last.side):
                yield last.side, last.at, data, last.front
                data = b""
            data += entry.unit()
            last = entry
    assert last is not None
    yield last.side, last.at, data, last.front


@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: path.stem)
def test_a_client_that_says_the_same_hears_the_same(path):
    """Play it through the command line: each client message once its turn has come."""
    with Recording(path) as recording:
        units = [(entry.side, entry.unit()) for entry in recording if entry.key is not None]
    replay = [sys.executable, "-m", "acptap", "replay", "-q", "--match", "exact", str(path)]
    with subprocess.Popen(replay, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as fake:
        assert fake.stdin is not None
        assert fake.stdout is not None
        heard = []
        for side, unit in units:
            if side is Side.CLIENT:
                fake.stdin.write(unit)
                fake.stdin.flush()
            else:
                heard.append(fake.stdout.readline())
        fake.stdin.close()
        heard.append(fake.stdout.read())
    assert fake.returncode == 0
    assert sorted(heard) == sorted([b"", *(unit for side, unit in units if side is Side.AGENT)])
