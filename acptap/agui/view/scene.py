"""One event on its way into a thread, and what it asks of a view."""

from typing import TYPE_CHECKING

from acptap.agui.rules import is_refused
from acptap.agui.values import Failure, Message, Reasoning, Subagent, Text
from acptap.agui.view.document import Document
from acptap.notes import Note
from acptap.updates import Change, Update, UpdateKind

if TYPE_CHECKING:
    from acptap.session import Transition


class Scene:
    """What an event brings about.

    Args:
        document: The thread.
        line: The event's line.

    Attributes:
        document: The same as the argument.
        line: The same as the argument.
        updates: What a view must react to, in order.
        notes: The rules met.
        transitions: Changes of the thread's state.
        is_append: Whether it appended to a text.
        target: That text, if it is kept.
    """

    def __init__(self, document: Document, line: int) -> None:
        self.document = document
        self.line = line
        self.updates: list[Update] = []
        self.notes: list[Note] = []
        self.transitions: list[Transition] = []
        self.is_append = False
        self.target: Text | None = None

    def append(self, text: Text, delta: str, *, keep: bool) -> None:
        """Append to a text, if it is to be kept."""
        self.is_append = True
        if keep:
            text.append(delta)
            self.target = text

    @property
    def thread(self) -> str:
        """The thread's id."""
        return self.document.value.id

    def meet(self, said: Note) -> None:
        """Take in that a rule was met; a client reports those that refuse an event."""
        self.notes.append(said)
        if is_refused(said):
            self.fail(Failure(self.line, "protocol", rule=said.rule))

    def fail(self, failure: Failure) -> None:
        """Tell that something went wrong."""
        self.document.value.errors.append(failure)
        detail: dict[str, object] = {"error": failure.kind}
        if failure.code is not None:
            detail["code"] = failure.code
        if failure.rule is not None:
            detail["rule"] = failure.rule
        if failure.fatal:
            detail["fatal"] = True
        self.tell(UpdateKind.ERROR, detail=detail)

    def tell(self, kind: UpdateKind, **members: object) -> None:
        """Tell an update of the thread; see `Update` for the members."""
        self.updates.append(Update(kind, self.thread, **members))  # type: ignore[arg-type]

    def message(self, place: int, message: Message, change: Change, call: str = "") -> None:
        """Tell that a message has changed.

        Args:
            place: Its place.
            message: The message.
            change: How it has changed.
            call: The tool call that it is about, if it is about one.
        """
        detail: dict[str, object] = {"toolCallId": call} if call else {}
        self.updates.append(
            Update(UpdateKind.MESSAGE, self.thread, place, message.id, change, message.subagent,
                   detail)
        )  # fmt: skip

    def thought(self, place: int, thought: Reasoning, change: Change) -> None:
        """Tell that a reasoning has changed."""
        self.updates.append(
            Update(UpdateKind.REASONING, self.thread, place, thought.id, change, thought.subagent)
        )

    def subagent(self, agent: Subagent, change: Change) -> None:
        """Tell that a subagent has come to another state."""
        place = self.document.value.subagents.index(agent)
        self.updates.append(
            Update(UpdateKind.SUBAGENT, self.thread, place, agent.id, change, agent.parent,
                   {"state": agent.status})
        )  # fmt: skip
