"""What is taken out of the tape, and that nothing else is."""

import base64
import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.acp import secrets as slots
from acptap.errors import UsageError
from acptap.jsonrpc import Malformed, Response, read, read_all
from acptap.redact import Redactor
from acptap.redact.hits import PLACEHOLDER, Hit, apart
from acptap.redact.shapes import SHAPES
from acptap.redact.vault import Vault
from acptap.wire.escapes import unescape


def redact(redactor, text, method=None):
    """Redact a message, twice: what is redacted stays as it is."""
    text = text if isinstance(text, bytes) else text.encode()
    message = read(json.loads(text), text)
    once = redactor.message(text, message, method)
    assert redactor.message(once, message, method) is once
    return once.decode()


# Slots: a row for each row of acp.md 7, by the place and the method of a response

SLOTS = {
    # the method that a response answers, and a text with the secrets marked
    "session/new env": (
        None,
        (
            '{"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"m",'
            '"env":[{"name":"K","value":"«FAKE-1»"},{"name":"N","value":"«1»"},'
            '{"value":"«x»","name":"S"}]}]}}'
        ),
    ),
    "env as a map": (
        None,
        ('{"id":1,"method":"session/load","params":{"mcpServers":{"m":{"env":{"K":"«FAKE-1»"}}}}}'),
    ),
    "session/resume headers": (
        None,
        (
            '{"id":1,"method":"session/resume","params":{"mcpServers":[{"type":"http",'
            '"name":"m","headers":[{"name":"Authorization","value":"Bearer «FAKE»"},'
            '{"name":"X","value":"«y»"}]}]}}'
        ),
    ),
    "session/fork url": (
        None,
        (
            '{"id":1,"method":"session/fork","params":{"mcpServers":[{"url":"https://«u:'
            'p»@h.example/x?a=b&token=«t»&code=«c»#key=«k»"},'
            '{"url":"https://h.example/x?a=b"},{"url":"ssh://git@h.example/r"},{"url":""}]}}'
        ),
    ),
    "mcpServers args and command": (
        None,
        (
            '{"id":1,"method":"session/new","params":{"mcpServers":[{"command":'
            '"run --token=«FAKE-1»","args":["-y","--api-key","«FAKE-2»",'
            '"--password=«FAKE-3»","API_KEY=«FAKE-4»","--port","80","-H",'
            '"X-Api-Key: «FAKE-5»","Authorization: Bearer «FAKE-6»","--token","-v","--key",'
            '"/k.pem","--token"]},{"args":["FAKE-9"]}]}}'
        ),
    ),
    "systemPrompt": (
        None,
        (
            '{"id":1,"method":"session/new","params":{"systemPrompt":{"mode":"append",'
            '"content":[{"type":"text","text":"«FAKE»"}]},"mcpServers":[]}}'
        ),
    ),
    "providers/set": (
        None,
        (
            '{"id":1,"method":"providers/set","params":{"providerId":"p","apiType":"openai",'
            '"baseUrl":"https://«u:p»@gw.example/v1","headers":{"X-Key":"«FAKE»",'
            '"type":"«t»"}}}'
        ),
    ),
    "providers/list": (
        "providers/list",
        (
            '{"id":1,"result":{"providers":[{"providerId":"p",'
            '"current":{"baseUrl":"https://gw.example/?sig=«FAKE»"}}]}}'
        ),
    ),
    "authenticate": (
        None,
        (
            '{"id":1,"method":"authenticate","params":{"methodId":"m",'
            '"_meta":{"api-key":"«FAKE-1»","gateway":{"baseUrl":"«https://gw»",'
            '"headers":{"A":"«FAKE-2»"}},"id":"«FAKE-3»"}}}'
        ),
    ),
    "auth/login": (
        None,
        '{"id":1,"method":"auth/login","params":{"methodId":"m","pin":"«FAKE»"}}',
    ),
    "initialize result, v1": (
        "initialize",
        (
            '{"id":0,"result":{"authMethods":[{"id":"m","name":"Login","type":"terminal",'
            '"env":{"K":"«FAKE-1»"},"args":["login","--token","«FAKE-2»"]}]}}'
        ),
    ),
    "initialize result, v2": (
        "initialize",
        (
            '{"id":0,"result":{"authMethods":[{"methodId":"m","env":[{"name":"K",'
            '"value":"«FAKE»"}]}]}}'
        ),
    ),
    "auth/status": (
        "auth/status",
        (
            '{"id":1,"result":{"state":"authenticated","accounts":[{"label":"«FAKE-1»",'
            '"active":true,"name":"«FAKE-2»","email":"«f@example.com»",'
            '"organization":null}]}}'
        ),
    ),
    "auth/status_update": (
        None,
        ('{"method":"auth/status_update","params":{"state":"s","accounts":[{"label":"«FAKE»"}]}}'),
    ),
    "terminal/create": (
        None,
        (
            '{"id":1,"method":"terminal/create","params":{"sessionId":"s","command":"curl",'
            '"args":["--token=«FAKE-1»"],"env":[{"name":"K","value":"«FAKE-2»"}]}}'
        ),
    ),
    "elicitation/create": (
        None,
        (
            '{"id":1,"method":"elicitation/create","params":{"mode":"url",'
            '"elicitationId":"e","url":"https://login.example/«device?code=FAKE»"}}'
        ),
    ),
    "an elicitation's link to a host has nothing to hide": (
        None,
        ('{"id":1,"method":"elicitation/create","params":{"url":"https://login.example/"}}'),
    ),
    "an elicitation's link with a query only": (
        None,
        ('{"id":1,"method":"elicitation/create","params":{"url":"https://login.example?«FAKE»"}}'),
    ),
    "an elicitation's link that is no URL": (
        None,
        '{"id":1,"method":"elicitation/create","params":{"url":"«FAKE»"}}',
    ),
    "elicitation/create response": (
        "elicitation/create",
        (
            '{"id":1,"result":{"action":"accept","content":{"type":"«FAKE-1»",'
            '"many":["«FAKE-2»"],"n":5,"b":true}}}'
        ),
    ),
    "mcp/message params": (
        None,
        (
            '{"id":1,"method":"mcp/message","params":{"serverId":"s","method":"tools/call",'
            '"params":{"name":"read","arguments":{"id":"«FAKE-1»"},"api_key":"«FAKE-2»"}}}'
        ),
    ),
    "mcp/message result": (
        "mcp/message",
        (
            '{"id":1,"result":{"result":{"content":[{"type":"text","text":"«FAKE-1»"}],'
            '"structuredContent":{"a":"«FAKE-2»"},"serverInfo":{"name":"n",'
            '"token":"«FAKE-3»"}}}}'
        ),
    ),
    "mcp/message error": (
        "mcp/message",
        '{"id":1,"result":{"error":{"code":1,"message":"m","data":"«FAKE»"}}}',
    ),
    "edge 54: an error that quotes the message": (
        None,
        (
            '{"id":null,"error":{"code":-32600,"message":"Invalid request",'
            '"data":{"method":5,"params":{"mcpServers":[{"env":[{"name":"K",'
            '"value":"«sk-1»"}]}]}}}}'
        ),
    ),
    "an error that quotes a message by its method": (
        None,
        (
            '{"id":null,"error":{"code":1,"message":"m","data":{"method":"authenticate",'
            '"params":{"methodId":"m","_meta":{"x":"«FAKE»"}}}}}'
        ),
    ),
    "error.data by name": (
        "session/list",
        (
            '{"id":1,"error":{"code":1,"message":"m",'
            '"data":{"errors":[{"input":{"password":"«FAKE»"}}]}}}'
        ),
    ),
    "_meta anywhere, by name": (
        None,
        (
            '{"method":"session/update","params":{"sessionId":"s",'
            '"update":{"_meta":{"a":"b","My-Token":"«FAKE-1»","secrets":{"a":"«FAKE-2»"},'
            '"h":[{"name":"Cookie","value":"«FAKE-3»"}],"totalTokens":12,"bearer":null}}}}'
        ),
    ),
    "_meta: what is below a telling name is no secret for that": (
        "initialize",
        (
            '{"id":0,"result":{"authMethods":[{"id":"api-key","name":"API Key",'
            '"_meta":{"api-key":{"provider":"openai","keys":["a"],"tokens":["«FAKE»"]}}}]}}'
        ),
    ),
    "_meta: headers as pairs": (
        None,
        (
            '{"method":"session/update","params":{"sessionId":"s","update":{"_meta":{"headers":'
            '[{"name":"X-Id","value":"«FAKE-1»"},{"value":"Bearer «FAKE-2»","name":"A"}]}}}}'
        ),
    ),
    "_meta: JSON in a string": (
        None,
        (
            r'{"method":"session/update","params":{"update":{"_meta":{"config":'
            r'"{\"apiKey\": \"«FAKE-1»\", \"headers\": {\"X\": \"«F 2»\"}, \"a\": \"b\"}"}}}}'
        ),
    ),
    "args: JSON in a string": (
        None,
        (
            r'{"id":1,"method":"session/new","params":{"mcpServers":[{"args":["--config",'
            r'"{\"apiKey\":\"«FAKE-1»\",\"env\":{\"A\":\"«x»\"}}","{\"a\":\"b\"}"]}]}}'
        ),
    ),
    "the result of authenticate": (
        "authenticate",
        '{"id":1,"result":{"a":"b","session":{"token":"«FAKE»"}}}',
    ),
    "the result of auth/login": (
        "auth/login",
        '{"id":1,"result":{"state":"s","accessToken":"Bearer «FAKE»"}}',
    ),
    "an extension's params, by name": (
        None,
        '{"id":1,"method":"_x/y","params":{"a":"b","apiKey":"«FAKE»"}}',
    ),
    "an extension's result, by name": (
        "_x/y",
        '{"id":1,"result":{"authorization":"Basic «FAKE»","a":"b"}}',
    ),
    "edge 55: a wrapped call": (
        None,
        (
            '{"id":1,"method":"proxy/successor","params":{"method":"auth/login",'
            '"params":{"k":"«FAKE»"}}}'
        ),
    ),
    "edge 16: a method written twice": (
        None,
        '{"id":1,"method":"session/list","method":"auth/login","params":{"k":"«FAKE»"}}',
    ),
    "a member written twice": (
        None,
        '{"id":1,"method":"auth/login","params":{"k":"«FAKE-1»","k":"«FAKE-2»"}}',
    ),
    "a response to nobody knows what": (
        None,
        '{"id":1,"result":{"accounts":[{"label":"«FAKE»"}]}}',
    ),
    "escaped member names": (
        None,
        (
            r'{"id":1,"method":"session\/new","params":{"mcpServer\u0073":[{"env":[{"name":'
            r'"K","valu\u0065":"«F\"\u00e9\\»"}]}]}}'
        ),
    ),
}


