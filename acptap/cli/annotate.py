"""`acptap annotate`."""

from pathlib import Path

import click

from acptap.app.check.annotating import annotate_command


@click.command(
    epilog="Exit code 0, or 1 if --check found something to change; 2 if a cassette can't be read "
    "or written.",
)
@click.argument(
    "cassettes", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="CASSETTE..."
)
@click.option("--check", is_flag=True, help="Write nothing; only say what would change.")
def annotate(cassettes: tuple[Path, ...], *, check: bool) -> int:
    """Write the annotations of cassettes anew, by the rules of today.

    Sessions, states, updates and notes are replaced; payloads and all other members stay as they
    are, to the byte. A cassette is replaced in one step, and only if something changes.
    """
    return annotate_command(cassettes, check=check)
