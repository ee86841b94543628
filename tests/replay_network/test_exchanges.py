"""Which exchanges carry a conversation, how it ended, and what answers the others."""

import pytest

from acptap.errors import DamagedCassette
from acptap.jsonrpc import Side
from acptap.replay.framing import Framing
from acptap.replay.plain import PlainExchanges, Purpose
from acptap.replay.script import Ending, StepKind
from tests.replay_network.recorded import (
    AGREED,
    INITIALIZE,
    Recorded,
    call,
    heard,
    http_tape,
    result,
)
from tests.replay_network.tapes import EVENTS, JSON, HttpTape, SocketTape, Tape

LIST = call(1, "session/list")


def said(script):
    """Return the methods of a script's steps, in recorded order."""
    steps = sorted(
        (step for lane in script.lanes for step in lane.steps), key=lambda step: step.number
    )
    return [f"{step.side}: {step.method}" for step in steps]


def test_bodies_are_messages_only_where_they_are_json_rpc():
    tape = http_tape()
    tape.post(LIST, 202, '{"ok":true}')
    tape.post(call(2, "session/list"), 202, b"OK")
    tape.post(call(3, "session/list"), 200, result(3))
    tape.stream("s1")
    tape.delete()
    [script] = Recorded(tape).scripts
    assert said(script) == [
        "client: initialize", "agent: initialize", "client: session/list", "client: session/list",
        "client: session/list", "agent: session/list",
    ]  # fmt: skip


def test_exchanges_of_nobody_are_no_part_of_a_conversation():
    tape = HttpTape()
    number = tape.request("GET", "/health")
    tape.response(number, 200, body='{"method":"x"}')
    tape.connect(INITIALIZE, AGREED)
    number = tape.request("POST", "/other", body=LIST)
    tape.response(number, 200, body=result(1))
    tape.request("GET", "/unanswered")
    recorded = Recorded(tape)
    assert said(recorded.scripts[0]) == ["client: initialize", "agent: initialize"]
    targets = [exchange.request.target for exchange in recorded.exchanges.plain]
    assert targets == ["/health", "/other"]


def test_what_stands_outside_of_any_known_exchange_is_passed_over():
    tape = http_tape()
    tape.add("agent", ',"msg":{"method":"x"}', exchange=99, stream="session")
    tape.add("agent", exchange="odd", event="end")
    [script] = Recorded(tape).scripts
    assert said(script) == ["client: initialize", "agent: initialize"]


def test_attempts_that_were_turned_down_are_no_connections():
    tape = HttpTape()
    for status in (503, 307):
        number = tape.request("POST", "/acp", JSON, conn=1, body=INITIALIZE)
        tape.response(number, status, conn=1)
    tape.connect(INITIALIZE, AGREED)
    number = tape.request("GET", "/acp", ["Upgrade", "WebSocket"], conn=2)
    tape.response(number, 403, conn=2)
    number = tape.request("GET", "/acp", ["Acp-Connection-Id", "gone"], conn=3)
    tape.response(number, 404, conn=3)
    recorded = Recorded(tape)
    assert len(recorded.scripts) == 1
    plain = recorded.exchanges.plain
    statuses = [exchange.response and exchange.response.status for exchange in plain]
    assert statuses == [503, 307, 403, 404]
    assert [exchange.begun for exchange in plain] == [0, 0, 1, 1]


def test_a_connection_whose_beginning_was_not_answered_is_one():
    tape = Tape()
    tape.request("POST", "/acp", JSON, body=INITIALIZE)
    [script] = Recorded(tape).scripts
    assert said(script) == ["client: initialize"]


def test_a_websocket_without_a_message_is_no_connection():
    tape = SocketTape().connect()
    tape.say([("agent", b"reload")]).fact("client", "end")
    recorded = Recorded(tape)
    assert recorded.scripts == []
    assert recorded.exchanges.plain == []


