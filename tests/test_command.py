import os

import pytest

from acptap.errors import CommandError
from acptap.transports.command import find_program


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with programs in `bin` and `more`, all of which can be run but two."""
    monkeypatch.chdir(tmp_path)
    for name in ("agent", "bin/agent", "bin/broken", "more/agent", "more/broken", "bin/text",
                 "bin/agentx.CMD", "bin/agenty.EXE", "more/agentx.EXE"):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    for name in ("bin/broken", "bin/text"):
        (tmp_path / name).chmod(0o644)
    (tmp_path / "bin" / "folder").mkdir()
    (tmp_path / "bin" / "link").symlink_to("agent")
    (tmp_path / "bin" / "dangling").symlink_to("nowhere")
    return tmp_path


PATH = os.pathsep.join(["nowhere", "bin", "more"])
PATHEXT = (".EXE", ".CMD", "")

FOUND = {
    # name: command, PATH, suffixes, the program
    "on PATH, the first one": (["agent"], PATH, ("",), "bin/agent"),
    "on PATH, the first that can be run": (["broken"], PATH, ("",), "more/broken"),
    "with a folder, PATH does not count": (["more/agent"], "bin", ("",), "more/agent"),
    "here, with the dot that tells so": (["./agent"], "bin", ("",), "./agent"),
    "an empty entry of PATH is the working folder": (["agent"], os.pathsep, ("",), "./agent"),
    "a link": (["link"], PATH, ("",), "bin/link"),
    "P10 the entries of PATHEXT in their order": (["agenty"], PATH, PATHEXT, "bin/agenty.EXE"),
    "P10 a folder of PATH goes before a suffix": (["agentx"], PATH, PATHEXT, "bin/agentx.CMD"),
    "P10 a name with its suffix": (["agentx.CMD"], PATH, PATHEXT, "bin/agentx.CMD"),
    "P10 a batch file with harmless arguments": (
        ["agentx", "a b", "c"], PATH, PATHEXT, "bin/agentx.CMD",
    ),
    "P10 a program may be given anything": (["agenty", "a & b"], PATH, PATHEXT, "bin/agenty.EXE"),
    "P10 where no suffixes count, no file is a batch file": (
        ["agentx.CMD", "a & b"], PATH, ("",), "bin/agentx.CMD",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("command", "path", "suffixes", "program"), FOUND.values(), ids=FOUND)
def test_find_program(command, path, suffixes, program):
    assert find_program(command, {"PATH": path}, suffixes) == program


REFUSED = {
    # name: command, exit code, part of the sentence
    "nowhere": (["nope"], 127, "'nope': the agent's program was not found"),
    "nowhere, with a folder": (["bin/nope"], 127, "not found"),
    "no name": ([""], 127, "'': the agent's program was not found"),
    "a dangling link": (["dangling"], 127, "not found"),
    "all in one word": (["agent --acp"], 127, "without quotes around them all"),
    "a text": (["text"], 126, "bin/text: the agent's program is not executable"),
    "a text, with a folder": (["bin/text"], 126, "chmod +x"),
    "a folder": (["bin/folder"], 126, "bin/folder: the agent's program is a folder"),
    "a folder on PATH": (["folder"], 126, "is a folder"),
}


@pytest.mark.parametrize(("command", "code", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused(command, code, sentence):
    with pytest.raises(CommandError) as raised:
        find_program(command, {"PATH": PATH})
    assert raised.value.exit_code == code
    assert sentence in str(raised.value)


@pytest.mark.parametrize("argument", ["a&b", "a|b", "<", ">", "^", "%PATH%", "!", '"', "a\nb"])
def test_p10_a_batch_file_is_not_given_what_its_interpreter_would_take_apart(argument):
    with pytest.raises(CommandError, match="batch file") as raised:
        find_program(["agentx", "harmless", argument], {"PATH": PATH}, PATHEXT)
    assert raised.value.exit_code == 126


def test_without_path_the_systems_own_is_searched():
    folder, *_ = os.defpath.split(os.pathsep)
    assert find_program(["sh"], {}) == f"{folder}/sh"
