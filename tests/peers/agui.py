"""What the AG-UI peers talk about, and how they are run."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from acptap.jsonrpc import Side
from acptap.storage import Recording
from tests.peers.network import DIRECTLY, LIMIT, Lines, split
from tests.peers.peers import PEERS, ensure_node_peers, node_command

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

BINARY = "application/vnd.ag-ui.event+proto"


class Talk(NamedTuple):
    """A thread between the client and a server: see agui-client.mjs for the steps."""

    path: str
    steps: list[list[Any]]
    accept: str | None = None


APPROVED = {"approved": True}
REFUSED = {"approved": False, "reason": "not now"}

TALKS: dict[str, dict[str, Talk]] = {
    "pydantic-ai": {
        "two turns": Talk("/text", [["prompt", "hello"], ["prompt", "and again"]]),
        "tool": Talk("/tool", [["prompt", "weather?"], ["prompt", "and now?"]]),
        "state": Talk("/state", [["prompt", "plan"], ["prompt", "plan again"]]),
        "approval given": Talk("/approval", [["prompt", "delete"], ["answer", APPROVED]]),
        "approval refused": Talk("/approval", [["prompt", "delete"], ["answer", REFUSED]]),
        "approval cancelled": Talk("/approval", [["prompt", "delete"], ["answer"]]),
        "failure": Talk("/boom", [["prompt", "hello"], ["prompt", "again"]]),
        "aborted": Talk("/slow", [["abort", "count", " three"]]),
        "not found": Talk("/nowhere", [["prompt", "hello"]]),
    },
    "encoder": {
        "everything": Talk("/everything", [["prompt", "tea"]]),
        "everything in binary": Talk("/everything", [["prompt", "tea"]], BINARY),
        "two turns": Talk("/text", [["prompt", "hello"], ["prompt", "and again"]]),
        "two turns in binary": Talk("/text", [["prompt", "hello"], ["prompt", "more"]], BINARY),
        "tool of the client": Talk("/frontend", [["prompt", "colour?"], ["result", "blue"]]),
        "two interrupts": Talk("/ask", [["prompt", "sign"], ["answer", "yes"]]),
        "two interrupts in binary": Talk("/ask", [["prompt", "sign"], ["answer", "yes"]], BINARY),
        "interrupts cancelled": Talk("/ask", [["prompt", "sign"], ["answer"]]),
        "failure": Talk("/fail", [["prompt", "hello"], ["prompt", "again"]]),
        "cancelled": Talk("/cancelled", [["prompt", "hello"]]),
        "cut short": Talk("/endless", [["prompt", "hello"]]),
        "locked": Talk("/locked", [["prompt", "hello"]]),
        "busy": Talk("/busy", [["prompt", "hello"]]),
        "aborted": Talk("/slow", [["abort", "count", " three"]]),
        "aborted in binary": Talk("/slow", [["abort", "count", " three"]], BINARY),
    },
}
"""By the server that they are held with."""

NO_RUNS = ("not found", "locked", "busy")
"""Talks whose requests are refused."""


def server_command(name: str) -> list[str]:
    """Return the command of the server on `pydantic-ai`, on the reference `encoder`, or of the
    `inputs`.
    """
    if name == "pydantic-ai":
        return [sys.executable, "-m", "tests.peers.agui_server"]
    ensure_node_peers()
    script = {"encoder": "agui-server.mjs", "inputs": "agui-inputs.mjs"}[name]
    return [*node_command(), str(PEERS / script)]


class Bodies(NamedTuple):
    """The bodies of an exchange."""

    request: bytes
    response: bytes


class Run(NamedTuple):
    """What the client saw, talk by talk, and the bodies that it sent and got."""

    transcripts: dict[str, Lines]
    bodies: dict[str, list[Bodies]]


def hold(talks: Mapping[str, Talk], url: str, *, ids: str = "peer") -> Run:
    """Let the client hold talks, each as a thread of its own.

    Args:
        talks: What to talk about, by name.
        url: The server, or what stands in its place.
        ids: What the ids begin with that the client makes up.
    """
    asked = [part for talk in talks.values() for part in ("--talk", _spelled(talk))]
    output = _node("agui-client.mjs", "--url", url, "--ids", ids, *asked)
    parts = list(split(output))
    assert len(parts) == len(talks)
    named = dict(zip(talks, parts, strict=True))
    return Run(
        {name: lines[:-1] for name, lines in named.items()},
        {
            name: [
                Bodies(*map(base64.b64decode, bodies))
                for bodies in orjson.loads(lines[-1])["bodies"]
            ]
            for name, lines in named.items()
        },
    )


def probe(inputs: Iterable[str], url: str) -> dict[str, dict[str, Any]]:
    """Return what the client makes of each input."""
    lines = _node("agui-probe.mjs", "--url", url, *inputs).splitlines()
    verdicts = map(orjson.loads, lines)
    return {verdict["input"]: verdict for verdict in verdicts}


def _spelled(talk: Talk) -> str:
    return orjson.dumps(talk._asdict()).decode()


def _node(script: str, *arguments: str) -> bytes:
    ensure_node_peers()
    done = subprocess.run(
        [*node_command(), str(PEERS / script), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT,
        check=False,
        env=os.environ | DIRECTLY,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


class Recorded(NamedTuple):
    """An exchange in a cassette."""

    target: str
    bodies: Bodies


def recorded(cassette: Path) -> list[Recorded]:
    """Return the exchanges of a cassette, in order."""
    targets: dict[int, str] = {}
    units: dict[tuple[int, Side], list[bytes]] = {}
    with Recording(cassette) as recording:
        for entry in recording:
            front: dict[str, Any] = entry.front
            if entry.event == "request":
                targets[front["exchange"]] = front["http"]["target"]
            elif entry.event is None:
                units.setdefault((front["exchange"], entry.side), []).append(entry.unit())
    return [
        Recorded(target, Bodies(*(b"".join(units.get((number, side), [])) for side in Side)))
        for number, target in sorted(targets.items())
    ]
