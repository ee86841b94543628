"""Recorded runs in memory, and what a player says of them."""

from datetime import UTC, datetime

import orjson

from acptap.agui.inputs import RunInput
from acptap.cassette import decode_entry, fetch_unit
from acptap.replay.agui.asking import Asked
from acptap.replay.agui.player import Options, RunPlayer
from acptap.replay.agui.recorded import runs_of
from acptap.replay.exchanges import Exchanges
from acptap.replay.matching import Level, Matcher
from acptap.replay.report import Miss
from tests.replay_agui.tapes import asked

NOW = datetime(2026, 6, 1, tzinfo=UTC)
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def runs_on(tape):
    """The runs on a tape; offsets are numbers of lines."""
    entries = [decode_entry(line, n, n, "tape") for n, line in enumerate(tape.lines, 2)]
    return runs_of(Exchanges(entries), entries)


def reading(value, pending=()):
    whole = RunInput.read(value)
    assert whole is not None
    return Asked.of(whole, pending)


class Play:
    """A player of a tape."""

    def __init__(self, tape, level=Level.METHOD, ignore=(), **how):
        self._lines = tape.lines
        self.texts = {}  # what stands in some lines instead
        matcher = Matcher(level, tuple(ignore))
        self.player = RunPlayer(runs_on(tape), self.read, Options(matcher, BEGAN, **how))

    def read(self, offset):
        return self.texts.get(offset) or fetch_unit(self._lines[offset - 2])

    def ask(self, *messages, target="/agent", now=NOW, **more):
        """Ask for a run; return what is played, or why nothing is."""
        body = messages[0] if isinstance(messages[0], dict) else None
        value = body if body and "threadId" in body else asked(*messages, **more)
        whole = RunInput.read(orjson.loads(orjson.dumps(value)))
        assert whole is not None
        reply = self.player.ask(target, whole, now)
        if isinstance(reply, Miss):
            return reply
        self.warnings = reply.warnings
        return b"".join(self._spell(reply, part) for part in reply.run.body)

    def _spell(self, reply, part):
        unit = b"".join(self.read(offset) for offset in part.offsets)
        if part.is_frame:
            return reply.renaming.frame(unit)
        return reply.renaming.block(unit) if part.is_block else unit

    @property
    def report(self):
        return self.player.report()
