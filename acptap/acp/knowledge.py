"""What the witness knows of a connection: the conversation writes it, the checks read it."""

from dataclasses import dataclass

from acptap.acp.methods import mints
from acptap.acp.work import Work
from acptap.jsonrpc import NumberText, RequestId, Side
from acptap.pairing import Ledger
from acptap.session import Session, SessionState

V1, V2 = 1, 2


@dataclass(slots=True)
class Call:
    """An open request, and what checks of its answer have to know of the moment it was made.

    Attributes:
        asker: Who asks.
        id: Its id.
        method: Its method.
        session: The session it names.
        state: The session's state then.
        busy: The session's `Record.busy` then; `idles` and `cancels` likewise.
        idles: See `busy`.
        cancels: See `busy`.
        options: The options that a permission request offers, by id.
    """

    asker: Side
    id: RequestId
    method: str
    session: str | None
    state: SessionState | None = None
    busy: int = 0
    idles: int = 0
    cancels: int = 0
    options: frozenset[str] | None = None


class Knowledge:
    """What is known of one connection.

    Attributes:
        version: The negotiated version; None while `initialize` is unanswered. A conversation
            that begins without one counts as version 1 until it shows otherwise.
        negotiated: Whether an `initialize` was answered.
        introduced: Whether a request was seen, whatever it was.
        heard: Whether `initialize` was, so that the connection was heard from its beginning.
        begun: Whether a request other than `initialize` was seen.
        sessions: What is known of each session, by id.
        calls: The open requests.
    """

    def __init__(self) -> None:
        self.version: int | None = V1
        self.negotiated = False
        self.introduced = False
        self.heard = False
        self.begun = False
        self.sessions: dict[str, Work] = {}
        self.calls: Ledger[Call] = Ledger()

    def work(self, id_: str) -> Work:
        """Return what is known of a session, at first sight nothing."""
        work = self.sessions.get(id_)
        if work is None:
            work = self.sessions[id_] = Work(Session(id_))
        return work

    def mints(self) -> bool:
        """Return whether a request is open whose answer may name a new session."""
        return any(mints(call.method) for call in self.calls.unanswered())


def spelled(id_: RequestId) -> dict[str, object]:
    """Return an id as a note's particulars."""
    return {"id": id_.text if isinstance(id_, NumberText) else id_}
