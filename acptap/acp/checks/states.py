"""Checks of the states that an agent of version 2 reports."""

from collections.abc import Callable
from dataclasses import dataclass

from acptap.acp.checks import background
from acptap.acp.checks.table import Found, Table
from acptap.acp.knowledge import Knowledge
from acptap.acp.observation import Observation
from acptap.acp.work import Work
from acptap.session import ACTIVE, SessionState, Transition

_ENDING = frozenset({SessionState.RUNNING, SessionState.REQUIRES_ACTION, SessionState.UNKNOWN})
"""States in which there is work that an idle ends."""


@dataclass(frozen=True, slots=True)
class Report:
    """A `state_update`.

    Attributes:
        snapshot: The update itself.
        transition: What became of it; None if the state stayed as it was.
        cancelled: Whether a cancel was on its way.
    """

    snapshot: dict[str, object]
    transition: Transition | None
    cancelled: bool

    @property
    def ended(self) -> bool:
        """Whether it brought an idle that was not there before."""
        step = self.transition
        return step is not None and step.after is SessionState.IDLE is not step.before

    @property
    def began(self) -> bool:
        """Whether work began: an idle session is at work now."""
        step = self.transition
        return step is not None and step.before is SessionState.IDLE and step.after in ACTIVE


Check = Callable[[Work, Report], Found]


def malformed_state(_work: Work, report: Report) -> Found:
    """Nothing to go by."""
    return None if isinstance(report.snapshot.get("state"), str) else {}


def idle_without_reason(_work: Work, report: Report) -> Found:
    """An end that doesn't say how."""
    step = report.transition
    if not report.ended or step is None or step.before not in _ENDING:
        return None
    return {} if step.reason is None else None


def error_without_details(_work: Work, report: Report) -> Found:
    """An end by an error that is not shown."""
    step = report.transition
    failed = report.ended and step is not None and step.reason == "error"
    return {} if failed and not isinstance(report.snapshot.get("error"), dict) else None


def not_cancelled(_work: Work, report: Report) -> Found:
    """Another end than was asked for; the work may have been over before."""
    step = report.transition
    if not report.ended or not report.cancelled or step is None or step.reason == "cancelled":
        return None
    return {"reason": step.reason}


def agent_initiated(work: Work, report: Report) -> Found:
    """Work that no prompt explains: none is open, and none was accepted lately."""
    record = work.record
    return {} if report.began and record.opened and not (work.prompts or record.prompted) else None


def answer_restarts_work(work: Work, report: Report) -> Found:
    """Work that only the late answer explains."""
    return {} if report.began and work.record.late else None


def _on(check: Callable[[Work, dict[str, object]], Found]) -> Check:
    """Return a check of a snapshot as one of a report; a malformed one lists nothing."""

    def judged(work: Work, report: Report) -> Found:
        valid = isinstance(report.snapshot.get("state"), str)
        return check(work, report.snapshot) if valid else None

    return judged


REPORTED = "state_update"

CHECKS: Table[Check] = Table({
    REPORTED: [
        ("acp/malformed-state", malformed_state),
        ("acp/idle-without-reason", idle_without_reason),
        ("acp/error-without-details", error_without_details),
        ("acp/not-cancelled", not_cancelled),
        ("acp/agent-initiated", agent_initiated),
        ("acp/answer-restarts-work", answer_restarts_work),
        ("acp/background-dropped", _on(background.dropped)),
        ("acp/background-unannounced", _on(background.unannounced)),
        ("acp/background-unfinished", _on(background.unfinished)),
        ("acp/background-twice", _on(background.twice)),
    ],
})  # fmt: skip


def judge(seen: Observation, known: Knowledge, work: Work, report: Report) -> None:
    """Check a report that was just taken over, and write down what later checks have to know."""
    for rule, check in CHECKS.rows(known.version, REPORTED):
        found = check(work, report)
        if found is not None:
            seen.note(rule, **found)
    if isinstance(report.snapshot.get("state"), str):
        _remember(work, report)


def _remember(work: Work, report: Report) -> None:
    record, state = work.record, work.session.state
    if isinstance(report.snapshot.get("background"), list):
        record.background = frozenset(background.items(report.snapshot))
    record.custom = record.custom or state is SessionState.OTHER
    record.standard = record.standard or state is not SessionState.OTHER
    if state is not SessionState.IDLE:
        record.excuse()
        record.prompted = False
    elif report.ended:
        record.idles += 1
    if report.began:
        record.late = False
    if record.resume is not None:
        record.resume.snapshots += 1
        record.resume.late = 0
