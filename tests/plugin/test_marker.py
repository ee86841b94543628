"""What the marker and the fixtures around it may say, and what it means."""

import pytest

from tests.plugin import tapes

HEADER = "import pytest\nfrom client import *\n"


def run(suite, body, *arguments):
    suite.makepyfile(test_it=HEADER + body)
    return suite.runpytest("-p", "no:cacheprovider", *arguments)


NAMES = {
    "a test": ("def test_plain(acptap_agent): USE", "test_it/test_plain.jsonl"),
    "a class": (
        "class TestC:\n  def test_m(self, acptap_agent): USE",
        "test_it/TestC.test_m.jsonl",
    ),
    "parameters": (
        "@pytest.mark.parametrize('x', ['a/b'])\ndef test_x(acptap_agent, x): USE",
        "test_it/test_x[a-b].jsonl",
    ),
    "a bare marker": (
        "@pytest.mark.acptap\ndef test_plain(acptap_agent): USE",
        "test_it/test_plain.jsonl",
    ),
    "a path": (
        "@pytest.mark.acptap('deep/er.jsonl')\ndef test_x(acptap_agent): USE",
        "deep/er.jsonl",
    ),
    "the nearest marker": (
        (
            "@pytest.mark.acptap('no.jsonl')\nclass TestC:\n  @pytest.mark.acptap('yes.jsonl')\n"
            "  def test_m(self, acptap_agent): USE"
        ),
        "yes.jsonl",
    ),
    "a farther marker's path, a nearer one's keywords": (
        (
            "@pytest.mark.acptap('yes.jsonl', match='exact')\nclass TestC:\n"
            "  @pytest.mark.acptap(match='method')\n  def test_m(self, acptap_agent): USE"
        ),
        "yes.jsonl",
    ),
}
USE = "assert converse(acptap_agent.command) == HEARD"


@pytest.mark.parametrize(("body", "name"), NAMES.values(), ids=NAMES)
def test_the_cassette_is_named_by(suite, cassettes, body, name):
    tapes.write(cassettes / name)
    run(suite, body.replace("USE", USE)).assert_outcomes(passed=1)


def test_an_absolute_path(suite, tmp_path):
    elsewhere = tapes.write(tmp_path / "elsewhere.jsonl")
    body = f"@pytest.mark.acptap({str(elsewhere)!r})\ndef test_x(acptap_agent): {USE}"
    run(suite, body).assert_outcomes(passed=1)


def test_another_folder_and_other_defaults(suite):
    tapes.write(suite.path / "tapes" / "x.jsonl")
    body = """
@pytest.fixture
def acptap_cassette_dir(request):
    return str(request.path.parent / "tapes")

@pytest.fixture
def acptap_config():
    return {"match": "params", "ignore": ["/params/prompt"]}

OTHER = [line.replace("hello", "hullo") for line in SAID]

@pytest.mark.acptap("x.jsonl")
def test_default(acptap_agent):
    assert converse(acptap_agent.command, OTHER) == HEARD

@pytest.mark.acptap("x.jsonl", ignore=())
def test_marker(acptap_agent):
    assert len(converse(acptap_agent.command, OTHER)) == 3
"""
    run(suite, body).assert_outcomes(passed=2, errors=1)


BAD = {
    "an unknown argument": (
        '"hello.jsonl", mach="exact"',
        (
            "acptap: @pytest.mark.acptap: there is no argument 'mach'; the arguments are match, "
            "ignore, speed, patience, allow_unplayed, verbatim, shift_expiry, upstream"
        ),
    ),
    "two cassettes": (
        '"a.jsonl", "b.jsonl"',
        "acptap: @pytest.mark.acptap: 2 cassettes are named; *",
    ),
    "a cassette that is no path": (
        "7",
        'acptap: @pytest.mark.acptap: 7 is no path of a cassette; write "hello.jsonl"',
    ),
    "an empty path": ('""', "acptap: @pytest.mark.acptap: '' is no path of a cassette; *"),
    "a level that is none": (
        'match="loose"',
        (
            "acptap: match of @pytest.mark.acptap: 'loose' is no level of matching; write method, "
            "params or exact"
        ),
    ),
    "a pointer that is none": (
        'ignore=["prompt"]',
        "acptap: ignore of @pytest.mark.acptap: 'prompt' is no JSON pointer; *",
    ),
    "no pointers at all": (
        "ignore=7",
        "acptap: ignore of @pytest.mark.acptap: 7 is no JSON pointer; *",
    ),
    "a speed that is none": (
        'speed="fast"',
        "acptap: speed of @pytest.mark.acptap: 'fast' is no speed; *",
    ),
    "a speed of another kind": (
        "speed=True",
        "acptap: speed of @pytest.mark.acptap: True is no speed; *",
    ),
    "a speed too large for a number": (
        "speed=10**400",
        "acptap: speed of @pytest.mark.acptap: 1000*0 is no speed; *",
    ),
    "no patience": (
        "patience=-1",
        "acptap: patience of @pytest.mark.acptap: -1 is no number of seconds; *",
    ),
    "neither yes nor no": (
        'allow_unplayed="no"',
        (
            "acptap: allow_unplayed of @pytest.mark.acptap: 'no' is neither yes nor no; write True "
            "or False"
        ),
    ),
    "a command with an open quote": (
        'upstream="agent \'"',
        (
            'acptap: upstream of @pytest.mark.acptap: "agent \'" is no command (No closing '
            "quotation); *"
        ),
    ),
    "a command that is none": (
        "upstream=[1]",
        "acptap: upstream of @pytest.mark.acptap: [[]1[]] is no command; *",
    ),
    "a missing cassette": (
        '"no.jsonl"',
        (
            "acptap: */cassettes/no.jsonl: the cassette can't be read (No such file or directory); "
            "check the path, or record it: pytest --acptap-record=once, with the agent's command "
            "as acptap_upstream"
        ),
    ),
    "a damaged cassette": (
        '"damaged.jsonl"',
        "acptap: */cassettes/damaged.jsonl:3: damaged: line 3 is no entry *",
    ),
    "an empty cassette": (
        '"empty.jsonl"',
        "acptap: */cassettes/empty.jsonl: the file is empty; *",
    ),
}


@pytest.mark.parametrize(("arguments", "sentence"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_one_sentence(suite, cassettes, arguments, sentence):
    lines = (cassettes / "hello.jsonl").read_bytes().splitlines(keepends=True)
    lines[2] = lines[2][:20] + b"\n"
    (cassettes / "damaged.jsonl").write_bytes(b"".join(lines))
    (cassettes / "empty.jsonl").write_bytes(b"")
    result = run(suite, f"@pytest.mark.acptap({arguments})\ndef test_x(acptap_agent): {USE}")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ERROR at setup of test_x*", sentence, "=*"], consecutive=True)


def test_a_bad_default_is_named_by_its_fixture(suite):
    body = """
@pytest.fixture
def acptap_config():
    return {"match": "loose"}

@pytest.mark.acptap("hello.jsonl")
def test_x(acptap_agent): ...
"""
    result = run(suite, body)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["acptap: match of the fixture acptap_config: 'loose' is no *"])


def test_the_marker_and_the_fixtures_are_documented(suite):
    run(suite, "", "--markers").stdout.fnmatch_lines(["@pytest.mark.acptap(cassette=None, *"])
    fixtures = run(suite, "", "--fixtures").stdout
    for name in ("acptap_agent", "acptap_cassette_dir", "acptap_config", "acptap_upstream"):
        fixtures.fnmatch_lines_random([f"{name} --*", "    *"])
