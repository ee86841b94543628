"""What acptap's tables say of a message."""

from acptap.acp.methods import METHODS, Kind, Method, Status
from acptap.acp.updates import UPDATES
from tests.schemas.said import Said

UNKNOWN = "unknown"
_CALLS = {
    "request": (Kind.REQUEST, Kind.EITHER),
    "response": (Kind.REQUEST, Kind.EITHER),
    "notification": (Kind.NOTIFICATION, Kind.EITHER),
}
_STEPS = [Status.STABLE, Status.UNSTABLE, Status.LEGACY, Status.ABSENT]


def verdict(said: Said) -> str:
    """Return `stable`, `unstable` or `legacy`, or `unknown` for what nobody may say like this."""
    row = METHODS.get(said.method)
    if row is None or not _may_be(row, said):
        return UNKNOWN
    status = row.status(said.version)
    if said.update is not None:
        update = UPDATES.get(said.update)
        told = Status.ABSENT if update is None else update.status(said.version)
        status = max(status, told, key=_STEPS.index)
    return UNKNOWN if status is Status.ABSENT else status


def _may_be(row: Method, said: Said) -> bool:
    return row.kind in _CALLS[said.kind] and row.caller in (None, said.caller)
