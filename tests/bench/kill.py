"""`python -m tests.bench.kill [TIMES]`: kill -9 the proxy at random moments of a running stream.

Each time: every complete message that the client received is on the tape, the tape loads, and it
holds no complete message that the agent did not send.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from acptap.jsonrpc import Side
from acptap.storage import Recording

_LINE = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","n":%d}}'
_AGENT = f"""
import itertools, os
for n in itertools.count(1):
    os.write(1, {_LINE!r} % n + bytes([10]))
"""


def kill_once(tape: Path, delay: float) -> tuple[int, int]:
    """Kill a proxy after some seconds; return how many messages were received and recorded."""
    proxy = [sys.executable, "-m", "acptap", "proxy", "-q", "-w", str(tape), "--", sys.executable,
             "-c", _AGENT]  # fmt: skip
    with subprocess.Popen(proxy, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        received = os.read(child.stdout.fileno(), 65536)
        deadline = time.monotonic() + delay
        while time.monotonic() < deadline:
            received += os.read(child.stdout.fileno(), 65536)
        child.kill()
        received += child.stdout.read()
    lines = received.split(b"\n")[:-1]
    recorded = _recorded(tape)
    expected = [_LINE % number for number in range(1, len(recorded) + 1)]
    assert recorded == expected, "the tape holds what the agent did not send"
    assert lines == expected[: len(lines)], "the client received what is not on the tape"
    return len(lines), len(recorded)


def _recorded(tape: Path) -> list[bytes]:
    with Recording(tape) as recording:
        return [entry.reading() for entry in recording if entry.side is Side.AGENT]


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(times):
            received, recorded = kill_once(Path(folder, f"{number}.jsonl"), chance.random() / 5)
            sys.stdout.write(f"{number + 1}: received {received}, recorded {recorded}\n")


if __name__ == "__main__":
    main()
