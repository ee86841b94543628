"""AG-UI's reference client and real servers: directly, and through acptap.

What the client's SDK showed it must be the same line for line, and the cassette must hold every
byte of each body.
"""

from __future__ import annotations

import http.client
import subprocess
import zlib
from contextlib import ExitStack, closing
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import orjson
import pytest

from tests.peers.agui import NO_RUNS, TALKS, Bodies, Run, hold, probe, recorded, server_command
from tests.peers.network import ACPTAP, Ending, acptap, serving
from tests.peers.peers import PEERS, ensure_node_peers, node_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.peers.network import Running

SERVERS = list(TALKS)
ALL_TALKS = [(server, talk) for server in SERVERS for talk in TALKS[server]]

BROKEN = {"pydantic-ai": [], "encoder": ["agui/truncated"]}
"""The rules that the servers violate: one stream ends too early."""


class Taped(NamedTuple):
    """A run through the proxy, how the proxy ended, and what it recorded."""

    run: Run
    ending: Ending
    cassette: Path


class Lab:
    """The servers, started when first needed, and the runs with each, made once."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self._folder = folder
        self.server: Callable[[str], str] = cache(self._server)
        self.direct: Callable[[str], Run] = cache(self._direct)
        self.taped: Callable[[str], Taped] = cache(self._taped)

    def _server(self, name: str) -> str:
        return self._stack.enter_context(serving(server_command(name)))

    def _direct(self, name: str) -> Run:
        return hold(TALKS[name], f"http://{self.server(name)}")

    def _taped(self, name: str) -> Taped:
        cassette = self._folder / f"{name}.jsonl"
        with tap(self.server(name), cassette) as proxy:
            run = hold(TALKS[name], proxy.url)
            ending = proxy.stop()
        return Taped(run, ending, cassette)


def tap(authority: str, cassette: Path) -> AbstractContextManager[Running]:
    """Run the proxy in front of a server; secrets stay on the tape, for it is to hold all."""
    upstream = f"http://{authority}"
    return acptap("proxy", "--no-redact", "--upstream", upstream, "-p", "0", "-w", cassette)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One for all tests here: what is slow is starting processes."""
    with ExitStack() as stack:
        yield Lab(stack, tmp_path_factory.mktemp("cassettes"))


@pytest.mark.parametrize(("server", "talk"), ALL_TALKS)
def test_the_client_and_the_server_understand_each_other(lab: Lab, server: str, talk: str) -> None:
    run = lab.direct(server)
    kinds = [orjson.loads(line)["event"] for line in run.transcripts[talk]]
    steps = TALKS[server][talk].steps
    assert kinds.count("resolved") == (0 if talk in NO_RUNS else len(steps))
    assert len(run.bodies[talk]) == len(steps)


@pytest.mark.parametrize(("server", "talk"), ALL_TALKS)
def test_the_client_sees_the_same_through_the_proxy(lab: Lab, server: str, talk: str) -> None:
    assert lab.taped(server).run.transcripts[talk] == lab.direct(server).transcripts[talk]


@pytest.mark.parametrize("server", SERVERS)
def test_the_cassette_holds_every_byte(lab: Lab, server: str) -> None:
    taped = lab.taped(server)
    assert taped.ending.code == 0, taped.ending.talk
    seen = [(TALKS[server][name].path, bodies) for name, bodies in all_bodies(taped.run)]
    assert recorded(taped.cassette) == seen


def all_bodies(run: Run) -> list[tuple[str, Bodies]]:
    """Return the bodies of a run, each with the talk that it belongs to."""
    return [(name, bodies) for name, talk in run.bodies.items() for bodies in talk]


@pytest.mark.parametrize(("server", "broken"), BROKEN.items())
def test_the_servers_break_the_rules_that_they_are_known_to(
    lab: Lab, server: str, broken: list[str]
) -> None:
    checked = subprocess.run(
        [*ACPTAP, "check", "--format", "json", lab.taped(server).cassette],
        capture_output=True,
        check=False,
    )
    findings = orjson.loads(checked.stdout)["files"][0]["findings"]
    assert [
        finding["rule"] for finding in findings if finding["severity"] == "violation"
    ] == broken, findings


