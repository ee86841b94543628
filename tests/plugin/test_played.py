"""A cassette as the agent of a test: what the test sees of it, and how it is judged."""

import pytest

from tests.plugin import tapes

HEADER = "import os, signal, time\nimport pytest\nfrom client import *\n"


def run(suite, body, *arguments):
    suite.makepyfile(HEADER + body)
    return suite.runpytest("-p", "no:cacheprovider", *arguments)


PASSING = {
    "the agent is started": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    assert converse(acptap_agent.command) == HEARD
""",
    "with nothing in its environment": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    assert converse(acptap_agent.command, env={}) == HEARD
""",
    "in another folder, by a program that asks its environment": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent, tmp_path):
    tmp_path.joinpath("random.py").write_text("raise SystemExit('not this one')")
    command = ["sh", "-c", '$ACPTAP_AGENT']
    assert converse(command, env=os.environ | acptap_agent.env, cwd=tmp_path) == HEARD
""",
    "the agent is talked to": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    async def main():
        return await aconverse(*acptap_agent.streams())
    assert asyncio.run(main()) == HEARD
""",
    "nothing is named": """
def test_it(acptap_agent):
    assert acptap_agent.cassette.name == "test_it.jsonl"
    converse(acptap_agent.command)
""",
    "what was sent": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    assert acptap_agent.sent == []
    with start(acptap_agent.command) as agent:
        ask(agent, SAID[0])
        assert [message["method"] for message in acptap_agent.sent] == ["initialize"]
        ask(agent, SAID[1])
        ask(agent, "[" + SAID[2] + ",7]", 2)
        agent.stdin.close()
    assert [message["id"] for message in acptap_agent.sent] == [0, 1, 2]
""",
    "what it meant": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    with start(acptap_agent.command) as agent:
        ask(agent, SAID[0])
        ask(agent, SAID[1])
        assert acptap_agent.states == {}
        ask(agent, SAID[2], 2)
        assert acptap_agent.states == {"s1": ["running", "idle"]}
        agent.stdin.close()
    [session] = acptap_agent.folded.sessions
    assert [message.text for message in session.messages] == ["hello", "hi"]
    assert acptap_agent.updates[-1] == {
        "kind": "done", "end": "success", "reason": "end_turn"}
    [begun, ended] = acptap_agent.transitions["s1"]
    assert begun["from"] == "idle"
    assert ended == {"from": "running", "to": "idle", "basis": "derived", "reason": "end_turn"}
""",
    "the report": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    assert acptap_agent.report.unplayed == [2, 3, 4, 5, 6, 7, 8]
    with start(acptap_agent.command) as agent:
        ask(agent, SAID[0])
        assert acptap_agent.report.unplayed == [4, 5, 6, 7, 8]
        ask(agent, SAID[1]), ask(agent, SAID[2].replace("hello", "hullo"), 2)
        agent.stdin.close()
    assert acptap_agent.report.clean
    assert [each.line for each in acptap_agent.report.differing] == [6]
""",
    "an agent that is killed is judged by what it was told": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    with start(acptap_agent.command) as agent:
        ask(agent, SAID[0]), ask(agent, SAID[1]), ask(agent, SAID[2], 2)
        agent.kill()
""",
    "an agent that still runs is judged too": """
@pytest.fixture
def agents():
    with start(["true"]) as agent:
        agents = [agent]
        yield agents
        for agent in agents:
            agent.stdin.close()
            agent.wait()

@pytest.mark.acptap("hello.jsonl")
def test_it(agents, acptap_agent):
    agents.append(start(acptap_agent.command))
    agents[-1].stdin.write("".join(line + "\\n" for line in SAID))
    agents[-1].stdin.flush()
    agents[-1].stdout.readline()
""",
    "several agents, one after the other": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    assert converse(acptap_agent.command) == converse(acptap_agent.command) == HEARD
    assert len(acptap_agent.sent) == 6
""",
    "several agents, each doing a part; none of them fails for it": """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    for said in (SAID[:1], SAID):
        with start(acptap_agent.command, stderr=subprocess.PIPE) as agent:
            assert agent.communicate("".join(line + "\\n" for line in said))[1] == ""
        assert agent.returncode == 0
""",
    "what is allowed to be left": """
@pytest.mark.acptap("hello.jsonl", allow_unplayed=True)
def test_it(acptap_agent):
    converse(acptap_agent.command, SAID[:1])
""",
    "what is left out of a strict comparison": """
@pytest.mark.acptap("hello.jsonl", match="exact", ignore="/params/prompt", speed=100)
def test_it(acptap_agent):
    assert converse(acptap_agent.command, [*SAID[:2], SAID[2].replace("hello", "hullo")]) == HEARD
