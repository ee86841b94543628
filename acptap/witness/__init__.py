"""What traffic means, whether it passes now or is read back from a tape."""

from acptap.witness.messages import Batch, Seen, Witness, noise, with_end

__all__ = ["Batch", "Seen", "Witness", "noise", "with_end"]
