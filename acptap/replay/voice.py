"""Spell what the recorded agent said as the live client is to read it."""

from collections.abc import Callable, Mapping

from acptap.replay.live import plain_id
from acptap.replay.renaming import Renaming
from acptap.replay.script import Step, StepKind
from acptap.wire.spans import Path

Unit = Callable[[Step], bytes]
"""Returns the recorded unit a step stands in, whole."""


class Voice:
    """Speaks with the live names that were known at one moment.

    Args:
        unit: Fetches units.
        renaming: The live names. They decide what is sent, however late it is fetched.
        ids: JSON text of live request ids, by the recorded request they matched; may grow.
    """

    __slots__ = ("_ids", "_unit", "renaming")

    def __init__(self, unit: Unit, renaming: Renaming, ids: Mapping[Step, bytes]) -> None:
        self.renaming = renaming
        self._unit = unit
        self._ids = ids

    def spell(self, step: Step) -> bytes:
        """Return the bytes of a step, delimiter included."""
        unit = self._unit(step)
        if step.kind is StepKind.NOISE and not step.parts:
            return unit
        ids = self._live_ids(step) if step.refers is not None or step.parts else {}
        return self.renaming.rename(unit, ids)

    def _live_ids(self, step: Step) -> dict[Path, bytes]:
        """Return the live request ids that a step must spell, and where."""
        spelled: dict[Path, bytes] = {}
        for part in step.messages:
            live = None if part.refers is None else self._ids.get(part.refers)
            if part.refers is None or live is None or live == plain_id(part.refers.id):
                continue
            member = () if part.member < 0 else (part.member,)
            place = ("id",) if part.kind is StepKind.ANSWER else ("params", "requestId")
            spelled[*member, *place] = live
        return spelled
