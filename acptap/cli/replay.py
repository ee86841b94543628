"""`acptap replay`."""

from pathlib import Path
from typing import Any

import click

from acptap.app.play.programme import is_of_the_network
from acptap.app.play.replaying import replay_stdio
from acptap.cli.playing import playing_options, read_chosen, read_serving, serving_options
from acptap.errors import UsageError


@click.command(
    epilog="Exit code 0: the client asked everything that was recorded, and nothing else. 1: it "
    "did not. If the recorded agent left before its client, its exit code is played too, on "
    "standard input and output.",
)
@click.argument("cassette", type=click.Path(path_type=Path))
@serving_options
@playing_options
@click.option(
    "--run", type=click.Path(path_type=Path, file_okay=False), envvar="ACPTAP_RUN",
    metavar="FOLDER",
    help="The run to take part in, as `acptap exec` and the pytest plugin make them. Default: "
    "ACPTAP_RUN.",
)  # fmt: skip
def replay(cassette: Path, run: Path | None, **chosen: Any) -> int:
    """Play a cassette as a fake agent.

    On standard input and output, give it to the client in place of the agent's command. With
    --listen, point the client to its URL, over HTTP or WebSocket, however the cassette was
    recorded. Requests that the cassette does not hold are answered with an error at once, which
    names the nearest recorded one.
    """
    listen, stdio = chosen.pop("listen"), chosen.pop("stdio")
    serve = read_serving(listen, chosen)
    options = read_chosen(chosen, run=run)
    if listen is not None and stdio:
        raise UsageError("--listen and --stdio exclude each other", fix="leave one of them out")
    if stdio or (listen is None and not is_of_the_network(cassette)):
        return replay_stdio(cassette, options)
    from acptap.app.play.serving import replay_network  # stdio starts without it

    return replay_network(cassette, options, serve)
