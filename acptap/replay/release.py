"""What a player has to say to the client, ready to be written when its time has come."""

from dataclasses import dataclass

from acptap.replay.framing import Framing, frame
from acptap.replay.report import Miss, describe
from acptap.replay.script import Lane, Refused, Step, StreamEnd, is_noise
from acptap.replay.voice import Voice
from acptap.wire import jsontext

INTERNAL = -32603
"""The error code with which clients report what went wrong beneath them."""


@dataclass(slots=True, eq=False)
class Release:
    """Something to send to the client.

    Attributes:
        lane: The lane it comes from; None for an answer of acptap's own that belongs to none.
        at: When it was recorded, in seconds; None for an answer of acptap's own.
        ends_read: Whether the recorded read ended here. Up to here it is written at once.
        number: The line of its entry in the cassette; None for an answer of acptap's own.
        what: The step to spell, or the bytes of acptap's own answer.
        voice: Spells the step.
        stream: The live session on whose event stream it came, if it is no message.
        end: That stream's end, if it is nothing else.
    """

    lane: Lane | None
    at: float | None
    ends_read: bool
    number: int | None
    what: Step | bytes
    voice: Voice | None = None
    stream: str | None = None
    end: StreamEnd | None = None

    @property
    def noise(self) -> Step | None:
        """The step that it is, if that is no message."""
        return self.what if isinstance(self.what, Step) and is_noise(self.what) else None

    @property
    def data(self) -> bytes:
        """The bytes to send, what delimits them included; fetched anew whenever asked for."""
        if isinstance(self.what, bytes):
            return self.what
        assert self.voice is not None
        return self.voice.spell(self.what)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A lane with live requests that are not answered.

    Attributes:
        lane: The lane.
        requests: The recorded requests that the live ones matched.
        awaited: What the client would have to send next, in any order; empty if the recording
            ends without an answer.
    """

    lane: Lane
    requests: tuple[Step, ...]
    awaited: tuple[Step, ...]

    def __str__(self) -> str:
        asked = _named(self.requests)
        if not self.awaited:
            return f"{asked} is never answered in the cassette"
        return f"{asked} waits for {_named(self.awaited)}"


def refusal(lane: Lane | None, id_: bytes, miss: Miss, framing: Framing) -> Release:
    """Return an error that acptap answers a live request with.

    Args:
        lane: The lane that failed, if one did.
        id_: The JSON text of the request's id.
        miss: What did not match.
        framing: What delimits the answer.
    """
    return _error(lane, id_, miss.as_error(), framing)


def undelivered(lane: Lane, id_: bytes, refused: Refused, framing: Framing) -> Release:
    """Return the error that a client makes of a request which its server turned down.

    It is for a client that is not connected over HTTP, and can't be shown the recorded status.
    """
    words = f"HTTP {refused.status} {refused.reason}".rstrip()
    error = {"code": INTERNAL, "message": words, "data": {"status": refused.status}}
    return _error(lane, id_, error, framing)


def _error(lane: Lane | None, id_: bytes, error: dict[str, object], framing: Framing) -> Release:
    text = b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (id_, jsontext.dump(error))
    return Release(lane, None, ends_read=True, number=None, what=frame(text, framing))


def _named(steps: tuple[Step, ...]) -> str:
    return " and ".join(f"{describe(step)} (line {step.number})" for step in steps)
