"""The layers of a text: as it is, and as it reads once its JSON escapes are taken off."""

from collections.abc import Iterable, Iterator

from acptap.redact.hits import Hit
from acptap.wire.escapes import Reading, unescape

_MOST = 8
"""Layers that are looked at: JSON in a string of JSON in a string, and so on, goes no deeper."""


class Layer:
    """A text below another one.

    Attributes:
        text: What it says.
    """

    __slots__ = ("_readings", "text")

    def __init__(self, text: str, readings: tuple[Reading, ...]) -> None:
        self.text = text
        self._readings = readings

    def raised(self, hits: Iterable[Hit]) -> Iterator[Hit]:
        """Yield hits in this layer as what they are in the first one."""
        if not self._readings:
            yield from hits
            return
        for hit in hits:
            start, end = hit.start, hit.end
            for reading in reversed(self._readings):
                start, end = reading.origin(start), reading.origin(end)
            yield hit._replace(start=start, end=end)


def layers(text: str) -> Iterator[Layer]:
    """Yield the layers of a text, the outermost first."""
    readings: tuple[Reading, ...] = ()
    yield Layer(text, readings)
    while "\\" in text and len(readings) < _MOST:
        reading = unescape(text)
        if reading.text == text:
            return
        readings = (*readings, reading)
        text = reading.text
        yield Layer(text, readings)
