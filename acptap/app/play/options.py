"""How a cassette is to be played, as the command line, the environment or a test says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from acptap.errors import UsageError
from acptap.replay.matching import Level, Matcher
from acptap.replay.report import Report

_NAMED_SPEEDS = {"instant": 0.0, "recorded": 1.0}
_LONGEST = 86_400.0  # a day: threads can't wait much longer
_SPEED_NAMES = {speed: name for name, speed in _NAMED_SPEEDS.items()}


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What the user asked for.

    Attributes:
        level: How closely messages must match.
        ignore: JSON pointers to leave out of the comparison.
        speed: 0 for instant, 1 for the recorded pace, 2 for twice as fast.
        patience: Seconds a live request may wait for what the client does not send; 0 for ever.
        allow_unplayed: Fine although not everything was played.
        report: Where to write the report as JSON, or None.
        run: The folder of the run that this connection belongs to, or None if it is alone.
        quiet: Say nothing if all is fine.
        verbatim: Replace nothing in AG-UI runs.
        shift_expiry: Have their interrupts expire as much later as they are played later.
    """

    level: Level = Level.METHOD
    ignore: Sequence[str] = ()
    speed: float = 0.0
    patience: float = 30.0
    allow_unplayed: bool = False
    report: Path | None = None
    run: Path | None = None
    quiet: bool = False
    verbatim: bool = False
    shift_expiry: bool = False

    @property
    def matcher(self) -> Matcher:
        """What compares messages."""
        return Matcher(self.level, tuple(self.ignore))

    def accept(self, report: Report) -> bool:
        """Return whether a report is as good as it was asked to be."""
        return report.matched if self.allow_unplayed else report.clean

    def arguments(self) -> list[str]:
        """Return what tells another process how to play, as arguments of `acptap replay`."""
        speed = _SPEED_NAMES.get(self.speed, str(self.speed))
        return [
            *("--match", self.level.value, "--speed", speed, "--patience", str(self.patience)),
            *(word for pointer in self.ignore for word in ("--ignore", pointer)),
            *(["--verbatim"] * self.verbatim),
            *(["--shift-expiry"] * self.shift_expiry),
        ]


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What the user asked for, who wants a cassette served on the network.

    Attributes:
        listen: Where: `[HOST:]PORT`. None for the usual place.
        once: Play each recorded connection once, and end.
        allow_remote: That may be where other machines can connect.
        hosts: Names of ours that clients may use, besides those of loopback.
        origins: Web sites whose pages may connect.
    """

    listen: str | None = None
    once: bool = False
    allow_remote: bool = False
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()


def read_options(said: Mapping[str, object], where: Mapping[str, str]) -> ReplayOptions:
    """Return the options that are said in words, as in `match="params", speed="recorded"`.

    Args:
        said: `match`, `ignore`, `speed`, `patience`, `allow_unplayed`, `verbatim` and
            `shift_expiry`, or some of them.
        where: What each is called where it was said.

    Raises:
        UsageError: A value is not of its kind.
    """
    readers = {
        "match": read_level, "ignore": read_pointers, "speed": read_speed,
        "patience": read_patience, "allow_unplayed": read_flag, "verbatim": read_flag,
        "shift_expiry": read_flag,
    }  # fmt: skip
    names = {"match": "level"}
    read = {
        names.get(name, name): readers[name](value, where[name])
        for name, value in said.items()
        if name in readers
    }
    return ReplayOptions(**read)  # type: ignore[arg-type]  # each reader returns its field's type


def read_level(value: object, where: str) -> Level:
    """Return how closely messages must match.

    Raises:
        UsageError: There is no such level.
    """
    levels = [level.value for level in Level]
    if value not in levels:
        raise UsageError(
            f"{value!r} is no level of matching", where=where, fix=f"write {_either(levels)}"
        )
    return Level(str(value))


def read_pointers(value: object, where: str) -> tuple[str, ...]:
    """Return JSON pointers, of one or of several.

    Raises:
        UsageError: One of them is none.
    """
    pointers = [value] if isinstance(value, str) or not isinstance(value, Sequence) else value
    for pointer in pointers:
        if not isinstance(pointer, str) or not pointer.startswith("/"):
            raise UsageError(
                f"{pointer!r} is no JSON pointer", where=where,
                fix="begin it with a slash, such as /params/prompt",
            )  # fmt: skip
    return tuple(str(pointer) for pointer in pointers)


def read_speed(value: object, where: str) -> float:
    """Return a speed: 0 for instant, else a factor.

    Raises:
        UsageError: It is no speed.
    """
    if isinstance(value, str) and value in _NAMED_SPEEDS:
        return _NAMED_SPEEDS[value]
    speed = _number(value)
    if speed is None or not 0 < speed < float("inf"):
        raise UsageError(
            f"{value!r} is no speed", where=where,
            fix="write instant, recorded, or a factor such as 2 or 0.5",
        )  # fmt: skip
    return speed


def read_patience(value: object, where: str) -> float:
    """Return seconds; 0 stands for ever.

    Raises:
        UsageError: It is no number of seconds.
    """
    seconds = _number(value)
    if seconds is None or not 0 <= seconds <= _LONGEST:
        raise UsageError(
            f"{value!r} is no number of seconds", where=where,
            fix="write 5 or 0.5, or 0 to wait for ever",
        )  # fmt: skip
    return seconds


def read_flag(value: object, where: str) -> bool:
    """Return a yes or a no.

    Raises:
        UsageError: It is neither.
    """
    if not isinstance(value, bool):
        raise UsageError(f"{value!r} is neither yes nor no", where=where, fix="write True or False")
    return value


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _either(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
