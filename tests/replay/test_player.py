import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.cassette import decode_entry
from acptap.jsonrpc import Side
from acptap.replay import lanes
from acptap.replay.difference import Difference
from acptap.replay.framing import Framing
from acptap.replay.matching import Level, Matcher
from acptap.replay.player import Player
from acptap.replay.report import Differing, Miss, Report, combine, describe
from acptap.replay.script import Step, StepKind
from acptap.wire.jsontext import dump
from tests.replay.conversations import (
    CONVERSATIONS,
    END,
    HOME,
    INIT,
    STOPPED,
    Recorded,
    agent,
    answer,
    answers,
    asks,
    chooses,
    client,
    commands,
    dismisses,
    fail,
    fails,
    new,
    new_request,
    noise,
    notify,
    permission,
    prompt,
    request,
    says,
    state,
    tells,
)


def player_of(conversation, **how):
    recorded = Recorded.of(conversation)
    return Player(recorded.script, read=recorded.read, **how)


def hear(player, *lines):
    """Send lines and return what each of them sets free: line numbers, or the error's message."""
    return [
        [release.number or f"acptap: {what_of(release)}" for release in player.receive(sent(line))]
        for line in lines
    ]


def sent(line):
    return line.raw or orjson.dumps(line.message)


def error_of(release):
    return orjson.loads(release.data)["error"]


def what_of(release):
    """Return what did not match, without the nearest entry."""
    message = error_of(release)["message"]
    assert message.startswith("acptap: ")
    return message.removeprefix("acptap: ").partition("; nearest is ")[0]


TURN = [*new(1, "s1"), prompt(2, "s1"), says("s1", "a"), answers(2, END)]
PERMISSION = [
    *new(1, "s1"),
    prompt(2, "s1"),
    permission(0, "s1"),
    chooses(0, "y"),
    says("s1", "a"),
    answers(2, END),
]
MODE_AND_PROMPT = [
    *new(1, "s1"),
    request(2, "session/set_mode", sessionId="s1", modeId="plan"),
    prompt(3, "s1"),
    says("s1", "mode"),
    answers(2, {}),
    says("s1", "hi"),
    answers(3, END),
    says("s1", "bye"),
]
MODE, PROMPT = MODE_AND_PROMPT[2], MODE_AND_PROMPT[3]
ELICITED = [
    prompt(2, "s"),
    request(3, "session/set_mode", sessionId="s"),
    asks(0, "elicitation/create", requestId=3),
    answers(3, {}),
    answers(2, END),
    answer(0, {"action": "accept"}),
]
CANCELLED_LATE = [
    *new(1, "s1"),
    prompt(2, "s1"),
    permission(0, "s1"),
    chooses(0, "y"),
    says("s1", "a"),
    notify("session/cancel", sessionId="s1"),
    answers(2, STOPPED),
]
BATCH_ACROSS = [
    request(1, "session/list"),
    prompt(2, "s"),
    agent([answers(2, END).message, answers(1, {}).message]),
    prompt(3, "s"),
    answers(3, END),
]