def marked(text):
    """Return a text without the marks, and with placeholders for what is marked."""
    numbers: dict[str, int] = {}

    def number(mark):
        return f"[redacted:{numbers.setdefault(mark[1], len(numbers) + 1)}]"

    return re.sub("«(.*?)»", r"\1", text), re.sub("«(.*?)»", number, text)


@pytest.mark.parametrize(("method", "text"), SLOTS.values(), ids=SLOTS)
def test_slots(method, text):
    before, after = marked(text)
    redactor = Redactor()
    assert redactor.suspects(before.encode())
    assert redact(redactor, before, method) == after
    assert redactor.secrets == len(set(PLACEHOLDER.findall(after)))


def test_values_of_other_types_keep_their_type():
    values = [123456, None, True, {"a": 1}, "", 0, 1.5, [7]]
    hidden = [0, None, True, {"a": 1}, "", 0, 0, [7]]
    text = '{"id":1,"method":"session/new","params":{"mcpServers":[{"env":%s}]}}'

    def named(name, values):
        return text % json.dumps([{"name": name, "value": value} for value in values])

    redactor = Redactor()
    assert redact(redactor, named("KEY", values)) == named("KEY", hidden)
    assert (redactor.replaced, redactor.secrets) == (2, 2)
    assert redact(redactor, named("N", [5])) == named("N", [5])


CLEAN = {
    "a chunk": (
        None,
        (
            '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s",'
            '"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text",'
            '"text":"key: see sk-learn, Bearer tokens, a=b, me@example.com,'
            ' https://example.com/a?b=c, Basic ideas"}}}}'
        ),
    ),
    "usage": (
        None,
        (
            '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s",'
            '"update":{"sessionUpdate":"usage_update","used":5,'
            '"_meta":{"toolName":"Bash"}}}}'
        ),
    ),
    "a response": ("session/prompt", '{"id":1,"result":{"stopReason":"end_turn"}}'),
    "a file": ("fs/read_text_file", '{"id":1,"result":{"content":"x"}}'),
    "a prompt": (
        None,
        (
            '{"id":1,"method":"session/prompt","params":{"sessionId":"s",'
            '"prompt":[{"type":"text","text":"what is a token?"}]}}'
        ),
    ),
    "a session without servers": (
        None,
        '{"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}',
    ),
}


