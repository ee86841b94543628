"""Spell what the recorded agent said as the live client is to read it."""

from collections.abc import Callable, Mapping

from acptap.replay.framing import TRANSPORTS, Framing, frame, is_whole, text_of, with_text
from acptap.replay.live import plain_id
from acptap.replay.renaming import Renaming
from acptap.replay.script import Step, StepKind, is_noise
from acptap.wire.spans import Path

Unit = Callable[[Step], bytes]
"""Returns the recorded unit a step stands in, whole."""


class Voice:
    """Speaks with the live names that were known at one moment.

    Args:
        unit: Fetches units.
        renaming: The live names. They decide what is sent, however late it is fetched.
        ids: JSON text of live request ids, by the recorded request; may grow.
        framing: How units are delimited where it speaks.
    """

    __slots__ = ("_framing", "_ids", "_unit", "renaming")

    def __init__(
        self, unit: Unit, renaming: Renaming, ids: Mapping[Step, bytes], framing: Framing
    ) -> None:
        self.renaming = renaming
        self._unit = unit
        self._ids = ids
        self._framing = framing

    def can_spell(self, step: Step) -> bool:
        """Return whether what is no message can be said: only where it was recorded."""
        if TRANSPORTS[step.framing] != TRANSPORTS[self._framing]:
            return False
        return self._framing is not Framing.BLOCK or is_whole(self._unit(step))

    def spell(self, step: Step) -> bytes:
        """Return the bytes of a step, what delimits them included.

        A message that was recorded on another transport is framed as this one does.
        """
        unit = self._unit(step)
        ids: dict[Path, bytes] = {}
        if step.kind is StepKind.NOTIFICATION and step.refers is None:
            pass  # nearly all of them
        elif is_noise(step):
            return unit
        else:
            ids = self._live_ids(step)
        if step.framing is self._framing is Framing.LINE:  # the line end is no part of any value
            return self.renaming.rename(unit, ids)
        recorded = text_of(unit, step.framing)
        text = self.renaming.rename(recorded, ids)
        if step.framing is not self._framing or not self._is_whole(unit):
            return frame(text, self._framing)
        return unit if text == recorded else with_text(unit, step.framing, recorded, text)

    def _is_whole(self, unit: bytes) -> bool:
        return self._framing is not Framing.BLOCK or is_whole(unit)

    def _live_ids(self, step: Step) -> dict[Path, bytes]:
        """Return the live request ids that a step must spell, and where."""
        spelled: dict[Path, bytes] = {}
        for part in step.messages:
            member = () if part.member < 0 else (part.member,)
            own = self._ids.get(part) if part.kind is StepKind.REQUEST else None
            if own is not None:
                spelled[*member, "id"] = own
            live = None if part.refers is None else self._ids.get(part.refers)
            if part.refers is None or live is None or live == plain_id(part.refers.id):
                continue
            place = ("id",) if part.kind is StepKind.ANSWER else ("params", "requestId")
            spelled[*member, *place] = live
        return spelled
