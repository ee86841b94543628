"""Lay a recorded connection out in lanes, so that order binds only where it must.

* A session's messages and the answers to them share a lane.
* A request of the client that belongs to no session has a lane of its own, with its answer.
* What quotes a request or an elicitation stands in its lane; an answer in its request's.
* What the agent said of a session before the answer that named it stands in the lane of the request
  that asked for the session, ahead of that answer.
* A session that the agent spoke of first, and that no answer names (a subagent's), shares the lane
  of the step before its first message: that is who it works for.
* Whatever else the agent said, and what of the client's may be left out, stands behind the step
  before it.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from acptap.cassette import Entry
from acptap.jsonrpc import Side
from acptap.replay.script import Lane, Script, Step, StepKind, is_noise, spare_key
from acptap.replay.transcript import Transcript

if TYPE_CHECKING:
    from acptap.replay.exchanges import Exchanges

_PROMPT = "session/prompt"


def build(entries: Iterable[Entry]) -> Script:
    """Return the script of one recorded connection.

    Args:
        entries: Its entries, in recorded order, those of the transport included.
    """
    transcript = Transcript()
    for entry in entries:
        transcript.add(entry)
    return _lay_out(transcript)


def build_all(entries: Iterable[Entry], exchanges: "Exchanges | None" = None) -> list[Script]:
    """Return the scripts of all recorded connections, by their numbers.

    Args:
        entries: A cassette's entries, in recorded order.
        exchanges: Its exchanges, if it was recorded on the network. What is no part of a
            conversation is passed over, and so is a WebSocket on which there was none.
    """
    transcripts: dict[int, Transcript] = {}
    spoken = _on_stdio(entries) if exchanges is None else exchanges.spoken(entries)
    for entry, exchange in spoken:
        transcript = transcripts.get(entry.conn)
        if transcript is None:
            transcript = transcripts[entry.conn] = Transcript()
        transcript.add(entry, exchange)
    scripts = [_lay_out(transcripts[number]) for number in sorted(transcripts)]
    return scripts if exchanges is None else [script for script in scripts if _speaks(script)]


def _on_stdio(entries: Iterable[Entry]) -> Iterator[tuple[Entry, None]]:
    return ((entry, None) for entry in entries)


def _speaks(script: Script) -> bool:
    return any(not is_noise(step) for lane in script.lanes for step in lane.steps)


def _lay_out(transcript: Transcript) -> Script:
    transcript.finish()
    layout = _Layout(transcript)
    for step in transcript.steps:
        layout.add(step)
    script = layout.script
    for lane in script.lanes:
        lane.steps = _commands_first(lane, transcript.commands)
        _number(lane.steps)
    return script


class _Layout:
    """Finds each step's lane, and files what a player will look for.

    Attributes:
        script: What has been laid out so far.
    """

    def __init__(self, transcript: Transcript) -> None:
        self.script = Script(
            conn=transcript.conn or 1,
            uses=transcript.uses,
            refused=transcript.refused,
            refused_answers=transcript.refused_answers,
            turned_away={
                session: asked for session, asked in transcript.turned_away.items() if any(asked)
            },
            streams=transcript.streams,
            stream_ends=transcript.streams_ended.by_step,
            last_words=transcript.streams_ended.last_words,
            ending=transcript.ending,
        )
        self._minted = transcript.minted
        self._before: Lane | None = None  # where the step before stands
        for session, mint in transcript.minted.items():
            self.script.mints[mint.answer] = (*self.script.mints.get(mint.answer, ()), session)

    def add(self, step: Step) -> None:
        """Put a step in its lane."""
        lane = self._lane_of(step)
        for part in step.messages:
            part.lane = lane
            if _waits_elsewhere(part, lane):
                assert part.refers is not None
                self.script.ties.setdefault(part.refers, []).append(lane)
        step.lane = lane
        lane.steps.append(step)
        self._before = lane
        if step.side is Side.CLIENT:
            self._file(step)
        self.script.size += not step.optional

    def _file(self, step: Step) -> None:
        if step.kind is not StepKind.ANSWER:
            self.script.methods.add(step.method)
        if step.optional:
            self.script.spare[spare_key(step.kind, step.method, step.id)] += 1
        elif step.session is None and step.kind is not StepKind.ANSWER:
            self.script.calls.setdefault((step.kind, step.method), []).append(step)

    def _lane_of(self, step: Step) -> Lane:
        for part in step.messages:
            if part.kind is not StepKind.ANSWER and part.session is not None:
                return self._lane_of_session(part.session, part.side)
            if part.refers is not None and part.refers.lane is not None:
                return part.refers.lane
        if step.side is Side.CLIENT and not step.optional:
            return self._new(step.method)
        return self._behind()

    def _lane_of_session(self, session: str, side: Side) -> Lane:
        mint = self._minted.get(session)
        if mint is not None and mint.answer.lane is None:
            return mint.request.lane or self._behind()
        lane = self.script.sessions.get(session)
        if lane is None:
            lane = self.script.sessions[session] = self._first_of_session(session, side)
        return lane

    def _first_of_session(self, session: str, side: Side) -> Lane:
        if session in self._minted:
            return self._new(session, minted=True)
        if side is Side.AGENT:
            return self._behind()
        self.script.chosen.append(session)
        return self._new(session)

    def _behind(self) -> Lane:
        return self._before or self._new("the start")

    def _new(self, name: str, *, minted: bool = False) -> Lane:
        lane = Lane(len(self.script.lanes), name, minted)
        self.script.lanes.append(lane)
        return lane


def _waits_elsewhere(part: Step, lane: Lane) -> bool:
    """Return whether a step of the agent waits for a request that stands in another lane."""
    request = part.refers
    return (
        part.side is Side.AGENT
        and request is not None
        and request.side is Side.CLIENT
        and request.lane is not lane
    )


def _commands_first(lane: Lane, commands: set[Step]) -> list[Step]:
    """Return the lane's steps, each announcement of commands ahead of the prompt it came after.

    Agents announce commands on a timer, so a prompt may get in between; clients may wait for the
    commands before they prompt.
    """
    if not commands:
        return lane.steps
    steps: list[Step] = []
    for step in lane.steps:
        place = len(steps)
        if step in commands:
            place = _before_prompts(steps, step.session, minted=lane.minted)
        steps.insert(place, step)
    return steps


def _before_prompts(steps: list[Step], session: str | None, *, minted: bool) -> int:
    """Return the place ahead of the session's prompts that `steps` ends with.

    It is the end of `steps` where an agent's step ahead of them would part a window, or be the
    very first of a lane that is open from the start.
    """
    place = len(steps)
    while place and _is_prompt(steps[place - 1], session):
        place -= 1
    if place:
        before = steps[place - 1]
        may_stand = before.side is Side.AGENT or before.optional
    else:
        may_stand = minted
    return place if may_stand else len(steps)


def _is_prompt(step: Step, session: str | None) -> bool:
    call = (StepKind.REQUEST, _PROMPT, session)
    return (step.kind, step.method, step.session) == call


def _number(steps: list[Step]) -> None:
    """Give each step its place, and its phase: a window and the agent's steps behind it."""
    phase, agent_spoke = 0, False
    for place, step in enumerate(steps):
        if step.side is Side.AGENT:
            agent_spoke = True
        elif agent_spoke and not step.optional:
            phase, agent_spoke = phase + 1, False
        step.place, step.phase = place, phase