@pytest.mark.parametrize(("method", "text"), CLEAN.values(), ids=CLEAN)
def test_clean_messages_are_handed_back(method, text):
    data = text.encode()
    redactor = Redactor()
    assert redactor.message(data, read(json.loads(data), data), method) is data
    assert (redactor.replaced, redactor.secrets) == (0, 0)


# Shapes: in any string

FAKE = "FAKE0fake1FAKE2fake3FAKE4fake5FAKE6fake7"
KEYS = {
    "sk-": (f"use sk-proj-{FAKE}.", "use [redacted:1]."),
    "sk-, short": ("sk-live-123", "[redacted:1]"),
    "AIza": (f"AIza{FAKE}", "[redacted:1]"),
    "ghp_": (f"(ghp_{FAKE})", "([redacted:1])"),
    "ghs_": (f"ghs_{FAKE}", "[redacted:1]"),
    "github_pat_": (f"github_pat_11{FAKE}_x", "[redacted:1]"),
    "xoxb-": ("xoxb-123456789012-FAKE", "[redacted:1]"),
    "AKIA": ("id AKIAIOSFODNN7EXAMPLE.", "id [redacted:1]."),
    "JWT": (f"eyJhbGciOi.eyJ{FAKE}.{FAKE}-_", "[redacted:1]"),
    "Bearer": ("authorization: Bearer FAKE-123", "authorization: Bearer [redacted:1]"),
    "Bearer and a long word": (f"Bearer {'a' * 24}", "Bearer [redacted:1]"),
    "Basic": ("Basic dXNlcjpwdw==", "Basic [redacted:1]"),
    "PEM": (
        "x\n-----BEGIN RSA PRIVATE KEY-----\nFA-KE\n-----END RSA PRIVATE KEY-----\ny",
        "x\n-----BEGIN RSA PRIVATE KEY-----[redacted:1]-----END RSA PRIVATE KEY-----\ny",
    ),
    "PEM without an end": (
        "-----BEGIN PRIVATE KEY-----\nFAKE",
        "-----BEGIN PRIVATE KEY-----[redacted:1]",
    ),
    "user info": ("see https://u:p@ss@h.example/x", "see https://[redacted:1]@h.example/x"),
    "user info, a token": (f"https://{FAKE}@h.example", "https://[redacted:1]@h.example"),
    "X1: query": (
        "/x?api_key=FAKE-123&token=FAKE-456&a=b",
        "/x?api_key=[redacted:1]&token=[redacted:2]&a=b",
    ),
    "signed URL": ("?X-Amz-Signature=FAKE&n=1", "?X-Amz-Signature=[redacted:1]&n=1"),
    "a line of .env": (
        'A=1\nexport DB_PASSWORD="FAKE1234"',
        'A=1\nexport DB_PASSWORD="[redacted:1]"',
    ),
    "on a new line": (
        f"\nAKIAIOSFODNN7EXAMPLE\neyJhbGciOi.eyJhbGciOi.x \u2028AIza{FAKE}",
        "\n[redacted:1]\n[redacted:2] \u2028[redacted:3]",
    ),
    "twice the same": (f"ghp_{FAKE} ghp_{FAKE}", "[redacted:1] [redacted:1]"),
    "in JSON in a string": (
        f'{{"a":"ghp_{FAKE}\\n","b":"https:\\/\\/u:p@h\\/"}}',
        '{"a":"[redacted:1]\\n","b":"https:\\/\\/[redacted:2]@h\\/"}',
    ),
}
INNOCENT = {
    "words": "Bearer tokens. Bearer authentication, Basic understanding, Basic JavaScript, Bearer",
    "short": "sk-learn ghp_x AIza AKIA eyJ xoxb-",
    "inside of base64": f"/9jAKIAIOSFODNN7EXAMPLE aghp_{FAKE} xAIza{FAKE}",
    "a user without a password": "ssh://git@h.example postgres://me@h.example",
    "templates": "https://h/?token=$TOKEN&key={key} API_KEY=$SECRET_VALUE TOKEN=<your-token-here>",
    "code": "sorted(x, key=len); token = get()",
    "already redacted": "Bearer [redacted:2] https://[redacted:3]@h/?token=[redacted:4]",
}


def update(text):
    content = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"update": content}}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(("text", "expected"), KEYS.values(), ids=KEYS)
def test_keys_in_strings(text, expected):
    redactor = Redactor()
    data = update(text).encode()
    innocent = update("hello").encode()
    assert redactor.suspects(data)
    assert redactor.suspects(json.dumps(json.loads(data), separators=(",", ":")).encode())
    assert redactor.suspects(b"\n".join([innocent, data, innocent, b""]))
    assert redact(redactor, data) == update(expected)
    assert Redactor().plain(text.encode()).decode() == expected


@pytest.mark.parametrize("text", INNOCENT.values(), ids=INNOCENT)
def test_no_keys_in_strings(text):
    data = update(text).encode()
    assert redact(Redactor(), data) == update(text)


def test_base64_is_no_suspect():
    data = update("data:image/png;base64,xAKIAIOSFODNN7EXAMPLE+eyJhbGciOi/AIzaAIza==").encode()
    assert not Redactor().suspects(data)


def test_a_key_spelled_with_escapes():
    text = update("https://h/?a=b&token=FAKE-1").replace("&", r"\u0026").replace("=", r"\u003d")
    redactor = Redactor()
    assert redactor.suspects(text.encode())
    assert redact(redactor, text) == text.replace("FAKE-1", "[redacted:1]")


def test_every_shape_has_a_row():
    texts = "\n".join(text for text, _ in KEYS.values())
    assert [name for name, shape in SHAPES.items() if not shape.pattern.search(texts)] == []


# Learning


def learnt(name, value):
    """Return a redactor that has seen a variable."""
    redactor = Redactor()
    server = {"name": "m", "env": [{"name": name, "value": value}]}
    text = json.dumps({"id": 1, "method": "session/new", "params": {"mcpServers": [server]}})
    redact(redactor, text)
    assert redactor.secrets == 1
    return redactor


