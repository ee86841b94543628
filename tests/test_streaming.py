"""Texts that stream in: chunks like the last ones are not understood anew, and nobody can tell."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap.jsonrpc import Request, Side
from acptap.wire import jsontext
from acptap.witness import Witness

CHUNKS = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "plan", "unheard_of")
SESSIONS = ("a", "b")


def notification(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def update(session, kind, **members):
    return notification(
        "session/update", sessionId=session, update={"sessionUpdate": kind} | members
    )


def said(session, kind, text="word", **members):
    return update(session, kind, **members, content={"type": "text", "text": text})


def request(method, id_=1, **params):
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def answer(id_=1, **result):
    return {"jsonrpc": "2.0", "id": id_, "result": result}


AGENT = [
    *(said(session, kind) for session in SESSIONS for kind in CHUNKS),
    *(said("a", kind, messageId="m") for kind in CHUNKS[:3]),
    said("a", CHUNKS[0], 'a "quoted" one'),
    said("a", CHUNKS[0], ""),
    said("a", CHUNKS[0]) | {"jsonrpc": "1.0"},
    update("a", CHUNKS[0], content={"type": "text", "text": "word", "extra": "more"}),
    update("a", "tool_call", toolCallId="t", title="A tool"),
    update("a", "tool_call_content_chunk", toolCallId="t", content={"type": "text", "text": "x"}),
    update("a", "state_update", state="running"),
    update("a", "state_update", state="idle", stopReason="end_turn"),
    request("session/request_permission", 9, sessionId="a", toolCall={}, options=[]),
    notification("_else", sessionId="a", text="word"),
    *(answer(number, protocolVersion=version, sessionId="a", stopReason="end_turn")
      for number in (1, 2) for version in (1, 2)),
    *(
        notification(
            "session/update",
            update={"sessionUpdate": CHUNKS[0], "content": {"type": "text", "text": "word"}},
            sessionId=session,
        )
        for session in SESSIONS
    ),
    *(
        update("a", CHUNKS[0], content={"type": "text", "text": "word"}, messageId=id_)
        for id_ in ("m", "n")
    ),
    [said("a", CHUNKS[0])],
    [answer(1, stopReason="end_turn"), update("a", "state_update", state="running")],
    {"neither": "nor"},
]  # fmt: skip
CLIENT = [
    request("initialize", protocolVersion=1),
    request("session/new", 2, cwd="/"),
    *(request(f"session/{name}", number, sessionId=session, prompt=[], cwd="/")
      for name in ("prompt", "load", "resume", "close") for number in (1, 2)
      for session in SESSIONS),
    notification("session/cancel", sessionId="a"),
    said("a", CHUNKS[0]),
    answer(9, outcome={"outcome": "cancelled"}),
]  # fmt: skip
EVENTS = ["end", "exit", "gone", "refused"]

messages = st.one_of(
    st.tuples(st.just(Side.AGENT), st.sampled_from(AGENT), st.integers(1, 6)),
    st.tuples(st.just(Side.CLIENT), st.sampled_from(CLIENT), st.integers(1, 2)),
    st.tuples(st.just(Side.AGENT), st.sampled_from(EVENTS), st.just(1)),
)


def heard(witness, side, what, spaces=0):
    if what == "gone":
        return witness.gone().members()
    if what == "refused":
        prompt = Request(1, "session/prompt", {"sessionId": "a", "prompt": []})
        return witness.refuse([prompt]).members()
    if isinstance(what, str):
        return witness.event(side, what).members()
    text = json.dumps(what, separators=(",", ":")).encode()
    text = text[:1] + b" " * spaces + text[1:]  # so that no message begins like another one
    value = jsontext.parse(text)
    if isinstance(value, list):
        return witness.batch(side, value, text).annotations.members()
    return witness.message(side, value, text).annotations.members()


@given(st.lists(messages, max_size=40))
def test_chunks_mean_what_they_mean_one_by_one(traffic):
    usual, wary = Witness(), Witness()
    told = [(side, what) for side, what, count in traffic for _ in range(count)]
    for number, (side, what) in enumerate(told):
        assert heard(usual, side, what) == heard(wary, side, what, number + 1)
    sessions = [
        {id_: (work.session, work.record) for id_, work in witness.conversation.sessions.items()}
        for witness in (usual, wary)
    ]
    assert sessions[0] == sessions[1]


@pytest.mark.parametrize("keep", [False, True])
def test_a_chunk_like_the_last_ones_is_not_understood_anew(keep):
    witness = Witness(keep=keep)
    text = json.dumps(said("a", CHUNKS[0]), separators=(",", ":")).encode()
    seen = [witness.message(Side.AGENT, jsontext.parse(text), text) for _ in range(5)]
    assert (seen[-1] is seen[-2]) is not keep
