import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.jsonrpc import (
    Malformed,
    Notification,
    NumberText,
    Request,
    Response,
    Side,
    read,
    read_all,
)
from acptap.wire import jsontext


def read_text(text):
    return read(jsontext.parse(text), text)


SHAPES = {
    "a method and an id is a request": (
        b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}}',
        Request(1, "session/new", {"cwd": "/w"}),
    ),
    "edge 5 null params are no absent ones to relay, and equal to read": (
        b'{"id":3,"method":"logout","params":null}',
        Request(3, "logout", None),
    ),
    "absent params": (b'{"id":3,"method":"logout"}', Request(3, "logout", None)),
    "params as an array": (b'{"id":3,"method":"m","params":[1]}', Request(3, "m", [1])),
    "a method without an id is a notification": (
        b'{"method":"session/cancel","params":{"sessionId":"s"}}',
        Notification("session/cancel", {"sessionId": "s"}),
    ),
    "edge 3 a null id is an id": (
        b'{"id":null,"method":"session/new","params":{}}',
        Request(None, "session/new", {}),
    ),
    "a method wins over a result": (
        b'{"id":1,"method":"m","result":{}}',
        Request(1, "m", None),
    ),
    "a result is a success": (b'{"id":1,"result":{"a":1}}', Response(1, {"a": 1}, None, False)),
    "edge 6 a null result is a success": (
        b'{"id":4,"result":null}',
        Response(4, None, None, False),
    ),
    "an error is none": (
        b'{"id":1,"error":{"code":-32603,"message":"x"}}',
        Response(1, None, {"code": -32603, "message": "x"}, True),
    ),
    "edge 7 an error with a null id": (
        b'{"id":null,"error":{"code":-32700,"message":"Parse error"}}',
        Response(None, None, {"code": -32700, "message": "Parse error"}, True),
    ),
    "edge 8 both a result and an error": (
        b'{"id":5,"result":{},"error":{"code":1,"message":"x"}}',
        Response(5, {}, {"code": 1, "message": "x"}, True, problem="both a result and an error"),
    ),
    "I6 neither a result nor an error": (
        b'{"jsonrpc":"2.0","id":5}',
        Response(5, None, None, True, problem="neither a result nor an error"),
    ),
    "I7 the id last": (
        b'{"jsonrpc":"2.0","result":{"stopReason":"end_turn"},"id":3}',
        Response(3, {"stopReason": "end_turn"}, None, False),
    ),
    "I7 a type in front": (
        (
            b'{"type":"com.example.rpc.JsonRpcRequest","id":3,"method":"session/prompt",'
            b'"params":{"sessionId":"s1","prompt":[]},"jsonrpc":"2.0"}'
        ),
        Request(3, "session/prompt", {"sessionId": "s1", "prompt": []}),
    ),
    "jsonrpc is not asked for": (b'{"method":"m"}', Notification("m", None)),
    "edge 16 the last method counts": (
        b'{"id":1,"method":"session/prompt","method":"session/cancel","params":{}}',
        Request(1, "session/cancel", {}),
    ),
    "edge 53 an extension": (
        b'{"id":"x1","method":"_zed.dev/workspace/buffers","params":{"language":"rust"}}',
        Request("x1", "_zed.dev/workspace/buffers", {"language": "rust"}),
    ),
    "a number": (b"5", Malformed("not an object")),
    "null": (b"null", Malformed("not an object")),
    "a string": (b'"x"', Malformed("not an object")),
    "a method that is no string": (b'{"id":1,"method":5}', Malformed("the method is no string")),
    "a null method": (b'{"id":1,"method":null,"result":1}', Malformed("the method is no string")),
    "an empty object": (b"{}", Malformed("neither a method nor an id")),
    "a result without an id": (b'{"result":{}}', Malformed("neither a method nor an id")),
    "a request whose id is a boolean": (
        b'{"id":true,"method":"m"}',
        Malformed("the id is a boolean"),
    ),
    "an answer whose id is a boolean": (
        b'{"id":false,"result":1}',
        Malformed("the id is a boolean"),
    ),
    "an id that is an object": (
        b'{"id":{"id":1.5},"method":"m"}',
        Malformed("the id is neither a string nor a number"),
    ),
    "an id that is an array": (
        b'{"id":[1],"result":1}',
        Malformed("the id is neither a string nor a number"),
    ),
}


@pytest.mark.parametrize(("text", "message"), SHAPES.values(), ids=SHAPES)
def test_read(text, message):
    assert read_text(text) == message


