"""`acptap demo`: the public commands, each in a process of its own, on a built-in conversation."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from acptap.errors import AcptapError, UsageError

Echo = Callable[[str], object]

_ACPTAP = (sys.executable, "-m", "acptap")
_AGENT = (sys.executable, "-m", "acptap.demo.agent")
_CLIENT = (sys.executable, "-m", "acptap.demo.client")
_PATIENCE = 60.0


class StepFailed(AcptapError):
    """One of the commands did not do what it should."""

    exit_code = 1


def demonstrate(keep: Path | None, echo: Echo) -> int:
    """Record, replay, compare and show; return 0 if both conversations were the same.

    Args:
        keep: Where to leave the cassette, or None to throw it away.
        echo: Prints a line.

    Raises:
        UsageError: The cassette can't be left there.
        StepFailed: A step failed.
    """
    if keep is not None:
        _try(keep)
    with tempfile.TemporaryDirectory(prefix="acptap-demo-") as folder:
        cassette = Path(folder, "demo.jsonl")
        echo("1. A client talks to an agent through acptap, which records:")
        echo("     acptap proxy -w demo.jsonl -- AGENT")
        recorded = record(cassette)
        echo(f"   The client heard {len(recorded.splitlines())} messages.")
        echo("2. The same client talks to the cassette; there is no agent any more:")
        echo("     acptap replay demo.jsonl")
        replayed = replay(cassette)
        same = replayed == recorded
        echo(f"   It heard {'the same, byte for byte' if same else 'something else'}.")
        echo("3. What was said, and what it meant:")
        echo("     acptap show demo.jsonl\n")
        _show(cassette)
        if keep is not None:
            _leave(cassette, keep)
            echo(f"The cassette is {keep}.")
    return 0 if same else 1


def record(cassette: Path) -> bytes:
    """Record the conversation; return what the client heard."""
    proxy = (*_ACPTAP, "proxy", "--quiet", "--cassette", str(cassette), "--", *_AGENT)
    return _run((*_CLIENT, *proxy), "proxy")


def replay(cassette: Path) -> bytes:
    """Replay the conversation, strictly; return what the client heard."""
    fake = (*_ACPTAP, "replay", "--quiet", "--match", "exact", str(cassette))
    return _run((*_CLIENT, *fake), "replay")


def _run(command: Sequence[str], step: str) -> bytes:
    done = subprocess.run(  # noqa: S603 our own commands
        command, capture_output=True, timeout=_PATIENCE, check=False
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip() or "it said nothing"
        raise StepFailed(f"exit code {done.returncode}", where=f"acptap {step}", fix=said)
    return done.stdout


def _show(cassette: Path) -> None:
    """Show the timeline on our own standard output, in colour if that is a terminal."""
    sys.stdout.flush()
    shown = subprocess.run([*_ACPTAP, "show", str(cassette)], timeout=_PATIENCE, check=False)  # noqa: S603 our own command
    if shown.returncode != 0:
        raise StepFailed(f"exit code {shown.returncode}", where="acptap show", fix="see above")


def _try(keep: Path) -> None:
    """Refuse a place where the cassette can't be left, and leave it as it is."""
    with _leaving(keep):
        place = keep.resolve()
        is_new = not place.exists()
        place.open("ab").close()
        if is_new:
            place.unlink()


def _leave(cassette: Path, keep: Path) -> None:
    with _leaving(keep):
        keep.write_bytes(cassette.read_bytes())


@contextmanager
def _leaving(keep: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"the cassette can't be left there ({error.strerror})",
            where=str(keep),
            fix="name another file with --keep",
        ) from error
