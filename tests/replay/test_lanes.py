import sys
import tracemalloc

import pytest

from acptap.cassette import decode_entry
from acptap.errors import DamagedCassette
from acptap.jsonrpc import Side
from acptap.replay import lanes, pieces, transcript
from acptap.replay.script import Ending, Step, StepKind, spare_key
from tests.replay.conversations import (
    END,
    INIT,
    Recorded,
    agent,
    answer,
    answers,
    asks,
    client,
    commands,
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
    tells,
)


def build(conversation):
    return Recorded.of(conversation).script


def layout(script):
    return [
        (lane.name + " (minted)" * lane.minted, [step.number for step in lane.steps])
        for lane in script.lanes
    ]


LAYOUTS = {
    "a request outside of sessions stands alone with its answer": (
        [*INIT, request(1, "session/list"), request(2, "session/list"), answers(1, {})],
        [("initialize", [2, 3]), ("session/list", [4, 6]), ("session/list", [5])],
    ),
    "a session's messages and the answers to them share a lane": (
        [*new(1, "s1"), prompt(2, "s1"), permission(0, "s1"), fail(0, -1), answers(2, END)],
        [("session/new", [2, 3]), ("s1 (minted)", [4, 5, 6, 7])],
    ),
    "a session that is brought along is open from the start": (
        [request(1, "session/load", sessionId="s"), says("s", "a"), answers(1, None)],
        [("s", [2, 3, 4])],
    ),
    "O1 what comes before the mint stands ahead of it": (
        [new_request(1), says("s1", "a"), answers(1, {"sessionId": "s1"}), says("s1", "b")],
        [("session/new", [2, 3, 4]), ("s1 (minted)", [5])],
    ),
    "a question before the mint takes its answer along": (
        [new_request(1), permission(0, "s1"), fail(0, -1), answers(1, {"sessionId": "s1"})],
        [("session/new", [2, 3, 4, 5])],
    ),
    "what comes before the request for a session follows the step before": (
        [*INIT, says("s1", "a"), *new(1, "s1")],
        [("initialize", [2, 3, 4]), ("session/new", [5, 6])],
    ),
    "a fork mints in its source's lane": (
        [
            request(1, "session/fork", sessionId="a"),
            says("b", "x"),
            answers(1, {"sessionId": "b"}),
            prompt(2, "b"),
        ],
        [("a", [2, 3, 4]), ("b (minted)", [5])],
    ),
    "a session that the client named before is not minted": (
        [prompt(1, "s1"), *new(2, "s1"), answers(1, END)],
        [("s1", [2, 5]), ("session/new", [3, 4])],
    ),
    "a session is minted once": (
        [*new(1, "s1"), *new(2, "s1"), prompt(3, "s1")],
        [("session/new", [2, 3]), ("session/new", [4, 5]), ("s1 (minted)", [6])],
    ),
    "a failed request mints nothing": (
        [
            new_request(1),
            agent({"id": 1, "error": {"code": 1}, "result": {"sessionId": "s1"}}),
            prompt(2, "s1"),
        ],
        [("session/new", [2, 3]), ("s1", [4])],
    ),
    "a session that the agent spoke of first follows the step before, whole": (
        [*new(1, "s1"), prompt(2, "s1"), says("kid", "a"), answers(2, END), prompt(3, "kid")],
        [("session/new", [2, 3]), ("s1 (minted)", [4, 5, 6, 7])],
    ),
    "edge 44 an elicitation stands with the request it quotes, and its end with it": (
        [
            new_request(12),
            request(13, "session/list"),
            asks(1, "elicitation/create", requestId=12, elicitationId="e"),
            answer(1, {}),
            answers(13, {}),
            tells("elicitation/complete", elicitationId="e"),
            answers(12, {}),
        ],
        [("session/new", [2, 4, 5, 7, 8]), ("session/list", [3, 6])],
    ),
    "an elicitation that quotes an answered request still stands with it": (
        [*INIT, request(1, "session/list"), asks(1, "elicitation/create", requestId=0)],
        [("initialize", [2, 3, 5]), ("session/list", [4])],
    ),
    "an elicitation that quotes nothing stands behind the step before": (
        [
            *INIT,
            asks(1, "elicitation/create", requestId=True),
            asks(2, "elicitation/create", requestId=7),
            tells("elicitation/complete", elicitationId="x"),
            tells("elicitation/complete"),
            agent({"method": "elicitation/complete", "params": [1]}),
        ],
        [("initialize", [2, 3, 4, 5, 6, 7, 8])],
    ),
    "edge 26 the withdrawal of a permission stands with it": (
        [
            *new(1, "s1"),
            *new(2, "s2"),
            prompt(3, "s1"),
            permission(8, "s1"),
            prompt(4, "s2"),
            tells("$/cancel_request", requestId=8),
        ],
        [
            ("session/new", [2, 3]),
            ("session/new", [4, 5]),
            ("s1 (minted)", [6, 7, 9]),
            ("s2 (minted)", [8]),
        ],
    ),
    "a client's stop stands with the request it quotes": (
        [prompt(1, "a"), prompt(2, "b"), notify("$/cancel_request", requestId=1)],
        [("a", [2, 4]), ("b", [3])],
    ),
    "whatever else the agent says stands behind the step before": (
        [
            noise(b"hello\n"),
            request(1, "session/list"),
            tells("_x/ping"),
            prompt(2, "s"),
            noise(b"\n"),
            answers(99, {}),
            fails(None, -1),
            agent({"id": 3}),
            asks(0, "_x/ask"),
            answer(0, {}),
        ],
        [("the start", [2]), ("session/list", [3, 4]), ("s", [5, 6, 7, 8, 9, 10, 11])],
    ),
    "what the client may leave out stands behind the step before": (
        [
            *INIT,
            noise(b"\n", Side.CLIENT),
            fail(None, -32700),
            fail(7, -1),
            notify("_x/ping"),
            client(5),
            client([]),
            notify("$/cancel_request", requestId=99),
        ],
        [("initialize", [2, 3, 4, 5, 6, 7, 8, 9, 10])],
    ),
    "a notification of the client outside of sessions stands alone": (
        [prompt(1, "s"), notify("mcp/message", serverId="m"), answers(1, END)],
        [("s", [2, 4]), ("mcp/message", [3])],
    ),
    "edge 10 a second answer stands with the request too": (
        [request(1, "session/list"), answers(1, {}), prompt(2, "s"), answers(1, {})],
        [("session/list", [2, 3, 5]), ("s", [4])],
    ),
    "I5 of two open requests with one id the oldest is answered first": (
        [prompt(1, "a"), prompt(1, "b"), answers(1, END), answers(1, END)],
        [("a", [2, 4]), ("b", [3, 5])],
    ),
    "edge 3 a null id is an id": (
        [request(None, "session/list"), prompt(2, "s"), answers(None, {})],
        [("session/list", [2, 4]), ("s", [3])],
    ),
    "commands come ahead of the prompts they came after": (
        [*new(1, "s"), prompt(2, "s"), prompt(3, "s"), commands("s"), says("s", "a")],
        [("session/new", [2, 3]), ("s (minted)", [6, 4, 5, 7])],
    ),
    "commands behind an answer stay where they are": (
        [*new(1, "s"), prompt(2, "s"), answers(2, END), commands("s")],
        [("session/new", [2, 3]), ("s (minted)", [4, 5, 6])],
    ),
    "commands part no window": (
        [
            *new(1, "s"),
            request(2, "session/set_mode", sessionId="s"),
            prompt(3, "s"),
            commands("s"),
        ],
        [("session/new", [2, 3]), ("s (minted)", [4, 5, 6])],
    ),
    "commands pass what the client may leave out": (
        [*new(1, "s"), notify("_x/ping", sessionId="s"), prompt(3, "s"), commands("s")],
        [("session/new", [2, 3]), ("s (minted)", [4, 6, 5])],
    ),
    "commands are not said before the client has said anything": (
        [prompt(1, "s"), commands("s"), answers(1, END), prompt(2, "s"), commands("s")],
        [("s", [2, 3, 4, 6, 5])],
    ),
    "commands of another session stay": (
        [prompt(1, "s"), answers(1, END), prompt(2, "s"), commands("kid")],
        [("s", [2, 3, 4, 5])],
    ),
    "a batch of the client's is one step for each message": (
        [client([request(1, "session/list").message, 7, prompt(2, "s").message])],
        [("session/list", [2, 2]), ("s", [2])],
    ),
    "a batch of the agent's is one step": (
        [prompt(1, "s"), request(2, "session/list"), agent([{}, {"id": 2, "result": {}}])],
        [("s", [2]), ("session/list", [3, 4])],
    ),
    "edge 55 a call in a conductor's envelope is what it wraps": (
        [
            request(1, "proxy/successor", method="session/prompt", params={"sessionId": "s"}),
            answers(1, END),
        ],
        [("s", [2, 3])],
    ),
    "nothing recorded": ([], []),
}