# What the reference client refuses of the inputs, and what it takes for an answer without a run.
REJECTED = {
    "a-list-in-a-block",
    "binary-that-is-cut",
    "chunks-around-a-state",
    "cr",
    "crlf",
    "cut-off",
    "done-behind-it",
    "empty-data",
    "error-then-finished",
    "event-before-the-start",
    "event-behind-the-end",
    "fraction-as-timestamp",
    "no-end-of-a-block",
    "no-type",
    "null-in-a-block",
    "pointer-that-is-none",
    "role-of-a-tool",
    "status-204",
    "status-401",
    "status-500-with-a-run",
    "two-events-in-a-block",
}
UNSEEN = {"binary-with-a-parameter", "json-lines", "no-body"}
INPUTS = 62


def fetch(authority: str, method: str, target: str) -> bytes:
    """Return the body of an answer, inflated; of one that is cut off what has come."""
    with closing(http.client.HTTPConnection(authority, timeout=10)) as connection:
        connection.request(method, target, "{}")
        answer = connection.getresponse()
        try:
            body = answer.read()
        except http.client.IncompleteRead as error:
            body = error.partial
        compressed = answer.headers["Content-Encoding"] == "gzip"
    return zlib.decompress(body, wbits=31) if compressed else body


def test_the_client_judges_good_and_bad_bytes_as_without_the_proxy(
    lab: Lab, tmp_path: Path
) -> None:
    server = lab.server("inputs")
    inputs = orjson.loads(fetch(server, "GET", "/"))
    direct = probe(inputs, f"http://{server}")
    assert len(direct) == INPUTS
    outcomes = {name: verdict["outcome"] for name, verdict in direct.items()}
    assert outcomes == dict.fromkeys(inputs, "resolved") | dict.fromkeys(REJECTED, "rejected")
    assert {name for name, verdict in direct.items() if not verdict["seen"]} == UNSEEN
    cassette = tmp_path / "inputs.jsonl"
    with tap(server, cassette) as proxy:
        assert probe(inputs, proxy.url) == direct
        ending = proxy.stop()
    assert ending.code == 0, ending.talk
    answers = {exchange.target: exchange.bodies.response for exchange in recorded(cassette)}
    assert answers == {f"/{name}": fetch(server, "POST", f"/{name}") for name in inputs}


def test_the_frames_of_the_decoder_are_those_of_the_reference_encoder() -> None:
    ensure_node_peers()
    made = subprocess.run(
        [*node_command(), PEERS / "agui-frames.mjs"], capture_output=True, check=True
    )
    assert made.stdout == (PEERS.parent / "agui" / "frames.jsonl").read_bytes()
    assert made.stderr == b""


@pytest.mark.parametrize("server", SERVERS)
def test_the_client_sees_the_same_in_the_replay(lab: Lab, server: str) -> None:
    taped = lab.taped(server)
    with acptap("replay", taped.cassette, "-p", "0", "--once") as replay:
        run = hold(TALKS[server], replay.url, ids="again")
        ending = replay.wait()
    assert run.transcripts == taped.run.transcripts
    assert ending.code == 0, ending.talk


def test_the_client_judges_good_and_bad_bytes_as_in_the_recording(lab: Lab, tmp_path: Path) -> None:
    server = lab.server("inputs")
    inputs = orjson.loads(fetch(server, "GET", "/"))
    cassette = tmp_path / "inputs.jsonl"
    with tap(server, cassette) as proxy:
        taped = probe(inputs, proxy.url)
        proxy.stop()
    with acptap("replay", cassette, "-p", "0", "--once") as replay:
        assert probe(inputs, replay.url) == taped
        ending = replay.wait()
    assert ending.code == 0, ending.talk
