"""`acptap replay`."""

from pathlib import Path
from typing import Any

import click

from acptap.app.replaying import ReplayOptions, replay_stdio
from acptap.errors import UsageError
from acptap.replay.matching import Level

_NAMED_SPEEDS = {"instant": 0.0, "recorded": 1.0}


class _Speed(click.ParamType[float]):
    name = "speed"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        if value in _NAMED_SPEEDS:
            return _NAMED_SPEEDS[value]
        try:
            speed = float(value)
        except ValueError:
            speed = -1.0
        if not 0 < speed < float("inf"):
            raise UsageError(
                f"{value!r} is no speed", where="--speed",
                fix="write instant, recorded, or a factor such as 2 or 0.5",
            )  # fmt: skip
        return speed


@click.command(
    epilog="Exit code 0: the client asked everything that was recorded, and nothing else. 1: it "
    "did not. If the recorded agent left before its client, its exit code is played too.",
)
@click.argument("cassette", type=click.Path(path_type=Path))
@click.option(
    "--match", "level", type=click.Choice([level.value for level in Level]),
    default=Level.METHOD.value, show_default=True,
    help="How closely requests must match: by method and order; by their parameters too; or in "
    "everything but ids.",
)  # fmt: skip
@click.option(
    "--ignore", multiple=True, metavar="POINTER",
    help="A JSON pointer into messages, such as /params/prompt, to leave out of the comparison. "
    "May be repeated.",
)  # fmt: skip
@click.option(
    "--speed", type=_Speed(), default="instant", show_default=True, metavar="instant|recorded|N",
    help="At once, at the recorded pace, or N times as fast.",
)  # fmt: skip
@click.option(
    "--patience", type=click.FloatRange(min=0), default=30.0, show_default=True, metavar="SECONDS",
    help="How long an open request may wait for what the client does not send, before it is "
    "answered with an error that names it. 0: for ever.",
)  # fmt: skip
@click.option("--allow-unplayed", is_flag=True, help="Fine although not everything was played.")
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write what did not match, differed or was never played here, as JSON.",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Say nothing if all is fine.")
def replay(cassette: Path, level: str, **chosen: Any) -> int:
    """Play a cassette as a fake agent, on standard input and output.

    Give it to the client in place of the agent's command. Requests that the cassette does not hold
    are answered with an error at once, which names the nearest recorded one.
    """
    for pointer in chosen["ignore"]:
        if not pointer.startswith("/"):
            raise UsageError(
                f"{pointer!r} is no JSON pointer", where="--ignore",
                fix="begin it with a slash, such as /params/prompt",
            )  # fmt: skip
    return replay_stdio(cassette, ReplayOptions(level=Level(level), **chosen))
