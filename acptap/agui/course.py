"""One run of a stream, which may have several: what is open in it, and how far it is."""

from acptap.agui.chunks import Chunks
from acptap.agui.thinking import Thinking
from acptap.agui.verify import Verifier
from acptap.agui.view.document import Document


class Course:
    """One run of a stream, which may have several.

    Attributes:
        ended: The type of the event that ended it; empty while none did.
        is_done: Whether its end was told.
    """

    def __init__(self, document: Document) -> None:
        self.chunks = Chunks()
        self.verifier = Verifier()
        self.thinking = Thinking(document)
        self.names: tuple[str | None, str | None] = (None, None)  # thread and run, as it has them
        self.ended = ""
        self.is_done = False
