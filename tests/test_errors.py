import pytest

from acptap import errors
from acptap.errors import (
    AcptapError,
    CassetteError,
    CassetteMissing,
    CommandError,
    DamagedCassette,
    NewerFormat,
    NotACassette,
    NothingToPlay,
    UsageError,
)

SENTENCES = {
    "what alone": (AcptapError("the disk is full"), "the disk is full"),
    "what and where": (
        UsageError("no such option", where="--frob"),
        "--frob: no such option",
    ),
    "what and fix": (
        UsageError("no agent is named", fix="put it behind --"),
        "no agent is named; put it behind --",
    ),
    "what, where and fix": (
        DamagedCassette("damaged: line 3 is no entry", where="a.jsonl:3", fix="delete it"),
        "a.jsonl:3: damaged: line 3 is no entry; delete it",
    ),
    "a command": (
        CommandError("command not found", where="agent", fix="install it", exit_code=127),
        "agent: command not found; install it",
    ),
}


@pytest.mark.parametrize(("error", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_sentence(error, sentence):
    assert str(error) == sentence


EXIT_CODES = {
    "usage is 2": (UsageError("x"), 2),
    "a cassette that can't be used is 2": (CassetteMissing("x"), 2),
    "command not found is 127": (CommandError("x", where="a", fix="", exit_code=127), 127),
    "command not executable is 126": (CommandError("x", where="a", fix="", exit_code=126), 126),
}


@pytest.mark.parametrize(("error", "code"), EXIT_CODES.values(), ids=EXIT_CODES)
def test_exit_code(error, code):
    assert error.exit_code == code


KINDS = {
    "UsageError": (UsageError, AcptapError),
    "CommandError": (CommandError, AcptapError),
    "CassetteError": (CassetteError, AcptapError),
    "CassetteMissing": (CassetteMissing, CassetteError),
    "NotACassette": (NotACassette, CassetteError),
    "NewerFormat": (NewerFormat, CassetteError),
    "DamagedCassette": (DamagedCassette, CassetteError),
    "NothingToPlay": (NothingToPlay, CassetteError),
}


@pytest.mark.parametrize(("kind", "parent"), KINDS.values(), ids=KINDS)
def test_kind(kind, parent):
    assert kind.__bases__ == (parent,)


def test_no_kind_of_cassette_error_is_another():
    assert {kind for kind, parent in KINDS.values() if parent is CassetteError} == set(
        CassetteError.__subclasses__()
    )


def test_the_docstring_shows_every_kind():
    assert all(name in (errors.__doc__ or "") for name in KINDS)
