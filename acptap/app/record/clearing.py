"""Takes secrets out of single cassette lines, as the tap does while it records."""

from acptap.agui.events import EVENTS, fields
from acptap.agui.inputs import RunInput
from acptap.agui.secrets import METHOD
from acptap.app.record.lines import text_in, with_body, with_http, with_text
from acptap.cassette import Entry, decode_entry
from acptap.http import HttpRequest, HttpResponse
from acptap.jsonrpc import Malformed, Message, Request, Response, Side, read_all
from acptap.pairing import Ledger
from acptap.redact import Redactor
from acptap.redact.heads import clear_request, clear_response
from acptap.wire import jsontext

_MESSAGE = b',"msg":'
_NO_SLOTS = ""
_EXCHANGE = b'"exchange":'
_BEGINS_RUN = (b'"threadId"', b'"RUN_')
"""What is in all that begins an AG-UI run."""


class Clearing:
    """Goes through the lines of a cassette once, in order.

    Args:
        redactor: Finds secrets, and learns more of them on the way.
        name: The cassette's name, for errors.
    """

    def __init__(self, redactor: Redactor, name: str) -> None:
        self._redactor = redactor
        self._name = name
        self._asked: dict[int, Ledger[str]] = {}  # of each connection: methods
        self._runs: set[object] = set()  # exchanges that are AG-UI runs

    def line(self, number: int, line: bytes) -> bytes:
        """Return a line without its secrets, or `line` itself if it has none.

        Raises:
            DamagedCassette: The line is no entry.
        """
        place = line.find(_MESSAGE) + len(_MESSAGE)
        if place >= len(_MESSAGE) and not self._suspects(line, place):
            return line  # no request either
        entry = decode_entry(line, number, 0, self._name)
        return self._cleared(line, entry, self._asked.setdefault(entry.conn, Ledger()))

    def _suspects(self, line: bytes, place: int) -> bool:
        is_http = line.find(_EXCHANGE, 0, place) >= 0
        suspects = self._redactor.suspects_other if is_http else self._redactor.suspects
        return suspects(line[place:-1]) or (is_http and any(mark in line for mark in _BEGINS_RUN))

    def again(self, number: int, line: bytes) -> bytes:
        """Return a line of which the slots are known to be cleared, without other secrets."""
        return self._cleared(line, decode_entry(line, number, 0, self._name), None)

    def _cleared(self, line: bytes, entry: Entry, asked: Ledger[str] | None) -> bytes:
        if "http" in entry.front:
            return self._cleared_head(line, entry)
        if entry.key is None:
            return line
        if entry.is_frame and not entry.oversize:
            from acptap.redact.frames import clear_frame  # noqa: PLC0415 most cassettes have none

            frame = entry.unit()
            clear = clear_frame(self._redactor, frame)
            return line if clear is frame else with_body(line, entry, clear)
        body = text_in(entry)
        clear = self._cleared_text(body, entry, asked)
        return line if clear is body else with_text(line, entry, clear)

    def _cleared_text(self, body: bytes, entry: Entry, asked: Ledger[str] | None) -> bytes:
        try:
            if entry.event is not None or entry.oversize:
                raise ValueError("no message")
            value = jsontext.parse(entry.reading())
            messages = read_all(value, body)
        except ValueError:
            return self._redactor.plain(body)
        if self._is_run(entry, value):
            return self._redactor.batch(body, [(message, METHOD) for message in messages])
        if asked is None:
            return self._redactor.batch(body, [(message, _NO_SLOTS) for message in messages])
        if "exchange" in entry.front and not any(map(_is_rpc, messages)):
            return self._redactor.other(body)
        calls = [(message, _method(asked, entry, message)) for message in messages]
        return self._redactor.batch(body, calls)

    def _is_run(self, entry: Entry, value: object) -> bool:
        """Return whether an entry belongs to an AG-UI run, whose beginning is taken in."""
        exchange = entry.front.get("exchange")
        if exchange is None:
            return False
        is_asked = entry.side is Side.CLIENT and RunInput.read(value) is not None
        is_told = entry.front.get("stream") == "events" and fields(value).get("type") in EVENTS
        if is_asked or is_told:
            self._runs.add(exchange)
        return exchange in self._runs

    def _cleared_head(self, line: bytes, entry: Entry) -> bytes:
        said = entry.front["http"]
        if entry.event == "request":
            request = HttpRequest.from_json(said)
            clear_one = clear_request(self._redactor, request)
            return line if clear_one is request else with_http(line, clear_one)
        response = HttpResponse.from_json(said)
        clear = clear_response(self._redactor, response)
        return line if clear is response else with_http(line, clear)


def _is_rpc(message: Message) -> bool:
    """Return whether JSON is JSON-RPC; an `id` alone does not make it that."""
    is_broken = isinstance(message, Response) and message.problem
    return not (is_broken or isinstance(message, Malformed))


def _method(asked: Ledger[str], entry: Entry, message: Message) -> str | None:
    """Return the method that a response answers, or None if that isn't known."""
    match message:
        case Request(id=id_, method=method):
            asked.open(entry.side, id_, method)
        case Response(id=id_):
            return asked.settle(entry.side.other, id_)
        case _:
            pass
    return None