def test_interim_answers_answer_nothing():
    tape = Tape()
    number = tape.request("POST", "/acp", JSON, body=INITIALIZE)
    tape.response(number, 100)
    tape.response(number, 200, JSON, body=AGREED)
    assert len(Recorded(tape).scripts) == 1


# Ends


def http(*ends):
    def make():
        tape = http_tape()
        tape.stream("s1")
        for end in ends:
            end(tape)
        return tape

    return make


def socket(*facts):
    def make():
        tape = SocketTape().connect().say([("client", INITIALIZE), ("agent", AGREED)])
        for side, event, more in facts:
            tape.fact(side, event, **more)
        return tape

    return make


CLOSE = {"code": 4404, "reason": "session gone"}
ENDINGS = {
    "DELETE before the streams end": (
        http(lambda tape: tape.delete(), lambda tape: tape.end()),
        Ending(before_client=False),
    ),
    "the connection's stream ends": (http(lambda tape: tape.end()), Ending(before_client=True)),
    "the connection's stream breaks off": (
        http(lambda tape: tape.end(None, "abort", reason="reset")),
        Ending(before_client=True, is_cut=True),
    ),
    "a session's stream ends": (http(lambda tape: tape.end("s1")), Ending()),
    "the client leaves the stream": (http(lambda tape: tape.end(side="client")), Ending()),
    "the proxy was ended": (
        http(lambda tape: tape.end(None, "abort", reason="closed")), Ending(),
    ),
    "the connection's stream is opened again": (
        http(lambda tape: tape.end(), lambda tape: tape.stream(None)), Ending(),
    ),
    "something more is said": (
        http(lambda tape: tape.end(), lambda tape: tape.tell(b":\n\n", "s1")), Ending(),
    ),
    "the agent closes": (
        socket(("agent", "close", CLOSE), ("client", "close", CLOSE), ("agent", "end", {})),
        Ending(before_client=True, close_code=4404, reason="session gone"),
    ),
    "the agent closes without a code": (
        socket(("agent", "close", {}), ("client", "close", {})), Ending(before_client=True),
    ),
    "the client closes": (
        socket(("client", "close", {"code": 1001}), ("agent", "close", {"code": 1001})),
        Ending(before_client=False, close_code=1001),
    ),
    "the agent's side ends without a close": (
        socket(("agent", "end", {}), ("client", "end", {})),
        Ending(before_client=True, is_cut=True),
    ),
    "the agent's side breaks off": (
        socket(("agent", "abort", {"reason": "reset"})), Ending(before_client=True, is_cut=True),
    ),
    "a ping": (socket(("agent", "ping", {"text": ""})), Ending()),
}  # fmt: skip


@pytest.mark.parametrize(("tape", "ending"), ENDINGS.values(), ids=ENDINGS)
def test_endings(tape, ending):
    [script] = Recorded(tape()).scripts
    assert script.ending == ending


def test_what_the_client_says_after_the_end_was_read_by_nobody():
    tape = http_tape().end()
    tape.post(LIST, 404)
    [script] = Recorded(tape).scripts
    [late] = [step for lane in script.lanes for step in lane.steps if step.method == "session/list"]
    assert late.optional


# Messages that were turned down

ASKED = call(7, "session/request_permission", sessionId="s1", options=[])
ALLOWED = result(7, outcome={"outcome": "cancelled"})


def refused_tape():
    tape = http_tape()
    tape.post(call(1, "session/load", sessionId="s1"), 400, b"Missing", ["Content-Type", "a/b"])
    tape.post(call(None, "session/cancel", sessionId="s1"), 400)
    tape.post(call(2, "session/list"))
    tape.tell(result(2))
    return tape


