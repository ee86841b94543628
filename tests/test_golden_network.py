"""The committed recordings of the official SDKs over HTTP and WebSocket: understood, and played.

tests/peers/record.py makes them.
"""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acptap import checking, fold
from acptap.app.play.options import ReplayOptions
from acptap.app.play.programme import Programme
from acptap.jsonrpc import Side
from acptap.notes import Severity
from acptap.storage import Recording
from acptap.updates import UpdateKind
from tests.peers.record import CASSETTES as RECORDED

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent.parent / "cassettes" / "acp-network"
CASSETTES = sorted(FOLDER.glob("*.jsonl"))


def test_every_cassette_is_here():
    assert {path.stem for path in CASSETTES} == RECORDED.keys()


@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: path.stem)
def test_its_annotations_are_those_of_today_and_nothing_is_wrong(path):
    with Recording(path) as recording:
        reader = checking.Reader(recording.header)
        for entry in recording:
            members = reader.members(entry)
            assert not checking.differs(entry, members), entry.number
            for finding in checking.findings(entry, members):
                assert finding.severity is Severity.NOTE, finding


@pytest.mark.parametrize("path", CASSETTES, ids=lambda path: path.stem)
def test_a_client_that_says_the_same_hears_all_of_it(path):
    programme = Programme.load(path)
    assert len(programme.scripts) == len(RECORDED[path.stem][3])
    with Recording(path) as recording:
        said = [
            (entry.conn, entry.reading())
            for entry in recording
            if entry.side is Side.CLIENT and entry.event is None
        ]
        for number, script in enumerate(programme.scripts, 1):
            player = programme.player(number, recording, ReplayOptions())
            player.start()
            for conn, text in said:
                if conn == script.conn:
                    player.receive(text)
            assert player.report().lines() == []
            assert player.finished


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_view_is_the_same_over_http_and_websocket(version):
    """The SDK's ids differ from run to run; what was said, and how turns ended, does not."""
    http, socket = (
        fold(FOLDER / f"typescript-{version}-{transport}.jsonl")
        for transport in ("http", "websocket")
    )
    assert [shown(session) for session in http.sessions] == [
        shown(session) for session in socket.sessions
    ]


def shown(session):
    return session.text, [turn.end for turn in session.done], len(session.tool_calls)


def test_one_plays_on_standard_input_and_output():
    path = FOLDER / "typescript-v1-websocket.jsonl"
    with Recording(path) as recording:
        said = [
            entry.reading()
            for entry in recording
            if entry.side is Side.CLIENT and entry.event is None and entry.conn == 1
        ]
    command = [sys.executable, "-m", "acptap", "replay", "--stdio", "--allow-unplayed", str(path)]
    done = subprocess.run(
        command, input=b"\n".join(said) + b"\n", capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr


AGUI = sorted((FOLDER.parent / "ag-ui").glob("*.jsonl"))


@pytest.mark.parametrize("path", AGUI, ids=lambda path: path.stem)
def test_the_annotations_of_runs_are_those_of_today(path):
    with Recording(path) as recording:
        reader = checking.Reader(recording.header)
        for entry in recording:
            assert not checking.differs(entry, reader.members(entry)), entry.number


def test_each_kind_of_update_is_there():
    kinds = set()
    for path in AGUI:
        with Recording(path) as recording:
            fronts: Iterator[dict[str, Any]] = (entry.front for entry in recording)
            for front in fronts:
                kinds |= {update["kind"] for update in front.get("updates", [])}
    assert kinds == {kind.value for kind in UpdateKind}
