"""The options of all commands that play a cassette."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from acptap.app.play.options import (
    ReplayOptions,
    read_level,
    read_patience,
    read_pointers,
    read_speed,
)
from acptap.replay.matching import Level

_OPTIONS = (
    click.option(
        "--match", "level", type=click.Choice([level.value for level in Level]),
        default=Level.METHOD.value, show_default=True,
        help="How closely requests must match: by method and order; by their parameters too; or "
        "in everything but ids.",
    ),
    click.option(
        "--ignore", multiple=True, metavar="POINTER",
        help="A JSON pointer into messages, such as /params/prompt, to leave out of the "
        "comparison. May be repeated.",
    ),
    click.option(
        "--speed", default="instant", show_default=True, metavar="instant|recorded|N",
        help="At once, at the recorded pace, or N times as fast.",
    ),
    click.option(
        "--patience", default="30", show_default=True, metavar="SECONDS",
        help="How long an open request may wait for what the client does not send, before it is "
        "answered with an error that names it. 0: for ever.",
    ),
    click.option(
        "--allow-unplayed", is_flag=True, help="Fine although not everything was played."
    ),
    click.option(
        "--report", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
        help="Write what did not match, differed or was never played here, as JSON.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Say nothing if all is fine."),
)  # fmt: skip


def playing_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of playing, in the order they are written here."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_chosen(chosen: dict[str, Any], run: Path | None = None) -> ReplayOptions:
    """Return what was chosen with those options.

    Raises:
        UsageError: A value is not of its kind.
    """
    read = {
        "level": read_level(chosen["level"], "--match"),
        "speed": read_speed(chosen["speed"], "--speed"),
        "ignore": read_pointers(chosen["ignore"], "--ignore"),
        "patience": read_patience(chosen["patience"], "--patience"),
    }
    return ReplayOptions(**(chosen | read), run=run)
