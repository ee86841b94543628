"""An AG-UI thread as a client shows it: runs, and what was said and done in them."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import TypeAlias

from acptap.agui.events import optional
from acptap.agui.values import (
    Done,
    Failure,
    Interrupt,
    Message,
    Reasoning,
    Subagent,
    ThreadView,
    ToolCall,
)
from acptap.app.show.layout import Pieces
from acptap.app.show.telling import OUTPUT, STEP, Told, cut_off, lines_of, spoken
from acptap.session import SessionState
from acptap.timeline.events import question_of
from acptap.timeline.gists import brief, words
from acptap.timeline.printable import visible
from acptap.timeline.rows import Key
from acptap.updates import End
from acptap.wire.jsontext import dump

_ARGUMENTS = 300
"""Characters of a tool call's arguments, or of a member of the state, that are shown."""

Item: TypeAlias = Message | Reasoning | Subagent | Interrupt | Failure

_ENDS = {End.SUCCESS: "idle", End.CANCELLED: "ask", End.FAILED: "error", End.INTERRUPTED: "ask"}
_STATUSES = {"completed": "idle", "failed": "error", "pending": "running"}
_AGENT_STATUSES = {"finished": "idle", "suspended": "ask", "failed": "error"}
_SPEAKERS = {"user": ("user", "prompt"), "assistant": ("agent", "speech")}


def thread_key(view: ThreadView) -> Key:
    """Return which session of a timeline a thread is."""
    return 1, view.id


class Thread:
    """Draws one thread.

    Args:
        view: The thread.
        label: Its short name.
        width: Columns of the terminal; None if lines may have any length.
    """

    def __init__(self, view: ThreadView, label: str, width: int | None) -> None:
        self._view = view
        self._label = label
        self._width = width
        self._agents = {agent.id: agent for agent in view.subagents}
        calls = {call.id for call in view.tool_calls}
        self._results: dict[str | None, Message] = {
            message.call: message for message in view.messages if message.call in calls
        }

    def lines(self) -> Iterator[Pieces]:
        """Yield the lines."""
        view = self._view
        state = view.session_state.value
        sure = "" if view.confirmed else " (not certain)"
        yield [
            ("thread ", "prompt"), (words(self._label, visible(view.id)), "speech"),
            (f"  {state}{sure}", state),
        ]  # fmt: skip
        items, at, number = self._items(), 0, 0
        for done in sorted(view.done, key=lambda done: (done.began, done.line)):
            yield from self._inside(_between(items, at, done.began), 1)
            number += 1
            yield _heading(number, done)
            inside = _between(items, max(at, done.began), done.line + 1)
            yield from self._inside(inside, 2)
            yield from self._told(_outcome(done), 2)
            at = max(at, done.line + 1)
        rest = _between(items, at, None)
        if rest or (view.session_state is SessionState.RUNNING and view.confirmed):
            yield [(STEP, "quiet"), (f"run {number + 1}", "prompt"), ("  under way", "running")]
        yield from self._inside(rest, 2)
        yield from self._told(_state(view.state), 1)

    def _items(self) -> list[Item]:
        """Return what is shown, in the order in which it came."""
        view = self._view
        messages = [message for message in view.messages if not self._is_result(message)]
        items: list[Item] = [
            *messages, *view.reasoning, *view.subagents, *view.interrupts, *view.errors
        ]  # fmt: skip
        return sorted(items, key=attrgetter("line"))

    def _is_result(self, message: Message) -> bool:
        return self._results.get(message.call) is message

    # Subagents

    def _inside(
        self, items: Iterable[Item], depth: int, agent: str | None = None
    ) -> Iterator[Pieces]:
        """Yield the lines of what belongs to an agent; what subagents say is gathered."""
        parted = [(item, self._below(item, agent)) for item in items]
        drawn = set()
        for item, below in parted:
            if below is None:
                yield from self._told(self._tell(item), depth)
            elif below not in drawn:
                drawn.add(below)
                yield self._agent(below, depth)
                theirs = [other for other, whose in parted if whose == below]
                yield from self._inside(theirs, depth + 1, below)

    def _below(self, item: Item, agent: str | None) -> str | None:
        """Return the subagent of `agent` that an item belongs to; None if it is its own."""
        below, at, seen = None, _owner(item), set()
        while at is not None and at != agent and at not in seen:
            seen.add(at)
            below = at
            known = self._agents.get(at)
            at = None if known is None else known.parent
        return below

    def _agent(self, id_: str, depth: int) -> Pieces:
        agent = self._agents.get(id_)
        name, status = (id_, "running") if agent is None else (agent.name, agent.status)
        return [
            (STEP * depth, "quiet"), ("subagent ", "prompt"), (visible(name), "speech"),
            (f"  {status}", _AGENT_STATUSES.get(status, "running")),
        ]  # fmt: skip

    # What happened

    def _told(self, told: Iterable[Told], depth: int) -> Iterator[Pieces]:
        for one in told:
            yield from one.drawn(depth, self._width)

    def _tell(self, item: Item) -> Iterator[Told]:
        yield from _TELLERS[type(item)](item)
        for call in item.calls if isinstance(item, Message) else []:
            yield from self._call(call)

    def _call(self, call: ToolCall) -> Iterator[Told]:
        result = self._results.get(call.id)
        status = "pending" if result is None else "failed" if result.error else "completed"
        heading = visible(words(call.name or call.id, _short(call.arguments)))
        yield Told("tool", "tool", [f"{heading}  {status}"], _STATUSES[status])
        if result is not None:
            lines = [*lines_of(result.error or ""), *_content(result.content)]
            yield Told("", "quiet", cut_off([line for line in lines if line]), "quiet")


