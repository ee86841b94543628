"""HTTP/1 streams made up by Hypothesis: by the grammar, nearly by it, and compared with h11."""

from collections import deque
from itertools import pairwise
from typing import Any, NamedTuple

import h11
from hypothesis import given
from hypothesis import strategies as st

from acptap.wire.http1 import End, Headers, Lost, Raw, RequestHead, RequestReader, ResponseHead
from tests.wire.http1_reading import CUT, END, cuts, mark, requests, responses, told

FIELD_NAMES = st.sampled_from([b"Host", b"aCp-Connection-ID", b"X@\xe9", b"x-empty", b"Via", b"Te"])
FIELD_VALUES = (
    st.binary(max_size=12).map(lambda value: value.translate(None, b"\r\n"))
    | st.just(b"\xe9\xff folded\r\n\t twice\r\n  and more")
    | st.just(b"x" * 60_000)
)
FIELDS = st.lists(st.tuples(FIELD_NAMES, FIELD_VALUES), max_size=4)
LINE_ENDS = st.sampled_from([b"\r\n", b"\r\n", b"\n"])
CONTENT = st.binary(max_size=20) | st.sampled_from([b"\r\n0\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"])
CHUNKS = st.lists(CONTENT.filter(bool), max_size=4)
EXTENSIONS = st.sampled_from([b"", b"", b"", b" ", b";a", b' ; a="b;c"', b";\xe9"])
SIZES = st.sampled_from([b"%x", b"%X", b"000%x", b"%.12x"])
TRAILERS = st.lists(st.tuples(st.sampled_from([b"X-Sum", b"Content-Length"]), st.just(b"9")))


class Framed(NamedTuple):
    """A body: the fields that announce it, its bytes, its content, its trailers."""

    fields: Headers
    raw: bytes
    content: bytes
    trailers: Headers

    @property
    def words(self):
        content = [self.content] if self.content else []
        return [*content, End(is_complete=True, trailers=self.trailers)]


def lines_of(fields):
    return b"".join(b"%b: %b\r\n" % field for field in fields)


NOTHING = st.just(Framed([], b"", b"", []))
BY_LENGTH = CONTENT.map(
    lambda content: Framed([(b"content-LENGTH", b"%d" % len(content))], content, content, [])
)


@st.composite
def chunked(draw, extensions=EXTENSIONS, sizes=SIZES, trailers=TRAILERS):
    chunks = draw(CHUNKS)
    fields = draw(trailers)
    raw = b"".join(
        draw(sizes) % len(chunk) + draw(extensions) + b"\r\n" + chunk + b"\r\n" for chunk in chunks
    )
    raw += b"0" + draw(extensions) + b"\r\n" + lines_of(fields) + b"\r\n"
    return Framed([(b"Transfer-Encoding", b"chunked")], raw, b"".join(chunks), fields)


def splits(draw, stream):
    """Cut a stream at some places."""
    places = draw(st.lists(st.integers(0, len(stream)), max_size=8))
    places = [0, *sorted(places), len(stream)]
    return [stream[a:b] for a, b in pairwise(places)]


def head_of(draw, first, fields):
    end = draw(LINE_ENDS)
    front = draw(st.sampled_from([b"", b"", b"\r\n", b"\n\r\n"]))
    lines = [first] + [b"%b:%b%b" % (name, draw(BLANKS), value) for name, value in fields]
    return front + b"".join(line + end for line in lines) + end


BLANKS = st.sampled_from([b" ", b"", b"\t  "])


# Requests

METHODS = st.sampled_from([b"GET", b"POST", b"HEAD", b"OPTIONS", b"m-search"])
TARGETS = st.sampled_from([b"/", b"/a%2F?b=%C3", b"*", b"http://h/", b"/\xe9", b"/a//b;c"])
VERSIONS = st.sampled_from([b"1.1", b"1.1", b"1.0"])


class Asked(NamedTuple):
    """A request: its head, its body, how an upgrade is answered (None: it is none)."""

    head: bytes
    framed: Framed
    answer: bool | None
    words: list[Any]


