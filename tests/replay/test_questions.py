"""Requests of the agent with one id, and answers that come in another order than the questions."""

import orjson
import pytest

from acptap.replay.player import Player
from acptap.replay.progress import Progress
from tests.replay.conversations import (
    END,
    Recorded,
    agent,
    answers,
    chooses,
    client,
    new,
    permission,
    prompt,
    request,
    says,
    tells,
)


def player_of(conversation):
    recorded = Recorded.of(conversation)
    return Player(recorded.script, read=recorded.read)


def hear(player, *lines):
    """Return the messages that come of lines."""
    return [
        orjson.loads(release.data)
        for line in lines
        for release in player.receive(orjson.dumps(line.message))
    ]


def turn(id_, session, asked=0):
    return [
        prompt(id_, session),
        permission(asked, session),
        chooses(asked, "y"),
        says(session, "a"),
        answers(id_, END),
    ]


def allow(id_):
    return client(
        {
            "jsonrpc": "2.0",
            "id": id_,
            "result": {"outcome": {"outcome": "selected", "optionId": "y"}},
        }
    )


BEGIN = [*new(1, "s1"), *new(2, "s2")]
IDS = {
    # the id that both turns use: the one under which the second goes out
    "a number": (0, 1),
    "a text": ("ask", "ask-2"),
}


@pytest.mark.parametrize(("recorded", "fresh"), IDS.values(), ids=IDS)
def test_a_request_whose_id_is_open_goes_out_under_a_fresh_one(recorded, fresh):
    conversation = [*BEGIN, *turn(3, "s1", recorded), *turn(4, "s2", recorded)]
    player = player_of(conversation)
    hear(player, BEGIN[0], BEGIN[2])
    [first] = hear(player, prompt(3, "s1"))
    [second] = hear(player, prompt(4, "s2"))
    assert (first["id"], second["id"]) == (recorded, fresh)
    assert second["params"]["sessionId"] == "s2"
    done = hear(player, allow(fresh))
    assert [message.get("id") for message in done] == [None, 4]
    assert [message.get("id") for message in hear(player, allow(recorded))] == [None, 3]
    assert player.report().clean


def test_fresh_ids_are_nobody_elses():
    conversation = [*BEGIN, *turn(3, "s1", 1), *turn(4, "s2", 1), *new(9, "s3"), *turn(5, "s3", 1)]
    conversation += turn(6, "s1", 2)
    player = player_of(conversation)
    hear(player, BEGIN[0], BEGIN[2], conversation[14])
    asked = [hear(player, prompt(id_, s))[0]["id"] for id_, s in ((3, "s1"), (4, "s2"), (5, "s3"))]
    assert asked == [1, 3, 4]
    for id_ in asked:
        assert hear(player, allow(id_))[-1]["result"] == END
    assert hear(player, prompt(6, "s1"))[0]["id"] == 2
    hear(player, allow(2))
    assert player.report().clean


def test_ids_that_were_open_together_stay_as_they_are():
    conversation = [
        *BEGIN, prompt(3, "s1"), permission(0, "s1"), prompt(4, "s2"), permission(0, "s2"),
        chooses(0, "y"), answers(3, END), chooses(0, "y"), answers(4, END),
    ]  # fmt: skip
    player = player_of(conversation)
    hear(player, BEGIN[0], BEGIN[2])
    assert hear(player, prompt(3, "s1"))[0]["id"] == 0
    assert hear(player, prompt(4, "s2"))[0]["id"] == 0
    assert [message["id"] for message in hear(player, allow(0), allow(0))] == [3, 4]
    assert player.report().clean


def test_a_request_that_is_withdrawn_is_withdrawn_under_its_live_id():
    withdrawn = tells("$/cancel_request", requestId=0)
    conversation = [
        *BEGIN, *turn(3, "s1"), prompt(4, "s2"), permission(0, "s2"), withdrawn, chooses(0, "y"),
        answers(4, END),
    ]  # fmt: skip
    player = player_of(conversation)
    hear(player, BEGIN[0], BEGIN[2], prompt(3, "s1"))
    asked, cancel = hear(player, prompt(4, "s2"))
    assert asked["id"] == cancel["params"]["requestId"] == 1


def test_members_of_a_batch_get_fresh_ids_too():
    asked = permission(0, "s2").message
    batch = agent([asked, says("s2", "a").message])
    conversation = [
        *BEGIN, *turn(3, "s1"), prompt(4, "s2"), batch, chooses(0, "y"), answers(4, END),
    ]  # fmt: skip
    player = player_of(conversation)
    hear(player, BEGIN[0], BEGIN[2], prompt(3, "s1"))
    [[first, _]] = hear(player, prompt(4, "s2"))
    assert first["id"] == 1
    hear(player, allow(1), allow(0))
    assert player.report().clean


def test_an_id_is_free_when_it_was_answered():
    player = player_of([*new(1, "s1"), *turn(3, "s1"), *turn(4, "s1")])
    hear(player, new(1, "s1")[0])
    for id_ in (3, 4):
        assert hear(player, prompt(id_, "s1"))[0]["id"] == 0
        hear(player, allow(0))
    assert player.report().clean


# Answers in reverse


def reversed_answers(count):
    asks = [request(n, "session/set_mode", sessionId="s", modeId=str(n)) for n in range(count)]
    return [prompt(-1, "s"), *asks, *(answers(n, {}) for n in reversed(range(count)))]


def test_answers_in_reverse_order_come_each_with_its_request():
    conversation = reversed_answers(5)
    player = player_of(conversation)
    for line in conversation[1:6]:
        assert [message["id"] for message in hear(player, line)] == [line.message["id"]]
    assert hear(player, conversation[0]) == []


def test_what_waits_is_looked_at_when_what_it_waits_for_comes(monkeypatch):
    count, looks = 400, 0
    original = Progress._run_ahead

    def counted(self, step, awaited):
        def look(other):
            nonlocal looks
            looks += 1
            return awaited(other)

        return original(self, step, look)

    monkeypatch.setattr(Progress, "_run_ahead", counted)
    conversation = reversed_answers(count)
    player = player_of(conversation)
    for line in conversation[1 : count + 1]:
        assert len(hear(player, line)) == 1
    assert looks <= 3 * count
