"""What is judged, once for the session: recordings, the peers' talk, and generated talk."""

import subprocess
import sys
from pathlib import Path
from random import Random

import orjson
import pytest

from acptap.storage import Recording
from tests.fuzz.author import Author
from tests.fuzz.shapes import V1, V2
from tests.fuzz.tapes import entries_of, record
from tests.peers.peers import PEERS, ensure_node_peers, node_command
from tests.schemas import pythonsdk, typescript
from tests.schemas.said import WRONG, Said, said_in, spelled_out
from tests.schemas.typescript import Judged

LIMIT = 60
SEEDS = 30
MOVES = 40
COMMITTED = sorted(Path(__file__).parents[2].glob("cassettes/acp/*.jsonl"))

SCRIPT = [["new"], ["permission", "allow"], ["prompt", "think plan tool"], ["prompt", "noise"]]
CONVERSATIONS = {
    "TypeScript 1": [*SCRIPT, ["prompt", "read terminal"], ["prompt", "boom"], ["list"]],
    "TypeScript 2": [*SCRIPT, ["prompt", "boom"], ["list"], ["close"]],
    "TypeScript 1 loads": [["load", "archived-1"], ["prompt", "go on"]],
    "TypeScript 2 resumes": [["resume", "archived-1", True], ["prompt", "go on"]],
    "Python": [*SCRIPT, ["prompt", "read terminal"], ["two-sessions", "tool", "think"]],
}


def tape_of(path: Path) -> list[Said]:
    with Recording(path) as recording:
        return said_in(recording)


def talk(name: str, path: Path) -> list[Said]:
    """Have a client and an agent on the same SDK talk through the proxy."""
    if name == "Python":
        client = [sys.executable, str(PEERS / "pyclient.py")]
        agent = [sys.executable, str(PEERS / "pyagent.py")]
    else:
        client = [*node_command(), str(PEERS / "client.mjs"), "--version", name.split()[1]]
        agent = [*node_command(), str(PEERS / "agent.mjs")]
    proxy = [sys.executable, "-m", "acptap", "proxy", "-q", "-w", str(path), "--", *agent]
    command = [*client, "--script", orjson.dumps(CONVERSATIONS[name]).decode(), "--", *proxy]
    subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=True
    )
    return tape_of(path)


@pytest.fixture(scope="session")
def recorded() -> list[Said]:
    """What the committed cassettes hold."""
    return [said for path in COMMITTED for said in tape_of(path)]


@pytest.fixture(scope="session")
def talked(tmp_path_factory: pytest.TempPathFactory) -> list[Said]:
    """What the SDKs say to each other."""
    ensure_node_peers()
    pythonsdk.require()
    folder = tmp_path_factory.mktemp("talk")
    return [said for name in CONVERSATIONS for said in talk(name, folder / f"{name}.jsonl")]


@pytest.fixture(scope="session")
def generated() -> list[Said]:
    """What the author of tests/fuzz writes, and every shape of its vocabulary."""
    lines = [Author(Random(n), version).write(MOVES) for version in (V1, V2) for n in range(SEEDS)]
    return spelled_out() + [said for one in lines for said in said_in(entries_of(record(one)))]


@pytest.fixture(scope="session")
def everything(recorded: list[Said], talked: list[Said], generated: list[Said]) -> list[Said]:
    return recorded + talked + generated


@pytest.fixture(scope="session")
def judged(everything: list[Said]) -> Judged:
    """What the TypeScript SDK makes of everything, and of what is wrong."""
    return typescript.judge([*everything, *WRONG])
