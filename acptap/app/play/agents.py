"""Find the agent for a test: what plays its cassette, or records it."""

import re
from collections.abc import Callable
from pathlib import Path

from acptap.app.play.fixture import AgentFixture
from acptap.app.play.played import PlayedAgent
from acptap.app.play.recorded import RecordedAgent
from acptap.app.play.wish import Wish
from acptap.errors import CassetteMissing, UsageError

MODES = ("none", "once", "all")
"""Whether to record: never; if the cassette is missing; always."""

_OPTION = "--acptap-record"
_URL = re.compile(r"(?:https?|wss?)://", re.IGNORECASE)


def agent_for(
    wish: Wish, cassettes: Path, mode: str, folder: Path, tapes: Callable[[], Path]
) -> AgentFixture:
    """Return the agent for a test.

    Args:
        wish: What the test wants.
        cassettes: The folder of the cassettes.
        mode: One of `MODES`.
        folder: An empty folder for the journals of live connections.
        tapes: Makes an empty folder to record in.

    Raises:
        CassetteError: The cassette can't be played.
        UsageError: The mode is none, or there is nothing to record.
    """
    if mode not in MODES:
        raise UsageError(
            f"{mode!r} is no way to record", where="acptap_record in the ini file",
            fix=f"write {', '.join(MODES[:-1])} or {MODES[-1]}",
        )  # fmt: skip
    cassette = cassettes / wish.cassette
    if mode == "none" or (mode == "once" and cassette.exists()):
        return _player(cassette, wish, folder)
    if not wish.upstream:
        raise UsageError(
            "there is no agent to record", where=str(cassette),
            fix='name its command: upstream="my-agent" in the marker, the fixture acptap_upstream, '
            "or acptap_upstream in the ini file",
        )  # fmt: skip
    return _recorder(cassette, wish.upstream, tapes)


def _recorder(cassette: Path, upstream: list[str], tapes: Callable[[], Path]) -> AgentFixture:
    """Return what records an agent: a command, or what is behind a URL."""
    if _URL.match(upstream[0]):
        raise UsageError(
            "an agent behind a URL can't be recorded from here", where=upstream[0],
            fix=f"record it with `acptap proxy --upstream {upstream[0]} -w {cassette}`",
        )  # fmt: skip
    return RecordedAgent(cassette, upstream, tapes())


def _player(cassette: Path, wish: Wish, folder: Path) -> PlayedAgent:
    try:
        return PlayedAgent(cassette, wish.options, folder)
    except CassetteMissing as error:
        raise CassetteMissing(
            error.what, where=error.where,
            fix=f"check the path, or record it: pytest {_OPTION}=once, with the agent's command "
            "as acptap_upstream",
        ) from error  # fmt: skip
