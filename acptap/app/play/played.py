"""A cassette as the agent of a test."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acptap.app.play.background import BackgroundServer
from acptap.app.play.fixture import AgentFixture, messages
from acptap.app.play.options import ReplayOptions
from acptap.app.play.run import Run
from acptap.app.play.streaming import StreamedCassette
from acptap.cassette import Entry
from acptap.replay.report import Report
from acptap.storage import Recording
from acptap.transports.memory import Wire

_SETTLE = 2.0
_HEADS = ("request", "response")
_RECORD = "if the client is right, record it anew with --acptap-record=all"
_ASK = "give the client acptap_agent.command to start, or acptap_agent.streams() or .url to talk to"


class PlayedAgent(AgentFixture):
    """Plays a cassette.

    Args:
        cassette: The file.
        options: How to play it.
        folder: An empty folder for the journals of live connections.

    Raises:
        CassetteError: The cassette can't be played.
    """

    def __init__(self, cassette: Path, options: ReplayOptions, folder: Path) -> None:
        super().__init__(cassette)
        self._run = Run.begin(folder, cassette, options)
        self._server: BackgroundServer | None = None

    @property
    def command(self) -> list[str]:
        """What to start as the agent: program and arguments. It may be started several times."""
        return self._run.command

    @property
    def url(self) -> str:
        """Where to reach the agent over HTTP, such as `http://127.0.0.1:40123/`."""
        return self._served().url

    @property
    def ws_url(self) -> str:
        """Where to reach it over WebSocket."""
        return self._served().ws_url

    @property
    def env(self) -> dict[str, str]:
        """Variables for programs that learn from their environment where their agent is."""
        return self._run.environment | self._served().environment

    @property
    def report(self) -> Report:
        """What did not match, differed or was never played, so far."""
        return self._run.report()

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The messages that the client sent, connection by connection."""
        hearings = [*self._run.hearings(), *self._run.askings()]
        return messages(unit for hearing in hearings for unit in hearing.heard())

    def close(self) -> None:
        """Take the streams and the URL away."""
        super().close()
        if self._server is not None:
            self._server.close()

    def verdict(self) -> list[str]:
        """Return what is wrong at the end of the test, a line each; nothing if all is well."""
        report = self._run.settle(_SETTLE)
        if self._run.is_fine(report):
            return []
        return [*self._run.lines(report), _RECORD if self._run.is_asked else _ASK]

    def summary(self) -> list[str]:
        """Return what is to be said of the cassette beside another failure."""
        return self._run.lines(self._run.report())

    def _served(self) -> BackgroundServer:
        """Serve the cassette from now on, until the test ends."""
        if self._server is None:
            run = self._run
            self._server = BackgroundServer(run.programme, run.options, run.folder)
        return self._server

    def _connect(self, wire: Wire) -> None:
        wire.peer = StreamedCassette(self._run, wire)

    def _entries(self, *, heads: bool = False) -> Iterator[Entry]:
        played = self._run.played(self._run.report())
        with Recording(self.cassette) as recording:
            if heads:
                exchanges = {_exchange(entry) for entry in recording if entry.number in played}
                yield from (
                    entry
                    for entry in recording
                    if entry.number in played
                    or (entry.event in _HEADS and _exchange(entry) in exchanges)
                )
            else:
                yield from (entry for entry in recording if entry.number in played)


def _exchange(entry: Entry) -> object:
    return entry.front.get("exchange")