@st.composite
def asked(draw):
    answer = draw(st.sampled_from([None, None, False, True]))
    is_connect = answer is not None and draw(st.booleans())
    framed = draw(NOTHING if is_connect else NOTHING | BY_LENGTH | chunked())
    fields = draw(FIELDS) + framed.fields
    if answer is not None and not is_connect:
        fields.append((b"Upgrade", b"websocket"))
    method = b"CONNECT" if is_connect else draw(METHODS)
    target = b"h:1" if is_connect else draw(TARGETS)
    version = b"1.1" if framed.fields else draw(VERSIONS)
    first = b"%b %b HTTP/%b" % (method, target, version)
    words = [f"{method.decode()} {target.decode('latin-1')}", *framed.words]
    return Asked(head_of(draw, first, draw(st.permutations(fields))), framed, answer, words)


@given(st.lists(asked(), max_size=5), st.binary(max_size=20), st.data())
def test_requests_by_the_grammar(messages, rest, data):
    switched = next((at for at, message in enumerate(messages) if message.answer), len(messages))
    good, behind = messages[: switched + 1], messages[switched + 1 :]
    raw = b"".join(message.head + message.framed.raw for message in behind)
    raw += rest if switched < len(messages) else b""
    out = b"".join(b"<%b>%b" % (message.head, message.framed.raw) for message in good) + raw
    words = [word for message in good for word in message.words] + [Raw(raw)] * bool(raw)
    stream = b"".join(message.head + message.framed.raw for message in good) + raw
    assert drive(splits(data.draw, stream), good, data.draw(st.booleans())) == (out, words)


def drive(reads, messages, is_early):
    """Feed a stream and answer its upgrades: as early as possible, or when that is waited for."""
    answers = deque(message.answer for message in messages if message.answer is not None)
    reader = RequestReader(deque(), mark)
    steps = []
    for read in reads:
        steps.append(reader.feed(read))
        while reader.waits:
            steps.append(reader.resolve(switched=answers.popleft()))
        if is_early and steps[-1][1] and reader._asks:
            steps.append(reader.resolve(switched=answers.popleft()))
    return b"".join(out for out, _ in steps), told(event for _, some in steps for event in some)


@given(st.lists(asked(), min_size=1, max_size=3), st.data())
def test_a_cut_in_a_request_is_told(messages, data):
    good = [message for message in messages if message.answer is None]
    stream = b"".join(message.head + message.framed.raw for message in good)
    stream = stream[: data.draw(st.integers(0, len(stream)))]
    out, events = requests([stream], lambda head: head.raw, ends=True)
    assert out == stream
    heads = [event for event in events if isinstance(event, RequestHead)]
    ends = [event for event in events if isinstance(event, End)]
    assert len(heads) == len(ends)
    assert CUT not in ends[:-1]


# Responses


class Answer(NamedTuple):
    """A response, its method, and what is read."""

    method: str
    raw: bytes
    words: list[Any]


@st.composite
def answered(draw, last=False):
    method = draw(st.sampled_from(["GET", "HEAD", "POST", "get", "CONNECT"]))
    raw, words = b"", []
    for status in draw(st.lists(st.sampled_from([100, 102, 103, 199]), max_size=2)):
        raw += head_of(draw, b"HTTP/1.1 %d x" % status, draw(FIELDS))
        words.append(status)
    status = draw(st.sampled_from([200, 202, 204, 205, 304, 307, 404, 500]))
    if method == "CONNECT":
        status = max(status, 307)
    framed = draw(BY_LENGTH | chunked() | (until_end() if last else BY_LENGTH))
    first = b"HTTP/%b %d%b" % (draw(VERSIONS), status, draw(st.sampled_from([b"", b" ", b" \xe9"])))
    fields = draw(FIELDS) + framed.fields
    raw += head_of(draw, first, draw(st.permutations(fields)))
    if method == "HEAD" or status in (204, 304):
        return Answer(method, raw, [*words, status, END])
    return Answer(method, raw + framed.raw, [*words, status, *framed.words])


def until_end():
    return CONTENT.map(lambda content: Framed([], content, content, []))


