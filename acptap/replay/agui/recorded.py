"""The AG-UI runs of a recording: each a request and the exchange that it was answered in."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from acptap.agui import proto
from acptap.agui.events import Event, fields, items, optional
from acptap.agui.inputs import RunInput
from acptap.cassette import Entry
from acptap.http import HttpRequest, HttpResponse
from acptap.jsonrpc import Side
from acptap.replay.agui.asking import Asked, Kind
from acptap.replay.exchanges import Exchanges
from acptap.wire import jsontext

_FINISHED = "RUN_FINISHED"


class Ending(StrEnum):
    """How an answer ended."""

    COMPLETE = "complete"
    CUT = "cut"
    """Without the end that HTTP wants it to have."""
    RESET = "reset"
    LEFT = "left"
    """It was the client who went away."""


@dataclass(slots=True)
class Part:
    """A unit of an answer's body.

    Attributes:
        at: When all of it had passed, in seconds.
        offsets: Where the lines that hold it start in the file, in bytes.
        is_block: Whether it is a block of an event stream.
        is_frame: Whether it is a protobuf frame.
        more: Whether it goes on in a line that is still to come.
    """

    at: float
    offsets: list[int]
    is_block: bool = False
    is_frame: bool = False
    more: bool = False


@dataclass(slots=True, eq=False)
class RecordedRun:
    """A run: what was asked, and how it was answered.

    Attributes:
        number: The number of its exchange.
        request: The head of the request.
        asked_at: When it was asked for, in seconds.
        line: The line that holds the body of the request, or its first piece.
        lines: All lines of the exchange.
        offsets: Where the lines that hold the body of the request start in the file, in bytes.
        thread: The thread's recorded id.
        run: The run's recorded id.
        turn: Its place in its thread, from 1.
        kind: What is new in its request.
        digest: Of what is asked; None if requests have to be compared.
        is_redacted: Whether secrets were taken out of the request.
        pending: The interrupts that waited for an answer when it was asked for.
        response: The head of the answer, or None if none came.
        answered_at: When that came.
        is_inflated: Whether the answer's body is stored decompressed.
        body: The answer's body.
        interrupts: The interrupts it ended with; None if it did not finish.
        ending: How the answer ended.
        ended_at: When it did.
    """

    number: int
    request: HttpRequest
    asked_at: float
    line: int = 0
    lines: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    thread: str = ""
    run: str = ""
    turn: int = 0
    kind: Kind = Kind.NOTHING
    digest: bytes | None = None
    is_redacted: bool = False
    pending: tuple[str, ...] = ()
    response: HttpResponse | None = None
    answered_at: float = 0.0
    is_inflated: bool = False
    body: list[Part] = field(default_factory=list)
    interrupts: list[Event] | None = None
    ending: Ending = Ending.COMPLETE
    ended_at: float = 0.0

    def __str__(self) -> str:
        return f"run {self.turn} of thread {self.thread[:100]}"

    @property
    def is_stream(self) -> bool:
        """Whether the answer's body is a stream, rather than one piece of text."""
        if self.body:
            return any(part.is_block or part.is_frame for part in self.body)
        return self.response is not None and self.response.is_success


@dataclass(slots=True)
class _Taken:
    """An exchange that may be a run, while the recording is read.

    Attributes:
        found: What is known of the run.
        body: The request's body so far, until there is an answer.
        asked: The request, once it is known to be one for a run.
        is_ended: Whether it is told how the answer ended.
    """

    found: RecordedRun
    body: list[bytes] = field(default_factory=list)
    asked: RunInput | None = None
    is_ended: bool = False


def runs_of(exchanges: Exchanges, entries: Iterable[Entry]) -> list[RecordedRun]:
    """Return the runs of a recording, in the order they were asked for.

    Args:
        exchanges: The recording's exchanges.
        entries: The recording's entries, once more.
    """
    posts = {
        exchange.number: _Taken(RecordedRun(exchange.number, exchange.request, 0.0))
        for exchange in exchanges.silent
        if exchange.request.method == "POST" and not exchange.is_acp
    }
    if not posts:
        return []
    for entry in entries:
        number = entry.front.get("exchange")
        taken = posts.get(number) if isinstance(number, int) else None
        if taken is not None:
            _take(taken, entry)
    return list(_laid_out(taken for taken in posts.values()))


