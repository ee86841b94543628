"""What stands beside a conversation, in words: its title, plans, usage and settings."""

from collections.abc import Iterator

from acptap.acp.view import State
from acptap.app.show.telling import Told
from acptap.timeline import gists
from acptap.timeline.gists import items, member, words
from acptap.timeline.printable import visible

_MARKS = {"completed": "[x]", "in_progress": "[>]"}


def asides(state: State) -> Iterator[Told]:
    """Yield what there is to be told of it."""
    for name, text in (
        ("title", words(state.info.get("title"))),
        ("mode", words(state.mode)),
        ("model", words(state.model)),
        ("config", gists.of_update({"sessionUpdate": "config_option_update",
                                    "configOptions": state.config})),
        ("usage", _usage(state)),
        ("commands", str(len(state.commands)) if state.commands else ""),
    ):  # fmt: skip
        if text:
            yield Told(name, "quiet", [visible(text)], "quiet")
    for id_, plan in state.plans.items():
        yield Told(words("plan", visible(id_)), "quiet", _plan(plan), "quiet")


def _usage(state: State) -> str:
    if not state.usage:
        return ""
    return gists.of_update({"sessionUpdate": "usage_update", **state.usage})


def _plan(plan: object) -> list[str]:
    entries = items(plan, "entries")
    if not entries:
        return [
            visible(words(member(plan, "markdown") or member(plan, "uri"), member(plan, "type")))
        ]
    return [
        visible(f"{_MARKS.get(words(member(entry, 'status')), '[ ]')} "
                f"{words(member(entry, 'content'))}")
        for entry in entries
    ]  # fmt: skip
