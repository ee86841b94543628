"""The sessions of one connection, as its view is followed."""

from collections.abc import Iterable

from acptap.acp.conversation import Conversation
from acptap.acp.knowledge import V1
from acptap.acp.view.items import Thread
from acptap.acp.view.parts import Part
from acptap.acp.view.table import Arrival, Updates
from acptap.acp.view.things import Fields
from acptap.acp.view.values import Folded, SessionView
from acptap.updates import Update, UpdateKind


class Threads:
    """The sessions of one connection.

    Args:
        conversation: What is understood of the connection.
        folded: Where their values go; None where nobody wants to know.
        conn: The number of the connection.

    Attributes:
        line: The number of the cassette's line that is taken in; 0 while there is none.
        folded: The same as the argument.
    """

    def __init__(self, conversation: Conversation, folded: Folded | None, conn: int) -> None:
        self.line = 0
        self.folded = folded
        self._conversation = conversation
        self._conn = conn
        self._threads: dict[str, Thread] = {}

    @property
    def version(self) -> int | None:
        """The protocol's version, as far as it is negotiated."""
        return self._conversation.version

    def get(self, id_: str) -> Thread:
        """Return a session, which may be new."""
        thread = self._threads.get(id_)
        if thread is None:
            value = None
            if self.folded is not None:
                value = SessionView(id_, self.line, self._conn)
                self.folded.sessions.append(value)
            thread = self._threads[id_] = Thread(id_, value)
        return thread

    def all(self) -> Iterable[Thread]:
        """Return all sessions, in order of appearance."""
        return self._threads.values()

    def arrival(self, thread: Thread, update: Fields) -> Arrival:
        """Return an update on its way into a session."""
        return Arrival(thread, update, self.line, nulls=self.version != V1)

    def part(self, thread: Thread, part: Part, update: Fields) -> Updates:
        """Change what stands beside a conversation, and return what is told of it."""
        if thread.value is not None:
            part.apply(thread.value.state, update)
        detail: dict[str, object] = {"part": part.name}
        return (Update(UpdateKind.STATE, thread.id, subagent=thread.subagent, detail=detail),)
