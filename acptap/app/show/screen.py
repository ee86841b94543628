"""Where a timeline is written: a terminal with colours, a pipe or a file."""

import io
import os
import select
import shutil
from typing import TextIO

from rich.console import COLOR_SYSTEMS, Console
from rich.style import Style

from acptap.app.show import following
from acptap.app.show.layout import Pieces
from acptap.errors import UsageError

_STYLES = {
    "speech": "none", "quiet": "dim", "time": "dim", "prompt": "bold",
    "thought": "italic dim", "tool": "cyan", "ask": "yellow", "call": "blue",
    "event": "dim", "stderr": "dim", "noise": "magenta", "error": "red",
    "client": "dim", "agent": "dim",
    "idle": "dim", "running": "green", "requires_action": "bold yellow",
    "unknown": "magenta", "other": "magenta", "none": "dim", "closed": "dim",
    "violation": "bold red", "warning": "yellow", "note": "blue",
    "hue0": "bright_cyan", "hue1": "cyan", "hue2": "magenta", "hue3": "blue",
    "hue4": "bright_green", "hue5": "bright_magenta",
}  # fmt: skip


def silence(out: TextIO) -> None:
    """Keep the interpreter from failing once more when it flushes at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, out.fileno())
    os.close(null)


class Screen:
    """Writes pieces of text: with colours to a terminal that has them, else plainly.

    Args:
        out: Where to.

    Attributes:
        coloured: Whether it has colours.
    """

    def __init__(self, out: TextIO | None) -> None:
        """Take over a text stream.

        Raises:
            UsageError: It is None, as Python has it for one that was closed before it started.
        """
        if out is None:
            raise UsageError("standard output is closed", fix="let it go to a terminal or a file")
        if isinstance(out, io.TextIOWrapper):
            out.reconfigure(errors="backslashreplace", line_buffering=False)
        self._console = Console(file=out)
        self._out = out
        self._system = COLOR_SYSTEMS.get(self._console.color_system or "")
        self.coloured = (
            self._console.is_terminal
            and not self._console.is_dumb_terminal
            and not self._console.no_color
            and self._console.encoding.startswith("utf")
            and self._system is not None
        )
        self._styles = {name: Style.parse(style) for name, style in _STYLES.items()}

    @property
    def width(self) -> int | None:
        """The terminal's columns now; None for a pipe or a file."""
        return shutil.get_terminal_size().columns if self._out.isatty() else None

    def write(self, pieces: Pieces) -> None:
        """Write a line."""
        if self.coloured:
            parts = [self._styles[style].render(text, color_system=self._system)
                     for text, style in pieces]  # fmt: skip
        else:
            parts = [text for text, _ in pieces]
        self._out.write("".join(parts).rstrip() + "\n")

    def flush(self) -> None:
        """Let the reader see what was written."""
        self._out.flush()

    def rest(self) -> None:
        """Wait for more to write, and fail if nobody reads it any more.

        Raises:
            BrokenPipeError: The reader of the pipe is gone.
        """
        following.pause()
        poll = select.poll()
        poll.register(self._out.fileno(), 0)
        if any(event & select.POLLERR for _, event in poll.poll(0)):
            raise BrokenPipeError