def _owner(item: Item) -> str | None:
    """Return the subagent that an item comes from, or that it is."""
    if isinstance(item, Subagent):
        return item.id
    if isinstance(item, Interrupt):
        return optional(item.fields, "subagentRunId")
    return None if isinstance(item, Failure) else item.subagent


def _between(items: list[Item], start: int, end: int | None) -> list[Item]:
    first = bisect_left(items, start, key=attrgetter("line"))
    last = len(items) if end is None else bisect_left(items, end, key=attrgetter("line"))
    return items[first:last]


def _heading(number: int, done: Done) -> Pieces:
    left = " (the client left)" if done.aborted else ""
    return [
        (STEP, "quiet"), (f"run {number}", "prompt"),
        (f"  {done.end.value}{left}", _ENDS[done.end]),
    ]  # fmt: skip


# How each thing is told


def _outcome(done: Done) -> Iterator[Told]:
    for name, value in (("result", done.result), ("usage", done.usage)):
        if value is not None:
            parts = value if isinstance(value, list) else [value]
            yield Told(name, "quiet", [visible(brief(part)) for part in parts], "quiet")


def _state(state: object) -> Iterator[Told]:
    if state in ({}, None):
        return
    lines = [_short(_json(state))]
    if isinstance(state, dict):
        lines = [f"{name}: {_short(_json(state[name]))}" for name in state]
    yield Told("state", "quiet", [visible(line) for line in cut_off(lines)], "quiet")


def _json(value: object) -> str:
    try:
        return dump(value).decode()
    except RecursionError:
        return "..."


def _short(text: str) -> str:
    return text if len(text) <= _ARGUMENTS else f"{text[:_ARGUMENTS]}..."


def _content(content: object) -> list[str]:
    """Return the lines of a text, of parts, or of an activity's object."""
    match content:
        case str():
            return lines_of(content) if content else []
        case list():
            return spoken(content)
        case _:
            return [visible(brief(content))]


def _message(message: Message) -> Iterator[Told]:
    lines = _content(message.content)
    if message.role == "activity":
        yield Told(visible(message.activity or message.role), "call", lines)
    elif message.role in _SPEAKERS:
        name, style = _SPEAKERS[message.role]
        if lines or not message.calls:
            yield Told(name, style, lines, style)
    else:  # what the application says to the agent, and answers to calls that nobody made
        yield Told(visible(message.role), "quiet", cut_off(lines), "quiet")


def _reasoning(thought: Reasoning) -> Iterator[Told]:
    lines = lines_of(thought.content) if thought.content else ["(encrypted)"]
    yield Told("thought", "thought", lines, "thought")


def _interrupt(interrupt: Interrupt) -> Iterator[Told]:
    asked = question_of(interrupt.fields).strip('"')
    answer = words(
        interrupt.outcome or "waits for an answer",
        "" if interrupt.answer is None else brief(interrupt.answer),
    )
    style = "ask" if interrupt.pending else "speech"
    yield Told("question", "ask", [visible(f"{asked}  {answer}")], style)


def _failure(failure: Failure) -> Iterator[Told]:
    code = f"HTTP {failure.code}" if failure.kind == "http" else failure.code
    said = failure.rule or words(code, failure.message) or failure.kind
    yield Told("error", "error", lines_of(said, OUTPUT), "error")


def _subagent(agent: Subagent) -> Iterator[Told]:
    fields = agent.fields
    said = words(fields.get("description"))
    if said:
        yield Told("task", "quiet", lines_of(said, OUTPUT), "quiet")
    failed = words(fields.get("code"), fields.get("message"))
    if failed:
        yield Told("error", "error", lines_of(failed, OUTPUT), "error")


_TELLERS: dict[type, Callable[..., Iterator[Told]]] = {
    Message: _message,
    Reasoning: _reasoning,
    Subagent: _subagent,
    Interrupt: _interrupt,
    Failure: _failure,
}
