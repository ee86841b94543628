"""`acptap proxy`: record an agent's command over stdio."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from acptap.app.record.recorder import Recorder
from acptap.app.record.take import INCOMPLETE, Take, TakeOptions
from acptap.errors import AcptapError
from acptap.tap import Tap
from acptap.transports import descriptors
from acptap.transports.command import SIGNALLED, find_program
from acptap.transports.process import Agent, given_environment
from acptap.transports.signals import Signals
from acptap.transports.stderr import Stderr
from acptap.transports.stdio import AgentSide, StdioProxy

FAREWELL = 2.0
"""Seconds for what is left to say when everything else is over."""


@dataclass(frozen=True, slots=True)
class ProxyOptions(TakeOptions):
    """What the user asked for.

    Attributes:
        stderr: Record the agent's standard error.
        grace: Seconds the agent may take to leave.
    """

    stderr: bool = True
    grace: float = 5.0


def proxy_command(command: Sequence[str], options: ProxyOptions) -> int:
    """Run an agent behind a recording proxy on our own stdin and stdout; return our exit code.

    Must be called on the main thread.

    Raises:
        CommandError: The agent can't be started.
        UsageError: The cassette can't be made, or a pattern is no regular expression.
    """
    program = find_program(command, os.environ)

    def start(_: Stderr) -> AgentSide:
        return Agent(program, command, given_environment())

    return proxy_agent(start, list(command), options)


def proxy_agent(
    start: Callable[[Stderr], AgentSide], upstream: list[str] | str, options: ProxyOptions
) -> int:
    """Run whatever is an agent behind a recording proxy on our own stdin and stdout.

    Must be called on the main thread.

    Args:
        start: Starts the agent, which may have something to say to the human.
        upstream: What it is, for the cassette.
        options: What the user asked for.

    Returns:
        Our exit code.

    Raises:
        AcptapError: The agent can't be started.
        UsageError: The cassette can't be made, or a pattern is no regular expression.
    """
    descriptors.occupy_standard()
    stderr = Stderr()
    with Signals(for_good=True) as signals:
        take = Take(options, stderr.say)
        try:
            agent = start(stderr)
        except AcptapError:
            take.discard()
            raise
        recorder = Recorder(Tap(take.redactor), take, stderr=options.stderr)
        proxy = StdioProxy(agent, recorder, stderr, signals, grace=options.grace)
        take.begin(protocol="acp", transport="stdio", upstream=upstream)
        status = proxy.run()
        is_complete = take.close(signals)
        stderr.drain(FAREWELL)
    return _exit_code(status, incomplete=not is_complete)


def _exit_code(status: int, *, incomplete: bool) -> int:
    if status < 0:
        return SIGNALLED - status
    return INCOMPLETE if incomplete and status == 0 else status
