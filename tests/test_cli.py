"""What the command line refuses, and how."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import acptap
from acptap.cli import main
from acptap.cli.main import COMMANDS
from acptap.cli.main import acptap as group
from tests.proxy.client import environment

NO_AGENT = (
    "acptap: no agent to record; write: acptap proxy -- COMMAND, or: acptap proxy --upstream URL"
)
REFUSED = {
    # name: arguments ({} is a folder with an unusable script), exit code, what is said
    "no command": ([], 2, ""),
    "an unknown command": (["prox"], 2, "acptap: No such command 'prox'; see `acptap --help`"),
    "an unknown option": (["--nope"], 2, "acptap: No such option '--nope'; see `acptap --help`"),
    "proxy without anything": (
        ["proxy"], 2, NO_AGENT,
    ),
    "proxy with nothing behind the dashes": (
        ["proxy", "--"], 2, NO_AGENT,
    ),
    "proxy without dashes": (
        ["proxy", "opencode", "acp"], 2,
        "acptap: the agent's command belongs behind `--`; write: acptap proxy -- opencode acp",
    ),
    "proxy without dashes, with the agent's options": (
        ["proxy", "agent", "--acp", "a b"], 2,
        "acptap: the agent's command belongs behind `--`; write: acptap proxy -- agent --acp 'a b'",
    ),
    "proxy without dashes, with options of its own": (
        ["proxy", "-q", "-w", "a b.jsonl", "agent", "-q"], 2,
        ("acptap: the agent's command belongs behind `--`; write: "
        "acptap proxy -q -w 'a b.jsonl' -- agent -q"),
    ),
    "proxy with a word before the dashes": (
        ["proxy", "x", "--", "agent"], 2,
        "acptap: the agent's command belongs behind `--`; write: acptap proxy -- x agent",
    ),
    "proxy with an option and a word before the dashes": (
        ["proxy", "--grace=1", "x", "--", "agent"], 2,
        ("acptap: the agent's command belongs behind `--`; write: "
        "acptap proxy --grace=1 -- x agent"),
    ),
    "proxy with a URL and no option": (
        ["proxy", "http://127.0.0.1:9/acp"], 2,
        ("acptap: the agent's command belongs behind `--`; write: "
         "acptap proxy --upstream http://127.0.0.1:9/acp"),
    ),
    "proxy with two agents": (
        ["proxy", "--upstream", "http://127.0.0.1:9/", "--", "agent"], 2,
        ("acptap: 'http://127.0.0.1:9/': an upstream and a command are two agents; "
         "name one of them; a command alone records over stdio"),
    ),
    "proxy with an option of the network": (
        ["proxy", "--header", "A: b", "--", "agent"], 2,
        ("acptap: --header: it means nothing with a command; leave it out; "
         "it goes with --upstream or with --upstream and --stdio"),
    ),
    "proxy with a stray --stdio": (
        ["proxy", "--stdio", "--", "agent"], 2,
        ("acptap: --stdio: it means nothing with a command; leave it out; "
         "it goes with --upstream and --stdio"),
    ),
    "proxy with an option of commands": (
        ["proxy", "--upstream", "http://127.0.0.1:9/", "--no-stderr"], 2,
        ("acptap: --no-stderr: it means nothing with --upstream; leave it out; "
         "it goes with --listen and a command or with a command"),
    ),
    "proxy with an upstream that is none": (
        ["proxy", "--upstream", "127.0.0.1:9"], 2, None,
    ),
    "proxy with a header that is none": (
        ["proxy", "--upstream", "http://127.0.0.1:9/", "--header", "nonsense"], 2,
        ("acptap: --header: a header can't be sent: it is no header; write it as 'Name: value'")
    ),
    "proxy that listens to the world": (
        ["proxy", "--upstream", "http://127.0.0.1:9/", "-p", "0.0.0.0:0"], 2, None,
    ),
    "proxy with certificates that are none": (
        ["proxy", "--upstream", "https://127.0.0.1:9/", "--ca", "{}/text", "-p", "0"], 2, None,
    ),
    "proxy with a cassette that is nowhere, on the network": (
        ["proxy", "--upstream", "http://127.0.0.1:9/", "-p", "0", "-w", "{}/nowhere/t.jsonl"], 2,
        ("acptap: {}/nowhere: the folder does not exist; "
         "make it, or name another place with --cassette"),
    ),
    "proxy with an unknown option": (
        ["proxy", "--nope", "--", "agent"], 2,
        "acptap: No such option '--nope'; see `acptap proxy --help`",
    ),
    "proxy with an option's value missing": (["proxy", "-w", "--", "agent"], 2, None),
    "proxy with a program that is nowhere": (
        ["proxy", "--", "no-such-agent"], 127,
        ("acptap: 'no-such-agent': the agent's program was not found; check the name and PATH, "
        "or give the program's full path"),
    ),
    "proxy with a program that can't be executed": (
        ["proxy", "--", "{}/text"], 126,
        "acptap: {}/text: the agent's program is not executable; make it executable with chmod +x",
    ),
    "proxy with a folder": (
        ["proxy", "--", "{}"], 126,
        "acptap: {}: the agent's program is a folder; name a program in it",
    ),
    "proxy with a script whose interpreter is nowhere": (
        ["proxy", "--", "{}/orphan"], 127,
        ("acptap: {}/orphan: the agent can't be started (No such file or directory); check the "
        "program and, if it is a script, its first line"),
    ),
    "proxy with a script that does not name its interpreter": (
        ["proxy", "--", "{}/headless"], 126,
        ("acptap: {}/headless: the agent can't be started (Exec format error); check the "
        "program and, if it is a script, its first line"),
    ),
    "proxy with a cassette in a folder that is nowhere": (
        ["proxy", "-w", "{}/nowhere/tape.jsonl", "--", "true"], 2,
        ("acptap: {}/nowhere: the folder does not exist; make it, or name another place with "
        "--cassette"),
    ),
    "proxy with a cassette in a file": (
        ["proxy", "-w", "{}/text/tape.jsonl", "--", "true"], 2,
        ("acptap: {}/text/tape.jsonl: the cassette can't be written (Not a directory); name "
        "another place with --cassette"),
    ),
    "proxy with an expression that is none": (["proxy", "--redact", "(", "--", "true"], 2, None),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    files = {"text": "", "orphan": "#!/no/such/interpreter\n", "headless": "echo hello\n"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    for name in ("orphan", "headless"):
        (tmp_path / name).chmod(0o755)
    (tmp_path / "cassettes").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACPTAP_CASSETTES", raising=False)
    return tmp_path


def run(arguments, capfd):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code, *capfd.readouterr()


@pytest.mark.parametrize(("arguments", "code", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused_in_one_sentence(folder, capfd, arguments, code, sentence):
    found, out, err = run([word.format(folder) for word in arguments], capfd)
    assert found == code
    assert out == "" or not arguments
    if sentence is not None:
        assert err == (sentence.format(folder) + "\n" if sentence else "")
    assert err.count("\n") <= 1
    assert err.startswith("acptap: ") or not arguments
    assert list((folder / "cassettes").iterdir()) == []


@pytest.mark.parametrize("grace", ["soon", "-1", "nan", "inf", "86401", "1e400", ""])
def test_refused_grace(folder, capfd, grace):
    code, _, err = run(["proxy", "--grace", grace, "--", "true"], capfd)
    assert code == 2
    assert err == (
        f"acptap: Invalid value for '--grace': {grace!r} is no number of seconds from 0 to 86400; "
        "see `acptap proxy --help`\n"
    )


def test_there_may_be_no_place_for_cassettes(folder, capfd, monkeypatch):
    (folder / "cassettes").rmdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "text"))
    code, _, err = run(["proxy", "--", "true"], capfd)
    (folder / "cassettes").mkdir()
    assert code == 2
    assert err.startswith("acptap: there is no place for cassettes (")
    assert err.endswith("); name one with --cassette or ACPTAP_CASSETTES\n")


def test_a_user_may_have_no_home(folder, capfd, monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    (folder / "cassettes").rmdir()
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr("pathlib.Path.home", homeless)
    code, _, err = run(["proxy", "--", "true"], capfd)
    assert code == 2
    assert err.startswith("acptap: there is no place for cassettes (Could not determine home")


def test_help_names_every_command(capfd):
    code, out, err = run(["--help"], capfd)
    assert (code, err) == (0, "")
    for name, purpose in COMMANDS.items():
        assert f"  {name} " in out
        assert purpose.split()[0] in out


def test_completion_knows_every_command():
    assert group.list_commands(click.Context(group)) == list(COMMANDS)


def test_help_of_proxy_shows_where_the_command_goes(capfd):
    code, out, err = run(["proxy", "--help"], capfd)
    assert (code, err) == (0, "")
    assert "acptap proxy [OPTIONS] [-- COMMAND [ARGS]...]" in out


def test_without_arguments_the_help_is_shown(capfd):
    code, out, _ = run([], capfd)
    assert code == 2
    assert out.startswith("Usage: acptap")


def test_version(capfd):
    assert run(["--version"], capfd) == (0, f"acptap, version {acptap.__version__}\n", "")


def test_ctrl_c(capfd, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("acptap.cli.proxy.proxy_command", interrupted)
    code, out, err = run(["proxy", "--", "true"], capfd)
    assert (code, out, err.strip()) == (130, "", "")


ODD_OUTPUTS = {
    # name: a redirection, exit code, whether something is said
    "full": (">/dev/full", 74, True),
    "closed": (">&-", 0, False),
    "closed, standard error too": (">&- 2>&-", 0, False),
}


@pytest.mark.parametrize(("redirection", "code", "talks"), ODD_OUTPUTS.values(), ids=ODD_OUTPUTS)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_standard_output_may_be(redirection, code, talks):
    command = ["sh", "-c", f'"$@" {redirection}', "sh", sys.executable, "-m", "acptap", "--help"]
    run = subprocess.run(command, env=environment(), stderr=subprocess.PIPE, check=False)
    assert run.returncode == code
    assert run.stderr.startswith(b"acptap: ") is talks
    assert run.stderr.count(b"\n") == talks


def test_a_reader_that_left_is_no_fault(folder):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "acptap", "--help"]
    run = subprocess.run(
        command, env=environment(), stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert run.stderr == b""


def test_show_needs_somewhere_to_show_it():
    show = [
        sys.executable,
        "-m",
        "acptap",
        "show",
        str(Path(__file__).parent.parent / "cassettes" / "acp" / "codex-v2-hello.jsonl"),
    ]
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *show], stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "acptap: standard output is closed; let it go to a terminal or a file\n"
