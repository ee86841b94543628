"""Records `cassettes/acp-network`: the official SDKs over HTTP and WebSocket.

    python -m tests.peers.record [FOLDER]

One file for each client and transport; each script is an ACP connection of its own.
"""

import re
import sys
from pathlib import Path

from tests.peers.network import ROOT, acptap, client_command, converse, server
from tests.peers.scripts import EVERYTHING, V1_SCRIPTS, V2_SCRIPTS

V1 = EVERYTHING | {name: V1_SCRIPTS[name] for name in ("two sessions at once", "history loaded")}
V2 = EVERYTHING | {name: V2_SCRIPTS[name] for name in ("two sessions at once", "resumed")}
PYTHON = EVERYTHING | {"two sessions at once": V1_SCRIPTS["two sessions at once"]}

CASSETTES = {
    "typescript-v1-http": ("v1", "http", "TypeScript", V1),
    "typescript-v1-websocket": ("v1", "ws", "TypeScript", V1),
    "typescript-v2-http": ("v2", "http", "TypeScript", V2),
    "typescript-v2-websocket": ("v2", "ws", "TypeScript", V2),
    "python-v1-http": ("Python", "http", "Python", PYTHON),
    "python-v1-websocket": ("Python", "ws", "Python", PYTHON),
}


def record(folder: Path, name: str) -> None:
    """Record one cassette."""
    kind, transport, sdk, scripts = CASSETTES[name]
    cassette = folder / f"{name}.jsonl"
    with server(sdk) as authority:
        upstream = f"{transport}://{authority}/acp"
        arguments = ("--upstream", upstream, "--listen", "0", "--overwrite", "-w", cassette)
        with acptap("proxy", *arguments) as proxy:
            run = converse(
                client_command(kind), scripts, ["--url", f"{transport}://{proxy.authority}/acp"]
            )
            ending = proxy.stop()
    assert (run.status, ending.code) == (0, 0), run.talk + ending.talk
    told = cassette.read_text()
    home = re.escape(str(ROOT))
    assert re.search(home, told) is None, "it names a path of this machine"


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "cassettes" / "acp-network"
    where.mkdir(exist_ok=True)
    for cassette_name in CASSETTES:
        record(where, cassette_name)
