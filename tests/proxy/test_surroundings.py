"""The agent finds what it would find if the client had started it itself."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.proxy.client import PROXY, environment, python

BARE = {"PATH": os.environ["PATH"], "HOME": "/", "PYTHONPATH": environment()["PYTHONPATH"]}
"""About what the Python SDK leaves of a client's environment. No locale is set in it."""


def shown(client):
    outcome = client.finish()
    assert (outcome.code, outcome.err) == (0, b"")
    return json.loads(outcome.out)


ENVIRONMENTS = {
    "few variables": BARE,
    "C locale": BARE | {"LC_ALL": "C"},
    "LANG alone": BARE | {"LANG": "C"},
    "LC_CTYPE as Python sets it": BARE | {"LC_CTYPE": "C.UTF-8"},
    "odd values": BARE | {"EMPTY": "", "EQUALS": "a=b", "LINES_": "a\nb", "LATIN": "\udce9"},
}


@pytest.mark.parametrize("environ", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_the_environment(start_quietly, tmp_path, environ):
    client = start_quietly(["env", "-0"], environ=environ)
    outcome = client.finish()
    variables = sorted(outcome.out.rstrip(b"\0").split(b"\0"))
    tether = next(item for item in variables if item.startswith(b"TETHER="))
    given = [f"{name}={value}" for name, value in environ.items()]
    assert variables == sorted([*map(os.fsencode, given), tether])


def test_the_working_folder(start_quietly, tmp_path):
    assert start_quietly(["pwd"]).finish().out == bytes(tmp_path) + b"\n"


OPEN = "sorted(int(n) for n in os.listdir('/dev/fd') if os.path.exists(f'/dev/fd/{n}'))"


def test_further_descriptors_and_no_others(start_quietly):
    client = start_quietly(python(f"import json, os; print(json.dumps({OPEN}))"))
    assert shown(client) == sorted([0, 1, 2, client.tether])


@pytest.mark.parametrize("number", [3, 4, 9])
def test_a_descriptor_the_client_gives_has_its_number(start_quietly, tmp_path, number):
    (tmp_path / "gift").write_bytes(b"hello\n")
    proxy = ["sh", "-c", f'exec "$@" {number}<gift', "sh", *PROXY]
    client = start_quietly(["sh", "-c", f"cat <&{number}"], proxy=proxy)
    assert client.finish() == (0, b"hello\n", b"")


def test_session_and_group(start_quietly):
    code = "import os; print([os.getsid(0), os.getpgid(0), os.getpid()])"
    session, group, pid = shown(start_quietly(python(code)))
    assert session == os.getsid(0)
    assert group == pid


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_ignored_and_blocked_signals(start_quietly):
    command = ["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"]
    direct = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    assert start_quietly(command).finish() == (0, direct, b"")


SCRIPT = '#!/bin/sh\necho "$0" "$@"\n'


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "agent"
    path.write_text(SCRIPT)
    path.chmod(0o755)
    return path


NAMES = {
    # name: the command, what the script says; {} is its folder
    "relative": (["./agent", "a b", ""], "./agent a b "),
    "absolute": (["{}/agent", "*"], "{}/agent *"),
    "on PATH": (["agent", "--", "-w"], "{}/agent -- -w"),
}


@pytest.mark.parametrize(("command", "said"), NAMES.values(), ids=NAMES)
def test_a_scripts_name_and_arguments(start_quietly, script, command, said):
    folder = str(script.parent)
    client = start_quietly(
        [word.format(folder) for word in command],
        environ=environment(PATH=folder + os.pathsep + os.environ["PATH"]),
    )
    assert client.finish() == (0, said.format(folder).encode() + b"\n", b"")


def test_a_programs_own_name_is_the_one_it_was_called_by(start_quietly, tmp_path):
    (tmp_path / "alias").symlink_to("/bin/sh")
    client = start_quietly(["./alias", "-c", 'echo "$0"'])
    assert client.finish().out == b"./alias\n"


def test_words_that_are_not_utf8(start_quietly):
    client = start_quietly(["printf", "%s\n", "\udcff é"])
    assert client.finish() == (0, b"\xff \xc3\xa9\n", b"")
    assert client.tape().header.upstream == ["printf", "%s\n", "\udcff é"]
