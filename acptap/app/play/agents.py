"""Find the agent for a test: what plays its cassette, or records it."""

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
            fix='name its command or URL: upstream="my-agent" in the marker, the fixture '
            "acptap_upstream, or acptap_upstream in the ini file",
        )  # fmt: skip
    return RecordedAgent(cassette, wish.upstream, tapes())


def _player(cassette: Path, wish: Wish, folder: Path) -> PlayedAgent:
    try:
        return PlayedAgent(cassette, wish.options, folder)
    except CassetteMissing as error:
        raise CassetteMissing(
            error.what, where=error.where,
            fix=f"check the path, or record it: pytest {_OPTION}=once, with the agent's command "
            "as acptap_upstream",
        ) from error  # fmt: skip
