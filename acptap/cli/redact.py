"""`acptap redact`."""

from pathlib import Path
from typing import Any

import click

from acptap.app.record.redacting import RedactOptions, redact_command


@click.command(
    epilog="The exit code is 0, or 1 if --check finds something to do.",
)
@click.argument(
    "cassettes", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="CASSETTE..."
)
@click.option(
    "--redact", "patterns", multiple=True, metavar="REGEX",
    help="Take what matches out too. May be repeated.",
)  # fmt: skip
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), metavar="PATH",
    help="Write to a new file, or into a folder. Default: the cassette is replaced, in one step.",
)  # fmt: skip
@click.option("--check", is_flag=True, help="Change nothing; only say what would be replaced.")
def redact(cassettes: tuple[Path, ...], **chosen: Any) -> int:
    """Take secrets out of cassettes.

    Finishes a recording that was killed, and redacts one that was made with --no-redact. What is
    redacted already stays as it is.
    """
    return redact_command(cassettes, RedactOptions(**chosen), click.echo)