def _take(taken: _Taken, entry: Entry) -> None:
    found = taken.found
    found.lines.append(entry.number)
    found.ended_at = entry.at
    if entry.event is not None:
        taken.is_ended |= entry.event in ("end", "abort")
        _happened(found, entry)
    elif entry.side is Side.CLIENT:
        found.line = found.line or entry.number
        found.offsets.append(entry.offset)
        found.is_redacted |= entry.front.get("redacted") is True
        taken.body.append(entry.unit())
    else:
        _answered(found, entry)
    if taken.body and not (entry.more and entry.side is Side.CLIENT):
        taken.asked = _read(b"".join(taken.body))
        taken.body.clear()


def _happened(found: RecordedRun, entry: Entry) -> None:
    match entry.event:
        case "request":
            found.asked_at = entry.at
        case "response":
            response = HttpResponse.from_json(entry.front.get("http"))
            if not response.is_interim:
                found.response = response
                found.answered_at = entry.at
                found.is_inflated = "inflated" in entry.front
        case "end" if entry.side is Side.AGENT:
            found.ending = Ending.COMPLETE
        case "end" | "abort":
            found.ending = _ending(entry)
        case _:
            pass


def _ending(entry: Entry) -> Ending:
    if entry.side is Side.CLIENT:
        return Ending.LEFT
    return Ending.RESET if entry.front.get("reason") == "reset" else Ending.CUT


def _answered(found: RecordedRun, entry: Entry) -> None:
    """Take in a unit of the answer, or a piece of one."""
    before = found.body[-1] if found.body else None
    is_block = "stream" in entry.front
    if before is not None and before.more:
        before.at, before.more = entry.at, entry.more
        before.offsets.append(entry.offset)
        return
    is_frame = entry.is_frame
    found.body.append(
        Part(entry.at, [entry.offset], is_block and not is_frame, is_frame, entry.more)
    )
    event = {} if entry.more or not is_block else _finish(entry)
    if event:
        outcome = fields(event.get("outcome"))
        asked = items(outcome.get("interrupts"))
        found.interrupts = [said for said in asked if optional(said, "id") is not None]


def _finish(entry: Entry) -> Event:
    """Return the RUN_FINISHED in an entry; nothing if there is none."""
    try:
        if entry.is_frame:
            event: object = proto.decode(entry.unit())
        elif _FINISHED.encode() in entry.payload:
            event = jsontext.parse(entry.reading())
        else:
            return {}
    except ValueError:
        return {}
    return event if isinstance(event, dict) and event.get("type") == _FINISHED else {}


def _read(body: bytes) -> RunInput | None:
    try:
        return RunInput.read(jsontext.parse(body))
    except ValueError:
        return None


def _laid_out(posts: Iterable[_Taken]) -> Iterator[RecordedRun]:
    """Yield the runs among posts, each with its place in its thread."""
    turns: dict[str, int] = {}
    pending: dict[str, tuple[str, ...]] = {}
    for taken in posts:
        found, whole = taken.found, taken.asked
        if whole is None:
            continue
        thread = whole.thread
        found.thread, found.run = thread, whole.run
        found.turn = turns[thread] = turns.get(thread, 0) + 1
        found.pending = pending.get(thread, ())
        asked = Asked.of(whole, found.pending)
        found.kind = asked.kind
        found.digest = None if found.is_redacted else asked.digest()
        if found.interrupts is not None:  # else they wait on
            pending[thread] = tuple(str(said["id"]) for said in found.interrupts)
        if not taken.is_ended and (found.is_stream or found.response is None):
            found.ending = Ending.CUT  # the recording was; of other bodies the end is not told
        yield found
