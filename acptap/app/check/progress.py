"""A bar for what takes more than a moment; only people see it."""

import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_LONG = 20 * 1024 * 1024
_STEPS = 200


class Progress:
    """How far a file is read, on standard error if that is a terminal and the file is long.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        size = path.stat().st_size
        self._bar: Any = None
        self._step = self._next = max(1, size // _STEPS)
        if size > _LONG and sys.stderr.isatty():
            self._bar = _bar(path.name, size)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def reach(self, offset: int) -> None:
        """Take in how far it is read, in bytes."""
        if self._bar is not None and offset >= self._next:
            self._next = offset + self._step
            self._bar.update(0, completed=offset)


def _bar(name: str, size: int) -> Any:
    from rich import progress  # noqa: PLC0415 most cassettes are short
    from rich.console import Console  # noqa: PLC0415

    bar = progress.Progress(
        progress.TextColumn("{task.description}"), progress.BarColumn(),
        progress.TaskProgressColumn(), progress.TimeRemainingColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    bar.add_task(name.translate(_PLAIN), total=size)
    return bar


_PLAIN = {ord("["): "(", ord("]"): ")"}
"""Brackets are markup to rich."""
