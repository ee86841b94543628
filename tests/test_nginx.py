"""nginx in front of acptap and behind it: both are ordinary reverse proxies to each other."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from acptap.storage import Recording
from tests.peers.network import Run, acptap, client_command, converse, server
from tests.peers.nginx import Nginx, nginx, nginx_command
from tests.peers.scripts import EVERYTHING, V1_SCRIPTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLAIN: dict[str, bool] = {}
BUFFERING = {"buffering": True}  # not with TLS: nginx then keeps an event stream to itself
TLS = {"tls": True}


class Conversation(NamedTuple):
    """Who talks, over what, and about what."""

    client: str
    transport: str

    def __str__(self) -> str:
        return f"{self.client} over {self.transport}"

    def hold(self, url: str, ca: Path | None, monkeypatch: pytest.MonkeyPatch) -> Run:
        """Talk to a URL."""
        scripts = EVERYTHING
        if self == ("Python", "http"):  # its answers are refused: see test_network_peers.py
            scripts = {"failed turn": V1_SCRIPTS["failed turn"]}
        with monkeypatch.context() as patch:
            if ca is not None:
                patch.setenv("NODE_EXTRA_CA_CERTS", str(ca))
                patch.setenv("SSL_CERT_FILE", str(ca))
            return converse(client_command(self.client), scripts, ["--url", f"{url}/acp"])


CONVERSATIONS = [
    Conversation("v1", "http"),
    Conversation("v1", "ws"),
    Conversation("v2", "http"),
    Conversation("Python", "http"),
    Conversation("Python", "ws"),
]


@pytest.fixture(scope="module")
def agent() -> Iterator[str]:
    """The authority of a server on the official TypeScript SDK."""
    nginx_command()  # skips
    with server("TypeScript") as authority:
        yield authority


@contextmanager
def recorded_through_nginx(
    folder: Path, agent: str, transport: str, how: dict[str, bool]
) -> Iterator[tuple[Nginx, Path]]:
    """Run nginx, acptap and nginx again in front of an agent."""
    cassette = folder / "recorded.jsonl"
    with nginx(folder / "behind", agent, **how) as behind:
        trust: list[str | Path] = ["--ca", behind.ca] if behind.ca else []
        upstream = ["--upstream", behind.url(transport)]
        with acptap("proxy", *upstream, *trust, "--listen", "0", "-w", cassette) as proxy:
            with nginx(folder / "before", proxy.authority, **how) as before:
                yield before, cassette
            assert proxy.stop().code == 0, proxy.talk


@pytest.mark.parametrize("how", [PLAIN, BUFFERING, TLS], ids=["plain", "buffering", "TLS"])
@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=str)
def test_a_conversation_through_nginx_acptap_and_nginx(
    agent: str,
    tmp_path: Path,
    conversation: Conversation,
    how: dict[str, bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    direct = conversation.hold(f"{conversation.transport}://{agent}", None, monkeypatch)
    with recorded_through_nginx(tmp_path, agent, conversation.transport, how) as (front, cassette):
        run = conversation.hold(front.url(conversation.transport), front.ca, monkeypatch)
    assert_same(run, direct)
    check_heads(cassette, conversation.transport)
    with acptap("replay", cassette, "--listen", "0", "--once") as replay:
        with nginx(tmp_path / "replay", replay.authority, **how) as front:
            replayed = conversation.hold(front.url(conversation.transport), front.ca, monkeypatch)
        ending = replay.wait()
    assert_same(replayed, direct)
    assert ending.code == 0, ending.talk


def assert_same(run: Run, other: Run) -> None:
    """Compare what was seen, stream by stream, and how it ended."""
    assert run.by_stream() == other.by_stream()
    assert run.ends() == other.ends()
    assert (run.status, other.status) == (0, 0), run.talk


def check_heads(cassette: Path, transport: str) -> None:
    """The cookie that nginx gave came back, and what nginx compressed is stored inflated."""
    heads: list[dict[str, Any]] = []
    with Recording(cassette) as recording:
        heads = [entry.front for entry in recording if "http" in entry.front]
    answers = [head for head in heads if head.get("event") == "response"]
    assert all("set-cookie" in names(answer) for answer in answers)
    if transport == "http":
        requests = [head for head in heads if head.get("event") == "request"]
        assert ["cookie" in names(request) for request in requests] == [False] + [True] * (
            len(requests) - 1
        )
        assert [answer["inflated"] for answer in answers if "inflated" in answer] == ["gzip"]


def names(head: dict[str, Any]) -> set[str]:
    """Return the names of a head's headers."""
    return {name.lower() for name, _ in head["http"]["headers"]}
