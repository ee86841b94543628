"""The units of an exchange that may be an AG-UI run: its request, its events, its end."""

from acptap.acp.observation import Observation
from acptap.acp.rules import note as note_of_transport
from acptap.agui import proto
from acptap.agui.garbage import rule_for
from acptap.agui.inputs import RunInput
from acptap.agui.meaning import Meaning
from acptap.agui.rules import note
from acptap.agui.run import How, Run
from acptap.agui.secrets import METHOD
from acptap.agui.threads import Threads
from acptap.cassette import NOTHING, Annotations
from acptap.http import HttpResponse
from acptap.jsonrpc import Malformed, Side, read_all
from acptap.notes import Note
from acptap.wire import jsontext
from acptap.wire.inflating import Inflater
from acptap.wire.lines import Piece
from acptap.wire.outline import Outline
from acptap.witness.messages import Batch, Seen, Whole

_LONGEST = 10 * 1024 * 1024
"""Bytes of an event that no reference client reads."""

_INPUT = Malformed("a request for a run")
_EVENT = Malformed("an event of a run")
_ENDS: dict[str, How] = {"reset": "reset"}


class RunChannel:
    """What passes in an exchange that is no ACP.

    It is a run if the client posted a `RunAgentInput`, or if the stream of the answer begins with
    RUN_STARTED. Whatever else passes is left alone.

    Args:
        threads: All threads of the recording.
        is_post: Whether the request is a POST.
        keep: Whether long units are kept whole.

    Attributes:
        run: The run, once it is known to be one.
        line: The number of the cassette's line that is taken in; 0 while there is none.
    """

    def __init__(self, threads: Threads, *, is_post: bool, keep: bool = False) -> None:
        self.run: Run | None = None
        self.line = 0
        self._threads = threads
        self._is_post = is_post
        self._keep = keep
        self._is_asked = False  # it has a request that began it
        self._is_answered = False
        self._is_stream = False
        self._is_ended_well = True  # no line of the stream ended in anything but LF so far
        self._long: dict[Side, tuple[Outline | Whole, int]] = {}
        self._frame: list[bytes] = []
        self._frame_size = 0
        self._last: tuple[Meaning, Seen] | None = None

    @property
    def is_stream(self) -> bool:
        """Whether the answer is the events of a run that was asked for.

        They are, whatever its media type says: the reference client reads it all the same.
        """
        return self._is_asked and self._is_stream

    # Units

    def message(self, side: Side, value: object, _text: bytes) -> Seen:
        """Take in a JSON value that is no array."""
        if side is Side.CLIENT:
            return self._asked(value)
        if self.run is None:
            self._begin_unasked(value)
        if self.run is None:
            return Seen(Malformed("not ACP"), Observation(), [], ())
        meaning = self._at().event(value) if self._is_stream else Meaning()
        if self._last is None or self._last[0] is not meaning:
            self._last = meaning, self._seen(_EVENT, meaning)
        return self._last[1]

    def batch(self, side: Side, value: list[object], text: bytes) -> Batch:
        """Take in an array, which is no event."""
        if self.run is None or side is Side.CLIENT or not self._is_stream:
            method = None if self.run is None else METHOD
            return Batch([(message, method) for message in read_all(value, text)], self._told())
        meaning = self._at().garbage("agui/not-object")
        return Batch([(_EVENT, METHOD)], self._annotations(meaning))

    def piece(self, side: Side, piece: Piece) -> Annotations:
        """Take in a piece of a long unit; the last one carries what the whole unit means."""
        unit, size = self._long.get(side) or (Whole() if self._keep else Outline(), 0)
        raw = piece.raw.removeprefix(b"data:") if side is Side.AGENT and not size else piece.raw
        unit.feed(raw)
        self._long[side] = unit, size + len(piece.raw)
        if piece.more:
            return self._oversize(self._told())
        del self._long[side]
        text = unit.text()
        said = NOTHING if text is None else self._read(side, text)
        return self._oversize(said, size=size + len(piece.raw), side=side)

    def garbage(self, data: bytes) -> Annotations:
        """Take in what a block says that is no JSON."""
        if self.run is None:
            return NOTHING
        return self._annotations(self._at().garbage(rule_for(data)))

    def frame(self, frame: bytes) -> Annotations:
        """Take in a protobuf frame, which may be the beginning of one that was cut off."""
        try:
            value = proto.decode(frame)
        except ValueError:
            return self._annotations(self._at().garbage("agui/broken-frame"))
        return self._annotations(self._at().event(value))

    def frame_piece(self, piece: Piece) -> Annotations:
        """Take in a piece of a long frame; one that no client reads is not read here either."""
        self._frame_size += len(piece.raw)
        if self._frame_size <= _LONGEST:
            self._frame.append(piece.raw)
        if piece.more:
            return self._oversize(self._told())
        frame, size = b"".join(self._frame), self._frame_size
        self._frame, self._frame_size = [], 0
        said = self.frame(frame) if size <= _LONGEST else self._told()
        return self._oversize(said, size=size, side=Side.AGENT)

    def line_ends(self, block: bytes) -> list[Note]:
        """Return what is to be said of how a block's lines end; said once."""
        if not self.is_stream or b"\r" not in block or not self._is_ended_well:
            return []
        self._is_ended_well = False
        return [note("agui/line-ends")]

    # The exchange

    def response(self, response: HttpResponse) -> Annotations:
        """Take in the head of the final answer."""
        is_success = response.is_success
        self._is_answered = True
        self._is_stream = is_success and (self._is_asked or response.is_event_stream)
        if self.run is None:
            return NOTHING
        said = self._at().response(response.status, response.value("content-type") or "")
        codings = [coding.encode() for coding in response.codings]
        if codings and Inflater.of(codings) is None:
            self.run.ignore()
        return self._annotations(said)

    def damaged(self) -> None:
        """Take in that the rest of the answer can't be read."""
        if self.run is not None:
            self.run.ignore()

    def end(self, side: Side, event: str, reason: object) -> Annotations:
        """Take in that a side ended the exchange: `end`, as it should be, or `abort`."""
        if self.run is None:
            return NOTHING
        how: How = "complete"
        if event == "abort":
            how = "client" if side is Side.CLIENT else _ENDS.get(str(reason), "cut")
        return self._annotations(self._at().end(how))

    # Inside

    def _asked(self, value: object) -> Seen:
        asked = RunInput.read(value) if self._is_post and not self._is_answered else None
        if asked is None:
            return Seen(Malformed("not ACP"), Observation(), [], ())
        self.run = self._threads.begin(asked, line=self.line)
        self._is_asked = True
        return self._seen(_INPUT, self.run.input())

    def _begin_unasked(self, value: object) -> None:
        """Begin a run that nobody is known to have asked for, if this is the beginning of one."""
        if not (self._is_stream and isinstance(value, dict)) or value.get("type") != "RUN_STARTED":
            return
        thread, run = value.get("threadId"), value.get("runId")
        if isinstance(thread, str) and isinstance(run, str):
            self.run = self._threads.begin(RunInput(thread, run), line=self.line)

    def _at(self) -> Run:
        assert self.run is not None
        self.run.line = self.line
        return self.run

    def _read(self, side: Side, text: bytes) -> Annotations:
        try:
            value = jsontext.parse(text)
        except ValueError:
            return self.garbage(text) if side is Side.AGENT and self._is_stream else self._told()
        if isinstance(value, list):
            return self.batch(side, value, text).annotations
        return self.message(side, value, text).annotations

    def _oversize(
        self, said: Annotations, *, size: int = 0, side: Side = Side.CLIENT
    ) -> Annotations:
        notes = [*said.notes]
        if size and side is Side.AGENT and self.run is not None and self._is_stream:
            long = note("agui/long-event")
            if size <= _LONGEST:
                long.detail["fails"] = ["rust"]
            notes.append(long)
        return said._replace(notes=[*notes, note_of_transport("http/oversize")])

    def _seen(self, message: Malformed, meaning: Meaning) -> Seen:
        observed = Observation()
        observed.session, observed.method = self._at().thread, METHOD
        observed.transitions, observed.notes = meaning.transitions, meaning.notes
        return Seen(message, observed, [], meaning.updates)

    def _annotations(self, meaning: Meaning) -> Annotations:
        return Annotations(self._at().thread, *meaning)

    def _told(self) -> Annotations:
        return NOTHING if self.run is None else Annotations(self.run.thread)
