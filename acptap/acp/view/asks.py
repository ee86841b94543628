"""What a human is asked, until it is answered or withdrawn."""

from dataclasses import dataclass

from acptap.acp.view.items import Thread
from acptap.acp.view.things import Fields
from acptap.acp.view.values import Folded, Interrupt
from acptap.jsonrpc import NumberText, RequestId, Response, Side
from acptap.pairing import Ledger
from acptap.updates import LONGEST, Change, Update, UpdateKind

_EARLY = 1_000
"""Withdrawals that may wait for their requests."""

Updates = tuple[Update, ...]


@dataclass(slots=True)
class _Ask:
    """A question that is not answered.

    Attributes:
        id: The request's id, as an update has it.
        thread: Its session.
        value: What is asked; None where nobody wants to know.
        open: Whether the human can still answer.
    """

    id: str | int | None
    thread: Thread | None
    value: Interrupt | None
    open: bool = True


class Asks:
    """The questions of one connection.

    Args:
        folded: Where the questions outside of all sessions go; None where nobody wants to know.
    """

    def __init__(self, folded: Folded | None) -> None:
        self._folded = folded
        self._asks: Ledger[_Ask] = Ledger()
        self._early: dict[RequestId, None] = {}  # withdrawn before they came, as on HTTP

    def open(
        self, id_: RequestId, method: str, thread: Thread | None, params: Fields, line: int
    ) -> Updates:
        """Take in a question."""
        ask = _Ask(_spelled(id_), thread, None)
        home = self._folded if thread is None else thread.value
        if home is not None:
            session = None if thread is None else thread.id
            ask.value = Interrupt(ask.id, method, session, line, params)
            home.interrupts.append(ask.value)
        self._asks.open(Side.AGENT, id_, ask)
        if id_ in self._early:
            del self._early[id_]
            self._close(ask, "withdrawn", line)
            return ()
        return (self._told(ask, Change.STARTED),)

    def settle(self, response: Response, line: int) -> Updates:
        """Take in the client's answer; it changes nothing if the question was withdrawn."""
        ask = self._asks.settle(Side.AGENT, response.id)
        if ask is None or not ask.open:
            return ()
        answer = response.error if response.failed else response.result
        outcome = "error" if response.failed else _decision(answer)
        if ask.value is not None:
            ask.value.answer = answer
        return (self._close(ask, outcome, line),)

    def withdraw(self, side: Side, id_: object, line: int) -> Updates:
        """Take in that the agent gives up a request; which may be known only later."""
        if side is not Side.AGENT or not isinstance(id_, (int, str)) or isinstance(id_, bool):
            return ()
        ask = self._asks.find(Side.AGENT, id_)
        if ask is not None and ask.open:
            return (self._close(ask, "withdrawn", line),)
        if ask is None and not self._asks.was_settled(Side.AGENT, id_):
            self._early[id_] = None
            if len(self._early) > _EARLY:
                del self._early[next(iter(self._early))]
        return ()

    def lose(self, line: int) -> Updates:
        """Take in that the connection is gone, and every question with it."""
        lost = [ask for ask in self._asks.unanswered() if ask.open]
        return tuple([self._close(ask, "lost", line) for ask in lost])

    def _close(self, ask: _Ask, outcome: str, line: int) -> Update:
        ask.open = False
        if ask.value is not None:
            ask.value.outcome, ask.value.ended = outcome, line
        return self._told(ask, Change.ENDED, outcome=outcome)

    def _told(self, ask: _Ask, change: Change, **detail: object) -> Update:
        session = None if ask.thread is None else ask.thread.id
        subagent = None if ask.thread is None else ask.thread.subagent
        return Update(UpdateKind.INTERRUPT, session, None, ask.id, change, subagent, detail)


def _decision(result: object) -> str:
    """Return a permission's outcome, or an elicitation's action."""
    outcome = result.get("outcome") if isinstance(result, dict) else None
    word = outcome.get("outcome") if isinstance(outcome, dict) else None
    if word is None and isinstance(result, dict):
        word = result.get("action")
    return word[:LONGEST] if isinstance(word, str) else "answered"


def _spelled(id_: RequestId) -> str | int | None:
    return id_.text if isinstance(id_, NumberText) else id_
