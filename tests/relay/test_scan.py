"""When reading fails, or watching does, the bytes go on."""

from collections.abc import Callable
from typing import Any

import pytest

from acptap.jsonrpc import Side
from acptap.transports.scan import Backlog, Scan
from acptap.transports.spectator import Ending, Guard
from acptap.wire.http1 import Lost, Raw, RequestHead, RequestReader, ResponseReader
from tests.relay.stage import Diary, Fainting

ASK = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
PASSED = b"GET /base HTTP/1.1\r\nHost: a\r\n\r\n"
UP = b"GET / HTTP/1.1\r\nUpgrade: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
WHY = "it could not be read (RuntimeError: broken)"


def rewrite(head: RequestHead) -> bytes:
    return head.raw.replace(b" / ", b" /base ")


class Watched:
    """A scan, and the diary of what it told."""

    def __init__(self, rewrite: Callable[[RequestHead], bytes] = rewrite) -> None:
        self.diary = Diary()
        self.scan = Scan(rewrite, Guard(lambda: self.diary, print))

    def kinds(self) -> list[tuple[Any, ...]]:
        """Return what was told, heads and ends of messages by their kind alone."""
        return [
            call if isinstance(call[1], str | Lost | Raw) else (call[0], type(call[1]).__name__)
            for call in self.diary.calls
        ]


def broken(*_: object, **__: object) -> Any:
    raise RuntimeError("broken")


@pytest.fixture
def told() -> Watched:
    return Watched()


def test_requests_that_can_not_be_read_pass_as_they_came(
    told: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told.scan.from_client(ASK + b"POST / HTTP") == PASSED
    monkeypatch.setattr(RequestReader, "feed", broken)
    assert told.scan.from_client(b"/1.1\r\n\r\n") == b"POST / HTTP/1.1\r\n\r\n"
    assert told.scan.from_client(ASK) == ASK
    assert told.scan.from_agent(OK) == b""
    assert told.scan.client_ended(Ending.FIN) == b""
    assert told.scan.agent_ended(Ending.CUT) == b""
    assert told.scan.is_cut_short
    assert told.kinds() == [
        ("client", "RequestHead"),
        ("client", "End"),
        ("client", Lost(WHY)),
        ("agent", Lost(WHY)),
        ("untouched", WHY),
        ("client", Raw(b"POST / HTTP/1.1\r\n\r\n")),
        ("client", Raw(ASK)),
        ("agent", Raw(OK)),
        ("client", Ending.FIN),
        ("agent", Ending.CUT),
    ]


def test_a_head_that_can_not_be_rewritten_passes_as_it_came() -> None:
    heads: list[RequestHead] = []

    def rewrite_one(head: RequestHead) -> bytes:
        heads.append(head)
        return rewrite(head) if len(heads) == 1 else broken()

    told = Watched(rewrite_one)
    assert told.scan.from_client(ASK + ASK) == ASK + ASK
    assert told.kinds() == [
        ("client", Lost(WHY)),
        ("agent", Lost(WHY)),
        ("untouched", WHY),
        ("client", Raw(ASK + ASK)),
    ]


def test_answers_that_can_not_be_read_release_what_waits(
    told: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told.scan.from_client(UP + b"frames") == UP.replace(b" / ", b" /base ")
    assert told.scan.holds
    monkeypatch.setattr(ResponseReader, "feed", broken)
    assert told.scan.from_agent(OK) == b"frames"
    assert not told.scan.holds
    assert told.kinds()[2:] == [
        ("client", Lost(WHY)),
        ("agent", Lost(WHY)),
        ("untouched", WHY),
        ("agent", Raw(OK)),
        ("client", Raw(b"frames")),
    ]


def test_that_nothing_is_touched_is_told_once(
    told: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubtful = b"GET / HTTP/1.1\r\nHost : a\r\n\r\n"
    assert told.scan.from_client(doubtful) == doubtful
    monkeypatch.setattr(RequestReader, "feed", broken)
    assert told.scan.from_client(ASK) == ASK
    untouched = [call for call in told.diary.calls if call[0] == "untouched"]
    assert untouched == [("untouched", "a blank before a header's colon")]


def test_a_502_although_nothing_can_be_read(told: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RequestReader, "feed", broken)
    assert told.scan.from_client(ASK) == ASK
    answer = told.scan.refuse("nobody is there")
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert told.diary.calls[-1] == ("failed", "nobody is there", [Raw(answer)])


@pytest.mark.parametrize("reader", [RequestReader, ResponseReader])
def test_ends_that_can_not_be_read_are_passed_on(
    told: Watched, monkeypatch: pytest.MonkeyPatch, reader: type
) -> None:
    told.scan.from_client(ASK + b"GET")
    monkeypatch.setattr(reader, "end", broken)
    told.scan.agent_ended(Ending.RESET)
    told.scan.client_ended(Ending.RESET)
    assert [call for call in told.diary.calls if isinstance(call[1], Ending)] == [
        (Side.AGENT, Ending.RESET),
        (Side.CLIENT, Ending.RESET),
    ]


def test_a_backlog_forgets_from_the_front() -> None:
    backlog = Backlog()
    backlog.add(b"ab")
    backlog.add(b"cd")
    backlog.drop(0)
    backlog.drop(3)
    assert (backlog.size, backlog.take(), backlog.size, backlog.take()) == (1, b"d", 0, b"")


CALLS = {
    "from_client": ([Raw(b"")],),
    "from_agent": ([Raw(b"")],),
    "ended": (Side.CLIENT, Ending.FIN),
    "failed": ("why", []),
    "untouched": ("why",),
    "closed": (),
}


@pytest.mark.parametrize("method", CALLS)
def test_a_spectator_that_fails_is_asked_no_more(method: str) -> None:
    reports: list[str] = []
    guard = Guard(Fainting, reports.append)
    for again in (method, *CALLS):
        getattr(guard, again)(*CALLS[again])
    why = f"RuntimeError: fainted in {method}"
    assert reports == [f"a connection is no longer watched ({why}); its traffic goes on"]


def test_a_spectator_that_can_not_be_made() -> None:
    reports: list[str] = []
    guard = Guard(broken, reports.append)
    guard.from_client([Raw(b"")])
    guard.closed()
    assert reports == [
        "a connection is no longer watched (RuntimeError: broken); its traffic goes on"
    ]


def test_a_spectator_is_not_shown_nothing() -> None:
    diary = Diary()
    guard = Guard(lambda: diary, print)
    guard.from_client([])
    guard.from_agent([])
    assert diary.calls == []
