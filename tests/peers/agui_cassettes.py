"""Records the cassettes in cassettes/ag-ui: each talk of the AG-UI peers has one of its own.

    python -m tests.peers.agui_cassettes [NAME...]

Without names it records all. It needs what the tests of the peers need.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.peers.agui import TALKS, Talk, hold, server_command
from tests.peers.network import ROOT, acptap, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = ROOT / "cassettes" / "ag-ui"


def names_of(server: str) -> Iterator[tuple[str, Talk]]:
    """Yield the talks held with a server, each with the name of its cassette."""
    for name, talk in TALKS[server].items():
        yield f"{server}-{name.replace(' ', '-')}", talk


def record(name: str, talk: Talk, authority: str) -> None:
    """Record one talk with a server."""
    cassette = FOLDER / f"{name}.jsonl"
    upstream = f"http://{authority}"
    with acptap("proxy", "--overwrite", "--upstream", upstream, "-p", "0", "-w", cassette) as proxy:
        hold({name: talk}, proxy.url)
        ending = proxy.stop()
    assert ending.code == 0, ending.talk


def main(wanted: list[str]) -> None:
    """Record the cassettes of these names, or all."""
    FOLDER.mkdir(exist_ok=True)
    for server in TALKS:
        with serving(server_command(server)) as authority:
            for name, talk in names_of(server):
                if not wanted or name in wanted:
                    record(name, talk, authority)


if __name__ == "__main__":
    main(sys.argv[1:])
