"""One ACP connection as a view of it has to react: every message becomes updates."""

from collections.abc import Iterable
from typing import NamedTuple, assert_never

from acptap.acp.conversation import Conversation
from acptap.acp.knowledge import V2
from acptap.acp.methods import Status, unwrap
from acptap.acp.observation import Observation
from acptap.acp.updates import UPDATES
from acptap.acp.view import merging
from acptap.acp.view.asks import Asks
from acptap.acp.view.calls import Calls
from acptap.acp.view.items import Thread, identity
from acptap.acp.view.parts import PARTS
from acptap.acp.view.table import ENTITIES, MESSAGE, Updates
from acptap.acp.view.things import Fields, Item
from acptap.acp.view.threads import Threads
from acptap.acp.view.turns import Turns
from acptap.acp.view.values import Folded, Subagent
from acptap.jsonrpc import Malformed, Message, Notification, Request, Response, Side
from acptap.notes import Note
from acptap.session import Session
from acptap.updates import Update, UpdateKind


class _Last(NamedTuple):
    """A session's last chunk: most messages of a conversation are more of the same."""

    name: str
    key: str
    id: object
    value: Item | None
    updates: Updates


class View:
    """Follows what a view of one connection has to react to. Never raises on any message.

    Args:
        conversation: What is understood of the connection; it must have observed a message before
            the view takes it in.
        keep: Whether to keep values. Without, memory stays small however much is said.
        conn: The number of the connection.
    """

    def __init__(self, conversation: Conversation, *, keep: bool = False, conn: int = 1) -> None:
        self._conversation = conversation
        self._folded = Folded() if keep else None
        self._threads = Threads(conversation, self._folded, conn)
        self._asks = Asks(self._folded)
        self._turns = Turns(conversation, self._folded)
        self._calls = Calls(self._threads, self._asks, self._turns)
        self._last: dict[str | None, _Last] = {}

    @property
    def line(self) -> int:
        """The number of the cassette's line that is taken in; 0 while there is none."""
        return self._threads.line

    @line.setter
    def line(self, number: int) -> None:
        self._threads.line = number

    def take(self, side: Side, message: Message, seen: Observation) -> Updates:
        """Take in a message and return what a view must react to, in this order.

        Args:
            side: Who sent it.
            message: The message.
            seen: What the conversation made of it.
        """
        last = self._last.get(seen.session)
        if last is not None and isinstance(message, Notification) and not seen.notes:
            name, key, id_, value, updates = last
            if message.method == "session/update":
                assert isinstance(message.params, dict)  # it names a session
                update = message.params.get("update")
                if (
                    isinstance(update, dict)
                    and update.get("sessionUpdate") == name
                    and update.get(key) == id_
                ):
                    if value is not None:
                        value.append(update)
                    return updates
        self._last.pop(seen.session, None)
        told = self._read(side, message, seen)
        if seen.notes:
            told = self.faulted(seen.session, seen.notes) + told
        for step in seen.transitions:
            self._last.pop(step.session, None)
            told += self._turns.moved(self._threads.get(step.session), step, self.line)
        return told

    def faulted(self, session: str | None, notes: Iterable[Note]) -> Updates:
        """Take in rules that were met, and return the updates of those that are broken."""
        thread = None if session is None else self._threads.get(session)
        return self._turns.violations(thread, notes, self.line)

    def lose(self) -> Updates:
        """Take in that the connection is gone."""
        self._last.clear()
        told = self._asks.lose(self.line)
        for thread in self._threads.all():
            told += self._turns.lose(thread, self.line)
        return told

    def fold(self) -> Folded:
        """Return the values as they are now; there are none unless they are kept."""
        folded = self._folded or Folded()
        for session in folded.sessions:
            work = self._conversation.sessions.get(session.id)
            known = Session(session.id) if work is None else work.session
            session.session_state, session.confirmed = known.state, known.confirmed
            session.began = self._turns.under_way(self._threads.get(session.id))
        folded.line = self.line
        return folded

    def _read(self, side: Side, message: Message, seen: Observation) -> Updates:
        match message:
            case Notification(method=method, params=params):
                return self._notified(side, *unwrap(method, params), seen)
            case Request(id=id_, method=method, params=params):
                return self._calls.requested(side, id_, *unwrap(method, params))
            case Response():
                return self._calls.answered(side, message)
            case Malformed():
                return ()
            case _:
                assert_never(message)

    # Notifications

    def _notified(self, side: Side, method: str, params: object, seen: Observation) -> Updates:
        fields = params if isinstance(params, dict) else {}
        if method == "$/cancel_request":
            return self._asks.withdraw(side, fields.get("requestId"), self.line)
        update = fields.get("update")
        if method != "session/update" or seen.session is None or not isinstance(update, dict):
            return ()
        thread, name = self._threads.get(seen.session), update.get("sessionUpdate")
        if not isinstance(name, str) or not self._is_known(name):
            return self._unknown(thread, update)
        if name == "state_update":  # what it changes, the conversation says
            if not seen.transitions:
                self._turns.repeated(thread, update)
            return ()
        return self._updated(thread, name, update)

    def _unknown(self, thread: Thread, update: Fields) -> Updates:
        """Take in an update that a client leaves alone: of a kind unknown, or of nothing."""
        if thread.value is not None:
            thread.value.unknown.append(update)
        return ()

    def _is_known(self, name: str) -> bool:
        row = UPDATES.get(name)
        return row is not None and row.status(self._conversation.version or V2) is not Status.ABSENT

    def _updated(self, thread: Thread, name: str, update: Fields) -> Updates:
        if name == "subagent_update":
            return self._subagent(thread, update)
        if name in PARTS:
            return self._threads.part(thread, PARTS[name], update)
        row = ENTITIES[name]
        id_ = update.get(row.key)
        if row.key != MESSAGE and not isinstance(id_, str):
            return self._unknown(thread, update)
        told = row.read(row, self._threads.arrival(thread, update))
        if name.endswith("_chunk") and (id_ is None or isinstance(id_, str)):
            place = thread.find(row.of, identity(id_))
            assert place is not None  # it has just been put there
            more = place.more(thread)
            self._last[thread.id] = _Last(name, row.key, id_, place.value, more)
        return told

    def _subagent(self, thread: Thread, update: Fields) -> Updates:
        child = update.get("sessionId")
        if not isinstance(child, str):
            return ()
        agent = self._threads.get(child)
        agent.subagent = child
        work = self._conversation.sessions.get(child)
        if thread.value is not None and agent.value is not None:
            agent.value.parent = thread.id
            known = thread.value.subagents.setdefault(child, Subagent(child, self.line))
            merging.patch(known.fields, update)
        state = None if work is None else work.session.name or work.session.state.value
        detail: dict[str, object] = {} if state is None else {"state": state}
        return (
            Update(UpdateKind.SUBAGENT, thread.id, id=child, subagent=thread.subagent,
                   detail=detail),
        )  # fmt: skip
