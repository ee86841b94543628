"""Reads entries for people: kind, method and gist of each."""

from dataclasses import dataclass, field
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
    Side,
    read_all,
)
from acptap.pairing import Ledger
from acptap.timeline import gists, network
from acptap.timeline.exchanges import Exchange, Exchanges, is_on_network
from acptap.timeline.gists import member
from acptap.timeline.reading import Chunk, Kind, Reading
from acptap.timeline.runs import Runs
from acptap.timeline.titles import Titles
from acptap.wire import jsontext

_EVENTS = {"end": "closed its stream", "abort": "stopped reading"}


@dataclass(slots=True)
class _Call:
    method: str
    at: float
    options: dict[str, str] = field(default_factory=dict)


class Reader:
    """Reads the entries of a cassette in order; it must see all of them to know what answers what.

    Attributes:
        versions: The versions of ACP that were settled, as they were spelled.
        agent: What the agent calls itself.
        exchanges: The HTTP exchanges.
        runs: Reads those of them that are runs of AG-UI.
    """

    def __init__(self) -> None:
        self.versions: dict[str, None] = {}
        self.agent = ""
        self.exchanges = Exchanges()
        self.runs = Runs(self.exchanges)
        self._greetings = 0  # how many `initialize` are open
        self._calls: dict[int, Ledger[_Call]] = {}
        self._titles = Titles()

    def read(self, entry: Entry) -> Reading:
        """Return what an entry is and says."""
        if entry.event == "stderr":
            return Reading(Kind.STDERR, gist=_line(entry), is_still=True)
        if is_on_network(entry):
            return self._of_exchange(entry)
        if entry.event is not None:
            gist = gists.words(_EVENTS.get(entry.event), network.facts_of(entry))
            ends = entry.event == "exit"
            return Reading(Kind.EVENT, entry.event, gist=gist, is_still=True, ends=ends)
        if entry.oversize:
            return _piece(entry)
        text = entry.reading()
        try:
            value = jsontext.parse(text)
        except ValueError:
            return Reading(Kind.NOISE, gist=_line(entry) or "a blank line")
        return self._messages(entry, value, read_all(value, text))

    def read_handshake(self, entry: Entry) -> None:
        """Take in heads over HTTP and the beginnings of conversations; read nothing else."""
        is_distant = is_on_network(entry)
        if entry.event is None:
            if is_distant:
                self.runs.survey(entry, self.exchanges.find(entry))
            if self._greetings or b"initialize" in entry.payload:
                self._greeting(entry)
        elif is_distant and "http" in entry.front:
            network.read_event(entry, self.exchanges)

    def _greeting(self, entry: Entry) -> None:
        """Take in `initialize` or its answer, if that is what a unit holds."""
        text = entry.reading()
        try:
            messages = read_all(jsontext.parse(text), text)
        except ValueError:
            return
        if is_on_network(entry) and not self._is_acp(entry, messages):
            return
        for message in messages:
            if isinstance(message, Response) or _is_initialize(message):
                self._message(entry, message)

    def _of_exchange(self, entry: Entry) -> Reading:
        """Return what an entry of the network is and says."""
        if entry.event is not None:
            return network.read_event(entry, self.exchanges)
        if entry.oversize:
            return _piece(entry)
        exchange = self.exchanges.find(entry)
        if entry.is_frame:
            return self.runs.frame(entry, exchange)
        text = entry.reading()
        if exchange.is_socket and network.is_binary(entry):
            return network.read_unit(entry, exchange)
        try:
            value = jsontext.parse(text)
        except ValueError:
            return network.read_unit(entry, exchange)
        of_run = self.runs.read(entry, exchange, value)
        return of_run or self._unit(entry, exchange, value, read_all(value, text))

    def _unit(
        self, entry: Entry, exchange: Exchange, value: object, messages: list[Message]
    ) -> Reading:
        """Return how JSON reads that passed on the network and is no part of a run."""
        if not self._is_acp(entry, messages):
            return network.read_unit(entry, exchange)
        reading = self._messages(entry, value, messages)
        if entry.side is Side.CLIENT:
            exchange.posted = reading.what
        return reading

    def _is_acp(self, entry: Entry, messages: list[Message]) -> bool:
        """Return whether what was read over HTTP is ACP; `initialize` always is."""
        exchange = self.exchanges.find(entry)
        if not exchange.is_acp and entry.side is Side.CLIENT and any(map(_is_initialize, messages)):
            self.exchanges.join(exchange)
        return exchange.speaks(entry.side)

    def _messages(self, entry: Entry, value: object, messages: list[Message]) -> Reading:
        if not isinstance(value, list):
            return self._message(entry, messages[0])
        members = [self._message(entry, message) for message in messages]
        told = "; ".join(f"{part.what} {part.gist}".rstrip() for part in members[:10])
        return Reading(Kind.BATCH, gist=gists.words(f"[{len(value)}]", told))

    def _message(self, entry: Entry, message: Message) -> Reading:
        match message:
            case Request(id=id_, method=method, params=params):
                return self._request(entry, id_, *unwrap(method, params))
            case Notification(method=method, params=params):
                return self._notification(entry, *unwrap(method, params))
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

    def _notification(self, entry: Entry, method: str, params: object) -> Reading:
        if method != "session/update":
            return Reading(Kind.NOTIFICATION, method, gist=gists.of_call(method, params))
        update = member(params, "update")
        name = member(update, "sessionUpdate")
        reading = Reading(Kind.NOTIFICATION, method, name if isinstance(name, str) else None)
        text = gists.chunk_text(update)
        if text is None:
            reading.gist = gists.of_update(
                self._titled(entry.conn, member(params, "sessionId"), update)
            )
        else:
            of = member(update, "messageId") or member(update, "toolCallId")
            reading.chunk = Chunk(of or member(update, "terminalId"), text)
            reading.gist = reading.chunk.told()
        return reading

    def _titled(self, conn: int, session: object, update: object) -> object:
        """Return a tool call's update with the title that an earlier one gave."""
        tool = member(update, "toolCallId")
        if not isinstance(tool, str) or not isinstance(update, dict):
            return update
        key, title = (conn, str(session), tool), update.get("title")
        if isinstance(title, str):
            self._titles.put(key, title[: gists.LIMIT])
            return update
        return update | {"title": self._titles.find(key, tool)}

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
        version = gists.words(member(result, "protocolVersion"))
        if version:
            self.versions[version] = None
        info = member(result, "agentInfo") or member(result, "info")
        self.agent = gists.words(
            member(info, "title") or member(info, "name"), member(info, "version")
        )


def _spelled(id_: RequestId) -> str | int | None:
    return id_.text if isinstance(id_, NumberText) else id_


def _is_initialize(message: Message) -> bool:
    return isinstance(message, Request) and message.method == "initialize"


def _piece(entry: Entry) -> Reading:
    return Reading(Kind.PIECE, gist=f"{len(entry.unit())} bytes of a longer unit")


def _line(entry: Entry) -> str:
    raw = entry.reading() if "stream" in entry.front else entry.unit()
    return raw[: 4 * gists.LIMIT].decode("utf-8", "backslashreplace").rstrip("\n")[: gists.LIMIT]