def test_what_was_turned_down_is_turned_down_again_over_http():
    player = Recorded(refused_tape()).player(Framing.BLOCK)
    assert heard(player, INITIALIZE)
    assert player.refused is None
    assert heard(player, call(1, "session/load", sessionId="mine")) == []
    load, cancel = player.script.refused.values()
    assert (load.status, load.headers) == (400, (("Content-Type", "a/b"),))
    assert player.refused is load
    assert heard(player, call(None, "session/cancel", sessionId="mine")) == []
    assert player.refused is cancel
    assert player.waiting() == []
    assert len(heard(player, call(2, "session/list"))) == 1
    assert player.refused is None
    assert player.finished
    assert player.report().clean


@pytest.mark.parametrize("framing", [Framing.LINE, Framing.TEXT])
def test_elsewhere_a_request_that_was_turned_down_gets_an_error(framing):
    player = Recorded(refused_tape()).player(framing)
    [_, error] = heard(player, INITIALIZE, call(1, "session/load", sessionId="mine"))
    assert error.strip() == (
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"HTTP 400",'
        b'"data":{"status":400}}}'
    )
    assert heard(player, call(None, "session/cancel", sessionId="mine")) == []
    assert player.refused is None
    heard(player, call(2, "session/list"))
    assert player.report().clean


def asking_tape(*, retry):
    tape = http_tape()
    tape.post(call(1, "session/prompt", sessionId="s1"))
    tape.tell(ASKED, "s1")
    tape.post(ALLOWED, 400)
    tape.post(ALLOWED, 500)
    if retry:
        tape.post(ALLOWED)
        tape.tell(result(1), "s1")
    return tape


SAID = INITIALIZE, call(1, "session/prompt", sessionId="s1")


def test_an_answer_is_turned_down_as_often_as_it_was():
    player = Recorded(asking_tape(retry=True)).player(Framing.BLOCK)
    heard(player, *SAID)
    for status in (400, 500):
        assert heard(player, ALLOWED) == []
        assert player.refused.status == status
    assert len(heard(player, ALLOWED)) == 1
    assert player.refused is None
    assert player.report().clean


@pytest.mark.parametrize("retry", [True, False])
def test_elsewhere_an_answer_is_taken_at_once(retry):
    player = Recorded(asking_tape(retry=retry)).player(Framing.TEXT)
    heard(player, *SAID)
    assert len(heard(player, ALLOWED)) == retry
    assert player.report().clean


def test_nothing_comes_of_an_answer_that_never_arrived():
    tape = asking_tape(retry=False)
    tape.post(result(99), 400)
    tape.post('{"jsonrpc":"2.0","neither":1}', 400)
    [script] = Recorded(tape).scripts
    steps = [step for lane in script.lanes for step in lane.steps]
    assert [step.kind for step in steps if step.side is Side.CLIENT] == [
        StepKind.REQUEST, StepKind.REQUEST, StepKind.NOISE,
    ]  # fmt: skip


# Event streams that were not given


def away_tape():
    tape = http_tape()
    for session, statuses in ((None, (409,)), ("s1", (404, 200)), ("s2", (200, 404)), ("s3", ())):
        ids = [["Acp-Connection-Id", "c1"]] + [["Acp-Session-Id", session]] * bool(session)
        for status in statuses:
            tape.response(tape.request("GET", "/acp", *ids), status, body=b"no")
    return tape


AWAY = {
    "of the connection": ([None, None], [None, None]),
    "first not": (["s1", "s1", "s1"], [404, None, None]),
    "then not": (["s2", "s2", "s2"], [None, 404, 404]),
    "of a session that the client brings along": (["mine", "mine"], [404, None]),
}


@pytest.mark.parametrize(("asked", "given"), AWAY.values(), ids=AWAY)
def test_event_streams_that_were_not_given_are_not_given(asked, given):
    player = Recorded(away_tape()).player(Framing.BLOCK)
    answers = [player.turn_away(session) for session in asked]
    assert [answer and answer.status for answer in answers] == given


