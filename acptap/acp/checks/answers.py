"""Checks of answers, before they change anything."""

from collections.abc import Callable
from typing import NamedTuple

from acptap.acp import v1
from acptap.acp.checks.table import Found, Table
from acptap.acp.knowledge import V1, Call, Knowledge
from acptap.acp.methods import mints
from acptap.acp.observation import Observation
from acptap.acp.record import Resume
from acptap.acp.work import ASKS, CLOSE, ELICITATION, PERMISSION, PROMPT, RESUME, Work
from acptap.jsonrpc import Response
from acptap.session import ACTIVE, SessionState


class Answer(NamedTuple):
    """An answer, as checks see it.

    Attributes:
        version: The negotiated version.
        work: The session it is about.
        call: What it answers.
        response: The answer itself.
    """

    version: int | None
    work: Work
    call: Call
    response: Response

    @property
    def resume(self) -> Resume | None:
        """The resume that it lets succeed."""
        return None if self.response.failed else self.work.record.resume


Check = Callable[[Answer], Found]

_LONGEST = 200


def resume_without_snapshot(answer: Answer) -> Found:
    """A success tells nothing of the state; only a snapshot before it does."""
    resume = answer.resume
    return {} if resume is not None and not resume.snapshots else None


def replay_unasked(answer: Answer) -> Found:
    """Messages of a session that does nothing are history."""
    resume = answer.resume
    if resume is None or resume.replays or not resume.early:
        return None
    quiet = (
        answer.work.session.state in (SessionState.IDLE, SessionState.NONE)
        and not answer.work.prompts
    )
    return {"messages": resume.early} if quiet else None


def replay_after_snapshot(answer: Answer) -> Found:
    """The snapshot says what holds at the end of the history, so it comes behind it."""
    resume = answer.resume
    if resume is None or not resume.late:
        return None
    return {"messages": resume.late}


def prompt_not_cancelled(answer: Answer) -> Found:
    """The last prompt that a cancel was to stop; in version 2 the idle that follows tells."""
    if answer.version != V1 or not answer.work.session.cancel_requested or answer.work.prompts > 1:
        return None
    reason = v1.end_of_prompt(
        answer.response.result, answer.response.error, failed=answer.response.failed
    )
    return None if reason == "cancelled" else {"reason": reason}


def prompt_without_message_id(answer: Answer) -> Found:
    """What is there instead, if it isn't the empty object of an older draft."""
    if (
        answer.response.failed
        or _message_id(answer.response) is not None
        or _is_draft(answer.response)
    ):
        return None
    return {}


def draft_prompt_result(answer: Answer) -> Found:
    """Accepted as it was when acceptance had nothing to say."""
    return {} if not answer.response.failed and _is_draft(answer.response) else None


def accepted_after_close(answer: Answer) -> Found:
    """A close refuses what was not inserted, and nothing is inserted behind it."""
    id_ = _message_id(answer.response)
    late = (
        answer.work.record.closed
        and not answer.response.failed
        and id_ not in answer.work.record.inserted
    )
    return {"messageId": id_} if late else None


def unknown_option(answer: Answer) -> Found:
    """A choice among the options, and it isn't one of them."""
    option = _selected(answer.response)
    if option is None or answer.call.options is None or option in answer.call.options:
        return None
    return {"optionId": option[:_LONGEST]}


def permission_not_cancelled(answer: Answer) -> Found:
    """Whoever cancels also withdraws from what is asked."""
    option = _selected(answer.response)
    return {} if option is not None and answer.work.record.cancels > answer.call.cancels else None


def close_in_mid_work(answer: Answer) -> Found:
    """The final idle comes before the answer."""
    if answer.response.failed or answer.work.session.state not in ACTIVE:
        return None
    return {"state": answer.work.session.state.value}


CHECKS: Table[Check] = Table({
    RESUME: [
        ("acp/resume-without-snapshot", resume_without_snapshot),
        ("acp/replay-unasked", replay_unasked),
        ("acp/replay-after-snapshot", replay_after_snapshot),
    ],
    PROMPT: [
        ("acp/not-cancelled", prompt_not_cancelled),
        ("acp/prompt-without-message-id", prompt_without_message_id),
        ("acp/draft-prompt-result", draft_prompt_result),
        ("acp/prompt-accepted-after-close", accepted_after_close),
    ],
    PERMISSION: [
        ("acp/unknown-option", unknown_option),
        ("acp/permission-not-cancelled", permission_not_cancelled),
    ],
    CLOSE: [("acp/close-in-mid-work", close_in_mid_work)],
})  # fmt: skip


def judge(seen: Observation, known: Knowledge, call: Call, response: Response) -> None:
    """Check an answer, and write down what later checks have to know of it."""
    if call.session is not None:
        work = known.work(call.session)
        answer = Answer(known.version, work, call, response)
        for rule, check in CHECKS.rows(known.version, call.method):
            found = check(answer)
            if found is not None:
                seen.note(rule, **found)
        _remember(work, call, response)
    if mints(call.method) and not response.failed and isinstance(response.result, dict):
        minted = response.result.get("sessionId")
        if isinstance(minted, str):
            known.work(minted).record.open(whole=call.method == "session/new")


def _remember(work: Work, call: Call, response: Response) -> None:
    record = work.record
    if call.method == RESUME:
        record.end_resume(failed=response.failed)
    elif response.failed:
        return
    elif call.method == CLOSE:
        record.close()
    elif call.method == PROMPT:
        id_ = _message_id(response)
        if id_ is not None and not record.closed:
            record.name_message(id_)
        record.prompted = work.session.state not in ACTIVE
        record.owed = call.state is SessionState.IDLE and record.busy == call.busy
    elif call.method in ASKS and _consents(call, response):
        over = call.state in ACTIVE and work.session.state is SessionState.IDLE
        record.late = record.late or (over and record.idles > call.idles)


def _consents(call: Call, response: Response) -> bool:
    """Return whether an answer lets work go on."""
    if call.method == ELICITATION:
        return isinstance(response.result, dict) and response.result.get("action") == "accept"
    return _selected(response) is not None


def _message_id(response: Response) -> str | None:
    id_ = response.result.get("messageId") if isinstance(response.result, dict) else None
    return id_ if isinstance(id_, str) else None


def _is_draft(response: Response) -> bool:
    return isinstance(response.result, dict) and response.result.keys() <= {"_meta"}


def _selected(response: Response) -> str | None:
    """Return the option that the user chose, or None if the permission was not given by choice."""
    outcome = response.result.get("outcome") if isinstance(response.result, dict) else None
    if response.failed or not isinstance(outcome, dict) or outcome.get("outcome") != "selected":
        return None
    option = outcome.get("optionId")
    return option if isinstance(option, str) else None
