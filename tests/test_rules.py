"""`acptap rules`."""

from acptap.rules import RULES
from acptap.wire.jsontext import parse
from tests.test_check import run


def test_the_table_has_a_row_for_each_rule(capsys):
    assert run("rules") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(RULES)
    (line,) = [line for line in lines if line.startswith("acp/resume-without-snapshot ")]
    assert " ".join(line.split()) == (
        "acp/resume-without-snapshot violation v2 A resume succeeded without a state update before "
        "its answer. [ACP v2, session states; R17, R19]"
    )


def test_json(capsys):
    assert run("rules", "--json") == 0
    rows = parse(capsys.readouterr().out.encode())
    assert isinstance(rows, list)
    assert [row["rule"] for row in rows] == list(RULES)
    assert rows[0] == {
        "rule": "stdio/not-json", "severity": "warning", "versions": [], "clients": [],
        "text": "A line on the protocol stream is no JSON.", "source": "ACP transports, stdio",
    }  # fmt: skip


def test_the_table_says_which_clients_fail(capsys):
    assert run("rules") == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = [line for line in lines if line.startswith("agui/run-in-run ")]
    assert line.endswith("[AG-UI lifecycle; V2] fails: typescript, rust")