def test_a_session_that_is_known_gets_its_stream():
    tape = away_tape()
    tape.post(call(1, "session/load", sessionId="s4"))
    player = Recorded(tape).player(Framing.BLOCK)
    heard(player, INITIALIZE, call(1, "session/load", sessionId="mine"))
    assert player.turn_away("mine") is None


# Plain exchanges


def plain(*requests):
    """Return the exchanges of requests, each answered with its place; None is a connection."""
    tape = HttpTape()
    for place, request in enumerate(requests):
        if request is None:
            tape.connect(INITIALIZE, AGREED)
            continue
        method, target, *rest = request
        conn = 50 + place
        headers = [header for header in rest if isinstance(header, list)]
        body = next((text for text in rest if isinstance(text, str)), None)
        number = tape.request(method, target, *headers, conn=conn, body=body)
        tape.response(number, 400 + place, conn=conn)
    recorded = Recorded(tape)
    return PlainExchanges(recorded.exchanges.plain, has_connections=bool(recorded.scripts))


def statuses(exchanges, purpose, method, target, *, begun=0, times=3):
    taken = [exchanges.take(purpose, method, target, begun) for _ in range(times)]
    return [exchange and exchange.response.status for exchange in taken]


GET = ("GET", "/acp/health?x=1")
TARGETS = {
    "/acp/health?x=1": 400,
    "/health?x=1": 400,
    "/v1/acp/health?x=1": 400,
    "http://other/acp/health?x=1": 400,
    "/acp/health": None,
    "/acp/health?x=2": None,
    "/healthy?x=1": None,
    "/?x=1": None,
}


@pytest.mark.parametrize(("target", "status"), TARGETS.items())
def test_targets(target, status):
    assert statuses(plain(GET), Purpose.OTHER, "GET", target, times=1) == [status]


def test_answers_come_in_order_and_the_last_one_again():
    exchanges = plain(("GET", "/a"), ("GET", "/x/a"), ("POST", "/a"), ("GET", "/a"))
    assert not exchanges.are_played
    assert statuses(exchanges, Purpose.OTHER, "GET", "/a") == [400, 403, 403]
    assert statuses(exchanges, Purpose.OTHER, "GET", "/x/a") == [401, 401, 401]
    assert statuses(exchanges, Purpose.OTHER, "HEAD", "/a") == [None] * 3
    assert statuses(exchanges, Purpose.OTHER, "POST", "/a", times=1) == [402]
    assert exchanges.are_played
    assert exchanges.report().lines() == [
        "unmatched: HEAD /a is not in the cassette" for _ in range(3)
    ]


BEGIN = ("POST", "/acp", JSON, INITIALIZE)
UPGRADE = ("GET", "/acp", ["Upgrade", "websocket"])


def test_attempts_are_turned_down_at_their_place():
    exchanges = plain(BEGIN, None, BEGIN, None, UPGRADE)
    assert statuses(exchanges, Purpose.INITIALIZE, "POST", "/acp", times=2) == [400, None]
    assert statuses(exchanges, Purpose.SOCKET, "GET", "/acp", begun=1, times=1) == [None]
    assert statuses(exchanges, Purpose.INITIALIZE, "POST", "/acp", begun=1, times=2) == [402, None]
    assert statuses(exchanges, Purpose.SOCKET, "GET", "/acp", begun=2, times=2) == [404, None]


OLD = ("GET", "/acp", ["Acp-Connection-Id", "old"])
AWAITED = {
    "what was not asked for": ([GET, ("POST", "/a", LIST)], [], [2, 3, 4, 5, 6]),
    "what browsers ask for": (
        [("GET", "/x/favicon.ico?v=1"), ("OPTIONS", "/a")], [], [],
    ),
    "attempts where there are no others": ([BEGIN, UPGRADE, OLD], [], [2, 3, 4, 5, 6, 7, 8]),
    "attempts, as a client over HTTP makes them": (
        [None, BEGIN, UPGRADE, OLD], [Purpose.INITIALIZE], [8, 9, 10],
    ),
    "attempts, as a client over WebSocket makes them": (
        [None, BEGIN, UPGRADE, OLD], [Purpose.SOCKET], [11, 12],
    ),
    "attempts that nobody can make": ([None, BEGIN, UPGRADE, OLD], [Purpose.STALE], []),
}  # fmt: skip