LEARNT = {
    "a credential": ("API_KEY", "FAKE-1", "FAKE-1"),
    "a credential of four characters": ("token", "FAKE", "FAKE"),
    "another value of sixteen": ("HOME_PAGE", "FAKE-FAKE-FAKE-F", "FAKE-FAKE-FAKE-F"),
    "a URL with user info": ("DB", "db://u:p@h.example/x", "db://u:p@h.example/x"),
    "inside of words": ("TOKEN", "FAKE-FAKE-12", "xFAKE-FAKE-12y"),
    "between signs": ("TOKEN", "FAKE-1", "x_FAKE-1-y"),
    "behind another script": ("TOKEN", "FAKE-1", "密码FAKE-1是"),
    "spelled as it is": ("KEY", 'é/"\\\n\U0001f600', 'é/"\\\n\U0001f600'),
    "only quotes": ("KEY", '"""""', '"""""'),
    "not ASCII": ("KEY", "пароль", "пароль"),
    "a number": ("PASSWORD", "123456", "123456"),
    "words of a name": ("sshKey2", "FAKE-1", "FAKE-1"),
    "one word": ("DBPASS", "FAKE-1", "FAKE-1"),
    "an id with entropy": ("X", "prod-7f3a9b1c2d4e5f60", "prod-7f3a9b1c2d4e5f60"),
    "words that are no version": ("X", "correct-horse-battery", "correct-horse-battery"),
}
NOT_LEARNT = {
    "a short credential": ("API_KEY", "abc"),
    "another value of fifteen": ("X", "FAKE-FAKE-FAKE-"),
    "a flag": ("USE_TOKEN", "true"),
    "an everyday word": ("PASSWORD", "test"),
    "a small number": ("KEY", "12345"),
    "a user of a database": ("POSTGRES_PASSWORD", "postgres"),
    "what nobody has changed": ("ADMIN_PASSWORD", "change-me"),
    "a model": ("MODEL", "claude-sonnet-4-20250514"),
    "a model of a provider": ("MODEL", "us.anthropic.claude-3-5-sonnet-20241022-v2:0"),
    "a model with a size": ("MODEL", "openai/gpt-4o-mini-2024-07-18"),
    "a keyboard": ("KEYBOARD_LAYOUT", "dvorak-intl"),
    "a compass": ("COMPASS", "north-west"),
    "a path": ("CONFIG", "/home/someone/project"),
    "a Windows path": ("CONFIG", r"C:\Users\someone\project"),
    "a plain URL": ("PAGE", "https://example.com/page"),
    "a number": ("BIG", "1234567890.12345678"),
}
SPELLINGS = {
    "raw": lambda text: json.dumps(text, ensure_ascii=False),
    "ASCII": json.dumps,
    "slashes escaped": lambda text: json.dumps(text).replace("/", r"\/"),
    "all escaped": lambda text: (
        '"' + re.sub("(..)(..)", r"\\u\2\1", text.encode("utf-16-le").hex()) + '"'
    ),
    "in JSON in a string": lambda text: json.dumps(json.dumps({"a": text})),
    "in JSON in JSON in a string": lambda text: json.dumps(json.dumps(json.dumps([text]))),
}  # fmt: skip


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize(("name", "value", "text"), LEARNT.values(), ids=LEARNT)
def test_what_was_learnt_is_found_however_it_is_spelled(name, value, text, spell):
    redactor = learnt(name, value)
    line = update("@").replace('"@"', spell(f"<{text}>")).encode()
    assert redactor.suspects(line)
    assert redactor.suspects(update("x").encode() + b"\n" + line + b"\n")
    expected = spell(f"<{text}>".replace(value, "[redacted:1]"))
    hidden = redact(redactor, line)
    assert json.loads(hidden) == json.loads(update("@").replace('"@"', expected))
    assert hidden.startswith('{"jsonrpc":"2.0","method":"session/update","params":{"update":')


@pytest.mark.parametrize(("name", "value"), NOT_LEARNT.values(), ids=NOT_LEARNT)
def test_what_would_eat_text_is_replaced_in_its_slot_only(name, value):
    redactor = learnt(name, value)
    text = update(f"<{value}>")
    assert redact(redactor, text) == text


@pytest.mark.parametrize("word", ["xFAKE-1", "FAKE-10", "9FAKE-1é/FAKE-1x"])
def test_a_short_one_is_no_part_of_a_word(word):
    assert redact(learnt("TOKEN", "FAKE-1"), update(word)) == update(word)


def test_a_learnt_number_is_found_in_strings():
    redactor = Redactor()
    redact(redactor, '{"id":1,"result":{"content":{"password":987654}}}', "elicitation/create")
    assert (redactor.replaced, redactor.secrets) == (1, 1)
    assert redact(redactor, update("it is 987654")) == update("it is [redacted:1]")


def test_what_is_learnt_last_in_a_message_is_found_first_in_it():
    text = (
        '{"id":1,"method":"session/new","params":{"cwd":"/w/FAKE-1","mcpServers":'
        '[{"env":[{"name":"KEY","value":"FAKE-1"}]}]}}'
    )
    assert redact(Redactor(), text) == text.replace("FAKE-1", "[redacted:1]")


def test_the_same_secret_has_the_same_number_everywhere():
    redactor = learnt("API_KEY", f"sk-{FAKE}")
    assert redact(redactor, update(f"sk-{FAKE}x sk-{FAKE}")) == update("[redacted:2] [redacted:1]")
    assert redactor.plain(f"sk-{FAKE}".encode()) == b"[redacted:1]"
    assert redactor.words([f"sk-{FAKE}"]) == ["[redacted:1]"]
    assert (redactor.replaced, redactor.secrets) == (5, 2)


