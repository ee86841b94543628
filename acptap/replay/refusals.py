"""What was turned down in the recording, and is to be turned down again.

Over HTTP a server may refuse a message or an event stream, and the agent never hears of it. On
another transport there is no status to be shown.
"""

from collections import Counter
from collections.abc import Callable

from acptap.replay.framing import Framing
from acptap.replay.release import Release, undelivered
from acptap.replay.script import Refused, Script, Step


class Refusals:
    """Knows what has been turned down, and what is next.

    Args:
        script: What is played.
        framing: What delimits messages where it is played.

    Attributes:
        last: How the last message was turned down; None if it was not, or can't be.
    """

    def __init__(self, script: Script, framing: Framing) -> None:
        self.last: Refused | None = None
        self._script = script
        self._framing = framing
        self._answers: Counter[Step] = Counter()
        self._streams: Counter[str | None] = Counter()

    def call(self, step: Step, id_: bytes | None = None) -> list[Release]:
        """Turn a call down, one that was; return what is to be said.

        Args:
            step: The recorded call.
            id_: The JSON text of the live id, if it is a request.
        """
        refused = self._script.refused[step]
        if self._framing is Framing.BLOCK:
            self.last = refused
            return []
        return [] if id_ is None else [undelivered(step.home, id_, refused, self._framing)]

    def answer(self, request: Step) -> bool:
        """Turn down an answer to a request of the agent, if the next one was; return whether."""
        answers = self._script.refused_answers.get(request, [])
        place = self._answers[request]
        if self._framing is not Framing.BLOCK or place == len(answers):
            return False
        self._answers[request] += 1
        self.last = answers[place]
        return True

    def stream(self, session: str | None, bound: Callable[[str], str | None]) -> Refused | None:
        """Return how a client that asks for an event stream is to be turned away.

        Args:
            session: The session whose stream it is; None for the connection's own.
            bound: Returns the recorded session that a live one is known to stand for, or None.
        """
        asked = self._script.turned_away
        if session is not None and session not in asked:  # it may have brought another one along
            session = bound(session) or next((one for one in asked if one is not None), None)
        if session not in asked:
            return None
        answers = asked[session]
        place = min(self._streams[session], len(answers) - 1)
        self._streams[session] += 1
        return answers[place]
