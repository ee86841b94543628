"""Checks of the `background` list of a state update: what goes on while the session is idle."""

from acptap.acp.checks.table import Found
from acptap.acp.record import Item, Memory, Record
from acptap.acp.work import Work

Snapshot = dict[str, object]

_IDS = {"terminal": "terminalId", "tool_call": "toolCallId", "subagent": "sessionId"}
_UNFINISHED = frozenset({None, "pending", "in_progress", "paused"})
"""Statuses of a tool call that goes on; a custom one may be final."""


def dropped(work: Work, snapshot: Snapshot) -> Found:
    """Once it was there it stays, be it empty."""
    used = work.record.background is not None
    return {} if used and not isinstance(snapshot.get("background"), list) else None


def unannounced(work: Work, snapshot: Snapshot) -> Found:
    """Work of a session that was heard from its beginning, and that was never named."""
    return _first(sorted(item for item in items(snapshot) if _is_new(work.record, item)))


def unfinished(work: Work, snapshot: Snapshot) -> Found:
    """Work that was listed, goes on as far as was told, and is listed no more."""
    if not isinstance(snapshot.get("background"), list):
        return None
    gone = (work.record.background or frozenset()) - set(items(snapshot))
    return _first(sorted(item for item in gone if _goes_on(work.record, item)))


def twice(_work: Work, snapshot: Snapshot) -> Found:
    """Each has one place."""
    listed = items(snapshot)
    return _first(sorted(item for item in set(listed) if listed.count(item) > 1))


def items(snapshot: Snapshot) -> list[Item]:
    """Return what a snapshot lists, as far as it can be told apart."""
    background = snapshot.get("background")
    found = []
    for entry in background if isinstance(background, list) else []:
        kind = entry.get("type") if isinstance(entry, dict) else None
        id_ = entry.get(_IDS[kind]) if isinstance(kind, str) and kind in _IDS else None
        if isinstance(kind, str) and isinstance(id_, str):
            found.append((kind, id_))
    return found


def _first(broken: list[Item]) -> Found:
    return {"type": broken[0][0], _IDS[broken[0][0]]: broken[0][1]} if broken else None


def _is_new(record: Record, item: Item) -> bool:
    kind, id_ = item
    announced: Memory[str, str | None] | Memory[str, bool] | Memory[str, None] = record.children
    if kind != "subagent":
        announced = record.terminals if kind == "terminal" else record.tools
    return record.whole and not announced.lossy and id_ not in announced


def _goes_on(record: Record, item: Item) -> bool:
    kind, id_ = item
    if kind == "terminal":
        return record.terminals.get(id_) is False
    return kind == "tool_call" and id_ in record.tools and record.tools[id_] in _UNFINISHED