@pytest.mark.parametrize(("recorded", "seen", "lines"), AWAITED.values(), ids=AWAITED)
def test_what_must_be_asked_for(recorded, seen, lines):
    exchanges = plain(*recorded)
    for purpose in seen:
        exchanges.take(purpose, "GET", "/elsewhere", 0)
    assert exchanges.report().unplayed == lines
    assert exchanges.are_played is not bool(lines)


def test_what_browsers_ask_for_is_noted():
    exchanges = plain(GET)
    for _ in range(2):
        assert exchanges.take(Purpose.OTHER, "GET", "/favicon.ico", 0) is None
    assert exchanges.report().noted == ["GET /favicon.ico is not in the cassette, 2 times"]
    assert exchanges.report().matched


def test_another_protocol_can_not_be_played():
    tape = Tape()
    tape.response(tape.request("GET", "/", ["Upgrade", "h2c"]), 101)
    assert Recorded(tape).exchanges.plain == []


# What can't be played


def edited(**more):
    def add(tape):
        number = tape.request("GET", "/a")
        http = {"status": 200, "reason": "", "headers": []} | more
        tape.add("agent", exchange=number, event="response", http=http)

    return add


def unit(side, **more):
    return lambda tape: tape.add(side, ',"msg":{}', **more)


DAMAGED = {
    "status 0": (edited(status=0), "line 9: .* no HTTP status"),
    "status 99999": (edited(status=99999), "line 9: .* no HTTP status"),
    "status in quotes": (edited(status="200"), "line 9: .* no HTTP status"),
    "101 unasked": (edited(status=101), "line 9: .* another protocol"),
    "a blank in a name": (edited(headers=[["X y", "1"]]), "line 9: .* name .'X y'."),
    "a colon in a name": (edited(headers=[["X:", "1"]]), "line 9: .* name"),
    "no name": (edited(headers=[["", "1"]]), "line 9: .* name"),
    "no exchange": (unit("agent"), "line 8: .* .`exchange`."),
    "an odd exchange": (unit("client", exchange="1"), "line 8: .* .`exchange`."),
    "a stream x": (unit("agent", exchange=1, stream="x"), "line 8: .* .`stream`."),
    "a stream 5": (unit("agent", exchange=1, stream=5), "line 8: .* .`stream`."),
    "a client's stream": (unit("client", exchange=1, stream="events"), "line 8: .* .`stream`."),
}


@pytest.mark.parametrize(("edit", "sentence"), DAMAGED.values(), ids=DAMAGED)
def test_what_is_damaged(edit, sentence):
    tape = http_tape()
    assert Recorded(tape).scripts
    edit(tape)
    with pytest.raises(DamagedCassette, match=sentence):
        Recorded(tape)


def test_a_status_that_only_a_server_knows():
    tape = http_tape()
    edited(status=999)(tape)
    assert len(Recorded(tape).exchanges.plain) == 1


# Event streams that ended


def torn_tape(*after, event="abort", **more):
    """Return a tape on which a session's stream ends in the middle of a turn."""
    tape = http_tape()
    tape.post(call(1, "session/load", sessionId="s1"))
    tape.tell(result(1))
    tape.post(call(2, "session/prompt", sessionId="s1"))
    tape.tell(TORN, "s1")
    tape.end("s1", event, **more)
    for add in after:
        add(tape)
    return tape