@pytest.mark.parametrize(("conversation", "expected"), LAYOUTS.values(), ids=LAYOUTS)
def test_layout(conversation, expected):
    script = build(conversation)
    assert layout(script) == expected
    for lane in script.lanes:
        assert [step.place for step in lane.steps] == list(range(len(lane.steps)))
        assert {step.home for step in lane.steps} == {lane}
    assert script.size == sum(not step.optional for lane in script.lanes for step in lane.steps)


PHASES = {
    "a window and what follows it": (
        [prompt(1, "s"), prompt(2, "s"), says("s", "a"), answers(1, END), prompt(3, "s")],
        [0, 0, 0, 0, 1],
    ),
    "what the client may leave out begins no window": (
        [prompt(1, "s"), says("s", "a"), notify("_x", sessionId="s"), says("s", "b")],
        [0, 0, 0, 0],
    ),
    "what the agent says first": ([noise(b"a\n"), noise(b"\n", Side.CLIENT)], [0, 0]),
}


@pytest.mark.parametrize(("conversation", "expected"), PHASES.values(), ids=PHASES)
def test_phases(conversation, expected):
    (lane,) = build(conversation).lanes
    assert [step.phase for step in lane.steps] == expected


def test_what_the_client_may_leave_out_is_counted():
    script = build(
        [
            noise(b"\n", Side.CLIENT),
            client(5),
            fail(None, -32700),
            fail("x", -1),
            notify("_x/ping"),
            notify("_x/ping"),
            notify("$/cancel_request", requestId=1),
        ]
    )
    assert script.spare == {
        spare_key(StepKind.NOISE, "", None): 2,
        spare_key(StepKind.ANSWER, "", None): 1,
        spare_key(StepKind.ANSWER, "", "x"): 1,
        spare_key(StepKind.NOTIFICATION, "_x/ping", None): 2,
        spare_key(StepKind.NOTIFICATION, "$/cancel_request", None): 1,
    }
    assert script.size == 0


