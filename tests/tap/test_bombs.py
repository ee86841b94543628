"""Compressed bodies that grow beyond all measure are kept as they came."""

import gzip
import random

import pytest

from acptap.tap.bodies import Body, Damaged, Room, text_of
from acptap.wire.lines import Piece
from tests.tap.wires import Recorded, request, response

MEBI = 1024 * 1024
READ = 4096


def reads(data):
    return [data[at : at + READ] for at in range(0, len(data), READ)]


def test_a_body_that_grows_too_much_is_given_up_and_none_of_it_is_lost():
    bomb = gzip.compress(bytes(32 * MEBI))
    room = Room()
    body = Body(["gzip"], room)
    grown, rest, units = 0, [], []
    for data in reads(bomb):
        try:
            units = body.feed(data)
        except Damaged:
            units = body.feed(data)
            rest = [data]
        else:
            rest += [data] if rest else []
        assert all(isinstance(unit, Piece) for unit in units)
        if not rest:
            grown += sum(len(text_of(unit)) for unit in units)
    body.end()
    assert grown <= 16 * MEBI
    assert rest
    assert bomb.endswith(b"".join(rest))


def test_a_chain_of_codings_is_bounded_too():
    bomb = gzip.compress(gzip.compress(bytes(32 * MEBI)))
    assert len(bomb) < 16 * 1024
    body = Body(["gzip", "gzip"], Room())
    with pytest.raises(Damaged):
        body.feed(bomb)
    assert body.feed(bomb) == []
    assert body.end() == [bomb]


def test_what_grows_as_text_does_is_inflated_whatever_its_size():
    text = random.Random(1).randbytes(2 * MEBI).hex().encode() * 5
    body = Body(["gzip"], Room())
    units = [unit for data in reads(gzip.compress(text, 1)) for unit in body.feed(data)]
    assert b"".join(map(text_of, units + body.end())) == text
    assert all(len(text_of(unit)) <= 9 * MEBI for unit in units)


def test_the_tape_of_a_bomb_is_small():
    recorded = Recorded()
    line = recorded.line()
    bomb = gzip.compress(gzip.compress(bytes(32 * MEBI)))
    line.client(request("POST", body=bomb, Content_Encoding="gzip, gzip"))
    line.agent(response(202))
    assert recorded.rules == ["http/coding"]
    assert [entry.event for entry in recorded.entries] == ["request", "damaged", None, "response"]
    assert recorded.entries[2].unit() == bomb
