"""Recording from inside a test suite: when, from whom, and what is kept."""

import pytest

from acptap.storage import Recording
from tests.plugin import tapes

HEADER = "import pytest, sys\nfrom client import *\n"
ANSWERS = dict(zip(tapes.SAID, (tapes.HEARD[:1], tapes.HEARD[1:2], tapes.HEARD[2:]), strict=True))
AGENT = f"""
import sys
ANSWERS = {ANSWERS!r}
for line in sys.stdin:
    for answer in ANSWERS[line.rstrip("\\n")]:
        print(answer, flush=True)
"""
WHOLE = sorted(text for _, text in tapes.HELLO)
HALF = sorted(text for _, text in tapes.HELLO[:2])
TEST = """
@pytest.mark.acptap("new.jsonl")
def test_it(acptap_agent):
    assert converse(acptap_agent.command) == HEARD
    assert [message["id"] for message in acptap_agent.sent] == [0, 1, 2]
    assert acptap_agent.states == {"s1": ["running", "idle"]}
    assert acptap_agent.report.clean
"""


@pytest.fixture
def recording(suite):
    suite.makepyfile(agent=AGENT)
    return suite


def run(suite, body, *arguments):
    suite.makepyfile(test_it=HEADER + body)
    return suite.runpytest("-p", "no:cacheprovider", *arguments)


def said(cassette):
    with Recording(cassette) as recording:
        return sorted(entry.payload.decode() for entry in recording if entry.key == "msg")


def test_once_records_what_is_missing_and_then_plays_it(recording, cassettes):
    run(recording, TEST, "--acptap-record=once").assert_outcomes(passed=1)
    (recording.path / "agent.py").unlink()
    assert said(cassettes / "new.jsonl") == WHOLE
    assert [path.name for path in sorted(cassettes.iterdir())] == ["hello.jsonl", "new.jsonl"]
    run(recording, TEST, "--acptap-record=once").assert_outcomes(passed=1)
    run(recording, TEST).assert_outcomes(passed=1)


def test_all_records_anew(recording, cassettes):
    tapes.write(cassettes / "new.jsonl", tapes.HELLO[:2])
    run(recording, TEST).assert_outcomes(failed=1)
    run(recording, TEST, "--acptap-record=all").assert_outcomes(passed=1)
    assert said(cassettes / "new.jsonl") == WHOLE


def test_the_ini_file_may_say_so(recording, cassettes):
    ini = recording.path / "tox.ini"
    ini.write_text(ini.read_text() + "\nacptap_record = once\n")
    run(recording, TEST, "--acptap-record=none").assert_outcomes(errors=1)
    run(recording, TEST).assert_outcomes(passed=1)
    assert (cassettes / "new.jsonl").exists()
    ini.write_text(ini.read_text().replace("= once", "= twice"))
    result = run(recording, TEST)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["acptap: acptap_record in the ini file: 'twice' is no way to record; write none, once or*"]
    )


UPSTREAMS = {
    "the marker, as a list": (
        "",
        'acptap("new.jsonl", upstream=[sys.executable, "agent.py"])',
    ),
    "the marker, as words": (
        "",
        'acptap("new.jsonl", upstream=f"{sys.executable} agent.py")',
    ),
    "the config": (
        "@pytest.fixture\ndef acptap_config(): return {'upstream': [sys.executable, 'agent.py']}",
        'acptap("new.jsonl")',
    ),
    "the fixture": (
        "@pytest.fixture\ndef acptap_upstream(): return [sys.executable, 'agent.py']",
        'acptap("new.jsonl")',
    ),
}


@pytest.mark.parametrize(("fixtures", "marker"), UPSTREAMS.values(), ids=UPSTREAMS)
def test_the_agent_is_named_by(recording, cassettes, fixtures, marker):
    ini = recording.path / "tox.ini"
    ini.write_text(ini.read_text().partition("acptap_upstream")[0])
    body = f"{fixtures}\n" + TEST.replace('acptap("new.jsonl")', marker)
    run(recording, body, "--acptap-record=once").assert_outcomes(passed=1)
    assert (cassettes / "new.jsonl").exists()


def test_without_an_agent_nothing_can_be_recorded(recording):
    ini = recording.path / "tox.ini"
    ini.write_text(ini.read_text().partition("acptap_upstream")[0])
    result = run(recording, TEST, "--acptap-record=once")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["acptap: */cassettes/new.jsonl: there is no agent to record; name its command or URL: *"]
    )


