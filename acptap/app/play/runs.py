"""Answers requests for AG-UI runs with recorded ones, as they were answered: failures too."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import groupby

from aiohttp import web

from acptap.agui.inputs import RunInput
from acptap.app.play.answering import kept, plain
from acptap.app.play.journal import Journal
from acptap.app.play.options import ReplayOptions
from acptap.errors import AcptapError
from acptap.http import CONNECTION_ID
from acptap.replay.agui.player import Reply, RunPlayer
from acptap.replay.agui.recorded import Ending, Part, RecordedRun
from acptap.replay.report import Miss
from acptap.storage import Recording
from acptap.transports.legs import reset
from acptap.wire import jsontext

_UNMATCHED = 409


class RunAnswers:
    """Plays AG-UI runs to clients of an endpoint.

    A run that the recorded client left in its middle is held open there until the live one leaves
    too; if it has not after the patience, its answer is cut off.

    Args:
        player: Finds the runs.
        recording: Where the answers are.
        options: How to play.
        begin: Begins the journal, when the first run is asked for.
        warn: Says something at once.

    Attributes:
        requests: How many runs were asked for.
        closing: Set when the server goes.
    """

    def __init__(
        self,
        player: RunPlayer,
        recording: Recording,
        options: ReplayOptions,
        begin: Callable[[], Journal],
        warn: Callable[[str], None],
    ) -> None:
        self.player = player
        self.requests = 0
        self.closing = asyncio.Event()
        self._recording = recording
        self._speed = options.speed
        self._patience = options.patience or None
        self._begin = begin
        self._journal: Journal | None = None
        self._warn = warn
        self._playing = 0

    @property
    def is_done(self) -> bool:
        """Whether each run was played, to its end."""
        return self.player.are_played and not self._playing

    def close(self) -> None:
        """Take in that nothing more can be asked for."""
        if self._journal is not None:
            self._journal.close()

    async def answer(self, request: web.Request) -> web.StreamResponse | None:
        """Return the answer to a request for a run; None if it is for something else."""
        if not self.player.runs or request.method != "POST" or CONNECTION_ID in request.headers:
            return None
        body = await request.read()
        whole = _read(body)
        if whole is None:
            return None
        self.requests += 1
        now = datetime.now(UTC)
        try:
            self._journal = self._journal or self._begin()
            self._journal.asked(request.raw_path, body, now)
            found = self.player.ask(request.raw_path, whole, now)
        except AcptapError as error:
            return web.Response(status=500, text=f"acptap: {error}\n")
        if isinstance(found, Miss):
            text = jsontext.dump({"error": found.as_error()})
            return web.Response(status=_UNMATCHED, body=text, content_type="application/json")
        for warning in found.warnings:
            self._warn(warning)
        self._playing += 1
        try:
            return await _Performance(self, found, request).play()
        finally:
            self._playing -= 1

    # What a performance asks

    async def pause(self, seconds: float) -> None:
        """Wait for a time that passed in the recording; at least for the loop to go round."""
        await asyncio.sleep(seconds / self._speed if self._speed else 0)

    async def wait_for_client(self, run: RecordedRun) -> None:
        """Wait for a client to leave, which ends all; return when there is no more to wait for."""
        try:
            async with asyncio.timeout(self._patience):
                await self.closing.wait()
        except TimeoutError:
            assert self._journal is not None
            self._journal.stayed(run.number)
            self.player.stayed(run.number)

    def fetch(self, part: Part) -> bytes:
        """Return a recorded unit."""
        return b"".join([self._recording.fetch(offset) for offset in part.offsets])


class _Performance:
    """Answers one request with a recorded run."""

    def __init__(self, answers: RunAnswers, reply: Reply, request: web.Request) -> None:
        self._answers = answers
        self._run = reply.run
        self._renaming = reply.renaming
        assert request.transport is not None
        self._request = request
        self._transport = request.transport
        self._now = reply.run.asked_at  # in the recording

    async def play(self) -> web.StreamResponse:
        """Answer."""
        run = self._run
        if run.response is None:
            return await self._end(web.StreamResponse())
        response = self._response()
        await self._until(run.answered_at)
        await response.prepare(self._request)
        for at, parts in groupby(run.body, key=lambda part: part.at):
            await self._until(at)
            await response.write(b"".join(self._spelled(parts)))
        return await self._end(response)

    def _response(self) -> web.StreamResponse:
        run = self._run
        assert run.response is not None
        headers = kept(run.response.headers)
        headers.setdefault("Content-Type", "")  # none, that is: the endpoint leaves it out
        if run.is_inflated:
            headers.popall("content-encoding", None)
        response = web.StreamResponse(
            status=run.response.status, reason=plain(run.response.reason), headers=headers
        )
        if run.ending is Ending.COMPLETE and not run.is_stream:
            response.content_length = sum(len(self._answers.fetch(part)) for part in run.body)
        return response

    def _spelled(self, parts: Iterator[Part]) -> Iterator[bytes]:
        for part in parts:
            unit = self._answers.fetch(part)
            if part.is_frame:
                unit = self._renaming.frame(unit)
            elif part.is_block:
                unit = self._renaming.block(unit)
            yield unit

    async def _end(self, response: web.StreamResponse) -> web.StreamResponse:
        """End the answer as it ended."""
        run = self._run
        await self._until(run.ended_at)
        if run.ending is Ending.COMPLETE:
            await response.write_eof()
            return response
        if run.ending is Ending.LEFT:
            await self._answers.wait_for_client(run)
        if run.ending is Ending.RESET:
            await reset(self._transport)
        else:
            self._transport.close()  # what was written still arrives
        return response

    async def _until(self, at: float) -> None:
        """Wait as long as it took in the recording to get to a moment."""
        await self._answers.pause(max(0.0, at - self._now))
        self._now = at


def _read(body: bytes) -> RunInput | None:
    try:
        return RunInput.read(jsontext.parse(body))
    except ValueError:
        return None
