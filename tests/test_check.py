"""`acptap check`."""

import io
import json
import os
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acptap import checking
from acptap.app.check import progress
from acptap.app.check.checking import CheckOptions, check_command
from acptap.app.check.verdicts import FORMATS, Tally, counted
from acptap.cassette import ANNOTATIONS, Header, decode_entry
from acptap.cli.main import main
from acptap.jsonrpc import Side
from acptap.redact import Redactor
from acptap.rules import RULES
from acptap.storage import Recording
from acptap.tap import Tap
from acptap.wire.jsontext import parse
from acptap.wire.lines import LineSplitter
from tests.acp.test_conversation import SAID
from tests.checks.cassettes import BROKEN, CHUNK, FIRST, HELLO, WARNED, checked, recorded, write

OLDER = b'"annotations":0'
REVISION = b'"annotations":%d' % ANNOTATIONS
STALE = FIRST.replace(b'"to":"running"', b'"to":"requires_action"')


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.jsonl"


EXITS = {
    "nothing": (FIRST, {}, 0),
    "a warning": (WARNED, {}, 0),
    "a warning, strictly": (WARNED, {"strict": True}, 1),
    "a violation": (BROKEN, {}, 1),
    "other annotations": (STALE, {}, 1),
    "other annotations of an older revision": (STALE.replace(REVISION, OLDER), {}, 0),
    "a torn last line": (FIRST + b'{"at":', {}, 0),
    "a torn last line, strictly": (FIRST + b'{"at":', {"strict": True}, 1),
    "a header and no more": (FIRST.split(b"\n")[0] + b"\n", {}, 0),
    "no cassette": (b"hello\n", {}, 2),
    "nothing at all": (b"", {}, 2),
    "a newer format": (b'{"acptap":99}\n', {}, 2),
    "a damaged line": (FIRST + b"<<<<\n" + FIRST.split(b"\n")[1] + b"\n", {}, 2),
}


@pytest.mark.parametrize(("data", "options", "code"), EXITS.values(), ids=EXITS)
@pytest.mark.parametrize("format_", ["text", "json", "junit"])
def test_exit_codes(path, data, options, code, format_):
    assert checked(path, data, format=format_, **options)[0] == code


TEXTS = {
    "nothing": (FIRST, "1 cassette, 8 entries: nothing to report\n"),
    "a warning": (
        WARNED,
        (
            "x.jsonl:9: warning stdio/not-json: A line on the protocol stream is no JSON.\n"
            "1 cassette, 9 entries: 1 warning\n"
        ),
    ),
    "a violation with its particulars": (
        BROKEN,
        (
            "x.jsonl:9: violation jsonrpc/second-answer: A request was answered twice. (id 2)\n"
            "1 cassette, 9 entries: 1 violation\n"
        ),
    ),
    "other annotations": (
        STALE,
        (
            "x.jsonl:6: violation cassette/annotations-differ: Annotations differ from what the "
            "rules make of the payloads; run `acptap annotate`. (lines 1)\n"
            "1 cassette, 8 entries: 1 violation\n"
        ),
    ),
    "a damaged line": (
        FIRST + b"<<<<\n" + FIRST.split(b"\n")[1] + b"\n",
        (
            "x.jsonl:10: damaged: line 10 is no entry (Expecting value: line 1 column 1 (char 0)); "
            "restore the file, or delete that line if you know what it was\n"
            "1 cassette, 8 entries: nothing to report, 1 file not readable\n"
        ),
    ),
    "a text that would act on a terminal": (
        recorded(*HELLO, ("C", '{"jsonrpc":"2.0","method":"\\u001b[2J"}')),
        (
            "x.jsonl:9: note acp/unknown-method: A method that no version of ACP knows. "
            "(method \\x1b[2J)\n1 cassette, 9 entries: 1 note\n"
        ),
    ),
}


@pytest.mark.parametrize(("data", "text"), TEXTS.values(), ids=TEXTS)
def test_text(path, data, text):
    assert checked(path, data)[1].replace(f"{path.parent}/", "") == text


