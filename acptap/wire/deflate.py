"""The compression that two WebSocket peers agreed on, undone for reading (RFC 7692)."""

import zlib
from collections.abc import Iterable
from typing import NamedTuple

_WIDEST = 15
_WINDOWS = {str(bits): bits for bits in range(8, _WIDEST + 1)}
_FLUSH = b"\x00\x00\xff\xff"  # what a sender takes away from each message's end
_SIDES = ("client", "server")


class Deflate(NamedTuple):
    """How one direction is compressed.

    Attributes:
        takeover: Whether a message may refer back to the ones before it.
        window: The binary logarithm of the bytes it may refer back to.
    """

    takeover: bool
    window: int


def deflate_of(extensions: Iterable[bytes]) -> dict[str, Deflate] | None:
    """Return what was agreed on for `"client"` and `"server"`, or None if nothing was.

    Args:
        extensions: The values of the answer's `Sec-WebSocket-Extensions` headers.
    """
    for extension in b",".join(extensions).split(b","):
        name, *parameters = (part.strip().lower() for part in extension.split(b";"))
        if name == b"permessage-deflate":
            agreed = dict(map(_parameter, parameters))
            return {side: _of_side(side, agreed) for side in _SIDES}
    return None


def _parameter(text: bytes) -> tuple[str, str]:
    name, _, value = text.decode("latin-1").partition("=")
    return name.strip(), value.strip().strip('"')


def _of_side(side: str, agreed: dict[str, str]) -> Deflate:
    return Deflate(
        takeover=f"{side}_no_context_takeover" not in agreed,
        window=_WINDOWS.get(agreed.get(f"{side}_max_window_bits", ""), _WIDEST),
    )


class MessageInflater:
    """Inflates the messages of one direction.

    It always has the widest window. That reads what was compressed with a narrower one, and what
    senders compress whose library can't do with the narrowest (8, and they take 9).
    """

    def __init__(self, *, takeover: bool) -> None:
        self._takeover = takeover
        self._stream = zlib.decompressobj(-_WIDEST)
        self._was_final = False

    def inflate(self, part: bytes, *, is_last: bool) -> bytes:
        """Return what a part of a message holds.

        Raises:
            ValueError: The part is damaged.
        """
        content = self._decompress(part + _FLUSH if is_last else part)
        while self._stream.eof:  # a sender that can't flush ends its stream with each message
            part = self._stream.unused_data
            self._restart(was_final=True)
            content += self._decompress(part)
        if is_last and (self._was_final or not self._takeover):
            self._restart(was_final=False)
        return content

    def _decompress(self, part: bytes) -> bytes:
        try:
            return self._stream.decompress(part)
        except zlib.error as error:
            raise ValueError(f"a compressed message can't be read ({error})") from None

    def _restart(self, *, was_final: bool) -> None:
        self._stream = zlib.decompressobj(-_WIDEST)
        self._was_final = was_final