KEPT = {
    "member names": '{"id":1,"result":{"FAKE-1":2}}',
    "ids": '{"id":"FAKE-1","result":null}',
    "methods": '{"id":1,"method":"FAKE-1"}',
    "session ids": '{"id":1,"result":{"sessionId":"FAKE-1"}}',
    "discriminators": '{"method":"session/update","params":{"update":{"sessionUpdate":"FAKE-1",'
    '"kind":"FAKE-1","status":"FAKE-1","type":"FAKE-1","state":"FAKE-1","role":"FAKE-1",'
    '"stopReason":"FAKE-1","toolCallId":"FAKE-1","messageId":"FAKE-1"}}}',
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_what_a_replay_needs_is_kept(text):
    assert redact(learnt("KEY", "FAKE-1"), text, "session/prompt") == text


def test_in_what_tools_are_given_nothing_is_kept():
    text = '{"method":"session/update","params":{"update":{"rawInput":{"type":"FAKE-1"}}}}'
    hidden = redact(learnt("KEY", "FAKE-1"), text)
    assert hidden == text.replace("FAKE-1", "[redacted:1]")


def test_a_placeholder_is_no_secret():
    redactor = learnt("KEY", "redacted")
    assert redact(redactor, update("[redacted:7] redacted")) == update("[redacted:7] [redacted:1]")
    text = (
        '{"id":1,"method":"auth/login","params":{"token":"Token [redacted:3]","a":"[redacted:4]"}}'
    )
    assert redact(Redactor(), text) == text
    text = '{"id":1,"method":"auth/login","params":{"token":"x [redacted:3] y"}}'
    other = Redactor(first=9)
    assert redact(other, text) == text.replace("x ", "[redacted:9]").replace(" y", "[redacted:10]")
    assert redact(other, update("x [redacted:3] y")) == update("x [redacted:3] y")


def test_numbers_go_on_where_another_redactor_stopped():
    assert Redactor(first=12).plain(f"ghp_{FAKE}".encode()) == b"[redacted:12]"


# Base64 terminal output

OUTPUTS = {
    "a chunk": '{"sessionUpdate":"terminal_output_chunk","terminalId":"T","data":"%s"}',
    "an update": '{"sessionUpdate":"terminal_update","terminalId":"T","output":{"data":"%s"}}',
}


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
def test_terminal_output_is_decoded(output):
    line = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}'
    line %= output
    redactor = Redactor()
    secret = base64.b64encode(f"$ \xe9 ghp_{FAKE}\r\n".encode("latin-1")).decode()
    hidden = base64.b64encode("$ \xe9 [redacted:1]\r\n".encode("latin-1")).decode()
    assert redactor.suspects((line % secret).encode())
    assert redact(redactor, line % secret) == line % hidden
    for innocent in ("aGVsbG8=", "no base64", "é"):
        assert redact(redactor, line % innocent) == line % innocent


# The user's own patterns


def test_patterns():
    redactor = Redactor([r"proj-\d+", r"user=(\w+)", "(x)?$"])
    assert redactor.suspects(update("hello").encode())
    text = update("proj-17 user=me proj-17 X")
    assert redact(redactor, text) == update("[redacted:1] user=[redacted:2] [redacted:1] X")
    assert redactor.plain(b"user=me\n") == b"user=[redacted:2]\n"
    assert redactor.words(["proj-17"]) == ["[redacted:1]"]


def test_a_pattern_over_placeholders():
    redactor = Redactor([r"a.*z"])
    assert redact(redactor, update("-a [redacted:5] z-")) == update(
        "-[redacted:1][redacted:5][redacted:2]-"
    )


def test_a_bad_pattern_is_named():
    with pytest.raises(UsageError, match=r"--redact: `\(x` is no regular expression"):
        Redactor(["(x"])


# Text that is no message

PLAIN = {
    "X3: a log line": (
        "debug: key=FAKE-stderr-7 cwd=/home/someone/secret-project",
        "debug: key=[redacted:1] cwd=/home/someone/secret-project",
    ),
    "a header": ("> Authorization: Bearer FAKE", "> Authorization: Bearer [redacted:1]"),
    "quoted": ('api_key = "FAKE-1", x', 'api_key = "[redacted:1]", x'),
    "JSON": ('{"password": "FAKE-1"}', '{"password": "[redacted:1]"}'),
    "JSON in a JSON log": (
        r'{"msg":"{\"apiKey\": \"FAKE-1\"}"}',
        r'{"msg":"{\"apiKey\": \"[redacted:1]\"}"}',
    ),
    "JSON with words": ('{"secret":"FAKE and 1", "a": "b"', '{"secret":"[redacted:1]", "a": "b"'),
    "env in a message cut off": (
        '"env":[{"name":"A","value":"x]y"},{"value":"FAKE","name":"B"}],"a":{"name":"A","value":"b"',
        (
            '"env":[{"name":"A","value":"[redacted:1]"},{"value":"[redacted:2]","name":"B"}],'
            '"a":{"name":"A","value":"[redacted:3]"'
        ),
    ),
    "headers in two messages glued": (
        '"headers":{"X":"FAKE","Y":"Bearer F"},"a":"b"}{"name":"X-Api-Key","value":"FA',
        (
            '"headers":{"X":"[redacted:1]","Y":"Bearer [redacted:2]"},"a":"b"}'
            '{"name":"X-Api-Key","value":"[redacted:3]'
        ),
    ),
    "learnt": ("got FAKE-é/1 and FAKE-\\u00e9\\/1", "got [redacted:1] and [redacted:1]"),
}
NOISE = {
    "counts": "tokens: 512 max_token=1024 token_count: 12.5 key: 5ms",
    "words": "token: null password=true monkey: banana keyboard=qwerty",
    "choices": '{"name":"Model","value":"claude-4"},{"value":"a","name":"B"}',
    "templates": "key=${KEY} token=<token> key={key}",
    "redacted": "key=[redacted:3]",
    "nothing": "",
}


@pytest.mark.parametrize(("text", "expected"), PLAIN.values(), ids=PLAIN)
def test_plain(text, expected):
    redactor = learnt("KEY", "FAKE-é/1") if "FAKE-é" in text else Redactor()
    assert redactor.plain(text.encode() + b"\n") == expected.encode() + b"\n"
    assert redactor.plain(expected.encode()) == expected.encode()


@pytest.mark.parametrize("text", NOISE.values(), ids=NOISE)
def test_plain_text_without_secrets_is_handed_back(text):
    data = text.encode() + b"\xff\n"
    assert Redactor().plain(data) is data


def test_plain_bytes_that_are_no_text_stay():
    assert Redactor().plain(b"\xff\xfe key=FAKE-1 \x80\n") == b"\xff\xfe key=[redacted:1] \x80\n"


PEM = ["MIIEvFAKE1abcdef", "  abcdFAKE2==\r", "2026-01-01 info: " + "A1b2" * 12, "Qw=="]


def test_a_key_that_comes_line_by_line():
    redactor = Redactor()
    begin, end = b"-----BEGIN RSA PRIVATE KEY-----\n", b"-----END RSA PRIVATE KEY-----\n"
    assert redactor.plain(begin) == begin
    shown = [redactor.plain(line.encode() + b"\n") for line in [*PEM, "not a key, is it"]]
    assert shown == [
        b"[redacted:1]\n", b"  [redacted:2]\r\n", b"2026-01-01 info: [redacted:3]\n",
        b"[redacted:4]\n", b"not a key, is it\n",
    ]  # fmt: skip
    assert redactor.plain(b"FAKE1234\n" + end + b"FAKE1234\n") == (
        b"[redacted:5]\n" + end + b"FAKE1234\n"
    )
    assert redactor.plain(b"FAKE1234\n") == b"FAKE1234\n"


