"""A real agent behind a proxy that records it for a test, on stdio or on a port."""

import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from acptap.errors import CommandError

_URL = re.compile(r"(?:https?|wss?)://", re.IGNORECASE)
_READY = re.compile(rb"acptap: listening on (\S+)\n")
_GRACE = 10.0


class Upstream:
    """A real agent: a command, or what is behind a URL.

    Args:
        words: The command, or the URL alone.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.name = words[0]
        is_url = _URL.match(self.name) is not None
        self._agent = ["--upstream", self.name] if is_url else ["--", *words]
        self._as_a_command = ["--stdio"] if is_url else []

    def command(self, cassette: Path) -> list[str]:
        """Return what a client starts as the agent, to have it recorded."""
        return [*_proxy(cassette), "--quiet", *self._as_a_command, *self._agent]

    def serve(self, cassette: Path) -> "RecordingServer":
        """Put a recording proxy on a port in front of it."""
        return RecordingServer([*_proxy(cassette), "--listen", "0", *self._agent], self.name)


class RecordingServer:
    """A recording proxy on a port, in a process of its own.

    Args:
        command: What to start.
        name: The agent's name, for errors.

    Raises:
        CommandError: It did not start.

    Attributes:
        url: Where clients connect over HTTP.
        ws_url: Where they connect over WebSocket.
    """

    def __init__(self, command: Sequence[str], name: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603 our own command
            command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert self._process.stderr is not None
        said = self._process.stderr.readline()
        ready = _READY.fullmatch(said)
        if ready is None:
            self.close()
            why = said.decode(errors="replace").strip().removeprefix("acptap: ")
            raise CommandError(
                f"it can't be recorded ({why})", where=name, fix="name an agent that is there",
                exit_code=126,
            )  # fmt: skip
        self.url = ready[1].decode()
        self.ws_url = "ws" + self.url.removeprefix("http")

    def close(self) -> None:
        """End it, and with it the recording."""
        process = self._process
        assert process.stderr is not None
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _proxy(cassette: Path) -> list[str]:
    return [sys.executable, "-P", "-m", "acptap", "proxy", "--cassette", str(cassette)]