def test_a_second_answer_of_the_client_may_be_left_out():
    script = build([asks(0, "_x"), answer(0, {}), answer(0, {})])
    assert [step.optional for step in script.lanes[0].steps] == [False, False, True]


def test_what_the_client_said_after_the_agents_end_may_be_left_out():
    script = build([*INIT, agent(None, '"event":"exit","code":1'), request(1, "session/list")])
    assert [step.optional for lane in script.lanes for step in lane.steps] == [False, False, True]


ENDINGS = {
    "the agent left first": (
        [agent(None, '"event":"end"'), agent(None, '"event":"exit","code":3')],
        Ending(before_client=True, code=3),
    ),
    "the client left first": (
        [client(None, '"event":"end"'), agent(None, '"event":"exit","signal":"SIGTERM"')],
        Ending(before_client=False, signal="SIGTERM"),
    ),
    "the client left in between": (
        [
            agent(None, '"event":"end"'),
            client(None, '"event":"end"'),
            agent(None, '"event":"exit","code":0'),
        ],
        Ending(before_client=True, code=0),
    ),
    "a recording that was cut off": ([], Ending()),
    "other events say nothing about it": ([agent(None, '"event":"stderr"')], Ending()),
}


@pytest.mark.parametrize(("events", "ending"), ENDINGS.values(), ids=ENDINGS)
def test_ending(events, ending):
    script = build(events)
    assert script.ending == ending
    assert script.lanes == []


def entries(*rows):
    return [
        decode_entry(b'{"at":%b,"from":"%b"%b}' % row, number, number, "c")
        for number, row in enumerate(rows, 2)
    ]


def test_reads_end_where_the_time_changes_on_one_side():
    ping = b',"msg":{"method":"x"}'
    script = lanes.build(
        entries(
            (b"1.0", b"agent", ping),
            (b"1.0", b"agent", ping),
            (b"1.5", b"client", ping),
            (b"2.0", b"agent", ping),
        )
    )
    steps = [step for lane in script.lanes for step in lane.steps]
    assert {step.number: step.ends_read for step in steps} == {
        2: False, 3: True, 4: True, 5: True,
    }  # fmt: skip


