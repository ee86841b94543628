"""Does what its arguments say, one after the other; the table at the end says what that may be."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable

TETHER = int(os.environ["TETHER"])
NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")


def tell(word):
    os.write(TETHER, word.encode() + b"\n")


def say():
    os.write(1, b"hello\n")


def fill(size):
    os.write(1, b"x" * int(size) + b"\n")


def flood():
    with contextlib.suppress(BrokenPipeError):
        while True:
            os.write(1, b"y" * 4096)
            time.sleep(0.001)  # fast enough never to be idle, and small enough for a test's disk
    tell("nobody reads")


def hear():
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(0, 1)):
        line += byte
    tell(line.decode().rstrip("\n") if line else "end")


def tug():
    os.read(TETHER, 1)


def hang():
    while os.read(TETHER, 1):
        pass


def leave(code):
    if os.fork():
        os._exit(int(code))


def ignore(name):
    signal.signal(signal.Signals[name], signal.SIG_IGN)


def trap():
    for number in map(signal.Signals.__getitem__, NAMES):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: tell(signal.Signals(number).name))


DEEDS: dict[str, Callable[..., object]] = {
    # the first four on standard input and output, or the descriptor named
    "say": say,  # writes a line
    "fill": fill,  # fill-N writes N bytes and a newline
    "flood": flood,  # writes until nobody reads
    "hear": hear,  # reads a line, and tells it
    "close": lambda number: os.close(int(number)),
    # off the record
    "tell": tell,  # tell-X tells the test X
    "pid": lambda: tell(str(os.getpid())),
    "tug": tug,  # waits until the test tugs at the tether
    "hang": hang,  # waits for the tether's end
    # life
    "leave": leave,  # leave-N exits with N; a child goes on
    "setsid": os.setsid,  # leaves session and group
    "ignore": ignore,  # ignore-SIGX
    "trap": trap,  # tells of the signals it gets
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "exit": lambda code: os._exit(int(code)),
}

for argument in sys.argv[1:]:
    deed, *rest = argument.split("-", 1)
    DEEDS[deed](*rest)
