"""The plugin beside other plugins, and in runs that have no use for it."""

import subprocess
import sys

import pytest

HEADER = "import pytest\nfrom client import *\npytestmark = pytest.mark.acptap('hello.jsonl')\n"

STREAMS = "assert await aconverse(*acptap_agent.streams()) == HEARD"
COMMAND = """
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*acptap_agent.command, stdin=pipe, stdout=pipe)
    heard, _ = await process.communicate("".join(line + "\\n" for line in SAID).encode())
    assert heard.decode().splitlines() == HEARD
"""
SUITES = {
    "pytest-asyncio, strict": ("@pytest.mark.asyncio\n", ()),
    "pytest-asyncio, auto": ("", ("--asyncio-mode=auto",)),
    "pytest-aiohttp": (
        "@pytest.mark.parametrize('client', ['aiohttp'])\n",
        ("--asyncio-mode=auto", "-p", "pytest_aiohttp"),
    ),
    "anyio": (
        "@pytest.mark.parametrize('anyio_backend', ['asyncio'])\n@pytest.mark.anyio\n",
        ("-p", "no:asyncio", "-p", "no:aiohttp"),
    ),
}


@pytest.mark.parametrize("body", [STREAMS, COMMAND], ids=["streams", "command"])
@pytest.mark.parametrize(("decorator", "options"), SUITES.values(), ids=SUITES)
def test_asynchronous_tests_of(suite, decorator, options, body):
    arguments = "acptap_agent"
    if "client" in decorator:
        arguments, decorator = "acptap_agent, aiohttp_client", ""
    if "anyio_backend" in decorator:
        arguments += ", anyio_backend"
        strict = "asyncio_mode = strict\nasyncio_default_fixture_loop_scope = function\n"
        ini = suite.path / "tox.ini"
        ini.write_text(ini.read_text().replace(strict, ""))
    test = f"{decorator}async def test_it({arguments}):\n    {body}\n"
    suite.makepyfile(test_it=HEADER + test)
    result = suite.runpytest("-p", "no:cacheprovider", *options)
    result.assert_outcomes(passed=1)


def test_a_client_in_an_asynchronous_fixture_is_taken_down_first(suite):
    body = """
import pytest_asyncio

@pytest_asyncio.fixture
async def streams(acptap_agent):
    reader, writer = acptap_agent.streams()
    yield reader, writer
    writer.write(SAID[2].encode() + b"\\n")
    writer.close()
    await writer.wait_closed()
    assert (await reader.read()).count(b"\\n") == 2

@pytest.mark.asyncio
async def test_it(streams):
    reader, writer = streams
    for line in SAID[:2]:
        writer.write(line.encode() + b"\\n")
        await reader.readline()
"""
    suite.makepyfile(test_it=HEADER + body)
    suite.runpytest().assert_outcomes(passed=1)


def test_streams_without_a_loop(suite):
    body = "def test_it(acptap_agent):\n    acptap_agent.streams()\n"
    suite.makepyfile(test_it=HEADER + body)
    result = suite.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *RuntimeError: no running event loop"])


def test_xdist(suite):
    body = """
@pytest.mark.parametrize("n", range(8))
def test_it(acptap_agent, n):
    assert converse(acptap_agent.command) == HEARD

def test_never(acptap_agent): ...

def test_wrong(acptap_agent):
    converse(acptap_agent.command, SAID[:1])
    assert 0
"""
    suite.makepyfile(test_it=HEADER + body)
    result = suite.runpytest("-n", "2")
    result.assert_outcomes(passed=9, errors=1, failed=1)
    result.stdout.fnmatch_lines_random(
        ["*the cassette was never asked for*", "never played: lines 4-8 (line 4 is session/new)"]
    )


def modules(folder, *options):
    """Return what a run with one empty test has imported, and this plugin alone."""
    others = ("asyncio", "aiohttp", "anyio", "timeout", "hypothesispytest", "xdist")
    off = [f"-pno:{name}" for name in others]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-qs", "-c", "/dev/null", *off, *options, "test_it.py"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.partition("modules: ")[2].partition("\n")[0].split())


def test_a_run_without_cassettes_imports_nothing(suite):
    body = "import sys\n\ndef test_it():\n    print('modules:', *sys.modules)\n"
    (suite.path / "test_it.py").write_text(body)
    with_plugin, without = modules(suite.path), modules(suite.path, "-pno:acptap")
    assert with_plugin - without == {"acptap", "acptap.errors", "acptap.pytest_plugin"}