RELEASES = {
    # the recording, what the client sends, and which lines each of it sets free
    "a turn": (TURN, [new_request("x"), prompt(9, "s1")], [[3], [5, 6]]),
    "a session opens with the answer that names it": (
        [*new(1, "s1"), commands("s1"), prompt(2, "s1"), answers(2, END)],
        [new_request(1)],
        [[3, 4]],
    ),
    "O2 crossed requests are answered as they are matched": (
        CONVERSATIONS["O2 crossed session/new"],
        [INIT[0], new_request("x"), new_request("y")],
        [[3], [8, 9], [6, 7]],
    ),
    "in a window, any order: first as recorded": (
        MODE_AND_PROMPT,
        [new_request(1), MODE, PROMPT],
        [[3], [6, 7], [8, 9, 10]],
    ),
    "in a window, any order: an answer waits for its own request": (
        MODE_AND_PROMPT,
        [new_request(1), PROMPT, MODE],
        [[3], [6, 8, 9], [7, 10]],
    ),
    "in a window, what quotes a request waits for it": (
        ELICITED,
        [ELICITED[0], ELICITED[1]],
        [[6], [4, 5]],
    ),
    "an answer that is not behind its window waits for what is": (
        PERMISSION, [new_request(1), prompt(2, "s1")], [[3], [5]],
    ),
    "a request whose answer comes later waits with its window": (
        [
            prompt(1, "s"),
            request(2, "session/set_mode", sessionId="s"),
            says("s", "a"),
            notify("session/cancel", sessionId="s"),
            answers(1, END),
        ],
        [prompt(1, "s")],
        [[]],
    ),
    "answers count ahead of their turn": (
        CONVERSATIONS["two permissions at once"],
        [INIT[0], new_request(1), prompt(2, "s1"), chooses(0, "n"), chooses(1, "y")],
        [[3], [5], [7, 8], [], [10, 12, 13]],
    ),
    "a cancel counts ahead of its turn": (
        CANCELLED_LATE,
        [
            new_request(1),
            prompt(2, "s1"),
            notify("session/cancel", sessionId="s1"),
            chooses(0, "y"),
        ],
        [[3], [5], [], [7, 9]],
    ),
    "I2 one id both ways": (
        CONVERSATIONS["I2 one id both ways"],
        [INIT[0], new_request(1), prompt(2, "s1"), answer(2, {"content": "x"})],
        [[3], [5], [7], [9]],
    ),
    "R1 equal requests are taken in recorded order": (
        [line for n in range(3) for line in (request(n, "session/list"), answers(n, {"n": n}))],
        [request(7, "session/list")] * 3,
        [[3], [5], [7]],
    ),
    "the one that is equal is preferred": (
        [
            request(1, "session/list", cursor="a"),
            answers(1, {}),
            request(2, "session/list", cursor="b"),
            answers(2, {}),
        ],
        [request(1, "session/list", cursor="b"), request(2, "session/list", cursor="c")],
        [[5], [3]],
    ),
    "a session that is brought along by another name is bound in recorded order": (
        [
            request(1, "session/load", sessionId="a"),
            answers(1, None),
            request(2, "session/load", sessionId="b"),
            answers(2, None),
        ],
        [
            request(1, "session/load", sessionId="x"),
            request(2, "session/load", sessionId="a"),
        ],
        [[3], [5]],
    ),
    "what opens goes out in recorded order": (
        [
            request(1, "session/fork", sessionId="a"),
            answers(1, {"sessionId": "b"}),
            commands("b"),
            says("a", "x"),
        ],
        [request(1, "session/fork", sessionId="a")],
        [[3, 4, 5]],
    ),
    "an agent's batch waits for all that it answers": (
        BATCH_ACROSS,
        [prompt(2, "s"), prompt(3, "s"), request(1, "session/list")],
        [[], [], [4, 6]],
    ),
    "an agent's batch goes as soon as it can": (
        BATCH_ACROSS, [request(1, "session/list"), prompt(2, "s"), prompt(3, "s")], [[], [4], [6]],
    ),
    "a client's batch": (
        TURN, [client([new_request("x").message, prompt("y", "s1").message])], [[3, 5, 6]],
    ),
    "what the client may leave out holds nothing up": (
        CONVERSATIONS["a stop that is not session/cancel"],
        [INIT[0], new_request(1), prompt(2, "s1")],
        [[3], [5], [7, 9, 10, 12]],
    ),
    "I6 a second answer follows the first": (
        [request(4, "session/list"), answers(4, {}), fails(4, -1), answers(999, {})],
        [request(4, "session/list")],
        [[3, 4, 5]],
    ),
    "edge 55 in a conductor's envelope": (
        [
            request(1, "proxy/successor", method="session/prompt", params={"sessionId": "s"}),
            answers(1, END),
        ],
        [request(7, "proxy/successor", method="session/prompt", params={"sessionId": "mine"})],
        [[3]],
    ),
    "a notification outside of sessions": (
        [notify("mcp/message", serverId="m"), tells("mcp/message", serverId="m")],
        [notify("mcp/message", serverId="m")],
        [[3]],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("recorded", "lines", "expected"), RELEASES.values(), ids=RELEASES)
def test_receive(recorded, lines, expected):
    player = player_of(recorded)
    assert player.start() == []
    assert hear(player, *lines) == expected
    assert player.report().unmatched == []


def test_start_says_what_came_before_the_client_said_anything():
    player = player_of(CONVERSATIONS["noise that only one SDK answers"])
    assert [release.number for release in player.start()] == [2]


def test_moved_names_the_lanes_and_when_it_was():
    player = player_of(TURN)
    player.receive(sent(new_request(1)))
    assert {lane.name: at for lane, at in player.moved.items()} == {"session/new": 2.0}
    player.receive(b"?")
    assert player.moved == {}


def test_finished_is_true_once_everything_was_matched_and_played():
    player = player_of(TURN)
    hear(player, new_request(1))
    assert not player.finished
    hear(player, prompt(2, "s1"))
    assert player.finished


# What is sent


def texts(player, *lines):
    return [release.data for line in lines for release in player.receive(sent(line))]


def test_i3_answers_have_the_live_id_as_the_client_spells_it():
    spelled = [b'"1"', b"1", b"1.0", b'"\\u0031"', b"9007199254740993", b"1e400", b"null"]
    recorded = [request(0, "session/list"), answers(0, {})]
    for id_ in spelled:
        (release,) = player_of(recorded).receive(b'{"id":%b,"method":"session/list"}' % id_)
        assert release.data == b'{"jsonrpc":"2.0","id":%b,"result":{}}\n' % id_


def test_a_member_whose_name_is_spelled_oddly_is_found():
    recorded = [request(0, "session/list"), answers(0, {})]
    (release,) = player_of(recorded).receive(b'{"i\\u0064":5,"method":"session/list"}')
    assert orjson.loads(release.data)["id"] == 5


def test_a_frame_in_which_nothing_is_renamed_keeps_its_bytes():
    text = b'{ "id" : 1,"result":{"n":1.0,"t":"\\u0041"}}\r\n'
    player = player_of([request(1, "session/list"), noise(text)])
    assert texts(player, request(1, "session/list")) == [text]
    player = player_of([request(1, "session/list"), noise(text)])
    assert texts(player, request(7, "session/list")) == [text.replace(b': 1,"r', b': 7,"r')]


def test_r6_names_follow_the_live_client():
    player = player_of(CONVERSATIONS["R6 a loaded session with another id"])
    lines = [
        INIT[0],
        request("l", "session/load", sessionId="mine", cwd="/srv/own", mcpServers=[]),
        prompt("p", "mine"),
    ]
    said = b"".join(texts(player, *lines))
    assert b"s-rec" not in said
    assert HOME.encode() not in said
    assert said.count(b'"sessionId":"mine"') == 3
    assert b"/srv/own/a.txt" in said


def test_i5_batches_of_answers_have_live_ids():
    player = player_of(BATCH_ACROSS)
    (text,) = texts(player, prompt("a", "s"), request("b", "session/list"))
    assert [message["id"] for message in orjson.loads(text)] == ["a", "b"]


def test_i6_a_second_answer_has_the_live_id_too():
    player = player_of([request(4, "session/list"), answers(4, {}), fails(4, -1), answers(5, {})])
    said = texts(player, request("x", "session/list"))
    assert [orjson.loads(text)["id"] for text in said] == ["x", "x", 5]


def test_44_an_elicitation_quotes_the_live_request():
    player = player_of(CONVERSATIONS["an elicitation for a request"])
    asked, *_ = texts(player, new_request("mine"))
    assert orjson.loads(asked)["params"]["requestId"] == "mine"


def test_what_is_known_when_a_message_is_matched_decides_not_when_it_is_sent():
    recorded = [
        request(1, "session/load", sessionId="a", cwd="/w/a"),
        says("a", "in /w/a"),
        answers(1, None),
        request(2, "session/load", sessionId="b", cwd="/w/a"),
        answers(2, None),
    ]
    player = player_of(recorded)
    first, _ = player.receive(sent(request(1, "session/load", sessionId="a", cwd="/live/1")))
    player.receive(sent(request(2, "session/load", sessionId="b", cwd="/live/2")))
    assert b"/live/1" in first.data


def test_units_in_pieces_are_sent_whole():
    rows = [
        b'{"at":1,"from":"client","msg":{"id":1,"method":"session/list"}}',
        b'{"at":2,"from":"agent","more":true,"text":"{\\"id\\":1,"}',
        b'{"at":3,"from":"agent","notes":[{"rule":"stdio/oversize"}],"text":"\\"result\\":2}\\n"}',
        b'{"at":3,"from":"agent","text":"\\n"}',
    ]
    entries = [decode_entry(row, number, number, "c") for number, row in enumerate(rows, 2)]
    units = {entry.offset: entry.unit() for entry in entries}
    player = Player(lanes.build(entries), read=lambda step: units[step.offset])
    answered, blank = player.receive(b'{"id":"x","method":"session/list"}')
    assert (answered.data, answered.ends_read) == (b'{"id":"x","result":2}\n', False)
    assert (blank.data, blank.ends_read, blank.at) == (b"\n", True, 3)


def test_a_clients_request_in_pieces_matches():
    rows = [
        b'{"at":1,"from":"client","more":true,"text":"{\\"id\\":1,\\"method\\":"}',
        b'{"at":2,"from":"client","text":"\\"session/list\\"}\\n"}',
        b'{"at":3,"from":"agent","msg":{"id":1,"result":2}}',
    ]
    entries = [decode_entry(row, number, number, "c") for number, row in enumerate(rows, 2)]
    units = {entry.offset: entry.unit() for entry in entries}
    player = Player(lanes.build(entries), read=lambda step: units[step.offset])
    assert [release.number for release in player.receive(b'{"id":1,"method":"session/list"}')] == [
        4
    ]
    assert player.report() == Report()


# What does not match


PROMPTS = [
    *new(1, "s1"),
    *[line for n in range(3) for line in (prompt(n + 2, "s1", f"{n}"), answers(n + 2, END))],
]
LISTED = [*INIT, request(1, "session/list"), answers(1, {})]

OUT_OF_TURN = (
    "session/prompt number 2 comes out of turn: the cassette awaits the answer to"
    " session/request_permission first"
)
ANOTHER_VERSION = (
    "initialize: the client asks for version 9 of the protocol,"
    " and the cassette was recorded with 1"
)
MISSES = {
    # the recording, what the client sends, what it is told, nearest line and difference
    "R2 one prompt too many": (
        PROMPTS,
        [new_request(0), *[prompt(n, "s1", f"{n}") for n in range(3)], prompt(9, "s1", "x")],
        ("session/prompt number 4: the cassette holds 3", 8, "/params/prompt/0/text"),
    ),
    "R2 a request that was never recorded": (
        TURN,
        [new_request(0), request(5, "session/set_mode", sessionId="s1")],
        ("session/set_mode is not in the cassette", 4, "/method"),
    ),
    "one list too many": (
        LISTED,
        [request(1, "session/list"), request(2, "session/list")],
        ("session/list number 2: the cassette holds 1", 4, None),
    ),
    "a method nobody knows": (
        LISTED, [request(1, "x" * 200)], ("x" * 100 + " is not in the cassette", 2, "/method"),
    ),
    "a method at the wrong place": (
        TURN, [request(1, "session/prompt")],
        ("session/prompt is not in the cassette at this place", 2, "/method"),
    ),
    "a session nobody knows": (
        TURN, [new_request(1), prompt(2, "zz")],
        ("session/prompt for session zz: the cassette has no such session", None, None),
    ),
    "a session nobody knows, where others were brought along": (
        [request(1, "session/load", sessionId="a"), answers(1, None)],
        [prompt(2, "zz")],
        ("session/prompt for session zz: the cassette has no such session", 2, "/method"),
    ),
    "a session that is not open yet": (
        TURN, [prompt(2, "s1")], ("session/prompt number 1 comes out of turn", 4, None),
    ),
    "a prompt while an answer is awaited": (
        [*PERMISSION, prompt(3, "s1"), answers(3, END)],
        [new_request(1), prompt(2, "s1"), prompt(3, "s1")],
        (OUT_OF_TURN, 6, "/method"),
    ),
    "another version": (
        INIT, [request(1, "initialize", protocolVersion=9)],
        (ANOTHER_VERSION, 2, "/params/protocolVersion"),
    ),
    "too different": (
        [request(1, "session/list", cursor="a"), answers(1, {})],
        [request(1, "session/list", cursor="b")],
        ("session/list number 1 is not as recorded", 2, "/params/cursor"),
    ),
    "a session of which nothing else is recorded": (
        new(1, "s1"), [new_request(1), prompt(2, "s1")],
        ("session/prompt is not in the cassette: it holds nothing of this session", 3, "/method"),
    ),
    "nothing recorded": ([], [request(1, "x")], ("x is not in the cassette", None, None)),
}  # fmt: skip


@pytest.mark.parametrize(("recorded", "lines", "expected"), MISSES.values(), ids=MISSES)
def test_unmatched_requests_are_answered_at_once(recorded, lines, expected):
    level = Level.PARAMS if expected[0].endswith("not as recorded") else Level.METHOD
    player = player_of(recorded, matcher=Matcher(level))
    *_, (release,) = [player.receive(sent(line)) for line in lines]
    error = error_of(release)
    what, line, path = expected
    assert (error["code"], what_of(release)) == (-32001, what)
    assert line is None or f"at line {line}" in error["message"]
    said = error["data"]["acptap"]
    assert (said.get("line"), said.get("difference", {}).get("path")) == (line, path)
    assert (release.at, release.number, release.lane, release.ends_read) == (None, None, None, True)
    assert [miss.what for miss in player.report().unmatched] == [what]


def test_an_error_stands_under_the_live_id_and_is_framed():
    player = player_of([], framing=Framing.TEXT)
    (release,) = player.receive(b'{"id":"\\u0031","method":"x"}')
    assert release.data.startswith(b'{"jsonrpc":"2.0","id":"\\u0031","error":')
    assert release.data.endswith(b"}")


def test_of_two_initializes_the_one_with_the_version_is_taken():
    recorded = CONVERSATIONS["initialize is asked twice"]
    player = player_of(recorded)
    assert hear(player, request(5, "initialize", protocolVersion=1)) == [[5]]


def test_a_recorded_answer_in_a_batch_tells_the_version():
    recorded = [
        request(1, "initialize", protocolVersion=2),
        agent([answers(7, {}).message, answers(1, {"protocolVersion": 1}).message]),
    ]
    assert hear(player_of(recorded), request(1, "initialize", protocolVersion=1)) == [[3]]


def test_an_initialize_that_was_never_answered_is_held_against_what_was_asked():
    recorded = [request(1, "initialize", protocolVersion=2)]
    assert hear(player_of(recorded), request(1, "initialize", protocolVersion=2)) == [[]]


CONTRADICTIONS = {
    # the recording, what the client sends last, what the open prompt is told, nearest line
    "another decision": (
        PERMISSION, [chooses(0, "n")],
        "another answer to session/request_permission than the recorded one", 6,
    ),
    "an answer that nobody recorded": (
        PERMISSION[:4], [chooses(0, "y")],
        "the cassette holds no answer to session/request_permission", 5,
    ),
    "a second answer": (
        [*PERMISSION[:5], permission(1, "s1"), chooses(1, "y"), *PERMISSION[5:]],
        [chooses(0, "y"), chooses(0, "y")],
        "a second answer to session/request_permission", 6,
    ),
    "a stop that nobody recorded": (
        PERMISSION, [notify("session/cancel", sessionId="s1")],
        "session/cancel is not in the cassette", 6,
    ),
    "a second stop": (
        [*PERMISSION[:4], notify("session/cancel", sessionId="s1"), dismisses(0)],
        [notify("session/cancel", sessionId="s1")] * 2,
        "session/cancel number 2: the cassette holds 1", 6,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("recorded", "lines", "what", "nearest"), CONTRADICTIONS.values(), ids=CONTRADICTIONS
)
def test_what_contradicts_the_recording_fails_its_lane_at_once(recorded, lines, what, nearest):
    player = player_of(recorded)
    hear(player, new_request(1), prompt("p", "s1"))
    heard = hear(player, *lines)
    assert heard[-1] == [f"acptap: {what}"]
    assert player.waiting() == []
    assert [(miss.what, miss.line) for miss in player.report().unmatched] == [(what, nearest)]
    # and so fails what comes later, but nothing is said of answers and notifications
    assert hear(player, prompt(5, "s1")) == [
        [f"acptap: session/prompt comes after the lane failed: {what}"]
    ]
    assert hear(player, chooses(0, "y"), notify("session/cancel", sessionId="s1")) == [[], []]
    assert len(player.report().unmatched) == 2


def test_other_lanes_go_on_when_one_fails():
    player = player_of(CONVERSATIONS["O4 two sessions at once"])
    hear(player, INIT[0], new_request(1), new_request(2), prompt("a", "s1"), prompt("b", "s2"))
    (release,) = player.receive(sent(chooses(0, "n")))
    assert (release.lane.name, orjson.loads(release.data)["id"]) == ("s2", "b")
    assert hear(player, notify("session/cancel", sessionId="s1")) == [[18]]


def test_a_stop_in_a_session_that_is_not_open_fails_its_lane():
    player = player_of([*TURN, notify("session/cancel", sessionId="s1")])
    assert hear(player, notify("session/cancel", sessionId="s1")) == [[]]
    assert [miss.what for miss in player.report().unmatched] == [
        "session/cancel number 1 comes out of turn"
    ]


def test_nothing_of_a_lane_that_failed_is_awaited():
    recorded = [request(1, "session/load", sessionId="a"), answers(1, None), prompt(2, "a")]
    player = player_of(recorded)
    hear(player, notify("session/cancel", sessionId="a"))
    assert hear(player, request(1, "session/load", sessionId="mine")) == [
        ["acptap: session/load for session mine: the cassette has no such session"]
    ]


NO_LANE = {
    "an answer to no request": (answer(99, {}), "an answer to no request (id 99)"),
    "an answer to no request, by name": (answer("x" * 200, {}), "an answer to no request (id"),
    "a stop in a session nobody knows": (
        notify("session/cancel", sessionId="zz"), "session/cancel for session zz",
    ),
    "a stop in no session": (notify("session/cancel"), "session/cancel is not in the cassette"),
}  # fmt: skip


@pytest.mark.parametrize(("line", "what"), NO_LANE.values(), ids=NO_LANE)
def test_what_belongs_to_no_lane_is_reported_only(line, what):
    player = player_of(LISTED)
    assert hear(player, line) == [[]]
    (miss,) = player.report().unmatched
    assert miss.what.startswith(what)


def test_what_the_client_may_send_is_only_noted():
    player = player_of(
        [*LISTED, fail(None, -1), fail(7, -1), notify("_x/ping"), noise(b"?\n", Side.CLIENT)]
    )
    lines = [fail(None, -1), notify("_x/ping"), notify("$/more"), noise(b"?\n"), noise(b"\n")]
    hear(player, *LISTED[::2], *lines, answer(7, {}), *lines, client([]), client([5]))
    assert player.report() == Report(
        noted=[
            "$/more is not in the cassette, 2 times",
            "a line that is no message (blank), 2 times",
            "an answer without an id is not in the cassette",
            "_x/ping is not in the cassette",
            "a line that is no message (not JSON)",
            "a line that is no message (an empty batch)",
            "a line that is no message (not an object)",
        ]
    )


# Patience


def test_waiting_names_what_each_lane_awaits():
    player = player_of(PERMISSION)
    hear(player, new_request(1))
    assert player.waiting() == []
    hear(player, prompt(2, "s1"))
    (waiting,) = player.waiting()
    assert waiting.lane is player.script.sessions["s1"]
    assert [step.number for step in waiting.requests] == [4]
    assert [step.number for step in waiting.awaited] == [6]
    assert str(waiting) == (
        "session/prompt (line 4) waits for the answer to session/request_permission (line 6)"
    )
    hear(player, chooses(0, "y"))
    assert player.waiting() == []


def test_o8_an_extension_request_that_is_never_answered_is_named():
    player = player_of(CONVERSATIONS["O8 an extension request"])
    hear(player, INIT[0], new_request(1), prompt("p", "s1"))
    (waiting,) = player.waiting()
    (release,) = player.give_up(waiting.lane)
    what = (
        "session/prompt (line 6) waits for the answer to _vendor/drain (line 8), which did not come"
    )
    assert what_of(release) == what
    assert release.lane is waiting.lane
    report = player.report()
    assert (report.unmatched[0].what, report.unmatched[0].line) == (what, 8)
    assert report.unplayed == [8, 9, 10]
    assert (player.waiting(), player.give_up(waiting.lane)) == ([], [])


@pytest.mark.parametrize("reply", [fail(12, -32601), answer(12, {})], ids=["unknown", "known"])
def test_o8_an_extension_request_may_be_answered_either_way(reply):
    player = player_of(CONVERSATIONS["O8 an extension request"])
    hear(player, INIT[0], new_request(1), prompt("p", "s1"), reply)
    assert player.report().clean


def test_o6_a_request_that_is_never_answered_waits_for_nothing():
    recorded = [*PERMISSION[:4], notify("session/cancel", sessionId="s1")]
    player = player_of(recorded)
    hear(player, new_request(1), prompt("p", "s1"), recorded[-1])
    assert player.report().clean
    assert player.client_ended() == []
    (waiting,) = player.waiting()
    assert waiting.awaited == ()
    (release,) = player.give_up(waiting.lane)
    what = "session/prompt (line 4) is never answered in the cassette"
    assert what_of(release) == what
    assert player.report().unmatched == [Miss(what, "session/prompt", 4)]


def test_when_the_client_ends_nothing_waits_for_it():
    player = player_of(MODE_AND_PROMPT)
    hear(player, new_request(1), MODE)
    assert player.client_ended() == []
    player = player_of(PERMISSION)
    hear(player, new_request(1), prompt("p", "s1"))
    (release,) = player.client_ended()
    assert orjson.loads(release.data)["id"] == "p"
    assert player.waiting() == []


def test_a_lane_with_several_requests_names_them_all():
    recorded = [
        prompt(1, "s"),
        prompt(2, "s"),
        state("s", "running"),
        notify("session/cancel", sessionId="s"),
    ]
    player = player_of(recorded)
    hear(player, prompt("a", "s"), prompt("b", "s"))
    assert str(player.waiting()[0]) == (
        "session/prompt (line 2) and session/prompt (line 3) waits for session/cancel (line 5)"
    )


# The report


def test_a_difference_that_matters_not_is_reported():
    player = player_of(TURN)
    hear(player, new_request(1), prompt(2, "s1", "hi " + "x" * 200))
    report = player.report()
    assert report.clean
    (line,) = report.lines()
    assert line.startswith("line 4: session/prompt differs, /params/prompt/0/text: recorded")
    assert line.endswith(f'recorded "hi", live "hi {"x" * 57}…"')


def test_a_report_in_words_and_in_json():
    player = player_of([*LISTED, noise(b"\n"), prompt(1, "s"), fail(7, -1)])
    hear(player, request(1, "session/list", cursor="a"), request(2, "session/list"), notify("_x"))
    report = player.report()
    assert (report.matched, report.clean) == (False, False)
    assert report.lines() == [
        "unmatched: session/list number 2: the cassette holds 1; nearest is session/list at line 4",
        'line 4: session/list differs, /params/cursor: recorded nothing, live "a"',
        "never played: lines 2-3, 7",
        "noted: _x is not in the cassette",
    ]
    assert report.as_json() == {
        "clean": False,
        "unmatched": [
            {
                "what": "session/list number 2: the cassette holds 1",
                "nearest": "session/list",
                "line": 4,
            }
        ],
        "differing": [
            {
                "line": 4,
                "what": "session/list",
                "difference": {"path": "/params/cursor", "live": "a"},
            }
        ],
        "unplayed": [2, 3, 7],
        "noted": ["_x is not in the cassette"],
    }


def test_a_miss_in_words():
    player = player_of(TURN)
    hear(player, prompt(1, "zz"), request(2, "x"))
    first, second = player.report().unmatched
    assert str(first) == "session/prompt for session zz: the cassette has no such session"
    assert str(second) == "x is not in the cassette; nearest is session/new at line 2"


def test_one_line_that_was_never_played():
    player = player_of([notify("x")])
    assert player.report().lines() == ["never played: line 2"]
    assert Report().lines() == []


def test_what_any_connection_played_was_played():
    miss, one = Miss("x"), Differing(2, "x", Difference("/a", 1, 2))
    whole = combine(
        [
            Report(1, [miss], [], [2, 3, 4], ["a"]),
            Report(1, [], [one], [3, 4, 5], []),
            Report(2, [], [], [9], ["b"]),
        ]
    )
    assert whole == Report(0, [miss], [one], [3, 4, 9], ["a", "b"])
    assert combine([]) == Report(0)


DESCRIBED = {
    "a call": (StepKind.REQUEST, "session/new", "session/new"),
    "an answer": (StepKind.ANSWER, "session/new", "the answer to session/new"),
    "an answer to nothing": (StepKind.ANSWER, "", "an answer"),
    "noise": (StepKind.NOISE, "", "a line that is no message"),
}


@pytest.mark.parametrize(("kind", "method", "words"), DESCRIBED.values(), ids=DESCRIBED)
def test_describe(kind, method, words):
    assert describe(Step(2, 0, 0.0, Side.AGENT, kind, method)) == words


# Levels


def test_at_the_level_exact_folders_are_not_followed():
    recorded = [request(1, "session/load", sessionId="a", cwd=HOME), answers(1, None)]
    live = request(1, "session/load", sessionId="mine", cwd="/srv/own")
    assert hear(player_of(recorded, matcher=Matcher(Level.PARAMS)), live) == [[3]]
    (told,) = hear(player_of(recorded, matcher=Matcher(Level.EXACT)), live)
    assert told == ["acptap: session/load number 1 is not as recorded"]


def test_at_the_level_params_another_answer_contradicts():
    player = player_of(PERMISSION, matcher=Matcher(Level.PARAMS))
    hear(player, new_request(1), prompt(2, "s1"))
    assert hear(player, chooses(0, "o")) == [
        ["acptap: another answer to session/request_permission than the recorded one"]
    ]


def test_redacted_parts_match_anything():
    recorded = [
        client(request(1, "session/list", cursor="[redacted:1]").message, '"redacted":true'),
        answers(1, {}),
    ]
    player = player_of(recorded, matcher=Matcher(Level.EXACT))
    assert hear(player, request(1, "session/list", cursor="secret")) == [[3]]


# Invariants

IDS = st.none() | st.integers(0, 9) | st.text(max_size=3) | st.floats(allow_nan=False)
SESSIONS = st.sampled_from(["s1", "s2", "s-rec", "child", "mine"])
METHODS = st.sampled_from(
    ["initialize", "session/new", "session/load", "session/prompt", "session/cancel", "$/x"]
) | st.sampled_from(
    ["session/list", "session/set_mode", "proxy/successor", "$/cancel_request", "_x", "x"]
)
PARAMS = st.none() | st.lists(st.integers(0, 9), max_size=1) | st.fixed_dictionaries(
    {}, optional={"sessionId": SESSIONS, "cwd": st.just("/w/x") | st.integers(), "requestId": IDS,
                  "method": METHODS, "params": st.just({"sessionId": "s1"})},
)  # fmt: skip
MESSAGES = st.fixed_dictionaries(
    {}, optional={"id": IDS | st.booleans() | st.lists(IDS, max_size=1), "method": METHODS | IDS,
                  "params": PARAMS, "result": PARAMS, "error": PARAMS},
)  # fmt: skip
ODD = {
    "flood": b"[" * 100_000,
    "deep": b'{"id":7,"method":"session/list","params":%b%b}' % (b"[" * 900, b"]" * 900),
    "far off": b'{"id":1e999,"method":"x"}',
}
UNITS = (
    st.binary(max_size=9)
    | MESSAGES.map(dump)
    | st.lists(MESSAGES, max_size=3).map(dump)
    | st.sampled_from([sent(line) for lines in CONVERSATIONS.values() for line in lines])
    | st.sampled_from(["flood", "deep", "far off"]).map(lambda name: ODD[name])
)


@given(st.sampled_from(list(CONVERSATIONS.values())), st.lists(UNITS, max_size=12))
def test_whatever_comes_in_every_live_request_is_answered_or_listed(conversation, units):
    player = player_of(conversation)
    released = [release.number for release in player.start()]
    for unit in units:
        for release in player.receive(unit):
            assert release.data
            released.append(release.number)
    for waiting in player.waiting():
        assert len(player.give_up(waiting.lane)) == len(waiting.requests) > 0
    assert player.waiting() == player.client_ended() == []
    played = [number for number in released if number is not None]
    assert len(played) == len(set(played))
    report = player.report()
    assert orjson.loads(orjson.dumps(report.as_json()))["clean"] is report.clean
    assert player.finished is (not report.unplayed)
    assert all(isinstance(line, str) for line in report.lines())


@given(st.sampled_from(list(CONVERSATIONS.values())), st.lists(UNITS, max_size=6))
def test_the_same_input_gives_the_same_output(conversation, units):
    def play():
        player = player_of(conversation)
        releases = player.start() + [r for unit in units for r in player.receive(unit)]
        return [release.data for release in releases], player.report()

    assert play() == play()


def test_what_a_lane_holds_costs_nothing_until_it_is_its_turn():
    """16 times the recording in 16 times the time, not in 256 times."""

    def seconds(count):
        recorded = Recorded.of([prompt(1, "s"), *[says("s", "x")] * count, answers(1, END)])
        player = Player(recorded.script, read=recorded.read)
        start = time.process_time()
        releases = player.receive(sent(prompt(1, "s")))
        assert sum(len(release.data) for release in releases) > count
        return time.process_time() - start

    seconds(500)
    assert seconds(16_000) < 100 * seconds(1_000)


def test_a_batch_of_one_is_answered_under_the_live_id():
    player = player_of([request(1, "x"), noise(b'[{"id":1,"result":{}}]\n')])
    (release,) = player.receive(b'{"jsonrpc":"2.0","id":"two","method":"x"}')
    assert release.data == b'[{"id":"two","result":{}}]\n'
    assert player.report().clean


def test_a_batch_of_one_answers_the_agent():
    recorded = [*new(1, "s1"), permission(0, "s1"), noise(b'[{"id":0,"result":{}}]\n', Side.CLIENT)]
    player = player_of(recorded)
    hear(player, new_request(1))
    player.receive(b'[{"id":0,"result":{}}]')
    assert player.report().clean


def test_a_request_that_two_batches_of_other_lanes_wait_for():
    """One quotes it, the other answers it, each in the lane of another request."""
    conversation = [
        request(1, "session/new", cwd=HOME),
        request(2, "session/list"),
        request(3, "auth/status"),
        noise(
            b'[{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1"}},'
            b'{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"requestId":2}}]\n'
        ),
        answers(1, {"sessionId": "s1"}),
        answer(0, {"action": "accept"}),
        noise(b'[{"jsonrpc":"2.0","id":3,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]\n'),
    ]
    player = player_of(conversation)
    said = [line for line in conversation if line.side is Side.CLIENT]
    assert hear(player, *said) == [[], [5, 6], [8], []]
    assert player.report().lines() == []
    assert player.finished
