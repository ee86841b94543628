"""What is open in a session: the requests that bear on its state."""

from dataclasses import dataclass, field

from acptap.acp.record import Record
from acptap.session import Session, SessionState

PROMPT = "session/prompt"
LOAD = "session/load"
RESUME = "session/resume"
CLOSE = "session/close"
PERMISSION = "session/request_permission"
ELICITATION = "elicitation/create"
ASKS = (PERMISSION, ELICITATION)
COUNTED = frozenset({PROMPT, LOAD, *ASKS})
"""Requests that are counted while they are open."""


@dataclass(slots=True)
class Work:
    """A session and its open requests.

    Attributes:
        session: The session.
        open: How many requests of each counted method are not answered.
        turns: Prompts and loads that were answered.
        before_resume: The state to go back to if a resume fails.
        record: What the rules have to remember of it.
    """

    session: Session
    open: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    turns: int = 0
    before_resume: SessionState | None = None
    record: Record = field(default_factory=Record)

    @property
    def prompts(self) -> int:
        """Prompts that are not answered."""
        return self.open[PROMPT]

    @property
    def asks(self) -> int:
        """Questions to the user that are not answered."""
        return sum(self.open[method] for method in ASKS)

    @property
    def loading(self) -> bool:
        """Whether the session's history is being replayed."""
        return self.open[LOAD] > 0

    @property
    def busy(self) -> bool:
        """Whether updates are to be expected: an answer, or history."""
        return self.prompts > 0 or self.loading
