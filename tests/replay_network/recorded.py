"""Cassettes of the network in memory, and what a player says of them."""

import orjson

from acptap.cassette import decode_entry, fetch_unit
from acptap.replay.exchanges import Exchanges
from acptap.replay.lanes import build_all
from acptap.replay.player import Player
from tests.replay_network.tapes import HttpTape


class Recorded:
    """A cassette in memory."""

    def __init__(self, tape):
        lines = [line.encode() for line in tape.lines]
        entries = [decode_entry(line, n, n, "tape") for n, line in enumerate(lines[1:], 2)]
        self.exchanges = Exchanges(entries)
        self.scripts = build_all(entries, self.exchanges)
        self._lines = dict(enumerate(lines, 1))

    def read(self, step):
        return fetch_unit(self._lines[step.offset])

    def player(self, framing, conn=0):
        return Player(self.scripts[conn], read=self.read, framing=framing)


def call(id_, method, /, **params):
    said = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
    return orjson.dumps({key: value for key, value in said.items() if value is not None}).decode()


def result(id_, **values):
    return orjson.dumps({"jsonrpc": "2.0", "id": id_, "result": values}).decode()


INITIALIZE, AGREED = call(0, "initialize", protocolVersion=1), result(0, protocolVersion=1)


def heard(player, *texts):
    """Return what a player says, unit by unit."""
    releases = player.start()
    for text in texts:
        releases += player.receive(text.encode())
    return [release.data for release in releases]


def http_tape():
    return HttpTape().connect(INITIALIZE, AGREED)