def test_all_files_are_checked(tmp_path):
    paths = [tmp_path / name for name in ("a.jsonl", "missing.jsonl", "b.jsonl")]
    paths[0].write_bytes(BROKEN)
    paths[2].write_bytes(WARNED)
    out = io.StringIO()
    assert check_command(paths, CheckOptions(), out) == 2
    assert [line.split(" ")[0].rpartition("/")[2] for line in out.getvalue().splitlines()] == [
        "a.jsonl:9:",
        "missing.jsonl:",
        "b.jsonl:9:",
        "3",
    ]


def test_json(tmp_path):
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl", "missing.jsonl")]
    paths[0].write_bytes(
        recorded(*HELLO, ("A", '{"jsonrpc":"2.0","id":2,"result":{}}'), ("A", "x"))
    )
    paths[1].write_bytes(FIRST)
    out = io.StringIO()
    check_command(paths, CheckOptions(format="json"), out)
    document = parse(out.getvalue().encode())
    assert isinstance(document, dict)
    files = document.pop("files")
    assert document == {
        "entries": 18, "violations": 1, "warnings": 1, "notes": 0, "cassettes": 3, "unreadable": 1,
    }  # fmt: skip
    assert files[0] == {
        "file": str(paths[0]), "entries": 10, "violations": 1, "warnings": 1, "notes": 0,
        "error": None, "findings": [
            {"line": 9, "severity": "violation", "rule": "jsonrpc/second-answer",
             "sentence": "A request was answered twice.", "detail": {"id": 2}},
            {"line": 10, "severity": "warning", "rule": "stdio/not-json",
             "sentence": "A line on the protocol stream is no JSON.", "detail": {}},
        ],
    }  # fmt: skip
    assert files[1]["findings"] == []
    assert files[2]["error"].startswith(f"{paths[2]}: the cassette can't be read")


def suites_of(said):
    return ET.fromstring(said).findall("testsuite")


def test_junit_has_a_case_for_each_rule(path):
    (suite,) = suites_of(checked(path, BROKEN, format="junit")[1])
    assert suite.attrib == {
        "name": str(path), "tests": str(len(RULES) + 1), "failures": "1", "errors": "0",
    }  # fmt: skip
    assert [case.get("name") for case in suite] == ["readable", *RULES]
    (failure,) = suite.findall("testcase[@name='jsonrpc/second-answer']/failure")
    assert failure.attrib == {"type": "violation", "message": "A request was answered twice."}
    assert failure.text == f"{path}:9: A request was answered twice. (id 2)"


def test_junit_of_a_warning(path):
    (suite,) = suites_of(checked(path, WARNED, format="junit")[1])
    (words,) = suite.findall("testcase[@name='stdio/not-json']/system-out")
    assert words.text == f"warning: {path}:9: A line on the protocol stream is no JSON."
    (suite,) = suites_of(checked(path, WARNED, format="junit", strict=True)[1])
    assert suite.get("failures") == "1"


def test_junit_counts_what_it_does_not_quote(path):
    noise = [("A", "noise")] * 25
    (suite,) = suites_of(checked(path, recorded(*HELLO, *noise), format="junit", strict=True)[1])
    (failure,) = suite.iter("failure")
    assert failure.text is not None
    assert failure.text.splitlines()[20:] == ["and 5 more"]


def test_junit_of_a_file_that_breaks_off(path):
    data = WARNED + b"<<<<\n" + FIRST.split(b"\n")[1] + b"\n"
    (suite,) = suites_of(checked(path, data, format="junit")[1])
    assert [case.get("name") for case in suite] == ["readable", "stdio/not-json"]
    assert suite.get("errors") == "1"


def test_junit_escapes_what_xml_has_no_place_for(path):
    said = ('{"jsonrpc":"2.0","id":9,"method":"\\u0000\\u001b<&\\ud800\\uffff\U0001f600"}',)
    text = checked(path, recorded(*HELLO, ("C", *said)), format="junit")[1]
    (suite,) = suites_of(text)
    (words,) = suite.findall("testcase[@name='acp/unknown-method']/system-out")
    assert words.text is not None
    assert "(method \\x00\\x1b<&\\ud800\\uffff\U0001f600)" in words.text


