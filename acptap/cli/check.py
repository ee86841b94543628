"""`acptap check`."""

from pathlib import Path
from typing import Any

import click

from acptap.app.check.checking import CheckOptions, check_command


@click.command(
    epilog="Exit code 0: nothing is broken. 1: a violation, or with --strict a warning. 2: a "
    "cassette can't be read. `acptap rules` prints what is checked.",
)
@click.argument(
    "cassettes", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="CASSETTE..."
)
@click.option(
    "--format", type=click.Choice(["text", "json", "junit"]), default="text", show_default=True,
    help="A line for each finding, one JSON document, or JUnit XML.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Warnings count as violations do.")
def check(cassettes: tuple[Path, ...], **chosen: Any) -> int:
    """Hold cassettes against the rules of the protocol.

    The messages are read anew, so a cassette of an older acptap, or one edited by hand, is judged
    by the rules of today. If its own annotations say something else, that is a violation too.
    """
    return check_command(cassettes, CheckOptions(**chosen))
