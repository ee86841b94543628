"""What a view of a conversation has to react to, and what a correct client shows of it.

`table`, `parts` and `answers` have a row for everything that says something, `view` is their one
reader. It serves two: the tap, which writes
down what each message changes and keeps nothing, and `acptap.fold`, which keeps the values.
"""

from acptap.acp.view.things import Activity, Item, Message, Reasoning, Terminal, ToolCall
from acptap.acp.view.values import (
    Done,
    Failure,
    Folded,
    Interrupt,
    SessionView,
    State,
    Subagent,
)
from acptap.acp.view.view import View

__all__ = [
    "Activity",
    "Done",
    "Failure",
    "Folded",
    "Interrupt",
    "Item",
    "Message",
    "Reasoning",
    "SessionView",
    "State",
    "Subagent",
    "Terminal",
    "ToolCall",
    "View",
]
