"""The official SDKs over HTTP and WebSocket: directly, through acptap, and against its replays.

What a client's own SDK showed it must be the same line for line. Over HTTP there is an order only
within one event stream, so there each stream is compared for itself (see `lanes`). Known quarrels
between two SDKs belong to what must be the same: acptap neither mends nor worsens them, unless it
is the agent itself.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from acptap.session import SessionState
from acptap.storage import Recording
from tests.peers.network import (
    ACPTAP,
    Ending,
    Run,
    acptap,
    agent_command,
    client_command,
    converse,
    server,
)
from tests.peers.scripts import EVERYTHING, V1_SCRIPTS, V2_SCRIPTS, WHILE_ASKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.peers.scripts import Script


class Pair(NamedTuple):
    """A client, what it speaks, and the server it speaks to."""

    client: str
    transport: str
    server: str

    def __str__(self) -> str:
        name = "Python" if self.client == "Python" else f"TypeScript {self.client}"
        return f"{name} over {self.transport} to {self.server}"


PAIRS = [
    Pair("v1", "http", "TypeScript"),
    Pair("v1", "ws", "TypeScript"),
    Pair("v2", "http", "TypeScript"),
    Pair("v2", "ws", "TypeScript"),
    Pair("Python", "http", "Python"),
    Pair("Python", "ws", "Python"),
    Pair("v1", "http", "Python"),
    Pair("v1", "ws", "Python"),
    Pair("Python", "ws", "TypeScript"),
    Pair("Python", "http", "TypeScript"),
]

# What the SDKs themselves can't do with each other, as their clients tell it.
QUARRELS: dict[Pair, dict[str, bytes]] = {
    # The client sends no session id with its answers, nor with a load; the server insists on it.
    Pair("Python", "http", "TypeScript"): dict.fromkeys(
        ("permission allowed", "two sessions at once", "everything", "cancelled while asking"),
        b"HTTP 400: POST None failed",
    )
    | {"history loaded": b"HTTP 400: POST session/load failed"},
    # The server knows no session that was loaded, only such as were new.
    Pair("Python", "http", "Python"): {"history loaded": b"HTTP 404: POST session/prompt failed"},
    Pair("v1", "http", "Python"): {"history loaded": b"the connection broke"},
}


SCRIPTS = ("two turns", "permission allowed", "two sessions at once", "noise on stdout")
V1 = {name: V1_SCRIPTS[name] for name in (*SCRIPTS, "history loaded")} | EVERYTHING
V2 = {
    name: V2_SCRIPTS[name]
    for name in (*SCRIPTS, "resumed", "resumed with history", "closed in mid-answer")
} | EVERYTHING


def scripts_for(pair: Pair) -> dict[str, Script]:
    """Return the scripts that have one outcome only."""
    scripts = V2 if pair.client == "v2" else V1
    if pair.client == "v2" and pair.transport == "http":
        return scripts  # a withdrawal and the idle state are on two streams: which is seen first?
    return scripts | WHILE_ASKING


class Taped(NamedTuple):
    """A run through the proxy, how the proxy ended, and what it recorded."""

    run: Run
    ending: Ending
    cassette: Path


class Lab:
    """The servers, started when first needed, and each pair's runs, made once."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self._folder = folder
        self._number = 0
        self.server: Callable[[str], str] = cache(self._server)
        self.direct: Callable[[Pair], Run] = cache(self._direct)
        self.taped: Callable[[Pair], Taped] = cache(self._taped)

    def file(self) -> Path:
        """Return the path of a cassette that is not there yet."""
        self._number += 1
        return self._folder / f"{self._number}.jsonl"

    def talk(self, pair: Pair, authority: str, scripts: dict[str, Script] | None = None) -> Run:
        """Let the client of a pair talk to whatever listens there."""
        url = f"{pair.transport}://{authority}/acp"
        chosen = scripts_for(pair) if scripts is None else scripts
        return converse(client_command(pair.client), chosen, ["--url", url])

    def _server(self, sdk: str) -> str:
        return self._stack.enter_context(server(sdk))

    def _direct(self, pair: Pair) -> Run:
        return self.talk(pair, self.server(pair.server))

    def _taped(self, pair: Pair) -> Taped:
        cassette = self.file()
        upstream = f"{pair.transport}://{self.server(pair.server)}"
        with acptap("proxy", "--upstream", upstream, "--listen", "0", "-w", cassette) as proxy:
            run = self.talk(pair, proxy.authority)
            ending = proxy.stop()
        return Taped(run, ending, cassette)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One for all tests here: what is slow is starting processes."""
    with ExitStack() as stack:
        yield Lab(stack, tmp_path_factory.mktemp("cassettes"))


def assert_same(one: Run, other: Run, *, ordered: bool) -> None:
    """Compare what two clients saw, line for line or stream for stream."""
    if ordered:
        assert one.ordered() == other.ordered()
    else:
        assert one.by_stream() == other.by_stream()


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_two_sdks_agree_or_quarrel_as_they_are_known_to(lab: Lab, pair: Pair) -> None:
    run = lab.direct(pair)
    failures = {
        name: lines[-2] for name, lines in run.transcripts.items() if b'"failure"' in lines[-2]
    }
    expected = QUARRELS.get(pair, {})
    assert failures == {
        name: b'{"event":"failure","message":"%b"}' % why for name, why in expected.items()
    }
    assert run.status == (1 if expected else 0)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_the_sdk_sees_the_same_through_the_proxy(lab: Lab, pair: Pair) -> None:
    direct, taped = lab.direct(pair), lab.taped(pair)
    assert_same(taped.run, direct, ordered=pair.transport == "ws")
    assert taped.run.ends() == direct.ends()
    assert taped.run.status == direct.status
    assert taped.ending.code == 0, taped.ending.talk
    if pair not in QUARRELS:
        check_states(taped.cassette, pair)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_the_sdk_sees_the_same_in_the_replay(lab: Lab, pair: Pair) -> None:
    taped = lab.taped(pair)
    with acptap("replay", taped.cassette, "--listen", "0", "--once") as replay:
        run = lab.talk(pair, replay.authority)
        ending = replay.wait()
    assert_same(run, taped.run, ordered=pair.transport == "ws")
    assert run.ends() == taped.run.ends()
    assert run.status == taped.run.status
    assert ending.code == 0, ending.talk


def check_states(cassette: Path, pair: Pair) -> None:
    """Every session ends idle (or closed), by the basis of its version; nothing was broken."""
    last: dict[tuple[int, str], SessionState] = {}
    bases, severities = set(), set()
    with Recording(cassette) as recording:
        for entry in recording:
            front: dict[str, Any] = entry.front
            states = front.get("state", [])
            for state in states if isinstance(states, list) else [states]:
                session = state.get("session", front.get("session"))
                last[front.get("conn", 1), session] = SessionState(state["to"])
                if state["to"] in ("running", "requires_action"):
                    bases.add(state["basis"])
            severities |= {note["severity"] for note in front.get("notes", [])}
    ends = {SessionState.IDLE} | ({SessionState.CLOSED} if pair.client == "v2" else set())
    assert set(last.values()) == ends
    assert len({connection for connection, _ in last}) == len(scripts_for(pair))
    assert bases == {"reported" if pair.client == "v2" else "derived"}
    assert "violation" not in severities


CROSSINGS = [
    ("v1", "http", "ws"),
    ("v1", "http", "stdio"),
    ("v1", "ws", "http"),
    ("v1", "ws", "stdio"),
    ("v2", "http", "ws"),
    ("v2", "ws", "stdio"),
    ("Python", "ws", "http"),  # so nobody refuses the client's answers
    ("Python", "ws", "stdio"),
]


@pytest.mark.parametrize(("client", "recorded", "played"), CROSSINGS)
def test_a_recording_of_one_transport_plays_on_another(
    lab: Lab, client: str, recorded: str, played: str
) -> None:
    made = Pair(client, recorded, "TypeScript")
    taped, scripts = lab.taped(made), scripts_for(made)
    if played == "stdio":
        run = play_on_stdio(client, taped.cassette, scripts)
    else:
        with acptap("replay", taped.cassette, "--listen", "0") as replay:
            run = lab.talk(Pair(client, played, ""), replay.authority, scripts)
            ending = replay.stop()
        assert ending.code == 0, ending.talk
    assert_same(run, taped.run, ordered="http" not in (recorded, played))
    assert run.status == 0, run.talk


def play_on_stdio(client: str, cassette: Path, scripts: dict[str, Script]) -> Run:
    """Play all connections of a cassette as agents on stdio; the status is acptap's verdict."""
    judge = [*ACPTAP, "exec", str(cassette), "--"]
    spread = ["sh", "-c", 'eval "exec \\"\\$@\\" -- $ACPTAP_AGENT"', "sh"]
    return converse([*judge, *spread, *client_command(client)], scripts, [])


