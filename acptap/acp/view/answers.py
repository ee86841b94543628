"""What answers bring to a view: the settings of a session, and the client's terminals."""

from collections.abc import Callable

from acptap.acp.view.parts import Part, list_of, mode
from acptap.acp.view.things import Fields
from acptap.acp.view.values import State


def _modes(state: State, modes: Fields) -> None:
    mode(state, modes)
    list_of("modes", "availableModes")(state, modes)


def _models(state: State, models: Fields) -> None:
    model = models.get("currentModelId")
    state.model = model if isinstance(model, str) else state.model
    list_of("models", "availableModels")(state, models)


SETTINGS: dict[str, Part] = {
    # by the member of the answer that opens a session
    "modes": Part("mode", _modes),
    "models": Part("model", _models),
    "configOptions": Part("config", list_of("config", "configOptions")),
}

CHOICES: dict[str, tuple[Part, Callable[[Fields, Fields], Fields]]] = {
    # by the method that sets it: the part, and what it is set to, from the params and the result
    "session/set_mode": (
        Part("mode", mode), lambda params, _: {"currentModeId": params.get("modeId")}
    ),
    "session/set_model": (
        Part("model", _models), lambda params, _: {"currentModelId": params.get("modelId")}
    ),
    "session/set_config_option": (
        Part("config", list_of("config", "configOptions")), lambda _, result: result
    ),
}  # fmt: skip


def _created(params: Fields, result: Fields) -> Fields:
    return {name: params.get(name) for name in ("command", "args", "cwd")} | result


def _put_out(params: Fields, result: Fields) -> Fields:
    told: Fields = {
        "terminalId": params.get("terminalId"),
        "output": {"text": result.get("output")},
    }
    return told | _exit_of(result.get("exitStatus"))


def _exited(params: Fields, result: Fields) -> Fields:
    return {"terminalId": params.get("terminalId")} | _exit_of(result)


def _exit_of(status: object) -> Fields:
    return {"exitStatus": status} if isinstance(status, dict) else {}


TERMINALS: dict[str, Callable[[Fields, Fields], Fields]] = {
    # version 1: the client owns the terminals, and its answers tell of them; by the method
    # answered: the same as an update, from the params and the result
    "terminal/create": _created,
    "terminal/output": _put_out,
    "terminal/wait_for_exit": _exited,
}
