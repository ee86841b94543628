"""The client on our own standard input and output, for who plays an agent."""

import queue
import signal
import threading
from enum import Enum
from types import FrameType

from acptap.transports import descriptors

_AHEAD = 64
"""Reads taken in before they are asked for; beyond that the client has to wait."""


class Silence(Enum):
    """What there is instead of data."""

    YET = "nothing came in time"
    EVER = "the client has closed its side, or wants us to end"


class StdioPeer:
    """Reads in the background, so that waiting can end by a clock; writes at once."""

    def __init__(self) -> None:
        self._arrived: queue.Queue[bytes | Silence] = queue.Queue(_AHEAD)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._on_signal)
        threading.Thread(target=self._read, name="standard input", daemon=True).start()

    def receive(self, seconds: float | None) -> bytes | Silence:
        """Return what came, waiting at most some seconds, or for ever."""
        try:
            return self._arrived.get(timeout=seconds)
        except queue.Empty:
            return Silence.YET

    def send(self, data: bytes) -> bool:
        """Write all of it; return False if the client is gone."""
        return descriptors.write_all(1, data)

    def _read(self) -> None:
        while data := descriptors.read(0):
            self._arrived.put(data)
        self._arrived.put(Silence.EVER)

    def _on_signal(self, *_: int | FrameType | None) -> None:
        raise ClientWantsEnd


class ClientWantsEnd(BaseException):
    """A signal asks us to end, wherever we are."""
