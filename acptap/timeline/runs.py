"""Reads what passes in AG-UI runs for people: a request, and the events that answer it."""

from functools import partial

from acptap.agui import proto
from acptap.agui.events import ENDS, Event, optional, owner_of, word
from acptap.agui.inputs import RunInput
from acptap.cassette import Entry
from acptap.jsonrpc import Side
from acptap.timeline import events
from acptap.timeline.exchanges import Exchange, Exchanges, Run
from acptap.timeline.reading import Chunk, Kind, Reading
from acptap.timeline.titles import Titles
from acptap.wire import jsontext

METHOD = "run"
"""The name of a request: it has none of its own."""


class Runs:
    """Reads the units of exchanges that are runs; it must see all of them in order.

    Args:
        exchanges: The HTTP exchanges.

    Attributes:
        versions: The protocol versions that agents named, as they were spelled.
    """

    def __init__(self, exchanges: Exchanges) -> None:
        self.versions: dict[str, None] = {}
        self._exchanges = exchanges
        self._titles = Titles()
        self._threads: set[str] = set()

    def read(self, entry: Entry, exchange: Exchange, value: object) -> Reading | None:
        """Return how a unit reads, or None if it is no part of a run.

        Args:
            entry: The unit.
            exchange: Where it passes.
            value: What it is as JSON.
        """
        if exchange.is_acp or not isinstance(value, dict):
            return None
        if entry.side is Side.CLIENT:
            asked = self._asked(exchange, value)
            return None if asked is None else self._request(exchange, asked)
        run = self._run_of(entry, exchange, value)
        return None if run is None else self._event(entry, exchange, run, value)

    def frame(self, entry: Entry, exchange: Exchange) -> Reading:
        """Return how a protobuf frame reads."""
        size = len(entry.unit())
        try:
            value = proto.decode(entry.unit())
        except ValueError:
            return Reading(
                Kind.NOISE, gist=f"a frame of {size} bytes that holds no event", is_bare=True,
                is_aside=True, session=exchange.session,
            )  # fmt: skip
        run = exchange.run or self._exchanges.run(exchange, None)
        return self._event(entry, exchange, run, value)

    def survey(self, entry: Entry, exchange: Exchange) -> None:
        """Take in the beginning of a run, and nothing else of it."""
        run = exchange.run
        if exchange.is_acp or entry.oversize or (run is not None and run.is_started):
            return
        if entry.is_frame:
            self.frame(entry, exchange)
            return
        sign = b'"threadId"' if entry.side is Side.CLIENT else b"RUN_STARTED"
        if sign in entry.payload:
            try:
                self.read(entry, exchange, jsontext.parse(entry.reading()))
            except ValueError:
                return

    # Requests

    def _asked(self, exchange: Exchange, value: Event) -> RunInput | None:
        asked = RunInput.read(value) if exchange.request.method == "POST" else None
        if asked is not None:
            self._exchanges.run(exchange, asked.thread)
            self._learn(asked.thread, value)
        return asked

    def _request(self, exchange: Exchange, asked: RunInput) -> Reading:
        is_new = asked.thread not in self._threads
        self._threads.add(asked.thread)
        named = partial(self._name, asked.thread)
        return Reading(
            Kind.REQUEST, METHOD, id=asked.run, is_aside=True, session=exchange.session,
            gist=events.of_request(asked, named, is_new=is_new),
        )  # fmt: skip

    # Events

    def _run_of(self, entry: Entry, exchange: Exchange, value: Event) -> Run | None:
        """Return the run that an event belongs to; it may be the first that is known of it."""
        if entry.front.get("stream") != "events" or not word(value, "type"):
            return None
        if exchange.run is None and value["type"] == "RUN_STARTED":
            thread = optional(value, "threadId")
            if thread is not None and optional(value, "runId") is not None:
                return self._exchanges.run(exchange, thread)
        return exchange.run

    def _event(self, entry: Entry, exchange: Exchange, run: Run, event: Event) -> Reading:
        type_ = word(event, "type")
        self._follow(run, type_, event)
        named = partial(self._name, run.thread)
        owner = owner_of(event) if not type_.startswith("SUBAGENT_") else None
        who = "" if owner is None else f"{named('agent', owner)}: "
        reading = Reading(
            Kind.NOTIFICATION, type_, is_aside=True, session=run.thread,
            failed=type_ in events.FAILURES, is_routine=events.is_routine(event),
        )  # fmt: skip
        if type_ in ENDS and exchange.at is not None:
            reading.took = entry.at - exchange.at
        part = events.PARTS.get(type_)
        if part is None:
            reading.gist = f"{who}{events.of_event(event, named)}".rstrip()
            return reading
        of = run.part_of(type_, owner, optional(event, part.id))
        before, behind = (f"{named('call', of)} ", "") if part.is_call else ('"', '"')
        reading.chunk = Chunk(of, word(event, "delta"), f"{who}{before}", behind)
        reading.gist = reading.chunk.told()
        return reading

    def _follow(self, run: Run, type_: str, event: Event) -> None:
        """Take in what an event says of its run."""
        self._learn(run.thread, event)
        if type_ == "RUN_STARTED":
            run.is_started, run.is_over = True, False
            version = optional(event, "protocolVersion")
            if version:
                self.versions[version] = None
        elif type_ in ENDS:
            run.is_over = True

    def _learn(self, thread: str | None, value: Event) -> None:
        for what, id_, name in events.names_in(value):
            self._titles.put((thread, what, id_), name)

    def _name(self, thread: str | None, what: str, id_: object) -> str:
        known = id_ if isinstance(id_, str) else ""
        return self._titles.find((thread, what, known), known)