IDS = {
    "zero": (b"0", 0),
    "a negative one": (b"-1", -1),
    "edge 4 beyond a double's integers": (b"9007199254740993", 9007199254740993),
    "64 bits": (b"18446744073709551615", 18446744073709551615),
    "beyond 64 bits": (b"18446744073709551616", NumberText("18446744073709551616")),
    "below 64 bits": (b"-9223372036854775809", NumberText("-9223372036854775809")),
    "a fraction": (b"1.5", NumberText("1.5")),
    "an integer as a fraction": (b"1.0", NumberText("1.0")),
    "an exponent": (b"1e2", NumberText("1e2")),
    "beyond a double": (b"1E400", NumberText("1E400")),
    "I3 digits in a string": (b'"1"', "1"),
    "I3 a leading zero in a string": (b'"01"', "01"),
    "an escaped string": (rb'"\u0061"', "a"),
    "J3 a lone surrogate": (rb'"\ud800"', "\ud800"),
    "an empty string": (b'""', ""),
    "null": (b"null", None),
}


@pytest.mark.parametrize(("spelled", "id_"), IDS.values(), ids=IDS)
def test_id_of_a_request(spelled, id_):
    message = read_text(b'{"id":' + spelled + b',"method":"m"}')
    assert message == Request(id_, "m", None)
    assert type(message.id) is type(id_)


@pytest.mark.parametrize(("spelled", "id_"), IDS.values(), ids=IDS)
def test_id_of_an_answer(spelled, id_):
    message = read_text(b'{"result":{},"id":' + spelled + b"}")
    assert message == Response(id_, {}, None, False)
    assert type(message.id) is type(id_)


@pytest.mark.parametrize(("spelled", "id_"), IDS.values(), ids=IDS)
def test_id_where_strict_parsers_give_up(spelled, id_):
    message = read_text(b'{"t":"\\ud800","id":' + spelled + b',"method":"m"}')
    assert message == Request(id_, "m", None)


ODD_IDS = {
    "an id in params is another": (
        b'{"params":{"id":7},"id":1.5,"method":"m"}',
        Request(NumberText("1.5"), "m", {"id": 7}),
    ),
    "an id in a result is another": (
        b'{"result":{"id":7},"id":1.5}',
        Response(NumberText("1.5"), {"id": 7}, None, False),
    ),
    "of two ids the last counts": (
        b'{"id":1.5,"id":2.5,"method":"m"}',
        Request(NumberText("2.5"), "m", None),
    ),
    "a name written with escapes": (
        rb'{"\u0069d":1.5,"method":"m"}',
        Request(NumberText("1.5"), "m", None),
    ),
    "behind a byte order mark": (
        b'\xef\xbb\xbf{ "id" : 1.50 , "method":"m"}\r',
        Request(NumberText("1.50"), "m", None),
    ),
}


@pytest.mark.parametrize(("text", "message"), ODD_IDS.values(), ids=ODD_IDS)
def test_id_by_its_spelling(text, message):
    assert read_text(text) == message


def test_i3_ids_are_compared_by_json_type():
    spelled = [b"1", b'"1"', b"1.0", b"1.00", b"null", b'"null"', b'"1.0"', b'""']
    ids = [read_text(b'{"id":' + text + b',"method":"m"}').id for text in spelled]
    assert len(set(ids)) == len(spelled)


UNITS = {
    "one message": (b'{"method":"m"}', [Notification("m", None)]),
    "edge 11 a batch": (
        b'[{"id":1,"method":"session/list"},{"method":"session/cancel","params":{}}]',
        [Request(1, "session/list", None), Notification("session/cancel", {})],
    ),
    "a batch with a value that is no message": (
        b'[{"id":1,"result":2},5]',
        [Response(1, 2, None, False), Malformed("not an object")],
    ),
    "an array in a batch is no batch": (
        b'[[{"method":"m"}]]',
        [Malformed("not an object")],
    ),
    "an empty batch": (b"[]", [Malformed("an empty batch")]),
    "every id of a batch has its own spelling": (
        b'[{"id":1.0,"method":"a"},{"params":{"id":9},"id":2e1,"method":"b"},{"id":3,"result":0}]',
        [
            Request(NumberText("1.0"), "a", None),
            Request(NumberText("2e1"), "b", {"id": 9}),
            Response(3, 0, None, False),
        ],
    ),
}


@pytest.mark.parametrize(("text", "messages"), UNITS.values(), ids=UNITS)
def test_read_all(text, messages):
    assert read_all(jsontext.parse(text), text) == messages


def test_sides():
    assert [side.other for side in Side] == [Side.AGENT, Side.CLIENT]


NAMES = st.sampled_from(["id", "method", "params", "result", "error", "jsonrpc", "type"])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_any_value_is_read(value, spaced):
    text = json.dumps(value, separators=(" , ", " : ") if spaced else (",", ":")).encode()
    messages = read_all(jsontext.parse(text), text)
    assert len(messages) == (max(1, len(value)) if isinstance(value, list) else 1)


@given(st.integers(), st.sampled_from(["%d", "%d.0", "%de0", '"%d"']))
def test_any_id_keeps_its_spelling(number, spelling):
    spelled = (spelling % number).encode()
    message = read_text(b'{"id":' + spelled + b',"method":"m"}')
    assert str(getattr(message.id, "text", message.id)) == spelled.decode().strip('"')
