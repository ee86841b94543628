"""The pytest plugin: cassettes as the agents of tests.

Every pytest run loads this module, with or without cassettes. So it imports nothing of acptap
before a test asks for its agent.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acptap.errors import AcptapError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from acptap.app.play.fixture import AgentFixture

_MODES = ("none", "once", "all")
_HELP = "record cassettes: none (default), once (those that are missing), all (anew)"
_UPSTREAM_HELP = "the agent's command, to record with --acptap-record"
_MARKER = (
    "acptap(cassette=None, *, match='method', ignore=(), speed='instant', patience=30, "
    "allow_unplayed=False, upstream=None): the cassette that is this test's agent"
)

_agent = pytest.StashKey["AgentFixture"]()
_passed = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--acptap-record`, and the ini options."""
    group = parser.getgroup("acptap", "acptap: record and replay agents")
    group.addoption("--acptap-record", choices=_MODES, help=_HELP)
    parser.addini("acptap_record", _HELP, default="none")
    parser.addini("acptap_upstream", _UPSTREAM_HELP, default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _MARKER)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep whether the test passed; if it did not, say what became of its cassette."""
    report = yield
    if call.when == "call" and _agent in item.stash:
        item.stash[_passed] = report.passed
        if report.failed and (lines := _lines(item.stash[_agent].summary)):
            report.sections.append(("acptap", "\n".join(lines)))
    return report


@pytest.fixture
def acptap_config() -> dict[str, Any]:
    """Defaults for the keywords of the marker `acptap`; override it for a module or a folder."""
    return {}


@pytest.fixture
def acptap_cassette_dir(request: pytest.FixtureRequest) -> Path:
    """The folder of the cassettes; override it to have another than `cassettes/` here."""
    return request.path.parent / "cassettes"


@pytest.fixture
def acptap_upstream(pytestconfig: pytest.Config) -> str | list[str]:
    """The command of the agent that is recorded; override it, or set it in the ini file."""
    return str(pytestconfig.getini("acptap_upstream"))


@pytest.fixture
def acptap_agent(
    request: pytest.FixtureRequest,
    acptap_config: dict[str, Any],
    acptap_cassette_dir: Path | str,
    acptap_upstream: str | list[str],
) -> Iterator[AgentFixture]:
    """The test's agent: its cassette, played; or the real one, while it is recorded."""
    item: pytest.Item = request.node
    item.stash[_passed] = False
    with tempfile.TemporaryDirectory(prefix="acptap-run-", ignore_cleanup_errors=True) as folder:
        agent = _agent_for(
            request, acptap_config, Path(acptap_cassette_dir), acptap_upstream, folder
        )
        if isinstance(agent, AcptapError):
            pytest.fail(f"acptap: {agent}", pytrace=False)
        item.stash[_agent] = agent
        yield agent
        agent.close()
        if item.stash[_passed] and (lines := _lines(agent.verdict)):
            pytest.fail("\n  ".join([f"acptap: {agent.cassette}", *lines]), pytrace=False)


def _agent_for(
    request: pytest.FixtureRequest,
    config: dict[str, Any],
    cassettes: Path,
    upstream: object,
    folder: str,
) -> AgentFixture | AcptapError:
    """Return the agent, or why there is none: raised, it would bring its traceback along."""
    from acptap.app.play.agents import agent_for
    from acptap.app.play.wish import Wish, default_path

    item: pytest.Item = request.node
    markers = [(marker.args, marker.kwargs) for marker in item.iter_markers("acptap")]
    test = item.nodeid.partition("::")[2].replace("::", ".")
    mode = str(item.config.getoption("acptap_record") or item.config.getini("acptap_record"))

    def tapes() -> Path:
        factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
        return factory.mktemp("acptap")

    try:
        wish = Wish.read(markers, config, upstream, default_path(item.path.stem, test))
        return agent_for(wish, cassettes, mode, Path(folder), tapes)
    except AcptapError as error:
        return error


def _lines(judge: Callable[[], list[str]]) -> list[str]:
    """Return what a judge says; that the cassette is gone by now is worth a line too."""
    try:
        return judge()
    except AcptapError as error:
        return [str(error)]
