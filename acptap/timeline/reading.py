"""What an entry is and says, read for people: its kind, its method and its gist."""

from collections import OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from acptap.acp.methods import unwrap
from acptap.cassette import Entry
from acptap.jsonrpc import (
    Malformed,
    Message,
    Notification,
    NumberText,
    Request,
    RequestId,
    Response,
    read_all,
)
from acptap.pairing import Ledger
from acptap.timeline import gists
from acptap.timeline.gists import member
from acptap.wire import jsontext

_TITLES = 1000
_ENVELOPE = frozenset({"at", "from", "conn", "event", "more", "redacted", "session", "state",
                       "updates", "notes"})  # fmt: skip
_EVENTS = {"end": "closed its stream", "abort": "stopped reading"}


class Kind(StrEnum):
    """What an entry is."""

    REQUEST = "request"
    RESPONSE = "response"
    NOTIFICATION = "notification"
    BATCH = "batch"
    MALFORMED = "malformed"
    NOISE = "noise"
    PIECE = "piece"
    STDERR = "stderr"
    EVENT = "event"


@dataclass(slots=True)
class Reading:
    """What an entry is and says.

    Attributes:
        kind: What it is.
        method: The method; of a response, that of its request; of an event, its name.
        update: The update's name.
        id: The request id as it stands in JSON; a number beyond 64 bits by its spelling.
        gist: What it says, unescaped.
        chunk: Of a chunk: the message it belongs to and the text it adds.
        failed: Whether it is an error response.
        took: Of a response: seconds since its request.
    """

    kind: Kind
    method: str | None = None
    update: str | None = None
    id: str | int | None = None
    gist: str = ""
    chunk: tuple[object, str] | None = None
    failed: bool = False
    took: float | None = None

    @property
    def what(self) -> str:
        """The name a reader looks for."""
        name = self.update or self.method or self.kind.value
        if self.kind is Kind.RESPONSE and self.method is not None:
            return f"{name} {'error' if self.failed else 'result'}"
        return name


@dataclass(slots=True)
class _Call:
    method: str
    at: float
    options: dict[str, str] = field(default_factory=dict)


