"""The agent of a test: a cassette that is played, or a real agent that is being recorded."""

import shlex
from abc import ABC, abstractmethod
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import acptap
from acptap.cassette import Entry
from acptap.replay.report import Report
from acptap.transports.memory import LIMIT, Wire
from acptap.wire import jsontext

if TYPE_CHECKING:
    from acptap.acp.view import Folded


class AgentFixture(ABC):
    """What a test has of its agent.

    Attributes:
        cassette: The file that is played, or will be written.
        recording: Whether a real agent is being recorded.
    """

    recording = False

    def __init__(self, cassette: Path) -> None:
        self.cassette = cassette
        self._wires: list[Wire] = []

    @property
    @abstractmethod
    def command(self) -> list[str]:
        """What to start as the agent: program and arguments. It may be started several times."""

    @property
    @abstractmethod
    def url(self) -> str:
        """Where to reach the agent over HTTP, such as `http://127.0.0.1:40123/`."""

    @property
    @abstractmethod
    def ws_url(self) -> str:
        """Where to reach it over WebSocket."""

    @property
    def env(self) -> dict[str, str]:
        """Variables for programs that learn from their environment what agent to start."""
        return {"ACPTAP_AGENT": shlex.join(self.command)}

    def streams(self, limit: int = LIMIT) -> tuple[StreamReader, StreamWriter]:
        """Return a reader and a writer that are connected to the agent, without a process.

        Args:
            limit: Bytes of the longest line that `readline` takes; by default 64 MiB.

        Raises:
            RuntimeError: No asyncio loop is running.
        """
        wire = Wire(limit)
        self._connect(wire)
        self._wires.append(wire)
        return wire.reader, wire.writer

    @property
    @abstractmethod
    def report(self) -> Report:
        """What did not match, differed or was never played, so far."""

    @property
    @abstractmethod
    def sent(self) -> list[dict[str, Any]]:
        """The messages that the client sent, connection by connection."""

    @property
    def transitions(self) -> dict[str, list[dict[str, Any]]]:
        """By session, the changes of its state, as the cassette has them for what was played."""
        changes: dict[str, list[dict[str, Any]]] = {}
        for entry in self._entries():
            for change in _members(entry, "state"):
                session = change.get("session", entry.front.get("session"))
                changes.setdefault(str(session), []).append(change)
        return changes

    @property
    def states(self) -> dict[str, list[str]]:
        """By session, the states it went to, as the cassette has them for what was played."""
        return {
            session: [str(change["to"]) for change in changes if not change.get("repeat")]
            for session, changes in self.transitions.items()
        }

    @property
    def updates(self) -> list[dict[str, Any]]:
        """The updates of the view, as the cassette has them for what was played."""
        return [update for entry in self._entries() for update in _members(entry, "updates")]

    @property
    def folded(self) -> "Folded":
        """What a correct client shows of what was played: see `acptap.fold`."""
        return acptap.fold(self._entries(heads=True))

    def close(self) -> None:
        """Take the streams away. A client that went on reading reads the end."""
        for wire in self._wires:
            wire.finish()

    @abstractmethod
    def verdict(self) -> list[str]:
        """Return what is wrong at the end of a test that passed, a line each."""

    @abstractmethod
    def summary(self) -> list[str]:
        """Return what is to be said beside another failure, a line each."""

    @abstractmethod
    def _connect(self, wire: Wire) -> None:
        """Put the agent on the other end of a wire."""

    @abstractmethod
    def _entries(self, *, heads: bool = False) -> Iterator[Entry]:
        """Yield the entries of what was said so far.

        Args:
            heads: With the heads of the HTTP exchanges that it was said in.
        """


def messages(units: Iterator[bytes]) -> list[dict[str, Any]]:
    """Return the messages in units; what is none is left out."""
    found: list[dict[str, Any]] = []
    for unit in units:
        try:
            value = jsontext.parse(unit)
        except ValueError:
            continue
        members = value if isinstance(value, list) else [value]
        found += [member for member in members if isinstance(member, dict)]
    return found


def _members(entry: Entry, name: str) -> list[dict[str, Any]]:
    """Return an annotation of which there may be none, one or several."""
    said = entry.front.get(name, [])
    members = said if isinstance(said, list) else [said]
    return [member for member in members if isinstance(member, dict)]
