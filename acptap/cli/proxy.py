"""`acptap proxy`."""

import math
import shlex
from enum import Enum
from pathlib import Path
from typing import Any, assert_never

import click
from click.core import ParameterSource

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
    options_metavar="[OPTIONS] [-- COMMAND [ARGS]...]",
    epilog="The exit code is the agent's; 128+n if signal n ended it; 127 and 126 if it can't be "
    "started; 74 if all went well and the cassette is incomplete. On the network it is 0 once a "
    "signal asked acptap to end.",
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
@click.option(
    "--upstream", metavar="URL",
    help="The agent's URL (http, https, ws, wss), in place of a command.",
)  # fmt: skip
@click.option(
    "-p", "--listen", metavar="[HOST:]PORT",
    help="Where clients connect, over HTTP and WebSocket. Default with --upstream: "
    "127.0.0.1:8484; port 0 is any free one.",
)  # fmt: skip
@click.option(
    "--stdio", is_flag=True,
    help="With --upstream: be an agent on standard input and output, for clients that know no "
    "other.",
)  # fmt: skip
@click.option(
    "--protocol", type=click.Choice(["auto", "acp", "ag-ui"]), default="auto", show_default=True,
    help="With --upstream: what to take the traffic for.",
)  # fmt: skip
@click.option(
    "--header", "headers", multiple=True, metavar="'NAME: VALUE'",
    help="Add a header to each request to the upstream. May be repeated.",
)  # fmt: skip
@click.option("--keep-host", is_flag=True, help="Leave the Host header as the client sent it.")
@click.option(
    "--ca", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Certificates to trust, beside the system's; PEM.",
)  # fmt: skip
@click.option("--insecure", is_flag=True, help="Trust any certificate of the upstream.")
@click.option("--allow-remote", is_flag=True, help="Listen beyond this machine, too.")
@click.option(
    "--allow-host", "hosts", multiple=True, metavar="HOST",
    help="With --listen and a command: a Host header to accept beside those of this machine.",
)  # fmt: skip
@click.option(
    "--allow-origin", "origins", multiple=True, metavar="ORIGIN",
    help="With --listen and a command: web pages that may connect, such as https://app.example.",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what goes wrong.")
@click.pass_context
def proxy(ctx: click.Context, /, strays: tuple[str, ...], **chosen: Any) -> int:
    """Record an agent: stand between a client and it.

    Put `acptap proxy --` in front of the agent's command, where the client starts it; or name the
    agent's URL with --upstream and point the client to acptap's. Every byte passes unchanged; the
    cassette holds what was said and what it meant.
    """
    command: list[str] = ctx.meta["command"]
    way = _way(chosen["upstream"], chosen["listen"], [*strays], command, is_stdio=chosen["stdio"])
    _check(ctx, way)
    take = {
        "cassette": chosen["cassette"],
        "overwrite": chosen["overwrite"],
        "redact": not chosen["no_redact"],
        "patterns": chosen["patterns"],
        "quiet": chosen["quiet"],
    }
    if way is Way.RELAY:
        return _relay(chosen, take)
    options = ProxyOptions(**take, stderr=not chosen["no_stderr"], grace=chosen["grace"])
    match way:
        case Way.SERVE:
            return _serve(command, chosen, options)
        case Way.REACH:
            return _reach(chosen, options)
        case Way.SPAWN:
            return proxy_command(command, options)
        case _:
            assert_never(way)


class Way(Enum):
    """Where the client and the agent are."""

    SPAWN = "with a command"
    SERVE = "with --listen and a command"
    RELAY = "with --upstream"
    REACH = "with --upstream and --stdio"


_NETWORK = frozenset({Way.RELAY, Way.REACH})
_SERVERS = frozenset({Way.RELAY, Way.SERVE})
_WAYS = {
    # option: the ways it means something on; those that are not here mean something on all
    "listen": _SERVERS,
    "stdio": frozenset({Way.REACH}),
    "protocol": frozenset({Way.RELAY}),
    "headers": _NETWORK,
    "keep_host": frozenset({Way.RELAY}),
    "ca": _NETWORK,
    "insecure": _NETWORK,
    "allow_remote": _SERVERS,
    "hosts": frozenset({Way.SERVE}),
    "origins": frozenset({Way.SERVE}),
    "no_stderr": frozenset({Way.SPAWN, Way.SERVE}),
    "grace": frozenset({Way.SPAWN, Way.SERVE, Way.REACH}),
}


def _way(
    upstream: str | None, listen: str | None, strays: list[str], command: list[str], *,
    is_stdio: bool,
) -> Way:  # fmt: skip
    """Return what is asked for.

    Raises:
        UsageError: It makes no sense.
    """
    if upstream is not None:
        if strays or command:
            raise UsageError(
                "an upstream and a command are two agents", where=repr(upstream),
                fix="name one of them; a command alone records over stdio",
            )  # fmt: skip
        return Way.REACH if is_stdio else Way.RELAY
    if strays or not command:
        words = shlex.join([*strays, *command])
        is_url = bool(strays) and "://" in strays[0]
        raise UsageError(
            "the agent's command belongs behind `--`" if strays else "no agent to record",
            fix=f"write: acptap proxy --upstream {words}" if is_url
            else f"write: acptap proxy -- {words or 'COMMAND'}"
            + ("" if words else ", or: acptap proxy --upstream URL"),
        )  # fmt: skip
    return Way.SPAWN if listen is None else Way.SERVE


def _check(ctx: click.Context, way: Way) -> None:
    """Refuse options that would be silently left out of account.

    Raises:
        UsageError: There is one.
    """
    for option in ctx.command.params:
        ways = _WAYS.get(option.name or "")
        is_given = ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if ways is not None and way not in ways and is_given:
            raise UsageError(
                f"it means nothing {way.value}", where=option.opts[-1],
                fix=f"leave it out; it goes {' or '.join(sorted(way.value for way in ways))}",
            )  # fmt: skip


def _relay(chosen: dict[str, Any], take: dict[str, Any]) -> int:
    from acptap.app.record.relaying import RelayOptions, relay_command

    names = ("listen", "allow_remote", "protocol", "headers", "keep_host", "ca", "insecure")
    options = RelayOptions(**take, **{name: chosen[name] for name in names})
    return relay_command(chosen["upstream"], options)


def _serve(command: list[str], chosen: dict[str, Any], options: ProxyOptions) -> int:
    from acptap.app.record.bridging import bridge_listen

    return bridge_listen(
        command, options, listen=chosen["listen"], allow_remote=chosen["allow_remote"],
        allow_hosts=chosen["hosts"], allow_origins=chosen["origins"],
    )  # fmt: skip


def _reach(chosen: dict[str, Any], options: ProxyOptions) -> int:
    from acptap.app.record.bridging_out import bridge_stdio

    return bridge_stdio(
        chosen["upstream"], options, headers=chosen["headers"], ca=chosen["ca"],
        insecure=chosen["insecure"],
    )  # fmt: skip
