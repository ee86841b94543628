"""A command that runs another one."""

import click


class AfterDashes(click.Command):
    """Takes another command from behind `--`, word for word, into `ctx.meta["command"]`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Part the words at `--`; the first of them are our own."""
        place = args.index("--") if "--" in args else len(args)
        ctx.meta["command"] = args[place + 1 :]
        ctx.meta["dashes"] = place < len(args)
        return super().parse_args(ctx, args[:place])
