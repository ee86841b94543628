"""Secrets that come bit by bit, or in a text before anybody knows that they are secret."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.redact.tapes import (
    SECRET,
    Recorded,
    chunk,
    entries,
    line,
    output,
    revise,
    update,
)

KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvFAKE1\nabcdFAKE2==\n-----END PRIVATE KEY-----\n"


def message(kind):
    return lambda text: chunk(text, kind, messageId="m")


def tool(text):
    return update(
        sessionUpdate="tool_call_content_chunk", toolCallId="c",
        content={"type": "content", "content": {"type": "text", "text": text}},
    )  # fmt: skip


def codex(text):
    delta = {"terminal_output_delta": {"data": text, "terminal_id": "c"}}
    return update(sessionUpdate="tool_call_update", toolCallId="c", _meta=delta)


def resource(text):
    content = {"type": "resource", "resource": {"uri": "file:///a", "text": text}}
    return update(sessionUpdate="agent_message_chunk", content=content)


def batch(text):
    return b"[" + chunk(text)[:-1] + b"]\n"


def windows(text):
    return chunk(text)[:-1] + b"\r\n"


WAYS = {
    # name: how a bit is said
    "message": message("agent_message_chunk"),
    "thought": message("agent_thought_chunk"),
    "user": message("user_message_chunk"),
    "session": message("session_message_chunk"),
    "compaction": message("compaction_summary_chunk"),
    "resource": resource,
    "tool": tool,
    "terminal": lambda text: output(text.encode()),
    "terminal of codex": codex,
    "batch": batch,
    "lines that end in CR LF": windows,
}
CUTS = {
    "in two": [SECRET[:7], SECRET[7:] + " ok"],
    "letter by letter": list(SECRET + " ok"),
    "behind a beginning that was taken for all of it": [SECRET[:15], SECRET[15:] + " ok"],
    "a quote and a newline beside it": ['"\n' + SECRET[:5], SECRET[5:] + '"\n ok'],
    "a name and its value": ["API_TOKEN=", "hunter2hunter2", " ok"],
    "a scheme and its value": ["Authorization: Bearer ", "abc123def456", " ok"],
    "a key of many lines": ["-----BEGIN PRIVATE", " KEY-----\nMIIE", "FAKE\n-----END PRIV", " ok"],
}


def joined(path):
    found = []
    for entry in entries(path):
        if entry.key is not None and entry.event is None:
            value = json.loads(entry.unit())
            for one in value if isinstance(value, list) else [value]:
                update = one["params"]["update"]
                if "data" in update:
                    found.append(base64.b64decode(update["data"]).decode())
                elif "_meta" in update:
                    found.append(update["_meta"]["terminal_output_delta"]["data"])
                else:
                    content = update["content"]
                    content = content.get("content", content)
                    found.append(content.get("resource", content)["text"])
    return found


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_deltas(tmp_path, way, cut):
    tape = Recorded(tmp_path / "a", [("agent", way(text)) for text in cut])
    whole, left = "".join(cut), "".join(joined(tape.path))
    secret = next(word for word in (SECRET, "hunter2hunter2", "abc123def456", "MIIEFAKE")
                  if word in whole.replace("\n", "") or word in whole)  # fmt: skip
    assert left.count("[redacted:1]") == 1
    assert left.endswith(" ok")
    for size in range(4, len(secret) + 1):
        assert secret[:size] not in left
        assert secret[-size:] not in left
    assert tape.redactor.secrets == 1
    assert tape.is_rewritten
    assert len(joined(tape.path)) == len(cut)
    assert revise(tape.path, first=2) == tape.after


def test_the_first_bit_says_so_and_the_others_lose_their_part(tmp_path):
    cut = ["the key is " + SECRET[:3], SECRET[3:9], SECRET[9:] + ", fine"]
    tape = Recorded(tmp_path / "a", [("agent", chunk(text)) for text in ["hi ", *cut, " bye"]])
    assert joined(tape.path) == ["hi ", "the key is [redacted:1]", "", ", fine", " bye"]
    before, after = tape.before.splitlines(), tape.after.splitlines()
    assert [b == a for b, a in zip(before, after, strict=True)] == [
        False, True, False, False, False, True, True, True, True,
    ]  # fmt: skip
    assert after[0] == before[0].replace(b'"redaction":"open"', b'"redaction":"done"')
    for old, new in zip(before[2:5], after[2:5], strict=True):
        assert (
            old.partition(b'"text":"')[0]
            == new.replace(b',"redacted":true', b"").partition(b'"text":"')[0]
        )
        assert new.startswith(old[:29] + b',"redacted":true,"session":"s"')


def test_what_needs_no_change_keeps_its_file(tmp_path):
    tape = Recorded(tmp_path / "a", [("agent", chunk("hello")), ("stderr", b"ok\n")])
    assert not tape.is_rewritten
    assert tape.after == tape.before.replace(b'"redaction":"open"', b'"redaction":"done"')


def test_texts_of_others_do_not_count(tmp_path):
    said = [chunk(SECRET[:9], messageId="a"), chunk(SECRET[9:], messageId="b")]
    said += [output(SECRET[:9].encode(), "t"), output(SECRET[9:].encode(), "u")]
    tape = Recorded(tmp_path / "a", [("agent", text) for text in said])
    assert not tape.is_rewritten


def test_texts_that_alternate(tmp_path):
    said = [chunk(text, messageId=name) for pair in zip(SECRET, SECRET[::-1], strict=True)
            for name, text in zip("ab", pair, strict=True)]  # fmt: skip
    tape = Recorded(tmp_path / "a", [("agent", text) for text in said])
    assert "".join(joined(tape.path)[::2]) == "[redacted:1]"
    assert "".join(joined(tape.path)[1::2]) == SECRET[::-1]


def test_38_a_terminal_that_splits_a_character(tmp_path):
    said = [b"\xc3", b"\xa9 " + SECRET[:9].encode(), SECRET[9:].encode() + b" \xe2\x82", b"\xac"]
    tape = Recorded(tmp_path / "a", [("agent", output(data)) for data in said])
    found = [
        base64.b64decode(json.loads(entry.payload)["params"]["update"]["data"])
        for entry in tape.entries
        if entry.key == "msg"
    ]
    assert found == [b"\xc3", b"\xa9 [redacted:1]", b" \xe2\x82", b"\xac"]


ASKS = line({"jsonrpc": "2.0", "id": 1, "method": "terminal/output",
             "params": {"sessionId": "s", "terminalId": "t"}})  # fmt: skip


def answers(text):
    return line({"jsonrpc": "2.0", "id": 1, "result": {"output": text, "truncated": False}})


def snapshot(text):
    content = [{"type": "content", "content": {"type": "text", "text": text}}]
    return update(sessionUpdate="tool_call_update", toolCallId="c", content=content)


def raw_output(text):
    return update(sessionUpdate="tool_call_update", toolCallId="c", rawOutput={"all": [text]})


def terminal(text):
    data = base64.b64encode(text.encode()).decode()
    return update(sessionUpdate="terminal_update", terminalId="t", output={"data": data})


def whole_message(text):
    content = [{"type": "text", "text": text}]
    return update(sessionUpdate="agent_message", messageId="m", content=content)


GROWING = {
    "tool": snapshot,
    "raw output": raw_output,
    "terminal": terminal,
    "message": whole_message,
}
STATES = ["$ env\n", "$ env\nK=s", "$ env\nK=sk-FA", f"$ env\nK={SECRET}", f"$ env\nK={SECRET}\n$"]
CLEARED = ["$ env\n", *["$ env\nK=[redacted:1]"] * 3, "$ env\nK=[redacted:1]\n$"]


def shown(entry):
    text = entry.payload.decode()
    data = json.loads(text)["params"]["update"].get("output")
    return json.dumps(base64.b64decode(data["data"]).decode()) if data else text


@pytest.mark.parametrize("way", GROWING.values(), ids=GROWING)
def test_texts_that_are_repeated_and_grow(tmp_path, way):
    tape = Recorded(tmp_path / "a", [("agent", way(text)) for text in STATES])
    found = [shown(entry) for entry in tape.entries if entry.key == "msg"]
    for state, text in zip(CLEARED, found, strict=True):
        assert json.dumps(state) in text
    assert revise(tape.path, first=2) == tape.after


def test_what_a_terminal_of_the_client_has_put_out_so_far(tmp_path):
    said = [pair for text in STATES for pair in (("agent", ASKS), ("client", answers(text)))]
    tape = Recorded(tmp_path / "a", said)
    found = [json.loads(entry.payload) for entry in tape.entries if entry.side == "client"
             and entry.key]  # fmt: skip
    assert [message["result"]["output"] for message in found] == CLEARED
    assert revise(tape.path, first=2) == tape.after


def test_a_text_that_is_another_one_is_no_beginning(tmp_path):
    said = [snapshot("all is well"), snapshot(f"all is {SECRET}"), snapshot("two words here"),
            snapshot(f"two {SECRET}"), snapshot("x" * 1_100_000), snapshot("y")]  # fmt: skip
    tape = Recorded(tmp_path / "a", [("agent", text) for text in said])
    found = [entry.payload.decode() for entry in tape.entries if entry.key == "msg"]
    assert '"two words here"' in found[2]


def test_a_text_that_grows_behind_a_secret_or_begins_anew(tmp_path):
    other = SECRET[::-1].replace("-", "") + "/" + SECRET
    said = [f"A={SECRET} B=sk-F", f"A={SECRET} B={other}", "alpha", f"beta {SECRET}"]
    tape = Recorded(tmp_path / "a", [("agent", snapshot(text)) for text in said])
    found = [entry.payload.decode() for entry in tape.entries if entry.key == "msg"]
    assert '"A=[redacted:1] B=sk-F"' in found[0]  # the next state does not go on like that
    assert '"alpha"' in found[2]
    said = [f"A={SECRET} B=sk-F", f"A={SECRET} B=sk-FAKE-9876543210"]
    tape = Recorded(tmp_path / "b", [("agent", snapshot(text)) for text in said])
    found = [entry.payload.decode() for entry in tape.entries if entry.key == "msg"]
    assert '"A=[redacted:1] B=[redacted:2]"' in found[0]


def test_two_secrets_without_a_gap(tmp_path):
    said = [("client", session(server("TOKEN", "FAKE-learnt-1")))]
    cut = ["FAKE-l", "earnt-1", "=sk-FAKE", "-0123456789 ok"]
    tape = Recorded(tmp_path / "a", said + [("agent", chunk(text)) for text in cut])
    assert joined_messages(tape) == ["[redacted:1]", "", "", " ok"]


def test_chunks_that_go_on_with_a_message(tmp_path):
    said = [whole_message("it is " + SECRET[:9]), chunk(SECRET[9:] + " ok", messageId="m")]
    tape = Recorded(tmp_path / "a", [("agent", text) for text in said])
    found = [entry.payload.decode() for entry in tape.entries if entry.key == "msg"]
    assert '"it is [redacted:1]"' in found[0]
    assert '" ok"' in found[1]


def test_x3_a_key_of_several_lines_on_standard_error(tmp_path):
    lines = [("stderr", text.encode()) for text in ("start\n" + KEY + "end\n").splitlines(True)]
    tape = Recorded(tmp_path / "a", lines)
    assert "".join(tape.units()) == (
        "start\n-----BEGIN PRIVATE KEY-----\n[redacted:1]\n[redacted:2]\n"
        "-----END PRIVATE KEY-----\nend\n"
    )
    assert b"FAKE" not in tape.after
    assert revise(tape.path, first=3) == tape.after


def test_a_key_of_several_lines_that_are_no_messages(tmp_path):
    noise = KEY.encode().replace(b"FAKE1", b"\xff")
    tape = Recorded(tmp_path / "a", [("agent", noise)])
    assert b"FAKE" not in tape.after
    assert tape.units() == [
        "-----BEGIN PRIVATE KEY-----\n", "[redacted:2]\n", "[redacted:1]\n",
        "-----END PRIVATE KEY-----\n",
    ]  # fmt: skip


@pytest.mark.parametrize("place", [1, 9, len(SECRET) - 1])
def test_a_line_so_long_that_it_comes_in_pieces(tmp_path, place):
    size = 9 * 1024 * 1024
    whole = chunk("x" * size + " " + SECRET + " " + "y" * 20_000)
    cut = whole.index(SECRET.encode()) + place
    said = [("agent", whole[: cut - 100_000]), ("agent", whole[cut - 100_000 : cut]),
            ("agent", whole[cut:])]  # fmt: skip
    tape = Recorded(tmp_path / "a", said)
    units = b"".join(entry.unit() for entry in tape.entries if entry.side == "agent" and entry.key)
    assert units == whole.replace(SECRET.encode(), b"[redacted:1]")


def session(*servers):
    params = {"cwd": "/w", "mcpServers": list(servers)}
    return line({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": params})


def server(name, value):
    return {"name": "m", "command": "m", "args": [], "env": [{"name": name, "value": value}]}


def test_a_secret_that_is_learnt_late(tmp_path):
    said = [("agent", chunk("it is FAKE-late")), ("stderr", b"FAKE-late\n"),
            ("agent", b"FAKE-late\n"), ("agent", b"[" + chunk("FAKE-late")[:-1] + b"]\n"),
            ("client", session()), ("agent", chunk("it is FAKE-")), ("agent", chunk("late")),
            ("client", session(server("TOKEN", "FAKE-late")))]  # fmt: skip
    tape = Recorded(tmp_path / "a", said)
    assert b"late" not in tape.after
    assert tape.after.count(b"[redacted:1]") == 6
    assert (tape.redactor.secrets, tape.redactor.replaced) == (1, 6)
    unchanged = [entry for entry in tape.entries if not entry.front.get("redacted")]
    assert len(unchanged) == 4  # the first session/new, two ends and the exit


def test_a_short_value_eats_nothing(tmp_path):
    said = [
        ("agent", chunk("1 and 1")),
        ("client", session(server("N", "1"))),
        ("agent", chunk("1")),
    ]
    tape = Recorded(tmp_path / "a", said)
    assert joined_messages(tape) == ["1 and 1", "1"]
    assert not tape.is_rewritten


def joined_messages(tape):
    found = [json.loads(entry.payload) for entry in tape.entries if entry.key == "msg"]
    return [one["params"]["update"]["content"]["text"] for one in found if "id" not in one]


def test_lines_alike_that_are_no_bits_of_a_text(tmp_path):
    cut = (SECRET[:9], SECRET[9:], "x")
    said = [update(sessionUpdate="plan_update", plan={"text": text}) for text in cut]
    said += [chunk({"text": text}) for text in cut]
    said += [line({"jsonrpc": "2.0", "method": "_a/b", "params": {"text": text}}) for text in cut]
    tape = Recorded(tmp_path / "a", [("agent", text) for text in said])
    assert not tape.is_rewritten


def test_more_kinds_of_lines_than_are_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr("acptap.app.record.assembling._MOULDS", 3)
    said = [chunk(text, messageId="m", n=number) for number, text in enumerate(SECRET)]
    said += [chunk(" ok", messageId="m", n=1)] * 3
    tape = Recorded(tmp_path / "a", [("agent", text) for text in said])
    assert "".join(joined(tape.path)) == "[redacted:1] ok ok ok"


def test_an_answer_to_nothing_and_too_many_questions(tmp_path, monkeypatch):
    monkeypatch.setattr("acptap.acp.deltas._MOST_ASKED", 0)
    said = [("agent", ASKS), ("client", answers("K=sk-FA")), ("client", answers(f"K={SECRET}"))]
    said += [("agent", b"7\n"), ("agent", b"[7]\n")]
    tape = Recorded(tmp_path / "a", said)
    assert b"K=sk-FA" in tape.after


def test_many_texts_at_once(tmp_path):
    first = [chunk(SECRET[:9], messageId=str(number)) for number in range(200)]
    second = [chunk(SECRET[9:], messageId=str(number)) for number in range(199, -1, -1)]
    tape = Recorded(tmp_path / "a", [("agent", text) for text in first + second])
    left = joined(tape.path)
    assert left[199] == "[redacted:1]"
    assert left.count("") >= 128


def test_a_long_text_is_looked_at_in_windows(tmp_path):
    filler = "word and word " * 500
    cut = (
        [filler] * 8
        + [SECRET[:9], SECRET[9:] + " "]
        + [filler] * 8
        + ["API_KEY=", "hunter2hunter2 "]
    )
    cut += [filler * 3, "it is " + SECRET[:4], SECRET[4:] + filler * 3, "-----BEGIN A KEY-----\n"]
    cut += [f"{number:060}\n" for number in range(9000)]
    tape = Recorded(tmp_path / "a", [("agent", chunk(text)) for text in cut])
    left = "".join(joined(tape.path))
    assert SECRET[9:] not in left
    assert "hunter2" not in left
    assert left.startswith(filler * 8 + "[redacted:1] " + filler * 8 + "API_KEY=[redacted:2] ")
    assert f"{4000:060}" not in left


SPLIT = st.lists(st.integers(0, 80), max_size=9)
AROUND = st.text(alphabet='ab -=.\n"\\é€😀', max_size=12)
SECRETS = st.sampled_from(
    [
        SECRET,
        "ghp_FAKEfakeFAKEfake01",
        "FAKE-learnt-1",
        "AKIAFAKEFAKEFAKE01",
        "eyJhbGci.eyJzdWI.c2ln",
    ]
)


@given(AROUND, SECRETS, AROUND, SPLIT, st.sampled_from(sorted(WAYS)))
def test_however_a_text_is_cut_no_secret_is_left(tmp_path_factory, before, secret, after, cut, way):  # noqa: PLR0917
    text = f"{before} {secret} {after}"
    places = sorted({min(place, len(text)) for place in cut})
    parts = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    said = [
        ("client", session(server("TOKEN", "FAKE-learnt-1"))),
        ("agent", chunk("first", "plan")),
    ]
    said += [("agent", WAYS[way](part)) for part in parts]
    path = tmp_path_factory.mktemp("tape") / "a"
    tape = Recorded(path, said)
    left = "".join(joined_of(tape, len(parts)))
    assert secret not in left
    assert secret[4:] not in left
    assert "[redacted:" in left
    assert left.startswith(before + " ")
    old, new = tape.before.splitlines(), tape.after.splitlines()
    assert new[1:3] == old[1:3]
    assert new[-3:] == old[-3:]
    assert revise(path, first=9) == tape.after


def joined_of(tape, count):
    kept = tape.path.with_name("kept")
    lines = tape.path.read_bytes().splitlines(True)
    kept.write_bytes(b"".join([lines[0], *lines[3 : 3 + count]]))
    return joined(kept)
