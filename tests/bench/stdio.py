"""The stdio proxy, next to `tee` and `cat`."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.row import Row, update, write_updates

ACPTAP = (sys.executable, "-m", "acptap")
_ECHO = "import os\nwhile d := os.read(0, 65536):\n    os.write(1, d)"
_RUNS = 5


def throughput() -> Iterator[Row]:
    """200,000 updates of 200 bytes: the proxy, recording and annotating, next to tee."""
    with tempfile.TemporaryDirectory() as folder:
        source = write_updates(Path(folder, "updates"), 200_000, 200)
        copy, tape = Path(folder, "copy"), Path(folder, "tape.jsonl")
        tee = f"cat {source} | tee {copy} | cat > /dev/null"
        proxy = f"{_proxy(tape)} -- cat {source} < /dev/null | cat > /dev/null"
        ratios = []
        for _ in range(_RUNS):
            plain, taped = _shell(tee), _shell(proxy)
            ratios.append(taped / plain)
            assert tape.read_bytes().count(b'"msg":') == 200_000
        yield Row("throughput: wall of 200,000 updates, next to tee", statistics.median(ratios), 16,
                  "x", tuple(ratios))  # fmt: skip


def latency() -> Iterator[Row]:
    """One message a millisecond through an echo, proxied and behind two cats."""
    relayed, taped = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(3):
            tape = Path(folder, f"{number}.jsonl")
            echo = [sys.executable, "-c", _ECHO]
            direct = _round_trips(echo)
            cats = _round_trips(["sh", "-c", f'cat | {sys.executable} -c "$0" | cat', _ECHO])
            proxied = _round_trips([*_proxy(tape).split(), "--", *echo])
            relayed.append(
                [through - straight for through, straight in zip(cats, direct, strict=True)]
            )
            taped.append(
                [through - straight for through, straight in zip(proxied, direct, strict=True)]
            )
    p50 = statistics.median(run[0] for run in taped)
    p99 = statistics.median(run[1] for run in taped)
    cats50 = statistics.median(run[0] for run in relayed)
    yield Row("latency: added, p50, next to two cats", p50 / cats50, 1.5, "x")
    yield Row("latency: added, p50", p50 * 1e6, 250, "µs", tuple(run[0] for run in taped))
    yield Row("latency: added, p99", p99 * 1e3, 2, "ms", tuple(run[1] for run in taped))


def big_message() -> Iterator[Row]:
    """One message of 32 MB, next to cat."""
    with tempfile.TemporaryDirectory() as folder:
        sizes = {
            size: write_updates(Path(folder, str(size)), 1, size) for size in (2 << 20, 32 << 20)
        }
        tape = Path(folder, "tape.jsonl")
        times = {}
        for size, source in sizes.items():
            command = f"{_proxy(tape)} -- cat {source} < /dev/null | cat > /dev/null"
            times[size] = statistics.median(_shell(command) for _ in range(_RUNS))
        plain = statistics.median(
            _shell(f"cat {sizes[32 << 20]} | cat | cat > /dev/null") for _ in range(_RUNS)
        )
        start = statistics.median(
            _shell(f"{_proxy(tape)} -- true < /dev/null") for _ in range(_RUNS)
        )
        yield Row("32 MB message: wall less start, next to cat", (times[32 << 20] - start) / plain,
                  15, "x")  # fmt: skip
        yield Row("32 MB message: last byte after", times[32 << 20] - start, 0.4, "s")
        yield Row("16-fold size: time", (times[32 << 20]) / times[2 << 20], 100, "x")


def memory() -> Iterator[Row]:
    """Peak memory while a million updates, and a line of 600 MB, pass."""
    with tempfile.TemporaryDirectory() as folder:
        source = write_updates(Path(folder, "updates"), 1_000_000, 200)
        yield Row("memory: 1,000,000 updates", _peak(f"cat {source}", Path(folder, "a.jsonl")), 120,
                  "MB")  # fmt: skip
        source.unlink()
        flood = (
            f"{sys.executable} -c \"import os\nfor _ in range(600): os.write(1, b'x' * (1 << 20))\""
        )
        peak = _peak(flood, Path(folder, "b.jsonl"))
        yield Row("memory: a line of 600 MB", peak, 120, "MB")


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "throughput": throughput,
    "latency": latency,
    "big-message": big_message,
    "memory": memory,
}


def _proxy(tape: Path) -> str:
    return f"{' '.join(ACPTAP)} proxy -q --overwrite -w {tape}"


def _shell(command: str) -> float:
    begin = time.perf_counter()
    subprocess.run(["sh", "-c", command], check=True)
    return time.perf_counter() - begin


def _peak(agent: str, tape: Path) -> float:
    """Return the peak resident memory of the proxy alone, in MB."""
    command = [*_proxy(tape).split(), "--", "sh", "-c", agent]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as proxy:
        assert proxy.stdout is not None
        peak = 0
        while os.read(proxy.stdout.fileno(), 1 << 20):
            peak = max(peak, _resident(proxy.pid))
    assert proxy.returncode == 0
    return peak / 1e6


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (FileNotFoundError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _round_trips(command: list[str], count: int = 2000) -> tuple[float, float]:
    """Return p50 and p99 of a message's way there and back, in seconds, one a millisecond."""
    message = update(0, 200)
    with _started(command) as (sink, source):
        for _ in range(50):
            _there_and_back(sink, source, message)
        times = []
        for _ in range(count):
            time.sleep(0.001)
            times.append(_there_and_back(sink, source, message))
    times.sort()
    return times[count // 2], times[count * 99 // 100]


@contextmanager
def _started(command: list[str]) -> Iterator[tuple[int, int]]:
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        yield child.stdin.fileno(), child.stdout.fileno()
        child.stdin.close()


def _there_and_back(sink: int, source: int, message: bytes) -> float:
    begin = time.perf_counter()
    os.write(sink, message)
    got = 0
    while got < len(message):
        got += len(os.read(source, 65536))
    return time.perf_counter() - begin
