"""What the peers talk about: the scripts that both clients can play, by name."""

from __future__ import annotations

from typing import Any

Script = list[list[Any]]

COMMON: dict[str, Script] = {
    "text": [["new"], ["prompt", "hello there"]],
    "two turns": [["new"], ["prompt", "one"], ["prompt", "think plan"]],
    "permission allowed": [["new"], ["permission", "allow"], ["prompt", "tool"]],
    "permission rejected": [["new"], ["permission", "reject"], ["prompt", "tool"]],
    "cancelled in mid-answer": [["new"], ["cancel-during", "slow"], ["prompt", "again"]],
    "failed turn": [["new"], ["prompt", "boom"], ["prompt", "and on"]],
    "noise on stdout": [["new"], ["prompt", "noise"]],
    "two sessions at once": [["two-sessions", "tool", "think"]],
}
V1_SCRIPTS = COMMON | {
    "file read by the agent": [["new"], ["prompt", "read"]],
    "terminal of the client": [["new"], ["prompt", "terminal"]],
    "history loaded": [["load", "archived-1"], ["prompt", "go on"]],
}
V2_SCRIPTS = COMMON | {
    "resumed": [["resume", "archived-1", False], ["prompt", "go on"]],
    "resumed with history": [["resume", "archived-1", True], ["prompt", "go on"]],
    "closed in mid-answer": [["new"], ["close-during", "slow"]],
}
EVERYTHING: dict[str, Script] = {
    "everything": [
        ["new"],
        ["prompt", "think plan read terminal"],
        ["permission", "reject"],
        ["prompt", "tool"],
        ["cancel-during", "slow"],
        ["prompt", "boom"],
        ["prompt", "and on"],
    ]
}
"""One long conversation, where each costs a process or two."""

WHILE_ASKING: dict[str, Script] = {
    "cancelled while asking": [["new"], ["permission", "cancel"], ["prompt", "tool"]],
}
"""In v2 the agent withdraws its question. Over HTTP that is a race: see the tests."""
