"""What the Python SDK's models say of messages of version 1. It may not be installed."""

import importlib.util
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.peers.peers import missing
from tests.schemas.said import Said

if TYPE_CHECKING:
    from pydantic import TypeAdapter

VALID, UNKNOWN = "valid", "unknown"
_SHOWN = 100
_RENAMED = {
    "SetSessionConfigOptionRequest": (
        "SetSessionConfigOptionSelectRequest", "SetSessionConfigOptionBooleanRequest",
    ),
}  # fmt: skip
"""Types that the SDK has under other names than the schema."""


def require() -> None:
    """Skip the test, or fail it, if the SDK is not there."""
    if importlib.util.find_spec("acp") is None:
        missing("the Python SDK is not installed")


class PythonSdk:
    """The models, by the names that the schemas have for them.

    Args:
        definitions: Method, caller (None for both), kind and definition of all that there are.
    """

    def __init__(self, definitions: list[list[Any]]) -> None:
        require()
        self._names = {(method, caller, kind): name for method, caller, kind, name in definitions}

    def judge(self, said: Said) -> str:
        """Return `valid`, `unknown`, or what is wrong with a message."""
        name = self._name_of(said)
        models = [] if name is None else _models(name)
        if not models:
            return UNKNOWN
        reasons = [_reason(model, said.value) for model in models]
        return VALID if VALID in reasons else reasons[0]

    def _name_of(self, said: Said) -> str | None:
        """Return the definition of a method that the SDK lists; it lists none of both sides."""
        from acp.meta import AGENT_METHODS, CLIENT_METHODS  # noqa: PLC0415

        listed = AGENT_METHODS if said.caller == "client" else CLIENT_METHODS
        caller = said.caller if said.method in listed.values() else None
        return self._names.get((said.method, caller, said.kind))


@cache
def _models(name: str) -> "list[TypeAdapter[Any]]":
    from acp import schema  # noqa: PLC0415
    from pydantic import TypeAdapter  # noqa: PLC0415

    names = _RENAMED.get(name, (name,))
    return [TypeAdapter(getattr(schema, one)) for one in names if hasattr(schema, one)]


def _reason(model: "TypeAdapter[Any]", value: Any) -> str:
    from pydantic import ValidationError  # noqa: PLC0415

    try:
        model.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "union_tag_invalid":
            return UNKNOWN
        return f"/{'/'.join(map(str, first['loc']))} {first['msg']}"[:_SHOWN]
    return VALID
