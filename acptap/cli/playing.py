"""The options of all commands that play a cassette."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from acptap.app.play.options import (
    ReplayOptions,
    ServeOptions,
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
        "--verbatim", is_flag=True,
        help="AG-UI: leave recorded ids of threads, runs and messages in what is played, where "
        "those of the live client would stand.",
    ),
    click.option(
        "--shift-expiry", is_flag=True,
        help="AG-UI: have interrupts expire as long after now as they did after the recording.",
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

_SERVING = (
    click.option(
        "-p", "--listen", metavar="[HOST:]PORT",
        help="Play to clients that connect here over HTTP or WebSocket; port 0 is any free one. "
        "Default for what was recorded on the network: 127.0.0.1:8484.",
    ),
    click.option(
        "--stdio", is_flag=True,
        help="Play on standard input and output. Default for what was recorded there.",
    ),
    click.option(
        "--once", is_flag=True,
        help="With --listen: play each recorded connection once, then exit with the verdict.",
    ),
    click.option(
        "--allow-remote", is_flag=True, help="With --listen: beyond this machine, too."
    ),
    click.option(
        "--allow-host", "hosts", multiple=True, metavar="HOST",
        help="With --listen: a Host header to accept beside those of this machine.",
    ),
    click.option(
        "--allow-origin", "origins", multiple=True, metavar="ORIGIN",
        help="With --listen: web pages that may connect, such as https://app.example.",
    ),
)  # fmt: skip


def serving_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of serving, in the order they are written here."""
    return _given(_SERVING, command)


def read_serving(listen: str | None, chosen: dict[str, Any]) -> ServeOptions:
    """Return what was chosen with those options, and take it out of what was chosen."""
    names = ("once", "allow_remote", "hosts", "origins")
    return ServeOptions(listen, **{name: chosen.pop(name) for name in names})


def playing_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of playing, in the order they are written here."""
    return _given(_OPTIONS, command)


def _given(
    options: Sequence[Callable[..., Callable[..., int]]], command: Callable[..., int]
) -> Callable[..., int]:
    for option in reversed(options):
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