""",
}


@pytest.mark.parametrize("body", PASSING.values(), ids=PASSING)
def test_passes(suite, cassettes, body):
    tapes.write(cassettes / "test_passes" / "test_it.jsonl")
    run(suite, body).assert_outcomes(passed=1)


FAILING = {
    "what is not in the cassette": (
        'converse(acptap_agent.command, [*SAID, SAID[2].replace(":2,", ":3,")])',
        [
            "*hello.jsonl",
            (
                "*unmatched: session/prompt number 2: the cassette holds 1; nearest is "
                "session/prompt at line 6*"
            ),
            "*if the client is right, record it anew with --acptap-record=all",
        ],
    ),
    "what never came": (
        "converse(acptap_agent.command, SAID[:2])",
        ["*never played: lines 6-8 (line 6 is session/prompt)"],
    ),
    "a cassette that nobody asked for": (
        "pass",
        [
            "*the cassette was never asked for*",
            "*give the client acptap_agent.command to start, or acptap_agent.streams()*",
        ],
    ),
    "a client that said nothing": (
        "assert converse(acptap_agent.command, []) == []",
        ["*never played: lines 2-8 (line 2 is initialize)"],
    ),
    "a client that lost interest": (
        """
    with start(acptap_agent.command) as agent:
        agent.stdout.close()
        agent.stdin.write("".join(line + "\\n" for line in SAID))""",
        ["*the client stopped reading before all was said*"],
    ),
}


@pytest.mark.parametrize(("body", "said"), FAILING.values(), ids=FAILING)
def test_fails_at_the_end_of_the_test(suite, body, said):
    test = f'@pytest.mark.acptap("hello.jsonl")\ndef test_it(acptap_agent):\n    {body}\n'
    result = run(suite, test)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(said)
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_patience_that_was_lost_is_in_the_journal(suite, cassettes):
    tapes.write(cassettes / "hello.jsonl", tapes.HELLO[:3])
    body = """
@pytest.mark.acptap("hello.jsonl", patience=0.1)
def test_it(acptap_agent):
    with start(acptap_agent.command) as agent:
        ask(agent, SAID[0])
        assert "is never answered in the cassette" in ask(agent, SAID[1])[0]
"""
    result = run(suite, body)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*unmatched: session/new (line 4) is never answered*"])


def test_a_failing_test_is_not_masked(suite):
    result = run(
        suite,
        """
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    converse(acptap_agent.command, [*SAID[:1], '{"id":8,"method":"session/neww"}'])
    assert "what I wanted" == "what I got"
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            '>*assert "what I wanted" == "what I got"',
            "*- acptap -*",
            "unmatched: session/neww is not in the cassette; nearest is session/new at line 4*",
            "never played: lines 4-8 (line 4 is session/new)",
        ]
    )


@pytest.mark.parametrize(("end", "outcomes"), [("", {"passed": 1, "errors": 1}),
                                               ("assert 0", {"failed": 1})])  # fmt: skip
def test_a_cassette_that_is_gone_is_said_so(suite, end, outcomes):
    body = f"""
@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    converse(acptap_agent.command)
    acptap_agent.cassette.unlink()
    {end}
"""
    result = run(suite, body)
    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines(["*hello.jsonl: the cassette can't be read*"])


NOT_JUDGED = {
    "a skipped test": ("pytest.skip('not today')", {"skipped": 1}),
    "a test that is expected to fail": ("pytest.xfail('some day')", {"xfailed": 1}),
}


@pytest.mark.parametrize(("body", "outcomes"), NOT_JUDGED.values(), ids=NOT_JUDGED)
def test_is_not_judged(suite, body, outcomes):
    test = f'@pytest.mark.acptap("hello.jsonl")\ndef test_it(acptap_agent):\n    {body}\n'
    run(suite, test).assert_outcomes(**outcomes)


def test_a_test_that_is_not_begun_is_not_judged(suite):
    body = """
@pytest.fixture
def broken(acptap_agent):
    raise RuntimeError("no luck")

@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent, broken):
    pass
"""
    result = run(suite, body)
    result.assert_outcomes(errors=1)
    result.stdout.no_fnmatch_line("*never asked for*")


def test_the_nth_agent_plays_the_nth_connection_then_the_first(suite, cassettes):
    other = [
        (side, text.replace('"hi"', '"ho"').replace('"s1"', '"s2"')) for side, text in tapes.HELLO
    ]
    tapes.write(cassettes / "hello.jsonl", tapes.HELLO, other)
    body = """
OTHER = [line.replace('"s1"', '"s2"') for line in SAID]

@pytest.mark.acptap("hello.jsonl")
def test_it(acptap_agent):
    async def main():
        return await aconverse(*acptap_agent.streams())
    assert asyncio.run(main()) == HEARD
    assert '"ho"' in converse(acptap_agent.command, OTHER)[2]
    assert converse(acptap_agent.command) == HEARD
    assert acptap_agent.states == {"s1": ["running", "idle"], "s2": ["running", "idle"]}

@pytest.mark.acptap("hello.jsonl")
def test_half(acptap_agent):
    assert converse(acptap_agent.command) == HEARD
    assert acptap_agent.states == {"s1": ["running", "idle"]}
"""
    result = run(suite, body)
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*never played: lines 9-15 (line 9 is initialize)"])


def test_an_agent_that_comes_too_late_is_turned_away(suite):
    body = """
@pytest.fixture(scope="module")
def late():
    commands = []
    yield commands
    agent = start(commands[0], stderr=subprocess.PIPE)
    assert agent.communicate("")[1].startswith("acptap: ")
    assert agent.returncode == 2

@pytest.mark.acptap("hello.jsonl")
def test_it(late, acptap_agent):
    late.append(acptap_agent.command)
    converse(acptap_agent.command)
"""
    run(suite, body).assert_outcomes(passed=1)
