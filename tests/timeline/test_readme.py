"""What README.md shows of `acptap show` and `acptap check` is what they write."""

import io
from pathlib import Path

from acptap.app.check.checking import CheckOptions, check_command
from acptap.app.show.showing import ShowOptions, show_command

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CASSETTES = ROOT / "cassettes" / "acp"


def test_the_tree():
    out = io.StringIO()
    show_command(CASSETTES / "codex-v2-tool-allowed.jsonl", ShowOptions(tree=True), out)
    _, _, tree = out.getvalue().partition("\n\n")
    assert f"```\n{tree}```\n" in README


def test_the_check_of_the_recordings_that_come_along():
    out = io.StringIO()
    assert check_command(sorted(CASSETTES.glob("*.jsonl")), CheckOptions(), out) == 0
    *_, last = out.getvalue().splitlines(keepends=True)
    assert f"$ acptap check cassettes/acp/*.jsonl | tail -n 1\n{last}" in README


def test_the_check_of_one_that_was_edited(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = (CASSETTES / "codex-v2-resume.jsonl").read_bytes().splitlines(keepends=True)
    Path("edited.jsonl").write_bytes(b"".join([*lines[:9], *lines[10:]]))
    out = io.StringIO()
    assert check_command([Path("edited.jsonl")], CheckOptions(), out) == 1
    assert f"$ acptap check edited.jsonl\n{out.getvalue()}```\n" in README
