"""The first difference between two messages, small enough to be shown."""

from enum import Enum
from typing import NamedTuple

from acptap.wire import jsontext
from acptap.wire.spans import Path

_SHOWN = 60


class Absent(Enum):
    """The value of a member that is not there."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class Difference(NamedTuple):
    """Where a live message departs from the recorded one.

    Attributes:
        path: A JSON pointer into the message.
        recorded: The recorded value, or `ABSENT`.
        live: The live value, or `ABSENT`.
        decisive: It is another decision, and contradicts the recording at every level.
        why: What that means, if it takes words to see.
    """

    path: str
    recorded: object
    live: object
    decisive: bool = False
    why: str = ""

    def shortened(self) -> "Difference":
        """Return it with long values cut down to where they begin to differ."""
        recorded, live = _cut(self.recorded, self.live)
        return self._replace(recorded=recorded, live=live)

    def as_json(self) -> dict[str, object]:
        """Return it as it stands in reports; an absent value has no member."""
        values = {"recorded": self.recorded, "live": self.live}
        return {"path": self.path} | {
            name: value for name, value in values.items() if value is not ABSENT
        }

    def __str__(self) -> str:
        return f"{self.path}: recorded {spelled(self.recorded)}, live {spelled(self.live)}"


def pointer(path: Path) -> str:
    """Return a path as a JSON pointer (RFC 6901)."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def _cut(old: object, new: object) -> tuple[object, object]:
    if isinstance(old, str) and isinstance(new, str):
        start = max(0, _shared(old, new) - _SHOWN // 3)
        return _window(old, start), _window(new, start)
    return _small(old), _small(new)


def _small(value: object) -> object:
    if isinstance(value, str):
        return _window(value, 0)
    if isinstance(value, (dict, list)):
        text = spelled(value)
        return value if len(text) <= _SHOWN else _window(text, 0)
    return value


def _window(text: str, start: int) -> str:
    if len(text) <= _SHOWN:
        return text
    end = start + _SHOWN
    return "…" * (start > 0) + text[start:end] + "…" * (end < len(text))


def _shared(old: str, new: str) -> int:
    """Return how many characters two strings share at their start, by halving."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def spelled(value: object) -> str:
    """Return a value as JSON text for people, however it is nested."""
    if value is ABSENT:
        return "nothing"
    try:
        return jsontext.dump(value).decode("utf-8", "replace")
    except RecursionError:  # nested more deeply than Python writes
        return "…" * (_SHOWN + 1)
