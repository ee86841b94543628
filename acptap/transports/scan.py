"""What both sides of a connection say, read beside the way: for the spectator, and for the way.

Reading decides where a request head is rewritten, and how long what follows a request for an
upgrade has to wait. When reading fails, everything passes untouched from there on.
"""

from collections import deque
from collections.abc import Callable

from acptap.jsonrpc import Side
from acptap.transports.spectator import Ending, Guard
from acptap.wire.http1 import (
    Event,
    Lost,
    Pending,
    Raw,
    RequestHead,
    RequestReader,
    ResponseHead,
    ResponseReader,
)

_ANSWER = (
    b"HTTP/1.1 502 Bad Gateway\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: %d\r\n"
    b"Connection: close\r\n"
    b"\r\n"
)


class Backlog:
    """What a client has sent and has not gone on yet, as it came."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []  # joined late, so a head in small reads costs linear time
        self.size = 0

    def add(self, data: bytes) -> None:
        """Take in what came."""
        self._parts.append(data)
        self.size += len(data)

    def drop(self, size: int) -> None:
        """Forget so many bytes from the front: they have gone on."""
        self.size -= size
        if size:
            self._parts = [b"".join(self._parts)[size:]] if self.size else []

    def take(self) -> bytes:
        """Return all of it, and forget it."""
        data = b"".join(self._parts)
        self.drop(self.size)
        return data


class Scan:
    """Reads both directions of one client's connection and tells the spectator what it reads.

    Args:
        rewrite: Returns a request head as the upstream is to get it.
        guard: Tells the spectator.

    Attributes:
        is_cut_short: Once the upstream has ended: whether it owes some of an answer it had begun.
    """

    def __init__(self, rewrite: Callable[[RequestHead], bytes], guard: Guard) -> None:
        self._rewrite = rewrite
        self._guard = guard
        self._pending: Pending = deque()
        self._requests = RequestReader(self._pending, self._rewritten)
        self._responses = ResponseReader(self._pending)
        self._backlog = Backlog()
        self._grown = 0  # bytes that heads have gained in the read under way
        self._is_blind = False  # reading has failed
        self._is_untouched = False  # and the spectator has been told
        self.is_cut_short = False

    @property
    def holds(self) -> bool:
        """Whether something of the client's waits for the answer to a request for an upgrade."""
        return self._requests.waits and self._backlog.size > 0 and not self._is_blind

    # What the pair calls

    def from_client(self, data: bytes) -> bytes:
        """Read what the client sent; return what goes on."""
        self._backlog.add(data)
        return self._read(lambda: self._let_go(*self._requests.feed(data)))

    def client_ended(self, how: Ending) -> bytes:
        """Take in that the client sends no more; return what was left."""
        left = self._read(lambda: self._let_go(*self._requests.end()))
        self._guard.ended(Side.CLIENT, how)
        return left

    def from_agent(self, data: bytes) -> bytes:
        """Read what the upstream sent, all of which goes on; return what that lets go to it."""
        events = self._read_answer(data)
        self._guard.from_agent(events)
        return self._read(lambda: self._answered(events))

    def agent_ended(self, how: Ending) -> bytes:
        """Take in that the upstream sends no more; return what that lets go to it."""
        self.is_cut_short = True  # until it is known that nothing is missing
        left = self._read(lambda: self._finish(how))
        self._guard.ended(Side.AGENT, how)
        return left

    def refuse(self, why: str) -> bytes:
        """Return what the client is answered when the upstream can't be reached."""
        wants_head = bool(self._pending) and self._pending[0].method == b"HEAD"
        text = f"{why}\n".encode()
        answer = _ANSWER % len(text) + (b"" if wants_head else text)
        events = self._read_answer(answer)
        self._guard.failed(why, events)
        self._read(lambda: self._answered(events))  # shows what was held, which goes nowhere
        return answer

    # Reading, and what comes of it

    def _rewritten(self, head: RequestHead) -> bytes:
        new = self._rewrite(head)
        self._grown += len(new) - len(head.raw)
        return new

    def _let_go(self, out: bytes, events: list[Event]) -> bytes:
        """Show what was read of the client, and return what goes on."""
        self._backlog.drop(len(out) - self._grown)
        self._grown = 0
        self._guard.from_client(events)
        for event in events:
            if isinstance(event, Lost):
                self._tell_untouched(event.why)
        return out + self._lose() if self._responses.is_opaque else out

    def _answered(self, events: list[Event]) -> bytes:
        """Return what answers let go that was held for them."""
        out = b""
        for event in events:
            if isinstance(event, ResponseHead) and _decides(event):
                out += self._let_go(*self._requests.resolve(switched=event.switches))
        return out + self._lose() if self._responses.is_opaque else out

    def _finish(self, how: Ending) -> bytes:
        events = self._responses.end(is_clean=how is Ending.FIN)
        self.is_cut_short = bool(events) or self._responses.is_opaque
        self._guard.from_agent(events)
        return self._lose()

    def _lose(self) -> bytes:
        """Return what is held for an answer that won't come, or can't be read."""
        if not self._requests.waits:
            return b""
        self._tell_untouched("an upgrade was asked for, and the answer to that can't be read")
        return self._let_go(*self._requests.lose())

    # When reading fails, which may not hold anything

    def _read(self, read: Callable[[], bytes]) -> bytes:
        """Return what goes to the upstream as `read` says, or else all there is."""
        if not self._is_blind:
            try:
                return read()
            except Exception as error:
                self._go_blind(error)
        rest = self._backlog.take()
        self._guard.from_client([Raw(rest)] if rest else [])
        return rest

    def _read_answer(self, data: bytes) -> list[Event]:
        if not self._is_blind:
            try:
                return self._responses.feed(data)
            except Exception as error:
                self._go_blind(error)
        return [Raw(data)]

    def _go_blind(self, error: Exception) -> None:
        self._is_blind = True
        why = f"it could not be read ({type(error).__name__}: {error})"
        self._guard.from_client([Lost(why)])
        self._guard.from_agent([Lost(why)])
        self._tell_untouched(why)

    def _tell_untouched(self, why: str) -> None:
        if not self._is_untouched:
            self._is_untouched = True
            self._guard.untouched(why)


def _decides(head: ResponseHead) -> bool:
    """Return whether an answer tells if a connection goes on as HTTP."""
    return head.request is not None and head.request.is_upgrade and not head.is_interim
