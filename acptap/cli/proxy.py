"""`acptap proxy`."""

import math
import shlex
from typing import Any

import click

from acptap.app.record.proxying import ProxyOptions, proxy_command
from acptap.cli.dashes import AfterDashes
from acptap.errors import UsageError

_DAY = 86_400


def _seconds(_ctx: click.Context, _option: click.Parameter, value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= _DAY:
        raise click.BadParameter(f"{value!r} is no number of seconds from 0 to {_DAY}.")
    return seconds


@click.command(
    cls=AfterDashes,
    # what follows the first stray word is the agent's, its options included
    context_settings={"allow_interspersed_args": False},
    options_metavar="[OPTIONS] -- COMMAND [ARGS]...",
    epilog="The exit code is the agent's; 128+n if signal n ended it; 127 and 126 if it can't be "
    "started; 74 if the agent ended well and the cassette is incomplete.",
)
@click.argument("strays", nargs=-1, metavar="")
@click.option(
    "-w", "--cassette", metavar="PATH",
    help="Where to record: a file, or a folder if it is one or ends with a slash. Default: "
    "./cassettes if it is there, else the user's state folder; ACPTAP_CASSETTES names another.",
)  # fmt: skip
@click.option(
    "--overwrite", is_flag=True,
    help="Replace the cassette if there is one. Without it NAME-2.jsonl is written.",
)  # fmt: skip
@click.option("--no-redact", is_flag=True, help="Keep secrets on the tape.")
@click.option(
    "--redact", "patterns", multiple=True, metavar="REGEX",
    help="Take what matches out of the tape too. May be repeated.",
)  # fmt: skip
@click.option("--no-stderr", is_flag=True, help="Do not record the agent's standard error.")
@click.option(
    "--grace", callback=_seconds, default="5", show_default=True, metavar="SECONDS",
    help="How long the agent may take to leave once the client is gone.",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what goes wrong.")
@click.pass_context
def proxy(ctx: click.Context, /, strays: tuple[str, ...], **chosen: Any) -> int:
    """Record an agent: stand between a client and it.

    Put `acptap proxy --` in front of the agent's command, where the client starts it. Every byte
    passes unchanged; the cassette holds what was said and what it meant.
    """
    command: list[str] = ctx.meta["command"]
    if strays or not command:
        raise UsageError(
            "the agent's command belongs behind `--`" if strays else "no agent to start",
            fix=f"write: acptap proxy -- {shlex.join([*strays, *command]) or 'COMMAND'}",
        )
    return proxy_command(
        command,
        ProxyOptions(
            cassette=chosen["cassette"],
            overwrite=chosen["overwrite"],
            redact=not chosen["no_redact"],
            patterns=chosen["patterns"],
            stderr=not chosen["no_stderr"],
            grace=chosen["grace"],
            quiet=chosen["quiet"],
        ),
    )
