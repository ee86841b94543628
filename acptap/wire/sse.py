"""Cut an event stream into blocks, and read and write their fields (WHATWG HTML, section 9.2).

A line ends with LF, CR LF or CR, a block with an empty line. Concatenating what a splitter returned
gives back the stream, whatever the read boundaries were: a `bytes` unit is a whole block with its
empty line, comments and stray empty lines included.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from acptap.wire.jsontext import MARK
from acptap.wire.lines import PIECE_LIMIT, Unfinished, Unit, Unterminated

PLAIN = (b"data: ", b"\n\n")
"""What stands before and behind the text of a plain block: one data line and nothing else."""

_BLOCK_END = re.compile(rb"(?>\r\n?|\n)(?>\r\n?|\n)")
_LINE_END = re.compile(rb"\r\n?|\n")


class BlockSplitter:
    """An event stream, cut into blocks.

    A block that ends with CR comes out with the next byte, which may be the LF that belongs to it.

    Args:
        limit: Bytes of an unfinished block at which its pieces are handed on unfinished.
    """

    def __init__(self, limit: int = PIECE_LIMIT) -> None:
        self._block = Unfinished(limit)
        self._line_end = b""  # what has come of the line ends that may end the block

    def feed(self, data: bytes) -> list[Unit]:
        """Return the units that `data` completes: blocks with their empty line, and pieces."""
        if _is_one_block(data) and not self._line_end and not self._block.has_begun:
            return [data]
        data, self._line_end = self._line_end + data, b""
        blocks, rest = self._cut(data)
        units: list[Unit] = [*blocks]
        if self._block.has_begun and blocks:
            units[0] = self._block.finish(blocks[0])
        return units + self._keep(rest) if rest else units

    def end(self) -> list[Unit]:
        """Return what is left at the end of the stream: at most one unit."""
        rest, self._line_end = self._line_end, b""
        ends = _BLOCK_END if self._block.has_begun else _LINE_END
        if self._block.in_pieces or ends.fullmatch(rest):
            return [self._block.finish(rest)]
        raw = self._block.take() + rest
        return [Unterminated(raw)] if raw else []

    def _cut(self, data: bytes) -> tuple[list[bytes], bytes]:
        """Return the blocks that end in `data`, and the rest."""
        begun = self._block.has_begun
        if b"\r" in data or b"\n\n\n" in data or (data[:1] == b"\n" and not begun):
            return _scan(data, begun=begun)
        *texts, rest = data.split(b"\n\n")
        return [text + b"\n\n" for text in texts], rest

    def _keep(self, rest: bytes) -> list[Unit]:
        text = rest.rstrip(b"\r\n")
        self._line_end = rest[len(text) :]
        return self._block.keep(text) if text else []


def _is_one_block(data: bytes) -> bool:
    """Return whether `data` is one block with LF and nothing else, as in most reads."""
    end = data.find(b"\n\n")
    return 0 < end == len(data) - 2 and data[:1] != b"\n" and b"\r" not in data


def _scan(data: bytes, *, begun: bool) -> tuple[list[bytes], bytes]:
    """Cut where lines end in any way. `begun` tells whether `data` goes on with a block."""
    blocks: list[bytes] = []
    place = 0
    while True:
        match = None if begun else _LINE_END.match(data, place)
        match = match or _BLOCK_END.search(data, place)
        if match is None or (match.end() == len(data) and data.endswith(b"\r")):
            return blocks, data[place:]
        blocks.append(data[place : match.end()])
        place = match.end()
        begun = False


class Fields(NamedTuple):
    """What a block says.

    Attributes:
        data: Its data lines, joined with LF; None if it has none, and nobody hears of it.
        event: The type of the event; empty for the ordinary one.
        id: What the client sends as `Last-Event-ID` from now on; None if the block has no id.
        retry: Milliseconds to wait before connecting again, as digits.
    """

    data: bytes | None
    event: str
    id: str | None
    retry: str | None


def fields_of(block: bytes) -> Fields:
    """Return the fields of a block; a byte order mark in front is ignored."""
    lines: list[bytes] = []
    event, last_id, retry = "", None, None
    for name, value in _fields(block):
        match name:
            case b"data":
                lines.append(value)
            case b"event":
                event = _text(value)
            case b"id" if b"\0" not in value:
                last_id = _text(value)
            case b"retry" if value.isdigit():
                retry = _text(value)
            case _:  # a comment, or nothing that anybody reads
                pass
    return Fields(b"\n".join(lines) if lines else None, event, last_id, retry)


def payload_of(block: bytes) -> bytes | None:
    """Return the data of a block, or None if it has no data line."""
    text = plain_json(block)
    return fields_of(block).data if text is None else text


def plain_json(block: bytes) -> bytes | None:
    """Return the text of a plain block, or None if the block is not plain."""
    before, behind = PLAIN
    if not block.startswith(before) or b"\r" in block:
        return None
    end = len(block) - len(behind)
    return block[len(before) : end] if block.find(b"\n") == end and block[end:] == behind else None


def plain_texts(blocks: list[bytes]) -> list[bytes] | None:
    """Return the texts of blocks that a splitter returned, or None if one of them is not plain.

    All at once: that is several times as fast as one by one.
    """
    before, behind = PLAIN
    stream = b"".join(blocks)
    texts = stream[len(before) : -len(behind)].split(behind + before)
    is_framed = stream.startswith(before) and stream.endswith(behind) and b"\r" not in stream
    # If there are no more line ends than that, none is inside of a text.
    is_apart = len(texts) == len(blocks) and stream.count(b"\n") == len(blocks) * len(behind)
    return texts if is_framed and is_apart else None


def framed(text: bytes) -> bytes:
    """Return the plain block that holds `text`; it has more data lines if `text` has line ends."""
    before, behind = PLAIN
    return before + (b"\n" + before).join(_lines(text)) + behind


def with_data(block: bytes, new: bytes) -> bytes:
    """Return a block with other data; every other byte stays, and so does the form of its line.

    Where it has several data lines the first one takes all. Without any it is returned as it is.
    """
    parts: list[bytes] = []
    is_done = False
    for line in block.splitlines(keepends=True):
        mark = MARK if not parts and line.startswith(MARK) else b""
        text = line[len(mark) :].rstrip(b"\r\n")
        name, _, value = text.partition(b":")
        if name != b"data":
            parts.append(line)
        elif not is_done:
            is_done = True
            end = line[len(mark) + len(text) :]
            lines = (_data_line(text, is_spaced=value[:1] == b" ") for text in _lines(new))
            parts += (mark, (end or b"\n").join(lines), end)
    return b"".join(parts)


def _data_line(text: bytes, *, is_spaced: bool) -> bytes:
    space = b" " if is_spaced or text.startswith(b" ") else b""  # one space is not read
    return b"data:" + space + text


def _lines(text: bytes) -> list[bytes]:
    """Return the lines of a text, the last one too if nothing is behind its line end."""
    return _LINE_END.split(text) if b"\n" in text or b"\r" in text else [text]


def _fields(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in block.removeprefix(MARK).splitlines():
        name, _, value = line.partition(b":")
        yield name, value.removeprefix(b" ")


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
