"""What things are called that messages name by an id only."""

from collections import OrderedDict
from collections.abc import Hashable

_KEPT = 1000


class Titles:
    """The titles that were told last; of very many the oldest are forgotten."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, str] = OrderedDict()

    def put(self, key: Hashable, title: str) -> None:
        """Take in what something is called."""
        self._known[key] = title
        self._known.move_to_end(key)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)

    def find(self, key: Hashable, default: str) -> str:
        """Return what something is called."""
        return self._known.get(key, default)
