"""The `acptap` command: finds the subcommand, turns expected failures into one sentence."""

import importlib
import sys
from typing import Any, NoReturn

import click

from acptap import __version__
from acptap.errors import AcptapError
from acptap.transports import descriptors

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

FAILED = 74
"""Exit code when reading or writing failed (EX_IOERR)."""

COMMANDS = {
    # name: what it does, for `acptap --help`, without importing it
    "proxy": "Record an agent: stand between a client and it.",
    "replay": "Play a cassette as a fake agent.",
    "exec": "Run a command with a cassette as its agent, and judge.",
    "show": "Show a cassette as a timeline.",
    "check": "Hold cassettes against the rules of the protocol.",
    "annotate": "Write the annotations of cassettes anew.",
    "rules": "Print the rules.",
    "redact": "Take secrets out of cassettes.",
    "demo": "Record, replay and show a built-in agent.",
}


class _Commands(click.Group):
    """Imports a command when it is called: replay starts in milliseconds."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(f"acptap.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="acptap")
def acptap() -> None:
    """Record and replay what agents and their clients say, and know what it means."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 fine, 1 not fine, 2 usage; `proxy` with the agent's code."""
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    try:
        result: Any = acptap.main(arguments, prog_name="acptap", standalone_mode=False)
    except AcptapError as error:
        click.echo(f"acptap: {error}", err=True)
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.ClickException as error:
        click.echo(f"acptap: {_sentence(error)}", err=True)
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except OSError as error:  # standard output is full, say
        descriptors.release(1)  # Python would try once more at its end
        click.echo(f"acptap: {error}; check the disk and where the output goes", err=True)
        return FAILED
    return result if isinstance(result, int) else 0


def _sentence(error: click.ClickException) -> str:
    sentence = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    if context is not None:
        sentence += f"; see `{context.command_path} --help`"
    return sentence