TORN = b'data: {"tor'
TURN = (
    INITIALIZE,
    call(1, "session/load", sessionId="s1"),
    call(2, "session/prompt", sessionId="s1"),
)
ENDS = {
    "abort": (torn_tape(reason="reset"), [True], 0),
    "in order": (torn_tape(event="end"), [False], 0),
    "by the client": (torn_tape(event="end", side="client"), [], 1),
    "by the proxy": (torn_tape(reason="closed"), [], 1),
    "answered on the next": (torn_tape(lambda tape: tape.tell(result(2), "s1")), [True], 0),
}  # fmt: skip


@pytest.mark.parametrize(("tape", "cuts", "waiting"), ENDS.values(), ids=ENDS)
def test_a_session_stream_ends_at_its_place(tape, cuts, waiting):
    player = Recorded(tape).player(Framing.BLOCK)
    releases = player.start()
    for text in TURN:
        releases += player.receive(text.encode())
    ends = [release for release in releases if release.end is not None]
    assert [release.end.is_cut for release in ends] == cuts
    assert [(release.stream, release.data) for release in ends] == [("s1", b"")] * len(cuts)
    assert len(player.waiting()) == waiting
    said = [release.data for release in releases if release.end is None]
    assert (TORN in said) is bool(cuts)
    assert player.report().clean


def test_the_session_that_a_live_client_brings_has_its_stream_ended():
    player = Recorded(torn_tape()).player(Framing.BLOCK)
    releases = player.start()
    for text in TURN:
        releases += player.receive(text.replace("s1", "mine").encode())
    assert [release.stream for release in releases[-2:]] == ["mine", "mine"]


def test_a_stream_that_ends_after_the_client_spoke_ends_then():
    tape = http_tape()
    tape.post(call(1, "session/load", sessionId="s1"))
    tape.tell(result(1))
    tape.stream("s1")
    tape.post(call(2, "session/prompt", sessionId="s1"))
    tape.end("s1")
    player = Recorded(tape).player(Framing.BLOCK)
    heard(player, *TURN[:2])
    [release] = player.receive(TURN[2].encode())
    assert release.end is not None
    assert player.waiting() == []


def test_what_waits_in_another_session_goes_on_to_wait():
    tape = torn_tape()
    tape.post(call(3, "session/load", sessionId="s2"))
    player = Recorded(tape).player(Framing.BLOCK)
    heard(player, *TURN, call(3, "session/load", sessionId="s2"))
    assert [waiting.lane.name for waiting in player.waiting()] == ["s2"]


def test_an_end_after_the_clients_is_none():
    tape = http_tape()
    tape.post(call(1, "session/load", sessionId="s1"))
    tape.stream("s1")
    tape.delete().end("s1", "abort")
    assert Recorded(tape).scripts[0].stream_ends == {}


def test_a_stream_of_a_session_that_nobody_spoke_of():
    tape = http_tape()
    tape.stream("s1")
    tape.end("s1")
    assert Recorded(tape).scripts[0].stream_ends == {}


@pytest.mark.parametrize("framing", [Framing.LINE, Framing.TEXT])
def test_elsewhere_there_is_no_stream_to_end(framing):
    player = Recorded(torn_tape()).player(framing)
    assert len(heard(player, *TURN)) == 2
    assert len(player.waiting()) == 1


def test_half_an_event_may_be_the_last_word_of_a_connection():
    tape = http_tape()
    tape.tell(TORN)
    tape.end(None, "abort")
    assert heard(Recorded(tape).player(Framing.BLOCK), INITIALIZE)[1:] == [TORN]


def test_where_nobody_was_let_in_nobody_is():
    assert statuses(plain(BEGIN), Purpose.INITIALIZE, "POST", "/acp") == [400] * 3


def test_a_connection_that_is_gone():
    exchanges = plain(("GET", "/acp", ["Acp-Connection-Id", "old"]), ("GET", "/acp", EVENTS))
    assert statuses(exchanges, Purpose.STALE, "GET", "/acp", times=2) == [400, 400]
    assert statuses(exchanges, Purpose.OTHER, "GET", "/acp", times=1) == [401]
