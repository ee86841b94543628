"""Requests and their answers, as a view has to react to them."""

from dataclasses import dataclass, field

from acptap.acp.knowledge import V1
from acptap.acp.methods import mints
from acptap.acp.observation import session_of
from acptap.acp.view.answers import CHOICES, SETTINGS, TERMINALS
from acptap.acp.view.asks import Asks
from acptap.acp.view.items import Of, Start, Thread, identity
from acptap.acp.view.table import ENTITIES, Updates
from acptap.acp.view.things import Fields
from acptap.acp.view.threads import Threads
from acptap.acp.view.turns import Turns
from acptap.acp.work import ASKS, LOAD, PROMPT, RESUME
from acptap.jsonrpc import RequestId, Response, Side
from acptap.pairing import Ledger
from acptap.updates import Update, UpdateKind

_HISTORIES = frozenset({LOAD, RESUME})
_KEPT = frozenset({*CHOICES, "terminal/create"})
"""Requests whose params are needed when they are answered, if values are wanted."""


@dataclass(slots=True)
class Call:
    """An open request.

    Attributes:
        method: Its method.
        session: The session it names.
        params: Its params, as far as the answer needs them.
        start: Of a prompt, the beginning of a turn.
    """

    method: str
    session: str | None
    params: Fields = field(default_factory=dict)
    start: Start | None = None


class Calls:
    """The requests of one connection.

    Args:
        threads: Its sessions.
        asks: What a human is asked.
        turns: How turns end.
    """

    def __init__(self, threads: Threads, asks: Asks, turns: Turns) -> None:
        self._threads = threads
        self._asks = asks
        self._turns = turns
        self._open: Ledger[Call] = Ledger()
        self._offered: object = None

    def requested(self, side: Side, id_: RequestId, method: str, params: object) -> Updates:
        """Take in a request and return what a view must react to."""
        fields = params if isinstance(params, dict) else {}
        session = session_of(params)
        thread = None if session is None else self._threads.get(session)
        kept = fields if self._threads.folded is not None and method in _KEPT else {}
        if method in TERMINALS:
            kept = kept | {"terminalId": fields.get("terminalId")}
        call = Call(method, session, kept)
        self._open.open(side, id_, call)
        if method == "initialize":
            self._offered = fields.get("protocolVersion")
        told: Updates = ()
        if thread is not None and side is Side.CLIENT:
            told = self._asked_by_client(thread, call, fields)
        if method in ASKS and side is Side.AGENT:
            told += self._asked(id_, method, thread, fields)
        return told

    def _asked_by_client(self, thread: Thread, call: Call, params: Fields) -> Updates:
        method = call.method
        if method == PROMPT:
            call.start = self._turns.prompted(thread, self._threads.line)
            return self._prompted(thread, params) if self._is_v1() else ()
        if method == RESUME:
            thread.resuming = True
        if method == LOAD or (method == RESUME and params.get("replayFrom") is not None):
            thread.restate()
        return ()

    def _is_v1(self) -> bool:
        version = self._threads.version
        return version == V1 or (version is None and self._offered == V1)

    def _prompted(self, thread: Thread, params: Fields) -> Updates:
        """Show what the user said. From version 2 on the agent tells, once it has taken it in."""
        place = thread.add(Of.USER, identity(params.get("messageId")), self._threads.line)
        place.prompt = True
        if place.value is not None:
            place.value.patch({"content": params.get("prompt")})
        return (place.first(thread),)

    def _asked(self, id_: RequestId, method: str, thread: Thread | None, params: Fields) -> Updates:
        """Show a question; what it says of a tool call is an update of it (2.3, rule 6)."""
        told: Updates = ()
        subject = params.get("subject")
        tool = (subject if isinstance(subject, dict) else params).get("toolCall")
        if thread is not None and isinstance(tool, dict) and "toolCallId" in tool:
            row = ENTITIES["tool_call_update"]
            told = row.read(row, self._threads.arrival(thread, tool))
        return told + self._asks.open(id_, method, thread, params, self._threads.line)

    # Answers

    def answered(self, side: Side, response: Response) -> Updates:
        """Take in an answer and return what a view must react to."""
        call = self._open.settle(side.other, response.id)
        told: Updates = ()
        result = response.result if isinstance(response.result, dict) else {}
        if call is None:
            unread = side is Side.AGENT and response.failed and response.id is None
            return self._turns.error(None, response.error, self._threads.line) if unread else ()
        thread = None if call.session is None else self._threads.get(call.session)
        if call.method in ASKS and side is Side.CLIENT:
            return self._asks.settle(response, self._threads.line)
        if thread is not None and call.method in _HISTORIES:
            told = self._restated(thread, failed=response.failed)
        if not response.failed:
            told += self._succeeded(thread, call, result)
        if side is Side.CLIENT:
            return told
        if thread is not None and call.start is not None:
            return told + self._turns.answered(thread, response, call.start, self._threads.line)
        if response.failed:
            told += self._turns.error(thread, response.error, self._threads.line)
        return told

    def _restated(self, thread: Thread, *, failed: bool) -> Updates:
        thread.resuming = False
        if not thread.restated(failed=failed):
            return ()
        return (
            Update(UpdateKind.MESSAGES, thread.id, subagent=thread.subagent,
                   detail={"count": thread.count}),
        )  # fmt: skip

    def _succeeded(self, thread: Thread | None, call: Call, result: Fields) -> Updates:
        minted = result.get("sessionId") if mints(call.method) else None
        if isinstance(minted, str):
            thread = self._threads.get(minted)
        if thread is None:
            return ()
        if call.method in TERMINALS:
            row = ENTITIES["terminal_update"]
            update = TERMINALS[call.method](call.params, result)
            return row.read(row, self._threads.arrival(thread, update))
        if call.method in CHOICES:
            part, choose = CHOICES[call.method]
            return self._threads.part(thread, part, choose(call.params, result))
        told: Updates = ()
        if isinstance(minted, str) or call.method in _HISTORIES:
            for name, part in SETTINGS.items():
                value = result.get(name)
                if value is not None:
                    setting = value if isinstance(value, dict) else {name: value}
                    told += self._threads.part(thread, part, setting)
        return told
