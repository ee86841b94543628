"""A conversation has the same tree over stdio, over HTTP and over WebSocket: with real SDKs."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from acptap.app.show.showing import ShowOptions, show_command
from tests.peers.network import (
    ACPTAP,
    acptap,
    agent_command,
    client_command,
    converse,
    server,
)
from tests.peers.scripts import EVERYTHING

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = [("v2", "TypeScript"), ("Python", "Python")]


def tree(cassette: Path) -> str:
    out = io.StringIO()
    assert show_command(cassette, ShowOptions(tree=True), out) == 0
    return out.getvalue().partition("\n\n")[2]


@pytest.mark.parametrize(("client", "sdk"), PAIRS)
def test_the_tree_is_the_same_on_every_transport(client: str, sdk: str, tmp_path: Path) -> None:
    cassettes = {way: tmp_path / f"{way}.jsonl" for way in ("stdio", "http", "ws")}
    proxy = [*ACPTAP, "proxy", "-q", "-w", str(cassettes["stdio"]), "--", *agent_command(sdk)]
    assert converse(client_command(client), EVERYTHING, ["--", *proxy]).status == 0
    with server(sdk) as authority:
        for way in ("http", "ws"):
            upstream = ("--upstream", f"{way}://{authority}", "--listen", "0")
            with acptap("proxy", *upstream, "-w", cassettes[way]) as relay:
                url = f"{way}://{relay.authority}/acp"
                assert converse(client_command(client), EVERYTHING, ["--url", url]).status == 0
                assert relay.stop().code == 0
    expected = tree(cassettes["stdio"])
    assert expected.count("  turn ") == 5
    assert tree(cassettes["http"]) == tree(cassettes["ws"]) == expected
