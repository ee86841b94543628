"""Join tapes of one connection each to one cassette."""

import re
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from pathlib import Path

from acptap.cassette import encode_at
from acptap.storage import Recording, Tape

_HEAD = re.compile(rb'\{"at":(\d+)\.(\d{6}),"from":"(client|agent)"')
_MICROSECOND = timedelta(microseconds=1)


def join(tapes: Sequence[Path], cassette: Path) -> None:
    """Write a cassette that holds the connections of several tapes, by their time.

    Args:
        tapes: The files, as `acptap proxy` wrote them, in the order they were begun.
        cassette: Where to write. What is there is replaced.
    """
    if len(tapes) == 1:
        shutil.copy(tapes[0], cassette)
        return
    with Recording(tapes[0]) as first:
        header = first.header
    start = datetime.fromisoformat(header.recorded_at)
    lines = [line for number, tape in enumerate(tapes, 1) for line in _lines(tape, number, start)]
    joined = Tape.create(cassette, overwrite=True)
    joined.write(header.encode() + b"".join(line for _, line in sorted(lines, key=itemgetter(0))))
    joined.close()


def _lines(tape: Path, number: int, start: datetime) -> Iterator[tuple[int, bytes]]:
    """Yield the entries of a tape as those of a connection, each with its time in microseconds."""
    with Recording(tape) as recording:
        shift = (datetime.fromisoformat(recording.header.recorded_at) - start) // _MICROSECOND
        for _, _, line in recording.lines():
            head = _HEAD.match(line)
            assert head is not None, "it is not as the proxy writes it"
            at = int(head[1] + head[2]) + shift
            conn = b',"conn":%d' % number if number > 1 else b""
            front = b'{"at":%b,"from":"%b"%b' % (encode_at(at), head[3], conn)
            yield at, front + line[head.end() :] + b"\n"
