"""Say why a live call has no part in the cassette, so that its author sees what to do."""

from acptap.replay.casting import Casting, Part
from acptap.replay.difference import ABSENT, Difference
from acptap.replay.live import Call
from acptap.replay.report import Miss, describe
from acptap.replay.script import Script, Step, StepKind


def explain(
    script: Script, casting: Casting, call: Call, *, number: int, refused: Part | None
) -> Miss:
    """Return why a call matched nothing.

    Args:
        script: What is played.
        casting: What is still to be had.
        call: The live call.
        number: How many of its method the client has sent in its session, this one included.
        refused: The awaited step that the call differs from too much, if there is one.
    """
    if refused is not None:
        assert refused.difference is not None
        why = refused.difference.why
        what = f": {why}" if why else f" number {number} is not as recorded"
        return about(call.method + what, refused.step, refused.difference)
    recorded = casting.steps_like(call)
    awaited = min(casting.next_steps(call), key=lambda step: step.number, default=None)
    if not recorded:
        what, nearest = _unknown(script, casting, call), awaited or _named_by(script, call)
    elif number > len(recorded):
        what = f"{call.method} number {number}: the cassette holds {len(recorded)}"
        nearest = recorded[-1]
    else:
        what = f"{call.method} number {number} comes out of turn"
        nearest = awaited or recorded[number - 1]
        if awaited is not None:
            what += f": the cassette awaits {describe(awaited)} first"
    return Miss(what) if nearest is None else about(what, nearest, _between(casting, nearest, call))


def about(what: str, step: Step, difference: Difference | None = None) -> Miss:
    """Return a miss that has to do with a recorded step."""
    short = None if difference is None else difference.shortened()
    return Miss(what, describe(step), step.number, short)


def _unknown(script: Script, casting: Casting, call: Call) -> str:
    if call.session is not None and casting.recorded_session(call.session) is None:
        if _named_by(script, call) is not None:
            return f"{call.method[:100]} is not in the cassette: it holds nothing of this session"
        return f"{call.method} for session {call.session[:100]}: the cassette has no such session"
    if call.method in script.methods:
        return f"{call.method} is not in the cassette at this place"
    return f"{call.method[:100]} is not in the cassette"


def _named_by(script: Script, call: Call) -> Step | None:
    """Return the answer that named a call's session, which may be all that is said of it."""
    return next((step for step, ids in script.mints.items() if call.session in ids), None)


def _between(casting: Casting, step: Step, call: Call) -> Difference | None:
    if step.kind is StepKind.ANSWER:
        return Difference("/method", ABSENT, call.method)
    if step.method != call.method:
        return Difference("/method", step.method, call.method)
    return casting.compare(step, call).difference