@given(st.text(max_size=20))
def test_junit_holds_any_text(text):
    report = FORMATS["junit"](out := io.StringIO(), frozenset())
    report.begin()
    report.open(text)
    report.find(checking.Finding(1, "stdio/glued", {"x": text}))
    report.close(Tally(error=text))
    report.end(Tally(), 1, 0)
    ET.fromstring(out.getvalue())


def test_an_older_revision_is_one_line_of_talk(path, capsys):
    checked(path, STALE.replace(REVISION, OLDER))
    assert capsys.readouterr().err == (
        f"acptap: {path}: its annotations are of an older revision (0, not {ANNOTATIONS}) and were "
        "not compared; `acptap annotate` writes them anew\n"
    )


def test_a_newer_revision_is_one_line_of_talk(path, capsys):
    checked(path, STALE.replace(REVISION, b'"annotations":99'))
    assert "a newer revision (99, not " in capsys.readouterr().err


def test_findings_do_not_come_from_the_annotations(path):
    data = BROKEN.replace(b'"notes":', b'"unknown":').replace(REVISION, OLDER)
    assert checked(path, data)[0] == 1


def test_a_cassette_saved_again_by_hand(path):
    lines = FIRST.split(b"\n")
    again = [b" " + line.replace(b'{"at":', b'{ "by hand" : 1, "at" : ') for line in lines[1:-1]]
    assert checked(path, b"\n".join([lines[0], *again]))[0] == 0


def test_connections_are_apart(path):
    first, *entries = FIRST.split(b"\n")[:-1]
    other = [line.replace(b'"from":', b'"from":', 1) for line in entries]
    other = [line.replace(b'"client",', b'"client","conn":2,', 1) for line in other]
    other = [line.replace(b'"agent",', b'"agent","conn":2,', 1) for line in other]
    both = [line for pair in zip(entries, other, strict=True) for line in pair]
    assert checked(path, b"\n".join([first, *both]) + b"\n") == (
        0,
        "1 cassette, 16 entries: nothing to report\n",
    )


SECRET = "sk-live-0123456789abcdef"
NEW = (
    '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/SECRET","mcpServers":'
    '[{"name":"m","env":[{"name":"API_KEY","value":"SECRET"}]}]}}'
).replace("SECRET", SECRET)
SECRETS = (
    *HELLO[:2], ("C", NEW), *HELLO[3:6], ("A", f"using {SECRET}"), ("A", CHUNK % SECRET), HELLO[6],
)  # fmt: skip


def test_a_redacted_cassette_is_as_fine_as_it_was(path):
    tape = recorded(*SECRETS, tap=Tap(Redactor())).replace(
        b'"redaction":"open"', b'"redaction":"done"'
    )
    assert SECRET.encode() not in tape
    assert checked(path, tape, strict=True)[1].splitlines() == [
        f"{path}:8: warning stdio/not-json: A line on the protocol stream is no JSON.",
        "1 cassette, 10 entries: 1 warning",
    ]


def test_a_placeholder_for_a_whole_path_is_no_relative_path(path):
    tape = FIRST.replace(b'"cwd":"/w"', b'"cwd":"[redacted:1]"')
    assert checked(path, tape)[0] == 0


# Reading anew what a tap wrote

UNIT = st.sampled_from([text.encode() for _, text in HELLO] + [b"noise", b"", b" ", b"\xff", b"[]"])
READS = st.lists(
    st.tuples(st.sampled_from(Side), st.lists(UNIT, min_size=1, max_size=3), st.booleans()),
    max_size=8,
)


