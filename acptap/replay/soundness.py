"""What an entry of the network must be, for it to be played: cassettes are edited by hand too."""

import re

from acptap.cassette import Entry
from acptap.errors import DamagedCassette
from acptap.http import SWITCHING, HttpRequest, HttpResponse
from acptap.jsonrpc import Side

_STREAMS = ("connection", "session", "events")
_STATUSES = range(100, 1000)
_NAME = re.compile(r"[^\x00-\x20\x7f:]+")
"""These are as wide as what the recording proxy takes from a server."""


def check_unit(entry: Entry) -> None:
    """See to it that it is told where a unit passed.

    Raises:
        DamagedCassette: It is not.
    """
    if entry.event is not None:
        return
    if type(entry.front.get("exchange")) is not int:
        raise _damaged(entry, "says of no HTTP exchange that it was part of it (`exchange`)")
    if "stream" in entry.front and (
        entry.side is Side.CLIENT or entry.front["stream"] not in _STREAMS
    ):
        raise _damaged(entry, "is on no event stream that there is (`stream`)")


def check_response(entry: Entry, response: HttpResponse, request: HttpRequest) -> None:
    """See to it that a response can be given again.

    Raises:
        DamagedCassette: It can't.
    """
    if response.status not in _STATUSES:
        raise _damaged(entry, "holds no HTTP status (`status`)")
    if response.status == SWITCHING and request.value("upgrade") is None:
        raise _damaged(entry, "holds status 101, and nobody had asked for another protocol")
    for name, _ in response.headers:
        if not _NAME.fullmatch(name):
            raise _damaged(entry, f"holds a header of an impossible name ({name[:50]!r})")


def _damaged(entry: Entry, what: str) -> DamagedCassette:
    return DamagedCassette(
        f"damaged: the entry {what}", where=f"line {entry.number}",
        fix="restore the file, or correct that line",
    )  # fmt: skip
