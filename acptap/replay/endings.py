"""Who ended a recorded connection, and how.

A process ends with its stream, a WebSocket with a close frame or without one. An HTTP connection
has no end of its own: the client says so with DELETE; the agent's side is taken to end with
the connection's event stream, unless it is opened again or something more is said.
"""

from dataclasses import replace

from acptap.cassette import Entry
from acptap.jsonrpc import Side
from acptap.replay.exchanges import Exchange
from acptap.replay.script import Ending

_OUR_OWN = "closed"
"""Why an exchange broke off when neither side did it: the recording proxy was ended."""


class Ends:
    """What becomes of the two sides of a connection, told in recorded order.

    Attributes:
        ending: How the agent's side ended.
        place: How many steps there were when it did; None if it has not.
    """

    def __init__(self) -> None:
        self.ending = Ending()
        self.place: int | None = None
        self._client_ended = False

    def hear(self, entry: Entry, exchange: Exchange | None, place: int) -> None:
        """Take in a fact of the transport.

        Args:
            entry: It.
            exchange: The exchange it belongs to; None on standard input and output.
            place: How many steps there are.
        """
        if entry.front.get("reason") == _OUR_OWN and entry.event == "abort":
            return
        if exchange is None:
            self._process(entry, place)
        elif exchange.is_socket:
            self._socket(entry, place)
        else:
            self._http(entry, exchange, place)

    def spoke(self, exchange: Exchange | None) -> None:
        """Take in that the agent said something."""
        if exchange is not None and not exchange.is_socket:
            self._go_on()

    def _process(self, entry: Entry, place: int) -> None:
        if entry.event not in ("end", "exit"):
            return
        if entry.side is Side.CLIENT:
            self._client_ended = True
            return
        self._end(place)
        code, signal = entry.front.get("code"), entry.front.get("signal")
        if isinstance(code, int):
            self.ending = replace(self.ending, code=code)
        if isinstance(signal, str):
            self.ending = replace(self.ending, signal=signal)

    def _socket(self, entry: Entry, place: int) -> None:
        if entry.event not in ("close", "end", "abort"):
            return
        if entry.side is Side.CLIENT:
            self._client_ended = True
        elif self.place is None:
            self._end(place)
            code, reason = entry.front.get("code"), entry.front.get("reason")
            self.ending = replace(
                self.ending,
                close_code=code if isinstance(code, int) else None,
                reason=reason if entry.event == "close" and isinstance(reason, str) else "",
                is_cut=entry.event != "close",
            )

    def _http(self, entry: Entry, exchange: Exchange, place: int) -> None:
        if entry.event == "request" and exchange.request.method == "DELETE":
            self._client_ended = True
        elif not exchange.carries_connection:
            return
        elif entry.event == "response":
            self._go_on()
        elif entry.event in ("end", "abort") and entry.side is Side.AGENT:
            self._end(place)
            self.ending = replace(self.ending, is_cut=entry.event == "abort")

    def _end(self, place: int) -> None:
        if self.place is None:
            self.place = place
            self.ending = replace(self.ending, before_client=not self._client_ended)

    def _go_on(self) -> None:
        self.place, self.ending = None, Ending()
