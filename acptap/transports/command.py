"""Find the program that a command names, as a shell would, without a shell."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from acptap.errors import CommandError

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""The exit codes of POSIX shells."""

SIGNALLED = 128
"""Added to a signal's number to make an exit code, as shells do."""

_BATCH = (".cmd", ".bat")
_BATCH_UNSAFE = re.compile(r'[&|<>^%!"\r\n]')


def find_program(
    command: Sequence[str], environ: Mapping[str, str], suffixes: Sequence[str] = ("",)
) -> str:
    """Return the path of a command's program.

    Args:
        command: Program and arguments.
        environ: Where `PATH` is looked up.
        suffixes: What may be added to the name; on Windows the entries of `PATHEXT` and nothing.

    Raises:
        CommandError: No such program, or a file that can't be executed; or a Windows batch file
            with an argument that its interpreter would take apart.
    """
    name, *arguments = command
    unusable: str | None = None
    for path in _candidates(name, environ, suffixes):
        if Path(path).is_file() and os.access(path, os.X_OK):
            if any(suffixes):
                _check_batch(path, arguments)
            return path
        if unusable is None and Path(path).exists():
            unusable = path
    if unusable is not None:
        raise _unusable(unusable)
    raise _missing(name)


def _unusable(path: str) -> CommandError:
    is_folder = Path(path).is_dir()
    return CommandError(
        "the agent's program is a folder" if is_folder else "the agent's program is not executable",
        where=path,
        fix="name a program in it" if is_folder else "make it executable with chmod +x",
        exit_code=NOT_EXECUTABLE,
    )


def _missing(name: str) -> CommandError:
    fix = "check the name and PATH, or give the program's full path"
    if " " in name:
        fix = "write the program and its arguments without quotes around them all"
    return CommandError(
        "the agent's program was not found", where=repr(name), fix=fix, exit_code=NOT_FOUND
    )


def _candidates(name: str, environ: Mapping[str, str], suffixes: Sequence[str]) -> Iterator[str]:
    """Yield the paths a name may stand for; never a bare name, which would be searched again."""
    if not name:
        return
    if "/" in name or os.sep in name:
        stems = [name]
    else:
        folders = environ.get("PATH", os.defpath).split(os.pathsep)
        stems = [os.path.join(folder or os.curdir, name) for folder in folders]  # noqa: PTH118 keep ./
    for stem in stems:
        for suffix in suffixes:
            yield stem + suffix


def _check_batch(path: str, arguments: Sequence[str]) -> None:
    if path.lower().endswith(_BATCH) and any(map(_BATCH_UNSAFE.search, arguments)):
        raise CommandError(
            "a batch file can't be given an argument with & | < > ^ % ! or quotes safely",
            where=path,
            fix="name the program that the batch file starts",
            exit_code=NOT_EXECUTABLE,
        )
