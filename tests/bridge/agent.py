"""An agent that does what its client asks for, and tells the test along a tether of its life."""

import json
import os
import signal
import sys
from collections.abc import Callable

TETHER = int(os.environ["TETHER"])
INITIALIZED = b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n'


def tell(word):
    os.write(TETHER, word.encode() + b"\n")


def write(text):
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def fill(size, times):
    for _ in range(times):
        write(
            '{"jsonrpc":"2.0","method":"m","params":{"sessionId":"s1","x":"' + "x" * size + '"}}\n'
        )
    tell("filled")


def hang():
    tell("hangs")
    while os.read(TETHER, 1):
        pass


def desert(code):
    """Leave somebody behind who holds our output."""
    if os.fork():
        os._exit(code)
    os.setsid()
    tell("deserted")
    hang()
    os._exit(0)


DEEDS: dict[str, Callable[..., object]] = {
    "_write": write,
    "_complain": lambda text: os.write(2, text.encode()),
    "_fill": fill,
    "_hang": hang,
    "_close": lambda: os.close(1),
    "_desert": desert,
    "_exit": os._exit,
    "_kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "_ignore": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    "_tell": tell,
}

tell(f"{os.getpid()}")
for line in sys.stdin.buffer:
    message = json.loads(line)
    if message["method"] == "initialize":
        deeds = message["params"].get("deeds", [])
    else:
        deeds = [[message["method"], *message["params"].values()]]
    for deed, *arguments in deeds:
        DEEDS[deed](*arguments)
    if message["method"] == "initialize":
        sys.stdout.buffer.write(INITIALIZED)
        sys.stdout.buffer.flush()
tell("end")
