"""What the agent has asked the client and waits for, under the ids that the client knows."""

from collections.abc import Iterator
from itertools import count

from acptap.jsonrpc import RequestId, Side
from acptap.replay.script import Script, Step, StepKind


class Questions:
    """The agent's open requests.

    Agents number their requests anew in every turn or session. Two requests with one id that were
    never open together in the recording may well be in replay, and a client could not tell them
    apart: the second one goes out under a fresh id then.

    Args:
        script: What is played.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._open: dict[RequestId, list[Step]] = {}
        self._answered: dict[RequestId, Step] = {}  # the latest of an id
        self._taken: set[RequestId] = set()  # ids that are no fresh ones; made when one is needed

    def ask(self, request: Step) -> RequestId:
        """Take in that a request goes out; return the id that it goes out with."""
        id_ = request.id
        if any(not _were_together(other, request) for other in self._open.get(id_, ())):
            id_ = self._fresh(id_)
        self._open.setdefault(id_, []).append(request)
        return id_

    def find(self, id_: RequestId) -> Step | None:
        """Return the request that an answer with an id is for: the oldest, if there are several."""
        requests = self._open.get(id_)
        return requests[0] if requests else None

    def settle(self, id_: RequestId) -> None:
        """Take in the answer to the request that `find` returns."""
        requests = self._open[id_]
        self._answered[id_] = requests.pop(0)
        if not requests:
            del self._open[id_]

    def answered(self, id_: RequestId) -> Step | None:
        """Return the request with an id that was answered last."""
        return self._answered.get(id_)

    def _fresh(self, id_: RequestId) -> RequestId:
        if not self._taken:
            self._taken.update(_ids(self._script))
        names = (f"{id_}-{n}" for n in count(2)) if isinstance(id_, str) else count(1)
        fresh = next(name for name in names if name not in self._taken)
        self._taken.add(fresh)
        return fresh


def _were_together(one: Step, other: Step) -> bool:
    """Return whether two requests of the agent were open at one time when they were recorded."""
    first, second = sorted((one, other), key=lambda step: step.number)
    return first.answer is None or first.answer.number > second.number


def _ids(script: Script) -> Iterator[RequestId]:
    """Yield the ids of all requests of the agent."""
    for lane in script.lanes:
        for step in lane.steps:
            if step.side is Side.AGENT:
                yield from (part.id for part in step.messages if part.kind is StepKind.REQUEST)
