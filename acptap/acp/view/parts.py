"""Updates of what stands beside a conversation: one row each."""

from collections.abc import Callable
from dataclasses import dataclass

from acptap.acp.view import merging
from acptap.acp.view.things import Fields
from acptap.acp.view.values import State


@dataclass(frozen=True, slots=True)
class Part:
    """A row: an update of something that stands beside the conversation.

    Attributes:
        name: What it is, as the update of the view calls it.
        apply: Puts it into the values.
    """

    name: str
    apply: Callable[[State, Fields], None]


def _plan(state: State, update: Fields) -> None:
    state.plans[""] = {"entries": update.get("entries")}


def _plan_update(state: State, update: Fields) -> None:
    plan = update.get("plan")
    if isinstance(plan, dict):
        state.plans[_name(plan.get("planId"))] = plan


def _plan_removed(state: State, update: Fields) -> None:
    state.plans.pop(_name(update.get("planId")), None)


def _name(id_: object) -> str:
    return id_ if isinstance(id_, str) else ""


def mode(state: State, update: Fields) -> None:
    """Take over the mode, if it is told."""
    mode = update.get("currentModeId")
    state.mode = mode if isinstance(mode, str) else state.mode


def list_of(name: str, member: str) -> Callable[[State, Fields], None]:
    """Return a function that takes over a list, if there is one."""

    def replace(state: State, update: Fields) -> None:
        listed = update.get(member)
        if isinstance(listed, list):
            setattr(state, name, listed)

    return replace


PARTS: dict[str, Part] = {
    "plan": Part("plan", _plan),
    "plan_update": Part("plan", _plan_update),
    "plan_removed": Part("plan", _plan_removed),
    "usage_update": Part("usage", lambda state, update: merging.patch(state.usage, update)),
    "current_mode_update": Part("mode", mode),
    "config_option_update": Part("config", list_of("config", "configOptions")),
    "available_commands_update": Part("commands", list_of("commands", "availableCommands")),
    "session_info_update": Part("info", lambda state, update: merging.patch(state.info, update)),
}
