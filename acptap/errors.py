"""Errors a user can cause. Each says what is wrong, where, and how to fix it, in one sentence.

AcptapError
├── UsageError          the command line asks for something that can't be    exit 2
├── CommandError        the agent's command can't be started                 exit 127 or 126
└── CassetteError       a file is not what it should be                      exit 2
    ├── CassetteMissing
    ├── NotACassette
    ├── NewerFormat
    ├── DamagedCassette
    └── NothingToPlay
"""


class AcptapError(Exception):
    """Base of all expected failures.

    Args:
        what: What is wrong, as the start of a sentence.
        where: File, line, option or command it is wrong in.
        fix: What to do about it.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(what, where, fix)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        sentence = f"{self.where}: {self.what}" if self.where else self.what
        return f"{sentence}; {self.fix}" if self.fix else sentence


class UsageError(AcptapError):
    """The command line asks for something that can't be done."""


class CommandError(AcptapError):
    """The agent's command can't be started.

    Args:
        what: As in AcptapError.
        where: The command's name.
        fix: As in AcptapError.
        exit_code: 127 when it was not found, 126 when it can't be executed (POSIX shells' codes).
    """

    def __init__(self, what: str, *, where: str, fix: str, exit_code: int) -> None:
        super().__init__(what, where=where, fix=fix)
        self.exit_code = exit_code


class CassetteError(AcptapError):
    """A cassette can't be used."""


class CassetteMissing(CassetteError):
    """There is no such file, or it can't be read."""


class NotACassette(CassetteError):
    """The file's first line is no cassette header."""


class NewerFormat(CassetteError):
    """The file was written by a newer acptap, in a format this one does not know."""


class DamagedCassette(CassetteError):
    """A line in the middle of the file is no entry."""


class NothingToPlay(CassetteError):
    """The cassette is sound and holds no conversation."""