@st.composite
def switches(draw):
    method, status = draw(st.sampled_from([("get", 101), ("CONNECT", 200), ("CONNECT", 101)]))
    raw = draw(st.binary(min_size=1, max_size=20))
    head = head_of(draw, b"HTTP/1.1 %d Switching" % status, draw(FIELDS))
    return Answer(method, head + raw, [status, Raw(raw)])


@given(st.lists(answered(), max_size=4), answered(last=True) | switches(), st.data())
def test_responses_by_the_grammar(answers, last, data):
    answers = [*answers, last]
    stream = b"".join(answer.raw for answer in answers)
    words = [word for answer in answers for word in answer.words]
    methods = [answer.method for answer in answers]
    assert told(responses(splits(data.draw, stream), *methods, ends=True)) == words


# Nearly by the grammar: nothing may be lost, nothing raised, and reads may not matter.

TOKENS = [
    b"GET ", b"CONNECT ", b"/", b"*", b" HTTP/1.1", b"HTTP/1.1 ", b"200", b"101", b"100", b" OK",
    b"\r\n", b"\r\n", b"\r\n\r\n", b"\n", b"\r", b":", b" ", b"\t", b"\x00", b"\xe9", b",",
    b"Content-Length:", b"Transfer-Encoding:", b"Upgrade:", b"chunked", b"0", b"1", b"a", b";",
    b"X: y\r\n", b"GET / HTTP/1.1\r\n", b"HTTP/1.1 200 OK\r\n", b"PRI * HTTP/2.0",
    b"Transfer-Encoding: chunked\r\n\r\n",
    b"1\r\na\r\n", b"0\r\n\r\n", b"Content-Length: 3\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
]  # fmt: skip
MESSES = st.lists(st.sampled_from(TOKENS), max_size=25).map(b"".join) | st.binary(max_size=60)


@st.composite
def damaged(draw, messages):
    """Return good messages with a few bytes taken out, put in or changed."""
    stream = bytearray(b"".join(draw(st.lists(messages, min_size=1, max_size=3))))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(stream)))
        stream[at : at + draw(st.integers(0, 2))] = draw(st.sampled_from(TOKENS) | st.just(b""))
    return bytes(stream)


SOME_REQUESTS = damaged(asked().map(lambda message: message.head + message.framed.raw))
SOME_RESPONSES = damaged(answered().map(lambda message: message.raw))


@given(MESSES | SOME_REQUESTS, st.data())
def test_requests_nearly_by_the_grammar(stream, data):
    whole = requests([stream], ends=True)
    reads = splits(data.draw, stream)
    for some in (reads, *(cuts(stream) if len(stream) <= 100 else ())):
        out, events = requests(some, ends=True)
        assert (out, told(events)) == (whole[0], told(whole[1]))
    assert requests(reads, lambda head: head.raw, ends=True)[0] == stream
    assert only_raw_behind_lost(whole[1])


@given(
    MESSES | SOME_RESPONSES, st.lists(st.sampled_from(["GET", "HEAD", "get", "CONNECT"])), st.data()
)
def test_responses_nearly_by_the_grammar(stream, methods, data):
    whole = responses([stream], *methods, ends=True)
    reads = splits(data.draw, stream)
    for some in (reads, *(cuts(stream) if len(stream) <= 100 else ())):
        assert told(responses(some, *methods, ends=True)) == told(whole)
    assert only_raw_behind_lost(whole)


def only_raw_behind_lost(events):
    kinds = [type(event) for event in events]
    behind = kinds[kinds.index(Lost) + 1 :] if Lost in kinds else []
    return set(behind) <= {Raw}


@given(
    st.lists(st.sampled_from(["feed", "feed", "feed", "yes", "no", "lose"]), max_size=12),
    st.lists(MESSES | asked().map(lambda message: message.head), min_size=12, max_size=12),
)
def test_whatever_happens_all_bytes_go_on(steps, reads):
    reader = RequestReader(deque(), lambda head: head.raw)
    out, fed = b"", b""
    for step, read in zip(steps, reads, strict=False):
        match step:
            case "feed":
                fed += read
                out += reader.feed(read)[0]
            case "lose":
                out += reader.lose()[0]
            case _:
                out += reader.resolve(switched=step == "yes")[0]
        assert fed.startswith(out)
    assert out + reader.end()[0] == fed


