"""Tapes made of conversations: the tap sees the lines, in reads of any size."""

from itertools import count

from acptap.cassette import Entry, decode_entry
from acptap.jsonrpc import Side
from acptap.redact import Redactor
from acptap.tap import Tap
from tests.fuzz.author import Line
from tests.fuzz.chance import Chance


def whole(lines: list[Line]) -> list[Line]:
    """Return each line as one read."""
    return lines


def chopped(lines: list[Line], chance: Chance) -> list[Line]:
    """Return the lines as reads that begin and end anywhere; nobody's bytes change order."""
    reads: list[Line] = []
    held = dict.fromkeys(Side, b"")
    for side, raw in lines:
        data = held[side] + raw
        cut = chance.choice([len(data), chance.randrange(len(data) + 1)])
        held[side] = data[cut:]
        reads += [Line(side, data[:cut])] if cut else []
    return reads + [Line(side, data) for side, data in held.items() if data]


def record(reads: list[Line], redactor: Redactor | None = None) -> list[bytes]:
    """Return the lines that a tap writes of some reads, to the end of the connection."""
    tap, clock = Tap(redactor), count(1)
    written = [tap.observe(side, data, next(clock)) for side, data in reads]
    written.append(tap.end(Side.CLIENT, next(clock)))
    written.append(tap.end(Side.AGENT, next(clock)))
    written.append(tap.exit(next(clock), code=0))
    return b"".join(written).splitlines(keepends=True)


def entries_of(written: list[bytes]) -> list[Entry]:
    """Return the entries that lines of a tape are, as they come out of a file."""
    offset = 0
    entries = []
    for number, line in enumerate(written, 2):
        assert line.endswith(b"}\n")
        entries.append(decode_entry(line[:-1], number, offset, "generated"))
        offset += len(line)
    return entries


def heard(lines: list[Line], side: Side) -> bytes:
    """Return everything that one side said."""
    return b"".join(raw for speaker, raw in lines if speaker is side)