class Reader:
    """Reads the entries of a cassette in order; it must see all of them to know what answers what.

    Attributes:
        version: The protocol version the last `initialize` settled, as it was spelled.
        agent: What the agent calls itself.
    """

    def __init__(self) -> None:
        self.version = ""
        self.agent = ""
        self._greetings = 0  # how many `initialize` are open
        self._calls: dict[int, Ledger[_Call]] = {}
        self._titles: OrderedDict[tuple[object, str], str] = OrderedDict()

    def read(self, entry: Entry) -> Reading:
        """Return what an entry is and says."""
        if entry.event == "stderr":
            return Reading(Kind.STDERR, gist=_line(entry))
        if entry.event is not None:
            return Reading(Kind.EVENT, entry.event, gist=_facts(entry))
        if entry.oversize:
            return Reading(Kind.PIECE, gist=f"{len(entry.unit())} bytes of a longer unit")
        text = entry.reading()
        try:
            value = jsontext.parse(text)
        except ValueError:
            return Reading(Kind.NOISE, gist=_line(entry) or "a blank line")
        messages = read_all(value, text)
        if isinstance(value, list):
            members = [self._message(entry, message) for message in messages]
            told = "; ".join(f"{part.what} {part.gist}".rstrip() for part in members[:10])
            return Reading(Kind.BATCH, gist=gists.words(f"[{len(value)}]", told))
        return self._message(entry, messages[0])

    def read_handshake(self, entry: Entry) -> None:
        """Take in `initialize` and its answer, and read nothing else."""
        if entry.event is not None or not (self._greetings or b"initialize" in entry.payload):
            return
        text = entry.reading()
        try:
            messages = read_all(jsontext.parse(text), text)
        except ValueError:
            return
        for message in messages:
            if isinstance(message, Response) or (
                isinstance(message, Request) and message.method == "initialize"
            ):
                self._message(entry, message)

    def _message(self, entry: Entry, message: Message) -> Reading:
        match message:
            case Request(id=id_, method=method, params=params):
                return self._request(entry, id_, *unwrap(method, params))
            case Notification(method=method, params=params):
                return self._notification(*unwrap(method, params))
            case Response():
                return self._response(entry, message)
            case Malformed(why=why):
                return Reading(Kind.MALFORMED, gist=gists.words(f"({why})", _line(entry)))
            case _:
                assert_never(message)

    def _ledger(self, entry: Entry) -> Ledger[_Call]:
        return self._calls.setdefault(entry.conn, Ledger())

    def _request(self, entry: Entry, id_: RequestId, method: str, params: object) -> Reading:
        call = _Call(method, entry.at)
        self._greetings += method == "initialize"
        if method == "session/request_permission":
            call.options = gists.options_of(params)
        self._ledger(entry).open(entry.side, id_, call)
        return Reading(Kind.REQUEST, method, id=_spelled(id_), gist=gists.of_call(method, params))

    def _notification(self, method: str, params: object) -> Reading:
        if method != "session/update":
            return Reading(Kind.NOTIFICATION, method, gist=gists.of_call(method, params))
        update = member(params, "update")
        name = member(update, "sessionUpdate")
        reading = Reading(Kind.NOTIFICATION, method, name if isinstance(name, str) else None)
        text = gists.chunk_text(update)
        if text is None:
            reading.gist = gists.of_update(self._titled(member(params, "sessionId"), update))
        else:
            of = member(update, "messageId") or member(update, "toolCallId")
            reading.chunk = (of or member(update, "terminalId"), text)
            reading.gist = gists.quoted(text)
        return reading

    def _titled(self, session: object, update: object) -> object:
        """Return a tool call's update with the title that an earlier one gave."""
        tool = member(update, "toolCallId")
        if not isinstance(tool, str) or not isinstance(update, dict):
            return update
        key, title = (str(session), tool), update.get("title")
        if isinstance(title, str):
            self._titles[key] = title[: gists.LIMIT]
            self._titles.move_to_end(key)
            if len(self._titles) > _TITLES:
                self._titles.popitem(last=False)
            return update
        return update | {"title": self._titles.get(key, tool)}

    def _response(self, entry: Entry, response: Response) -> Reading:
        call = self._ledger(entry).settle(entry.side.other, response.id)
        method = None if call is None else call.method
        reading = Reading(Kind.RESPONSE, method, id=_spelled(response.id), failed=response.failed)
        if call is None:
            reading.gist = gists.words(f"to {gists.brief(reading.id)}")
        else:
            reading.took = entry.at - call.at
        if response.failed:
            told = gists.of_error(response.error)
        else:
            told = gists.of_result(method, response.result)
            if method == "initialize":
                self._met(response.result)
        self._greetings -= method == "initialize"
        if call is not None and call.options and not response.failed:
            chosen = member(response.result, "outcome", "optionId")
            told = call.options.get(gists.words(chosen)) or told
        reading.gist = gists.words(reading.gist, told)
        return reading

    def _met(self, result: object) -> None:
        self.version = gists.words(member(result, "protocolVersion"))
        info = member(result, "agentInfo") or member(result, "info")
        self.agent = gists.words(
            member(info, "title") or member(info, "name"), member(info, "version")
        )


def _spelled(id_: RequestId) -> str | int | None:
    return id_.text if isinstance(id_, NumberText) else id_


def _line(entry: Entry) -> str:
    raw = entry.unit()[: 4 * gists.LIMIT]
    return raw.decode("utf-8", "backslashreplace").rstrip("\n")[: gists.LIMIT]


def _facts(entry: Entry) -> str:
    facts = {name: value for name, value in entry.front.items() if name not in _ENVELOPE}
    known = _EVENTS.get(str(entry.event), "")
    return gists.words(known, " ".join(f"{name} {gists.brief(facts[name])}" for name in facts))
