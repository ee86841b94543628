"""Bodies that are no agent's protocol: what is named like a credential in them, and large bytes."""

import json
import random

import pytest

from acptap.app.record.redacting import RedactOptions, redact_command
from acptap.http import HttpRequest
from acptap.jsonrpc import Malformed, Message, Request
from acptap.redact import Redactor, opaque
from acptap.redact.heads import clear_request
from acptap.redact.names import named
from tests.redact.test_runs import text_of, written
from tests.tap.wires import Recorded, post, response

PLAIN = "Fake7f3a9b1c2d"

NAMES = ["password", "client_secret", "refresh_token", "access_token", "id_token", "apiKey",
         "private_key", "accessKey", "clientKey", "passcode", "to\\u006ben"]  # fmt: skip
SECRETS = {
    **{name: f'{{"grant_type":"password","{name}":"{PLAIN}","id":1}}' for name in NAMES},
    "deep": f'{{"a":[1,{{"b":{{"password":"{PLAIN}"}}}}]}}',
    "a list": f'{{"tokens":["{PLAIN}x","{PLAIN}"]}}',
    "an array": f'[{{"password":"{PLAIN}"}}]',
    "of many": f'[{",".join(["[]", *(["{}"] * 100)])},{{"password":"{PLAIN}"}}]',
    "a link": f'{{"redirect":"http://h/?code={PLAIN}"}}',
    "with blanks": f'{{ "password" : "{PLAIN}" }}',
    "with escapes": f'{{"password":"\\"{PLAIN}\\u00e9"}}',
    "seen before": f'[{{"password":"{PLAIN}"}},{{"text":"it was {PLAIN}, I think"}}]',
    "like ACP": f'{{"jsonrpc":"2.0","params":{{"mcpServers":[{{"env":{{"X":"{PLAIN}"}}}}]}}}}',
}


def exchanged(text, redactor=None, protocol="auto"):
    tape = Recorded(redactor, protocol=protocol)
    line = tape.line()
    line.client(post(text))
    line.agent(response(200, text.encode(), Content_Type="application/json"))
    return tape


@pytest.mark.parametrize("protocol", ["auto", "acp", "ag-ui"])
@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
def test_secret(text, protocol):
    tape = exchanged(text, Redactor(), protocol)
    assert PLAIN not in text_of(tape)
    bodies = [entry.unit() for entry in tape.entries if entry.key]
    assert len(bodies) == 2
    assert all(b"[redacted:1]" in body for body in bodies)
    assert all(map(json.loads, bodies))


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
def test_secret_in_a_cassette_that_is_there(text, tmp_path):
    path = written(tmp_path, exchanged(text))
    assert PLAIN in path.read_text()
    assert redact_command([path], RedactOptions(), print) == 0
    assert PLAIN not in path.read_text()
    assert redact_command([path], RedactOptions(check=True), print) == 0


@pytest.mark.parametrize(
    "text",
    [
        '{"token_type":"Bearer","expires_in":3600,"max_tokens":5,"scope":"all of it"}',
        '{"token_endpoint":"https://h/token","token_endpoint_auth_methods_supported":["none"]}',
        '{"keyId":"abcdefgh1","primaryKey":"abcdefgh2","key":"abcdefgh3","publicKey":"abcdefgh4"}',
        '[{"password":null},"words"]',
        '{"password":"","text":"nothing"}',
        '{"a":{"password":true},"b":"abcdefgh5"}',
    ],
)
def test_what_stays(text):
    assert exchanged(text, Redactor()).lines == exchanged(text).lines


def test_a_word_is_not_learnt():
    tape = exchanged('[{"token":" with"},{"text":"with all"}]', Redactor())
    assert '{"text":"with all"}' in tape.entries[1].unit().decode()
    assert '{"token":"[redacted:1]"}' in tape.entries[1].unit().decode()


def test_places_have_the_name_of_their_member():
    text = b'{"password":["a"],"b":{"c":"d"}}'
    assert [(text[p.start : p.end], p.name) for p in opaque.places(text)] == [
        (b'"a"', "password"),
        (b'"d"', "c"),
    ]


def test_an_array_is_cleared_once_for_each_kind(monkeypatch):
    redactor, asked = Redactor(), []

    def message(text, _, method):
        asked.append(method)
        return text

    monkeypatch.setattr(redactor, "message", message)
    odd: list[tuple[Message, None]] = [(Malformed("x"), None)] * 1000
    calls = odd + [(Request(n, f"a/{n}", None), None) for n in range(1000)]
    redactor.batch(b"[]", calls)
    assert asked == [None, ""]


# Headers


@pytest.mark.parametrize(
    "name", ["X-Functions-Key", "Ocp-Apim-Subscription-Key", "X-Client-Key", "X-PrivateKey"]
)
def test_a_header_with_a_key(name):
    head = HttpRequest("GET", "/", [(name, PLAIN)])
    assert clear_request(Redactor(), head).headers == [(name, "[redacted:1]")]


@pytest.mark.parametrize(
    "name",
    ["Sec-WebSocket-Key", "Sec-WebSocket-Accept", "Idempotency-Key", "Surrogate-Key", "X-Key-Id"],
)
def test_a_header_with_a_key_that_opens_nothing(name):
    head = HttpRequest("GET", "/", [(name, PLAIN)])
    assert clear_request(Redactor(), head) is head


# Large bytes


def noise(size=200_000):
    return random.Random(7).randbytes(size)


LEAKS = [
    b"sk-FAKE-proj-4f9aBcD012", b"password=Fake7f3a9b1c2d", b'"env":{"A":"Fake7f3a9b1c2d"}',
    b'{\\"token\\": \\"Fake7f3a9b1c2d\\"}', b"http://u:Fake7f3a9b1c2d@h/",
    b"so it was lEarNt1234 !",
]  # fmt: skip


def taught():
    redactor = Redactor()
    redactor.message(b'{"password":"lEarNt1234"}', Malformed("x"), opaque.METHOD)
    return redactor


@pytest.mark.parametrize("leak", LEAKS)
def test_a_secret_in_large_bytes(leak):
    before, behind = noise(), noise(100_000)
    redactor = taught()
    clear = redactor.plain(before + b"\n " + leak + b" \n" + behind)
    assert clear.startswith(before)
    assert clear.endswith(behind)
    assert clear[len(before) : -len(behind)] == redactor.plain(b"\n " + leak + b" \n")
    assert b"[redacted:" in clear


def test_secrets_far_apart_in_large_bytes():
    parts = [noise(), b" sk-FAKE-proj-4f9aBcD012 ", noise(), b" sk-FAKE-proj-4f9aBcD012 ", noise()]
    hidden = [part if len(part) > 99 else b" [redacted:1] " for part in parts]
    assert Redactor().plain(b"".join(parts)) == b"".join(hidden)


def test_large_bytes_without_secrets_stay():
    data = noise()
    assert Redactor().plain(data) is data
    data = b"\xff" + b"\0" * 100_000
    assert Redactor().plain(data) is data


def test_names_stand_where_they_stood():
    assert named("\u0130\u0130 TOKEN=a, key: b, monkey: c, tokens=d, ApiKey='e'") == [3, 12, 41]
