"""`acptap redact`: takes secrets out of cassettes that are there."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from acptap import storage
from acptap.app.record.revision import Revision, close
from acptap.errors import UsageError
from acptap.redact import Redactor
from acptap.storage import Recording

_NUMBER = re.compile(rb"\[redacted:(\d{1,9})\]")


@dataclass(frozen=True, slots=True)
class RedactOptions:
    """What the user asked for.

    Attributes:
        patterns: More secrets, as regular expressions.
        out: Where the redacted cassette goes, a file or a folder; None to replace it.
        check: Change nothing.
    """

    patterns: Sequence[str] = ()
    out: Path | None = None
    check: bool = False


def redact_command(
    paths: Sequence[Path], options: RedactOptions, say: Callable[[str], None]
) -> int:
    """Redact cassettes; return our exit code: 1 if only a check was asked for and one is not fine.

    Args:
        paths: The cassettes.
        options: What to do.
        say: Says how it went, a line for each.

    Raises:
        CassetteError: One is no cassette, or damaged.
        UsageError: One is still being recorded, or can't be written; or a pattern is no regular
            expression.
    """
    if options.out is not None and len(paths) > 1 and not options.out.is_dir():
        raise UsageError(
            "several cassettes don't fit into one file", where=str(options.out),
            fix="name a folder with -o",
        )  # fmt: skip
    is_fine = True
    for path in paths:
        is_fine = _redact(path, options, say) and is_fine
    return 1 if options.check and not is_fine else 0


def _redact(path: Path, options: RedactOptions, say: Callable[[str], None]) -> bool:
    """Redact one; return whether there was nothing to do."""
    with Recording(path) as recording:
        is_open = recording.header.is_redaction_open
    if storage.is_recording(path):
        raise UsageError(
            "still being recorded", where=str(path), fix="wait until the agent has ended"
        )
    redactor = Redactor(options.patterns, first=_last_number(path) + 1)
    revision = Revision(path, redactor)
    revision.learn()
    revision.examine()
    words = count(redactor) if revision.is_due else "nothing to replace"
    if not options.check:
        try:
            _write(path, options.out, revision, is_open=is_open)
        except OSError as error:
            raise UsageError(
                f"can't be written ({error.strerror})", where=str(options.out or path),
                fix="name another place with -o",
            ) from error  # fmt: skip
    elif revision.is_due:
        words = words.replace(" was ", " would be ").replace(" were ", " would be ")
    if revision.torn is not None:
        words += f"; line {revision.torn} was cut off by a crash and is left out"
    if is_open:
        words += "; the recording had not been finished"
    say(f"{path}: {words}")
    return not revision.is_due and not is_open


def _write(path: Path, out: Path | None, revision: Revision, *, is_open: bool) -> None:
    if out is not None:
        storage.write_new(out / path.name if out.is_dir() else out, revision.lines())
    elif revision.is_due:
        storage.write_again(path, revision.lines())
    elif is_open:
        close(path)


def _last_number(path: Path) -> int:
    """Return the highest number of a placeholder in a cassette, or 0."""
    numbers = (int(found[1]) for block in storage.blocks(path) for found in _NUMBER.finditer(block))
    return max(numbers, default=0)


def count(redactor: Redactor) -> str:
    """Return how much was replaced, in words."""
    secrets, places = redactor.secrets, redactor.replaced
    return (
        f"{secrets} secret{'s were' if secrets != 1 else ' was'} replaced "
        f"in {places} place{'s' if places != 1 else ''}"
    )
