"""What each live connection of a run told its player, in a file, so that anybody can judge it.

A player is a function of what it is told. So a journal keeps just that, and whoever reads it plays
the cassette again to see what became of it; an agent that was killed is judged like any other.

A run's folder has a folder for each cassette, and there a file for each live connection, named by
its number: whoever succeeds in creating `3.jsonl` is the third. A file is locked while its
connection is alive. Who plays AG-UI, which has no connections, keeps one file, `1.agui`; and who
plays other HTTP exchanges `1.http`.
"""

import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from acptap.errors import UsageError
from acptap.replay.framing import Framing
from acptap.replay.player import Player
from acptap.replay.report import Miss
from acptap.replay.script import Lane
from acptap.wire import jsontext

if TYPE_CHECKING:
    from acptap.replay.agui.player import RunPlayer
    from acptap.replay.plain import PlainExchanges

MODE = 0o600
"""What clients say is private, like cassettes."""

CONNECTION, AGUI, PLAIN = "jsonl", "agui", "http"
"""How the names of journals end: of a connection's, of AG-UI's and of those of plain HTTP."""


def open_folder(run: Path, cassette: Path) -> Path:
    """Make the folder in which the connections to a cassette leave their journals; return it."""
    folder = _place(run, cassette)
    folder.mkdir()
    return folder


def _place(run: Path, cassette: Path) -> Path:
    status = cassette.stat()
    return run / f"{status.st_dev:x}-{status.st_ino:x}"


class Journal:
    """The journal of one live connection, being written.

    Attributes:
        number: The connection's number in its run, from 1.
        is_kept: Whether it is part of a run, and will be judged together with others.
    """

    def __init__(self, number: int = 1, fd: int | None = None) -> None:
        """Keep a journal; without a descriptor, keep nothing."""
        self.number = number
        self.is_kept = fd is not None
        self._fd = fd

    @classmethod
    def begin(cls, run: Path | None, cassette: Path, kind: str = CONNECTION) -> Self:
        """Take the next number in a run.

        Without a run, or in one of another cassette, be number 1 and write nothing.

        Args:
            run: The run's folder, or None.
            cassette: The cassette.
            kind: `CONNECTION`, `AGUI` or `PLAIN`.

        Raises:
            UsageError: The run's folder is not there, or can't be written to.
        """
        if run is None:
            return cls()
        folder = _place(run, cassette)
        if run.is_dir() and not folder.is_dir():
            return cls()
        try:
            number, fd = _first_free(folder, kind)
        except OSError as error:
            raise UsageError(
                f"the run's folder can't be written to ({error.strerror})", where=str(run),
                fix="start this agent while its test or `acptap exec` is running",
            ) from error  # fmt: skip
        fcntl.flock(fd, fcntl.LOCK_EX)
        return cls(number, fd)

    def over(self, framing: Framing) -> None:
        """Note how the client is connected, if not by standard input and output."""
        self._write({"over": framing.value})

    def heard(self, unit: bytes) -> None:
        """Note what the client said."""
        try:
            self._write({"heard": unit.decode()})
        except UnicodeDecodeError:
            self._write({"heard_hex": unit.hex()})

    def asked(self, target: str, body: bytes, now: datetime) -> None:
        """Note which run a client asked for, and when."""
        self._write({"asked": body.decode(), "target": target, "now": now.isoformat()})

    def stayed(self, number: int) -> None:
        """Note that the client stayed to the end of a run that the recorded one had left."""
        self._write({"stayed": number})

    def requested(self, purpose: str, method: str, target: str, begun: int) -> None:
        """Note what `PlainExchanges.take` is asked for."""
        said = {"requested": purpose, "method": method, "target": target, "begun": begun}
        self._write(said)

    def turned_away(self) -> None:
        """Note that there was no connection for a client that began one."""
        self._write({"turned_away": True})

    def gave_up(self, lane: Lane) -> None:
        """Note that a lane's patience was lost."""
        self._write({"gave_up": lane.number})

    def ended(self) -> None:
        """Note that the client closed its side."""
        self._write({"ended": True})

    def undelivered(self) -> None:
        """Note that the client stopped reading before all was said."""
        self._write({"undelivered": True})

    def close(self) -> None:
        """End the journal: the connection is no more."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _write(self, event: dict[str, object]) -> None:
        if self._fd is None:
            return
        rest = memoryview(jsontext.dump(event) + b"\n")
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError:  # a full disk must not change what the client hears
            self.close()


def _first_free(folder: Path, kind: str) -> tuple[int, int]:
    number = 1
    while True:
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
            return number, os.open(folder / f"{number}.{kind}", flags, MODE)
        except FileExistsError:
            number += 1


@dataclass(frozen=True, slots=True)
class Hearing:
    """The journal of one live connection, read.

    Attributes:
        number: The connection's number, from 1.
        path: The file.
        is_live: Whether the connection still was there.
    """

    number: int
    path: Path
    is_live: bool

    @property
    def framing(self) -> Framing:
        """How the client was connected."""
        match next(self._events(), None):
            case {"over": str(framing)}:
                return Framing(framing)
            case _:
                return Framing.LINE

    def heard(self) -> Iterator[bytes]:
        """Yield what the client said, unit by unit."""
        for event in self._events():
            match event:
                case {"heard": str(text)}:
                    yield text.encode()
                case {"heard_hex": str(digits)}:
                    yield bytes.fromhex(digits)
                case {"asked": str(text)}:
                    yield text.encode()
                case _:
                    pass

    def tell(self, player: Player) -> list[Miss]:
        """Tell a fresh player all that the live one was told.

        Returns:
            What went wrong that no player knows of.
        """
        misses: list[Miss] = []
        player.start()
        for event in self._events():
            match event:
                case {"heard": str(text)}:
                    player.receive(text.encode())
                case {"heard_hex": str(digits)}:
                    player.receive(bytes.fromhex(digits))
                case {"gave_up": int(number)}:
                    player.give_up(player.script.lanes[number])
                case {"ended": True}:
                    player.client_ended()
                case {"over": _}:
                    pass
                case _:
                    misses.append(Miss("the client stopped reading before all was said"))
        return misses

    def tell_runs(self, player: "RunPlayer") -> None:
        """Tell a fresh player of AG-UI all that the live one was told."""
        from acptap.agui.inputs import RunInput  # noqa: PLC0415 who plays on stdio need not wait

        for event in self._events():
            assert isinstance(event, dict)
            if "asked" in event:
                whole = RunInput.read(jsontext.parse(event["asked"].encode()))
                assert whole is not None
                player.ask(event["target"], whole, datetime.fromisoformat(event["now"]))
            else:
                player.stayed(event["stayed"])

    def tell_plain(self, player: "PlainExchanges") -> None:
        """Tell a fresh player of plain exchanges all that the live one was told."""
        from acptap.replay.plain import Purpose  # noqa: PLC0415 likewise

        for event in self._events():
            assert isinstance(event, dict)
            if "requested" in event:
                purpose = Purpose(event["requested"])
                player.take(purpose, event["method"], event["target"], event["begun"])
            else:
                player.turned_away()

    def _events(self) -> Iterator[object]:
        with self.path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):  # the last one may be on its way
                    yield jsontext.parse(line)


def hearings(folder: Path, kind: str = CONNECTION) -> list[Hearing]:
    """Return the journals of a kind in a folder, in the order of their numbers."""
    numbers = sorted(int(path.stem) for path in folder.glob(f"*.{kind}"))
    paths = [(number, folder / f"{number}.{kind}") for number in numbers]
    return [Hearing(number, path, _is_locked(path)) for number, path in paths]


def _is_locked(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
