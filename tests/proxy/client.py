"""A client of `acptap proxy`: starts it as an editor starts an agent, and reads the tape."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from acptap.cassette import Entry, Header
from acptap.storage import Recording

ROOT = Path(__file__).resolve().parents[2]
AGENTS = Path(__file__).resolve().parent / "agents"

LIMIT = 60.0
"""Seconds after which something is taken for hanging; nothing here needs a tenth of it."""

PROXY = (sys.executable, "-m", "acptap", "proxy")


def python(code: str) -> list[str]:
    """Return the command of a small agent; bare Python starts in 10 ms."""
    return [sys.executable, "-I", "-S", "-c", code]


def agent(name: str, *arguments: str) -> list[str]:
    """Return the command of one of the fake agents in `agents/`."""
    return [sys.executable, "-I", "-S", str(AGENTS / f"{name}.py"), *arguments]


def puppet(deeds: str) -> list[str]:
    """Return the command of an agent that does what is said, see `agents/puppet.py`."""
    return agent("puppet", *deeds.split())


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which `python -m acptap` finds this checkout."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | more


def await_end(pid: int) -> None:
    """Wait until a process that is not our child has ended and its parent knows."""
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.kill(pid, 0)
            time.sleep(0.005)


class Tape:
    """What a proxy recorded."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes = path.read_bytes()
        with Recording(path) as recording:
            self.header: Header = recording.header
            self.entries: list[Entry] = list(recording)
            self.torn = recording.torn

    def stream(self, side: str) -> bytes:
        """Return the bytes that a side sent."""
        return b"".join(
            entry.unit() for entry in self.entries if entry.side == side and entry.event is None
        )

    def units(self, side: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.side == side and entry.event is None]

    @property
    def stderr(self) -> bytes:
        return b"".join(entry.unit() for entry in self.entries if entry.event == "stderr")

    @property
    def events(self) -> list[dict[str, Any]]:
        """The transport's facts but for standard error, without their times."""
        return [
            {key: value for key, value in entry.front.items() if key != "at"}
            for entry in self.entries
            if entry.event not in (None, "stderr")
        ]

    @property
    def exit(self) -> dict[str, Any]:
        """The last entry, which has to tell of the agent's end: its code or signal."""
        last = self.entries[-1]
        assert [entry for entry in self.entries if entry.event == "exit"] == [last]
        return {key: last.front[key] for key in ("code", "signal") if key in last.front}


class Outcome(NamedTuple):
    """What a client sees of a proxy that has ended."""

    code: int
    out: bytes
    err: bytes


class Client:
    """A running proxy, and a tether that every process below it inherits.

    The tether's other end is ours. An agent reports to us along it, off the record
    (`told`); one that is to hang reads from it, and so ends with us at the latest; and when
    the last process that holds it has ended, we see its end (`gone`).
    """

    tether: int
    """Its descriptor's number below the proxy."""

    def __init__(
        self,
        folder: Path,
        agent: Sequence[str],
        *options: str,
        proxy: Sequence[str] = PROXY,
        environ: dict[str, str] | None = None,
        **popen: Any,
    ) -> None:
        popen = {"cwd": folder} | popen
        self.path = Path(popen["cwd"], "tape.jsonl")
        ours, theirs = socket.socketpair()
        self._reports = ours.makefile("rb")
        self._ours = ours
        self.tether = theirs.fileno()
        ours.settimeout(LIMIT)
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            [*proxy, "-w", str(self.path), *options, "--", *agent],
            env=(environ or environment()) | {"TETHER": str(self.tether)},
            pass_fds=(self.tether,),
            **pipes | popen,
        )
        theirs.close()

    @property
    def stdin(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def send(self, data: bytes) -> None:
        self.stdin.write(data)
        self.stdin.flush()

    def send_until_broken(self) -> None:
        """Send lines until we are told that the agent does not read them any more."""
        with contextlib.suppress(BrokenPipeError):
            while True:
                self.send(b"x\n")

    def told(self) -> bytes:
        """Return the next line that a process below the proxy sent us along the tether."""
        return self._reports.readline().rstrip(b"\n")

    def tug(self) -> None:
        """Let one agent that waits for it go on."""
        self._ours.sendall(b"!")

    def gone(self) -> bytes:
        """Wait until no process below the proxy lives, nor the proxy; return what they told us."""
        return self._reports.read()

    def kill(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        return self.process.wait(LIMIT)

    def finish(self, data: bytes = b"") -> Outcome:
        """Send something, close the agent's input and read all it has to say."""
        out, err = self.process.communicate(data, timeout=LIMIT)
        return Outcome(self.process.returncode, out or b"", err or b"")

    def peak_memory(self) -> int:
        """Return the most memory the proxy ever had, in bytes; 0 where the system does not say."""
        status = Path(f"/proc/{self.process.pid}/status")
        lines = status.read_text().splitlines() if status.exists() else []
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

    def tape(self) -> Tape:
        return Tape(self.path)

    def close(self) -> None:
        """End whatever the test left behind. An agent that hangs reads the tether's end."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):  # what was never sent
                    stream.close()
        self._reports.close()
        self._ours.close()
