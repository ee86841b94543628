"""Conversations as a client shows them: sessions, turns, and what was said and done in them."""

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator
from operator import itemgetter
from typing import TypeAlias

from acptap.acp.view import (
    Activity,
    Done,
    Failure,
    Interrupt,
    Item,
    Message,
    Reasoning,
    SessionView,
    Subagent,
    Terminal,
    ToolCall,
)
from acptap.app.show.aside import asides
from acptap.app.show.layout import Pieces
from acptap.app.show.telling import OUTPUT, STEP, Told, cut_off, lines_of, spoken
from acptap.app.show.threads import Thread, thread_key
from acptap.rereading import Folded
from acptap.session import OVER
from acptap.timeline.gists import member, words
from acptap.timeline.printable import visible
from acptap.timeline.rows import Key
from acptap.updates import End

Event: TypeAlias = Item | Interrupt | Failure | Subagent | Done
Terminals: TypeAlias = dict[str, Terminal]

_ENDS = {End.SUCCESS: "idle", End.CANCELLED: "ask", End.FAILED: "error", End.INTERRUPTED: "ask"}
_STATUSES = {"completed": "idle", "failed": "error", "cancelled": "ask"}


class Tree:
    """Draws folded values.

    Args:
        folded: The values.
        labels: Short names of sessions.
        width: Columns of the terminal; None if lines may have any length.
    """

    def __init__(self, folded: Folded, labels: dict[Key, str], width: int | None) -> None:
        self._folded = folded
        self._labels = labels
        self._width = width
        self._is_one = len({view.conn for view in folded.sessions}) <= 1
        self._drawn: set[int] = set()
        self._terminals: dict[int, Terminals] = {}

    def lines(self, sessions: Container[Key] | None = None) -> Iterator[Pieces]:
        """Yield the lines, of all sessions or of some and their subagents."""
        for failure in self._folded.errors if sessions is None else []:
            yield from self._told(_failure(failure), 0)
        for interrupt in self._folded.interrupts if sessions is None else []:
            yield from self._told(_interrupt(interrupt), 0)
        known = {(view.conn, view.id) for view in self._folded.sessions}
        for orphans in (False, True):  # sessions that are each other's parents come last
            for view in self._folded.sessions:
                is_root = (view.conn, view.parent) not in known
                asked = is_root if sessions is None else (view.conn, view.id) in sessions
                if id(view) not in self._drawn and (asked or (orphans and sessions is None)):
                    yield from self._session(view, 0)
        for thread in self._folded.threads:
            key = thread_key(thread)
            if sessions is None or key in sessions:
                yield from Thread(thread, self._labels.get(key, ""), self._width).lines()

    # Sessions and turns

    def _session(self, view: SessionView, depth: int, title: str = "session") -> Iterator[Pieces]:
        self._drawn.add(id(view))
        state = view.session_state.value
        sure = "" if view.confirmed or view.session_state in OVER else " (not certain)"
        label = self._labels.get((view.conn, view.id), "")
        where = "" if self._is_one else f"  connection {view.conn}"
        yield [
            (STEP * depth, "quiet"),
            (f"{visible(title)} ", "prompt"),
            (words(label, visible(view.id)), "speech"),
            (where, "quiet"),
            (f"  {state}{sure}", state),
        ]
        turns = sorted(view.done, key=lambda done: (done.began, done.line))
        at, number = 0, 0
        events = sorted(_events(view), key=itemgetter(0))
        self._terminals[id(view)] = view.terminals
        for done in turns:
            yield from self._events(view, _between(events, at, done.began), depth + 1)
            number += 1
            yield self._heading(number, done, depth + 1)
            inside = _between(events, max(at, done.began), done.line + 1)
            yield from self._events(view, inside, depth + 2)
            at = max(at, done.line + 1)
        yield from self._rest(view, events, (at, number), depth + 1)
        for told in asides(view.state):
            yield from self._told(told, depth + 1)

    def _rest(
        self,
        view: SessionView,
        events: list[tuple[int, Event]],
        so_far: tuple[int, int],
        depth: int,
    ) -> Iterator[Pieces]:
        """Yield what follows the last turn that ended, and the turn under way."""
        at, number = so_far
        began = view.began
        if began is None:
            yield from self._events(view, _between(events, at, None), depth)
            return
        yield from self._events(view, _between(events, at, began), depth)
        heading = [(STEP * depth, "quiet"), (f"turn {number + 1}", "prompt")]
        yield [*heading, ("  under way", "running")]
        yield from self._events(view, _between(events, max(at, began), None), depth + 1)

    def _heading(self, number: int, done: Done, depth: int) -> Pieces:
        told = done.reason in (None, done.end.value, "error")
        reason = "" if told else f" ({visible(str(done.reason))})"
        return [
            (STEP * depth, "quiet"),
            (f"turn {number}", "prompt"),
            (f"  {done.end.value}{reason}", _ENDS[done.end]),
        ]

    # What happened

    def _events(self, view: SessionView, events: Iterable[Event], depth: int) -> Iterator[Pieces]:
        for event in events:
            if isinstance(event, Subagent):
                yield from self._subagent(view, event, depth)
            else:
                for told in _TELLERS[type(event)](event, self._terminals[id(view)]):
                    yield from self._told(told, depth)

    def _subagent(self, parent: SessionView, agent: Subagent, depth: int) -> Iterator[Pieces]:
        title = words("subagent", member(agent.fields, "title") or member(agent.fields, "name"))
        asked = parent.conn, agent.id
        for view in self._folded.sessions:
            if (view.conn, view.id) == asked and id(view) not in self._drawn:
                yield from self._session(view, depth, title)
                return
        yield from self._told(Told("subagent", "call", [visible(agent.id)]), depth)

    def _told(self, told: Told, depth: int) -> Iterator[Pieces]:
        return told.drawn(depth, self._width)


