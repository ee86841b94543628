"""`acptap exec`."""

from pathlib import Path
from typing import Any

import click

from acptap.app.play.background import BackgroundServer
from acptap.app.play.executing import execute
from acptap.cli.dashes import AfterDashes
from acptap.cli.playing import playing_options, read_chosen
from acptap.errors import UsageError


@click.command(
    cls=AfterDashes,
    options_metavar="CASSETTE [OPTIONS] -- COMMAND [ARGS]...",
    epilog="The exit code is the command's; 128+n if signal n ended it; 127 and 126 if it can't be "
    "started; 1 if it ended well and the cassette was not asked for all that it holds, or for "
    "more.",
)
@click.argument("cassette", type=click.Path(path_type=Path), metavar="")
@click.argument("strays", nargs=-1, metavar="")
@playing_options
@click.pass_context
def exec(  # noqa: A001 the command's name
    ctx: click.Context, /, cassette: Path, strays: tuple[str, ...], **chosen: Any
) -> int:
    """Run a command with a cassette as its agent, and judge.

    The command finds in ACPTAP_AGENT what to start as the agent, as often as it likes; in
    ACPTAP_URL and ACPTAP_WS_URL where to reach the agent over HTTP and over WebSocket; and in
    ACPTAP_RUN the folder in which these agents keep their journals. It may be a test suite in any
    language.
    """
    command: list[str] = ctx.meta["command"]
    if strays or not command:
        raise UsageError(
            "the command belongs behind `--`" if strays else "no command to run",
            fix="write: acptap exec CASSETTE -- COMMAND",
        )
    return execute(cassette, command, read_chosen(chosen), BackgroundServer)
