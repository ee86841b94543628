"""Recordings of real clients and servers, asked for again by a client with ids of its own."""

from pathlib import Path

import orjson
import pytest

from acptap.agui.inputs import RunInput
from acptap.agui.proto import decode
from acptap.app.play.options import ReplayOptions
from acptap.app.play.programme import Programme
from acptap.replay.matching import Level
from acptap.replay.report import Miss
from acptap.storage import Recording
from acptap.wire import sse
from tests.replay_agui.plays import NOW

CASSETTES = sorted((Path(__file__).parents[2] / "cassettes" / "ag-ui").glob("*.jsonl"))


def asked(recording, run):
    return orjson.loads(b"".join(map(recording.fetch, run.offsets)))


def live(body):
    """A request as another client would make it: with names of its own for what it names."""
    body |= {"threadId": f"live {body['threadId']}", "runId": f"live {body['runId']}"}
    for message in body["messages"]:
        if message["role"] in ("user", "tool"):
            message["id"] = f"live {message['id']}"
    return body


def events(recording, reply, *, renamed):
    for part in reply.run.body:
        unit = b"".join(map(recording.fetch, part.offsets))
        if part.is_frame:
            yield decode(reply.renaming.frame(unit) if renamed else unit)
        elif part.is_block:
            block = reply.renaming.block(unit) if renamed else unit
            yield orjson.loads(sse.payload_of(block) or b"")


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("path", CASSETTES, ids=[path.stem for path in CASSETTES])
def test_a_recording_is_played_to_another_client(path, level):
    programme = Programme.load(path)
    assert programme.runs
    with Recording(path) as recording:
        player = programme.run_player(recording, ReplayOptions(level=level))
        for run in programme.runs:
            body = live(asked(recording, run))
            whole = RunInput.read(body)
            assert whole is not None
            reply = player.ask(run.request.target, whole, NOW)
            assert not isinstance(reply, Miss), str(reply)
            assert reply.run is run
            before = list(events(recording, reply, renamed=False))
            after = list(events(recording, reply, renamed=True))
            assert len(before) == len(after)
            for old, new in zip(before, after, strict=True):
                if old["type"] in ("RUN_STARTED", "RUN_FINISHED"):
                    assert new["threadId"] == f"live {old['threadId']}"
                    assert new["runId"] == f"live {old['runId']}"
    report = player.report()
    assert report.clean
    assert report.differing == []
