"""Who ended a recorded connection, and how.

A process ends with its stream, a WebSocket with a close frame or without one. An HTTP connection
has no end of its own: the client says so with DELETE; the agent's side is taken to end with
the connection's event stream, unless it is opened again or something more is said.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from acptap.cassette import Entry
from acptap.jsonrpc import Side
from acptap.replay.script import Ending, Step, StepKind, StreamEnd

if TYPE_CHECKING:
    from acptap.replay.exchanges import Exchange

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

    def hear(self, entry: Entry, exchange: "Exchange | None", place: int) -> None:
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

    @property
    def client_ended(self) -> bool:
        """Whether the client wanted nothing more."""
        return self._client_ended

    def spoke(self, exchange: "Exchange | None") -> None:
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

    def _http(self, entry: Entry, exchange: "Exchange", place: int) -> None:
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


class StreamEnds:
    """The ends of sessions' event streams while their connection goes on.

    A stream is ended again behind the step of its session that came before, whoever's it was.

    Attributes:
        by_step: They, by that step.
        last_words: What is no message, and came last on an event stream.
    """

    def __init__(self) -> None:
        self.by_step: dict[Step, list[StreamEnd]] = {}
        self.last_words: set[Step] = set()
        self._latest: dict[str, Step] = {}  # of each session
        self._words: dict[Exchange, Step] = {}  # the latest on each stream

    def spoke(self, step: Step, exchange: "Exchange | None") -> None:
        """Take in something that the agent said, or that a client has to."""
        own = None if exchange is None else exchange.session
        named = set(filter(None, (part.session for part in step.messages)))
        self._latest |= dict.fromkeys(named or filter(None, [own]), step)
        if exchange is not None and exchange.is_stream:
            self._words[exchange] = step

    def hear(self, entry: Entry, exchange: "Exchange") -> None:
        """Take in that a stream has ended."""
        is_end = entry.event in ("end", "abort") and entry.side is Side.AGENT
        if not is_end or not exchange.is_stream or entry.front.get("reason") == _OUR_OWN:
            return
        words, session = self._words.get(exchange), exchange.session
        if words is not None:
            self.last_words.add(words)
        latest = self._latest.get(session or "")
        if session is not None and latest is not None:
            end = StreamEnd(session, entry.number, entry.at, entry.event == "abort")
            self.by_step.setdefault(latest, []).append(end)

    def finish(self, steps: Iterable[Step]) -> None:
        """Find out what was never answered; all steps are known."""
        ends = [end for ends in self.by_step.values() for end in ends]
        if not ends:
            return
        for step in steps:
            if step.side is Side.CLIENT and step.kind is StepKind.REQUEST and step.answer is None:
                for end in ends:
                    if end.session == step.session and end.number > step.number:
                        end.unanswered.append(step)
