from acptap.acp.methods import METHODS
from acptap.acp.updates import UPDATES
from tests.schemas import ours
from tests.schemas.differences import PYTHON, TYPESCRIPT, Difference, explained
from tests.schemas.pythonsdk import VALID, PythonSdk
from tests.schemas.said import WRONG, Said

FAR_TOO_FEW = 500


def test_the_typescript_sdk_differs_only_where_it_is_explained(everything, judged):
    verdicts = judged.verdicts[: -len(WRONG)]
    found = {
        Difference(TYPESCRIPT, said.subject, ours.verdict(said), theirs)
        for said, theirs in zip(everything, verdicts, strict=True)
        if ours.verdict(said) != theirs
    }
    assert found == explained(TYPESCRIPT)


def test_the_python_sdk_differs_only_where_it_is_explained(everything, judged):
    sdk = PythonSdk(judged.tables["1 unstable"]["methods"])
    found = {
        Difference(PYTHON, said.subject, ours.verdict(said), sdk.judge(said))
        for said in everything
        if said.version == 1 and not agree(ours.verdict(said), sdk.judge(said))
    }
    assert found == explained(PYTHON)


def agree(our_word: str, their_word: str) -> bool:
    """The SDK knows no difference between stable and unstable."""
    return their_word == (ours.UNKNOWN if our_word == ours.UNKNOWN else VALID)


def test_real_agents_and_the_sdks_say_nothing_that_differs(recorded, talked, judged):
    real = recorded + talked
    assert len(real) > FAR_TOO_FEW
    theirs = judged.verdicts[: len(real)]
    assert [ours.verdict(said) for said in real] == theirs


def test_every_row_of_both_tables_is_said(everything):
    assert {said.method for said in everything} >= METHODS.keys()
    assert {said.update for said in everything} >= UPDATES.keys()


def test_both_versions_are_spoken(recorded: list[Said], talked: list[Said]):
    for said in (recorded, talked):
        assert {one.version for one in said} == {1, 2}


def test_the_second_reader_reads(judged):
    """It refuses what acptap's tables don't look at, so that it is known to be awake."""
    verdicts = judged.verdicts[-len(WRONG) :]
    assert [word for word in verdicts if not word.startswith("/")] == []
    sdk = PythonSdk(judged.tables["1 unstable"]["methods"])
    first = [sdk.judge(said) for said in WRONG if said.version == 1]
    assert [word for word in first if not word.startswith("/")] == []
