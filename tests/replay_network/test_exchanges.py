"""Which exchanges carry a conversation, how it ended, and what answers the others."""

import pytest

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
    tape.add("agent", ',"msg":{"method":"x"}', exchange="odd")
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


BEGIN = ("POST", "/acp", JSON, INITIALIZE)
UPGRADE = ("GET", "/acp", ["Upgrade", "websocket"])


def test_attempts_are_turned_down_at_their_place():
    exchanges = plain(BEGIN, None, BEGIN, None, UPGRADE)
    assert statuses(exchanges, Purpose.INITIALIZE, "POST", "/acp", times=2) == [400, None]
    assert statuses(exchanges, Purpose.SOCKET, "GET", "/acp", begun=1, times=1) == [None]
    assert statuses(exchanges, Purpose.INITIALIZE, "POST", "/acp", begun=1, times=2) == [402, None]
    assert statuses(exchanges, Purpose.SOCKET, "GET", "/acp", begun=2, times=2) == [404, None]


def test_where_nobody_was_let_in_nobody_is():
    assert statuses(plain(BEGIN), Purpose.INITIALIZE, "POST", "/acp") == [400] * 3


def test_a_connection_that_is_gone():
    exchanges = plain(("GET", "/acp", ["Acp-Connection-Id", "old"]), ("GET", "/acp", EVENTS))
    assert statuses(exchanges, Purpose.STALE, "GET", "/acp", times=2) == [400, 400]
    assert statuses(exchanges, Purpose.OTHER, "GET", "/acp", times=1) == [401]
