"""What an entry is and says, for people."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

_LONGEST = 500
"""Characters of what was said that are told."""


class Kind(StrEnum):
    """What an entry is."""

    REQUEST = "request"
    RESPONSE = "response"
    NOTIFICATION = "notification"
    BATCH = "batch"
    MALFORMED = "malformed"
    NOISE = "noise"
    PIECE = "piece"
    STDERR = "stderr"
    EVENT = "event"
    HTTP = "http"


class Chunk(NamedTuple):
    """A part of a text that comes in parts.

    Attributes:
        of: What the text belongs to.
        text: What this part adds.
        before: What stands before the text where it is told.
        behind: What stands behind it.
    """

    of: object
    text: str
    before: str = '"'
    behind: str = '"'

    def told(self, text: str | None = None) -> str:
        """Return how the part reads, or the text of several of them."""
        said = self.text if text is None else text
        return f"{self.before}{said[:_LONGEST]}{self.behind}"


@dataclass(slots=True)
class Reading:
    """What an entry is and says.

    Attributes:
        kind: What it is.
        method: The method; of a response, that of its request; of an event, its name or type.
        update: The update's name.
        id: The request id as it stands in JSON; a number beyond 64 bits by its spelling.
        gist: What it says, unescaped.
        chunk: What it adds to a text, if it does that and no more.
        failed: Whether it is an error response, or a failed answer over HTTP.
        took: Of a response: seconds since its request.
        is_bare: Whether the gist says all, and no name goes before it.
        is_still: Whether nothing is sent: it is a fact, not a message.
        is_routine: Whether it says nothing that other rows don't say.
        is_open: Whether the next entry may turn out that it is routine.
        is_aside: Whether it passes on the network and belongs to no connection.
        session: The session that its HTTP exchange names.
        ends: Whether the connection ends with it.
    """

    kind: Kind
    method: str | None = None
    update: str | None = None
    id: str | int | None = None
    gist: str = ""
    chunk: Chunk | None = None
    failed: bool = False
    took: float | None = None
    is_bare: bool = False
    is_still: bool = False
    is_routine: bool = False
    is_open: bool = False
    is_aside: bool = False
    session: str | None = None
    ends: bool = False

    @property
    def what(self) -> str:
        """The name a reader looks for; empty if the gist says it."""
        if self.is_bare:
            return ""
        name = self.update or self.method or self.kind.value
        if self.kind is Kind.RESPONSE and self.method is not None:
            return f"{name} {'error' if self.failed else 'result'}"
        return name
