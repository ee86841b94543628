"""The outline of a JSON text that is too long to be kept: all of it but its long strings.

A message of many megabytes is nearly always small, with one huge string in it (an image, a file).
Read with that string left empty it still says what it is: its method, its id, its session.
"""

import re

LONGEST_STRING = 4 * 1024
"""Bytes of a string that are kept; a longer one is left empty."""

LONGEST_OUTLINE = 1024 * 1024
"""Bytes of an outline at which it is given up."""

_INSIDE = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


class Outline:
    """Takes a JSON text in parts of any size, in constant memory."""

    def __init__(self) -> None:
        self._kept: list[bytes] | None = []
        self._size = 0
        self._string: int | None = None  # where the open string starts in `_kept`
        self._string_size = 0
        self._backslash = b""  # an escape that a part's end has cut

    def feed(self, data: bytes) -> None:
        """Take the next part."""
        data = self._backslash + data
        self._backslash = b""
        place = 0
        while place < len(data) and self._kept is not None:
            place = (
                self._outside(data, place) if self._string is None else self._inside(data, place)
            )
            if self._size > LONGEST_OUTLINE:
                self._kept = None

    def text(self) -> bytes | None:
        """Return the outline, or None if it became too long itself."""
        return None if self._kept is None else b"".join(self._kept)

    def _outside(self, data: bytes, place: int) -> int:
        quote = data.find(b'"', place)
        end = quote + 1 if quote >= 0 else len(data)
        self._keep(data[place:end])
        if quote >= 0:
            assert self._kept is not None
            self._string, self._string_size = len(self._kept), 0
        return end

    def _inside(self, data: bytes, place: int) -> int:
        inside = _INSIDE.match(data, place)
        assert inside is not None  # it matches nothing at all, too
        end = inside.end()
        self._string_size += end - place
        if self._string_size <= LONGEST_STRING:
            self._keep(data[place:end])
        else:
            self._empty_string()
        if data[end : end + 1] == b'"':
            self._keep(b'"')
            self._string = None
            return end + 1
        self._backslash = data[end:]  # nothing, or the backslash that the part ends with
        return len(data)

    def _keep(self, part: bytes) -> None:
        assert self._kept is not None
        self._kept.append(part)
        self._size += len(part)

    def _empty_string(self) -> None:
        assert self._kept is not None
        self._size -= sum(map(len, self._kept[self._string :]))
        del self._kept[self._string :]
