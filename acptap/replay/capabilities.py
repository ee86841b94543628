"""What a client must be able to do before it can play a cassette: rows, not branches.

Version 1 offers capabilities in `clientCapabilities` (with booleans), version 2 in `capabilities`
(with objects, empty or not). Source: the schemas of @agentclientprotocol/sdk 2.4.0.
"""

from collections.abc import Iterable

_ROOTS = ("clientCapabilities", "capabilities")

NEEDS: dict[str, tuple[str, ...]] = {
    # what the agent does: where the client says that it can take it
    "fs/read_text_file": ("fs", "readTextFile"),
    "fs/write_text_file": ("fs", "writeTextFile"),
    "terminal/create": ("terminal",),
    "elicitation/create form": ("elicitation", "form"),
    "elicitation/create url": ("elicitation", "url"),
    "session/update notice": ("session", "notices"),
    "session/update compaction_update": ("session", "compaction"),
    "session/update compaction_summary_chunk": ("session", "compaction"),
    "session/update plan_update": ("plan",),
    "session/update plan_removed": ("plan",),
    "session/update subagent_update": ("subagents",),
}


def used_by(method: str, params: object) -> str | None:
    """Return the row of `NEEDS` that a call of the agent falls under, or None."""
    use: object = method
    if isinstance(params, dict):
        if method == "session/update":
            update = params.get("update")
            use = f"{method} {update.get('sessionUpdate')}" if isinstance(update, dict) else method
        elif method == "elicitation/create":
            use = f"{method} {params.get('mode')}"
    return use if use in NEEDS else None


def first_missing(uses: Iterable[str], recorded: object, live: object) -> str | None:
    """Return the first use whose capability the recorded client offered and the live one lacks.

    Args:
        uses: Keys of `NEEDS`.
        recorded: The recorded parameters of `initialize`.
        live: The live ones.
    """
    for use in uses:
        if _offers(recorded, NEEDS[use]) and not _offers(live, NEEDS[use]):
            return use
    return None


def offer(use: str, params: object) -> tuple[str, object]:
    """Return where the capability for a use is offered, as a pointer, and what stands there."""
    path = NEEDS[use]
    root = next((root for root in _ROOTS if _at(params, (root, *path)) is not None), _ROOTS[0])
    return "/".join(("/params", root, *path)), _at(params, (root, *path))


def _offers(params: object, path: tuple[str, ...]) -> bool:
    found = (_at(params, (root, *path)) for root in _ROOTS)
    return any(value is True or isinstance(value, dict) for value in found)


def _at(value: object, path: tuple[str, ...]) -> object:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
