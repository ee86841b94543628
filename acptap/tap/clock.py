"""Times of entries: each read has its own, so that replay can tell reads apart."""

from acptap.cassette import encode_at


class Clock:
    """Moves times on where needed; the taps of one recording share it."""

    def __init__(self) -> None:
        self._last = -1

    def encode(self, at: int) -> bytes:
        """Return a time in microseconds as it stands in an entry, later than any before."""
        self._last = max(at, self._last + 1)
        return encode_at(self._last)