def test_an_upstream_can_be_taken_back(recording):
    body = TEST.replace('("new.jsonl")', '("new.jsonl", upstream=None)')
    result = run(recording, body, "--acptap-record=once")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*there is no agent to record*"])


def test_streams_are_recorded_too(recording, cassettes):
    body = """
@pytest.mark.acptap("new.jsonl")
def test_it(acptap_agent):
    async def main():
        return await aconverse(*acptap_agent.streams())
    assert asyncio.run(main()) == HEARD
"""
    run(recording, body, "--acptap-record=once").assert_outcomes(passed=1)
    assert said(cassettes / "new.jsonl") == WHOLE
    run(recording, body).assert_outcomes(passed=1)


def test_a_client_that_leaves_its_streams_open(recording, cassettes):
    body = """
@pytest.mark.acptap("new.jsonl")
def test_it(acptap_agent):
    async def main():
        reader, writer = acptap_agent.streams()
        for line in SAID:
            writer.write(line.encode() + b"\\n")
            await reader.readline()
    asyncio.run(main())
"""
    run(recording, body, "--acptap-record=once").assert_outcomes(passed=1)
    assert (cassettes / "new.jsonl").exists()
    run(recording, body).assert_outcomes(passed=1)


def test_an_agent_that_leaves_ends_the_streams(recording):
    (recording.path / "agent.py").write_text("input()")
    body = """
@pytest.mark.acptap("new.jsonl")
def test_it(acptap_agent):
    async def main():
        reader, writer = acptap_agent.streams()
        writer.write(SAID[0].encode() + b"\\n")
        assert await reader.read() == b""
        writer.write(SAID[1].encode() + b"\\n")
        with pytest.raises(ConnectionResetError):
            await writer.drain()
    asyncio.run(main())
"""
    run(recording, body, "--acptap-record=once").assert_outcomes(passed=1)


def test_an_agent_that_takes_its_time_is_recorded_to_the_end(recording, cassettes):
    agent = recording.path / "agent.py"
    agent.write_text(agent.read_text() + "\nimport time\ntime.sleep(0.3)\nsys.exit(3)\n")
    body = """
@pytest.fixture(scope="module")
def agents():
    agents = []
    yield agents
    for agent in agents:
        agent.stdout.close()
        agent.wait()

@pytest.mark.acptap("new.jsonl")
def test_it(agents, acptap_agent):
    agents.append(start(acptap_agent.command))
    for line in SAID:
        ask(agents[0], line)
    agents[0].stdin.close()
"""
    run(recording, body, "--acptap-record=once").assert_outcomes(passed=1)
    with Recording(cassettes / "new.jsonl") as cassette:
        assert [entry.front.get("code") for entry in cassette][-1] == 3


def test_several_agents_make_one_cassette(recording, cassettes):
    body = """
@pytest.mark.acptap("new.jsonl")
def test_it(acptap_agent):
    assert converse(acptap_agent.command) == HEARD
    assert converse(acptap_agent.command, SAID[:1]) == HEARD[:1]
    assert converse(acptap_agent.command, env=acptap_agent.env) == HEARD
"""
    run(recording, body, "--acptap-record=all").assert_outcomes(passed=1)
    with Recording(cassettes / "new.jsonl") as cassette:
        entries = list(cassette)
    assert sorted({entry.conn for entry in entries}) == [1, 2, 3]
    assert [entry.at for entry in entries] == sorted(entry.at for entry in entries)
    run(recording, body).assert_outcomes(passed=1)
    run(recording, body.replace("SAID[:1]", "SAID").replace("[:1]", "")).assert_outcomes(failed=1)


def test_what_a_failing_test_recorded_is_not_kept(recording, cassettes):
    tapes.write(cassettes / "new.jsonl", tapes.HELLO[:2])
    result = run(recording, TEST + "    assert 0\n", "--acptap-record=all")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- acptap -*", "recorded in *; not kept as */new.jsonl, since *"])
    assert said(cassettes / "new.jsonl") == HALF


def test_an_agent_that_is_not_asked_is_an_error(recording, cassettes):
    body = '@pytest.mark.acptap("new.jsonl")\ndef test_it(acptap_agent): ...'
    result = run(recording, body, "--acptap-record=once")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*nothing was recorded: no client talked to *"])
    assert not (cassettes / "new.jsonl").exists()


def test_a_place_that_cannot_be_written_to(recording):
    result = run(
        recording, TEST.replace("new.jsonl", "hello.jsonl/new.jsonl"), "--acptap-record=all"
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*it can't be written (*); it was recorded in *"])
