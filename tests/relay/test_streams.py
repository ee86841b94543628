"""Whatever legal HTTP/1.1 and WebSocket two peers say, in whatever pieces, passes as it is."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.relay.conformance import SWITCH, UPGRADE, deflated, frame
from tests.relay.scripts import Case, Names, Part, Step, fin, hear_end, hear_out, hear_total, play
from tests.relay.stage import Running, Stage
from tests.relay.wires import Listener, Wire, listening

BASES = {"no base path": "", "a base path": "/pre/fix"}


@pytest.fixture(scope="module", params=list(BASES.values()), ids=list(BASES))
def running(
    request: pytest.FixtureRequest, stage: Stage
) -> Iterator[tuple[Listener, Running, str]]:
    with listening() as upstream, stage.relay(upstream.url + request.param) as relay:
        yield upstream, relay, request.param


# What peers say

token = st.text("abcXYZ019-_", min_size=1, max_size=8).map(str.encode)
text = st.lists(st.sampled_from([*range(0x21, 0x7F), *range(0x80, 0x100)]), max_size=20).map(bytes)
value = st.one_of(text, st.just(b"l" * 60_000), st.just(b"two  words\tand a tab"))
field = st.builds(lambda name, value: b"X-%b: %b\r\n" % (name, value), token, value)
fields = st.lists(field, max_size=4).map(b"".join)
body = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [
            b"GET /none HTTP/1.1\r\nHost: x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"0\r\n\r\n",
            b'data: {"n":1}\n\n',
            b"z" * 70_000,
        ]
    ),
)
extension = st.sampled_from([b"", b";pad=x", b';a="b;c"', b" ;q"])


@st.composite
def chunked(draw: st.DrawFn) -> bytes:
    """Return a body in chunks, with extensions and trailers."""
    chunks = [
        b"%x%b\r\n%b\r\n" % (len(data), draw(extension), data)
        for data in draw(st.lists(body.filter(bool), max_size=4))
    ]
    return b"".join([*chunks, b"0" + draw(extension) + b"\r\n", draw(fields), b"\r\n"])


@st.composite
def framed(draw: st.DrawFn) -> bytes:
    """Return what stands behind a first line: fields, and a body by length or in chunks."""
    if draw(st.booleans()):
        return draw(fields) + b"Transfer-Encoding: chunked\r\n\r\n" + draw(chunked())
    data = draw(body)
    return draw(fields) + b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


class Exchange(NamedTuple):
    """A request, and all that answers it."""

    request: bytes
    answer: bytes
    is_upgrade: bool = False


target = st.sampled_from([b"/", b"/?k=1", b"/acp", b"/a%2Fb//x/?sig=Ab%2Fc%3D&y&q=%C3%A9", b"/*"])
spelled = st.sampled_from([b"{base}%b", b"{scheme}://{host}{base}%b"])
host = st.sampled_from([b"Host: {host}\r\n", b"hOST:{host}\r\n", b"HOST: \t{host}\r\n"])
interim = st.sampled_from(
    [b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"]
)


@st.composite
def exchange(draw: st.DrawFn) -> Exchange:
    """Return a request that is answered, on a connection that then goes on."""
    method = draw(st.sampled_from([b"GET", b"HEAD", b"POST", b"DELETE", b"OPTIONS"]))
    asked = draw(spelled) % draw(target)
    if asked.endswith((b"{base}/", b"{base}/?k=1")):
        asked = asked.replace(b"{base}/", b"{base}/x")  # `/` becomes the base path itself
    if method == b"OPTIONS":
        asked = b"*"
    first = b"%b %b HTTP/1.1\r\n%b" % (method, asked, draw(host))
    is_upgrade = draw(st.integers(0, 4)) == 0
    if is_upgrade:
        first += b"Connection: Upgrade\r\nUpgrade: h2c\r\n"
    request = first + (draw(framed()) if method == b"POST" else draw(fields) + b"\r\n")
    status = draw(st.sampled_from([b"200 OK", b"204 No Content", b"304 Not Modified", b"404 \xe9"]))
    begin = draw(interim) + b"HTTP/1.1 %b\r\n" % status
    if method == b"HEAD" or status[:3] in (b"204", b"304"):
        return Exchange(request, begin + draw(fields) + b"\r\n", is_upgrade)
    return Exchange(request, begin + draw(framed()), is_upgrade)


mask = st.binary(min_size=4, max_size=4)
opcode = st.sampled_from([1, 2, 9, 10, 3])


@st.composite
def frames(draw: st.DrawFn, *, masked: bool) -> bytes:
    """Return WebSocket frames: fragments, control frames between them, compressed messages."""
    said: list[bytes] = []
    for kind in draw(st.lists(st.sampled_from(["whole", "fragments", "deflated"]), max_size=4)):
        key = draw(mask) if masked else b""
        if kind == "whole":
            code = draw(opcode)
            said.append(frame(code, draw(body)[: 125 if code > 2 else None], mask=key))
        elif kind == "fragments":
            said.append(frame(1, draw(body), fin=False, mask=key))
            said.append(frame(9, b"ping", mask=key))
            said.append(frame(0, draw(body), mask=key))
        else:
            said += [frame(1, data, rsv1=True, mask=key) for data in deflated(*[draw(body)] * 2)]
    return b"".join(said)


END = b"GET {base}/end HTTP/1.1\r\nHost: {host}\r\n\r\n"


class Talk(NamedTuple):
    """All that passes over one connection."""

    exchanges: list[Exchange]
    is_pipelined: bool
    last: Exchange
    frames: tuple[bytes, bytes]


upgrade = st.builds(
    lambda client, agent: (Exchange(UPGRADE, SWITCH, is_upgrade=True), (client, agent)),
    frames(masked=True),
    frames(masked=False),
)
until_end = st.builds(
    lambda fields, body: (
        Exchange(END, b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n" + body),
        (b"", b""),
    ),
    fields,
    body,
)
talk = st.builds(
    lambda exchanges, is_pipelined, end: Talk(exchanges, is_pipelined, *end),
    st.lists(exchange(), max_size=4),
    st.booleans(),
    st.one_of(upgrade, until_end),
)


class Cuts:
    """Says things in pieces of drawn sizes."""

    def __init__(self, sizes: list[int]) -> None:
        self._sizes = sizes

    def say(self, data: bytes) -> Step:
        def step(part: Part) -> None:
            rest = part.names.fill(data)
            for size in self._sizes:
                part.say(rest[:size])
                rest = rest[size:]
            part.say(rest)

        return step


def script(talk: Talk, client_cuts: Cuts, agent_cuts: Cuts) -> Case:
    """Return what both sides do; the upstream answers a request when it has all of it."""
    client: list[Step] = []
    agent: list[Step] = []
    exchanges = [*talk.exchanges, talk.last]
    asked = answered = b""
    if talk.is_pipelined:
        client.append(client_cuts.say(b"".join(one.request for one in exchanges)))
    for one in exchanges:
        asked += one.request
        answered += one.answer
        if not talk.is_pipelined:
            client.append(client_cuts.say(one.request))
        client.append(hear_total(len(answered)))
        agent += [hear_out(asked), agent_cuts.say(one.answer)]
    from_client, from_agent = talk.frames
    client += [client_cuts.say(from_client), hear_total(len(answered + from_agent)), fin, hear_end]
    agent += [hear_out(asked + from_client), agent_cuts.say(from_agent), fin, hear_end]
    return Case(tuple(client), tuple(agent))


sizes = st.lists(st.one_of(st.integers(1, 30), st.just(5000)), max_size=12)


@pytest.mark.timeout(900)
@given(talk, sizes, sizes)
def test_any_legal_streams_pass_as_they_are(
    running: tuple[Listener, Running, str],
    talk: Talk,
    client_sizes: list[int],
    agent_sizes: list[int],
) -> None:
    upstream, relay, base = running
    names = Names(upstream.authority.encode(), base.encode())
    case = script(talk, Cuts(client_sizes), Cuts(agent_sizes))
    outcome = play(case, Wire(relay.connect()), upstream.accept, names, relay.authority)
    exchanges = [*talk.exchanges, talk.last]
    from_client, from_agent = talk.frames
    asked = b"".join(one.request for one in exchanges) + from_client
    assert outcome.agent_heard == names.fill(asked)
    assert outcome.client_heard == b"".join(one.answer for one in exchanges) + from_agent
    assert (outcome.client_end, outcome.agent_end) == ("fin", "fin")
    assert relay.reports == []
