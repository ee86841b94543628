"""What a view should react to, one model for all protocols: eight kinds of update.

One update is one redraw. It says what changed and where, and never what the change is: that stands
in the message beside it.
"""

from dataclasses import dataclass, field
from enum import StrEnum

LONGEST = 200
"""Characters of a peer's word that an update repeats."""


class UpdateKind(StrEnum):
    """What has changed."""

    MESSAGE = "message"
    """A message, a tool call or an activity was created, appended to or completed."""
    MESSAGES = "messages"
    """The conversation was restated: all of it has to be drawn again."""
    STATE = "state"
    """What stands beside the conversation: a plan, a mode, usage and the like."""
    REASONING = "reasoning"
    """What the agent thinks, apart from what it says."""
    SUBAGENT = "subagent"
    """A subagent was announced, or is told to have come to another state."""
    INTERRUPT = "interrupt"
    """A human is asked something, or need not answer any more."""
    ERROR = "error"
    """Something went wrong; not necessarily the end."""
    DONE = "done"
    """A turn ended: the last update of a turn, on every path out."""


class Change(StrEnum):
    """How a message, a reasoning or a subagent has changed."""

    STARTED = "started"
    """It is new, with all that its first message brought."""
    CONTENT = "content"
    ENDED = "ended"
    TOOL_STARTED = "tool_started"
    TOOL_ARGS = "tool_args"
    TOOL_ENDED = "tool_ended"
    TOOL_RESULT = "tool_result"
    ACTIVITY = "activity"
    """Something about it other than its content: a status, a title."""
    ENCRYPTED = "encrypted"
    REPLACED = "replaced"
    """What it held until now is gone."""
    RESUMED = "resumed"
    """A subagent goes on that was suspended."""
    FINISHED = "finished"
    SUSPENDED = "suspended"
    FAILED = "failed"


class End(StrEnum):
    """How a turn ended."""

    SUCCESS = "success"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Update:
    """One thing a view should react to.

    Attributes:
        kind: What has changed.
        session: The session it belongs to, or None for the connection.
        index: Of a message, a reasoning or a subagent: its place among its like in the session,
            from 0.
        id: Its id, if it has one; of an interrupt, the id of the request that asks.
        change: How it has changed.
        subagent: The subagent it belongs to, if it does.
        detail: Particulars: small values, never a copy of the payload.
    """

    kind: UpdateKind
    session: str | None = None
    index: int | None = None
    id: str | int | None = None
    change: Change | None = None
    subagent: str | None = None
    detail: dict[str, object] = field(default_factory=dict)

    def as_json(self, entry_session: str | None) -> dict[str, object]:
        """Return the update as it stands in a cassette.

        Args:
            entry_session: The session the entry is filed under, left out if it is the same.
        """
        said: dict[str, object] = {"kind": self.kind.value}
        if self.session is not None and self.session != entry_session:
            said["session"] = self.session
        if self.index is not None:
            said["index"] = self.index
        if self.id is not None:
            said["id"] = self.id
        if self.change is not None:
            said["change"] = self.change.value
        if self.subagent is not None:
            said["subagent"] = self.subagent
        return said | self.detail