BRIDGED = [
    Pair("v1", "http", "TypeScript"),
    Pair("v1", "ws", "TypeScript"),
    Pair("v2", "http", "TypeScript"),
    Pair("v2", "ws", "TypeScript"),
    Pair("Python", "http", "TypeScript"),
    Pair("Python", "ws", "Python"),
    Pair("v1", "http", "Python"),
]


@pytest.mark.parametrize("pair", BRIDGED, ids=str)
def test_a_client_on_the_network_talks_to_an_agent_on_stdio(lab: Lab, pair: Pair) -> None:
    scripts = scripts_for(pair) if pair[::2] == ("v1", "TypeScript") else EVERYTHING
    direct = lab.direct(Pair(pair.client, "ws", pair.server)).only(scripts)
    cassette = lab.file()
    agent = agent_command(pair.server)
    with acptap("proxy", "--listen", "0", "-w", cassette, "--", *agent) as bridge:
        bridged = lab.talk(pair, bridge.authority, scripts)
        ending = bridge.stop()
    assert_same(bridged, direct, ordered=pair.transport == "ws")
    assert ending.code == 0, ending.talk
    with acptap("replay", cassette, "--listen", "0", "--once") as replay:
        replayed = lab.talk(pair, replay.authority, scripts)
        ending = replay.wait()
    assert_same(replayed, direct, ordered=pair.transport == "ws")
    assert ending.code == 0, ending.talk


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair not in QUARRELS], ids=str)
def test_a_client_on_stdio_talks_to_a_server(lab: Lab, pair: Pair) -> None:
    direct = lab.direct(pair)
    cassette = lab.file()
    upstream = f"{pair.transport}://{lab.server(pair.server)}/acp"
    bridge = [*ACPTAP, "proxy", "--stdio", "--upstream", upstream, "-w", str(cassette)]
    bridged = converse(client_command(pair.client), EVERYTHING, ["--", *bridge])
    assert_same(bridged, direct.only(EVERYTHING), ordered=pair.transport == "ws")
    assert bridged.status == 0, bridged.talk
    replayed = converse(
        client_command(pair.client), EVERYTHING, ["--", *ACPTAP, "replay", str(cassette)]
    )
    assert_same(replayed, bridged, ordered=True)
    assert replayed.status == 0, replayed.talk
