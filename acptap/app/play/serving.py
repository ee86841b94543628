"""`acptap replay --listen`: play a cassette to clients that connect over HTTP or WebSocket."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING

from acptap.app.play.answering import PlainAnswers
from acptap.app.play.journal import AGUI, PLAIN, Journal
from acptap.app.play.options import ReplayOptions, ServeOptions
from acptap.app.play.performance import Performance
from acptap.app.play.programme import Programme
from acptap.app.play.replaying import tell, write_report
from acptap.app.play.runs import RunAnswers
from acptap.app.play.served import FRAMINGS, ServedConnection
from acptap.errors import UsageError
from acptap.replay.report import Report, combine
from acptap.storage import Recording
from acptap.transports import descriptors, listening
from acptap.transports.endpoint import Endpoint, Outlet
from acptap.transports.listening import Admission
from acptap.transports.signals import Signals, call_on_loop
from acptap.transports.stderr import Stderr

if TYPE_CHECKING:
    from aiohttp.web import Request, StreamResponse

_HASTE = 0.25
"""Seconds that clients may take to leave when the test is over."""

_STEPS = 25
"""Steps of the loop in which something of what has arrived on this machine is taken in."""

_MOST_STEPS = 100_000
"""Steps after which a client that goes on and on is left."""


def replay_network(cassette: Path, options: ReplayOptions, serve: ServeOptions) -> int:
    """Serve a cassette until a signal comes; return 0 if all of it was asked for and nothing else.

    Must be called on the main thread.

    Raises:
        CassetteError: The cassette can't be played.
        UsageError: The address can't be used, or the report can't be written, or the run is not
            there.
    """
    descriptors.occupy_standard()
    said = serve.listen
    address = listening.DEFAULT if said is None else listening.parse_listen(said)
    listening.check_reach(address, allow_remote=serve.allow_remote)
    admission = Admission.of(address, serve.hosts, serve.origins)
    programme = Programme.load(cassette)
    stderr = Stderr()
    with Signals(for_good=True) as signals:
        sockets = listening.open_sockets(address)
        if programme.torn is not None:
            stderr.say(f"line {programme.torn} was cut off by a crash and is left out")
        url = listening.url_of(listening.address_of(sockets))
        server = CassetteServer(
            programme, options, admission, run=options.run, once=serve.once, warn=stderr.say
        )

        def ready() -> None:
            stderr.say(f"listening on {url} for HTTP and WebSocket, playing {cassette}")

        asyncio.run(_serve(server, sockets, signals, ready))
        report = server.report()
        is_judged = options.run is None  # else who made the run judges
        if is_judged:
            tell(report, options, stderr)
        stderr.drain(2.0)
        if options.report is not None:
            write_report(report, options.report)
    return 0 if options.accept(report) or not is_judged else 1


async def _serve(
    server: "CassetteServer",
    sockets: Sequence[socket],
    signals: Signals,
    ready: Callable[[], None],
) -> None:
    call_on_loop(signals, asyncio.get_running_loop(), server.over.set)
    await server.start(sockets)
    ready()
    await server.over.wait()
    await server.close()


def _say_nothing(_: str) -> None:
    pass


class CassetteServer:
    """Serves a cassette; each live connection is a performance.

    Args:
        programme: What is played.
        options: How.
        admission: Who is let in.
        run: The folder of the run that the connections belong to, or None.
        once: Play each recorded connection and each run once, and then be over.
        warn: Says something at once; what it says stands in the report too.

    Attributes:
        over: Set when it is to be closed.
    """

    def __init__(
        self,
        programme: Programme,
        options: ReplayOptions,
        admission: Admission,
        *,
        run: Path | None = None,
        once: bool = False,
        warn: Callable[[str], None] = _say_nothing,
    ) -> None:
        self.over = asyncio.Event()
        self._programme = programme
        self._options = options
        self._run = run
        self._once = once
        self._recording = Recording(programme.cassette)
        self._left = 0
        self._heard = 0  # messages of the connections that are no more
        self._reports: list[Report] = []
        self._plain = programme.plain_player()
        self._answers = PlainAnswers(
            self._plain,
            self._recording,
            options.speed,
            lambda: Journal.begin(run, programme.cassette, PLAIN),
        )
        self._runs = RunAnswers(
            programme.run_player(self._recording, options, once=once),
            self._recording,
            options,
            lambda: Journal.begin(run, programme.cassette, AGUI),
            warn,
        )
        self._endpoint = Endpoint(self._make_peer, admission, other=self._answer)

    async def start(self, sockets: Sequence[socket]) -> None:
        """Serve whoever connects to some listening sockets, which will be closed."""
        await self._endpoint.start(sockets)

    async def close(self) -> None:
        """End all connections, and stop listening."""
        self._answers.closing.set()
        self._runs.closing.set()
        try:
            await self._endpoint.close()
        finally:
            self._runs.close()
            self._answers.close()
            self._recording.__exit__()

    async def hear_all(self) -> None:
        """Take in what clients have sent by now."""
        before = -1
        for step in range(_MOST_STEPS):
            await asyncio.sleep(0)
            if step % _STEPS == 0:
                if before == self._activity:
                    return
                before = self._activity

    def report(self) -> Report:
        """Return what became of the cassette."""
        with Recording(self._programme.cassette) as recording:
            unasked = self._programme.unasked(recording)
        live = [connection.performance.report for connection in self._answers.live.values()]
        runs = self._runs.player.report()
        return combine([*self._reports, *live, runs, *unasked, self._plain.report()])

    @property
    def _activity(self) -> int:
        heard = sum(connection.heard for connection in self._answers.live.values())
        return self._heard + heard + self._answers.requests + self._runs.requests

    @property
    def _is_done(self) -> bool:
        """Whether everything was played once."""
        are_over = self._left >= len(self._programme.scripts)
        return are_over and self._runs.is_done and self._plain.are_played

    async def _answer(self, request: "Request") -> "StreamResponse | None":
        try:
            answer = await self._runs.answer(request)
            return await self._answers.answer(request) if answer is None else answer
        finally:
            self._look_whether_done()

    def _make_peer(self, outlet: Outlet) -> ServedConnection:
        answers = self._answers
        if self._once and answers.begun >= len(self._programme.scripts):
            raise UsageError(
                "acptap has played all connections of the cassette", where="--once",
                fix="start it again, or leave --once out",
            )  # fmt: skip
        if not self._programme.scripts:
            answers.turn_away()
            raise self._programme.nothing_to_play()
        journal = Journal.begin(self._run, self._programme.cassette)
        number = journal.number if journal.is_kept else answers.begun + 1
        framing = FRAMINGS[outlet.kind]
        player = self._programme.player(number, self._recording, self._options, framing)
        answers.begun += 1
        journal.over(framing)
        performance = Performance(player, journal, self._options)
        connection = ServedConnection(outlet, performance, answers.refuse, self._goodbye)
        answers.live[connection.id] = connection
        return connection

    def _goodbye(self, connection: ServedConnection) -> None:
        del self._answers.live[connection.id]
        connection.performance.close()
        self._reports.append(connection.performance.report)
        self._left += 1
        self._heard += connection.heard
        self._look_whether_done()

    def _look_whether_done(self) -> None:
        if self._once and self._is_done:
            self.over.set()


def serve_until(bell: socket, sockets: Sequence[socket], server: CassetteServer) -> None:
    """Serve until something comes on a socket, or its end."""

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        await server.start(sockets)
        loop.add_reader(bell, server.over.set)
        await server.over.wait()
        loop.remove_reader(bell)
        await server.hear_all()
        with contextlib.suppress(TimeoutError):  # a client that was left to itself, say
            async with asyncio.timeout(_HASTE):
                await server.close()

    asyncio.run(serve())