def _events(view: SessionView) -> Iterator[tuple[int, Event]]:
    """Yield what is shown of a session, with the line that brought it."""
    shown = {id_ for tool in view.tool_calls for id_ in tool.terminals}
    for item in view.messages:
        if not isinstance(item, Terminal) or item.id not in shown:
            yield item.line, item
    for interrupt in view.interrupts:
        yield interrupt.line, interrupt
    for failure in view.errors:
        yield failure.line, failure
    for agent in view.subagents.values():
        yield agent.line, agent


def _between(events: list[tuple[int, Event]], start: int, end: int | None) -> list[Event]:
    first = bisect_left(events, start, key=itemgetter(0))
    last = len(events) if end is None else bisect_left(events, end, key=itemgetter(0))
    return [event for _, event in events[first:last]]


# How each thing is told

_SPEAKERS = {"user": ("user", "prompt"), "agent": ("agent", "speech"), "session": ("peer", "call")}


def _message(message: Message, _: Terminals) -> Iterator[Told]:
    name, style = _SPEAKERS[message.role]
    yield Told(name, style, spoken(message.content), style)


def _reasoning(item: Reasoning, _: Terminals) -> Iterator[Told]:
    yield Told("thought", "thought", spoken(item.content), "thought")


def _tool(tool: ToolCall, terminals: Terminals) -> Iterator[Told]:
    kind = f" ({tool.kind})" if tool.kind != "other" else ""
    heading = visible(f"{tool.title}{kind}  {tool.status}")
    yield Told("tool", "tool", [heading], _STATUSES.get(tool.status, "running"))
    lines: list[str] = []
    inside = [member(block, "terminalId") for block in tool.content]
    beside = [{"terminalId": id_} for id_ in tool.beside if id_ not in inside]
    for block in [*tool.content, *beside]:
        id_ = member(block, "terminalId")
        if isinstance(id_, str) and id_ in terminals:
            lines += _terminal_lines(terminals[id_])
        else:
            inner = member(block, "content") if member(block, "type") == "content" else block
            lines += cut_off(spoken([inner]))
    if lines:
        yield Told("", "quiet", lines, "quiet")


def _terminal(terminal: Terminal, _: Terminals) -> Iterator[Told]:
    yield Told("terminal", "tool", _terminal_lines(terminal), "quiet")


def _terminal_lines(terminal: Terminal) -> list[str]:
    arguments = terminal.fields.get("args")
    listed = arguments if isinstance(arguments, list) else []
    command = visible(words(terminal.word("command"), *listed))
    lines = [f"$ {command}"] if command else []
    lines += lines_of(terminal.text, OUTPUT) if terminal.text else []
    return lines + ([_exit(terminal.fields.get("exitStatus"))] if terminal.exited else [])


def _exit(status: object) -> str:
    code, signal = member(status, "exitCode"), member(status, "signal")
    return visible(words("ended", code if code is not None else signal))


def _activity(activity: Activity, _: Terminals) -> Iterator[Told]:
    fields = activity.fields
    heading = words(fields.get("severity"), fields.get("status"), fields.get("title"))
    said = fields.get("message") or fields.get("description")
    lines = lines_of(said) if isinstance(said, str) else []
    yield Told(activity.name, "call", [visible(heading), *lines, *spoken(activity.content)])


def _interrupt(interrupt: Interrupt) -> Told:
    params = interrupt.params
    tool = member(params, "toolCall") or member(params, "subject", "toolCall")
    asked = words(
        member(params, "title") or member(params, "message")
        or member(tool, "title") or member(tool, "toolCallId")
    )  # fmt: skip
    chosen = words(member(interrupt.option, "name") or member(interrupt.option, "optionId"))
    answer = words(interrupt.outcome or "waits for an answer", chosen and f'"{chosen}"')
    name = "permission" if interrupt.method.endswith("permission") else "question"
    return Told(
        name, "ask", [visible(f"{asked}  {answer}")], "ask" if interrupt.pending else "speech"
    )


def _failure(failure: Failure) -> Told:
    what = failure.rule or words(failure.code, visible(failure.message))
    return Told("error", "error", [what or "(nothing was said about it)"], "error")


_TELLERS: dict[type, Callable[..., Iterator[Told]]] = {
    Message: _message,
    Reasoning: _reasoning,
    ToolCall: _tool,
    Terminal: _terminal,
    Activity: _activity,
    Interrupt: lambda interrupt, _: iter([_interrupt(interrupt)]),
    Failure: lambda failure, _: iter([_failure(failure)]),
}
