"""Replay, next to a bare Python."""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from acptap.app.play.options import ReplayOptions
from acptap.app.play.played import PlayedAgent
from tests.bench.row import Row, update
from tests.bench.stdio import ACPTAP, _resident

_RUNS = 11
_HEADER = (
    b'{"acptap":1,"annotations":1,"protocol":"acp","transport":"stdio",'
    b'"recorded_at":"2026-01-01T00:00:00.000000Z","upstream":["agent"],"generator":"bench"}\n'
)
_INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}'
_AGREED = b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'
_PROMPT = (
    b'{"jsonrpc":"2.0","id":1,"method":"session/prompt",'
    b'"params":{"sessionId":"sess-0123456789","prompt":[]}}'
)
_STOPPED = b'{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}'


def start() -> Iterator[Row]:
    """From spawn to `initialize` answered, 1,000 entries."""
    with tempfile.TemporaryDirectory() as folder:
        tape = _tape(Path(folder, "tape.jsonl"), 1000, 200)
        ratios = []
        for _ in range(_RUNS):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", "pass"], check=True)
            bare = time.perf_counter() - begin
            ratios.append(_first_answer(tape) / bare)
    yield Row("replay start: spawn to first answer, next to bare Python", statistics.median(ratios),
              8, "x", tuple(ratios))  # fmt: skip


def speed() -> Iterator[Row]:
    """Messages a second at instant speed."""
    with tempfile.TemporaryDirectory() as folder:
        tape = _tape(Path(folder, "tape.jsonl"), 300_000, 200)
        seconds, _ = _play(tape, 300_000 * 200)
    yield Row("replay: messages a second", 300_000 / seconds, 100_000, "/s", at_least=True)


def memory() -> Iterator[Row]:
    """Peak memory on a cassette of 2 GB."""
    with tempfile.TemporaryDirectory() as folder:
        tape = _tape(Path(folder, "tape.jsonl"), 20_000, 100_000)
        _, peak = _play(tape, 20_000 * 100_000)
    yield Row("replay: memory, cassette of 2 GB", peak, 200, "MB")


def streams() -> Iterator[Row]:
    """From `.streams()` to the reader and the writer, 1,000 entries, in a process that runs."""
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        tape = _tape(Path(folder, "tape.jsonl"), 1000, 200)
        for number in range(_RUNS):
            run = Path(folder, str(number))
            run.mkdir()
            taken.append(asyncio.run(_connect(PlayedAgent(tape, ReplayOptions(), run))))
    yield Row("replay: `.streams()` of the pytest plugin", statistics.median(taken), 1, "ms",
              tuple(taken))  # fmt: skip


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "replay-start": start,
    "replay-speed": speed,
    "replay-memory": memory,
    "replay-streams": streams,
}


def _tape(path: Path, count: int, size: int) -> Path:
    def entry(number: int, side: bytes, payload: bytes) -> bytes:
        return b'{"at":%d.%06d,"from":"%b","msg":%b}\n' % (*divmod(number, 10**6), side, payload)

    with path.open("wb") as file:
        file.write(_HEADER)
        file.write(entry(1, b"client", _INITIALIZE) + entry(2, b"agent", _AGREED))
        file.write(entry(3, b"client", _PROMPT))
        for number in range(4, count + 4):
            file.write(entry(number // 10 * 10, b"agent", update(number, size)[:-1]))
        file.write(entry(count + 20, b"agent", _STOPPED))
    return path


async def _connect(agent: PlayedAgent) -> float:
    begin = time.perf_counter()
    agent.streams()
    took = time.perf_counter() - begin
    agent.close()
    return took * 1000


def _first_answer(tape: Path) -> float:
    command = [*ACPTAP, "replay", "-q", "--allow-unplayed", str(tape)]
    begin = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as fake:
        assert fake.stdin is not None
        assert fake.stdout is not None
        fake.stdin.write(_INITIALIZE + b"\n")
        assert fake.stdout.readline() == _AGREED + b"\n"
        took = time.perf_counter() - begin
        fake.stdin.close()
    return took


def _play(tape: Path, size: int) -> tuple[float, float]:
    """Return seconds from prompt to end of turn, and the peak memory in MB."""
    command = [*ACPTAP, "replay", "-q", str(tape)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as fake:
        assert fake.stdin is not None
        assert fake.stdout is not None
        fake.stdin.write(_INITIALIZE + b"\n")
        assert fake.stdout.readline() == _AGREED + b"\n"
        begin, got, peak = time.perf_counter(), 0, 0
        fake.stdin.write(_PROMPT + b"\n")
        while got < size + len(_STOPPED) + 1:
            got += len(os.read(fake.stdout.fileno(), 1 << 20))
            peak = max(peak, _resident(fake.pid))
        took = time.perf_counter() - begin
        fake.stdin.close()
    assert fake.returncode == 0
    return took, peak / 1e6