def test_a_connection_keeps_its_number_and_its_uses():
    script = lanes.build(
        entries(
            (b"1", b"agent", b',"conn":3,"event":"open"'),
            (b"2", b"agent", b',"conn":3,"msg":{"id":1,"method":"fs/read_text_file"}'),
            (b"3", b"agent", b',"conn":3,"msg":{"id":2,"method":"fs/read_text_file"}'),
        )
    )
    assert (script.conn, script.uses) == (3, {"fs/read_text_file": 3})


def piece(text, more):
    text = text.replace('"', '\\"').encode()
    note = b'"notes":[{"rule":"stdio/oversize"}]'
    return (b',"more":true,' if more else b",") + note + b',"text":"%b"' % text


LONG = '{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}'


def test_a_clients_unit_in_pieces_stands_where_it_ends():
    script = lanes.build(
        entries(
            (b"1", b"client", piece(LONG[:9], True)),
            (b"2", b"agent", b',"msg":{"method":"x","params":{"sessionId":"s"}}'),
            (b"3", b"client", piece(LONG[9:] + "\\n", False)),
        )
    )
    (lane,) = script.lanes
    first, second = lane.steps
    assert (first.side, second.method, second.session) == (Side.AGENT, "session/prompt", "s")
    assert [step.number for step in (second, *second.pieces)] == [2, 4]


def test_an_agents_unit_in_pieces_stands_where_it_begins():
    update = '{"method":"session/update","params":{"sessionId":"s"}}'
    script = lanes.build(
        entries(
            (b"1", b"client", b',"msg":' + LONG.encode()),
            (b"2", b"agent", piece(update[:9], True)),
            (b"3", b"client", b',"msg":' + LONG.replace("1", "2").encode()),
            (b"4", b"agent", piece(update[9:], True)),
            (b"5", b"agent", piece("\\n", False)),
            (b"6", b"agent", b',"msg":{"id":1,"result":{}}'),
        )
    )
    (lane,) = script.lanes
    assert [step.number for step in lane.steps] == [2, 3, 4, 7]
    assert [step.number for step in lane.steps[1].pieces] == [5, 6]
    assert lane.steps[1].method == "session/update"


def test_units_whose_last_piece_never_came_are_left_out():
    script = lanes.build(
        entries((b"1", b"agent", piece("{}", True)), (b"2", b"client", piece("{}", True)))
    )
    assert script.lanes == []


def test_a_unit_behind_an_unfinished_one_is_no_recording():
    torn = entries((b"1", b"agent", piece('{"jsonrpc":', True)), (b"2", b"agent", b',"msg":{}'))
    with pytest.raises(DamagedCassette, match="line 3: a unit begins although"):
        lanes.build(torn)


def test_a_unit_too_long_to_be_joined_is_no_message(monkeypatch):
    monkeypatch.setattr(pieces, "JOINED_LIMIT", 20)
    script = lanes.build(
        entries(
            (b"1", b"client", piece(LONG[:30], True)), (b"2", b"client", piece(LONG[30:], False))
        )
    )
    assert [step.kind for step in script.lanes[0].steps] == [StepKind.NOISE]


def test_an_answer_that_began_before_its_request_follows_the_step_before():
    script = lanes.build(
        entries(
            (b"1", b"agent", piece('{"id":1,"result":', True)),
            (b"2", b"client", b',"msg":' + LONG.encode()),
            (b"3", b"agent", piece("{}}", False)),
        )
    )
    assert layout(script) == [("the start", [2]), ("s", [3])]


def test_only_the_latest_requests_are_remembered(monkeypatch):
    monkeypatch.setattr(transcript, "_REMEMBERED", 1)
    script = build(
        [
            request(1, "session/list"),
            answers(1, {}),
            request(2, "logout"),
            answers(2, {}),
            answers(1, {}),
            answers(2, {}),
        ]
    )
    assert layout(script) == [("session/list", [2, 3]), ("logout", [4, 5, 6, 7])]


def test_home_is_known_once_the_script_is_laid_out():
    with pytest.raises(AssertionError, match="not laid out"):
        _ = Step(1, 0, 0.0, Side.AGENT).home


def test_a_script_costs_less_than_400_bytes_an_entry():
    count = 5_000
    update = says("s1", "some words").entry(2)
    tracemalloc.start()
    script = lanes.build(
        decode_entry(b'{"at":%d.5,"from":"agent","msg":%b}' % (n, update.payload), n, n * 500, "c")
        for n in range(2, count)
    )
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(script.lanes[0].steps) == count - 2
    assert size / count < 400, sys.version