def test_a_key_without_an_end_ends():
    redactor = Redactor()
    redactor.plain(b"-----BEGIN PRIVATE KEY-----\n")
    shown = [redactor.plain(b"FAKE1234\n") for _ in range(300)]
    assert shown[0] == b"[redacted:1]\n"
    assert shown[-1] == b"FAKE1234\n"


def test_a_learnt_key_is_found_line_by_line():
    lines = ["-----BEGIN PRIVATE KEY-----", "FAKEfakeFAKEfake1", "FAKEfakeFAKEfake2", "Fk=="]
    redactor = learnt("PRIVATE_KEY", "\n".join(lines))
    shown = [redactor.plain(line.encode()).decode() for line in lines[1:]]
    assert shown == ["[redacted:2]", "[redacted:3]", lines[3]]


# Commands

WORDS = {
    "nothing": (["opencode", "acp", "--port", "80"], ["opencode", "acp", "--port", "80"]),
    "options": (
        ["a", "--token", "FAKE-1", "--api-key=FAKE-2", "--password", "FAKE-3"],
        ["a", "--token", "[redacted:1]", "--api-key=[redacted:2]", "--password", "[redacted:3]"],
    ),
    "variables": (
        ["env", "A=b", "API_KEY=FAKE 2", "=", "x y=z"],
        ["env", "A=[redacted:1]", "API_KEY=[redacted:2]", "=", "x y=z"],
    ),
    "URLs": (
        ["https://u:p@h/?token=FAKE", "https://h/x"],
        ["https://[redacted:1]@h/?token=[redacted:2]", "https://h/x"],
    ),
    "keys": (["-k", f"ghp_{FAKE}"], ["-k", "[redacted:1]"]),
    "what one word teaches hides in another": (
        ["/opt/FAKE-1/x", "--secret", "FAKE-1"],
        ["/opt/[redacted:1]/x", "--secret", "[redacted:1]"],
    ),
    "an option at the end": (["--token"], ["--token"]),
    "an option behind an option": (["--token", "--x"], ["--token", "--x"]),
    "numbers": (["--pass", "1234", "--key", "1.5"], ["--pass", "[redacted:1]", "--key", "1.5"]),
}


@pytest.mark.parametrize(("words", "expected"), WORDS.values(), ids=WORDS)
def test_words(words, expected):
    redactor = Redactor()
    assert redactor.words(words) == expected
    assert redactor.words(expected) == expected


# Reads

