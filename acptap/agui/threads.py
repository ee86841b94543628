"""All AG-UI threads of one recording. Nothing here raises, whatever was said."""

from acptap.agui.inputs import RunInput
from acptap.agui.run import Run
from acptap.agui.values import ThreadView
from acptap.agui.view.document import Document

_REMEMBERED = 1000
"""Threads that are remembered where nothing is kept."""


class Threads:
    """The threads of one recording.

    Args:
        keep: Whether to keep what is said. Without, memory stays small however much is said, and
            of very many threads the oldest are forgotten.
    """

    def __init__(self, *, keep: bool = False) -> None:
        self._keep = keep
        self._documents: dict[str, Document] = {}

    def begin(self, run_input: RunInput, *, line: int = 0) -> Run:
        """Take in a request, and return its run.

        Args:
            run_input: The request.
            line: The number of its line in the cassette.
        """
        id_ = run_input.thread
        document = self._documents.get(id_)
        if document is None:
            document = self._documents[id_] = Document(id_, line, keep=self._keep)
        elif not self._keep:  # those that are in use are the last to be forgotten
            self._documents[id_] = self._documents.pop(id_)
        if not self._keep and len(self._documents) > _REMEMBERED:
            del self._documents[next(iter(self._documents))]
        document.forget()
        return Run(document, run_input, line, document.seed(run_input, line))

    def fold(self) -> list[ThreadView]:
        """Return what a client shows of each thread, in order of appearance.

        The values are live: taking in more changes them.
        """
        return [document.fold() for document in self._documents.values()]
