"""`acptap replay`."""

from pathlib import Path
from typing import Any

import click

from acptap.app.play.replaying import replay_stdio
from acptap.cli.playing import playing_options, read_chosen


@click.command(
    epilog="Exit code 0: the client asked everything that was recorded, and nothing else. 1: it "
    "did not. If the recorded agent left before its client, its exit code is played too.",
)
@click.argument("cassette", type=click.Path(path_type=Path))
@playing_options
@click.option(
    "--run", type=click.Path(path_type=Path, file_okay=False), envvar="ACPTAP_RUN",
    metavar="FOLDER",
    help="The run to take part in, as `acptap exec` and the pytest plugin make them. Default: "
    "ACPTAP_RUN.",
)  # fmt: skip
def replay(cassette: Path, run: Path | None, **chosen: Any) -> int:
    """Play a cassette as a fake agent, on standard input and output.

    Give it to the client in place of the agent's command. Requests that the cassette does not hold
    are answered with an error at once, which names the nearest recorded one.
    """
    return replay_stdio(cassette, read_chosen(chosen, run=run))
