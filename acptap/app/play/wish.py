"""What a test wants for an agent, read from its markers."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from acptap.app.play.options import ReplayOptions, read_options
from acptap.errors import UsageError

KEYWORDS = (
    "match", "ignore", "speed", "patience", "allow_unplayed", "verbatim", "shift_expiry",
    "upstream",
)  # fmt: skip

_ODD = re.compile(r"[^\w.\[\]-]+")
_MARKER = "@pytest.mark.acptap"
_CONFIG = "the fixture acptap_config"

Said = tuple[Sequence[object], Mapping[str, object]]
"""What a marker was given: arguments and keywords."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a test wants for an agent.

    Attributes:
        cassette: The path of the cassette; relative to the folder of cassettes, or absolute.
        options: How to play it.
        upstream: The command of the real agent, or nothing.
    """

    cassette: Path
    options: ReplayOptions
    upstream: list[str]

    @classmethod
    def read(
        cls,
        markers: Sequence[Said],
        config: Mapping[str, object],
        upstream: object,
        default: Path,
    ) -> "Wish":
        """Read what was said; a nearer marker goes before a farther one, then the config.

        Args:
            markers: What the test's markers were given, the nearest first.
            config: What the fixture `acptap_config` holds.
            upstream: What the fixture `acptap_upstream` holds.
            default: The path of the cassette if no marker names one.

        Raises:
            UsageError: Something was said that can't be.
        """
        cassettes = [_cassette(words) for words, _ in markers if words]
        said: dict[str, object] = {}
        where: dict[str, str] = {}
        layers = [(_CONFIG, config), *((_MARKER, keywords) for _, keywords in reversed(markers))]
        for name, keywords in layers:
            _check(name, keywords)
            said |= keywords
            where |= {keyword: f"{keyword} of {name}" for keyword in keywords}
        told = where.get("upstream", "the upstream")
        return cls(
            cassettes[0] if cassettes else default,
            read_options(said, where),
            _command(said.get("upstream", upstream), told),
        )


def default_path(module: str, test: str) -> Path:
    """Return the cassette of a test that names none.

    Args:
        module: The module's name.
        test: The test's name, its class in front and its parameters behind.
    """
    return Path(_ODD.sub("-", module), f"{_ODD.sub('-', test)}.jsonl")


def _cassette(words: Sequence[object]) -> Path:
    if len(words) > 1:
        raise UsageError(
            f"{len(words)} cassettes are named", where=_MARKER,
            fix="name one; it may hold several connections",
        )  # fmt: skip
    path = words[0]
    if not isinstance(path, (str, Path)) or not str(path):
        raise UsageError(
            f"{path!r} is no path of a cassette", where=_MARKER, fix='write "hello.jsonl"'
        )
    return Path(path)


def _check(name: str, keywords: Mapping[str, object]) -> None:
    for keyword in keywords:
        if keyword not in KEYWORDS:
            raise UsageError(
                f"there is no argument {keyword!r}", where=name,
                fix=f"the arguments are {', '.join(KEYWORDS)}",
            )  # fmt: skip


def _command(said: object, where: str) -> list[str]:
    if said is None:
        return []
    try:
        words = shlex.split(said) if isinstance(said, str) else said
    except ValueError as error:
        raise UsageError(
            f"{said!r} is no command ({error})", where=where, fix="close the quotes"
        ) from error
    if isinstance(words, (list, tuple)) and all(isinstance(word, str) for word in words):
        return list(words)
    raise UsageError(
        f"{said!r} is no command", where=where,
        fix='write "my-agent --acp" or ["my-agent", "--acp"]',
    )  # fmt: skip