# h11 agrees on what is ordinary.

ORDINARY = st.lists(
    st.tuples(
        st.sampled_from([b"Host", b"Accept", b"X-A"]),
        st.sampled_from([b"", b"a", b"a\xe9b", b"text/event-stream, */*"]),
    ),
    max_size=3,
)
PLAIN = chunked(
    extensions=st.sampled_from([b"", b";a=b"]),
    sizes=st.sampled_from([b"%x", b"%X", b"0%x"]),
    trailers=st.lists(st.just((b"X-Sum", b"9")), max_size=2),
)


@st.composite
def ordinary(draw, first, framed):
    fields = [field for field in draw(ORDINARY) if field[0] != b"Host"]
    body = draw(framed)
    return first + b"\r\n" + lines_of([(b"Host", b"h"), *fields, *body.fields]) + b"\r\n" + body.raw


@given(
    st.lists(
        st.sampled_from([b"GET / HTTP/1.1", b"POST /a%2F?b HTTP/1.1", b"HEAD * HTTP/1.1"]).flatmap(
            lambda first: ordinary(first, NOTHING | BY_LENGTH | PLAIN)
        ),
        max_size=4,
    )
)
def test_h11_reads_the_same_requests(messages):
    stream = b"".join(messages)
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(stream)
    theirs: list[Any] = []
    for _ in messages:
        theirs += h11_events(connection, h11.Request)
        connection.send(h11.Response(status_code=204, headers=[]))
        connection.send(h11.EndOfMessage())
        connection.start_next_cycle()
    assert our_events(requests([stream])[1]) == theirs


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["GET", "HEAD", "POST"]),
            st.lists(st.just(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n"), max_size=2),
            st.sampled_from([b"HTTP/1.1 200 OK", b"HTTP/1.1 404 No\xe9", b"HTTP/1.1 204 "]),
            st.data(),
        ),
        max_size=4,
    ),
    st.booleans(),
)
def test_h11_reads_the_same_responses(answers, is_open_ended):
    connection = h11.Connection(h11.CLIENT)
    theirs: list[Any] = []
    stream = b""
    for at, (method, interim, first, data) in enumerate(answers):
        is_last = at == len(answers) - 1
        framed = until_end() if is_open_ended and is_last else BY_LENGTH | PLAIN
        raw = data.draw(ordinary(first, framed))
        if method == "HEAD" or b" 204 " in first:
            raw = raw[: raw.index(b"\r\n\r\n") + 4]
        raw = b"".join(interim) + raw
        stream += raw
        connection.send(h11.Request(method=method, target="/", headers=[("Host", "h")]))
        connection.send(h11.EndOfMessage())
        connection.receive_data(raw)
        if is_last:
            connection.receive_data(b"")
        theirs += h11_events(connection, h11.Response)
        if not is_last:
            connection.start_next_cycle()
    methods = [method for method, *_ in answers]
    assert our_events(responses([stream], *methods, ends=True)) == theirs


def h11_events(connection, kind):
    """Return what h11 reads of one message, in the words of `our_events`."""
    events: list[Any] = []
    while True:
        match event := connection.next_event():
            case h11.Request():
                events.append((event.method, event.target, event.headers.raw_items()))
            case h11.InformationalResponse() | h11.Response():
                events.append((event.status_code, event.reason, event.headers.raw_items()))
            case h11.Data():
                if isinstance(events[-1], bytes):
                    events[-1] += event.data
                elif event.data:
                    events.append(bytes(event.data))
            case h11.EndOfMessage():
                return [*events, [*event.headers]]
            case _:
                raise AssertionError(event)


def our_events(events):
    words: list[Any] = []
    for event, told_of_it in ((event, told([event])[0]) for event in events):
        match event:
            case RequestHead():
                words.append((event.method, event.target, event.headers))
            case ResponseHead():
                words.append((event.status, event.reason, event.headers))
            case End():
                words.append([(name.lower(), value) for name, value in event.trailers])
            case _:
                words.append(told_of_it)
    return words
