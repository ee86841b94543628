"""What a live client says, read as messages, and spelled as it spells it."""

from dataclasses import dataclass

from acptap.acp import methods
from acptap.acp.observation import session_of
from acptap.jsonrpc import Malformed, Message, Notification, NumberText, Request, RequestId, read
from acptap.replay.script import StepKind
from acptap.wire import jsontext, spans


@dataclass(slots=True)
class Call:
    """A live request or notification.

    Attributes:
        kind: Which of the two.
        method: Its method; inside `proxy/successor`, that of the call it wraps.
        params: Its params, likewise.
        session: The session it names, in live words, or None.
    """

    kind: StepKind
    method: str
    params: object
    session: str | None

    @classmethod
    def of(cls, message: Request | Notification) -> "Call":
        """Return a message as a call."""
        kind = StepKind.REQUEST if isinstance(message, Request) else StepKind.NOTIFICATION
        method, params = methods.unwrap(message.method, message.params)
        return cls(kind, method, params, session_of(params))


def messages(text: bytes) -> list[tuple[Message, bytes]]:
    """Return the messages of a unit, each with its own JSON text."""
    try:
        value = jsontext.parse(text)
    except ValueError:
        return [(Malformed("not JSON" if text else "blank"), text)]
    if not isinstance(value, list):
        return [(read(value, text), text)]
    if not value:
        return [(Malformed("an empty batch"), text)]
    members = [text[start:end] for path, start, end in spans.walk(text) if len(path) == 1]
    return [(read(member, own), own) for member, own in zip(value, members, strict=True)]


def spelled_id(request: Request, text: bytes) -> bytes:
    """Return a request's id as the client spells it."""
    places = spans.find(text, ("id",))
    return text[places[-1].start : places[-1].end] if places else plain_id(request.id)


def plain_id(id_: RequestId) -> bytes:
    """Return an id as JSON text."""
    return id_.text.encode() if isinstance(id_, NumberText) else jsontext.dump(id_)
