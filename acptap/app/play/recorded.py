"""A real agent as the agent of a test, while it is recorded."""

import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from acptap.app.play.fixture import AgentFixture, messages
from acptap.app.play.joining import join
from acptap.app.play.recording import RecordingServer, Upstream
from acptap.app.play.streaming import StreamedCommand
from acptap.cassette import Entry
from acptap.jsonrpc import Side
from acptap.replay.report import Report
from acptap.storage import Recording
from acptap.transports.memory import Wire

_GRACE = 10.0
_POLL = 0.01
_SERVED = "served.jsonl"


class RecordedAgent(AgentFixture):
    """Puts a recording proxy in front of an agent, and keeps the cassette.

    Args:
        cassette: Where to keep it.
        upstream: The agent's command, or its URL.
        folder: An empty folder to record in.
    """

    recording = True

    def __init__(self, cassette: Path, upstream: Sequence[str], folder: Path) -> None:
        super().__init__(cassette)
        self._upstream = Upstream(upstream)
        self._folder = folder
        self._server: RecordingServer | None = None

    @property
    def command(self) -> list[str]:
        """What to start as the agent: program and arguments. It may be started several times."""
        return self._upstream.command(self._folder / "1.jsonl")

    @property
    def url(self) -> str:
        """Where to reach the agent over HTTP.

        Raises:
            CommandError: It can't be recorded.
        """
        return self._serve().url

    @property
    def ws_url(self) -> str:
        """Where to reach it over WebSocket.

        Raises:
            CommandError: It can't be recorded.
        """
        return self._serve().ws_url

    def close(self) -> None:
        """End the recording."""
        super().close()
        if self._server is not None:
            self._server.close()

    def _serve(self) -> RecordingServer:
        if self._server is None:
            self._server = self._upstream.serve(self._folder / _SERVED)
        return self._server

    @property
    def report(self) -> Report:
        """An empty report: what is being recorded can't be played yet."""
        return Report(conn=0)

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The messages that the client sent, connection by connection."""
        entries = (entry for entry in self._entries() if entry.side is Side.CLIENT)
        return messages(entry.reading() for entry in entries if entry.event is None)

    def verdict(self) -> list[str]:
        """Keep what was recorded; return what is wrong, a line each."""
        tapes = self._finished(_GRACE)
        if not tapes:
            return [f"nothing was recorded: no client talked to {self._upstream.name}"]
        if len(tapes) > 1 and tapes[-1].name == _SERVED:
            return ["it was recorded as a command and on a URL; use one of them in a test"]
        try:
            self._keep(tapes)
        except OSError as error:
            return [f"it can't be written ({error.strerror}); it was recorded in {self._folder}"]
        return []

    def summary(self) -> list[str]:
        """Return what is to be said of the recording beside another failure."""
        return [f"recorded in {self._folder}; not kept as {self.cassette}, since the test failed"]

    def _keep(self, tapes: list[Path]) -> None:
        """Make the cassette of the tapes, and put it in its place in one step."""
        self.cassette.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.cassette.with_name(f".{self.cassette.name}.{os.getpid()}")
        join(tapes, fresh)
        fresh.replace(self.cassette)

    def _finished(self, seconds: float) -> list[Path]:
        """Return the tapes, once each is complete, or after some seconds."""
        deadline = time.monotonic() + seconds
        while True:
            tapes = self._tapes()
            if all(map(_is_complete, tapes)) or time.monotonic() >= deadline:
                return [tape for tape in tapes if _last(tape) is not None]
            time.sleep(_POLL)

    def _tapes(self) -> list[Path]:
        """Return the tapes in the order they were begun: 1, 1-2, 1-3 and so on, and the served."""
        begun = [tape for tape in self._folder.glob("1*.jsonl") if tape.stat().st_size]
        served = self._folder / _SERVED
        return [
            *sorted(begun, key=lambda tape: int(tape.stem.partition("-")[2] or 1)),
            *([served] if served.exists() and served.stat().st_size else []),
        ]

    def _connect(self, wire: Wire) -> None:
        wire.peer = StreamedCommand(self.command, wire)

    def _entries(self, *, heads: bool = False) -> Iterator[Entry]:
        for tape in self._tapes():
            with Recording(tape) as recording:
                yield from recording


def _is_complete(tape: Path) -> bool:
    last = _last(tape)
    return tape.name == _SERVED or (last is not None and last.event == "exit")


def _last(tape: Path) -> Entry | None:
    """Return the last entry of a tape; None if there is none yet."""
    with Recording(tape) as recording:
        return next(iter(deque(recording, maxlen=1)), None)
