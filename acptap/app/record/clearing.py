"""Takes secrets out of single cassette lines, as the tap does while it records."""

from acptap.app.record.lines import text_in, with_http, with_text
from acptap.cassette import Entry, decode_entry
from acptap.http import HttpRequest, HttpResponse
from acptap.jsonrpc import Message, Request, Response, read_all
from acptap.pairing import Ledger
from acptap.redact import Redactor
from acptap.redact.heads import clear_request, clear_response
from acptap.wire import jsontext

_MESSAGE = b',"msg":'
_NO_SLOTS = ""


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

    def line(self, number: int, line: bytes) -> bytes:
        """Return a line without its secrets, or `line` itself if it has none.

        Raises:
            DamagedCassette: The line is no entry.
        """
        place = line.find(_MESSAGE) + len(_MESSAGE)
        if place >= len(_MESSAGE) and not self._redactor.suspects(line[place:-1]):
            return line  # no request either
        entry = decode_entry(line, number, 0, self._name)
        return self._cleared(line, entry, self._asked.setdefault(entry.conn, Ledger()))

    def again(self, number: int, line: bytes) -> bytes:
        """Return a line of which the slots are known to be cleared, without other secrets."""
        return self._cleared(line, decode_entry(line, number, 0, self._name), None)

    def _cleared(self, line: bytes, entry: Entry, asked: Ledger[str] | None) -> bytes:
        if "http" in entry.front:
            return self._cleared_head(line, entry)
        if entry.key is None:
            return line
        body = text_in(entry)
        try:
            if entry.event is not None or entry.oversize:
                raise ValueError("no message")
            messages = read_all(jsontext.parse(entry.reading()), body)
        except ValueError:
            clear = self._redactor.plain(body)
        else:
            clear = body
            for message in messages:
                method = _NO_SLOTS if asked is None else _method(asked, entry, message)
                clear = self._redactor.message(clear, message, method)
        return line if clear is body else with_text(line, entry, clear)

    def _cleared_head(self, line: bytes, entry: Entry) -> bytes:
        said = entry.front["http"]
        if entry.event == "request":
            request = HttpRequest.from_json(said)
            clear_one = clear_request(self._redactor, request)
            return line if clear_one is request else with_http(line, clear_one)
        response = HttpResponse.from_json(said)
        clear = clear_response(self._redactor, response)
        return line if clear is response else with_http(line, clear)


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
