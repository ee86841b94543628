"""`acptap.fold`: what a correct client shows, of a cassette wherever it is."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from acptap.cassette import Entry
from acptap.rereading import Folded, fold_entries
from acptap.storage import Recording


def fold(
    cassette: str | PathLike[str] | Recording | Iterable[Entry], at: int | None = None
) -> Folded:
    """Return what a correct client shows at one moment of a cassette.

    It never raises because of what was said: what can't be read is left out, as a client does.

    Args:
        cassette: A path, an open recording, or entries in order.
        at: The line that was taken in last, where the header is line 1; None for the end.

    Raises:
        CassetteError: The file is no sound cassette.
    """
    if isinstance(cassette, (str, PathLike)):
        with Recording(Path(cassette)) as recording:
            return fold_entries(recording, at, recording.header)
    header = cassette.header if isinstance(cassette, Recording) else None
    return fold_entries(cassette, at, header)
