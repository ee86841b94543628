import os
from pathlib import Path

import pytest

from acptap.jsonrpc import Side
from acptap.replay.matching import Level, Matcher
from acptap.replay.player import Player
from acptap.storage import Recording
from tests.replay.conversations import CONVERSATIONS, Recorded
from tests.replay.plans import transcribe
from tests.replay.schedules import Change, Client, Walker, player_of
from tests.replay.verdicts import is_named, problems, unanswered

SEEDS = range(300 if os.environ.get("HYPOTHESIS_PROFILE") == "ci" else 60)
CASSETTES = sorted(Path(__file__).parent.parent.glob("cassettes/acp/*.jsonl"))


def committed(path):
    with Recording(path) as recording:
        return [entry for entry in recording if entry.event is None]


RECORDED = {name: Recorded.of(lines) for name, lines in CONVERSATIONS.items()}
RECORDED |= {path.name: Recorded(committed(path)) for path in CASSETTES}

all_recorded = pytest.mark.parametrize("recorded", RECORDED.values(), ids=RECORDED)


@all_recorded
def test_every_schedule_ends_clean(recorded):
    said = transcribe(recorded)
    for seed in SEEDS:
        client = Client(said, seed)
        run = client.play(player_of(recorded))
        assert problems(recorded, client, run) == [], seed


@all_recorded
def test_a_walker_that_ignores_what_it_receives_is_found_out(recorded):
    said = transcribe(recorded)
    found = 0
    for seed in range(20):
        client = Client(said, seed)
        found += bool(problems(recorded, client, client.play(Walker(recorded))))
    assert found == 20


def changes(said, kind):
    return [
        (one, Change(kind, one.place))
        for one in said
        if one.side is Side.CLIENT and isinstance(one.message, dict)
    ]


@all_recorded
@pytest.mark.parametrize("kind", ["missing", "extra", "altered"])
def test_whatever_the_client_does_wrong_is_named_and_nothing_hangs(recorded, kind):
    said = transcribe(recorded)
    for one, change in changes(said, kind):
        for seed in range(5):
            run = Client(said, seed, change).play(player_of(recorded))
            assert unanswered(run) == []
            assert run.report.clean is (one.is_optional or (kind == "altered" and can_go_on(one)))
            if not one.is_optional:
                assert is_named(said, change, run.report), (one, seed, run.report)


def can_go_on(one):
    """O8: it is no decision of a client's that it does not know an extension."""
    return one.asked is not None and one.asked.method.startswith("_")


@all_recorded
def test_the_schedules_are_clean_at_the_level_params_too(recorded):
    said = transcribe(recorded)
    for seed in range(20):
        client = Client(said, seed)
        matcher = Matcher(Level.PARAMS, ("/result/terminalId",))
        run = client.play(Player(recorded.script, read=recorded.read, matcher=matcher))
        assert problems(recorded, client, run) == [], seed
