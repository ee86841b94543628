"""`acptap demo`."""

from pathlib import Path

import click

from acptap.app.demonstrating import demonstrate


@click.command()
@click.option(
    "--keep", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Leave the cassette here.",
)  # fmt: skip
def demo(keep: Path | None) -> int:
    """Record, replay and show a built-in agent; nothing else is needed.

    A small client talks to a small agent through `acptap proxy`, then to `acptap replay` of what
    was recorded. Exit 0 if it heard the same both times.
    """
    return demonstrate(keep, click.echo)