@given(READS, st.sampled_from([4, 60, 100_000]))
def test_what_a_tap_wrote_reads_the_same_again(reads, limit):
    tap = Tap()
    tap._splitters = {side: LineSplitter(limit) for side in Side}
    tape = [
        tap.observe(side, b"\n".join(lines) + b"\n" * ended or b" ", at)
        for at, (side, lines, ended) in enumerate(reads)
    ]
    tape += [tap.stderr(b"log\n", 90), tap.end(Side.CLIENT, 91), tap.end(Side.AGENT, 92)]
    tape.append(tap.exit(93, signal="SIGTERM"))
    reader = checking.Reader()
    for entry in write(b"".join(tape)):
        assert not checking.differs(entry, reader.members(entry))


@given(st.lists(SAID, max_size=12))
def test_checks_never_raise_and_read_the_same_again(said):
    tap = Tap()
    tape = [
        tap.observe(side, json.dumps(value).encode() + b"\n", at)
        for at, (side, value) in enumerate(said)
    ]
    tape.append(tap.exit(1000, code=0))
    reader = checking.Reader()
    for entry in write(b"".join(tape)):
        members = reader.members(entry)
        assert not checking.differs(entry, members)
        for finding in checking.findings(entry, members):
            assert finding.severity is RULES[finding.rule].severity


# The command


def run(*words):
    with pytest.raises(SystemExit) as exit_:
        main([*map(str, words)])
    return exit_.value.code


def test_the_command(path, capsys):
    path.write_bytes(WARNED)
    assert run("check", path) == 0
    assert run("check", "--strict", path) == 1
    assert run("check", "--format", "json", path, path) == 0
    assert capsys.readouterr().out.endswith('"cassettes":2,"unreadable":0}\n')


def test_the_command_wants_a_cassette(capsys):
    assert run("check") == 2
    assert "CASSETTE" in capsys.readouterr().err


# Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_long_file_has_a_bar_on_a_terminal(path, monkeypatch):
    monkeypatch.setattr(progress, "_LONG", 10)
    monkeypatch.setattr("sys.stderr", screen := Terminal())
    assert checked(path, FIRST)[0] == 0
    assert screen.getvalue()


def test_a_long_file_has_no_bar_elsewhere(path, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_LONG", 10)
    assert checked(path, FIRST)[0] == 0
    assert capsys.readouterr().err == ""


COUNTS = {(1, "entry"): "1 entry", (0, "entry"): "0 entries", (1200, "file"): "1,200 files"}


@pytest.mark.parametrize(("of", "words"), COUNTS.items(), ids=COUNTS.values())
def test_counted(of, words):
    assert counted(*of) == words


def test_a_file_that_can_not_be_read_on(path, monkeypatch):
    def fails(*_):
        raise OSError("Input/output error")

    monkeypatch.setattr(Recording, "lines", fails)
    code, said = checked(path, FIRST)
    assert (code, said.splitlines()[0]) == (
        2,
        (
            f"{path}: the cassette can't be read on (Input/output error); copy it to another disk, "
            "or record again"
        ),
    )


ODD = recorded(*HELLO, ("C", '{"jsonrpc":"2.0","method":"caf\u00e9"}'))
OUTPUTS = {
    "text": b"(method caf\\xe9)",
    "json": '"method":"café"'.encode(),
    "junit": "(method café)".encode(),
}


@pytest.mark.parametrize(("format_", "words"), OUTPUTS.items(), ids=OUTPUTS)
def test_an_output_without_unicode(path, format_, words):
    path.write_bytes(ODD)
    out = io.TextIOWrapper(raw := io.BytesIO(), encoding="ascii")
    assert check_command([path], CheckOptions(format=format_), out) == 0
    assert words in raw.getvalue()


def test_whoever_has_seen_enough_may_leave(path):
    path.write_bytes(BROKEN)
    ours, theirs = os.pipe()
    os.close(ours)
    with open(theirs, "w", encoding="utf-8") as out:  # noqa: PTH123 a descriptor
        assert check_command([path], CheckOptions(), out) == 1


def test_a_member_of_an_unknown_kind_is_kept():
    header = Header("acp", "stdio", "", [], "", extra={"x": 1})
    assert list(checking.findings_of_header(header)) == []
    entry = decode_entry(b'{"at":1,"from":"agent","event":"later"}', 2, 0, "x")
    assert checking.Reader().members(entry) == {}
