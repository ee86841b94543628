"""Play a recorded connection to a live client, as the agent.

The player is told what the client sends and returns what is to be sent to it. It knows neither time
nor transport: the edge writes what was released, waits as long as it likes, and gives up a lane
that waits for something the client does not send. Whatever comes in, every live request is
answered, or listed by `waiting`.
"""

from collections import Counter
from collections.abc import Iterable
from typing import assert_never

from acptap.acp.methods import is_optional_notification
from acptap.jsonrpc import Malformed, Notification, Request, Response, Side
from acptap.replay import misses
from acptap.replay.casting import Casting, Part, Read
from acptap.replay.framing import TRANSPORTS, Framing
from acptap.replay.live import Call, messages, plain_id, spelled_id
from acptap.replay.matching import Matcher
from acptap.replay.progress import Progress
from acptap.replay.questions import Questions
from acptap.replay.refusals import Refusals
from acptap.replay.release import Release, Waiting, refusal
from acptap.replay.report import Differing, Miss, Report, describe
from acptap.replay.script import Lane, Refused, Script, Step, StepKind, is_noise
from acptap.wire import jsontext


class Player:
    """Plays one recorded connection once, to one live client.

    Args:
        script: The recorded connection. It is not changed.
        read: Returns the bytes of a step's unit as they were on the wire, delimiter included.
        matcher: Compares messages; by default at the level `method`.
        framing: What delimits messages where it is played, whatever did in the recording.

    Attributes:
        script: The recorded connection.
        moved: The lanes in which the last unit that was received matched a step, with the time at
            which that step was recorded: delays count from there.
    """

    def __init__(
        self,
        script: Script,
        *,
        read: Read,
        matcher: Matcher | None = None,
        framing: Framing = Framing.LINE,
    ) -> None:
        self.script = script
        self.moved: dict[Lane, float] = {}
        self._matcher = matcher or Matcher()
        self._casting = Casting(script, read, self._matcher)
        self._framing = framing
        self._ids: dict[Step, bytes] = {}  # JSON text of the live ids, by recorded request
        self._voice = self._casting.voice(self._ids, framing)
        self._open: dict[Progress, None] = {}  # lanes with unanswered live requests
        self._refusals = Refusals(script, framing)
        self._asked = Questions(script)
        self._counts: Counter[tuple[str | None, str]] = Counter()
        self._noted: Counter[str] = Counter()
        self._said = Report(script.conn)
        self._left = script.size

    @property
    def refused(self) -> Refused | None:
        """How the last unit that was received was turned down, and is to be again, over HTTP.

        Nothing follows from such a unit. None if it was not turned down.
        """
        return self._refusals.last

    @property
    def finished(self) -> bool:
        """Whether everything has been matched and played."""
        return self._left == 0

    def start(self) -> list[Release]:
        """Return what the agent said before the client said anything."""
        return self._go_on(lane for lane in self.script.lanes if lane.steps[0].side is Side.AGENT)

    def receive(self, text: bytes) -> list[Release]:
        """Take in one unit of the live client, and return what is to be sent now, in order.

        Args:
            text: The unit, with or without its line end: a message, a batch, or anything else.
        """
        self.moved.clear()
        self._refusals.last = None
        releases: list[Release] = []
        for message, own_text in messages(jsontext.bare(text)):
            match message:
                case Request():
                    releases += self._request(message, own_text)
                case Notification():
                    releases += self._notification(message)
                case Response():
                    releases += self._answer(message)
                case Malformed(why=why):
                    self._spare(StepKind.NOISE, f"a line that is no message ({why})")
                case _:
                    assert_never(message)
        return releases

    def turn_away(self, session: str | None) -> Refused | None:
        """Return how a live client that asks for an event stream is to be turned away.

        Args:
            session: The session whose stream it is; None for the connection's own.
        """
        return self._refusals.stream(session, self._casting.recorded_session)

    def waiting(self) -> list[Waiting]:
        """Return the lanes in which live requests are open, and what each of them awaits."""
        return [
            Waiting(progress.lane, tuple(progress.open), tuple(progress.window()))
            for progress in self._open
        ]

    def give_up(self, lane: Lane) -> list[Release]:
        """Return errors for the live requests of a lane: what it waits for did not come."""
        progress = self._casting.progress(lane)
        if not progress.open:
            return []
        awaited = tuple(progress.window())
        requests = tuple(progress.open)
        what = f"{Waiting(lane, requests, awaited)}{', which did not come' * bool(awaited)}"
        return self._fail(progress, misses.about(what, (awaited or requests)[0]))

    def client_ended(self) -> list[Release]:
        """Take in that the client sends no more, and return errors for what waits for more."""
        releases: list[Release] = []
        for waiting in self.waiting():
            if waiting.awaited:
                releases += self.give_up(waiting.lane)
        return releases

    def report(self) -> Report:
        """Return what has become of the recording so far."""
        unplayed = {
            step.number
            for lane in self.script.lanes
            for step in self._casting.progress(lane).unplayed()
        }
        noted = [f"{what}{f', {n} times' * (n > 1)}" for what, n in self._noted.items()]
        said = self._said
        return Report(said.conn, [*said.unmatched], [*said.differing], sorted(unplayed), noted)

    # What the client says

    def _request(self, request: Request, text: bytes) -> list[Release]:
        call, id_ = Call.of(request), spelled_id(request, text)
        part = self._find(call)
        if isinstance(part, Miss):
            self._said.unmatched.append(part)
            return [refusal(None, id_, part, self._framing)]
        self._casting.take(part, call)
        if part.step in self.script.refused:
            return [*self._play(part), *self._refusals.call(part.step, id_)]
        progress = self._casting.progress(part.step.home)
        self._ids[part.step] = progress.open[part.step] = id_
        self._open[progress] = None
        return self._play(part)

    def _notification(self, notification: Notification) -> list[Release]:
        call = Call.of(notification)
        if is_optional_notification(call.method):
            self._spare(call.kind, f"{call.method} is not in the cassette", call.method)
            return []
        part = self._find(call)
        if isinstance(part, Miss):
            return self._contradict(self._lane_of(call), part)
        self._casting.take(part, call)
        if part.step in self.script.refused:
            return [*self._play(part), *self._refusals.call(part.step)]
        return self._play(part)

    def _answer(self, response: Response) -> list[Release]:
        request = self._asked.find(response.id)
        if request is None:
            return self._unasked(response)
        if self._refusals.answer(request):
            return []
        self._asked.settle(response.id)
        recorded = request.answer
        if recorded is None and request in self.script.refused_answers:
            return []
        if recorded is None:
            what = f"the cassette holds no answer to {describe(request)}"
            return self._contradict(request.home, misses.about(what, request))
        part = self._casting.compare_answer(request, recorded, response)
        if self._matcher.refuses(part.difference):
            what = f"another answer to {describe(request)} than the recorded one"
            return self._contradict(request.home, misses.about(what, recorded, part.difference))
        return self._play(part)

    def _unasked(self, response: Response) -> list[Release]:
        if response.id is None:
            self._spare(StepKind.ANSWER, "an answer without an id is not in the cassette")
            return []
        if self._casting.take_spare(StepKind.ANSWER, id_=response.id):
            return []
        request = self._asked.answered(response.id)
        if request is not None:
            what = f"a second answer to {describe(request)}"
            return self._contradict(request.home, misses.about(what, request.answer or request))
        spelled = plain_id(response.id).decode()[:100]
        return self._contradict(None, Miss(f"an answer to no request (id {spelled})"))

    def _find(self, call: Call) -> Part | Miss:
        key = call.session, call.method
        self._counts[key] += 1
        lane = self._lane_of(call)
        if lane is not None and (failure := self._casting.progress(lane).failure):
            return Miss(f"{call.method} comes after the lane failed: {failure}")
        part, refused = self._casting.find(call)
        number = self._counts[key]
        return part or misses.explain(
            self.script, self._casting, call, number=number, refused=refused
        )

    def _lane_of(self, call: Call) -> Lane | None:
        recorded = None if call.session is None else self._casting.recorded_session(call.session)
        return None if recorded is None else self.script.sessions[recorded]

    def _spare(self, kind: StepKind, what: str, method: str = "") -> None:
        """Take in a message that may come or not; one too many is worth no more than a note."""
        if not self._casting.take_spare(kind, method):
            self._noted[what] += 1

    # Failures

    def _contradict(self, lane: Lane | None, miss: Miss) -> list[Release]:
        """Take in what the recorded client did not say; what follows from it nobody knows."""
        progress = None if lane is None else self._casting.progress(lane)
        if progress is None:
            self._said.unmatched.append(miss)
            return []
        return [] if progress.failure else self._fail(progress, miss)

    def _fail(self, progress: Progress, miss: Miss) -> list[Release]:
        self._said.unmatched.append(miss)
        progress.failure = miss.what
        ids = list(progress.open.values())
        progress.open.clear()
        self._open.pop(progress, None)
        return [refusal(progress.lane, id_, miss, self._framing) for id_ in ids]

    # Playing

    def _play(self, part: Part) -> list[Release]:
        """Take in that a live message plays a part, and return what may go now."""
        step = part.step
        if part.renaming is not self._voice.renaming:
            self._casting.renaming = part.renaming
            self._voice = self._casting.voice(self._ids, self._framing)
        if part.difference is not None:
            difference = part.difference.shortened()
            self._said.differing.append(Differing(step.number, describe(step), difference))
        self.moved[step.home] = step.at
        self._left -= not step.optional
        released = self._casting.progress(step.home).match(step, self._awaited)
        tied = self.script.ties.get(step)
        return [*self._end_streams(step), *self._go_on(tied or (), released)]

    def _go_on(self, lanes: Iterable[Lane], released: Iterable[Step] = ()) -> list[Release]:
        """Return what is released, and what may go in some lanes and in those that open by it."""
        todo, steps = list(lanes), list(released)
        looked_at = 0
        while todo or looked_at < len(steps):
            for step in steps[looked_at:]:
                if step in self.script.mints:
                    todo += self._opened_by(step)
            looked_at = len(steps)
            if todo:
                steps += self._casting.progress(todo.pop()).advance(self._awaited)
        steps.sort(key=lambda step: step.number)
        return self._release_all(steps)

    def _opened_by(self, step: Step) -> list[Lane]:
        sessions = self.script.mints[step]
        lanes = [self.script.sessions[id_] for id_ in sessions if id_ in self.script.sessions]
        for lane in lanes:
            self._casting.progress(lane).is_open = True
        return lanes

    def _awaited(self, step: Step) -> Step | None:
        """Return the request of the client that a step refers to and that was not matched yet."""
        if step.refers is None and not step.parts:
            return None  # nearly all of them
        for part in step.messages:
            request = part.refers
            if request is None or request.side is Side.AGENT:
                continue
            if not self._casting.progress(request.home).has_played(request):
                return request
        return None

    def _release_all(self, steps: list[Step]) -> list[Release]:
        releases: list[Release] = []
        for step in steps:
            self._left -= 1
            last = step.pieces[-1] if step.pieces else step
            release = Release(step.home, step.at, last.ends_read, step.number, step, self._voice)
            if step.kind is not StepKind.NOTIFICATION:  # nearly all of them are
                self._follow(step)
                if is_noise(step) and not self._can_spell(step):
                    self._leave_out(step, releases, ends_read=last.ends_read)
                    continue
                release.stream = self._live_session(self.script.streams.get(step))
            releases.append(release)
            releases += self._end_streams(step)
        return releases

    def _can_spell(self, step: Step) -> bool:
        """Return whether what is no message can be said; half an event only as the last words."""
        is_last = self._framing is Framing.BLOCK and step in self.script.last_words
        return is_last or self._voice.can_spell(step)

    def _end_streams(self, step: Step) -> list[Release]:
        """Return the ends of event streams behind a step; they take hope from who waits there."""
        ends = self.script.stream_ends.get(step, []) if self._framing is Framing.BLOCK else []
        releases: list[Release] = []
        for end in ends:
            session = self._live_session(end.session)
            release = Release(step.home, end.at, ends_read=True, number=None, what=b"")
            release.stream, release.end = session, end
            releases.append(release)
            for request in end.unanswered:
                self._close(request)
        return releases

    def _live_session(self, recorded: str | None) -> str | None:
        live = self._voice.renaming.sessions.live
        return None if recorded is None else live.get(recorded, recorded)

    def _leave_out(self, step: Step, before: list[Release], *, ends_read: bool) -> None:
        self._noted[_unsaid(step, self._framing)] += 1
        if before and ends_read:
            before[-1].ends_read = True

    def _follow(self, step: Step) -> None:
        """Take in which requests a step of the agent opens and closes."""
        for part in step.messages:
            if part.kind is StepKind.REQUEST:
                id_ = self._asked.ask(part)
                if id_ != part.id:
                    self._ids[part] = plain_id(id_)
            elif part.kind is StepKind.ANSWER and part.refers is not None:
                self._close(part.refers)

    def _close(self, request: Step) -> None:
        progress = self._casting.progress(request.home)
        progress.open.pop(request, None)
        if not progress.open:
            self._open.pop(progress, None)


def _unsaid(step: Step, framing: Framing) -> str:
    there, here = TRANSPORTS[step.framing], TRANSPORTS[framing]
    what = "an event without its end" if there == here else f"no message, recorded over {there}"
    return f"left out over {here}: {what}"
