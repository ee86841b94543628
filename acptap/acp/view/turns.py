"""How turns end, and what goes wrong: every turn that begins ends exactly once."""

from collections.abc import Iterable

from acptap.acp import v1
from acptap.acp.conversation import Conversation
from acptap.acp.knowledge import V1
from acptap.acp.view.items import Start, Thread
from acptap.acp.view.things import Fields
from acptap.acp.view.values import Done, Failure, Folded
from acptap.jsonrpc import Response
from acptap.notes import Note, Severity
from acptap.session import ACTIVE, Basis, SessionState, Transition
from acptap.updates import LONGEST, End, Update, UpdateKind

Updates = tuple[Update, ...]

ENDS: dict[str | None, End] = {"cancelled": End.CANCELLED, "error": End.FAILED}
"""How a turn ended, by its reason; any other one, and none, is a success."""

LOST = "the connection ended in mid-turn"

_BEGIN = ACTIVE | {SessionState.OTHER}
"""States that mean work, so a turn has begun; a custom one is never to be read as idle (R26)."""

_VAGUE = frozenset({SessionState.UNKNOWN, SessionState.OTHER})


class Turns:
    """The turns of one connection.

    Args:
        conversation: What is understood of the connection.
        folded: Where errors outside of all sessions go; None where nobody wants to know.
    """

    def __init__(self, conversation: Conversation, folded: Folded | None) -> None:
        self._conversation = conversation
        self._folded = folded

    # Beginnings

    def prompted(self, thread: Thread, line: int) -> Start:
        """Take in a prompt, and return the turn's beginning that it may be."""
        start = Start(line)
        thread.prompts.append(start)
        if thread.began is None:
            thread.began = start
        return start

    def under_way(self, thread: Thread) -> int | None:
        """Return the line that began the turn under way, or None."""
        start = thread.began or next(iter(thread.prompts), None)
        return None if start is None else start.line

    # Ends

    def answered(self, thread: Thread, response: Response, start: Start, line: int) -> Updates:
        """Take in a prompt's answer: in version 1 the end of a turn."""
        _leave(thread, start)
        reason = v1.end_of_prompt(response.result, response.error, failed=response.failed)
        if self._conversation.version != V1:
            return self._refused(thread, response, line) if response.failed else ()
        thread.began = next(iter(thread.prompts), None)
        error = response.error if response.failed else None
        usage = response.result.get("usage") if isinstance(response.result, dict) else None
        done = Done(line, start.line, _end_of(reason), reason, usage)
        return self._end(thread, done, error)

    def _refused(self, thread: Thread, response: Response, line: int) -> Updates:
        """Take in that a prompt was not taken up, which ends no work (R5, R10)."""
        if self._is_idle(thread) and not thread.prompts:
            thread.began = None
        return self.error(thread, response.error, line)

    def moved(self, thread: Thread, step: Transition, line: int) -> Updates:
        """Take in a change of state: where states are reported, idle is the end of a turn."""
        if step.basis is not Basis.REPORTED:
            return self._closed(thread, line) if step.after is SessionState.CLOSED else ()
        if step.after is not SessionState.IDLE:
            if thread.began is None and _is_work(step):
                thread.began = next(iter(thread.prompts), Start(line))
            return ()
        vague = step.before in _VAGUE and step.reason is not None
        began, thread.began = thread.began, None
        if began is not None:
            _leave(thread, began)  # its answer may still come, and is no part of the next turn
        if step.repeat or (began is None and not vague) or self._is_snapshot(thread, step):
            return ()
        details = self._conversation.sessions[thread.id].session.details
        snapshot = details if isinstance(details, dict) else {}
        start = line if began is None else began.line
        done = Done(line, start, _end_of(step.reason), step.reason, snapshot.get("usage"))
        return self._end(thread, done, snapshot.get("error"))

    def repeated(self, thread: Thread, snapshot: Fields) -> None:
        """Take in a state that is no change: after such an idle nothing is under way (R21)."""
        if snapshot.get("state") == SessionState.IDLE:
            thread.began = None

    def _is_snapshot(self, thread: Thread, step: Transition) -> bool:
        return thread.resuming and step.before is SessionState.NONE

    def _closed(self, thread: Thread, line: int) -> Updates:
        """Take in that a session was closed; in version 1 its prompts are still answered."""
        began = thread.began
        if began is None or self._conversation.version == V1:
            return ()
        thread.began = None
        return self._end(thread, Done(line, began.line, End.CANCELLED), None)

    def lose(self, thread: Thread, line: int) -> Updates:
        """Take in that the connection is gone: nothing that was under way will end by itself."""
        began = thread.prompts
        if self._conversation.version != V1 or not began:
            began = ([] if thread.began is None else [thread.began]) or began[:1]
        thread.prompts, thread.began = [], None
        closed = self._state(thread) is SessionState.CLOSED
        end = End.CANCELLED if closed else End.FAILED
        told: Updates = ()
        for start in began:
            told += self._end(thread, Done(line, start.line, end), {"message": LOST})
        return told

    def _end(self, thread: Thread, done: Done, error: object) -> Updates:
        """Return the updates of a turn's end: its error, if it failed, and that it is done."""
        thread.last = None
        told: Updates = ()
        if done.end is End.FAILED:
            told = self.error(thread, error, done.line, fatal=True)
        if thread.value is not None:
            thread.value.done.append(done)
        detail: dict[str, object] = {"end": done.end.value}
        if done.reason is not None:
            detail["reason"] = done.reason[:LONGEST]
        update = Update(UpdateKind.DONE, thread.id, subagent=thread.subagent, detail=detail)
        return (*told, update)

    # Errors

    def error(
        self, thread: Thread | None, error: object, line: int, *, fatal: bool = False
    ) -> Updates:
        """Return the update of an error object, made up if it is none; a cancel is no error."""
        said = error if isinstance(error, dict) else {}
        code, words = said.get("code"), said.get("message")
        if code == v1.CANCELLED and not fatal:
            return ()
        failure = Failure(line, _id_of(thread), fatal=fatal)
        failure.code = code if isinstance(code, int) and not isinstance(code, bool) else None
        failure.message = words if isinstance(words, str) else ""
        return self._failed(thread, failure)

    def violations(self, thread: Thread | None, notes: Iterable[Note], line: int) -> Updates:
        """Return the updates of rules that were broken."""
        told: Updates = ()
        for note in notes:
            if note.severity is Severity.VIOLATION:
                told += self._failed(thread, Failure(line, _id_of(thread), rule=note.rule))
        return told

    def _failed(self, thread: Thread | None, failure: Failure) -> Updates:
        home = self._folded if thread is None else thread.value
        if home is not None:
            home.errors.append(failure)
        detail: dict[str, object] = {}
        if failure.code is not None:
            detail["code"] = failure.code
        if failure.rule is not None:
            detail["rule"] = failure.rule
        if failure.fatal:
            detail["fatal"] = True
        subagent = None if thread is None else thread.subagent
        return (Update(UpdateKind.ERROR, failure.session, subagent=subagent, detail=detail),)

    def _state(self, thread: Thread) -> SessionState:
        work = self._conversation.sessions.get(thread.id)
        return SessionState.IDLE if work is None else work.session.state

    def _is_idle(self, thread: Thread) -> bool:
        return self._state(thread) in (SessionState.IDLE, SessionState.NONE)


def _leave(thread: Thread, start: Start) -> None:
    """Take a prompt from those that wait."""
    if start in thread.prompts:
        thread.prompts.remove(start)


def _id_of(thread: Thread | None) -> str | None:
    return None if thread is None else thread.id


def _end_of(reason: str | None) -> End:
    return ENDS.get(reason, End.SUCCESS)


def _is_work(step: Transition) -> bool:
    if step.after is SessionState.UNKNOWN:
        return step.before is SessionState.NONE
    return step.after in _BEGIN
