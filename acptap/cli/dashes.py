"""A command that runs another one."""

import shlex
from typing import Any

import click

from acptap.errors import UsageError


class AfterDashes(click.Command):
    """Takes another command from behind `--`, word for word, into `ctx.meta["command"]`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Part the words at `--`; the first of them are our own."""
        place = args.index("--") if "--" in args else len(args)
        ctx.meta["command"] = args[place + 1 :]
        ctx.meta["dashes"] = place < len(args)
        ctx.meta["own"] = args[:place]
        return super().parse_args(ctx, args[:place])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Advice on how to write it keeps the options that were given.

        Raises:
            UsageError: As the command does.
        """
        try:
            return super().invoke(ctx)
        except UsageError as error:
            own: list[str] = ctx.meta["own"]
            given = own[: len(own) - len(ctx.params["strays"])]
            ours = shlex.join([*ctx.command_path.split(), *given])
            error.fix = error.fix.replace(f"{ctx.command_path} -", f"{ours} -")
            raise
