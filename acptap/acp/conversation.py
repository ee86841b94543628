"""One ACP connection, as a witness understands it. Never refuses, never raises on any message."""

from typing import assert_never

from acptap.acp import v1, v2
from acptap.acp.checks import answers, ends, requests, states, updates
from acptap.acp.checks.states import Report
from acptap.acp.knowledge import V1, V2, Call, Knowledge, spelled
from acptap.acp.methods import METHODS, Method, Scope, Status, is_optional_notification, unwrap
from acptap.acp.observation import Observation, session_of
from acptap.acp.updates import UPDATES, UpdateKind
from acptap.acp.work import ASKS, CLOSE, COUNTED, LOAD, PROMPT, RESUME, Work
from acptap.jsonrpc import Malformed, Message, Notification, Request, Response, Side
from acptap.notes import Note
from acptap.session import OVER, Basis, Session, SessionState

_LOOKED_AT = updates.LOOKED_AT | {"state_update"}
_CLOSING = frozenset({CLOSE, "session/archive"})


class Conversation(Knowledge):
    """The state of one connection: its version, its sessions and its open requests.

    What rules it meets is for `acptap.acp.checks` to say; here stands what messages mean.
    """

    def observe(self, side: Side, message: Message) -> Observation:
        """Take in a message and return what it means."""
        seen = Observation()
        match message:
            case Notification(method=method, params=params):
                self._notified(seen, side, method, params)
            case Request():
                self._requested(seen, side, message)
            case Response():
                self._answered(seen, side, message)
            case Malformed(why=why):
                seen.note("jsonrpc/malformed", why=why)
            case _:
                assert_never(message)
        return seen

    def end(self) -> list[Note]:
        """Take in that the connection is gone, and return what that leaves open.

        The last states stay as they were, unconfirmed: a lost connection says nothing about the
        work (acp.md 3.3).
        """
        for work in self.sessions.values():
            work.session.lost = True
        return ends.judge(self)

    # Requests and notifications

    def _requested(self, seen: Observation, side: Side, request: Request) -> None:
        method, params = unwrap(request.method, request.params)
        seen.session, seen.method = session_of(params), method
        call = Call(side, request.id, method, seen.session)
        self._check_method(seen, method)
        requests.judge(seen, self, call, params)
        if not self.calls.open(side, request.id, call):
            seen.note("jsonrpc/duplicate-id", **spelled(request.id))
        if method == "initialize":
            self._offered()
        if seen.session is None:
            return
        if method == RESUME and self.version not in (None, V1):
            self._withdraw(seen, seen.session)
        work = self.work(seen.session)
        requests.remember(self, work, call, params)
        if method in COUNTED:
            work.open[method] += 1
            self._derive(seen, work)

    def _notified(self, seen: Observation, side: Side, method: str, params: object) -> None:
        method, params = unwrap(method, params)
        seen.session, seen.method = session_of(params), method
        if method != "session/update":
            self._check_method(seen, method)
            if side is Side.AGENT and seen.session is not None:
                updates.spoken(seen, self, self.sessions.get(seen.session), method=method[:200])
            elif method == "session/cancel" and seen.session is not None:
                self._cancelled(seen, self.work(seen.session))
            return
        update = params.get("update") if isinstance(params, dict) else None
        if seen.session is not None and isinstance(update, dict):
            work = self.sessions.get(seen.session)
            if work is None:
                work = self.work(seen.session)
                updates.first_seen(seen, self, work)
            self._updated(seen, work, update)

    def _updated(self, seen: Observation, work: Work, update: dict[str, object]) -> None:
        name = update.get("sessionUpdate")
        kind = UPDATES.get(name) if isinstance(name, str) else None
        if not self.negotiated:
            self._hint(kind)
        if work.record.watched:
            updates.watch(seen, self, work, name if isinstance(name, str) else None)
        if kind is None or (kind.v1 if self.version == V1 else kind.v2) is Status.ABSENT:
            seen.note("acp/unknown-update", update=name[:200] if isinstance(name, str) else None)
            return
        if name in _LOOKED_AT:  # most are chunks of text
            self._look_at(seen, work, str(name), update)
        if kind.in_turn and self.version == V1 and work.turns and not work.busy:
            seen.note("acp/update-after-turn")

    def _look_at(self, seen: Observation, work: Work, name: str, update: dict[str, object]) -> None:
        if name in updates.LOOKED_AT:
            updates.judge(seen, self, work, name, update)
        if name == "state_update":
            self._reported(seen, work, update)
        elif name == "subagent_update":
            self._child_reported(seen, update)

    def _reported(self, seen: Observation, work: Work, snapshot: dict[str, object]) -> None:
        cancelled = work.session.cancel_requested
        transition = v2.report(work, snapshot)
        seen.move(transition)
        states.judge(seen, self, work, Report(snapshot, transition, cancelled))

    def _child_reported(self, seen: Observation, update: dict[str, object]) -> None:
        child, state = update.get("sessionId"), update.get("state")
        if not isinstance(child, str):
            return
        if child not in self.sessions:  # a child starts with no state, not idle (acp.md 3.2)
            self.sessions[child] = Work(Session(child, SessionState.NONE))
            self.sessions[child].record.open()
        if isinstance(state, dict):
            seen.move(v2.report(self.sessions[child], state))
        elif "state" in update and state is None:  # unconfirmed; left out means unchanged
            seen.move(v2.withdraw(self.sessions[child]))

    def _cancelled(self, seen: Observation, work: Work) -> None:
        busy = work.session.state not in OVER or work.prompts > 0
        work.session.cancel_requested = busy
        if busy:
            work.record.cancels += 1
        work.record.excuse()
        seen.note("acp/cancel-requested" if busy else "acp/stray-cancel")

    # Answers

    def _answered(self, seen: Observation, side: Side, response: Response) -> None:
        call = self.calls.settle(side.other, response.id)
        if response.problem:
            seen.note("jsonrpc/malformed", why=response.problem)
        if call is None:
            self._unasked(seen, side, response)
            return
        seen.session, seen.method = call.session, call.method
        answers.judge(seen, self, call, response)
        result = response.result if isinstance(response.result, dict) else {}
        if call.method == "initialize" and not response.failed:
            self._negotiate(seen, result.get("protocolVersion"))
        if not response.failed:
            self._succeeded(seen, call, result)
        if call.session is not None:
            self._settled(seen, self.work(call.session), call, response)

    def _unasked(self, seen: Observation, side: Side, response: Response) -> None:
        if response.id is None and response.failed:
            seen.note("jsonrpc/null-id-error")
        elif self.calls.was_settled(side.other, response.id):
            seen.note("jsonrpc/second-answer", **spelled(response.id))
        else:
            seen.note("jsonrpc/unknown-id", **spelled(response.id))

    def _succeeded(self, seen: Observation, call: Call, result: dict[str, object]) -> None:
        row = METHODS.get(call.method)
        minted = result.get("sessionId")
        if row is not None and row.scope is Scope.MINTS and isinstance(minted, str):
            self._reopen(seen, self.work(minted))  # keeps a state that was reported before (R2)
            seen.session = call.session if call.session is not None else minted
        if call.method in _CLOSING and call.session is not None:
            work = self.work(call.session)
            seen.move(work.session.move(SessionState.CLOSED, Basis.DERIVED))

    def _settled(self, seen: Observation, work: Work, call: Call, response: Response) -> None:
        if call.method in COUNTED:
            work.open[call.method] -= 1
        if call.method == PROMPT:
            self._turn_ended(seen, work, response)
        elif call.method in ASKS:
            self._derive(seen, work)
        elif call.method == LOAD and not response.failed:
            work.turns += 1
            self._reopen(seen, work)
        elif call.method == RESUME:
            self._resumed(seen, work, failed=response.failed)

    def _turn_ended(self, seen: Observation, work: Work, response: Response) -> None:
        work.turns += 1
        reason = v1.end_of_prompt(response.result, response.error, failed=response.failed)
        self._derive(seen, work, reason)
        if response.failed and not work.prompts and work.session.state is SessionState.IDLE:
            work.session.cancel_requested = False  # the prompt was all that it could stop

    def _resumed(self, seen: Observation, work: Work, *, failed: bool) -> None:
        before, work.before_resume = work.before_resume, None
        if self.version == V1 and not failed:
            self._reopen(seen, work)
        elif failed and before is not None and work.session.state is SessionState.NONE:
            seen.move(work.session.move(before, Basis.DERIVED))

    def _withdraw(self, seen: Observation, id_: str) -> None:
        """Forget a session's state until it is reported; of one never seen none is known."""
        work = self.sessions.get(id_)
        if work is None:
            self.sessions[id_] = Work(Session(id_, SessionState.NONE))
            return
        if work.session.state is not SessionState.NONE:
            work.before_resume = work.session.state
        seen.move(v2.withdraw(work))

    def _reopen(self, seen: Observation, work: Work) -> None:
        if work.session.state is SessionState.CLOSED:
            seen.move(work.session.move(SessionState.IDLE, Basis.DERIVED))
        self._derive(seen, work)

    # Versions

    def _hint(self, row: Method | UpdateKind | None) -> None:
        """Learn from what only one version has, while none is negotiated (acp.md 4)."""
        if self.negotiated or row is None:
            return
        if row.v1 is Status.ABSENT:
            self.version = V2
        elif row.v2 is Status.ABSENT:
            self.version = V1

    def _offered(self) -> None:
        if not self.negotiated:
            self.version = None

    def _negotiate(self, seen: Observation, version: object) -> None:
        """The response decides, and the last one counts (acp.md 4)."""
        known = isinstance(version, int) and not isinstance(version, bool)
        self.version = version if known and isinstance(version, int) else V1
        self.negotiated = True
        for work in self.sessions.values():  # a client may prompt before it knows the version
            self._derive(seen, work)
        if self.version != V1:
            for call in self.calls.unanswered():  # or resume
                if call.method == RESUME and call.session is not None:
                    self._withdraw(seen, call.session)

    # Bookkeeping

    def _derive(self, seen: Observation, work: Work, reason: str | None = None) -> None:
        if self.version == V1:
            seen.move(v1.derive(work, reason))

    def _check_method(self, seen: Observation, method: str) -> None:
        self._hint(METHODS.get(method))
        if method not in METHODS and not is_optional_notification(method):
            seen.note("acp/unknown-method", method=method[:200])
