"""A suite in a folder of its own, with a cassette and a client."""

import sys
from pathlib import Path

import pytest

from tests.plugin import tapes

CLIENT = f"""
import asyncio, json, subprocess, sys
import pytest

SAID = {tapes.SAID!r}
HEARD = {tapes.HEARD!r}


def start(command, **options):
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, **options)


def ask(agent, line, answers=1):
    agent.stdin.write(line + "\\n")
    agent.stdin.flush()
    return [agent.stdout.readline().removesuffix("\\n") for _ in range(answers)]


def converse(command, said=SAID, **options):
    with start(command, **options) as agent:
        heard = agent.communicate("".join(line + "\\n" for line in said))[0]
    return heard.splitlines()


async def aconverse(reader, writer, said=SAID):
    heard = []
    for line in said:
        writer.write(line.encode() + b"\\n")
    writer.write_eof()
    while line := await reader.readline():
        heard.append(line.decode().removesuffix("\\n"))
    return heard
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with `cassettes/hello.jsonl` and a module `client`."""
    monkeypatch.delenv("ACPTAP_RUN", raising=False)
    tapes.write(pytester.path / "cassettes" / "hello.jsonl")
    pytester.makepyfile(client=CLIENT)
    pytester.makeini(
        "[pytest]\nasyncio_mode = strict\nasyncio_default_fixture_loop_scope = function\n"
        f"pythonpath = .\nfilterwarnings = error\nacptap_upstream = {sys.executable} agent.py\n"
    )
    return pytester


@pytest.fixture
def cassettes(suite: pytest.Pytester) -> Path:
    return suite.path / "cassettes"