HEADS = {
    "as most write it": '{"jsonrpc":"2.0","method":"session/update",',
    "spaces": '{ "jsonrpc": "2.0", "method": "session/update", ',
    "the method first": '{"method":"session/update","jsonrpc":"2.0",',
    "an escaped slash": r'{"jsonrpc":"2.0","method":"session\/update",',
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_innocent_updates_are_no_suspects(head):
    line = head.encode() + b'"params":{"sessionId":"s","update":{}}}'
    redactor = Redactor()
    assert redactor.message(line, read(json.loads(line), line), None) is line
    assert not redactor.suspects(line)
    assert not redactor.suspects(line + b"\n")
    assert not redactor.suspects((line + b"\n") * 3)
    assert not redactor.suspects((line + b"\n") * 3 + line[:20]), "a line that is not whole"
    assert not redactor.suspects(b'tail"}\n' + (line + b"\n") * 2, start=7)
    assert redactor.suspects(b'tail"}\n' + (line + b"\n") * 2)
    assert redactor.suspects(line + b'\n{"id":1,"result":{}}\n' + line + b"\n")
    assert redactor.suspects(line + b"\nnoise\n")


def test_an_update_in_an_unusual_order_stays_suspect():
    line = b'{"params":{"sessionId":"s","update":{}},"method":"session/update"}'
    redactor = Redactor()
    assert redactor.message(line, read(json.loads(line), line), None) is line
    assert redactor.suspects(line)


# Units that are odd


def test_11_a_batch():
    text = (
        '[{"id":1,"method":"session/list"},{"id":2,"method":"auth/login","params":{"k":"FAKE-1"}},'
        '{"id":3,"result":{"accounts":[{"label":"FAKE-2"}]}},5]'
    )
    expected = text.replace("FAKE-1", "[redacted:1]").replace("FAKE-2", "[redacted:2]")
    assert redact(Redactor(), text) == expected
    data, redactor = text.encode(), Redactor()
    for message in read_all(json.loads(text), data):
        method = "auth/status" if isinstance(message, Response) else None
        data = redactor.message(data, message, method)
    assert data.decode() == expected


def test_a_byte_order_mark():
    text = b'\xef\xbb\xbf{"id":1,"method":"auth/login","params":{"k":"FAKE"}}\r'
    message = read({"id": 1, "method": "auth/login"}, text)
    assert Redactor().message(text, message, None) == text.replace(b"FAKE", b"[redacted:1]")


def test_15_half_a_surrogate_pair():
    text = r'{"id":1,"method":"auth/login","params":{"\ud800":"\udc00FAKE","b":"\ud800"}}'
    redactor = Redactor()
    assert redact(redactor, text) == (
        r'{"id":1,"method":"auth/login","params":{"\ud800":"[redacted:1]","b":"[redacted:2]"}}'
    )
    assert redact(learnt("KEY", "\ud800\ud800\ud800\ud800"), update("x")) == update("x")


def test_a_text_that_is_no_json_is_read_as_noise():
    assert Redactor().message(b"{key=FAKE-1", Malformed(""), None) == b"{key=[redacted:1]"


def test_a_value_that_is_no_object():
    assert redact(Redactor(), f'"ghp_{FAKE}"') == '"[redacted:1]"'
    assert redact(Redactor(), "5") == "5"


# Hits

HITS = {
    "none": ("abcdef", [], []),
    "in any order": ("abcdef", [(4, 5), (0, 1)], [(0, 1, "a"), (4, 5, "e")]),
    "side by side": ("abcdef", [(0, 2), (2, 4)], [(0, 2, "ab"), (2, 4, "cd")]),
    "one in another": ("abcdef", [(1, 2), (0, 3)], [(0, 3, "abc")]),
    "the same twice": ("abcdef", [(0, 3), (0, 3)], [(0, 3, "abc")]),
    "overlapping": ("abcdef", [(0, 3), (2, 5)], [(0, 5, "abcde")]),
    "on a placeholder": ("a[redacted:1]b", [(1, 13), (3, 5)], []),
    "across a placeholder": ("a[redacted:1]b", [(0, 14)], [(0, 1, "a"), (13, 14, "b")]),
    "into a placeholder": ("a[redacted:1]b", [(0, 4)], [(0, 1, "a")]),
    "white space between placeholders": ("[redacted:1] [redacted:2]", [(0, 25)], []),
}


@pytest.mark.parametrize(("text", "ranges", "expected"), HITS.values(), ids=HITS)
def test_hits_apart(text, ranges, expected):
    hits = [Hit(start, end, text[start:end]) for start, end in ranges]
    assert list(apart(text, hits)) == expected


def test_every_row_of_the_table_can_be_read():
    assert all(slots.has_slots(name) for name in ("session/new", "_x", None))
    assert not any(slots.has_slots(name) for name in ("session/update", "session/prompt", ""))


# Properties

LETTERS = st.text("abcXYZ09 /\"\\é\u2028\U0001f600\n'<&-_.", max_size=12)
SECRETS = st.text('aZ0/"\\é\U0001f600\n<&', min_size=4, max_size=24).filter(
    lambda text: text == text.strip() and not text.isdigit()
)
PARTS = st.one_of(LETTERS, st.sampled_from(["\0first\0", "\0second\0", "[redacted:77]", "env"]))
STRINGS = st.lists(PARTS, max_size=4).map("".join)
NAMES = st.sampled_from(["a", "b", "type", "_meta", "token", "name", "value", "rawInput"]) | STRINGS
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


def filled(value, first, second):
    """Return a value with two secrets in the places made for them, but not in names."""
    if isinstance(value, str):
        return value.replace("\0first\0", first).replace("\0second\0", second)
    if isinstance(value, list):
        return [filled(item, first, second) for item in value]
    if isinstance(value, dict):
        return {name: filled(item, first, second) for name, item in value.items()}
    return value


def pairs(before, after, *, kept=False):
    """Yield the strings of two values of the same shape, but those that are never changed."""
    if isinstance(before, list):
        assert len(before) == len(after)
        for old, new in zip(before, after, strict=True):
            yield from pairs(old, new)
    elif isinstance(before, dict):
        assert list(before) == list(after)
        for name in before:
            yield from pairs(before[name], after[name], kept=name in slots.KEPT)
    elif isinstance(before, str):
        assert isinstance(after, str)
        if not kept:
            yield before, after
    else:
        assert type(before) is type(after)


def stands_in(secret, text):
    """Return whether a secret is in a text, and no part of a word if it is short."""
    places = [place for place in range(len(text)) if text.startswith(secret, place)]
    return any(len(secret) >= 12 or not goes_on(text, place, secret) for place in places)


def goes_on(text, start, secret):
    edges = [text[max(0, start - 1) : start + 1], text[start + len(secret) - 1 :][:2]]
    return any(
        len(edge) == 2 and edge.isalnum() and edge[0].isascii() is edge[1].isascii()
        for edge in edges
    )


def test_a_short_secret_directly_behind_another_one_is_a_word():
    redactor = Redactor()
    env = [{"name": "KEY", "value": "0000000000<0"}, {"name": "TOKEN", "value": "000<"}]
    redact(
        redactor, json.dumps({"method": "session/new", "params": {"mcpServers": [{"env": env}]}})
    )
    hidden = redact(redactor, b'{"id":5,"result":{"x":"0000000000<0000<"}}', "session/prompt")
    assert hidden == '{"id":5,"result":{"x":"[redacted:1][redacted:2]"}}'


@given(SECRETS, SECRETS, JSON, st.booleans())
def test_no_learnt_secret_is_left_and_nothing_else_is_lost(first, second, value, ensure_ascii):
    redactor = Redactor()
    env = [{"name": "KEY", "value": first}, {"name": "TOKEN", "value": second}]
    redact(
        redactor, json.dumps({"method": "session/new", "params": {"mcpServers": [{"env": env}]}})
    )
    value = filled(value, first, second)
    message = {"id": 5, "result": {"x": value}}
    text = json.dumps(message, ensure_ascii=ensure_ascii)
    hidden = redact(redactor, text, "session/prompt")
    for old, new in pairs(message, json.loads(hidden)):
        assert not stands_in(first, new)
        assert not stands_in(second, new)
        if first not in old and second not in old and "\\" not in old:
            pieces = PLACEHOLDER.split(new)
            assert re.fullmatch(".*".join(map(re.escape, pieces)), old, re.DOTALL)


@given(JSON, st.sampled_from([*sorted(filter(None, slots._METHODS)), "x", None]), st.booleans())
def test_any_message_stays_json_of_the_same_shape(value, method, is_request):
    message = (
        {"id": 1, "method": method, "params": value} if is_request else {"id": 1, "result": value}
    )
    redactor = Redactor()
    hidden = redact(redactor, json.dumps(message), method)
    list(pairs(message, json.loads(hidden)))


@given(JSON)
def test_a_clean_message_is_never_touched(value):
    text = json.dumps({"id": 1, "method": "session/prompt", "params": value})
    if not re.search("(?i)token|_meta|=|@", text):
        assert redact(Redactor(), text) == text


@given(st.binary() | st.text("key=:token \"'\\u00e9/@ABearer 1").map(str.encode))
def test_any_bytes_are_survived(data):
    redactor = Redactor()
    once = redactor.plain(data)
    assert redactor.plain(once) == once
    redactor.suspects(data)
    redactor.message(data, Malformed(""), None)


@given(st.text('\\u00e9d8def"/n\ud83d\ude00x') | st.text().map(lambda text: json.dumps(text)[1:-1]))
def test_a_reading_knows_where_it_came_from(raw):
    reading = unescape(raw)
    spots = [reading.origin(position) for position in range(len(reading.text) + 1)]
    assert spots == sorted(set(spots))
    assert (spots[0], spots[-1]) == (0, len(raw))
    for position, char in enumerate(reading.text):
        assert unescape(raw[spots[position] : spots[position + 1]]).text == char


@given(st.lists(SECRETS), SECRETS)
def test_a_vault_shows_all_it_has_learnt(others, secret):
    vault = Vault(1)
    vault.learn([Hit(0, 1, text, is_named=True) for text in [*others, secret]])
    for spelled in (secret, json.dumps(secret), json.dumps(secret).replace("/", r"\/")):
        assert vault.shows(spelled.encode(), 0) or r"\u00" in spelled


@given(st.integers(0, 60), st.integers(0, 40), st.sampled_from(["\\", "u005c", "\\u005c", '\\"']))
def test_escapes_in_escapes_are_survived(first, second, unit):
    text = "\\u005c" * first + unit * second * 20 + 'token="FAKE-1"'
    Redactor().plain(text.encode())
    for said in (text, "\\u005c" + "u005c" * 1200 + text):
        data = update(said).encode()
        redactor = learnt("TOKEN", "FAKE-learnt-1")
        json.loads(redactor.message(data, read(json.loads(data), data), None))


def test_whatever_goes_wrong_the_recording_goes_on(monkeypatch):
    def fail(*_):
        raise RecursionError

    monkeypatch.setattr("acptap.redact.finder.shaped", fail)
    redactor = Redactor(["x"])
    long = "FAKE" * 4
    data = json.dumps(
        {"id": 5, "method": "a/" + long, "params": {"a": long, "b": ["c", 7]}}
    ).encode()
    expected = data.replace(b'"a": "' + long.encode(), b'"a": "[redacted:1]')
    assert redactor.message(data, read(json.loads(data), data), None) == expected
    assert redactor.plain(f"it is {long}\n".encode()) == b"it is [redacted:1]\n"


# What it costs

UNITS = [
    "=", ":", "a", "-a.", "core::fmt::Formatter::", "k=v|", "=x", "key", "key ", "key=", "key:",
    "token", "token-", "token.", "token ", "token=", 'token"', 'token":', 'token":"', "token=1",
    "token=1.", "token: Bearer ", "Bearer", "Bearer ", "Bearer a.", "Basic ", "Basic aA", "a: ",
    "a:", "--a", "--a ", "--token=", "-a -", "A=", 'A="', "://", "://a:", "://a:b@", "//a@", "@",
    "&", "&a=", "&key=", "?token=a&", "-----BEGIN ", "-----BEGIN A-----", "-----", "-----END ",
    "AAAA", "sk-", "sk-a", "sk-A1 ", "ghp_", "ghp_a ", "eyJ", "eyJaaaaa.", "AKIA", "AIza", "xoxb-",
    "\\", "\\\\", "\\u005c", "u005c", '\\"', '"', '"name":"', '"name":"A","value":"', '"env":[',
    '"env":{', '"env":["', '"value":"', "{", "[redacted:1]", "[redacted:1] sk-A12345678 ", " ",
    "\n", "\t", "FAKE", "FAKE-", "\u00e9", "github_pat_", "A\n",
]  # fmt: skip


def seconds(work, text):
    start = time.perf_counter()
    work(text)
    return time.perf_counter() - start


def told(text):
    data = json.dumps({"id": 1, "method": "session/prompt", "params": {"t": text}}).encode()
    teacher().message(data, read(json.loads(data), data), None)


def given_as_argument(text):
    params = {"mcpServers": [{"args": ["--key", text], "url": text}], "_meta": {"x": text}}
    data = json.dumps({"id": 1, "method": "session/new", "params": params}).encode()
    teacher().message(data, read(json.loads(data), data), None)


def teacher():
    redactor = learnt("TOKEN", "FAKE-FAKE-FA")
    redactor._vault.learn([Hit(0, 4, "FAKE", is_named=True)])
    return redactor


WAYS = {
    "standard error": lambda text: teacher().plain(text.encode()),
    "a prompt": told,
    "an argument": given_as_argument,
    "a command": lambda text: teacher().words(["--token", text]),
}


@pytest.mark.parametrize("work", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("unit", UNITS)
def test_the_time_is_linear(work, unit):
    small, large = (unit * (size // len(unit)) for size in (2_000, 32_000))
    work(small)
    assert min(seconds(work, large) for _ in range(2)) < 100 * max(
        0.0005, min(seconds(work, small) for _ in range(3))
    )


def params_of(count):
    return {"token": "T", "m": {f"k{number}": f"FAKE-secret-{number}" for number in range(count)}}


def nested(count):
    value: object = list(range(count))
    for _ in range(count // 4):
        value = {"a": value}
    return value


MESSAGES = {
    "many secrets": ("authenticate", 250, params_of),
    "many objects": ("_x", 500, lambda count: [{"a": number} for number in range(count)]),
    "many names": ("_x", 500, lambda count: {f"n{number}": {"a": 1} for number in range(count)}),
    "many values deep down": ("_x", 200, nested),
}


@pytest.mark.parametrize(("method", "count", "make"), MESSAGES.values(), ids=MESSAGES)
def test_the_time_of_a_message_is_linear(method, count, make):
    def work(data):
        Redactor().message(data, message, None)

    message = read({"id": 1, "method": method, "params": {}}, b"{}")
    small, large = (
        json.dumps({"method": method, "params": make(size), "_meta": {"token": "FAKE"}}).encode()
        for size in (count, 16 * count)
    )
    work(small)
    assert seconds(work, large) < 100 * max(0.001, min(seconds(work, small) for _ in range(3)))


@pytest.mark.parametrize("secret", ["FAKE-1", '"""""'])
def test_of_a_large_message_only_the_marked_strings_are_looked_at(secret):
    said = ["plain", 5] * 200
    said[100], said[200] = f"ghp_{FAKE}", f"it is {secret}"
    params = {"prompt": said, "_meta": {"token": secret}}
    text = json.dumps({"id": 1, "method": "session/prompt", "params": params})
    expected = text.replace(json.dumps(secret)[1:-1], "[redacted:2]")
    hidden = redact(Redactor(), text)
    assert hidden == expected.replace(f"ghp_{FAKE}", "[redacted:1]")


def test_messages_state_methods_inside_of_each_other():
    inner: object = {"pin": "FAKE-1", "x": {"token": "FAKE-2"}}
    for method in ("auth/login", "_a", "x", "_b"):
        inner = {"method": method, "params": inner}
    hidden = redact(Redactor(), json.dumps(inner))
    assert "FAKE" not in hidden


@pytest.mark.parametrize("gap", [10, 10_000, 100_000])
def test_assignments_are_found_however_far_apart(gap):
    text = b"a_token=FAKE-one-7 x: " + b"y" * gap + b" b_token = FAKE-two-7\n"
    clear = Redactor().plain(text)
    assert clear == text.replace(b"FAKE-one-7", b"[redacted:1]").replace(
        b"FAKE-two-7", b"[redacted:2]"
    )
