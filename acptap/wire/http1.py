"""HTTP/1 as a spectator reads it: two streams of one connection, each cut into messages.

Requests go on as bytes with only their heads rewritten, so a head is held back until it is whole,
and what follows a request that may end HTTP is held until its answer tells. Responses pass as they
come. Neither reader refuses anything: where framing is lost there is one `Lost`, and the rest of
the stream is `Raw`. What comes out does not depend on the reads the stream came in, but that
content is joined within a read.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from acptap.wire.bodies import Framing, UntilEnd, request_framing, response_framing
from acptap.wire.headbuffer import HeadBuffer
from acptap.wire.heads import (
    HEAD_LIMIT,
    REQUEST_LINE,
    STATUS_LINE,
    Doubt,
    FirstLine,
    Head,
    Headers,
    RequestHead,
    ResponseHead,
    request_head,
    response_head,
)

__all__ = [
    "HEAD_LIMIT",
    "Body",
    "End",
    "Event",
    "Head",
    "Headers",
    "Lost",
    "Pending",
    "Raw",
    "RequestHead",
    "RequestReader",
    "ResponseHead",
    "ResponseReader",
]


class Body(NamedTuple):
    """Content of a message, without its framing: what one read brought of it."""

    data: bytes


class End(NamedTuple):
    """A message is over.

    Every head has one, but for interim answers and those that switch to another protocol.

    Attributes:
        is_complete: Whether all of it came.
        trailers: The fields behind a chunked body.
    """

    is_complete: bool
    trailers: Headers


class Raw(NamedTuple):
    """Bytes without framing: behind a switch, on a lost connection, of a head that never ended."""

    data: bytes


class Lost(NamedTuple):
    """Framing is lost from here on: only `Raw` follows. A message under way has had its `End`.

    Attributes:
        why: What was found, in a few words: "both Transfer-Encoding and Content-Length".
    """

    why: str


Event = RequestHead | ResponseHead | Body | End | Raw | Lost

Pending = deque[RequestHead]
"""Requests whose final answer is still to come, in order; both readers of a connection share it."""


class _Reader:
    """What both directions have in common."""

    def __init__(self, first: FirstLine) -> None:
        self.is_opaque = False
        self._heads = HeadBuffer(first)
        self._framing: Framing | None = None  # of the body under way

    def _begin(self, framing: Framing, events: list[Event]) -> None:
        """A head has been read, and this is the framing of what follows."""
        if framing.is_over:
            events.append(End(is_complete=True, trailers=[]))
        else:
            self._framing = framing

    def _read_body(self, framing: Framing, data: bytes, pos: int, events: list[Event]) -> int:
        """Read on in a body and return where in `data` that stopped."""
        parts: list[bytes] = []
        pos = framing.read(data, pos, parts)
        if parts:
            events.append(Body(b"".join(parts)))
        if framing.is_over:
            self._framing = None
            events.append(End(is_complete=True, trailers=framing.trailers))
        elif framing.fault:
            self._lose(framing.fault, framing.unread + data[pos:], events)
            return len(data)
        return pos

    def _lose(self, why: str, rest: bytes, events: list[Event]) -> None:
        events += self._break_off()
        events.append(Lost(why))
        self._pass(rest, events)

    def _break_off(self) -> list[Event]:
        """Return the end of a message that is not complete, if one is under way."""
        if self._framing is None:
            return []
        self._framing = None
        return [End(is_complete=False, trailers=[])]

    def _pass(self, rest: bytes, events: list[Event]) -> None:
        """Read nothing any more, from `rest` on."""
        self.is_opaque = True
        if rest:
            events.append(Raw(rest))


class RequestReader(_Reader):
    """Reads what a client sends, and says what of it may go on.

    Args:
        pending: Where requests wait for their answers.
        rewrite: Returns what goes on instead of a head. Called once for each head whose framing is
            certain. If it raises, so does `feed`; `lose` then returns all that has not gone on.

    Attributes:
        is_opaque: Whether nothing is read any more.
        waits: Whether what comes is held until `resolve` tells how a request was answered.
    """

    def __init__(self, pending: Pending, rewrite: Callable[[RequestHead], bytes]) -> None:
        super().__init__(REQUEST_LINE)
        self.waits = False
        self._pending = pending
        self._rewrite = rewrite
        self._asks = False  # the last request may end HTTP, and has no answer yet
        self._switches = False  # the last request ends HTTP
        self._held: list[bytes] = []  # what may not go on yet, heads aside

    def feed(self, data: bytes) -> tuple[bytes, list[Event]]:
        """Take in what one read brought.

        Returns:
            The bytes that go on: all that came, with heads rewritten, but for a head that has not
            ended and what `waits` holds. And what was read.
        """
        out: list[bytes] = []
        events: list[Event] = []
        pos = 0
        while pos < len(data):
            start = pos
            if self._framing is not None:
                pos = self._read_body(self._framing, data, pos, events)
                out.append(data[start:pos])
                self._settle()
            elif self.waits:
                pos = len(data)
                self._held.append(data[start:])
            elif self.is_opaque:
                pos = len(data)
                out.append(data[start:])
                self._pass(data[start:], events)
            else:
                pos = self._read_head(data, pos, out, events)
        return b"".join(out), events

    def resolve(self, *, switched: bool) -> tuple[bytes, list[Event]]:
        """Take in that the request that may end HTTP has its answer, which may come early.

        Args:
            switched: Whether it ends HTTP.

        Returns:
            As `feed`, of what was held.
        """
        if not self._asks:
            return b"", []
        self._asks = False
        self._switches = switched
        self._settle()
        return self.feed(self._release())

    def lose(self) -> tuple[bytes, list[Event]]:
        """Read nothing from here on: the other direction is lost, or something failed.

        Returns:
            As `feed`, of what was held.
        """
        events = self._break_off()
        held = self._release()
        self._pass(held, events)
        self._settle()
        return held, events

    def end(self) -> tuple[bytes, list[Event]]:
        """Take in the end of the stream; what is held goes on as it is.

        While `waits`, whoever can should `resolve` first.
        """
        events = self._break_off()
        held = self._release()
        if held.strip(b"\r\n"):
            events.append(Raw(held))
        return held, events

    def _settle(self) -> None:
        """Find out what comes next, where one thing may have ended."""
        if self._framing is None:
            self.is_opaque = self.is_opaque or self._switches
            self.waits = self._asks and not self.is_opaque

    def _release(self) -> bytes:
        held = b"".join(self._held) + self._heads.release()
        self._held.clear()
        return held

    def _read_head(self, data: bytes, pos: int, out: list[bytes], events: list[Event]) -> int:
        try:
            raw, end = self._heads.take(data, pos)
        except Doubt as doubt:
            out.append(self._heads.release())
            self._lose(str(doubt), out[-1], events)
            return len(data)
        if not raw:
            return end
        try:
            head = request_head(raw)
            framing = request_framing(head)
        except Doubt as doubt:
            out.append(raw + data[end:])
            self._lose(str(doubt), out[-1], events)
            return len(data)
        try:
            out.append(self._rewrite(head))
        except BaseException:
            self._held = [*out, raw, data[end:]]
            raise
        self._pending.append(head)
        events.append(head)
        self._asks = head.is_upgrade
        self._begin(framing, events)
        self._settle()
        return end


class ResponseReader(_Reader):
    """Reads what a server sends, all of which goes on as it comes.

    Args:
        pending: Where the requests wait that it answers.

    Attributes:
        is_opaque: Whether nothing is read any more.
    """

    def __init__(self, pending: Pending) -> None:
        super().__init__(STATUS_LINE)
        self._pending = pending

    def feed(self, data: bytes) -> list[Event]:
        """Return what was read, now that one read brought `data`."""
        events: list[Event] = []
        pos = 0
        while pos < len(data):
            if self._framing is not None:
                pos = self._read_body(self._framing, data, pos, events)
            elif self.is_opaque:
                self._pass(data[pos:], events)
                break
            else:
                pos = self._read_head(data, pos, events)
        return events

    def end(self, *, is_clean: bool = True) -> list[Event]:
        """Take in the end of the stream.

        Args:
            is_clean: Whether the server ended it in order (FIN), which completes a body that goes
                on until the stream ends; a reset does not.
        """
        if is_clean and self._framing is not None and self._framing.is_open_ended:
            self._framing = None
            return [End(is_complete=True, trailers=[])]
        events = self._break_off()
        held = self._heads.release()
        if held.strip(b"\r\n"):
            events.append(Raw(held))
        return events

    def _read_head(self, data: bytes, pos: int, events: list[Event]) -> int:
        try:
            raw, end = self._heads.take(data, pos)
        except Doubt as doubt:
            self._lose(str(doubt), self._heads.release(), events)
            return len(data)
        if not raw:
            return end
        head = response_head(raw, self._pending[0] if self._pending else None)
        events.append(head)
        if head.is_interim:
            return end
        if self._pending:
            self._pending.popleft()
        if head.switches:
            self.is_opaque = True
            return end
        try:
            self._begin(response_framing(head), events)
        except Doubt as doubt:
            self._begin(UntilEnd(), events)
            self._lose(str(doubt), data[end:], events)
            return len(data)
        return end
